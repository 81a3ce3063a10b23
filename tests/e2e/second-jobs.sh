#!/bin/sh
# The conversation of a DVM with Slurm about a further job: a stand-in for sbatch takes it, refuses it, answers
# oddly or not at all; nodes that come for a request that is over.  (grow-slurm has the real one.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
patience=60
ours=$WU_BUILD/tests/e2e/e2e-allocations
wireupd=$WU_BUILD/src/daemon/wireupd
export world="$tmp/world"
mkdir "$world" "$tmp/slurm"
: >"$world/cancelled"

# Each job has a number, and its own nodes.  It runs on when sbatch is killed.
cat >"$tmp/slurm/sbatch" <<'SBATCH'
#!/bin/sh
job=$(ls "$world" | grep -c '^words') # of those before
export job
cat >"$world/script$job"
env >"$world/env$job"
echo "$*" >"$world/words$job"
case $(cat "$world/mode") in
    refuses) echo "sbatch: error: Batch job submission failed: Invalid account" >&2 && exit 1 ;;
    odd) echo "Submitted, thank you" && exit 0 ;;
    ended) echo "$job" && exit 1 ;;
    waits) echo "$job" && exec sleep 1000 ;;
    late) read -r line <"$world/late" && echo "$job" && exec sleep 1000 ;;
    few) few=yes && export few ;;
esac
echo "$job"
setsid sh "$world/script$job" </dev/null >"$world/out$job" 2>&1 &
wait $!
SBATCH
cat >"$tmp/slurm/srun" <<'SRUN'
#!/bin/sh
while :; do
    case $1 in
        --nodes=*) n=${1#--nodes=} ;;
        --*) ;;
        *) break ;;
    esac
    shift
done
[ -z "${few-}" ] || n=1
for i in $(seq "$n"); do
    SLURMD_NODENAME=job$job-$i "$@" &
done
if [ -n "${few-}" ]; then # the others have failed
    until grep -q joined "$world/out$job"; do
        sleep 0.02
    done
    exit 1
