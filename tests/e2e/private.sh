#!/bin/sh
# private.sh - runs COMMAND where /tmp and /dev/shm are empty and nobody else's.
#
#   private.sh COMMAND...
#
# This is the first process of the name spaces of a test (private_world, netns_world); it reaps orphans.
# A checkout, a build directory or a launcher below one of the two folders stays where it is: it is held
# under /sys, where nobody keeps a checkout, while the empty folders are mounted.
set -u
umask 022
hold=/sys

# The real paths below the two folders, one per line.
hidden()
{
    for path in "${WU_SRC-}" "${WU_BUILD-}" "$(dirname "${WU_LAUNCHER:-/}")" "$PWD"; do
        [ -n "$path" ] && realpath "$path"
    done | grep -E '^/(tmp|dev/shm)/' | sort -u
}

give()
{
    mount -t tmpfs none /dev/shm && mount -t tmpfs none /tmp || exit 99
    case ${TMPDIR-} in /tmp/* | /dev/shm/*) mkdir -p "$TMPDIR" ;; esac
}

here=$PWD
paths=$(hidden)
if [ -z "$paths" ]; then
    give
else
    mount -t tmpfs none $hold || exit 99
    printf '%s\n' "$paths" | while read -r path; do
        n=$((${n-0} + 1))
        mkdir $hold/$n && mount --rbind "$path" $hold/$n || exit 99
    done || exit 99
    give
    printf '%s\n' "$paths" | while read -r path; do
        n=$((${n-0} + 1))
        mkdir -p "$path" && mount --move $hold/$n "$path" || exit 99
    done || exit 99
    umount $hold
fi
cd "$here" || exit 99
"$@"
exit $?
