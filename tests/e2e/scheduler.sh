#!/bin/sh
# A tool that is the scheduler of a DVM is asked for allocations (scheduler.c): by tools, and by a process on another
# node, with our library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
launcher=$WIREUP
combinations
patience=60
ours=$WU_BUILD/tests/e2e/e2e-scheduler
programs=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program scheduler -DONLY_ASKS $pmix_flags
    programs="$ours $bin/scheduler"
else
    skip "with OpenPMIx's library" "it is not installed"
fi
needs_host_names
named_agent
sed '2s/^/echo $$ >"$0.$1"\n/' "$tmp/agent" >"$tmp/agent.sh" && mv "$tmp/agent.sh" "$tmp/agent" && chmod +x "$tmp/agent"

run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
same "a DVM of three nodes" "$rc" 0 || explain
uri=$("$WIREUP" tools | cut -f 2)

schedule()
{
    rm -f "$tmp/hold" "$tmp/served" # else the words of the last one are read
    mkfifo "$tmp/hold"
    "$ours" "$uri" serve <"$tmp/hold" >"$tmp/served" 2>&1 &
    scheduler=$!
    exec 8>"$tmp/hold"
    wait_until "$patience" grep -q . "$tmp/served"
}

schedule
same "a scheduler registers" "$(cat "$tmp/served")" ready
for program in $programs; do
    run "$patience" "$program" "$uri" ask
    same "it decides, and is asked of all: ${program##*/}" "$rc $(cat "$out")" "0 scheduler ask good" || explain
done
same "it hears what is wanted" "$(grep -c "^asked 1 fast rank 0" "$tmp/served")" $((2 * $(echo "$programs" | wc -w)))
for program in $programs; do
    rm -f "$tmp/where"
    run "$patience" env WHERE="$tmp/where" "$program" "$uri" spawn
    same "it is asked for the nodes of a spawn: ${program##*/}" "$rc $(cat "$out")" "0 scheduler spawn good" || explain
    wait_until "$patience" grep -q . "$tmp/where"
    same "whose job runs on those that it grants: ${program##*/}" "$(cat "$tmp/where")" n3
done
asked() { tail -n 1 "$tmp/served" | grep -q '^asked 1  rank'; }
granted() { tail -n 1 "$tmp/served" | grep -q granted; }
now() { date +%s%N; }
grants() # what is held
{
    echo grant >&8
    wait_until "$patience" granted
}
spawns()
{
    run "$patience" env WHERE="$tmp/where" "$program" "$uri" spawn
    [ "$rc" = 0 ]
}
# The same limit counts for its answer and the start: 6 s, of which half are over when it answers.  A machine that is busy may
# tell of the end later; so it is tried again.
late_start()
{
    WHERE=$tmp/never LIMIT=6 "$program" "$uri" late-start >"$out" 2>"$err" 8>&- &
    asks=$!
    wait_until "$patience" asked
    kill -STOP "$daemon"
    sleep 3
    granted_at=$(now)
    grants
    wait "$asks"
    rc=$?
    took_ms=$((($(now) - granted_at) / 1000000))
    kill -CONT "$daemon"
}
tries=0
daemon=$(pgrep -P "$(cat "$tmp/agent.n3")")
for program in $programs; do
    run "$patience" env WHERE="$tmp/never" "$program" "$uri" late
    same "it does not answer within the time limit of a spawn: ${program##*/}" "$rc $(cat "$out")" \
        "0 scheduler late good" || explain
    ok "what it grants later is not used" grants
    late_start
    same "nor does the node: ${program##*/}" "$rc $(cat "$out")" "0 scheduler late-start good" || explain
    while [ "$took_ms" -ge 5500 ] && [ "$tries" -lt 10 ]; do # (it would be 6 s each time)
        tries=$((tries + 1))
        wait_until "$patience" spawns
        late_start
    done
    ok "the limit counts from the request: ${program##*/}" [ "$took_ms" -lt 5500 ]
    ok "nothing was started: ${program##*/}" [ ! -e "$tmp/never" ]
    rm -f "$tmp/where"
    ok "the node is free when the job has ended: ${program##*/}" wait_until "$patience" spawns || explain
    wait_until "$patience" grep -q . "$tmp/where"
    same "and takes another one: ${program##*/}" "$(cat "$tmp/where")" n3
