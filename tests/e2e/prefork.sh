#!/bin/sh
# -prefork: a rank that is forked is the same as one that is started; programs that cannot be forked are
# started as usual, and one line says why; whoever dies at which instant, the job runs, and nothing is left.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent

lib=$tmp/lib
mkdir "$lib"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -o "$lib/libodd.so" "$e2e/prefork_library.c" || exit 1
c_program prefork -I"$e2e" -L"$lib" -Wl,-rpath,"$lib" -lodd
prefork=$bin/prefork
line="started as usual"

# ---- the same state ----

same_state() # NAME OPTIONS...
{
    state_name=$1
    shift
    run 60 "$WIREUP" "$@" -n 3 "$prefork" state "a word" ''
    sort "$out" >"$tmp/ordinary"
    ordinary=$rc
    run 60 "$WIREUP" "$@" -prefork -n 3 "$prefork" state "a word" ''
    sort "$out" >"$tmp/forked"
    same "$state_name: the same state" "$ordinary $rc $(wc -l <"$tmp/ordinary") $(diff "$tmp/ordinary" "$tmp/forked")" \
        "0 0 $(wc -l <"$tmp/forked") " || explain
}

run 60 "$WIREUP" -prefork -n 3 "$prefork" how
same "each rank is forked" "$rc $(sort "$out" | tr '\n' ,) $(cat "$err")" "0 0 forked,1 forked,2 forked, " || explain
run 60 "$WIREUP" -n 3 "$prefork" how
same "and without the option none is" "$(sort "$out" | tr '\n' ,)" "0 started,1 started,2 started,"
same_state "as it is"
ok "the state has what it is about" \
    [ "$(grep -c '^1 \(descriptor [0123] \|variable PMI_FD: 3\|signal at the parent.s death: 9\|begun: 1\|SigBlk:\)' "$tmp/forked")" = 8 ] ||
    note "$(grep '^1 ' "$tmp/forked" | grep -v variable)"
mkdir "$tmp/work/dir"
same_state "a directory" -wdir "$tmp/work/dir"
same_state "processors" -bind-to user:0,0,0
run 60 "$WIREUP" -n 3 "$prefork" state
same "(a difference is seen)" "$(sort "$out" | diff - "$tmp/forked" | grep -c '^[<>] . \(Cpus_allowed_list\|word\)')" \
    "$([ "$(nproc)" = 1 ] && echo 6 || echo 12)"
same_state "a port" -pmi-port
same_state "one stream" -merge-stderr-to-stdout
same_state "input for all" -stdin all
(
    umask 027
    trap '' HUP
    ulimit -S -n 200
    ulimit -S -c 0
    export MANY="$(head -c 100000 /dev/zero | tr '\0' x)"
    exec nice -n 5 sh -c '"$0" -n 3 "$1" state </dev/null >"$2" 2>&1; "$0" -prefork -n 3 "$1" state </dev/null >"$3" 2>&1' \
        "$WIREUP" "$prefork" "$tmp/ordinary" "$tmp/forked"
)
same "umask, signals, limits, priority, a large environment: the same state" \
    "$(sort "$tmp/ordinary" >"$tmp/sorted"; sort "$tmp/forked" | diff "$tmp/sorted" - | head -c 2000)" ""
ok "and they are there" [ "$(grep -c "^. Umask: .*0027\|^. variable MANY: x*$\|^. policy, priority: 0 [1-9]" "$tmp/forked")" = 9 ]
run 60 "$WIREUP" -prefork -n 2 "$prefork" how : -n 1 "$prefork" state : -prefork -n 2 cat /proc/self/comm
same "several programs" "$rc $(grep -c forked "$out") $(grep -c '^cat$' "$out") $(cat "$err")" "0 2 2 " || explain
run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2 -prefork -n 4 -ppn 2 "$prefork" how
same "on several nodes" "$rc $(sort "$out" | tr '\n' ,) $(cat "$err")" "0 0 forked,1 forked,2 forked,3 forked, " ||
    explain
