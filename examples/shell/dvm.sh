#!/bin/sh
# dvm.sh - many short jobs on the same nodes: standing daemons (a DVM) are started once,
# and each `wireup run` after that starts in milliseconds, because it needs no ssh.
# AGENT names another way to the nodes than ssh.
#
#   sh dvm.sh node1,node2
set -eu
wireup up ${AGENT:+-launch-agent "$AGENT"} -hosts "$1" >dvm.out
trap 'wireup down >/dev/null 2>&1 || :' EXIT
for job in 1 2 3; do
    wireup run -n 2 sh -c 'echo "job '$job' on $(hostname)"'
done | sort >dvm.jobs
cat dvm.jobs
[ "$(wc -l <dvm.jobs)" = 6 ]
wireup down
trap - EXIT
echo "dvm: good"
