#!/bin/sh
# Other people's hosts on our server API: a small resource manager (pmixhost.c) with one server for
# each of its nodes, and OpenPMIx's clients as well as ours.
#
#   pmixserver.sh RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
ours=$WU_BUILD/src/lib/pmix
patience=60

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

# host OPTIONS... NODES RANKS COMMAND: the host has our library, and so have its processes, unless
# they are told otherwise by `theirs`.
host()
{
    run "$patience" env LD_LIBRARY_PATH="$ours" "$bin/pmixhost" "$@"
}
theirs="env -u LD_LIBRARY_PATH"

# ---- the judges
host 2 4 "$bin/pmixcalls" spoil
ok "a wrong value is seen to be wrong" grep -q "^pmixcalls 4 WRONG" "$out" || explain
ok "and rank 0 says nothing good" eval '! grep -q good "$out"' || explain
host -d 2 4 "$bin/pmixcalls"
ok "a blob that was damaged on its way between nodes is seen to be wrong" grep -q "^pmixcalls 4 WRONG" "$out" || explain
host 2 4 env LD_PRELOAD="$bin/nopmixget" LD_LIBRARY_PATH= "$bin/pmixcalls"
ok "where every Get fails, nothing is good" eval '! grep -q good "$out"' || explain
host 1 2 env -u PMIX_NAMESPACE "$bin/pmixcalls"
ok "nor without a name" eval '! grep -q "pmixcalls 2 good" "$out"' || explain

# ---- fences and cards, within nodes and between them
for n in "$@"; do
    for nodes in 1 2 4; do
        [ "$n" -ge "$nodes" ] || continue
        host "$nodes" "$n" "$bin/pmixcalls"
        same "$n ranks on $nodes servers, our clients" "$rc $(cat "$out" "$err")" "0 pmixcalls $n good" || explain
        # shellcheck disable=SC2086
        host "$nodes" "$n" $theirs "$bin/pmixcalls"
        same "$n ranks on $nodes servers, OpenPMIx's clients" "$rc $(cat "$out" "$err")" "0 pmixcalls $n good" || explain
    done
    # shellcheck disable=SC2086
    host 1 "$n" $theirs "$bin/rawpmix" foreign
    same "$n ranks: everything else, OpenPMIx's clients" "$rc $(cat "$out")" "0 rawpmix $n good" || explain
done

# ---- what only a host can do
for who in "env" "$theirs"; do
    # shellcheck disable=SC2086
    host -v 1 2 $who "$bin/pmixcalls" calls
    same "a host is asked for everything ($who)" "$rc $(cat "$out")" "0 pmixcalls 2 good" || explain
    for call in client_connected2 client_finalized publish lookup unpublish spawn register_events \
        notify_event query log allocate job_control monitor get_credential validate_credential \
        iof_pull push_stdin group; do
        ok "  $call" grep -qx "upcall $call" "$err" || explain
    done
done
host -v 2 4 "$bin/pmixcalls"
for call in fence_nb direct_modex connects disconnects; do
    ok "  $call" grep -qx "upcall $call" "$err" || explain
done
host -b 1 2 "$bin/pmixcalls" bare
same "a host with next to no functions refuses" "$rc $(cat "$out" "$err")" "0 pmixcalls 2 good" || explain
host 1 3 "$bin/pmixcalls" abort
ok "an abort reaches the host" grep -q "aborted: on purpose" "$err" || explain
ok "and ends the job" [ "$rc" != 0 ] && ok "at once" [ "$rc" != 124 ] || explain
run "$patience" env LD_LIBRARY_PATH="$ours" "$bin/oldhost" "$bin/pmixcalls"
same "a module of 3.x is read no further than it goes" "$rc $(grep -c WRONG "$out") $(cat "$err")" \
    "1 1 upcall client_finalized" || explain # nobody has told it what pmixcalls wants to know

# ---- tools, which know an address or a pid
for who in "env" "$theirs"; do
    for way in 'uri "$PMIX_SERVER_URI41"' 'pid "$PPID"' 'pid 999999'; do
        # shellcheck disable=SC2086
        host 1 1 $who sh -c "unset PMIX_NAMESPACE PMIX_RANK; exec \"\$1\" $way" sh "$bin/pmixtool"
        said=$(grep -c "pmixtool good" "$out")
        same "a tool looks for its server by $way ($who)" "$said" \
            "$([ "$way" = 'pid 999999' ] && echo 0 || echo 1)" || explain
    done
done

# ---- processes that speak PMI
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -I"$WU_SRC/include" -o "$bin/libpmi" "$e2e/libpmi.c" \
    "$WU_BUILD/src/lib/pmi/libpmi.so.0" -Wl,-rpath,"$WU_BUILD/src/lib/pmi" -lpthread || exit 1
for version in 1 2; do
    lib=pmi
    [ $version = 1 ] || lib=pmi2
    ${CC:-cc} -std=gnu11 -O1 -DMIXED=$version -I"$WU_SRC/include" -o "$bin/mixed$version" "$e2e/mixed.c" \
        "$WU_BUILD/src/lib/$lib/lib$lib.so.0" -Wl,-rpath,"$WU_BUILD/src/lib/$lib" || exit 1
done
for version in 1 2; do
    host -p 1 3 "$bin/mixed$version" "PMI-$version" "PMI-$version" "PMI-$version"
    same "PMI-$version processes of a host" "$rc $(sort "$out" | tr '\n' ,)" \
        "0 mixed PMI-$version 0 good,mixed PMI-$version 1 good,mixed PMI-$version 2 good," || explain
done
finish
