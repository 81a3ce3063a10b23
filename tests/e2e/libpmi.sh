#!/bin/sh
# libpmi.so.0 under a process manager: every function, mixed jobs, threads, forks, aborts.
#
#   libpmi.sh LAUNCHER RANKS...       LAUNCHER: wireup, or hydra
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher "$1"
shift
lib=$WU_BUILD/tests/e2e/e2e-libpmi
server=legacy
[ "$launcher" = wireup ] && server=ours
patience=300

launch 4 "$lib" spoil
ok "a wrong value is seen to be wrong" grep -q "^lib 4 WRONG ranks=4" "$out"

for n in "$@"; do
    launch "$n" "$lib" exchange
    same "$n ranks exchange their cards" "$rc $(head -n 1 "$out")" "0 lib $n good" || explain
    launch "$n" "$lib" all "$server"
    same "every function on $n ranks" "$rc $(cat "$out" "$err")" "0 all $n good" || explain
    launch "$n" "$lib" any
    if [ "$server" = ours ]; then
        same "any bytes arrive whole, $n ranks" "$rc $(cat "$out" "$err")" "0 whole $n good" || explain
    else
        same "what it cannot say is refused, $n ranks" "$rc $(cat "$out" "$err")" "0 refused $n good" ||
            explain
    fi
done
launch 3 "$lib" exchange "$longest"
same "values of $longest bytes" "$rc $(head -n 1 "$out")" "0 lib 3 good" || explain
if [ "$launcher" = wireup ]; then
    for n in 2 5; do
        launch "$n" "$lib" tags
        same "six threads in each of $n ranks, each in barriers of its own" "$rc $(cat "$out" "$err")" "0 tags $n good" ||
            explain
    done
fi
launch 3 "$lib" threads
same "eight threads in each of 3 ranks" "$rc $(cat "$out" "$err")" "0 threads 3 good" || explain
launch 3 "$lib" fork
same "forked and executed children are no ranks" "$rc $(cat "$out" "$err")" "0 fork 3 good" || explain

# A client without our library and ours in one job.
c_program rawpmi1
launch 2 "$bin/rawpmi1" exchange : -n 3 "$lib" exchange
same "raw clients and the library in one job" "$rc $(head -n 1 "$out")" "0 raw 5 good" || explain
launch 2 "$lib" exchange : -n 3 "$bin/rawpmi1" exchange
same "and the other way round" "$rc $(head -n 1 "$out")" "0 lib 5 good" || explain
launch 2 "$bin/rawpmi1" exchange : -n 3 "$lib" spoil
ok "a spoiled one is seen" grep -q "^raw 5 WRONG ranks=5" "$out"

launch 3 "$lib" abort 7 1 "this is the end"
same "PMI_Abort(7) by rank 1 ends the job with 7" "$rc" 7 || explain
if [ "$launcher" = wireup ]; then # Hydra may end us, and itself, before it has passed it on
    same "and its message is told once" "$(grep -c "this is the end" "$err")" 1 || explain
fi

# Nothing is said unless asked, and then why.
launch 1 env PMI_DEBUG=1 "$lib" any
if [ "$server" = legacy ]; then
    ok "PMI_DEBUG tells why a value was refused" \
        grep -q "^libpmi: PMI_KVS_Put: the value of key 'any-0' contains a blank" "$err" || explain
    run 60 mpiexec.hydra -pmi-port -n 3 "$lib" all legacy
    same "a job on PMI_PORT" "$rc $(cat "$out" "$err")" "0 all 3 good" || explain
fi

run 60 env WIREUP=none "$lib" all alone
same "alone, every function" "$rc $(cat "$out" "$err")" "0 all 1 good" || explain
run 60 env WIREUP=none "$lib" any
same "alone, any bytes" "$rc $(cat "$out" "$err")" "0 whole 1 good" || explain
run 60 env PMI_DEBUG=1 PMI_FD=99 "$lib" any
ok "a lost descriptor is a clear failure" \
    grep -q "^libpmi: PMI_Init: PMI_FD=99 is not an open descriptor" "$err" || explain
finish
