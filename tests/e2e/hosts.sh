#!/bin/sh
# Jobs over many hosts (netns.sh), each with its own network and sshd: the programs of one node give
# the same results there.  MPICH and Open MPI talk to each other over TCP between the hosts.
#
#   hosts.sh HOSTS RANKS [MPI]   so many hosts, so many ranks on each; of MPI programs, whose ranks
#                                are busy while they wait, MPI on each (as many unless said)
#
# The control: a program that puts a wrong value must be seen.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
hosts=${1:-4}
each=${2:-2}
netns_world "$@"
begin
use_launcher wireup
mpi=${3:-$each}
n=$((hosts * each))
find_mpicc
for one in hello ring alltoall; do
    mpi_program $one
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/ompi_$one" "$e2e/mpi/$one.c" || exit 1
done
c_program rawpmi1
if ! netns_up "$hosts"; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
list=$(seq -s, -f "n%g:$each" "$hosts")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/16 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_pml=ob1

# on WORDS...: a job on all hosts
on()
{
    run 300 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts "$list" -n "$n" "$@"
}
on_mpi()
{
    run 300 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts "$list" -ppn "$mpi" -n "$m" "$@"
}

on hostname
same "$each ranks on each of $hosts hosts" \
    "$rc $(sort "$out" | uniq -c | sed 's/^ *//' | sort -V -k2 | tr '\n' ' ')" \
    "0 $(seq -f "$each n%g" "$hosts" | tr '\n' ' ')" || explain
on "$bin/rawpmi1" exchange
ok "PMI-1" grep -q "^raw $n good" "$out" || explain
on "$bin/rawpmi1" spoil
ok "the control is red" grep -q "^raw $n WRONG" "$out" || explain
on "$WU_BUILD/tests/e2e/e2e-libpmi" exchange
ok "PMI-1 through our library" grep -q "^lib $n good" "$out" || explain
on "$WU_BUILD/tests/e2e/e2e-libpmi2" exchange
ok "PMI-2 through our library" grep -q "^pmi2 $n good" "$out" || explain
m=$((hosts * mpi))
for one in hello ring alltoall; do
    on_mpi "$bin/$one"
    case $one in
    hello) same "MPICH: $one" "$rc $(grep -c "^hello [0-9]* of $m$" "$out")" "0 $m" || explain ;;
    *) ok "MPICH: $one" grep -q "^$one $m good" "$out" || explain ;;
    esac
    on_mpi "$bin/ompi_$one"
    case $one in
    hello) same "Open MPI: $one" "$rc $(grep -c "^hello [0-9]* of $m$" "$out")" "0 $m" || explain ;;
    *) ok "Open MPI: $one" grep -q "^$one $m good" "$out" || explain ;;
    esac
done
head -c 3000000 /dev/urandom >"$tmp/data"
rc=0
timeout 120 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts "$list" -n "$n" -stdin $((n - 1)) \
    cat <"$tmp/data" >"$out" 2>"$err" || rc=$?
same "standard input to the last host and back" "$rc $(cmp "$tmp/data" "$out" && echo same)" "0 same"
on "$bin/rawpmi1" leave 9 $((n - 1))
same "an exit code of the last host ends all" "$rc" 9 || explain
ok "with one sentence that names it" grep -q "rank $((n - 1)) on n$hosts .*exited with code 9" "$err" || explain
netns_still
netns_down
rm -rf "${TMPDIR:?}"/ompi.* # Open MPI leaves its session directories, as under its own launcher
finish
