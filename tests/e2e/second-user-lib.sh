# second-user-lib.sh - what the tests of the second user share: two users that are nobody else's, the
# tree where both reach it, a job that can say how long it was kept waiting, and its judge.
#
#   second_user_world "$@"       after lib.sh: in place of private_world and begin
#   as UID COMMAND...            as that user, without groups or anything of ours in the environment
#   intruder WORDS...            second_user.py as the second user
#   job_up UID WORDS...          a job of that user (WORDS: of the launcher); $job, $door_pid; its ends in $out, $err
#   doors                        of the job, as `tcp PORT PID`, `unix NAME PID`
#   window NAME                  ends a window of the job's time
#   undisturbed WHAT             a point: the windows WHAT.attack.* against WHAT.control.*
#   job_over                     ends the job; points: it ends well, and no program of the intruder ran
#   canaries                     what programs have made that were started for somebody
#
# $intruder is the second user; $victim, set by job_up, is root or $ordinary.

intruder=64999
ordinary=64998
e2e_tree=/dev/shm/wireup-tree # both users reach it, wherever the checkout lies

second_user_world() # "$@" of the script
{
    if [ "$(id -u)" != 0 ]; then
        # Somebody who may map more than one user can be root where they are.
        if [ -z "${WU_MAPPED-}" ] && unshare -U --map-root-user --map-auto true 2>/dev/null; then
            export WU_MAPPED=1
            exec unshare -U --map-root-user --map-auto sh "$0" "$@"
        fi
        echo "1..0 # SKIP we are one user here, and may not become another (neither root nor newuidmap)"
        exit 0
    fi
    if ! setpriv --reuid=$intruder --regid=$intruder --clear-groups true 2>/dev/null; then
        echo "1..0 # SKIP we may not become another user here"
        exit 0
    fi
    private_world "$@"
    if [ -z "${WU_PRIVATE-}" ]; then
        echo "1..0 # SKIP there are no private name spaces here"
        exit 0
    fi
    mkdir "$e2e_tree" "$e2e_tree/build" "$e2e_tree/e2e"
    mount --bind "$WU_BUILD" "$e2e_tree/build" && mount --bind "$e2e" "$e2e_tree/e2e" || exit 99
    WIREUP=$e2e_tree/build${WIREUP#"$WU_BUILD"}
    attacker=$e2e_tree/e2e/second_user.py
    begin
    chmod 755 "$tmp" "$bin"
    chmod 1777 "$tmp/tmp"
    mkdir -m 1777 "$tmp/share"
    canary_of root
    canary_of $ordinary
    mkdir "$tmp/home"
    chown $ordinary:$ordinary "$tmp/home"
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    c_program second_user_job
}

# Only that user can make a file there.
canary_of() # UID
{
    mkdir -p -m 755 "$tmp/canary"
    mkdir -m 755 "$tmp/canary/$1"
    chown "$1" "$tmp/canary/$1"
}

canaries()
{
    (cd "$tmp/canary" && find . -type f | sort | tr '\n' ' ')
}

uid_of() # USER
{
    [ "$1" = root ] && echo 0 || echo "$1"
}

as() # UID COMMAND...
{
    as_uid=$1
    shift
    [ "$as_uid" != root ] || as_uid=0
    as_home=$tmp/home
    [ "$as_uid" = 0 ] || [ "$as_uid" = $ordinary ] || as_home=/nowhere
    setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups env HOME="$as_home" "$@"
}

intruder()
{
    as $intruder timeout -k 5 120 python3 "$attacker" "$@"
}

# ---- the job --------------------------------------------------------------------------------

job_up() # UID WORDS...
{
    victim=$1
    shift
    rc=0
    fresh
    rm -f say told "$tmp/share/job.$victim"
    mkfifo say told
    cat <told >"$err" &
    reader=$!
    as "$victim" "$WIREUP" "$@" -n 2 "$bin/second_user_job" "$tmp/share/job.$victim" <say >"$out" 2>told &
    job=$!
    exec 9>say
    ok "a job of $victim is up" wait_until 120 grep -q '^up' "$out" || explain
    expected_canaries=
}

doors()
{
    python3 "$attacker" doors "${1:-$job}" | sort -u
}

windows=0
window() # NAME
{
    windows=$((windows + 1))
    echo "$1" >&9
    wait_until 120 grep -q "^$1 longest" "$out" || note "no window $1"
}

median_of() # PATTERN: of what the job was kept from its fences, in milliseconds
{
    sed -n "s/^$1[^ ]* .*stalled \([0-9]*\) .*/\1/p" "$out" | sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "none" }'
}

undisturbed() # WHAT
{
    with=$(median_of "$1.attack")
    without=$(median_of "$1.control")
    ok "$1: the job is kept from its fences for no more than 250 ms of its control" \
        [ "$with" -le $((without + 250)) ] 2>/dev/null ||
        note "with $with ms, without $without ms: $(grep "^$1" "$out")"
}

# A crowd of the intruder's at the job's door of that kind and at one of his own, in turns.
in_turns() # WHAT KIND
{
    turns="$1.$2"
    for turn in 1 2 3; do
        intruder "$1" "$2" "$(door_of "$2" "$tmp/own")" 0.7 >"$tmp/said" 2>&1 || note "$(cat "$tmp/said")"
        window "$turns.control.$turn"
        intruder "$1" "$2" "$(door_of "$2" "$tmp/doors")" 0.7 >"$tmp/said" 2>&1 || note "$(cat "$tmp/said")"
        window "$turns.attack.$turn"
    done
    undisturbed "$turns"
}

door_of() # KIND FILE
{
    sed -n "s/^$1 \([^ ]*\).*/\1/p" "$2" | head -n 1
}

job_over()
{
    exec 9>&-
    wait $job
    rc=$?
    wait $reader
    same "the job of $victim ends well" "$rc" 0 || explain
    same "and nobody but its user has started a program" "$(canaries)" "$expected_canaries"
    find "$tmp/canary" -type f -exec rm {} +
}
