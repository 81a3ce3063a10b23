#!/bin/sh
# Another user of the machine floods every door, as fast as it can: the port of a job while nobody reads our standard
# error, the port of a launcher whose daemons come just then, and the names by which launchers find each other.
# Jobs start, run and end as without it, and the log stays short.
#
# FLOODS: of names; LAUNCHES during a flood.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
c_program rawpmi1
: "${FLOODS:=3000}" "${LAUNCHES:=4}"
other=65534
if [ "$(id -u)" != 0 ] || ! setpriv --reuid $other --clear-groups true 2>/dev/null; then
    other=$(id -u) # then it is our own user who floods us
fi
rc=0

flood() # HOW...: until stop_flood
{
    rm -f "$tmp/stop"
    mkfifo "$tmp/stop"
    python3 "$e2e/floods.py" "$other" "$@" <"$tmp/stop" >"$tmp/flood" 2>&1 8>&- 9>&- &
    flooder=$!
    exec 7>"$tmp/stop"
}

stop_flood()
{
    exec 7>&-
    wait $flooder
    note "$(tail -n 1 "$tmp/flood") times"
}

under_way() { grep -q '^ready' "$tmp/flood"; }

# ---- the port of a job, and standard error that nobody reads

mkfifo input words
exec 8<>words # holds some 64 KiB
"$WIREUP" -n 1 sh -c 'echo "$PMIX_SERVER_URI41" >uri; exec "$@"' hold "$bin/rawpmi1" hold \
    <input >"$out" 2>words 7>&- 8>&- &
job=$!
exec 9>input
ok "a job is up" wait_until 60 grep -q '^held' "$out"
flood port "$(sed 's/.*://' uri)" 20
ok "its port is flooded" wait_until 60 under_way || note "$(cat "$tmp/flood")"
answers() { timeout 300 "$WIREUP" ps 2>&1 7>&- 8>&- 9>&- | grep -q ' 1  *1  running '; }
i=0
while [ $i -lt 20 ] && wait_until 300 answers; do
    i=$((i + 1))
done
same "the launcher answers meanwhile, again and again" $i 20
exec 9>&-
ended() { ! kill -0 $job 2>/dev/null; }
ok "the job ends, though the flood goes on and nobody reads" wait_until 60 ended
stop_flood
ended || kill -9 $job
wait $job
same "and ends well" "$? $(cat "$out")" "0 held"
dd iflag=nonblock bs=64k <&8 >"$tmp/said" 2>/dev/null # all that is there: its end does not come
exec 8<&-
ok "the log of it is short" [ "$(wc -l <"$tmp/said")" -le 100 ] || note "$(wc -l <"$tmp/said") lines"
if [ "$other" != "$(id -u)" ]; then
    ok "but it is told" grep -q 'refused a connection' "$tmp/said" || note "$(cat "$tmp/said")"
    ok "and how much was left out" grep -q 'more messages about refused connections' "$tmp/said" ||
        note "$(tail -n 3 "$tmp/said")"
fi

# ---- the port that daemons come to

flood port 7117-7119 300 # one is the launcher's, and two are the daemons'
ok "three ports are flooded" wait_until 60 under_way || note "$(cat "$tmp/flood")"
started=0 i=0
while [ $i -lt "$LAUNCHES" ]; do
    run 100 "$WIREUP" -launch-agent "$tmp/agent" -port-range 7117-7119 -hosts n1:1,n2:1 -n 2 "$bin/rawpmi1" hold
    if [ "$rc" = 0 ]; then started=$((started + 1)); else explain; fi
    i=$((i + 1))
done
same "launches over two nodes during a flood of their ports" "$started" "$LAUNCHES"
stop_flood

# ---- names of launchers

mkfifo more
env -u XDG_RUNTIME_DIR "$WIREUP" -n 1 "$bin/rawpmi1" hold <more >"$tmp/one" 2>"$err" 7>&- &
one=$!
exec 9>more
ok "a job whose launcher has an abstract name" wait_until 60 grep -q '^held' "$tmp/one" || explain
# A process has one name: our own user can hide a launcher behind a false one.
pids=$(seq 2 400)
[ "$other" != "$(id -u)" ] || pids=1
# shellcheck disable=SC2086
flood names "$FLOODS" "$(id -u)" $pids
ok "very many names are taken" wait_until 1000 under_way || note "$(cat "$tmp/flood")"
"$WIREUP" -n 1 "$bin/rawpmi1" hold <more >"$tmp/two" 2>>"$err" 7>&- 9>&- &
two=$!
ok "and one whose launcher has a private one" wait_until 60 grep -q '^held' "$tmp/two" || explain
timeout 100 "$WIREUP" ps >"$tmp/list" 2>"$tmp/list.err"
same "both are listed" "$(grep -Ec ' 1 +1 +running ' "$tmp/list")" 2 || note "$(cat "$tmp/list" "$tmp/list.err")"
[ "$other" = "$(id -u)" ] || same "and nobody else is asked" "$(cat "$tmp/list.err")" ""
stop_flood
exec 9>&-
wait $one
same "the first ends well" $? 0
wait $two
same "and the second" $? 0
finish
