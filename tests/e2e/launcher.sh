#!/bin/sh
# The launcher as its users see it: who runs what with which surroundings, how a job ends, and what is
# said when it cannot begin.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
c_program rawpmi1

wu() { run 120 "$WIREUP" "$@"; }
sentence() # NAME: the last run failed with one sentence on stderr and nothing else
{
    ok "$1: one sentence, exit status $rc" eval \
        '[ "$rc" != 0 ] && [ "$rc" != 124 ] && [ "$rc" -lt 128 ] && [ ! -s "$out" ] &&
         [ "$(wc -l <"$err")" = 1 ] && [ "$(wc -c <"$err")" -gt 20 ]' || explain
    note "$(cat "$err")"
}

# ---- exit status: of the first rank that failed, and one line that names it
wu -n 4 true
same "all leave 0: 0, and not a word" "$rc $(cat "$out" "$err")" "0 "
wu -n 4 sh -c '[ $PMI_RANK != 2 ] || exit 7'
same "rank 2 leaves 7: the status is 7" "$rc" 7
same "and one line reports it" "$(wc -l <"$err")" 1
ok "with rank, host, code" eval 'grep -q "rank 2" "$err" && grep -q "$(hostname)" "$err" && grep -q 7 "$err"'
note "$(cat "$err")"
wu -n 4 sh -c '[ $PMI_RANK != 1 ] || kill -SEGV $$; exec sleep 1000'
same "rank 1 dies of signal 11: the status is 139, and the others are ended" "$rc" 139
ok "one line names the rank and the signal" eval \
    '[ "$(wc -l <"$err")" = 1 ] && grep -q "rank 1" "$err" && grep -Eq "SEGV|signal 11|Segmentation" "$err"'
note "$(cat "$err")"
wu -n 3 "$bin/rawpmi1" abort 42 1 "because I say so"
same "abort with 42: the status is 42" "$rc" 42
same "its message is printed once" "$(cat "$err" "$out" | grep -c "because I say so")" 1
wu -n 2 -print-all-exitcodes sh -c 'exit $PMI_RANK'
same "-print-all-exitcodes does not change the status" "$rc" 1

# ---- the surroundings of a rank
wu -host localhost:1 -n 2 sh -c 'echo "$OMPI_MCA_mpi_oversubscribe"'
same "Open MPI 4 is told that there are more ranks than slots" "$(tr '\n' , <"$out")" 1,1,
wu -host localhost:2 -n 2 sh -c 'echo "$OMPI_MCA_mpi_oversubscribe"'
same "and that there are not" "$(tr '\n' , <"$out")" 0,0,
wu -n 3 sh -c 'echo "$PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS"'
same "rank, size, local rank, local ranks" "$(sort "$out")" "0 3 0 3
1 3 1 3
2 3 2 3"
wu -n 1 sh -c 'for f in /proc/self/fd/*; do echo ${f##*/}; done; echo pmi $PMI_FD'
fd=$(sed -n 's/^pmi //p' "$out")
# The shell that lists them has opened the directory itself: one more.
same "a rank has its streams and its PMI descriptor, nothing else" \
    "$(grep -v pmi "$out" | while read -r f; do [ -e "/proc/self/fd/$f" ] || [ "$f" = "$fd" ] || echo "$f"; done | wc -l)" 1
wu -n 2 -wdir / pwd
same "-wdir" "$(sort -u "$out")" /
wu -n 1 -env A 'x y' -genv B=2 sh -c 'echo "$A/$B"'
same "-env and -genv" "$(cat "$out")" "x y/2"
WU_SEEN=1 run 60 "$WIREUP" -envnone -n 1 sh -c 'echo "${WU_SEEN-gone}"'
same "-envnone" "$(cat "$out")" gone
(export C=3 && run 60 "$WIREUP" -x C -x D=4 -n 1 sh -c 'echo "$C$D"' && cat "$out") >"$tmp/x"
same "-x" "$(cat "$tmp/x")" 34
wu -n 2 sh -c 'ulimit -n' && same "limits are inherited" "$(sort -u "$out")" "$(ulimit -n)"

