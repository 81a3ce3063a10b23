#!/bin/sh
# Other people's hosts on our server API: a small resource manager (pmixhost.c) with one server for
# each of its nodes, and OpenPMIx's clients as well as ours.
#
#   pmixserver.sh [ours] RANKS...
#
# ours: only what is built here, for sanitized builds (others' programs cannot take our sanitized library
# in).
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
ours=$WU_BUILD/src/lib/pmix
here=$WU_BUILD/tests/e2e/e2e
patience=300
strangers=yes
if [ "${1-}" = ours ]; then
    strangers=
    shift
    # A child of a process with threads begins none here; and those that a test kills leave memory.
    export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS-}"
fi

host=$here-pmixhost
oldhost=$here-oldhost
if [ -n "$strangers" ]; then
    pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
    if [ -z "$pmix_flags" ]; then
        echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
        exit 0
    fi
    # shellcheck disable=SC2086
    {
        c_program pmixhost $pmix_flags -ldl -lpthread
        c_program pmixcalls $pmix_flags
        c_program rawpmix $pmix_flags
        c_program pmixtool $pmix_flags
        c_program nopmixget -shared -fPIC $pmix_flags
    }
    c_program oldhost -L"$ours" -l:libpmix.so.2
    host=$bin/pmixhost
    oldhost=$bin/oldhost
fi

# host OPTIONS... NODES RANKS COMMAND: the host has our library, and so have its processes, unless
# they are told otherwise by `theirs`.
host()
{
    run "$patience" env LD_LIBRARY_PATH="$ours" "$host" "$@"
}
theirs="env -u LD_LIBRARY_PATH"
calls=$bin/pmixcalls
[ -n "$strangers" ] || calls=$here-pmixcalls

# ---- controls
host 2 4 "$calls" spoil
ok "a wrong value is seen to be wrong" grep -q "^pmixcalls 4 WRONG" "$out" || explain
ok "and rank 0 does not report success" eval '! grep -q good "$out"' || explain
host -d 2 4 "$calls"
ok "a blob that was damaged on its way between nodes is seen to be wrong" grep -q "^pmixcalls 4 WRONG" "$out" || explain
if [ -n "$strangers" ]; then
    host 2 4 env LD_PRELOAD="$bin/nopmixget" LD_LIBRARY_PATH= "$calls"
    ok "where every Get fails, nothing is good" eval '! grep -q good "$out"' || explain
fi
host 1 2 env -u PMIX_NAMESPACE "$calls"
ok "nor without a name" eval '! grep -q "pmixcalls 2 good" "$out"' || explain

# ---- fences and cards, within nodes and between them
for n in $(rank_counts "$@"); do
    for nodes in 1 2 4; do
        [ "$n" -ge "$nodes" ] || continue
        host "$nodes" "$n" "$calls"
        same "$n ranks on $nodes servers, our clients" "$rc $(cat "$out" "$err")" "0 pmixcalls $n good" || explain
        [ -n "$strangers" ] || continue
        # shellcheck disable=SC2086
        host "$nodes" "$n" $theirs "$calls"
        same "$n ranks on $nodes servers, OpenPMIx's clients" "$rc $(cat "$out" "$err")" "0 pmixcalls $n good" || explain
    done
    [ -n "$strangers" ] || continue
    # shellcheck disable=SC2086
    host 1 "$n" $theirs "$bin/rawpmix" foreign
    same "$n ranks: everything else, OpenPMIx's clients" "$rc $(cat "$out")" "0 rawpmix $n good" || explain
done

# ---- a namespace within another one's name
for nodes in 1 2; do
    host -n $nodes 4 "$calls"
    same "a job whose name begins with another's, $nodes servers" "$rc $(cat "$out" "$err")" "0 pmixcalls 4 good" ||
        explain
done

# ---- what only a host can do
for who in "env" ${strangers:+"$theirs"}; do
    # shellcheck disable=SC2086
    host -v 1 2 $who "$calls" calls
    same "a host is asked for everything ($who)" "$rc $(cat "$out")" "0 pmixcalls 2 good" || explain
    for call in client_connected2 client_finalized publish lookup unpublish spawn register_events \
        notify_event query log allocate job_control monitor get_credential validate_credential \
        iof_pull push_stdin group recoverable stdin stdout stderr; do
        ok "  $call" grep -qx "upcall $call" "$err" || explain
    done
