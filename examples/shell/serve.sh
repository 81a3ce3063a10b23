#!/bin/sh
# serve.sh - the wire-up alone, for processes that something else starts: a batch system's own script, a debugger, a
# container engine.  `wireup serve` starts nothing; it prints for each rank the shell commands that set
# what this process must have in its environment, and serves them until all have called finalize.
#
#   sh serve.sh ./ring
set -eu
rm -f serve.fifo
mkfifo serve.fifo
wireup serve -n 2 >serve.fifo &
server=$!
exec 3<serve.fifo
for rank in 0 1; do
    read -r variables <&3
    (exec 3<&- && eval "$variables" && exec "$1") &
done
wait $server
rm -f serve.fifo
echo "serve: good"
