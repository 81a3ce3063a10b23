#!/bin/sh
# The PMIx tools (src/tools/pmix) against servers: what they print is compared with tests/golden/tools.
#
#   pmixtools.sh wireup            `wireup`, its DVM, several servers, another user
#   pmixtools.sh chroot            PRRTE and Open MPI 5 of the next Debian release (chroot.sh)
#   pmixtools.sh kills SEED COUNT  tools that are killed while a job runs
#
# WU_RENEW=yes writes the golden files instead.
. "$(dirname "$0")/lib.sh"
[ "${1-}" != chroot ] || outside=yes # packages may have to be fetched
private_world "$@"
begin
use_launcher wireup
part=$1
shift
patience=120
ours=$WU_BUILD/src/lib/pmix
tools=$WU_BUILD/src/tools/pmix
golden=$WU_SRC/tests/golden/tools
host=$(hostname)

# ---- a job of pmixtools

started()
{
    [ -e "$tmp/stop.1" ]
}

# COMMAND...: runs it in the background; $job is its pid
job_begin()
{
    rm -f "$tmp"/stop*
    fresh
    "$@" >"$out.job" 2>"$err.job" </dev/null &
    job=$!
    wait_until "$patience" started || note "the job does not run: $(cat "$out.job" "$err.job")"
}

job_end() # NAME
{
    touch "$tmp/stop"
    wait $job
    same "$1: the job has not noticed" "$? $(grep -v '^\[' "$out.job") $(grep -v "^Query for unrecognized" "$err.job")" "0 pmixtools good " ||
        note "$(cat "$out.job" "$err.job")"
}

# ---- transcripts

# What differs from run to run has a name instead; columns are one blank apart.
plain()
{
    sed -e "s|$program|PROGRAM|g" -e "s|$ns|JOB|g" -e "s|$server|SERVER|g" -e "s|$tmp|TMP|g" -e "s|\b$host\b|HOST|g" \
        -e 's|pid [0-9][0-9]*|pid PID|g' -e 's|tcp4://[0-9.:]*|ADDRESS|g' -e 's|PMIx [0-9][0-9.a-z]*|PMIx VERSION|' \
        -e 's|^\( *[0-9][0-9]*  *[Hn][O12][ST]* *\)[0-9][0-9]* |\1PID |' -e 's|"version": "[^"]*"|"version": VERSION|' -e 's|"pid": [0-9]*|"pid": PID|g' \
        -e 's|   *| |g' -e 's|SERVER-alloc-[0-9]*|ALLOCATION|' | grep -v 'PMIX ERROR'
}

tool() # NAME WORDS...
{
    tool_name=$1
    shift
    # shellcheck disable=SC2086 # words
    run "$patience" "$tools/$tool_name" $way "$@"
    {
        echo "\$ $tool_name${way:+ $way} $*"
        cat "$out" "$err"
        echo "[$rc]"
    } | plain >>"$tmp/said"
}

way= # which server the tools name
all_tools()
{
    : >"$tmp/said"
    tool pps --nodes
    tool pps --json
    tool pquery PMIX_QUERY_NAMESPACES "PMIX_JOB_SIZE[PMIX_NSPACE=$ns]"
    tool pquery "PMIX_QUERY_PROC_TABLE[pmix.nspace=$ns]"
    tool pquery --json "PMIX_QUERY_PROC_TABLE[PMIX_NSPACE=$ns]"
    tool pquery no.such.key
    tool pattrs --client PMIx_Fence
    tool plookup tools.key
    tool plookup --json tools.key,none
    tool pctrl --signal CONT --targets "$ns:0"
    tool pctrl --pause --targets "$ns"
    tool pctrl --resume --targets "$ns:*" --request-id mine
    tool pctrl --checkpoint here --targets "$ns"
    tool pevent PMIX_EVENT_NODE_DOWN
    tool pevent --event -12345 --range global --json
    tool palloc --nodes 1 --request-id some
    tool palloc --shrink --id "$server-alloc-1"
    tool palloc --queue big -N 1
}

transcript() # NAME
{
    if [ "${WU_RENEW-}" = yes ]; then
        cp "$tmp/said" "$golden/$1"
    fi
    diff -u "$golden/$1" "$tmp/said" >"$tmp/diff"
    same "the tools with $1" "$(cat "$tmp/diff")" "" || note "$(cat "$tmp/diff")"
}

