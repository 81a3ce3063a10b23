#!/bin/sh
# A tool has started the launcher, and waits for a call (PMIX_LAUNCHER_RNDZ_URI): the launcher calls, obeys the
# directives that it is told, says that it is ready, and serves the tool on the connection that it has opened.  The tool
# is a script that knows each byte (callback_tool.py), and a program with a server of our library and of OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=${PATIENCE:-120}
child=$WU_BUILD/tests/e2e/e2e-debug
tools=$WU_BUILD/tests/e2e/e2e-callback
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program callback -w $pmix_flags
    tools="$tools $bin/callback"
else
    skip "with OpenPMIx's server" "OpenPMIx (libpmix-dev) is not installed"
fi

# ---- the connection itself
cat >"$bin/marked" <<'END'
#!/bin/sh
echo "$PMIX_RANK told ${PMIX_LAUNCHER_RNDZ_URI-nothing}" >>"$MARK"
END
chmod +x "$bin/marked"
by() # HOW OPTIONS...: the tool that is a script
{
    how=$1
    shift
    rm -f "$tmp/mark"
    MARK=$tmp/mark run "$patience" python3 "$e2e/callback_tool.py" "$WU_SRC" "$how" "$WIREUP" "$@" -n 2 "$WU_BUILD/tests/e2e/e2e-callback" joins "$bin/marked"
}
served="launcher ready, with its address: True
registered True
the query names the job: True
stopped before it has begun: True
released True
exit 0"
everything() # OPTIONS...
{
    by named "$@"
    same "$where: the launcher calls, is told to stop its processes, and serves the tool" "$rc $(cat "$out")" \
        "0 called by launcher 0 kind 8
$served" || explain
    same "$where: its processes know nothing of it" "$(sort "$tmp/mark")" "0 told nothing
1 told nothing" || explain
    same "$where: what it cannot do is named" "$(cat "$err")" "wireup: the directive pmix.fwd.stddiag of the tool is not followed"
    for tool in $tools; do
        mkdir "$tmp/marks"
        rm -f "$tmp/address"
        "$tool" tool "$tmp/address" "$WIREUP" "$@" -n 3 "$child" child "$tmp/marks" init all >"$tmp/tool.out" 2>"$tmp/tool.err" &
        job=$!
        wait_until "$patience" [ -s "$tmp/address" ]
        run "$patience" "$child" attach "$(cat "$tmp/address")" "$tmp/marks" init all 3
        same "$where: another tool is told the address by it" "$rc $(cat "$out")" "0 tool init good" || explain
        wait $job
        same "$where: a tool with a server of its own" "$? $(sort "$tmp/tool.out" | tr '\n' ,)" \
            "0 callback tool good,child 0 init good,child 1 init good,child 2 init good," || note "$(cat "$tmp/tool.out" "$tmp/tool.err")"
        rm -r "$tmp/marks"
    done
}

where="one node"
everything
by own
same "a launcher without a name has one of its own" "$rc $(cat "$out")" "0 called by wireup-PID 0 kind 7
$served" || explain
by itself
same "a launcher that is debugged itself waits before it starts anything" "$rc $(cat "$out")" "0 called by launcher 0 kind 8
before it is released, nothing runs: True
$served" || explain
why="wireup: PMIX_LAUNCHER_RNDZ_URI: the tool that has started this launcher"
refused() # HOW WHY
{
    by "$1"
    same "nothing is started: the tool $2" "$rc $(tail -n 1 "$out") $(cat "$err") $(echo "$tmp"/mark*)" \
        "0 exit 2 $why $2; nothing was started $tmp/mark*" || explain
}
refused required "requires pmix.fwd.stddiag, which is no directive for a launcher here"
refused silent "cannot be reached"
refused closed "has closed the connection"
refused refuses "has refused the connection"
by leaves
same "a tool that is gone leaves the job as it is" "$rc $(tail -n 1 "$out") $(wc -l <"$tmp/mark")" "0 exit 0 2" || explain
rm "$tmp/mark"
MARK=$tmp/mark PMIX_LAUNCHER_RNDZ_URI=nonsense run "$patience" "$WIREUP" -n 1 "$bin/marked"
same "an address that is none" "$rc $(cat "$err") $(echo "$tmp"/mark*)" "2 $why has given no usable address; nothing was started $tmp/mark*" ||
    explain

# ---- what it has asked is in the trace
by named -trace "$tmp/trace"
run 60 "$WIREUP" replay "$tmp/trace"
same "its session replays" "$rc" 0 || explain
run 60 "$WIREUP" trace --command query "$tmp/trace"
ok "and is shown" grep -q "query.*pmix.qry.ns" "$out" || explain

needs_host_names
named_agent
where="three nodes"
everything -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
finish
