#!/bin/sh
# join-start.sh ORDERS - one job whose nodes come by themselves (wireup -join): three hosts with networks of their own
# (netns.sh) in ORDERS random orders, before and after the launcher; who is refused; what is lost before the start; ends.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program rawpmi1
orders=$1
netns_bare=1
if ! netns_up 3; then
    note "$(cat "$netns"/*.log | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
wireupd=$WU_BUILD/src/daemon/wireupd
token=$tmp/token

join_as() # LOG HOST WORDS...
{
    joiner=$1
    host=$2
    shift 2
    rm -f "$tmp/$joiner.log"
    # shellcheck disable=SC2016
    netns_run "$host" sh -c '"$@"; echo "ended: $?"' joiner "$wireupd" --join head:7000 "$@" \
        >"$tmp/$joiner.log" 2>&1 </dev/null &
}
join() # HOST WORDS...
{
    host=$1
    shift
    join_as "$host" "$host" --token-file "$token" "$@"
}
begin_launch() # WORDS...: it has the token by the environment
{
    : >"$tmp/launch.out"
    WIREUP_JOIN_TOKEN="0123456789 the token" "$WIREUP" -join -join-port 7000 "$@" >"$tmp/launch.out" 2>"$tmp/launch.err" </dev/null &
    launcher=$!
}
finished() # NAME CODE OUTPUT MESSAGES
{
    wait "$launcher"
    same "$1" "$? $(sort "$tmp/launch.out" | tr '\n' ';') $(cat "$tmp/launch.err")" "$2 $3 $4"
}
log_has() { grep -q "$2" "$tmp/$1.log" 2>/dev/null; } # NODE WORDS
logs() { note "$(tail -n 3 "$tmp"/n*.log "$tmp/launch.err")"; }
joined() { ok "$1 has joined" wait_until 60 log_has "$1" "node $1 has joined the launcher at" || logs; }
ended() # NAME CODE NODES...
{
    ended_name=$1
    ended_code=$2
    shift 2
    for node in "$@"; do
        ok "$ended_name: $node ends" wait_until 60 log_has "$node" "^ended: $ended_code" || logs
    done
}
refused() # NAME LOG SENTENCE
{
    ok "$1" wait_until 60 log_has "$2" "^ended: 1" || logs
    same "$1: one sentence" "$(grep -v "^ended: " "$tmp/$2.log")" "wireupd: $3"
}
# shellcheck disable=SC2016
where='echo $PMI_RANK $(hostname)'

# ---- in any order
(umask 077 && echo "0123456789 the token" >"$token")
for order in $(seq "$orders"); do
    { seq -f 'n%g' 3 && echo launch; } | shuf >"$tmp/order"
    while read -r who; do
        if [ "$who" = launch ]; then
            begin_launch -join-only -n 3 sh -c "$where"
        else
            join "$who" --slots 1
        fi
    done <"$tmp/order"
    finished "order $order: $(tr '\n' ' ' <"$tmp/order")" 0 "0 n1;1 n2;2 n3;" ""
    ended "order $order" 0 n1 n2 n3
done

# ---- this node counts, and ranks find each other
begin_launch -nnodes 4 -ppn 1 "$bin/rawpmi1" exchange
for host in n3 n1 n2; do
    join $host --slots 5
done
wait "$launcher"
same "with this node" "$? $(head -n 1 "$tmp/launch.out" | cut -d ' ' -f 1-3) $(cat "$tmp/launch.err")" "0 raw 4 good " || logs
ended "with this node" 0 n1 n2 n3
begin_launch -nnodes 3 -ppn 1 -n 3 sh -c "$where"
for host in n2 n1; do
    join $host
done
finished "in the order of the names, behind this one" 0 "0 head;1 n1;2 n2;" "" || logs

# ---- by the hardware of the nodes
begin_launch -join-only -nnodes 2 -map-by ppr:1:core hostname
join n1
join n3
wait "$launcher"
same "the hardware of nodes that have joined" "$? $(sort -u "$tmp/launch.out" | tr '\n' ' ')$(wc -l <"$tmp/launch.out")" \
    "0 n1 n3 $((2 * $("$WIREUP" -map-by ppr:1:core echo 2>/dev/null | wc -l)))" || logs

