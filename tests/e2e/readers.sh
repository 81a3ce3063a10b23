#!/bin/sh
# A reader that goes away is told to whoever writes, on other nodes as on this one: the ranks get EPIPE
# and SIGPIPE, the job ends, and its status is the same.  The nodes are name spaces of this machine.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
private_world "$@"
needs_host_names
begin
use_launcher wireup
named_agent

# On one node, and on two: the same words.
both() # NAME WANT COMMAND: where $w is the launcher with its nodes
{
    for w in "$WIREUP" "$WIREUP -launch-agent $tmp/agent -hosts n1,n2"; do
        export w
        rc=0
        timeout -k 5 "${patience:-60}" sh -c "$3" >"$out" 2>"$err" </dev/null || rc=$?
        case $w in *hosts*) where="on two nodes" ;; *) where="on one node" ;; esac
        same "$1, $where" "$rc $(cat "$out")" "$2" || explain
    done
}

both "a reader of standard output that goes" "0 1000 141" \
    '($w -n 2 yes; echo $? >rc) | head -c 1000 | wc -c | tr "\n" " "; cat rc'
both "a reader of standard error" "0 1000 141" \
    '($w -n 2 sh -c "exec yes >&2" 2>&1 >/dev/null; echo $? >rc) | head -c 1000 | wc -c | tr "\n" " "; cat rc'
both "who ignores SIGPIPE sees it fail" "0 y 0" \
    '($w -n 2 sh -c "trap \"\" PIPE; yes 2>/dev/null; exit 0"; echo $? >rc) | head -n 1 | tr "\n" " "; cat rc'

# ---- what cannot be written for another reason
mkdir small
if mount -t tmpfs -o size=64k none small 2>/dev/null; then
    both "standard output on a disk that is full" "0 1" '$w -n 2 yes >small/all 2>why; s=$?
        grep -q "cannot write standard output: No space left on device" why || cat why; : >small/all
        [ $s = 1 ] || [ $s = 141 ] && echo 1'
    both "files of ranks on a disk that is full" "0 141" '$w -outfile-pattern $PWD/small/o.%r -n 2 yes 2>why; s=$?
        rm small/*; echo $s'
    umount small
else
    skip "a disk that is full" "this user may not mount one"
fi

# ---- the other way: who does not read its input keeps nobody from reading
both "a rank that closes its input" "0 done done" \
    'yes | head -c 3000000 | $w -stdin all -n 2 sh -c "[ \$PMI_RANK = 1 ] && exec 0<&- || wc -c | grep -q ^3000000; sleep 0.1; echo done" | tr "\n" " " | sed "s/ \$//"'
finish
