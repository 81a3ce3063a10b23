#!/bin/sh
# chroot.sh - the next release of Debian in a folder: Open MPI 5, PRRTE 3, OpenPMIx 5, MPICH 4.2 and Slurm 24.11, which
# this system does not have.  Ranks run inside as in a container.
#
#   chroot.sh make DIR                   makes DIR/root, once; later calls only look
#   chroot.sh mount DIR [PATH...]        lends it /proc, /sys, /dev, an empty /tmp, and each PATH at its
#                                        own place: in the mount namespace of the caller, to the end of
#                                        that
#   chroot.sh run DIR [PATH...] -- COMMAND...
#                                        the same in a namespace of its own, and COMMAND inside
#   chroot.sh prterun DIR [PATH...] -- N COMMAND...
#                                        N ranks of COMMAND under PRRTE, on as few processors as there
#                                        may be
#
# `make` needs root, Debian, and debootstrap; it takes what apt is configured for.  Where it cannot,
# it says why on standard error and ends with 77.  What it makes takes 600 MB and a minute or two; it
# appears at once when it is whole, and who else asks meanwhile waits.
set -u
release=trixie
packages="openmpi-bin python3-mpi4py libmpich12 slurm-wlm munge"

cannot()
{
    echo "$*" >&2
    exit 77
}

check_machine()
{
    id=$(sed -n 's/^ID=//p' /etc/os-release | tr -d \")
    [ "$id" = debian ] || cannot "the mirrors of ${id:-this system} may not have Debian's $release"
}

fill() # ROOT
{
    export LC_ALL=C DEBIAN_FRONTEND=noninteractive
    "$(dirname "$0")/../../scripts/minimal-debian" "$release" "$1" || return
    # What nobody reads is not unpacked.
    for what in doc info locale man; do
        echo "path-exclude=/usr/share/$what/*"
    done >"$1/etc/dpkg/dpkg.cfg.d/lean"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ -z "${http_proxy-}" ] || export http_proxy
    chroot "$1" apt-get -q update || return
    # shellcheck disable=SC2086 # words
    chroot "$1" apt-get -q -y --no-install-recommends install $packages || return
    chroot "$1" apt-get clean
    rm -rf "$1"/var/lib/apt/lists/* "$1"/usr/share/doc "$1"/usr/share/locale "$1"/usr/share/man
}

make() # DIR
{
    want="$release: $packages"
    mkdir -p "$1" || exit
    exec 9<"$1"
    flock 9
    [ "$(cat "$1/root/.made-from" 2>/dev/null)" = "$want" ] && return
    check_machine
    rm -rf "$1/root" "$1/root.new"
    # An interrupted run starts anew.
    if (fill "$1/root.new") >"$1/log" 2>&1 9<&-; then
        echo "$want" >"$1/root.new/.made-from"
        mv "$1/root.new" "$1/root"
        return
    fi
    rm -rf "$1/root.new"
    cannot "$release could not be made ($1/log): $(tail -n 1 "$1/log")"
}

lend() # DIR [PATH...]
{
    root=$1/root
    shift
    for what in proc sys dev; do
        mount --rbind "/$what" "$root/$what" || return
    done
    mount -t tmpfs none "$root/tmp" || return
    for what in "$@"; do
        mkdir -p "$root$what" && mount --rbind "$what" "$root$what" || return
    done
}

# The rest of the arguments are DIR [PATH...] -- COMMAND...
enter()
{
    dir=$1
    shift
    paths=
    while [ "$1" != -- ]; do
        paths="$paths $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    lend "$dir" $paths && exec chroot "$dir/root" "$@"
}

what=$1
shift
case $what in
make) make "$1" ;;
mount) lend "$@" ;;
run) exec unshare -m "$0" enter "$@" ;;
prterun) exec unshare -m "$0" prte "$@" ;;
enter) enter "$@" ;; # ours: behind unshare
prte)
    place=
    while [ "$1" != -- ]; do
        place="$place $1"
        shift
    done
    shift
    n=$1
    shift
    # shellcheck disable=SC2086 # words
    enter $place -- env OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 prterun --allow-run-as-root --map-by :oversubscribe -n "$n" "$@"
    ;;
*)
    sed -n '2,19s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
