#!/bin/sh
# Jobs over many daemons: one machine under as many names (as in nodes.sh), so that daemons start
# daemons, and what is exchanged goes over more than one link.
#
#   nodes64.sh DAEMONS RANKS   so many daemons, so many ranks on each
#
# The control: a value that the last rank spoils must be seen, by each protocol.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
private_world "$@"
daemons=${1:-64}
each=${2:-2}
n=$((daemons * each))
begin
use_launcher wireup
needs_host_names
named_agent
c_program rawpmi1
build=$WU_BUILD/tests/e2e
hosts=$(seq -s, -f "n%g:$each" "$daemons")
over() { run 300 "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" -n "$n" "$@"; }
good() { same "$1" "$rc $(head -n 1 "$out" | cut -d' ' -f1-3)$(cat "$err")" "0 $2" || explain; }
wrong() { ok "$1: a spoiled value is seen" grep -q "^$2 $n WRONG" "$out" || explain; }

over hostname
same "$daemons hosts, with $each ranks each" \
    "$rc $(sort "$out" | uniq -c | sed 's/^ *//' | sort -V -k2 | tr '\n' ' ')" \
    "0 $(seq -f "$each n%g" "$daemons" | tr '\n' ' ')" || explain
# Of the daemons only those of the first level are started by the launcher's own.
over "$bin/rawpmi1" exchange
good "PMI-1, raw" "raw $n good"
over "$bin/rawpmi1" spoil
wrong "PMI-1" raw
over "$build/e2e-libpmi" exchange
good "PMI-1 by our library" "lib $n good"
over "$build/e2e-libpmi2" exchange
good "PMI-2" "pmi2 $n good"
over "$build/e2e-libpmi2" spoil
wrong "PMI-2" pmi2
over "$build/e2e-rawpmix"
good "PMIx" "rawpmix $n good"
over "$build/e2e-rawpmix" spoil
wrong "PMIx" rawpmix

# A third of the ranks each; everybody gets everybody's.
third=$((n / 3))
rest=$((n - 2 * third))
words="$(yes PMI-1 | head -n $third) $(yes PMI-2 | head -n $third) $(yes PMIx | head -n $rest)"
# shellcheck disable=SC2086
run 300 "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" \
    -n $third "$build/e2e-mixed1" $words : -n $third "$build/e2e-mixed2" $words : \
    -n $rest "$build/e2e-rawpmix" mixed $words
same "the three in one job" "$rc $(grep -c ' good$' "$out") $(cat "$err")" "0 $n " || explain
over "$bin/rawpmi1" leave 9 $((n - 1))
same "an exit code of the last node, once" "$rc $(grep -c "rank $((n - 1)) on n$daemons .*exited with code 9" "$err")" "9 1" ||
    explain
finish
