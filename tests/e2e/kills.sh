#!/bin/sh
# Whoever of the daemons dies, hangs or is cut off, at whatever moment: the launcher ends with one
# sentence that names the node (or the job goes on, when that was asked for), and nothing is left on
# any host, neither by one run nor by all together (footprint.py).  Each run is a seed (kills.py).
#
#   kills.sh FIRST COUNT AT_ONCE     so many runs, from this seed on
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/seeded.sh
. "$(dirname "$0")/seeded.sh"
seeded kills.py "$WIREUP" "$@"
same "$2 runs, in each of which one is killed" "$rc" 0

# ---- controls
export KILLS_HOW=both KILLS_PHASE=met
seeded kills.py "$WIREUP" 1 1 1 mute
same "a launcher that prints nothing is noticed" "$rc $(grep -c 'not one sentence' "$tmp/said")" "1 1"
export KILLS_PATIENCE=10 # it waits for nothing else
seeded kills.py "$WIREUP" 1 1 1 litter
same "a process that stays is found" "$rc $(grep -c 'left:.*sleep 1000' "$tmp/said")" "1 1"
seeded kills.py "$WIREUP" 1 1 1 planted
planted="left by all runs together: .*name spaces.*net:.*mounts.*/run/planted.*local sockets.*@planted.*files.*/dev/shm/planted"
same "a file, a mount, a name space and a socket that stay are found" "$rc $(grep -c "$planted" "$tmp/said")" "1 1"
finish
