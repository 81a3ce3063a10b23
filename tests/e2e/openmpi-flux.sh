#!/bin/sh
# A real user of libpmi.so.0: Open MPI 4.1 takes any PMI-1 library through its Flux component, puts
# values with blanks in them, and asks for cliques.
#
#   openmpi-flux.sh RANKS...
#
# What Open MPI wants: FLUX_JOB_ID (any number) and FLUX_PMI_LIBRARY_PATH; what a crowded machine
# wants: mpi_yield_when_idle, since nobody has told Open MPI that there are more ranks than processors.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export FLUX_JOB_ID=7 FLUX_PMI_LIBRARY_PATH="$WU_BUILD/src/lib/pmi/libpmi.so.0"
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pmix=flux
PATH=$PATH:/usr/lib64/openmpi/bin
patience=300

if ! command -v mpicc.openmpi >/dev/null 2>&1; then
    echo "1..0 # SKIP Open MPI's compiler (mpicc.openmpi) is not installed"
    exit 0
fi
if ! ompi_info 2>/dev/null | grep -q 'MCA pmix: flux'; then
    echo "1..0 # SKIP this Open MPI has no Flux component"
    exit 0
fi
for program in hello ring alltoall comms abort; do
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done

# ---- controls
launch 5 "$bin/ring" spoil
ok "a spoiled ring is seen to be wrong" grep -q "^ring 5 WRONG" "$out"
FLUX_PMI_LIBRARY_PATH=/nonexistent/libpmi.so.0 launch 2 "$bin/hello"
ok "without our library there is no job of two" eval '! grep -q "of 2" "$out"'

# ---- the programs
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

# ---- ScaLAPACK's LU, small
xdlu=$(ls /usr/lib/*/scalapack/openmpi-tests/xdlu 2>/dev/null | head -n 1)
grid() # RANKS: a process grid P x Q
{
    case $1 in 1) echo 1 1 ;; 2) echo 1 2 ;; 4) echo 2 2 ;; 16) echo 4 4 ;; *) echo 1 "$1" ;; esac
}
ranks=$*
for n in $ranks; do
    # shellcheck disable=SC2046
    set -- $(grid "$n")
    if [ -z "$xdlu" ]; then
        skip "xdlu on $n ranks" "scalapack-mpi-test is not installed"
        continue
    fi
    printf '%s\n' "'LU'" "'MPI Machine'" "'LU.out'" 6 2 "4 17" "4 13" 2 "2 3" 2 "1 3" 2 "1 3" 1 "$1" \
        "$2" 1.0 T >LU.dat
    launch "$n" "$xdlu"
    same "xdlu on $n ranks" "$rc $(grep -c '^WALL.*PASSED' "$out") $(grep -c FAILED "$out")" "0 10 0" || explain
    ok "xdlu has come to its end" grep -q "END OF TESTS" "$out"
done

# ---- HPC Challenge, small: communication of every kind, checked by itself
example=/usr/share/doc/hpcc/examples/_hpccinf.txt
for n in $ranks; do
    if ! command -v hpcc >/dev/null 2>&1 || ! [ -e $example ]; then
        skip "hpcc on $n ranks" "hpcc is not installed"
        continue
    fi
    # shellcheck disable=SC2046
    set -- $(grid "$n")
    sed "6s/.*/100 Ns/; 8s/.*/16 NBs/; 11s/.*/$1 Ps/; 12s/.*/$2 Qs/" $example >hpccinf.txt
    rm -f hpccoutf.txt
    launch "$n" hpcc
    same "hpcc on $n ranks" "$rc $(grep -c '^Success=1' hpccoutf.txt)" "0 1" || explain
    # (Its random access test loses a few updates by design, and says whether few enough.)
    ok "hpcc's own checks have passed" eval \
        '! grep -E "FAILED|\(failed\)|[1-9][0-9]* tests completed and failed" hpccoutf.txt'
done

# Hydra's lines cannot say what Open MPI puts: it is told so, where others would read cut values.
if command -v mpiexec.hydra >/dev/null 2>&1; then
    FLUX_JOB_ID=$$ PMI_DEBUG=1 run 60 mpiexec.hydra -n 2 "$bin/hello"
    ok "under Hydra the job fails" [ "$rc" != 0 ]
    ok "and the reason is told" grep -q "^libpmi: PMI_KVS_Put: the value of key .* contains a blank" "$err"
    ok "and Open MPI has understood" grep -q "PMI_KVS_Put.*Invalid value argument" "$err" || explain
    # What Open MPI leaves when it fails is not ours.
    theirs_stay 'ompi.*' "vader_segment.*.$$.*" "vader_segment.*.$(printf %x $$).*"
fi
finish
