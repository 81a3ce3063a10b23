#!/bin/sh
# conform.sh - is a server of PMI good enough for its clients?  The kit plays golden transcripts to the process manager
# of a launcher, and prints a verdict for each row; the status is 0 when none differs.
# Here the launcher is Wireup's own; any other one does as well.
#
#   sh conform.sh wireup
set -eu
wireup conform --only pmi1 --server "$@"
echo "conform: good"
