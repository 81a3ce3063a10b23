#!/bin/sh
# Names over PMIx (publish.c): one row of its table for each case, on one node, on three, and between
# two launchers, with our client library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
combinations
publish=$WU_BUILD/tests/e2e/e2e-publish
clients=$publish
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program publish -w $pmix_flags
    clients="$clients $bin/publish"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

for client in $clients; do
    launch 3 "$client"
    same "every row of the table on one node: ${client##*/}" "$rc $(cat "$out")" "0 publish 3 good" || explain
done
launch 1 "$publish" seek
ok "the control: names that nobody has published are missed" \
    grep -q "^publish WRONG rank 0: for all: PMIX_ERR_NOT_FOUND" "$out" || explain

# How long: with the process, the last process of the application, or the launcher.
for client in $clients; do
    launch 2 "$client" outlive
    same "what outlives a process: ${client##*/}" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 left: of app of session,publish 2 good," || explain
    run "$patience" "$WIREUP" -n 1 "$client" outlive : -n 1 "$client" outlive
    same "what outlives an application: ${client##*/}" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 left: of session,publish 2 good," || explain
done

# Another job of another launcher: what it finds of the first one.
mkfifo "$tmp/hold"
exec 9<>"$tmp/hold"
"$WIREUP" -n 1 "$publish" hold <"$tmp/hold" >"$tmp/first" 2>&1 &
first=$!
wait_until 120 grep -q "^publish 1" "$tmp/first"
same "one launcher publishes on every range" "$(cat "$tmp/first")" "publish 1 good" || note "$(cat "$tmp/first")"
launch 1 "$publish" seek
same "another finds what its range lets through" "$rc $(cat "$out")" "0 publish 1 good" || explain
echo go >&9
wait "$first"
same "the first ends well" $? 0
exec 9>&-

# A look-up that waits is answered when others publish: one in a launcher that is there already, one in one that
# comes later.
waits() # N: so many look-ups are pending
{
    [ "$("$WIREUP" who 2>/dev/null | grep -c 'late ')" -ge "$1" ]
}
mkfifo "$tmp/hold.2" "$tmp/hold.3"
exec 7<>"$tmp/hold.2" 9<>"$tmp/hold.3"
"$WIREUP" -n 1 "$publish" await >"$tmp/awaits" 2>&1 &
awaits=$!
ok "a look-up of three waits" wait_until 120 waits 1 || note "$("$WIREUP" who)"
"$WIREUP" -n 1 "$publish" late one <"$tmp/hold.2" >"$tmp/late.1" 2>&1 &
"$WIREUP" -n 1 "$publish" late three <"$tmp/hold.3" >"$tmp/late.3" 2>&1 &
ok "two that are published later by other launchers answer it" wait_until 60 grep -q "^publish 1 good" "$tmp/awaits" ||
    note "$(cat "$tmp/awaits" "$tmp/late.1" "$tmp/late.3")"
kill "$awaits" 2>/dev/null
echo go >&7
echo go >&9
wait
exec 7>&- 9>&-

# Three nodes: agents that give each daemon a host name of its own.
needs_host_names
named_agent
for client in $clients; do
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$client"
    same "every row on three nodes: ${client##*/}" "$rc $(cat "$out")" "0 publish 3 good" || explain
done
finish
