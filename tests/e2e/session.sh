#!/bin/sh
# Session directories: told to PMIx programs, private, used by Open MPI, gone with the job on every
# node, whoever is killed; and not where somebody else was there before.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=60
ours=$WU_BUILD/src/lib/pmix
needs_host_names
named_agent
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ]; then
    echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
    exit 0
fi
# shellcheck disable=SC2086
c_program place $pmix_flags
base=$TMPDIR/wireup-$(id -u)
nothing() { same "$1" "$(ls -A "$TMPDIR")" ""; }

# ---- what is told
for library in '' "$ours"; do
    run "$patience" env LD_LIBRARY_PATH="$library" "$WIREUP" -n 3 "$bin/place"
    same "directories are told${library:+ to our library}, and private" "$rc $(sort "$out" | cut -d' ' -f1,2 | tr '\n' ,)" \
        "0 place 0,place 1,place 2," || explain
    ok "of each process" [ "$(cut -d' ' -f5 "$out" | sort -u | wc -l) $(cut -d' ' -f3,4 "$out" | sort -u | wc -l)" = "3 1" ] ||
        explain
    ok "below TMPDIR" grep -q "^place 0 $base/[0-9a-f-]* $base/[0-9a-f-]*/0 $base/[0-9a-f-]*/0/0\$" "$out" || explain
    nothing "and gone with the job"
done
run "$patience" "$WIREUP" -n 2 ls -A "$TMPDIR"
same "programs that cannot ask have none" "$rc $(cat "$out")" "0 "
run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,localhost:1 -n 5 "$bin/place"
same "over nodes, each has its own" "$rc $(cut -d' ' -f3 "$out" | sort -u | wc -l) $(grep -c '^place' "$out")" "0 3 5" || explain
nothing "and all are gone"
run "$patience" env TMPDIR=/no/such "$WIREUP" -n 2 true
same "no TMPDIR is nobody's trouble" "$rc $(cat "$err")" "0 "

# ---- Open MPI
if command -v mpicc.openmpi >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_CC=${CC:-cc} mpicc.openmpi -o "$bin/shared" "$e2e/mpi/shared.c" || exit 99
    for library in '' "$ours"; do
        run "$patience" env LD_LIBRARY_PATH="$library" "$WIREUP" -n 2 "$bin/shared"
        same "Open MPI puts its directories there${library:+, with our library}" \
            "$rc $(grep -c "^shared .*good" "$out") $(grep -c "^$base/.*/0/[01]\$" "$out") $(grep -c ompi "$out")" "0 2 2 0" || explain
        nothing "and leaves none"
    done
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -n 4 "$bin/shared"
    same "nor over nodes" "$rc $(grep -c '^shared .*good' "$out")" "0 4" || explain
    nothing "anywhere"
    run "$patience" "$WIREUP" -n 2 "$bin/shared" die
    ok "a rank of it that is killed ends the job" [ "$rc" -ne 0 ]
    nothing "and leaves no directory"
    rm -f /dev/shm/vader_segment.*
else
    skip "Open MPI" "mpicc.openmpi is not installed"
fi

# ---- whoever is killed
run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,localhost:2 -n 4 "$bin/place" die
same "a rank" "$rc" 137 || explain
nothing "leaves nothing"
patient() # OPTIONS...: a job that stays; $launcher is its guard
{
    fresh
    "$WIREUP" "$@" "$bin/place" wait >"$out" 2>"$err" </dev/null &
    launcher=$!
    wait_until "$patience" eval '[ "$(grep -c ^place "$out")" = 4 ]' || explain
}
gone() { wait_until "$patience" eval '[ -z "$(ls -A "$TMPDIR")" ]'; nothing "$1"; }
patient -n 4
kill -9 "$(pgrep -P "$launcher")"
wait "$launcher" 2>/dev/null
nothing "the launcher's worker leaves nothing"
patient -n 4
kill -9 "$launcher"
wait "$launcher" 2>/dev/null
gone "nor does its guard"
patient -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -n 4
kill -9 "$(pgrep -o -x wireupd)" # a guard, or its worker
wait "$launcher" 2>/dev/null
gone "nor a daemon"
patient -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -n 4
kill -9 "$(pgrep -n -x wireupd)"
wait "$launcher" 2>/dev/null
gone "nor the other of its two"
patient -n 4
# shellcheck disable=SC2046
switch_off $(processes | while read -r pid _; do echo "$pid"; done)
wait "$launcher" 2>/dev/null
wait_until "$patience" nobody_left
ok "where all are killed at once, it stays" [ -d "$base" ]
"$WIREUP" -n 1 "$bin/place" wait >"$tmp/other" 2>&1 </dev/null &
other=$!
wait_until "$patience" grep -q ^place "$tmp/other"
same "until the next launch that makes one" "$(ls "$base" | wc -l)" 1
run "$patience" "$WIREUP" -n 2 "$bin/place"
same "which itself is left alone by the one behind it" "$rc $(ls "$base" | wc -l)" "0 1"
kill "$other"
wait "$other" 2>/dev/null
gone "and then nothing is left"

# ---- somebody was there before
mkdir "$base"
chmod 755 "$base"
chown 65534 "$base" 2>/dev/null
run "$patience" "$WIREUP" -n 2 "$bin/place"
same "a name that is taken blocks nobody" "$rc $(grep -c "^place . $base[.]" "$out") $(ls -A "$base")" "0 2 " || explain
chown "$(id -u)" "$base"
rmdir "$base"
mkdir -m 700 "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$base"
run "$patience" "$WIREUP" -n 2 "$bin/place"
same "nor does a link lead anywhere" "$rc $(grep -c "^place . $base[.]" "$out") $(ls -A "$tmp/elsewhere")" "0 2 " || explain
rm "$base"
finish
