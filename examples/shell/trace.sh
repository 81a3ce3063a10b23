#!/bin/sh
# trace.sh - what did the processes say to the process manager?  A trace has all messages; it can be read, filtered by
# rank and command, drawn as a timeline, and replayed against the server of another version:
# a report about a fault that can be repeated.
#
#   sh trace.sh ./ring
set -eu
wireup -n 2 -trace job.trace "$1"
wireup trace --rank 0 --command put job.trace
wireup timeline --output job.svg job.trace
wireup replay job.trace
grep -q '<svg' job.svg
echo "trace: good"
