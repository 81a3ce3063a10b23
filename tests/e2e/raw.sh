#!/bin/sh
# A PMI-1 client that is nobody's library, on up to hundreds of ranks.
#
#   raw.sh LAUNCHER RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher "$1"
shift
c_program rawpmi1
patience=300

launch 4 "$bin/rawpmi1" spoil
ok "a wrong value is seen to be wrong" grep -q "^raw 4 WRONG ranks=4" "$out"

for n in $(rank_counts "$@"); do
    launch "$n" "$bin/rawpmi1" exchange
    same "$n ranks exchange their cards" "$rc $(head -n 1 "$out")" "0 raw $n good" || explain
done
launch 16 "$bin/rawpmi1" mpich
same "16 ranks ask what MPICH's MPI_Init asks" "$rc $(head -n 1 "$out")" "0 mpich 16 good" || explain
launch 2 "$bin/rawpmi1" exchange $longest
same "values of $longest bytes" "$rc $(head -n 1 "$out")" "0 raw 2 good" || explain

launch 4 "$bin/rawpmi1" abort 7 2
same "a client that misuses it gets an error" "$rc" 2
launch 4 "$bin/rawpmi1" abort 7 2 "this is the end"
same "abort with 7 by rank 2 ends the job with 7" "$rc" 7 || explain
launch 4 "$bin/rawpmi1" kill 11 1
ok "a rank that dies ends the job, and the others do not wait for it" [ "$rc" != 0 ]
ok "nobody hung" [ "$rc" != 124 ]
launch 4 "$bin/rawpmi1" leave 0 3
# Hydra's status is now and then 0 then: of those that it has to end, none may have been counted.
[ "$launcher" != wireup ] || ok "a rank that leaves without finalize ends the job" [ "$rc" != 0 ] || explain
ok "and nobody hung" [ "$rc" != 124 ]

if [ "$launcher" = wireup ]; then
    same_word="128+11"
    launch 4 "$bin/rawpmi1" kill 11 1
    same "killed by signal 11: the status is $same_word" "$rc" 139 || explain
    launch 4 "$bin/rawpmi1" leave 5 3
    same "left with 5 and without finalize: the status is 5" "$rc" 5 || explain
fi

# Ranks go to two nodes in turns, so each rank is a block of the mapping.
cat >"$tmp/mapping" <<'END'
ask() { printf '%s\n' "$*" >&"$PMI_FD"; read -r answer <&"$PMI_FD"; }
[ "$PMI_RANK" = 0 ] || exit 0
ask cmd=init pmi_version=1 pmi_subversion=1
ask cmd=get_my_kvsname
name=${answer##*kvsname=}
ask cmd=get "kvsname=${name%% *}" key=PMI_process_mapping
echo "$answer"
ask cmd=finalize
END
mapping() # RANKS
{
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:150,n2:150 -map-by node -n "$1" sh "$tmp/mapping"
}

if [ "$launcher" = wireup ] && unshare -u true 2>/dev/null; then
    named_agent
    mapping 4
    same "the mapping" "$rc $(cat "$out")" "0 cmd=get_result rc=0 msg=success value=(vector,(0,2,1),(0,2,1))" || explain
    mapping 300
    same "one that does not fit a value is left out" "$rc $(grep -c 'rc=-*1 ' "$out")" "0 1" || explain
fi
finish
