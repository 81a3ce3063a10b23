#!/bin/sh
# dvms.sh - several DVMs by name; jobs that share one: spread by load, waiting when it is full; a lost node.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/dvm_lines.sh
. "$(dirname "$0")/dvm_lines.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
killable_agent
# A process that says where it is, and stays until its file is there.
cat >"$tmp/hold" <<'END'
#!/bin/sh
hostname
read -r _ <"$1"
END
chmod +x "$tmp/hold"

dvm() { run 120 "$WIREUP" "$@"; }

# JOB OPTIONS...: a job of processes that stay until let_go JOB
hold()
{
    job=$1
    shift
    : >"$tmp/$job.out"
    mkfifo "$tmp/$job.go"
    "$WIREUP" run "$@" "$tmp/hold" "$tmp/$job.go" >"$tmp/$job.out" 2>"$tmp/$job.err" </dev/null &
    eval "pid_$job=$!"
}

holds() # JOB N
{
    holding() { [ "$(wc -l <"$tmp/$1.out")" = "$2" ]; }
    wait_until 60 holding "$1" "$2" || note "$(cat "$tmp/$1.out" "$tmp/$1.err")"
}

let_go() # JOB...
{
    for job in "$@"; do
        exec 8>"$tmp/$job.go"
        printf '\n\n\n\n' >&8 # a line for each process
        eval "wait \$pid_$job" || note "$job: $? $(cat "$tmp/$job.err")"
        exec 8>&-
    done
}

places() # JOB...: "2 n1 2 n2"
{
    for job in "$@"; do
        cat "$tmp/$job.out"
    done | sort | uniq -c | tr -s ' \n' ' '
}

# ---- names
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -name big
same "a DVM with a name" "$rc $(cat "$out")" \
    '0 3 nodes are up; `wireup run -dvm big` uses them, `wireup down big` ends them' || explain
dvm run -n 1 hostname
same "the only one is used without its name" "$rc $(cat "$out")" "0 n1" || explain
dvm up -launch-agent "$tmp/agent" -hosts n4 -name small
same "a second one beside it" "$rc" 0 || explain
dvm up -launch-agent "$tmp/agent" -hosts n5 -name small
ok "not under the same name" eval '[ "$rc" = 1 ] && grep -q "your DVM small is already up .*wireup down small" "$err"' || explain
dvm up -launch-agent "$tmp/agent" -hosts n5 -name '2 words'
ok "nor under one that cannot be" eval '[ "$rc" = 2 ] && grep -q "^wireup: -name must begin with a letter" "$err"' || explain
ok "each has a line" eval 'dvm_line big | grep -q " 3  standing .* 6 of 6 slots free" && dvm_line small | grep -q " 1  standing .* 1 of 1 slots free"' || explain
dvm run -dvm small hostname
same "a job on one of them" "$rc $(cat "$out")" "0 n4" || explain
dvm run -n 1 hostname
same "without a name it is not clear which" "$rc $(cat "$err")" \
    "125 wireup: you have several DVMs (big, small): name the one that you mean" || explain
WIREUP_DVM=small dvm run hostname
same "the environment can say it" "$rc $(cat "$out")" "0 n4" || explain
WIREUP_DVM=none dvm run hostname
same "if there is one" "$rc $(cat "$err")" \
    '125 wireup: you have no DVM none on this machine, which WIREUP_DVM names; `wireup ps` lists yours' || explain
dvm run -dvm none hostname
same "one that is not there" "$rc $(cat "$err")" \
    '125 wireup: you have no DVM none on this machine; `wireup ps` lists yours' || explain
# ---- found by its alias
# A launcher that answers nothing, and counts who asks.
cat >"$tmp/counts" <<'END'
import os, socket, sys
os.chdir(os.path.join(os.environ['XDG_RUNTIME_DIR'], 'wireup'))
s = socket.socket(socket.AF_UNIX)
s.bind(f'{os.stat("/proc/self/ns/pid").st_ino}.{os.getpid()}.00000001')
s.listen()
print('listens', flush=True)
while True:
    s.accept()[0].close()
    print('asked', flush=True)
