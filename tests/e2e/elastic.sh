#!/bin/sh
# elastic.sh - nodes join a DVM and leave it while jobs run on it; one that is lost is replaced; nobody
# else may change it.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/dvm_lines.sh
. "$(dirname "$0")/dvm_lines.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
[ "$host" != bad ] || { echo "no route to bad" >&2; exit 255; }
echo $$ >"$0.$host"
exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent"
cat >"$tmp/hold" <<'END'
#!/bin/sh
echo here
read -r _ <"$1"
END
chmod +x "$tmp/hold"

dvm() { run 120 "$WIREUP" "$@"; }
line_is() { dvm_line dvm | grep -qE " $1 *-\$"; } # SLOTS
places() { sort "$out" | uniq -c | tr -s ' \n' ' '; }

hold() # JOB OPTIONS...
{
    held=$1
    shift
    mkfifo "$tmp/$held.go"
    "$WIREUP" run "$@" "$tmp/hold" "$tmp/$held.go" >"$tmp/$held.out" 2>&1 </dev/null &
    eval "pid_$held=$!"
    wait_until 60 [ -s "$tmp/$held.out" ] || note "$(cat "$tmp/$held.out")"
}

let_go() # JOB
{
    exec 8>"$tmp/$1.go"
    printf '\n\n\n\n' >&8
    eval "wait \$pid_$1" || note "$1: $? $(cat "$tmp/$1.out")"
    exec 8>&-
}

# ---- nodes join
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
same "a DVM of two nodes" "$rc" 0 || explain
hold a -dvm dvm -hosts n1 -n 1
dvm grow -hosts n3:2,n4
same "two more join while a job runs" "$rc $(sort "$out" | tr '\n' ' ')$(cat "$err")" \
    "0 node n3 has joined your DVM dvm, with 2 slots node n4 has joined your DVM dvm, with 1 slot " || explain
ok "ps counts their slots" line_is "6 of 7 slots free" || explain
dvm run -n 6 hostname
same "jobs use them" "$rc $(places)" "0  1 n1 2 n2 2 n3 1 n4 " || explain
dvm grow -hosts n3
same "a node joins once" "$rc $(cat "$err")" "1 wireup: node n3 is in your DVM dvm already" || explain
dvm grow -json -hosts bad,n5
ok "one that does not come up is named, and the other stays" eval \
    '[ "$rc" = 1 ] && grep -q "\"node\":\"n5\",\"state\":\"up\",\"slots\":1" "$out" && grep -q "\"node\":\"bad\",\"state\":\"failed\",\"reason\":\"node bad: " "$out"' || explain
dvm run -dvm dvm -n 1 -hosts n5 hostname
same "it takes jobs" "$rc $(cat "$out")" "0 n5" || explain

# ---- nodes leave
dvm shrink -hosts n1,n4
same "not one with a process, nor others named with it" "$rc $(cat "$err")" \
    "1 wireup: node n1 has 1 process of jobs; -wait waits for their end, -drain lets it leave then" || explain
dvm shrink -hosts n4
same "one without may leave" "$rc $(cat "$out")" "0 node n4 has left your DVM dvm" || explain
ok "its slots go with it, and it is not lost" line_is "6 of 7 slots free" || explain
dvm run -dvm dvm -n 1 -hosts n4 hostname
same "no job gets there" "$rc $(cat "$err")" "125 wireup: n4 is not a node of your DVM dvm" || explain
dvm run -n 6 hostname
same "the others are there still" "$rc $(places)" "0  1 n1 2 n2 2 n3 1 n5 " || explain
"$WIREUP" shrink -wait -hosts n1 >"$tmp/wait.out" 2>&1 &
pid_wait=$!
ok "a node that drains has no slots for others" wait_until 60 line_is "5 of 5 slots free; draining: n1" || explain
dvm shrink -hosts n1
same "and is asked once" "$rc $(cat "$err")" "1 wireup: node n1 is leaving already" || explain
kill -TERM $pid_wait
wait $pid_wait
ok "interrupted, it stays" wait_until 60 line_is "6 of 7 slots free" || explain
"$WIREUP" shrink -wait -hosts n1 >"$tmp/wait.out" 2>&1 &
pid_wait=$!
wait_until 60 line_is "5 of 5 slots free; draining: n1" || explain
let_go a
wait $pid_wait
same "else it leaves when the job has ended" "$? $(cat "$tmp/wait.out")" "0 node n1 has left your DVM dvm"
hold b -dvm dvm -hosts n2 -n 2
dvm shrink -drain -json -hosts n2
ok "draining does not wait" eval '[ "$rc" = 0 ] && grep -q "\"nodes\":\[{\"node\":\"n2\",\"state\":\"draining\",\"processes\":2}\]" "$out"' || explain
dvm run -n 3 hostname
same "new jobs go elsewhere" "$rc $(places)" "0  2 n3 1 n5 " || explain
let_go b
ok "and it leaves" wait_until 60 eval 'dvm shrink -hosts n2; grep -q "n2 is not a node of your DVM" "$err"' || explain

