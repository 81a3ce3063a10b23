#!/bin/sh
# wireup sim: a fence of many thousand nodes near the bound of the model, a barrier that grows with
# the logarithm of the nodes, seeds that do the same again, and options that cannot be.
#
#   sim.sh NODES       so many for the large fence
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
large=${1:-100000}
value() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$out"; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; }

run 240 "$WIREUP" sim --nodes "$large" --ranks 8 --bytes-per-rank 248 --json
same "$large nodes: it ends well" "$rc" 0
ok "within twice the bound: $(value ratio)" at_most "$(value ratio)" 2
ok "no byte leaves a node twice" at_most "$(value node_bytes)" $((large * 8 * 248 * 2))

first=
for n in 64 1024 16384 65536; do
    run 120 "$WIREUP" sim --nodes $n --bytes-per-rank 0 --json
    now=$(value everywhere_ns)
    first=${first:-$now}
    ok "barrier of $n nodes: $now ns" at_most "$(awk -v a="$now" -v n=$n \
        'BEGIN { print a / log(n) * log(64) }')" "$(awk -v a="$first" 'BEGIN { print a * 1.25 }')"
done

trouble='sim --nodes 200 --ranks 1 --rounds 3 --sets 3 --node-failures 4 --link-failures 2 --slow 2 --reports 2 --requests 4 --groups 2
    --broadcasts 2 --jitter 30000 --flags barrier,real --seed 11'
# shellcheck disable=SC2086 # words
run 60 "$WIREUP" $trouble
same "deaths and cut links: nothing is violated" "$rc" 0 || explain
was=$(cat "$out")
# shellcheck disable=SC2086
run 60 "$WIREUP" $trouble
same "the same seed does the same" "$(cat "$out")" "$was"
same_words='sim --nodes 40 --rounds 2 --seed 5'
# shellcheck disable=SC2086
run 60 "$WIREUP" $same_words --bytes-per-rank 99 --node-failures 2 --link-failures 1 --broadcasts 3 --ps-per-byte 9
was=$(cat "$out")
for pair in bytes-per-rank=99 node-failures=2 link-failures=1 broadcasts=3 ps-per-byte=9; do
    # shellcheck disable=SC2046,SC2086 # words
    run 60 "$WIREUP" $same_words $(for p in bytes-per-rank=99 node-failures=2 link-failures=1 broadcasts=3 \
        ps-per-byte=9; do [ $p = $pair ] || echo "--$p"; done)
    ok "without --$pair another run" [ "$rc $(cat "$out")" != "0 $was" ] || explain
done
# shellcheck disable=SC2086
run 60 "$WIREUP" $same_words --card 99 --kills 2 --cuts 1 --words 3 --byte 9
same "the old names of its options mean the same" "$rc $(cat "$out")" "0 $was" || explain
# The stacks of 1,024 nodes: in virtual time at the launcher, in real time merged.
run 120 "$WIREUP" sim --nodes 1024 --ranks 16 --bytes-per-rank 0 --stacks --json
same "the stacks of 1,024 nodes are merged: three groups, the odd rank is found" \
    "$rc $(value ranks) $(value groups) $(value odd_rank)" "0 16384 3 5461" || explain
ok "they are at the launcher in 5 s: $(value gathered_ns) ns, and merged in $(value merge_ns) ns" \
    at_most "$(value gathered_ns)" 5000000000 || explain

# PyTorch's barrier, and the id of a communicator: four queries of the store for each process.
run 120 "$WIREUP" sim --nodes 12288 --rounds 0 --bytes-per-rank 0 --store 2 --json
same "98,304 processes meet twice at their store" "$rc" 0 || explain
ok "in less than a second: $(value store_ns) ns" at_most "$(value store_ns)" 999999999 || explain
ok "the control: not in none" at_most 1000000 "$(value store_ns)" || explain
run 60 "$WIREUP" sim --nodes 64 --requests 60
same "requests while links for an exchange open: nothing is violated" "$rc" 0 || explain

# ---- the phases of a job
phases='sim --phases --nodes 2 --ranks 1 --latency 10000000 --overhead 0 --ps-per-byte 0 --bytes-per-rank 100 --window 14480 --link 0'
# shellcheck disable=SC2086 # words
run 60 "$WIREUP" $phases
same "each phase takes as many latencies as messages follow each other" "$rc $(sed -n 's/^phases: *//p' "$out")" \
    "0 start 60.000 ms, barrier 20.000 ms, fence 20.000 ms, fence_again 20.000 ms, broadcast 20.000 ms, get 40.000 ms, end 30.000 ms"
# shellcheck disable=SC2086 # words
run 60 "$WIREUP" $phases --costs call=1000000 --processors 1
same "two processes call on one processor, before and after" "$rc $(sed -n 's/.*barrier \([^,]*\),.*/\1/p' "$out")" "0 24.000 ms"
# shellcheck disable=SC2086 # words
run 60 "$WIREUP" $phases --costs finish=5000000
same "the launcher's own end" "$rc $(sed -n 's/.*end //p' "$out")" "0 35.000 ms"
# Each of eight nodes has links to three others.
run 60 "$WIREUP" sim --phases --nodes 8 --ranks 1 --schedule exchange --latency 10000000 --overhead 0 --ps-per-byte 0 --bytes-per-rank 100 \
    --window 14480 --link 0 --costs close=1000000
same "the ends of links beside the tree" "$rc $(sed -n 's/.*end //p' "$out")" "0 33.000 ms"
# The launcher passes on all addresses, for 3.9 s; who gave up before would send a part of the second one along the tree, too (0.4 s).
run 60 "$WIREUP" sim --phases --nodes 1024 --ranks 64 --latency 20000 --overhead 700000 --costs joined=700000 --bytes-per-rank 248 --window 14480
again=$(sed -n 's/.*fence_again \([0-9]*\).*/\1/p' "$out")
ok "links that come up late are used by the next fence" at_most "$again" 200 || note "$again ms: $(cat "$out")"
run 60 "$WIREUP" sim --costs call=1
same "costs without phases" "$rc $(cat "$err")" "2 wireup: sim: --costs and --processors are of --phases, which is not given"
run 60 "$WIREUP" sim --phases --costs coffee=1
same "costs of nothing" "$rc $(cut -d: -f 1-3 "$err")" "2 wireup: sim: --costs"
run 60 "$WIREUP" sim --phases --rounds 2
same "phases and rounds" "$rc $(cut -d: -f 1-3 "$err" | cut -c 1-46)" "2 wireup: sim: --phases runs one job alone"

run 60 "$WIREUP" sim --nodes 0
same "no nodes" "$rc $(cat "$err")" "2 wireup: sim: --nodes and --width must be at least 1"
run 60 "$WIREUP" sim --nodes many
same "a number that is none" "$rc" 2
run 60 "$WIREUP" sim --schedule magic
same "a schedule that is none" "$rc" 2
finish
