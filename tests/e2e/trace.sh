#!/bin/sh
# What is recorded can be read, says what happened, and plays back; who is held is named meanwhile.
#
#   trace.sh [mpich]       with mpich: MPI programs too
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program rawpmi1
c_program debugger
raw=$bin/rawpmi1
patience=300

# recorded NAME ARGS...: a run with a recording, which has to play back; its code stays in $rc.
recorded()
{
    rec=$tmp/$1.rec
    shift
    run "$patience" "$WIREUP" --trace "$rec" "$@"
    recorded_rc=$rc
    cp "$out" "$tmp/run.out"
    cp "$err" "$tmp/run.err"
    run 60 "$WIREUP" replay "$rec"
    same "the recording of $(basename "$rec" .rec) plays back" "$rc $(cat "$err")" "0 " ||
        note "$(cat "$tmp/run.err")"
    rc=$recorded_rc
}
trace() { run 60 "$WIREUP" trace "$@"; }
lines() { grep -c -- "$1" "$out"; }

# ---- what is said
recorded exchange -n 4 "$raw" exchange
same "a run that is recorded is the same run" "$rc $(head -n 1 "$tmp/run.out")" "0 raw 4 good"
same "nobody else may read it" "$(stat -c %a "$rec")" 600
trace "$rec"
same "two puts of each and their answers" "$(lines '> PMI-1 put ') $(lines '< PMI-1 put_result rc=0')" "8 8"
same "each rank is started and ends" "$(lines '\* proc_state event=started') $(lines '\* proc_state event=exit code=0')" "4 4"
ok "the job has a name, programs and nodes" grep -q '\* job .*name=.* programs=.*rawpmi1 nodes=' "$out"
ok "a long value is cut, and its length is printed" grep -q 'value=[^ ]*\.\.\.(128 bytes)' "$out"
same "nothing is unreadable" "$(lines '\[')" 0
trace --rank 2 "$rec"
same "one rank alone" "$(grep -vc ' rank 2  ' "$out") $(lines '> PMI-1 put ')" "0 2"
trace --rank 0-1,3 --command put,get_maxes "$rec"
same "ranks and commands" "$(lines '> PMI-1 put ') $(lines '> PMI-1 get_maxes') $(wc -l <"$out")" "6 3 9"
trace --command proc_state "$rec"
same "events" "$(wc -l <"$out")" 8
trace --from 0 --to 0.000000001 "$rec"
same "the first moment" "$(wc -l <"$out") $(lines '\* begin')" "1 1"
trace --from 1000000 "$rec"
same "nothing comes so late" "$rc $(wc -c <"$out")" "0 0"
cat >"$tmp/judge.py" <<'END'
import json, sys
rows = [json.loads(line) for line in sys.stdin]
puts = [r for r in rows if r.get("command") == "put" and r["fields"]["key"].startswith("card")]
assert len(puts) == 4 and all(len(r["fields"]["value"]) == 128 for r in puts), puts
assert {r["rank"] for r in puts} == {0, 1, 2, 3} and all(r["way"] == "in" for r in puts)
events = [r for r in rows if r.get("record") == "proc_state"]
assert len(events) == 8 and all(r["pid"] > 0 for r in events)
times = [r["time"] for r in rows]
assert times == sorted(times) and rows[0]["record"] == "begin"
print("good")
END
trace --json "$rec"
same "JSON, a line each, whole values" "$(python3 "$tmp/judge.py" <"$out" 2>&1)" good
same "the same from standard input" "$("$WIREUP" trace - <"$rec" | wc -l)" "$("$WIREUP" trace "$rec" | wc -l)"

