#!/bin/sh
# Queries over PMIx (query.c): one row of its table for each key, on one node and on three, from a
# process and from a tool, with OpenPMIx's library and with ours.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
ours=$WU_BUILD/src/lib/pmix

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ]; then
    echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
    exit 0
fi
# shellcheck disable=SC2086
c_program query $pmix_flags

# HOSTS...: in a job of three, rank 0 queries; then two tools do while the job waits for a line
job()
{
    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    LD_LIBRARY_PATH=$lib "$WIREUP" "$@" -n 3 "$bin/query" hold <"$tmp/hold" >"$tmp/said" 2>"$tmp/told" &
    launcher=$!
    wait_until "$patience" grep -q "^query" "$tmp/said" || note "$(cat "$tmp/said" "$tmp/told")"
    same "a process asks ($nodes, ${lib:-theirs})" "$(cat "$tmp/said")" "query $nodes good" ||
        note "$(cat "$tmp/said" "$tmp/told")"
    run "$patience" env LD_LIBRARY_PATH="$lib" "$bin/query" tool "$launcher" "$nodes"
    same "a tool asks ($nodes, ${lib:-theirs})" "$rc $(cat "$out")" "0 query $nodes good" || explain
    echo go >&9
    wait "$launcher"
    same "the job ends well" $? 0
    exec 9>&-
    rm -f "$tmp/hold" "$tmp/said"
}

lib=
launch 3 "$bin/query" spoil
ok "what is wrong is seen to be wrong" grep -q "^query WRONG" "$out" || explain
needs_host_names
named_agent
for lib in "" "$ours"; do
    nodes=1
    job -tool-files on
    nodes=3
    job -tool-files on -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
done
finish
