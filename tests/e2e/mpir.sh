#!/bin/sh
# A debugger finds the processes of all nodes in the launcher's memory (MPIR): one that has started it, and one
# that attaches to it.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
if ! command -v gdb >/dev/null 2>&1; then
    echo "1..0 # SKIP gdb is not installed"
    exit 0
fi
mkdir "$tmp/marks"

cat >"$tmp/table" <<'END'
printf "size %d state %d\n", MPIR_proctable_size, MPIR_debug_state
set $i = 0
while $i < MPIR_proctable_size
  printf "row %s %s %d\n", MPIR_proctable[$i].host_name, MPIR_proctable[$i].executable_name, MPIR_proctable[$i].pid
  set $i = $i + 1
end
END
cat >"$tmp/begin" <<END
set debuginfod enabled off
break main
run
set var MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
source $tmp/table
shell echo "started \$(ls "$tmp/marks" | wc -l)"
continue
END
cat >"$tmp/abort" <<END
set debuginfod enabled off
break main
run
set var MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
continue
printf "state %d because %s\n", MPIR_debug_state, MPIR_debug_abort_string
continue
END
cat >"$tmp/spawns" <<END
set debuginfod enabled off
break main
run
set var MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
source $tmp/table
continue
source $tmp/table
continue
END
cat >"$tmp/attach" <<END
set debuginfod enabled off
source $tmp/table
print &MPIR_i_am_starter
print &MPIR_partial_attach_ok
END

# FILE ARGS...: gdb with these commands
debugger()
{
    commands=$1
    shift
    run "$patience" gdb -nx -q -batch -x "$commands" "$@"
}

# What it says of the table: nodes and programs, and how many of its processes there are.
table()
{
    sed -n 's/^size/size/p; s/^\(row .*\) [0-9]*$/\1/p; s/^started/started/p' "$out" | tr '\n' ,
    sed -n 's/^row .* \([0-9]*\)$/\1/p' "$out" | sort -u | grep -c .
}

# TITLE NODES OPTIONS...
everything()
{
    title=$1 rows=
    for node in $2; do
        rows="${rows}row $node $sh,"
    done
    shift 2
    rm -f "$tmp/marks"/*
    debugger "$tmp/begin" --args "$WIREUP" "$@" -n 4 "$sh" -c ": >$tmp/marks/\$PMIX_RANK"
    same "$title: at the start, nothing runs" "$(table)" "size 4 state 1,${rows}started 0,4" || explain
    ok "$title: then the job ends well" grep -q "exited normally" "$out" || explain
    same "$title: all have run" "$(ls "$tmp/marks" | tr '\n' ,)" "0,1,2,3," || explain
    debugger "$tmp/abort" --args "$WIREUP" "$@" -n 4 "$sh" -c 'kill -9 $$'
    ok "$title: why a job fails" grep -q "^state 2 because rank [0-3] on .* was killed by signal 9" "$out" || explain

    debugger "$tmp/spawns" --args "$WIREUP" "$@" -n 1 "$WU_BUILD/tests/e2e/e2e-dynamic" once 3
    same "$title: spawned jobs are appended" "$(grep -o '^size.*' "$out" | tr '\n' ,) $(grep -c 'once 3 good' "$out")" \
        "size 1 state 1,size 4 state 1, 1" || explain

    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    "$WIREUP" "$@" -n 3 "$sh" -c 'echo up; read -r word; exit 0' : -n 1 "$tmp/other" -c 'echo up; read -r word; exit 0' \
        <"$tmp/hold" >"$tmp/up" 2>"$tmp/up.err" &
    launcher=$!
    all_up() { [ "$(grep -c up "$tmp/up")" = 4 ]; }
    wait_until "$patience" all_up
    debugger "$tmp/attach" -p "$launcher"
    same "$title: attached to a job of two programs" "$(table)" "size 4 state 1,${rows%"$sh",}$tmp/other,4" || explain
    same "$title: what it is" "$(grep -c "MPIR_i_am_starter\|MPIR_partial_attach_ok" "$out")" 2 || explain
    echo go >&9
    exec 9>&-
    wait $launcher
    same "$title: and it goes on" $? 0
    rm "$tmp/hold"
}

here=$(hostname)
sh=$(command -v sh)
cp "$sh" "$tmp/other"
everything "one node" "$here $here $here $here"
needs_host_names
named_agent
everything "two nodes" "n1 n1 n2 n2" -launch-agent "$tmp/agent" -hosts n1:2,n2:2
finish
