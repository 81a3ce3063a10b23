#!/bin/sh
# Where the start-up time went: who is made to wait, rank or daemon, is the one whom the report names;
# of every protocol, on one node and on several.
#
#   startup.sh ours|all      ours: what is built here, and raw clients; all: MPI too
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
needs_host_names
named_agent
build=$WU_BUILD/tests/e2e
three=n1:2,n2:2,n3:2

# A rank of PMI-1: the one in $SLOW waits for a line first; then each puts something and meets the
# others, and rank 0 stays until there is a line for it.
cat >"$tmp/rank" <<'END'
ask() { echo "$1" >&3; read -r line <&3; }
[ "$PMI_RANK" != 0 ] || echo "$PMIX_NAMESPACE" >"$NAME"
[ "$PMI_RANK" != "$SLOW" ] || read -r line <"$GO"
ask "cmd=init pmi_version=1 pmi_subversion=1"
ask "cmd=put kvsname= key=card-$PMI_RANK value=here"
ask "cmd=barrier_in"
[ "$PMI_RANK" != 0 ] || read -r line <"$DONE"
ask "cmd=finalize"
END
# The agent of node $LATE waits for a line, too.
cat >"$tmp/late" <<END
#!/bin/sh
if [ "\$1" = "\$LATE" ]; then
    : >"$tmp/asked"
    read -r line <"$tmp/come"
fi
exec "$tmp/agent" "\$@"
END
chmod +x "$tmp/late"
mkfifo "$tmp/go" "$tmp/come" "$tmp/done"

# Hundredths of a second.
now() { cut -d' ' -f1 /proc/uptime | tr -d .; }
# As long as all has taken until here: who is let go after that has taken longer than any other.
as_long_again()
{
    ticks=$(($(now) - since + 10))
    sleep $((ticks / 100)).$(printf %02d $((ticks % 100)))
}
others_up() { [ -e "$tmp/asked" ] && [ "$(grep -c '^wireup: node n[123] is up' "$tmp/job.err")" = 2 ]; }
others_in() # RANK NODE
{
    "$WIREUP" who "$(cat "$tmp/name")" >"$out" 2>"$err"
    grep -q ": 5 of 6 have arrived; missing: $1\$" "$out" && grep -q "^    rank $1 on $2 (pid [0-9]*) running" "$out"
}
row() { sed -n "s/^wireup: *$1  .*[0-9]  \(.*\)\$/\1/p" "$tmp/job.err"; }
reported() { grep -q '^wireup: begun and ended: ' "$tmp/job.err"; }
the_end()
{
    grep -q '^wireup: end: [0-9.]* s after ' "$tmp/job.err" &&
        grep -q '^wireup: processes gone .. daemons gone  ' "$tmp/job.err" &&
        grep -q '^wireup: fences of all: 1; put: 60 bytes$' "$tmp/job.err"
}

slow_ones() # RANK NODE-OF-IT LATE-NODE
{
    rm -f "$tmp/asked" "$tmp/name"
    since=$(now)
    SLOW=$1 LATE=$3 NAME=$tmp/name GO=$tmp/go DONE=$tmp/done \
        "$WIREUP" -v -report-startup -launch-agent "$tmp/late" -hosts $three -n 6 sh "$tmp/rank" \
        >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
    ok "the other nodes are there, and $3 is waited for" wait_until 300 others_up || give_up
    as_long_again
    echo come >"$tmp/come"
    ok "the job begins" wait_until 300 [ -s "$tmp/name" ] || give_up
    ok "the other ranks are in the fence, and $1 is waited for" wait_until 300 others_in "$1" "$2" || give_up
    as_long_again
    echo go >"$tmp/go"
    ok "the report comes while the job lasts" wait_until 300 reported || give_up
    same "it names the daemon that came last" "$(row 'daemon asked for .. runs')" "$3" || note "$(cat "$tmp/job.err")"
    same "and the rank that was silent longest" "$(row 'process started .. its init')" "rank $1 on $2" ||
        note "$(cat "$tmp/job.err")"
    ok "for which all have waited" grep -q "^wireup: last into that fence: rank $1 on $2, at " "$tmp/job.err"
    ok "of all processes" grep -q \
        '^wireup: start-up of 6 processes on 3 nodes: [0-9.]* s until 60 bytes of addresses were exchanged, by fence 1$' \
        "$tmp/job.err"
    same "the end is not told yet" "$(grep -c '^wireup: end: ' "$tmp/job.err")" 0
    echo end >"$tmp/done"
    wait $job
    same "the job ends well" $? 0 || note "$(cat "$tmp/job.err")"
    ok "and its end is told" the_end || note "$(cat "$tmp/job.err")"
}

