#!/bin/sh
# `wireup serve`: the shell starts the processes, and Wireup only connects them.  Our three libraries,
# MPICH's and Open MPI's clients, ranks that are late, twice there, or gone without finalize.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin
lines=$tmp/lines

printed()
{
    [ "$(wc -l <"$lines")" -eq "$1" ]
}

serve() # N OPTIONS...
{
    fresh
    : >"$lines"
    serve_n=$1
    shift
    "$WIREUP" serve -n "$serve_n" "$@" >"$lines" 2>"$err" &
    server=$!
    wait_until 120 printed "$serve_n"
}

start() # RANK COMMAND...: in the background
{
    start_rank=$1
    shift
    (
        eval "$(sed -n "$((start_rank + 1))p" "$lines")"
        exec "$@" 2>&1
    ) >>"$out" </dev/null &
}

over()
{
    wait $server
    rc=$?
    wait
    grep -h 'internal error' "$out" "$err" >>"$tmp/internal"
}

served() # N COMMAND...
{
    serve "$1"
    served_rank=$1
    shift
    while [ "$served_rank" -gt 0 ]; do
        served_rank=$((served_rank - 1))
        start $served_rank "$@"
    done
    over
}

lib=$WU_BUILD/tests/e2e/e2e-libpmi
lib2=$WU_BUILD/tests/e2e/e2e-libpmi2
served 3 "$lib" spoil
ok "the control: a wrong value is seen" grep -q "^lib 3 WRONG ranks=3" "$out" || explain
served 3 "$lib" exchange
same "libpmi" "$rc $(head -n 1 "$out") $(cat "$err")" "0 lib 3 good " || explain
served 3 "$lib2" exchange
same "libpmi2" "$rc $(head -n 1 "$out") $(cat "$err")" "0 pmi2 3 good " || explain
served 3 "$WU_BUILD/tests/e2e/e2e-modex-values"
same "libpmix" "$rc $(cat "$out" "$err")" "0 cards 3 good" || explain
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program modex_values $pmix_flags
    served 3 "$bin/modex_values"
    same "OpenPMIx's client" "$rc $(cat "$out" "$err")" "0 cards 3 good" || explain
else
    skip "OpenPMIx's client" "it is not installed"
fi
serve 2
start 0 "$WU_BUILD/tests/e2e/e2e-mixed1" random 2 3
start 1 "$WU_BUILD/tests/e2e/e2e-mixed2" random 2 3
over
same "two protocols in one job" "$rc $(sort "$out" | tr '\n' ';')$(cat "$err")" \
    "0 random 1 good;random 2 good;" || explain
c_program rawpmi1
served 3 "$bin/rawpmi1" exchange
same "a client that speaks the wire itself" "$rc $(head -n 1 "$out")" "0 raw 3 good" || explain
mpi_program ring
served 3 "$bin/ring"
same "MPICH's client" "$rc $(cat "$out" "$err")" "0 ring 3 good" || explain
export MPIR_CVAR_PMI_VERSION=2
served 2 "$bin/ring"
unset MPIR_CVAR_PMI_VERSION
same "MPICH's client, if it is told to speak PMI-2" "$rc $(cat "$out" "$err")" "0 ring 2 good" || explain
if command -v mpicc.openmpi >/dev/null 2>&1; then
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/ring.ompi" "$e2e/mpi/ring.c" || exit 1
    served 3 "$bin/ring.ompi"
    same "Open MPI's client" "$rc $(cat "$out" "$err")" "0 ring 3 good" || explain
else
    skip "Open MPI's client" "it is not installed"
fi

# ---- a rank that is late
serve 4
start 0 "$lib" exchange
start 2 "$lib" exchange
late()
{
    "$WIREUP" who >"$out" 2>&1
    grep -q '^  not connected: 1,3$' "$out" && grep -q ': 2 of 4 have arrived; missing: 1,3$' "$out"
}
ok "those that have not come are named" wait_until 120 late || explain
"$WIREUP" who --json >"$tmp/json"
same "for programs, too" "$(grep -o '"not_connected": *"[^"]*"' "$tmp/json" | tr -d ' ')" '"not_connected":"1,3"'
ok "those that have come, with their pids" grep -q "2 attached" "$out" || explain
fresh
start 0 "$lib" exchange
ok "a second process for a rank is refused" wait_until 120 grep -q "refused a second process for rank 0, which is connected" "$err" || explain
start 1 "$lib" exchange
start 3 "$lib" exchange
over
same "they come, and all go on" "$rc" 0 || explain

# ---- ends
serve 2 --trace "$tmp/trace"
start 0 "$lib" exchange
start 1 "$lib" exchange
over
run 60 "$WIREUP" replay "$tmp/trace"
same "a trace of it can be replayed" "$rc" 0 || explain
served 3 "$lib" abort 7 1 "this is the end"
same "an abort is the exit status" "$rc" 7 || explain
ok "with its reason" grep -q "this is the end" "$err" || explain
served 2 "$bin/rawpmi1" leave 0 1
same "a process that leaves without finalize ends the job" "$rc" 1 || explain
ok "which is told" grep -q "rank 1 on .* closed its connection without calling finalize: the job is ended" "$err" || explain
serve 2 --timeout 2
start 1 "$lib" exchange
over
same "a time limit" "$rc" 124 || explain
ok "names the missing rank" grep -q "not connected: 0\$" "$err" || explain
for signal in 2 15; do
    serve 2
    start 1 "$lib" exchange
    ok "a rank has come" wait_until 120 eval '"$WIREUP" who | grep -q "not connected: 0\$"'
    kill -$signal $server
    over
    same "signal $signal ends it" "$rc $(cat "$err")" "$((128 + signal)) wireup: the job was interrupted" || explain
done

# ---- what is printed
"$WIREUP" serve -n 2 --json >"$tmp/json" 2>"$err" &
server=$!
ok "JSON" wait_until 120 [ -s "$tmp/json" ]
cat >"$tmp/judge.py" <<'END'
import json, sys
job = json.load(sys.stdin)
zero, one = job["ranks"]
assert [zero["rank"], one["rank"]] == [0, 1] and "PMI_FD" in job["unset"]
assert zero["environment"]["PMI_PORT"] == one["environment"]["PMI_PORT"]
assert zero["environment"]["PMI_ID"] != one["environment"]["PMI_ID"]
assert one["environment"]["PMIX_NAMESPACE"] == job["namespace"] and one["environment"]["PMIX_RANK"] == "1"
print("good")
END
same "for programs" "$(python3 "$tmp/judge.py" <"$tmp/json" 2>&1)" good
kill $server
over
run 60 "$WIREUP" serve -n 0
same "no process at all is a mistake" "$rc $(grep -c 'serve: --n must be a number from 1' "$err")" "2 1" || explain
finish
