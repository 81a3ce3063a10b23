#!/bin/sh
# tree.sh - daemons in the middle of the tree die, hang, or lose their launcher: who is below them
# comes to another one, jobs that have nothing there go on, and nothing stays.
#
# Each daemon has a host name of its own, and its agent lets go of it, as sshd does: what dies with a
# node is what ran there, and not what was started from there.  The tree is a chain, so every daemon
# but the last is in the middle.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
cat >"$tmp/agent" <<'SH'
#!/bin/sh
host=$1
shift
exec 3<&0
unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@" <&3 3<&- &
exec 3<&-
wait
SH
chmod +x "$tmp/agent"
c_program rawpmi1
build=$WU_BUILD/tests/e2e
hosts=n1:2,n2:2,n3:2,n4:2,n5:2

# Guard and worker of the daemons of a node.
daemons() # NODE
{
    processes | while read -r pid words; do
        case ${words%% *} in
        */wireupd) [ "$(nsenter -t "$pid" -u hostname 2>/dev/null)" != "$1" ] || echo "$pid" ;;
        esac
    done
}
# Its daemons end; what they have started does not.
die() # NODE
{
    who=$(daemons "$1")
    [ -n "$who" ] || note "no daemon of $1 is there"
    # shellcheck disable=SC2086
    switch_off $who
}
all_up() { [ "$(find "$tmp" -name 'up.*' | wc -l)" = "$1" ]; }
start() # RANKS WORDS...
{
    want=$1
    shift
    rm -f "$tmp"/up.* "$tmp/go"
    timeout -k 5 300 "$WIREUP" -tree-width 1 -launch-agent "$tmp/agent" -hosts "$hosts" "$@" >"$out" 2>"$err" </dev/null &
    job=$!
    wait_until 60 all_up "$want"
}
end() { rc=0; wait $job || rc=$?; }
survivors() { grep -c '^survivor [0-9]* good$' "$out"; }

# ---- those who are left meet
start 10 -disable-auto-cleanup -n 10 "$build/e2e-survivors" "$tmp/up" "$tmp/go" 2 3
die n2
touch "$tmp/go"
end
same "a daemon in the middle dies: the others fence with data, and have each other's cards" "$(survivors)" 8 || explain
ok "the job's code is not 0 when ranks died" [ "$rc" -ne 0 ]
same "with one sentence that names the node" "$(sed 's/lost: .*/lost/' "$err")" "wireup: node n2 is lost" || explain
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program survivors $pmix_flags
    start 10 -disable-auto-cleanup -n 10 "$bin/survivors" "$tmp/up" "$tmp/go" 2 3
    die n2
    touch "$tmp/go"
    end
    same "so do OpenPMIx's clients" "$(survivors)" 8 || explain
else
    skip "OpenPMIx's client" "it is not installed"
fi
start 10 -disable-auto-cleanup -n 10 "$build/e2e-survivors" spoil "$tmp/up" "$tmp/go" 2 3
die n2
touch "$tmp/go"
end
same "the control is red" "$(survivors) $(grep -c 'WRONG: late' "$out")" "0 8" || explain
start 10 -disable-auto-cleanup -collective exchange -n 10 "$build/e2e-survivors" "$tmp/up" "$tmp/go" 0 1 4 5
die n1
die n3
touch "$tmp/go"
end
same "two of them, and by the exchange" "$(survivors)" 6 || explain

# ---- what is spawned then
# shellcheck disable=SC2016
start 10 -disable-auto-cleanup -oversubscribe -n 10 sh -c '
    touch "$0/up.$PMI_RANK"
    while [ ! -e "$0/go" ]; do sleep 0.1; done
    [ "$PMI_RANK" != 0 ] || exec "$1" once 20' "$tmp" "$build/e2e-dynamic"
die n2
# (A spawn that comes before the loss is known would be given places there, and fail with it.)
wait_until 60 grep -q "node n2 is lost" "$err"
touch "$tmp/go"
end
same "later spawns start on the remaining nodes" "$(grep '^once' "$out")" "once 20 good" || explain