give_up()
{
    explain
    note "$(cat "$tmp/job.err")"
    kill -9 $job
    finish
}

slow_ones 3 n2 n1
slow_ones 4 n3 n2 # the control: others are slow, and others are named

# ---- whoever speaks what
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" "$@"; }
cat >"$tmp/judge.py" <<'END'
import json, sys
startup, end = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
startup, end = startup["startup"], end["end"]
nprocs, daemons = int(sys.argv[2]), int(sys.argv[3])
phases = {p["phase"]: p for p in startup["phases"] + end["phases"]}
assert startup["processes"] == nprocs and "silent" not in startup and "silent" not in end
for name in "init", "fence_entered", "fence_left", "process_gone":
    assert phases[name]["count"] == nprocs, name
for name in ["daemon_runs", "daemon_linked", "job_there", "daemons_gone"] if daemons else []:
    assert phases[name].get("count", daemons) == daemons, name
assert ("daemon_runs" in phases) == (daemons > 0)
for p in phases.values():
    assert 0 <= p.get("shortest", 0) <= p.get("median", 0) <= p.get("longest", 0)
assert startup["bytes"] <= end["bytes"] and end["fences"] >= startup["fence"]
print("good", startup["fence"] > 0 and startup["bytes"] > 0)
END
judge() # NAME PROCESSES DAEMONS
{
    same "$1" "$rc $(python3 "$tmp/judge.py" "$err" "$2" "$3" 2>&1)" "0 good True" || explain
}
words="PMI-1 PMI-2 PMIx PMIx PMI-1 PMI-2 PMIx PMI-1"
mixed()
{
    # shellcheck disable=SC2086
    over "$@" -report-startup -json -n 1 "$build/e2e-mixed1" $words : -n 1 "$build/e2e-mixed2" $words : \
        -n 2 "$build/e2e-rawpmix" mixed $words : -n 1 "$build/e2e-mixed1" $words : \
        -n 1 "$build/e2e-mixed2" $words : -n 1 "$build/e2e-rawpmix" mixed $words : -n 1 "$build/e2e-mixed1" $words
}
mixed
judge "three protocols on one node" 8 0
mixed -hosts n1:2,n2:2,localhost:2,n4:2
judge "and on several" 8 3
over -hosts n1:2,n2:2,n3:2,n4:2 -tree-width 1 -report-startup -json -n 8 "$build/e2e-rawpmix"
judge "daemons that start daemons" 8 4
over -hosts $three -n 6 "$build/e2e-rawpmix"
same "nothing is printed without the option" "$rc $(cat "$err")" "0 " || explain
if [ "${1-ours}" = all ]; then
    mpi_program hello
    mpicc.openmpi -O1 -D_GNU_SOURCE -o "$bin/ohello" "$e2e/mpi/hello.c" || exit 1
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    for program in hello ohello; do
        over -hosts $three -report-startup -json -n 4 "$bin/$program"
        judge "MPI: $program" 4 2
    done
fi

# ---- what does not get there
run "$patience" "$WIREUP" -report-startup -n 3 true
same "programs that say nothing" \
    "$rc $(grep -c '^wireup: start-up of 3 processes on 1 node: there was no fence of all$' "$err")" "0 1" || explain
cat >"$tmp/quitter" <<'END'
echo "cmd=init pmi_version=1 pmi_subversion=1" >&3
read -r line <&3
[ "$PMI_RANK" != 4 ] || echo "cmd=abort exitcode=7" >&3
read -r line <&3
END
over -hosts $three -report-startup -n 6 sh "$tmp/quitter"
same "a job that fails before its first fence" \
    "$rc $(grep -c '^wireup: start-up of 6 processes on 3 nodes: there was no fence of all$' "$err")" "7 1" || explain
finish
