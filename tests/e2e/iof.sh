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

redirected() # NAME: of a child's two lines, the second
{
    same "what the launcher shows of redirected output, $1" "$(grep '^for ' "$out")" "for all again" || explain
}

needs_host_names
named_agent
for client in $clients; do
    name=theirs
    children=14
    [ "$client" != "$ours" ] || { name=ours; children=15; }
    spawning launch 2 "$client" one $name
    same "on one node: $name" "$rc $(grep '^iof' "$out")" "0 iof one good" || explain
    redirected "on one node: $name"
    spawned "on one node: $name" $children
    spawning run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:4,n2:4,n3:4 -n 2 -map-by node \
        "$client" three $name
    same "on three nodes: $name" "$rc $(grep '^iof' "$out")" "0 iof three good" || explain
    redirected "on three nodes: $name"
    spawned "on three nodes: $name" $children
done

# What our library does for its process: its input stays open, and ends by a call.
mkfifo "$tmp/input"
exec 7<>"$tmp/input"
for where in "one node/$(hostname)/-n 1" "another/n2/-launch-agent $tmp/agent -hosts n1:2,n2:2 -map-by node -n 2"; do
    host=${where#*/}
    mkdir "$tmp/files"
    printf 'line 1\nline 2\n' >"$tmp/input"
    # shellcheck disable=SC2086 # words
    timeout "$patience" "$WIREUP" ${host#*/} "$ours" own "$tmp/files" "${host%%/*}" <"$tmp/input" >"$out" 2>"$err"
    rc=$?
    same "own input, and files of output: ${where%%/*}" "$rc $(grep '^iof' "$out")" "0 iof own good" || explain
    same "shown besides by the process and its launcher: ${where%%/*}" "$(grep -o 0123456789 "$out" | wc -l)" 2 || explain
    rm -r "$tmp/files"
done
exec 7>&-
finish