# ---- how a fence goes
# (The last fence of all is the goodbye, without data.)
ways() # OPTION WORD: fences with data by the tree, and by the exchange
{
    touch "$tmp/go"
    # shellcheck disable=SC2086
    SURVIVORS_WAYS=$2 run 120 "$WIREUP" -v $1 -tree-width 2 -launch-agent "$tmp/agent" -hosts "$hosts" \
        -n 10 "$build/e2e-survivors" "$tmp/up" "$tmp/go" 10
    rm -f "$tmp/go" "$tmp"/up.*
    echo "$(survivors) $(grep -c ' [1-9][0-9]* bytes, by the tree' "$err") $(grep -c ' [1-9][0-9]* bytes, by the exchange' "$err")"
}
same "little data goes by the tree by default" "$(ways "" "")" "10 2 0" || explain
export SURVIVORS_BYTES=60000
same "much by the exchange" "$(ways "" "")" "10 0 2" || explain
same "unless the option asks for the tree" "$(ways "-collective tree" "")" "10 2 0" || explain
unset SURVIVORS_BYTES
same "by the exchange" "$(ways "-collective exchange" "")" "10 0 2" || explain
same "or the attribute of the program decides" "$(ways "" "unheard,bruck")" "10 0 2" || explain
same "which counts more" "$(ways "-collective exchange" tree)" "10 2 0" || explain
same "an unknown algorithm is ignored" "$(ways "-collective exchange" magic)" "10 0 2" || explain
export SURVIVORS_MUST=1
same "unless it must be: then there is no fence" "$(ways "" magic,more)" "0 0 0" || explain
ok "and its program gets the error" grep -q '^survivor [0-9]* WRONG: fence: PMIX_ERR_NOT_SUPPORTED$' "$out" || explain
same "a required algorithm that is known is used" "$(ways "" magic,bruck)" "10 0 2" || explain
unset SURVIVORS_MUST

# ---- what comes through a daemon that dies is whole
# They write without a pause, until some time after the loss.
# shellcheck disable=SC2016
start 10 -disable-auto-cleanup -n 10 sh -c '
    i=0
    until [ -e "$0/go" ] && [ $i -ge 2000 ]; do
        echo "line $i of $PMI_RANK"
        i=$((i + 1))
        [ $i != 1000 ] || touch "$0/up.$PMI_RANK"
    done
    echo "line $i of $PMI_RANK is the last"' "$tmp"
die n2
touch "$tmp/go"
end
whole()
{
    for rank in 0 1 4 5 6 7 8 9; do
        grep "^line [0-9]* of $rank\( is the last\)*\$" "$out" | awk -v n=0 '
            $2 != n++ { exit 1 }
            { last = /last/ }
            END { exit !last }' || return 1
    done
}
ok "every line of the others' output is there, once and in order" whole || note "$(cat "$err")"

# ---- a job ends, when it is not to go on
# shellcheck disable=SC2016
start 10 -n 10 sh -c 'touch "$0/up.$PMI_RANK"; exec sleep 1000' "$tmp"
die n3
end
ok "a job with processes there ends" [ "$rc" -ne 0 ]
same "with one sentence that names the node" "$(sed 's/lost: .*/lost/' "$err")" "wireup: node n3 is lost" || explain
nothing_left "after that"

# ---- a daemon that hangs
start 10 -disable-auto-cleanup -n 10 "$build/e2e-survivors" "$tmp/up" "$tmp/go" 2 3
hung=$(daemons n2)
# shellcheck disable=SC2086
kill -STOP $hung
touch "$tmp/go"
end
same "a daemon that hangs is noticed, and the others meet without it" "$(survivors)" 8 || explain
# shellcheck disable=SC2086
kill -CONT $hung 2>/dev/null
nothing_left "after that"

# ---- the launcher dies
# shellcheck disable=SC2016
start 10 -disable-auto-cleanup -n 10 sh -c 'touch "$0/up.$PMI_RANK"; exec sleep 1000' "$tmp"
die n2
# shellcheck disable=SC2009
kill -9 $job "$(ps -o pid= --ppid $job | tr -d ' ')"
wait $job 2>/dev/null
gone() { [ -z "$(processes)" ]; }
ok "a launcher that is killed leaves nothing on any node" wait_until 60 gone || note "$(processes)"

# ---- a DVM
standing()
{
    rc=0
    timeout -k 5 300 "$WIREUP" "$@" >"$out" 2>"$err" </dev/null || rc=$?
}
standing up -tree-width 1 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2,n4:2
same "a DVM, one below the other" "$rc" 0 || explain
rm -f "$tmp"/up.* "$tmp/go"
# shellcheck disable=SC2016
timeout -k 5 300 "$WIREUP" run -rankmap 0,2,3 -n 3 sh -c '
    touch "$0/up.$PMI_RANK"; while [ ! -e "$0/go" ]; do sleep 0.1; done; exec "$1" exchange' \
    "$tmp" "$bin/rawpmi1" >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
job=$!
wait_until 60 all_up 3
die n2
touch "$tmp/go"
end
same "a job on its other nodes goes on when one in the middle is lost" "$rc $(head -n 1 "$tmp/job.out")" "0 raw 3 good" ||
    note "$(cat "$tmp/job.out" "$tmp/job.err")"
fewer() { standing run -n 6 hostname; [ "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" = "0  2 n1 2 n3 2 n4 " ]; }
ok "the next jobs run on the nodes that are left" wait_until 60 fewer || explain
standing run -n 6 "$bin/rawpmi1" exchange
same "and exchange" "$rc $(head -n 1 "$out")" "0 raw 6 good" || explain
standing down
same "down" "$rc" 0
ok "nothing stays" wait_until 60 gone || note "$(processes)"
finish
