# lib.sh - what tests of whole programs share: TAP points, a place of their own, and the count of what
# is left behind.  POSIX sh; launchers of one test find each other, and nobody else's, by a run-time directory
# of their own.  A test begins with
#
#   . "$(dirname "$0")/lib.sh"
#   private_world "$@"           where there is nobody else, so that counts are exact, and whose network
#                                leads nowhere; `outside=yes` before it: with the machine's own
#   begin
#
# and ends with `finish`, which adds the points "nothing is left": no process that carries our mark in
# its environment, no file where TMPDIR points, none of ours in /tmp and /dev/shm.
#
# From Meson: WU_SRC (sources), WU_BUILD (build directory), WU_CC (its compiler), WIREUP (the launcher under test).
#
#   run SECONDS COMMAND...   runs it with empty input; sets $rc, and fills $out and $err (files).
#                            The time is a net for what hangs (then rc is 124), not a measure: at least $least_net.
#   fresh                    empties $out and $err, for what is started behind an &: it opens them some time
#                            later, and until then who waits for its words would find those of the run before
#   launch N COMMAND...      the command line of the launcher chosen by use_launcher, under run
#   spawning COMMAND...      runs COMMAND (launch ..., run SECONDS "$WIREUP" ...) with a launcher that
#                            records; then $spawned is how many processes it has really started for jobs
#                            that were spawned, whatever the program says
#   spawned "NAME" N         a point: the last `spawning` has started so many.  Every test that spawns
#                            has one: a program that skips its spawns says that all is good
#   ok "NAME" TEST...        a point: TEST is a command (usually `[ ... ]`)
#   same "NAME" GOT WANT     a point: two texts, shown when they differ
#   skip "NAME" REASON       a point that this machine cannot decide; failure in CI
#   note TEXT                a line of diagnosis
#   rank_counts N...         the numbers of ranks with which a test runs: none over 16 where WITHOUT has the suite
#                            many-ranks
#   mpi_program NAME         builds mpi/NAME.c with MPICH's compiler as $bin/NAME
#   c_program FILE [FLAGS]   builds FILE.c of this folder as $bin/FILE
#   wait_until SECONDS TEST...   true as soon as TEST is
#   theirs_stay PATTERN...   files that programs of others leave in TMPDIR or /dev/shm are no fault of ours
#   processes                pids and names of living processes with our mark, other than this one
#   for_others FILE...       copies in $others, where other users can read and start them
#   switch_off PID...        all at once, as when their machine is switched off

set -u
: "${WU_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${WU_BUILD:=$WU_SRC/build}"
: "${WIREUP:=$WU_BUILD/src/launch/wireup}"
e2e=$WU_SRC/tests/e2e
export NO_COLOR=1 # the test `terminal` has its own
export WU_SRC WU_BUILD WU_LAUNCHER="$WIREUP"
export WIREUP_CONFIG=none # the test `settings` has its own
# Programs on other people's client libraries keep them: that is what most tests are about.
export WIREUP_LIBRARIES=no

points=0
failed=0
mark=

# ---- points -----------------------------------------------------------------------------------

note()
{
    printf '%s\n' "$*" | sed 's/^/# /'
}

point() # GOOD NAME
{
    points=$((points + 1))
    if [ "$1" = 0 ]; then
        echo "ok $points - $2"
    else
        echo "not ok $points - $2"
        failed=$((failed + 1))
    fi
    return "$1"
}

ok() # NAME TEST...
{
    ok_name=$1
    shift
    if "$@"; then
        point 0 "$ok_name"
    else
        point 1 "$ok_name"
        note "failed: $*"
        return 1
    fi
}

same() # NAME GOT WANT
{
    if [ "$2" = "$3" ]; then
        point 0 "$1"
    else
        point 1 "$1"
        note "got:  $(printf '%s' "$2" | head -c 2000)"
        note "want: $(printf '%s' "$3" | head -c 2000)"
        return 1
    fi
}

skip() # NAME REASON
{
    points=$((points + 1))
    echo "ok $points - $1 # SKIP $2"
}

# ---- a place of our own -----------------------------------------------------------------------

# What is started behind an & or by nohup ignores signals, and others may have blocked some; a test that sends them must not.
usual_signals=
! env --default-signal true 2>/dev/null || usual_signals='env --default-signal'

