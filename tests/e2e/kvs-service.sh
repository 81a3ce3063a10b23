#!/bin/sh
# libpmi on a key-value service of somebody else (wireup_kvs.h; dirkvs.c keeps its values in files): no
# process manager runs.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
lib=$WU_BUILD/tests/e2e/e2e-libpmi
service=$bin/dirkvs.so
c_program dirkvs -I"$WU_SRC/include" -shared -fPIC
mv "$bin/dirkvs" "$service"
export WIREUP_PMI_KVS="$service" DIRKVS="$tmp/kvs" PMI_JOBID=here

together() # N COMMAND...
{
    rm -rf "$DIRKVS"
    mkdir "$DIRKVS"
    fresh
    rc=0
    members=
    together_size=$1
    together_rank=0
    shift
    while [ "$together_rank" -lt "$together_size" ]; do
        PMI_RANK=$together_rank PMI_SIZE=$together_size timeout 300 "$@" >>"$out" 2>>"$err" &
        members="$members $!"
        together_rank=$((together_rank + 1))
    done
    for member in $members; do
        wait "$member" || rc=$?
    done
}

together 4 "$lib" exchange
same "four processes exchange through it" "$rc $(head -n 1 "$out") $(cat "$err")" "0 lib 4 good " || explain
ok "which has their values" [ "$(wc -c <"$DIRKVS/card-3")" = 128 ] || explain
together 4 "$lib" spoil
ok "the control: a wrong value is seen" grep -q "^lib 4 WRONG ranks=4" "$out" || explain
together 1 "$lib" abort 7 0 "the end"
same "an abort ends the process" "$rc" 7 || explain

export PMI_DEBUG=1
refused() # NAME SENTENCE COMMAND...: all that follows
{
    refused_name=$1
    refused_words=$2
    shift 2
    run 60 "$@"
    ok "$refused_name" grep -q "^libpmi: PMI_Init: .*$refused_words" "$err" || explain
}
refused "without a rank" "needs PMI_RANK and PMI_SIZE" env -u PMI_RANK PMI_SIZE=2 "$lib" exchange
refused "a rank that does not fit" "needs PMI_RANK and PMI_SIZE" env PMI_RANK=2 PMI_SIZE=2 "$lib" exchange
export PMI_RANK=0 PMI_SIZE=1
refused "a relative path" "is not an absolute path" env WIREUP_PMI_KVS=dirkvs.so "$lib" exchange
refused "what is not there" "cannot open shared object" env WIREUP_PMI_KVS=/nowhere.so "$lib" exchange
refused "an object without the functions" "has no function wireup_kvs_open" \
    env WIREUP_PMI_KVS="$WU_BUILD/src/lib/pmi2/libpmi2.so.0" "$lib" exchange
refused "a service that fails" "its start failed (5)" env -u DIRKVS "$lib" exchange
if setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    chmod 755 "$tmp" "$bin"
    cp "$WU_BUILD/src/lib/pmi/libpmi.so.0" "$bin/"
    c_program singleton -I"$WU_SRC/include" "$bin/libpmi.so.0" -Wl,-rpath,"$bin"
    run 60 "$bin/singleton" true
    ok "the control: this program takes the service" [ -n "$(ls "$DIRKVS")" ] || explain
    rm -f "$DIRKVS"/*
    chmod 777 "$DIRKVS"
    chmod 4755 "$bin/singleton"
    run 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/singleton" true
    same "a set-uid program does not" "$(ls "$DIRKVS")" "" || explain
else
    skip "a set-uid program" "only root can be another user"
fi
finish
