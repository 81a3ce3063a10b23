#!/bin/sh
# audit.sh - recordings of real jobs are judged by the rules alone (audit.py): a job, ranks that fail and are started
# again, a node that is replaced.  The controls are faults that are planted into each recording.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
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
run 60 "$e2e/audit.py" /dev/null
same "an empty recording proves nothing" "$rc $(cat "$out")" "1 0 contributions to collectives, 0 rules broken"
finish