done
for program in $programs; do
    run "$patience" "$program" "$uri" all
    same "what no launcher can judge reaches it: ${program##*/}" "$rc $(cat "$out")" "0 scheduler all good" || explain
done
for told in "ncpulist STRING" "cpulist STRING" "msize FLOAT" "bw FLOAT" "netid STRING" "netqos STRING" \
    "nettype STRING" "netplane STRING" "endpts SIZE" "endpts.nd SIZE"; do
    same "with its type: $told" "$(grep -c "^told pmix.alloc.${told% *} PMIX_${told#* }\$" "$tmp/served")" \
        "$(echo "$programs" | wc -w)" || explain
done
# It ends what it has granted; another tool does not.
mkfifo "$tmp/kept"
"$ours" "$uri" keep <"$tmp/kept" >"$out" 2>"$err" 8>&- &
keeps=$!
exec 7>"$tmp/kept"
wait_until "$patience" grep -q '^[1-9]' "$out"
number=$(cat "$out")
same "another tool may not end it" "$("$ours" "$uri" end "$number")" "scheduler end good"
echo "$number" >&8
wait_until "$patience" grep -q "^ended" "$tmp/served"
same "the scheduler ends a session" "$(grep "^ended" "$tmp/served")" "ended $number: PMIX_SUCCESS"
exec 7>&-
wait "$keeps"
same "which is over then" "$? $(tail -n 1 "$out")" "0 scheduler keep good" || explain
for program in $programs; do
    for how in lost lost-spawn; do
        WHERE=$tmp/never "$program" "$uri" $how >"$out" 2>"$err" 8>&- &
        asks=$!
        wait_until "$patience" sh -c "tail -n 1 '$tmp/served' | grep -q '^asked 1  rank'"
        kill -s KILL "$scheduler"
        wait "$asks"
        same "it is killed: ${program##*/}, $how" "$? $(cat "$out")" "0 scheduler $how good" || explain
        exec 8>&-
        wait "$scheduler"
        [ $how = lost-spawn ] || schedule
    done
    ok "nothing was started then" [ ! -e "$tmp/never" ]
    run "$patience" "$program" "$uri" none
    same "then the launcher decides: ${program##*/}" "$rc $(cat "$out")" "0 scheduler none good" || explain
    schedule
done
run "$patience" "$WIREUP" down
exec 8>&-
wait "$scheduler"
same "the DVM goes, and the scheduler" "$rc $?" "0 0" || explain

# A process of another node.
cat >"$tmp/serves" <<'END'
unset PMIX_NAMESPACE PMIX_RANK
"$2" "$("$1" tools | cut -f 2)" serve <hold >served
END
cat >"$tmp/asks" <<'END'
exec 8>hold
until grep -q ready served 2>/dev/null; do sleep 0.05; done
exec "$1" ask
END
for program in $programs; do
    rm -f "$tmp/hold" "$tmp/served"
    mkfifo "$tmp/hold"
    run "$patience" env -C "$tmp" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -map-by node \
        -n 1 sh "$tmp/serves" "$launcher" "$ours" : -n 1 sh "$tmp/asks" "$program" : -n 1 true
    same "a process on another node asks: ${program##*/}" "$rc $(cat "$out")" "0 scheduler ask good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -map-by node -n 1 true : -n 1 "$program" none
    same "a process on another node, without a scheduler: ${program##*/}" "$rc $(cat "$out")" \
        "0 scheduler none good" || explain
done
finish
