#!/bin/sh
# Directives of PMIx_Spawn (spawn.c): a row for each, verified by the children, on one node and on three; with
# OpenPMIx's clients too, where they are installed.
#
#   spawn.sh [reference]
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
spawn=$WU_BUILD/tests/e2e/e2e-spawn
export SPAWN_OLD=old SPAWN_LIST=a:b SPAWN_CPUS="$(nproc)"

mkdir -p "$tmp/prefix/bin" "$tmp/one"
echo "not a program" >"$tmp/file"
cat >"$tmp/agent.sh" <<'EOF'
#!/bin/sh
SPAWN_AGENT="$1 $2 $3"
export SPAWN_AGENT
shift 3
exec "$@"
EOF
chmod +x "$tmp/agent.sh"

# TITLE GROUP ROWS CHILDREN LAUNCHER-OPTIONS...: what the parent and the children print.
rows()
{
    title=$1 group=$2 count=$3 children=$4
    shift 4
    cp "$spawn" "$tmp/prefix/bin/spawn-prefixed"
    spawning run "$patience" "$WIREUP" "$@" "$spawn" "$group" "$tmp"
    same "$title: $group" "$rc $(grep -c " good$" "$out") $(grep -v " good$" "$out")" "0 $((children + 1)) " || explain
    ok "$title: $group: every row" grep -q "^$group $count good$" "$out" || explain
    [ "$group" = fail ] && [ $# -gt 2 ] || # on several nodes, some were started and are killed
        spawned "$title: $group: processes" "$children"
}

everything() # TITLE LAUNCHER-OPTIONS...
{
    case_of=$1
    shift
    rows "$case_of" parent 1 3 "$@"
    rows "$case_of" beside 2 5 "$@"
    doomed "$case_of" "$@"
    rows "$case_of" env 13 12 "$@"
    rows "$case_of" place 6 13 "$@"
    rows "$case_of" sets 2 6 "$@"
    rows "$case_of" bind 12 14 "$@"
    rows "$case_of" agents 4 4 "$@"
    rows "$case_of" staged 4 6 "$@"
    again "$case_of" "$@"
    raw "$case_of" "$@"
    rows "$case_of" notify 2 3 "$@"
    rows "$case_of" options 8 4 "$@"
    ways "$case_of" "$@"
    rows "$case_of" fail 15 2 "$@"
}

# One of two jobs cannot be started, so the other one is ended, and the parent goes on.
doomed() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    run "$patience" "$WIREUP" "$@" "$spawn" doomed "$tmp"
    same "$title: doomed" "$rc $(cat "$out")" "0 doomed 1 good" || explain
    ok "$title: doomed: the launcher says so" grep -q "is ended: the one beside it could not be started" "$err" || explain
}

# Six processes, which fail nine times before they join their jobs.
again() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    spawning run "$patience" "$WIREUP" "$@" "$spawn" again "$tmp"
    same "$title: again" "$rc $(grep -c " good$" "$out") $(grep -v " good$" "$out")" "0 7 " || explain
    spawned "$title: again: starts" 15
    same "$title: again: each is told" "$(grep -c "it is started again" "$err")" 9 || explain
    rm -f "$tmp"/once.* "$tmp"/again.* "$tmp"/option.*
}

# A part of a line is shown before the process that writes it goes on.
raw() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    mkfifo "$tmp/go" "$tmp/shown"
    "$WIREUP" "$@" "$spawn" raw "$tmp" >"$tmp/shown" 2>"$err" &
    launcher_pid=$!
    exec 7<"$tmp/shown"
    seen=$(timeout 300 python3 -c 'import os
byte = b"-"
while byte not in (b"x", b""):
    byte = os.read(7, 1)
print(byte.decode())')
    : >"$tmp/go"
    cat <&7 >"$out"
    exec 7<&-
    wait "$launcher_pid"
    same "$title: raw" "$? $seen $(grep -c "^raw good" "$out")" "0 x 1" || explain
    rm -f "$tmp/go" "$tmp/shown"
}

