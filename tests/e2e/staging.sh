#!/bin/sh
# Files that are brought to the nodes of a job: what is there, that it is read once, by whom it is found, that a slow
# node stops nobody else, that nothing is left, and what cannot be brought.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
needs_host_names
named_agent
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 "$@"; }
refused() # NAME CODE SENTENCE
{
    same "$1" "$rc $(cat "$out") $(ls -d ran* 2>/dev/null)" "$2  " || explain
    ok "... with one sentence" [ "$(grep -c -e "$3" "$err") $(wc -l <"$err")" = "1 1" ] || explain
}

# ---- what is there
cat >tool <<'EOF'
#!/bin/sh
cd "$WIREUP_STAGE_DIR" && [ "$0" = "$PWD/tool" ] &&
echo "$(hostname) $(stat -c %a . tree tree/data tree/below tool | tr '\n' ' ')$(date -u -r tree/data +%F) $(readlink tree/link) $(cat tree/below/*) $(stat -c %u .)"
EOF
chmod 755 tool
mkdir -p tree/below
chmod 750 tree
chmod 555 tree/below 2>/dev/null
printf 'data' >tree/data
chmod 640 tree/data
touch -d 2001-02-03T12:00:00Z tree/data
chmod 755 tree/below
printf 'below' >tree/below/x
ln -s /no/such tree/link
uid=$(id -u)
line="700 750 640 755 755 2001-02-03 /no/such below $uid"
run "$patience" "$WIREUP" -n 2 -preload-binary -stage tree ./tool
same "on one node" "$rc $(sort -u "$out")" "0 $(hostname) $line" || explain
over -n 6 --preload-binary --stage=tree ./tool
same "on three nodes" "$rc $(sort "$out" | uniq -c | sed 's/^ *//')" "0 2 n1 $line
2 n2 $line
2 n3 $line" || explain
over -n 6 --preload-binary --preload-files tree,tree/data ./tool
same "the same in the words of mpirun" "$rc $(sort -u "$out" | wc -l)" "0 3" || explain
over -n 3 -ppn 1 -stage tree -set-cwd-to-session-dir cat tree/data
same "relative paths, in the session directory" "$rc $(tr -d '\n' <"$out")" "0 datadatadata" || explain
over -n 3 -ppn 1 -stage "$PWD/tree/below" sh -c "cat \"\$WIREUP_STAGE_DIR$PWD/tree/below/x\""
same "an absolute path" "$rc $(tr -d '\n' <"$out")" "0 belowbelowbelow" || explain
here=$PWD
cd tree
over -n 3 -ppn 1 -stage ../tree/data sh -c 'cat "$WIREUP_STAGE_DIR${PWD%/tree}/tree/data"'
cd "$here"
same "a path with .. has its absolute name" "$rc $(tr -d '\n' <"$out")" "0 datadatadata" || explain
mkdir -p venv/bin venv/lib
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
ln -s "$python" venv/bin/python3
echo "home = ${python%/*}" >venv/pyvenv.cfg
over -n 3 -ppn 1 -stage venv venv/bin/python3 -c 'import os, sys; print(sys.prefix == os.environ["WIREUP_STAGE_DIR"] + "/venv")'
same "a Python has its environment there" "$rc $(sort "$out" | uniq -c | tr -d ' \n')" "0 3True" || explain
# A program with a library of its own, which its $ORIGIN finds.
mkdir -p app/lib
echo 'int answer(void) { return 42; }' >lib.c
cat >app.c <<'EOF'
#include <stdio.h>
#include <string.h>
int answer(void);
int main(void)
{
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");
    int there = 0;

    while (f && fgets(line, sizeof line, f))
        there |= strstr(line, "/staged/app/lib/libanswer.so") != NULL;
    printf("%d %d\n", answer(), there);
    return 0;
}
EOF
${CC:-cc} -shared -fPIC -o app/lib/libanswer.so lib.c && ${CC:-cc} -o app/app app.c -Lapp/lib -lanswer -Wl,-rpath,'$ORIGIN/lib' ||
    echo "Bail out! cannot compile"
