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
# On a machine that is busy the programs may come to it later than the signal: then it is given later.
for early in 2 30; do
    # shellcheck disable=SC2016
    run "$patience" "$WIREUP" -timeout $((57 + early)) -timeout-signal USR1@57 -n 2 sh -c \
        'trap "echo saved; exit 0" USR1; while :; do sleep 0.1; done'
    [ "$rc" != 0 ] || break
done
same "a signal before the time limit" "$rc $(tr '\n' ' ' <"$out")" "0 saved saved " || explain
run "$patience" "$WIREUP" srun -p debug true
same "a partition has no effect, and a remark says so" "$rc $(grep -c "srun --partition has no effect" "$err")" "0 1" || explain

# ---- so long after the first process that has ended, the others are ended
named_agent
first() # THEN WORDS...: rank 0 ends at once, the others do THEN
{
    then=$1
    shift
    run "$patience" "$@" sh -c '[ "$PMI_RANK" = 0 ] || '"$then"
}
called=wireup
late="the job did not end within 1 s of the end of its first process"
until_warned="until grep -q 'have not ended' '$err'; do sleep 0.02; done"
on_nodes="-launch-agent $tmp/agent -hosts n1,n2,n3"
for where in "" "$on_nodes"; do
    # shellcheck disable=SC2086
    first 'exec sleep 100' "$WIREUP" $where -n 3 -exit-timeout 1
    same "others that stay, ${where:+on three nodes}" "$rc $(tail -n 1 "$err")" "124 $called: $late" || explain
    # shellcheck disable=SC2086
    first 'exit 0' "$WIREUP" $where -n 3 -exit-timeout 100
    same "others that end as well, ${where:+on three nodes}" "$rc $(cat "$err")" "0 " || explain
    # shellcheck disable=SC2086
    first "$until_warned" "$WIREUP" $where -n 3 -exit-timeout warn:1
    same "a warning, ${where:+on three nodes}" "$rc $(cat "$err")" \
        "0 wireup: the first process ended 1 s ago; 2 of 3 processes have not ended" || explain
done
called=srun
first 'exec sleep 100' "$tmp/srun" -n 3 -W 1
same "srun -W" "$rc $(tail -n 1 "$err")" "124 $called: $late" || explain
first 'exec sleep 100' env SLURM_WAIT=1 "$tmp/srun" -n 3
same "SLURM_WAIT" "$rc $(tail -n 1 "$err")" "124 $called: $late" || explain
first 'exec sleep 2' env SLURM_WAIT=1 "$tmp/srun" -n 3 -W 100
same "-W instead of SLURM_WAIT" "$rc $(cat "$err")" "0 " || explain
first 'exit 0' env SLURM_WAIT=soon "$tmp/srun" -n 3
same "a wrong SLURM_WAIT" "$rc $(cat "$err")" "2 srun: the variable SLURM_WAIT: 'soon' is not a number of seconds" || explain
run "$patience" "$WIREUP" -n 3 -exit-timeout 1 sh -c '[ "$PMI_RANK" = 0 ] && exit 3; exec sleep 100'
same "one that fails ends the job at once, with its code" "$rc" 3 || explain
run "$patience" "$WIREUP" -n 3 -on-failure continue -exit-timeout 1 sh -c '[ "$PMI_RANK" = 0 ] && exit 3; exec sleep 100'
same "where one that fails does not, the sentence is told before that of the failure" \
    "$rc $(grep -c "^wireup: $late" "$err") $(tail -n 1 "$err" | cut -d ' ' -f 2-3)" "3 1 rank 0" || explain
run "$patience" "$tmp/srun" -n 3 -W 1 sh -c '[ "$PMI_RANK" = 0 ] && exit 3; exec sleep 100'
same "under srun, the others have their time, and its code counts" "$rc" 3 || explain
too_early() { grep -c '3 of 3 processes have not ended' "$err"; }
# shellcheck disable=SC2016
again='[ "$PMI_RANK" = 0 ] && [ -z "$WIREUP_RESTARTS" ] && exit 3; '
for where in "" "$on_nodes"; do
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" $where -n 3 -on-failure restart -exit-timeout warn:1 sh -c "$again"'exec sleep 2'
    same "a rank that is started again has not ended, ${where:+on three nodes}" "$rc $(too_early)" "0 0" || explain
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" $where -n 3 -on-failure restart -exit-timeout 1 sh -c "$again"'[ "$PMI_RANK" = 0 ] || exec sleep 100'
    same "but when it ends then, ${where:+on three nodes}" "$rc $(tail -n 1 "$err")" "124 wireup: $late" || explain
done
run "$patience" "$WIREUP" -n 3 -restart-job 1 -exit-timeout 1 sh -c '[ "$PMI_RANK" = 0 ] || exec sleep 100'
same "the end by -exit-timeout starts no job again" "$rc $(grep -c 'start 2' "$err") $(tail -n 1 "$err")" \
    "124 0 wireup: $late" || explain
# shellcheck disable=SC2016
run "$patience" "$WIREUP" -n 3 -restart-job 1 -exit-timeout 1 sh -c \
    'case $TORCHELASTIC_RESTART_COUNT$PMI_RANK in 00) exit 3 ;; 10) ;; *) exec sleep 100 ;; esac'
same "each start of a job has its own time" "$rc $(grep -c 'start 2 of 2' "$err") $(tail -n 1 "$err")" \
    "124 1 wireup: $late" || explain

# ---- in a DVM: a job's own, not the DVM's
for word in "-exit-timeout 1" --exit-timeout=warn:1; do
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" up $on_nodes $word
    same "a DVM has no first process: $word" "$rc $(cat "$err")" \
        "2 wireup: -exit-timeout is for a job: give it to wireup run" || explain
done
# shellcheck disable=SC2086
run "$patience" "$WIREUP" up $on_nodes
first 'exec sleep 2' "$WIREUP" run -n 3
same "a DVM's job without it" "$rc $(cat "$err")" "0 " || explain
first 'exec sleep 100' "$WIREUP" run -n 3 -exit-timeout 1
same "a DVM's job with it" "$rc $(tail -n 1 "$err")" "124 wireup: $late" || explain
first "$until_warned" "$WIREUP" run -n 3 -exit-timeout warn:1
same "a DVM's job with a warning" "$rc $(cat "$err")" \
    "0 wireup: the first process ended 1 s ago; 2 of 3 processes have not ended" || explain
run "$patience" "$WIREUP" run -n 3 -on-failure restart -exit-timeout warn:1 sh -c "$again"'exec sleep 2'
same "a DVM's job, a rank of which is started again" "$rc $(too_early)" "0 0" || explain
run "$patience" "$WIREUP" run -n 3 -restart-job 1 -exit-timeout 1 sh -c \
    'case $TORCHELASTIC_RESTART_COUNT$PMI_RANK in 00) exit 3 ;; 10) ;; *) exec sleep 100 ;; esac'
same "a DVM's job that is started again" "$rc $(grep -c 'start 2 of 2' "$err") $(tail -n 1 "$err")" \
    "124 1 wireup: $late" || explain
run "$patience" "$WIREUP" down
run "$patience" "$WIREUP" srun --pty true
same "a terminal is refused, in a sentence" "$rc $(wc -l <"$err")" "2 1" || explain
finish
