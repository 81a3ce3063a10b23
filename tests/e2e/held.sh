#!/bin/sh
# Attributes of many calls, each by what it changes (held.c): on one node and on three, with our client
# library and with OpenPMIx's; and how a tool connects.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-held
clients="$ours"
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program held $pmix_flags -pthread
    clients="$ours $bin/held"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

launch 1 "$ours" wrong
ok "what is wrong is seen to be wrong" [ "$rc" = 1 ] || explain
needs_host_names
named_agent
for client in $clients; do
    name=theirs
    [ "$client" != "$ours" ] || name=ours
    launch 2 "$client" one $name "$tmp"
    same "on one node: $name" "$rc $(cat "$out")" "0 held one good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$client" three $name "$tmp"
    same "on three nodes: $name" "$rc $(cat "$out")" "0 held three good" || explain
done

mkfifo "$tmp/hold"
: >"$tmp/first"
exec 9<>"$tmp/hold"
"$WIREUP" -n 1 sh -c 'echo up; read -r word' <"$tmp/hold" >"$tmp/first" 2>&1 &
launcher=$!
wait_until 120 grep -q up "$tmp/first"
uri=$("$WIREUP" tools | sed -n "s/^$launcher	//p")
run "$patience" "$ours" tool "$uri"
same "a tool" "$rc $(cat "$out")" "0 held tool good" || explain
echo go >&9
exec 9>&-
wait "$launcher"
rm -f "$tmp/hold"
finish
