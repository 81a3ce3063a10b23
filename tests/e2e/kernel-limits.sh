#!/bin/sh
# What the kernel gives a user only so much of: inotify, descriptors, processes, locked memory, the length of files, and disks
# that are full.  Where one is used up, Wireup does without it, or says in one sentence what is used up and ends.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
wireupd=$WU_BUILD/src/daemon/wireupd
hosts="-launch-agent $tmp/agent -hosts n1,n2"

# The whole of what a command says.
said() { sed "s/node n[12]/node N/; s/rank [0-9]*/rank R/; s|$tmp|TMP|; s|/[0-9]*-[0-9a-f]*:|/JOB:|" "$err" | tr '\n' '|'; }

# ---- inotify: of the user (of this user name space), none
cat >"$tmp/blind" <<'END'
#!/bin/sh
exec unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh "$@"
END
chmod +x "$tmp/blind"
instances() { python3 -c 'import ctypes; print(ctypes.CDLL(None).inotify_init1(0) >= 0)'; }
if [ "$(instances)" != True ] || ! "$tmp/blind" true 2>/dev/null; then
    skip "without inotify" "this user may not take it from itself"
else
    same "(there is none)" "$("$tmp/blind" python3 -c 'import ctypes; print(ctypes.CDLL(None).inotify_init1(0) >= 0)')" False
    # shellcheck disable=SC2086
    run 300 "$tmp/blind" "$WIREUP" $hosts -n 2 hostname
    same "without inotify a job runs" "$rc $(sort "$out" | tr '\n' ' ')$(cat "$err")" "0 n1 n2 " || explain

    # A launcher whose name is removed makes another one.
    "$tmp/blind" "$WIREUP" -job-name stays -n 1 sh -c 'echo up; exec sleep 1000' >"$tmp/stays" 2>&1 </dev/null &
    stays=$!
    listed() { run 300 "$WIREUP" ps && grep -q ' stays ' "$out"; }
    ok "and is listed" wait_until 300 listed || explain
    rm -rf "$XDG_RUNTIME_DIR/wireup"
    ok "and again, after its name was removed" wait_until 300 listed || explain
    kill "$stays"
    wait "$stays"

    # Nodes that wait for the file that tells where the launcher is.
    cat >"$tmp/joins" <<'END'
unshare -u sh -c 'hostname n1; exec "$@"' sh "$2" --join "$1/where" --token-file "$1/token" >"$1/n1" 2>&1 &
unshare -u sh -c 'hostname n2; exec "$@"' sh "$2" --join "$1/where" --token-file "$1/token" >"$1/n2" 2>&1 &
until grep -q 'trying again' "$1/n1" && grep -q 'trying again' "$1/n2"; do sleep 0.02; done
"$3" -join -join-only -nnodes 2 -join-token-file "$1/token" -join-file "$1/where" -ppn 1 -n 2 hostname
code=$?
wait
exit $code
END
    run 300 "$tmp/blind" sh "$tmp/joins" "$tmp" "$wireupd" "$WIREUP"
    same "nodes join" "$rc $(sort "$out" | tr '\n' ' ')" "0 n1 n2 " || { explain; note "$(cat "$tmp/n1")"; }

    mkfifo "$tmp/go"
    "$WIREUP" -trace "$tmp/trace" -n 1 sh -c 'read line <"$0"' "$tmp/go" &
    followed=$!
    wait_until 300 [ -s "$tmp/trace" ]
    fresh
    "$tmp/blind" "$WIREUP" trace --follow "$tmp/trace" >"$out" 2>"$err" &
    follows=$!
    wait_until 300 grep -q started "$out"
    echo >"$tmp/go"
    wait "$followed"
    wait "$follows"
    same "a trace is followed to its end" "$? $(cat "$err") $(grep -c 'proc_state event=.*exit' "$out")" "0  1" || explain
fi

# ---- descriptors
few() # N COMMAND...
{
    few=$1
    shift
    run 300 prlimit --nofile="$few:$few" "$@"
}
few 64 "$WIREUP" -n 40 true
same "descriptors for the ranks" "$rc $(said)" \
    "125 wireup: 40 processes need 224 open files; the hard limit is 64 (ulimit -Hn)|"
for command in "-n 1 true" up; do
    # shellcheck disable=SC2086
    few 8 "$WIREUP" $command
    same "descriptors for the launcher: $command" "$rc $(said | sed 's/needs [0-9]*/needs N/')" \
        "125 wireup: 1 process needs N open files; the hard limit is 8 (ulimit -Hn)|"
done
cat >"$tmp/few-there" <<END
#!/bin/sh
exec "$tmp/agent" "\$1" prlimit --nofile=\$(cat "$tmp/most"):\$(cat "$tmp/most") "\$2"
END
chmod +x "$tmp/few-there"
echo 40 >"$tmp/most"
run 300 "$WIREUP" -launch-agent "$tmp/few-there" -hosts n1:8,n2:8 -n 16 true
same "descriptors for the ranks of a node" "$rc $(said)" "126 wireup: node N: rank R cannot be connected: Too many open files (ulimit -n)|"
echo 12 >"$tmp/most"
run 300 "$WIREUP" -launch-agent "$tmp/few-there" -hosts n1:8,n2:8 -n 16 true
same "descriptors for a daemon" "$rc $(said)" "125 wireup: 2 of 2 nodes do not come up, and nothing was started:|wireup:   n[1-2]    cannot open the descriptors of the launcher: Too many open files (ulimit -n)|"

