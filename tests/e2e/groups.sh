#!/bin/sh
# PMIx groups (groups.c): on one node and on three, with our client and with OpenPMIx's.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=120
groups=$WU_BUILD/tests/e2e/e2e-groups

on_one() { run "$patience" "$WIREUP" -n 4 "$@"; }
on_three() { GROUPS_APART=yes run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:1,n3:1 -n 4 "$@"; }
on_one_of_five() { run "$patience" "$WIREUP" -n 5 "$@"; }
on_three_of_five() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:1 -n 5 "$@"; }
good() { same "$1" "$(cat "$out")" "groups 4 good" || explain; }

# WHERE COMMAND: every mode there.
each()
{
    where=$1 who=$2 program=$3
    "$where" "$program" values
    good "$who: values and directives, $where"
    # Two ranks are killed: the job fails for that, the others go on.
    "$where" -enable-recovery "$program" survive
    good "$who: members that end, $where"
    "$where" "$program" bootstrap
    good "$who: members that do not know each other, $where"
}

needs_host_names
named_agent
for where in on_one on_three; do
    each $where "our client" "$groups"
    "$where" "$groups" leave
    good "a member that leaves, $where"
done
invites=$WU_BUILD/tests/e2e/e2e-invites
for where in on_one on_three; do
    "$where" "$invites" answers
    same "who comes to a group by invitation, $where" "$(cat "$out")" "invites 4 good" || explain
    "${where}_of_five" -enable-recovery "$invites" ends
    same "members and leaders by invitation that end, $where" "$(sort "$out")" "$(
        printf 'invites %s survives\n' 1 2)" || explain
done
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    c_program groups -w $pmix_flags
    for where in on_one on_three; do
        each $where "OpenPMIx's client" "$bin/groups"
    done
    # shellcheck disable=SC2086
    c_program invites_mixed -w $pmix_flags
    for leader in 0 2; do
        run "$patience" "$WIREUP" -n 2 "$WU_BUILD/tests/e2e/e2e-invites-mixed" $leader : -n 2 "$bin/invites_mixed" $leader
        same "both clients in a group by invitation, rank $leader leads" "$(sort "$out")" "$(
            printf 'mixed %s good\n' 0 1 2 3)" || explain
    done
else
    skip "OpenPMIx's client" "it is not installed"
fi
finish
