#!/bin/sh
# resizes.sh - wireup grow and shrink at moments, and with words, that nobody plans: while a job starts, while nodes come up,
# several at once, twice the same, of all nodes; and what they print as JSON.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
case $host in
bad) echo "no route to bad" >&2 && exit 255 ;;
slow*) echo >"$0.called" && read -r _ <"$0.$host" ;;
esac
exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent"
mkfifo "$tmp/agent.slow1" "$tmp/agent.slow2" "$tmp/agent.slow3" "$tmp/agent.slow4" "$tmp/agent.slow5" "$tmp/word"

dvm() { run 120 "$WIREUP" "$@"; }
nodes() { "$WIREUP" ps --nodes | sed 1d | tr -s ' ' | cut -d ' ' -f 2,5 | sort | tr '\n' ' '; }
are() { [ "$(nodes)" = "$1" ]; }
called() { wait_until 60 [ -e "$tmp/agent.called" ] && rm "$tmp/agent.called"; }
refused() # NAME SENTENCE WORDS...
{
    refused_name=$1
    refused_text=$2
    shift 2
    dvm "$@"
    same "$refused_name" "$rc $(cat "$out" "$err")" "1 wireup: $refused_text" || explain
}

# ---- while a DVM comes up
"$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,slow1:2 >"$tmp/up" 2>&1 &
up=$!
called
dvm grow -hosts n2
ok "a DVM that comes up does not grow" eval '[ "$rc" = 1 ] && grep -qx "wireup: the DVM is not up\|wireup: you have no DVM on this machine; .*" "$err"' || explain
echo >"$tmp/agent.slow1"
wait "$up"
same "nor is it disturbed" "$? $(nodes)" "0 n1 up slow1 up " || note "$(cat "$tmp/up")"
"$WIREUP" ps --nodes >"$tmp/nodes"
same "ps lists the nodes" "$(cat "$tmp/nodes")" "DVM  NODE   SLOTS   FREE  STATE
dvm  n1         2      2  up
dvm  slow1      2      2  up"
dvm shrink -hosts slow1
same "it shrinks" "$rc $(nodes)" "0 n1 up " || explain

# ---- while nodes come up
"$WIREUP" grow -hosts slow2:2 >"$tmp/slow2" 2>&1 &
slow2=$!
called
ok "one that comes up is listed" wait_until 60 are "n1 up slow2 coming " || note "$(nodes)"
dvm grow -hosts n2:2
same "another one comes meanwhile" "$rc $(cat "$out")" "0 node n2 has joined your DVM dvm, with 2 slots" || explain
refused "one that comes up comes once" "node slow2 is coming up in your DVM dvm already" grow -hosts slow2
refused "and does not leave" "node slow2 is coming up already" shrink -hosts slow2
refused "nor does it drain" "node slow2 is coming up already" shrink -drain -hosts slow2
refused "nor do others that are named with it" "node slow2 is coming up already" shrink -hosts n2,slow2
dvm run -n 4 hostname
same "jobs do not wait for it" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  2 n1 2 n2 " || explain
echo >"$tmp/agent.slow2"
wait "$slow2"
same "then it is there" "$? $(cat "$tmp/slow2") $(nodes)" "0 node slow2 has joined your DVM dvm, with 2 slots n1 up n2 up slow2 up "
"$WIREUP" grow -hosts slow3 >"$tmp/slow3" 2>&1 &
slow3=$!
called
kill "$slow3"
wait "$slow3"
echo >"$tmp/agent.slow3"
ok "who interrupts it does not keep the node away" wait_until 60 are "n1 up n2 up slow2 up slow3 up " || note "$(nodes)"

# ---- several at once
for i in 3 4 5 6; do
    "$WIREUP" grow -hosts "n$i" >"$tmp/grow.$i" 2>&1 &
    eval "grow_$i=$!"
done
statuses=
for i in 3 4 5 6; do
    eval "wait \$grow_$i"
    statuses="$statuses$?"
done
same "four grow at once" "$statuses $(nodes)" "0000 n1 up n2 up n3 up n4 up n5 up n6 up slow2 up slow3 up " || note "$(cat "$tmp"/grow.*)"
for i in 3 4 5 6; do
    "$WIREUP" shrink -hosts "n$i" >"$tmp/shrink.$i" 2>&1 &
    eval "shrink_$i=$!"
