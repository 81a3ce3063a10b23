#!/bin/sh
# Files that the user names: made before anything is started, on every node, or one sentence and 2.
# And names that others have taken before: /tmp is everybody's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=60
needs_host_names
named_agent

# As the named agent, but the folder `only` is empty over there.
cat >"$tmp/agent-empty" <<'END'
#!/bin/sh
host=$1
shift
exec unshare -m -u sh -c 'mount -t tmpfs none only && hostname "$0" && exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent-empty"
mkdir -p only/sub
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -n 4 "$@"; }
apart() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent-empty" -hosts localhost:2,n2:2 -n 4 "$@"; }
refused() # NAME SENTENCE
{
    same "$1" "$rc $(cat "$out") $(ls -d ran* 2>/dev/null)" "2  " || explain
    ok "... with a sentence, once" [ "$(grep -c "$2" "$err") $(wc -l <"$err")" = "1 1" ] || explain
}

# ---- before the start
run "$patience" "$WIREUP" -outfile-pattern /no/such/o.%r -n 2 touch ran
refused "output into no folder" 'outfile-pattern: cannot write /no/such/o.0: No such file'
run "$patience" "$WIREUP" -errfile-pattern /no/such/e.%r -n 2 touch ran
refused "errors into no folder" 'errfile-pattern: cannot write /no/such/e.0: No such file'
run "$patience" "$WIREUP" -outfile-pattern . -n 2 touch ran
refused "output into a folder" 'cannot write .*: Is a directory'
mkfifo unread
run "$patience" "$WIREUP" -outfile-pattern unread -n 2 touch ran
refused "output into a pipe that nobody reads" 'unread: it is a pipe that nobody reads'
run "$patience" "$WIREUP" -trace /no/such/trace -n 2 touch ran
refused "a recording into no folder" 'trace: cannot write /no/such/trace'
run "$patience" env PMIX_SYSTEM_TMPDIR=/no/such "$WIREUP" -tool-files on -n 2 touch ran
refused "files for tools into no folder" 'tool-files: cannot write /no/such/'
mkdir -m 755 "$TMPDIR/wireup-pmix-$(id -u)"
run "$patience" "$WIREUP" -tool-files on -n 2 touch ran
refused "files for tools where others can look" 'not a private directory'
rmdir "$TMPDIR/wireup-pmix-$(id -u)"
run "$patience" "$WIREUP" -outfile-pattern o.%r -errfile-pattern e.%r -n 2 sh -c 'echo out; echo err >&2'
same "the control" "$rc $(cat o.0 o.1 e.0 e.1 | tr '\n' ,)" "0 out,out,err,err," || explain
run "$patience" "$WIREUP" -outfile-pattern o.%r -n 1 echo x
same "their content is replaced" "$(cat o.0)" x

# ---- over several nodes
over -outfile-pattern /no/such/o.%r touch ran
refused "output into no folder, over nodes" 'node n[12]: .*cannot write /no/such/o'
over -errfile-pattern /no/such/o.%r touch ran
refused "errors into no folder, over nodes" 'node n[12]: .*cannot write /no/such/o'
apart -outfile-pattern only/o.%h/%r touch ran
refused "nowhere is anything started" 'cannot write .*only/o'
mkdir only/o.localhost only/o.n2
apart -outfile-pattern only/o.%h/%r touch ran
refused "nor when one node alone cannot" 'node n2: .*cannot write .*only/o.n2/2: No such file'
apart -trace only/sub/trace touch ran
refused "nor when it is a recording" 'node n2: -trace: cannot write .*only/sub/trace.n2'
over -outfile-pattern over.%h.%r hostname
same "the control" "$rc $(cat over.n1.0 over.n1.1 over.n2.2 over.n2.3 | tr '\n' ,)" "0 n1,n1,n2,n2," || explain

over -output dir=under,merge sh -c 'echo out; echo err >&2'
same "a directory for each rank, made on each node, with both streams in one file" \
    "$rc $(cat under/*/rank.[0-3]/stdout | sort | uniq -c | tr -d ' \n') $(find under -type f | wc -l)" \
    "0 4err4out 4" || explain
