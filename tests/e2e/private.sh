#!/bin/sh
# private.sh - runs COMMAND where /tmp and /dev/shm are empty and nobody else's.
#
#   private.sh COMMAND...
#
# This is the first process of the name spaces of a test (private_world, netns_world); it reaps orphans.
# A checkout, a build directory or a launcher below one of the two folders stays where it is: it is held
# under /sys, where nobody keeps a checkout, while the empty folders are mounted.
#
# A Wireup that is installed on this machine is not there for COMMAND: its programs would be started, and its
# libraries taken for those of others.
set -u
# It lays empty folders over /tmp: never over those of the machine.
if [ $$ -ne 1 ]; then
    echo "private.sh: is the first process of its own name spaces (unshare -m -p -f), or nothing" >&2
    exit 99
fi
umask 022
hold=/sys

# The real paths below the two folders, one per line.
hidden()
{
    for path in "${WU_SRC-}" "${WU_BUILD-}" "$(dirname "${WU_LAUNCHER:-/}")" "$PWD"; do
        [ -n "$path" ] && realpath "$path" 2>/dev/null
    done | grep -E '^/(tmp|dev/shm)/' | sort -u
}

give()
{
    mount -n -t tmpfs none /dev/shm && mount -n -t tmpfs none /tmp || exit 99
    case ${TMPDIR-} in /tmp/* | /dev/shm/*) mkdir -p "$TMPDIR" ;; esac
}

# Lays an empty folder over the PREFIX where a Wireup is installed, and removes it there.
hide_installed() # PREFIX
{
    prefix=$1
    mount -n -t tmpfs none $hold || return
    mkdir $hold/over $hold/work
    if mount -n -t overlay -o "lowerdir=$prefix,upperdir=$hold/over,workdir=$hold/work,userxattr" none "$prefix" 2>/dev/null; then
        # What make install has noted (paths of this prefix alone), and what it did not note in earlier versions.
        grep "^$prefix/" "$prefix/share/wireup/installed" 2>/dev/null | LC_ALL=C sort -r | while read -r path; do
            rmdir "$path" 2>/dev/null || rm -f "$path" 2>/dev/null
        done
        rm -f "$prefix"/bin/wireup "$prefix"/bin/wireupd "$prefix"/include/pmi.h "$prefix"/include/pmi2.h \
            "$prefix"/include/pmix*.h
        for libs in "$prefix"/lib "$prefix"/lib64 "$prefix"/lib/*-linux-gnu*; do
            rm -f "$libs"/libpmi.so* "$libs"/libpmi2.so* "$libs"/libpmix.so* "$libs"/pkgconfig/pmi.pc \
                "$libs"/pkgconfig/pmi2.pc "$libs"/pkgconfig/pmix.pc
        done
    else
        echo "# the Wireup in $prefix cannot be hidden, and may disturb this test"
    fi
    umount -n -l $hold
}

# Hosts of tests are called n1, n2 and the like, and the machine may be, too; or its own name may not be in its /etc/hosts.
name_host()
{
    hostname testhost && [ -f /etc/hosts ] && mount -n -t tmpfs none $hold || return
    # (Over a file that was removed nothing else could be mounted.)
    { sed "/ testhost$/d" /etc/hosts && echo "127.0.1.1 testhost"; } >$hold/hosts && mount -n --bind $hold/hosts /etc/hosts
    umount -n $hold
}

# Where the Wireups are that programs would find by themselves, other than the one that is tested.
installed()
{
    for prefix in /usr/local "$(dirname "$(dirname "$(command -v wireup || echo /none/none)")")"; do
        case $prefix in / | /usr) continue ;; esac # a distribution's: too much of its system is there
        [ ! -e "$prefix/bin/wireup" ] || realpath "$prefix"
    done | sort -u
}

for one in $(installed); do
    case $(realpath "${WU_LAUNCHER:-/}") in
    "$one"/*) ;; # it is what is tested
    *) hide_installed "$one" ;;
    esac
done
here=$PWD
paths=$(hidden)
if [ -z "$paths" ]; then
    give
else
    mount -n -t tmpfs none $hold || exit 99
    printf '%s\n' "$paths" | while read -r path; do
        n=$((${n-0} + 1))
        mkdir $hold/$n && mount -n --rbind "$path" $hold/$n || exit 99
    done || exit 99
    give
    printf '%s\n' "$paths" | while read -r path; do
        n=$((${n-0} + 1))
        mkdir -p "$path" && mount -n --move $hold/$n "$path" || exit 99
    done || exit 99
    umount -n $hold
fi
cd "$here" || exit 99
name_host
"$@"
exit $?
