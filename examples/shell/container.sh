#!/bin/sh
# container.sh - programs inside containers, the launcher outside: what stands before the program is the engine's command,
# and the container needs its own MPI or PMIx only.  CONTAINER is that command, `apptainer exec image.sif`
# for instance; without it, a mount namespace stands in for a container.
#
#   sh container.sh ./ring
set -eu
# shellcheck disable=SC2086 # words
wireup -n 2 ${CONTAINER:-unshare -m} "$1"
echo "container: good"
