#!/bin/sh
# slow-hardware.sh - a node whose hardware is asked for, and takes longer to be looked at than a node may be silent, as
# drivers do that wake their devices first: it is waited for.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
machines=$WU_SRC/tests/machines
"$machines/make-xml" "$machines/machines.def" "$tmp" || exit 99
silent=$(sed -n 's/^#define LIMIT_NODE_SILENT_MS *\([0-9]*\)$/\1/p' "$WU_SRC/src/base/limit.h")
# hwloc reads the machine of n1 from a pipe.
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
machine=${0%/*}/frontier.xml
[ "$host" != n1 ] || machine=${0%/*}/pipe
exec unshare -u env HWLOC_XMLFILE="$machine" sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent"
mkfifo "$tmp/pipe"
picture() { "$WIREUP" map -picture -ask-nodes -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -bind-to core -n 4 true; }

fresh
picture >"$out" 2>"$err" </dev/null &
asks=$!
exec 9>"$tmp/pipe" # until it is read
sleep $((silent / 1000 + 5))
same "nobody is lost meanwhile" "$(cat "$err")" ""
cat "$tmp/frontier.xml" >&9
exec 9>&-
wait "$asks"
rc=$?
same "then it is known" "$rc $(head -n 1 "$out")" "0 4 ranks on 2 nodes, each with 1 package, 64 cores, 128 hwthreads" || explain
finish
