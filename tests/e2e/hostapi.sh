#!/bin/sh
# What the server library does for a host besides serving its processes (hostapi.c), with our client
# and OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
host=$WU_BUILD/tests/e2e/e2e-hostapi
flags=$(openpmix_42)
theirs=
if [ -n "$flags" ] && [ "${1-}" != ours ]; then
    # shellcheck disable=SC2086
    c_program hostapi $flags
    theirs=$bin/hostapi
fi
for client in "$host" $theirs; do
    for what in setup progress; do
        run 120 "$host" $what "$client"
        same "$what ($([ "$client" = "$host" ] && echo ours || echo OpenPMIx))" "$rc $(cat "$out")" "0 good" || explain
    done
done
finish