# ---- spawned jobs use the nodes that have joined
join n1 --slots 1
join n2 --slots 3
WIREUP_JOIN_TOKEN="0123456789 the token"
export WIREUP_JOIN_TOKEN
spawning run 60 "$WIREUP" -join -join-port 7000 -join-only -nnodes 2 -n 1 -all-nodes "$WU_BUILD/tests/e2e/e2e-spawner" 3 hostname -s
unset WIREUP_JOIN_TOKEN
same "a job that spawns" "$rc $(sort "$out" | tr '\n' ' ')" "0 n1 n2 n2 spawned " || explain
spawned "a job that spawns" 3
ended "after a spawn" 0 n1 n2

# ---- while it waits
mkfifo "$tmp/go"
exec 9<>"$tmp/go" # nobody waits for the other end
begin_launch -join-only -n 3 sh -c "$where; env | grep -c 'JOIN_TOKEN\|the token'; read -r _ <$tmp/go"
join n1 --slots 1
joined n1
join_as twin n2 --token-file "$token" --name n1
refused "a node that is there" twin "node n1 has joined this launch already"
join_as twin n2 --token-file "$token" --name head
refused "under the launcher's name" twin "node head has joined this launch already"
(umask 077 && echo "0123456789 another one" >"$tmp/wrong")
join_as twin n2 --token-file "$tmp/wrong"
refused "a wrong token" twin "the launcher at head:7000 does not accept this token, or is another release of Wireup"
ok "which the launcher names" wait_until 60 grep -q "^wireup: refused a connection from 10.77.0.2:.*: it has another key" "$tmp/launch.err" || logs
worker() { pgrep -P "$(pgrep -f "^$wireupd .*--name $1\$" | head -n 1)"; } # NODE: the process that serves
join n2 --slots 1 --name n2
joined n2
kill -9 "$(worker n2)"
ok "one that is lost before the start is named" \
    wait_until 60 grep -q "^wireup: node n2: .*; waiting for another node$" "$tmp/launch.err" || logs
same "once, and nothing else" "$(grep -c . "$tmp/launch.err")" 2 || logs
ended "its daemon" 137 n2
join n2 --slots 1 --name n2
joined n2
stopped=$(worker n2)
kill -STOP "$stopped"
ln "$tmp/n2.log" "$tmp/stopped.log"
join n2 --slots 1
joined n2
kill -CONT "$stopped"
ok "one that does not answer is replaced, and ends" wait_until 60 grep -q "^ended: 1" "$tmp/stopped.log" || logs
same "which is said" "$(tail -n 1 "$tmp/launch.err")" "wireup: node n2 did not answer; another node of this name takes its place"
same "nothing has started" "$(cat "$tmp/launch.out")" ""
join n3 --slots 1
ok "the job has started" wait_until 60 eval '[ "$(wc -l <"$tmp/launch.out")" = 6 ]' || logs
join_as late n3 --token-file "$token" --name n4
refused "a node that comes later" late "the job has begun, and takes no more nodes"
echo >&9
echo >&9
echo >&9
wait "$launcher"
same "the job, without the token" "$? $(sort "$tmp/launch.out" | tr '\n' ';')" "0 0;0;0;0 n1;1 n2;2 n3;" || logs
ended "at its end" 0 n1 n2 n3

# ---- a spare node takes the place of one that is lost
begin_launch -join-only -nnodes 3 -n 2 -on-failure replace sh -c "$where; read -r _ <$tmp/go"
for host in n1 n2 n3; do
    join $host --slots 1 --name $host
done
ok "a job with a spare node" wait_until 60 eval '[ "$(wc -l <"$tmp/launch.out")" = 2 ]' || logs
kill -9 "$(worker n2)"
ok "which takes the place of one that is lost" wait_until 60 grep -q "1 n3" "$tmp/launch.out" || logs
ended "with what ran there" 137 n2 # it reads no word that is for others
echo >&9
echo >&9
wait "$launcher"
same "and the job ends well" "$? $(sort "$tmp/launch.out" | tr '\n' ';')" "0 0 n1;1 n2;1 n3;" || logs
ended "with a spare node" 0 n1 n3

# ---- so does one that comes later
begin_launch -join-only -nnodes 2 -n 2 -on-failure replace sh -c "$where; read -r _ <$tmp/go"
for host in n1 n2; do
    join $host --slots 1 --name $host
