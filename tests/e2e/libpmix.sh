#!/bin/sh
# Our libpmix.so.2 under a server: raw PMIx programs, and Open MPI's programs as they are, which find
# it by the library path.
#
#   libpmix.sh wireup|mpirun|srun RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
server=$1
shift
patience=900 # 64 ranks take turns, for each step of a collective
ours=$WU_BUILD/src/lib/pmix
raw=$WU_BUILD/tests/e2e/e2e-rawpmix
what=exchange
spoil=spoil
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin

case $server in
wireup)
    use_launcher wireup
    combinations
    ;;
mpirun)
    what=foreign
    spoil=foreign-spoil
    command -v mpirun.openmpi >/dev/null 2>&1 || {
        echo "1..0 # SKIP Open MPI's mpirun.openmpi is not installed"
        exit 0
    }
    launch()
    {
        launch_n=$1
        shift
        run "$patience" mpirun.openmpi --oversubscribe -n "$launch_n" "$@"
    }
    ;;
srun)
    what=bare
    spoil=bare-spoil
    . "$e2e/slurm-lib.sh"
    ls /usr/lib/*/slurm*/mpi_pmix.so /usr/lib64/slurm/mpi_pmix.so 2>/dev/null | grep -q . || {
        echo "1..0 # SKIP Slurm's plugin mpi/pmix is not installed"
        exit 0
    }
    slurm_start
    launch()
    {
        launch_n=$1
        shift
        run "$patience" srun -Q -O --mpi=pmix -n "$launch_n" "$@"
    }
    ;;
esac
${CC:-cc} -std=gnu11 -shared -fPIC -I"$WU_SRC/include" -o "$bin/nopmixget" "$e2e/nopmixget.c" || exit 1

# ---- controls
launch 3 "$raw" "$spoil"
ok "a wrong value is seen to be wrong" grep -q "^rawpmix 3 WRONG rank 2: g of 0" "$out" || explain
if [ "$(sanitizer_of "$raw")" != asan ]; then # which must be the first to be loaded
    launch 2 env LD_PRELOAD="$bin/nopmixget" "$raw" "$what"
    ok "where every Get fails, nothing is good" eval '! grep -q good "$out"' || explain
fi

# ---- raw programs
for n in $(rank_counts "$@"); do
    launch "$n" "$raw" "$what"
    same "$n ranks: cards, names, meetings" "$rc $(cat "$out" "$err")" "0 rawpmix $n good" || explain
done
if [ "$server" = wireup ]; then
    for variable in WIREUP_FD "PMIX_SERVER_URI41 -u PMIX_SERVER_URI4"; do
        # shellcheck disable=SC2086
        launch 2 env -u $variable "$raw" "$what"
        same "without $variable" "$rc $(cat "$out" "$err")" "0 rawpmix 2 good" || explain
    done
    launch 2 env -u WIREUP_FD -u PMIX_SERVER_URI41 -u PMIX_SERVER_URI4 -u PMIX_SERVER_URI51 \
        -u PMIX_SERVER_URI61 "$raw" "$what"
    same "in the encoding v3" "$rc $(cat "$out" "$err")" "0 rawpmix 2 good" || explain
fi