# ---- processes: of a user that nobody else is
user=$((600000 + $$))
processes="the limit of processes is reached (ulimit -u, or pids.max of the control group)|"
as_user() # LIMIT COMMAND...
{
    most=$1
    shift
    # Who looks for leaks needs a process for that.
    run 300 setpriv --reuid $user --regid $user --clear-groups env HOME=/ XDG_RUNTIME_DIR="$tmp/user" TMPDIR="$tmp/user" \
        ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" \
        prlimit --nproc="$most:$most" "$@"
}
if setpriv --reuid $user --regid $user --clear-groups true 2>/dev/null; then
    mkdir -m 700 "$tmp/user" && chown $user:$user "$tmp/user"
    for_others "$WIREUP" "$wireupd"
    strange=$others/wireup
    as_user 2 "$strange" -n 8 true
    same "processes for the ranks" "$rc $(said)" \
        "125 wireup: 8 processes do not fit on this machine: the limit of user processes (ulimit -Hu) allows 2|"
    as_user 1 "$strange" -n 1 true
    same "a process for the launcher" "$rc $(said)" "125 wireup: cannot start the worker process: $processes"
    as_user 2 "$strange" -n 1 true
    same "none for the rank" "$rc $(said)" "126 wireup: cannot start another process: $processes"
    as_user 1 "$strange" up
    same "none for a DVM" "$rc $(said)" "1 wireup: cannot start the DVM: $processes"
    as_user 2 "$strange" -launch-agent "$tmp/agent" -hosts n1,n2 -n 2 true
    same "none for the start on nodes" "$rc $(said)" "125 wireup: 2 of 2 nodes do not come up, and nothing was started:|wireup:   n[1-2]    cannot start another process: $processes"
    run 300 setpriv --reuid $user --regid $user --clear-groups env HOME=/ XDG_RUNTIME_DIR="$tmp/user" TMPDIR="$tmp/user" \
        prlimit --memlock=0:0 "$strange" -n 2 true
    same "no memory may be locked: a job runs" "$rc $(said)" "0 "
    rm -rf "$tmp/user" "$others"
else
    skip "a limit of processes" "this user cannot become another one"
fi

# ---- the length of files, which holds for those of memory, too; what is said goes through a pipe
limited() # BYTES COMMAND...
{
    bytes=$1
    shift
    { timeout 300 prlimit --fsize="$bytes:$bytes" "$@" 2>&1 </dev/null; echo "code $?"; } | cat >"$err"
}
limited 0 "$WIREUP" -n 2 true
same "files of no length" "$(said)" \
    "wireup: no memory for a job of 2 processes: its values are in a file of memory, and files may have 0 bytes (ulimit -f)|code 125|"
limited 100000 "$WIREUP" -trace "$tmp/short" -n 16 "$WU_BUILD/tests/e2e/e2e-rawpmix"
same "a trace that may not become longer" "$(said | tr '|' '\n' | sort | tr '\n' '|')" \
    "code 0|rawpmix 16 good|wireup: the trace TMP/short is incomplete: File too large (ulimit -f)|"
limited 100000 "$WIREUP" -outfile-pattern "$tmp/all" -n 1 sh -c 'head -c 200000 /dev/zero; exit 0'
same "output that may not" "$(said)" "wireup: cannot write TMP/all: File too large (ulimit -f); output is lost|code 1|"

# ---- disks that are full
space="No space left on device|"
refused="No space left on device; nothing was started|"
full() # NAME: without a byte and an inode
{
    mkdir -p "$tmp/$1" && mount -t tmpfs -o size=4k,nr_inodes=1,mode=0700 none "$tmp/$1"
}
if [ -n "${WU_PRIVATE-}" ] && full full 2>/dev/null; then
    run 300 env XDG_RUNTIME_DIR="$tmp/full" "$WIREUP" -n 1 "$WIREUP" ps
    same "no file in the run-time directory: a job is found in spite of that" "$rc $(grep -c running "$out") $(said)" "0 1 " || explain
    run 300 env TMPDIR="$tmp/full" "$WIREUP" -n 2 true
    same "no file in TMPDIR: a job runs" "$rc $(said)" "0 "
    run 300 env TMPDIR="$tmp/full" "$WIREUP" -set-cwd-to-session-dir -n 2 pwd
    same "but not in a session directory" "$rc $(said)" \
        "126 wireup: cannot make the session directory TMP/full/wireup-$(id -u)/JOB: $space"
    run 300 env TMPDIR="$tmp/full" "$WIREUP" -tool-files on -n 2 true
    same "nor with files for tools" "$rc $(said)" \
        "2 wireup: -tool-files: cannot write TMP/full/wireup-pmix-$(id -u): $refused"
    run 300 "$WIREUP" -trace "$tmp/full/trace" -n 2 true
    same "nor with a trace there" "$rc $(said)" "2 wireup: -trace: cannot write TMP/full/trace: $refused"
    run 300 "$WIREUP" -outfile-pattern "$tmp/full/%r" -n 2 echo hello
    same "nor with files of output" "$rc $(said)" "2 wireup: -outfile-pattern: cannot write TMP/full/0: $refused"
    run 300 "$WIREUP" up -keep "$tmp/full/keep"
    same "nor a DVM that is kept there" "$rc $(said)" "1 wireup: cannot write TMP/full/keep: $space"
    [ "$rc" != 0 ] || "$WIREUP" down
    umount "$tmp/full"
    mount -t tmpfs -o size=4k,nr_inodes=1 none /dev/shm
    # shellcheck disable=SC2086
    run 300 "$WIREUP" $hosts -n 2 "$WU_BUILD/tests/e2e/e2e-rawpmix"
    same "no file in /dev/shm: a job runs" "$rc $(cat "$out") $(said)" "0 rawpmix 2 good "
    umount /dev/shm
else
    skip "disks that are full" "this user may not mount one"
fi
finish
