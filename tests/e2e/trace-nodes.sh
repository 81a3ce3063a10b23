#!/bin/sh
# The traces of several nodes are one file, and are read as one, in the order of time: the clock of one node is 100,000 s
# ahead, if this machine can do that.  They are filtered, followed while the job runs, and replayed together.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
c_program rawpmi1
named_agent
# The launch agent, which gives node n2 a clock of its own.
ahead=0
if unshare -T --monotonic 100000 true 2>/dev/null; then
    ahead=100000
    sed -i '3s/.*/&\nclock=; [ "$host" != n2 ] || clock="unshare -T --monotonic 100000"/; s/^exec unshare/exec $clock unshare/' "$tmp/agent"
fi
over() { run 120 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 "$@"; }
trace() { run 60 "$WIREUP" trace "$@"; }

over --trace "$tmp/rec" -n 6 "$bin/rawpmi1" exchange
same "a job on three nodes is recorded" "$rc $(head -n 1 "$out") $(cd "$tmp" && echo rec*)" \
    "0 raw 6 good rec" || explain

# ---- one story
cat >"$tmp/judge.py" <<'END'
import json, sys
ahead, wrong = int(sys.argv[1]), float(sys.argv[2])
rows = [json.loads(line) for line in sys.stdin]
times = [r["time"] for r in rows]
assert times == sorted(times), "not in order"
clocks = {r["trace"]: r for r in rows if r.get("record") == "clock"}
assert set(clocks) == {"n1", "n2", "n3"}, clocks
for node, r in clocks.items():
    assert abs(r["ahead"] - (ahead if node == "n2" else 0)) <= r["within"] + 1e-6, r
error = max(r["within"] for r in clocks.values())
gates = {}
for r in rows:
    if r.get("command") in ("barrier_in", "barrier_out"):
        gates.setdefault((r["rank"], r["command"]), []).append(r["time"] + (wrong if r["trace"] == "n2" else 0))
count = len(gates[0, "barrier_in"])
assert count > 2 and len(gates) == 12, gates
for k in range(count): # nobody leaves before everybody has entered
    entered = max(gates[r, "barrier_in"][k] for r in range(6))
    left = min(gates[r, "barrier_out"][k] for r in range(6))
    assert left >= entered - 2 * error, (k, entered, left, error)
print("good")
END
trace --json "$tmp/rec"
same "they are one, by the launcher's clock" "$rc $(cat "$err") $(python3 "$tmp/judge.py" $ahead 0 <"$out" 2>&1 | tail -n 1)" \
    "0  good" || explain
ok "a clock that is 20 s wrong is noticed" eval '! python3 "$tmp/judge.py" $ahead -20 <"$out" >/dev/null 2>&1'
same "the JSON is as documented" "$("$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-trace-1 "$out")" good
trace "$tmp/rec"
same "each line names its node" "$rc $(awk '{ print $2 }' "$out" | sort | uniq -c | awk '$1 > 5 { printf "%s ", $2 }' | grep -o 'n[123]' | tr '\n' ' ')" \
    "0 n1 n2 n3 " || explain
ok "the clocks are shown" grep -qE '^ +0\.000000 n2 .*\* clock of n2: [+-][0-9.]+ s, within [0-9.]+ s$' "$out" || explain
ok "and when the daemons came up" [ "$(grep -c '\* daemon host=n[123] asked_ns=[1-9]' "$out")" = 3 ] || explain
trace --node n2,n3 --command put "$tmp/rec"
same "two nodes alone" "$rc $(awk '{ print $2 }' "$out" | sort | uniq -c | tr -s ' \n' ' ')" "0  4 n2 4 n3 " || explain
key=$(sed -n 's/.*> PMI-1 put .*key=\([^ ]*\) .*/\1/p' "$out" | sort | head -n 1)
trace --key "$key" --command put,get "$tmp/rec"
same "one key alone" "$rc $(grep -c ' > PMI-1 put ' "$out") $(grep -vc "key=$key" "$out")" "0 1 0" || explain
trace --key no-such-key "$tmp/rec"
same "a key of nobody" "$rc $(wc -c <"$out")" "0 0" || explain
run 60 sh -c '"$1" trace - <"$2"' sh "$WIREUP" "$tmp/rec"
same "from standard input, the launcher's part alone" "$rc $(cat "$err") $(grep -c 'PMI-1' "$out")" "0  0" || explain

