#!/bin/sh
# joins.sh ORDERS - nodes join a DVM by themselves (wireupd --join), without ssh: in ORDERS random orders,
# before and after the launcher; who has not the token does not.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
orders=$1
nodes=16
wireupd=$WU_BUILD/src/daemon/wireupd
where=$tmp/addresses
token=$tmp/token

dvm() { run 120 "$WIREUP" "$@"; }
line_is() { dvm ps && grep -qE "^ *[0-9]+  dvm .* $1 *-\$" "$out"; } # SLOTS
places() { sort "$out" | uniq -c | tr -s ' \n' ' '; }

# Under a host name of its own; its exit code is the last line of its log.
join() # NODE WORDS...
{
    joiner=$1
    shift
    rm -f "$tmp/$joiner.log"
    # shellcheck disable=SC2016
    unshare -u sh -c 'hostname "$0"; "$@"; echo "ended: $?"' "$joiner" "$wireupd" "$@" \
        >"$tmp/$joiner.log" 2>&1 </dev/null &
    eval "pid_$joiner=$!"
}
up() { dvm up -join-only -join-token-file "$token" -join-file "$where" "$@"; }
log_has() { grep -q "$2" "$tmp/$1.log" 2>/dev/null; } # NODE WORDS
log_of() { note "$1: $(cat "$tmp/$1.log")"; }
refused() # NAME NODE SENTENCE
{
    ok "$1" wait_until 60 log_has "$2" "^ended: 1" || log_of "$2"
    same "$1: one sentence" "$(grep -v "^ended: " "$tmp/$2.log")" "wireupd: $3"
}

# ---- before and after the launcher
join n1 --join "$where" --token-file "$token" --slots 2
ok "a node comes before the launcher, and tries again" wait_until 60 log_has n1 "trying again until" || log_of n1
up
same "a DVM without nodes" "$rc $(head -n 1 "$out")$(cat "$err")" '0 0 nodes are up; `wireup run` uses them, `wireup down` ends them' || explain
ok "which says where nodes join" grep -qE '^nodes join it by `wireupd --join [^ ]+:[0-9]+`$' "$out" || explain
ok "the token is a secret of the user" [ "$(stat -c %a "$token")" = 600 ]
ok "the node has joined" wait_until 60 line_is "2 of 2 slots free" || { explain; log_of n1; }
ok "and says so" log_has n1 "node n1 has joined the launcher at " || log_of n1
dvm run -n 2 hostname
same "it takes jobs" "$rc $(places)" "0  2 n1 " || explain
"$WIREUP" run -wait -n 5 hostname >"$tmp/wait.out" 2>&1 </dev/null &
waiting=$!
ok "a job waits for nodes" wait_until 60 eval '"$WIREUP" ps --json | grep -q "\"waiting\":1"' || explain
WIREUP_JOIN=$(cut -d ' ' -f 1 "$where")
WIREUP_JOIN_TOKEN=$(cat "$token")
export WIREUP_JOIN WIREUP_JOIN_TOKEN
join n2 --join --slots 3
unset WIREUP_JOIN WIREUP_JOIN_TOKEN
wait $waiting
same "and runs when they have come, by the environment alone" "$? $(sort "$tmp/wait.out" | uniq -c | tr -s ' \n' ' ')" "0  2 n1 3 n2 " || log_of n2
dvm run -hosts n2 -dvm dvm -n 1 env
ok "no program inherits the token" eval '[ "$rc" = 0 ] && grep -q PMI_RANK "$out" && ! grep -q "JOIN_TOKEN\|$(cat "$token")" "$out"' || explain
same "and no command line shows it" "$(cat /proc/[0-9]*/cmdline | grep -acf "$token")" 0
port=$(cut -d ' ' -f 1 "$where" | sed 's/.*://')
join n3 --join "localhost:$port" --token-file "$token" --slots 1
ok "by a name that is looked up" wait_until 60 line_is "6 of 6 slots free" || { explain; log_of n3; }
# Nobody calls a node that joins: it may be behind a gateway.
listening() { for f in /proc/"$1"/net/tcp /proc/"$1"/net/tcp6; do awk '$4 == "0A" && $2 !~ /^0100007F|^0*1000000:/ { print $2 }' "$f"; done | sort -u | wc -l; }
same "only the launcher listens on the network" "$(listening self)" 1

