#!/bin/sh
# Every MPI and PyTorch that is at hand, by each protocol that it speaks, on one node, on four hosts (netns.sh) and in a
# DVM over these: a table of what works, from runs.  docs/compatibility.md has one that was made with all of:
#
#   WIREUP_MPICH=DIR      an installation of another MPICH, with its compiler, or its source tree
#   WIREUP_ROOT=DIR       a system of the next release in a folder (as chroot.sh makes it), with its Open MPI, mpi4py,
#                         MPICH and PyTorch as far as they are installed there
#   WIREUP_OMPI=DIR       the same of another Open MPI; with WIREUP_MPICH, and libmpi_abi in both, also the binary
#                         of the standard's ABI of each on the other, by LD_LIBRARY_PATH alone
#   WIREUP_MUKAUTUVA=DIR  its libmuk.so, mpi.h and wrappers
#   WIREUP_TRAMPOLINE=DIR an installation of MPItrampoline; WIREUP_MPIWRAPPERS="DIR..." those of MPIwrapper
#   WIREUP_WI4MPI=DIR     an installation of Wi4MPI
#   WIREUP_MATRIX=FILE    where the table goes
#
# Without them: the system's own.  Each row has its points; a row whose program is not there is left out of the table.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/mpi-trees.sh"
netns_world "$@"
begin
use_launcher wireup
root=${WIREUP_ROOT-}
table=${WIREUP_MATRIX:-$tmp/matrix}
python=/usr/bin/python3
list=n1,n2,n3,n4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/16 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_pml=ob1

# One run in a place.
in_place() # PLACE WORDS...
{
    place=$1
    shift
    case $place in
    one) run 120 "$WIREUP" -n 4 "$@" ;;
    hosts) run 120 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts $list -n 4 "$@" ;;
    dvm) run 120 "$WIREUP" run -n 4 "$@" ;;
    esac
}

# A row of the table: NAME, KIND (of -pmi), what each run says, and the program.
row() # NAME KIND WANT WORDS...
{
    name=$1
    kind=$2
    want=$3
    shift 3
    cells=
    for at in one hosts dvm; do
        in_place $at -pmi "$kind" "$@"
        works=no
        said=$(grep -v '^You are using Wi4MPI' "$out")
        [ "$rc $said" != "0 $want" ] || works=yes
        same "$name, -pmi $kind, $at" "$rc $said" "0 $want" || explain
        cells="$cells $works |"
    done
    echo "| $name | $kind |$cells" >>"$table"
}

# MPICH's rows: by itself, and by the protocols that its own client has.
mpich() # NAME WORDS...
{
    for kind_of in auto pmi1 pmi2; do
        mpich_name=$1
        shift
        row "$mpich_name" $kind_of "ring 4 good" "$@"
        set -- "$mpich_name" "$@"
    done
}

compiled() # PROGRAM COMPILER FLAGS...
{
    program=$1
    compiler=$2
    shift 2
    "$compiler" -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/ring.c" "$@" 2>"$err"
}

# What the system has.
of_the_system()
{
    compiled ring mpicc.mpich && mpich "MPICH $(mpichversion 2>/dev/null | sed -n 's/^MPICH Version:[[:space:]]*//p')" "$bin/ring"
    if compiled ring-ompi mpicc.openmpi; then
        row "Open MPI $(mpirun.openmpi --version | sed -n '1s/.* //p')" auto "ring 4 good" "$bin/ring-ompi"
    fi
    if version=$($python -c 'import mpi4py; print(mpi4py.__version__)' 2>/dev/null); then
        row "mpi4py $version" auto "mpi4py allgather 4 good" "$python" "$e2e/mpi4py_all.py" allgather
    fi
}

# Another MPICH, and the standard's ABI in it.
of_mpich()
{
    compiled ring-other "$WIREUP_MPICH/bin/mpicc" -cc=gcc || return
    version=$(LD_LIBRARY_PATH=$WIREUP_MPICH/lib "$WIREUP_MPICH/bin/mpichversion" | sed -n 's/^MPICH Version:[[:space:]]*//p')
    mpich "MPICH $version" "$bin/ring-other"
    compiled ring-abi "$WIREUP_MPICH/bin/mpicc_abi" -cc=gcc || return
    row "MPI 5.0's ABI, MPICH $version" auto "ring 4 good" "$bin/ring-abi"
}

