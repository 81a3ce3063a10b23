#!/bin/sh
# Daemons on many hosts (netns.sh): they come up by ssh, in a tree and all from one, and go; every way
# in which one may not come is one sentence with the node's name; strangers disturb nobody; whoever is
# killed, nothing stays on any host.
#
#   daemons.sh [HOSTS]             HOSTS: 6 or more
#   daemons.sh HOSTS hang          brings up the hosts alone, says so, and waits to be killed
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
hosts=${1:-16}
netns_world "$@"
begin
wireupd=$WU_BUILD/src/daemon/wireupd
daemons=$WU_BUILD/tests/e2e/e2e-daemons
version=$("$wireupd" --version | cut -d ' ' -f 2)
if ! netns_up "$hosts"; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi
if [ "${2-}" = hang ]; then
    echo "hosts are up"
    exec sleep infinity
fi
all=
for i in $(seq "$hosts"); do
    all="$all n$i"
done

ssh_rise() # WORDS...
{
    run 120 "$daemons" -kind ssh -args "$netns_ssh" -wireupd "$wireupd" "$@"
}

names_up()
{
    sed -n 's/^up [0-9]* //p' "$out" | sort | tr '\n' ' '
}

sorted=$(printf '%s\n' $all | sort | tr '\n' ' ')

# ---- they come and go ---------------------------------------------------------------------------

for width in 1 2 4 "$hosts"; do
    [ "$width" = 1 ] && some="n1 n2 n3" || some=$all
    # shellcheck disable=SC2086
    ssh_rise -width "$width" $some
    same "all come up and go, $width below each" "$rc $(names_up)" \
        "0 $(printf '%s\n' $some | sort | tr '\n' ' ')" || explain
    same "and there is nothing to remark" "$(cat "$err"; grep -E '^(remark|failed|lost)' "$out")" ""
    netns_still