done
dvm grow -hosts n7
statuses=$rc
for i in 3 4 5 6; do
    eval "wait \$shrink_$i"
    statuses="$statuses$?"
done
same "and shrink, while it grows" "$statuses $(nodes)" "00000 n1 up n2 up n7 up slow2 up slow3 up " || note "$(cat "$tmp"/shrink.*)"

# ---- twice, unknown, all
refused "twice the same" "node n3 is named twice" grow -hosts n3,n4,n3
dvm shrink -hosts slow3,slow3
same "to leave twice is to leave" "$rc $(cat "$out")" "0 node slow3 has left your DVM dvm" || explain
refused "an unknown one" "slow3 is not a node of your DVM dvm" shrink -hosts slow3
refused "with others: nothing changes" "nowhere is not a node of your DVM dvm" shrink -hosts n7,nowhere
refused "of an unknown DVM" 'you have no DVM other on this machine; `wireup ps` lists yours' grow -hosts n3 other
refused "to shrink, too" 'you have no DVM other on this machine; `wireup ps` lists yours' shrink -hosts n7 other
same "nothing has changed" "$(nodes)" "n1 up n2 up n7 up slow2 up "

# ---- while a job starts: a launcher that has been offered slots says only later which it takes
cat >"$tmp/launcher.py" <<'END'
"""launcher.py HOW NODE STEP...: what launchers and others say to the DVM, one after another: `lease` is offered slots, `shrink` has
NODE leave (as shrink now, drain or wait says), a question (ask, need) of the lease is answered, `gone` ends it, any other line goes
to it; `after COMMAND` goes on when the command ends.  Prints what NODE is after each of these from `shrink` on, and what shrink
answers."""
import glob
import os
import socket
import subprocess
import sys


