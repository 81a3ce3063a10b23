#!/bin/sh
# Allocations of nodes of a DVM by the interface (allocations.c), on three nodes, by tools and processes with our
# library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export WIREUP
patience=120
ours=$WU_BUILD/tests/e2e/e2e-allocations
tools=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program allocations $pmix_flags -ldl
    tools="$ours $bin/allocations"
else
    skip "with OpenPMIx's library" "it is not installed"
fi
needs_host_names
named_agent
sed -i '/^shift/a [ "$host" != bad ] || { echo "no route to bad" >\&2; exit 255; }' "$tmp/agent"

dvm_has() { "$WIREUP" ps >"$out" 2>"$err"; grep -q "$1" "$out"; } # WORDS

for tool in $tools; do
    name=${tool##*/}
    run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
    same "a DVM of three nodes: $name" "$rc" 0 || explain
    "$WIREUP" tools >"$out" 2>"$err"
    uri=$(cut -f 2 "$out")
    for what in reserve change limit session rank spawn; do
        # (OpenPMIx 4.2 has no PMIx_Session_control.)
        [ "$what$name" != sessionallocations ] || continue
        run "$patience" "$tool" "$uri" "$what"
        same "$what: $name" "$rc $(cat "$out")" "0 allocations $what good" || explain
    done
    rm -f "$tmp/held" "$tmp/hold"
    mkfifo "$tmp/hold"
    "$tool" "$uri" hold <"$tmp/hold" >"$tmp/held" 2>&1 &
    exec 8>"$tmp/hold"
    wait_until "$patience" grep -q alloc "$tmp/held"
    id=$(cat "$tmp/held")
    ok "ps says which nodes it has: $name" [ "$("$WIREUP" ps --nodes | grep -c ' 2  *2  reserved$')" = 2 ] || note "$("$WIREUP" ps --nodes)"
    run "$patience" "$tool" "$uri" take "$id"
    same "another tool uses it, and may not release it: $name" "$rc $(cat "$out")" "0 allocations take good" || explain
    run "$patience" "$WIREUP" run -n 2 hostname
    same "wireup run has the other node: $name" "$rc $(tr '\n' ' ' <"$out")" "0 n3 n3 " || explain
    run "$patience" "$tool" "$uri" full
    same "and none when all are reserved: $name" "$rc $(cat "$out")" "0 allocations full good" || explain
    exec 8>&-
    wait
    run "$patience" "$tool" "$uri" free "$id"
    same "when its owner has died, it may: $name" "$rc $(cat "$out")" "0 allocations free good" || explain
    # Nodes that the DVM does not have join it for a request, and leave it with the allocation.
    rm -f "$tmp/grown"
    "$tool" "$uri" grow <"$tmp/hold" >"$tmp/grown" 2>&1 &
    grower=$!
    exec 8>"$tmp/hold"
    wait_until "$patience" grep -q "^grown" "$tmp/grown" || note "$(cat "$tmp/grown")"
    ok "nodes have joined for an allocation, and others have not: $name" dvm_has "4 of 4 slots free" || explain
    run "$patience" "$WIREUP" run -n 4 hostname
    same "wireup run has the other nodes alone: $name" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n2 n3 " || explain
    echo >&8
    exec 8>&-
    wait "$grower"
    same "and it gives them back: $name" "$? $(cat "$tmp/grown")" "0 grown
allocations grow good" || explain
    ok "they leave: $name" wait_until "$patience" dvm_has "6 of 6 slots free" || explain
    run "$patience" "$WIREUP" down
    same "the DVM goes: $name" "$rc" 0 || explain
done
finish
