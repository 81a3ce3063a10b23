#!/bin/sh
# The newest Open MPI that is at hand: its programs on one node and on three; from 5.0 on also sessions, failed processes,
# and jobs of two launchers.
#
#   WIREUP_OMPI=DIR     its source tree (with a configure script, built here) or its installation; otherwise that of the
#                       system
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi-trees.sh"
. "$(dirname "$0")/openmpi-modern.sh"
private_world "$@"
begin
use_launcher wireup
into=
patience=300
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=lo # there is no way to other machines

mpicc=mpicc.openmpi
info=ompi_info
if [ -n "${WIREUP_OMPI-}" ]; then
    ompi_prefix "$WIREUP_OMPI"
    mpicc=$prefix/bin/mpicc
    info=$prefix/bin/ompi_info
fi
if ! command -v "$mpicc" >/dev/null 2>&1; then
    echo "1..0 # SKIP Open MPI's compiler (mpicc.openmpi) is not installed"
    exit 0
fi
program() # NAME...
{
    for name in "$@"; do
        "$mpicc" -std=gnu11 -D_GNU_SOURCE -O1 -pthread -o "$bin/$name" "$e2e/mpi/$name.c" || exit 1
    done
}
program hello ring comms names accepts universe abort
version=$("$info" --version | sed -n '1s/.* v*//p')
note "Open MPI $version"
needs_host_names
named_agent

programs() # WHERE LAUNCHER...
{
    where=$1
    shift
    run "$patience" "$@" -n 4 "$bin/ring" spoil
    ok "$where: a spoiled ring is seen to be wrong" grep -q "^ring 4 WRONG" "$out" || explain
    for what in ring names accepts; do
        run "$patience" "$@" -n 4 "$bin/$what"
        same "$where: $what" "$rc $(cat "$out")" "0 $what 4 good" || explain
    done
    spawning run "$patience" "$@" -n 1 "$bin/universe" 3
    same "$where: workers of a master" "$rc $(sed 's/ on .*//' "$out" | tail -n 1)" "0 universe 6 workers 3 see 6" || explain
    spawned "$where: workers of a master" 3
    run "$patience" "$@" -n 4 "$bin/abort" 3 9
    same "$where: MPI_Abort(9)" "$rc" 9 || explain
}

launch 4 "$bin/comms"
same "communicators" "$rc $(cat "$out")" "0 comms 4 good" || explain
programs "one node" "$WIREUP" -hosts localhost:6
programs "three nodes" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
case $version in
[1-4].*) note "sessions, failed processes and two launchers came with Open MPI 5" ;;
*)
    program sessions psets survives replaces meets
    all_of_modern "one node" "$WIREUP"
    all_of_modern "three nodes" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
    ;;
esac
theirs_stay 'ompi.*' # as Open MPI leaves them of processes that are killed
finish