# ---- they are wanted again before they have left
hold c -dvm dvm -hosts n5 -n 1
dvm shrink -drain -hosts n5
dvm grow -hosts n5
same "a node that drains stays" "$rc $(cat "$out")" "0 node n5 has joined your DVM dvm, with 1 slot" || explain
let_go c
dvm run -dvm dvm -n 1 -hosts n5 hostname
same "and takes jobs" "$rc $(cat "$out")" "0 n5" || explain
# The daemon below its supervisor, on a node that has had no job: one whose daemon has yet to end would only drain.
dvm grow -hosts n6
slow=$(pgrep -P "$(cat "$tmp/agent.n6")")
kill -STOP "$slow"
dvm shrink -drain -hosts n6
same "one is asked to leave, and is slow" "$rc $(cat "$out")" "0 node n6 leaves your DVM dvm" || explain
"$WIREUP" grow -hosts n6:3 >"$tmp/again.1" 2>&1 &
pid_again=$!
"$WIREUP" grow -hosts n6:3 >"$tmp/again.2" 2>&1 &
pid_too=$!
ok "of two that ask for it one is refused" wait_until 60 \
    grep -qx "wireup: node n6 is in your DVM dvm already" "$tmp/again.1" "$tmp/again.2" || note "$(cat "$tmp"/again.?)"
kill -CONT "$slow"
wait $pid_again
both=$?
wait $pid_too
same "and one gets it when it has left" "$((both + $?)) $(cat "$tmp"/again.? | grep -v already)" \
    "1 node n6 has joined your DVM dvm, with 3 slots"
ok "its slots are the new ones" line_is "6 of 6 slots free" || explain
dvm shrink -hosts n6
same "it leaves for good" "$rc $(cat "$out")" "0 node n6 has left your DVM dvm" || explain

# ---- jobs and tools are told
members=$WU_BUILD/tests/e2e/e2e-members
mkfifo "$tmp/members.go"
exec 9<>"$tmp/members.go" # nobody waits for the other end
dvm tools
uri=$(cut -f 2 "$out")
"$members" "$uri" <"$tmp/members.go" >"$tmp/members.tool" 2>&1 9>&- &
pid_tool=$!
said() { wait_until 60 grep -q "$1" "$2" || note "$2: $(cat "$2")"; }
"$WIREUP" run -dvm dvm -hosts n5 -n 1 "$members" <"$tmp/members.go" >"$tmp/members.job" 2>&1 9>&- &
pid_job=$!
said listening "$tmp/members.tool"
said listening "$tmp/members.job"
dvm grow -hosts n7:2
dvm shrink -hosts n7
dvm shrink -drain -hosts n5
dvm grow -hosts n5
told="listening
n7 joined 2 0
n7 leaves 2 0
n7 left 2 0"
said "n5 stays" "$tmp/members.job"
same "a job knows which nodes join and leave, and which of its processes must end" "$(cat "$tmp/members.job")" "$told
n5 leaves 1 1
n5 stays 1 0"
said "n5 stays" "$tmp/members.tool"
same "and so does a tool of the DVM" "$(cat "$tmp/members.tool")" "$told
n5 leaves 1 0
n5 stays 1 0"
kill "$pid_tool"
exec 9>&-
wait $pid_job
same "the job ends well" "$?" 0

dvm shrink -hosts n9
same "a node that it has not" "$rc $(cat "$err")" "1 wireup: n9 is not a node of your DVM dvm" || explain

# ---- they come again, also after a loss
dvm grow -hosts n1:2,n2:2
same "nodes that have left join again" "$rc" 0 || explain
kill -9 "$(cat "$tmp/agent.n3")"
ok "a lost node is named" wait_until 60 line_is "5 of 5 slots free; lost: n3" || explain
dvm grow -hosts n3:3
same "and replaced under its name" "$rc $(cat "$out")" "0 node n3 has joined your DVM dvm, with 3 slots" || explain
ok "then it is not lost any more" line_is "8 of 8 slots free" || explain
dvm run -n 8 hostname
same "jobs use it" "$rc $(places)$(cat "$err")" "0  2 n1 2 n2 3 n3 1 n5 " || explain

