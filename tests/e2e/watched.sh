#!/bin/sh
# A job under every tool at once, tools killed at random moments (watched.py): the job never notices.
#
#   watched.sh FIRST COUNT    seeds; 1 500 takes half an hour
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
needs_host_names
named_agent
first=${1:-1}
count=${2:-5}
tool=$WU_BUILD/tests/e2e/e2e-watched-tool

# TITLE OPTIONS...
watch_job()
{
    title=$1
    shift
    rm -f "$tmp/over"
    "$WIREUP" "$@" -job-name watched -n 4 "$WU_BUILD/tests/e2e/e2e-watched" "$tmp/over" >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
    is_there() { "$WIREUP" ps 2>/dev/null | grep -q ' watched '; }
    wait_until 120 is_there
    WU_LAUNCHER_PID=$job python3 "$e2e/watched.py" "$WIREUP" "$tool" watched "$first" "$count" >"$out" 2>"$err"
    same "$title: the tools that lived have worked" "$? $(grep -v '^#' "$out")" "0 some were killed" || note "$(cat "$err")"
    grep '^#' "$out"
    nobody_is_stopped() { "$WIREUP" who watched >"$out" && ! grep -q 'stopped (by SIGSTOP' "$out"; }
    ok "$title: nobody stays stopped" wait_until 60 nobody_is_stopped || note "$(cat "$out")"
    # (Who reads a stack at that moment may take the signal for its own.)
    red() { "$WIREUP" kill -s STOP watched; "$WIREUP" who watched | grep -q 'ranks 0-3 are stopped (by SIGSTOP'; }
    ok "$title: the control is red" wait_until 60 red || note "$("$WIREUP" who watched)"
    "$WIREUP" kill -s CONT watched
    : >"$tmp/over"
    wait $job
    same "$title: and the job has not noticed" "$? $(sort "$tmp/job.out" | tr '\n' ,) $(cat "$tmp/job.err")" \
        "0 rank 0 good after many rounds,rank 1 good after many rounds,rank 2 good after many rounds,rank 3 good after many rounds, "
}

watch_job "one node"
watch_job "two nodes" -launch-agent "$tmp/agent" -hosts n1:2,n2:2
finish