# Runs the rest of the script, if this machine lets us, where there are no other processes, and where
# /tmp and /dev/shm are empty and ours alone: then what is left can be counted exactly.  The network is
# ours, too: tests that run at the same time do not take each other's ports, launchers do not find those
# of others, and no name server lets anybody wait.
private_world() # "$@" of the script
{
    [ -z "${WU_PRIVATE-}" ] || return 0
    PATH=$PATH:/usr/sbin:/sbin
    export PATH
    for how in "unshare -n" "unshare -Ur -n" unshare "unshare -Ur"; do
        # (Who asks for addresses gets none where there are none but loopback's.)
        WU_NET=true
        case $how in
        *-n) [ -z "${outside-}" ] || continue
            WU_NET='ip link set lo up && ip link add wu0 type veth peer name wu1 &&
                ip link set wu0 addrgenmode none && ip link set wu1 addrgenmode none &&
                ip addr add 10.78.0.1/24 dev wu0 && ip link set wu1 up && ip link set wu0 up' ;;
        esac
        export WU_NET
        # shellcheck disable=SC2016,SC2086
        if $usual_signals $how -u -m -p -i -f --mount-proc sh -c 'mount -t tmpfs none /dev/shm && eval "$WU_NET"' 2>/dev/null; then
            export WU_PRIVATE=1
            # The script is a child of the first process, which reaps what is orphaned; and it runs in
            # the foreground, because shells let what is behind a & ignore SIGINT.
            # shellcheck disable=SC2016
            exec $usual_signals $how -u -m -p -i -f --kill-child --mount-proc sh -c 'eval "$WU_NET"; exec "$@"' \
                private sh "$e2e/private.sh" sh "$0" "$@"
        fi
    done
    note "this machine gives us no private name spaces: other people's files may disturb the count"
}

listing()
{
    ls -A /tmp /dev/shm 2>/dev/null
}

begin()
{
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/wireup-e2e.XXXXXX") || exit 99
    bin=$tmp/bin
    out=$tmp/out
    err=$tmp/err
    mkdir "$bin" "$tmp/tmp" "$tmp/work"
    mkdir -m 700 "$tmp/run"
    # Everything that the test starts carries the mark; this shell itself does not.
    mark=wu$$.$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
    export WU_MARK="$mark" TMPDIR="$tmp/tmp" XDG_RUNTIME_DIR="$tmp/run"
    collect_reports
    listing >"$tmp/before"
    trap clean_up EXIT
    trap 'exit 99' HUP INT TERM
    cd "$tmp/work" || exit 99
}

# The sanitizer that FILE was built with: asan, tsan or ubsan; nothing: none.  By the names of the run-time library, which
# gcc's programs take from a shared one, and clang's have in themselves.
sanitizer_of() # FILE
{
    for sanitizer in asan_init tsan_init ubsan_handle; do
        grep -q "__$sanitizer" "$1" && echo "${sanitizer%_*}" && return
    done
}

# Whatever a program that was built without a sanitizer has to preload when it loads FILE; nothing: FILE was built without.
sanitizer_preload() # FILE
{
    [ "$(sanitizer_of "$1")" = asan ] || return 0
    LD_LIBRARY_PATH='' ldd "$1" | sed -n 's/.*lib\(clang_rt\.\)\{0,1\}asan.* => \(\/[^ ]*\).*/\2/p' | grep . ||
        ${WU_CC:-cc} -print-file-name="libclang_rt.asan-$(uname -m).so"
}

# In a sanitized build: sanitizers write their reports to files, because nobody reads what most daemons write, and their
# exit statuses.  The folder is one that every mount namespace and every user of a test can write.  Tests that need other
# options append to these.
reports=
collect_reports()
{
    [ -n "$(sanitizer_of "$WIREUP" 2>/dev/null)" ] || return 0
    mkdir -p -m 1777 "$WU_BUILD/meson-logs/sanitizers" || exit 99
    reports=$(realpath "$WU_BUILD")/meson-logs/sanitizers/$(basename "$0" .sh).$mark
    export ASAN_OPTIONS="${ASAN_OPTIONS-}:log_path='$reports'" TSAN_OPTIONS="${TSAN_OPTIONS-}:log_path='$reports'" \
        UBSAN_OPTIONS="${UBSAN_OPTIONS-}:log_path='$reports'"
}

nothing_reported()
{
    for report in "$reports".*; do
        # A thread that ends while LeakSanitizer stops all is told, and is none of what it looks for.
        [ ! -e "$report" ] || grep -v '==Unable to get registers from thread' "$report" | head -n 40
    done >"$tmp/reported"
    same "no sanitizer has reported anything" "$(cat "$tmp/reported")" "" || note "in full: $reports.*"
}

# Ends the test with a skip where no process may have another host name.
needs_host_names()
{
    unshare -u true 2>/dev/null && return
    echo "1..0 # SKIP this user may not give a process another host name"
    exit 0
}

