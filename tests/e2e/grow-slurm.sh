#!/bin/sh
# A DVM inside a job of Slurm grows by nodes of further jobs, which it submits itself: by `wireup grow -nodes`
# and by PMIx_Allocation_request; jobs that are not wanted any more leave the queue, and nothing stays in it
# when the DVM has ended, or its launcher is killed.  And nodes of a job that the user submits.
#
#   grow-slurm.sh HOSTS      4
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
# shellcheck source=tests/e2e/netns-slurm.sh
. "$(dirname "$0")/netns-slurm.sh"
hosts=$1
netns_world "$@"
begin
use_launcher wireup
netns_up "$hosts" || netns_skip "no hosts"
netns_slurm_up
export token="$tmp/token" where="$tmp/addresses" wireupd="$WU_BUILD/src/daemon/wireupd"
tools=$WU_BUILD/src/tools/pmix

# In the first job: its outputs are looked at outside.
cat >first <<'JOB'
"$WIREUP" up --json $words >up.out 2>&1 || exit 1
echo up >>steps
cat >/dev/null
JOB
mkfifo life
export WIREUP words

stand() # WORDS OF wireup up...: in a job of two nodes
{
    words=$*
    rm -f steps
    salloc -Q -N 2 sh ./first <life >first.out 2>&1 &
    first_job=$!
    exec 7>life
    wait_until 60 is_up || note "$(cat up.out first.out)"
}
leave() # the first job ends
{
    exec 7>&-
    wait "$first_job"
}
is_up() { [ -e steps ]; }
jobs_are() { [ "$(squeue -h -o %i | wc -l)" = "$1" ]; }
jobs() { squeue -h -o '%i %T %N %r' 2>&1; }
pending() { [ "$(squeue -h -t PENDING -o %i | wc -l)" = "$1" ]; }
hold_n4() { sbatch -Q -N 1 -w n4 -J holder -o /dev/null --wrap 'exec sleep 1000'; }
each=$(nproc)

ok "a DVM stands in a job of two nodes" stand
run 120 "$WIREUP" grow -nodes 1
same "it grows by one, wherever that is" \
    "$rc $(sed 's/^job [0-9]*/job N/' "$out")" \
    "0 job N of slurm is to bring the nodes
node n3 has joined your DVM dvm, with $each slots" || { explain; note "$(jobs)"; }
run 120 "$WIREUP" run -n $((each * 2 + 1)) hostname
same "a job has processes on it" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n1 n2 n3 " || explain
run 120 "$WIREUP" shrink -hosts n3
same "the node leaves" "$rc" 0 || explain
ok "and its job ends" wait_until 60 jobs_are 1 || note "$(jobs)"
run 120 "$WIREUP" grow --json -nodes 2
same "by two" "$rc $(grep -o '"state": *"up"' "$out" | wc -l) $(grep -c '"manager": *"slurm"' "$out")" "0 2 1" || explain
run 120 "$WIREUP" grow -nodes 300
same "by more than it has room for: refused" "$rc $(grep -c 'has room for 25[0-9] more nodes' "$err")" "1 1" || explain
run 60 "$WIREUP" shrink -hosts n3
same "one of the two leaves" "$rc" 0 || explain
run 120 "$WIREUP" run -n $((each * 2 + 1)) hostname
same "the other one stays, and so does its job" "$rc $(sort -u "$out" | tr '\n' ' ') $(jobs | grep -c RUNNING)" \
    "0 n1 n2 n4  2" || { explain; note "$(jobs)"; }
run 60 "$WIREUP" shrink -hosts n4
ok "it ends with the second" wait_until 60 jobs_are 1 || note "$(jobs)"

# ---- more nodes than are free -------------------------------------------------------------------

hold_n4
"$WIREUP" grow -nodes 2 >waits.out 2>waits.err &
grower=$!
ok "a request for more than are free waits in the queue" wait_until 60 pending 1 || note "$(jobs)"
kill $grower
wait $grower 2>/dev/null
ok "interrupted, it is not there any more" wait_until 60 pending 0 || note "$(jobs)"
run 60 "$WIREUP" grow -nodes 2 -timeout 2
same "or when its time is over" "$rc $(grep -c 'not joined your DVM dvm within 2 s' "$err")" "1 1" || explain
ok "  it leaves the queue" wait_until 60 pending 0 || note "$(jobs)"

# ---- PMIx ---------------------------------------------------------------------------------------

run 60 "$tools/palloc" --nodes 1
id=$(sed -n 's/^allocation \([^ ]*\) granted.*/\1/p' "$out")
run 60 "$tools/palloc" --extend --id "$id" --nodes 2 --give-up 3
same "an extension that nobody waits for any more" "$rc" 1 || explain
ok "  leaves the queue, too" wait_until 60 pending 0 || note "$(jobs)"
scancel --name=holder
ok "nodes are free again" wait_until 60 jobs_are 1 || note "$(jobs)"
run 60 "$tools/palloc" --extend --id "$id" --nodes 2
same "it gets the nodes that come" "$rc $(sed 's/.*: //' "$out" | tr ',' '\n' | sort | tr '\n' ' ')" \
    "0 n1 n3 n4 " || { explain; note "$(jobs)"; }
run 60 "$tools/palloc" --shrink --id "$id"
ok "given back, they leave, and their job ends" wait_until 60 jobs_are 1 || note "$(jobs)"

# ---- ends ---------------------------------------------------------------------------------------

hold_n4
run 60 "$WIREUP" grow -nodes 1
same "one node is there" "$rc" 0 || explain
"$WIREUP" grow -nodes 1 >waits.out 2>waits.err &
grower=$!
ok "and one is waited for" wait_until 60 pending 1 || note "$(jobs)"
run 60 "$WIREUP" down
same "the DVM ends" "$rc" 0 || explain
wait $grower 2>/dev/null
same "who waits is told" "$? $(grep -c 'has ended' waits.err)" "1 1" || note "$(cat waits.err)"
scancel --name=holder
leave
ok "no job is left" wait_until 60 jobs_are 0 || note "$(jobs)"

stand
hold_n4
run 60 "$WIREUP" grow -nodes 1
same "another DVM has grown" "$rc" 0 || explain
"$WIREUP" grow -nodes 1 >waits.out 2>waits.err &
grower=$!
ok "and waits for one more" wait_until 60 pending 1 || note "$(jobs)"
kill -9 "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' up.out)"
wait $grower 2>/dev/null
leave
scancel --name=holder
ok "its launcher is killed: no job is left" wait_until 60 jobs_are 0 || note "$(jobs)"

# ---- a job that the user submits ----------------------------------------------------------------

second()
{
    sbatch -Q --parsable -N 1 -o second.out --wrap \
        "srun $wireupd --join $where --token-file $token --slots 1" >second.id
}
stand -join-token-file "$token" -join-file "$where"
ok "a job of the user's begins" second
run 120 "$WIREUP" run -wait -n $((each * 2 + 1)) hostname
same "a job has processes on the nodes of both" "$rc $(sort -u "$out" | tr '\n' ' ')" "0 n1 n2 n3 " ||
    { explain; note "$(cat second.out)"; }
run 60 "$WIREUP" grow -nodes 1
same "and the DVM gets another one by itself" "$rc $(grep -c '^node n4 ' "$out")" "0 1" || { explain; note "$(jobs)"; }
kill -9 "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' up.out)"
leave
ok "the launcher is killed: no job is left" wait_until 60 jobs_are 0 || note "$(jobs)"
netns_slurm_down
netns_down
finish