# ---- nobody else
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    chmod 711 "$tmp/run"
    for_others "$WIREUP"
    for what in "grow -hosts n8" "shrink -hosts n5" "shrink -drain -hosts n5"; do
        # shellcheck disable=SC2086
        run 60 setpriv --reuid 65534 --clear-groups env XDG_RUNTIME_DIR="$tmp/run" "$others/wireup" $what
        same "another user: $what" "$rc $(cat "$err")" \
            '1 wireup: you have no DVM on this machine; start one with `wireup up`' || explain
    done
    # Nor who knows where the launcher listens.
    sed -n 's/.* \(@\{0,1\}[^ ]*wireup[^ ]*\)$/\1/p' /proc/net/unix | sort -u >"$tmp/sockets"
    find "$tmp/run" -type s >>"$tmp/sockets"
    cat >"$tmp/intrude.py" <<'END'
import socket, sys
for name in open(sys.argv[1]).read().split():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    try:
        s.connect("\0" + name[1:] if name[0] == "@" else name)
        s.send(b"shrink drain n5\n")
        print(s.recv(100).decode())
    except OSError:
        pass
END
    chmod 644 "$tmp/intrude.py" "$tmp/sockets"
    run 120 setpriv --reuid 65534 --clear-groups python3 "$tmp/intrude.py" "$tmp/sockets"
    same "nor by the launcher's socket ($(wc -l <"$tmp/sockets") known)" "$(cat "$out")" "" || explain
    chmod 700 "$tmp/run"
else
    skip "another user" "only root can be one"
fi
ok "nothing has changed" line_is "8 of 8 slots free" || explain
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
# Each below the one before it in the tree, which starts it.
dvm up -launch-agent "$tmp/agent" -hosts m1 -tree-width 1
dvm grow -hosts m2,m3
same "nodes join below each other" "$rc $(wc -l <"$out")" "0 2" || explain
dvm run -n 3 hostname
same "and take jobs" "$rc $(places)" "0  1 m1 1 m2 1 m3 " || explain
dvm shrink -hosts m3
same "the last one leaves" "$rc $(cat "$out")" "0 node m3 has left your DVM dvm" || explain
dvm down
same "and all are gone" "$rc $(cat "$err")" "0 " || explain

# ---- process sets: of processes on nodes that join, and known there
sets=$WU_BUILD/tests/e2e/e2e-sets
dvm up -launch-agent "$tmp/agent" -hosts n1:4
dvm tools
mkfifo "$tmp/sets.in" "$tmp/old.go" "$tmp/new.go"
exec 7<>"$tmp/sets.in" 8<>"$tmp/old.go" 9<>"$tmp/new.go" # nobody waits for the other end
"$sets" "$(cut -f 2 "$out")" <"$tmp/sets.in" >"$tmp/sets.tool" 2>&1 7>&- 8>&- 9>&- &
pid_sets=$!
touch "$tmp/sets.old" "$tmp/sets.new" "$tmp/sets.last"
echo "workers n1 1 $tmp/sets.old $tmp/old.go" >&7
said here "$tmp/sets.old"
dvm grow -hosts n2:4
echo "workers n2 2 $tmp/sets.new $tmp/new.go" >&7
said here "$tmp/sets.new"
said "define workers 3" "$tmp/sets.old"
same "a set gets the processes on a new node, where older members are known" "$(grep -E "^sets|has" "$tmp/sets.new" | tr '\n' ' ')" \
    "sets workers workers has 3 "
echo >&8
said "define workers 2" "$tmp/sets.new"
echo "others n2 1 $tmp/sets.last $tmp/old.go" >&7
said here "$tmp/sets.last"
same "those that have ended are in it no more" "$(grep -E "^sets|has" "$tmp/sets.last" | tr '\n' ' ')" \
    "sets workers,others workers has 2 "
printf '\n\n' >&9
said "delete workers" "$tmp/sets.last"
said "delete workers" "$tmp/sets.tool"
same "it goes with its last member" "$(grep -E "workers [0-9]" "$tmp/sets.tool" | uniq | tr '\n' ' ')" \
    "define workers 1 define workers 3 define workers 2 delete workers 0 " || note "$(cat "$tmp/sets.tool")"
echo >&8
exec 7>&-
wait "$pid_sets"
same "and the tool ends well" "$?" 0 || note "$(cat "$tmp/sets.tool")"
exec 8>&- 9>&-
dvm down
same "all is down" "$rc $(cat "$err")" "0 " || explain

