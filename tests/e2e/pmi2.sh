#!/bin/sh
# libpmi2.so.0 under a process manager: every function, threads, spawn, mixed jobs, aborts.
#
#   pmi2.sh LAUNCHER LIBRARY RANKS...   LAUNCHER: wireup, or hydra
#                                       LIBRARY: ours; slurm, Slurm's; dropin, a program that was
#                                       built for Slurm's, with ours in its place
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher "$1"
library=$2
shift 2
patience=300

ring=
if [ "$library" = ours ]; then
    prog=$WU_BUILD/tests/e2e/e2e-libpmi2
else
    slurms=
    for one in /usr/lib/*/libpmi2.so.0 /usr/lib64/libpmi2.so.0; do
        [ -e "$one" ] && slurms=$one && break
    done
    if [ -z "$slurms" ] || ! [ -e /usr/include/slurm/pmi2.h ]; then
        echo "1..0 # SKIP Slurm's libpmi2.so.0 and its header are not installed"
        exit 0
    fi
    c_program pmi2 -w "$slurms" -pthread
    prog=$bin/pmi2
    if [ "$library" = dropin ]; then
        LD_LIBRARY_PATH=$WU_BUILD/src/lib/pmi2
        export LD_LIBRARY_PATH
    elif [ "$launcher" = hydra ]; then
        ring=no # Hydra ends the job at the word; our library goes without its help
    fi
fi
export LONGEST="$longest" # for pmi2.c
names=good # Hydra answers look-ups in a way that Slurm's library does not understand
[ "$launcher $library" = "hydra slurm" ] && names=WRONG

if [ "$launcher $library" = "hydra slurm" ]; then
    launch 1 "$prog" exchange 8
    if grep -q 'PMI2_Init.* returned 14' "$err"; then
        echo "1..0 # SKIP Slurm's library refuses this Hydra, which does not say its version (4.1 and later)"
        exit 0
    fi
fi
launch 3 "$prog" spoil
same "a wrong value is seen to be wrong" "$(head -n 1 "$out")" "pmi2 3 WRONG ranks=3" || explain
for n in $(rank_counts "$@"); do
    launch "$n" "$prog" exchange
    same "$n ranks exchange their cards" "$rc $(head -n 1 "$out")" "0 pmi2 $n good" || explain
    launch "$n" "$prog" all "$launcher" $ring
    same "every function on $n ranks" "$(head -n 1 "$out")" \
        "all $n $names$([ $names = WRONG ] && echo ' ranks=1')" || explain
    if [ "$launcher" = wireup ]; then
        launch "$n" "$prog" threads $((n > 16 ? 2 : 10))
        same "eight threads in each of $n ranks" "$rc $(cat "$out" "$err")" "0 threads $n good" || explain
        spawning launch "$n" "$prog" spawn "$prog" 5
        spawned "$n ranks and five children" 5
        same "$n ranks and five children of one" "$rc $(cat "$out")" "0 spawn $n good" || explain
        same "what does not exist is told in one line" "$(cat "$err")" \
            "wireup: spawn: /no/such/program: no such program"
    fi
done
launch 3 "$prog" exchange "$longest"
same "values of $longest bytes" "$rc $(head -n 1 "$out")" "0 pmi2 3 good" || explain
if [ $names = good ]; then
    launch 3 "$prog" threads
    same "eight threads in each of 3 ranks" "$rc $(cat "$out" "$err")" "0 threads 3 good" || explain
fi

if [ "$launcher" = wireup ]; then
    # PMI-1 and PMI-2 in one job.  (Under Hydra their fences never meet.)
    c_program rawpmi1
    launch 2 "$prog" exchange : -n 3 "$bin/rawpmi1" exchange
    same "PMI-2 and PMI-1 ranks in one job" "$rc $(head -n 1 "$out")" "0 pmi2 5 good" || explain
    launch 3 "$bin/rawpmi1" exchange : -n 2 "$prog" exchange
    same "and the other way round" "$rc $(head -n 1 "$out")" "0 raw 5 good" || explain
    launch 2 "$bin/rawpmi1" exchange : -n 2 "$prog" spoil
    ok "a spoiled one is seen" grep -q "^raw 4 WRONG ranks=4" "$out"

    if [ "$library" = ours ]; then # with sanitizers in them where the launcher has them
        one=$WU_BUILD/tests/e2e/e2e-mixed1 two=$WU_BUILD/tests/e2e/e2e-mixed2
        launch 16 "$one" random 64 6 : -n 16 "$two" random 64 6 : -n 16 "$one" random 64 6 : -n 16 "$two" random 64 6
        same "64 ranks, half of them of either protocol, put and get by chance" \
            "$rc $(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ';')$(cat "$err")" "0  32 random 1 good; 32 random 2 good;" || explain
        launch 3 "$one" random 6 2 spoil : -n 3 "$two" random 6 2 spoil
        ok "and the error is noticed" grep -q WRONG "$out" || explain
    fi
    # The control: a launcher that refuses every spawn is seen to.
    spawning launch 2 sh -c '"$0" spawn /no/such/program 5' "$prog"
    spawned "a spawn that does not happen" 0
    same "a spawn that does not happen is seen not to" "$rc $(cat "$out")" "1 spawn 2 WRONG ranks=1" || explain
    launch 16 "$prog" exchange : -n 16 "$bin/rawpmi1" exchange : -n 16 "$prog" exchange \
        : -n 16 "$bin/rawpmi1" exchange
    same "a mixed job of 64" "$rc $(head -n 1 "$out")" "0 pmi2 64 good" || explain
    spawning launch 1 "$prog" crowd "$prog" 100
    spawned "a hundred jobs in a row" 100
    same "a hundred jobs in a row" "$rc $(cat "$out" "$err")" "0 crowd 1 good" || explain
    run 60 "$WIREUP" -job-attr colour=blue -job-attr n=1=2 -usize 9 -memory-alloc-kinds system \
        -n 2 "$prog" attr colour n universeSize PMI_mpi_memory_alloc_kinds other
    same "attributes of the job" "$(cat "$out")" "colour blue
n 1=2
universeSize 9
PMI_mpi_memory_alloc_kinds system
other (not found)" || explain
    known="PMI_signals_forwarded hasNameServ physTopology physTopologyLevels isHeterogeneous cartDims"
    # shellcheck disable=SC2086
    run 60 "$WIREUP" -n 2 "$prog" attr $known
    same "attributes that the manager has itself" "$(cat "$out")" "PMI_signals_forwarded SIGINT,SIGTERM,SIGHUP,SIGUSR1,SIGUSR2,SIGTSTP,SIGCONT,SIGWINCH
hasNameServ TRUE
physTopology complete
physTopologyLevels (not found)
isHeterogeneous FALSE
cartDims (not found)" || explain
    # shellcheck disable=SC2086
    run 60 "$WIREUP" -launcher fork -hosts a:2,b:2 -n 4 "$prog" attr $known
    same "and on two nodes" "$(cat "$out")" "PMI_signals_forwarded SIGINT,SIGTERM,SIGHUP,SIGUSR1,SIGUSR2,SIGTSTP,SIGCONT,SIGWINCH
hasNameServ TRUE
physTopology hierarchical
physTopologyLevels complete,complete
isHeterogeneous (not found)
cartDims (not found)" || explain
    run 60 "$WIREUP" -launcher fork -hosts a:2,b:3 -n 5 "$prog" node localRanks localRanksCount memPoolType
    same "of a node" "$(cat "$out")" "localRanks 2,3,4
localRanksCount 3
memPoolType (not found)" || explain
    run 60 "$WIREUP" -n 1 "$prog" attr PMI_netinfo_of_task
    ok "the addresses of the node" \
        grep -q "^PMI_netinfo_of_task ($(hostname),.*[^,]*,IP_V4,10.78.0.1)" "$out" || explain
    spawning launch 1 "$prog" share
    spawned "an attribute of the node for connected jobs" 1
    same "attributes of the node for connected jobs" "$rc $(cat "$out" "$err")" "0 parent: of the parent
parent: nobody is left" || explain
    run 60 "$WIREUP" -n 3 sh -c '
        file=$("$0" attr PMI_hwloc_xmlfile | sed -n "s/PMI_hwloc_xmlfile //p")
        [ -z "$file" ] || head -c 5 "$file"' "$prog"
    same "the node's topology is a file that processes can read" "$(cat "$out")" "<?xml" || explain
    run 60 "$WIREUP" -launcher fork -hosts a:2,b:2 -n 4 "$prog" attr PMI_process_mapping
    same "the mapping of two nodes" "$(cat "$out")" \
        "PMI_process_mapping (vector,(0,2,2))" || explain
    run 60 "$WIREUP" -launcher fork -hosts a:2,b:2 -n 4 "$prog" exchange
    same "an exchange over two nodes" "$rc $(head -n 1 "$out")" "0 pmi2 4 good" || explain
fi

launch 3 "$prog" abort 7 1 "this; is the end"
if [ "$launcher $library" = "wireup slurm" ] || [ "$launcher" = hydra ]; then
    ok "PMI2_Abort(7) by rank 1 ends the job" [ "$rc" -ne 0 ] || explain # the wire has no code
else
    same "PMI2_Abort(7) by rank 1 ends the job with 7" "$rc" 7 || explain
fi
if [ "$launcher" = wireup ]; then
    same "and its message is told once" "$(grep -c "this; is the end" "$err")" 1 || explain
fi

if [ "$library" != slurm ]; then
    run 60 env WIREUP=none "$prog" attr universeSize PMI_process_mapping
    same "alone" "$rc $(cat "$out" "$err")" "0 universeSize 1
PMI_process_mapping (vector,(0,1,1))" || explain
    run 60 env PMI_DEBUG=1 PMI_FD=99 "$prog" all alone
    ok "a lost descriptor is a clear failure" \
        grep -q "^libpmi2: PMI2_Init: PMI_FD=99 is not an open descriptor" "$err" || explain
fi
finish
