#!/bin/sh
# A host that holds a lock while it calls PMIx, and takes it in each of its functions, as an interpreter
# does: its own requests run its functions in the thread that calls.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
run 60 "$WU_BUILD/tests/e2e/e2e-hostlock"
same "no call waits for ever" "$rc $(tail -n 1 "$out")" "0 good 0" || explain
same "each call but one has run one function of the host" \
    "$(awk -F'\t' 'NF == 3 { n[$3]++ } END { print n[0] + 0, n[1] + 0 }' "$out")" "1 13" || explain
same "and has its result" "$(awk -F'\t' 'NF == 3 { print $2 }' "$out" | sort | uniq -c | awk '{ print $1, $2 }')" \
    "1 PMIX_ERR_NOT_FOUND
13 PMIX_SUCCESS" || explain
finish