run 60 "$WIREUP" -prefork -genv LD_PRELOAD "$lib/libodd.so" -n 2 sh -c 'echo "$LD_PRELOAD"; cat /proc/self/maps | grep -c prefork || :'
same "what the user preloads stays, and a rank's own programs are not touched" "$rc $(sort -u "$out" | tr '\n' ,)" \
    "0 $(printf '0\n%s\n' "$lib/libodd.so" | sort | tr '\n' ,)" || explain
run 60 "$WIREUP" -prefork -n 1 "$prefork" how
same "a single rank is started as usual, without a word" "$(cat "$out" "$err")" "0 started"

ODD=preload run 60 "$WIREUP" -prefork -n 2 "$prefork" how
same "constructors do not see that we preload something" "$rc $(grep -c forked "$out")" "0 2" || explain
export ODD_PRELOAD="$lib/libodd.so"
ODD=preload run 60 "$WIREUP" -prefork -genv LD_PRELOAD "$ODD_PRELOAD" -n 2 "$prefork" how
same "but what the user preloads" "$rc $(grep -c forked "$out")" "0 2" || explain
ODD=program run 60 "$WIREUP" -prefork -n 2 "$prefork" how
same "nor do programs that they run" "$rc $(grep -c forked "$out")" "0 2" || explain

# ---- the end of ranks ----

run 60 "$WIREUP" -prefork -n 3 "$prefork" exit
same "an exit code" "$rc $(grep -c 'rank 1 .* exited with code 4' "$err")" "4 1" || explain
run 60 "$WIREUP" -prefork -n 3 "$prefork" signal
same "a rank that is killed" "$rc $(grep -c 'rank 1 .* was killed by signal 9' "$err")" "137 1" || explain
fresh
"$WIREUP" -prefork -n 3 "$prefork" wait >"$out" 2>"$err" &
job=$!
# shellcheck disable=SC2016
wait_until 60 sh -c '[ "$(grep -c waiting "$1")" = 3 ]' sh "$out"
same "only ranks are left while the job runs" "$(processes | grep -c "^[0-9]* $prefork wait")" 3 || processes
kill -9 "$job"
wait "$job" 2>/dev/null
nothing_left "of a job whose launcher was killed"

# ---- ranks that are started again, and spawned ones ----

run 60 "$WIREUP" -prefork -max-restarts 1 -n 3 "$prefork" again "$tmp/once"
same "a rank that is started again is forked again" \
    "$rc $(sort "$out" | tr '\n' ,) $(grep -c 'it is started again' "$err") $(grep -c "$line" "$err")" \
    "0 0 forked,1 forked,1 forked,2 forked, 1 0" || explain
run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2 -prefork -max-restarts 1 -n 4 -ppn 2 "$prefork" again "$tmp/far"
same "on another node, too" "$rc $(sort "$out" | tr '\n' ,) $(grep -c "$line" "$err")" \
    "0 0 forked,1 forked,1 forked,2 forked,3 forked, 0" || explain
run 60 "$WIREUP" -prefork -max-restarts 1 -n 2 "$prefork" alone "$tmp/alone"
same "what is forked was killed meanwhile: it is started" \
    "$rc $(sort "$out" | tr '\n' ,) $(grep -c "$line" "$err")" "0 0 forked,1 forked,1 started, 1" || explain
nothing_left "of jobs whose ranks could be started again"
run 60 "$WIREUP" -hosts localhost:4 -prefork -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 3 "$prefork" how
same "spawned processes are forked" "$rc $(grep -v spawned "$out" | sort | tr '\n' ,) $(cat "$err")" \
    "0 0 forked,1 forked,2 forked, " || explain
run 60 "$WIREUP" -hosts localhost:4 -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 3 "$prefork" how
same "and without the option they are not" "$rc $(grep -c started "$out")" "0 3" || explain

# ---- programs that cannot be forked ----

started_as_ever() # NAME WHY PROGRAM...
{
    ever_name=$1 why=$2
    shift 2
    run 60 "$WIREUP" -prefork -n 3 "$@"
    same "$ever_name" "$rc $(wc -l <"$out") $(wc -l <"$err") $(grep -c "$line: .*$why" "$err")" "0 3 1 1" || explain
}

