#!/bin/sh
# successors.sh - a DVM that has lost its launcher: of several that take over at the same moment one does; nodes that are
# lost before and meanwhile are named, and one that is late joins.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
# A daemon that was stopped and goes on can wait for itself for ever where its sanitizer looks for leaks at its end.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
distant_agent
sed -i 's/^wait \$!$/echo $! >"$0.$host"\nwait $!/' "$tmp/agent" # the daemon's first process
keep=$tmp/keep
dvm() { run 120 "$WIREUP" "$@"; }
nodes() { "$WIREUP" ps --nodes | sed 1d | tr -s ' ' | cut -d ' ' -f 2,5 | sort | tr '\n' ' '; }

dvm up -keep "$keep" -keep-time 100 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2,n4:2
same "a DVM that is kept" "$rc" 0 || explain
dvm up -takeover "$keep"
same "one that has a launcher is not taken over" "$rc $(cat "$err")" "1 wireup: the DVM of $keep has a launcher" || explain

# ---- what is no file of such a DVM
cp "$keep" "$tmp/open"
chmod 644 "$tmp/open"
dvm up -takeover "$tmp/open"
same "a file that others may read" "$rc $(cat "$err")" "1 wireup: $tmp/open must be a file of yours that nobody else may read (mode 0600)" || explain
(umask 077 && head -n 3 "$keep" >"$tmp/half" && : >"$tmp/empty")
dvm up -takeover "$tmp/half"
same "half a file" "$rc $(cat "$err")" "1 wireup: $tmp/half is damaged, or of another release" || explain
dvm up -takeover "$tmp/empty"
same "an empty one" "$rc $(cat "$err")" "1 wireup: there is no DVM to take over: its launcher was lost before it was up" || explain
dvm up -takeover "$tmp/none"
same "none" "$rc $(cat "$err")" "1 wireup: there is no DVM to take over: cannot open $tmp/none: No such file or directory" || explain
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    for_others "$WIREUP"
    run 60 setpriv --reuid 65534 --clear-groups "$others/wireup" up -takeover "$keep"
    same "another user" "$rc $(cat "$err")" "1 wireup: there is no DVM to take over: cannot open $keep: Permission denied" || explain
else
    skip "another user" "only root can be one"
fi
same "the DVM has its nodes" "$(nodes)" "n1 up n2 up n3 up n4 up "

# ---- five at once
for turn in 1 2 3; do
    lose_launcher
    takers=
    for i in 1 2 3 4 5; do
        "$WIREUP" up -takeover "$keep" -launch-agent "$tmp/agent" >"$tmp/taker.$i" 2>&1 &
        takers="$takers $!"
    done
    took=0
    for pid in $takers; do
        wait "$pid" && took=$((took + 1))
    done
    same "of five that take over one does ($turn)" "$took $(cat "$tmp"/taker.* | grep -c '^4 nodes are up;')" "1 1" ||
        note "$(cat "$tmp"/taker.*)"
    same "the others are told, in one sentence ($turn)" \
        "$(cat "$tmp"/taker.* | grep -c "^wireup: the DVM of $keep has a launcher\$") $(cat "$tmp"/taker.* | wc -l)" "4 5" ||
        note "$(cat "$tmp"/taker.*)"
    same "it has all nodes ($turn)" "$(nodes)" "n1 up n2 up n3 up n4 up " || note "$(cat "$tmp"/taker.*)"
done
dvm run -n 8 hostname
same "and runs jobs" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  2 n1 2 n2 2 n3 2 n4 " || explain
same "there is one DVM" "$("$WIREUP" ps | grep -c standing)" 1

# ---- nodes that are lost
kill -9 "$(cat "$tmp/agent.n2")"
wait_until 60 eval '[ "$(nodes)" = "n1 up n2 lost n3 up n4 up " ]' || note "$(nodes)"
dvm grow -hosts n2:2
same "one is lost, and comes again: the file has it as soon as that is told" "$rc $(grep -c '^node n2 2$' "$keep")" "0 1" || explain
lose_launcher
kill -9 "$(cat "$tmp/agent.n2")" # before
late=$(pgrep -P "$(cat "$tmp/agent.n3")")
kill -STOP "$late"
"$WIREUP" up -takeover "$keep" -launch-agent "$tmp/agent" >"$tmp/taker" 2>&1 &
taker=$!
ok "two nodes have come" wait_until 60 eval '[ "$(nodes)" = "n1 up n4 up " ]' || note "$(nodes) $(cat "$tmp/taker")"
kill -9 "$(cat "$tmp/agent.n4")" # meanwhile
wait "$taker"
same "those that have not come, or are not there any more, are named" \
    "$? $(head -n 1 "$tmp/taker" | cut -d ';' -f 1): $(sed -n 's/^have not come: //p' "$tmp/taker" | tr -d ' ' | tr ',' '\n' | sort | tr '\n' ' ')" \
    "0 1 node is up: n2 n3 n4 " || note "$(cat "$tmp/taker")"
kill -CONT "$late"
ok "one that was late joins" wait_until 60 eval '[ "$(nodes)" = "n1 up n3 up n4 lost " ]' || note "$(nodes)"
dvm run -n 4 hostname
same "with its slots" "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  2 n1 2 n3 " || explain
dvm grow -hosts n2:2,n4:2
same "the others are replaced" "$rc $(nodes)" "0 n1 up n2 up n3 up n4 up " || explain
dvm down
same "down" "$rc $(cat "$err")" "0 " || explain
finish