# ---- scripts for the conversation tests
if [ -x "$WU_BUILD/tests/conversation/test-conversation" ]; then
    trace --conversation "$rec"
    cp "$out" "$tmp/recorded.wut"
    run 60 "$WU_BUILD/tests/conversation/test-conversation" "$tmp/recorded.wut"
    same "as a script it is played by the conversation tests" "$rc $(grep '^not ok' "$out")" "0 "
    sed 's/rx barrier_out rc=0/rx barrier_out rc=5/' "$tmp/recorded.wut" >"$tmp/wrong.wut"
    run 60 "$WU_BUILD/tests/conversation/test-conversation" "$tmp/wrong.wut"
    ok "and a wrong one is found wrong" [ "$rc" != 0 ]
fi

# ---- a changed recording
python3 - "$rec" "$tmp/changed.rec" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
at = data.index(b'cmd=barrier_out rc=0\n')
at = data.index(b'cmd=barrier_out rc=0\n', at + 1)  # the second one
open(sys.argv[2], 'wb').write(data[:at] + b'cmd=barrier_out rc=7\n' + data[at + 21:])
END
trace --command barrier_out "$tmp/changed.rec"
where=$(grep 'rc=7' "$out" | sed 's/.* rank \([0-9]*\) *#\([0-9]*\) .*/connection \2 (rank \1 of job 0/')
run 60 "$WIREUP" replay "$tmp/changed.rec"
same "a changed recording is no longer the same" "$rc" 1
ok "and the place is printed: $where" grep -qF "$where" "$err" || explain
ok "with both sides" grep -q "the trace has 'cmd=barrier_out rc=7.*this version sends 'cmd=barrier_out rc=0" "$err"
head -c 3000 "$rec" >"$tmp/cut.rec"
run 60 "$WIREUP" replay "$tmp/cut.rec"
ok "one that was cut off is the same as far as it goes" eval '[ "$rc" = 0 ] && grep -q "is incomplete: the launcher was killed" "$out"'
trace "$tmp/cut.rec"
ok "and is printed up to that point" eval '[ "$rc" = 0 ] && grep -q "is incomplete: the launcher was killed" "$err" && [ "$(lines put)" -gt 0 ]'
for what in trace replay; do
    run 60 "$WIREUP" $what "$raw"
    same "$what of something else" "$rc $(grep -c 'this is not a trace file' "$err")" "2 1"
    run 60 "$WIREUP" $what "$tmp/none"
    same "$what of nothing" "$rc $(grep -c 'No such file' "$err")" "2 1"
done
run 60 "$WIREUP" trace --rank nobody "$rec"
same "a rank that is none" "$rc" 2
run 60 "$WIREUP" trace
same "no file at all" "$rc" 2

