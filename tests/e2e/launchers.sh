#!/bin/sh
# Jobs of two launchers that connect (launchers.c): their data, time-outs, and what each side is told
# when the other launcher is killed, at any moment; with our client library and with OpenPMIx's, on one
# node each and on two.
#
#   launchers.sh FIRST COUNT     so many kills, from this seed on
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
needs_host_names
named_agent
patience=60
launchers=$WU_BUILD/tests/e2e/e2e-launchers
clients=$launchers
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program launchers -w $pmix_flags
    clients="$clients $bin/launchers"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

# A job of 2 and one of 3, under two launchers, each with the nodes that are given.
both() # CLIENT MODE MODE CLIENT NODES NODES
{
    : >"$tmp/one" # what the jobs before have printed would be taken for theirs
    : >"$tmp/two"
    # shellcheck disable=SC2086
    timeout "$patience" "$WIREUP" $5 -n 2 "$1" "$2" one two 3 >"$tmp/one" 2>&1 &
    one=$!
    # shellcheck disable=SC2086
    timeout "$patience" "$WIREUP" $6 -n 3 "$4" "$3" two one 2 >"$tmp/two" 2>&1 &
    two=$!
}

# What both have ended with, and printed.
sums() # NAME WANT
{
    wait "$one"
    rc=$?
    wait "$two"
    rc="$rc $?"
    same "$1" "$rc $(sort "$tmp/one" "$tmp/two" | uniq -c | tr -s ' ' | tr '\n' ,)" "$2" ||
        note "$(cat "$tmp/one" "$tmp/two")"
}

nodes_of()
{
    [ "$1" = one ] || echo "-launch-agent $tmp/agent -hosts $2:2,$3:2"
}

for nodes in one two; do
    a=$(nodes_of $nodes n1 n2)
    b=$(nodes_of $nodes n3 n4)
    for client in $clients; do
        for other in $clients; do
            both "$client" meet meet "$other" "$a" "$b"
            sums "two jobs meet: ${client##*/} and ${other##*/}, nodes: $nodes" "0 0  5 launchers meet good,"
        done
        both "$client" later later "$client" "$a" "$b"
        sums "values put after the connect: ${client##*/}, nodes: $nodes" "0 0  5 launchers later good,"
        both "$client" patient late "$client" "$a" "$b"
        sums "a time-out that passes: ${client##*/}, nodes: $nodes" \
            "0 0  3 launchers late good, 2 launchers patient good,"
    done
done
timeout "$patience" "$WIREUP" -n 1 "$launchers" meet one two 4 >"$tmp/one" 2>&1 &
timeout "$patience" "$WIREUP" -n 1 "$launchers" meet two one 1 >"$tmp/two" 2>&1
wait
ok "the control: a job of another size is seen to be one" grep -q "WRONG rank 0: the other job has 1 processes" "$tmp/one" ||
    note "$(cat "$tmp/one")"

# MPI_Comm_connect and MPI_Comm_accept.
if command -v mpicc.openmpi >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_btl_tcp_if_include=lo # there are no other machines
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/meets" "$e2e/mpi/meets.c" || exit 1
    timeout "$patience" "$WIREUP" -n 2 "$bin/meets" accept launchers >"$tmp/one" 2>"$tmp/one.err" &
    one=$!
    run "$patience" "$WIREUP" -n 3 "$bin/meets" connect launchers
    wait "$one"
    same "Open MPI connects" "$? $rc $(cat "$tmp/one" "$out" | tr '\n' ,)" "0 0 accepting,meets 2 good,meets 3 good," ||
        note "$(cat "$tmp/one" "$tmp/one.err" "$out" "$err")"
else
    skip "Open MPI connects" "it is not installed"
fi

# A job that no launcher has.
run "$patience" "$WIREUP" -n 1 "$launchers" nobody
ok "who connects to a job that is nowhere is told so" \
    grep -q "cannot connect to processes of nowhere: no launcher of yours on this machine has that job" "$err" || explain
same "and goes on" "$rc $(cat "$out")" "0 launchers nobody good" || explain

# ---- one launcher is killed

connected() # N
{
    [ "$(cat "$tmp/one" "$tmp/two" | grep -c 'launchers connected')" -ge "$1" ]
}

child_of() # PID
{
    ps -o pid= --ppid "$1" | head -n 1 | tr -d ' '
}

# The worker process, or the one that watches over it.
kill_two() # worker|supervisor
{
    victim=$(child_of "$two")
    [ "$1" = supervisor ] || victim=$(child_of "$victim")
    kill -9 "$victim"
}

for nodes in one two; do
    a=$(nodes_of $nodes n1 n2)
    b=$(nodes_of $nodes n3 n4)
    for client in $clients; do
        both "$client" outlive outlive "$client" "$a" "$b"
        ok "they are connected: ${client##*/}, nodes: $nodes" wait_until "$patience" connected 5
        kill_two worker
        wait "$one"
        same "who outlives the other launcher is told of the ends: ${client##*/}, nodes: $nodes" \
            "$? $(grep -c 'launchers outlive good' "$tmp/one") $(grep -c 'the launcher of job .* is lost' "$tmp/one")" "0 2 1" ||
            note "$(cat "$tmp/one")"
        wait "$two"
    done
done

seed=$1
while [ "$seed" -lt $(($1 + $2)) ]; do
    nodes=one
    [ $((seed % 2)) = 0 ] || nodes=two
    who=worker
    [ $((seed % 3)) != 0 ] || who=supervisor
    client=$launchers
    [ $((seed / 2 % 2)) = 0 ] || client=${clients##* }
    both "$client" loop loop "$client" "$(nodes_of $nodes n1 n2)" "$(nodes_of $nodes n3 n4)"
    wait_until "$patience" connected 5
    sleep 0.0$((seed * 7919 % 97))
    kill_two $who
    wait "$one"
    same "seed $seed: $who killed, nodes: $nodes, ${client##*/}: the other side ends with a status" \
        "$? $(grep -c 'launchers over ' "$tmp/one") $(grep -c 'launchers loop good' "$tmp/one")" "0 2 2" ||
        note "$(cat "$tmp/one" "$tmp/two")"
    wait "$two"
    seed=$((seed + 1))
done
finish
