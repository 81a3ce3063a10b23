#!/bin/sh
# early-daemons.sh - a daemon starts those below it while its own link comes up.  Where that link fails meanwhile, one sentence
# names its node, and nothing stays of it and of those below; where one below fails, that is said once the link is up.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
# n1 calls early_parent.py; $tmp/agent.below is the process that the daemon of n2 begins with.
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
case $host in
n1) sed "/^end/q" >"$0.record"
    sed -n "s/^addresses //p" "$0.record" >"$0.real"
    sed -i "s/^addresses .*/addresses $(cat "$0.parent")/" "$0.record"
    exec <"$0.record" ;;
n2) echo $$ >"$0.below"
    [ ! -f "$0.fails" ] || exit 7
    [ ! -f "$0.hangs" ] || exec sleep 1000 ;;
esac
exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent"

begun() { [ -s "$tmp/agent.below" ]; }
over() { begun && ! kill -0 "$(cat "$tmp/agent.below")" 2>/dev/null; }

held() # WHEN WORD: a job over n1 and n2 below it; the parent of n1 is told the word when that is so
{
    rm -f "$tmp/go" "$tmp/agent.below" "$tmp/agent.parent"
    mkfifo "$tmp/go"
    python3 "$e2e/early_parent.py" "$tmp/agent.real" <"$tmp/go" >"$tmp/agent.parent" &
    parent=$!
    exec 9>"$tmp/go"
    wait_until 60 [ -s "$tmp/agent.parent" ]
    (wait_until 60 "$1" && echo "$2" >&9) &
    run 60 "$WIREUP" -tree-width 1 -launch-agent "$tmp/agent" -hosts n1:1,n2:1 -ppn 1 true
    exec 9>&-
    kill "$parent" 2>/dev/null
    wait
}

touch "$tmp/agent.hangs"
held begun go
ok "the daemon below is started meanwhile" begun
same "one sentence names the node whose link has failed" "$rc $(sed 's/ (.*//' "$err")" \
    "125 wireup: node n1: cannot reach the daemon at $(cat "$tmp/agent.parent")" || explain
nothing_left "where the link has failed"

rm "$tmp/agent.hangs"
touch "$tmp/agent.fails"
held over pass
same "one sentence names the node that has failed below" "$rc $(sed 's/ (.*//' "$err")" \
    "125 wireup: node n2: no daemon could be started" || explain
rm "$tmp/agent.fails"
held begun pass
same "the link comes up later than the daemon below" "$rc $(cat "$err")" "0 " || explain
finish
