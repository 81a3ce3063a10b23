#!/bin/sh
# inherited.sh [started] - what a process has from whoever started it: all attributes of a process (inherited.c), in each way of
# starting one, are from where the table inherited.tsv says.  There are two sides, the launcher's and the node's, which differ in every
# attribute that this machine lets us choose.  And what a process must not have: secrets of other jobs, and random bytes of others.
# started: the daemon cannot be forked (it is built with a sanitizer), so that all of them start by exec.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
patience=60
library=libwireup-prefork
forked=${1-forked}
table=$e2e/inherited.tsv
if printf '#include <sodium.h>\n' | ${CC:-cc} -E - >/dev/null 2>&1; then
    c_program inherited -pthread -DSODIUM -lsodium
else
    c_program inherited -pthread
fi
inherited=$bin/inherited
compare() { python3 "$e2e/inherited.py" "$@" 2>&1; }

# (Sanitizers forbid core files.)
export ASAN_OPTIONS="${ASAN_OPTIONS-}:disable_coredump=0" TSAN_OPTIONS="${TSAN_OPTIONS-}:disable_coredump=0"
export INHERITED_DIR="$tmp/sides"
mkdir -p "$INHERITED_DIR/dir1" "$INHERITED_DIR/dir2"
chmod -R a+rwx "$INHERITED_DIR"
seen=$INHERITED_DIR/seen

as() { run "$patience" "$inherited" as "$@"; }
launcher() { as 1 "$WIREUP" "$@"; }
named_agent
printf '#!/bin/sh\nexec "%s" as 2 "%s" "$@"\n' "$inherited" "$tmp/agent" >"$tmp/node"
chmod +x "$tmp/node"

# ---- the two sides, and the table

as 1 "$inherited" show
mv "$seen.0" "$tmp/one" || explain
as 2 "$inherited" show
mv "$seen.0" "$tmp/two" || explain
"$inherited" sides >"$tmp/chosen"
rm -f "$INHERITED_DIR"/side* # the numbers may be given to others
sed -n 's/\tno$//p' "$tmp/chosen" | while read -r name; do note "this machine lets nobody choose: $name"; done
sed -n 's/\tyes$//p' "$tmp/chosen" >"$tmp/choices"
sort "$tmp/one" >"$tmp/one.sorted"
sort "$tmp/two" >"$tmp/two.sorted"
same "the sides differ in all that can be chosen" \
    "$(comm -12 "$tmp/one.sorted" "$tmp/two.sorted" | cut -f 1 | grep -Fx -f "$tmp/choices")" "adopts orphans"
ok "and there is something to choose" [ "$(wc -l <"$tmp/choices")" -ge 20 ] || note "$(cat "$tmp/chosen")"

# WAY: what its process has seen is from where the table says.
all_ways=
seen_by() # WAY
{
    all_ways="$all_ways $1"
    same "$1" "$(compare from "$table" "$1" "$tmp/one" "$tmp/two" "$seen".[0-9] | head -n 30)" "" || explain
    rm -f "$seen".*
}

# ---- on this machine

launcher -n 1 "$inherited" show
seen_by plain
launcher -stdin none -prefork -n 2 "$inherited" show
same "(both are forked)" "$rc $(cat "$err")" "0 " || explain
seen_by prefork
launcher -stdin none -max-restarts 1 -n 1 "$inherited" again
seen_by restart
launcher -stdin none -prefork -max-restarts 1 -n 2 "$inherited" again
seen_by restart-prefork
launcher -stdin none -restart-job 1 -n 1 "$inherited" again
seen_by restart-job
launcher -stdin none -hosts localhost:4 -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 1 "$inherited" show
seen_by spawn

# ---- controls: a start that deviates in one attribute is seen

while read -r name; do
    side=2
    [ "$name" != "signals pending" ] || side=1
    launcher -n 1 "$inherited" only "$name" $side "$inherited" show
    number=$((${number-0} + 1))
    mv "$seen.0" "$tmp/deviates.$number"
done <"$tmp/choices"
rm -f "$INHERITED_DIR"/side*
same "a deviation in any of them is seen" "$(compare missed "$table" plain "$tmp/one" "$tmp/two" "$tmp/choices" "$tmp/deviates")" "" ||
    explain

# ---- on other nodes, whose daemons have the launcher's side (as srun passes it on), or one of their own (as by ssh)