over -n 6 -stage app app/app
same "a program finds its libraries beside itself, on each node" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  6 42 1 " || explain
# Odd ones: bits for other ids, links out of the tree, the longest names.
long=$(printf '%0255d' 0)
mkdir -p odd/below outside
cp /bin/true odd/suid
chmod 6755 odd/suid
echo far >outside/file
ln -s ../../outside/file odd/below/out
ln -s / odd/root
ln -s below odd/within
echo long >"odd/$long"
echo near >odd/below/near
over -n 3 -ppn 1 -stage odd sh -c 'cd "$WIREUP_STAGE_DIR" && stat -c %a odd/suid && readlink odd/below/out odd/root &&
    cat "odd/$0" odd/within/near; cat odd/below/out 2>/dev/null || echo gone; find . | wc -l' "$long"
same "bits of other ids, links out of the tree, and long names" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" \
    "0  3 ../../outside/file 3 / 3 755 3 9 3 gone 3 long 3 near " || explain
rm -rf odd outside
# Two jobs bring the same tree at once, and one of them is killed.
mkfifo both.go
exec 9<>both.go # nobody waits for the other end
for job in 1 2; do
    "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage tree \
        sh -c 'echo "$WIREUP_STAGE_DIR"; read -r _ <both.go; cat "$WIREUP_STAGE_DIR/tree/below/x"; echo' >"$tmp/both.$job" 2>&1 9>&- &
    eval "both_$job=$!"
done
wait_until "$patience" eval '[ "$(cat "$tmp"/both.? | wc -l)" = 6 ]' || note "$(cat "$tmp"/both.?)"
same "two jobs have their own copies, on each node" "$(sort -u "$tmp"/both.? | wc -l)" 6
kill -9 "$both_1"
wait "$both_1" 2>/dev/null
printf 'changed' >tree/below/x # the job has what was there
ok "one is killed: its copies go, and no others" wait_until "$patience" eval '[ "$(find "$TMPDIR" -name staged | wc -l)" = 3 ]' || note "$(find "$TMPDIR")"
printf '\n\n\n' >&9
wait "$both_2"
same "the other one has its files, as they were" "$? $(grep -c '^below$' "$tmp/both.2")" "0 3" || note "$(cat "$tmp"/both.?)"
exec 9>&-
printf 'below' >tree/below/x
ok "nothing is left: directories are gone" [ -z "$(ls -A "$TMPDIR")" ] || note "$(ls -lR "$TMPDIR")"

