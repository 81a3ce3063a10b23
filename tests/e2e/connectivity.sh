#!/bin/sh
# Jobs whose fences leave values on their nodes (-connectivity): programs of all three protocols, which
# get values of all ranks, on three nodes; and what a fence then moves.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
needs_host_names
named_agent
c_program rawpmi1
build=$WU_BUILD/tests/e2e
clients=$build/e2e-connectivity
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program connectivity $pmix_flags
    clients="$clients $bin/connectivity"
else
    skip "with OpenPMIx's client" "it is not installed"
fi
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 "$@"; }
good() { same "$1" "$rc $(head -n 1 "$out")" "0 $2" || explain; }
all_good() { same "$1" "$rc $(sort "$out" | uniq -c | tr -s ' ')" "0  6 connectivity rank good" || explain; }

over -connectivity sparse -n 6 "$build/e2e-connectivity" spoil
ok "a wrong value is seen on all nodes" test "$(grep -c 'card1 of rank 0 is 2, not 1' "$out")" = 5 || explain
over -n 6 "$build/e2e-connectivity"
all_good "the control: nothing is left"
for pattern in ring hypercube cartesian:2x3 sparse all; do
    for client in $clients; do
        over -connectivity $pattern -n 6 "$client" $pattern
        all_good "$pattern: PMIx, ${client##*/}"
    done
    over -connectivity $pattern -n 6 "$bin/rawpmi1" exchange
    good "$pattern: raw PMI-1" "raw 6 good"
done
for pattern in ring sparse; do
    over -connectivity $pattern -n 6 "$build/e2e-libpmi" exchange
    good "$pattern: the library for PMI-1" "lib 6 good"
    over -connectivity $pattern -n 6 "$build/e2e-libpmi" all ours
    good "$pattern: every function of it" "all 6 good"
    over -connectivity $pattern -n 6 "$build/e2e-libpmi2" exchange
    good "$pattern: the library for PMI-2" "pmi2 6 good"
done

# ---- what a fence moves
moved() { sed -n 's/.*fence.* \([0-9]*\) bytes.*/\1/p' "$err" | tr '\n' ' '; }
over -v -connectivity ring -n 6 "$bin/rawpmi1" exchange
same "a fence moves nothing" "$(moved | tr -d '0 ')" "" || explain
over -v -n 6 "$bin/rawpmi1" exchange
ok "without a pattern it does" eval '[ -n "$(moved | tr -d "0 ")" ]' || explain

# ---- a spawned job
over -n 1 "$build/e2e-connectivity" spawn ring 5 "$build/e2e-connectivity"
same "a spawned job has its own" "$rc $(sed s/PMIX_// "$out" | sort | uniq -c | tr -s ' ' | tr '\n' ,)" \
    "0  5 connectivity rank good, 1 spawn: SUCCESS," || explain
over -n 1 "$build/e2e-connectivity" spawn cartesian:2x2 5 "$build/e2e-connectivity"
ok "a grid of another size is refused" grep -q 'the grid has 4 places, and the job 5 processes' "$out" "$err" || explain

# ---- what is none
over -connectivity torus -n 6 true
same "a word that is none" "$rc $(tail -n 1 "$err")" "2 wireup: connectivity 'torus': it must be ring, hypercube, cartesian:AxBxC (1 to 8 dimensions), sparse or all" || explain
over -connectivity cartesian:2x2 -n 6 true
same "a grid of another size" "$rc $(tail -n 1 "$err")" "2 wireup: connectivity: the grid has 4 places, and the job 6 processes" || explain
finish
