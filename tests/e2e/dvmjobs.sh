#!/bin/sh
# Jobs that tools give to a DVM by the interface (dvmjobs.c): started, followed and ended, on three nodes, by
# tools with our library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
ours=$WU_BUILD/tests/e2e/e2e-dvmjobs
tools=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program dvmjobs $pmix_flags
    tools="$ours $bin/dvmjobs"
else
    skip "with OpenPMIx's library" "it is not installed"
fi
needs_host_names
named_agent
run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
same "a DVM of three nodes" "$rc $(cat "$out")" \
    '0 3 nodes are up; `wireup run` uses them, `wireup down` ends them' || explain
"$WIREUP" tools >"$out" 2>"$err"
uri=$(cut -f 2 "$out")

head -c 3000000 /dev/zero >"$tmp/large"
for tool in $tools; do
    name=${tool##*/}
    for what in ready follow fails kill terminate abort names spread; do
        run "$patience" "$tool" "$uri" "$what"
        same "$what: $name" "$rc $(cat "$out")" "0 dvmjobs $what good" || explain
    done
    # Longer than what a node may be behind (LIMIT_STAGING_WINDOW); not all positions of a DVM have a node.
    run "$patience" "$tool" "$uri" staged "$tmp/large"
    same "a file is brought to its nodes: $name" "$rc $(cat "$out")" "0 dvmjobs staged good" || explain
    # A tool that dies leaves its job; another one, that knows it by name, ends it.
    run "$patience" "$tool" "$uri" leave
    job=$(cat "$out")
    same "a tool has died: $name" "$rc" 0 || explain
    ok "its job goes on: $name" eval '"$WIREUP" ps | grep -Eq " 6 +3 +running .* $job$"' || "$WIREUP" ps
    run "$patience" "$tool" "$uri" has "$job"
    same "another tool sees it: $name" "$rc $(cat "$out")" "0 dvmjobs has good" || explain
    for i in 1 2; do
        "$tool" "$uri" follow anywhere >"$tmp/both.$i" 2>&1 &
    done
    run "$patience" "$WIREUP" run -n 3 hostname
    same "while wireup run has the nodes too: $name" "$rc $(grep -c '^n[123]$' "$out")" "0 3" || explain
    wait
    same "and two tools have jobs at once: $name" "$(cat "$tmp/both.1" "$tmp/both.2")" \
        "dvmjobs follow good
dvmjobs follow good"
    run "$patience" "$tool" "$uri" end "$job"
    same "and ends it: $name" "$rc $(cat "$out")" "0 dvmjobs end good" || explain
done

if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    for_others "$ours" "$WU_BUILD/src/lib/pmix/libpmix.so.2"
    run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups \
        env LD_LIBRARY_PATH="$others" "$others/e2e-dvmjobs" "$uri" follow
    ok "another user has no job there" grep -q "^dvmjobs init WRONG" "$out" || explain
else
    skip "another user" "this test is not run by the superuser"
fi

run "$patience" "$ours" "$uri" leave
run "$patience" "$WIREUP" down
same "the DVM goes, and its jobs with it" "$rc" 0 || explain
nothing_left "when a DVM has gone down with a job"

# This machine is one of the nodes.
run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts "$(hostname):2,n2:2"
"$WIREUP" tools >"$out" 2>"$err"
run "$patience" "$ours" "$(cut -f 2 "$out")" local
same "a job on this machine and another" "$rc $(cat "$out")" "0 dvmjobs local good" || explain
run "$patience" "$WIREUP" down
same "the DVM goes, and what runs here" "$rc" 0 || explain
finish
