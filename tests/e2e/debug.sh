#!/bin/sh
# Processes stop for a debugger, on exec, in PMIx_Init and in the program, and go on when it releases them
# (debug.c): jobs that it spawns, and jobs of the command line; on one node and on three, with our client
# library and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=${PATIENCE:-300}
ours=$WU_BUILD/tests/e2e/e2e-debug
clients=$ours
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program debug -w $pmix_flags
    clients="$clients $bin/debug"
else
    skip "with OpenPMIx's client" "OpenPMIx (libpmix-dev) is not installed"
fi
mkfifo "$tmp/hold"

all_up() { [ "$(grep -c up "$tmp/first")" -eq "$nodes" ]; }

# OPTIONS...: a launcher for tools, on $nodes nodes; $uri is its address
begin_host()
{
    : >"$tmp/first"
    exec 9<>"$tmp/hold"
    "$WIREUP" "$@" -n "$nodes" sh -c 'echo up; read -r word; exit 0' <"$tmp/hold" >>"$tmp/first" 2>"$tmp/first.err" &
    host=$!
    wait_until "$patience" all_up
    uri=$("$WIREUP" tools | sed -n "s/^$host	//p")
}

end_host()
{
    echo go >&9
    exec 9>&-
    wait "$host"
}

# TOOL CLIENT WHERE RANKS SAID: three processes of a job of its own.  What they print is the launcher's output.
spawned_job()
{
    mkdir "$tmp/marks"
    : >"$tmp/first"
    run "$patience" "$1" spawn "$uri" "$tmp/marks" "$3" "$4" 3 "$2"
    same "$where: stop in $3 of $4, ${1##*/} ${2##*/}" "$rc $(cat "$out")" "0 tool $3 good" || explain
    same "$where: all go on, $3 of $4, ${1##*/} ${2##*/}" "$(sort "$tmp/first" | tr '\n' ,)" \
        "child 0 $3 good,child 1 $3 good,child 2 $3 good," || explain
    rm -rf "$tmp/marks"
}

# TOOL CLIENT FOUND: four processes of a job of its own, and its daemons on their nodes
daemons()
{
    mkdir "$tmp/marks"
    : >"$tmp/first"
    run "$patience" "$1" daemons "$uri" "$tmp/marks" init 0,3 4 "$2"
    same "$where: daemons of a debugger, ${1##*/} ${2##*/}" "$rc $(cat "$out")" "0 tool init good" || explain
    same "$where: where they are, and what they find, ${1##*/} ${2##*/}" \
        "$(sed -n 's/^daemon [0-9]* on/daemon on/p' "$tmp/first" | sed "s/on $(hostname):/on here:/" | sort | tr '\n' ,)" "$3" || explain
    rm -rf "$tmp/marks"
}

# CLIENT WHERE OPTIONS...: the job of the command line
own_job()
{
    client=$1 at=$2
    shift 2
    mkdir "$tmp/marks"
    "$WIREUP" "$@" -n 3 "$client" child "$tmp/marks" "$at" all >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
    of_job() { uri=$("$WIREUP" tools | sed -n "s/^$job	//p"); [ -n "$uri" ]; }
    wait_until "$patience" of_job
    run "$patience" "$ours" attach "$uri" "$tmp/marks" "$at" all 3
    same "$where: the launcher's own job, $at, ${client##*/}" "$rc $(cat "$out")" "0 tool $at good" || explain
    wait $job
    same "$where: it goes on, $at, ${client##*/}" "$? $(sort "$tmp/job.out" | tr '\n' ,)" \
        "0 child 0 $at good,child 1 $at good,child 2 $at good," || note "$(cat "$tmp/job.err")"
    rm -rf "$tmp/marks"
}

# OPTIONS...: a tool starts the launcher, and names the file by which it finds it
started_by_tool()
{
    mkdir "$tmp/marks"
    PMIX_LAUNCHER_RENDEZVOUS_FILE=$tmp/contact "$WIREUP" "$@" -stop-in-init -n 3 \
        sh -c 'echo "told ${PMIX_LAUNCHER_RENDEZVOUS_FILE-nothing}"; exec "$@"' sh "$ours" child "$tmp/marks" init all \
        >"$tmp/job.out" 2>"$tmp/job.err" </dev/null &
    job=$!
    wait_until "$patience" [ -s "$tmp/contact" ]
    run "$patience" "$ours" attach "$(sed -n 1p "$tmp/contact")" "$tmp/marks" init all 3
    same "$where: a launcher that the tool has started" "$rc $(cat "$out")" "0 tool init good" || explain
    wait $job
    same "$where: of which its processes know nothing" "$? $(sort "$tmp/job.out" | tr '\n' ,)" \
        "0 child 0 init good,child 1 init good,child 2 init good,told nothing,told nothing,told nothing," || note "$(cat "$tmp/job.err")"
    ok "$where: the file is gone with it" [ ! -e "$tmp/contact" ]
    : >"$tmp/contact"
    PMIX_LAUNCHER_RENDEZVOUS_FILE=$tmp/contact run "$patience" "$WIREUP" "$@" -n 1 true
    ok "$where: a file of others stays, and is named" eval \
        '[ "$rc" = 2 ] && grep -q "PMIX_LAUNCHER_RENDEZVOUS_FILE: .*$tmp/contact.*nothing was started" "$err"' || explain
    rm -rf "$tmp/marks" "$tmp/contact"
}

everything() # OPTIONS...
{
    begin_host "$@"
    for client in $clients; do
        spawned_job "$ours" "$client" exec all
        spawned_job "$ours" "$client" init 1
        spawned_job "$ours" "$client" app 0,2
        spawned_job "$ours" "$client" app all
    done
    spawned_job "${client}" "$ours" init all
    for client in $clients; do
        daemons "$ours" "$client" "$found"
    done
    end_host
    for client in $clients; do
        own_job "$client" init -stop-in-init "$@"
    done
    own_job "$ours" exec -stop-on-exec -trace "$tmp/trace" "$@"
    run "$patience" "$WIREUP" replay "$tmp/trace"
    same "$where: what was recorded of it replays" "$rc" 0 || explain
    own_job "$ours" app -breakpoint here "$@"
    started_by_tool "$@"
}

where="one node"
nodes=1
found="daemon on here: -1 good,daemon on here: -1 good,daemon on here: -1 good,daemon on here: -1 good,daemon on here: -1 good,daemon on here: -1 good,daemon on here: 4 good,daemon on here: 4 good,daemon on here: 4 good,daemon on here: 4 good,daemon on here: 4 good,"
everything
needs_host_names
named_agent
where="three nodes"
nodes=3
# (Ranks 0 and 3 are on n1.)
found="daemon on n1: -1 good,daemon on n1: -1 good,daemon on n1: -1 good,daemon on n1: -1 good,daemon on n1: -1 good,daemon on n1: -1 good,daemon on n1: 2 good,daemon on n1: 2 good,daemon on n1: 2 good,daemon on n2: 1 good,daemon on n2: 1 good,daemon on n3: 1 good,daemon on n3: 1 good,"
everything -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
finish