launcher -stdin none -launch-agent "$tmp/agent" -hosts n1 -n 1 "$inherited" show
seen_by agent
launcher -stdin none -launch-agent "$tmp/node" -hosts n1 -n 1 "$inherited" show
seen_by hosts
launcher -stdin none -launch-agent "$tmp/node" -hosts n1:2 -prefork -n 2 "$inherited" show
seen_by hosts-prefork

# ---- on a DVM

# How the daemon of a job was started.
cat >"$tmp/how" <<END
#!/bin/sh
grep -q $library /proc/\$PPID/maps && echo forked || echo started
END
chmod +x "$tmp/how"
is_forked() { launcher run -dvm dvm -hosts n1 -n 1 "$tmp/how" && [ "$(cat "$out")" = "$forked" ]; }
job() { launcher run -dvm dvm -hosts n1 -stdin none "$@"; }

here=$(hostname)
as 2 "$WIREUP" up -launch-agent "$tmp/agent" -hosts "$here:1,n1:4"
same "a DVM" "$rc" 0 || explain
job -n 1 "$inherited" show
seen_by dvm-first
ok "daemons of later jobs are $forked" wait_until "$patience" is_forked || explain
job -n 1 "$inherited" show
seen_by dvm
job -prefork -n 2 "$inherited" show
seen_by dvm-prefork
job -max-restarts 1 -n 1 "$inherited" again
seen_by dvm-restart
job -n 1 "$WU_BUILD/tests/e2e/e2e-spawner" 1 "$inherited" show
seen_by dvm-spawn
printf -- '-n 1 -dvm dvm -hosts n1 %s show\n' "$inherited" >"$tmp/lines"
launcher run -batch "$tmp/lines"
seen_by dvm-batch-apart
launcher run -dvm dvm -stdin none -hosts "$here" -n 1 "$inherited" show
seen_by own-dvm
launcher on n1 "$inherited" show
seen_by on
"$WIREUP" tools >"$out"
uri=$(cut -f 2 "$out")
as 1 "$WU_BUILD/tests/e2e/e2e-inherited-tool" "$uri" n1 "$inherited" show
wait_until "$patience" test -s "$seen.0"
seen_by tool

# ---- the daemon of a job: the forked one is as the first one was

"$WIREUP" down >/dev/null
as 2 env INHERITED_OWNER=owner-of-the-dvm-0123456789 "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:4
job -n 1 "$inherited" parent
sort "$seen.0" >"$tmp/first"
ok "daemons of later jobs are $forked again" wait_until "$patience" is_forked || explain
job -n 1 "$inherited" parent
sort "$seen.0" >"$tmp/later"
same "a forked daemon of a job has all that the first one had" \
    "$(wc -l <"$tmp/first" | sed 's/^[0-9]\{2,\}$/many/') $(diff "$tmp/first" "$tmp/later")" "many " || explain
rm -f "$seen".*
printf -- '-n 1 %s show\n' "$inherited" >"$tmp/lines"
launcher run -batch "$tmp/lines"
seen_by dvm-batch

# ---- secrets and random bytes: two jobs at once, each of two ranks

hold() # JOB SECRET
{
    mkfifo "$tmp/go.$1"
    INHERITED_SECRET=$2 "$WIREUP" run -dvm dvm -stdin none -hosts n1 -n 1 "$inherited" wait "$tmp/held.$1" "$tmp/go.$1" \
        >"$tmp/hold.$1" 2>&1 </dev/null &
    wait_until "$patience" test -s "$tmp/held.$1" || note "$(cat "$tmp/hold.$1")"
}
parent_of() { ps -o ppid= -p "${1:-0}" | tr -d ' '; }
zygotes()
{
    for z in $(pgrep -x wireupd); do
        grep -q $library "/proc/$z/maps" 2>/dev/null && ! pgrep -P "$z" >/dev/null && echo "$z"
    done
}
secret1=secret-of-one-$$-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
secret2=secret-of-two-$$-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
hold 1 "$secret1"
hold 2 "$secret2"
rank1=$(cat "$tmp/held.1") rank2=$(cat "$tmp/held.2")
daemon1=$(parent_of "$rank1") daemon2=$(parent_of "$rank2")
guard1=$(parent_of "$daemon1") guard2=$(parent_of "$daemon2")
dvm=$(parent_of "$guard1")
# shellcheck disable=SC2046
everybody="$rank1 $rank2 $daemon1 $daemon2 $guard1 $guard2 $dvm $(parent_of "$dvm") $(echo $(zygotes))"
note "ranks $rank1 $rank2, daemons $daemon1 $daemon2, supervisors $guard1 $guard2, the DVM's daemon $dvm, others: $(zygotes)"
# shellcheck disable=SC2086
same "a secret of one job is in its rank and its daemon alone" "$(compare memory "$secret1" $everybody)" "$rank1 $daemon1"
# shellcheck disable=SC2086
same "that of the other one likewise" "$(compare memory "$secret2" $everybody)" "$rank2 $daemon2"
same "the environment of the DVM's owner is in no rank" "$(compare memory owner-of-the-dvm-0123456789 "$rank1" "$rank2" "$dvm")" "$dvm"
same "each daemon has random bytes of its own" "$(compare start "$daemon1" "$daemon2" "$dvm" | sort -u | wc -l)" 3
: >"$tmp/go.1" &
: >"$tmp/go.2" &
wait
"$WIREUP" down >/dev/null