# One binary on two implementations.
of_mukautuva()
{
    compiled ring-muk gcc -I"$WIREUP_MUKAUTUVA" "$WIREUP_MUKAUTUVA/libmuk.so" || return
    for library in libmpich.so.12 libmpi.so.40; do
        row "mukautuva, $library" auto "ring 4 good" env LD_LIBRARY_PATH="$WIREUP_MUKAUTUVA" MPI_LIB=$library \
            "$bin/ring-muk"
    done
}

# A binary of the standard's ABI on the library of another MPI than it was linked with, by LD_LIBRARY_PATH alone.  Where
# the two name that library differently (MPICH 5.0.1: libmpi_abi.so.0, later ones and Open MPI: .so.1), by a link.
other_abi() # NAME PROGRAM LIBRARIES
{
    needs=$(readelf -d "$2" | grep -o 'libmpi_abi\.so\.[0-9]*')
    path=$3
    shown=$1
    if [ ! -e "$3/$needs" ]; then
        path=$tmp/abi/$needs:$3
        shown="$1, as $needs"
        mkdir -p "$tmp/abi/$needs"
        ln -sf "$3/libmpi_abi.so" "$tmp/abi/$needs/$needs"
    fi
    row "$shown" auto "ring 4 good" env LD_LIBRARY_PATH="$path" "$2"
}

# Another Open MPI, and the standard's ABI in it; with another MPICH also the binary of each on the other.
of_ompi()
{
    compiled ring-ompi-other "$WIREUP_OMPI/bin/mpicc" || return
    version=$("$WIREUP_OMPI/bin/ompi_info" --version | sed -n '1s/.* v*//p')
    row "Open MPI $version" auto "ring 4 good" "$bin/ring-ompi-other"
    for what in names sessions; do
        "$WIREUP_OMPI/bin/mpicc" -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$what-other" "$e2e/mpi/$what.c" 2>"$err" || continue
        row "Open MPI $version: $what" auto "$what 4 good" "$bin/$what-other"
    done
    compiled ring-abi-ompi "$WIREUP_OMPI/bin/mpicc_abi" || return
    row "MPI 5.0's ABI, Open MPI $version" auto "ring 4 good" "$bin/ring-abi-ompi"
    [ -x "$bin/ring-abi" ] || return
    other_abi "the same binary as with MPICH, Open MPI $version" "$bin/ring-abi" "$WIREUP_OMPI/lib"
    other_abi "the same binary as with Open MPI, MPICH" "$bin/ring-abi-ompi" "$WIREUP_MPICH/lib"
}

of_trampoline()
{
    compiled ring-trampoline gcc -I"$WIREUP_TRAMPOLINE/include" "$WIREUP_TRAMPOLINE/lib/libmpitrampoline.so" \
        -Wl,-rpath,"$WIREUP_TRAMPOLINE/lib" || return
    for wrapper in ${WIREUP_MPIWRAPPERS-}; do
        library=$(ldd "$wrapper/lib/libmpiwrapper.so" | grep -o 'libmpi\(ch\)\?\.so\.[0-9]*' | head -n 1)
        row "MPItrampoline, $library" auto "ring 4 good" env MPITRAMPOLINE_LIB="$wrapper/lib/libmpiwrapper.so" \
            "$bin/ring-trampoline"
    done
}

# A program of MPICH runs on Open MPI, and one that is linked to Wi4MPI's own library.  (The other way it fails with every
# launcher: its libraries for MPICH need functions that Debian's MPICH has as macros.)
of_wi4mpi()
{
    libs=$(dirname "$(find /usr/lib -name libmpi.so.40 | head -n 1)")
    mkdir -p "$tmp/openmpi/lib"
    ln -s "$libs/libmpi.so.40" "$tmp/openmpi/lib/libmpi.so"
    ln -s "$libs/libmpi_mpifh.so.40" "$tmp/openmpi/lib/libmpi_mpifh.so"
    compiled ring-wi4mpi gcc -I"$WIREUP_WI4MPI/include" -L"$WIREUP_WI4MPI/lib" -lmpi || return
    for how in "-f mpich -t openmpi $bin/ring" "-t openmpi $bin/ring-wi4mpi"; do
        # shellcheck disable=SC2086
        row "Wi4MPI, ${how% *}" auto "ring 4 good" env OPENMPI_ROOT="$tmp/openmpi" "$WIREUP_WI4MPI/bin/wi4mpi" $how
    done
}

