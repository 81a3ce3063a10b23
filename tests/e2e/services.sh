#!/bin/sh
# What the process manager does for processes at their request (services.c): on one node and on three, with
# our client library and with OpenPMIx's.
#
#   services.sh [syslog]      what goes to the syslog, too
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
ours=$WU_BUILD/tests/e2e/e2e-services
clients=$ours
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program services $pmix_flags
    clients="$ours $bin/services"
else
    skip "with OpenPMIx's client" "it is not installed"
fi

mkdir "$tmp/files"
export TZ=UTC0

# The lines of priority 1 of users' programs (9) and of info (14).
in_syslog() # NAME GOOD
{
    [ -z "${WU_SYSLOG-}" ] || same "the syslog, $1" "$(sort "$WU_SYSLOG" | tr '\n' ,)" "$2"
    rm -f "${WU_SYSLOG-}"
}

# With a syslog that is ours.
preloaded() # COMMAND...
{
    [ -z "${WU_SYSLOG-}" ] || export LD_PRELOAD="$bin/fakesyslog"
    "$@"
    unset LD_PRELOAD
}

logged() # NAME: to standard error
{
    same "logs, $1" "$(grep -v '^wireup' "$err" | sed 's/ nspace="[^"]*"//; s/^\[20[^]]*\] /[now] /')" \
"[1970-01-02T00:00:00+0000] <stderr>: one
[1970-01-02T00:00:00+0000] <stderr>: two
<stderr rank=\"$2\" time=\"1970-01-02T00:00:00+0000\">a &lt; b</stderr>
[now] three
[now] four" || explain
}

cleaned() # NAME: when the job has ended
{
    same "files that go with their job, $1" "$(cd "$tmp/files" && find clean.* | sort | tr '\n' ' ')" \
        "clean.empty clean.empty/a clean.kept clean.kept/stays clean.not clean.not/a clean.top "
    rm -rf "$tmp/files"/clean.*
}

launch 2 "$ours" "$tmp/files" lie
rm -rf "$tmp/files"/clean.*
ok "the control: an alert from nowhere is noticed" eval '[ "$rc" != 0 ] && grep -q "WRONG.*alerts of others" "$out"' ||
    explain

if [ "${1-}" = syslog ]; then
    c_program fakesyslog -shared -fPIC
    export WU_SYSLOG="$tmp/syslog"
fi
needs_host_names
named_agent
for client in $clients; do
    name=${client##*/}
    preloaded launch 3 "$client" "$tmp/files"
    same "on one node: $name" "$rc $(cat "$out")" "0 services all good" || explain
    logged "on one node: $name" 2
    cleaned "on one node: $name"
    in_syslog "on one node: $name" "wireup 14 [1970-01-02T00:00:00+0000] timed,wireup 9 for the launcher's,wireup 9 for the node,"
    preloaded run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 -n 6 "$client" "$tmp/files"
    same "on three nodes: $name" "$rc $(cat "$out")" "0 services all good" || explain
    logged "on three nodes: $name" 5
    cleaned "on three nodes: $name"
    in_syslog "on three nodes: $name" "wireup 14 [1970-01-02T00:00:00+0000] timed,wireup 9 for the launcher's,wireupd 9 for the node,"
done
rm -r "$tmp/files"
finish
