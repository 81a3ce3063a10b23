#!/bin/sh
# How daemons get to other hosts (netns.sh) and to each other: users, ports of sshd, ports of daemons,
# interfaces, and hosts that are known by their IPv6 addresses only.  The tree has two levels, so that
# what is said reaches daemons that daemons start.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program rawpmi1
if ! netns_up 4; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
on() { run 300 "$WIREUP" -launcher-exec "ssh $netns_ssh" -launcher ssh "$@"; }
good() { same "$1" "$rc $(head -n 1 "$out")" "0 raw $2 good" || explain; }

# ---- sshd elsewhere, and users
netns_sshd_off n2
# shellcheck disable=SC2086
nsenter -t "$(netns_pid n2)" -n -u -m "$(command -v sshd)" -D -e -p 2222 -f "$netns/sshd_config" \
    >"$netns/n2.sshd" 2>&1 &
netns_sshd_2=$!
wait_until 60 grep -q 'listening on 0.0.0.0 port 2222' "$netns/n2.sshd"
on -hosts n1,n2 -n 2 "$bin/rawpmi1" exchange
same "nobody listens at the usual port" "$rc $(grep -c '^wireup: node n2: .*refused' "$err")" "125 1" || explain
printf '%s\n' 'n1' 'n2 port=2222' 'root@n3' >"$tmp/list"
on -hostfile "$tmp/list" -n 3 "$bin/rawpmi1" exchange
good "a host file with the port of one host" 3
on -hostfile "$tmp/list" -n 3 "$bin/rawpmi1" spoil
ok "the control is red" grep -q "^raw 3 WRONG" "$out" || explain
on -hosts n2 -launcher-port 2222 -n 1 "$bin/rawpmi1" exchange
good "one port for all" 1
printf '%s\n' 'n1 user=nosuchuser' >"$tmp/list"
on -hostfile "$tmp/list" -n 1 true
same "a user name that does not exist there" "$rc $(grep -c '^wireup: node n1: ' "$err") $(wc -l <"$err")" "125 1 1" || explain
ok "and sshd was asked for that user" grep -q 'nosuchuser' "$netns/n1.sshd" || note "$(cat "$netns/n1.sshd")"
on -hosts n3 -launcher-user alsonosuch -n 1 true
ok "a user for all" grep -q 'alsonosuch' "$netns/n3.sshd" || explain
run 60 "$WIREUP" -launch-agent true -hostfile "$tmp/list" true
same "a user name for a launch method without users" "$rc $(cat "$err")" \
    "125 wireup: node n1: a user is given, which only ssh and rsh can use, but daemons are started by true" || explain

# ---- ports of daemons, and interfaces
cat >"$tmp/ports" <<'END'
#!/bin/sh
echo $(sed -n 's/^ *[0-9]*: 0*:\([0-9A-F]*\) 0*:0000 0A .*/\1/p' /proc/net/tcp6)
END
chmod +x "$tmp/ports"
on -hosts n1,n3,n4 -n 3 -port-range 7000-7002 "$tmp/ports"
same "daemons wait at the ports of the range" "$rc $(grep -cw 1B5[89A] "$out")" "0 3" || explain
on -hosts n1,n3,n4 -n 3 -iface eth0 "$bin/rawpmi1" exchange
same "an interface that the launcher has not" "$rc $(cat "$err")" \
    "125 wireup: the network interface eth0 does not exist, is down or has no address" || explain
ip link set br0 down # its IPv6 addresses go with that
ip link set br0 name eth0
ip link set eth0 up
ip -6 addr add fd77::ffff/64 dev eth0 nodad
on -hosts n1,n3,n4 -n 3 -iface eth0 "$bin/rawpmi1" exchange
good "an interface that all have" 3
on -hosts n1,n3,n4 -n 3 -iface 10.77.255.1 "$bin/rawpmi1" exchange
good "an interface by the launcher's address" 3
on -hosts n1,n3,n4 -n 3 -iface 10.77.128.0/17 "$bin/rawpmi1" exchange
ok "a network that others have no part in" eval '[ "$rc" = 125 ] &&
    grep -q "^wireup:   n\\[1,3-4\\]  the network interface 10.77.128.0/17 does not exist" "$err"' || explain

# ---- IPv6
for i in 1 3 4; do
    netns_run n$i ip -4 addr flush dev eth0
done
ip -4 addr flush dev eth0
on -hosts fd77::1,fd77::3,fd77::4 -n 3 "$bin/rawpmi1" exchange
good "hosts that have nothing but IPv6" 3
ip link set eth0 down
ip link set eth0 name br0
netns_still
netns_down
finish
