#!/bin/sh
# Open MPI's own mpirun on our libpmix: its daemon is the host, our library its PMIx server; the
# programs use OpenPMIx's client, or ours.
#
#   mpirun.sh RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin
ours=$WU_BUILD/src/lib/pmix
patience=900 # 64 ranks take turns, for each step of a collective
# A library with AddressSanitizer needs its runtime in the programs that load it, and these were not
# built to leak nothing.
preload=$(sanitizer_preload "$ours/libpmix.so.2")
[ -z "$preload" ] || {
    # Open MPI's daemon reads a message of its own that its other thread may have sent and freed.
    echo "interceptor_via_fun:orte_rml_oob_send_buffer_nb" >"$tmp/suppressions"
    export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0:suppressions=$tmp/suppressions"
}

for tool in mpicc.openmpi mpirun.openmpi; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "1..0 # SKIP Open MPI ($tool) is not installed"
        exit 0
    fi
done
if mpirun.openmpi --version 2>/dev/null | grep -q 'Open MPI) [5-9]'; then
    echo "1..0 # SKIP this mpirun is PRRTE's, which needs internal parts of OpenPMIx (docs/compatibility.md)"
    exit 0
fi
for program in hello ring alltoall comms abort names; do
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
# shellcheck disable=SC2086
c_program nopmixget -shared -fPIC $pmix_flags

ompi() # RANKS COMMAND...
{
    ompi_n=$1
    shift
    run "$patience" env LD_LIBRARY_PATH="$ours" LD_PRELOAD="$preload" mpirun.openmpi --oversubscribe -n "$ompi_n" "$@"
}
theirs="env -u LD_LIBRARY_PATH -u LD_PRELOAD"

# ---- controls
# shellcheck disable=SC2016
ompi 1 sh -c 'grep -c "'"$ours"'/libpmix" "/proc/$PPID/maps"'
ok "mpirun has our library" [ "$(cat "$out")" -gt 0 ] || explain
ompi 4 "$bin/ring" spoil
ok "a spoiled ring is seen to be wrong" grep -q "^ring 4 WRONG" "$out" || explain
# shellcheck disable=SC2086
ompi 2 $theirs env LD_PRELOAD="$bin/nopmixget" "$bin/hello"
ok "where every Get fails, there is no job of two" eval '! grep -q "of 2" "$out"' || explain

# ---- the programs
for n in "$@"; do
    for who in "$theirs" "env"; do
        # shellcheck disable=SC2086
        ompi "$n" $who "$bin/hello"
        same "hello on $n ranks ($who)" "$rc $(sort -u "$out" | wc -l) $(grep -c "of $n\$" "$out")" "0 $n $n" || explain
        for program in ring alltoall comms; do
            # shellcheck disable=SC2086
            ompi "$n" $who "$bin/$program"
            same "$program on $n ranks ($who)" "$rc $(cat "$out")" "0 $program $n good" || explain
        done
    done
done
# shellcheck disable=SC2086
ompi 3 $theirs "$bin/abort" 2 9
same "an abort ends the job with its code" "$rc" 9 || explain
# mpirun leaves its session directory when a job goes wrong, on its own library too.
theirs_stay 'ompi.*'
finish