# ---- refused
dvm up -name other -join-port "$port" -join-token-file "$token"
same "a port that is taken" "$rc $(cat "$err")" "1 wireup: no port from $port to $port is free" || explain
join n4 --join "$where" --token-file "$token" --name n1
refused "a name that is there" n4 "node n1 is in your DVM dvm already"
(umask 077 && echo "0123456789 another one" >"$tmp/wrong")
join n4 --join "$where" --token-file "$tmp/wrong"
refused "a wrong token" n4 "the launcher at $where does not accept this token, or is another release of Wireup"
cp "$token" "$tmp/open" && chmod 644 "$tmp/open"
join n4 --join "$where" --token-file "$tmp/open"
refused "a token that others may read" n4 "the token $tmp/open must be a file of yours that nobody else may read (mode 0600)"
join n4 --join "$where"
refused "no token" n4 "there is no token: name its file, or set WIREUP_JOIN_TOKEN"
join n4 --join "$where" --token-file "$token" --name a,b
refused "no name of a node" n4 "'a,b' cannot be the name of a node; give another one by --name"
join n5 --join "$tmp/nowhere" --token-file "$token" --timeout 1
join n4 --join nonsense --token-file "$token"
refused "no address" n4 "'nonsense' is not the address of a launcher (NAME:PORT, or a path)"
run 60 "$WIREUP" -join-token-file "$token" -n 1 true
same "a launch without -join" "$rc $(cat "$err")" "2 wireup: -join-token-file, -join-port, -join-file and -join-only need -join, for one job, or wireup up, for a DVM"
ok "nobody there, for as long as was said" wait_until 60 log_has n5 \
    "no launcher has let this node join within 1 s: cannot read $tmp/nowhere: No such file" || log_of n5
