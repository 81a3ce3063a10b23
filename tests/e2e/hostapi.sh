#!/bin/sh
# What the server library does for a host, and with which infos it calls the host's functions (hostapi.c): with our
# client and OpenPMIx's.  On one node only: the library of a host serves the processes of its own node, and what passes
# between nodes is the host's; the nodes of `wireup` are in the tests of each call.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
host=$WU_BUILD/tests/e2e/e2e-hostapi
flags=$(openpmix)
theirs=
if [ -n "$flags" ] && [ "${1-}" != ours ]; then
    # shellcheck disable=SC2086
    c_program hostapi $flags
    theirs=$bin/hostapi
fi
case "$theirs/$flags" in
/*/*-DOPENPMIX=4*)
    run 120 "$theirs" upcalls "$theirs"
    same "the control: OpenPMIx's server gives collectives the same infos" "$rc $(cat "$out")" "0 good" || explain
    ;;
esac
for client in "$host" $theirs; do
    for what in setup progress upcalls bare gateway listener longer roles singleton; do
        run 120 "$host" $what "$client"
        same "$what ($([ "$client" = "$host" ] && echo ours || echo OpenPMIx))" "$rc $(cat "$out")" "0 good" || explain
    done
done
finish
