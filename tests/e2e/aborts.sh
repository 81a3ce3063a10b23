#!/bin/sh
# PMIx_Abort does what it is asked for (aborts.c): on one node and on three, with our client library and with
# OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=120
clients=$WU_BUILD/tests/e2e/e2e-aborts
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program aborts $pmix_flags
    clients="$clients $bin/aborts"
else
    skip "with OpenPMIx's client" "OpenPMIx (libpmix-dev) is not installed"
fi

# The launcher's code, who went on, and what the launcher says: CLIENT WHAT CODE RANKS SENTENCE OPTION...
aborted()
{
    client=$1
    what=$2
    said=$5
    want="$3 $4"
    shift 5
    spawning run "$patience" "$WIREUP" "$@" -n 4 "$client" "$what"
    same "$what: who goes on, $where, ${client##*/}" "$rc $(sort "$out" | sed -n 's/^rank \(.*\) goes on/\1/p' | tr '\n' ,)" \
        "$want" || explain
    ok "$what: what is said, $where, ${client##*/}" grep -q "$said" "$err" || explain
}

all_of() # CLIENT OPTION...
{
    client=$1
    shift
    aborted "$client" some 7 0,3, 'rank 0 on .* aborted ranks 1-2 with code 7: enough of you$' "$@"
    aborted "$client" far 7 0,3, 'rank 3 on .* aborted ranks 1-2 with code 7: enough of you$' "$@"
    aborted "$client" itself 7 0,2,3, 'rank 1 on .* aborted rank 1 with code 7: enough of me$' "$@"
    aborted "$client" each 7 "" 'rank 0 on .* aborted with code 7: enough of all$' "$@"
    aborted "$client" all 7 "" 'rank 0 on .* aborted with code 7: enough of all$' "$@"
    aborted "$client" child 0 0,1,2,3, 'rank 0 on .* aborted ranks 0-1 of job .* with code 7: enough of it$' "$@"
    spawned "child, $where, ${client##*/}" 2
    run "$patience" "$WIREUP" "$@" -n 4 "$client" nobody
    same "who is not there is not found, and nobody is aborted, $where, ${client##*/}" \
        "$rc $(sort "$out" | tr '\n' ,)" "0 rank 0 goes on,rank 1 goes on,rank 2 goes on,rank 3 goes on," || explain
}

where="one node"
for client in $clients; do
    all_of "$client"
done
needs_host_names
named_agent
where="three nodes"
for client in $clients; do
    all_of "$client" -launch-agent "$tmp/agent" -hosts n1:2,n2:1,n3:1
done
finish