schema() # TOOL WORDS...
{
    schema_tool=$1
    shift
    run "$patience" "$tools/$schema_tool" "$@"
    same "$schema_tool prints the JSON of docs/json.md" \
        "$(python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" "wireup-$schema_tool-1" "$out")" good || explain
}

schemas()
{
    schema pps --json --nodes
    schema pquery --json PMIX_QUERY_PROC_TABLE "PMIX_QUERY_NAMESPACE_INFO[PMIX_NSPACE=$ns]" PMIX_QUERY_AVAIL_SERVERS
    schema palloc --json --nodes 1
    run "$patience" "$tools/palloc" --shrink --id "$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' "$out")"
    same "what palloc has got it gives back" "$rc $(grep -c 'given back$' "$out")" "0 1" || explain
    schema pattrs --json --host-fns --client all --host PMIx_Spawn
    schema pctrl --json --targets "$ns:0" --pset odd
    schema pevent --json PMIX_EVENT_NODE_DOWN
    schema plookup --json tools.key,none
    schema pmix_info --json --all
    schema pmixcc -showme:json
    printf '{"schema": "wireup-pevent-1", "code": "x", "event": null, "range": ""}' >"$tmp/wrong"
    same "the check sees a wrong member" \
        "$(python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-pevent-1 "$tmp/wrong")" "[0].code is not integer: 'x'"
}

# The name of the only server, and of its only job.
look()
{
    run "$patience" "$tools/pquery" --json PMIX_QUERY_AVAIL_SERVERS
    server=$(sed -n 's/.*"name": "PMIX_SERVER_NSPACE", "type": "PMIX_STRING", "value": "\([^"]*\)".*/\1/p' "$out")
    run "$patience" "$tools/pquery" PMIX_QUERY_NAMESPACES
    ns=$(sed -n '2s/^ *//p' "$out")
    ok "there is one server with one job" [ -n "$server" ] || explain
    : "${server:=none}" "${ns:=none}"
}

# ---- command lines

says() # NAME STATUS PATTERN TOOL WORDS...
{
    says_name=$1
    says_rc=$2
    says_pattern=$3
    shift 3
    says_tool=$1
    shift
    run "$patience" "$tools/$says_tool" "$@"
    ok "$says_name" eval '[ "$rc" = "$says_rc" ] && cat "$out" "$err" | grep -q -- "$says_pattern"' || explain
}

command_lines()
{
    for name in pps pquery palloc pattrs pctrl pevent plookup pmix_info; do
        says "$name --help" 0 "^Usage: $name " $name --help
        says "$name -V" 0 "^$name (Wireup) [0-9]" $name -V
        says "$name: an option that it does not have" 2 "'--nosuchthing' is no option of $name" $name --nosuchthing
    done
    says "help of one option" 0 "Address of the server" pps --help uri
    says "the nearest option is named" 2 "did you mean --nodes" pps --nodse
    says "a value that is missing" 2 "its value is missing" pps --uri
    says "a flag with a value" 2 "has no value" pps --nodes=3
    says "a word too many" 2 "one word too many" pps more
    says "a pid that is none" 2 "is no pid" pps --pid x
    says "a file of a pid that is not there" 2 "cannot be read" pps --pid file:/nosuch
    says "no key" 2 "is missing" pquery
    says "an open bracket" 2 "']' is missing" pquery "KEY[a=b"
    says "a qualifier of another type" 2 "is no value for" pquery "KEY[PMIX_RANK=many]"
    says "no server" 1 "no PMIx server of yours" pquery KEY
    says "no server for pps" 0 "no PMIx server of yours" pps
    says "an address where nobody is" 1 "cannot be reached" pquery --uri "none.0;tcp4://127.0.0.1:1" KEY
    says "a directive that is missing" 2 "name what is to be done" pctrl --targets a:0
    says "targets that are missing" 2 "name the processes" pctrl --kill
    says "targets that are none" 2 "is not NAMESPACE:RANK" pctrl --kill --targets a:b
    says "a signal that is none" 2 "there is no signal" pctrl --signal NOPE --targets a:0
    says "an event that is none" 2 "there is no event" pevent PMIX_NO_SUCH_EVENT
    says "a range that is none" 2 "none of namespace" pevent --range far PMIX_EVENT_NODE_DOWN
    says "an order that is none" 2 "none of scheduler" pps --connect-order nobody
    says "nothing to list" 2 "nothing is asked for" pattrs
    says "functions of clients without a server" 0 "^    PMIx_Fence$" pattrs --do-not-connect --client-fns
    says "but not those of servers" 2 "need a server" pattrs --do-not-connect --server-fns
    says "what cannot be asked for is refused" 2 "no PMIx attribute" palloc -N 1 --signal TERM@60
    says "an allocation without nodes" 2 "name the nodes" palloc
    says "the version of the library" 0 "^pmix:version:major:[0-9]" pmix_info --parsable --show-version all:major
    says "a path" 0 "^path:incdir:/.*include$" pmix_info --parsable --path incdir
    says "a path that is none" 2 "none of prefix" pmix_info --path nowhere
    says "the compiler's command" 0 "^cc -c x.c -I[^ ]*include$" pmixcc -c x.c -showme
    says "with the linker's flags" 0 " -lpmix$" pmixcc --showme x.c
    run "$patience" env PMIXCC_CC="$tmp/cc7" "$tools/pmixcc" x.c
    same "the compiler's exit status" "$rc" 7 || explain
}

