#!/bin/sh
# The container case: programs of the next Debian release (chroot.sh), which have libraries that this
# system does not know, and our server and libraries, which they do not know.
#
#   container.sh clients RANKS...   Open MPI 5 and OpenPMIx 5 inside, `wireup` outside
#   container.sh library RANKS...   our libpmix inside: under PRRTE, under Open MPI 5, under `wireup`
#   container.sh modern             what Open MPI 5 has besides: asynchronous modex, sessions, failed processes that
#                                   the others outlive and replace, connects, on one node and on three
#   container.sh walls              what may stand between a rank and its server: each kind of namespace,
#                                   no /proc, another user; and folders with nothing in them but a program
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/openmpi-modern.sh"
outside=yes # packages may have to be fetched
private_world "$@"
begin
use_launcher wireup
part=$1
shift
patience=900 # 64 ranks take turns, for each step of a collective
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
# Open MPI looks for other machines, and complains that there is no way to them.
export OMPI_MCA_btl_tcp_if_include=lo

# ---- the place
chroot_make
chroot_mount "$tmp"
into="$(command -v chroot) $root"
python=/usr/bin/python3
cp "$e2e"/mpi4py_*.py "$bin"
mkdir "$tmp/lib"
cp -L "$WU_BUILD/src/lib/pmix/libpmix.so.2" "$WU_BUILD/src/lib/pmi/libpmi.so.0" \
    "$WU_BUILD/src/lib/pmi2/libpmi2.so.0" "$tmp/lib"

# ---- the programs: compiled here, run there; Open MPI 5 keeps the interface of 4
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ] || ! command -v mpicc.openmpi >/dev/null 2>&1; then
    echo "1..0 # SKIP Open MPI's compiler or OpenPMIx's header are not installed"
    exit 0
fi
for program in hello ring alltoall comms abort; do
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done
# shellcheck disable=SC2086
{
    c_program rawpmix $pmix_flags
    c_program groups -w -DOPENPMIX $pmix_flags
    c_program nopmixget -shared -fPIC $pmix_flags
}

# Python of the inside, for what processes ask to be started: the launcher is outside.
python_inside() # FILE [VARIABLE=VALUE]
{
    printf '%s\n' '#!/bin/sh' "[ -e '$WU_SRC' ] && exec chroot '$root' \"\$0\" \"\$@\"" \
        "exec env ${2-} $python \"\$@\"" >"$1"
    chmod +x "$1"
}
python_inside "$bin/python"
python_inside "$bin/python-ours" "LD_LIBRARY_PATH=$tmp/lib"

inside() # COMMAND...
{
    run "$patience" chroot "$root" "$@"
}

# All programs, by a command that runs N ranks inside.
all_programs() # RUNNER WHERE MODE RANKS...
{
    runner=$1
    where=$2
    mode=$3
    shift 3
    for n in "$@"; do
        $runner "$n" "$bin/rawpmix" "$mode"
        same "$where: a raw program, $n ranks" "$rc $(cat "$out" "$err")" "0 rawpmix $n good" || explain
        $runner "$n" "$bin/hello"
        same "$where: hello, $n ranks" "$rc $(sort -u "$out" | wc -l) $(grep -c "of $n\$" "$out")" \
            "0 $n $n" || explain
        for program in ring alltoall comms; do
            $runner "$n" "$bin/$program"
            same "$where: $program, $n ranks" "$rc $(cat "$out")" "0 $program $n good" || explain
        done
        $runner "$n" "$bin/abort" $((n - 1)) 9
        same "$where: MPI_Abort(9) by rank $((n - 1)) of $n" "$rc" 9 || explain
    done
}

# What others start nobody counts.
really_spawned() # RUNNER NAME N
{
    case $1 in under_wireup*) spawned "$2" "$3" ;; esac
}

