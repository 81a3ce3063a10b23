# shellcheck shell=sh disable=SC2154
# mpi-trees.sh - another MPI than the system's, to test with: its installation, or its source tree, which is built.  For
# scripts on lib.sh.

# Configures and builds a source tree into $tmp/NAME: MPI at its smallest.
mpi_build() # NAME TREE OPTIONS...
{
    mpi_name=$1
    mpi_tree=$2
    shift 2
    mkdir "$tmp/build"
    cd "$tmp/build" || exit 1
    if ! "$mpi_tree/configure" --prefix="$tmp/$mpi_name" --disable-static "$@" >"$tmp/configure" 2>&1 ||
        ! make -j2 install >"$tmp/make" 2>&1; then
        tail -n 20 "$tmp/configure" "$tmp/make" | sed 's/^/# /'
        echo "Bail out! cannot build $mpi_tree"
        exit 1
    fi
    cd "$tmp/work" || exit 1
    rm -rf "$tmp/build"
}

# $prefix: where that MPI is.
mpi_prefix() # NAME DIR OPTIONS...
{
    prefix=$2
    if [ -x "$2/bin/mpicc" ]; then
        return
    elif [ -x "$2/configure" ]; then
        mpi_build "$@"
        prefix=$tmp/$1
    else
        echo "Bail out! $2 is neither an installation nor a source tree with a configure script"
        exit 1
    fi
}

# MPICH, on nothing of others but with further OPTIONS.
mpich_prefix() # DIR OPTIONS...
{
    mpich_dir=$1
    shift
    mpi_prefix mpich "$mpich_dir" --with-device=ch3:nemesis --disable-fortran --disable-cxx --disable-romio --with-pm=no \
        --with-datatype-engine=dataloop "$@"
}

# Open MPI, with its own OpenPMIx where the tree has one.  (A launcher of its own is not needed; 4.1 has it in any case.)
ompi_prefix() # DIR OPTIONS...
{
    ompi_dir=$1
    shift
    mpi_prefix ompi "$ompi_dir" --enable-mpi-fortran=no --disable-io-romio --disable-oshmem --without-ucx --without-ofi \
        --without-prrte --with-hwloc=external --with-libevent=external --with-pmix=internal "$@"
}
