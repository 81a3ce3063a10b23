#!/bin/sh
# Queries over PMIx (query.c): one row of its table for each key, on one node and on three, from a
# process and from a tool, with OpenPMIx's library and with ours.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-query
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program query $pmix_flags
    clients="$ours $bin/query"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

# HOSTS...: in a job of three, rank 0 queries; then two tools do while the job waits for a line
job()
{
    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    "$WIREUP" "$@" -n 3 "$client" hold <"$tmp/hold" >"$tmp/said" 2>"$tmp/told" &
    launcher=$!
    wait_until "$patience" grep -q "^query" "$tmp/said" || note "$(cat "$tmp/said" "$tmp/told")"
    same "a process asks ($nodes, ${client##*/})" "$(cat "$tmp/said")" "query $nodes good" ||
        note "$(cat "$tmp/said" "$tmp/told")"
    run "$patience" "$client" tool "$launcher" "$nodes"
    same "a tool asks ($nodes, ${client##*/})" "$rc $(cat "$out")" "0 query $nodes good" || explain
    echo go >&9
    wait "$launcher"
    same "the job ends well" $? 0
    exec 9>&-
    rm -f "$tmp/hold" "$tmp/said"
}

launch 3 "$ours" spoil
ok "what is wrong is seen to be wrong" grep -q "^query WRONG" "$out" || explain
needs_host_names
named_agent
ended() # HOSTS...: some of its processes have
{
    run "$patience" "$WIREUP" -continuous "$@" -n 3 "$client" ends
    same "how processes have ended ($nodes, ${client##*/})" "$rc $(cat "$out")" "7 query ends $nodes good" || explain
}

for client in $clients; do
    nodes=1
    job -tool-files on
    ended
    nodes=3
    job -tool-files on -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
    ended -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
done
finish
