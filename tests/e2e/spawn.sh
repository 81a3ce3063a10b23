#!/bin/sh
# Directives of PMIx_Spawn (spawn.c): a row for each, verified by the children, on one node and on three; with
# OpenPMIx's clients too, where they are installed.
#
#   spawn.sh [reference]
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=300
spawn=$WU_BUILD/tests/e2e/e2e-spawn
export SPAWN_OLD=old SPAWN_LIST=a:b

mkdir -p "$tmp/prefix/bin" "$tmp/one"
echo "not a program" >"$tmp/file"

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
    rows "$case_of" env 12 11 "$@"
    rows "$case_of" place 6 13 "$@"
    rows "$case_of" fail 13 2 "$@"
}

everything "one node" -n 1
needs_host_names
named_agent
everything "three nodes" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3

case $(pkg-config --modversion pmix 2>/dev/null) in
4.2*)
    if [ $# -gt 0 ]; then
        # shellcheck disable=SC2046
        c_program spawn -w $(pkg-config --cflags --libs pmix)
        spawn=$bin/spawn
        everything "OpenPMIx" -n 1
        rows "OpenPMIx, three nodes" parent 1 3 -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3
    fi
    ;;
*) skip "the same with OpenPMIx 4.2" "it is not installed" ;;
esac
finish
