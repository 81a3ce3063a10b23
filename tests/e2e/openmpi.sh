#!/bin/sh
# Open MPI 4.1, as Debian builds it, on our PMIx server: its own client library, real programs.
#
#   openmpi.sh RANKS...      if the first is 1, also what does not depend on the number of ranks
#
# Open MPI cannot know that there are more ranks than processors: mpi_yield_when_idle says so.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin
patience=900 # 64 ranks take turns, for each step of a collective
any_number=no
[ "$1" != 1 ] || any_number=yes

if ! command -v mpicc.openmpi >/dev/null 2>&1; then
    echo "1..0 # SKIP Open MPI's compiler (mpicc.openmpi) is not installed"
    exit 0
fi
for program in hello ring alltoall comms abort accepts; do
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done
mpicc.openmpi -O1 -I"$WU_SRC/include" -o "$bin/classes" "$e2e/mpi/classes.c" || exit 1
command -v oshcc >/dev/null 2>&1 && oshcc -o "$bin/osh" "$e2e/mpi/osh.c" 2>/dev/null
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
# shellcheck disable=SC2086
c_program nopmixget -shared -fPIC $pmix_flags

# ---- controls
launch 4 "$bin/ring" spoil
ok "a spoiled ring is seen to be wrong" grep -q "^ring 4 WRONG" "$out" || explain
launch 2 env LD_PRELOAD="$bin/nopmixget" "$bin/hello"
ok "where every Get fails, there is no job of two" eval '! grep -q "of 2" "$out"' || explain

launch 2 "$bin/classes"
same "error codes of PMI and PMIx have classes of this MPI" "$rc $(cat "$out")" "0 classes 2 good" || explain

# ---- the programs
fixed_places=
! setarch -R true 2>/dev/null || fixed_places="setarch -R"
for n in "$@"; do
    launch "$n" "$bin/hello"
    same "hello on $n ranks" "$rc $(sort -u "$out" | wc -l) $(grep -c "of $n\$" "$out")" "0 $n $n" ||
        explain
    for program in ring alltoall comms; do
        launch "$n" "$bin/$program"
        same "$program on $n ranks" "$rc $(cat "$out")" "0 $program $n good" || explain
    done
    launch "$n" "$bin/abort" $((n - 1)) 9
    same "MPI_Abort(9) by rank $((n - 1)) of $n ends the job with 9" "$rc" 9 || explain
done