END
python3 "$tmp/counts" >"$tmp/asked" &
counts=$!
wait_until 60 grep -q listens "$tmp/asked" || note "$(cat "$tmp/asked")"
alias=$(find "$XDG_RUNTIME_DIR/wireup" -type l -name '*.small')
dvm run -dvm small hostname
same "no other launcher is asked which one it is" "$rc $(cat "$out") $(grep -c asked "$tmp/asked")" "0 n4 0" || explain
leader=$(readlink "$alias" | cut -d. -f2)
kill -STOP "$leader"
dvm run -dvm small hostname
same "one that hangs is not waited for" "$rc $(cat "$err")" "125 wireup: the DVM small does not answer" || explain
dvm on --dvm small n4 hostname
same "nor for a command" "$rc $(cat "$err")" "125 wireup: your DVM small does not answer" || explain
kill -CONT "$leader"
mv "$alias" "$tmp/alias"
dvm run -dvm small hostname
ok "without the alias all are asked" eval '[ "$rc $(cat "$out")" = "0 n4" ] && grep -q asked "$tmp/asked"' || explain
mv "$tmp/alias" "$alias"
kill "$counts"
dvm on --dvm small n4 hostname
same "a command on a node" "$rc $(cat "$out")" "0 n4" || explain
dvm run -dvm big -hosts n3,n2 -n 2 hostname
same "on some of its nodes" "$rc $(sort "$out" | tr '\n' ' ')" "0 n2 n3 " || explain
dvm run -dvm big -hosts n4 -n 2 hostname
same "which must be its own" "$rc $(cat "$err")" "125 wireup: n4 is not a node of your DVM big" || explain
dvm up -launch-agent "$tmp/agent" -hosts n6
dvm run hostname
same "the one without a name is taken by default" "$rc $(cat "$out")" "0 n6" || explain
WIREUP_DVM=small dvm run hostname
same "unless the environment says another one" "$rc $(cat "$out")" "0 n4" || explain
WIREUP_DVM=small dvm run -dvm big -n 1 hostname
same "and the option counts more" "$rc $(cat "$out")" "0 n1" || explain
dvm -n 1 hostname
same "without the word run none is used" "$rc $(cat "$out")" "0 $(hostname)" || explain
dvm down
same "and ended" "$rc" 0 || explain
dvm down small
same "one is ended by its name" "$rc" 0 || explain
dvm down small
same "once" "$rc $(cat "$err")" '1 wireup: you have no DVM small on this machine; `wireup ps` lists yours' || explain

# ---- slots
hold a -n 1
holds a 1
hold b -n 2
holds b 2
hold c -n 3
holds c 3
same "the least loaded nodes come first, and no slot is used twice" "$(places a b c)" " 2 n1 2 n2 2 n3 "
ok "ps tells it" eval 'dvm_line big | grep -q " 0 of 6 slots free"' || explain
dvm run -n 2 -map-by :nooversubscribe hostname
same "a job that wants its own slots is refused" "$rc $(cat "$err")" \
    "125 wireup: 0 of 6 slots of DVM big are free, and the job has 2 processes; -wait waits for slots" || explain
hold d -n 3
hold e -n 3
holds d 3
holds e 3
same "others share them, evenly" "$(places a b c d e)" " 4 n1 4 n2 4 n3 "
let_go d e
hold f -n 2 -wait
waiting() { dvm_line big | grep -q " 0 of 6 slots free, $1 job"; }
ok "one that waits is shown" wait_until 60 waiting 1 || explain
hold g -n 1 -wait
ok "and the next one" wait_until 60 waiting 2 || explain
dvm run -n 7 -wait hostname
same "what never fits is refused" "$rc $(cat "$err")" \
    "125 wireup: -wait: the job has 7 processes, and your DVM big 6 slots" || explain
let_go a
same "a slot for one of them does not let the second one pass" "$(cat "$tmp/g.out")" ""
let_go b
holds f 2
holds g 1
same "then both start, on what is free" "$(places c f g)" " 2 n1 2 n2 2 n3 "
hold w -n 1 -wait
ok "a job that waits can be interrupted" wait_until 60 waiting 1 || explain
kill -INT "$pid_w"
wait "$pid_w"
ok "and then nobody waits" wait_until 60 eval 'dvm_line big | grep -q " 0 of 6 slots free  *- *$"' || explain
let_go c f g
ok "all slots come back" wait_until 60 eval 'dvm_line big | grep -q " 6 of 6 slots free  *- *$"' || explain

jobs=
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    hold "m$i" -n 1
    jobs="$jobs m$i"
done
for job in $jobs; do
    holds "$job" 1
done
# shellcheck disable=SC2086 # many names
same "twelve jobs at once: four on each node" "$(places $jobs)" " 4 n1 4 n2 4 n3 "
# shellcheck disable=SC2086
let_go $jobs

# ---- a job for each line
cat >"$tmp/jobs" <<'END'
# two processes
-n 2 hostname

