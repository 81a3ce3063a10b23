#!/bin/sh
# Members of PMIx groups are killed at random, in any phase (groups_kills.c): the others end, and every
# status that they got is true and the same for all.  On one node and on four, and on four of which whole
# nodes are lost, whose daemons a member kills.
#
#   groups-kills.sh FIRST COUNT     so many runs of each, from this seed on
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=60
kills=$WU_BUILD/tests/e2e/e2e-groups-kills

# SEED: how it went; nothing: well.
verdict()
{
    # The job's own exit code is that of the victims.
    survivors=$(sed -n 's/^kills good of //p' "$out" | sort -u)
    [ "$(grep -c '^kills good of' "$out")" = "${survivors:-none}" ] && return
    echo "seed $1: exit status $rc; $(head -n 3 "$out" | tr '\n' ';')"
}

# FIRST COUNT OPTIONS...
each_seed()
{
    seed=$1 last=$(($1 + $2))
    shift 2
    while [ "$seed" -lt "$last" ]; do
        # shellcheck disable=SC2086
        run "$patience" "$WIREUP" "$@" -enable-recovery -n 6 "$kills" "$seed" $victims
        verdict "$seed"
        seed=$((seed + 1))
    done
}

needs_host_names
named_agent
victims=
each_seed "$1" "$2" >"$tmp/bad"
same "$2 seeds on one node" "$(cat "$tmp/bad")" ""
each_seed "$1" "$2" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:1,n4:1 >"$tmp/bad"
same "$2 seeds on four nodes" "$(cat "$tmp/bad")" ""
victims=nodes
each_seed "$1" "$2" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:1,n4:1 >"$tmp/bad"
same "$2 seeds on four nodes that are lost" "$(cat "$tmp/bad")" ""

# ---- controls
printf 'kills good of 3\nkills good of 3\n' >"$out"
rc=0
ok "one survivor that says nothing is noticed" grep -q 'seed 0' <<END
$(verdict 0)
END
finish
