#!/bin/sh
# Standard input, output and error of ranks: nothing lost, nothing doubled, nothing mixed.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program lines
c_program rawpmi1
megabytes=${1:-200}
sum() { sha256sum | cut -d' ' -f1; }
net() { timeout -k 5 300 "$@"; } # for pipelines; the same net as run's

# ---- input
head -c "${megabytes}M" /dev/urandom >"$tmp/big"
want=$(sum <"$tmp/big")
same "$megabytes MB from a file through rank 0 and back" \
    "$(net "$WIREUP" -n 1 cat <"$tmp/big" | sum)" "$want"
same "$megabytes MB through a pipe, with three ranks beside" \
    "$(cat "$tmp/big" | net "$WIREUP" -n 4 sh -c 'if [ $PMI_RANK = 0 ]; then cat; else cat >/dev/null; fi' | sum)" \
    "$want"
head -c 3000001 "$tmp/big" >"$tmp/part"
want=$(sum <"$tmp/part")
same "a slow reader gets all of it" \
    "$(net "$WIREUP" -n 1 sh -c 'sleep 0.3; dd bs=777 2>/dev/null; cat' <"$tmp/part" | sum)" "$want"
same "input in crumbs arrives as it was" \
    "$( (printf a; sleep 0.1; printf b; sleep 0.1; printf 'c\n') | net "$WIREUP" -n 1 cat)" abc
same "-stdin 2" "$(echo hi | net "$WIREUP" -n 4 -stdin 2 sh -c 'echo $PMI_RANK $(cat)' | sort)" "0
1
2 hi
3"
same "-stdin all" "$(net "$WIREUP" -n 3 -stdin all sha256sum <"$tmp/part" | cut -d' ' -f1)" "$want
$want
$want"
same "-stdin none" "$(echo hi | net "$WIREUP" -n 2 -stdin none sh -c 'echo $PMI_RANK $(cat)' | sort)" "0
1"
# Input that rank 0 never reads must not keep the job.
yes | net "$WIREUP" -n 2 true
same "endless input that nobody reads does not keep the job" "$?" 0
# A terminal's user may type later: input that stays open must not keep the job either.
mkfifo "$tmp/fifo"
sleep 1000 >"$tmp/fifo" &
holder=$!
net "$WIREUP" -n 2 true <"$tmp/fifo"
same "input that stays open does not keep the job" "$?" 0
kill "$holder"
net "$WIREUP" -n 2 sh -c 'echo fine' <&- >"$out" 2>"$err"
same "closed standard input" "$? $(sort -u "$out")" "0 fine"

# ---- output
net "$WIREUP" -n 64 "$bin/lines" 40 5000 >"$out" 2>"$err"
same "64 ranks write long lines at once, none is cut" "$("$bin/lines" check 64 40 5000 <"$out")" \
    "2560 lines good"
same "and standard error stays empty" "$(cat "$err")" ""
(head -c 7000 "$out"; tail -c +6990 "$out") >"$tmp/spoiled"
ok "a line that is cut is seen" eval '! "$bin/lines" check 64 40 5000 <"$tmp/spoiled" >/dev/null'
net "$WIREUP" -n 16 "$bin/lines" 3 300000 >"$out" 2>"$err"
same "lines of 300 kB, longer than any pipe" "$("$bin/lines" check 16 3 300000 <"$out")" "48 lines good"
net "$WIREUP" -n 8 "$bin/lines" 200 300 2 >"$out" 2>"$err"
same "the same on standard error" "$("$bin/lines" check 8 200 300 <"$err")" "1600 lines good"
same "and standard output stays empty" "$(cat "$out")" ""
net "$WIREUP" -n 8 sh -c '"$0" 50 200 1 & "$0" 50 100 2; wait' "$bin/lines" >"$out" 2>"$err"
same "both streams are kept apart" \
    "$("$bin/lines" check 8 50 200 <"$out"), $("$bin/lines" check 8 50 100 <"$err")" \
    "400 lines good, 400 lines good"
same "a last line without its end is not lost" "$(net "$WIREUP" -n 1 printf 'a\nb')" "a
b"
same "output after which the rank dies is not lost" \
    "$(net "$WIREUP" -n 1 sh -c 'echo last; kill -9 $$' 2>/dev/null)" last
# (Who has the input may be prompting, and does not hold its line back for long.)
same "-l labels every line, split writes included" \
    "$(net "$WIREUP" -n 2 -l -stdin none sh -c 'printf "a"; sleep 0.1; printf "b\nc\n"' | sort)" "[0] ab
[0] c
[1] ab
[1] c"
same "-prepend-pattern" "$(net "$WIREUP" -n 2 -prepend-pattern '<%r %%> ' echo x | sort)" "<0 %> x
<1 %> x"
(cd "$tmp/work" && net "$WIREUP" -n 2 -outfile-pattern 'o.%r' -errfile-pattern 'e.%r' \
    sh -c 'echo out $PMI_RANK; echo err $PMI_RANK >&2')
same "-outfile-pattern and -errfile-pattern" "$(cd "$tmp/work" && cat o.0 o.1 e.0 e.1)" "out 0
out 1
err 0
err 1"

# ---- a reader that does not read
# Rank 1 writes more than all buffers hold while nobody reads; the others meet in PMI all the same.
mkfifo "$tmp/stuck"
exec 9<>"$tmp/stuck"
"$WIREUP" -n 1 sh -c '"$1" exchange >"$0/met" 2>&1; echo $? >"$0/status"' "$tmp" "$bin/rawpmi1" : \
    -n 1 sh -c '"$1" exchange; exec "$0" 2000 5000' "$bin/lines" "$bin/rawpmi1" >"$tmp/stuck" 2>"$err" &
pid=$!
ok "a stuck reader of our output does not delay processes that do not write" wait_until 120 [ -s "$tmp/status" ]
same "they met" "$(head -n 1 "$tmp/met" 2>/dev/null)" "raw 2 good"
cat <"$tmp/stuck" >"$out" 9>&- &
reader=$!
exec 9>&-
wait "$pid"
same "and when it reads again the job ends well" "$?" 0
wait "$reader"
same "with every line" "$(grep -c ' END$' "$out")" 2000

# ---- a reader that goes away
ok "a reader that goes away ends the job, as it ends others" eval \
    'net "$WIREUP" -n 2 yes 2>"$err" | head -n 1 >"$out"; [ "$(cat "$out")" = y ]'
note "$(cat "$err")"
finish
