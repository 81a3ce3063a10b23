#!/bin/sh
# dvm-starts.sh [started] - how the daemons of jobs start on a DVM: the first on a node by exec, later ones forked, one of them
# before its job begins; the same when the process that is forked, the daemon that waits, the job's launcher, a node or the DVM's
# launcher is killed at that.
# started: the daemon cannot be forked (it is built with a sanitizer), so that all start by exec.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
killable_agent
patience=60
library=libwireup-prefork
forked=${1-forked}
wireupd=$(dirname "$WIREUP")/../daemon/wireupd
[ -x "$wireupd" ] || wireupd=$(dirname "$WIREUP")/wireupd

dvm() { run "$patience" "$WIREUP" "$@"; }

# Each rank says how its daemon was started; the zygote has the library and was started with it, what it forks has it only.  A
# daemon that is forked before its job has a variable by which it waits, and so has its supervisor.
cat >"$tmp/how" <<END
#!/bin/sh
grep -q $library /proc/\$PPID/maps && echo forked || echo started
END
cat >"$tmp/hold" <<'END'
#!/bin/sh
echo $PPID >"$1.$(hostname)"
read -r _ <"$2"
END
chmod +x "$tmp/how" "$tmp/hold"
how() { dvm run "$@" "$tmp/how"; sort "$out" | uniq -c | tr -s ' \n' ' '; }
having() # PATTERN
{
    for z in $(pgrep -x wireupd); do
        grep -qz "$1" "/proc/$z/environ" 2>/dev/null && echo "$z"
    done
}
zygotes() { having $library; }
# Those that wait have no ranks; none where daemons are not forked.
waiting()
{
    for w in $(having "^WIREUP_WAITS_FOR_JOB="); do
        pgrep -P "$w" >/dev/null || echo "$w"
    done
}
parents() { for p in "$@"; do ps -o ppid= -p "$p" | tr -d ' '; done; }
all_wait() { [ "$(waiting | wc -l)" = "$([ "$forked" = forked ] && echo "$1" || echo 0)" ]; }
none_waits() { wait_until "$patience" eval '[ -z "$(having "^WIREUP_WAITS")" ]' || note "$(ps -efww)"; }
a_job_later() { wait_until "$patience" all_wait 2 || note "$(ps -efww)"; } # (with a daemon that waits on each node)
# It is asked for again until it is loaded, by jobs that do not depend on that.
all_forked() { [ "$(how -n 2 -ppn 1)" = " 2 $forked " ]; }

# A job on both nodes that stays until it is let go.
hold()
{
    rm -f "$tmp"/held.* "$tmp/go"
    mkfifo "$tmp/go"
    "$WIREUP" run -n 2 -ppn 1 "$tmp/hold" "$tmp/held" "$tmp/go" >"$tmp/hold.out" 2>"$tmp/hold.err" </dev/null &
    job=$!
    wait_until "$patience" eval '[ -s "$tmp/held.n1" ] && [ -s "$tmp/held.n2" ]' || note "$(cat "$tmp/hold.err")"
}
let_go() { exec 8>"$tmp/go" && printf '\n\n' >&8; code=0; wait "$job" || code=$?; exec 8>&-; }
ranks() { pgrep -f "^/bin/sh $tmp/hold " | wc -l; }
free() { "$WIREUP" ps | sed -n 's/.* \([0-9]* of [0-9]*\) slots free.*/\1/p'; }
none_held() { [ "$(ranks) $(free)" = "0 $1 of $1" ]; }

dvm up -launch-agent "$tmp/agent" -hosts n1:4,n2:4
same "a DVM" "$rc" 0 || explain
same "without jobs it holds no copy of its daemon" "$(zygotes)" ""
same "the first job's daemons start by exec" "$(how -n 2 -ppn 1)" " 2 started " || explain
ok "those of later ones are forked" wait_until "$patience" all_forked || explain
same "on all nodes" "$(how -n 8)" " 8 $forked " || explain
run "$patience" sh -c 'echo "line $0" | "$1" run -n 1 sh -c "cat; echo err >&2; exit 5"' 7 "$WIREUP"
same "with input, output and exit status" "$rc $(cat "$out") $(grep -v "^wireup: rank 0 on n1 .* exited with code 5" "$err")" \
    "5 line 7 err" || explain
