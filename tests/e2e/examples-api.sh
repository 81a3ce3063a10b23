#!/bin/sh
# The programs of examples/api, which make each call of the three libraries once (docs/api.md): each is good.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
api=$WU_BUILD/examples/api/api-

good() # EXAMPLE COMMAND...: it says so, once, and nothing is wrong
{
    example=$1
    shift
    run 100 "$@"
    ok "$example" [ "$rc $(grep -c "^$example: good$" "$out") $(grep -c WRONG "$out")" = "0 1 0" ] || explain
}

for example in values structures server; do
    good "$example" "$api$example"
done
for example in buffers client pmi pmi2; do
    good "$example" "$WIREUP" -n 2 "$api$example"
done

# ---- a tool, with a job that reads -------------------------------------------------------------
mkfifo "$tmp/hold"
exec 9<>"$tmp/hold"
"$WIREUP" -stdin all -n 1 sh -c 'echo up; while read -r word && [ "$word" != go ]; do :; done' <"$tmp/hold" >"$tmp/job" 2>&1 &
job=$!
wait_until 60 [ -s "$tmp/job" ]
good tool "${api}tool" "$("$WIREUP" tools | sed -n "s/^$job	//p")"
echo go >&9
exec 9>&-
wait "$job"
finish
