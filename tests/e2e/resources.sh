#!/bin/sh
# Shared memory segments and files that processes register (resources.c) are gone after a crash, through all
# three interfaces; those of others stay.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
prog=$WU_BUILD/tests/e2e/e2e-resources

there() # NUMBER
{
    ipcs -m | awk -v id="$1" '$2 == id { n++ } END { exit !n }'
}

for by in pmi pmi2 pmix; do
    mkdir "$tmp/mess"
    launch 3 "$prog" $by "$tmp/mess"
    same "$by: a crash is one" "$rc" 137 || explain
    same "$by: each has made a segment" "$(wc -l <"$tmp/mess/segments")" 3
    same "$by: files are removed" "$(ls "$tmp/mess")" segments || explain
    same "$by: and POSIX segments" "$(ls /dev/shm | grep "^wu-res-$by")" "" || explain
    left=$(while read -r id; do there "$id" && echo "$id"; done <"$tmp/mess/segments")
    same "$by: and System V segments" "$left" "" || explain
    rm -r "$tmp/mess"

    id=$("$prog" make)
    ok "the control: a segment that nobody registers is there" there "$id"
    if unshare -i true 2>/dev/null; then
        launch 1 unshare -i "$prog" $by - "sysv:$id"
        same "$by: a process with segments of its own registers" "$rc $(cat "$out")" "0 sysv:$id registered" || explain
        ok "$by: and removes none of the same number elsewhere" there "$id" || explain
    else
        skip "$by: a process with segments of its own" "this user may not make a name space"
    fi
    if [ "$by" = pmi ]; then # refusals of its collected puts come with the next barrier
        names="sysv:$id"
        want="sysv:$id registered"
    else
        names="sysv:x shm:/a/b relative sysv:$id"
        want="sysv:x refused
shm:/a/b refused
relative refused
sysv:$id registered"
    fi
    # shellcheck disable=SC2086
    launch 1 "$prog" $by - $names
    same "$by: names" "$(cat "$out")" "$want" || explain
    ok "$by: it goes with a job that ends well, too" eval '! there "$id"' || explain
done
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    for_others "$prog" "$WU_BUILD"/src/lib/pmi/libpmi.so.0 "$WU_BUILD"/src/lib/pmi2/libpmi2.so.0 \
        "$WU_BUILD"/src/lib/pmix/libpmix.so.2
    LD_LIBRARY_PATH=$others
    export LD_LIBRARY_PATH
    prog=$others/${prog##*/}
    id=$(setpriv --reuid 65534 --clear-groups "$prog" make)
    launch 1 "$prog" pmi2 - "sysv:$id"
    ok "a segment of another user stays" there "$id" || explain
    ok "which is told" grep -q "cannot remove the shared memory segment $id: it belongs to another user" "$err" || explain
    ipcrm -m "$id"
    for by in pmi2 pmix; do
        launch 1 setpriv --reuid 65534 --clear-groups "$prog" $by - /tmp/any
        same "a process that is another user registers nothing ($by)" "$rc $(cat "$out")" "0 /tmp/any refused" || explain
    done
    launch 1 setpriv --reuid 65534 --clear-groups "$prog" pmi - /tmp/any
    ok "nor by PMI-1" grep -q "rank 0 runs as another user" "$err" || explain
else
    skip "a segment of another user" "this user cannot become one"
fi
theirs=
pmix_flags=$(openpmix)
if [ -n "$(sanitizer_of "$prog")" ]; then
    note "OpenPMIx's client: not with our sanitized libraries of PMI in one program"
elif [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program resources -iquote "$WU_SRC/include" $pmix_flags "$WU_BUILD/src/lib/pmi/libpmi.so.0" \
        "$WU_BUILD/src/lib/pmi2/libpmi2.so.0"
    theirs=$bin/resources
else
    skip "with OpenPMIx's client" "it is not installed"
fi
crash() # WHERE PROGRAM INTERFACE OPTIONS...
{
    where=$1 program=$2 by=$3
    shift 3
    mkdir "$tmp/mess"
    run 120 "$WIREUP" "$@" -n 3 "$program" "$by" "$tmp/mess"
    left=$(while read -r id; do there "$id" && echo "$id"; done <"$tmp/mess/segments")
    same "$by $where" "$rc $(wc -l <"$tmp/mess/segments") $(ls "$tmp/mess") $left" "137 3 segments " || explain
    rm -r "$tmp/mess"
}
[ -z "$theirs" ] || crash "with OpenPMIx's client" "$theirs" pmix

# One of the launcher's two processes is killed, and the other one clears up.
remains()
{
    [ -e "$tmp/mess/segments" ] || return
    ls "$tmp/mess" | grep -v '^segments$'
    ls /dev/shm | grep "^wu-res-$by"
    while read -r id; do ! there "$id" || echo "$id"; done <"$tmp/mess/segments"
}
gone()
{
    [ -z "$(remains)" ]
}
killed() # WHO INTERFACE
{
    who=$1 by=$2
    mkdir "$tmp/mess"
    fresh
    "$WIREUP" -n 3 "$prog" "$by" "$tmp/mess" stay >"$out" 2>"$err" </dev/null &
    pid=$!
    wait_until 60 test -s "$out"
    worker=$(cat "$out") supervisor=$(awk '{ print $4 }' "/proc/$(cat "$out")/stat")
    same "$by: each has made what is registered" "$(remains | wc -l)" 9 || explain
    case $who in
    *worker) kill -9 "$worker" ;;
    *supervisor) kill -9 "$supervisor" ;;
    esac
    wait "$pid"
    ok "$by: nothing stays when $who is killed" wait_until 30 gone || explain
    rm -r "$tmp/mess"
}
for by in pmi pmi2 pmix; do
    killed "the worker" $by
    killed "the supervisor" $by
