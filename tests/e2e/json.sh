#!/bin/sh
# Every command prints JSON that is as docs/json.md has it: the commands are those that `wireup help --json` lists,
# and one that this script cannot run, or that has no --json, is a failure.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
needs_host_names
named_agent
c_program rawpmi1

schema() # NAME FILE: what the page of schemas says to it
{
    python3 "$WU_SRC/tests/check-schemas" "$WU_SRC" "$1" "$2" 2>&1
}
obeys() # SCHEMA WHAT
{
    same "$2" "$(schema "$1" "$tmp/json")" good || note "$(head -c 2000 "$tmp/json") $(cat "$err")"
}
# Each command once, as a user calls it.  One that prints until it is ended is ended here.
do_up() { "$WIREUP" up --json -launch-agent "$tmp/agent" -hosts n1,n2; }
do_on() { "$WIREUP" on --json n1 echo two words; }
do_grow() { "$WIREUP" grow --json -hosts n3; }
do_shrink() { "$WIREUP" shrink --json -hosts n3; }
do_down() { "$WIREUP" down --json; }
do_who() { "$WIREUP" who --json json; }
do_names() { "$WIREUP" names --json; }
do_ps() { "$WIREUP" ps --json; }
do_top() { "$WIREUP" top --json --count 1; }
do_tools() { "$WIREUP" tools --json; }
do_attach() { "$WIREUP" attach --json json; }
do_kill() { "$WIREUP" kill --json -s CONT json; }
do_trace() { "$WIREUP" trace --json "$tmp/trace"; }
do_fetch() { "$WIREUP" fetch --json "$tmp/trace"; }
do_timeline() { "$WIREUP" timeline --json "$tmp/trace"; }
do_replay() { "$WIREUP" replay --json "$tmp/trace"; }
do_conform() { "$WIREUP" conform --json --only pmi2/port --server "$WIREUP" || [ $? = 1 ]; }
do_sim() { "$WIREUP" sim --nodes 8 --json; }
do_map() { "$WIREUP" map --json -n 3 true; }
do_doctor() { "$WIREUP" doctor --json || [ $? = 1 ]; }
do_bug_report() { "$WIREUP" bug-report --json -o "$tmp/report.tar" "$tmp/trace"; }
do_config() { printf 'quiet\n' >settings && "$WIREUP" config --json --config settings; }
do_help() { "$WIREUP" help --json; }
do_version() { "$WIREUP" version --json; }
do_enter()
{
    "$WIREUP" serve -n 1 >"$tmp/served" 2>/dev/null &
    wait_until 60 [ -s "$tmp/served" ]
    "$WIREUP" enter --json $!
    enter_rc=$?
    kill $!
    wait $!
    return $enter_rc
}
do_serve()
{
    "$WIREUP" serve -n 1 --json 2>/dev/null &
    wait_until 60 [ -s "$tmp/json" ]
    kill $!
    wait $! || [ $? = 143 ]
}

"$WIREUP" help --json >"$tmp/help.json" 2>"$err"
python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["commands"]:
    print(c["name"], any("json" in o["names"] for o in c["options"]))' "$tmp/help.json" >"$tmp/commands" 2>>"$err"
ok "the commands are listed" [ "$(wc -l <"$tmp/commands")" -ge 20 ] || explain
same "one has no --json: srun, whose words are those of Slurm" "$(grep ' False$' "$tmp/commands")" "srun False"

run 120 "$WIREUP" -json -report-startup -trace "$tmp/trace" -n 2 "$bin/rawpmi1" exchange
cp "$err" "$tmp/json"
obeys wireup-startup-1 "the report of a start"
"$WIREUP" -json -launch-agent /bin/false -hosts n8,n9 -n 2 true 2>"$tmp/json"
obeys wireup-failures-1 "the failures of nodes"
"$WIREUP" -n 2 -job-name json sh -c 'echo up; exec sleep 1000' >"$tmp/up" 2>&1 &
job=$!
wait_until 60 eval '[ "$(grep -c up "$tmp/up")" = 2 ]'

# The DVM first and its end last; the others as they are listed.
sed -n '/^up /p' "$tmp/commands" >"$tmp/order"
sed '/^up /d; /^down /d; /^srun /d' "$tmp/commands" >>"$tmp/order"
sed -n '/^down /p' "$tmp/commands" >>"$tmp/order"
while read -r name _; do
    schema=$name
    : >"$tmp/json"
    "do_$(echo "$name" | tr - _)" >"$tmp/json" 2>"$err" </dev/null
    same "$name --json ends well" $? 0 || explain
    [ "$name" != map ] || schema=plan
    obeys "wireup-$schema-1" "$name --json is what the page says"
    cp "$tmp/json" "$tmp/json.$name"
done <"$tmp/order"
kill $job
wait $job

# What they say.
cat >"$tmp/judge.py" <<'END'
import json, os, sys
say = {os.path.basename(f)[5:]: json.load(open(f)) for f in sys.argv[1:]}
assert say["up"]["nodes"] == 2 and say["up"]["pid"] == say["down"]["pid"], (say["up"], say["down"])
assert say["on"]["output"] == "two words\n" and say["on"]["exit_code"] == 0, say["on"]
assert say["kill"]["processes"] == 2 and say["kill"]["signal"] == 18, say["kill"]
assert say["replay"]["traces"][0]["result"] == "same" and say["replay"]["traces"][0]["jobs"] == 1, say["replay"]
assert {f["name"] for f in say["bug-report"]["files"]} >= {"trace", "doctor.json", "version.txt"}, say["bug-report"]
assert [n["name"] for n in say["ps"]["launchers"][0]["nodes"] + say["ps"]["launchers"][1]["nodes"]] == ["n1", "n2"], say["ps"]
assert len(say["tools"]["launchers"]) == 2 and "127.0.0.1" in say["tools"]["launchers"][0]["uri"], say["tools"]
assert say["map"]["processes"] == 3 and say["version"]["version"], say["map"]
print("good")
END
same "with what is so" "$(cd "$tmp" && python3 judge.py json.up json.down json.on json.kill json.replay json.bug-report \
    json.tools json.map json.version json.ps 2>&1)" good
printf 'no trace' >"$tmp/none"
"$WIREUP" replay --json "$tmp/none" >"$tmp/json" 2>"$err"
same "replay of what is no trace" "$? $(grep -c '"result":"bad"' "$tmp/json")" "2 1" || explain
run 60 "$WIREUP" help --json nothing
same "help of nothing" "$rc $(cat "$out")" "2 " || explain
run 60 "$WIREUP" down --json
same "no DVM: no JSON" "$rc $(cat "$out")" "1 " || explain

# ---- controls
sed 's/"processes":/"process":/' "$tmp/json.kill" >"$tmp/json"
ok "a member that is missing is seen" eval 'schema wireup-kill-1 "$tmp/json" | grep -q "processes is missing"'
sed 's/"processes":[0-9]*/"processes":"x"/' "$tmp/json.kill" >"$tmp/json"
ok "a wrong type is seen" eval 'schema wireup-kill-1 "$tmp/json" | grep -q "processes is not integer"'
finish