dvm run -n 1 sh -c 'tr "\0" "\n" </proc/$PPID/environ | grep -c "LD_PRELOAD\|PREFORK"; tr "\0" " " </proc/$PPID/cmdline'
same "their environment and command line are their own" "$(head -n 1 "$out") $(sed 's/.*wireupd/wireupd/; 1d' "$out")" "0 wireupd " || explain

# ---- forked before its job
if [ "$forked" = forked ]; then
    ok "a daemon waits on each node for the next job" wait_until "$patience" all_wait 2 || note "$(ps -efww)"
    waiting | sort | sed 's/$/ 0/' >"$tmp/idle"
    dvm run -n 2 -ppn 1 sh -c 'echo $PPID $(env | grep -c WIREUP_WAITS)'
    same "which uses it, and whose ranks see nothing of that" "$(sort "$out")" "$(cat "$tmp/idle")" || explain
    a_job_later
    jobs=
    for i in 1 2 3 4; do
        "$WIREUP" run -n 2 -ppn 1 "$tmp/how" >"$tmp/at.$i" 2>&1 </dev/null &
        jobs="$jobs $!"
    done
    for job in $jobs; do
        wait "$job" || note "a job ends with status $?"
    done
    same "jobs that begin together are all forked" "$(cat "$tmp"/at.? | sort | uniq -c | tr -s ' \n' ' ')" " 8 forked "
    a_job_later
    # shellcheck disable=SC2046
    kill -9 $(waiting)
    none_waits
    same "those that wait are killed: the next job's are forked" "$(how -n 2 -ppn 1)" " 2 forked " || explain
    a_job_later
    # shellcheck disable=SC2046
    kill -9 $(parents $(waiting))
    none_waits
    same "and so they are when their supervisors are killed" "$(how -n 2 -ppn 1)" " 2 forked " || explain
    a_job_later
    daemons=$(pgrep -x wireupd | wc -l)
    for i in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(how -n 8)" = " 8 forked " ] || explain
    done
    a_job_later
    ok "there are no more of them after ten jobs" wait_until "$patience" eval '[ "$(pgrep -x wireupd | wc -l)" = "$daemons" ]' ||
        note "$daemons $(ps -efww)"
fi

# ---- another program than the DVM's own
cp "$wireupd" "$tmp/wireupd"
same "another file of the daemon is started, not forked" "$(how -n 2 -ppn 1 -wireupd "$tmp/wireupd")" " 2 started " || explain
dvm on n1 "$(readlink -f "$wireupd")" --version
ok "what has more words is started, too" grep -q "^wireupd " "$out" || explain

# ---- killed: the job's launcher
hold
same "a job has its processes and slots" "$(ranks) $(free)" "2 6 of 8"
guard=$(pgrep -P "$job")
kill -9 "$job" "$guard"
ok "a job whose launcher is killed ends everywhere, and its slots are free" wait_until "$patience" none_held 8 ||
    note "$(ranks) $(free) $(ps -efww)"
wait "$job"
same "and the DVM has jobs again" "$(how -n 8)" " 8 $forked " || explain

# ---- killed: the process that is forked, while it is idle and while its children run
if [ "$forked" = forked ]; then
    hold
    # shellcheck disable=SC2046
    kill -9 $(zygotes) $(waiting)
    let_go
    same "the zygotes are killed: what was forked goes on" "$code" 0 || note "$(cat "$tmp/hold.err")"
    # (By exec; or forked again, where the DVM has found time to load another one.)
    dvm run -n 8 "$tmp/how"
    same "and later daemons start" "$rc $(grep -cx "started\|forked" "$out")" "0 8" || explain
fi
dvm down
same "down" "$rc" 0
ok "nothing stays" wait_until "$patience" eval '! pgrep -x "wireup|wireupd" >/dev/null' || note "$(ps -efww)"

# ---- killed: a node, and the DVM's launcher
dvm up -launch-agent "$tmp/agent" -hosts n1:4,n2:4
# Worker, supervisor and who has started it: with a shell between them, it would not end with that one (PR_SET_PDEATHSIG).
dvm run -n 1 sh -c 'p=$PPID; for i in 1 2 3; do ps -o comm= -p $p; p=$(ps -o ppid= -p $p); done'
same "a daemon that starts by exec is a child of the DVM's daemon" "$(tr -s ' \n' ' ' <"$out")" "wireupd wireupd wireupd " || explain
wait_until "$patience" all_forked
hold
# Everything that runs there: the host name is the node's own.
node=$(readlink "/proc/$(cat "$tmp/agent.n2")/ns/uts")
for p in /proc/[0-9]*; do
    [ "$(readlink "$p/ns/uts" 2>/dev/null)" = "$node" ] && lost="${lost-} ${p#/proc/}"
