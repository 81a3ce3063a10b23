#!/bin/sh
# Events over PMIx (events.c), with our client library and, where it is installed, with OpenPMIx's:
# on one node, and on three.
#
#   events.sh RANKS COUNT all|ours   RANKS and COUNT for the order of events
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-events
theirs=
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
# shellcheck disable=SC2086
[ "$3" = ours ] || [ -z "$pmix_flags" ] || { c_program events $pmix_flags && theirs=$bin/events; }

most=$(rank_counts "$1" | grep . || echo 16)

launch 2 "$ours" nonsense
ok "an unknown mode is not reported as good" eval '[ "$rc" != 0 ] && ! grep -q good "$out"' || explain

whole() # WHERE MODE: what it has printed
{
    same "$2 $1" "$rc $(cat "$out")" "0 events $2 good" || explain
}

jobs() # WHERE WHOSE COMMAND...: spawns four jobs of one process
{
    where="$1, with $2"
    shift 2
    spawning "$@"
    whole "$where" jobs
    spawned "jobs $where" 4
}

# A tool that comes when the job runs: it gets what it has missed, and what comes.
watched() # WHERE COMMAND...
{
    where=$1
    shift
    rm -f go
    fresh
    "$@" "$ours" abort "$PWD/go" >"$tmp/job" 2>&1 &
    launcher=$!
    # shellcheck disable=SC2016
    wait_until 120 sh -c '"$WU_LAUNCHER" who 2>/dev/null | grep -q "2 of 3 have arrived"'
    "$ours" watch $launcher >"$out" 2>"$err" &
    tool=$!
    wait_until 120 grep -q watching "$out"
    : >go
    wait $tool
    rc=$?
    wait $launcher
    same "a tool is told of a job that aborts, $where" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 abort 2 7,end -1 7,launched -1 -1,ready 0 -1,start -1 -1,watching," || note "$(cat "$out" "$err" "$tmp/job")"
}

# ---- one node
launch 1 "$ours" places
whole "of handlers" places
for library in ours ${theirs:+theirs}; do
    eval "program=\$$library"
    word=
    [ $library = ours ] || word=reference
    launch "$most" "$program" order "$2"
    same "$most processes get $2 events of their neighbours and of rank 0 in order, with $library" "$rc $(cat "$out")" \
        "0 events order good" || explain
    launch 3 "$program" ranges $word
    whole "on one node, with $library" ranges
    launch 3 "$program" again $word
    whole "on one node, with $library" again
    jobs "on one node" $library launch 3 "$program" jobs $word
done

watched "on one node" "$WIREUP" -n 3

# ---- three nodes
needs_host_names
named_agent
watched "on three nodes" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
over() # N COMMAND...
{
    over_n=$1
    shift
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n "$over_n" "$@"
}
for library in ours ${theirs:+theirs}; do
    eval "program=\$$library"
    word=
    [ $library = ours ] || word=reference
    over "$most" "$program" order "$2"
    same "the same on three nodes, with $library" "$rc $(cat "$out")" "0 events order good" || explain
    over 3 "$program" ranges $word
    whole "on three nodes, with $library" ranges
    over 6 "$program" again $word
    whole "on three nodes, with $library" again
    spawning run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 3 "$program" jobs $word
    whole "on three nodes, with $library" jobs
    spawned "jobs on three nodes, with $library" 4
done
finish
