# slurm-lib.sh - a Slurm cluster of one node in a folder: nothing of the system's configuration is
# read, nothing is left.  Sourced after lib.sh; needs to be root (of some name space).
#
#   slurm_start     starts munged, slurmctld and slurmd, and returns when the node is idle; sets
#                   SLURM_CONF.  Ends the test with a skip where Slurm is not installed
#   slurm_stop      ends them
#   slurm_program FILE   builds FILE.c with Slurm's libpmi2 as $bin/FILE; false: no header here
#
# Its limits of time are for clusters; on a loaded machine they would take the node away from the test.

slurm_skip()
{
    echo "1..0 # SKIP $1"
    exit 0
}

slurm_lives() # PID
{
    # Who has ended may still be a zombie of ours.
    case $(sed -n 's/.*) \(.\) .*/\1/p' "/proc/$1/stat" 2>/dev/null) in
    '' | Z) return 1 ;;
    esac
}

# Has one of the servers ended?  It would be ready for nothing, and sinfo waits for it for a minute.
slurm_over()
{
    for one in $slurm_pids; do
        slurm_lives "$one" || return 0
    done
    return 1
}

slurm_ready()
{
    slurm_over || sinfo -h -o %T 2>/dev/null | grep -qx idle
}

# Two ports that nobody listens on now.
slurm_ports()
{
    python3 -c '
import socket
s = [socket.socket() for _ in range(2)]
for x in s:
    x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])'
}

slurm_start()
{
    PATH=$PATH:/usr/sbin:/sbin
    for one in munged slurmctld slurmd srun; do
        command -v $one >/dev/null 2>&1 || slurm_skip "Slurm's server ($one) is not installed"
    done
    ls /usr/lib/*/slurm*/mpi_pmi2.so /usr/lib64/slurm/mpi_pmi2.so 2>/dev/null | grep -q . ||
        slurm_skip "Slurm's plugin mpi/pmi2 is not installed"
    ! grep -qx deny /proc/self/setgroups 2>/dev/null ||
        slurm_skip "Slurm's servers drop groups, which the name spaces of an ordinary user forbid"
    slurm=$tmp/slurm
    host=$(hostname -s)
    mkdir -p "$slurm/state" "$slurm/spool"
    chmod 755 "$tmp" "$slurm"
    head -c 128 /dev/urandom >"$slurm/key"
    chmod 400 "$slurm/key"
    # shellcheck disable=SC2046
    set -- $(slurm_ports)
    cat >"$slurm/slurm.conf" <<CONF
ClusterName=wireup
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.sock
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PropagateResourceLimits=NONE
KillWait=1
MessageTimeout=90
TCPTimeout=60
SlurmdTimeout=0
UnkillableStepTimeout=900
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF="$slurm/slurm.conf"
    munged --force --key-file="$slurm/key" --socket="$slurm/munge.sock" \
        --pid-file="$slurm/munge.pid" --log-file="$slurm/munge.log" --seed-file="$slurm/seed" \
        >/dev/null 2>&1 || slurm_skip "munged does not start: $(tail -n 1 "$slurm/munge.log")"
    slurmctld -D >"$slurm/slurmctld.out" 2>&1 &
    slurm_pids=$!
    slurmd -D >"$slurm/slurmd.out" 2>&1 &
    slurm_pids="$slurm_pids $!"
    if ! wait_until 120 slurm_ready || slurm_over; then
        note "$(tail -n 5 "$slurm"/*.log "$slurm"/*.out 2>/dev/null)"
        slurm_stop
        slurm_skip "Slurm's server does not start here"
    fi
}

slurm_ended()
{
    for one in $slurm_pids; do
        ! slurm_lives "$one" || return 1
    done
}

# munged goes last: slurmd waits for its step daemons, whose goodbyes need it.
slurm_stop()
{
    # (slurmctld may end before it has told slurmd.)
    scontrol shutdown >/dev/null 2>&1
    # shellcheck disable=SC2086
    kill $slurm_pids 2>/dev/null
    # shellcheck disable=SC2086
    wait_until 120 slurm_ended || kill -9 $slurm_pids 2>/dev/null
    kill "$(cat "$slurm/munge.pid")" 2>/dev/null
    # shellcheck disable=SC2086
    wait $slurm_pids
}

slurm_program() # FILE
{
    [ -e /usr/include/slurm/pmi2.h ] || return 1
    for one in /usr/lib/*/libpmi2.so.0 /usr/lib64/libpmi2.so.0; do
        [ -e "$one" ] && c_program "$1" -w "$one" -pthread && return 0
    done
    return 1
}