done
if unshare -u true 2>/dev/null; then
    named_agent
    for by in pmi pmi2 pmix; do
        crash "on three nodes" "$prog" $by -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
    done
    [ -z "$theirs" ] ||
        crash "with OpenPMIx's client on three nodes" "$theirs" pmix -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1

    # Whoever is killed on three nodes, at whatever moment: the launcher or a daemon, one of its two processes or both.
    # What is left then, as when both were killed, goes with the next launcher or daemon of that machine.
    registered()
    {
        ls "$tmp/mess" /dev/shm | grep -E '^file|^wu-res-|^wireup-leftovers'
    }
    none_left()
    {
        ! pgrep -x "wireup|wireupd" >/dev/null && "$WIREUP" -n 1 true && [ -z "$(registered)" ]
    }
    both_of() # PID
    {
        echo "$1 $(pgrep -P "$1" -x "wireup|wireupd")"
    }
    random_kill() # SEED
    {
        by=$([ $(($1 % 2)) = 0 ] && echo pmix || echo pmi2)
        mkdir "$tmp/mess"
        fresh
        "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$prog" $by "$tmp/mess" early >"$out" 2>"$err" </dev/null &
        pid=$!
        wait_until 60 test -s "$out"
        last=$(both_of "$(ps -o ppid= -p "$(cat "$out")" | tr -d ' ')")
        sleep "0.0$(($1 * 7 % 10))"
        # shellcheck disable=SC2046,SC2086 # pids
        case $(($1 % 5)) in
        0) kill -9 ${last% *} ;;
        1) kill -9 ${last#* } ;;
        2) kill -9 $last ;;
        3) kill -9 $(both_of "$pid") ;;
        4) kill -9 $(pgrep -x "wireup|wireupd") ;;
        esac 2>/dev/null # who ends with another one
        wait "$pid"
        wait_until 30 none_left || echo "seed $1, $last: $(registered | tr '\n' ' ')"
        rm -r "$tmp/mess"
    }
    same "10 random kills on three nodes leave nothing" "$(for seed in 1 2 3 4 5 6 7 8 9 10; do random_kill $seed; done)" ""
    mkdir "$tmp/mess"
    : >"$tmp/mess/file0"
    ok "the control: what nobody has registered stays" eval '! none_left' || explain
    rm -r "$tmp/mess"
else
    skip "on three nodes" "this user may not give a process another host name"
fi
finish
