#!/bin/sh
# elastic.sh - a job that loses 3 of 8 nodes and gains 2, and finishes with the right sum: a DVM of
# eight nodes, and elastic.c on it.  AGENT names another way to the nodes than ssh.
# Build elastic.c with pmixcc or $(pkg-config --cflags --libs pmix) first.
#
#   sh elastic.sh node1,node2,node3,node4,node5,node6,node7,node8 node9,node10
set -eu
wireup up -name elastic ${AGENT:+-launch-agent "$AGENT"} -hosts "$1" >elastic.out
trap 'wireup down elastic >/dev/null 2>&1 || :' EXIT
./elastic "$(wireup tools | cut -f 2)" "$2"
wireup ps
