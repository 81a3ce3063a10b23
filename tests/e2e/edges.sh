#!/bin/sh
# PMIx functions at their edges: edges.c on our library and on the OpenPMIx that is installed (4.2 or 5.0),
# compared with edges.tsv.
#
# The columns of edges.tsv: group; case; OpenPMIx 4.2.2; OpenPMIx 5.0.7 (empty: as 4.2.2); Wireup (empty: as
# 4.2.2); the reason for a difference.  `crashes` and `hangs` are not tried; nor is a cell that begins with `any`.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
table=$e2e/edges.tsv
three= # a group that runs in a job: on three nodes
tab=$(printf '\t')

# GROUP WHERE COMMAND...: prints the lines of a group.
cases()
{
    group=$1 where=$2
    shift 2
    if [ "$where" = job ] && [ -n "$three" ]; then
        run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 "$tmp/third" "$@" "$group"
    elif [ "$where" = job ]; then
        launch 1 "$@" "$group"
    else
        run "$patience" "$@" "$group"
    fi
}

# On three nodes: the cases run in the process of the third, the others end at once.
named_agent
cat >"$tmp/third" <<'END'
#!/bin/sh
[ "$PMIX_RANK" = 2 ] || exit 0
exec "$@"
END
chmod +x "$tmp/third"

# WHO COLUMN COMMAND...: a point for each row.
compare()
{
    who=$1 column=$2
    shift 2
    "$WU_BUILD/tests/e2e/e2e-edges" >"$tmp/groups"
    while read -r group where; do
        [ -z "$three" ] || [ "$where" = job ] || continue
        awk -F'\t' -v g="$group" -v c="$column" '$1 == g {
            want = c > 3 && $c != "" ? $c : $3
            print $2 "\t" want }' "$table" >"$tmp/want"
        EDGES_SKIP=$(awk -F'\t' '$2 == "crashes" || $2 == "hangs" { print $1 }' "$tmp/want")
        EDGES_SILENT=$(awk -F'\t' '$2 ~ /; not called back$/ { print $1 }' "$tmp/want")
        export EDGES_SKIP EDGES_SILENT
        cases "$group" "$where" "$@" </dev/null
        cp "$out" "$tmp/got"
        same "$who: $group ends well" "$rc $(sort "$tmp/got" | cut -f1 | uniq -d)" "0 " || explain
        # (By name: a group that says nothing leaves the first file empty, and all its cases are missed.)
        awk -F'\t' -v first="$tmp/got" 'FILENAME == first { got[$1] = $2; next } { print $0 "\t" got[$1] }' \
            "$tmp/got" "$tmp/want" >"$tmp/both"
        while IFS="$tab" read -r edge want got; do
            case $want in
            crashes | hangs) ;;
            any*) ok "$who: $edge" [ -n "$got" ] ;;
            *) same "$who: $edge" "$got" "$want" ;;
            esac
        done <"$tmp/both"
        same "$who: $group: the table has every case" \
            "$(cut -f1 "$tmp/want" | sort >"$tmp/known"; cut -f1 "$tmp/got" | sort | comm -13 "$tmp/known" -)" ""
    done <"$tmp/groups"
}

same "every difference has its reason" \
    "$(awk -F'\t' 'NF != 6 || ($5 != "" && $5 != $4 && $6 == "") { print NR ": " $0 }' "$table")" ""
compare Wireup 5 "$WU_BUILD/tests/e2e/e2e-edges"
if unshare -u true 2>/dev/null; then
    three=yes
    compare "Wireup on three nodes" 5 "$WU_BUILD/tests/e2e/e2e-edges"
    three=
else
    skip "the cases on three nodes" "this user may not give a process another host name"
fi

case $(pkg-config --modversion pmix 2>/dev/null) in
4.2*) reference="OpenPMIx 4.2" column=3 found=21 ;; # its client finds no session's number
5.0*) reference="OpenPMIx 5.0" column=4 found=31 ;;
*) reference= ;;
esac
if [ -z "$reference" ]; then
    skip "what OpenPMIx 4.2 or 5.0 does" "neither is installed"
elif [ $# -gt 0 ]; then
    # shellcheck disable=SC2046
    c_program edges -w $(pkg-config --cflags --libs pmix)
    mkdir "$tmp/theirs" # its server cannot be finalized, and leaves files
    # Its client reads what our server says of a job up to the first contradiction.
    EDGES_CHILD=$bin/edges
    export EDGES_CHILD
    run "$patience" "$WU_BUILD/tests/e2e/e2e-edges" server-session
    unset EDGES_CHILD
    same "OpenPMIx's client under our server finds what the host has told" "$(cut -f2 "$out")" "$found"
    compare "$reference" "$column" env TMPDIR="$tmp/theirs" "$bin/edges"
fi
finish
