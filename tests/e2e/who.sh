#!/bin/sh
# Who waits for whom, while it lasts: by command, by signal, and when the time is over.  Ranks speak the
# wire by themselves, so that they stop exactly where they are wanted to.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup

# Rank 1 wants an attribute of the node; rank 0 puts it when a line comes on standard input.
cat >"$tmp/rank" <<'END'
say() { printf '%-6s%s' ${#1} "$1" >&3; }
hear() { n=$(dd bs=1 count=6 <&3 2>/dev/null); dd bs=1 count=$((n)) <&3 2>/dev/null; }
echo "cmd=init pmi_version=2 pmi_subversion=0" >&3
read -r line <&3
say "cmd=fullinit;pmirank=$PMI_RANK;threaded=FALSE;"
hear
[ "$PMI_RANK" != 2 ] || echo "$PMIX_NAMESPACE" >"$NAME"
case $PMI_RANK in
0)  read -r line
    say "cmd=info-putnodeattr;key=the lock;value=open;" ;;
1)  say "cmd=info-getnodeattr;key=the lock;wait=TRUE;" ;;
2)  say "cmd=kvs-fence;" ;;
esac
hear
[ "$PMI_RANK" = 2 ] || { say "cmd=kvs-fence;"; hear; }
say "cmd=finalize;"
hear
END

# Launchers are found in the network that all tests share, so this looks for them in one of its own.
if unshare -n true 2>/dev/null; then
    for command in ps who tools names; do
        run 60 unshare -n "$WIREUP" $command
        same "$command without a job is no error" "$rc $(cat "$out" "$err")" \
            "0 wireup: you have no running jobs on this machine" || explain
    done
    run 60 unshare -n "$WIREUP" names --json
    same "and is an empty list" "$rc $(cat "$out" "$err")" '0 {"schema":"wireup-names-1","names":[],"no_answer":[]}' || explain
    run 60 unshare -n "$WIREUP" who nobody
    same "a job that does not run is one" "$rc $(cat "$err")" \
        "1 wireup: you have no running job nobody on this machine" || explain
else
    skip "no jobs" "this user may not make a network"
fi

mkfifo "$tmp/input"
rc=0
NAME=$tmp/name "$WIREUP" -n 3 sh "$tmp/rank" <"$tmp/input" >"$tmp/job.out" 2>"$tmp/job.err" &
job=$!
exec 9>"$tmp/input"
# Other launchers of this user may be at work: their jobs are told as well.
who() { "$WIREUP" who "$@" >"$out" 2>"$err"; }
ours() { who "$@" "$(cat "$tmp/name")"; }
wait_until 60 [ -s "$tmp/name" ]
told() { ours && grep -q '^  get node attribute "the lock", for [0-9.]* s, by rank 1: no process of the node has put it' "$out"; }
ok "a pending get is listed" wait_until 60 told || explain
fenced() { ours && grep -q '^  fence .*generation 0.*: 1 of 3 have arrived; missing: 0-1$' "$out"; }
ok "and the fence of another rank" wait_until 60 fenced || explain
last()
{
    ours && grep -q '^    rank 1 on .*(pid [0-9]*) attached.*; last request: get node attribute, ' "$out" &&
        grep -q '^    rank 0 on .*(pid [0-9]*) attached.*; last request: init, ' "$out"
}
ok "each of the missing with its last request" wait_until 60 last || explain
same "a job by its name, and no other" "$(grep -c '^job ' "$out")" 1 || explain
who nobody
ok "a job that is none" [ $? -ne 0 ] || explain
cat >"$tmp/judge.py" <<'END'
import json, sys
report = json.load(sys.stdin)
assert report["schema"] == "wireup-who-1"
job, = report["jobs"]
get, = [p for p in job["pending"] if p.get("request") == "get node attribute"]
fence, = [p for p in job["pending"] if "fence" in p]
assert get["name"] == "the lock" and get["rank"] == 1 and get["seconds"] >= 0
assert [p["rank"] for p in fence["processes"]] == [0, 1] and fence["missing"] == "0-1"
print("good")
END
ours --json
same "for programs" "$(python3 "$tmp/judge.py" <"$out" 2>&1)" good || explain
kill -QUIT $job
reported() { grep -q '^wireup:   get node attribute "the lock"' "$tmp/job.err" && grep -q 'missing: 0-1$' "$tmp/job.err"; }
ok "SIGQUIT brings the same report to standard error" wait_until 60 reported || note "$(cat "$tmp/job.err")"
echo go >&9
exec 9>&-
wait $job
same "the job goes on and ends well" $? 0
same "with its answers" "$(grep -o 'found=TRUE;value=open' "$tmp/job.out")" "found=TRUE;value=open"
ours
same "then there is nothing to tell" "$(cat "$out")" ""

# The time is over.
c_program rawpmi1
# shellcheck disable=SC2016
for time in 5 20 80; do # the others may need longer
    run 300 "$WIREUP" -timeout $time -n 3 sh -c '[ "$PMI_RANK" = 1 ] && exec sleep 1000; exec "$0" exchange' "$bin/rawpmi1"
    ! grep -q ": 2 of 3 have arrived; missing: 1\$" "$err" || break
done
same "a job whose time is over" "$rc" 124 || explain
ok "is reported with the missing rank and its pid" eval 'grep -q ": 2 of 3 have arrived; missing: 1\$" "$err" &&
    grep -q "^wireup:     rank 1 on .*(pid [0-9]*) .*; has not said anything yet" "$err"' || explain

# Containers that share the network: in each, pids begin with 1, and so those of their launchers are the same.
world() # N: a launcher of N processes in pids of its own, and what is told of it there
{
    unshare -p -f --mount-proc --kill-child sh -c '
        "$0" -n "$1" sh -c "echo up; [ \$PMI_RANK != 0 ] || read -r line" <"$2/world.$1" >"$2/up.$1" 2>&1 &
        while ! grep -q up "$2/up.$1"; do sleep 0.05; done
        "$0" who >"$2/who.$1"
        touch "$2/told.$1"
        wait' "$WIREUP" "$1" "$tmp"
}
if unshare -p -f --mount-proc true 2>/dev/null; then
    mkfifo "$tmp/world.1" "$tmp/world.2"
    exec 7<>"$tmp/world.1" 8<>"$tmp/world.2"
    for n in 1 2; do
        : >"$tmp/up.$n"
        world "$n" &
        wait_until 60 [ -e "$tmp/told.$n" ]
    done
    same "the launchers of two containers are told apart" \
        "$(cat "$tmp/who.1" "$tmp/who.2" | sed -n 's/^job .*, \([0-9]*\) process[es]*:.*/\1/p' | tr '\n' ,)" \
        "1,2," || note "$(cat "$tmp/who.1" "$tmp/who.2")"
    echo >&7
    echo >&8
    exec 7>&- 8>&-
    wait
else
    skip "containers" "this machine gives us no pid name spaces of our own"
fi
finish