# Jobs whose end is not the parent's, and what is logged about them.
ways() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    run "$patience" "$WIREUP" "$@" "$spawn" ways "$tmp"
    same "$title: ways" "$rc $(sort "$out" | tr '\n' ';')" "0 logged good;logged good;the end alone good;ways 4 good;" || explain
    same "$title: what is logged" "$(sed -n 's/job kvs[^ ]* (.*spawn)/JOB/p' "$err" | grep -v "^wireup" | sort | tr '\n' ';')" \
        "JOB has ended with exit code 0;JOB has ended with exit code 0;JOB has started;JOB: 2 of 2 processes have started;JOB: all 2 processes are running;rank 0 of JOB has ended with exit code 0;rank 0 of JOB has ended with exit code 3;rank 1 of JOB has ended with exit code 0;rank 1 of JOB was killed by signal 15 (SIGTERM);" || explain
    run "$patience" "$WIREUP" "$@" "$spawn" joint "$tmp"
    same "$title: a job's code is that of all" "$rc $(cat "$out")" "5 joint 1 good" || explain
    run "$patience" "$WIREUP" "$@" "$spawn" apart "$tmp"
    same "$title: a job's code is its own" "$rc $(cat "$out")" "0 apart 1 good" || explain
}

# What the launcher says of a job before its start, and limits of time.
limits() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    spawning run "$patience" "$WIREUP" "$@" "$spawn" show "$tmp"
    same "$title: limits" "$rc $(sort "$out" | tr '\n' ';')" \
        "0 bindings good;bindings good;limits that are not reached good;limits that are not reached good;show 5 good;" || explain
    same "$title: a map, bindings and nodes are shown" \
        "$(grep -c "not bound" "$err") $(grep -c "on .*: hwthread" "$err") $(grep -c "^wireup:   .*: [0-9]* slots*$" "$err")" "3 2 1" ||
        explain
    ok "$title: the job ends that has a limit" grep -q "did not end within its time limit of 1 s" "$err" || explain
    ok "$title: its state is reported before" grep -q "^wireup:  *rank 0 on .* attached, .*; last request: init, " "$err" || explain
    ok "$title: and its stacks" grep -qE "^wireup: .*(check_never|no stacks)" "$err" || explain
    spawned "$title: processes" 5
}

# The hardware of the launcher's node.
hardware() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    run "$patience" "$WIREUP" "$@" "$spawn" hardware "$tmp"
    same "$title: hardware" "$rc $(cat "$out")" "0 hardware 4 good" || explain
    same "$title: what is shown" "$(grep -cE '^wireup: .*: [1-9][0-9]* .*, [1-9][0-9]* hwthread' "$err") $(
        grep -cE '^wireup: \{"node":".*","processors":"[0-9]' "$err") $(grep -c '"schema": "wireup-plan-1"' "$err")" "1 1 1" || explain
}