done
# (A daemon that saw the end of the rank would tell that it was killed.)
# shellcheck disable=SC2086
switch_off $lost
code=0
wait "$job" || code=$?
same "a node is lost: the job ends with one sentence" "$code $(grep -c "node n2 is lost" "$tmp/hold.err")" "1 1" || note "$(cat "$tmp/hold.err")"
ok "and on the other node, too" wait_until "$patience" none_held 4 || note "$(ps -efww)"
same "the next job has the other node" "$(how -n 2)" " 2 $forked " || explain
hold1() { "$WIREUP" run -n 1 "$tmp/hold" "$tmp/held" "$tmp/go" >"$tmp/hold.out" 2>"$tmp/hold.err" </dev/null & job=$!; }
rm -f "$tmp"/held.*
hold1
wait_until "$patience" test -s "$tmp/held.n1"
wait_until "$patience" all_wait 1 # while a job runs, too
# shellcheck disable=SC2046
kill -9 $(pgrep -f "^$WIREUP up ")
code=0
wait "$job" || code=$?
ok "the DVM's launcher is killed: its jobs end with it" [ "$code" -ne 0 ] || note "$(cat "$tmp/hold.err")"
gone="your DVM dvm has ended, and the job's daemons with it: its launcher (pid P) was killed or has crashed; \`wireup up\` starts another DVM, and with -keep jobs outlive its launcher"
said() { sed '/ has lost n2; /d; s/(pid [0-9]*)/(pid P)/' "$tmp/hold.err"; }
same "which is said in one sentence" "$(said)" "wireup: node n1 is lost: $gone"
ok "and nothing stays of DVM and job" wait_until "$patience" eval '! pgrep -x "wireup|wireupd" >/dev/null && [ "$(ranks)" = 0 ]' ||
    note "$(ps -efww)"

# ---- killed: the DVM's launcher while a job's daemon is about to start
dvm up -launch-agent "$tmp/agent" -hosts n1:4
# shellcheck disable=SC2046
kill -STOP $(pgrep -x wireupd)
"$WIREUP" run -n 1 true >"$tmp/hold.out" 2>"$tmp/hold.err" </dev/null &
job=$!
starts() { "$WIREUP" ps 2>/dev/null | grep -q "  no job  .*  $job  "; }
wait_until "$patience" starts || note "$("$WIREUP" ps)"
# shellcheck disable=SC2046
kill -9 $(pgrep -f "^$WIREUP up ")
code=0
wait "$job" || code=$?
same "it is killed while a job starts: the same is said" "$code $(said)" "125 wireup: node n1: $gone"
ok "and nothing stays of that, either" wait_until "$patience" eval 'pkill -9 -x wireupd; ! pgrep -x "wireup|wireupd" >/dev/null' || note "$(ps -efww)"

# ---- a launcher that is lost, and another one that takes over
distant_agent
keep=$tmp/keep
dvm up -keep "$keep" -keep-time 60 -launch-agent "$tmp/agent" -hosts n1:4,n2:4
same "a DVM that is kept" "$rc" 0 || explain
ok "forks daemons, too" wait_until "$patience" all_forked || explain
hold
lose_launcher
dvm up -takeover "$keep"
same "another launcher takes over, with all nodes" "$(head -n 1 "$out" | cut -d ';' -f 1)" "2 nodes are up" || explain
same "the job goes on" "$(ranks)" 2
let_go
same "and ends well, without a word about it" "$code $(cat "$tmp/hold.err")" "0 "
ok "later daemons are forked again" wait_until "$patience" all_forked || explain
dvm down
same "and it ends" "$rc" 0 || explain

# ---- another user
named_agent
dvm up -launch-agent "$tmp/agent" -hosts n1:4
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    for_others "$WIREUP"
    run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups "$others/wireup" run -dvm dvm -n 1 true
    ok "another user has no job there" eval '[ "$rc" -ne 0 ] && grep -q "you have no DVM dvm on this machine" "$err"' || explain
    run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups "$others/wireup" on -dvm dvm n1 true
    ok "and starts no program" eval '[ "$rc" -ne 0 ] && grep -q "you have no DVM dvm on this machine" "$err"' || explain
else
    skip "another user" "this test is not run by the superuser"
fi
dvm down
nothing_left "when the DVM is down"
no_internal_error
finish
