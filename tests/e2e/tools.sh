#!/bin/sh
# PMIx tools and `wireup`: tool.c on OpenPMIx's library and on ours, OpenPMIx's own programs, and
# another user who tries to come in.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
ours=$WU_BUILD/src/lib/pmix
host=$(hostname)

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ]; then
    echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
    exit 0
fi
# shellcheck disable=SC2086
c_program tool $pmix_flags -ldl

# OPTIONS... MODE: a job of three, which is ready when this returns; $launcher is its pid
jobs=0
begin_job()
{
    jobs=$((jobs + 1))
    said=$tmp/job.$jobs.out
    told=$tmp/job.$jobs.err
    "$WIREUP" -n 3 "$@" >"$said" 2>"$told" </dev/null &
    launcher=$!
    wait_until "$patience" is_ready
}

is_ready()
{
    [ "$(grep -c '^ready' "$said")" = 3 ]
}

end_job()
{
    kill "$launcher" 2>/dev/null
    wait "$launcher"
}

# LIBRARY ARGS...: the tool on that library (- is OpenPMIx's)
tool()
{
    lib=$1
    shift
    [ "$lib" != - ] || lib=
    run "$patience" env LD_LIBRARY_PATH="$lib" "$bin/tool" "$@"
}

files()
{
    find "$TMPDIR" -type f -name 'pmix.*'
}

# ---- without being asked for, there is no file
begin_job "$bin/tool" patient
same "a job makes no files" "$(files)" ""
tool - pid "$launcher" query
ok "so OpenPMIx's tools do not find it" [ "$rc" != 0 ] || explain
tool "$ours" pid "$launcher" query
same "ours do" "$rc $(cat "$out")" "0 tool query good" || explain
tool "$ours" any x
same "and it need not be named" "$rc $(cat "$out")" "0 tool any good" || explain
tool "$ours" pid 999999 query
ok "another one is not it" [ "$rc" != 0 ] || explain

# ---- … until somebody does: then they are private
"$WIREUP" tools >"$out" 2>"$err"
uri=$(sed -n "s/^$launcher	//p" "$out")
server=${uri%%.*}
ok "the launcher prints its address" eval 'echo "$uri" | grep -q "^wireup-[0-9]*\.0;tcp4://127\.0\.0\.1:"' || note "$(cat "$out" "$err")"
same "and has written files" "$(files | wc -l) $(find "$TMPDIR" -name 'pmix.*' -perm 0600 | wc -l)" "2 2"
same "in a directory of its own" "$(stat -c '%a %u' "$TMPDIR"/wireup-pmix-*)" "700 $(id -u)"
file=$(files | grep "tool.$launcher\$")
for lib in - "$ours"; do
    for way in "uri $uri" "uri file:$file" "file $file" "pid $launcher" "nspace $server" "any x" "first x"; do
        # shellcheck disable=SC2086
        tool "$lib" $way
        same "found by $way ($lib)" "$rc $(cat "$out")" "0 tool ${way%% *} good" || explain
    done
    tool "$lib" system x
    ok "but it is not the system's ($lib)" [ "$rc" != 0 ] || explain
done

# ---- what tools do
for lib in - "$ours"; do
    tool "$lib" uri "$uri" spoil
    ok "what is wrong is seen to be wrong ($lib)" grep -q "tool spoil WRONG" "$out" || explain
    tool "$lib" uri "$uri" named
    same "a name of its own ($lib)" "$rc $(cat "$out")" "0 tool named good" || explain
    tool "$lib" uri "$uri" query output log push
    same "asks, signals, hears, logs ($lib)" "$rc $(tr '\n' ',' <"$out")" \
        "0 tool query good,tool output good,tool log good,tool push good," || explain
    tool "$lib" uri "$uri" spawn
    same "starts a job of its own and feeds it ($lib)" "$rc $(sort "$out" | tr '\n' ',')" \
        "0 this was pushed,tool spawn good," || explain
done
tool "$ours" uri "$uri" serve query
same "a tool that serves a process itself" "$rc $(tr '\n' ',' <"$out")" "0 tool serve good,tool query good," || explain
first=$launcher
first_told=$told
begin_job "$bin/tool" patient
second=$launcher
export TOOL_SECOND
TOOL_SECOND=$("$WIREUP" tools | sed -n "s/^$second	//p")
tool "$ours" uri "$uri" servers query
same "a tool with two servers" "$rc $(tr '\n' ',' <"$out")" "0 tool servers good,tool query good," || explain
tool "$ours" uri "$uri" waits query
same "a tool that waits for the second" "$rc $(tr '\n' ',' <"$out")" "0 tool waits good,tool query good," || explain
tool "$ours" any x
ok "of two, none is meant by nothing" [ "$rc" != 0 ] || explain
end_job
launcher=$first
told=$first_told
same "the logged lines are there" "$(grep -c '^the tool says hello$' "$told")" 2
if command -v pps >/dev/null 2>&1; then
    run "$patience" pps
    ok "OpenPMIx's pps sees the job" grep -q "^Active nspaces: kvs_" "$err" || explain
    run "$patience" pattrs --host all
    # (That of 4.2 lists two functions, that of 5.0 all.)
    ok "its pattrs lists what we understand" \
        eval '[ "$rc" = 0 ] && [ "$(grep -c "^PMIX_TIMEOUT  *pmix.timeout" "$err")" -ge 2 ]' || explain
    run "$patience" pevent --event -12345 --range global
    ! grep -q "must provide event" "$out" "$err" || # that of 5.0 takes it alone, and by name
        run "$patience" pevent --range global PMIX_EVENT_NODE_DOWN
    same "its pevent" "$rc" 0 || explain
