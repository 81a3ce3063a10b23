#!/bin/sh
# The same as instants.sh where Slurm's srun starts the daemons, inside an allocation of three hosts.
#
#   instants-slurm.sh FIRST COUNT     so many runs, from this seed on; WU_INSTANTS=COUNT: so many instead
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
# shellcheck source=tests/e2e/netns-slurm.sh
. "$(dirname "$0")/netns-slurm.sh"
netns_world "$@"
begin
use_launcher wireup
netns_up 3 || netns_skip "no hosts"
netns_slurm_up
count=${WU_INSTANTS:-$2}
mkdir "$tmp/runs"
INSTANTS_WORLD=srun salloc -Q -N 3 --ntasks-per-node=2 python3 "$e2e/instants.py" "$WIREUP" \
    "$WU_BUILD/src/daemon/wireupd" none "$WU_BUILD/tests/e2e/e2e-kills" "$tmp/runs" "$1" "$count" 1 \
    >"$tmp/said" 2>&1
rc=$?
tail -n 60 "$tmp/said"
rm -rf "$tmp/runs"
same "$count instants under srun" "$rc" 0
netns_slurm_down
netns_down
finish