fi
wait
SRUN
cat >"$tmp/slurm/scancel" <<'SCANCEL'
#!/bin/sh
echo "$*" >>"$world/cancelled"
SCANCEL
chmod +x "$tmp"/slurm/*

submits() { echo "$1" >"$world/mode"; }
cancelled() { [ "$(grep -c -- "^--quiet --state=PENDING --name=wireup-[0-9]*$" "$world/cancelled")" = "$1" ]; }
asked() { [ -e "$world/words$1" ]; }
took() { grep -q "^job" grown.out; }
one_line() { cut -c 1-300 "$err"; }
up() { "$WIREUP" ps --json 2>/dev/null | grep -o '"nodes_up": *[0-9]*' | tr -dc '0-9\n'; }
two_are_up() { [ "$(up)" = 2 ]; }
alone() { [ "$(up)" = 1 ]; }

SLURM_JOB_ID=17 SLURM_JOB_NODELIST=$(hostname) SLURM_JOB_CPUS_PER_NODE=2 SLURM_JOB_PARTITION=fast \
    PATH="$tmp/slurm:$PATH" run "$patience" "$WIREUP" up
same "a DVM in a job" "$rc" 0 || explain

submits well
run "$patience" "$WIREUP" grow -nodes 2
same "two nodes come" "$rc $(sort "$out")" \
    "0 job 0 of slurm is to bring the nodes
node job0-1 has joined your DVM dvm, with 2 slots
node job0-2 has joined your DVM dvm, with 2 slots" || explain
same "nothing secret is on the command line, nor in the script" \
    "$(cat "$world/words0" "$world/script0" | grep -c wireup-key) $(grep -c '^WIREUP_JOIN_TOKEN=wireup-key-' "$world/env0")" "0 1"
same "the job is like the first one, and elsewhere" \
    "$(grep -o -e '--partition=fast' -e '--cpus-per-task=2' -e '--exclude=[^ ]*' "$world/words0" | tr '\n' ' ')" \
    "--cpus-per-task=2 --partition=fast --exclude=$(hostname) "
same "and knows nothing of that" "$(grep -c '^SLURM_' "$world/env0")" 0
run "$patience" "$WIREUP" run -n 6 sh -c "env | grep -c -e WIREUP_JOIN -e SLURMD_NODENAME=job0 || true"
same "no process has the token" "$rc $(sort -u "$out")" "0 0" || explain
run "$patience" "$WIREUP" grow -nodes 1
same "another one is to be elsewhere, too" \
    "$rc $(grep -o -e '--exclude=[^ ]*' "$world/words1" | tr ',' '\n' | sort | tr '\n' ' ')" \
    "0 --exclude=$(hostname) job0-1 job0-2 " || explain
run "$patience" "$WIREUP" shrink -hosts job0-1,job0-2,job1-1
same "all leave" "$rc $(up)" "0 1" || explain

submits refuses
run "$patience" "$WIREUP" grow -nodes 1
same "Slurm refuses the job" "$rc $(one_line)" \
    "1 wireup: slurm does not take the job that was to bring the nodes: Batch job submission failed: Invalid account"
ok "and nothing has to be cancelled" cancelled 0 || note "$(cat "$world/cancelled")"
submits odd
run "$patience" "$WIREUP" grow -nodes 1
same "it says no number" "$rc $(one_line)" \
    "1 wireup: slurm has not said under which number it has taken the job that was to bring the nodes, but: 'Submitted, thank you'"
ok "  what may be there is cancelled" wait_until "$patience" cancelled 1
submits ended
run "$patience" "$WIREUP" grow -nodes 1
same "the job ends without its nodes" "$rc $(one_line)" \
    "1 wireup: job 4 of slurm, which was to bring the nodes, has ended before them"
submits few
run "$patience" "$WIREUP" grow -nodes 2
same "only one of two comes" "$rc $(one_line)" \
    "1 wireup: job 5 of slurm, which was to bring the nodes, has ended before them"
ok "  it leaves" wait_until "$patience" alone || note "$(up)"

: >"$world/cancelled"
submits waits
"$WIREUP" grow -nodes 1 >grown.out 2>&1 &
grower=$!
ok "a job waits in the queue" wait_until "$patience" took
run "$patience" "$WIREUP" ps
same "meanwhile the DVM serves others" "$rc" 0 || explain
kill $grower
wait $grower 2>/dev/null
ok "interrupted, it is cancelled" wait_until "$patience" cancelled 1
run "$patience" env $(grep '^WIREUP_JOIN' "$world/env6" | grep -v ADDR | tr ' ' ',') SLURMD_NODENAME=late "$wireupd" --join --timeout 30
same "a node that it brings in spite of that is refused" "$rc $(one_line)" \
    "1 wireupd: nobody waits for node late any more: the request that its job was submitted for is over"
mkfifo "$world/late"
submits late
"$WIREUP" grow -nodes 1 >grown.out 2>&1 &
grower=$!
ok "sbatch does not answer" wait_until "$patience" asked 7
kill $grower
wait $grower 2>/dev/null
echo >"$world/late"
ok "when it does, nobody waits any more, and the job is cancelled" wait_until "$patience" cancelled 2

"$WIREUP" tools >"$out" 2>"$err"
uri=$(cut -f 2 "$out")
submits well
run "$patience" "$ours" "$uri" more
same "extensions by the interface" "$rc $(cat "$out")" "0 allocations more good" || explain
ok "  the nodes of an allocation leave with it" wait_until "$patience" two_are_up || note "$(up)"
submits waits
mkfifo hold
"$ours" "$uri" cancel <hold >cancel.out 2>&1 &
canceller=$!
exec 8>hold
ok "one waits" wait_until "$patience" asked 10
exec 8>&-
wait $canceller
same "and is cancelled" "$? $(tail -n 1 cancel.out)" "0 allocations cancel good" || note "$(cat cancel.out)"
ok "as its job is" wait_until "$patience" cancelled 3
mkfifo hold2
"$ours" "$uri" cancel <hold2 >cancel.out 2>&1 &
canceller=$!
exec 8>hold2
ok "another one waits" wait_until "$patience" asked 11
kill -9 $canceller
wait $canceller 2>/dev/null
exec 8>&-
ok "its requester is killed: the job is cancelled" wait_until "$patience" cancelled 4

"$WIREUP" grow -nodes 1 >grown.out 2>&1 &
grower=$!
ok "one waits at the end of the DVM" wait_until "$patience" took
run "$patience" "$WIREUP" down
same "that ends" "$rc" 0 || explain
wait $grower
ok "and its job is cancelled" cancelled 5 || note "$(cat "$world/cancelled")"

rm "$tmp/slurm/sbatch"
run "$patience" env SLURM_JOB_ID=17 SLURM_JOB_NODELIST="$(hostname)" PATH="$tmp/slurm" "$WIREUP" up
run "$patience" "$WIREUP" grow -nodes 0
same "no node is no number" "$rc $(one_line)" "2 wireup: -nodes must be a number of 1 or more"
run "$patience" "$WIREUP" grow -nodes 1 -hosts a
same "names and a number" "$rc $(grep -c 'exclude each other' "$err")" "2 1"
run "$patience" "$WIREUP" grow -nodes 1
same "sbatch is not there" "$rc $(grep -c sbatch "$err") $(wc -l <"$err")" "1 1 1" || explain
run "$patience" "$WIREUP" down
same "the DVM is as before" "$rc" 0 || explain
SLURM_JOB_ID=17 SLURM_JOB_NODELIST=$(hostname) \
    run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts "$(hostname),a1,a2" -tree-width 1
same "a DVM whose tree has several levels" "$rc" 0 || explain
run "$patience" "$WIREUP" grow -nodes 1
same "  says what it needs" "$rc $(grep -c 'start it with -tree-width 2, or with -join-token-file FILE' "$err")" "1 1" || explain
run "$patience" "$WIREUP" down
run "$patience" "$WIREUP" up
run "$patience" "$WIREUP" grow -nodes 1
same "outside of a job" "$rc $(one_line)" \
    "1 wireup: your DVM dvm is in no job of Slurm, from which more nodes could be had: name the nodes by -hosts, or start \`wireupd --join\` on them"
run "$patience" "$WIREUP" down
finish