# $tmp/agent: starts commands on this machine under the name of the host that it is given, as ssh would
# over there.
named_agent()
{
    cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
    chmod +x "$tmp/agent"
}

# The same; $tmp/agent.HOST is the number of the process that the host's daemons begin with.
killable_agent()
{
    named_agent
    sed -i '/^shift$/a echo $$ >"$0.$host"' "$tmp/agent"
}

# As by ssh: the daemons are no children of the launcher, and do not end with it.
distant_agent()
{
    cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
exec 3<&0
unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@" <&3 3<&- &
wait $!
END
    chmod +x "$tmp/agent"
}

# PIDs, those of children before their parents'.  (Their numbers do not tell: they begin again after the highest one.)
children_first() # PID...
{
    ps -o pid=,ppid= -p "$(echo "$@" | tr ' ' ,)" | awk '
        { parent[$1] = $2 }
        END {
            for (pid in parent) {
                depth = 0
                for (p = pid; p in parent; p = parent[p])
                    depth++
                print depth, pid
            }
        }' | sort -rn | cut -d ' ' -f 2
}

# Processes end so that none of them can do anything about the end of another one: all are stopped, and a worker is killed before
# its guard, whose end would let it go on (PR_SET_PDEATHSIG).
switch_off() # PID...
{
    kill -STOP "$@" 2>/dev/null
    # shellcheck disable=SC2046 # pids
    kill -9 $(children_first "$@")
}

# The checkout may be below a folder that its user alone can enter, and what is in it, too.
for_others() # FILE...
{
    others=$tmp/others
    mkdir -p "$others"
    cp -L "$@" "$others/"
    chmod a+rx "$tmp"
    chmod -R a+rX "$others"
}

# That of a DVM with -keep $keep is killed, both processes: the daemons here are descendants of the launcher, and whichever of the
# two survives the other one would kill them.
lose_launcher()
{
    pid=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$keep")
    switch_off "$(ps -o ppid= -p "$pid" | tr -d ' ')" "$pid"
    ok "the launcher has let its file go" wait_until 60 flock -n "$keep" true
}

