#!/bin/sh
# Queries over PMIx (query.c): one row of its table for each key, on one node and on three, from a
# process and from a tool, with OpenPMIx's library and with ours.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-query
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program query $pmix_flags
    clients="$ours $bin/query"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

# HOSTS...: in a job of three, rank 0 queries; then two tools do while the job waits for a line
job()
{
    mkfifo "$tmp/hold"
    exec 9<>"$tmp/hold"
    "$WIREUP" "$@" -n 3 "$client" hold <"$tmp/hold" >"$tmp/said" 2>"$tmp/told" &
    launcher=$!
    wait_until "$patience" grep -q "^query" "$tmp/said" || note "$(cat "$tmp/said" "$tmp/told")"
    same "a process asks ($nodes, ${client##*/})" "$(cat "$tmp/said")" "query $nodes good" ||
        note "$(cat "$tmp/said" "$tmp/told")"
    run "$patience" "$client" tool "$launcher" "$nodes"
    same "a tool asks ($nodes, ${client##*/})" "$rc $(cat "$out")" "0 query $nodes good" || explain
    echo go >&9
    wait "$launcher"
    same "the job ends well" $? 0
    exec 9>&-
    rm -f "$tmp/hold" "$tmp/said"
}

launch 3 "$ours" spoil
ok "what is wrong is seen to be wrong" grep -q "^query WRONG" "$out" || explain
needs_host_names
named_agent
ended() # HOSTS...: some of its processes have
{
    run "$patience" "$WIREUP" -continuous "$@" -n 3 "$client" ends
    same "how processes have ended ($nodes, ${client##*/})" "$rc $(cat "$out")" "7 query ends $nodes good" || explain
}

# The queues of Slurm, as sinfo prints them; a stand-in does, which fails or hangs as the test wants.
mkdir "$tmp/slurm"
cat >"$tmp/slurm/sinfo" <<'END'
#!/bin/sh
[ "$*" = "-h -o %R %a" ] || exit 2
case $SINFO in
fails) exit 1 ;;
hangs) exec sleep 1000 ;;
esac
printf 'debug up\nlong drain\n'
END
chmod +x "$tmp/slurm/sinfo"
queues() # NAME WANT SINFO LAUNCHER-OPTIONS...
{
    name=$1 want=$2 sinfo=$3
    shift 3
    run "$patience" env SLURM_JOB_ID=7 SINFO="$sinfo" PATH="$tmp/slurm:$PATH" "$WIREUP" -rmk none "$@" -n 1 "$client" queues
    same "queues, $name (${client##*/})" "$rc $(said)" "0 $want" || explain
}
said() # OpenPMIx has said NOT-FOUND before release 5
{
    sed 's/NOT-FOUND/PMIX_ERR_NOT_FOUND/g' "$out"
}
members() # LAUNCHER-OPTIONS...: its first job fills one slot of two on one node
{
    run "$patience" "$WIREUP" "$@" -n 1 "$client" members "$nodes"
    same "all nodes of the launcher ($nodes, ${client##*/})" "$rc $(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ,)" \
        "0  $nodes query child good, 1 query parent good," || explain
}

# A machine with what few have: a network interface on the PCI bus and an adapter of which all is known, and a file
# system of a server.
make_machine()
{
    WU_SYS=$tmp/sys WU_MOUNTS=$tmp/mounts
    export WU_SYS WU_MOUNTS
    class=$WU_SYS/class pci=$WU_SYS/devices/0000:03:00.1
    mkdir -p "$WU_SYS/bus/pci/drivers/ice" "$pci" "$class/net/made0" "$class/infiniband/made_1/ports/1"
    ln -s ../../bus/pci "$pci/subsystem"
    ln -s ../../bus/pci/drivers/ice "$pci/driver"
    ln -s ../../../devices/0000:03:00.1 "$class/net/made0/device"
    echo 0x8086 >"$pci/vendor"
    shows net/made0 type 1 address 02:00:00:00:00:07 operstate up ifindex 7 mtu 9000 speed 25000
    shows infiniband/made_1 node_guid 0002:c903:0000:0007 fw_ver 20.31.1014 ports/1/link_layer InfiniBand \
        ports/1/state "4: ACTIVE" ports/1/rate "200 Gb/sec (4X HDR)"
    printf '%s 0 0\n' "server:/made /made/share nfs4 ro,vers=4.2" "/dev/made /made/disk ext4 ro" >"$WU_MOUNTS"
    c_program fakemachine -shared -fPIC -ldl
}
shows() # DEVICE FILE LINE...
{
    device=$class/$1
    shift
    while [ $# != 0 ]; do
        echo "$2" >"$device/$1"
        shift 2
    done
}
made() # LAUNCHER-OPTIONS...
{
    run "$patience" env LD_PRELOAD="$bin/fakemachine" "$WIREUP" "$@" -n 3 "$client" made
    same "a machine that is made up ($nodes, ${client##*/})" "$rc $(cat "$out")" "0 query $nodes good" || explain
}
# A program that is not sanitized cannot be preloaded to one that is.
[ "${1-}" != machine ] || make_machine

nothing="PMIX_ERR_NOT_FOUND PMIX_ERR_NOT_FOUND PMIX_ERR_NOT_FOUND PMIX_ERR_NOT_FOUND"
all="debug,long debug=up,long=drain drain PMIX_ERR_NOT_FOUND"
for client in $clients; do
    queues "of sinfo" "$all" works
    queues "of another node" "$all" works -launch-agent "$tmp/agent" -hosts n1:1,n2:1 -hosts n2
    queues "sinfo fails" "$nothing" fails
    queues "sinfo hangs" "$nothing" hangs
    run "$patience" "$WIREUP" -n 1 "$client" queues
    same "no queues (${client##*/})" "$rc $(said)" "0 $nothing" || explain
done

for client in $clients; do
    nodes=1
    job -tool-files on
    ended
    members -hosts localhost:2
    [ -z "${WU_SYS-}" ] || made
    nodes=3
    job -tool-files on -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
    ended -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
    members -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -all-nodes
    [ -z "${WU_SYS-}" ] || made -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1
done
finish