over -output file=flat.%r sh -c 'echo out; echo err >&2'
same "files under a name that means itself" \
    "$rc $(cat flat.%r.*.[0-3].stdout flat.%r.*.[0-3].stderr | tr '\n' ,)" "0 out,out,out,out,err,err,err,err," || explain
touch plain
over -output dir=plain/x touch ran
refused "a directory below a file" 'node n[12]: .*plain'

# ---- names that others have taken, where everybody may make names
mkdir shared
chmod 1777 shared
echo precious >precious
ln precious shared/hard
run "$patience" "$WIREUP" -outfile-pattern shared/hard -n 1 echo lost
same "a further name of a file is not written to" "$rc $(cat precious)" "2 precious" || explain
run "$patience" "$WIREUP" -trace shared/hard -n 1 true
same "nor recorded into" "$rc $(cat precious)" "2 precious" || explain
if chown -h 65534 shared/hard 2>/dev/null; then
    chown 0 precious
    ln -s "$PWD/precious" shared/link
    chown -h 65534 shared/link
    run "$patience" "$WIREUP" -outfile-pattern shared/link -n 1 echo lost
    refused "a link of another user is not followed" 'symbolic link of another user'
    run "$patience" "$WIREUP" -trace shared/link -n 1 true
    refused "nor by a recording" 'symbolic link of another user'
    echo theirs >shared/file
    chown 65534 shared/file
    run "$patience" "$WIREUP" -outfile-pattern shared/file -n 1 echo lost
    same "a file of another user is left alone" "$rc $(cat shared/file precious | tr '\n' ,)" "2 theirs,precious," || explain
else
    note "only root can make what belongs to another user"
fi
ln -s "$PWD/mine" shared/mine
run "$patience" "$WIREUP" -outfile-pattern shared/mine -n 1 echo good
same "one's own link is" "$rc $(cat mine)" "0 good" || explain
run "$patience" "$WIREUP" -outfile-pattern /dev/stdout -n 1 echo good
same "and the kernel's" "$rc $(cat "$out")" "0 good" || explain

# ---- a working directory that has vanished
mkdir gone
(cd gone && rmdir ../gone && run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -n 4 true
    echo $rc >"$tmp/rc")
same "a working directory that is gone: nothing is started" "$(cat "$tmp/rc")" 126
ok "node and folder are named, once" \
    [ "$(grep -c "node $(hostname): the working directory $PWD/gone cannot" "$err") $(wc -l <"$err")" = "1 1" ] || explain
run "$patience" "$WIREUP" -launch-agent "$tmp/agent-empty" -hosts n1:16,n2:16 -wdir "$PWD/only/sub" -n 32 /bin/true
ok "so are those of another node, for many ranks" \
    [ "$(grep -c "node n[12]: .*$PWD/only/sub: No such file" "$err") $(wc -l <"$err")" = "1 1" ] || explain

# ---- few descriptors
(ulimit -n 64 && run "$patience" "$WIREUP" -n 40 true; echo $rc >"$tmp/rc")
same "the message names the needed and the available number" "$(cat "$tmp/rc") $(cat "$err")" \
    "125 wireup: 40 processes need 224 open files; the hard limit is 64 (ulimit -Hn)"

# ---- a path with blanks
mkdir "a folder" "a folder/it's"
cp "$WIREUP" "$WU_BUILD/src/daemon/wireupd" "a folder/it's/"
blank="$PWD/a folder/it's/wireup"
run "$patience" "$blank" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
same "standing daemons come up from a path with blanks" "$rc" 0 || explain
run "$patience" "$blank" run -n 4 hostname
same "and run jobs" "$rc $(sort "$out" | tr '\n' ,)" "0 n1,n1,n2,n2," || explain
run "$patience" "$blank" down
same "and go" "$rc" 0 || explain
cp "$tmp/agent" "a folder/agent"
run "$patience" "$blank" -launch-agent "'a folder/agent'" -hosts n1:2,n2:2 -n 4 hostname
same "an agent from a path with blanks" "$rc $(sort "$out" | tr '\n' ,)" "0 n1,n1,n2,n2," || explain
finish
