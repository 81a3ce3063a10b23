#!/bin/sh
# late-nodes.sh - a job on a DVM takes nodes that the DVM gains while it runs: in the place of a lost one
# (-on-failure replace, -replace-wait), and for what it spawns.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
killable_agent
export RESTARTS_MACHINES="$tmp/agent"
restarts=$WU_BUILD/tests/e2e/e2e-restarts
spawner=$WU_BUILD/tests/e2e/e2e-spawner

dvm() { run 120 "$WIREUP" "$@"; }
# NODE: has been lost, which the DVM may learn later than the job; until then it is refused.
back() { wait_until 60 eval '"$WIREUP" grow -hosts "'"$1"'" >"$out" 2>"$err"' || explain; }
up() { dvm up -launch-agent "$tmp/agent" "$@"; }
input=/dev/null
job() # WORDS...: in the background
{
    : >"$tmp/job.out"
    : >"$tmp/job.err"
    "$WIREUP" run "$@" <"$input" >"$tmp/job.out" 2>"$tmp/job.err" 9>&- &
    job=$!
}
shown() { note "$(cat "$tmp/job.out" "$tmp/job.err")"; }
says() { wait_until 60 grep -q "$1" "$tmp/job.err" || shown; }
lines() { [ "$(wc -l <"$tmp/job.out")" = "$1" ]; }
good() { for rank in $(seq 0 $(($1 - 1))); do printf 'rank %s good\n' "$rank"; done; }
ended() # NAME CODE OUTPUT
{
    wait "$job"
    same "$1" "$? $(sort "$tmp/job.out")" "$2 $3" || shown
}
moved() { sed -n 's/^wireup: node \(.*\) takes the place of \(.*\)$/\2 \1/p' "$tmp/job.err" | sort | tr '\n' ' '; }
waits="waits for a node that takes its place"
mkfifo "$tmp/go"
export GO="$tmp/go"
exec 9<>"$tmp/go" # nobody waits for the other end
# shellcheck disable=SC2016
where='echo $PMI_RANK $(hostname); read -r _ <$GO'

# ---- a lost node is replaced by one that joins the DVM: with its epoch, its values, and fences
up -hosts n1,n2,n3
job -on-failure replace:4 -n 3 "$restarts" machine:1 kill:1 exit:2 machine:0
says "node n2 is lost: .*; its 1 rank $waits, for at most 60 s (-replace-wait)$"
dvm grow -hosts n4
says "node n1 is lost: .*; its 1 rank $waits"
same "nobody has it before it is there" "$(moved)" "n2 n4 "
dvm grow -hosts n5
ended "lost nodes are replaced by those that join" 0 "$(good 3)"
same "each by one" "$(moved)" "n1 n5 n2 n4 "
back n2
job -on-failure replace:4 -n 4 "$restarts" node:1 kill:1
ended "a node that has lost only the job's daemon takes it again" 0 "$(good 4)"

# ---- nodes that others leave; those that the user names
"$WIREUP" run -n 1 sh -c "$where" </dev/null >"$tmp/other" 2>&1 9>&- &
other=$!
wait_until 60 [ -s "$tmp/other" ]
job -on-failure replace -n 3 sh -c "$where"
wait_until 60 lines 3 || shown
lost=$(sed -n 's/^1 //p' "$tmp/job.out")
kill -9 "$(cat "$tmp/agent.$lost")"
says "node $lost is lost: .* $waits"
kill "$other"
wait "$other"
wait_until 60 lines 4 || shown
same "a node that another job leaves" "$(moved)" "$lost $(sed -n 's/^0 //p' "$tmp/other" | head -n 1) "
printf '\n\n\n' >&9
wait "$job"
same "and the job ends well" "$?" 0 || shown
dvm down

up -hosts n1,n2,n3,n4
job -dvm dvm -on-failure replace -hosts n1,n2 -n 2 sh -c "$where"
wait_until 60 lines 2 || shown
kill -9 "$(cat "$tmp/agent.n2")"
says "node n2 is lost: .* $waits"
dvm grow -hosts n5
back n2
wait_until 60 lines 3 || shown
same "of a job on nodes that are named, one of these" "$(moved) $(tail -n 1 "$tmp/job.out")" "n2 n2  1 n2"
printf '\n\n' >&9
wait "$job"
same "and it ends well, too" "$?" 0 || shown
dvm down

up -hosts n1,n2 -spare-hosts s1
job -on-failure replace:4 -n 2 "$restarts" machine:1 kill:0
ended "a spare node of the DVM" 0 "$(good 2)"
same "takes the place, too" "$(moved)" "n2 s1 "
dvm down

# ---- nobody comes
up -hosts n1,n2
job -on-failure replace -replace-wait 1 -n 2 sh -c "[ \$PMI_RANK = 0 ] || { echo here; read -r _ <$GO; }"
wait_until 60 lines 1 || shown
kill -9 "$(cat "$tmp/agent.n2")"
ended "nobody comes" 1 here
ok "which is said" grep -q "^wireup: node n2 is lost: .*, and no node has come within 1 s to take its place$" "$tmp/job.err" || shown
back n2
job -on-failure replace -replace-wait 0 -n 2 sh -c "[ \$PMI_RANK = 0 ] || { echo here; read -r _ <$GO; }"
wait_until 60 lines 1 || shown
kill -9 "$(cat "$tmp/agent.n2")"
ended "nobody is awaited" 1 here
same "nor is that said" "$(grep -c replace "$tmp/job.err")" 0 || shown
asked() # NAME CODE HOW WORDS...
{
    asked_name=$1
    asked_code=$2
    asked_how=$3
    shift 3
    back n2
    job -on-failure replace "$@" -n 2 sh -c "echo here; read -r _ <$GO"
    wait_until 60 lines 2 || shown
    kill -9 "$(cat "$tmp/agent.n2")"
    says "node n2 is lost: .* $waits"
    [ -z "$asked_how" ] || kill "-$asked_how" "$job"
    ended "$asked_name" "$asked_code" "here
here"
}
asked "interrupted while it waits" 130 INT
asked "ended while it waits" 143 TERM
asked "out of time" 124 "" -timeout 3
dvm down

# ---- what it spawns
input=$tmp/go
up -hosts n1,n2,n3
job -dvm dvm -n 2 -hosts n1,n2 sh -c "[ \$PMI_RANK = 1 ] || exec $spawner 2 hostname -s host=n4:2"
wait_until 60 lines 1 || shown
dvm grow -hosts n4:2
echo >&9
wait_until 60 lines 4 || shown
echo >&9
ended "a spawn names a node that has joined" 0 "n4
n4
ready
spawned"
job -dvm dvm -n 1 -hosts n1 "$spawner" 1 hostname -s add-host=n3
wait_until 60 lines 1 || shown
echo >&9
wait_until 60 lines 3 || shown
echo >&9
ended "or one that the job has not" 0 "n3
ready
spawned"
job -dvm dvm -n 1 -hosts n1 "$spawner" 1 hostname -s host=n9
wait_until 60 lines 1 || shown
echo >&9
ended "one that the DVM has not" 1 "ready
refused"
ok "is refused with a sentence" grep -q "^wireup: spawn: .*n9 is not a node of" "$tmp/job.err" || shown
dvm shrink -hosts n2,n3,n4
job -n 1 -all-nodes -verbose "$spawner" 2 hostname -s wdir=/
wait_until 60 lines 1 || shown
dvm grow -hosts n5
says "node n5 is up"
echo >&9
wait_until 60 lines 4 || shown
echo >&9
ended "with -all-nodes all that have joined" 0 "n1
n5
ready
spawned"
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
exec 9>&-
finish
