#!/bin/sh
# `wireup enter`: processes that something else has started become ranks of a job of `wireup serve`: programs,
# a shell, a Python program; in any order, and nobody twice.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
lib=$WU_BUILD/tests/e2e/e2e-libpmi
ours=$WU_BUILD/tests/e2e/e2e-modex-values

serve() # N NAME
{
    : >"$tmp/lines"
    "$WIREUP" serve -n "$1" >"$tmp/lines" 2>"$tmp/serve.err" </dev/null &
    server=$!
    wait_until 60 eval '[ "$(wc -l <"$tmp/lines")" = '"$1"' ]' || note "$(cat "$tmp/serve.err")"
    job=$("$WIREUP" ps --json | sed 's/.*"jobs":\[{"id":"\([^"]*\)".*/\1/')
}
enter() { "$WIREUP" enter "$@" >>"$tmp/ranks" 2>&1 </dev/null & }
over() # NAME WANT
{
    wait $server
    over_rc=$?
    wait # a rank may print at its end, later than the server
    same "$1" "$over_rc $(grep -v "^exchange_us" "$tmp/ranks" | sort | tr '\n' ';')$(cat "$tmp/serve.err")" "$2"
    : >"$tmp/ranks"
}
: >"$tmp/ranks"

# ---- as programs
serve 3
enter "$job" "$lib" exchange
enter "$job" 2 "$lib" exchange
enter "$job" "$lib" exchange
over "three programs, the rank of one chosen" "0 lib 3 good;"
serve 2
enter "$job" "$ours"
enter "$job" "$ours"
over "PMIx" "0 cards 2 good;"

# ---- a shell, and a program that runs already
serve 2
run 60 "$WIREUP" enter "$job"
same "a shell is told its variables" "$rc $(sed "s/.* PMI_RANK='\([0-9]*\)'.*/rank \1/" "$out")" "0 rank 0" || explain
(
    eval "$(cat "$out")"
    exec "$lib" exchange
) >>"$tmp/ranks" 2>&1 </dev/null &
cat >"$tmp/worker.py" <<'END'
import os, sys
import wireup
rank = wireup.enter(sys.argv[1])
print("python", rank, os.environ["PMI_RANK"], "PMI_FD" in os.environ, flush=True)
os.execv(sys.argv[2], [sys.argv[2], "exchange"])
END
PMI_FD=77 PYTHONPATH="$WU_SRC/python" PYTHONDONTWRITEBYTECODE=1 WIREUP=$WIREUP python3 "$tmp/worker.py" "$job" "$lib" >>"$tmp/ranks" 2>&1 </dev/null &
over "a shell and a program in Python" "0 lib 2 good;python 1 1 False;"

# ---- at the same moment
serve 8
for i in 1 2 3 4 5 6 7 8; do
    enter "$job" "$lib" exchange
done
over "eight at once: each has a rank of its own" "0 lib 8 good;"
serve 2
for i in 1 2 3 4; do
    "$WIREUP" enter "$job" 0 "$lib" exchange >"$tmp/twin.$i" 2>&1 </dev/null &
    eval "twin_$i=$!"
done
# The first one waits for rank 1; the others end, whether they ask later than it connects or connect later.
ended_twins() { [ "$(grep -lc . "$tmp"/twin.? | wc -l)" = 3 ]; }
ok "four at once as one rank: three are refused" wait_until 60 ended_twins || note "$(cat "$tmp"/twin.?)"
enter "$job" 1 "$lib" exchange
wait "$server"
rc=$?
good=0
for i in 1 2 3 4; do
    eval "wait \$twin_$i" && good=$((good + 1))
done
wait
same "and the job is good" "$rc $good $(cat "$tmp"/twin.? | grep -c '^lib 2 good')" "0 1 1" || note "$(cat "$tmp"/twin.? "$tmp/serve.err")"
: >"$tmp/ranks"

