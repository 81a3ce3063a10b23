#!/bin/sh
# takeover-jobs.sh - jobs on a DVM whose launcher is lost.  Those that tools have given to it end with it, the tool is told, and the
# next launcher says which they were; the lines of a batch, which has a launcher of its own, go on with their slots.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
distant_agent
sets=$WU_BUILD/tests/e2e/e2e-sets
keep=$tmp/keep
dvm() { run 120 "$WIREUP" "$@"; }
mkfifo "$tmp/in" "$tmp/go"
exec 7<>"$tmp/in" 9<>"$tmp/go" # nobody waits for the other end

dvm up -keep "$keep" -keep-time 60 -launch-agent "$tmp/agent" -hosts n1:2,n2:2
same "a DVM that is kept" "$rc" 0 || explain
same "it has no job" "$(grep -c '^job ' "$keep")" 0
dvm tools
"$sets" "$(cut -f 2 "$out")" <"$tmp/in" >"$tmp/tool" 2>&1 7>&- 9>&- &
tool=$!
touch "$tmp/one" "$tmp/two" "$tmp/three" "$tmp/four"
echo "a n1 2 $tmp/one $tmp/go" >&7
wait_until 60 grep -q here "$tmp/one"
echo "b n2 1 $tmp/two $tmp/go" >&7
wait_until 60 grep -q here "$tmp/two"
ok "its file names the jobs of tools" wait_until 60 eval '[ "$(grep -c "^job kvs_" "$keep")" = 2 ]' || note "$(grep -v token "$keep")"
jobs=$(sed -n 's/^job //p' "$keep" | paste -s -d , | sed 's/,/, /')
workers() { pgrep -f "^$sets $tmp/(one|two)" >"$tmp/workers"; }
same "they run" "$(workers; wc -l <"$tmp/workers")" 3

lose_launcher
ok "they end with the launcher" wait_until 60 eval '! workers' || note "$(ps -efww)"
exec 7>&-
wait "$tool"
dvm up -takeover "$keep"
same "the next launcher names them" "$rc $(sed -n 's/^jobs of tools that have ended with the launcher before: //p' "$out")" "0 $jobs" || explain
same "and has all nodes" "$(head -n 1 "$out" | cut -d ';' -f 1) $(grep -c "have not come" "$out")" "2 nodes are up 0" || explain
same "and none of the jobs" "$(grep -c '^job ' "$keep")" 0
mkfifo "$tmp/again"
exec 7<>"$tmp/again"
dvm tools
"$sets" "$(cut -f 2 "$out")" <"$tmp/again" >"$tmp/tool" 2>&1 7>&- 9>&- &
tool=$!
echo "c n1 1 $tmp/three $tmp/go" >&7
ok "a tool that comes then has jobs again" wait_until 60 grep -q here "$tmp/three" || note "$(cat "$tmp/tool")"
ok "which the file names" wait_until 60 eval '[ "$(grep -c "^job kvs_" "$keep")" = 1 ]'
echo >&9
ok "until they end" wait_until 60 eval '[ "$(grep -c "^job " "$keep")" = 0 ]'
echo "d n2 1 $tmp/four $tmp/go" >&7
wait_until 60 grep -q here "$tmp/four"
ok "the next one is in it" wait_until 60 eval '[ "$(grep -c "^job kvs_" "$keep")" = 1 ]'
job=$(sed -n 's/^job //p' "$keep")

lose_launcher
exec 7>&-
wait "$tool"
seq 5000 | sed 's/^/job of-a-long-list-/' >"$tmp/list"
sed -i "/^job /r $tmp/list" "$keep" # more than `wireup up` has room for
dvm up -takeover "$keep" --json
same "its JSON names it, and says that there are others" "$rc $(sed 's/.*"ended": *"\([^,]*\), .*of-a-long-list-[0-9]*\(, [.]*\)".*/\1\2/' "$out")" "0 $job, ..." || explain

# Two lines have begun, and the third one waits for their slots.
cat >"$tmp/line" <<'END'
#!/bin/sh
echo "$1 on $(hostname)"
read -r _ <"$2"
END
chmod +x "$tmp/line"
for line in 1 2 3; do
    echo "-n 2 $tmp/line $line $tmp/go"
done >"$tmp/lines"
: >"$tmp/batch"
"$WIREUP" run -batch "$tmp/lines" >"$tmp/batch" 2>&1 7>&- 9>&- </dev/null &
batch=$!
begun() { [ "$(wc -l <"$tmp/batch")" = "$1" ]; }
wait_until 60 begun 4 || note "$(cat "$tmp/batch")"
lose_launcher
dvm up -takeover "$keep"
same "another launcher takes over while a batch runs" "$rc" 0 || explain
ok "it knows all slots of the batch" wait_until 60 eval 'dvm ps && grep -q " 0 of 4 slots free" "$out"' || explain
printf '\n\n\n\n' >&9
ok "the next line begins on them" wait_until 60 begun 6 || note "$(cat "$tmp/batch")"
printf '\n\n' >&9
wait "$batch"
same "and the batch ends well" "$? $(cut -d ' ' -f 1 "$tmp/batch" | sort | uniq -c | tr -s ' \n' ' ')" "0  2 1 2 2 2 3 " || note "$(cat "$tmp/batch")"
ok "then its slots are free" wait_until 60 eval 'dvm ps && grep -q " 4 of 4 slots free" "$out"' || explain
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
exec 9>&-
finish
