#!/bin/sh
# mpmd.sh - one job of two programs: a coordinator and three workers.  A colon stands between the programs;
# each process learns by PMI_RANK and PMI_SIZE who it is.
# Labels (-l) tell whose line is whose.
#
#   sh mpmd.sh
set -eu
wireup -l -n 1 sh -c 'echo "I coordinate $((PMI_SIZE - 1)) workers"' : \
    -n 3 sh -c 'echo "I work"' >mpmd.out
sort mpmd.out
[ "$(grep -c 'I work' mpmd.out)" = 3 ] && grep -q 'I coordinate 3 workers' mpmd.out
echo "mpmd: good"