else
    skip "OpenPMIx's own tools" "pps (libpmix-bin) is not installed"
fi

# ---- where no port can be reached: our library connects by the control socket
if unshare -n true 2>/dev/null; then
    run "$patience" unshare -n "$bin/tool" uri "$uri" query
    same "OpenPMIx's library reaches no launcher there" "$(grep -c good "$out")" 0 || explain
    run "$patience" unshare -n env LD_LIBRARY_PATH="$ours" "$bin/tool" uri "$uri" query log spawn
    same "ours does" "$rc $(grep -v '^this was' "$out" | tr '\n' ,)" "0 tool query good,tool log good,tool spawn good," || explain
    run "$patience" env LD_LIBRARY_PATH="$ours" "$WIREUP" -n 2 "$bin/tool" parent unshare -n "$bin/tool" child
    same "and so do children of ranks" "$rc $(tr '\n' , <"$out")" "0 child 0,child 0," || explain
else
    skip "without a port" "there are no private networks here"
fi

# ---- a process of a job that is not there: our library returns why; OpenPMIx's of this release sees that it is refused
for which in '- (-25|-46)' "$ours -46"; do
    PMIX_NAMESPACE=no-such-job PMIX_RANK=0 PMIX_SERVER_URI41=$uri PMIX_GDS_MODULE=hash tool "${which% *}" client
    ok "a process of no job is refused, and hears it (${which% *})" \
        grep -Eq "^tool client WRONG: init: ${which##* } " "$out" || explain
done

# ---- another user
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    for_others "$bin/tool"
    : >"$tmp/before.told"
    cp "$told" "$tmp/before.told"
    for lib in - "$ours"; do
        mkdir -p "$tmp/libs"
        cp -L "$ours/libpmix.so.2" "$tmp/libs/"
        chmod -R a+rX "$tmp/libs"
        [ "$lib" = - ] || lib=$tmp/libs
        [ "$lib" != - ] || lib=
        run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups \
            env LD_LIBRARY_PATH="$lib" "$others/tool" uri "$uri" query
        same "another user does not get in (${lib:-OpenPMIx's})" "$(grep -c good "$out")" 0 || explain
        run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups \
            env LD_LIBRARY_PATH="$lib" "$others/tool" pid "$launcher" query
        same "nor sees where (${lib:-OpenPMIx's})" "$(grep -c good "$out")" 0 || explain
    done
    ok "and the launcher tells" grep -q "refused a connection of another user" "$told" || note "$(cat "$told")"
    run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups \
        find "$TMPDIR" -name 'pmix.*'
    same "there is nothing to be seen" "$(cat "$out")" "" || explain
else
    skip "another user" "this test is not run by the superuser"
fi
tool "$ours" uri "$uri" query
same "nobody is disturbed" "$rc $(cat "$out")" "0 tool query good" || explain
tool - uri "$uri" end
same "a tool ends the job" "$rc $(cat "$out")" "0 tool end good" || explain
wait "$launcher"
same "which is an end by a signal" "$?" 143
same "the files went with it" "$(files)" ""

# ---- a directory that is somebody's, or a link, is not used
mkdir "$TMPDIR/wireup-pmix-$(id -u)"
chmod 755 "$TMPDIR/wireup-pmix-$(id -u)"
run "$patience" "$WIREUP" -tool-files on -n 1 echo ran
same "a directory that others can read is not used, and nothing is started" "$rc $(cat "$out")" "2 "
ok "and the reason is printed" grep -q "not a private directory" "$err" || explain
same "and nothing is in it" "$(files)" ""
rmdir "$TMPDIR/wireup-pmix-$(id -u)"
mkdir -m 700 "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$TMPDIR/wireup-pmix-$(id -u)"
run "$patience" "$WIREUP" -tool-files on -n 1 echo ran
same "nor does a link lead anywhere" "$rc $(cat "$out")$(ls "$tmp/elsewhere")" "2 "
rm "$TMPDIR/wireup-pmix-$(id -u)"
: >"$tmp/precious"
ln -s "$tmp/precious" "$TMPDIR/pmix.sys.$host"
run "$patience" "$WIREUP" -tool-files system -n 1 echo ran
same "nor is a file followed" "$rc $(cat "$out" "$tmp/precious")" "2 "
rm "$TMPDIR/pmix.sys.$host"