-n 1 sh -c 'echo "it is" here'
-n 1 sh -c 'exit 7'
-n 9 true
END
dvm run -batch "$tmp/jobs"
same "a job for each line of a file" "$rc $(grep -c '^n[123]$' "$out") $(grep '^it' "$out")" "7 2 it is here" || explain
same "those that fail are named" "$(grep "$tmp\|failed" "$err" | sed "s|$tmp/||" | sort | tr '\n' ,)" \
    "wireup: 2 of 4 jobs failed,wireup: jobs:5: exit status 7,wireup: jobs:6: the job has 9 processes, more than the 6 slots of DVM big (exit status 125)," || explain
dvm run -batch "$tmp/jobs" -json -batch-stop
same "each as an object" "$(grep -o '"line":[0-9]*,"exit_code":[0-9]*' "$err" | sort | tr '\n' ' ')" \
    '"line":2,"exit_code":0 "line":4,"exit_code":0 "line":5,"exit_code":7 "line":6,"exit_code":125 ' || explain
grep '^{' "$err" >"$tmp/json"
same "as docs/json.md says" "$(python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-batch-1 "$tmp/json" 2>&1)" good || explain
printf -- '-n 6 sh -c "exit 3"\n-n 1 hostname\n' >"$tmp/few"
dvm run -batch "$tmp/few" -batch-stop
same "none is started after one that has failed, if the user wants so" "$rc $(wc -l <"$out") $(grep -c 'batch-stop: 1 of 2 jobs were not started' "$err")" "3 0 1" || explain
dvm run -batch "$tmp/few" -prepend-pattern 'job %g: ' -env GREETING hello
same "otherwise the others run, and output begins as asked" "$rc $(sed 's/[0-9]//g' "$out")" "3 job : n" || explain
printf '%s\n' '-map-by slot sh -c "exit 4"' 'sh -c "exit 5"' >"$tmp/few"
dvm run -batch "$tmp/few"
same "lines that need launchers of their own have them" "$rc $(grep -c 'exit status' "$err")" "4 2" || explain
mkfifo "$tmp/batch.go"
for i in 1 2 3 4; do
    echo "-n 2 $tmp/hold $tmp/batch.go"
done >"$tmp/jobs"
: >"$tmp/batch.out"
"$WIREUP" run -batch "$tmp/jobs" -dvm big >"$tmp/batch.out" 2>"$tmp/batch.err" </dev/null &
pid_batch=$!
ok "as many at once as fit" eval 'holds batch 6; wait_until 60 eval "dvm_line big | grep -q \" 0 of 6 slots free\""' || note "$(cat "$tmp/batch.out" "$tmp/batch.err")"
same "each with slots of its own" "$(places batch)" " 2 n1 2 n2 2 n3 "
exec 8>"$tmp/batch.go"
printf '\n\n\n\n\n\n\n\n' >&8
wait $pid_batch
same "then the others" "$? $(wc -l <"$tmp/batch.out") $(cat "$tmp/batch.err")" "0 8 "
exec 8>&-
: >"$tmp/batch.out"
"$WIREUP" run -batch "$tmp/jobs" >"$tmp/batch.out" 2>"$tmp/batch.err" </dev/null &
pid_batch=$!
holds batch 6
kill -TERM $pid_batch
wait $pid_batch
same "a signal ends all" "$? $(grep -c 'interrupted: [01] of 4 jobs were not started' "$tmp/batch.err")" "143 1" || note "$(cat "$tmp/batch.err")"
printf '%s\n' 'sh -c "echo one"' '-n 2 sh -c "echo two"' >"$tmp/short"
for words in "-dvm big -batch $tmp/short -n 1" "-n 1 -dvm=big --batch=$tmp/short" "-batch $tmp/short -n 1 -dvm big"; do
    # shellcheck disable=SC2086
    dvm run $words
    same "in any order: $words" "$rc $(sort "$out" | tr '\n' ' ')$(cat "$err")" "0 one two two " || explain
done
dvm -batch "$tmp/jobs"
same "it is for wireup run" "$rc $(cat "$err")" "2 wireup: -batch is for wireup run: wireup run -batch $tmp/jobs [OPTIONS]" || explain
dvm run -batch "$tmp/none"
ok "a file that is not there" eval '[ "$rc" = 2 ] && grep -q "^wireup: -batch $tmp/none: " "$err"' || explain

# ---- spawned processes use slots, too
mkfifo "$tmp/spawner.go" "$tmp/spawned.go"
exec 8<>"$tmp/spawner.go" 9<>"$tmp/spawned.go" # nobody waits for the other end
"$WIREUP" run -dvm big -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 3 "$tmp/hold" "$tmp/spawned.go" \
    <"$tmp/spawner.go" >"$tmp/spawner.out" 2>"$tmp/spawner.err" 8>&- 9>&- &
