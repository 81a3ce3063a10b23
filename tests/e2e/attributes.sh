#!/bin/sh
# What calls refuse (attributes.c): each attribute of each call of proto/pmix_calls.def, on one node and on
# three, with our library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=120
attributes=$WU_BUILD/tests/e2e/e2e-attributes

# A rank spawns with each attribute that has no effect, and once with one that nobody knows.
spawns=$(($(sed -n '/^CALL(SPAWN,/,/^END(SPAWN)/p' "$WU_SRC/proto/pmix_calls.def" | grep -c '^IGNORED(') + 1))

spawning launch 2 "$attributes"
same "every row on one node" "$rc $(cat "$out")" "0 attributes 2 good" || explain
spawned "what has no effect lets a spawn go on" $((2 * spawns))
run "$patience" "$attributes" host
same "every row of the interface of hosts" "$rc $(cat "$out")" "0 attributes 0 good" || explain
if pkg-config --exists pmix 2>/dev/null; then
    # shellcheck disable=SC2046
    c_program attributes -w -I"$WU_SRC" -I"$WU_SRC/include" $(pkg-config --libs pmix)
    theirs=$bin/attributes
    launch 2 "$theirs" foreign
    same "and to the client of OpenPMIx" "$rc $(cat "$out")" "0 attributes 2 good" || explain
else
    theirs=
    skip "the client of OpenPMIx" "it is not installed"
fi

# Three nodes: agents that give each daemon a host name of its own.
needs_host_names
named_agent
spawning run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$attributes"
same "every row on three nodes" "$rc $(cat "$out")" "0 attributes 3 good" || explain
spawned "and there, too, a spawn goes on" $((3 * spawns))
if [ -n "$theirs" ]; then
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$theirs" foreign
    same "and on three nodes to the client of OpenPMIx" "$rc $(cat "$out")" "0 attributes 3 good" || explain
fi
finish
