#!/bin/sh
# Signals, from a person at a terminal and from programs, and what remains after them: nothing.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program rawpmi1

c_program signalled

tty() { python3 "$e2e/terminal.py" "$@" >"$out" 2>&1; }
told() { tr -d '\r' <"$out" | grep -c "^[0-9]* got $1\$"; }
status() { tail -n 1 "$out"; }
ended_badly() { case $(status) in "status 0") false ;; "status "*) ;; *) note "$(cat "$out")" && false ;; esac; }
ready="see ready see ready see ready"

# ---- passed on
for s in USR1 USR2; do
    # shellcheck disable=SC2086
    tty $ready kill $s see got see got see got kill TERM end -- "$WIREUP" -n 3 "$bin/signalled"
    same "SIG$s reaches each of three ranks" "$(told $s)" 3 || note "$(cat "$out")"
    same "and SIGTERM too" "$(told TERM)" 3
    ok "a job that ends by SIGTERM does not end with 0" ended_badly
    note "$(status)"
done
# shellcheck disable=SC2086
tty $ready size 33 77 see got see got see got kill TERM end -- "$WIREUP" -n 3 "$bin/signalled"
same "a change of the window's size reaches each rank" "$(told WINCH)" 3 || note "$(cat "$out")"

# ---- Ctrl-C
# shellcheck disable=SC2086
tty $ready type '\x03' end -- "$WIREUP" -n 3 "$bin/signalled"
same "Ctrl-C reaches each rank" "$(told INT)" 3 || note "$(cat "$out")"
ok "and the job ends, not with 0" ended_badly
nothing_left "after Ctrl-C"

# shellcheck disable=SC2086
tty $ready type '\x03' see "got INT" see "got INT" see "got INT" type '\x03' end -- \
    "$WIREUP" -n 3 "$bin/signalled" stubborn
ok "a second Ctrl-C ends a process that ignores the first" ended_badly
note "$(status)"
nothing_left "after the second Ctrl-C, grandchildren in sessions of their own included"

# ---- Ctrl-Z
# The ranks' states, from /proc: all stopped, all running.
cat >"$bin/states" <<'END'
#!/bin/sh
# states WANTED PROGRAM: is every process that runs PROGRAM in state WANTED?  Looks for two minutes.
n=6000
while [ $n -gt 0 ]; do
    all=$(for p in /proc/[0-9]*; do
        tr '\0' ' ' 2>/dev/null <$p/cmdline | grep -q "^/[^ ]*/$2 *\$" || continue
        sed 's/.*) \(.\).*/\1/' $p/stat
    done | sort | uniq -c | tr -d ' \n')
    [ "$all" = "$1" ] && exit 0
    sleep 0.02
    n=$((n - 1))
done
echo "states: $all" >&2
exit 1
END
chmod +x "$bin/states"
# shellcheck disable=SC2086
tty $ready type '\x1a' stopped sh "$bin/states 3T signalled" kill CONT sh "$bin/states 3S signalled" \
    kill USR1 see "got USR1" see "got USR1" see "got USR1" kill TERM end -- "$WIREUP" -n 3 "$bin/signalled"
same "Ctrl-Z stops launcher and ranks, SIGCONT lets all go on" "$(told USR1)" 3 || note "$(cat "$out")"
nothing_left "after Ctrl-Z"

# ---- who goes away
# shellcheck disable=SC2086
tty $ready kill HUP end -- "$WIREUP" -n 3 "$bin/signalled"
ok "SIGHUP (the terminal is gone) ends the job" ended_badly
note "$(status)"
nothing_left "after SIGHUP"

# shellcheck disable=SC2086
tty $ready kill KILL end -- "$WIREUP" -n 3 "$bin/signalled" stubborn
same "kill -9 of the launcher" "$(status)" "status 137"
nothing_left "after kill -9 of the launcher, grandchildren included"

# The launcher may be several processes.  Kill each of the others alone, then all at once: then nobody
# is left to look for grandchildren, and the ranks themselves have to go.
# A killed process loses its environment before its sockets, so one that `processes` does not show may still
# be connected to.
gone() # PID...
{
    for gone_pid; do
        case $(sed 's/.*) \(.\).*/\1/' "/proc/$gone_pid/stat" 2>/dev/null) in
        '' | Z | X) ;;
        *) return 1 ;;
        esac
    done
}
launcher_processes() { processes | grep "^[0-9]* $WIREUP " | cut -d' ' -f1; }
fresh
"$WIREUP" -n 3 "$bin/signalled" stubborn >"$out" 2>"$err" </dev/null &
pid=$!
wait_until 120 eval '[ "$(grep -c ready "$out")" = 3 ]'
others=$(launcher_processes | grep -vx "$pid")
note "launcher $pid, its helpers: $others"
# shellcheck disable=SC2086
kill -9 ${others:-$pid}
wait "$pid"
rc=$?
if [ -n "$others" ]; then
    ok "when its helper is killed, the launcher does not end with 0 (it was $rc)" [ "$rc" != 0 ]
    ok "and says why in one line" [ "$(grep -c "^wireup: " "$err")" = 1 ]
    note "$(cat "$err")"
