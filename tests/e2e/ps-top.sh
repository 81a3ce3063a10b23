#!/bin/sh
# Jobs as people see them: short ids and names, the table of ps, top on a terminal, signals to a job.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
c_program rawpmi1

schema() # NAME FILE: what the page of schemas says to it
{
    python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" "$1" "$2" 2>&1
}
# A machine that is busy may take longer for an answer than a person waits: then the command says so, and is asked again.
answered() # COMMAND...
{
    run 300 "$@"
    ! grep -q 'with pid .* does not answer' "$err"
}
asked() { wait_until 300 answered "$@"; }
ps() { asked "$WIREUP" ps; }
column() # N NAME: of the line of that job
{
    awk -v n="$1" -v name="$2" '$2 == name { print $n }' "$out"
}

# ---- names that are none
for name in 3 -x "a b" "$(printf '%065d' 0 | tr 0 a)"; do
    run 60 "$WIREUP" -job-name "$name" -n 1 true
    same "no name of a job: $(printf %.8s "$name")" "$rc" 2 || explain
done

# ---- two jobs: one over three nodes in a fence that rank 1 misses, one alone that computes
# shellcheck disable=SC2016
"$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 -job-name ring sh -c '
    [ "$PMI_RANK" = 1 ] || exec "$0" exchange
    trap "echo got WINCH >>\"$1\"" WINCH
    echo up >"$1"
    sleep 1000 &
    while :; do wait; done' "$bin/rawpmi1" "$tmp/ring" >"$tmp/ring.out" 2>&1 &
ring=$!
wait_until 120 [ -s "$tmp/ring" ]
waits() { ps && grep -Eq ' ring +3 +3 +running .* fence: 2 of 3, missing 1 ' "$out"; }
ok "ps shows a job of three nodes, and for whom it waits" wait_until 120 waits || explain
# shellcheck disable=SC2016
"$WIREUP" -n 1 sh -c 'echo up >>"$0"; while :; do :; done' "$tmp/busy" >"$tmp/busy.out" 2>&1 &
busy=$!
wait_until 120 [ -s "$tmp/busy" ]
both() { ps && [ -n "$(column 1 sh)" ] && [ -n "$(column 1 ring)" ] && [ "$(column 1 sh)" != "$(column 1 ring)" ]; }
ok "a second one by its program, with another id" wait_until 300 both || explain
id=$(column 1 ring)
nspace=$(awk '$2 == "ring" { print $NF }' "$out")
pid=$(column 9 ring)
same "ids are small numbers" "$(awk 'NR > 1 { print $1 }' "$out" | tr '\n' ' ')" "1 2 "
ok "the launcher is the process that was started" [ "$pid" = "$ring" ] || explain

# ---- what they use.  A share is of the time between two looks, in which one that computes may get nothing at all where many
# others do: what is awaited is a look with some of it, and more in sum than before.
cat >"$tmp/judge.py" <<'END'
import json, sys
jobs = {j["name"]: j for j in json.load(open(sys.argv[1]))["jobs"]}
ring, busy = jobs["ring"], jobs["sh"]
assert ring["measured_ranks"] == 3 and ring["nodes"] == 3 and ring["memory_bytes"] > 3 * 65536, ring
assert ring["waiting"] == 2 and ring["waits"] == "fence: 2 of 3, missing 1", ring
assert busy["cpu_percent"] > 0 and busy["measured_ranks"] == 1, busy
assert busy["cpu_seconds"] > float(sys.argv[2]) + ring["cpu_seconds"], (busy, ring)
print(busy["cpu_seconds"])
END
seen=0
uses()
{
    asked "$WIREUP" ps --json && cp "$out" "$tmp/ps.json" && used=$(python3 "$tmp/judge.py" "$tmp/ps.json" $seen 2>"$tmp/judged")
}
ok "one computes, and the other does not; the processes of all nodes are measured" wait_until 300 uses ||
    note "$(cat "$tmp/ps.json" "$tmp/judged")"
seen=$used
ok "it goes on" wait_until 300 uses || note "$(cat "$tmp/ps.json" "$tmp/judged")"
share() { ps && [ "$(column 7 sh)" != "0.0%" ] && column 7 sh | grep -q '^[0-9]*[.][0-9]%$'; }
ok "ps shows its share" wait_until 300 share || explain

