#!/bin/sh
# The programs of examples/pmix under one launcher, each on our library and on OpenPMIx's: it is good, or says in one
# sentence what that launcher does not do.  None hangs.
#
#   examples.sh wireup|mpirun|srun
#   examples.sh chroot             srun of the next release of Debian (chroot.sh), and OpenPMIx 5: there this script runs
#                                  again, as
#   examples.sh srun DIR           the programs on OpenPMIx are compiled already, in DIR
. "$(dirname "$0")/lib.sh"
# Slurm needs an address that is not loopback's, as private_world has it; packages may have to be fetched before.
[ "$1" != chroot ] || [ -n "${WU_PRIVATE-}" ] || chroot_make
private_world "$@"
begin
launcher=$1
patience=100
examples="client direct dynamic fault group invite publish control log allocation sets node"

# What is not simply good; nothing: it is not run.  `lacking`: the launcher says that it does this, and does not; the
# program ends all the same, with an error, or with what one of its processes was refused.  (A newer one may do it.)
expected() # EXAMPLE LIBRARY
{
    case $launcher/$1/$2 in
    mpirun/fault/*) echo lacking ;;   # raises no events of the ends of processes
    srun/fault/*) echo lacking ;;     # ends the step when one process ends without a word
    mpirun/control/*) echo lacking ;; # says that it has sent a signal, and has not
    mpirun/invite/OpenPMIx) echo lacking ;;  # loses the range of events of that library's clients
    mpirun/dynamic/OpenPMIx) echo lacking ;; # sometimes never answers that library's connect
    srun/dynamic/*) echo "^dynamic: this launcher does not spawn processes" ;;
    srun/publish/*) echo "^publish: this launcher does not keep names" ;;
    srun/control/*) echo "^control: this launcher does not control jobs" ;;
    mpirun/group/*) echo "^group: (good|this launcher does not make groups)" ;; # 5.0 does
    srun/group/*) echo "^group: this launcher does not make groups" ;;
    mpirun/allocation/* | srun/allocation/*) echo "^allocation: this launcher has no nodes to give" ;;
    mpirun/sets/* | srun/sets/*) echo "^sets: this launcher does not define process sets" ;;
    *) echo "^$1: good\$" ;;
    esac
}

options_of() # EXAMPLE
{
    case $launcher/$1 in
    wireup/fault) echo -enable-recovery ;;
    wireup/sets) echo -pset example ;;
    esac
}

# OpenPMIx 5's server under Slurm refuses a group to the last process that comes, and the others wait for ever: so there
# is one process alone, which is the last.
ranks_of() # EXAMPLE
{
    case $launcher/$1 in
    srun/group) [ -z "$server_5" ] && echo 3 || echo 1 ;;
    *) echo 3 ;;
    esac
}

# Open MPI 4.1's own sometimes does not reap the last processes of a job, and waits for ever: it is tried again.
cat >"$tmp/mpirun" <<'END'
#!/bin/sh
for try in 1 2 3 4; do
    code=0
    timeout -k 5 40 mpirun.openmpi --oversubscribe "$@" >"$0.out" 2>"$0.err" || code=$?
    [ "$code" = 124 ] || break
done
cat "$0.out"
cat "$0.err" >&2
exit "$code"
END
chmod +x "$tmp/mpirun"

start() # COMMAND...
{
    # shellcheck disable=SC2086 # words
    case $launcher in
    wireup) run "$patience" "$WIREUP" $(options_of "$example") "$@" ;;
    mpirun) run 600 "$tmp/mpirun" "$@" ;;
    srun) run "$patience" srun -Q -O --mpi=pmix "$@" ;;
    esac
}

# As it is said, once, and nothing is wrong.  (The launcher's status tells that a process was killed.)
is_said() # PATTERN
{
    [ "$rc" = 0 ] || [ "$example" = fault ] || return
    grep -Eq "$1" "$out" && ! grep -q WRONG "$out" && [ "$(grep -c "^$example: " "$out")" = 1 ]
}

# It ends by itself, and not as if all were good.
is_lacking()
{
    [ "$rc" != 124 ] && { [ "$rc" != 0 ] || is_said "^$example: (good\$|this launcher does not )"; }
}

ends_well() # PATTERN...
{
    [ "$rc" = 0 ] || return
    for pattern in "$@"; do
        grep -Eq "$pattern" "$out" || return
    done
}

run_all() # TITLE LIBRARY LAUNCHER-OPTIONS...
{
    title=$1 library=$2
    shift 2
    for example in $examples; do
        pattern=$(expected "$example" "$library")
        [ -n "$pattern" ] || continue
        start "$@" -n "$(ranks_of "$example")" "$prefix$example" "$tmp/gone"
        if [ "$pattern" = lacking ]; then
            ok "$title, $library: $example ends" is_lacking || explain
        else
            ok "$title, $library: $example" is_said "$pattern" || explain
        fi
    done
}

prefixes()
{
    echo "Wireup $WU_BUILD/examples/pmix/example-"
    [ -z "$theirs" ] || echo "OpenPMIx $theirs/"
}

compile() # FLAGS...
{
    for source in "$WU_SRC"/examples/pmix/*.c; do
        program=${source##*/}
        ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/${program%.c}" "$source" "$@" || {
            echo "Bail out! cannot compile $source"
            exit 1
        }
    done
}

# ---- programs that no launcher starts --------------------------------------------------------

both_up()
{
    [ "$(grep -c up "$tmp/first")" = 2 ]
}