done
ok "a job without a spare node" wait_until 60 eval '[ "$(wc -l <"$tmp/launch.out")" = 2 ]' || logs
kill -9 "$(worker n2)"
ok "a lost node is awaited" wait_until 60 \
    grep -q "^wireup: node n2 is lost: .*; its 1 rank waits for a node that takes its place" "$tmp/launch.err" || logs
join n3 --slots 1 --name n3
ok "one that comes takes its place" wait_until 60 grep -q "1 n3" "$tmp/launch.out" || logs
ended "with what ran there before" 137 n2
kill -9 "$(worker n3)"
ok "and is awaited when it is lost" wait_until 60 \
    grep -q "^wireup: node n3 is lost: .*; its 1 rank waits" "$tmp/launch.err" || logs
join n2 --slots 1 --name n2
ok "as one that comes again" wait_until 60 eval 'grep -c "1 n2" "$tmp/launch.out" | grep -qx 2' || logs
ended "with what was there" 137 n3
echo >&9
echo >&9
wait "$launcher"
same "and the job has its end" "$? $(sort "$tmp/launch.out" | tr '\n' ';')" "0 0 n1;1 n2;1 n2;1 n3;" || logs
ended "with a late node" 0 n1 n2

# ---- nothing starts
nothing() # NAME CODE SENTENCE
{
    finished "$1" "$2" "" "wireup: $3" || logs
    ended "$1" 0 n1 n2
}
two() # WORDS...: both are there
{
    begin_launch -join-only "$@"
    join n1 --slots 1
    joined n1
    join n2 --slots 1
    joined n2
}
two -n 3 true
kill -INT "$launcher"
nothing "interrupted" 130 "interrupted while the nodes came up (2 of 3 slots): nothing was started"
two -nnodes 3 -timeout 5 true
nothing "out of time" 124 "the time limit of 5 s has passed while the nodes came up (2 of 3): nothing was started; there: n1, n2"
two -nnodes 2 -n 3 -map-by :nooversubscribe true
nothing "a plan that does not fit" 2 "more processes than the 2 slots of the nodes; -oversubscribe allows more"
two -n 3 true
kill -9 "$launcher"
wait "$launcher"
ended "the launcher is killed" 1 n1 n2

# ---- a person looks
python3 "$e2e/terminal.py" see "0 of 2 nodes are up (there: none yet); others join by \`wireupd --join " see "0 of 2 nodes are up; there: none yet" \
    sh "echo >'$tmp/seen'" see "1 of 2 nodes are up; there: n1" type '\x03' end -- \
    "$WIREUP" -join -join-only -join-port 7000 -join-token-file "$token" -nnodes 2 true >"$tmp/terminal" 2>&1 &
person=$!
wait_until 60 [ -e "$tmp/seen" ]
join n1 --slots 1
wait "$person"
same "the progress, at a terminal" "$(tail -n 1 "$tmp/terminal")" "status 130" || note "$(cat "$tmp/terminal")"
ended "at a terminal" 0 n1
"$WIREUP" -join -join-only -join-token-file "$token" -n 1 true 2>"$tmp/launch.err" &
launcher=$!
ok "the address is told where it could not be known" \
    wait_until 60 grep -q '^wireup: 0 of 1 slots are up (there: none yet); others join by `wireupd --join [^ ]*:[0-9]*`$' "$tmp/launch.err" || logs
kill "$launcher"
wait "$launcher"

# ---- words
words() # NAME SENTENCE WORDS...
{
    words_name=$1
    words_text=$2
    shift 2
    run 60 "$WIREUP" "$@" true
    same "$words_name" "$rc $(cat "$err")" "2 wireup: $words_text"
}
words "a token without -join" "-join-token-file, -join-port, -join-file and -join-only need -join, for one job, or wireup up, for a DVM" \
    -join-token-file "$token" -n 1
words "a list of nodes" "use either -join, where nodes come by themselves, or a list of nodes (-hosts, -hostfile, -rankfile)" \
    -join -hosts n1 -n 1
run 60 "$WIREUP" up -join -join-token-file "$token"
same "a DVM" "$rc $(cat "$err")" "2 wireup: -join is for one job; a DVM lets nodes join by -join-token-file, -join-port or -join-file" || explain
run 60 "$WIREUP" -join -n 1 -join-only true
same "no token" "$rc $(cat "$err")" "125 wireup: there is no token: name its file, or set WIREUP_JOIN_TOKEN"
exec 9>&-
netns_still
netns_down
finish
