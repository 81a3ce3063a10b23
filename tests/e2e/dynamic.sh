#!/bin/sh
# Processes that start processes, and names between launchers.
#
#   dynamic.sh ROW      how many spawns in a row
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
dynamic=$WU_BUILD/tests/e2e/e2e-dynamic
patience=300

spawning launch 1 "$dynamic" refused
same "the control: a spawn that is refused is seen to be" "$rc $(cat "$out")" "0 refused yes" || explain
spawned "the control" 0

spawning launch 1 "$dynamic" row "$1"
same "$1 spawns in a row" "$rc $(cat "$out")" "0 row $1 good $1 more descriptors few" || explain
spawned "$1 spawns in a row" "$1"
spawning run "$patience" "$WIREUP" -hosts localhost:51 -n 1 "$dynamic" once 50
same "50 processes at once" "$rc $(cat "$out")" "0 once 50 good" || explain
spawned "50 processes at once" 50
spawning launch 1 "$dynamic" depth 5
same "five deep" "$rc $(cat "$out")" "0 the bottom" || explain
spawned "five deep" 5
spawning launch 1 "$dynamic" nothing
same "a missing program: an error for each process, and the parent continues" "$rc $(cat "$out")" \
    "0 nothing refused 2 errors each" || explain
spawned "what exists, after that" 1
same "and a sentence for each request" "$(grep -c "/there/is/no/such/program" "$err")" 2 || explain

spawning launch 2 "$dynamic" crash
spawned "children that die" 2
same "a child that dies ends the jobs connected to it" "$rc" 139 || explain
ok "and the reason names it" grep -q "killed by signal 11 (SIGSEGV)" "$err" || explain

# Two launchers of one user: the second finds what the first has published.
c_program rawpmi1
mkfifo "$tmp/hold"
exec 9<>"$tmp/hold"
"$WIREUP" -n 1 sh -c 'echo "cmd=init pmi_version=1 pmi_subversion=1" >&3
    echo "cmd=publish_name service=far port=port#1" >&3
    read -r a <&3; read -r b <&3; echo "$b"; read -r word
    echo "cmd=finalize" >&3; read -r c <&3' <"$tmp/hold" >"$tmp/first" 2>&1 &
first=$!
wait_until 120 grep -q publish_result "$tmp/first"
run 120 "$WIREUP" names
ok "wireup names shows it" grep -q "^far	port#1	" "$out" || explain
run 120 "$WIREUP" -n 1 sh -c 'echo "cmd=init pmi_version=1 pmi_subversion=1" >&3
    read -r line <&3; echo "$line"
    for word in "publish_name service=far port=other" "lookup_name service=far" \
        "lookup_name service=none" "unpublish_name service=far" "unpublish_name service=far"; do
        echo "cmd=$word" >&3
        read -r line <&3; echo "$line" # one at a time, as the protocol wants it
    done
    echo "cmd=finalize" >&3; read -r line <&3'
same "a process of another launcher cannot publish the name again, finds it, and can unpublish it once" \
    "$(sed 1d "$out" | sed 's/.*\(rc=[0-9-]*\).*/\1/' | tr '\n' ' ')" "rc=1 rc=0 rc=1 rc=0 rc=1 " || explain
ok "with its port" grep -q "port=port#1" "$out" || explain
echo go >&9
wait "$first"
same "the first ends well" $? 0
exec 9>&-
run 120 "$WIREUP" names
same "and its names with it" "$(cat "$out")" "" || explain
finish
