#!/bin/sh
# What earlier releases said on the wire: today's launcher serves their libraries, as it served them then, and today's
# `wireup trace` reads their traces.  tests/golden/releases/VERSION is made by tests/golden/record-release.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
patience=120
releases=$WU_SRC/tests/golden/releases
command -v python3 >/dev/null 2>&1 || {
    echo "1..0 # SKIP python3 is not installed"
    exit 0
}

differing() # : the names of the rows that differ
{
    echo "$verdicts" | sed -n 's/ differs$//p' | tr '\n' ',' | sed 's/,$//'
}

held() # VERSION: has it the MAJOR of this version?  (Until 1.0 a MINOR counts as one.)
{
    case $version in
    0.*) [ "${1%.*}" = "${version%.*}" ] ;;
    *) [ "${1%%.*}" = "${version%%.*}" ] ;;
    esac
}

messages() # TRACE: rank, way, protocol and name of each
{
    "$WIREUP" trace --json "$1" | python3 -c '
import json, sys
for line in map(json.loads, sys.stdin):
    if "way" in line:
        print(line["rank"], line["way"], line["protocol"], line["command"])'
}

version=$("$WIREUP" --version | sed -n 's/^wireup //p')
ok "this version has its folders" [ -d "$releases/$version" -a -d "$WU_SRC/abi/$version" ]
released=$(sed -n 's/^## \([0-9.]*\)$/\1/p; s/^## \([0-9.]*\) (2.*/\1/p' "$WU_SRC/CHANGELOG.md")
for one in $released; do
    ok "the release $one has its folders" [ -d "$releases/$one" -a -d "$WU_SRC/abi/$one" ]
done

for folder in "$releases"/*; do
    one=${folder##*/}
    held "$one" || continue
    conform --transcripts "$folder" --server "$WIREUP"
    same "the libraries of $one are served" "$rc $(differing) $(echo "$verdicts" | grep -c ' conforms$')" \
        "0  $(ls "$folder"/*/*.txt | wc -l)" || explain
    same "its traces are read" "$(messages "$folder/job.trace" | diff - "$folder/job.messages")" ""
done

# ---- what the next release will do
run 120 python3 "$WU_SRC/tests/golden/record-release" "$WU_SRC" "$WU_BUILD" "$tmp/again"
same "this version is recorded" "$rc $(cd "$tmp/again" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" \
    "0 $(cd "$releases/$version" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" || explain
conform --transcripts "$tmp/again" --server "$WIREUP"
same "and serves what was recorded" "$rc $(differing)" "0 " || explain

# ---- controls: a release that was answered otherwise
cp -r "$releases/$version" "$tmp/other"
sed -i '0,/barrier_out rc=0/s//barrier_out rc=1/' "$tmp/other/pmi1/libpmi-exchange.txt"
sed -i '0,/found=TRUE;port=port=1 2/s//found=TRUE;port=port=1 3/' "$tmp/other/pmi2/libpmi2-all.txt"
sed -i "0,/'tcp:..node:4711'$/s//'tcp:\/\/node:4712'/" "$tmp/other/pmix/libpmix-names.txt"
sed -i "0,/^0< .*@67 0200/s//0< @67 025b/" "$tmp/other/pmix/libpmix-groups.txt"
conform --transcripts "$tmp/other" --server "$WIREUP"
same "control: other answers differ" "$rc $(differing)" \
    "1 pmi1/libpmi-exchange,pmi2/libpmi2-all,pmix/libpmix-groups,pmix/libpmix-names" || explain
printf 'WIREUP-RECORD 3\n' >"$tmp/old.trace"
run 10 "$WIREUP" trace "$tmp/old.trace"
same "control: a trace of another form is refused" "$rc $(grep -c . "$err")" "2 1" || explain

# ---- transcripts that cannot be played
mkdir -p "$tmp/none" "$tmp/bad/pmix" "$tmp/many/pmi1"
printf '# a line\n# Ranks: 1.\n0> @65 020x\n' >"$tmp/bad/pmix/broken.txt"
printf '# a line\n# Ranks: 900.\n0> cmd=init\\n\n' >"$tmp/many/pmi1/many.txt"
while IFS='|' read -r folder sentence; do
    conform --transcripts "$tmp/$folder" --server "$WIREUP"
    same "transcripts that cannot be played ($folder)" "$rc $(sed "s,$tmp/,," "$err")" "2 wireup: conform: $sentence" || explain
done <<'END'
none|none has no transcripts: no pmi1/NAME.txt, pmi2 or pmix
bad|bad/pmix/broken.txt: this line of rank 0 cannot be read: @65 020x
many|many/pmi1/many.txt: it has 900 ranks, and may have 1 to 8
END
finish
