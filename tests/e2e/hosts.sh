#!/bin/sh
# Jobs over many hosts (netns.sh), each with its own network and sshd: the programs of one node give
# the same results there.  MPICH and Open MPI talk to each other over TCP between the hosts.
#
#   hosts.sh HOSTS RANKS     so many hosts, so many ranks on each
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
n=$((hosts * each))
build=$WU_BUILD/tests/e2e
find_mpicc
for one in cables ring alltoall; do
    mpi_program $one
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/ompi_$one" "$e2e/mpi/$one.c" || exit 1
done
c_program rawpmi1
c_program timer_slack
pmix_flags=$(pkg-config --cflags --libs pmix) || exit 1
# shellcheck disable=SC2086
c_program rawpmix $pmix_flags
if ! netns_up "$hosts"; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
list=$(seq -s, -f "n%g:$each" "$hosts")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/16 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_pml=ob1

# on WORDS...: a job on all hosts; here WORDS...: on this one
on()
{
    run 900 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts "$list" -n "$@"
}
here()
{
    run 900 "$WIREUP" -n "$@"
}
results()
{
    grep -v '^exchange_us ' "$out" | sort
}
# What the job says here is what it says on all hosts: so many lines.
as_here() # NAME LINES N WORDS...
{
    as_name=$1
    as_lines=$2
    shift 2
    here "$@"
    results >"$tmp/want"
    same "$as_name, on one node" "$rc $(wc -l <"$tmp/want")" "0 $as_lines" || explain
    on "$@"
    same "$as_name, on $hosts hosts" "$rc $(results)" "0 $(cat "$tmp/want")" || explain
}

on "$n" hostname
same "$each ranks on each of $hosts hosts" \
    "$rc $(sort "$out" | uniq -c | sed 's/^ *//' | sort -V -k2 | tr '\n' ' ')" \
    "0 $(seq -f "$each n%g" "$hosts" | tr '\n' ' ')" || explain

# ---- clients of each protocol
on "$n" "$bin/rawpmi1" spoil
ok "the control is red" grep -q "^raw $n WRONG" "$out" || explain
as_here "PMI-1" 1 "$n" "$bin/rawpmi1" exchange
as_here "PMI-1 by our library" 1 "$n" "$build/e2e-libpmi" exchange
as_here "PMI-2 by our library" 1 "$n" "$build/e2e-libpmi2" exchange
as_here "PMIx by OpenPMIx's" 1 "$n" "$bin/rawpmix"
as_here "PMIx by ours" 1 "$n" "$build/e2e-rawpmix"
third=$((n / 3))
rest=$((n - 2 * third))
words="$(yes PMI-1 | head -n $third) $(yes PMI-2 | head -n $third) $(yes PMIx | head -n $rest)"
# shellcheck disable=SC2086
as_here "the three in one job" "$n" $third "$build/e2e-mixed1" $words : -n $third "$build/e2e-mixed2" $words : \
    -n $rest "$build/e2e-rawpmix" mixed $words

# ---- MPI: every rank on each host hears from those of other hosts
mpi() # NAME WORDS...: the job that WORDS are says what $tmp/cables has
{
    mpi_name=$1
    shift
    "$@"
    same "$mpi_name" "$rc $(sort "$out")" "0 $(cat "$tmp/cables")" || explain
}
here "$n" "$bin/timer_slack" "$bin/ompi_cables" "$each"
sort "$out" >"$tmp/cables"
same "MPI on one node: every rank prints what it has received" \
    "$rc $(grep -c "^cables [0-9]* of $n: from" "$tmp/cables") $(cut -d' ' -f2 "$tmp/cables" | sort -u | wc -l)" \
    "0 $n $n" || explain
mpi "MPICH says the same there" here "$n" "$bin/timer_slack" "$bin/cables" "$each"
mpi "MPICH on $hosts hosts" on "$n" "$bin/timer_slack" "$bin/cables" "$each"
mpi "Open MPI on $hosts hosts" on "$n" "$bin/timer_slack" "$bin/ompi_cables" "$each"
half=$((n / 2))
mpi "Open MPI, half of whose ranks have OpenPMIx's library and half ours" \
    on "$half" "$bin/timer_slack" "$bin/ompi_cables" "$each" : \
    -n $((n - half)) -env LD_LIBRARY_PATH "$WU_BUILD/src/lib/pmix" "$bin/timer_slack" "$bin/ompi_cables" "$each"
on "$n" "$bin/timer_slack" "$bin/ompi_cables" "$each" spoil
ok "a wrong line of a rank is noticed" \
    eval '[ "$rc" = 0 ] && [ "$(sort "$out")" != "$(cat "$tmp/cables")" ]' || explain
for one in ring alltoall; do
    on "$n" "$bin/timer_slack" "$bin/$one"
    same "MPICH: $one" "$rc $(cat "$out")" "0 $one $n good" || explain
    on "$n" "$bin/timer_slack" "$bin/ompi_$one"
    same "Open MPI: $one" "$rc $(cat "$out")" "0 $one $n good" || explain
done

# ---- streams and ends
head -c 3000000 /dev/urandom >"$tmp/data"
rc=0
timeout 300 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts "$list" -n "$n" -stdin $((n - 1)) \
    cat <"$tmp/data" >"$out" 2>"$err" || rc=$?
same "standard input to the last host and back" "$rc $(cmp "$tmp/data" "$out" && echo same)" "0 same"
on "$n" "$bin/rawpmi1" leave 9 $((n - 1))
same "an exit code of the last host ends all" "$rc" 9 || explain
ok "with one sentence that names it" grep -q "rank $((n - 1)) on n$hosts .*exited with code 9" "$err" || explain
netns_still
netns_down
finish