# Of another release: it asks otherwise, or does not understand what it is told.
other_release() # PROGRAM FROM TO: the same with other bytes
{
    mkdir -p "$tmp/other"
    other=$tmp/other/${1##*/}
    sed "s/$2/$3/g" "$1" >"$other"
    chmod 755 "$other"
    ok "another release: $3 for $2" eval '! cmp -s "$1" "$other"'
}
other_release "$wireupd" 'wireup-join 1' 'wireup-join 9'
ours=$wireupd
wireupd=$other
join n7 --join "$where" --token-file "$token"
wireupd=$ours
refused "a node of a release that asks otherwise" n7 \
    "this launcher does not understand how the node asks; install the same Wireup on both"
version=$("$WIREUP" --version | sed -n 's/^wireup //p')
other_release "$WIREUP" "$(echo "$version" | sed 's/[.]/[.]/g')" "$(echo "$version" | tr 0-9 9)"
run 120 "$other" up -name other -join-only -join-token-file "$token" -join-file "$tmp/elsewhere"
same "a launcher of another version" "$rc" 0 || explain
join n8 --join "$tmp/elsewhere" --token-file "$token"
ok "a node of another version" wait_until 60 log_has n8 "^ended: 1" || log_of n8
ok "one sentence, with both" eval '[ "$(wc -l <"$tmp/n8.log")" = 2 ] &&
    log_has n8 "^wireupd: .*$version.*$(echo "$version" | tr 0-9 9): install the same version on all nodes"' || log_of n8
run 120 "$other" down other
same "which ends" "$rc" 0 || explain
# Garbage, and a good greeting that is played again: the first message passes, nothing behind it does.
cat >"$tmp/strangers.py" <<'END'
import os, socket, subprocess, sys, threading
port, wireupd, token = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def call(data, more=b""):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(20)
    heard = b""
    try:
        s.sendall(data)
        while True:
            got = s.recv(4096)
            if not got:
                break
            heard += got
            if more:
                s.sendall(more)
                more = b""
    except OSError:
        pass
    return len(heard)
print("garbage heard", sum(call(os.urandom(300)) for _ in range(20)))
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen(1)
p = subprocess.Popen([wireupd, "--join", "127.0.0.1:%d" % l.getsockname()[1], "--token-file", token, "--name", "n9"],
                     stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
a = l.accept()[0]
hello = a.recv(4096)
b = socket.create_connection(("127.0.0.1", port))
b.sendall(hello)
a.sendall(b.recv(4096))
proof = a.recv(4096)
p.kill()
b.close()
print("a replay heard", call(hello, proof))
END
python3 "$tmp/strangers.py" "$port" "$wireupd" "$token" >"$tmp/strangers" 2>&1
same "garbage is not answered, a replay only once" "$(cat "$tmp/strangers")" "garbage heard 0
a replay heard 128"
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    for_others "$wireupd"
    run 60 setpriv --reuid 65534 --clear-groups "$others/wireupd" --join "127.0.0.1:$port" --token-file "$token"
    same "another user cannot read the token" "$rc $(cat "$err")" "1 wireupd: cannot read the token $token: Permission denied"
    run 60 setpriv --reuid 65534 --clear-groups env WIREUP_JOIN_TOKEN=0123456789abcdef "$others/wireupd" --join "127.0.0.1:$port"
    same "nor guess it" "$rc $(cat "$err")" \
        "1 wireupd: the launcher at 127.0.0.1:$port does not accept this token, or is another release of Wireup"
else
    skip "another user" "only root can be one"
fi
ok "nothing has changed" line_is "6 of 6 slots free" || explain

# Its link breaks while its record is on the way: its place is free at once, and it tries again.
cat >"$tmp/cut.py" <<'END'
import select, socket, sys
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen(8)
print(l.getsockname()[1], flush=True)
cuts = 0
while True:
    a = l.accept()[0]
    b = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    ends, down = {a: b, b: a}, 0
    while ends:
        for s in select.select(list(ends), [], [])[0]:
            data = s.recv(65536)
            down += len(data) if s is b else 0
            if not data or (down > 200 and cuts == 0):
                cuts += bool(data)
                a.close(), b.close()
                ends = {}
                break
            ends[s].sendall(data)
    if cuts:
        cuts += 1
        print("cut", flush=True)
END
python3 "$tmp/cut.py" "$port" >"$tmp/cut" 2>&1 &
cutter=$!
wait_until 60 [ -s "$tmp/cut" ]
join n6 --join "127.0.0.1:$(head -n 1 "$tmp/cut")" --token-file "$token" --slots 1
ok "a link that breaks before the record has come is not the end" wait_until 60 log_has n6 "node n6 has joined" || log_of n6
ok "it was cut" grep -q cut "$tmp/cut"
dvm shrink -hosts n6
same "that node leaves" "$rc $(cat "$out")" "0 node n6 has left your DVM dvm" || explain
kill "$cutter"

# ---- leave, are lost, and come again
dvm shrink -hosts n2
same "a node leaves" "$rc $(cat "$out")" "0 node n2 has left your DVM dvm" || explain
ok "its daemon ends well" wait_until 60 log_has n2 "^ended: 0" || log_of n2
# shellcheck disable=SC2046
switch_off $(pgrep -f "^$wireupd --join localhost")
ok "a lost one is named" wait_until 60 line_is "2 of 2 slots free; lost: n3" || explain
join n3 --join "$where" --token-file "$token" --slots 2
ok "and comes again under its name" wait_until 60 line_is "4 of 4 slots free" || { explain; log_of n3; }

# ---- under the name of one that is there still
ln "$tmp/n3.log" "$tmp/stopped.log"
stopped=$(pgrep -P "$(pgrep -P "$pid_n3")")
kill -STOP "$stopped"
join n3 --join "$where" --token-file "$token" --slots 1
ok "one that does not answer is replaced" wait_until 60 line_is "3 of 3 slots free" || { explain; log_of n3; }
ok "and not named as lost" eval 'dvm ps && ! grep -q lost "$out"' || explain
kill -CONT "$stopped"
ok "and ends when it hears of that" wait_until 60 grep -q "^ended: 1" "$tmp/stopped.log" || note "$(cat "$tmp/stopped.log")"
mkfifo "$tmp/go"
exec 8<>"$tmp/go" # nobody waits for the other end
"$WIREUP" run -dvm dvm -hosts n3 -n 1 sh -c 'echo here; read -r _ <"$0"' "$tmp/go" >"$tmp/held.out" 2>&1 </dev/null &
pid_held=$!
wait_until 60 [ -s "$tmp/held.out" ]
dvm shrink -drain -hosts n3
ln "$tmp/n3.log" "$tmp/left.log"
port=$(cut -d ' ' -f 1 "$where" | sed 's/.*://')
links() { cat /proc/self/net/tcp /proc/self/net/tcp6 | grep -cE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$port") [0-9A-F:]+ 01 "; }
before=$(links)
join n3 --join "$where" --token-file "$token" --slots 2
ok "who comes under the name of one that leaves waits" wait_until 60 eval '[ "$(links)" -gt "$before" ]' || log_of n3
same "for a long time if need be" "$(cat "$tmp/n3.log")" ""
echo >&8
exec 8>&-
wait $pid_held
ok "until it has left" wait_until 60 line_is "4 of 4 slots free" || { explain; log_of n3; }
ok "as it was asked to" wait_until 60 grep -q "^ended: 0" "$tmp/left.log" || note "$(cat "$tmp/left.log")"
dvm run -n 4 hostname
same "and takes jobs" "$rc $(places)$(cat "$err")" "0  2 n1 2 n3 " || explain
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
ok "ends them all" wait_until 60 eval 'log_has n1 "^ended: 0" && log_has n3 "^ended: 0"' || { log_of n1; log_of n3; }
ok "the file of addresses goes with it" [ ! -e "$where" ]

# ---- another token takes the place of the one with which a node waits
(umask 077 && echo "0123456789 an old one" >"$tmp/turning")
join n7 --join "$where" --token-file "$tmp/turning"
ok "a node waits with a token" wait_until 60 log_has n7 "trying again until" || log_of n7
chmod 644 "$tmp/turning" # somebody is about to replace it
cp -p "$token" "$tmp/turning.new"
mv "$tmp/turning.new" "$tmp/turning"
up
ok "it joins with the next one" wait_until 60 log_has n7 "node n7 has joined" || log_of n7
dvm down
ok "and leaves" wait_until 60 log_has n7 "^ended: 0" || log_of n7
# The same token is good again, for the next DVM: a token ends with its file.
up
join n7 --join "$where" --token-file "$token"
ok "a token is good for a later DVM" wait_until 60 log_has n7 "node n7 has joined" || log_of n7
dvm down
rm "$token"
up
join n8 --join "$where" --token-file "$tmp/turning"
refused "when its file has been removed it is good no more" n8 \
    "the launcher at $where does not accept this token, or is another release of Wireup"
dvm down
ok "the last one has left" wait_until 60 log_has n7 "^ended: 0" || log_of n7

# ---- in any order
ms() { echo $(($(date +%s%N) / 1000000)); }
order=1
while [ "$order" -le "$orders" ]; do
    { seq 1 $nodes; echo up; } | shuf >"$tmp/order"
    while read -r who; do
        begun=$(ms)
        if [ "$who" = up ]; then
            up >/dev/null
        else
            join "m$who" --join "$where" --token-file "$token" --slots 1
        fi
    done <"$tmp/order"
    run 120 "$WIREUP" run -wait -n $nodes hostname
    stat -c %.3Y "$tmp"/m*.log | tr -d . | sort -n | tail -n 1 >"$tmp/last"
    same "order $order: $(tr '\n' ' ' <"$tmp/order")" "$rc $(sort -u "$out" | wc -l)" "0 $nodes" || explain
    note "$(($(cat "$tmp/last") - begun)) ms from the last arrival until all have joined"
    dvm down
    same "order $order ends" "$rc $(cat "$err")" "0 " || explain
    ok "with all nodes" wait_until 60 eval '[ "$(cat "$tmp"/m*.log | grep -c "^ended: 0")" = $nodes ]' || note "$(tail -n 3 "$tmp"/m*.log)"
    order=$((order + 1))
done
finish
