# seeded.sh - how tests of seeded runs on hosts of their own (seeded.py) begin, and how they run them.
# Sourced after lib.sh.
#
#   seeded DRIVER WIREUP FIRST COUNT AT_ONCE [CONTROL]   runs DRIVER; sets $rc, and fills $tmp/said
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program kills_agent

seeded() # DRIVER WIREUP FIRST COUNT AT_ONCE [CONTROL]
{
    seeded_driver=$1
    seeded_launcher=$2
    shift 2
    mkdir -p "$tmp/runs"
    python3 "$e2e/$seeded_driver" "$seeded_launcher" "$WU_BUILD/src/daemon/wireupd" "$bin/kills_agent" \
        "$WU_BUILD/tests/e2e/e2e-kills" "$tmp/runs" "$@" >"$tmp/said" 2>&1
    rc=$?
    tail -n 60 "$tmp/said"
    rm -rf "$tmp/runs"
}