# ---- from the start, as the system's server; events; the end of the launcher
begin_job -tool-files system "$bin/tool" client
for lib in - "$ours"; do
    tool "$lib" system x
    same "the system's server ($lib)" "$rc $(cat "$out")" "0 tool system good" || explain
done
tool - pid "$launcher" events
same "events to processes, and from them" "$rc $(cat "$out")" "0 tool events good" || explain
wait "$launcher"
same "which end well" "$? $(cat "$told")" "0 " || note "$(cat "$told")"
begin_job -tool-files on "$bin/tool" client
tool "$ours" pid "$launcher" events
same "the same with our library" "$rc $(cat "$out")" "0 tool events good" || explain
wait "$launcher"
same "they end well too" "$? $(cat "$told")" "0 " || note "$(cat "$told")"

begin_job "$bin/tool" client
if unshare -n true 2>/dev/null; then
    run "$patience" unshare -n env LD_LIBRARY_PATH="$ours" PMIX_RANK=0 PMIX_SERVER_URI41="$("$WIREUP" tools | cut -f 2)" \
        PMIX_NAMESPACE="$("$WIREUP" ps | awk 'END { print $NF }')" "$bin/tool" child
    same "nobody comes by the control socket as a process that is connected" "$(cat "$out")" "child -23" || explain
fi
end_job

begin_job -tool-files on "$bin/tool" patient
kill -9 "$(pgrep -P "$launcher")"
wait "$launcher" 2>/dev/null
same "a launcher that is killed leaves no files" "$(files)" ""
begin_job -tool-files on "$bin/tool" patient
worker=$(pgrep -P "$launcher")
kill -9 "$launcher"
wait "$launcher" 2>/dev/null
wait_until "$patience" eval '! kill -0 "$worker" 2>/dev/null'
same "nor does its other half" "$(files)" ""
begin_job -tool-files on "$bin/tool" patient
other=$launcher
begin_job -tool-files system "$bin/tool" patient
worker=$(pgrep -P "$launcher")
switch_off "$launcher" "$worker" # neither cleans up
wait "$launcher" 2>/dev/null
same "both halves do" "$(files | wc -l)" 5
"$WIREUP" ps >"$out" 2>"$err"
same "wireup ps removes them, and none of a living one" "$(files | wc -l) $(files | grep -c "tool.$other\$")" "2 1" ||
    note "$(files)"
launcher=$other
end_job
same "which does so itself" "$(files)" ""

# ---- over several nodes, each with a host name of its own
if unshare -u true 2>/dev/null; then
    named_agent
    begin_job -launch-agent "$tmp/agent" -hosts n1,n2,n3 "$bin/tool" patient
    "$WIREUP" tools >"$out" 2>"$err"
    same "only the launcher, which lets tools in, tells where it is" "$(wc -l <"$out") $(files | wc -l)" "1 2"
    for lib in - "$ours"; do
        # By its address: a tool knows the files of its own host only.
        uri=$("$WIREUP" tools | sed -n "s/^$launcher	//p")
        tool "$lib" uri "$uri" table output
        same "processes of three nodes are seen, signalled and heard ($lib)" "$rc $(tr '\n' ',' <"$out")" \
            "0 tool table good,tool output good," || explain
        for node in n2 n3; do
            export TOOL_HOST=$node
            tool "$lib" uri "$uri" spawn
            same "a job on $node is started and fed ($lib)" "$rc $(sort "$out" | tr '\n' ',')" \
                "0 this was pushed,tool spawn good," || explain
        done
        unset TOOL_HOST
    done
    tool "$ours" uri "$uri" end
    same "and the job ended" "$rc $(cat "$out")" "0 tool end good" || explain
    wait "$launcher"
    same "by a signal" "$?" 143
    begin_job -launch-agent "$tmp/agent" -hosts n1,n2,n3 "$bin/tool" client
    tool "$ours" pid "$launcher" events
    same "events to processes of three nodes, and from them" "$rc $(cat "$out")" "0 tool events good" || explain
    wait "$launcher"
    same "which end well" "$? $(cat "$told")" "0 " || note "$(cat "$told")"
else
    skip "several nodes" "this user may not give a process another host name"
fi

# ---- a recording with tools plays back
begin_job -trace "$tmp/record" "$bin/tool" patient
tool "$ours" pid "$launcher" query output
end_job
run 60 "$WIREUP" replay "$tmp/record"
same "a recording with tools plays back" "$rc" 0 || explain
run 60 "$WIREUP" trace "$tmp/record"
ok "and is understood" eval 'grep -q "PMIx welcome status=0 namespace=wireup-.*-tool-1" "$out" && ! grep -q "not understood" "$out"' || explain
finish