# ---- what the library does to its process, and the process with it
own=$WU_BUILD/tests/e2e/e2e-libpmix
everybody() # N MODE [ARGUMENT]: each of N ranks says that it is good
{
    e_n=$1
    shift
    launch "$e_n" "$own" "$@"
    same "$e_n ranks: $*" "$rc $(sort "$out" "$err" | uniq -c | sed 's/^ *//')" "0 $e_n $1 good" || explain
}
launch 2 "$own" nonsense
ok "a wrong value is reported" grep -q "WRONG" "$out" || explain
everybody 3 quiet
everybody 2 threads 64
everybody 2 external
everybody 2 loop
everybody 2 gets 10
if [ "$server" = wireup ]; then
    everybody 2 crowded
    everybody 4 values
    run "$patience" "$WIREUP" -n 2 --trace "$tmp/commits" "$own" values
    same "each commit sends only what is new" \
        "$rc $("$WIREUP" trace "$tmp/commits" | grep ' > PMIx commit .*late:' | grep -o '[a-z]*:UINT32=[0-9]*' | grep -c late)" \
        "0 1" || explain
    everybody 2 refused
    everybody 4 invite
    # Other servers lose count of fences when a process leaves more than once.
    everybody 2 cycles 20
    everybody 2 forks
    if command -v strace >/dev/null 2>&1 && [ -z "$(sanitizer_of "$own")" ]; then
        # shellcheck disable=SC2016
        launch 2 sh -c 'exec strace -o "$0.$PMIX_RANK" "$@"' "$tmp/trace" "$own" gets 10000
        same "gets under strace" "$rc $(sort -u "$out")" "0 gets good" || explain
        same "40000 gets of what is known are no system call" \
            "$(sed -n '/write(-1, "mark"/,/write(-1, "mark"/p' "$tmp/trace.1" | grep -c .)" 2 ||
            note "$(sed -n '/write(-1, "mark"/,/write(-1, "mark"/p' "$tmp/trace.1" | head -n 5)"
        launch 2 env -u WIREUP_FD sh -c 'exec strace -o "$0.$PMIX_RANK" "$@"' "$tmp/trace" "$own" gets 10
        ok "and the check sees messages" grep -q '^sendto.*number' "$tmp/trace.1"
        few=$(launch 16 "$own" memory && sed 's/memory //' "$out")
        many=$(launch 128 "$own" memory && sed 's/memory //' "$out")
        ok "a process's own memory does not depend on the number of ranks ($few kB of 16, $many kB of 128)" \
            [ $((many * 100)) -le $((few * 110)) ] || explain
    fi
    launch 1 env PMIX_SECURITY_MODE=kerberos "$raw"
    ok "security that we do not have: a sentence with both versions" \
        grep -q "^libpmix: the PMIx server (version [0-9.]*) requires security 'kerberos'; this is Wireup [0-9]" \
        "$err" || explain
    launch 1 env -u WIREUP_FD PMIX_NAMESPACE=nobody "$raw"
    ok "a refusal: a sentence with both versions" \
        grep -q "^libpmix: the PMIx server (version [0-9.]*) refused nobody rank 0 with PMIX_ERR_NOT_FOUND; .* Wireup [0-9]" \
        "$err" || explain
    # The store is no file: it needs no room in /dev/shm.
    if [ -n "${WU_PRIVATE-}" ] && mount -t tmpfs -o ro,size=4k none /dev/shm 2>/dev/null; then
        launch 4 "$raw"
        same "without room in /dev/shm" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" || explain
        umount /dev/shm
    fi
fi

# ---- programs of Open MPI
if command -v mpicc.openmpi >/dev/null 2>&1 && [ -z "$(sanitizer_of "$raw")" ]; then
    for program in hello ring alltoall comms; do
        mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
    done
    mpi()
    {
        mpi_n=$1
        shift
        launch "$mpi_n" env LD_LIBRARY_PATH="$ours" "$@"
    }
    mpi 2 env LD_PRELOAD="$bin/nopmixget" "$bin/hello"
    ok "where every Get fails, there is no job of two" eval '! grep -q "of 2" "$out"' || explain
    for n in $(rank_counts "$@"); do
        mpi "$n" "$bin/hello"
        same "hello on $n ranks" "$rc $(sort -u "$out" | wc -l) $(grep -c "of $n\$" "$out")" "0 $n $n" ||
            explain
        for program in ring alltoall comms; do
            mpi "$n" "$bin/$program"
            same "$program on $n ranks" "$rc $(cat "$out")" "0 $program $n good" || explain
        done
    done
    python=/usr/bin/python3
    if $python -c 'import mpi4py' 2>/dev/null; then
        mpi 4 $python "$e2e/mpi4py_all.py" allgather
        same "mpi4py allgather on 4 ranks" "$rc $(cat "$out")" "0 mpi4py allgather 4 good" || explain
        # What mpirun spawns does not get the library path, and srun spawns nothing.
        [ "$server" != wireup ] || {
            spawning mpi 2 $python "$e2e/mpi4py_all.py" spawn
            same "mpi4py spawn on 2 ranks" "$rc $(cat "$out")" "0 mpi4py spawn 2 good" || explain
            spawned "mpi4py spawn on 2 ranks" 2
        }
    else
        skip "mpi4py" "python3-mpi4py is not installed"
    fi
    theirs_stay 'ompi.*' 'vader_segment.*'
fi
[ "$server" != srun ] || slurm_stop
finish
