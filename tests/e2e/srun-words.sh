#!/bin/sh
# `wireup srun`: the words of Slurm's srun, without Slurm.  (Each word by itself: src/launch/srun_words_test.c.)
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=60

run "$patience" "$WIREUP" srun -n2 -l echo hi
same "tasks and labels" "$rc $(sort "$out" | tr '\n' ,)" "0 [0] hi,[1] hi," || explain
printf '0 echo first\n* echo other %%t %%o\n' >"$tmp/programs"
run "$patience" "$WIREUP" srun -n 3 --multi-prog "$tmp/programs"
same "a program for each range of ranks" "$rc $(sort "$out" | tr '\n' ,)" "0 first,other 1 0,other 2 1," || explain
ln -s "$WIREUP" "$tmp/srun"
# shellcheck disable=SC2016
run "$patience" "$tmp/srun" -n 2 -o "$tmp/said.%t" sh -c 'echo "$PMI_RANK"; exit "$((1 - PMI_RANK))"'
same "under the name srun; one that fails ends nobody else" \
    "$rc $(cat "$tmp/said.0" "$tmp/said.1" | tr '\n' ,)" "1 0,1," || explain
echo in >"$tmp/in"
same "all read standard input" "$(timeout "$patience" "$WIREUP" srun -n 2 cat <"$tmp/in" | tr '\n' ,)" "in,in,"
# shellcheck disable=SC2016
run "$patience" "$WIREUP" -timeout 60 -timeout-signal USR1@57 -n 2 sh -c 'trap "echo saved; exit 0" USR1; while :; do sleep 0.1; done'
same "a signal before the time limit" "$rc $(tr '\n' ' ' <"$out")" "0 saved saved " || explain
run "$patience" "$WIREUP" srun -p debug true
same "a partition has no effect, and a remark says so" "$rc $(grep -c "srun --partition has no effect" "$err")" "0 1" || explain
run "$patience" "$WIREUP" srun --pty true
same "a terminal is refused, in a sentence" "$rc $(wc -l <"$err")" "2 1" || explain
finish