# Where the output is; no order of lines of several processes is certain.
output() # TITLE LAUNCHER-OPTIONS...
{
    title=$1
    shift
    spawning run "$patience" "$WIREUP" "$@" "$spawn" out "$tmp"
    same "$title: output" "$rc $(sed 's/^\[[0-9]*,/[N,/; s/^\[[0-9]*\] \[[0-9]*,/[T] [N,/; s/^\[kvs[^,]*,/[NS,/; s/\[[^]:]*:[0-9][0-9]*\]/[NODE:PID]/; s/nspace="kvs[^"]*"/NS/; s/timestamp="[^"]*Z"/T/' "$out" | sort | tr '\n' ';')" \
        "0 <stdout NS rank=\"0\" T>marked, with the time good&#010;</stdout>;<stdout NS rank=\"0\">marked good&#010;</stdout>;[0] numbered good;[1] numbered good;[N,0] tagged good;[N,0][NODE:PID] detailed good;[N,1] tagged good;[NS,0] named good;[T] [N,0] timed good;an error;and as ever good;out 16 good;together good;" || explain
    same "$title: standard error" "$(grep "an error" "$err" | sed 's/^\[[0-9]*,/[N,/' | sort | tr '\n' ';')" \
        "[N,0] an error;[N,1] an error;" || explain
    same "$title: files" "$(cd "$tmp" && for f in each.* two.* ?-of-all deep/er/*/*/* merged/*/*/*; do
        echo "$f $(sort "$f" | tr '\n' ',')"; done | sed 's/kvs_[^/.]*/NS/; s/_[^/.]*\././; s|_[^/]*/|/|' | tr '\n' ';')" \
        "each.0 an error,each good,;each.1 an error,each good,;two.NS.0.stderr an error,;two.NS.0.stdout two good,;0-of-all an error,pattern good,;1-of-all an error,pattern good,;deep/er/NS/rank.0/stderr an error,;deep/er/NS/rank.0/stdout deep good,;deep/er/NS/rank.1/stderr an error,;deep/er/NS/rank.1/stdout deep good,;deep/er/NS/rank.2/stderr an error,;deep/er/NS/rank.2/stdout deep good,;merged/NS/rank.0/stdout an error,merged good,;" || explain
    rm -rf "$tmp"/each.* "$tmp"/two.* "$tmp"/?-of-all "$tmp/deep" "$tmp/merged"
    run "$patience" "$WIREUP" "$@" -n 2 -xml-output -prepend-rank sh -c 'echo "1 < 2 & 3"; echo oops >&2; printf end'
    same "$title: as XML" "$rc $(cat "$out" "$err" | sed 's/nspace="kvs[^"]*"/NS/; s/rank="[01]"/R/' | sort | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ';')" \
        "0 2 <stderr NS R>oops&#010;</stderr>;2 <stdout NS R>1 &lt; 2 &amp; 3&#010;</stdout>;2 <stdout NS R>end</stdout>;" || explain
    ok "$title: which is XML" eval '(echo "<all>"; cat "$out" "$err"; echo "</all>") | python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.stdin)"' || explain
}

# Those of the command line.
sets() # TITLE N LAUNCHER-OPTIONS...
{
    title=$1
    shift
    run "$patience" "$WIREUP" "$@" -n 2 -pset left "$spawn" child l "set left 2" : -n 1 -pset right "$spawn" child r "set right 1"
    same "$title: sets of the command line" "$rc $(sort "$out" | tr '\n' ';')" "0 l good;l good;r good;" || explain
    run "$patience" "$WIREUP" "$@" -n 2 -bind-to hwthread "$spawn" child l "cpus 1" : -n 1 -bind-to none "$spawn" child r "cpus all"
    same "$title: bindings of the command line" "$rc $(sort "$out" | tr '\n' ';')" "0 l good;l good;r good;" || explain
}

# A tool's jobs are no children: MPI would look for their parent.
tool() # GROUP CHILD
{
    mkfifo "$tmp/hold"
    : >"$tmp/first"
    exec 9<>"$tmp/hold"
    "$WIREUP" -n 1 sh -c 'echo up; read -r word' <"$tmp/hold" >"$tmp/first" 2>&1 &
    launcher_pid=$!
    wait_until 120 grep -q up "$tmp/first"
    uri=$("$WIREUP" tools | sed -n "s/^$launcher_pid	//p")
    run "$patience" "$spawn" tool "$tmp" "$uri" "$1"
    same "a job of a tool: $1" "$rc $(cat "$out" "$tmp/tool.0")" "0 $1 1 good
$2 good" || explain
    echo go >&9
    exec 9>&-
    wait "$launcher_pid"
    rm -f "$tmp/hold" "$tmp/tool.0"
}

# Who has joined the job is not started again.
run "$patience" "$WIREUP" -max-restarts 3 -n 2 "$spawn" child joined "env SPAWN_OLD=other"
same "a process that has joined fails" "$rc $(grep -c "not SPAWN_OLD=other" "$out") $(grep -c again "$err")" "1 2 0" || explain

tool tool "of a tool"
tool toolenv "a tool's"
everything "one node" -n 1
rows "one node" forward 4 6 -n 1
sets "one node"
output "one node" -n 1
limits "one node" -n 1
hardware "one node" -n 1
needs_host_names
named_agent
sets "three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
everything "three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
rows "three nodes" map 17 44 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 6
printf 'n2\nn3\n' >"$tmp/more"
rows "three nodes" far 3 3 -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
rows "three nodes" forward 4 6 -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
rows "nodes without ranks" spare 3 10 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -all-nodes -n 1
rows "nodes without ranks" alone 2 3 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 1
rows "the launcher's node and another" head 3 5 -launch-agent "$tmp/agent" -hosts localhost:1,n2:1 -n 2
limits "three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
slots_are() { "$WIREUP" ps | grep -qE " $1 of $1 slots free *-\$"; } # free, and of nodes that stay

