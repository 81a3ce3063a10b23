#!/bin/sh
# Who may come in: another user of the machine comes to a job's port with a tool's greeting and a wish to
# start a program, and is gone before the kernel can be asked who that was.  Nothing of it is done; our own
# user, who does the same and stays, is let in.
#
# The launcher is stopped while they come, so that all of them are gone (closed, reset, half closed) when
# it looks.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program rawpmi1
other=65534
if [ "$(id -u)" != 0 ] || ! setpriv --reuid $other --clear-groups true 2>/dev/null; then
    other=$(id -u) # then the wish of our own user who has gone is what may not be done
fi
made=$tmp/made
mkdir -m 777 "$made"
chmod 755 "$tmp" # the other user finds the script's words, not our files
mkfifo input
"$WIREUP" -n 1 sh -c 'echo "$PMIX_SERVER_URI41" >uri; exec "$@"' hold "$bin/rawpmi1" hold <input >"$out" 2>"$err" &
job=$!
exec 9>input
rc=0
ok "the job is up" wait_until 60 grep -q '^held' "$out" || explain
port=$(sed 's/.*://' uri)
launchers() { processes | sed -n "s|^\([0-9]*\) $WIREUP .*|\1|p"; }

# shellcheck disable=SC2046
kill -STOP $(launchers)
python3 "$e2e/hasty_tool.py" "$port" "$other" 60 "$made/attack" >hasty 2>&1 &
tool=$!
ok "sixty have come and gone" wait_until 60 grep -q '^done' hasty || note "$(cat hasty)"
# shellcheck disable=SC2046
kill -CONT $(launchers)
wait $tool
python3 "$e2e/hasty_tool.py" "$port" "$(id -u)" stay "$made/control" >stays 2>&1
same "our own user's tool, which stays, is let in" "$(head -n 1 stays)" welcome
ok "and has its program" wait_until 60 [ -s "$made/control" ] || explain
same "of those who have gone nothing was done" "$(ls "$made")" control
ok "they were refused with a sentence" grep -q 'refused a connection' "$err" || explain
exec 9>&-
wait $job
rc=$?
same "and the job ends well" "$rc $(cat "$out")" "0 held" || explain
finish