# ---- read once
cp /bin/true big-tool
head -c 9000000 /dev/urandom >big
# How often any process opens or executes `big` and `big-tool` where they are, not their copies.
opens() # COMMAND...
{
    run "$patience" strace -s 500 -f -qq -e trace=open,openat,execve -o "$tmp/opens" "$@"
    opens=
    for file in big big-tool; do
        opens="$opens$(grep -v -e O_CREAT -e /staged/ "$tmp/opens" | grep -cE "(openat\([^,]*, |open\(|execve\()\"([^\"]*/)?$file\"") "
    done
}
if [ -n "$(sanitizer_of "$WIREUP")" ]; then
    note "opens of files: the plain build counts them"
elif command -v strace >/dev/null 2>&1; then
    opens "$WIREUP" -n 1 -stage big -preload-binary ./big-tool
    alone=$opens
    same "a file is opened once" "$rc ${alone%% *}" "0 1" || explain
    opens "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 12 -oversubscribe -stage big -preload-binary ./big-tool
    same "and a program not more often for 12 processes on three nodes" "$rc $opens" "0 $alone" || explain
    opens "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 12 -oversubscribe ./big-tool
    ok "the control: without it, by each process" [ "$(echo "$opens" | cut -d' ' -f2)" -ge 12 ] || explain
    # A tree: look-ups in it, of whatever kind.
    mkdir -p many/below
    for i in 1 2 3 4 5; do echo "$i" >"many/below/f$i"; done
    looks() # N OPTIONS...
    {
        n=$1
        shift
        run "$patience" strace -s 500 -f -qq -e trace=%file -o "$tmp/looks" "$WIREUP" -launch-agent "$tmp/agent" \
            -hosts n1:2,n2:2,n3:2 -n "$n" -map-by node "$@"
        looks=$(grep -v -e /staged -e execve "$tmp/looks" | grep -c '"[^"]*many')
    }
    # shellcheck disable=SC2016
    program='for i in 1 2 3 4 5; do read -r x <"${WIREUP_STAGE_DIR:-.}/many/below/f$i"; done; [ "$x" = 5 ]'
    looks 3 -stage many sh -c "$program"
    few=$looks
    looks 6 -stage many sh -c "$program"
    same "look-ups do not grow with the processes" "$rc $looks" "0 $few" || explain
    looks 3 sh -c "$program"
    few=$looks
    looks 6 sh -c "$program"
    ok "the control: without it they do" [ "$looks" -ge $((few + 15)) ] || note "$looks, $few"
else
    skip "opens of files" "strace is not installed"
fi
over -n 3 -ppn 1 -stage big sh -c 'sha256sum <"$WIREUP_STAGE_DIR/big"'
same "each node has the same bytes" "$rc $(sort "$out" | uniq -c | sed 's/^ *//')" "0 3 $(sha256sum <big)" || explain

# ---- a slow node: the writer on one of them is stopped; nobody reads far ahead, and others are answered
head -c 40000000 /dev/zero >long
writers() { pgrep -f -- '--staging-unpac[k]'; }
reader() { pgrep -f -- '--staging-pac[k]' | head -1; }
stop_one() { stopped=$(writers | tail -1) && [ -n "$stopped" ] && kill -STOP "$stopped"; }
# The reader waits for somebody who reads.
blocked()
{
    at=$(sed -n 's/^rchar: //p' "/proc/$(reader)/io" 2>/dev/null) || return 1
    case $(cat "/proc/$(reader)/wchan" 2>/dev/null) in *pipe*) [ "$at" = "${was-}" ] && return 0 ;; esac
    was=$at
    return 1
}
stalled() # a job whose files do not come
{
    fresh
    "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage long \
        sh -c 'touch ran; stat -c %s "$WIREUP_STAGE_DIR/long"' >"$out" 2>"$err" &
    launcher=$!
    wait_until "$patience" stop_one && wait_until "$patience" blocked
}
ended() # NAME CODE SENTENCE
{
    wait $launcher
    rc=$?
    same "$1" "$rc $(grep -c -e "$3" "$err") $(cat "$out") $(ls ran 2>/dev/null)" "$2 1  " || explain
    ok "... and leaves nothing" [ -z "$(writers)$(reader)$(ls -A "$TMPDIR")" ] || note "$(ls -lR "$TMPDIR")"
}
stalled
ok "the reader waits for the slowest node" [ "$at" -lt 40000000 ] || note "$at"
run "$patience" "$WIREUP" ps
same "and the launcher answers meanwhile" "$rc $(grep -c starting "$out")" "0 1" || explain
fresh
kill -CONT "$stopped"
wait $launcher
same "it goes on when that one does" "$?" 0 || explain
rm -f ran

# ---- a person at a terminal is told who is behind, and may stop it
cat >hold_back <<'END'
#!/bin/sh
until one=$(pgrep -f -- '--staging-unpac[k]' | tail -1) && [ -n "$one" ] && kill -STOP "$one"; do :; done
END
chmod +x hold_back
fresh
env TERM=dumb python3 "$e2e/terminal.py" sh ./hold_back see 'MB of files are on their way to the nodes; n' type '\x03' end -- \
    "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage long touch ran >"$out" 2>&1
same "on a terminal progress is told" "$(tail -n 1 "$out") $(ls ran 2>/dev/null)" "status 130 " || explain

# ---- ends meanwhile
stalled
kill -INT $launcher
ended "interrupted" 130 "the job was interrupted"
stalled
printf 'x' | dd of=long bs=1 seek=39999999 conv=notrunc status=none
kill -CONT "$stopped"
ended "a file changes while it is read, and keeps its length" 2 '-stage: long has changed while it was read'
stalled
kill -KILL "$stopped"
ended "a writer is killed" 2 'node n[123]: the process that stages files was killed by signal 9'
stalled
kill -KILL "$(reader)"
ended "the reader is killed" 2 'the process that stages files was killed by signal 9'
stalled
kill -KILL "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$stopped/status")"
wait $launcher
rc=$?
ok "a daemon is killed: the job fails" [ "$rc" != 0 ] || explain
ok "... with its node's name" grep -q 'node n[123]' "$err" || explain
ok "... and leaves nothing" wait_until "$patience" eval '[ -z "$(ls -A "$TMPDIR")" ]' || note "$(ls -lR "$TMPDIR")"
rm -f ran

