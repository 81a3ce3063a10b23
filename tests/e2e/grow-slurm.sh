#!/bin/sh
# A DVM inside a job of Slurm grows by nodes of a second job, which come by themselves (wireupd --join): a
# job runs over both, the second job ends when its node has left, and when the launcher is killed.
#
#   grow-slurm.sh HOSTS      at least 3
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
# shellcheck source=tests/e2e/netns-slurm.sh
. "$(dirname "$0")/netns-slurm.sh"
hosts=$1
netns_world "$@"
begin
use_launcher wireup
netns_up "$hosts" || netns_skip "no hosts"
netns_slurm_up
export token="$tmp/token" where="$tmp/addresses" wireupd="$WU_BUILD/src/daemon/wireupd"

# In the first job: its outputs are looked at outside.
cat >first <<'JOB'
"$WIREUP" up --json -join-token-file "$token" -join-file "$where" >up.out 2>&1 || exit 1
echo up >>steps
cat >/dev/null
JOB
mkfifo life
export WIREUP
salloc -Q -N 2 sh ./first <life >first.out 2>&1 &
first_job=$!
exec 7>life

second() # more nodes: their job
{
    sbatch -Q --parsable -N 1 -o second.out --wrap \
        "srun $wireupd --join $where --token-file $token --slots 1" >second.id
}
is_up() { [ -e steps ]; }
jobs_are() { [ "$(squeue -h -o %i | wc -l)" = "$1" ]; }
jobs() { squeue -h -o '%i %T %N' 2>&1; }

ok "a DVM stands in a job of two nodes" wait_until 60 is_up || note "$(cat up.out first.out)"
ok "a second job begins" second
run 120 "$WIREUP" run -wait -n $(($(nproc) * 2 + 1)) hostname
same "a job has processes on the nodes of both" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n1 n2 n3 " ||
    { explain; note "$(cat second.out)"; }
run 120 "$WIREUP" shrink -hosts n3
same "the node leaves" "$rc" 0 || explain
ok "and its job ends" wait_until 60 jobs_are 1 || note "$(jobs)"
ok "another one" second
run 120 "$WIREUP" run -wait -n $(($(nproc) * 2 + 1)) hostname
same "brings the node again" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n1 n2 n3 " || explain
kill -9 "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' up.out)"
exec 7>&-
wait "$first_job"
ok "the launcher is killed: no job is left" wait_until 60 jobs_are 0 || note "$(jobs)"
netns_slurm_down
netns_down
finish