# ---- the same as files of each node, as a killed launcher leaves them
replay() { run 60 "$WIREUP" replay "$@"; }
parts() { trace "$tmp/rec" && grep -v '[*] daemon' "$out" | sha256sum; }
replay "$tmp/rec"
same "all nodes are the same again" "$rc $(cat "$err") $(grep -c ': the same again: ' "$out")" "0  4" || explain
ok "and are named" grep -q "^$tmp/rec, node n2: the same again: " "$out" || explain
as_one=$(parts)
cp "$tmp/rec" "$tmp/one"
"$WU_SRC/tests/e2e/trace_split.py" "$WU_SRC" "$tmp/rec"
same "files of each node are read, too" "$(cd "$tmp" && echo rec*) $(parts)" "rec rec.n1 rec.n2 rec.n3 $as_one" || explain
trace "$tmp/rec.n2"
same "the trace of one node alone is as it is" "$rc $(grep -c ' rank [014567] ' "$out") $(grep -c '\* clock of' "$out")" "0 0 0" ||
    explain

# ---- replay
python3 - "$tmp/one" "$tmp/changed" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
at = data.index(b'cmd=barrier_out rc=0\n')
open(sys.argv[2], 'wb').write(data[:at] + b'cmd=barrier_out rc=7\n' + data[at + 21:])
END
replay "$tmp/changed"
same "a change in one node's part of the file is found" \
    "$rc $(grep -c ': the same again: ' "$out") $(grep -c "changed, node n[123]: .*rc=7" "$err")" "1 3 1" || explain
replay "$tmp/rec"
same "all files are the same again" "$rc $(cat "$err") $(grep -c ': the same again: ' "$out")" "0  4" || explain
cp "$tmp/rec.n2" "$tmp/kept"
python3 - "$tmp/kept" "$tmp/rec.n2" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
at = data.index(b'cmd=barrier_out rc=0\n')
open(sys.argv[2], 'wb').write(data[:at] + b'cmd=barrier_out rc=7\n' + data[at + 21:])
END
replay "$tmp/rec"
same "a changed trace of one node is found" "$rc $(grep -c ': the same again: ' "$out") $(grep -c "rec.n2: .*rc=7" "$err")" "1 3 1" ||
    explain
rm "$tmp/rec.n2"
replay "$tmp/rec"
missing="the traces of 1 node are missing, such as $tmp/rec.n2, which is written on that node: \`wireup fetch $tmp/rec\` brings them here"
same "a missing one is named" "$rc $(cat "$err")" "0 wireup: $missing" || explain
trace "$tmp/rec"
same "by trace, too" "$rc $(cat "$err")" "0 wireup: $missing" || explain

# ---- fetch: the node has a disk of its own, which its agent sees in place of ours
mkdir "$tmp/disk"
cat >"$tmp/reach" <<'END'
#!/bin/sh
host=$1
shift
here=$(dirname "$0")
[ "$host" = n2 ] || exit 9
exec sh -c "$(echo "$*" | sed "s|$here/rec|$here/disk/rec|")"
END
chmod +x "$tmp/reach"
fetch() { run 60 "$WIREUP" fetch -launch-agent "$tmp/reach" "$tmp/rec"; }
fetch
same "a trace that is not there either" "$rc $(tail -n 1 "$err") $(echo "$tmp"/rec*part)" \
    "1 wireup: the trace of node n2: the command that reads it there has failed $tmp/rec*part" || explain
