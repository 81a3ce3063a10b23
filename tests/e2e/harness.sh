#!/bin/sh
# The harness itself: what lib.sh claims to count, it has to see.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin

same "nobody carries our mark at first" "$(processes)" ""
same "and no file is there" "$(left_files)" ""

# A process that hides: another session, another group, no parent of ours.
mkfifo "$tmp/never"
setsid sh -c 'read x <"$0"' "$tmp/never" &
wait_until 120 eval '[ -n "$(processes)" ]'
ok "a process in a session of its own is seen" eval 'processes | grep -q never'
echo >"$tmp/never"
ok "and is no longer seen when it is gone" wait_until 120 nobody_left

: >"$TMPDIR/forgotten"
ok "a forgotten temporary file is seen" eval 'left_files | grep -q forgotten'
rm "$TMPDIR/forgotten"
: >/dev/shm/wireup.$$
ok "a forgotten segment is seen" eval 'left_files | grep -q "^wireup.$$\$"'
rm -f /dev/shm/wireup.$$

run 5 sh -c 'echo hello; echo oops >&2; exit 3'
same "run keeps both streams and the status apart" "$rc $(cat "$out") $(cat "$err")" "3 hello oops"
least_net=1
run 1 sleep 30
same "run ends a program that hangs" "$rc" 124
ok "and wait_until what does not come" eval '! wait_until 1 false'
least_net=300
run 5 sh -c 'echo "wireup: internal error: event x for daemon 1 in state y" >&2'
same "an internal error is found" "$(no_internal_error | grep -c '^not ok')" 1
rm "$tmp/internal"

reports=$tmp/report
same "no report of a sanitizer is none" "$(nothing_reported | grep -c '^not ok')" 0
echo "LeakSanitizer: detected memory leaks" >"$reports.17"
same "a report of a sanitizer is found" "$(nothing_reported | grep -c '^not ok\|LeakSanitizer')" 2
reports=

# Wherever the checkout lies, /tmp and /dev/shm are the test's own, and the checkout is still there.
cat >"$tmp/probe.sh" <<'PROBE'
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
[ -z "${WU_PRIVATE-}" ] && echo "no name spaces" && exit
[ -e "$WU_SRC/tests/e2e/lib.sh" ] && [ -e "$WU_BUILD/built" ] && echo "checkout here"
ls /tmp /dev/shm | grep others
[ -z "$(left_files)" ] && : >/tmp/forgotten && [ "$(left_files)" = forgotten ] && echo "counted"
PROBE
: >/tmp/others.$$
for place in "$tmp/place" "/tmp/e2e.$$" "/dev/shm/e2e.$$"; do
    mkdir -p "$place/source/tests/e2e" "$place/build of it"
    : >"$place/build of it/built"
    cp "$e2e/lib.sh" "$e2e/private.sh" "$tmp/probe.sh" "$place/source/tests/e2e"
    run 60 env WU_PRIVATE='' WU_SRC="$place/source" WU_BUILD="$place/build of it" TMPDIR=/tmp \
        WIREUP="$place/build of it/wireup" sh "$place/source/tests/e2e/probe.sh"
    case $(cat "$out") in
    *"no name spaces") skip "a checkout in ${place%/*}" "this machine gives us no private name spaces" ;;
    *) same "a checkout in ${place%/*}" "$(grep -v '^#' "$out" | tr '\n' ,)" "checkout here,counted," || explain ;;
    esac
    rm -rf "$place"
done
rm -f /tmp/others.$$

# Whoever runs the tests ignores and blocks what it likes, and the machine is called as one of the nodes.
cat >"$PWD/probe.sh" <<'PROBE'
. "$WU_SRC/tests/e2e/lib.sh"
private_world "$@"
begin
[ -z "${WU_PRIVATE-}" ] && echo "no name spaces" && exit
# (The C library has two signals for itself, 32 and 33, and lets nobody choose what becomes of them.)
while read -r name value; do
    case $name in SigBlk: | SigIgn:) echo "$name $((0x$value & ~0x180000000))" ;; esac
done </proc/self/status
hostname
getent hosts testhost | cut -d ' ' -f 1
PROBE
run 60 unshare -u sh -c 'hostname n1; exec "$@"' probe env --ignore-signal --block-signal WU_PRIVATE='' sh "$PWD/probe.sh"
case $(cat "$out") in
*"no name spaces") skip "signals and host name of a test" "this machine gives us no private name spaces" ;;
*) same "a test ignores and blocks no signals, and its host has a name of its own" "$(grep -v '^#' "$out" | tr '\n' ,)" \
    "SigBlk: 0,SigIgn: 0,testhost,127.0.1.1," || explain ;;