def ask(words):
    """The connection, and the first piece of the answer."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(where)
    s.sendall(words.encode() + b'\n')
    return s


def read(s, ends):
    text = b''
    while not any(end in text for end in ends):
        piece = s.recv(65536)
        if not piece:
            break
        text += piece
    return text.decode()


def state():
    for _ in range(9):          # requests before these have been read by then
        text = read(ask('standing'), [])
    return next((line for line in text.splitlines() if line.startswith(node + ' ')), node + ' has left')


how, node, *steps = sys.argv[1:]
for where in glob.glob(os.path.join(os.environ['XDG_RUNTIME_DIR'], 'wireup', '*')):
    try:
        if read(ask('standing'), []).startswith('standing '):
            break
    except OSError:
        pass
else:
    sys.exit('no DVM')
lease = shrink = None
for step in steps:
    word = step.split()[0]
    if word == 'lease':
        lease = ask('lease 1 now *')
        read(lease, [b'\n.\n'])
        continue
    if word == 'shrink':
        shrink = ask(f'shrink {how} {node}')
    elif word == 'gone':
        lease.close()
    elif word == 'after':
        subprocess.run(step.split(maxsplit=1)[1], shell=True, check=True)
    else:
        lease.sendall(step.encode() + b'\n')
    if word in ('ask', 'need'):
        print(read(lease, [b'\n']).strip())
    elif shrink:
        print(state())
print(read(shrink, [b'end\n', b'error']).strip().replace('\n', ', '))
END
steps() { run 120 python3 "$tmp/launcher.py" "$@"; }
starts() # HOW NODE TAKEN: the launcher takes a slot of that one, or goes if it is `-`
{
    case $1$3 in
    *-) steps "$1" "$2" lease shrink gone ;;
    wait*) steps "$1" "$2" lease shrink "took $3 1" gone ;;
    *) steps "$1" "$2" lease shrink "took $3 1" ;;
    esac
}
has="error: node n7 has 1 process of jobs; -wait waits for their end, -drain lets it leave then"
starts now n7 n7
same "a node that a job may take, and takes, stays" "$rc $(cat "$out")" "0 n7 1 0 up
n7 1 1 up
$has" || explain
starts now n7 n2
same "if it takes another one, it leaves" "$rc $(sed -n '1p;$p' "$out")" "0 n7 1 0 up
left n7, end" || explain
dvm grow -hosts n7
starts now n7 -
same "so it does if the job takes none" "$rc $(sed -n '1p;$p' "$out")" "0 n7 1 0 up
left n7, end" || explain
starts drain n2 n2
same "one that drains is there for a job that takes it" "$rc $(cat "$out")" "0 n2 2 0 draining
n2 2 1 draining
draining n2 0, end" || explain
ok "and leaves at its end" wait_until 60 are "n1 up slow2 up " || note "$(nodes)"
dvm grow -hosts n2:2
starts wait n2 n2
same "as by -wait" "$rc $(sed '3d' "$out")" "0 n2 2 0 draining
n2 2 1 draining
left n2, end" || explain
starts wait slow2 n1
same "and if another one is taken" "$rc $(tail -n 1 "$out")" "0 left slow2, end" || explain

# ---- while a job that runs gets more nodes: it has been told that it may use one, and says later what it uses
dvm grow -hosts n7
steps now n7 lease "took n1 1" "ask n7" shrink "took n1 2 n7 -" "took n1 1 n7 1"
same "a node that a spawn has asked for, and uses, stays" "$rc $(cat "$out")" "0 is n7 1
n7 1 0 up
n7 1 0 up
n7 1 1 up
$has" || explain
steps now n7 lease "took n1 1" "ask n7" shrink "took n1 1"
same "if it does not, it leaves" "$rc $(sed -n '1,2p;$p' "$out")" "0 is n7 1
n7 1 0 up
left n7, end" || explain
dvm grow -hosts n7
steps now n7 lease "took n1 1" "need 1 n1" "took n1 2" shrink "took n1 1" "seen n1 1 n7 -" "took n1 1 n7 1"
same "one that takes the place of a lost one stays, whatever the job uses meanwhile" "$rc $(cat "$out")" "0 node n7 1
n7 1 1 up
n7 1 1 up
n7 1 0 up
n7 1 1 up
$has" || explain
steps now n7 lease "took n1 1" "need 1 n1" "seen n1 1 n7 -" shrink "took n1 1 n7 1"
same "also while it comes up" "$rc $(cat "$out")" "0 node n7 1
n7 1 0 up
n7 1 1 up
$has" || explain
steps now n7 lease "took n1 1" "need 1 n1" "seen n1 1" shrink
same "if the job does not want it any more, it leaves" "$rc $(sed -n '1p;$p' "$out")" "0 node n7 1
left n7, end" || explain

# ---- while a spawn waits for nodes that join: those that are there already stay for it
spawns() # NODES: a tool has a job on n1 spawn a process there, which meets the other one
{
    "$WU_BUILD/tests/e2e/e2e-newcomer" tool "$("$WIREUP" tools | cut -f 2)" "$1" "$tmp/word" >"$tmp/tool" 2>&1 &
    tool=$!
    called
}
over() { wait "$tool" && same "$1" "$(cat "$tmp/tool")" PMIX_SUCCESS; }
spawns n7,slow4
wait_until 60 are "n1 up n7 up slow4 coming " || note "$(nodes)"
steps now n7 shrink "after echo >$tmp/agent.slow4"
same "a node of a spawn is not asked to leave, until it has a process" "$rc $(sed -n '1p;$p' "$out")" "0 n7 1 0 up
$has" || explain
over "which is there" || note "$(nodes)"
ok "and leaves with the job" wait_until 60 eval 'dvm shrink -hosts slow4,n7; [ "$rc" = 0 ]' || explain
dvm grow -hosts n7
spawns n7,slow5
steps drain n7 shrink "after echo >$tmp/agent.slow5"
over "one of the DVM that drains is there for a spawn that has named it" || note "$(cat "$out") $(nodes)"
ok "and then leaves" wait_until 60 are "n1 up slow5 up " || note "$(nodes)"
dvm shrink -hosts slow5

# The same of a job that has its own launcher, and daemons of its own on these nodes: one of them is slow.
wireupd=$(dirname "$WIREUP")/../daemon/wireupd
[ -x "$wireupd" ] || wireupd=$(dirname "$WIREUP")/wireupd
cat >"$tmp/wireupd" <<END
#!/bin/sh
[ "\$(hostname)" != n8 ] || { echo >"$tmp/agent.called" && read -r _ <"$tmp/gate"; }
exec "$wireupd" "\$@"
END
printf '#!/bin/sh\nread -r _ <"$1"\n' >"$tmp/hold"
chmod +x "$tmp/wireupd" "$tmp/hold"
mkfifo "$tmp/gate" "$tmp/held" "$tmp/go"
spawns() # a job on n1 spawns two processes on n7 and n8
{
    "$WIREUP" run -dvm dvm -wireupd "$tmp/wireupd" -hosts n1 -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 2 "$tmp/hold" "$tmp/held" add-host=n7,n8 \
        <"$tmp/go" >"$tmp/job" 2>&1 8>&- 9>&- &
    job=$!
    echo >&8
    called
}
exec 8<>"$tmp/go" 9<>"$tmp/held" # nobody waits for the other end
dvm grow -hosts n7,n8
spawns
steps now n7 shrink "after echo >$tmp/gate"
same "a job's own launcher gets the nodes that it has been promised" "$rc $(sed -n '1p;$p' "$out")" "0 n7 1 0 up
$has" || explain
printf '\n\n' >&9
echo >&8
wait "$job"
same "for what it spawns" "$? $(cat "$tmp/job")" "0 ready
spawned" || note "$(nodes)"
exec 8>&- 9>&-
ok "and they leave with the job" wait_until 60 eval 'dvm shrink -hosts n8,n7; [ "$rc" = 0 ]' || explain

# ---- a stream of jobs, while nodes come and go
printf -- '-n 1 hostname\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 >"$tmp/jobs"
sed 's/-n 1/-n 1 -map-by slot/' "$tmp/jobs" >"$tmp/apart" # a launcher for each
for file in jobs apart; do
    "$WIREUP" run -batch "$tmp/$file" >"$tmp/stream" 2>&1 </dev/null &
    stream=$!
    for turn in 1 2 3; do
        dvm grow -hosts n2:2,n3:2
        dvm shrink -wait -hosts n2,n3
        [ "$rc" = 0 ] || explain
    done
    wait "$stream"
    same "no job of a stream is hit ($file)" "$? $(grep -c '^n[123]$' "$tmp/stream") $(nodes)" "0 20 n1 up " || note "$(cat "$tmp/stream")"
done

# ---- all
dvm shrink -hosts n1
same "the last one leaves" "$rc $(nodes)" "0 " || explain
dvm run -n 1 hostname
same "then no job runs" "$rc $(cat "$out" "$err")" "125 wireup: your DVM dvm has no free node: all are reserved or lost" || explain
dvm grow -hosts n1
dvm run -n 1 hostname
same "until there is one again" "$rc $(cat "$out")" "0 n1" || explain

# ---- JSON, of what is refused, too
object() { python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["schema"], o["name"], sorted((n["node"], n["state"]) for n in o["nodes"]))' <"$out" 2>&1; }
dvm grow --json -hosts n2,n3
same "grow" "$rc $(object)" "0 wireup-grow-1 dvm [('n2', 'up'), ('n3', 'up')]" || explain
dvm grow --json -hosts n4,bad
same "grow, one comes" "$rc $(object)" "1 wireup-grow-1 dvm [('bad', 'failed'), ('n4', 'up')]" || explain
dvm grow --json -hosts n2
same "grow, refused" "$rc $(object) $(wc -l <"$err")" "1 wireup-grow-1 dvm [] 1" || explain
dvm shrink --json -hosts n4
same "shrink" "$rc $(object)" "0 wireup-shrink-1 dvm [('n4', 'left')]" || explain
dvm shrink --json -drain -hosts n3
same "shrink -drain" "$rc $(object)" "0 wireup-shrink-1 dvm [('n3', 'draining')]" || explain
dvm shrink --json -wait -hosts n2
same "shrink -wait" "$rc $(object)" "0 wireup-shrink-1 dvm [('n2', 'left')]" || explain
dvm shrink --json -hosts n9
same "shrink, refused" "$rc $(object) $(wc -l <"$err")" "1 wireup-shrink-1 dvm [] 1" || explain
dvm shrink --json -drain -wait -hosts n1
same "words that exclude each other" "$rc $(cat "$out") $(wc -l <"$err")" "2  1" || explain
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
dvm up -launch-agent "$tmp/agent" -hosts "$(hostname):2,n2"
refused "the launcher's own node stays" "node $(hostname) cannot leave: the launcher of your DVM dvm is there" shrink -hosts "$(hostname)"
dvm down
same "and all go down" "$rc $(cat "$err")" "0 " || explain
finish
