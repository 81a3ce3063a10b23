#!/bin/sh
# restarts.sh - ranks that fail are started again (-on-failure restart): on one node and on four, with our
# client library and with OpenPMIx's; lost daemons; and what is refused.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
ours=$WU_BUILD/tests/e2e/e2e-restarts
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program restarts $pmix_flags -pthread
    clients="$ours $bin/restarts"
else
    skip "with OpenPMIx's client" "it is not installed"
fi
needs_host_names
named_agent
nodes="-launch-agent $tmp/agent -hosts n1:2,n2:2,n3:2,n4:2"

good() # N: from each rank
{
    for rank in $(seq 0 $(($1 - 1))); do printf 'rank %s good\n' "$rank"; done
}
told() { grep -c 'is started again' "$err"; }

run 60 "$WIREUP" -on-failure restart:4 -n 3 "$ours" lie kill:1
ok "the control: a survivor that expects to be told twice is noticed" eval \
    '[ "$rc" = 9 ] && grep -q "WRONG in life 0: the fence after a failure" "$out"' || explain
for client in $clients; do
    name=${client##*/}
    run 120 "$WIREUP" -on-failure restart:4 -n 4 "$client" kill:1 exit:3 leave:1 late:0 kill:0 kill:2
    same "on one node: $name" "$rc $(told) $(sort "$out")" "0 6 $(good 4)" || explain
    # shellcheck disable=SC2086
    run 120 "$WIREUP" -on-failure restart:4 $nodes -n 8 "$client" kill:1 exit:7 leave:2 kill:0 late:5 kill:7
    same "on four nodes: $name" "$rc $(told) $(sort "$out")" "0 6 $(good 8)" || explain
done
# shellcheck disable=SC2086
spawning run 120 "$WIREUP" $nodes -n 1 "$ours" spawn kill:1 exit:3 kill:1
same "the same for a spawned job that PMIx makes recoverable" "$rc $(told) $(sort "$out")" "0 3 $(good 4)" || explain
spawned "its processes" 7

# ---- lost nodes are replaced
spare="-launch-agent $tmp/agent -hosts n1:1,n2:1,n3:1,s1:1,s2:1 -n 3"
moved() { sed -n 's/.*; node \(.*\) takes its place$/\1/p' "$err" | tr '\n' ' '; }
for client in $clients; do
    # shellcheck disable=SC2086
    run 120 "$WIREUP" -on-failure replace:4 $spare "$client" node:1 kill:1 exit:2 node:1 leave:0
    same "on nodes that were spare: ${client##*/}" "$rc $(moved)$(told) $(sort "$out")" "0 s1 s2 5 $(good 3)" || explain
done
# shellcheck disable=SC2086
run 120 "$WIREUP" --trace "$tmp/healed" -on-failure replace:4 $spare "$ours" node:1 kill:2
run 60 "$WIREUP" timeline "$tmp/healed"
ok "the timeline has the loss, the replacement and the start" eval \
    'grep -q "Node n2 is lost at" "$out" && grep -q "node s1 takes the place of n2, and starts 1 rank again" "$out" &&
        grep -q "rank 2 has failed, and is started again" "$out"' || explain
# shellcheck disable=SC2086
run 120 "$WIREUP" -on-failure restart:4 $spare "$ours" node:1
ok "the control: with restart alone the rank is lost" eval '[ "$rc" = 1 ] && [ -z "$(moved)" ]' || explain
# shellcheck disable=SC2086
run 120 "$WIREUP" -on-failure replace:4 -launch-agent $tmp/agent -hosts n1:1,n2:1,n3:1,s1:1 -n 3 "$ours" node:1 node:1
ok "a loss without a spare node is one" eval '[ "$rc" != 0 ] && [ "$(moved)" = "s1 " ]' || explain

# ---- so often and not more
run 60 "$WIREUP" -on-failure restart:2 -n 3 "$ours" kill:1 kill:1 kill:1
same "not more often than it may" "$rc $(told)" "137 2" || explain
ok "then its fences fail" grep -q "WRONG in life 0: the fence after a failure" "$out" || explain
run 60 "$WIREUP" -n 2 "$ours" kill:1
same "by itself nothing is started again" "$rc $(told)" "137 0" || explain
run 60 "$WIREUP" -on-failure continue -n 2 "$ours" kill:1
same "nor where the others only continue" "$(told)" 0 || explain

# ---- what it says
run 60 "$WIREUP" -on-failure restart -n 2 "$ours" exit:1 kill:1
same "each start is told" "$rc $(sed 's/ of [^ ]* on [^ ]* / /' "$err")" "0 wireup: rank 1 exited with code 3; it is started again (1 of 3)
wireup: rank 1 was killed by signal 9; it is started again (2 of 3)" || explain
run 60 "$WIREUP" -on-failure replace -n 1 true
ok "replace without a spare node is refused" eval '[ "$rc" = 2 ] && grep -q "needs a node without ranks" "$err"' || explain
for wrong in replace:x restart:0 restart:x abort:1 sometimes ''; do
    run 60 "$WIREUP" -on-failure "$wrong" -n 1 true
    ok "-on-failure '$wrong' is refused in one sentence" eval '[ "$rc" = 2 ] && [ "$(wc -l <"$err")" = 1 ]' || explain
done
run 60 "$WIREUP" -on-failure restart -restart-job 1 -n 1 true
ok "so is it together with -restart-job" eval '[ "$rc" = 2 ] && grep -q "use either" "$err"' || explain
finish
