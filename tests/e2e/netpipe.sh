#!/bin/sh
# NetPIPE, as Debian builds it with MPICH: a program that we did not compile.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
if ! command -v NPmpich2 >/dev/null 2>&1; then
    echo "1..0 # SKIP NetPIPE (netpipe-mpich2) is not installed"
    exit 0
fi
for who in wireup hydra; do
    use_launcher $who
    launch 2 NPmpich2 -i -n 10 -u 65536 -o "$tmp/np.$who"
    same "NetPIPE under $who checks what it sends" "$rc $(cat "$out" "$err" | grep -c 'Integrity check passed')" \
        "0 28" || explain
    launch 2 NPmpich2 -u 4096 -n 100 -o "$tmp/np.$who"
    same "and measures 58 sizes" "$rc $(grep -c . "$tmp/np.$who")" "0 58" || explain
done
finish