# ---- a job of which ranks have ended, and one that ends
serve 2
run 60 "$WIREUP" enter "$job" 1 "$lib" pass
same "a rank comes and goes" "$rc $(cat "$out" "$err")" "0 lib 1 of 2 passes" || explain
wait_until 60 eval '"$WIREUP" who --json | tr -d " " | grep -q "\"not_connected\":\"0\""'
run 60 "$WIREUP" enter "$job" 1
same "nobody comes as one that has ended" "$rc $(cat "$out" "$err")" "1 wireup: rank 1 of the job has come already" || explain
run 60 "$WIREUP" enter "$job" "$lib" pass
same "the other one is free" "$rc $(cat "$out" "$err")" "0 lib 0 of 2 passes" || explain
wait "$server"
same "and then it ends" "$? $(cat "$tmp/serve.err")" "0 "
# It has no launcher to ask, or one that ends before it comes, while it joins, or afterwards.
told() # RC
{
    case $1 in
    0) grep -q "^lib 1 good" "$tmp/late" ;;
    124) false ;;
    *) [ -s "$tmp/late" ] ;;
    esac
}
wrong=
for turn in 1 2 3 4 5 6 7 8; do
    serve 1
    kill "$server" &
    timeout -k 5 60 "$WIREUP" enter "$job" "$lib" exchange >"$tmp/late" 2>&1 </dev/null
    told "$?" || wrong="$wrong $turn: $(cat "$tmp/late")"
    wait "$server"
done
wait
same "who enters a job that ends does not hang, and is told" "$wrong" ""

# ---- refused
serve 2
run 60 "$WIREUP" enter "$job" 5
same "a rank that the job has not" "$rc $(cat "$out" "$err")" "1 wireup: the job has 2 ranks, and no rank 5" || explain
run 60 "$WIREUP" enter "$job" 0
run 60 "$WIREUP" enter --json "$job"
ok "the next one is free" eval '[ "$rc" = 0 ] && grep -q "\"schema\":\"wireup-enter-1\".*\"rank\":1,\"environment\":{.*\"PMI_RANK\":\"1\"" "$out"' || explain
run 60 "$WIREUP" enter "$job"
same "and then none" "$rc $(cat "$out" "$err")" "1 wireup: all 2 ranks of the job are taken" || explain
run 60 "$WIREUP" enter "$job" 1
same "one that has not come may be named again" "$rc $(cat "$err")" "0 " || explain
run 60 "$WIREUP" enter "$job" 0 ./nothing
same "no such program" "$rc $(cat "$err")" "127 wireup: cannot run ./nothing: No such file or directory" || explain
"$WIREUP" enter "$job" 0 sh -c 'exec "$0" exchange' "$lib" >"$tmp/late" 2>&1 </dev/null &
wait_until 60 eval '"$WIREUP" who | grep -q "1 attached"'
run 60 "$WIREUP" enter "$job" 0
same "one that has come is not free" "$rc $(cat "$out" "$err")" "1 wireup: rank 0 of the job has come already" || explain
enter "$job" 1 "$lib" exchange
wait $server
same "and the job goes on" "$? $(head -n 1 "$tmp/late")" "0 lib 2 good" || note "$(cat "$tmp/serve.err" "$tmp/ranks")"
wait
run 60 "$WIREUP" enter nobody
same "no such job" "$rc $(cat "$err")" "1 wireup: you have no running job nobody on this machine" || explain
"$WIREUP" -job-name mine -n 1 sh -c 'echo up; exec sleep 1000' >"$tmp/mine" 2>&1 </dev/null &
mine=$!
wait_until 60 grep -q up "$tmp/mine"
run 60 "$WIREUP" enter mine
same "a job whose processes its launcher starts" "$rc $(cat "$err")" \
    '1 wireup: the launcher of this job starts its processes; those of `wireup serve` can be entered' || explain
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    for_others "$WIREUP"
    run 60 setpriv --reuid 65534 --clear-groups env XDG_RUNTIME_DIR="$tmp/run" "$others/wireup" enter mine
    same "another user" "$rc $(cat "$err")" "1 wireup: you have no running job mine on this machine" || explain
else
    skip "another user" "only root can be one"
fi
kill "$mine"
wait "$mine"
run 60 "$WIREUP" enter
same "without a job" "$rc" 2
finish