for row in "thread|threads" "child|processes" "file|open files" "share|share memory" "lock|lock memory" \
    "apart|keep memory from" "pending|send themselves signals" "adopt|adopt processes" \
    "timer|timers" "write|write to standard" "bind|bind it" "kill|ends while" "exit|ends while"; do
    ODD=${row%|*} started_as_ever "a constructor: ${row%|*}" "${row#*|}" "$prefork" how
    ok "and it is started" [ "$(grep -c started "$out")" = 3 ]
done
printf '#!/bin/sh\necho script\n' >"$bin/script"
chmod +x "$bin/script"
started_as_ever "a script" "a script" "$bin/script"
echo 'int main(void) { return puts("static") < 0; }' >"$tmp/static.c"
${CC:-cc} -w -include stdio.h -static -o "$bin/static" "$tmp/static.c" &&
    started_as_ever "a static program" "no shared libraries" "$bin/static"
cat >"$tmp/entry.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
/* Where the kernel begins, instead of the C library. */
void begin(void)
{
    int fd = open("starts", O_WRONLY | O_CREAT | O_APPEND, 0600);

    _exit(write(fd, "x", 1) != 1 || write(1, "started\n", 8) != 8);
}
END
if ${CC:-cc} -w -O1 -nostartfiles -Wl,-e,begin -o "$bin/entry" "$tmp/entry.c"; then
    started_as_ever "a program that does not begin in the C library" "does not begin in the C library" "$bin/entry"
    same "and it runs once for each rank, not once more" "$(cat starts)" xxx
fi
cp "$prefork" "$bin/rights"
chmod u+s "$bin/rights"
started_as_ever "a set-uid program" "set-uid" "$bin/rights" how
echo 'int main(void) { return puts("sanitized") < 0; }' >"$tmp/sanitized.c"
${CC:-cc} -w -include stdio.h -fsanitize=address -o "$bin/sanitized" "$tmp/sanitized.c" &&
    started_as_ever "a program with a sanitizer" "sanitizer" "$bin/sanitized"
started_as_ever "names by rank" "another name" -index-argv-by-rank "$prefork" how
run 60 "$WIREUP" -prefork -n 3 "$bin/nothing"
same "a program that is not there" "$rc $(grep -c prefork "$err")" "127 0" || explain

# ---- at each instant ----

ODD=handlers run 60 "$WIREUP" -prefork -n 2 "$prefork" how
same "the fork handlers run" "$(sort "$out" | tr '\n' ,)" "0 forkedpreparechild,1 forkedpreparechild," || explain
for at in 1 2 4; do
    for deed in kill exit; do
        for where in prepare parent; do
            ODD=$where-$deed-$at run 60 "$WIREUP" -prefork -n 4 "$prefork" how
            forked=$((at - 1))
            [ $where = parent ] && forked=$at
            told=$([ $forked = 4 ] && echo 0 || echo 1)
            same "$where, $deed, at fork $at" "$rc $(grep -c '' "$out") $(grep -c forked "$out") $(grep -c "$line" "$err")" \
                "0 4 $forked $told" || explain
        done
    done
done
ODD=prepare-stop-2 run 60 "$WIREUP" -prefork -n 4 "$prefork" how
same "it stops at a fork" "$rc $(grep -c '' "$out") $(grep -c forked "$out") $(grep -c "$line" "$err")" "0 4 1 1" || explain
ODD=child-kill-2 run 60 "$WIREUP" -prefork -n 3 "$prefork" how
same "a rank that is killed before its main function" "$rc $(grep -c 'rank 1 .* was killed by signal 9' "$err")" "137 1" ||
    explain
is_stopped() # a process of ours is
{
    for pid in $(processes | sed -n "s|^\([0-9]*\) $prefork .*|\1|p"); do
        grep -qs '^State:.T' "/proc/$pid/status" && return
    done
    return 1
}

for how in -INT -KILL; do
    fresh
    ODD=stop "$WIREUP" -prefork -n 3 "$prefork" how >"$out" 2>"$err" &
    job=$!
    ok "a program stops while it is loaded" wait_until 60 is_stopped || explain
    kill "$how" "$job"
    wait "$job" 2>/dev/null
    nothing_left "of its job, which is ended ($how)"
done
finish
