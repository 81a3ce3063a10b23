#!/bin/sh
# Open MPI's mpirun over two hosts (netns.sh), its daemons on our libpmix, on its own, or on one of each:
# what one library's server gives to a fence, the other's must read.
#
#   mpirun-nodes.sh RANKS...     on each of the two hosts; MPI, whose ranks are busy while they wait, up
#                                to 8 on each
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
for tool in mpicc.openmpi mpirun.openmpi orted; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "1..0 # SKIP Open MPI ($tool) is not installed"
        exit 0
    fi
done
netns_world "$@"
begin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/16 OMPI_MCA_oob_tcp_if_include=10.77.0.0/16
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_pml=ob1
ours=$WU_BUILD/src/lib/pmix
patience=300
# A library with AddressSanitizer needs its runtime in the daemons and programs that load it, and these
# were not built to leak nothing.
preload=$(sanitizer_preload "$ours/libpmix.so.2")
[ -z "$preload" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
for program in hello ring alltoall; do
    mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done
# shellcheck disable=SC2046
c_program pmixcalls $(pkg-config --cflags --libs pmix)
if ! netns_up 2; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi

# The daemon of a host has our library where it is told so; and so have its processes, unless they
# are told otherwise.
cat >"$bin/orted-on" <<'AGENT'
#!/bin/sh
ours=$1
preload=${2#-}
on=$3
shift 3
unset LD_LIBRARY_PATH LD_PRELOAD
case ,$on, in *,"$(hostname)",*) export LD_LIBRARY_PATH="$ours" ${preload:+LD_PRELOAD="$preload"} ;; esac
exec orted "$@"
AGENT
chmod +x "$bin/orted-on"

# on HOSTS RANKS COMMAND...: head is where mpirun is; HOSTS with commas between them have our library.
on()
{
    where=$1
    each=$2
    shift 2
    case ,$where, in *,head,*) mine=$ours ;; *) mine= ;; esac
    run "$patience" env ${mine:+LD_LIBRARY_PATH="$mine"} ${mine:+LD_PRELOAD="$preload"} mpirun.openmpi --oversubscribe \
        --mca plm_rsh_agent "ssh $netns_ssh" --mca orte_launch_agent "$bin/orted-on $ours -$preload $where" \
        -H "n1:$each,n2:$each" -n $((2 * each)) "$@"
}
theirs="env -u LD_LIBRARY_PATH -u LD_PRELOAD"

# ---- controls
# shellcheck disable=SC2016
on n2 1 sh -c 'echo "$(hostname) $(grep -c "'"$ours"'/libpmix" "/proc/$PPID/maps")"'
same "one daemon has our library, and the other has not" \
    "$rc $(sed 's/ [1-9][0-9]*$/ some/' "$out" | sort | tr '\n' ,)" "0 n1 0,n2 some," || explain
on head,n1,n2 2 "$bin/pmixcalls" spoil
ok "a wrong value is seen to be wrong" grep -q "^pmixcalls 4 WRONG" "$out" || explain

# ---- the programs
for n in "$@"; do
    all=$((2 * n))
    for where in head,n1,n2 head,n1 n2; do
        # OpenPMIx's server does not wait for what a process of its own node has not put yet.
        cards=cards
        [ "$n" = 1 ] || [ $where = head,n1,n2 ] || cards=fenced
        for who in "env" "$theirs"; do
            # shellcheck disable=SC2086
            on $where "$n" $who "$bin/pmixcalls" $cards
            same "cards of $all ranks, our library on $where ($who)" "$rc $(cat "$out")" \
                "0 pmixcalls $all good" || explain
        done
        [ "$n" -le 8 ] || continue
        on $where "$n" "$bin/hello"
        same "hello on $all ranks, our library on $where" "$rc $(grep -c "of $all\$" "$out")" "0 $all" || explain
        for program in ring alltoall; do
            on $where "$n" "$bin/$program"
            same "$program on $all ranks, our library on $where" "$rc $(cat "$out")" \
                "0 $program $all good" || explain
        done
    done
done
netns_still
netns_down
theirs_stay 'ompi.*' # as Open MPI's mpirun leaves them on its own library too
finish
