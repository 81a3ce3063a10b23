#!/bin/sh
# Monitors of what processes and nodes use (monitors.c): on one node and on three, with our client library and with
# OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=120
ours=$WU_BUILD/tests/e2e/e2e-monitors
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program monitors $pmix_flags
    clients="$ours $bin/monitors"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

launch 2 "$ours" lie
ok "the control: a sample that is missing is noticed" eval '[ "$rc" != 0 ] && grep -q "WRONG.*two processes" "$out"' ||
    explain
needs_host_names
named_agent
for client in $clients; do
    name=${client##*/}
    launch 3 "$client"
    same "on one node: $name" "$rc $(cat "$out")" "0 monitors all good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 6 "$client"
    same "on three nodes: $name" "$rc $(cat "$out")" "0 monitors all good" || explain
done
finish