# ---- refused
over -n 3 -stage /no/such touch ran
refused "a file that is not there" 2 '-stage: /no/such cannot be read: No such file'
over -n 3 -stage /dev/null touch ran
refused "a device" 2 '-stage: /dev/null is a device; only files'
mkdir pipes
mkfifo pipes/p
over -n 3 -stage pipes touch ran
refused "a pipe in a directory" 2 '-stage: pipes/p is a pipe; only files'
truncate -s 65G huge
over -n 3 -stage huge touch ran
refused "too much" 2 '-stage: too large: with huge'
rm -f huge
run "$patience" "$WIREUP" -n 1 -stage huge touch ran
refused "on one node as well" 2 'huge cannot be read'
over -n 3 -stage /proc/self/status touch ran
refused "a file that changes while it is read" 2 'has changed while it was read'
mkdir small
cat >"$tmp/small-agent" <<'EOF'
#!/bin/sh
host=$1
shift
exec unshare -m -u sh -c 'mount -t tmpfs -o size=1m none small && [ "$0" != n2 ] || export TMPDIR=$PWD/small; hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
EOF
chmod +x "$tmp/small-agent"
run "$patience" "$WIREUP" -launch-agent "$tmp/small-agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage big touch ran
refused "no space on a node" 2 'node n2: no space for the staged files in .*small.* kB are needed'
sed -i 's/mount -t tmpfs -o size=1m/mount -t tmpfs -o ro/' "$tmp/small-agent"
run "$patience" "$WIREUP" -launch-agent "$tmp/small-agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage big touch ran
refused "a node where nothing can be written" 2 'node n2: cannot make a directory for staged files in .*/small: Read-only file system; set TMPDIR'
deep=$(printf 'd/%.0s' $(seq 101))
mkdir -p "abyss/$deep"
over -n 3 -stage abyss touch ran
refused "too deep a tree" 2 '-stage: too large at abyss/d/d.*: at most .* 100 levels deep, are staged'
rm -rf abyss
other=$tmp/work/elsewhere/tool
mkdir elsewhere
cp tool elsewhere/tool
run "$patience" env PATH="$tmp/work/elsewhere:$PATH" "$WIREUP" -n 1 -stage tool -preload-binary tool
refused "two files of one name" 2 "-stage: .*tool and .*tool would have one name"
rm -rf "$other"

# ---- a killed launcher leaves nothing
fresh
"$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 3 -ppn 1 -stage long sh -c 'echo up; exec sleep 1000' >"$out" 2>"$err" &
launcher=$!
three() { [ "$(grep -c up "$out")" = 3 ]; }
wait_until "$patience" three
kill -9 $launcher
wait $launcher 2>/dev/null
gone() { [ -z "$(ls -A "$TMPDIR")" ]; }
ok "after kill -9 of the launcher" wait_until "$patience" gone || note "$(ls -lR "$TMPDIR")"
finish