# ---- mpi4py
mpi4py()
{
    python=/usr/bin/python3 # the system's own
    if $python -c 'import mpi4py' 2>/dev/null; then
        launch 3 $python "$e2e/mpi4py_all.py" spoil
        same "mpi4py: what nobody said is missed" "$(cat "$out")" "mpi4py spoil 3 WRONG" || explain
        for what in "4 allgather" "16 allgather" "1 spawn" "2 spawn" "16 spawn" "2 names" "4 names" "16 names"; do
            n=${what% *}
            what=${what#* }
            spawning launch "$n" $python "$e2e/mpi4py_all.py" "$what"
            same "mpi4py $what on $n ranks" "$rc $(cat "$out")" "0 mpi4py $what $n good" || explain
            spawned "mpi4py $what on $n ranks" "$([ "$what" = spawn ] && echo 2 || echo 0)"
        done
        spawning launch 1 $python "$e2e/mpi4py_futures.py"
        same "mpi4py's pool of spawned workers" "$rc $(cat "$out")" "0 mpi4py futures good" || explain
        spawned "mpi4py's pool" 2
        # A pool that is told no size is as large as the universe; where that has no room, one worker is.
        spawning run "$patience" "$WIREUP" -hosts localhost:4 -n 1 $python "$e2e/mpi4py_futures.py" universe
        same "mpi4py's pool in all of its universe" "$rc $(cat "$out")" "0 mpi4py futures good" || explain
        spawned "mpi4py's pool in all of its universe" 3
    else
        skip "mpi4py" "python3-mpi4py is not installed"
    fi
}

netpipe()
{
    if command -v NPopenmpi >/dev/null 2>&1; then
        launch 2 NPopenmpi -i -n 10 -u 65536 -o "$tmp/np"
        same "NetPIPE checks what it sends" "$rc $(cat "$out" "$err" | grep -c 'Integrity check passed')" "0 28" ||
            explain
    else
        skip "NetPIPE" "netpipe-openmpi is not installed"
    fi
}

# ---- programs that we did not compile
if [ $any_number = yes ]; then
    mpi4py
    netpipe
fi
# Process grids: rows and columns for so many ranks.
grid() { case $1 in 2) echo 1 2 ;; 4) echo 2 2 ;; 16) echo 4 4 ;; 64) echo 8 8 ;; *) echo 1 "$1" ;; esac; }
scalapack=$(ls -d /usr/lib/*/scalapack/openmpi-tests 2>/dev/null | head -n 1)
example=/usr/share/doc/hpcc/examples/_hpccinf.txt
for n in "$@"; do
    [ "$n" -gt 1 ] || continue
    # shellcheck disable=SC2046
    set -- $(grid "$n")
    if [ -n "$scalapack" ]; then
        printf '%s\n' "'LU'" "'MPI Machine'" "'LU.out'" 6 2 "4 17" "4 13" 2 "2 3" 2 "1 3" 2 "1 3" 1 "$1" \
            "$2" 1.0 T >LU.dat
        launch "$n" "$scalapack/xdlu"
        same "ScaLAPACK's xdlu on $n ranks" \
            "$rc $(grep -c '^WALL.*PASSED' "$out") $(grep -c FAILED "$out")" "0 10 0" || explain
        printf '%s\n' "'QR'" "'MPI Machine'" "'QR.out'" 6 2 "'QR' 'QL'" 2 "4 17" "4 13" 2 "2 3" "2 3" 1 \
            "$1" "$2" 5.0 >QR.dat
        launch "$n" "$scalapack/xdqr"
        same "ScaLAPACK's xdqr on $n ranks" \
            "$rc $(grep -c '^WALL.*PASSED' "$out") $(grep -c FAILED "$out")" "0 8 0" || explain
    else
        skip "ScaLAPACK on $n ranks" "scalapack-mpi-test is not installed"
    fi
    if [ "$n" -gt 16 ]; then
        : # minutes on few processors
    elif command -v hpcc >/dev/null 2>&1 && [ -e $example ]; then
        sed "6s/.*/100 Ns/; 8s/.*/16 NBs/; 11s/.*/$1 Ps/; 12s/.*/$2 Qs/" $example >hpccinf.txt
        rm -f hpccoutf.txt
        launch "$n" hpcc
        hpcc_says=$(python3 "$e2e/hpcc_report.py" "$n" hpccoutf.txt) # it tells why not just Success=1
        same "hpcc on $n ranks" "$rc $hpcc_says" "0 good" ||
            {
                explain
                note "$(grep -iE 'success|fail|error|bound' hpccoutf.txt)"
            }
        sed '/^Begin of HPL/,/^End of HPL/s/^\( *\)1 tests completed and passed/\10 tests completed and passed/' \
            hpccoutf.txt >unsolved
        sed '/^Begin of MPIRandomAccess /,/^End of/s/(passed)/(failed)/; s/^Success=1/Success=0/' \
            hpccoutf.txt >lost
        lost='MPIRandomAccess has failed;hpcc says that something has failed'
        [ "$n" -le 4 ] || lost=good
        same "and what its report must not say, on $n ranks" \
            "$(for one in unsolved lost; do python3 "$e2e/hpcc_report.py" "$n" $one; done | tr '\n' ';')" \
            "HPL: 0 passed, 0 failed;$lost;" || explain
    else
        skip "hpcc on $n ranks" "hpcc is not installed"
    fi
    # Debian's OpenSHMEM crashes in its finalize, under its own launcher too.
    # (That of Open MPI 5 wants one address in all ranks, which one of them has found free: with each rank's memory
    # at a place of chance, one in 64 now and then has something there.)
    if [ -x "$bin/osh" ]; then
        # shellcheck disable=SC2086
        launch "$n" $fixed_places "$bin/osh"
        same "OpenSHMEM on $n ranks" "$(grep -c "^osh .* of $n good" "$out") $(grep -c WRONG "$out")" "$n 0" ||
            explain
    else
        skip "OpenSHMEM on $n ranks" "Open MPI has none here"
    fi
done

# ---- a server that accepts again and again on one port
accepts()
{
    launch 2 "$bin/accepts" spoil
    ok "a client's wrong word is seen to be wrong" grep -q "^accepts 2 WRONG" "$out" || explain
    for times in 2 100; do
        launch 2 "$bin/accepts" "$times"
        same "$times accepts on one port" "$rc $(cat "$out" "$err")" "0 accepts 2 good" || explain
        launch 2 env LD_LIBRARY_PATH="$WU_BUILD/src/lib/pmix" "$bin/accepts" "$times"
        same "and with our library in its client" "$rc $(cat "$out" "$err")" "0 accepts 2 good" || explain
    done
}
[ $any_number = no ] || accepts

[ -z "${WU_PRIVATE-}" ] || rm -rf /dev/shm/vader_segment.* /dev/shm/osh* # else they may be somebody's
finish
