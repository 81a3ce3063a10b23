#!/bin/sh
# The harness itself: what lib.sh claims to count, it has to see.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin

same "nobody carries our mark at first" "$(processes)" ""
same "and no file is there" "$(left_files)" ""

# A process that hides: another session, another group, no parent of ours.
mkfifo "$tmp/never"
setsid sh -c 'read x <"$0"' "$tmp/never" &
wait_until 120 eval '[ -n "$(processes)" ]'
ok "a process in a session of its own is seen" eval 'processes | grep -q never'
echo >"$tmp/never"
ok "and is no longer seen when it is gone" wait_until 120 nobody_left

: >"$TMPDIR/forgotten"
ok "a forgotten temporary file is seen" eval 'left_files | grep -q forgotten'
rm "$TMPDIR/forgotten"
: >/dev/shm/wireup.$$
ok "a forgotten segment is seen" eval 'left_files | grep -q "^wireup.$$\$"'
rm -f /dev/shm/wireup.$$

run 5 sh -c 'echo hello; echo oops >&2; exit 3'
same "run keeps both streams and the status apart" "$rc $(cat "$out") $(cat "$err")" "3 hello oops"
run 1 sleep 30
same "run ends what hangs" "$rc" 124

# The points themselves: a failure has to be counted as one.
inner=$(sh -c '. "$0"; ok good true; ok bad false; same equal a b; echo "$points $failed"' \
    "$e2e/lib.sh" 2>&1)
same "three points, two of them failures" "$(echo "$inner" | tail -n 1)" "3 2"
finish
