#!/bin/sh
# on-failure.sh - each word of -on-failure, for each way to fail (exit status, signal, a lost daemon, a lost node): on one
# node, on several and on a DVM, by PMIx with our client library and with OpenPMIx's, and by PMI-1.  What is expected differs from row to row: a
# word that did nothing, or what another one does, would be seen.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
ours=$WU_BUILD/tests/e2e/e2e-fails
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program fails $pmix_flags
    clients="$ours $bin/fails"
else
    skip "with OpenPMIx's client" "it is not installed"
fi
needs_host_names
killable_agent
export FAILS_MACHINES="$tmp/agent"

begins() { printf 'rank %s begins\n' "$@"; }
ends() # HOW RANKS
{
    ends_how=$1
    shift
    printf "rank %s $ends_how\n" "$@"
}

# What rank 1 has printed before it took its daemon along may be lost with that.
kept() # HOW
{
    case $1 in
    node | machine) grep -v "^rank 1 begins" ;;
    *) cat ;;
    esac
}

# What the job's exit status is, and what its ranks print; TIMES: how often rank 1 fails.
expected() # WORD HOW TIMES
{
    case $2 in
    exit) status=3 ;;
    signal) status=137 ;;
    *) status=1 ;;
    esac
    case $1/$2/$3 in
    default/* | abort/*) lines=$(begins 0 1 2) ;;
    continue/* | restart:1/node/* | restart:1/machine/*) lines=$(begins 0 1 2 && ends alone 0 2) ;;
    */2) lines=$(begins 0 1 1 2 && ends alone 0 2) ;;
    *) status=0 lines=$(begins 0 1 1 2 && ends met 0 1 2) ;;
    esac
    printf '%s %s' "$status" "$(echo "$lines" | sort | kept "$2")"
}

# The sentence on standard error that says what has happened.
said() # WORD HOW
{
    case $1/$2 in
    */exit) grep -q '^wireupd\{0,1\}: rank 1 .*exited with code 3' "$err" ;;
    */signal) grep -q '^wireupd\{0,1\}: rank 1 .*killed by signal 9' "$err" ;;
    replace*) grep -q '^wireup: node n[1-4] takes the place of n[1-4]$\|; node n[1-4] takes its place$' "$err" ;;
    *) grep -q '^wireup: node n[1-4] is lost: ' "$err" ;;
    esac
}

row() # PLACE WORD HOW TIMES WORDS OF THE LAUNCHER...
{
    row_name="$1, $2: $3 ($4)"
    row_word=$2 row_how=$3 row_times=$4
    shift 4
    [ "$row_word" = default ] || set -- "$@" -on-failure "$row_word"
    # shellcheck disable=SC2086
    run 120 "$WIREUP" "$@" -n 3 $client "$row_how" "$row_times"
    same "$row_name" "$rc $(sort "$out" | kept "$row_how")" \
        "$(expected "$row_word" "$row_how" "$row_times")" || explain
    ok "$row_name: it is said" said "$row_word" "$row_how" || explain
}

for client in $clients; do
    place="one node (${client##*/})"
    for word in default abort continue restart:1; do
        for how in exit signal; do
            row "$place" "$word" "$how" 1
        done
    done
    row "$place" restart:1 signal 2
    place="four nodes (${client##*/})"
    nodes="-launch-agent $tmp/agent -hosts n1:1,n2:1,n3:1,n4:1"
    for word in default abort continue restart:1 replace:1; do
        for how in exit signal node machine; do
            # shellcheck disable=SC2086
            row "$place" "$word" "$how" 1 $nodes
        done
    done
    # shellcheck disable=SC2086
    row "$place" replace:1 exit 2 $nodes
done

# ---- PMI-1
client="$WU_BUILD/tests/e2e/e2e-libpmi fails"
for word in continue restart:1; do
    for how in exit signal; do
        row "PMI, one node" "$word" "$how" 1
    done
done
for word in continue restart:1 replace:1; do # (where the job ends, its others may see that before they end)
    for how in signal node; do
        # shellcheck disable=SC2086
        row "PMI, four nodes" "$word" "$how" 1 $nodes
    done
done
row "PMI, one node" restart:1 exit 2

# ---- the same by options of their own
same_as() # WORD WORDS...
{
    same_word=$1
    shift
    run 120 "$WIREUP" "$@" -n 3 "$ours" signal 1
    same "$* is $same_word" "$rc $(sort "$out")" "$(expected "$same_word" signal 1)" || explain
}
same_as abort -enable-auto-cleanup
same_as continue -disable-auto-cleanup
same_as continue -enable-recovery
same_as continue -continuous
same_as restart:1 -disable-auto-cleanup -max-restarts 1
same_as continue -on-failure abort -on-failure continue

# ---- on a DVM, whose nodes are four again for each row
lost() { "$WIREUP" ps --nodes | awk '$5 == "lost" { print $2 }'; }
four() { [ "$("$WIREUP" ps --nodes | grep -c ' 1 *1  up$')" = 4 ]; }
again() # a node that was lost with its daemon comes back
{
    wait_until 60 eval '[ -n "$(lost)" ]' || note "no node is lost"
    run 120 "$WIREUP" grow -hosts "$(lost)"
    [ "$rc" = 0 ] || explain
}
client=$ours
run 120 "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1,n2,n3,n4
same "a DVM of four nodes" "$rc" 0 || explain
for word in default abort continue restart:1 replace:1; do
    for how in exit signal node machine; do
        row "a DVM" "$word" "$how" 1 run
        [ "$how" != machine ] || again
        wait_until 60 four || note "$("$WIREUP" ps --nodes)"
    done
done
row "a DVM" restart:1 exit 2 run
run 120 "$WIREUP" down
same "down" "$rc $(cat "$err")" "0 " || explain
finish
