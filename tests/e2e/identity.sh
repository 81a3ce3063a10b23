#!/bin/sh
# Who may come in: another user of the machine comes to a job's port with a tool's greeting and a wish to
# start a program, and is gone before the kernel can be asked who that was.  Nothing of it is done; our own
# user, who does the same and stays, is let in.
#
# And a rank that becomes another user has nothing done with the launcher's rights.
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
"$WIREUP" -n 1 sh -c 'echo "$PMIX_SERVER_URI41" >uri; exec "$@"' hold "$bin/rawpmi1" hold <input >held 2>told &
job=$!
exec 9>input
rc=0
ok "the job is up" wait_until 60 grep -q '^held' held || note "$(cat told)"
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
ok "and has its program" wait_until 60 [ -s "$made/control" ] || note "$(cat told)"
same "nothing was done for processes that had gone" "$(ls "$made")" control
ok "they were refused with a sentence" grep -q 'refused a connection' told || note "$(cat told)"

# ---- a rank that becomes another user
# It inherits its connection, and asks on it for a program.
cat >become <<'END'
printf 'cmd=init pmi_version=1 pmi_subversion=1\n' >&3
read -r words <&3
printf 'mcmd=spawn\nnprocs=1\nexecname=/bin/sh\ntotspawns=1\nspawnssofar=1\nargcnt=3\narg1=-c\n' >&3
printf 'arg2=id -u >"$0"\narg3=%s\npreput_num=0\ninfo_num=0\nendcmd\n' "$1" >&3
read -r words <&3
echo "$words"
printf 'cmd=barrier_in\n' >&3
read -r words <&3
echo "$words"
printf 'cmd=finalize\n' >&3
read -r words <&3
END
become() { run 60 "$WIREUP" -n 1 "$@"; }
become sh become "$made/kept"
same "a rank of our own user may start programs" "$(head -n 1 "$out" | cut -d ' ' -f 1-2) $(cat "$made/kept")" \
    "cmd=spawn_result rc=0 $(id -u)" || explain
if [ "$other" != "$(id -u)" ]; then
    become setpriv --reuid $other --clear-groups sh -c "$(cat become)" sh "$made/lost"
    same "one that has become another user may not" \
        "$(head -n 1 "$out" | cut -d ' ' -f 1-2) $(ls "$made" | tr '\n' ' ')" "cmd=spawn_result rc=1 control kept " || explain
    same "but takes part in its job" "$rc $(tail -n 1 "$out")" "0 cmd=barrier_out rc=0" || explain
    ok "and that is told" grep -q 'another user than its launcher' "$err" || explain
    WIREUP=$WIREUP run 60 "$WU_BUILD/tests/e2e/e2e-change-user"
    same "nor may a program that was started by hand, once it has" "$(cat "$out")" "before good after bad" || explain
fi
exec 9>&-
wait $job
rc=$?
same "and the job ends well" "$rc $(cat held)" "0 held" || explain
finish