done
host -v 2 4 "$calls"
for call in fence_nb direct_modex connects disconnects; do
    ok "  $call" grep -qx "upcall $call" "$err" || explain
done
host 1 2 "$calls" some
same "one of two names: its value" "$rc $(cat "$out")" "0 pmixcalls 2 good" || explain
if [ -n "$strangers" ]; then
    # Its servers send no values with a partial success.
    run "$patience" env -u LD_LIBRARY_PATH "$host" 1 1 env LD_LIBRARY_PATH="$ours" "$calls" some
    same "one of two names, from OpenPMIx's server: its value" "$rc $(cat "$out")" "0 pmixcalls 1 good" || explain
    run "$patience" env -u LD_LIBRARY_PATH "$host" 1 1 "$calls" some
    ok "OpenPMIx's client does not get it" grep -q WRONG "$out" || explain
fi
host -b 1 2 "$WU_BUILD/tests/e2e/e2e-pmixctl" help
ok "where the host logs nothing, help messages are on its own stream" \
    [ "$(grep -c '^page of five$' "$err") $(grep -c '^page of four$' "$err")" = "4 2" ] || explain
host -b 1 2 "$calls" bare
same "a host with next to no functions refuses" "$rc $(cat "$out" "$err")" "0 pmixcalls 2 good" || explain
host 1 3 "$calls" abort
ok "an abort reaches the host" grep -q "aborted: on purpose" "$err" || explain
ok "and ends the job" [ "$rc" != 0 ] && ok "at once" [ "$rc" != 124 ] || explain
for way in "" -m; do
    # shellcheck disable=SC2086
    run "$patience" env LD_LIBRARY_PATH="$ours" "$oldhost" $way "$calls"
    same "a module of 3.x is read no further than it goes${way:+ ($way)}" \
        "$rc $(grep -c WRONG "$out") $(cat "$err")" \
        "1 1 upcall client_finalized" || explain # nobody has told it what pmixcalls wants to know
done

# ---- everything at once, whoever turns the server's loop
for mode in thread external base; do
    run "$patience" "$here-pmixstorm" $mode 64 4
    same "64 threads of a host and their clients (progress: $mode)" "$rc $(cat "$out")" \
        "0 pmixstorm good" || explain
done

# ---- tools, which know an address or a pid
tool=$bin/pmixtool
[ -n "$strangers" ] || tool=$here-pmixtool
for who in "env" ${strangers:+"$theirs"}; do
    for way in 'uri "$PMIX_SERVER_URI41"' 'pid "$PPID"' 'pid 999999'; do
        # shellcheck disable=SC2086
        host 1 1 $who sh -c "unset PMIX_NAMESPACE PMIX_RANK; exec \"\$1\" $way" sh "$tool"
        said=$(grep -c "pmixtool good" "$out")
        same "a tool looks for its server by $way ($who)" "$said" \
            "$([ "$way" = 'pid 999999' ] && echo 0 || echo 1)" || explain
    done
done
for role in scheduler controller; do
    for has in -r ""; do
        # shellcheck disable=SC2016,SC2086
        host $has 1 1 sh -c 'unset PMIX_NAMESPACE PMIX_RANK; exec "$1" "$2" 0' sh "$here-pmixtool" $role
        same "a tool looks for the $role${has:-, and there is none}" "$(grep -c "pmixtool good" "$out")" \
            "$([ -n "$has" ] && echo 1 || echo 0)" || explain
    done
done
for who in "env" ${strangers:+"$theirs"}; do
    # shellcheck disable=SC2016,SC2086
    host 1 1 $who sh -c 'unset PMIX_NAMESPACE PMIX_RANK; exec "$1" uri "$PMIX_SERVER_URI41" spawn' sh "$tool"
    same "a tool gets what its children write ($who)" "$(sort "$out" | tr '\n' ,)" \
        "pmixtool good,pmixtool hears," || explain
