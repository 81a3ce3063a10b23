#!/bin/sh
# Planted hangs: the report of `wireup who --stacks` names in its first three lines who is to blame.
. "$(dirname "$0")/lib.sh"
needs_host_names
private_world "$@"
begin
use_launcher wireup
mpi_program hang
named_agent

begin_hang() # OPTIONS...: behind an &
{
    "$WIREUP" "$@" >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
}
end_hang()
{
    kill -TERM $job 2>/dev/null
    wait $job
}
explain_hang()
{
    explain
    note "job: $(cat "$tmp/job.out" "$tmp/job.err")"
}
rc=0
told() # PATTERN: in the first three lines
{
    "$WIREUP" who --stacks >"$out" 2>"$err" && head -n 3 "$out" | grep -Eq "$1"
}
blames() # NAME PATTERN
{
    ok "$1" wait_until 60 told "$2" || explain_hang
}

begin_hang -n 2 "$bin/hang" sends
blames "two sends to each other" \
    '^  all processes send and none receives, a deadlock: ranks 0-1 are in MPI_Ssend, called by exchange$'
ok "and where these are called" grep -Eq '^    0-1: main > exchange > MPI_Ssend$' "$out" || explain_hang
end_hang

begin_hang -n 4 "$bin/hang" barrier
blames "a barrier that a rank misses" \
    '^  rank 1 \(pid [0-9]+ on [^ ]+\) is in pause, called by forget \(sleeping, CPU .*\); ranks 0,2-3 are in MPI_Barrier, called by main$'
ok "the few are the first in the tree" \
    [ "$(grep -A 1 '^    0-3: main$' "$out" | tail -n 1)" = "      1: forget > pause" ] || explain_hang
ok "nothing else is wrong" [ "$(grep -Ec 'stopped|ended|different|no answer' "$out")" = 0 ] || explain_hang
cat >"$tmp/judge.py" <<'END'
import json, sys
job, = json.load(sys.stdin)["jobs"]
finding, = job["findings"]
assert finding["kind"] == "stacks" and finding["ranks"] == "1", finding
main, = job["stacks"]
assert main["call"] == "main" and main["ranks"] == "0-3" and main["library"] == ""
few, many = main["calls"]
assert few["call"] == "forget" and few["ranks"] == "1" and many["ranks"] == "0,2-3"
assert many["call"].endswith("MPI_Barrier") and many["library"].startswith("libmpi")
one = job["ranks"][1]
assert one["rank"] == 1 and one["machine_state"] == "sleeping" and "libmpi" in one["mpi_library"]
assert one["waits_in"] and 0 <= one["cpu_seconds"] and 0 < one["cpu_within_seconds"]
print("good")
END
"$WIREUP" who --stacks --json >"$out" 2>"$err"
same "for programs" "$(python3 "$tmp/judge.py" <"$out" 2>&1)" good || explain_hang
"$WIREUP" who >"$out" 2>"$err"
ok "without stacks it tells the state of each" grep -Eq \
    '^    rank 1 on [^ ]+ \(pid [0-9]+\) attached, sleeping in [a-z ]+[0-9]*, CPU [0-9.]+ s in [0-9.]+ s; last request: ' \
    "$out" || explain_hang
kill -QUIT $job
ok "SIGQUIT shows the stacks, too" wait_until 60 grep -q '^wireup:       1: forget > pause$' "$tmp/job.err" || explain_hang
end_hang
for time in 5 20 80; do # MPI_Init may need longer
    run 300 "$WIREUP" -get-stack-traces -timeout $time -n 2 "$bin/hang" sends
    ! grep -q 'exchange' "$err" || break
done
same "the end by the time limit" "$rc" 124 || explain
ok "shows them, if they are wanted" grep -q '^wireup:     0-1: main > exchange > MPI_Ssend$' "$err" || explain

begin_hang -n 4 "$bin/hang" loop
blames "an infinite loop" \
    '^  rank 1 \(pid [0-9]+ on [^ ]+\) is in compute \(running, CPU .*\); ranks 0,2-3 are in MPI_Barrier'
end_hang

# A script that starts the program is not what hangs.
# shellcheck disable=SC2016
begin_hang -n 3 sh -c '"$0" stopped; exit $?' "$bin/hang"
blames "a rank that is stopped" '^  rank 1 \(pid [0-9]+ on [^ ]+\) is stopped \(by SIGSTOP or SIGTSTP\)'
end_hang

begin_hang -disable-auto-cleanup -n 3 "$bin/hang" leaves
blames "a rank that has ended without finalize" \
    '^  rank 1 \(pid [0-9]+ on [^ ]+\) has ended without finalize \(exit code 0\); the others go on$'
end_hang

mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/hang-openmpi" "$e2e/mpi/hang.c" || exit 1
begin_hang -n 2 "$bin/hang" early : -n 2 "$bin/hang-openmpi" early
blames "two MPI libraries" \
    '^  the ranks have different MPI libraries \(ranks 0-1: MPICH \(libmpi.*\); ranks 2-3: Open MPI \(libmpi\.so.*\)\); one MPI job needs one$'
end_hang

# The daemon that is stopped is that of rank 1, which is on a node of its own.
begin_hang -launch-agent "$tmp/agent" -hosts nA,nB,nC -ppn 1 -n 3 "$bin/hang" barrier
blames "over three nodes" \
    '^  rank 1 \(pid [0-9]+ on nB\) is in pause, called by forget .*; ranks 0,2 are in MPI_Barrier, called by main$'
rank=$(sed -n 's/^  rank 1 (pid \([0-9]*\) .*/\1/p' "$out")
daemon=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$rank/status")
kill -STOP "$daemon"
blames "a node that does not answer" '^  node nB does not answer: .*; it runs rank 1$'
kill -CONT "$daemon"
end_hang

# Where no tool is installed.
mkdir "$tmp/none"
PATH=$tmp/none begin_hang -n 2 "$bin/hang" early
blames "no tool" '^'
ok "one sentence tells what to install" \
    wait_until 60 sh -c '"$0" who --stacks | grep -q "^  no stacks from this node: neither eu-stack (package elfutils) nor gdb is installed$"' \
    "$WIREUP" || explain_hang
end_hang
finish
