#!/bin/sh
# PMIx_Get with attributes (gets.c): on one node and on three, with our client library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=120
ours=$WU_BUILD/tests/e2e/e2e-gets
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program gets $pmix_flags
    clients="$clients $bin/gets"
else
    skip "with OpenPMIx's client" "it is not installed"
fi
for client in $clients; do
    putters=0
    [ "$client" != "$ours" ] || putters=4
    launch 4 "$client" fresh $putters
    same "on one node: ${client##*/}" "$rc $(cat "$out")" "0 gets 4 good" || explain
done
[ -z "$pmix_flags" ] || {
    launch 2 "$ours" fresh 2 : -n 2 "$bin/gets" fresh 2
    same "values with qualifiers of our clients, by OpenPMIx's" "$rc $(cat "$out")" "0 gets 4 good" || explain
}
needs_host_names
named_agent
for client in $clients; do
    putters=0
    [ "$client" != "$ours" ] || putters=4
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:1,n3:1 -n 4 "$client" stale 0
    ok "the control: without the attribute, old values of other nodes: ${client##*/}" \
        grep -q "WRONG.*changes of .: 1., not 2" "$out" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:1,n3:1 -n 4 "$client" fresh $putters
    same "on three nodes: ${client##*/}" "$rc $(cat "$out")" "0 gets 4 good" || explain
done
finish
