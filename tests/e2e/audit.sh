#!/bin/sh
# audit.sh SEEDS - recordings of real jobs are judged by the rules alone (audit.py): a job, ranks that fail and are started
# again, a node that is replaced; and so are those of simulated jobs (tests/cluster.h), whose ranks and nodes are killed at
# any step, and of several jobs whose DVM changes (tests/cluster_elastic.h): SEEDS of each kind.  The controls are faults that
# are planted into each recording.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
seeds=$1
use_launcher wireup
needs_host_names
named_agent
LD_LIBRARY_PATH=$WU_BUILD/src/lib/pmix
export LD_LIBRARY_PATH
fails=$WU_BUILD/tests/e2e/e2e-restarts

audit() # WHAT OPTIONS AND COMMAND...
{
    what=$1
    shift
    run 120 "$WIREUP" --trace "$tmp/$what" -launch-agent "$tmp/agent" "$@"
    same "recorded: $what" "$rc" 0 || explain
    run 60 "$WIREUP" trace --all --json "$tmp/$what"
    cp "$out" "$tmp/$what.json"
    run 60 "$e2e/audit.py" "$tmp/$what.json"
    ok "no rule is broken: $what" [ "$rc" = 0 ] || explain
}

audit restarts -on-failure restart:4 -hosts n1:2,n2:2,n3:2 -n 6 "$fails" kill:1 exit:5 leave:2
audit replace -on-failure replace:4 -hosts n1:1,n2:1,n3:1,s1:1 -n 3 "$fails" node:1 kill:2
run 120 "$e2e/audit.py" --control "$tmp/restarts.json"
ok "each planted fault is noticed" [ "$rc" = 0 ] || explain
audit fences -hosts n1:2,n2:2,n3:2 -n 6 "$WU_BUILD/bench/bench-pmix-client" 5

simulated() # PROGRAM RULES
{
    mkdir "$tmp/$1"
    WU_RECORDINGS=$tmp/$1 run 300 "$WU_BUILD/tests/$1" "$seeds" 1
    same "simulated: $1" "$rc" 0 || note "$(grep -B 3 -A 1 '^not ok' "$out" | head -n 12; tail -n 4 "$out" "$err")"
    for trace in "$tmp/$1"/*[0-9]; do
        "$WIREUP" trace --all --json "$trace" >"$trace.json" 2>"$err" || note "$trace: $(cat "$err")"
    done
    run 300 "$e2e/audit.py" --each "$tmp/$1"/*.json
    ok "no rule is broken: $1" [ "$rc" = 0 ] || explain
    note "$(ls "$tmp/$1"/*.json | wc -l) recordings: $(tail -n 1 "$out")"
    run 300 "$e2e/audit.py" "--control=$2" "$tmp/$1"/*.json
    ok "each fault that is planted there is noticed" [ "$rc" = 0 ] || explain
}
simulated test-restart-kills once,same,epoch,exit
simulated test-group-kills once,same
simulated test-elastic-jobs once,same,answer,exit,end
run 60 "$e2e/audit.py" /dev/null
same "an empty recording proves nothing" "$rc $(cat "$out")" "1 0 contributions to collectives, 0 rules broken"
finish
