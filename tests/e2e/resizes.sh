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
mkfifo "$tmp/agent.slow1" "$tmp/agent.slow2" "$tmp/agent.slow3"

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
"""launcher.py HOW NODE TAKEN: is offered slots, has NODE leave (as shrink now, drain or wait says), takes a slot of TAKEN, or
goes if that is `-`; prints what NODE is before it takes one, while it has it, and what shrink answers."""
import glob
import os
import socket
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


how, node, taken = sys.argv[1:]
for where in glob.glob(os.path.join(os.environ['XDG_RUNTIME_DIR'], 'wireup', '*')):
    try:
        lease = ask('lease 1 now *')
        if read(lease, [b'\n.\n', b'error']).startswith('granted'):
            break
    except OSError:
        pass
else:
    sys.exit('no DVM')
shrink = ask(f'shrink {how} {node}')
print(state())
if taken != '-':
    lease.sendall(f'took {taken} 1\n'.encode())
    print(state())
if how == 'wait' or taken == '-':
    lease.close()
print(read(shrink, [b'end\n', b'error']).strip().replace('\n', ', '))
END
starts() { run 120 python3 "$tmp/launcher.py" "$@"; }
starts now n7 n7
same "a node that a job may take, and takes, stays" "$rc $(cat "$out")" "0 n7 1 0 up
n7 1 1 up
error: node n7 has 1 process of jobs; -wait waits for their end, -drain lets it leave then" || explain
starts now n7 n2
same "if it takes another one, it leaves" "$rc $(sed -n '1p;$p' "$out")" "0 n7 1 0 up
left n7, end" || explain
dvm grow -hosts n7
starts now n7 -
same "so it does if the job takes none" "$rc $(cat "$out")" "0 n7 1 0 up
left n7, end" || explain
starts drain n2 n2
same "one that drains is there for a job that takes it" "$rc $(cat "$out")" "0 n2 2 0 draining
n2 2 1 draining
draining n2 0, end" || explain
ok "and leaves at its end" wait_until 60 are "n1 up slow2 up " || note "$(nodes)"
dvm grow -hosts n2:2
starts wait n2 n2
same "as by -wait" "$rc $(cat "$out")" "0 n2 2 0 draining
n2 2 1 draining
left n2, end" || explain
starts wait slow2 n1
same "and if another one is taken" "$rc $(tail -n 1 "$out")" "0 left slow2, end" || explain

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
