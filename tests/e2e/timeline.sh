#!/bin/sh
# A job is drawn from its traces: each process has a row, the one that is waited for is named, on one node
# and on three; a missing trace, a broken one and a wrong name have their sentences.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
client=$WU_BUILD/bench/bench-pmix-client
LD_LIBRARY_PATH=$WU_BUILD/src/lib/pmix
export LD_LIBRARY_PATH
timeline() { run 60 "$WIREUP" timeline "$@"; }

# One process comes to the fences late: it is the critical path until the first one.
cat >"$tmp/late" <<'END'
#!/bin/sh
[ "$PMI_RANK$PMIX_RANK" != 22 ] || sleep 1
exec "$@"
END
chmod +x "$tmp/late"
run 60 "$WIREUP" --trace "$tmp/one" -n 4 "$tmp/late" "$client" 2
same "a job is recorded" "$rc" 0 || explain
timeline "$tmp/one"
same "each process has a row" "$rc $(grep -c '^[0-3] on .*|.*[sF].*|$' "$out")" "0 4" || explain
ok "who was waited for is named" grep -q '  0.0000 .. .*rank 2 on .*until it enters fence 1$' "$out" || explain
for kind in html svg json txt; do
    timeline "$tmp/one" -o "$tmp/one.$kind"
    same "a picture: $kind" "$rc $(cat "$out" "$err")" "0 " || explain
done
ok "the picture is XML" python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$tmp/one.svg"
spans='import json, sys
e = json.load(open(sys.argv[1]))["traceEvents"]
print(len({x["tid"] for x in e if x["ph"] == "X"}), sum(x["name"] == "fence of all" for x in e))'
same "the JSON has four processes and their fences" "$(python3 -c "$spans" "$tmp/one.json")" "4 8"
ok "the page needs nothing from elsewhere" sh -c '! grep -qE "src=|href=|@import|url\(" "$1"' - "$tmp/one.html"

timeline "$tmp/one" -o "$tmp/one.gif"
same "an unknown picture" "$rc $(cat "$err")" \
    "2 wireup: --output must be a file that ends in .html, .svg, .json or .txt, not '$tmp/one.gif'"
timeline "$tmp/one" -o "$tmp/no/one.svg"
same "a place that is not there" "$rc $(cat "$err")" \
    "1 wireup: cannot write $tmp/no/one.svg: No such file or directory"
head -c 900 "$tmp/one" >"$tmp/cut"
timeline "$tmp/cut"
ok "a trace that was cut off is told of" grep -q 'cut is incomplete: ' "$err" || explain
timeline "$client"
same "what is no trace" "$rc $(grep -c . "$out")" "2 0" || explain

needs_host_names
named_agent
run 120 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:2 --trace "$tmp/three" -n 6 "$tmp/late" "$client" 2
same "a job on three nodes is recorded" "$rc" 0 || explain
timeline "$tmp/three"
same "their traces are one picture" "$rc $(grep -c '^[0-5] on n[123] *|.*[sF].*|$' "$out") $(cat "$err")" "0 6 " || explain
ok "who was waited for is named there" grep -q '  0.0000 .. .*rank 2 on n2, until it enters fence 1$' "$out" ||
    explain
ok "the clocks are compared" grep -qE '^  n3: [+-][0-9.]+ s, within [0-9.]+ s$' "$out" || explain
"$WU_SRC/tests/e2e/trace_split.py" "$WU_SRC" "$tmp/three"
rm "$tmp/three.n2"
timeline "$tmp/three"
same "a missing trace is named" "$rc $(cat "$err")" \
    "0 wireup: the traces of 1 node are missing, such as $tmp/three.n2, which is written on that node: \`wireup fetch $tmp/three\` brings them here"
finish
