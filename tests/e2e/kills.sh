#!/bin/sh
# Whoever of the daemons dies, hangs or is cut off, at whatever moment: the launcher ends with one
# sentence that names the node (or the job goes on, when that was asked for), and nothing is left on
# any host.  Each run is a seed (kills.py).
#
#   kills.sh FIRST COUNT AT_ONCE     so many runs, from this seed on
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program kills_agent
kills() # FIRST COUNT AT_ONCE [CONTROL]
{
    mkdir -p "$tmp/runs"
    python3 "$e2e/kills.py" "$WIREUP" "$WU_BUILD/src/wireupd/wireupd" "$bin/kills_agent" \
        "$WU_BUILD/tests/e2e/e2e-kills" "$tmp/runs" "$@" >"$tmp/said" 2>&1
    rc=$?
    tail -n 60 "$tmp/said"
    rm -rf "$tmp/runs"
}
kills "$@"
same "$2 runs, in each of which one is killed" "$rc" 0

# ---- the judge itself
export KILLS_HOW=both KILLS_PHASE=met
kills 1 1 1 mute
same "a launcher that says nothing is found" "$rc $(grep -c 'not one sentence' "$tmp/said")" "1 1"
export KILLS_PATIENCE=10 # it waits for nothing else
kills 1 1 1 litter
same "a process that stays is found" "$rc $(grep -c 'left:.*sleep 1000' "$tmp/said")" "1 1"
finish
