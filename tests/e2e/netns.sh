# netns.sh - a cluster on one machine: hosts that are network name spaces on one bridge, each with a
# name of its own (UTS name space), its own /etc/hosts and a real sshd.  Sourced after lib.sh; needs
# root.  Everything lives inside one outer set of name spaces, which the kernel takes away with its
# first process: whoever is killed, nothing stays.
#
#   netns_world "$@"        in place of private_world
#   netns_up N              hosts n1 ... nN, reachable from here (which is called head); 10.77.0.I and
#                           fd77::I.  Sets netns_ssh: words for ssh (and for -args); $netns/local is
#                           a folder that each host has for itself, and HOME there: start-up
#                           files of the real user are no part of a test
#                           With netns_bare they have no sshd
#   netns_run HOST COMMAND  in that host's name spaces
#   netns_sshd_off HOST, netns_sshd_on HOST
#   netns_cut HOST          pulls its cable; netns_mend HOST: puts it in, and waits until it carries
#   netns_strays            what runs on the hosts besides their sshds: "HOST PID COMMAND"
#   netns_quiet             true: no such thing
#   netns_down              ends all of it

netns_skip()
{
    echo "1..0 # SKIP $1"
    exit 0
}

netns_world() # "$@" of the script
{
    PATH=$PATH:/usr/sbin:/sbin
    export PATH
    [ -z "${WU_PRIVATE-}" ] || return 0
    for one in sshd ssh ip unshare nsenter; do
        command -v $one >/dev/null 2>&1 || netns_skip "$one is not installed"
    done
    unshare -n -u -m -p -i -f --mount-proc true 2>/dev/null ||
        netns_skip "this user may not make hosts of its own"
    export WU_PRIVATE=1
    # shellcheck disable=SC2016,SC2086 # words
    exec $usual_signals unshare -n -u -m -p -i -f --kill-child --mount-proc sh -c '
        mount -t tmpfs none /run && mkdir -m 755 /run/sshd
        exec "$@"' private sh "$e2e/private.sh" sh "$0" "$@"
}

netns_keys()
{
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$netns/host_key" &&
        ssh-keygen -q -t ed25519 -N '' -C '' -f "$netns/user_key" || return 1
    echo "* $(cut -d ' ' -f 1,2 "$netns/host_key.pub")" >"$netns/known_hosts"
    cp "$netns/user_key.pub" "$netns/authorized_keys"
    cat >"$netns/sshd_config" <<CONF
HostKey $netns/host_key
AuthorizedKeysFile $netns/authorized_keys
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PidFile none
MaxStartups 200
PrintMotd no
SetEnv HOME=$netns/local ${reports:+"ASAN_OPTIONS=$ASAN_OPTIONS" "TSAN_OPTIONS=$TSAN_OPTIONS" "UBSAN_OPTIONS=$UBSAN_OPTIONS"}
CONF
    cat >"$netns/ssh_config" <<CONF
IdentityFile $netns/user_key
IdentitiesOnly yes
KexAlgorithms curve25519-sha256
UserKnownHostsFile $netns/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
LogLevel ERROR
CONF
    netns_ssh="-F $netns/ssh_config"
}

# The first process of a host: sets up what only it sees, tells that it is there, waits for its cable.
netns_host() # I
{
    exec unshare -n -u -m sh -c '
        hostname "n$1"
        mount --bind "$2/hosts" /etc/hosts
        mount -t tmpfs none "$2/local"
        ip link set lo up
        echo "n$1" >"$2/made"
        read -r _ <"$2/go.$1"
        ip addr add "10.77.$(($1 / 250)).$(($1 % 250))/16" dev eth0
        ip -6 addr add "fd77::$(printf %x "$1")/64" dev eth0 nodad 2>/dev/null
        ip link set eth0 up
        echo "n$1" >"$2/linked"
        exec sleep infinity' host "$1" "$netns"
}

