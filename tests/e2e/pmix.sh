#!/bin/sh
# OpenPMIx's client library, as Debian builds it, on our server: a program of our own, in two
# encodings; jobs of several protocols; and who is not let in.
#
#   pmix.sh RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -z "$pmix_flags" ]; then
    echo "1..0 # SKIP OpenPMIx (libpmix-dev) is not installed"
    exit 0
fi
# shellcheck disable=SC2086
{
    c_program rawpmix $pmix_flags
    c_program nopmixget -shared -fPIC $pmix_flags
}

# ---- controls
launch 3 "$bin/rawpmix" spoil
ok "a wrong value is seen to be wrong" grep -q "^rawpmix 3 WRONG rank 2: g of 0" "$out" || explain
ok "and rank 0 does not report success" eval '! grep -q good "$out"' || explain
launch 2 env LD_PRELOAD="$bin/nopmixget" "$bin/rawpmix"
ok "where every Get fails, nothing is good" eval '! grep -q good "$out"' || explain
launch 2 env -u PMIX_NAMESPACE "$bin/rawpmix"
ok "nor without a name" eval '! grep -q "rawpmix 2 good" "$out"' || explain

# ---- the library
for n in $(rank_counts "$@"); do
    launch "$n" "$bin/rawpmix"
    same "$n ranks: cards, names, meetings, events" "$rc $(cat "$out" "$err")" "0 rawpmix $n good" || explain
    launch "$n" env -u PMIX_SERVER_URI61 -u PMIX_SERVER_URI51 -u PMIX_SERVER_URI41 -u PMIX_SERVER_URI4 \
        -u PMIX_SERVER_URI2 -u PMIX_SERVER_URI21 "$bin/rawpmix"
    same "$n ranks in the encoding v3" "$rc $(cat "$out" "$err")" "0 rawpmix $n good" || explain
done
launch 1 "$bin/rawpmix" : -n 2 env -u PMIX_SERVER_URI61 -u PMIX_SERVER_URI51 -u PMIX_SERVER_URI41 \
    -u PMIX_SERVER_URI4 -u PMIX_SERVER_URI2 -u PMIX_SERVER_URI21 "$bin/rawpmix"
same "one job in two encodings" "$rc $(cat "$out" "$err")" "0 rawpmix 3 good" || explain
launch 4 "$bin/rawpmix" leave
ok "a rank that leaves without finalize ends the job" [ "$rc" != 0 ] || explain
ok "and nobody hung" [ "$rc" != 124 ] || explain

# ---- three protocols, one store
for version in 1 2; do
    lib=pmi
    [ $version = 1 ] || lib=pmi2
    ${CC:-cc} -std=gnu11 -O1 -DMIXED=$version -I"$WU_SRC/include" -o "$bin/mixed$version" "$e2e/mixed.c" \
        "$WU_BUILD/src/lib/$lib/lib$lib.so.0" -Wl,-rpath,"$WU_BUILD/src/lib/$lib" || exit 1
done
words="PMI-1 PMI-2 PMIx PMIx PMI-1"
# shellcheck disable=SC2086
launch 1 "$bin/mixed1" $words : -n 1 "$bin/mixed2" $words : -n 2 "$bin/rawpmix" mixed $words : \
    -n 1 "$bin/mixed1" $words
same "PMI-1, PMI-2 and PMIx meet, and read each other's cards" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 mixed PMI-1 0 good,mixed PMI-1 4 good,mixed PMI-2 1 good,mixed PMIx 2 good,mixed PMIx 3 good," || explain
# shellcheck disable=SC2086
launch 1 "$bin/mixed1" PMI-2 PMI-2 : -n 1 "$bin/rawpmix" mixed PMI-1 PMI-2
ok "and the error is noticed" grep -q WRONG "$out" || explain

# ---- who is not let in, while a job runs
launch 3 "$bin/rawpmix" clone
same "a child of a rank attaches by itself and leaves" "$rc $(cat "$out" "$err")" "0 rawpmix 3 good" || explain
# shellcheck disable=SC2016
"$WIREUP" -n 4 sh -c '
    [ "$PMIX_RANK" != 0 ] || { echo "$PMIX_SERVER_URI41" >uri; echo "$PMIX_NAMESPACE" >nspace; }
    exec "$0" hold up go' "$bin/rawpmix" >"$out" 2>"$err" </dev/null &
job=$!
wait_until 120 [ -e up ]
knock 300 "$(sed 's/.*://' uri)" "$(cat nspace)"
touch go
wait $job
rc=$?
same "a job is not disturbed by strangers at its port" "$rc $(cat "$out")" "0 rawpmix 4 good" || explain
knocked_in_vain
ok "a tool of our own is let in" grep -q '^tool welcome' "$tmp/knocks" || note "$(cat "$tmp/knocks")"
ok "the refusal names both sides' versions" \
    grep -q "of version 4.2.2rc2: .* encoding 'v99'; this server is Wireup" "$err" || note "$(cat "$err")"
ok "a rank that does not exist is named" grep -q "refused a connection for rank 9999 of $(cat nspace)" "$err"
same "a second claim of a connected rank is logged once" \
    "$(grep -c "refused a connection for rank 0 of $(cat nspace): this process .* is already connected" "$err")" 1
same "and each of the others too" "$(sort "$err" | uniq -d)" ""
if [ $uid = 0 ]; then
    skip "another user is refused" "we cannot become another user here"
else
    ok "another user is refused, without a word" grep -q '^stranger closed 0' "$tmp/knocks" ||
        note "$(cat "$tmp/knocks")"
    ok "and that is told" grep -q 'refused a connection of another user' "$err" || note "$(cat "$err")"
    chmod 711 "$tmp" "$bin"
    # shellcheck disable=SC2016
    launch 2 sh -c '[ "$PMIX_RANK" = 0 ] || exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0"
        exec sleep 0' "$bin/rawpmix"
    ok "nor does a rank become somebody else and stay in" grep -q "WRONG init" "$out" || explain
fi

# ---- who has no manners: the others go on
for what in "long closed" "count closed" "text closed" "garbage closed" "half open" "halfhead open" \
    "nothing open" "flood open"; do
    rm -f go bad
    # shellcheck disable=SC2016
    run 120 "$WIREUP" -disable-auto-cleanup -n 3 sh -c '
        until [ -e bad ]; do sleep 0.02; done
        "$0" team 3; echo >go' "$bin/rawpmix" : -n 1 python3 "$e2e/misbehaving.py" "${what% *}" bad go
    same "a rank that is rude ($what)" "$(sort "$out" | tr '\n' ,)" \
        "$(printf '%s\nrawpmix 3 good\n' "$what" | sort | tr '\n' ,)" || explain
    case $what in
    *closed) same "and is told of once ($what)" "$(grep -c 'wireup: rank 3: ' "$err")" 1 || explain ;;
    esac
done
finish