# ---- several programs
wu -n 1 sh -c 'echo a $PMI_RANK $PMI_SIZE' : -n 2 sh -c 'echo b $PMI_RANK $PMI_SIZE'
same "two programs in one job" "$(sort "$out")" "a 0 3
b 1 3
b 2 3"
printf '# a comment\n-n 1 echo one two\n\n-n 2 echo "three four"\n' >"$tmp/conf"
wu -configfile "$tmp/conf"
same "-configfile" "$(sort "$out")" "one two
three four
three four"
ln -s "$WIREUP" "$bin/mpiexec"
run 60 "$bin/mpiexec" -np 2 echo hi
same "called mpiexec it does the same" "$rc $(cat "$out")" "0 hi
hi"
wu run -n 1 echo hi
same "the word run may be there" "$rc $(cat "$out")" "0 hi"

# ---- nothing is started
wu -n 4 --dry-run touch "$tmp/started"
same "--dry-run starts nothing" "$rc $([ -e "$tmp/started" ] && echo started)" "0 "
ok "and prints a line per rank" [ "$(grep -c . "$out")" -ge 4 ]
run 60 "$WIREUP" -n 4 --dry-run --json true
ok "--json is JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$out"
for word in --version --help version help "help who" "help n" "help tool-files" "help run" "help --json run"; do
    # shellcheck disable=SC2086 # words
    wu $word
    ok "wireup $word" eval '[ "$rc" = 0 ] && [ -s "$out" ] && [ ! -s "$err" ]'
done

wu help nowhere
same "help on nothing that exists" "$rc" 2

# ---- what cannot begin is said in one sentence
wu -n 2 "$tmp/no such program"
sentence "a program that is not there"
same "127" "$rc" 127
wu -n 2 no-such-program-on-path
sentence "a program that is not on PATH"
: >"$tmp/plain"
wu -n 2 "$tmp/plain"
sentence "a file that is not executable"
same "126" "$rc" 126
wu -n 2 "$tmp"
sentence "a directory as program"
printf '#!/no/such/interpreter\n' >"$tmp/script"
chmod +x "$tmp/script"
wu -n 2 "$tmp/script"
sentence "a script whose interpreter is not there"
same "127" "$rc" 127
wu -n 2 --no-such-option touch "$tmp/started"
sentence "an option that nobody knows"
wu -n 0 touch "$tmp/started"
sentence "-n 0"
wu -n -3 touch "$tmp/started"
sentence "-n -3"
wu -n many touch "$tmp/started"
sentence "-n many"
wu -n 1000000 touch "$tmp/started"
sentence "-n 1000000 on this machine"
wu -n
sentence "-n without a number"
wu
sentence "no program at all"
wu -n 2
sentence "a number and no program"
wu -n 1 true : -n 2
sentence "a colon with no program behind it"
printf 'good:2\nbad line: here ::\n' >"$tmp/hosts"
wu -f "$tmp/hosts" -n 2 touch "$tmp/started"
sentence "a bad line in a host file"
ok "which names the line" grep -q 2 "$err"
wu -f "$tmp/nohosts" -n 2 touch "$tmp/started"
sentence "a host file that is not there"
wu -configfile "$tmp/noconf"
sentence "a configuration file that is not there"
wu -n 2 -wdir "$tmp/nowhere" touch "$tmp/started"
sentence "a working directory that is not there"
wu -n 2 -wdir "$tmp/plain" touch "$tmp/started"
sentence "a working directory that is a file"
if [ "$(id -u)" != 0 ]; then
    mkdir -m 0 "$tmp/locked"
    wu -n 2 -wdir "$tmp/locked" touch "$tmp/started"
    sentence "a working directory that may not be entered"
fi
wu -n 2 -hosts no-such-host.invalid touch "$tmp/started"
sentence "a node that is not this one"
wu -n 2 -bind-to nonsense touch "$tmp/started"
sentence "an unknown binding"
wu -n 1 true : -n 1 "$tmp/no such program"
sentence "the second program is not there"
ok "none of them started anything" [ ! -e "$tmp/started" ]

# ---- time-out
wu -timeout 1 -n 2 sleep 1000
ok "-timeout ends the job, not with 0 (it was $rc)" eval '[ "$rc" != 0 ] && [ "$rc" != 124 ] || [ -s "$err" ]'
note "$(cat "$err")"

# ---- a rank that fails, and those that go on
wu -n 3 -disable-auto-cleanup sh -c 'trap "" USR1; [ $PMI_RANK != 0 ] || exit 3; echo alive'
same "-disable-auto-cleanup lets the others go on" "$(cat "$out")" "alive
alive"
same "and the status is that of the failed rank" "$rc" 3
finish
