#!/bin/sh
# A job over two nodes, and who has no business there: a port scan, garbage, our protocol of another
# version, with another key, and a recording of a good connection, played again; many who say nothing.
# All are refused, with a line in the log, and the job is not disturbed.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
c_program rawpmi1
# As in nodes.sh; n1's way to its parent is ours to listen to.
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
here() { exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"; }
[ "$host" = n1 ] || here "$@"
tee -a "$RECORD" | sed -u "s/^addresses .*/addresses 127.0.0.1:$PROXY/" | here "$@"
END
chmod +x "$tmp/agent"
mkfifo "$tmp/input" "$tmp/go"
python3 "$e2e/unauthenticated.py" "$tmp/port" "$tmp/record" "$WU_BUILD/src/daemon/wireupd" <"$tmp/go" \
    >"$tmp/strangers" 2>&1 &
strangers=$!
exec 8>"$tmp/go"
wait_until 60 [ -s "$tmp/port" ]
PROXY=$(cat "$tmp/port") RECORD=$tmp/record "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1 \
    -n 2 "$bin/rawpmi1" hold <"$tmp/input" >"$out" 2>"$err" 8>&- &
job=$!
rc=0
exec 9>"$tmp/input"
ok "the job is up" wait_until 60 grep -q '^held' "$out" || { explain; note "$(tail -n 3 "$err")"; }
echo go >&8
ok "the strangers have come and gone" wait_until 300 grep -q '^done' "$tmp/strangers" || explain
note "$(cat "$tmp/strangers")"
heard() { sed -n "s/^$1: //p" "$tmp/strangers"; }
same "a port scan receives nothing" "$(heard scan)" "200 heard nothing"
same "garbage neither" "$(heard garbage)" "20 heard nothing"
same "another protocol neither" "$(heard web)" "1 heard nothing"
same "a newer version receives both version numbers" "$(heard future)" "told of the version"
same "a daemon with another key receives the reason, and ends" "$(heard 'other key')" "another job, status 1"
same "a recording of the real daemon's connection passes no further than a stranger's" \
    "$(heard recording)" "answered, and closed; nothing behind it"
same "nor with a byte changed behind the greeting" "$(heard changed)" "answered, and closed; nothing behind it"
same "200 silent connections keep nobody out" "$(heard idle)" "a good key's connection is answered"
ok "a server that takes the recording in would be seen" eval \
    'heard control | grep -q "[0-9][0-9]* bytes behind it"'
ok "refusals are in the log, and do not fill it" eval \
    '[ "$(grep -c "refused a connection" "$err")" -ge 10 ] && [ "$(grep -c . "$err")" -le 40 ]' || { explain; note "$(tail -n 3 "$err")"; }
exec 9>&-
wait $job
rc=$?
exec 8>&-
wait $strangers
same "and the job goes on, and ends well" "$rc $(cat "$out")" "0 held" || { explain; note "$(tail -n 3 "$err")"; }
finish
