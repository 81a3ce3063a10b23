#!/bin/sh
# joins-net.sh HOSTS ORDERS [nat] - hosts with networks of their own (netns.sh) join a DVM by themselves, in ORDERS
# random orders, before and after the launcher; nat: and one from behind a gateway, which nobody can call.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
c_program rawpmi1
hosts=$1
orders=$2
netns_bare=1
if ! netns_up "$hosts"; then
    note "$(cat "$netns"/*.log | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
wireupd=$WU_BUILD/src/daemon/wireupd
where=$tmp/addresses
token=$tmp/token

up() { run 120 "$WIREUP" up -join-only -join-token-file "$token" "$@"; }
join() # HOST WORDS...
{
    joiner=$1
    shift
    rm -f "$tmp/$joiner.log"
    # shellcheck disable=SC2016
    netns_run "$joiner" sh -c '"$@"; echo "ended: $?"' joiner "$wireupd" "$@" --token-file "$token" --slots 1 \
        >"$tmp/$joiner.log" 2>&1 </dev/null &
}
ended() { [ "$(cat "$tmp"/n*.log | grep -c "^ended: 0")" = "$1" ]; }
down() # NAME HOSTS
{
    run 120 "$WIREUP" down
    same "$1" "$rc $(cat "$err")" "0 " || explain
    ok "$1: with all hosts" wait_until 60 ended "$2" || note "$(tail -n 3 "$tmp"/n*.log)"
}
ms() { echo $(($(date +%s%N) / 1000000)); }

for order in $(seq "$orders"); do
    { seq -f 'n%g' "$hosts" && echo up; } | shuf >"$tmp/order"
    while read -r who; do
        begun=$(ms)
        if [ "$who" = up ]; then
            up -join-file "$where" >/dev/null
        else
            join "$who" --join "$where"
        fi
    done <"$tmp/order"
    run 120 "$WIREUP" run -wait -n "$hosts" hostname
    stat -c %.3Y "$tmp"/n*.log | tr -d . | sort -n | tail -n 1 >"$tmp/last"
    same "order $order: $(tr '\n' ' ' <"$tmp/order")" "$rc $(sort -u "$out" | wc -l)" "0 $hosts" || explain
    note "$(($(cat "$tmp/last") - begun)) ms from the last arrival until all have joined"
    down "order $order ends" "$hosts"
done

# ---- behind a gateway: n1 passes on what comes from there, under its own address
if [ "${3-}" = nat ]; then
    mkfifo "$tmp/made" "$tmp/go"
    exec 7<>"$tmp/made" 8<>"$tmp/go"
    # shellcheck disable=SC2016
    netns_run n1 unshare -n -u sh -c '
        hostname behind
        ip link set lo up
        echo $$ >"$0/made"
        read -r _ <"$0/go"
        ip link set in0 up && ip addr add 192.168.5.2/24 dev in0 && ip route add default via 192.168.5.1
        echo made >"$0/made"
        exec sleep infinity' "$tmp" 7>&- 8>&- &
    read -r behind <&7
    # shellcheck disable=SC2016
    netns_run n1 sh -c '
        ip link add gw0 type veth peer name in0 netns "$0" && ip addr add 192.168.5.1/24 dev gw0 && ip link set gw0 up
        echo 1 >/proc/sys/net/ipv4/ip_forward
        nft add table ip nat && nft "add chain ip nat out { type nat hook postrouting priority 100; }" &&
            nft add rule ip nat out oif eth0 masquerade' "$behind" || note "no gateway"
    echo go >&8
    read -r _ <&7
    run 20 python3 -c 'import socket; socket.create_connection(("192.168.5.2", 9), 5)'
    ok "nobody can call the host behind the gateway" grep -q "unreachable\|timed out" "$err" || explain
    up -join-port 7000
    # shellcheck disable=SC2016
    nsenter -t "$behind" -n -u -m sh -c '"$@"; echo "ended: $?"' joiner "$wireupd" --join head:7000 \
        --token-file "$token" --slots 1 >"$tmp/n0.log" 2>&1 </dev/null &
    join n2 --join head:7000
    join n3 --join head:7000
    run 120 "$WIREUP" run -wait -n 3 "$bin/rawpmi1" exchange
    same "it takes part in a job" "$rc $(head -n 1 "$out" | cut -d ' ' -f 1-3)" "0 raw 3 good" || { explain; note "$(cat "$tmp/n0.log")"; }
    run 120 "$WIREUP" run -n 3 hostname
    same "with others" "$rc $(sort "$out" | tr '\n' ' ')" "0 behind n2 n3 " || explain
    rm -f "$tmp"/n[4-9]*.log "$tmp/n1.log"
    down "it ends" 3
    kill "$behind"
    exec 7>&- 8>&-
fi
netns_still
netns_down
finish
