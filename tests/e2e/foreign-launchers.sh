#!/bin/sh
# Programs started by a launcher that speaks something else: told so, not left to be rank 0 of 1 each.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
single=$WU_BUILD/tests/e2e/e2e-singleton
single2=$WU_BUILD/tests/e2e/e2e-singleton2
alone() { grep -c '^size 1 ' "$out"; }
told() { grep -c "$1" "$err"; }

for program in "$single" "$single2"; do
    name=$(basename "$program")
    run 120 "$program" true
    same "$name: nobody started it: alone" "$(alone) $(told started)" "1 0" || explain
    run 120 env SLURM_PROCID=1 SLURM_NTASKS=4 "$program" true
    same "$name: srun without PMI: refused, in one sentence" "$rc $(alone) $(wc -l <"$err")" "3 0 1" || explain
    ok "$name: what was found, and what would work" grep -q \
        "Slurm's srun (SLURM_PROCID=1, SLURM_NTASKS=4).*srun --mpi=pmi2 -n 4" "$err" || explain
    run 120 env SLURM_PROCID=1 SLURM_NTASKS=4 WIREUP_SINGLETON=1 "$program" true
    same "$name: unless it is wanted" "$(alone)" 1 || explain
    run 120 env SLURM_PROCID=0 SLURM_NTASKS=1 "$program" true
    same "$name: one process of srun is alone" "$(alone)" 1 || explain
done

# The real ones.
mpirun=/usr/bin/mpirun.openmpi
if [ -x $mpirun ]; then
    # It ends the other when one has failed: each waits until both have spoken.
    cat >"$tmp/both" <<'END'
#!/bin/sh
"$@"
rc=$?
: >"$0.$$"
until [ "$(ls "$0".* | wc -l)" = 2 ]; do sleep 0.02; done
exit $rc
END
    chmod +x "$tmp/both"
    run 120 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1 $mpirun -n 2 "$tmp/both" "$single" true
    same "Open MPI's mpirun: both are refused" "$(alone) $(told "Open MPI's mpirun")" "0 2" || explain
    ok "and the job fails" [ "$rc" != 0 ]
else
    skip "Open MPI's mpirun" "not installed"
fi
PATH=$PATH:/usr/lib64/mpich/bin
if command -v mpiexec.hydra >/dev/null 2>&1; then
    run 120 mpiexec.hydra -n 2 env -u PMI_FD "$single" true
    same "mpiexec whose connection is hidden: both are refused" "$(alone) $(told 'PMI_FD and PMI_PORT are missing')" "0 2" ||
        explain
    run 120 mpiexec.hydra -n 2 "$single" true
    ok "and it is no trouble otherwise" eval '[ "$(grep -c "^size 2 " "$out") $(told started)" = "2 0" ]' || explain
else
    skip "mpiexec whose connection is hidden" "Hydra is not installed"
fi
run 120 "$WIREUP" -n 2 env -u PMI_FD "$single" true
same "the same under wireup" "$(alone) $(told 'PMI_FD and PMI_PORT are missing')" "0 2" || explain
finish