# ---- servers

several_servers()
{
    job_begin "$WIREUP" -n 2 "$program" "$tmp/stop"
    first=$job
    "$WIREUP" -n 1 sleep 1000 &
    second=$!
    wait_until "$patience" eval '[ "$("$tools/pps" | grep -c "1 process on")" = 1 ]'
    run "$patience" "$tools/pps"
    same "two servers are listed" "$rc $(grep -c '^server' "$out") $(grep -c "pid $first: 1 job" "$out") $(grep -c "pid $second: 1 job" "$out")" \
        "0 2 1 1" || explain
    run "$patience" "$tools/plookup" tools.key
    same "which is meant must be said" "$rc $(head -n 1 "$err") $(grep -c "^ *$first \|^ *$second " "$err")" \
        "1 plookup: 2 servers run here; name one with --pid, --namespace or --uri: 2" || explain
    for pid in $first $second; do
        uri=$("$WIREUP" tools | sed -n "s/^$pid	//p")
        echo "$pid" >"$tmp/pid"
        for by in "--pid $pid" "--pid file:$tmp/pid" "--uri $uri" "--namespace ${uri%%.*}"; do
            # shellcheck disable=SC2086
            run "$patience" "$tools/pps" $by
            want=$([ "$pid" = "$first" ] && echo 2 processes || echo 1 process)
            ok "the server is found by ${by%% *}: $want" grep -q "$want on 1 node" "$out" || explain
        done
    done
    kill $second
    wait $second
    job_end "several servers"
}

another_user()
{
    if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
        skip "another user" "this test is not run by the superuser"
        return
    fi
    printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups env %s "$@"\n' \
        "LD_LIBRARY_PATH='$tmp/others' XDG_RUNTIME_DIR='$tmp/theirs'" >"$bin/stranger"
    chmod +x "$bin/stranger"
    mkdir "$tmp/theirs"
    chown 65534 "$tmp/theirs"
    for_others "$ours/libpmix.so.2" "$tools/pps" "$tools/pquery" "$WIREUP"
    chmod 1777 "$tmp/tmp"
    job_begin "$WIREUP" -tool-files system -n 2 "$program" "$tmp/stop"
    uri=$("$WIREUP" tools | sed -n "s/^$job	//p")
    run "$patience" "$bin/stranger" "$others/pps"
    same "another user sees no server" "$rc $(cat "$out" "$err")" "0 no PMIx server of yours is found on this machine" || explain
    run "$patience" "$bin/stranger" "$others/pquery" --json PMIX_QUERY_AVAIL_SERVERS
    same "nor its address" "$(grep -c tcp4 "$out")" 0 || explain
    for by in "--uri $uri" "--pid $job" "--system-server"; do
        # shellcheck disable=SC2086
        run "$patience" "$bin/stranger" "$others/pps" $by
        same "nor gets in (${by%% *})" "$rc $(grep -c process "$out")" "1 0" || explain
    done
    "$bin/stranger" "$others/wireup" -tool-files on -n 1 sleep 1000 &
    theirs=$!
    wait_until "$patience" eval '"$bin/stranger" "$others/pps" | grep -q "1 process on"'
    run "$patience" "$bin/stranger" "$others/pps"
    same "they see their own" "$rc $(grep -c "^server" "$out") $(grep -c sleep "$out")" "0 1 1" || explain
    run "$patience" "$tools/pps"
    same "which we do not" "$rc $(grep -c "^server" "$out") $(grep -c sleep "$out")" "0 1 0" || explain
    kill $theirs
    wait $theirs
    grep -v "refused a connection of another user" "$err.job" >"$tmp/rest"
    cp "$tmp/rest" "$err.job"
    job_end "another user"
}

