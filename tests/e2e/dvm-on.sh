#!/bin/sh
# dvm-on.sh - `wireup on`: a command on a node of a DVM, its input, output and exit status; and what its user is told
# when it cannot be started there, or is lost.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
killable_agent

dvm() { run 120 "$WIREUP" "$@"; }
# WORDS...: a command on node n1
on() { dvm on n1 "$@"; }
said() { echo "$rc $(cat "$out")$(cat "$err")"; }
# One member of the JSON that was printed.
member() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2]))' "$out" "$1"; }

on true
same "without a DVM" "$(said)" '125 wireup: you have no DVM on this machine; start one with `wireup up`' || explain
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
same "a DVM" "$rc" 0 || explain

# ---- how it ends
for code in 0 1 7 125 126 255; do
    on "echo here; exit $code"
    same "it has the exit status of the command: $code" "$(said)" "$code here" || explain
done
on 'kill -TERM $$'
same "128 and the signal that has ended it" "$(said)" "143 " || explain
on /nowhere/program
ok "127, if it is not found" eval '[ "$rc" = 127 ] && grep -q /nowhere/program "$out"' || explain
on 'exec >&- 2>&-; read -r _; exit 5'
same "also of one that closes its output before it ends" "$(said)" "5 " || explain
on '{ sleep 1 & } ; exit 6'
same "and of one whose child writes on" "$(said)" "6 " || explain
run 60 sh -c '"$0" on n1 "cat; exit 4" <<X
two words
X' "$WIREUP"
same "with input" "$(said)" "4 two words" || explain
head -c 5000000 /dev/zero >"$tmp/zeros"
run 120 sh -c '"$0" on n1 cat <"$1" | wc -c' "$WIREUP" "$tmp/zeros"
same "a filter gets its input and gives its output" "$(tr -d ' ' <"$out") $(cat "$err")" "5000000 " || explain
run 60 sh -c '"$0" on n1 "exit 3" <"$1"' "$WIREUP" "$tmp/zeros"
same "input that nobody reads" "$(said)" "3 " || explain
run 60 sh -c '"$0" on n1 echo words >/dev/full' "$WIREUP"
ok "output that nobody takes" eval '[ "$rc" = 125 ] && grep -q "^wireup: the output of the command cannot be passed on: No space" "$err"' || explain

# ---- JSON
dvm on --json n2 'echo two words; exit 9'
same "JSON has both" "$rc $(member output) $(member exit_code)" "9 two words 9" || explain

# ---- it is not run
on_wrong() { dvm on "$@"; said; }
same "a node that the DVM has not" "$(on_wrong n9 true)" "125 wireup: node n9 is not a node of the DVM"
same "no command" "$(on_wrong n1 | sed 's/:.*//')" "2 wireup"
prlimit_all() # LIMIT: of open files of all daemons
{
    for daemon in $(pgrep -x wireupd); do
        prlimit --pid "$daemon" --nofile="$1:" || return 1
    done
}
if prlimit_all 3 2>"$err"; then
    on echo here
    same "a node that has no descriptor left" "$(said)" \
        "125 wireup: node n1: the command was not started: no pipes for it: Too many open files (ulimit -n)" || explain
    dvm on --json n1 echo here
    same "JSON has no exit status then" "$rc $(member output)$(member exit_code)" "125 None" || explain
    dvm run -n 2 true
    ok "and a job that cannot start its daemon there" eval \
        '[ "$rc" = 125 ] && grep -q "node n1.*cannot start it on this node: no pipes for it: Too many open files" "$err"' || explain
    prlimit_all 1024
    on echo here
    same "when it has some, it runs" "$(said)" "0 here" || explain
else
    skip "a node without descriptors" "prlimit: $(head -n 1 "$err")"
fi
launcher=$(pgrep -f "^$WIREUP up " | tail -n 1)
limit=$(sed -n 's/^Max open files *\([0-9]*\) .*/\1/p' "/proc/$launcher/limits")
# The connection is taken, and there is no second descriptor for it.
open_files() { find "/proc/$launcher/fd" -mindepth 1 -maxdepth 1 | wc -l; }
highest=$(find "/proc/$launcher/fd" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
if [ "$(open_files)" = $((highest + 1)) ] && prlimit --pid "$launcher" --nofile=$((highest + 2)): 2>"$err"; then
    on echo here
    same "a launcher that has no descriptor left" "$(said)" \
        "125 wireup: the DVM cannot take the request: Too many open files (ulimit -n)" || explain
    prlimit --pid "$launcher" --nofile="$limit":
else
    skip "a launcher without descriptors" "$(open_files) are open, the highest is $highest $(head -n 1 "$err")"
fi

# ---- it is lost
lost() # NAME KILLED SENTENCE
{
    mkfifo "$tmp/$1.go"
    : >"$tmp/lost.out"
    "$WIREUP" on n2 "echo here; read -r _ <$tmp/$1.go" </dev/null >"$tmp/lost.out" 2>"$tmp/lost.err" &
    pid=$!
    wait_until 60 [ -s "$tmp/lost.out" ] || note "$(cat "$tmp/lost.err")"
    # shellcheck disable=SC2086
    switch_off $2
    code=0
    wait $pid || code=$?
    same "$1 is lost while the command runs" "$code $(cat "$tmp/lost.err")" "125 wireup: $3"
}
unknown="how the command has ended is not known: the connection to node n2, or to the DVM, is lost"
lost node "$(cat "$tmp/agent.n2")" "$unknown"
same "a lost node" "$(on_wrong n2 true)" "125 wireup: node n2 of the DVM is lost"
dvm down
dvm up -launch-agent "$tmp/agent" -hosts n1,n2
same "another DVM" "$rc" 0 || explain
lost launcher "$(pgrep -f "^$WIREUP up ")" "$unknown"
ok "nothing stays" wait_until 60 eval '! pgrep -x "wireup|wireupd" >/dev/null' || note "$(ps -efww)"

# ---- the launcher's own node
dvm up -launch-agent "$tmp/agent" -hosts "$(hostname),n1"
same "the launcher's own node" "$(on_wrong "$(hostname)" true)" \
    "125 wireup: node $(hostname) of the DVM is this machine: run the command without \`wireup on\`"
dvm down
finish
