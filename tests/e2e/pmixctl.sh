#!/bin/sh
# What PMIx programs have done by their process manager: OpenPMIx's client library, as Debian builds
# it, on our server, and ours.
#
#   pmixctl.sh RANKS...        at least 3 each
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ]; then
    echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
    exit 0
fi
# shellcheck disable=SC2086
c_program pmixctl $pmix_flags

# ---- controls
launch 3 "$bin/pmixctl" nonsense
ok "an unknown mode is not reported as good" eval '[ "$rc" != 0 ] && ! grep -q good "$out"' || explain

# With our client (on several nodes: nodes.sh).
ours=$WU_BUILD/tests/e2e/e2e-pmixctl
for what in timeout beat ranges query pids "bond part" "bond leave" "bond exit" "bond kill"; do
    # shellcheck disable=SC2086 # two words
    launch 3 "$ours" $what
    same "$what with our client" "$(grep pmixctl "$out")" "pmixctl ${what% *} good" || explain
done

for n in "$@"; do
    for what in timeout beat ranges child query reserved pids; do
        spawning launch "$n" "$bin/pmixctl" $what
        same "$what on $n ranks" "$rc $(grep pmixctl "$out")" "0 pmixctl $what good" || explain
        case $what in child) children=2 ;; reserved) children=1 ;; *) children=0 ;; esac
        spawned "$what on $n ranks" $children
    done

    for how in part leave exit kill; do
        spawning launch "$n" "$bin/pmixctl" bond $how
        spawned "bond $how ($n ranks)" 2
        same "who has connected is told who goes without disconnecting: $how ($n ranks)" \
            "$(cat "$out")" "pmixctl bond good" || explain
    done

    rm -f go
    spawning launch "$n" "$bin/pmixctl" recover go
    spawned "a job that is recoverable ($n ranks)" 2
    same "a spawned job that is recoverable goes on ($n ranks)" "$(grep -c "^pmixctl recover good" "$out")" 1 || explain

    launch "$n" "$bin/pmixctl" signal
    same "processes are stopped, signalled and ended on demand ($n ranks)" "$rc $(cat "$out")" \
        "137 pmixctl signal good" || explain
    ok "the one that was ended is named" grep -q "rank $((n - 1)) .*was killed by signal 9" "$err" || explain

    launch "$n" "$bin/pmixctl" listen
    same "output is heard by who asks, and shown as ever ($n ranks)" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 pmixctl listen good,said by rank 1,unheard," || explain

    launch "$n" "$bin/pmixctl" log
    same "lines for the log ($n ranks)" "$rc $(sort "$out" | tr '\n' ,) $(grep -c 'says hello$' "$err")" \
        "0 once,pmixctl log good, $n" || explain
    ok "and what is once, is once" eval '! grep -q never "$err"' || explain

    mkdir "$tmp/mess" "$tmp/elsewhere"
    : >"$tmp/elsewhere/precious"
    ln -s "$tmp/elsewhere" "$tmp/mess/link"
    launch "$n" "$bin/pmixctl" cleanup "$tmp/mess"
    same "files and directories are cleared up ($n ranks)" "$rc $(cat "$out") $(ls "$tmp/mess")" \
        "0 pmixctl cleanup good link" || explain
    ok "but not what a link leads to" [ -e "$tmp/elsewhere/precious" ]
    ok "and that is told" grep -q "cannot remove .*link/precious" "$err" || explain
    rm -r "$tmp/mess" "$tmp/elsewhere"
done

rm -f go
spawning launch 2 "$bin/pmixctl" recover go not
spawned "a job that is not recoverable" 2
same "one that is not ends, and all with it" "$([ "$rc" = 0 ]; echo $?) $(grep -c good "$out")" "1 0" || explain

# ---- what a job leaves when it is ended is cleared up too
mkdir "$tmp/mess"
# shellcheck disable=SC2016
launch 3 "$bin/pmixctl" cleanup "$tmp/mess" : -n 1 sh -c '
    until "$0" who | grep -q ": 3 of 4 have arrived; missing: 3$"; do sleep 0.05; done
    kill -9 $$' "$WIREUP" # all three have registered theirs, and wait for it
same "also behind a job that was ended" "$(ls "$tmp/mess")" "" || explain

# ---- credentials: our own, and munge's where it runs (at its usual place, which is ours here)
launch 2 --trace "$tmp/trace" "$bin/pmixctl" credential
same "without munge there are our own credentials" "$rc $(cat "$out")" "0 pmixctl credential good" || explain
{ "$WIREUP" trace --all "$tmp/trace" && "$WIREUP" trace --all --json "$tmp/trace"; } >"$out" 2>"$err"
same "they are in no trace" "$(grep -c 'not shown' "$out" | sed 's/^[1-9].*/some/') $(
    grep -c wireup: "$out") $(grep -ac wireup: "$tmp/trace")" "some 0 0" || explain
munged=$(command -v munged || echo /usr/sbin/munged)
if [ -n "${WU_PRIVATE-}" ] && [ -x "$munged" ] && mount -t tmpfs none /run 2>/dev/null; then
    mkdir -m 755 /run/munge
    head -c 1024 /dev/urandom >"$tmp/key"
    chmod 400 "$tmp/key"
    "$munged" --force --key-file="$tmp/key" --pid-file="$tmp/munge.pid" --log-file="$tmp/munge.log" \
        --seed-file="$tmp/seed" >"$err" 2>&1 || explain
    launch 2 "$bin/pmixctl" credential
    same "munge's credentials are made and checked" "$rc $(cat "$out")" "0 pmixctl credential good" ||
        note "$(cat "$out" "$err" "$tmp/munge.log")"
    launch 2 --trace "$tmp/trace" "$bin/pmixctl" credential
    { "$WIREUP" trace --all "$tmp/trace" && "$WIREUP" trace --all --json "$tmp/trace"; } >"$out" 2>"$err"
    same "they are in no trace" "$(grep -c 'not shown' "$out" | sed 's/^[1-9].*/some/') $(
        grep -c MUNGE: "$out") $(grep -ac MUNGE: "$tmp/trace")" "some 0 0" || explain
    kill "$(cat "$tmp/munge.pid")"
else
    skip "munge's credentials are made and checked" "munged is not installed, or /run is not ours"
    skip "they are in no trace" "munged is not installed, or /run is not ours"
fi
finish
