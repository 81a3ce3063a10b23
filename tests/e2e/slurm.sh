#!/bin/sh
# libpmi2.so.0 under a real Slurm server: munged, slurmctld and slurmd started by hand, on private
# ports and folders; srun --mpi=pmi2 runs the same program with our library and with Slurm's.
#
#   slurm.sh RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
. "$e2e/slurm-lib.sh"
slurm_start
srun()
{
    run 300 srun -Q -O --mpi=pmi2 "$@"
}
ours=$WU_BUILD/tests/e2e/e2e-libpmi2

srun -n 3 "$ours" spoil
same "a wrong value is seen to be wrong" "$(head -n 1 "$out")" "pmi2 3 WRONG ranks=3" || explain
for n in $(rank_counts "$@"); do
    srun -n "$n" "$ours" exchange
    same "$n ranks exchange their cards" "$rc $(head -n 1 "$out")" "0 pmi2 $n good" || explain
    srun -n "$n" "$ours" all slurm
    same "every function on $n ranks" "$rc $(cat "$out" "$err")" "0 all $n good" || explain
done
srun -n 3 "$ours" threads
same "eight threads in each of 3 ranks" "$rc $(cat "$out" "$err")" "0 threads 3 good" || explain
# A spawn is another srun, which has to find room beside the first.
SLURM_OVERLAP=1 SLURM_OVERCOMMIT=1
export SLURM_OVERLAP SLURM_OVERCOMMIT
srun --overlap -n 2 "$ours" spawn "$ours" 3 slurm
same "a parent and three children" "$rc $(cat "$out" "$err")" "0 spawn 2 good" || explain
# The others are its own: any attribute is found, a doubled semicolon ends a value, a name has no port.
conform --only pmi2 --server srun -Q -O --overlap --mpi=pmi2
ok "the kit: start, values and a spawn" [ "$(echo "$verdicts" | grep -c -e "start-2 conforms" -e "exchange-2 conforms" -e "spawn-1 conforms")" = 3 ] || explain
# (Slurm's file of a spawn's programs stays when the parent ends first.)
[ -z "${WU_PRIVATE-}" ] || rm -f /tmp/[0-9]*.??????
unset SLURM_OVERLAP SLURM_OVERCOMMIT
srun -n 2 "$ours" abort 7 1 "this is the end"
ok "PMI2_Abort(7) by rank 1 ends the job" [ "$rc" -ne 0 ] || explain
ok "and its message is printed" grep -q "this is the end" "$err" || explain
srun -n 1 "$ours" attr universeSize PMI_process_mapping
same "attributes" "$(cat "$out")" "universeSize 1
PMI_process_mapping (vector,(0,1,1))" || explain

# Slurm extends no job here, and so no allocation.
# shellcheck disable=SC2016 # of the job
run 300 salloc -Q -N 1 sh -c 'scontrol update "JobId=$SLURM_JOB_ID" NumNodes=2; "$@"' sh \
    "$WIREUP" -n 1 "$WU_BUILD/src/tools/pmix/palloc" --nodes 2
ok "an allocation of more nodes than the job has" grep -q \
    "palloc: .*: too few nodes are free (1 of 1); the launcher asks Slurm for no more than its job [0-9]* has" "$err" || explain
case $(scontrol --version) in
*" 22.05"*) ok "which Slurm would not give" grep -q "not supported on this system" "$err" || explain ;;
esac
# Slurm's own library in the same place, and both in one job.
if slurm_program pmi2; then
    srun -n 4 "$bin/pmi2" exchange
    same "Slurm's library does the same" "$rc $(head -n 1 "$out")" "0 pmi2 4 good" || explain
    echo "0,2 $ours exchange
1,3 $bin/pmi2 exchange" >multi
    srun -n 4 --multi-prog multi
    same "both libraries in one job" "$rc $(head -n 1 "$out")" "0 pmi2 4 good" || explain
fi
slurm_stop
finish