esac

# Everything that runs elsewhere ends together: the first of two processes would tell how the second one has ended.
mkfifo "$tmp/end"
# shellcheck disable=SC2016
sh -c '"$@" & trap "echo guard lives" CONT; wait; echo worker ended; sleep 1000' guard \
    sh -c 'trap "echo worker goes on" CONT; read -r _ <"$0"' "$tmp/end" >"$tmp/told" 2>&1 &
guard=$!
wait_until 60 eval 'worker=$(pgrep -P $guard) && [ -n "$worker" ]'
same "children come first, whatever their numbers" "$(children_first $guard "$worker" | tr '\n' ' ')$(children_first "$worker" $guard | tr '\n' ' ')" \
    "$worker $guard $worker $guard "
switch_off $guard "$worker"
wait $guard 2>/dev/null
same "who is switched off does nothing" "$(cat "$tmp/told")" ""

# A file that others cannot read where it is, they can read as a copy.
mkdir -m 700 "$tmp/closed"
printf '#!/bin/sh\necho here\n' >"$tmp/closed/program"
chmod 700 "$tmp/closed/program"
for_others "$tmp/closed/program"
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    # (What setpriv starts itself is opened with root's rights.)
    run 60 setpriv --reuid 65534 --clear-groups env "$tmp/closed/program"
    same "the control: others may not read it" "$rc $(cat "$out")" "126 "
    run 60 setpriv --reuid 65534 --clear-groups env "$others/program"
    same "others read and start a copy" "$rc $(cat "$out")" "0 here" || explain
else
    skip "others read and start a copy" "only root can be another user"
fi

# A program that says it has spawned, and has not, is found out; so is a launcher that records nothing.
if [ -x "$WIREUP" ]; then
    spawning launch 1 "$WU_BUILD/tests/e2e/e2e-dynamic" row 3
    same "three spawns are counted" "$rc $spawned $(cat "$out")" "0 3 row 3 good 3 more descriptors few" || explain
    spawning launch 2 sh -c '[ "$PMI_RANK" != 0 ] || echo row 3 good 3 more descriptors few'
    same "spawns that are only said are none" "$rc $spawned $(cat "$out")" "0 0 row 3 good 3 more descriptors few" || explain
    real=$WIREUP
    WIREUP=/bin/true
    spawning launch 1 nothing
    WIREUP=$real
    same "without a recording nobody knows" "$spawned" unknown
else
    skip "spawns are counted" "no launcher at $WIREUP"
fi

# A Wireup that is installed, and on PATH, is none that a test meets.
cat >"$tmp/probe.sh" <<'PROBE'
. "$1/lib.sh"
private_world "$@"
begin
[ -z "${WU_PRIVATE-}" ] && echo "no name spaces" && exit
command -v wireup
cat "$2/other" "$2/lib/libpmi.so.0"
ls -d "$2"/*
PROBE
old=/mnt/old # of this test's own world alone
if [ -n "${WU_PRIVATE-}" ] && mount -t tmpfs none /mnt; then
    mkdir -p $old/bin $old/lib
    echo "also there" >$old/other
    cp "$tmp/probe.sh" $old
    mkdir -p $old/share/wireup
    printf '%s\n' $old/share $old/share/wireup $old/share/wireup/installed $old/other2 >$old/share/wireup/installed
    : >$old/other2
    for file in $old/bin/wireup $old/lib/libpmi.so.0; do
        echo "of before" >$file
        chmod +x $file
    done
    run 60 env WU_PRIVATE='' PATH="$old/bin:$PATH" sh $old/probe.sh "$e2e" $old
    same "an installed Wireup is hidden from tests, and nothing else" \
        "$(grep -v '^#' "$out" | tr '\n' ,)" "also there,$old/bin,$old/lib,$old/other,$old/probe.sh," || explain
    same "and from them alone" "$(cat $old/bin/wireup $old/lib/libpmi.so.0 | tr '\n' ,)" "of before,of before,"
    umount /mnt
else
    skip "an installed Wireup is hidden from tests" "this machine gives us no mount name space of our own"
fi

# The points themselves: a failure has to be counted as one.
inner=$(sh -c '. "$0"; ok good true; ok bad false; same equal a b; echo "$points $failed"' \
    "$e2e/lib.sh" 2>&1)
same "three points, two of them failures" "$(echo "$inner" | tail -n 1)" "3 2"
finish
