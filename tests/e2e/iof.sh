#!/bin/sh
# Output that is subscribed to, and input that is pushed (iof.c): on one node and on three, with our
# client library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-iof
clients="$ours"
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program iof $pmix_flags
    clients="$ours $bin/iof"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

launch 1 "$ours" wrong
ok "what is wrong is seen to be wrong" [ "$rc" = 1 ] || explain

needs_host_names
named_agent
for client in $clients; do
    name=theirs
    children=12
    [ "$client" != "$ours" ] || { name=ours; children=13; }
    spawning launch 2 "$client" one $name
    same "on one node: $name" "$rc $(grep '^iof' "$out")" "0 iof one good" || explain
    spawned "on one node: $name" $children
    spawning run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:4,n2:4,n3:4 -n 2 -map-by node \
        "$client" three $name
    same "on three nodes: $name" "$rc $(grep '^iof' "$out")" "0 iof three good" || explain
    spawned "on three nodes: $name" $children
done
finish
