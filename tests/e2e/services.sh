#!/bin/sh
# What the process manager does for processes at their request (services.c): on one node and on three, with
# our client library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
ours=$WU_BUILD/tests/e2e/e2e-services
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program services $pmix_flags
    clients="$ours $bin/services"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

mkdir "$tmp/files"
launch 2 "$ours" "$tmp/files" lie
ok "the control: an alert from nowhere is noticed" eval '[ "$rc" != 0 ] && grep -q "WRONG.*alerts of others" "$out"' ||
    explain

needs_host_names
named_agent
for client in $clients; do
    name=${client##*/}
    launch 3 "$client" "$tmp/files"
    same "on one node: $name" "$rc $(cat "$out")" "0 services all good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 6 "$client" "$tmp/files"
    same "on three nodes: $name" "$rc $(cat "$out")" "0 services all good" || explain
done
rm -r "$tmp/files"
finish
