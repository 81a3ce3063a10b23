#!/bin/sh
# Signals and time limits at any instant of the launcher's life, from its first instruction to the last
# byte of output, on one node, on four hosts, with a host that does not answer, and with standing daemons:
# it ends within a bound, with the status of the signal, what it says is true, and nothing is left on any
# host.  Each run is a seed (instants.py).
#
#   instants.sh FIRST COUNT AT_ONCE     so many runs, from this seed on; WU_INSTANTS=COUNT: so many instead
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/seeded.sh
. "$(dirname "$0")/seeded.sh"
count=${WU_INSTANTS:-$2}
seeded instants.py "$WIREUP" "$1" "$count" "$3"
same "$count instants" "$rc" 0

# ---- controls
cat >"$bin/deaf" <<END
#!/bin/sh
trap '' INT TERM HUP
"$WIREUP" "\$@" &
wait
END
chmod +x "$bin/deaf"
export INSTANTS_BOUND=3
seeded instants.py "$bin/deaf" 1 1 1 deaf
same "a launcher that ignores messages is noticed" "$rc $(grep -c 'has not ended within' "$tmp/said")" "1 1"
seeded instants.py "$WIREUP" 1 1 1 litter
same "a process that stays is found" "$rc $(grep -c 'left:.*sleep 1000' "$tmp/said")" "1 1"
finish