fi
nothing_left "after kill -9 of the launcher's helper, grandchildren included"

fresh
"$WIREUP" -n 5 sleep 1000 >"$out" 2>"$err" </dev/null &
pid=$!
wait_until 120 eval '[ "$(processes | grep -c "^[0-9]* sleep 1000 *\$")" = 5 ]'
others=$(launcher_processes)
# shellcheck disable=SC2086
switch_off $others
wait "$pid" 2>/dev/null
# shellcheck disable=SC2086
wait_until 120 gone "$pid" $others # its socket refuses nobody before
"$WIREUP" ps >"$out" 2>&1 # whoever comes next removes where they were to be found
nothing_left "after kill -9 of all that the launcher is made of, at once"

fresh
"$WIREUP" -n 4 "$bin/rawpmi1" hold >"$out" 2>"$err" <"/dev/zero" &
pid=$!
wait_until 120 grep -q held "$out"
kill -9 "$pid"
wait "$pid" 2>/dev/null
nothing_left "after kill -9 of the launcher of ranks in a barrier"

# ---- a job that has no terminal
fresh
"$WIREUP" -n 2 "$bin/signalled" >"$out" 2>"$err" </dev/null &
pid=$!
wait_until 120 eval '[ "$(grep -c ready "$out")" = 2 ]'
kill -TERM "$pid"
wait "$pid"
rc=$?
same "SIGTERM ends a job in the background" "$rc" 143

# ---- before there is a job: a list of hosts that does not come, a host that does not answer
mkfifo hosts
run 60 "$WIREUP" -timeout 1 -hostfile hosts -n 2 true
same "the time limit counts while the hosts are read" "$rc $(cat "$err")" \
    "124 wireup: the time limit of 1 s (-timeout) has passed before anything was started" || explain
# (In the foreground, as shells let what is behind an & ignore SIGINT.)
signalled_when() # FACT SIGNAL COMMAND...
{
    rm -f pid
    (
        eval "$1"
        kill -s "$2" "$(cat pid)"
        wait_until 300 eval '! kill -0 "$(cat pid)" 2>/dev/null'
    ) &
    sender=$!
    shift 2
    # shellcheck disable=SC2016
    run 300 sh -c 'echo $$ >pid; exec "$@"' sh "$@"
    wait $sender
}
for s in INT TERM HUP; do
    signalled_when 'exec 9>hosts' $s "$WIREUP" -hostfile hosts -n 2 true # which waits for who reads them
    same "SIG$s ends it then" "$(kill -l "$rc") $(cat "$err")" \
        "$s wireup: interrupted before anything was started" || explain
done
run 60 timeout -s HUP -k 1 --preserve-status 0.3 sh -c "trap '' HUP; exec '$WIREUP' -hostfile hosts -n 2 true"
same "SIGHUP that is ignored stays so (nohup)" "$rc $(grep -c interrupted "$err")" "137 0" || explain
printf '#!/bin/sh\necho "$1" >>asked\nexec sleep 1000\n' >"$bin/silent"
chmod +x "$bin/silent"
for limit in 1 20; do # (a busy machine may not come to the nodes within the first)
    run 300 "$WIREUP" -timeout $limit -launch-agent "$bin/silent" -hosts n1,n2 -n 2 true
    ! grep -q "0 of 2.* has not answered for" "$err" || break
done
ok "the time limit counts while nodes come up" eval '[ "$rc" = 124 ] &&
    grep -q "^wireup: the time limit of $limit s has passed while the nodes came up (0 of 2): nothing was started; n1: silent has not answered for " "$err"' ||
    explain
run 60 "$WIREUP" up -timeout 1 -launch-agent "$bin/silent" -hosts n1,n2
same "so it does for standing daemons" "$rc" 124 || explain
rm -f asked
signalled_when 'wait_until 300 [ -s asked ]' INT "$WIREUP" up -launch-agent "$bin/silent" -hosts n1,n2
same "which Ctrl-C ends, too" "$rc $(cat "$err")" \
    "130 wireup: interrupted while the nodes came up (0 of 2): nothing was started" || explain
rm -f asked
"$WIREUP" up -launch-agent "$bin/silent" -hosts n1,n2 >"$out" 2>"$err" </dev/null &
pid=$!
wait_until 60 [ -s asked ]
kill -9 $pid
wait "$pid" 2>/dev/null
nothing_left "after kill -9 of who waits for standing daemons"
finish