grown()
{
    cat >"$tmp/breaks" <<'END'
#!/bin/sh
case $1 in
broken) exit 1 ;;
slow)
    read -r _ <"$0.gate"
    "${0%/*}/agent" "$@"
    echo "ended: $?" >>"$0.ended"
    ;;
*) exec "${0%/*}/agent" "$@" ;;
esac
END
    chmod +x "$tmp/breaks"
    mkfifo "$tmp/breaks.gate"
    printf 'n4 slots=2\nn1\n' >"$tmp/added"
    mkfifo "$tmp/pipe"
    run "$patience" "$WIREUP" up -launch-agent "$tmp/breaks" -hosts n1:2,n2:2
    uri=$("$WIREUP" tools | cut -f 2)
    for group in grow grown; do
        run "$patience" "$spawn" tool "$tmp" "$uri" $group
        same "a DVM: $group" "$rc $(sed 's/ [0-9]* good$/ good/' "$out")" "0 $group good" || explain
    done
    wait_until 60 eval '[ "$(cat "$tmp"/tool*.[0-9] | wc -l)" -ge 7 ]' # files of other nodes
    same "a DVM that has grown: processes" "$(sort "$tmp"/tool*.[0-9] | tr '\n' ';')" \
        "a node of a file good;a node of a file good;a node of a file good;a node that the DVM does not have good;a node that the DVM does not have good;a node that the DVM does not have good;the node stays good;" || explain
    rm -f "$tmp"/tool*.[0-9]
    run "$patience" "$spawn" tool "$tmp" "$uri" slow
    same "a DVM, until a time limit" "$rc $(cat "$out")" "0 slow 2 good" || explain
    ok "a node that has joined in vain leaves" wait_until 60 slots_are 8 || note "$("$WIREUP" ps)"
    exec 8<>"$tmp/breaks.gate"
    echo >&8
    wait_until 60 [ -e "$tmp/breaks.ended" ]
    same "and one that joins later" "$(cat "$tmp/breaks.ended")" "ended: 0" || note "$("$WIREUP" ps)"
    ok "no node is left of these" wait_until 60 slots_are 8 || note "$("$WIREUP" ps)"
    echo >&8
    run "$patience" "$spawn" tool "$tmp" "$uri" slower
    wait_until 60 eval '[ "$(cat "$tmp"/tool*.[0-9] | wc -l)" -ge 2 ]'
    same "it joins when it is wanted again" "$rc $(cat "$out") $(sort "$tmp"/tool*.[0-9] | tr '\n' ';')" \
        "0 slower 1 good meanwhile, on another one good;the node comes in time good;" || explain
    exec 8>&-
    rm -f "$tmp"/tool*.[0-9]
    run "$patience" "$WIREUP" down
    same "and ends" "$rc" 0 || explain
}
grown
mkfifo "$tmp/stopped" "$tmp/over"
rows "three nodes" late 2 1 -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
output "three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3

pmix_flags=$(openpmix)
if [ -z "$pmix_flags" ]; then
    skip "the same with OpenPMIx" "it is not installed"
elif [ $# -gt 0 ]; then
    # shellcheck disable=SC2086
    c_program spawn -w $pmix_flags
    spawn=$bin/spawn
    everything "OpenPMIx" -n 1
    everything "OpenPMIx, three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
    rows "OpenPMIx, three nodes" map 17 44 -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 6
    rows "OpenPMIx, the launcher's node and another" head 3 5 -launch-agent "$tmp/agent" -hosts localhost:1,n2:1 -n 2
    for nodes in "-n 1" "-launch-agent $tmp/agent -hosts n1:1,n2:1,n3:1 -n 3"; do
        # shellcheck disable=SC2086
        limits "OpenPMIx, $nodes" $nodes
        # shellcheck disable=SC2086
        output "OpenPMIx, $nodes" $nodes
    done
fi
finish