# ---- JSON
same "ps --json is what the page says" "$(schema wireup-ps-1 "$tmp/ps.json")" good
sed 's/"ranks":/"rank":/' "$tmp/ps.json" >"$tmp/spoilt"
ok "the control is red" eval 'schema wireup-ps-1 "$tmp/spoilt" | grep -q "jobs\[0\].ranks is missing"' || note "$(schema wireup-ps-1 "$tmp/spoilt")"
sed 's/"ranks":[0-9]*/"ranks":"x"/' "$tmp/ps.json" >"$tmp/spoilt"
ok "the second one too" eval 'schema wireup-ps-1 "$tmp/spoilt" | grep -q "ranks is not integer"' || note "$(schema wireup-ps-1 "$tmp/spoilt")"
asked "$WIREUP" who --json
cp "$out" "$tmp/who.json"
same "who --json" "$(schema wireup-who-1 "$tmp/who.json")" good
"$WIREUP" top --json --count 2 --period 0.5 >"$tmp/top.json"
same "top --json, line by line" "$(schema wireup-top-1 "$tmp/top.json") $(wc -l <"$tmp/top.json")" "good 2"

# ---- every word for a job
for word in "$id" "ring-$id" ring "$nspace" "$pid"; do
    asked "$WIREUP" who "$word"
    same "who $word" "$rc $(grep '^job ' "$out" | cut -d, -f 1)" "0 job $id $nspace" || explain
done
asked "$WIREUP" names ring
same "names of a job that has none" "$rc $(cat "$out" "$err")" "0 " || explain
"$WIREUP" -n 1 -job-name ring sleep 1000 >"$tmp/twin.out" 2>&1 &
twin=$!
two() { ps && [ "$(column 1 ring | wc -l)" = 2 ]; }
wait_until 60 two
other=$(column 1 ring | tail -n 1)
busy_id=$(column 1 sh)
asked "$WIREUP" kill ring
same "a name that two jobs have is refused, with both" "$rc $(cat "$err")" \
    "1 wireup: several jobs are called ring: choose one of $id, $other" || explain
asked "$WIREUP" kill "ring-$other"
[ "$rc" = 0 ] || kill $twin
wait $twin
same "name and id tell them apart" "$rc $?" "0 143" || explain
asked "$WIREUP" kill -s NOSUCH ring
same "no signal" "$rc" 2 || explain
asked "$WIREUP" kill nobody
same "no job" "$rc $(cat "$err")" "1 wireup: you have no running job nobody on this machine" || explain

