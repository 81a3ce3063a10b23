#!/bin/sh
# Signals and time limits at any instant of the launcher's life, from its first instruction to the last
# byte of output, on one node, on four hosts, with a host that does not answer, and with standing daemons:
# it ends within a bound, with the status of the signal, what it says is true, and nothing is left on any
# host.  Each run is a seed (instants.py).
#
#   instants.sh FIRST COUNT AT_ONCE     so many runs, from this seed on; WU_INSTANTS=COUNT: so many instead
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program kills_agent
instants() # WIREUP FIRST COUNT AT_ONCE [CONTROL]
{
    mkdir -p "$tmp/runs"
    launcher_under_test=$1
    shift
    python3 "$e2e/instants.py" "$launcher_under_test" "$WU_BUILD/src/wireupd/wireupd" "$bin/kills_agent" \
        "$WU_BUILD/tests/e2e/e2e-kills" "$tmp/runs" "$@" >"$tmp/said" 2>&1
    rc=$?
    tail -n 60 "$tmp/said"
    rm -rf "$tmp/runs"
}
count=${WU_INSTANTS:-$2}
instants "$WIREUP" "$1" "$count" "$3"
same "$count instants" "$rc" 0

# ---- the judge itself
cat >"$bin/deaf" <<END
#!/bin/sh
trap '' INT TERM HUP
"$WIREUP" "\$@" &
wait
END
chmod +x "$bin/deaf"
export INSTANTS_BOUND=3
instants "$bin/deaf" 1 1 1 deaf
same "a launcher that hears nothing is found" "$rc $(grep -c 'has not ended within' "$tmp/said")" "1 1"
instants "$WIREUP" 1 1 1 litter
same "a process that stays is found" "$rc $(grep -c 'left:.*sleep 1000' "$tmp/said")" "1 1"
finish
