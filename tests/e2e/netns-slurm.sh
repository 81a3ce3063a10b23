# netns-slurm.sh - Slurm on the hosts of netns.sh: slurmctld here, a slurmd on each.  Sourced after
# lib.sh and netns.sh; nothing of the system's configuration is read.
#
#   netns_slurm_up       starts all, and returns when every node is idle; sets SLURM_CONF.  Ends the test
#                        with a skip where Slurm is not installed
#   netns_slurm_down
#
# Its limits of time are for clusters; on a loaded machine they would take nodes away from the test.
#
# TreeWidth is less than the number of hosts.  Where it is greater (50, unless told otherwise), Slurm 22.05
# takes each node for the root of a tree of its own, and a fence of mpi/pmix that brings no data waits
# for nobody elsewhere: cards that are asked for behind it are not there yet.

netns_slurm_idle()
{
    [ "$(sinfo -h -N -o '%N %T' 2>/dev/null | grep -c ' idle$')" = "$netns_count" ]
}

netns_slurm_up()
{
    for one in munged slurmctld slurmd srun salloc; do
        command -v $one >/dev/null 2>&1 || netns_skip "Slurm ($one) is not installed"
    done
    ! grep -qx deny /proc/self/setgroups 2>/dev/null ||
        netns_skip "Slurm's servers drop groups, which the name spaces of an ordinary user forbid"
    slurm=$netns/slurm
    mkdir -p "$slurm/state"
    chmod 755 "$slurm"
    head -c 128 /dev/urandom >"$slurm/key"
    chmod 400 "$slurm/key"
    cat >"$slurm/slurm.conf" <<CONF
ClusterName=wireup
SlurmctldHost=head(10.77.255.1)
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
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
TreeWidth=2
NodeName=n[1-$netns_count] CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    # Hosts share /tmp, which the plugin does not expect.
    echo "PMIxCliTmpDirBase=$netns/local" >"$slurm/mpi.conf"
    export SLURM_CONF="$slurm/slurm.conf"
    (
        unset WU_MARK
        munged --force --key-file="$slurm/key" --socket="$slurm/munge.sock" \
            --pid-file="$slurm/munge.pid" --log-file="$slurm/munge.log" \
            --seed-file="$slurm/seed" >/dev/null 2>&1
    ) || netns_skip "munged does not start: $(tail -n 1 "$slurm/munge.log")"
    (
        unset WU_MARK
        exec slurmctld -D
    ) >"$slurm/slurmctld.out" 2>&1 &
    slurm_pids=$!
    for i in $(seq "$netns_count"); do
        mkdir -p "$slurm/spool.n$i"
        (
            unset WU_MARK
            exec nsenter -t "$(netns_pid "n$i")" -n -u -m slurmd -D -N "n$i"
        ) >"$slurm/slurmd.n$i.out" 2>&1 &
        slurm_pids="$slurm_pids $!"
        eval "netns_slurmd_$i=$!"
    done
    if ! wait_until 60 netns_slurm_idle; then
        note "$(sinfo -N -l 2>&1)"
        note "$(tail -n 5 "$slurm"/*.log "$slurm"/*.out 2>/dev/null)"
        netns_skip "Slurm's servers do not start here"
    fi
}

netns_slurm_down()
{
    # (slurmctld may end before it has told all slurmds.)
    scontrol shutdown >/dev/null 2>&1
    # shellcheck disable=SC2086
    kill $slurm_pids 2>/dev/null
    for pid in $slurm_pids; do
        wait "$pid" 2>/dev/null
    done
    kill "$(cat "$slurm/munge.pid")" 2>/dev/null
    unset SLURM_CONF
    for i in $(seq "$netns_count"); do
        eval "netns_slurmd_$i="
    done
}