# ---- a token that a daemon was given by its environment

token=$(od -An -N32 -tx8 /dev/urandom | tr -d ' \n')
(umask 077; echo "$token" >"$tmp/token")
run "$patience" "$WIREUP" up -join-only -join-token-file "$tmp/token" -join-file "$tmp/where"
same "a DVM that nodes join" "$rc" 0 || explain
WIREUP_JOIN_TOKEN=$token "$tmp/agent" n1 "$(dirname "$WIREUP")/../daemon/wireupd" --join "$tmp/where" >"$tmp/joined" 2>&1 </dev/null &
has_node() { run "$patience" "$WIREUP" run -dvm dvm -stdin none -hosts n1 -n 1 true && [ "$rc" = 0 ]; }
ok "a node has joined" wait_until "$patience" has_node || note "$(cat "$tmp/joined")"
wait_until "$patience" is_forked
rm -f "$tmp"/held.* "$tmp"/go.*
hold 1 "$secret1"
rank1=$(cat "$tmp/held.1")
daemon1=$(parent_of "$rank1")
dvm=$(parent_of "$(parent_of "$daemon1")")
# shellcheck disable=SC2046
same "the token is in no rank, no daemon of a job and nothing that these are forked from" \
    "$(compare memory "$token" "$rank1" "$daemon1" "$(parent_of "$daemon1")" $(zygotes))" ""
: >"$tmp/go.1" &
wait "$!"
WIREUP_JOIN_TOKEN=$token run "$patience" "$WIREUP" run -dvm dvm -stdin none -hosts n1 -n 1 env
same "nor is one of the launcher's own environment given to programs" "$rc $(grep -c "$token" "$out")" "0 0" || explain
WIREUP_JOIN_TOKEN=$token run "$patience" "$WIREUP" -n 1 env
same "on this machine, either" "$rc $(grep -c "$token" "$out")" "0 0" || explain
"$WIREUP" down >/dev/null
wait

# ---- a daemon of a DVM that has a second launcher

distant_agent
keep=$tmp/keep
as 2 "$WIREUP" up -keep "$keep" -keep-time 60 -launch-agent "$tmp/agent" -hosts n1:4
same "a DVM that is kept" "$rc" 0 || explain
lose_launcher
run "$patience" "$WIREUP" up -takeover "$keep"
same "has another launcher" "$rc" 0 || explain
job -n 1 "$inherited" show
seen_by dvm-taken
wait_until "$patience" is_forked
job -n 1 "$inherited" show
seen_by dvm-taken-later
"$WIREUP" down >/dev/null

# ---- what has to differ

for side in one two; do
    as 1 "$inherited" random
    mv "$seen.0" "$tmp/random.$side" || explain
done
twins() # WAY OPTIONS...
{
    twins_way=$1
    shift
    all_ways="$all_ways $twins_way"
    launcher "$@" -stdin none -n 2 "$inherited" random
    same "what has to differ: $twins_way" \
        "$(compare twins "$table" "$twins_way" "$tmp/random.one" "$tmp/random.two" "$seen.0" "$seen.1")" "" || explain
    rm -f "$seen".*
}
twins plain
twins prefork -prefork
cp "$tmp/random.one" "$seen.0"
ok "(bytes that do not differ are seen)" eval 'compare twins "$table" plain "$tmp/random.one" "$tmp/random.two" "$seen.0" "$seen.0" |
    grep -q "^random: bytes of the start: "'
rm -f "$seen".*

cat "$tmp/one" "$tmp/random.one" >"$tmp/names"
same "the table has a reason for every row, and none too many" "$(compare table "$table" "$all_ways" "$tmp/names")" ""
finish
