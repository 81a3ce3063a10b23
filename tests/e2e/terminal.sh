#!/bin/sh
# What the launcher tells on a terminal and elsewhere: colours that NO_COLOR and a dumb terminal take away, and
# the levels -q, -v and -vv, each with more to say, on one node too.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
esc=$(printf '\033')
tty() { fresh; python3 "$e2e/terminal.py" end -- "$@" >"$out" 2>&1; }
coloured() { grep -c "^$esc\\[1;31mwireup:$esc\\[0m rank 0 on " "$out"; }
plain() { grep -c '^wireup: rank 0 on ' "$out"; }
escapes() { grep -c "$esc" "$out" "$err" | grep -vc ':0$'; }

tty env -u NO_COLOR TERM=xterm "$WIREUP" -n 1 sh -c 'exit 3'
same "an error on a terminal is red" "$(coloured) $(tail -n 1 "$out")" "1 status 3" || explain
tty env NO_COLOR=1 TERM=xterm "$WIREUP" -n 1 sh -c 'exit 3'
same "not with NO_COLOR" "$(plain) $(escapes)" "1 0" || explain
tty env NO_COLOR= TERM=xterm "$WIREUP" -n 1 sh -c 'exit 3'
same "whose empty value says nothing" "$(coloured)" 1 || explain
tty env -u NO_COLOR TERM=dumb "$WIREUP" -n 1 sh -c 'exit 3'
same "not on a dumb terminal" "$(plain) $(escapes)" "1 0" || explain
run 60 env -u NO_COLOR TERM=xterm "$WIREUP" -n 1 sh -c 'exit 3'
same "not in a file" "$rc $(grep -c '^wireup: rank 0 on ' "$err") $(escapes)" "3 1 0" || explain
tty env -u NO_COLOR TERM=xterm "$WIREUP" doctor
same "the doctor's table is coloured" "$(grep -c "^reach  *$esc\\[32mok" "$out")" 1 || explain
run 60 "$WIREUP" doctor
same "in a file it is plain" "$rc $(escapes)" "0 0" || explain
tty env -u NO_COLOR TERM=xterm "$WIREUP" -n 1 sh -c 'printf "\033[1mx\n"'
ok "what a program writes is left alone" grep -q "^$esc\\[1mx" "$out" || explain

# ---- levels
lines() { wc -l <"$err"; }
run 60 "$WIREUP" -q -n 2 true
same "-q: nothing" "$rc $(lines)" "0 0" || explain
run 60 "$WIREUP" -n 2 true
same "all is well: nothing" "$rc $(lines)" "0 0" || explain
run 60 "$WIREUP" -v -n 2 true
same "-v: the steps of the job" "$rc $(lines) $(grep -c 'placed: 2 processes on 1 node$\|are started$\|has ended: exit code 0$' "$err")" "0 3 3" || explain
run 60 "$WIREUP" -vv -n 2 true
same "-vv: those of each process, too" "$rc $(lines) $(grep -c 'rank [01] of job .* is started: pid [0-9]*, .*true$\|rank [01] of job .* has ended: pid [0-9]*, exit code 0$' "$err")" \
    "0 7 4" || explain
run 60 "$WIREUP" -vv -bind-to core -n 1 sh -c 'kill -9 $$'
same "with its processors, and the signal" "$rc $(grep -c 'is started: .*, bound to .*[0-9]$\|has ended: .*, signal 9$' "$err")" "137 2" || explain

# ---- the end of a job: who has not ended
cat >"$tmp/stubborn" <<'END'
#!/bin/sh
[ "$PMI_RANK" = 1 ] && trap '' TERM INT
touch "$0.$PMI_RANK"
[ "$PMI_RANK" != 0 ] || { while [ ! -e "$0.1" ] || [ ! -e "$0.2" ]; do sleep 0.05; done; echo all are up; }
while :; do sleep 0.2; done
END
chmod +x "$tmp/stubborn"
person() { fresh; env -u NO_COLOR TERM=dumb python3 "$e2e/terminal.py" "$@" >"$out" 2>&1; }
person see 'all are up' type '\x03' see '2 of 3 processes have ended; rank 1 on ' type '\x03' end -- "$WIREUP" -n 3 "$tmp/stubborn"
ok "who has not ended is told on a terminal" grep -q '^status 130$' "$out" || explain
finish