inside() # WORDS...: the version that they print
{
    chroot "$root" "$@" 2>/dev/null
}

# (Debian 13's PyTorch, built without libuv, cannot be a client of an agent's store, that of torchrun neither.)
own_store()
{
    cat >"$bin/own-store" <<'WORDS'
export MASTER_ADDR=10.77.0.1 GLOO_SOCKET_IFNAME=eth0 MASTER_PORT=29500 USE_LIBUV=0
[ "$(hostname)" != head ] || export MASTER_ADDR=127.0.0.1 GLOO_SOCKET_IFNAME=lo
unset TORCHELASTIC_USE_AGENT_STORE
exec "$@"
WORDS
}

# What the other system has; its programs are those that were compiled here.
of_the_folder()
{
    own_store
    [ ! -x "$bin/ring-ompi" ] || row "Open MPI $(inside mpirun.openmpi --version | sed -n '1s/.* //p')" auto "ring 4 good" \
        chroot "$root" "$bin/ring-ompi"
    if version=$(inside $python -c 'import mpi4py; print(mpi4py.__version__)'); then
        row "mpi4py $version" auto "mpi4py allgather 4 good" chroot "$root" $python "$bin/mpi4py_all.py" allgather
    fi
    if version=$(inside mpichversion | sed -n 's/^MPICH Version:[[:space:]]*//p') && [ -n "$version" ]; then
        mpich "MPICH $version" chroot "$root" "$bin/ring"
    fi
    if version=$(inside $python -c 'import torch; print(torch.__version__)'); then
        row "PyTorch $version (gloo, its own store)" auto "torch 4 good" -env-style torch sh "$bin/own-store" chroot \
            "$root" $python "$bin/matrix_torch.py"
    fi
}

if [ -n "${WIREUP_MPICH-}" ]; then
    mpich_prefix "$WIREUP_MPICH" --enable-mpi-abi
    WIREUP_MPICH=$prefix
fi
if [ -n "${WIREUP_OMPI-}" ]; then
    ompi_prefix "$WIREUP_OMPI" --enable-standard-abi
    WIREUP_OMPI=$prefix
fi
cp "$e2e"/mpi4py_all.py "$e2e"/matrix_torch.py "$bin"
[ -z "$root" ] || "$e2e/chroot.sh" mount "${root%/root}" "$tmp" || exit 1
netns_up 4 || {
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
}
"$WIREUP" up -launcher-exec "ssh $netns_ssh" -hosts $list >"$out" 2>&1
same "a DVM" "$? $(cat "$out")" "0 4 nodes are up; \`wireup run\` uses them, \`wireup down\` ends them"
{
    echo "| program | \`-pmi\` | one node | four hosts | DVM |"
    echo "|---|---|---|---|---|"
} >"$table"
of_the_system
[ -z "${WIREUP_MPICH-}" ] || of_mpich
[ -z "${WIREUP_MUKAUTUVA-}" ] || of_mukautuva
[ -z "${WIREUP_OMPI-}" ] || of_ompi
[ -z "${WIREUP_TRAMPOLINE-}" ] || of_trampoline
[ -z "${WIREUP_WI4MPI-}" ] || of_wi4mpi
[ -z "$root" ] || of_the_folder
# ---- the control
in_place hosts "$bin/ring" spoil
ok "a spoiled ring is seen to be wrong" grep -q "^ring 4 WRONG" "$out" || explain
"$WIREUP" down
note "$(cat "$table")"
theirs_stay 'ompi.*' 'sm_segment.*'
netns_still
netns_down
finish
