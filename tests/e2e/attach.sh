#!/bin/sh
# Debuggers of processes: from their first instruction (-debugger) and later (wireup attach), of all or of some
# ranks, on one node and on two, in panes of tmux and without a terminal.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
for tool in gdb tmux; do
    command -v $tool >/dev/null 2>&1 || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done
mkdir "$tmp/tmux"
export TMUX_TMPDIR="$tmp/tmux"
unset TMUX
cat >"$tmp/rank.c" <<'END2'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static __attribute__((noinline)) void wait_here(void)
{
    for (;;)
        pause();
}
int main(int argc, char **argv)
{
    printf("rank %s runs\n", getenv("PMI_RANK"));
    fflush(stdout);
    if (argc > 1)
        wait_here();
    return argv == NULL;
}
END2
${CC:-cc} -g -O1 -o "$bin/rank" "$tmp/rank.c" || exit 99
cat >"$tmp/commands" <<'END2'
set debuginfod enabled off
break main
continue
bt
continue
END2
gdb="gdb -q -nx -batch -x $tmp/commands"

# TITLE OPTIONS...
from_the_start()
{
    title=$1
    shift
    run "$patience" "$WIREUP" "$@" -debugger "$gdb" -n 3 "$bin/rank"
    same "$title: a debugger for each" "$rc $(grep -c '^rank . runs' "$out") $(sed -n 's/^\(\[.\] Breakpoint 1, main\).*/\1/p' "$out" | sort | tr '\n' ,)" \
        "0 3 [0] Breakpoint 1, main,[1] Breakpoint 1, main,[2] Breakpoint 1, main," || explain
    same "$title: until each has ended" "$(grep -c 'exited normally' "$out")" 3 || explain
    run "$patience" "$WIREUP" "$@" -debugger "$gdb" -debugger-ranks 0,2 -n 3 "$bin/rank"
    same "$title: only for some" "$rc $(grep -c '^rank . runs' "$out") $(sed -n 's/^\(\[.\]\) .*exited normally.*/\1/p' "$out" | sort | tr '\n' ,)" \
        "0 3 [0],[2]," || explain
}

begin_job() # OPTIONS...: a job that waits
{
    "$WIREUP" "$@" -job-name held -n 3 "$bin/rank" wait >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
    all_run() { [ "$(grep -c runs "$tmp/job.out")" = 3 ]; }
    wait_until "$patience" all_run
}
end_job()
{
    "$WIREUP" kill held
    wait "$job"
}

# TITLE NODES OPTIONS...
to_a_running_job()
{
    title=$1 nodes=$2
    shift 2
    begin_job "$@"
    run "$patience" "$WIREUP" attach held --debugger 'gdb -q -nx -batch -iex "set debuginfod enabled off" -ex bt'
    same "$title: all stacks" "$rc $(sed -n 's/^\(\[.\]\) .* \(wait_here\) .*/\1 \2/p' "$out" | sort | tr '\n' ,)" \
        "0 [0] wait_here,[1] wait_here,[2] wait_here," || explain
    run "$patience" "$WIREUP" attach held 0,2 --debugger 'echo %r on %h: "%%" $(ps -o comm= -p %p)'
    same "$title: what a command may name" "$rc $(sort "$out" | tr '\n' ,)" "0 $nodes" || explain
    run "$patience" "$WIREUP" attach held --json
    same "$title: JSON" "$(python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-attach-1 "$out" 2>&1)" good || explain
    run "$patience" "$WIREUP" attach held 1-2 --print
    same "$title: printed" "$(cut -f 1 "$out" | tr '\n' ,) $(grep -c 'gdb -p ' "$out")" "1,2, 2" || explain
    echo 'bt' | timeout "$patience" "$WIREUP" attach held 1 --debugger 'gdb -q -nx' >"$out" 2>&1
    ok "$title: one of them reads what we write" grep -q 'wait_here ()' "$out" || note "$(cat "$out")"
    end_job
}

here=$(hostname)
from_the_start "one node"
to_a_running_job "one node" "[0] 0 on $here: % rank,[2] 2 on $here: % rank,"

# ---- wrong words
run 60 "$WIREUP" -debugger-ranks 1 -n 2 true
same "ranks without a debugger" "$rc $(cat "$err")" "2 wireup: -debugger-ranks needs -debugger"
run 60 "$WIREUP" -debugger gdb -debugger-ranks 1,2 -n 2 true
same "a rank that there is not" "$rc $(cat "$err")" "2 wireup: -debugger-ranks: the job has no rank 2"
run 60 "$WIREUP" -debugger gdb -debugger-ranks 1,x -n 2 true
same "no rank" "$rc $(cat "$err")" "2 wireup: -debugger-ranks must be ranks such as 0,2-5, not '1,x'"
run 60 "$WIREUP" attach nobody
same "no job" "$rc $(cat "$err")" "1 wireup: you have no running job nobody on this machine"
begin_job
run 60 "$WIREUP" attach held 3-4
same "no process" "$rc $(sed 's/job [0-9]*/job N/' "$err")" "1 wireup: job N has no process of ranks 3-4 that runs"
run 60 "$WIREUP" attach held 2-1
same "no list" "$rc $(cat "$err")" "2 wireup: attach: RANKS must be ranks such as 0,2-5, not '2-1'"

# ---- a terminal
person() { TERM=xterm python3 "$e2e/terminal.py" "$@" >"$out" 2>&1; }
# shellcheck disable=SC2016
person size 40 120 see 'rank 0 on' see 'rank 1 on' see 'rank 2 on' sh 'tmux -L $(basename "$TMUX_TMPDIR"/tmux-*/wireup-*) kill-server' end -- \
    "$WIREUP" attach held --debugger 'gdb -q -nx -iex "set debuginfod enabled off"'
ok "on a terminal each has a pane" eval '! grep -q "^stuck" "$out"' || note "$(tail -n 5 "$out" | cat -v)"
end_job
rm -rf "$TMUX_TMPDIR"/tmux-*
cat >"$tmp/go" <<'END2'
server=$(basename "$TMUX_TMPDIR"/tmux-*/wireup-*)
tmux -L "$server" list-panes -F '#{pane_title}' | sed 's/ on .*//' | tr '\n' , >"$1"
all_show() { [ "$(for p in 0 1; do tmux -L "$server" capture-pane -p -t $p; done | grep -c "$1")" = 2 ]; }
until all_show '^(gdb)'; do sleep 0.1; done
for p in 0 1; do tmux -L "$server" send-keys -t $p 'break main' Enter continue Enter; done
until all_show 'Breakpoint 1, main'; do sleep 0.1; done
for p in 0 1; do tmux -L "$server" send-keys -t $p continue Enter; done
END2
person size 40 120 see ' attach' sh "timeout 100 sh $tmp/go $tmp/panes" end -- \
    "$WIREUP" -debugger 'gdb -q -nx -iex "set debuginfod enabled off"' -debugger-ranks 0-1 -n 3 "$bin/rank"
same "from the start, too" "$(cat "$tmp/panes") $(grep -c '^rank . runs' "$out") $(tail -n 1 "$out")" "rank 0,rank 1, 3 status 0" || note "$(cat -v "$out")"
same "tmux leaves nothing" "$(ls "$TMUX_TMPDIR"/tmux-*)" ""

needs_host_names
named_agent
from_the_start "two nodes" -launch-agent "$tmp/agent" -hosts n1:2,n2:1
to_a_running_job "two nodes" "[0] 0 on n1: % rank,[2] 2 on n2: % rank," -launch-agent "$tmp/agent" -hosts n1:2,n2:1
finish