# ---- what the fuzzer begins with
for rec in "$WU_SRC"/fuzz/corpus/trace_reader/*; do
    run 60 "$WIREUP" replay "$rec"
    same "the kept trace $(basename "$rec") plays back (else: fuzz/make-recordings)" "$rc $(cat "$err")" "0 "
done

# ---- ends
recorded abort -n 4 "$raw" abort 7 2 "this is the end"
same "an abort" "$rc" 7
trace --command abort,kill "$rec"
ok "an abort and its consequences" eval \
    '[ "$(lines "> PMI-1 abort exitcode=7 message=.this is the end")" = 1 ] && [ "$(lines "effect kill code=7")" = 1 ]' ||
    explain
recorded killed -n 4 "$raw" kill 11 1
same "a rank that is killed" "$rc" 139
trace --rank 1 --command proc_state "$rec"
same "its death is an event" "$(lines 'event=death code=11')" 1
recorded left -n 4 "$raw" leave 5 3
recorded silent -n 3 true
recorded wrong -n 2 "$raw" mute 'cmd=nonsense'
trace "$rec"
ok "an invalid message is shown as it is" grep -q 'PMI-1 nonsense \[.*\] bytes=' "$out" || explain
recorded port -pmi-port -n 3 "$raw" exchange
trace --command initack "$rec"
same "a process that connects to a port gives its rank" "$(lines '> PMI-1 initack pmiid=') $(lines '< PMI-1 initack rc=0 rank=')" "3 3"

# ---- one job of all three protocols
words="PMI-1 PMI-2 PMIx PMIx"
# shellcheck disable=SC2086
recorded protocols -n 1 "$WU_BUILD/tests/e2e/e2e-mixed1" $words : -n 1 "$WU_BUILD/tests/e2e/e2e-mixed2" $words : \
    -n 2 "$WU_BUILD/tests/e2e/e2e-rawpmix" mixed $words
same "PMI-1, PMI-2 and PMIx with a recording" "$rc $(sort "$tmp/run.out" | tr '\n' ,)" \
    "0 mixed PMI-1 0 good,mixed PMI-2 1 good,mixed PMIx 2 good,mixed PMIx 3 good,"
cat >"$tmp/decoded.py" <<'END'
import json, sys
rows = [json.loads(line) for line in sys.stdin]
messages = [r for r in rows if "protocol" in r]
spoken = {r["rank"]: r["protocol"] for r in messages if r["command"] not in ("init", "response_to_init")}
assert spoken == {0: "PMI-1", 1: "PMI-2", 2: "PMIx", 3: "PMIx"}, spoken
left = [r for r in messages if "fault" in r or "rest" in r["fields"] or "body" in r["fields"] or not r["command"]]
assert not left, left[0]
pmix = [r for r in messages if r["rank"] == 2]
assert pmix[0]["command"] == "hello" and pmix[0]["fields"]["namespace"] == rows[1]["name"], pmix[0]
commit, = [r for r in pmix if r["command"] == "commit" and r["way"] == "in"]
put = [v for b in commit["fields"]["bundles"] for v in b["values"] if v["key"] == "card-2"]
assert put and all(v["type"] == "STRING" for v in put), commit
fences = [r["fields"] for r in pmix if r["command"] == "fence" and r["way"] == "in"]
assert fences and fences[0]["procs"] == [rows[1]["name"] + ".*"], fences
assert {i["key"]: i["value"] for i in fences[0]["infos"]} == {"pmix.collect": True}, fences
asked = {}
for r in pmix:
    if r["command"] == "fence":
        asked.setdefault(r["fields"]["tag"], []).append(r["way"])
assert all(ways == ["in", "out"] for ways in asked.values()), asked
print("good")
END
trace --json "$rec"
same "no byte of theirs is undecoded" "$(python3 "$tmp/decoded.py" <"$out" 2>&1)" good
trace --rank 2 "$rec"
same "for people too" "$(grep -c ' < .*rest=\|\]$' "$out") $(lines '> PMIx fence tag=')" "0 $(lines '< PMIx fence tag=[0-9]* status=0')"
ok "with types and scopes" grep -q '> PMIx commit tag=[0-9]* bundles={{scope=[123] values={card-2:STRING=' "$out" || explain

# ---- credentials
mkdir "$tmp/lib"
c_program fakemunge -shared -fPIC
mv "$bin/fakemunge" "$tmp/lib/libmunge.so.2"
known=MUNGE:known-token- # and a process ID
plain_path=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH="$tmp/lib${plain_path:+:$plain_path}"
# masked NAME: it is a recording of munge's credentials, and has none.
masked()
{
    same "$1: its file is the owner's alone" "$(stat -c %a "$rec")" 600
    run 60 "$WIREUP" replay "$rec"
    ok "$1: the replay says that credentials are overwritten" grep -q 'credentials are overwritten' "$out" || explain
    trace --all "$rec"
    ok "$1: it had some" grep -q 'hello security=munge credential="(not shown)"' "$out" || explain
    same "$1: none is in the file" "$(grep -acF "$known" "$rec")" 0
}
# shellcheck disable=SC2086,SC2016
recorded credentials -n 1 "$WU_BUILD/tests/e2e/e2e-mixed1" $words : -n 1 "$WU_BUILD/tests/e2e/e2e-mixed2" $words : \
    -n 2 sh -c 'PMIX_SECURITY_MODE=munge exec "$0" mixed "$@"' "$WU_BUILD/tests/e2e/e2e-rawpmix" $words
same "PMI-1, PMI-2 and PMIx with credentials" "$rc $(sort "$tmp/run.out" | tr '\n' ,)" \
    "0 mixed PMI-1 0 good,mixed PMI-2 1 good,mixed PMIx 2 good,mixed PMIx 3 good,"
masked "handshakes"
# shellcheck disable=SC2016
recorded tokens -n 2 sh -c 'PMIX_SECURITY_MODE=munge exec "$0" credential' "$WU_BUILD/tests/e2e/e2e-pmixctl"
same "credentials are made and checked" "$rc $(cat "$tmp/run.out")" "0 pmixctl credential good" || explain
masked "PMIx_Get_credential"
ok "... and its answers were recorded" grep -q '< PMIx get_credential .* credential="(not shown)"' "$out" || explain
export LD_LIBRARY_PATH="$plain_path"

# ---- spawned jobs and names
recorded spawn -n 1 "$raw" say \
    "mcmd=spawn\nnprocs=2\nexecname=$raw\ntotspawns=1\nspawnssofar=1\nargcnt=1\narg1=exchange\npreput_num=1\npreput_key_0=from\npreput_val_0=home\ninfo_num=0\nendcmd\n"
ok "a spawned job runs" grep -q 'raw 2 good' "$tmp/run.out" || note "$(cat "$tmp/run.out" "$tmp/run.err")"
trace --rank 1: "$rec"
same "and is in the recording, with its own ranks" "$(lines '> PMI-1 put ') $(lines 'rank 1:1 ')" \
    "4 $(grep -c 'rank 1:1 ' "$out")"
ok "and its presets" grep -q 'job 1 .* preset key=from value=home' "$out" || explain
recorded nothing-to-spawn -n 1 "$raw" say \
    "mcmd=spawn\nnprocs=2\nexecname=$tmp/none\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n"
trace --command spawn,spawn_result,answer "$rec"
ok "a spawn that is refused: the effect, the answer, the reply" \
    eval '[ "$(lines "effect spawn .*processes=2 program=.*none")" = 1 ] && [ "$(lines "\* answer .*status=failed")" = 1 ] &&
        [ "$(lines "< PMI-1 spawn_result rc=1")" = 1 ]' || explain
mkfifo "$tmp/gate"
recorded names -n 1 "$raw" say 'cmd=publish_name service=wu-trace port=here' 'cmd=lookup_name service=wu-trace' \
    'cmd=lookup_name service=nobody' 'cmd=unpublish_name service=wu-trace'
trace "$rec"
ok "the neighbours are asked, and answer" eval '[ "$(lines "effect names .*op=lookup service=nobody")" = 1 ] && [ "$(lines "\* names_reply")" -gt 1 ]' || explain

# ---- a file that cannot be written
run 60 "$WIREUP" --trace "$tmp/no/such/folder" -n 2 echo ran
same "a recording that cannot be written: nothing starts" "$rc $(cat "$out")" "2 "
ok "and the reason is printed" grep -q 'trace: cannot write .*No such file' "$err"
run 60 "$WIREUP" --trace /dev/full -n 2 "$raw" exchange
ok "a full disk ends the recording, not the job" eval \
    '[ "$rc $(head -n 1 "$out")" = "0 raw 2 good" ] && grep -q "the trace /dev/full is incomplete" "$err"' || explain

# ---- somebody is held
mkfifo "$tmp/input" "$tmp/leash"
# shellcheck disable=SC2016
"$WIREUP" --trace "$tmp/held.rec" -n 3 sh -c 'echo "$PMIX_NAMESPACE" >"$1"; exec "$0" hold' "$raw" "$tmp/held.name" <"$tmp/input" >"$tmp/held.out" 2>"$tmp/held.err" &
launcher_pid=$!
exec 9>"$tmp/input"
wait_until 60 grep -qs held "$tmp/held.out"
# Other launchers of this user may be at work: their jobs are not ours.
who() { "$WIREUP" who "$@" "$(cat "$tmp/held.name")" >"$out" 2>"$err"; }
waits() { who && grep -q '2 of 3 have arrived; missing: 0' "$out"; }
ok "the others wait for rank 0, and who reports it" wait_until 60 waits || explain
pid=$(sed -n 's/.*rank 0 on .*(pid \([0-9]*\)).*/\1/p' "$out")
"$bin/debugger" "$pid" <"$tmp/leash" >"$tmp/debugger.out" 2>&1 &
debugger_pid=$!
exec 8>"$tmp/leash"
held() { grep -qs held "$tmp/debugger.out" || ! kill -0 $debugger_pid 2>/dev/null; }
wait_until 60 held
if grep -q held "$tmp/debugger.out"; then
    named() { who && grep -q "rank 0 on .*(pid $pid) attached, stopped by a debugger, CPU [^;]*; last request: fence" "$out"; }
    ok "a rank held in a debugger is named" wait_until 60 named || explain
    cat >"$tmp/held.py" <<'END'
