#!/bin/sh
# What users of other launchers take for granted, on one node and on several, whatever the program
# speaks: an abort with 0 ends with 0; the universe has as many places as there are slots.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin
patience=120
build=$WU_BUILD/tests/e2e
c_program rawpmi1
unshare -u true 2>/dev/null && nodes=yes || nodes=
no_nodes="this user may not give a process another host name"
named_agent
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 "$@"; }
openmpi() # NAME: builds mpi/NAME.c with Open MPI's compiler as $bin/NAME.ompi
{
    command -v mpicc.openmpi >/dev/null 2>&1 &&
        mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -w -o "$bin/$1.ompi" "$e2e/mpi/$1.c"
}

# ---- aborts: the code that the program gives is the launcher's, 0 too
for code in 0 9; do
    launch 3 "$bin/rawpmi1" abort $code 1 "on purpose"
    same "PMI-1's abort with $code" "$rc $(grep -c "aborted with code $code: on purpose" "$err")" "$code 1" || explain
    launch 3 "$build/e2e-libpmi" abort $code 1 "on purpose"
    same "PMI_Abort($code)" "$rc" $code || explain
    launch 3 "$build/e2e-pmixcalls" abort $code
    same "PMIx_Abort($code)" "$rc" $code || explain
done
launch 3 "$bin/rawpmi1" abort 256 1 "on purpose"
same "a code without bits in what a shell sees is no success" "$rc" 1 || explain
for rank in 0 3; do
    if [ -z "$nodes" ]; then
        skip "an abort with 0 by rank $rank of two nodes" "$no_nodes"
        continue
    fi
    over -n 4 "$bin/rawpmi1" abort 0 $rank "on purpose"
    same "an abort with 0 by rank $rank of two nodes" "$rc $(grep -c 'on purpose' "$err")" "0 1" || explain
done
if mpicc.mpich -o "$bin/abort" "$e2e/mpi/abort.c" 2>/dev/null; then
    launch 2 "$bin/abort" 1 0
    same "MPICH's MPI_Abort(0)" "$rc" 0 || explain
else
    skip "MPICH's MPI_Abort(0)" "MPICH's compiler is not installed"
fi
if openmpi abort; then
    for code in 0 9; do
        launch 2 "$bin/abort.ompi" 1 $code
        same "Open MPI's MPI_Abort($code), and no empty words of its library" \
            "$rc $(grep -c "aborted with code $code\$" "$err")" "$code 1" || explain
    done
else
    skip "Open MPI's MPI_Abort(0)" "Open MPI's compiler is not installed"
fi
if command -v oshcc >/dev/null 2>&1 && oshcc -o "$bin/osh" "$e2e/mpi/osh.c" 2>/dev/null; then
    for code in 0 9; do
        launch 2 "$bin/osh" exit $code
        same "shmem_global_exit($code)" "$rc" $code || explain
    done
else
    skip "shmem_global_exit(0)" "Open MPI has no OpenSHMEM here"
fi
# ---- the universe: the slots where they are known, else what there is no word for
# shellcheck disable=SC2016
ask='echo "cmd=init pmi_version=1 pmi_subversion=1" >&3; read -r line <&3
echo cmd=get_universe_size >&3; read -r line <&3; [ "$PMI_RANK" != 0 ] || echo "${line##*=}"
echo cmd=finalize >&3; read -r line <&3'
printf '%s\n' localhost:3 127.0.0.1:4 >"$tmp/hosts"
for row in "32 -hosts localhost:32 -n 1" "7 -hostfile $tmp/hosts -n 1" "5 -hosts localhost:2 -n 5" \
    "9 -hosts localhost:32 -usize 9 -n 1" "-1 -hosts localhost:32 -usize INFINITE -n 1" "-1 -n 2"; do
    want=${row%% *}
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" ${row#* } sh -c "$ask"
    same "PMI-1 with${row#"$want"}" "$rc $(cat "$out")" "0 $want" || explain
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" ${row#* } "$build/e2e-libpmi2" attr universeSize
    same "PMI-2 with${row#"$want"}" "$rc $(sort -u "$out")" "0 universeSize $want" || explain
done
run "$patience" env SLURM_JOB_NODELIST=localhost SLURM_TASKS_PER_NODE=6 SLURM_JOB_ID=1 "$WIREUP" -n 1 sh -c "$ask"
same "what a resource manager gives" "$rc $(cat "$out")" "0 6" || explain
if [ -n "$nodes" ]; then
    over -n 1 sh -c "$ask"
    same "two nodes, one without ranks" "$rc $(cat "$out")" "0 4" || explain
    run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:3
    run "$patience" "$WIREUP" run -n 1 sh -c "$ask"
    same "standing daemons" "$rc $(cat "$out")" "0 5" || explain
    run "$patience" "$WIREUP" down
else
    skip "the universe of two nodes" "$no_nodes"
fi
if openmpi universe; then
    launch 1 "$bin/universe.ompi"
    processors=$(nproc)
    same "Open MPI, nothing said: the processors" "$rc $(cut -d' ' -f1,2 "$out")" "0 universe $processors" || explain
    run "$patience" "$WIREUP" -hosts localhost:5 -n 2 "$bin/universe.ompi"
    same "a master finds room for its workers" "$rc $(cat "$out")" "0 universe 5 workers 4 see 5 on 1" || explain
    [ -z "$nodes" ] || over -n 3 "$bin/universe.ompi" 2
    [ -z "$nodes" ] || same "on two nodes, too" "$rc $(cut -d' ' -f1-6 "$out")" "0 universe 4 workers 2 see 4" || explain
else
    skip "Open MPI's universe" "Open MPI's compiler is not installed"
fi
if mpicc.mpich -w -o "$bin/universe" "$e2e/mpi/universe.c" 2>/dev/null; then
    run "$patience" "$WIREUP" -hosts localhost:5 -n 2 "$bin/universe" 0
    same "MPICH's universe" "$rc $(cat "$out")" "0 universe 5 workers 0" || explain
else
    skip "MPICH's universe" "MPICH's compiler is not installed"
fi

# What ranks that were ended leave behind is Open MPI's own.
rm -rf "${TMPDIR:?}"/ompi.*
[ -z "${WU_PRIVATE-}" ] || rm -rf /dev/shm/vader_segment.* /dev/shm/osh* # else they may be somebody's
finish