done
run 60 "$daemons" -kind exec -exec "ssh $netns_ssh" -wireupd "$wireupd" n1 n2 n3
same "any agent that is called as ssh is" "$rc $(names_up)" "0 n1 n2 n3 " || explain
# Found by the shell there, when it is not where ours is.
mkdir "$bin/path"
cp "$wireupd" "$bin/path/wireupd"
cat >"$bin/agent" <<'AGENT'
#!/bin/sh
# As ssh, to a node where Wireup is only on PATH.
node=$1
case $2 in
*/*) shift; exec ssh $NETNS_SSH "$node" /nowhere/"$*" ;;
*) shift; exec ssh $NETNS_SSH "$node" "PATH=$BIN/path:\$PATH" "$@" ;;
esac
AGENT
chmod +x "$bin/agent"
export NETNS_SSH="$netns_ssh" BIN="$bin"
run 60 "$daemons" -width 9 -kind exec -exec "$bin/agent" n1 n2
same "a daemon that is only on the node's PATH is found" "$rc $(names_up)" "0 n1 n2 " || explain
netns_still

# ---- they do not come ---------------------------------------------------------------------------

refused() # NAME WANT...: the failed line of the last run has all of these words
{
    line=$(grep '^failed' "$out" | head -n 1)
    missing=
    for word in "$@"; do
        case $line in *"$word"*) ;; *) missing="$missing '$word'" ;; esac
    done
    same "one sentence: $line" "$rc $(grep -c '^failed' "$out")$missing" "1 1" || explain
}

ssh_rise n1 nosuch n2
refused "node nosuch" "does not resolve"
ssh_rise -wireupd /nowhere/wireupd n1
refused "node n1" "/nowhere/wireupd does not exist" "-wireupd"
netns_sshd_off n2
ssh_rise n1 n2 n3
refused "node n2" "sshd running"
# Three deep: the one that fails is started by n1, and the launcher hears of it.
ssh_rise -width 1 n1 n2
refused "node n2" "sshd running"
netns_sshd_on n2
wait_until 60 netns_listening "$hosts"
netns_cut n3
ssh_rise n1 n2 n3
refused "node n3" "n3"
netns_mend n3
mv "$netns/known_hosts" "$netns/known_hosts.away"
touch "$netns/known_hosts"
ssh_rise n1
refused "node n1" "host key"
mv "$netns/known_hosts.away" "$netns/known_hosts"
mv "$netns/authorized_keys" "$netns/keys.away"
ssh_rise n1
refused "node n1" "key" "password"
mv "$netns/keys.away" "$netns/authorized_keys"
run 60 "$daemons" -kind exec -exec "$bin/agent-that-is-not-there" n1
refused "node n1" "agent-that-is-not-there"
# Whoever has not come when all end is ended by us: that is no failure of its own.
cat >"$bin/late" <<'AGENT'
#!/bin/sh
[ "$1" = late ] || exit 7
cat >/dev/null
shift
exec sh -c "$*" </dev/null
AGENT
chmod +x "$bin/late"
run 60 "$daemons" -kind exec -exec "$bin/late" -wireupd "$wireupd" late n1
refused "node n1" "7"
netns_still "after all that failed"

# ---- strangers ----------------------------------------------------------------------------------

hold() # WORDS...: brings up, and holds; the input of the job is descriptor 6
{
    rm -f "$tmp/in"
    mkfifo "$tmp/in"
    fresh
    # shellcheck disable=SC2086
    "$daemons" -hold -kind ssh -args "$netns_ssh" -wireupd "$wireupd" "$@" <"$tmp/in" \
        >"$out" 2>"$err" 7>&- &
    held=$!
    exec 6>"$tmp/in"
    wait_until 60 grep -q '^all up' "$out"
}

let_go()
{
    exec 6>&-
    wait "$held"
    rc=$?
}

hold n1 n2 n3
addresses=$(sed -n 's/^addresses //p' "$out")
port=${addresses%% *}
python3 "$e2e/daemons_unauthenticated.py" 10.77.255.1 "${port##*:}" "$wireupd" "$version" "$addresses" \
    >"$tmp/strangers" 2>&1
note "$(cat "$tmp/strangers")"
same "strangers are refused, and learn only what they may know" \
    "$(sed 's/:.*status/: status/' "$tmp/strangers")" "scan done
garbage unanswered
future named
past named
forged named
other job: status 1
other launcher: status 1"
ok "another job's daemon reports the reason" grep -q 'other job: .*trouble 1 .*another job' "$tmp/strangers"
ok "a daemon of another version as well" \
    grep -q "other launcher: .*trouble - .*Wireup $version .*Wireup 9.9.9" "$tmp/strangers"
# The other job's daemon has tried two of our addresses.
same "each stranger is one line" "$(grep -c 'refused a connection' "$err")" 7
let_go
same "and the job is undisturbed" "$rc $(grep -c ^lost "$out")" "0 0" || explain

# ---- kills --------------------------------------------------------------------------------------

daemon_of() # HOST: the daemon's worker
{
    netns_run "$1" sh -c 'for p in /proc/[0-9]*; do
        [ "$(readlink $p/ns/uts)" = "$(readlink /proc/self/ns/uts)" ] &&
            [ "$(cat $p/comm)" = wireupd ] && echo ${p#/proc/}
    done' 2>/dev/null | sort -n | tail -n 1
}

hold -width 2 n1 n2 n3 n4 n5 n6
kill -9 "$(daemon_of n2)"
wait_until 60 grep -q ^lost "$out"
same "a daemon that is killed is named" "$(sed -n 's/^lost \([0-9]*\) .*/\1/p' "$out" | head -n 1)" 2
let_go
same "and the launcher's status shows it" "$rc" 1
netns_still "after a daemon was killed"
hold -width 2 n1 n2 n3 n4 n5 n6
kill -9 "$held"
wait "$held" 2>/dev/null
exec 6>&-
netns_still "after the launcher was killed"

# ---- the test-bed itself ------------------------------------------------------------------------

mkfifo "$tmp/bed"
(cd / && TMPDIR=/tmp WU_PRIVATE='' exec sh "$e2e/daemons.sh" 3 hang) >"$tmp/bed" 2>&1 &
bed=$!
read -r line <"$tmp/bed"
same "hosts among hosts" "$line" "hosts are up"
ok "which are counted" [ "$(netns_strays | wc -l)" -gt 6 ]
kill -9 "$bed"
wait "$bed" 2>/dev/null
netns_still "after the test-bed was killed"

netns_down
finish
