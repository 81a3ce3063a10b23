#!/bin/sh
# A thousand launches in a row, and two hundred in which somebody is killed: nothing may add up.
#
#   soak.sh CALM WILD [SEED]
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program rawpmi1
calm=$1
wild=$2
seed=${3:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}

same "$calm launches in a row" \
    "$(python3 "$e2e/soak.py" calm "$calm" "$WIREUP" -n 2 "$bin/rawpmi1" exchange)" "calm $calm good"
nothing_left "after $calm launches"
same "no System V segment, queue or semaphore" \
    "$(tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem)" ""

note "seed $seed"
python3 "$e2e/soak.py" wild "$wild" "$seed" "$WIREUP" -n 4 "$bin/rawpmi1" hold >"$out" 2>&1
same "$wild launches in which somebody is killed" "$(head -n 1 "$out")" "wild $wild good"
note "$(cat "$out")"
nothing_left "after $wild violent ends"

# Descriptors of a launcher whose job is long: those of ranks that are gone have to be gone too.
# The first rank lives until its input ends; the others come and go.
mkfifo "$tmp/go"
launcher_fds()
{
    for process in $(processes | grep "^[0-9]* $WIREUP " | cut -d' ' -f1); do
        ls "/proc/$process/fd" 2>/dev/null | wc -l
    done | sort -n | tail -n 1
}
fds() # NUMBER of ranks beside the first, LIMIT to come down to
{
    fresh
    "$WIREUP" -n 1 sh -c 'echo up; read x' : -n "$1" true <"$tmp/go" >"$out" 2>"$err" &
    pid=$!
    exec 8>"$tmp/go"
    wait_until 120 grep -q up "$out"
    # The others have gone when only the launcher and the first are left.
    wait_until 120 eval '[ "$(processes | grep -vc "^[0-9]* $WIREUP")" -le 1 ]'
    wait_until 120 eval '[ "$(launcher_fds)" -le '"$2"' ]'
    launcher_fds
    exec 8>&-
    wait "$pid"
}
one=$(fds 1 30)
many=$(fds 100 $((one + 3)))
note "descriptors of the launcher: $one with one rank gone, $many with a hundred gone"
ok "descriptors of ranks that are gone are closed" [ "$many" -le $((one + 3)) ]
finish
