#!/bin/sh
# asked.sh - a job that has been asked to end, in whichever way: whatever starts its processes again (-on-failure,
# -max-restarts, -restart-job), nothing of it is started again, on no node, and it need not be killed.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
ours=$WU_BUILD/tests/e2e/e2e-restarts
three="-launch-agent $tmp/agent -hosts n1:2,n2:2,n3:2"
cat >"$bin/unjoined" <<'END'
#!/bin/sh
echo "ready ${PMIX_NAMESPACE:-}"
exec sleep 1000
END
chmod +x "$bin/unjoined"

ready() { [ "$(grep -c ready "$out")" -ge 6 ]; }
namespace() { sed -n 's/^ready \(.\)/\1/p' "$out" | head -n 1; }
# Three processes that have joined the job, and three that have not; each: the words of all programs.
start() # WORDS...
{
    fresh
    # shellcheck disable=SC2086
    "$WIREUP" "$@" $each -n 3 "$bin/unjoined" : $each -n 3 "$ours" stay $also >"$out" 2>"$err" </dev/null &
    pid=$!
}
also=
ask() # WAY
{
    [ "$1" = limit ] || [ "$1" = first ] || wait_until 60 ready
    case $1 in
    limit | first) ;; # it comes by itself
    kill) "$WIREUP" kill "$(namespace)" ;;
    KILL | QUIT) "$WIREUP" kill -s "$1" "$(namespace)" ;;
    pctrl) "$WU_BUILD/src/tools/pmix/pctrl" --pid "$pid" --terminate --targets "$(namespace)" ;;
    down) "$WIREUP" down ;;
    *) kill -s "$1" "$pid" ;;
    esac >>"$tmp/asked" 2>&1
}
ends() # NAME
{
    rc=0
    wait "$pid" || rc=$?
    ok "$1" eval '[ "$(grep -c ready "$out")" -le 6 ] &&
        ! grep -qE "started again|takes its place|start 2 of|have not ended within" "$err"' || explain
}

for way in TERM INT HUP kill KILL QUIT pctrl limit first; do
    for policy in "-on-failure restart" "-on-failure replace" "-max-restarts 3" "-restart-job 3"; do
        each=
        case $policy in -max*) each=$policy ;; esac
        limit="-timeout 60"
        also=
        case $way in
        limit) limit="-timeout 1" ;;
        first) limit="-exit-timeout 1 -timeout 60" also=": -n 1 true" ;; # after the end of the first process
        esac
        spare=
        case $policy in *replace) spare=,n4:2 ;; esac
        # shellcheck disable=SC2086
        [ -n "$spare" ] || { start $limit ${each:-$policy} && ask $way && ends "$way, $policy, one node"; }
        # shellcheck disable=SC2086
        start $limit $three$spare -ppn 2 ${each:-$policy} && ask $way && ends "$way, $policy, three nodes"
    done
done

# ---- a signal that asks for nothing: programs read their settings again, and may fail later
also=
cat >"$bin/rereads" <<'END'
#!/bin/sh
trap 'echo again' HUP
echo "ready $PMIX_NAMESPACE $$"
(trap '' HUP && exec sleep 1000) &
wait $!
wait $!
END
chmod +x "$bin/rereads"
for where in "" "$three -ppn 2"; do
    fresh
    # shellcheck disable=SC2086
    "$WIREUP" -timeout 300 $where -on-failure restart -n 6 "$bin/rereads" >"$out" 2>"$err" </dev/null &
    pid=$!
    wait_until 60 ready
    job=$(sed -n 's/^ready \([^ ]*\) .*/\1/p' "$out" | head -n 1)
    "$WIREUP" kill -s HUP "$job" >>"$tmp/asked" 2>&1
    ok "HUP comes to all${where:+, three nodes}" wait_until 60 eval '[ "$(grep -c again "$out")" = 6 ]' || explain
    kill -9 "$(sed -n 's/^ready [^ ]* //p' "$out" | tail -n 1)"
    ok "and one that fails then is started again${where:+, three nodes}" \
        wait_until 60 eval '[ "$(grep -c ready "$out")" = 7 ]' || explain
    "$WIREUP" kill "$job" >>"$tmp/asked" 2>&1
    wait "$pid"
    same "until the job is asked to end${where:+, three nodes}" "$? $(grep -c ready "$out") $(grep -c 'have not ended within' "$err")" "143 7 0" || explain
done

# ---- a DVM that ends, and its jobs with it
for policy in "-on-failure restart" "-on-failure replace" "-restart-job 3"; do
    each=
    # shellcheck disable=SC2086
    run 60 "$WIREUP" up $three,n4:2
    # shellcheck disable=SC2086
    start run -timeout 300 $policy -ppn 2 && ask down && ends "the end of the DVM, $policy"
done

# ---- before the job has begun: a node that has not come up is no reason to start without it then
cat >"$tmp/half" <<'END'
#!/bin/sh
here=${0%/*}
case $1 in
n2) echo $$ >"$here/failed"; exit 3 ;;
n3) echo $$ >"$here/late"; exec sleep 1000 ;;
esac
exec "$here/agent" "$@"
END
chmod +x "$tmp/half"
fresh
"$WIREUP" -restart-job 2 -nnodes 1:3 -launch-agent "$tmp/half" -hosts n1:1,n2:1,n3:1 -n 3 true >"$out" 2>"$err" </dev/null &
pid=$!
wait_until 60 eval '[ -s "$tmp/late" ] && [ -s "$tmp/failed" ] && ! kill -0 "$(cat "$tmp/failed")" 2>/dev/null'
kill "$pid"
ends "a launch that is interrupted"
ok "and says of the node that did not come up" grep -q "^wireup: node n2: no daemon" "$err" || explain
finish
