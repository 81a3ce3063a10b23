#!/bin/sh
# python3-pmix on our library: server, client and tool, and each across with OpenPMIx's library.
# (Its servers take no tools: the binding writes their name to nowhere.)
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
ours=$WU_BUILD/src/lib/pmix
python=/usr/bin/python3
# Debian 13 has the module in a folder where Python does not look.
PYTHONPATH=$(ls -d /usr/lib/python3/dist-packages/pypmix-*.egg 2>/dev/null | head -n 1)${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH

if ! $python -W ignore -c 'import pmix' >/dev/null 2>&1; then
    echo "1..0 # SKIP PMIx for Python (python3-pmix) is not installed"
    exit 0
fi

# SERVER'S and CLIENT'S library: ours, or the system's (empty)
across()
{
    run 400 env LD_LIBRARY_PATH="$1" $python "$e2e/pmixserver.py" "$2" $python "$e2e/pmixclient.py"
    grep -v -e THREAD -e "^nothing" "$out" | tr '\n' , >"$tmp/said"
}
want="init 0,register True,expect True,fork 0,client init 0 0,put 0,commit 0,fence 0,get 4711,size 1,\
upcall finalized testnspace 0,client finalize 0,process 0,finalize 0,"

sorted()
{
    tr ',' '\n' | sort | tr '\n' ,
}

for pair in "$ours $ours" "$ours -" "- $ours"; do
    server=${pair% *}
    client=${pair#* }
    name="server: $([ "$server" = - ] && echo theirs || echo ours), client: $([ "$client" = - ] && echo theirs || echo ours)"
    [ "$server" != - ] || server=
    [ "$client" != - ] || client=
    across "$server" "$client"
    same "$name" "$rc $(sorted <"$tmp/said")" "0 $(printf %s "$want" | sorted)" || explain
    ok "and what nobody has put is not there" grep -qx "nothing False" "$out" || explain
done
run 60 env LD_LIBRARY_PATH="$ours" $python "$e2e/pmixclient.py"
ok "a client without a server gets nothing" eval '! grep -q "get 4711" "$out" || grep -q "client init -" "$out"' || explain

# ---- a client and a tool with wireup
for lib in "$ours" ""; do
    run 60 "$WIREUP" -n 1 env LD_LIBRARY_PATH="$lib" $python "$e2e/pmixclient.py"
    ok "wireup's process (${lib:-theirs})" eval 'grep -qx "get 4711" "$out" && grep -qx "client finalize 0" "$out"' || explain
done
"$WIREUP" -tool-files on -n 1 sh -c 'echo ready; exec sleep 1000' >"$tmp/job" 2>"$tmp/told" </dev/null &
launcher=$!
wait_until 60 grep -q ready "$tmp/job"
libs="$ours -"
case $PYTHONPATH in
*pypmix-5*)
    libs=$ours
    note "with OpenPMIx 5.0's own library, python3-pmix waits for itself in a tool's query, and asks nobody"
    ;;
esac
for lib in $libs; do
    [ "$lib" != - ] || lib=
    run 60 env LD_LIBRARY_PATH="$lib" $python "$e2e/pmixtool.py" pid "$launcher"
    same "a tool (${lib:-theirs})" "$rc $(sed 's/kvs_.*/JOB/' "$out" | tr '\n' ,)" \
        "0 tool init 0,query 0 JOB,servers 0 1,tool finalize 0," || explain
    run 60 env LD_LIBRARY_PATH="$lib" $python "$e2e/pmixtool.py" pid "$launcher" no.such.key
    ok "what is not known is not told (${lib:-theirs})" grep -q "^query -" "$out" || explain
done
kill "$launcher"
wait "$launcher"
finish