import json, sys
job = json.load(sys.stdin)["jobs"][0]
fence = [p for p in job["pending"] if "fence" in p][0]
one, = fence["processes"]
assert fence["missing"] == "0" and one["rank"] == 0 and one["machine_state"] == "stopped by a debugger"
END
    json_too() { who --json && python3 "$tmp/held.py" <"$out" 2>/dev/null; }
    ok "for programs too" wait_until 60 json_too || explain
else
    skip "a rank held in a debugger is named" "this machine allows no debugger"
fi
exec 8>&-
wait $debugger_pid
kill -STOP "$pid"
stopped() { who && grep -q "(pid $pid) attached, stopped, CPU [^;]*; last request: fence" "$out"; }
ok "a stopped one too" wait_until 60 stopped || explain
# The recording can be looked at while the job hangs.
kill -QUIT $launcher_pid
there() { "$WIREUP" trace --command barrier_in "$tmp/held.rec" >"$out" 2>"$err" && [ "$(lines barrier_in)" -ge 5 ]; }
ok "SIGQUIT brings the report and the recording up to date" wait_until 60 there || explain
ok "the report is on standard error" wait_until 60 grep -q 'missing: 0' "$tmp/held.err"
run 60 "$WIREUP" replay "$tmp/held.rec"
ok "the recording of a job that hangs plays back" eval '[ "$rc" = 0 ] && grep -q "is incomplete: the launcher was killed" "$out"' || explain
kill -CONT "$pid"
exec 9>&-
wait $launcher_pid
same "let go, it ends well" "$?" 0
run 60 "$WIREUP" replay "$tmp/held.rec"
same "and the recording of the whole run plays back" "$rc $(cat "$err")" "0 "

# ---- the launcher is killed
"$WIREUP" --trace "$tmp/dead.rec" -n 2 sh -c 'echo up; exec cat' <"$tmp/gate" >"$tmp/dead.out" 2>/dev/null &
launcher_pid=$!
exec 9>"$tmp/gate"
wait_until 60 grep -qs up "$tmp/dead.out"
kill -9 $launcher_pid
wait $launcher_pid 2>/dev/null
exec 9>&-
wait_until 60 nobody_left
run 60 "$WIREUP" replay "$tmp/dead.rec"
ok "the recording of a launcher that was killed plays back" eval '[ "$rc" = 0 ]' || explain

# ---- MPI programs
if [ "${1-}" = mpich ]; then
    mpi_program hello alltoall abort names
    for program in hello alltoall names; do
        recorded "mpich-$program" -n 5 "$bin/$program"
        same "$program with a recording" "$rc" 0
        trace "$rec"
        same "$program: nothing is unreadable" "$(lines '\[')" 0
    done
    recorded mpich-abort -n 3 "$bin/abort" 1 9
    same "MPI_Abort with a recording" "$rc" 9
fi
finish