pid_spawner=$!
holds spawner 4
ok "those of a spawn are counted: on the one node of their job" wait_until 60 eval 'dvm_line big | grep -q " 4 of 6 slots free"' || explain
printf '\n\n\n' >&9
ok "until they end" wait_until 60 eval 'dvm_line big | grep -q " 5 of 6 slots free"' || explain
echo >&8
wait $pid_spawner
same "and then all" "$? $(cat "$tmp/spawner.err")" "0 "
exec 8>&- 9>&-
ok "slots are free again" wait_until 60 eval 'dvm_line big | grep -q " 6 of 6 slots free"' || explain

# ---- a lost node
kill -9 "$(cat "$tmp/agent.n2")"
ok "a lost node is named" wait_until 60 eval 'dvm_line big | grep -q " 2  standing .* 4 of 4 slots free; lost: n2"' || explain
dvm run hostname
same "jobs use the others, and say so" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')$(cat "$err")" \
    "0  2 n1 2 n3 wireup: DVM big has lost n2; the job uses its other nodes" || explain
dvm run -n 5 -wait hostname
same "which have fewer slots" "$rc $(cat "$err")" "125 wireup: -wait: the job has 5 processes, and your DVM big 4 slots" || explain
dvm down
same "down" "$rc" 0 || explain

# ---- limits of jobs
dvm up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -jobs 2 -job-slots 3 -job-nodes 2
same "a DVM with limits" "$rc" 0 || explain
dvm run hostname
same "a job of all slots gets as many as it may" "$rc $(wc -l <"$out") $(sort -u "$out" | wc -l)" "0 3 2" || explain
dvm run -n 4 hostname
same "more are refused" "$rc $(cat "$err")" "125 wireup: the job has 4 processes, and DVM dvm allows a job 3 (-job-slots)" || explain
dvm run -n 4 -wait hostname
same "and do not wait" "$rc $(cat "$err")" "125 wireup: the job has 4 processes, and DVM dvm allows a job 3 (-job-slots)" || explain
dvm run -dvm dvm -n 1 -hosts n1,n2,n3 hostname
same "so are more nodes" "$rc $(cat "$err")" "125 wireup: the job has 3 nodes, and DVM dvm allows a job 2 (-job-nodes)" || explain
dvm run -n 3 -map-by node hostname
same "the others share two" "$rc $(sort -u "$out" | wc -l)" "0 2" || explain
hold l -n 2
holds l 2
dvm run -n 2 hostname
same "another job gets the freest nodes" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n2 " || explain
hold m -n 1
holds m 1
dvm run -n 1 hostname
same "a third job at once is refused" "$rc $(cat "$err")" \
    "125 wireup: DVM dvm runs 2 jobs, and has no more at once (-jobs); -wait waits for the end of one" || explain
hold o -n 1 -wait
waiting() { dvm_line dvm | grep -q "free, $1 job"; }
ok "or waits" wait_until 60 waiting 1 || explain
let_go l
holds o 1
let_go m o
printf -- '-n 1 echo one\n-n 4 true\n-n 2 echo two\n' >"$tmp/few"
dvm run -batch "$tmp/few"
same "they hold for each line of a batch" "$rc $(sort "$out" | tr '\n' ' ')$(grep -c 'allows a job 3\|few:2: exit status 125' "$err")" "125 one two two 2" || explain
dvm run -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 2 echo here
same "a job may spawn as many as it may have" "$rc $(wc -l <"$out")" "0 3" || explain
dvm run -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 3 echo here
same "and no more" "$rc $(cat "$out")" "1 refused" || explain
dvm down
dvm up -launch-agent "$tmp/agent" -hosts n1:2 -job-time 2
dvm run -n 1 sleep 100
ok "a job ends when its time is over" eval '[ "$rc" = 124 ] && grep -q "within its time limit of 2 s" "$err"' || explain
dvm run -n 1 -timeout 1 sleep 100
ok "or earlier, as it says itself" eval '[ "$rc" = 124 ] && grep -q "within its time limit of 1 s" "$err"' || explain
dvm down
dvm run -n 1 -job-time 2 true
same "they are of the DVM" "$rc $(cat "$err")" "2 wireup: -jobs, -job-slots, -job-nodes and -job-time are for wireup up" || explain
dvm run -wait hostname
same "to wait without a DVM" "$rc $(cat "$err")" '125 wireup: you have no DVM on this machine; start one with `wireup up`' || explain
finish
