#!/bin/sh
# A process that ends before it has joined the others: they are not left waiting for it, whatever it
# ended with, and whoever still holds its socket; on one node and on several.
#
#   early-exits.sh ours|all         ours: what is built here, and raw clients; all: MPI programs too
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=${WU_GONE_PATIENCE:-60}
needs_host_names
named_agent
c_program rawpmi1
build=$WU_BUILD/tests/e2e
programs="$bin/rawpmi1 exchange|$build/e2e-libpmi exchange|$build/e2e-libpmi2 exchange|$build/e2e-rawpmix exchange"
if [ "$1" = all ]; then
    mpi_program hello
    programs="$programs|$bin/hello"
    if command -v mpicc.openmpi >/dev/null 2>&1; then
        mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/hello-openmpi" "$e2e/mpi/hello.c" || exit 1
        programs="$programs|$bin/hello-openmpi"
    fi
fi

# What rank 1 or 3 does instead of the program: $1 is the rank, $2 what it does.
cat >"$bin/wrapper" <<'END'
#!/bin/sh
who=$1 deed=$2
shift 2
[ "$PMI_RANK" = "$who" ] || exec "$@"
case $deed in
exit*) exit "${deed#exit}" ;;
held*) # a grandchild holds the socket, and its streams are not ours
    sleep 1000 >/dev/null 2>&1 </dev/null &
    exit "${deed#held}" ;;
kill) kill -9 $$ ;;
failing) # the program does not start, and nobody looks
    /nonexistent/program 2>/dev/null
    exit 0 ;;
esac
END
chmod +x "$bin/wrapper"

one=
four="-launch-agent $tmp/agent -hosts n1,n2,n3,localhost"
for where in "$one" "$four"; do
    for deed in exit0 exit3 held0 held3 kill failing; do
        case $deed in
        exit0 | held0 | failing) want=1 words="exited with code 0" ;;
        exit3 | held3) want=3 words="exited with code 3" ;;
        kill) want=137 words="was killed by signal 9" ;;
        esac
        old_ifs=$IFS
        IFS='|'
        for program in $programs; do
            IFS=$old_ifs
            # shellcheck disable=SC2086
            run "$patience" "$WIREUP" $where -n 4 "$bin/wrapper" 1 $deed $program
            told=$(grep -c "^wireup: rank 1 on [^ ]* (pid [0-9]*) $words" "$err")
            same "${where:+four nodes, }$deed, ${program##*/}" "$rc $told" "$want 1" || explain
            [ $deed = kill ] ||
                ok "and that others wait for it" grep -q "wait for it in a fence" "$err" || explain
        done
        IFS=$old_ifs
    done
    # Nobody needs anybody.
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" $where -n 4 "$bin/wrapper" 1 exit0 true
    same "programs without PMI end as they like" "$rc $(cat "$err")" "0 " || explain
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" $where -n 4 "$bin/wrapper" 1 exit3 sh -c 'echo went on'
    same "and with what code they like" "$rc $(grep -c 'went on' "$out")" "3 3" || explain
    rm -f /dev/shm/open_mpi.[0-9]* # what Open MPI tries out, in a rank that is ended meanwhile
    nothing_left "${where:+on four nodes}"
done
finish