all_of_python() # RUNNER WHERE
{
    $1 3 "$python" "$bin/mpi4py_all.py" spoil
    same "$2: mpi4py misses what nobody said" "$(cat "$out")" "mpi4py spoil 3 WRONG" || explain
    for what in "4 allgather" "1 spawn" "2 spawn" "2 names" "4 names" "2 sessions" "4 sessions"; do
        n=${what% *}
        what=${what#* }
        spawning "$1" "$n" "$python" "$bin/mpi4py_all.py" "$what"
        same "$2: mpi4py $what, $n ranks" "$rc $(cat "$out")" "0 mpi4py $what $n good" || explain
        [ "$what" != spawn ] || really_spawned "$1" "$2: mpi4py spawn, $n ranks" 2
    done
    spawning "$1" 1 "$python" "$bin/mpi4py_futures.py"
    same "$2: mpi4py's pool of spawned workers" "$rc $(cat "$out")" "0 mpi4py futures good" || explain
    really_spawned "$1" "$2: mpi4py's pool" 2
}

judges() # RUNNER WHERE MODE
{
    $1 3 "$bin/rawpmix" "$3"
    ok "$2: a wrong value is seen to be wrong" grep -q "WRONG rank 2: g of 0" "$out" || explain
    ok "$2: and nothing good is said" eval '! grep -q good "$out"' || explain
    $1 2 env LD_PRELOAD="$bin/nopmixget" "$bin/rawpmix"
    ok "$2: where every Get fails, nothing is good" eval '! grep -q good "$out"' || explain
    $1 2 env LD_PRELOAD="$bin/nopmixget" "$bin/hello"
    ok "$2: nor is there a job of two" eval '! grep -q "of 2" "$out"' || explain
    $1 4 "$bin/ring" spoil
    ok "$2: a spoiled ring is seen to be wrong" grep -q "^ring 4 WRONG" "$out" || explain
}

under_wireup() # N COMMAND...
{
    under_n=$1
    shift
    launch "$under_n" env WU_PYTHON="$bin/python" chroot "$root" "$@"
}

under_wireup_ours() # N COMMAND...
{
    under_n=$1
    shift
    launch "$under_n" env WU_PYTHON="$bin/python-ours" chroot "$root" env LD_LIBRARY_PATH="$tmp/lib" "$@"
}

under_prrte_ours() # N COMMAND...
{
    under_n=$1
    shift
    inside prterun --allow-run-as-root --map-by :oversubscribe -n "$under_n" \
        env LD_LIBRARY_PATH="$tmp/lib" WU_PYTHON="$bin/python-ours" "$@"
}

is_ours() # that the programs take our library
{
    inside env LD_LIBRARY_PATH="$tmp/lib" ldd "$bin/rawpmix"
    ok "programs inside find our library" grep -q "=> $tmp/lib/libpmix.so.2 " "$out" || explain
}

clients()
{
    inside prterun --version
    ok "PRRTE 3 is there" grep -q ' 3\.' "$out" || explain
    inside sh -c 'strings=$(grep -a -o "OpenPMIx 5[.0-9]*" /usr/lib/*/libpmix.so.2 | head -n 1); echo "$strings"'
    note "$(cat "$out")"
    judges under_wireup inside spoil
    all_programs under_wireup inside exchange "$@"
    all_of_python under_wireup inside
    for part_of in values survive; do
        run "$patience" "$WIREUP" -enable-recovery -n 4 chroot "$root" "$bin/groups" $part_of
        same "groups: $part_of" "$(cat "$out")" "groups 4 good" || explain
    done
    run "$patience" "$WIREUP" -mca pml ob1 -mca btl self -n 3 chroot "$root" "$bin/hello"
    same "Open MPI 5 says why it does not start, once" "$(grep -c 'unable to reach each other' "$err")" 1 || explain
    under_wireup 2 "$bin/abort" 1 0
    same "its MPI_Abort(0)" "$rc" 0 || explain
    launch 2 chroot "$root" env -u PMIX_SERVER_URI61 -u PMIX_SERVER_URI51 -u PMIX_SERVER_URI41 \
        -u PMIX_SERVER_URI4 -u PMIX_SERVER_URI2 -u PMIX_SERVER_URI21 "$bin/rawpmix"
    same "inside, in the encoding v3" "$rc $(cat "$out" "$err")" "0 rawpmix 2 good" || explain
    launch 2 "$bin/rawpmix" : -n 2 chroot "$root" "$bin/rawpmix" : \
        -n 2 env LD_LIBRARY_PATH="$tmp/lib" "$bin/rawpmix" : \
        -n 2 chroot "$root" env LD_LIBRARY_PATH="$tmp/lib" "$bin/rawpmix"
    same "one job of OpenPMIx 4 and 5 and us, outside and inside" "$rc $(cat "$out" "$err")" \
        "0 rawpmix 8 good" || explain
}

library()
{
    is_ours
    # The kit, whose ranks are inside: the server is PRRTE's, with the library of OpenPMIx 5.
    cp "$WU_BUILD/src/launch/wireup-conform" "$bin/"
    run "$patience" "$bin/wireup-conform" --only pmix-4 --server chroot "$root" prterun --allow-run-as-root \
        --map-by :oversubscribe
    ok "PRRTE serves PMIx 4" grep -q "^[67] conform, 0 differ" "$out" || explain
    judges under_prrte_ours "under PRRTE" prrte-spoil
    all_programs under_prrte_ours "under PRRTE" prrte "$@"
    all_of_python under_prrte_ours "under PRRTE"
    judges under_wireup_ours "under wireup" spoil
    all_programs under_wireup_ours "under wireup" exchange "$@"
    all_of_python under_wireup_ours "under wireup"
}

# ---- what Open MPI 5 has besides

# With the header of 4.1 and the library of 5.
modern_program() # NAME...
{
    for program in "$@"; do
        mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -pthread -o "$bin/$program" "$e2e/mpi/$program.c" \
            -Wl,--allow-shlib-undefined "$(ls "$root"/usr/lib/*/libmpi.so.40)" || exit 1
    done
}

accepts()
{
    under_wireup 2 "$bin/accepts" spoil
    ok "a client's wrong word is seen to be wrong" grep -q "^accepts 2 WRONG" "$out" || explain
    under_wireup 2 "$bin/accepts" 20
    same "20 accepts on one port" "$rc $(cat "$out" "$err")" "0 accepts 2 good" || explain
}

modern()
{
    modern_program sessions psets survives replaces
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/accepts" "$e2e/mpi/accepts.c" || exit 1
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/meets" "$e2e/mpi/meets.c" || exit 1
    under_wireup 2 "$bin/hello"
    same "nothing of its session directories stays" "$rc $(ls -d "${TMPDIR:?}"/ompi.* "$root$TMPDIR"/ompi.* 2>/dev/null)" \
        "0 " || explain
    needs_host_names
    named_agent
    for where in "one node" "three nodes"; do
        set -- "$WIREUP"
        [ "$where" = "one node" ] || set -- "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2
        all_of_modern "$where" "$@"
    done
    accepts
}

# ---- walls

# A folder with what a program is linked with, and nothing else: no shell, no /proc, /dev or /tmp.
bare_folder()
{
    bare=$tmp/bare
    mkdir "$bare"
    cp "$WU_BUILD/tests/e2e/e2e-libpmi" "$WU_BUILD/tests/e2e/e2e-libpmi2" "$bin/rawpmix" "$bare"
    cp -R "$tmp/lib" "$bare/ours"
    for file in $(ldd "$bare"/e2e-* "$bare/rawpmix" "$bare"/ours/* | grep -o '/[^ ]*' | grep -v ':$' |
        sort -u); do
        case $file in
        *libpmi*) ;;
        *) mkdir -p "$bare${file%/*}" && cp -L "$file" "$bare$file" ;;
        esac
    done
}

bare_walls()
{
    bare_folder
    for what in "e2e-libpmi:spoil:lib 4 WRONG ranks=4" "e2e-libpmi:exchange:lib 4 good" \
        "e2e-libpmi2:spoil:pmi2 4 WRONG ranks=4" "e2e-libpmi2:exchange:pmi2 4 good" \
        "rawpmix:exchange:rawpmix 4 good"; do
        program=${what%%:*}
        what=${what#*:}
        launch 4 env LD_LIBRARY_PATH=/ours chroot "$bare" "/$program" "${what%%:*}"
        same "alone in its folder: $program ${what%%:*}" "$(head -n 1 "$out")" "${what#*:}" || explain
    done
}

# What a rank of PMIx can do behind a wall: with the library of the inside, and with ours.
behind() # NAME COMMAND...
{
    behind_name=$1
    shift
    launch 4 "$@" "$bin/rawpmix" foreign-spoil
    ok "$behind_name: a wrong value is seen" grep -q "WRONG rank 3: g of 0" "$out" || explain
    launch 4 "$@" "$bin/rawpmix" foreign
    same "$behind_name: a raw program" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" || explain
    launch 4 "$@" env LD_LIBRARY_PATH="$tmp/lib" "$bin/rawpmix" foreign
    same "$behind_name: a raw program on our library" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" ||
        explain
    for program in ring alltoall; do
        launch 4 "$@" "$bin/$program"
        same "$behind_name: $program" "$rc $(cat "$out")" "0 $program 4 good" || explain
    done
}

walls()
{
    bare_walls
    behind "a mount namespace each" "$e2e/chroot.sh" run "$chroot_dir" "$tmp" --
    # (Open MPI's shared memory breaks where several processes have the same pid, under mpirun too.)
    behind "a pid namespace each" env OMPI_MCA_btl=self,tcp unshare -p -f chroot "$root"
    behind "a user namespace each" unshare -r chroot "$root"
    behind "namespaces of names and of IPC" unshare -u -i chroot "$root"
    mkdir "$tmp/plain"
    mount --bind "$root" "$tmp/plain"
    mount -t tmpfs none "$tmp/plain/tmp"
    mkdir -p "$tmp/plain$bin" "$tmp/plain$tmp/lib"
    mount --bind "$bin" "$tmp/plain$bin"
    mount --bind "$tmp/lib" "$tmp/plain$tmp/lib"
    printf '%s\n' "chroot '$tmp/plain' \"\$@\"" "exit \$?" >"$bin/wrapped"
    launch 4 chroot "$tmp/plain" "$bin/rawpmix"
    ok "without /proc: a raw program" grep -q "^rawpmix 4 good" "$out" || explain
    launch 4 chroot "$tmp/plain" env LD_LIBRARY_PATH="$tmp/lib" "$bin/rawpmix"
    ok "without /proc: a raw program on our library" grep -q "^rawpmix 4 good" "$out" || explain
    launch 4 chroot "$tmp/plain" "$bin/ring"
    ok "without /proc: ring" grep -q "^ring 4 good" "$out" || explain

    # What ranks register goes, where they are; what has the same name here stays.
    for ours in A=1 LD_LIBRARY_PATH="$tmp/lib"; do
        for way in "chroot $tmp/plain" "sh $bin/wrapped" "unshare -p -f chroot $tmp/plain"; do
            : >"$tmp/swept"
            # shellcheck disable=SC2086 # words
            launch 2 $way env "$ours" "$bin/rawpmix" sweep "$tmp/swept"
            same "files of ranks go: ${way%% /*}, ${ours%%=*}" "$rc $(cat "$out")" "0 rawpmix 2 good" ||
                explain
            ok "nothing of that name goes here" [ -e "$tmp/swept" ]
            # (Who hides behind a process of ours, on a connection that both hold, is not found.)
            case $way$ours in
            unshare*LD*) rm -f "$tmp/plain$tmp/swept" ;;
            sh*LD*) rm -f "$tmp/plain$tmp/swept" ;;
            *) ok "it goes there" [ ! -e "$tmp/plain$tmp/swept" ] ;;
            esac
        done
    done
    launch 2 "$bin/rawpmix" sweep "$tmp/swept"
    ok "without walls it goes here" [ ! -e "$tmp/swept" ]
    umount -R "$tmp/plain"

    # Loopback is another one there: only what is inherited gets through.
    launch 4 unshare -n chroot "$root" env LD_LIBRARY_PATH="$tmp/lib" "$bin/rawpmix"
    same "a network namespace each: our library" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" || explain
    launch 2 unshare -n chroot "$root" "$bin/rawpmix"
    ok "a network namespace each: others are told that they cannot" eval \
        '[ "$rc" != 124 ] && grep -q "WRONG init" "$out"' || explain

    # A user who may nothing else.
    if ! setpriv --reuid 65534 --regid 65534 --clear-groups unshare -r true 2>/dev/null; then
        skip "a container of somebody else" "users may not make namespaces here"
        return
    fi
    mkdir "$tmp/root"
    mount --rbind "$root" "$tmp/root" # where everybody gets to
    for_others "$WIREUP"
    chmod 755 "$bin" "$bin"/*
    chmod 1777 "$TMPDIR"
    for env in A=1 LD_LIBRARY_PATH="$tmp/lib"; do
        run 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$others/wireup" -n 4 \
            unshare -r chroot "$tmp/root" env "$env" "$bin/rawpmix"
        same "a container of somebody else, ${env%%=*}" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" ||
            explain
    done
    umount -R "$tmp/root"
}

$part "$@"
# What ranks that were ended leave behind is Open MPI's own.
theirs_stay 'ompi.*' 'sm_segment.*'
finish
