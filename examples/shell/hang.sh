#!/bin/sh
# hang.sh - a job that does not go on: who is waited for?  One of three processes does not come to the barrier, and
# `who` names it, with its node and pid; -timeout would end the job with the same report.
# GO is the file for which the process waits.
#
#   sh hang.sh ./ring
set -eu
rm -f hang.go
mkfifo hang.go
wireup -job-name hanging -n 2 "$1" : -n 1 sh -c 'read -r word <hang.go; exec "$0"' "$1" &
job=$!
until wireup who hanging 2>/dev/null | tee hang.out | grep -q 'missing'; do
    sleep 0.1
done
cat hang.out
echo go >hang.go
wait $job
rm -f hang.go
echo "hang: good"