dvm()
{
    if ! unshare -u true 2>/dev/null; then
        skip "a DVM" "this user may not give a process another host name"
        return
    fi
    named_agent
    run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
    same "a DVM is up" "$rc" 0 || explain
    run "$patience" "$tools/pps"
    same "a DVM without jobs" "$rc $(sed 's/^server wireup-[0-9]*, pid [0-9]*/SERVER/' "$out")" "0 SERVER: 0 jobs" || explain
    dvm_pid=$(sed -n 's/^server .*, pid \([0-9]*\).*/\1/p' "$out")
    job_begin "$WIREUP" run -n 4 "$program" "$tmp/stop"
    way="--pid $job"
    run "$patience" "$tools/pps"
    same "its job is another server's" "$rc $(grep -c "^server" "$out") $(grep -c "4 processes on 2 nodes" "$out")" "0 2 1" || explain
    server=$(sed -n "s/^server \(.*\), pid $job: 1 job/\1/p" "$out")
    # shellcheck disable=SC2086
    run "$patience" "$tools/pquery" $way PMIX_QUERY_NAMESPACES
    ns=$(sed -n '2s/^ *//p' "$out")
    all_tools
    transcript dvm
    way=
    job_end dvm
    run "$patience" "$WIREUP" down
    same "the DVM is down" "$rc" 0 || explain
}

wireup()
{
    program=$WU_BUILD/tests/e2e/e2e-pmixtools
    printf '#!/bin/sh\nexit 7\n' >"$tmp/cc7"
    chmod +x "$tmp/cc7"
    command_lines
    job_begin "$WIREUP" -n 2 "$program" "$tmp/stop"
    look
    all_tools
    transcript wireup
    schemas
    run "$patience" "$tools/pps" -v
    ok "-v says which server is asked" grep -q "^pps: asking $server at " "$err" || explain
    run "$patience" "$tools/plookup" --wait --give-up 1 "nobody's key"
    same "a server that does not answer is given up" "$rc $(cat "$out" "$err")" \
        "1 plookup: the server has not answered for 1 s" || explain
    run "$patience" "$tools/pps" --give-up soon
    same "--give-up takes a number" "$rc" 2 || explain
    job_end wireup

    dvm
    several_servers
    another_user
}

kills()
{
    program=$WU_BUILD/tests/e2e/e2e-pmixtools
    run 3000 python3 "$e2e/pmixtools_kills.py" "$WIREUP" "$tools" "$program" "$tmp" "$@"
    same "tools are killed, and no job notices" "$rc $(tail -n 1 "$out")" "0 $2 tools killed in $(($2 / 25 + ($2 % 25 > 0))) jobs: good" || explain
    note "$(cat "$out")"
    run 60 python3 "$e2e/pmixtools_kills.py" "$WIREUP" "$tools" "$program" "$tmp" 1 1 spoil
    ok "a job that ends early is seen" [ "$rc" != 0 ] || explain
}

in_chroot() # COMMAND...
{
    job_begin chroot "$root" env TMPDIR="$TMPDIR" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"
}

chroot_servers()
{
    chroot_make
    chroot_mount "$tmp"
    pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
    if [ -z "$pmix_flags" ]; then
        echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
        exit 0
    fi
    # shellcheck disable=SC2086
    c_program pmixtools $pmix_flags
    program=$bin/pmixtools
    for name in prrte openmpi; do
        starter=$([ $name = prrte ] && echo prterun || echo mpirun)
        in_chroot $starter --allow-run-as-root --map-by :oversubscribe -n 2 "$bin/pmixtools" "$tmp/stop"
        look
        all_tools
        transcript $name
        job_end $name
        theirs_stay 'prte*' 'ompi*'
    done
}

case $part in
wireup) wireup ;;
kills) kills "$@" ;;
chroot) chroot_servers ;;
esac
finish