echo "no trace" >"$tmp/disk/rec.n2"
fetch
same "what is no trace is not taken" "$rc $(cat "$err") $(ls "$tmp" | grep -c 'rec[.]n2')" \
    "1 wireup: the trace of node n2: what has come is no trace 0" || explain
cp "$tmp/kept" "$tmp/disk/rec.n2"
fetch
same "the trace of the node is fetched" "$rc $(cat "$out" "$err")" "0 1 of 1 traces of other nodes fetched" || explain
ok "as it was there, for us alone" eval 'cmp -s "$tmp/kept" "$tmp/rec.n2" && [ "$(stat -c %a "$tmp/rec.n2")" = 600 ]'
fetch
same "all are here" "$rc $(cat "$out" "$err")" "0 0 of 0 traces of other nodes fetched" || explain
run 60 "$WIREUP" fetch "$tmp/kept"
same "only the launcher's trace knows the others" "$rc $(cat "$err")" "2 wireup: $tmp/kept is no trace of a launcher" || explain

# ---- timeline: the daemons of the nodes, too
spans='import collections, json, sys
n = collections.Counter(e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X")
print(n["contact"], n["daemon up"], n["spawn, exec"], n["process"])'
run 60 "$WIREUP" timeline "$tmp/rec" -o "$tmp/rec.json"
same "a picture has contact, daemon, spawn" "$rc $(python3 -c "$spans" "$tmp/rec.json")" "0 3 3 6 6" || explain
run 60 "$WIREUP" timeline "$tmp/rec"
ok "with clocks that are far apart" grep -qE "^  n2: [+-][0-9.]+ s, within [0-9.]+ s$" "$out" || explain

# ---- follow
mkfifo "$tmp/input"
: >"$tmp/followed"
"$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 --trace "$tmp/live" -n 6 "$bin/rawpmi1" hold \
    <"$tmp/input" >"$tmp/live.out" 2>"$tmp/live.err" &
job=$!
exec 9>"$tmp/input"
wait_until 60 grep -qs held "$tmp/live.out"
"$WIREUP" trace --follow "$tmp/live" >"$tmp/followed" 2>"$tmp/followed.err" 9>&- &
follower=$!
waiting() { [ "$(grep -c ' n[123] .*> PMI-1 barrier_in' "$tmp/followed")" -ge 5 ]; }
ok "what a running job does is shown" wait_until 60 waiting || note "$(cat "$tmp/followed" "$tmp/followed.err")"
run 60 "$WIREUP" timeline rawpmi1
same "a running job is drawn by its name" "$rc $(grep -c '^[0-5] on n[123] *|.*[^ ].*|$' "$out")" "0 6" || explain
run 60 "$WIREUP" timeline no-such-job
same "what is neither a file nor a job" "$rc $(grep -c 'no-such-job is neither a trace file nor a job: ' "$err")" "2 1" || explain
same "and it has not ended" "$(grep -c 'proc_state event=exit' "$tmp/followed")" 0
exec 9>&-
wait $job
same "the job ends well" $? 0
wait $follower
same "then following ends" "$? $(cat "$tmp/followed.err")" "0 "
same "with its last words" "$(grep -c ' n[123] *rank [0-5] .*\* proc_state event=exit code=0' "$tmp/followed")" 6 ||
    note "$(tail -n 40 "$tmp/followed")"

# ---- nodes that have disks of their own: their traces come with the end of the job
mkdir "$tmp/own"
cat >"$tmp/apart" <<'END'
#!/bin/sh
host=$1
shift
echo $$ >"$0.$host"
[ "$host" != n1 ] || exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
exec unshare -u -m sh -c 'hostname "$0"; mount -t tmpfs none "$1"; shift; exec sh -c "exec $*"' "$host" "${0%/*}/own" "$@"
END
chmod +x "$tmp/apart"
apart() { run 120 "$WIREUP" -launch-agent "$tmp/apart" -hosts n1:2,n2:2,n3:2 --trace "$tmp/own/rec" "$@"; }
own() { (cd "$tmp/own" && echo rec*); }
if unshare -m mount -t tmpfs none "$tmp/own" 2>/dev/null; then
    apart -n 6 "$bin/rawpmi1" phases 300
    same "traces of other disks come at the end of the job" "$rc $(cat "$err") $(own)" "0  rec" || explain
    ok "large ones, for us alone" eval '[ "$(stat -c %s "$tmp/own/rec")" -gt 1500000 ] && [ "$(stat -c %a "$tmp/own/rec")" = 600 ]' ||
        note "$(ls -l "$tmp/own")"
    replay "$tmp/own/rec"
    same "they are whole" "$rc $(cat "$err") $(grep -c ': the same again: ' "$out")" "0  4" || explain
    trace --command proc_state "$tmp/own/rec"
    same "with the ends of the processes" "$rc $(cat "$err") $(grep -c ' n[123] *rank [0-5] .*\* proc_state event=exit code=0' "$out")" \
        "0  6" || explain
    rm "$tmp"/own/rec*
    # The job fails because a node is lost; the other traces come nevertheless.
    "$WIREUP" -launch-agent "$tmp/apart" -hosts n1:2,n2:2,n3:2 --trace "$tmp/own/rec" -n 6 "$bin/rawpmi1" hold \
        <"$tmp/input" >"$tmp/lost.out" 2>"$tmp/lost.err" &
    job=$!
    exec 9>"$tmp/input"
    wait_until 60 grep -qs held "$tmp/lost.out"
    wait_until 60 [ -s "$tmp/own/rec.n1" ] # whose disk is ours
    kill -9 "$(cat "$tmp/apart.n2")" "$(cat "$tmp/apart.n1")"
    wait $job
    same "those of lost nodes are named, and the others come" \
        "$(own) $(grep -c 'the trace of node n[12] is not here: the node is lost' "$tmp/lost.err")" "rec 2" ||
        note "$(cat "$tmp/lost.err")"
    trace "$tmp/own/rec"
    same "the trace names them, too, and has what there is" "$rc $(awk '/ n[13] .*PMI-1 /{ print $2 }' "$out" | sort -u | tr '\n' ' ')$(grep -c '[*] node_lost host=n[12] why=' "$out") $(cat "$err")" \
        "0 n1 n3 2 wireup: $tmp/own/rec, node n1 is incomplete: the node is lost
wireup: the traces of 1 node are missing, such as that of n2: the node is lost" || explain
    run 60 "$WIREUP" timeline "$tmp/own/rec"
    same "and the timeline" "$rc $(grep -c '^Node n[12] is lost at [0-9.]* s: ' "$out")" "0 2" || explain
    exec 9>&-
else
    skip "traces of other disks" "this machine mounts no tmpfs"
fi

# ---- what a launcher that is killed leaves
mkfifo "$tmp/cut.in"
"$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 --trace "$tmp/cut" -n 6 "$bin/rawpmi1" hold \
    <"$tmp/cut.in" >"$tmp/cut.out" 2>"$tmp/cut.err" &
job=$!
exec 9>"$tmp/cut.in"
wait_until 60 grep -qs held "$tmp/cut.out"
for node in n1 n2 n3; do
    wait_until 60 [ -s "$tmp/cut.$node" ]
done
run 60 "$WIREUP" timeline rawpmi1 # brings the launcher's trace up to date
kill -9 $(cat /proc/$job/task/*/children)
wait $job
exec 9>&-
trace "$tmp/cut"
same "files of all nodes, which are read" \
    "$rc $(cd "$tmp" && echo cut cut.n*) $(awk '/ n[123] .*PMI-1 /{ print $2 }' "$out" | sort -u | tr '\n' ' ')" \
    "0 cut cut.n1 cut.n2 cut.n3 n1 n2 n3 " || explain
finish