netns_up() # N
{
    netns=$tmp/netns
    netns_count=$1
    mkdir -p "$netns/local"
    chmod 755 "$tmp" "$netns"
    mkfifo "$netns/made" "$netns/linked"
    netns_keys || netns_skip "no keys can be made"
    hostname head
    ip link set lo up
    {
        echo "127.0.0.1 localhost"
        echo "10.77.255.1 head"
        for i in $(seq "$1"); do
            mkfifo "$netns/go.$i"
            echo "10.77.$((i / 250)).$((i % 250)) n$i"
        done
    } >"$netns/hosts"
    mount --bind "$netns/hosts" /etc/hosts
    # No name server: who is not in that file is nobody, at once.
    echo "nameserver 127.0.0.1" >"$netns/resolv.conf"
    mount --bind "$netns/resolv.conf" /etc/resolv.conf
    ip link add br0 type bridge
    ip link set br0 up
    ip addr add 10.77.255.1/16 dev br0
    ip -6 addr add fd77::ffff/64 dev br0 nodad 2>/dev/null
    # Opened for both directions, so that nobody's line is lost.
    exec 7<>"$netns/made" 8<>"$netns/linked"
    for i in $(seq "$1"); do
        (
            unset WU_MARK
            netns_host "$i"
        ) >"$netns/n$i.log" 2>&1 &
        eval "netns_pid_$i=$!"
    done
    for _ in $(seq "$1"); do
        read -r _ <&7
    done
    for i in $(seq "$1"); do
        eval "pid=\$netns_pid_$i"
        echo "link add v$i type veth peer name eth0 netns $pid"
        echo "link set v$i master br0 up"
    done | ip -batch - || return 1
    for i in $(seq "$1"); do
        echo go >"$netns/go.$i"
    done
    for _ in $(seq "$1"); do
        read -r _ <&8
    done
    exec 7<&- 8<&-
    for i in $(seq "$1"); do
        eval "netns_sshd_$i="
        [ -n "${netns_bare-}" ] || netns_sshd_on "n$i"
    done
    { [ -n "${netns_bare-}" ] || wait_until 120 netns_listening "$1"; } && netns_reach $(seq -f 'n%g' "$1")
}

# A cable that is in carries only when the kernel comes to it.  Who refuses is reached.
netns_reach() # HOST...
{
    python3 -c '
import socket, sys, time
until = time.monotonic() + 120
for host in sys.argv[1:]:
    while True:
        try:
            socket.create_connection((host, 9), 5).close()
        except ConnectionRefusedError:
            break
        except OSError as e:
            if time.monotonic() > until:
                sys.exit(f"{host}: {e}")
            time.sleep(0.02)' "$@"
}

netns_listening() # N
{
    [ "$(cat "$netns"/n*.sshd 2>/dev/null | grep -c 'listening on 0.0.0.0')" -ge "$1" ]
}

netns_pid() # HOST: of its first process
{
    eval "echo \$netns_pid_${1#n}"
}

netns_run() # HOST COMMAND...
{
    netns_in=$(netns_pid "$1")
    shift
    nsenter -t "$netns_in" -n -u -m --wd="$PWD" "$@"
}

netns_sshd_on() # HOST
{
    (
        unset WU_MARK
        exec nsenter -t "$(netns_pid "$1")" -n -u -m "$(command -v sshd)" -D -e -f "$netns/sshd_config"
    ) >"$netns/$1.sshd" 2>&1 &
    eval "netns_sshd_${1#n}=$!"
}

netns_sshd_off() # HOST
{
    eval "kill \$netns_sshd_${1#n}; wait \$netns_sshd_${1#n} 2>/dev/null"
    eval "netns_sshd_${1#n}="
    : >"$netns/$1.sshd" # it listens no more (netns_listening)
}

netns_cut() # HOST
{
    ip link set "v${1#n}" down
}

netns_mend() # HOST
{
    ip link set "v${1#n}" up
    netns_reach "$1"
}

netns_strays()
{
    netns_own=" "
    for i in $(seq "$netns_count"); do
        eval "netns_own=\"\$netns_own\$netns_pid_$i \$netns_sshd_$i \${netns_slurmd_$i-} \""
    done
    for proc in /proc/[0-9]*; do
        pid=${proc#/proc/}
        case $netns_own in *" $pid "*) continue ;; esac
        space=$(readlink "$proc/ns/uts" 2>/dev/null) || continue
        [ "$space" = "$netns_here" ] && continue
        words=$(tr '\0' ' ' 2>/dev/null <"$proc/cmdline")
        [ -n "$words" ] && echo "$pid $words"
    done
    :
}

netns_quiet()
{
    netns_here=$(readlink /proc/self/ns/uts)
    [ -z "$(netns_strays)" ]
}

netns_still() # a point: nothing runs on any host, soon
{
    wait_until 120 netns_quiet
    same "nothing is left on any host${1:+ $1}" "$(netns_strays)" ""
}

netns_down()
{
    for i in $(seq "$netns_count"); do
        eval "kill -9 \$netns_pid_$i \$netns_sshd_$i" 2>/dev/null
    done
    wait
    ip link del br0
    umount /etc/hosts /etc/resolv.conf
    rm -rf "$netns"
}