# ---- top
asked "$WIREUP" top
cp "$out" "$tmp/top"
ps
same "top in a pipe is the table" "$(sed 1q "$tmp/top" | tr -s ' ')" "$(sed 1q "$out" | tr -s ' ')" || note "$(cat "$tmp/top")"
ok "without a sequence for terminals" eval '! "$WIREUP" top | grep -q "$(printf "\033")"'
tty() { TERM=xterm python3 "$e2e/terminal.py" "$@" >"$out" 2>&1; }
cat >"$tmp/settings" <<'END'
before=$(stty -g)
trap : INT
"$@"
code=$?
printf '\ncode %d\n' $code
[ "$(stty -g)" = "$before" ] && echo the terminal is as before
END
restored() # the last word about the other screen and the cursor
{
    grep -q "^.*$(printf '\033')\\[?1049l" "$out" && grep -q '^the terminal is as before$' "$out" &&
        [ "$(grep -c "$(printf '\033')\\[?1049h" "$out")" -ge 1 ]
}
tty see 'wireup top: 2 jobs, 4 ranks' see WAITING see ring \
    type c see 'sh ' type i see 'wireup top' type h see 'sort by memory' type x see 'wireup top' \
    type '\r' see "job $id: up and down scroll" see "job $id $nspace" see 'fence WORLD:0' type x see 'wireup top' \
    type k see "signal to job $id (Enter: TERM): _" type 'WIN' see WIN_ type 'CH\r' see "job $id: signal WINCH is sent" \
    type k see 'Enter: TERM' type NOPE see NOPE_ type '\r' see "'NOPE' is no signal" \
    type '\x1b[B' see 'wireup top' type '\r' see "job $busy_id: up and down scroll" type x see 'wireup top' \
    size 5 40 see 'wireup top' type q end -- \
    sh "$tmp/settings" "$WIREUP" top --period 0.5
ok "top shows, sorts, helps, asks who, signals, selects, and follows the size" \
    grep -q '^status 0$' "$out" || note "$(tail -n 5 "$out" | cat -v)"
ok "q gives the terminal back" restored || note "$(tail -n 5 "$out" | cat -v)"
ok "the signal has come, on another node" wait_until 60 grep -q 'got WINCH' "$tmp/ring" || note "$(cat "$tmp/ring")"
tty see 'wireup top: 2 jobs' type '\x03' end -- sh "$tmp/settings" "$WIREUP" top
ok "Ctrl-C gives it back" eval 'restored && grep -q "^code 0$" "$out"' || note "$(tail -n 5 "$out" | cat -v)"
# shellcheck disable=SC2016
tty see 'wireup top: 2 jobs' sh 'kill -TERM $(pgrep -x -P $PID wireup)' end -- sh "$tmp/settings" "$WIREUP" top
ok "SIGTERM too" eval 'restored && grep -q "^code 143$" "$out"' || note "$(tail -n 5 "$out" | cat -v)"
# (On a machine that is busy a launcher may not answer in time for one of two pictures.)
tty see 'wireup top: ' end -- sh "$tmp/settings" "$WIREUP" top --count 2 --period 0.5
ok "and the end of --count" eval 'restored && grep -q "^code 0$" "$out"' || note "$(tail -n 5 "$out" | cat -v)"

# ---- top in tmux: what a person sees, as the screen has it
panel() { tmux -L top capture-pane -p >"$out" 2>"$err"; }
shows() { panel && grep -Eq "$1" "$out"; }
in_tmux()
{
    export TMUX_TMPDIR="$tmp"
    unset TMUX
    TERM=xterm tmux -L top -f /dev/null new-session -d -x 110 -y 24 "exec '$WIREUP' top --period 0.5"
    ok "top in tmux: its head is the first line" wait_until 60 shows '^wireup top: 2 jobs, 4 ranks' || explain
    same "then the columns" "$(sed -n 2,5p "$out" | awk '$1 == "ID" { print $1, $2, $3, $4, $5 }')" "ID NAME RANKS NODES STATE" || explain
    same "each job has one line" "$(grep -Ec '^ *[0-9]+ +(ring|sh) +[0-9]+ +[0-9]+ +running ' "$out")" 2 || explain
    tmux -L top send-keys c
    busiest() { panel && [ "$(awk '$2 == "sh" || $2 == "ring" { print $2; exit }' "$out")" = sh ]; }
    ok "c sorts by CPU: the busy one is first" wait_until 60 busiest || explain
    tmux -L top send-keys Enter
    ok "Enter shows who waits" wait_until 60 shows '^job .*: up and down scroll' || explain
    tmux -L top send-keys x
    wait_until 60 shows '^wireup top:'
    tmux -L top resize-window -x 60 -y 8
    narrow() { panel && [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most <= 60 && NR <= 8 }' "$out")" = 1 ] && grep -q '^wireup top' "$out"; }
    ok "it follows the size" wait_until 60 narrow || explain
    tmux -L top send-keys q
    gone() { ! tmux -L top has-session 2>/dev/null; }
    ok "q ends it" wait_until 60 gone
}
if command -v tmux >/dev/null 2>&1; then
    in_tmux
else
    skip "top in tmux" "tmux is not installed"
fi

TERM=dumb python3 "$e2e/terminal.py" see WAITING end -- "$WIREUP" top >"$out" 2>&1
ok "a terminal that can do nothing gets the table" eval \
    'grep -q "^status 0$" "$out" && ! grep -q "$(printf "\033")" "$out"' || note "$(cat -v "$out")"
# shellcheck disable=SC2016
tty see ready size 24 60 type '\r' see WAITING end -- sh -c 'echo ready; read line; exec "$0" ps' "$WIREUP"
same "ps is as wide as the terminal" "$(grep -A 2 WAITING "$out" | awk '{ print (length($0) <= 60) }' | sort -u)" 1 || note "$(cat "$out")"
run 60 "$WIREUP" top --period 0.1
same "a period that is too short" "$rc" 2 || explain

# ---- a launcher that is stopped, as by Ctrl-Z: it has a line, and the others are shown
worker=$(pgrep -P "$busy" -x wireup)
kill -STOP "$busy" "$worker"
stopped="wireup: the launcher with pid $busy is stopped; \`kill -CONT $worker $busy\` lets it go on"
told() # NAME CODE WORDS...: of the launcher
{
    told_name=$1
    told_code=$2
    shift 2
    run 300 "$WIREUP" "$@"
    same "$told_name" "$rc $(cat "$err")" "$told_code $stopped" || explain
}
told "a launcher that is stopped is named by ps" 1 ps
same "and has a line" "$(awk '$9 == '"$busy"' { print $1, $2, $3, $4, $5 }' "$out") $(grep -c ' the launcher is stopped' "$out") $(grep -c ' ring ' "$out")" "- - - - stopped 1 1" || explain
told "also by ps --json" 1 ps --json
same "where it has an entry" "$(schema wireup-ps-1 "$out") $(grep -o '"pid":'"$busy"',"state":"[a-z_]*"' "$out") $(grep -o '"state":"answers"' "$out" | wc -l) $(grep -o '"program"' "$out" | wc -l)" \
    "good \"pid\":$busy,\"state\":\"stopped\" 1 1" || explain
told "by ps --nodes" 1 ps --nodes
told "by top without a terminal" 1 top --once
"$WIREUP" top --json --count 1 >"$out" 2>"$err"
same "top --json has it, too" "$(schema wireup-top-1 "$out") $(grep -o '"state":"stopped"' "$out")" "good \"state\":\"stopped\"" || explain
told "by who" 1 who
ok "which tells of the other one" grep -q "^job $id" "$out" || explain
told "by who --json" 1 who --json
same "in a list" "$(schema wireup-who-1 "$out") $(grep -o '"no_answer":\[[0-9]*\]}' "$out")" "good \"no_answer\":[$busy]}" || explain
told "by names" 1 names
told "by tools --json" 1 tools --json
for words in "who $busy" "kill $busy"; do
    # shellcheck disable=SC2086
    run 300 "$WIREUP" $words
    same "$words" "$rc $(tail -n 1 "$err")" "1 wireup: the launcher with pid $busy does not answer: its jobs are not known" || explain
done
run 300 "$WIREUP" who sh
same "who knows whether it has a job that is not found" "$rc $(tail -n 1 "$err")" \
    "1 wireup: you have no running job sh on this machine, unless a launcher that does not answer has it" || explain
run 300 "$WIREUP" down
same "or is a DVM" "$rc $(tail -n 1 "$err")" \
    "1 wireup: no DVM is found on this machine, and the launcher with pid $busy does not answer; \`wireup ps\` shows its state" || explain
tty see ' stopped ' type q end -- "$WIREUP" top
ok "top shows it" grep -q '^status 0$' "$out" || note "$(tail -n 5 "$out" | cat -v)"
kill -STOP "$ring" "$(pgrep -P "$ring" -x wireup)"
run 300 "$WIREUP" who
same "when all are, none is said to have ended" "$rc $(grep -c ' is stopped; ' "$err") $(wc -l <"$err") $(cat "$out")" "1 2 2 " || explain
kill -CONT "$ring" "$(pgrep -P "$ring" -x wireup)"
kill -CONT "$busy" "$worker"

# ---- a launcher that is short of processors: it answers late, or not in time
cat >"$tmp/late.py" <<'END'
"""late.py PID SECONDS: a launcher that answers, so late, what the one with that pid answers; 0: it does not answer."""
import glob
import os
import socket
import sys
import time

pid, seconds = sys.argv[1], float(sys.argv[2])
for real in glob.glob(os.environ['XDG_RUNTIME_DIR'] + '/wireup/*'):
    world, of, chance = os.path.basename(real).split('.')
    if of == pid:
        break
mine = os.path.join(os.path.dirname(real), f'{world}.{os.getpid()}.{chance}')
s = socket.socket(socket.AF_UNIX)
s.bind(mine)
s.listen(16)
print('ready', flush=True)
asked = []
while True:
    c, _ = s.accept()
    asked.append(c)
    if seconds:
        question = c.recv(4096)
        time.sleep(seconds)
        with socket.socket(socket.AF_UNIX) as to:
            to.connect(real)
            to.sendall(question)
            while piece := to.recv(65536):
                c.sendall(piece)
        asked.pop().close()
END
late() # SECONDS
{
    python3 "$tmp/late.py" "$worker" "$1" >"$tmp/late.out" 2>&1 &
    late=$!
    wait_until 60 grep -q ready "$tmp/late.out" || note "$(cat "$tmp/late.out")"
}
late 3
asked "$WIREUP" ps
same "one that answers late is waited for" "$rc $(column 9 sh | sort -u)" "0 $busy" || explain
tty see "waiting for the launcher with pid $late, which has not answered for 2 s" see WAITING end -- "$WIREUP" ps
ok "and who sits at a terminal is told" grep -q '^status 0$' "$out" || note "$(tail -n 5 "$out" | cat -v)"
kill "$late"
wait "$late"
late 0
run 300 "$WIREUP" ps
same "one that does not answer in time is named, and has a line" "$rc $(grep " $late " "$err") $(awk '$10 == '"$late"' { print $1, $2, $3, $4, $5, $6 }' "$out")" \
    "1 wireup: the launcher with pid $late does not answer: it is short of processors, or hangs - - - - no answer" || explain
kill "$late"
wait "$late"

# ---- ends
asked "$WIREUP" kill -s SIGKILL "$nspace"
[ "$rc" = 0 ] || kill -KILL $ring
wait $ring
same "a job that is killed fails, and says by what" "$rc $(grep -c 'killed by signal 9' "$tmp/ring.out")" "0 1" || note "$(cat "$tmp/ring.out")"
asked "$WIREUP" kill -signal 15 sh
[ "$rc" = 0 ] || kill -KILL $busy
wait $busy
same "the other too" "$rc $?" "0 143" || explain
ps
same "then there is none" "$(cat "$out" "$err")" "wireup: you have no running jobs on this machine"

# The answer must leave before the job's end does: without that one of about forty was an error.
wrong=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    : >"$tmp/short" # else the words of the last one are read before this one empties it
    "$WIREUP" -n 2 sh -c 'echo up; exec sleep 1000' >"$tmp/short" 2>/dev/null </dev/null &
    short=$!
    wait_until 60 eval '[ "$(grep -c up "$tmp/short")" = 2 ]'
    asked "$WIREUP" kill -signal USR1 "$short"
    if [ "$rc" != 0 ]; then
        wrong=$((wrong + 1))
        cat "$err" >>"$tmp/short.err"
        kill "$short"
    fi
    wait "$short"
done
same "kill succeeds, however fast the job ends" "$wrong" 0 || note "$(cat "$tmp/short.err")"

# ---- a DVM and its jobs
run 120 "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1,n2
ps
ok "a DVM has a line" grep -Eq '^ *[0-9]+  dvm +0 +2 +standing .* 2 of 2 slots free' "$out" || explain
dvm=$(column 1 dvm)
run 120 "$WIREUP" ps --nodes
same "its nodes have lines" "$rc $(tr -s ' ' <"$out" | tr '\n' ';')" "0 DVM NODE SLOTS FREE STATE;dvm n1 1 1 up;dvm n2 1 1 up;" || explain
"$WIREUP" ps --json >"$tmp/ps.json" 2>"$err"
same "in JSON, too" "$(schema wireup-ps-1 "$tmp/ps.json") $(grep -o '"nodes":\[{[^]]*\]' "$tmp/ps.json")" \
    'good "nodes":[{"name":"n1","slots":1,"used":0,"state":"up"},{"name":"n2","slots":1,"used":0,"state":"up"}]' || note "$(cat "$tmp/ps.json")"
run 120 "$WIREUP" who "$dvm"
ok "without a job" eval '[ "$rc" = 1 ] && grep -q "has no job$" "$err"' || explain
run 120 "$WIREUP" down
run 120 "$WIREUP" ps --nodes
same "without a DVM there is no node" "$rc $(wc -l <"$out")" "0 1" || explain
finish