# ---- a job that loses three of eight nodes, gains two, and has the right sum
dvm up -trace "$tmp/rec" -launch-agent "$tmp/agent" -hosts n1,n2,n3,n4,n5,n6,n7,n8
dvm tools
uri=$(cut -f 2 "$out")
(PATH=${WIREUP%/*}:$PATH && "$WU_BUILD/examples/elastic/example-elastic" "$uri" n9,n10 >"$tmp/sum" 2>&1)
same "the example" "$? $(grep -v joined "$tmp/sum" | tail -n 2 | tr '\n' ' ')" \
    "0 elastic: the sum is $((48000 * 47999 / 2)) elastic: good " || note "$(cat "$tmp/sum")"
dvm down
dvm timeline "$tmp/rec"
same "its timeline has what was lost, and what has come" "$rc $(grep -c '^Node n[678] is lost at [0-9.]* s: ' "$out") $(sed -n 's/^ *[0-9.]* s: node \(.*\) has joined$/\1/p' "$out" | sort | tr '\n' ' ')" \
    "0 3 n10 n9 " || explain
same "and its ranks" "$(grep -c '^[0-7] on n[1-8] ' "$out")" 8 || explain
dvm timeline --json "$tmp/rec"
same "as JSON, too" "$(grep -o '"name":"node lost"' "$out" | wc -l) $(grep -o 'node n[0-9]* has joined' "$out" | sort -u | wc -l)" "3 2" || explain
dvm trace --all --json "$tmp/rec"
cp "$out" "$tmp/rec.json"
run 120 "$e2e/audit.py" "$tmp/rec.json"
same "its recording breaks no rule" "$rc $(tail -n 1 "$out" | sed 's/^[0-9]* contributions/some contributions/')" "0 some contributions to collectives, 0 rules broken" || explain
run 300 "$e2e/audit.py" --control=once,outcome,answer,exit,end "$tmp/rec.json"
ok "and each fault that is planted into a copy of it is noticed" [ "$rc" = 0 ] || explain

# ---- processes on a node that has joined meet those of an older job
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
mkfifo "$tmp/word"
run 120 "$WU_BUILD/tests/e2e/e2e-newcomer" tool "$("$WIREUP" tools | cut -f 2)" n3 "$tmp/word"
same "they connect, and are in a group" "$rc $(cat "$out")" "0 PMIX_SUCCESS" || explain
dvm down

# ---- spare nodes
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3 -spare-hosts bad,s1:3,s2
same "a DVM with spare nodes" "$rc $(cut -d ';' -f 1 "$out")" "0 3 nodes are up" || explain
kill -9 "$(cat "$tmp/agent.n2")"
ok "a lost node is replaced by the next one that comes up" wait_until 60 line_is "6 of 6 slots free; lost: n2" || explain
dvm run -n 6 hostname
same "jobs use it" "$rc $(places)" "0  2 n1 1 n3 3 s1 " || explain
dvm shrink -hosts n3
same "one that leaves is not replaced" "$rc $(cat "$out")" "0 node n3 has left your DVM dvm" || explain
ok "nor is anybody lost by that" line_is "5 of 5 slots free; lost: n2" || explain
kill -9 "$(cat "$tmp/agent.s1")"
ok "one that has replaced another one is replaced, too" wait_until 60 line_is "3 of 3 slots free; lost: n2,s1" || explain
kill -9 "$(cat "$tmp/agent.s2")"
ok "until there is none any more" wait_until 60 line_is "2 of 2 slots free; lost: n2,s1,s2" || explain
dvm down
same "down" "$rc" 0 || explain
dvm -spare-hosts s1 -n 1 true
same "they are of a DVM" "$rc $(cat "$err")" \
    "2 wireup: -spare-hosts is for wireup up; a job has spare nodes by -on-failure replace" || explain
dvm grow -hosts n1
same "without a DVM" "$rc $(cat "$err")" '1 wireup: you have no DVM on this machine; start one with `wireup up`' || explain
dvm shrink
same "without nodes" "$rc $(cat "$err")" "2 wireup: name the nodes by -hosts" || explain

# ---- nodes of a second job of Slurm, which this is not: how far a request comes without it
deep() # WIDTH
{
    run 120 env SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n1 "$WIREUP" up -rmk slurm -launch-agent "$tmp/agent" -hosts n1,n2 -tree-width "$1"
    run 120 env PATH="$bin" "$WIREUP" grow -nodes 1
    cp "$err" "$tmp/deep"
    dvm down
}
deep 1
same "a tree of several levels takes none, and why" "$(cat "$tmp/deep")" \
    "wireup: the daemons of your DVM dvm are a tree of several levels, which nodes of another job cannot join: start it with -tree-width 2, or with -join-token-file FILE"
deep 2
ok "one of that width asks for them" eval 'grep -qE "sbatch|slurm" "$tmp/deep" && ! grep -q levels "$tmp/deep"' || note "$(cat "$tmp/deep")"
finish
