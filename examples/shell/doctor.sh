#!/bin/sh
# doctor.sh - before a job: would it run, and where?  `doctor` looks at this machine, or at the nodes that are named,
# and `map` shows which rank would run where, without starting anything.
# Both print JSON for scripts.
#
#   sh doctor.sh
set -eu
wireup doctor --json >doctor.json || :
wireup map -n 4 true
grep -q '"schema"' doctor.json
echo "doctor: good"
