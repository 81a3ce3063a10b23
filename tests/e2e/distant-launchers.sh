#!/bin/sh
# Launchers on different machines that share a directory (-launchers-dir): names, connects, and who is kept out.
# The machines are run-time directories: launchers do not find each other's sockets.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
patience=60
launchers=$WU_BUILD/tests/e2e/e2e-launchers
dir=$tmp/shared
mkdir -m 700 "$tmp/m1" "$tmp/m2"

# A launcher on that machine.
on() # MACHINE WORDS...
{
    machine=$tmp/$1
    shift
    XDG_RUNTIME_DIR=$machine timeout "$patience" "$WIREUP" "$@"
}

holding()
{
    grep -q 'launchers holding' "$tmp/one"
}

look() # NAME WANT OPTIONS...
{
    what=$1 want=$2
    shift 2
    on m2 "$@" -n 1 "$launchers" look one >"$out" 2>"$err"
    same "$what" "$? $(head -n 1 "$out")" "0 launchers $want" || note "$(cat "$out" "$err")"
}

on m1 -launchers-dir "$dir" -n 1 "$launchers" hold one >"$tmp/one" 2>&1 &
one=$!
ok "a launcher with a directory" wait_until "$patience" holding || note "$(cat "$tmp/one")"
same "it makes the directory, for nobody else" "$(stat -c %a "$dir" "$dir"/* | tr '\n' ' ')" "700 600 600 " ||
    note "$(ls -la "$dir")"
look "the control: machines without it do not find each other" none
look "nor with another directory" none -launchers-dir "$tmp/other"
mkdir -m 700 "$tmp/forged"
head -c 32 /dev/urandom | base64 >"$tmp/forged/token"
chmod 600 "$tmp/forged/token"
cp "$dir"/*.launcher "$tmp/forged/"
look "nor by the address alone, with another token" none -launchers-dir "$tmp/forged"
look "with it a name is found" found -launchers-dir "$dir"
mkfifo "$tmp/hold"
on m2 -launchers-dir "$dir" -n 1 "$launchers" 'done' one <"$tmp/hold" >"$out" 2>"$err" &
two=$!
exec 9>"$tmp/hold"
wait "$one"
same "who waits for a name is told at once when it is published" "$? $(head -n 1 "$tmp/one")" "0 launchers holding" ||
    note "$(cat "$tmp/one" "$err")"
exec 9>&-
wait "$two"
same "when they have ended only the token is there" "$(ls "$dir")" token

# Connects: what was put before, what is put later, and the end of one launcher; each on two nodes.
both() # MODE
{
    on m1 -launchers-dir "$dir" -launch-agent "$tmp/agent" -hosts n1:1,n2:1 -n 2 "$launchers" "$1" one two 3 >"$tmp/one" 2>&1 &
    one=$!
    on m2 -launchers-dir "$dir" -launch-agent "$tmp/agent" -hosts n3:2,n4:1 -n 3 "$launchers" "$1" two one 2 >"$tmp/two" 2>&1 &
    two=$!
}

for mode in meet later; do
    both $mode
    wait "$one"
    rc=$?
    wait "$two"
    same "they connect: $mode" "$rc $? $(sort "$tmp/one" "$tmp/two" | uniq -c | tr -s ' ' | tr '\n' ,)" \
        "0 0  5 launchers $mode good," || note "$(cat "$tmp/one" "$tmp/two")"
done

connected()
{
    [ "$(cat "$tmp/one" "$tmp/two" | grep -c 'launchers connected')" = 5 ]
}

both outlive
ok "they are connected" wait_until "$patience" connected
victim=$two # a shell; below it timeout, the supervisor, the worker
for _ in 1 2 3; do
    victim=$(ps -o pid= --ppid "$victim" | head -n 1 | tr -d ' ')
done
kill -9 "$victim"
wait "$one"
same "who outlives the other launcher is told of the ends" \
    "$? $(grep -c 'launchers outlive good' "$tmp/one") $(grep -c 'the launcher of job .* is lost' "$tmp/one")" "0 2 1" ||
    note "$(cat "$tmp/one" "$tmp/two")"
wait "$two"

# The file of a launcher that was killed is removed by the next one; not those of living ones, nor of other machines.
killed()
{
    victim=$one
    for _ in 1 2 3; do
        victim=$(ps -o pid= --ppid "$victim" | head -n 1 | tr -d ' ')
    done
    # Both of its processes: the supervisor would remove the file.
    switch_off "$(ps -o ppid= -p "$victim" | tr -d ' ')" "$victim"
    wait "$one"
}
rm -f "$dir"/*.launcher
on m1 -launchers-dir "$dir" -n 1 "$launchers" hold one >"$tmp/one" 2>&1 &
one=$!
wait_until "$patience" holding
killed
left=$(basename "$dir"/*.launcher)
sed '2s/.*/another-boot/' "$dir/$left" >"$dir/elsewhere.1.launcher"
ok "the control: a killed launcher leaves its file" test -s "$dir/$left"
on m1 -launchers-dir "$dir" -n 1 "$launchers" hold one >"$tmp/one" 2>&1 &
one=$!
wait_until "$patience" holding
look "with another one beside it a name is found" found -launchers-dir "$dir"
same "the next launcher removes it, and no other" "$(cd "$dir" && echo elsewhere.1.launcher; [ -e "$left" ] && echo "$left"
    find . -name '*.launcher' | wc -l)" "elsewhere.1.launcher
2"
# A job of `wireup serve` finds names there, too.
XDG_RUNTIME_DIR=$tmp/m2 timeout "$patience" "$WIREUP" serve --launchers-dir "$dir" >"$tmp/lines" 2>"$err" &
served=$!
wait_until "$patience" test -s "$tmp/lines"
(eval "$(cat "$tmp/lines")" && XDG_RUNTIME_DIR=$tmp/m2 exec timeout "$patience" "$launchers" look one) >"$out" 2>>"$err"
same "so does a job of wireup serve" "$? $(head -n 1 "$out")" "0 launchers found" || note "$(cat "$out" "$err" "$tmp/lines")"
kill "$served"
wait "$served"
on m2 -launchers-dir "$dir" -n 1 "$launchers" 'done' one >"$out" 2>"$err" </dev/null
wait "$one"
rm -f "$dir"/*.launcher

# Another user is kept out by the directory.
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    for_others "$WIREUP"
    run "$patience" setpriv --reuid 65534 --clear-groups env XDG_RUNTIME_DIR= "$others/wireup" -launchers-dir "$dir" -n 1 true
    same "another user may not use the directory" "$rc $(grep -c 'launchers-dir' "$err")" "125 1" || note "$(cat "$err")"
    chmod 700 "$tmp"
fi

# A directory of others.
mkdir -m 755 "$tmp/open"
run "$patience" "$WIREUP" -launchers-dir "$tmp/open" -n 1 true
same "an open directory is refused, before anything starts" "$rc $(grep -c 'closed to others (chmod 700)' "$err")" "125 1" ||
    note "$(cat "$err")"
finish
