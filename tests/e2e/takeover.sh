#!/bin/sh
# A DVM outlives its launcher, and another launcher takes over, whenever the first one is lost; where none comes, nothing
# is left.  Each run is a seed (takeover.py).
#
#   takeover.sh FIRST COUNT AT_ONCE     so many runs, from this seed on
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/seeded.sh
. "$(dirname "$0")/seeded.sh"
seeded takeover.py "$WIREUP" "$@"
same "$2 runs, in each of which a launcher is lost" "$rc" 0

# ---- controls
export TAKEOVER_HOW=both TAKEOVER_PHASE=idle
seeded takeover.py "$WIREUP" 1 1 1 mortal
ok "a DVM that dies with its launcher is noticed" [ "$rc" = 1 ]
export KILLS_PATIENCE=5 # it waits for nothing else
seeded takeover.py "$WIREUP" 1 1 1 litter
same "a process that stays is found" "$rc $(grep -c 'left:.*sleep 1000' "$tmp/said")" "1 1"
finish