# Strangers come to a PMIx server while its job runs (intruders.py), all within so many SECONDS; some stay
# until knocked_in_vain.  $uid: of the other user among them; 0: we cannot become one.
knock() # SECONDS PORT NAMESPACE
{
    uid=0
    [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --clear-groups true 2>/dev/null || uid=65534
    mkfifo hold
    python3 "$e2e/intruders.py" "$2" "$3" $uid >"$tmp/knocks" 2>&1 <hold &
    intruders=$!
    exec 9>hold
    wait_until "$1" grep -q '^done' "$tmp/knocks"
}

knocked_in_vain()
{
    exec 9>&-
    wait $intruders
    for what in "silent open 0" "half-header open 0" "half-hello open 0" "long-hello closed 0" \
        "unknown-nspace closed 0" "unknown-rank closed 0" "unknown-encoding closed 0" \
        "unknown-store closed 0" "empty-hello closed 0" "twin closed 0"; do
        ok "$what" grep -q "^$what\$" "$tmp/knocks" || note "$(cat "$tmp/knocks")"
    done
    ok "web closed" grep -q '^web closed' "$tmp/knocks" || note "$(cat "$tmp/knocks")"
}

# pid and command of living processes that carry our mark (zombies have no environment).
processes()
{
    for environ in /proc/[0-9]*/environ; do
        if grep -qsz "^WU_MARK=$mark\$" "$environ"; then
            pid=${environ#/proc/}
            pid=${pid%/environ}
            name=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") && echo "$pid $name"
        fi
    done
}

nobody_left()
{
    [ -z "$(processes)" ]
}

clean_up()
{
    [ -n "$mark" ] && processes | while read -r pid _; do
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$tmp"
}

# What takes a second on an idle machine takes a minute on a busy one.
least_net=300
net_of() # SECONDS
{
    [ "$1" -ge $least_net ] && echo "$1" || echo $least_net
}

# A TEST may itself take long.
wait_until() # SECONDS TEST...
{
    read -r uptime _ </proc/uptime
    wait_end=$((${uptime%.*} + $(net_of "$1") + 1))
    shift
    until "$@"; do
        read -r uptime _ </proc/uptime
        [ "${uptime%.*}" -lt "$wait_end" ] || return 1
        sleep 0.02
    done
}

# What was made since begin in /tmp and /dev/shm, and is there still.
left_files()
{
    find "$tmp/tmp" "$tmp/run" -mindepth 1 ! -name 'tsan.rodata.*' 2>/dev/null # ThreadSanitizer's own
    listing | sort >"$tmp/after"
    sort "$tmp/before" | comm -13 - "$tmp/after" >"$tmp/new"
    if [ -n "${WU_PRIVATE-}" ]; then
        cat "$tmp/new"
    else # others work here too: only what is named like ours
        grep -E '^\.?(wireup|wu-)' "$tmp/new" | grep -v '^wireup-e2e\.'
    fi
}

# Programs of others leave such files in TMPDIR, and in /dev/shm if that is ours alone: they go when the last process has ended,
# which may be after its launcher.
foreign_files=
theirs_stay() # NAME-PATTERN...
{
    foreign_files="$foreign_files $*"
}

remove_foreign()
{
    set -f
    # shellcheck disable=SC2086 # words
    set -- $foreign_files
    set +f
    for foreign_file in "$@"; do
        # shellcheck disable=SC2086 # a pattern
        rm -rf "$tmp/tmp"/$foreign_file
        # shellcheck disable=SC2086
        [ -z "${WU_PRIVATE-}" ] || rm -rf /dev/shm/$foreign_file
    done
}

nothing_left() # adds the points
{
    wait_until 120 nobody_left
    remove_foreign
    same "no process is left${1:+ $1}" "$(processes)" ""
    same "no file and no segment is left${1:+ $1}" "$(left_files)" ""
}

# An event that no state table has a row for; the job may go on.
no_internal_error()
{
    same "no internal error was logged" "$(head -n 5 "$tmp/internal" 2>/dev/null)" ""
}

# From here on what the launcher is called with is written down; `finish` compares it with the table
# `combinations`: which programs have run with which client library on how many nodes.
combinations()
{
    printf '#!/bin/sh\n{ printf "%%s\\n" "$*" >>"%s"; } 2>/dev/null\nexec "%s" "$@"\n' "$tmp/launches" "$WIREUP" >"$bin/noted"
    chmod +x "$bin/noted"
    WIREUP=$bin/noted
}

# PROGRAM: what has run of it, as in the table; `one` is one node, and `nodes` are several.
combined()
{
    awk -v ours="/e2e-$1( |\$)" -v hyphens="/e2e-$(echo "$1" | tr _ -)( |\$)" -v theirs="^$bin/$1\$" '{
        nodes = /-hosts [^ ]*,[^ ]*/ ? "nodes" : "one"
        if ($0 ~ ours || $0 ~ hyphens)
            print "ours-" nodes
        for (i = 1; i <= NF; i++)
            if ($i ~ theirs)
                print "theirs-" nodes
    }' "$tmp/launches" | sort -u | tr '\n' ' '
}

check_combinations()
{
    [ -f "$tmp/launches" ] || return 0
    sed -n "s/^$(basename "$0" .sh) //p" "$e2e/combinations" | sed 's/ *:.*//' >"$tmp/rows"
    while read -r program listed; do
        want=$listed
        [ -x "$bin/$program" ] || want=$(echo "$want" | sed 's/theirs-[a-z]*//g')
        # shellcheck disable=SC2086 # words
        same "combinations of $program" "$(combined "$program")" "$(printf '%s\n' $want | sort | sed '/^$/d' | tr '\n' ' ')"
    done <"$tmp/rows"
}

finish()
{
    check_combinations
    nothing_left
    no_internal_error
    [ -z "$reports" ] || nothing_reported
    echo "1..$points"
    [ "$failed" = 0 ]
    exit
}

# ---- running ----------------------------------------------------------------------------------

run() # SECONDS COMMAND...
{
    run_time=$(net_of "$1")
    shift
    timeout -k 5 "$run_time" "$@" >"$out" 2>"$err" </dev/null
    rc=$?
    grep -h 'internal error' "$out" "$err" >>"$tmp/internal"
    return 0
}

fresh()
{
    : >"$out"
    : >"$err"
}

launcher=wireup
longest=1023 # bytes in a value
use_launcher() # wireup|hydra
{
    launcher=$1
    case $1 in
    wireup)
        if ! [ -x "$WIREUP" ]; then
            echo "Bail out! no launcher at $WIREUP"
            exit 1
        fi
        ;;
    hydra)
        PATH=$PATH:/usr/lib64/mpich/bin
        if ! command -v mpiexec.hydra >/dev/null 2>&1; then
            echo "1..0 # SKIP MPICH's mpiexec.hydra is not installed"
            exit 0
        fi
        # Since 4.1 it dies of messages of more than 1024 bytes, words of the protocol included.
        mpiexec.hydra --version 2>&1 | grep -q 'Version: *4\.0' || longest=900
        ;;
    esac
}

