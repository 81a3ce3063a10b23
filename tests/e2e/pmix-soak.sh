#!/bin/sh
# PMIx processes that come and go ten thousand times, and two hundred jobs in which somebody is killed:
# nothing may add up, the survivors are told, and the dead have names.
#
#   pmix-soak.sh CYCLES WILD [SEED]
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=600
cycles=$1
wild=$2
seed=${3:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}

launch 2 sh -c '[ "$PMIX_RANK" != 0 ] || exec python3 "$@"' sh "$e2e/cycles.py" "$cycles"
same "$cycles times init and finalize in one job" "$rc $(cat "$out")" "0 cycles $cycles good" || explain

# ---- the dead have names, and the others are told
cat >survivor.sh <<'END'
[ "$PMIX_RANK" != 2 ] || kill -9 $$
until [ -e go ]; do sleep 0.02; done
END
"$WIREUP" -disable-auto-cleanup -n 3 sh survivor.sh >"$out" 2>"$err" </dev/null &
job=$!
ok "wireup who names the dead processes" \
    wait_until 120 eval '"$WIREUP" who 2>/dev/null | grep -q "dead: rank 2 on .*, killed by signal 9 (SIGKILL)"' ||
    note "$("$WIREUP" who 2>&1)"
ok "and for programs too" eval '"$WIREUP" who -json 2>/dev/null | grep -q "\"dead\":\[{\"rank\":2,"' ||
    note "$("$WIREUP" who -json 2>&1)"
touch go
wait $job

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ "$wild" -gt 0 ] && [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program rawpmix $pmix_flags
    note "seed $seed"
    run 600 python3 "$e2e/soak.py" wild "$wild" "$seed" "$WIREUP" -n 4 "$bin/rawpmix" hold "$tmp/up" "$tmp/never"
    same "$wild jobs in which somebody is killed" "$(head -n 1 "$out")" "wild $wild good"
    note "$(cat "$out" "$err" | tail -n 5)"
elif [ "$wild" -gt 0 ]; then
    skip "jobs in which somebody is killed" "OpenPMIx (libpmix-dev) is not installed"
fi
finish
