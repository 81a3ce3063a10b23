#!/bin/sh
# dvm.sh - a DVM: up once, jobs through it, several at once, down; nothing stays.
# The nodes are name spaces of this machine: each daemon has a host name of its own.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup

named_agent
c_program rawpmi1

dvm()
{
    rc=0
    timeout -k 5 300 "$WIREUP" "$@" >"$out" 2>"$err" </dev/null || rc=$?
}

dvm down
ok "down without a DVM is an error" [ "$rc" -ne 0 ]
dvm up -hosts localhost:2
same "this machine alone can be one" "$rc $(cat "$out")" \
    '0 1 node is up; `wireup run` uses it, `wireup down` ends it' || explain
dvm run -n 2 hostname
same "a job runs on it" "$rc $(sort -u "$out")" "0 $(hostname)" || explain
dvm run -n 3 -nooversubscribe true
ok "it has the slots that were given" grep -q "than the 2 slots" "$err" || explain
dvm down
same "and it ends" "$rc" 0
mkfifo "$tmp/held"
(code=0; timeout 300 cat "$tmp/held" || code=$?; echo "$code" >"$tmp/held.code") &
reader=$!
"$WIREUP" up -hostfile /dev/fd/8 8<<END 9>"$tmp/held" >"$out" 2>"$err" </dev/null
localhost slots=2
END
wait "$reader"
same "it keeps no descriptor, but reads those that its words name" "$(cat "$tmp/held.code") $(cut -c1-12 "$out")" "0 1 node is up" || explain
dvm down
same "and it ends, too" "$rc" 0
dvm up -launcher fork -hosts n1:2,n2:2
same "nodes that are this machine under other names come up" "$rc $(cut -c1-15 "$out")" "0 2 nodes are up;" || explain
dvm run -l -n 4 true
same "and a job runs on all of them" "$rc $(cat "$err")" "0 " || explain
for node in n1 n2; do
    dvm run -dvm dvm -hosts "$node" -n 2 echo here
    same "or on $node alone" "$rc $(sort -u "$out")$(cat "$err")" "0 here" || explain
    dvm on "$node" echo here
    same "and so does a command" "$rc $(cat "$out")" "0 here" || explain
done
dvm run -n 5 -nooversubscribe true
ok "they have the slots that were given" grep -q "more than the 4 slots" "$err" || explain
dvm down
same "and they end" "$rc" 0
dvm up -launch-agent /bin/false -hosts n1,n2
ok "nodes that do not come are named, all at once" eval \
    'grep -q "^wireup: 2 of 2 nodes do not come up" "$err" && grep -q "^wireup:   n\[1-2\] " "$err"' || explain
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
same "three nodes come up" "$rc $(cat "$out")" \
    '0 3 nodes are up; `wireup run` uses them, `wireup down` ends them' || explain
dvm up -launch-agent "$tmp/agent" -hosts n4
ok "a second DVM of the same name is refused" grep -q "your DVM dvm is already up" "$err" || explain

dvm run -n 6 "$bin/rawpmi1" exchange
ok "a job runs on them" grep -q "^raw 6 good" "$out" || explain
dvm run -n 6 hostname
same "on all of them" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  2 n1 2 n2 2 n3 " || explain
dvm run -n 4 "$bin/rawpmi1" spoil
ok "the control is red" grep -q "^raw 4 WRONG" "$out" || explain
dvm run -n 3 sh -c 'exit 7'
same "exit codes come back" "$rc" 7

for i in 1 2 3 4; do
    timeout -k 5 300 "$WIREUP" run -n 6 "$bin/rawpmi1" exchange >"$tmp/out.$i" 2>&1 &
done
wait
same "four jobs at once" "$(cat "$tmp"/out.* | grep -c '^raw 6 good')" 4

dvm down
same "down" "$rc" 0
run 60 sh -c '"$0" up -launch-agent "$1" -hosts n1,n2 2>&1 | cat' "$WIREUP" "$tmp/agent"
same "who reads what up prints comes to its end" "$rc $(cut -c1-14 "$out")" "0 2 nodes are up"
dvm down
# (It has ended then, so that another one may come up at once.)
again=
for i in 1 2 3 4 5; do
    dvm up -launch-agent "$tmp/agent" -hosts n1,n2
    again="$again$rc"
    dvm down
    again="$again$rc$(ls -A "$XDG_RUNTIME_DIR/wireup" 2>/dev/null) "
done
same "up and down at once, five times, with no name left" "$again" "00 00 00 00 00 "
gone()
{
    ! ps -eo comm | grep -q '^wireup'
}
ok "nothing stays" wait_until 60 gone
dvm run -n 1 hostname
same "then jobs are this machine's again" "$rc $(cat "$out")" "0 $(hostname)"
finish