tools() # TITLE
{
    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    "$WIREUP" -stdin all -n 2 sh -c 'echo up; read -r word' <"$tmp/hold" >"$tmp/first" 2>&1 &
    pid=$!
    wait_until 60 both_up
    uri=$("$WIREUP" tools | sed -n "s/^$pid	//p")
    run "$patience" "${prefix}tool" "$uri"
    ok "$1: a tool finds the job" ends_well "^tool: good" || explain
    job=$(sed -n 's/^tool: it runs \([^,]*\).*/\1/p' "$out")
    run "$patience" "${prefix}debugger" "$uri" "$job"
    same "$1: a debugger holds its processes" "$rc $(cat "$out")" "0 debugger: held 2 processes
debugger: good" || explain
    [ "$rc" = 0 ] || kill "$pid"
    echo go >&9
    exec 9>&-
    wait "$pid"
    rm -f "$tmp/hold" "$tmp/first"
}

# Whom `tool` and `debugger` cannot run on: they name the address of a launcher, or the folder where tools find one.
# (`server` is a launcher itself; it runs on none.)
addressless() # TITLE LAUNCHER...
{
    title=$1
    shift
    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    "$@" -n 1 sh -c 'echo up; read -r word' <"$tmp/hold" >"$tmp/first" 2>&1 &
    pid=$!
    wait_until 60 grep -q up "$tmp/first"
    addresses=$(find "${TMPDIR:-/tmp}" "$tmp" -name 'pmix*tool*' -type f -newer "$tmp/hold" 2>/dev/null)
    if [ -n "$addresses" ] && [ "$launcher" = mpirun ]; then
        note "$title: Open MPI 5 has addresses for tools, those of PRRTE (tools.sh tries it)"
    else
        same "$title: tools find no address of it" "$addresses" ""
    fi
    echo go >&9
    exec 9>&-
    wait "$pid"
    rm -f "$tmp/hold" "$tmp/first"
}

servers() # TITLE
{
    while read -r other others; do
        for example in client direct node sets; do
            run "$patience" "${prefix}server" 3 "$others$example"
            ok "$1: a server, with $example on $other" \
                ends_well "^server: good" "^$example: (good|this launcher does not define)" || explain
            # Its own hosts answer queries of sets by themselves; OpenPMIx 4.2's leaves them to the host.
            [ "$example/$1" != sets/Wireup ] || ok "$1: $other finds the set" grep -q "^sets: good" "$out" || explain
        done
    done <"$tmp/prefixes"
}

# ---- the launchers ---------------------------------------------------------------------------

need() # COMMAND WHAT
{
    command -v "$1" >/dev/null 2>&1 && return
    echo "1..0 # SKIP $2 ($1) is not installed"
    exit 0
}

pmix_flags=$(openpmix)
theirs=${2-}
if [ -z "$theirs" ] && [ -n "$pmix_flags" ]; then
    theirs=$bin
    # shellcheck disable=SC2086
    compile $pmix_flags
fi
prefixes >"$tmp/prefixes"
[ -n "$theirs" ] || [ "$launcher" = chroot ] || skip "with OpenPMIx" "it is not installed"

case $launcher in
wireup)
    needs_host_names
    named_agent
    while read -r library prefix; do
        run_all "one node" "$library"
        ok "$library: the file that was to be cleaned up is gone" [ ! -e "$tmp/gone" ]
        run_all "three nodes" "$library" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
        example=log
        start -n 2 "${prefix}log"
        ok "$library: the launcher has logged" grep -q "^the example logs this" "$err" || explain
        tools "$library"
        servers "$library"
    done <"$tmp/prefixes"
    example=fault
    run "$patience" "$WIREUP" -n 1 "$WU_BUILD/examples/pmix/example-fault"
    ok "the control: an example that is wrong fails" [ "$rc $(cat "$out")" = "1 fault: WRONG, rank 0: start at least two processes" ] ||
        explain
    rc=124
    ok "the control: who hangs does not end" eval '! is_lacking'
    rc=0
    fresh
    ok "the control: who says nothing is not good" eval '! is_lacking'
    ;;
mpirun)
    PATH=$PATH:/usr/lib64/openmpi/bin
    need mpirun.openmpi "Open MPI"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    while read -r library prefix; do
        run_all mpirun "$library"
    done <"$tmp/prefixes"
    addressless mpirun mpirun.openmpi --oversubscribe
    theirs_stay 'ompi.*'
    ;;
srun)
    . "$e2e/slurm-lib.sh"
    ls /usr/lib/*/slurm*/mpi_pmix_v*.so /usr/lib64/slurm/mpi_pmix_v*.so 2>/dev/null | grep -q . ||
        slurm_skip "Slurm's plugin mpi/pmix is not installed"
    server_5=$(ls /usr/lib/*/slurm*/mpi_pmix_v5.so /usr/lib64/slurm/mpi_pmix_v5.so 2>/dev/null)
    slurm_start
    note "$(srun --version), ${server_5:-OpenPMIx 4}"
    [ -z "${2-}" ] || ok "Slurm's server is OpenPMIx 5" [ -n "$server_5" ]
    while read -r library prefix; do
        run_all srun "$library"
    done <"$tmp/prefixes"
    addressless srun srun -Q -O --mpi=pmix
    conform --only pmix-4 --server srun -Q -O --mpi=pmix
    ok "the kit: start, values, a key that is not there" \
        [ "$(echo "$verdicts" | grep -c -e "start conforms" -e "exchange conforms" -e "absent conforms")" = 3 ] || explain
    slurm_stop
    ;;
chroot)
    chroot_make
    chroot_mount "$WU_SRC" "$WU_BUILD" "$tmp"
    [ -n "$theirs" ] || {
        echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
        exit 0
    }
    chroot "$root" env -u TMPDIR -u XDG_RUNTIME_DIR WIREUP="$WU_BUILD/src/launch/wireup" sh "$e2e/examples.sh" srun "$theirs"
    exit
    ;;
esac
finish