done
# shellcheck disable=SC2016
host 1 1 sh -c 'unset PMIX_NAMESPACE PMIX_RANK
    for i in 1 2 3; do "$1" uri "$PMIX_SERVER_URI41" & done
    "$1" uri "$PMIX_SERVER_URI41"; wait' sh "$tool"
same "four tools at once" "$(grep -c "pmixtool good" "$out")" 4 || explain

# ---- who has no manners: the others go on
raw=$bin/rawpmix
[ -n "$strangers" ] || raw=$here-rawpmix
for what in "long closed" "count closed" "text closed" "garbage closed" "half open" "halfhead open" \
    "nothing open" "flood open"; do
    rm -f go bad
    # shellcheck disable=SC2016
    host 1 4 sh -c '[ "$PMIX_RANK" != 3 ] || exec python3 "$1" "$2" bad go
        until [ -e bad ]; do sleep 0.02; done
        "$0" team 3; echo >go' "$raw" "$e2e/misbehaving.py" "${what% *}"
    same "a rank that is rude ($what)" "$(sort "$out" | tr '\n' ,)" \
        "$(printf '%s\nrawpmix 3 good\n' "$what" | sort | tr '\n' ,)" || explain
done
# shellcheck disable=SC2016
LD_LIBRARY_PATH=$ours "$host" 1 4 sh -c '
    [ "$PMIX_RANK" != 0 ] || { echo "$PMIX_SERVER_URI41" >uri.new; mv uri.new uri; }
    exec "$0" hold held gone' "$calls" >"$out" 2>"$err" </dev/null &
job=$!
wait_until 120 [ -e held ]
knock 300 "$(sed 's/.*://' uri)" testjob
touch gone
wait $job
rc=$?
same "a host's job is not disturbed by strangers at its port" "$rc $(cat "$out")" "0 pmixcalls 4 good" || explain
knocked_in_vain
if [ $uid = 0 ]; then
    skip "another user is refused" "we cannot become another user here"
else
    ok "another user is refused, without a word" grep -q '^stranger closed 0' "$tmp/knocks" ||
        note "$(cat "$tmp/knocks")"
fi

# ---- files of servers that are no more
where=$TMPDIR/wireup-pmix-$(id -u)
files()
{
    find "$where" -mindepth 1 2>/dev/null | wc -l
}
LD_LIBRARY_PATH=$ours "$host" -s 1 1 sh -c 'touch begun; until [ -e end ]; do sleep 0.02; done' </dev/null \
    >/dev/null 2>"$err" &
first=$!
ok "a server of the session has its files" wait_until 120 [ -e begun ]
same "three of them" "$(files)" 3
LD_LIBRARY_PATH=$ours "$host" 1 1 true >/dev/null 2>"$err"
same "another server takes none of them away" "$(files) $(cat "$err")" "3 "
kill -9 $first
wait $first 2>/dev/null
touch end
same "a host that is killed leaves them" "$(files)" 3
LD_LIBRARY_PATH=$ours "$host" -s 1 1 sh -c 'find "$1" -mindepth 1 | wc -l; grep -c tcp4 "$1"/pmix.*.tool' \
    sh "$where" >"$out" 2>"$err"
same "the next one removes them, and has the session's name" "$(tr -d ' ' <"$out" | tr '\n' ,) $(cat "$err")" "3,1, " ||
    note "$(cat "$out" "$err")"
same "and leaves nothing" "$(files)" 0

# ---- processes that speak PMI
for version in 1 2; do
    host -p 1 3 "$here-mixed$version" "PMI-$version" "PMI-$version" "PMI-$version"
    same "PMI-$version processes of a host" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 mixed PMI-$version 0 good,mixed PMI-$version 1 good,mixed PMI-$version 2 good," || explain
done
for nodes in 1 2 4; do
    host -p $nodes 8 "$here-libpmi2" ring
    same "rings of PMI-2 on $nodes servers" "$rc $(cat "$out")" "0 ring 8 good" || explain
done
finish