rank_counts() # N...
{
    for rank_count in "$@"; do
        case " ${WITHOUT-} " in *" many-ranks "*) [ "$rank_count" -le 16 ] || continue ;; esac
        echo "$rank_count"
    done
}

launch() # N COMMAND...
{
    launch_n=$1
    shift
    case $launcher in
    wireup) run "${patience:-300}" "$WIREUP" -n "$launch_n" "$@" ;;
    hydra)
        run "${patience:-300}" mpiexec.hydra -n "$launch_n" "$@"
        # Hydra 4.2 leaves this file when it ends a job.
        [ -z "${WU_PRIVATE-}" ] || rm -f /tmp/hydra_hwloc_xmlfile_*
        ;;
    esac
}

# The verdicts of `wireup conform`: its rows without the reasons, which are in $out.
conform() # WORDS...
{
    run "${patience:-300}" "$WIREUP" conform "$@"
    verdicts=$(sed -n 's/^\(pmi.*[^ ]\)  *\(conforms\|differs\|not offered\).*/\1 \2/p' "$out")
}

# What the recording of the launcher says: processes that it has started, of jobs with a parent or that a
# tool has asked for.
count_spawned() # RECORDING
{
    "$WIREUP" trace - <"$1" 2>/dev/null | awk '
        $2 == "job" && $5 == "job" { child[$3] = / tool=0 / && (!/ parent=-1 / || / asked=1 /) }
        $2 == "rank" && / \* proc_state event=started / && split($3, at, ":") == 2 { n += child[at[1]] }
        END { print NR ? n + 0 : "unknown" }'
}

spawning() # COMMAND...
{
    spawning_launcher=$WIREUP
    printf '#!/bin/sh\nexec "%s" --trace "%s" "$@"\n' "$WIREUP" "$tmp/spawns" >"$tmp/spawner"
    chmod +x "$tmp/spawner"
    for spawning_word in "$@"; do
        [ "$spawning_word" != "$WIREUP" ] || spawning_word=$tmp/spawner
        set -- "$@" "$spawning_word"
        shift
    done
    WIREUP=$tmp/spawner
    "$@"
    WIREUP=$spawning_launcher
    spawned=$(count_spawned "$tmp/spawns")
    rm -f "$tmp"/spawns* "$tmp/spawner"
}

spawned() # NAME N
{
    same "$1: so many were really spawned" "$spawned" "$2" || explain
}

# For messages: what the last run said.
explain()
{
    note "exit status $rc"
    note "stdout: $(head -c 2000 "$out")"
    note "stderr: $(head -c 2000 "$err")"
}

# ---- programs ---------------------------------------------------------------------------------

# The next release of Debian (chroot.sh) in chroot_dir, made once; its root is root.  The script ends here where
# that cannot be had.
chroot_make()
{
    chroot_dir=$WU_BUILD/tests/e2e/chroot
    root=$chroot_dir/root
    said=$("$e2e/chroot.sh" make "$chroot_dir" 2>&1)
    case $? in
    0) return ;;
    77)
        echo "1..0 # SKIP $(echo "$said" | tail -n 1)"
        exit 0
        ;;
    esac
    echo "Bail out! chroot.sh: $(echo "$said" | tail -n 1)"
    exit 1
}

chroot_mount() # PATH...: these are seen in it
{
    if [ -z "${WU_PRIVATE-}" ] || ! "$e2e/chroot.sh" mount "$chroot_dir" "$@" 2>"$err"; then
        echo "1..0 # SKIP nothing can be mounted here: $(tail -n 1 "$err")"
        exit 0
    fi
}

mpicc=
find_mpicc()
{
    for mpicc in mpicc.mpich /usr/lib64/mpich/bin/mpicc; do
        command -v "$mpicc" >/dev/null 2>&1 && return 0
    done
    echo "1..0 # SKIP MPICH's compiler (mpicc.mpich) is not installed"
    exit 0
}

mpi_program() # NAME...
{
    find_mpicc
    for program in "$@"; do
        "$mpicc" -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || {
            echo "Bail out! cannot compile mpi/$program.c"
            exit 1
        }
    done
}

# How programs are compiled with OpenPMIx 4.2 or 5, which OPENPMIX tells them; nothing: it is not installed.
openpmix()
{
    openpmix_version=$(pkg-config --modversion pmix 2>/dev/null)
    case $openpmix_version in
    4.2* | 5.*) echo "-DOPENPMIX=${openpmix_version%%.*} $(pkg-config --cflags --libs pmix)" ;;
    esac
}

c_program() # FILE [FLAGS...]
{
    program=$1
    shift
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/$program.c" "$@" || {
        echo "Bail out! cannot compile $program.c"
        exit 1
    }
}
