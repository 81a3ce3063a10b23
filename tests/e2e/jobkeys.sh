#!/bin/sh
# Reserved keys under the launcher (jobkeys.c): on one node and on three, bound and not, with our client
# library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
export SLURM_CLUSTER_NAME=hill
host=$(hostname)
ours=$WU_BUILD/tests/e2e/e2e-jobkeys
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program jobkeys $pmix_flags
    clients="$ours $bin/jobkeys"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

launch 2 -bind-to core -hosts "$host:2" "$ours" slot none "pmix[$host]" hill room
ok "the control: another word is noticed" grep -q "WRONG.*pmix.bindto is 'core', not 'none'" "$out" || explain

needs_host_names
named_agent
for client in $clients; do
    name=${client##*/}
    launch 3 -bind-to core -hosts "$host:2" "$client" slot core "pmix[$host]" hill crowded
    same "bound, on one node: $name" "$rc $(grep -v '^devices' "$out")" "0 jobkeys 3 good" || explain
    grep '^devices' "$out" >"$tmp/devices.$name"
    launch 2 -map-by node -rank-by slot -hosts "$host:2" "$client" node none "pmix[$host]" hill room
    same "not bound: $name" "$rc $(grep -v '^devices' "$out")" "0 jobkeys 2 good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -bind-to core -n 6 \
        "$client" slot core "pmix[n[1:1-3]]" hill room
    same "on three nodes: $name" "$rc $(grep -v '^devices' "$out")" "0 jobkeys 6 good" || explain
done
[ -z "$pmix_flags" ] || same "both see the same devices" "$(cat "$tmp/devices.e2e-jobkeys")" "$(cat "$tmp/devices.jobkeys")"
finish
