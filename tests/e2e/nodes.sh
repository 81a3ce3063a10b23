#!/bin/sh
# Jobs over several nodes, without a network to set up: each daemon is started by an agent that gives
# it a host name of its own (a UTS name space), so that every protocol takes it for another machine.
#
#   nodes.sh ours|all        ours: what is built here, and raw clients; all: MPI and OpenPMIx too
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
combinations
patience=300
needs_host_names
named_agent
c_program rawpmi1
c_program lines
c_program signalled
build=$WU_BUILD/tests/e2e
with_here=n1:2,n2:2,localhost:2,n4:2
far_only=n1:2,n2:2,n3:2,n4:2
hosts=$with_here
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" "$@"; }
net() { timeout -k 5 "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" "$@"; }
good() { same "$1" "$rc $(head -n 1 "$out")" "0 $2" || explain; }
whole() { same "$1" "$rc $(cat "$out" "$err")" "0 $2" || explain; }

# ---- controls
over -n 8 hostname
same "four nodes are four hosts" "$(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ,)" \
    "$(printf '%s\n' n1 n2 n4 "$(hostname)" | sort | sed 's/.*/ 2 &/' | tr '\n' ,)" || explain
over -n 8 "$bin/rawpmi1" spoil
ok "a value that the last node spoils is seen on all" grep -q "^raw 8 WRONG ranks=8" "$out" || explain
over -n 8 "$build/e2e-libpmi" spoil
ok "by the library for PMI-1 too" grep -q "^lib 8 WRONG ranks=8" "$out" || explain
over -n 8 "$build/e2e-libpmi2" spoil
ok "and by the one for PMI-2" grep -q "^pmi2 8 WRONG ranks=8" "$out" || explain
over -n 8 "$build/e2e-rawpmix" spoil
ok "and by the one for PMIx" eval 'grep -q "^rawpmix 8 WRONG rank 7: g of 0" "$out" && ! grep -q good "$out"' || explain

# ---- what is exchanged
for hosts in $far_only $with_here; do
    over -n 8 "$bin/rawpmi1" exchange
    good "raw PMI-1 on $hosts" "raw 8 good"
    over -n 8 "$build/e2e-libpmi" exchange
    good "the library for PMI-1" "lib 8 good"
    over -n 8 "$build/e2e-libpmi" all ours
    whole "every function of it" "all 8 good"
    over -n 8 "$build/e2e-libpmi2" exchange
    good "the library for PMI-2" "pmi2 8 good"
    over -n 8 "$build/e2e-libpmi2" all wireup
    whole "every function of it" "all 8 good"
    over -n 8 "$build/e2e-rawpmix"
    whole "the library for PMIx: each scope where it belongs, names, meetings, events" "rawpmix 8 good"
done
for how in "-tree-width 1" "-tree-width 2 -collective exchange" "-tree-width 2 -collective auto"; do
    # shellcheck disable=SC2086
    over $how -n 8 "$build/e2e-rawpmix"
    whole "PMIx with $how" "rawpmix 8 good"
    # shellcheck disable=SC2086
    over $how -n 8 "$bin/rawpmi1" exchange 1023
    good "and PMI-1" "raw 8 good"
    # shellcheck disable=SC2086
    over $how -n 8 "$bin/rawpmi1" spoil
    ok "and what is spoiled is seen" grep -q "^raw 8 WRONG ranks=8" "$out" || explain
done
over -n 8 "$bin/rawpmi1" exchange 1023
good "values of 1023 bytes" "raw 8 good"
over -n 8 "$build/e2e-libpmi2" threads 5
whole "eight threads in each rank" "threads 8 good"
over -n 5 "$build/e2e-rawpmix"
whole "a node that is half full, and one without ranks" "rawpmix 5 good"
for how in "" -all-nodes; do
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts localhost:2,n2:2 $how -n 2 "$build/e2e-rawpmix"
    whole "a list of which only this node has ranks${how:+, with $how}" "rawpmix 2 good"
done
over -map-by node -n 8 "$build/e2e-rawpmix"
whole "ranks from node to node in turn" "rawpmix 8 good"
words="PMI-1 PMI-2 PMIx PMIx PMI-1 PMI-2 PMIx PMI-1"
# shellcheck disable=SC2086
over -n 1 "$build/e2e-mixed1" $words : -n 1 "$build/e2e-mixed2" $words : \
    -n 2 "$build/e2e-rawpmix" mixed $words : -n 1 "$build/e2e-mixed1" $words : \
    -n 1 "$build/e2e-mixed2" $words : -n 1 "$build/e2e-rawpmix" mixed $words : -n 1 "$build/e2e-mixed1" $words
same "three protocols meet across nodes" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 mixed PMI-1 0 good,mixed PMI-1 4 good,mixed PMI-1 7 good,mixed PMI-2 1 good,mixed PMI-2 5 good,mixed PMIx 2 good,mixed PMIx 3 good,mixed PMIx 6 good," ||
    explain
over -n 4 "$build/e2e-mixed1" random 8 6 : -n 4 "$build/e2e-mixed2" random 8 6
same "and so do values picked at random" "$rc $(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ';')$(cat "$err")" \
    "0  4 random 1 good; 4 random 2 good;" || explain

# ---- placement
# shellcheck disable=SC2016
where() # WORDS: "rank host processors" of each rank
{
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" "$@" \
        sh -c 'echo "$PMI_RANK $(hostname) $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status)"'
    sort -n "$out" >"$tmp/where"
}
me=$(hostname)
hosts_of() { cut -d' ' -f2 "$tmp/where" | tr '\n' ' '; }
where -hosts n2,n1,n2,localhost -map-by seq
same "one rank for each line of the node list" "$rc $(hosts_of)" "0 n2 n1 n2 $me " || explain
printf '%s\n' 'n1' 'n2 slots=2' '' 'localhost # the last' >"$tmp/list"
where -map-by "seq:file=$tmp/list"
same "and of a host file" "$rc $(hosts_of)" "0 n1 n2 n2 $me " || explain
where -hostfile "$tmp/list" -map-by seq -n 5
same "which has too few" "$rc $(cat "$err")" \
    "2 wireup: more processes than the 4 slots of the nodes; -map-by seq puts one process on each" || explain
printf 'rank %s\n' '1=n1 slot=0' '0=n2 slot=0:*' '3=n2 slot=0:0' '2=localhost' '4=n1 slot=*' >"$tmp/ranks"
"$WIREUP" -n 1 -bind-to core sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status >"$tmp/core"
"$WIREUP" -n 1 sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status >"$tmp/all"
where -rankfile "$tmp/ranks"
same "a rank file places the ranks" "$rc $(hosts_of)" "0 n2 n1 $me n2 n1 " || explain
same "and on the cores that it names" "$(sed 's/^\(.\) [^ ]* /\1 /' "$tmp/where" | sed -n '2p;3p;4p;5p' | tr '\n' ,)" \
    "1 $(cat "$tmp/core"),2 $(cat "$tmp/all"),3 $(cat "$tmp/core"),4 $(cat "$tmp/all")," || note "$(cat "$tmp/where")"
sed 's/=n2/=+n1/; s/=n1/=+n0/; s/=localhost/=+n2/; s/ slot.*//' "$tmp/ranks" >"$tmp/relative"
run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2,localhost -map-by "rankfile:file=$tmp/relative" "$build/e2e-rawpmix"
whole "ranks all over the place know of each other" "rawpmix 5 good"
where -hosts n1,n2 -rankfile "$tmp/ranks"
same "a node that is not in the list" "$rc $(cat "$err")" \
    "2 wireup: $tmp/ranks:4: node localhost is not in the node list" || explain
echo 'rank 0=n1 slot=4711' >"$tmp/ranks"
where -rankfile "$tmp/ranks"
same "a core that only the node can tell is not there" \
    "$rc $(sed 's/only .*/only N/' "$err")" "125 wireup: node n1: slot=4711: there is no core 4711, only N" || explain

# ---- ranks numbered otherwise than they were placed
mapping() # WORDS: where the ranks are, by the map that programs are told
{
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" "$@" "$build/e2e-libpmi2" attr PMI_process_mapping
    sort -u "$out" | tr '\n' ' '
}
where -hosts n1:3,n2:1,localhost:2 -rank-by node
same "placed by slot, ranked by node" "$rc $(hosts_of)" "0 n1 n2 $me n1 $me n1 " || explain
same "and programs see that mapping" "$(mapping -hosts n1:3,n2:1,localhost:2 -rank-by node)" \
    "PMI_process_mapping (vector,(0,3,1),(0,1,1),(2,1,1),(0,1,1)) " || explain
where -hosts n1:3,n2:1,localhost:2 -map-by node -rank-by slot
same "placed by node, ranked by slot" "$rc $(hosts_of)" "0 n1 n1 n1 n2 $me $me " || explain
where -hosts n1:3,n2:1,localhost:2 -map-by seq -rank-by span
same "without objects each node is one" "$rc $(hosts_of)" "0 n1 n2 $me n1 $me n1 " || explain
for word in slot node fill span core machine:span; do
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:3,n2:1,localhost:2 -map-by core -rank-by "$word" \
        -bind-to core "$build/e2e-rawpmix"
    whole "ranks numbered by $word know of each other" "rawpmix 6 good"
done
where -hosts n1,n2 -rank-by spoon
same "a way to rank that nobody knows" "$rc $(grep -c 'rank-by spoon: it must be slot' "$err")" "2 1" || explain

# ---- nodes with different machines: n1 has two packages of a core, the others, and we, one of two
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
    awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | head -n 2 | paste -sd,)
first=${cpus%,*} second=${cpus#*,}
two_packages="pack:2 core:1 pu:1(indexes=$cpus)" one_package="pack:1 core:2 pu:1(indexes=$cpus)"
sed "s/^exec/case \$host in n1) HWLOC_SYNTHETIC='$two_packages' ;; *) HWLOC_SYNTHETIC='$one_package' ;; esac\\
export HWLOC_SYNTHETIC\\
&/" "$tmp/agent" >"$tmp/alike"
chmod +x "$tmp/alike"
unlike() # WORDS: as where, over such nodes
{
    HWLOC_SYNTHETIC=$one_package run "$patience" "$WIREUP" -launch-agent "$tmp/alike" "$@" \
        sh -c 'echo "$PMI_RANK $(hostname) $(sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status)"'
    sort -n "$out" >"$tmp/where"
}
if [ "$first" != "$second" ]; then
    both=$(echo "$first-$second" | awk -F- '{ print $2 == $1 + 1 ? $0 : $1 "," $2 }')
    unlike -hosts n1,n2,localhost -map-by ppr:1:package -bind-to package -report-bindings
    same "as many ranks as each node has packages" "$rc $(tr '\n' ';' <"$tmp/where")" \
        "0 0 n1 $first;1 n1 $second;2 n2 $both;3 $me $both;" || explain
    same "and they are shown bound as they are" "$(sed 's/.*on \([^ ]*\): socket \(.\), .* /\1 \2 /' "$err" | tr '\n' ';')" \
        "n1 0 $first;n1 1 $second;n2 0 $both;localhost 0 $both;" || explain
    unlike -tree-width 1 -hosts n3,n2,n1 -map-by ppr:2:package -n 7 -rank-by span -bind-to core
    same "ranked over all of them" "$rc $(tr '\n' ';' <"$tmp/where")" \
        "0 0 n3 $first;1 n2 $first;2 n1 $first;3 n1 $second;4 n3 $second;5 n2 $second;6 n1 $first;" || explain
    unlike -hosts n1,n2 -map-by ppr:1:package -n 4
    same "more than the nodes have" "$rc $(cat "$err")" \
        "2 wireup: more processes than the 3 slots of the nodes; -map-by ppr does not allow more" || explain
    unlike -hosts n2,n1 -map-by ppr:1:l2cache
    same "what a node has not" "$rc $(cat "$err")" "125 wireup: -map-by ppr: node n2 has no l2cache" || explain
    unlike -hosts n1,n2 -map-by ppr:1:package --dry-run
    same "of a plan that asks nobody all are like us" "$rc $(head -n 1 "$out")" "0 2 processes on 2 nodes" || explain
else
    skip "nodes with different machines" "there is one processor"
fi

awk 'BEGIN { for (i = 0; i < 16384; i++) printf "n%d slots=8\n", i }' >"$tmp/list"
awk 'BEGIN { for (i = 0; i < 16384; i++) printf "rank %d=n%d slot=0:0\n", i, (i * 7) % 16384 }' >"$tmp/ranks"
for word in slot node core numa package seq ppr:8:node; do
    run "$patience" "$WIREUP" --dry-run -hostfile "$tmp/list" -map-by "$word" true
    same "a plan of 16384 nodes by $word" \
        "$rc $(head -n 1 "$out"), $(awk '$1 == "131071" { print $2, $3 }' "$out")" \
        "0 131072 processes on 16384 nodes, n16383 7" || explain
done
for word in slot node fill span core package:span; do
    run "$patience" "$WIREUP" --dry-run -hostfile "$tmp/list" -map-by core -rank-by "$word" true
    same "ranked by $word" "$rc $(awk '$1 == "131071" { print $2, $3 }' "$out")" "0 n16383 7" || explain
done
run "$patience" "$WIREUP" --dry-run -rankfile "$tmp/ranks" true
same "and by a rank file" "$rc $(awk '$1 == "16383" { print $2, $3 }' "$out")" "0 n16377 0" || explain

# ---- what processes have done to those of other nodes: one rank on each
hosts=n1,n2,n3,localhost
ctl=$build/e2e-pmixctl
over -n 4 "$ctl" nonsense
ok "an unknown mode is not reported as good" eval '[ "$rc" != 0 ] && ! grep -q good "$out"' || explain
over -n 4 "$ctl" signal
same "a process is stopped, signalled and ended from another node, and all are notified" \
    "$rc $(cat "$out") $(grep -c 'rank 3 on .* was killed by signal 9' "$err")" "137 pmixctl signal good 1" || explain
over -n 4 "$ctl" listen
same "its output arrives at the subscriber, and is shown as well" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 pmixctl listen good,said by rank 1,unheard," || explain
over -n 4 "$ctl" child
same "earlier output of children, and their ends" "$rc $(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ,)" \
    "0  2 a child, 1 pmixctl child good," || explain
for what in beat query timeout reserved ranges pids; do
    over -n 4 "$ctl" $what
    same "$what" "$rc $(cat "$out")" "0 pmixctl $what good" || explain
done
for how in part leave exit kill; do
    over -n 4 "$ctl" bond $how
    same "who has connected is told who goes without disconnecting: $how" "$(cat "$out")" "pmixctl bond good" || explain
done
over -n 4 "$ctl" pids lie
ok "a wrong process number is seen everywhere" [ "$(grep -c 'rank 3 is [0-9]*, not' "$out")" = 4 ] || explain
hosts=$with_here
over -n 8 "$ctl" ranges
same "events for some, two ranks on each node" "$rc $(cat "$out")" "0 pmixctl ranges good" || explain
hosts=$far_only
placed() # MAP RANK: spawned with these words; its outcome stays in $rc, $out and $err
{
    spawning run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -map-by node -n 2 "$ctl" \
        placed "$1" "$2"
}
placed node slot
same "a spawned job goes by node, and is numbered by slot" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 0 n1,1 n1,2 n2,3 n2,pmixctl placed good," || explain
spawned "a spawned job by node" 4
placed ppr:2:node node
same "so many on each node, numbered in turn" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 0 n1,1 n2,2 n1,3 n2,pmixctl placed good," || explain
placed moon slot
ok "an unknown word refuses the spawn" eval \
    '[ "$rc" = 1 ] && grep -q "WRONG rank 0: spawn" "$out" && grep -q "map-by moon: it must be" "$err"' || explain
spawned "a spawn that is refused" 0
over -n 8 "$ctl" pids
same "process numbers, none of them here" "$rc $(cat "$out")" "0 pmixctl pids good" || explain
over -n 4 "$ctl" log
same "lines for the log" "$rc $(sort "$out" | tr '\n' ,) $(grep -c 'says hello$' "$err")" \
    "0 once,pmixctl log good, 4" || explain
hosts=$with_here

# ---- recordings
dynamic=$build/e2e-dynamic
replays() # FILE...: all of them are what they should be
{
    for file in "$@"; do
        run 120 "$WIREUP" replay "$file"
        [ "$rc" = 0 ] && [ "$(stat -c %a "$file")" = 600 ] || return 1
    done
}
over --trace "$tmp/rec" -n 8 "$bin/rawpmi1" exchange
good "a run that is recorded" "raw 8 good"
same "leaves one recording" "$(cd "$tmp" && echo rec*)" rec
ok "which plays back" replays "$tmp"/rec* || explain
run 60 "$WIREUP" trace --command put --node n2 "$tmp/rec"
same "which has the output of the ranks of that node" \
    "$rc $(grep -c '^.* rank [23] .*> PMI-1 put ' "$out") $(grep -c ' rank [014567] ' "$out")" "0 4 0" || explain
rm "$tmp"/rec*
over --trace "$tmp/rec" -n 8 "$build/e2e-rawpmix"
whole "PMIx, too" "rawpmix 8 good"
ok "plays back on each node" replays "$tmp"/rec* || explain
rm "$tmp"/rec*
cat >"$tmp/wiretap" <<END
#!/bin/sh
tee "$tmp/boot.\$1" | "$tmp/agent" "\$@"
END
chmod +x "$tmp/wiretap"
run "$patience" "$WIREUP" -launch-agent "$tmp/wiretap" -hosts "$hosts" --trace "$tmp/rec" -n 8 "$build/e2e-rawpmix"
whole "with an agent that reads along" "rawpmix 8 good"
cat >"$tmp/search.py" <<'END'
import re, sys
boots, files = [[open(f, "rb").read() for f in names.split()] for names in sys.argv[1:]]
keys = {k for b in boots for k in re.findall(rb"^key ([0-9a-f]{32,})$", b, re.M)}
assert len(boots) == 3 and len(keys) == 1 and len(files) == 1, (len(boots), len(keys), len(files))
for key in keys:
    assert not [f for f in files if key in f or bytes.fromhex(key.decode()) in f]
print("good")
END
same "the daemons' key is in no recording" "$(python3 "$tmp/search.py" "$(echo "$tmp"/boot.*)" "$(echo "$tmp"/rec*)" 2>&1)" good
rm "$tmp"/rec* "$tmp"/boot.*
(cd "$tmp" && net --trace rec -n 4 "$dynamic" crash) >"$out" 2>"$err"
same "a relative name, and a job that fails" "$? $(cd "$tmp" && echo rec*)" "139 rec" || explain
ok "play back" replays "$tmp"/rec* || explain
rm "$tmp"/rec*

# ---- spawning
over -n 1 "$dynamic" refused
good "a spawn that is refused" "refused yes"
spawning over -n 1 "$dynamic" row 20
good "20 spawns in a row" "row 20 good 20 more descriptors few"
spawned "20 spawns in a row" 20
spawning over -oversubscribe -n 1 "$dynamic" once 20
good "20 processes at once" "once 20 good"
spawned "20 processes at once" 20
spawning over -n 1 "$dynamic" depth 4
good "four deep" "the bottom"
spawned "four deep" 4
over -n 1 "$dynamic" nothing
good "what does not exist: an error for each process" "nothing refused 2 errors each"
over -n 4 "$dynamic" crash
same "a child that dies ends the jobs connected to it" "$rc" 139 || explain
spawning over -n 6 "$build/e2e-libpmi2" spawn "$build/e2e-libpmi2" 5
same "ranks of four nodes and five children" "$rc $(cat "$out")" "0 spawn 6 good" || explain
spawned "ranks of four nodes and five children" 5

# ---- programs of others
if [ "${1-}" = all ]; then
    pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
    if [ -n "$pmix_flags" ]; then
        # shellcheck disable=SC2086
        c_program rawpmix $pmix_flags
        over -n 8 "$bin/rawpmix"
        whole "OpenPMIx's library on our servers" "rawpmix 8 good"
        over -n 8 "$bin/rawpmix" spoil
        ok "which sees what is wrong" grep -q "^rawpmix 8 WRONG rank 7: g of 0" "$out" || explain
        over -n 4 "$bin/rawpmix" : -n 4 "$build/e2e-rawpmix"
        whole "and ours in one job with it" "rawpmix 8 good"
        # shellcheck disable=SC2086
        c_program pmixctl $pmix_flags
        for what in beat query timeout ranges pids "bond part" "bond leave" "bond exit" "bond kill"; do
            # shellcheck disable=SC2086 # two words
            over -n 4 "$bin/pmixctl" $what
            same "$what with OpenPMIx's library" "$(grep pmixctl "$out")" "pmixctl ${what% *} good" || explain
        done
    else
        skip "OpenPMIx" "libpmix-dev is not installed"
    fi
    export MPIR_CVAR_CH3_INTERFACE_HOSTNAME=127.0.0.1
    (mpi_program hello ring alltoall names abort) && for program in ring alltoall names; do
        over -n 8 "$bin/$program"
        whole "MPICH: $program" "$program 8 good"
    done
    over -n 8 "$bin/hello"
    same "MPICH: hello" "$rc $(sort -u "$out" | grep -c 'of 8$')" "0 8" || explain
    over -n 8 "$bin/ring" spoil
    ok "MPICH: a spoiled ring is seen" grep -q "^ring 8 WRONG" "$out" || explain
    over -n 8 "$bin/abort" 7 9
    same "MPICH: MPI_Abort(9) on the last node" "$rc" 9 || explain
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 \
        OMPI_MCA_btl_tcp_if_include=lo
    PATH=$PATH:/usr/lib64/openmpi/bin
    if command -v mpicc.openmpi >/dev/null 2>&1; then
        for program in hello ring; do
            mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -o "$bin/o$program" "$e2e/mpi/$program.c" || exit 1
        done
        over -n 8 "$bin/ohello"
        same "Open MPI: hello" "$rc $(sort -u "$out" | grep -c 'of 8$')" "0 8" || explain
        over -n 8 "$bin/oring"
        good "Open MPI: ring" "ring 8 good"
    else
        skip "Open MPI" "mpicc.openmpi is not installed"
    fi
    python=/usr/bin/python3
    if $python -c 'import mpi4py' 2>/dev/null; then
        spawning over -n 2 $python "$e2e/mpi4py_all.py" spawn
        good "mpi4py spawns" "mpi4py spawn 2 good"
        spawned "mpi4py on nodes" 2
    else
        skip "mpi4py" "python3-mpi4py is not installed"
    fi
    rm -rf /dev/shm/vader_segment.*
fi

# ---- streams
sum() { sha256sum | cut -d' ' -f1; }
head -c 5000001 /dev/urandom >"$tmp/big"
want=$(sum <"$tmp/big")
# shellcheck disable=SC2016
same "5 MB to a rank of another node and back" \
    "$(net -n 8 -stdin 3 sh -c '[ "$PMI_RANK" != 3 ] || exec cat' <"$tmp/big" | sum)" "$want"
hosts=$far_only
same "and where the launcher's node has no ranks" \
    "$(net -n 8 sh -c '[ "$PMI_RANK" != 0 ] || exec cat' <"$tmp/big" | sum)" "$want"
hosts=$with_here
head -c 1000001 "$tmp/big" >"$tmp/part"
same "the input to everybody" "$(net -n 8 -stdin all sha256sum <"$tmp/part" | sort | uniq -c | tr -s ' ')" \
    " 8 $(sum <"$tmp/part") -"
over -n 8 -l "$bin/lines" 40 5000
sed 's/^\[[0-7]\] //' "$out" >"$tmp/bare"
same "all ranks' lines are whole, and labelled" \
    "$(grep -c '^\[[0-7]\] ' "$out") $("$bin/lines" check 8 40 5000 <"$tmp/bare")" "320 320 lines good"
over -n 8 "$bin/lines" 40 500 2
same "on standard error too" "$(cat "$out")$("$bin/lines" check 8 40 500 <"$err")" "320 lines good"
# shellcheck disable=SC2016
over -n 8 sh -c 'printf "end of %s" "$PMI_RANK"'
same "last lines without their ends" "$(grep -o 'end of [0-7]' "$out" | sort -u | wc -l)" 8 || explain

# ---- ends
# shellcheck disable=SC2016
over -n 8 sh -c 'exit $((PMI_RANK == 6 ? 9 : 0))'
same "an exit code of another node" "$rc $(grep -c '^wireup: rank 6 on n4 (pid [0-9]*) exited with code 9' "$err")" \
    "9 1" || explain
over -n 8 "$bin/rawpmi1" abort 7 2 "this is the end"
same "abort with 7 on another node, reported once" "$rc $(grep -c 'this is the end' "$err")" "7 1" || explain
over -n 8 "$bin/rawpmi1" kill 11 1
same "a rank that dies while others wait" "$rc" 139 || explain
over -n 8 "$bin/rawpmi1" leave 5 3
same "a rank that leaves" "$rc" 5 || explain
hosts=$far_only
# shellcheck disable=SC2016
over -n 8 sh -c '[ "$PMI_RANK" != 3 ] || exec "$0" say "cmd=barrier_in"; exec "$0" exchange' "$bin/rawpmi1"
same "a rank that leaves early, as it should: others, on other nodes, wait in vain" \
    "$rc $(grep -c '^wireup: rank 3 on n2 (pid [0-9]*) exited with code 0.*, and others wait' "$err")" "1 1" || explain
hosts=$with_here
over -n 8 no-such-program
same "a program that is nowhere" "$rc $(grep -c '^wireup: node .*: no-such-program: not found on PATH or in the working directory /' "$err") $(wc -l <"$err")" \
    "127 1 1" || explain
mkdir "$tmp/one"
cp "$bin/rawpmi1" "$tmp/one/only-there"
# Only on n2 does that directory exist: mounted away for the others.
cat >"$tmp/uneven" <<END
#!/bin/sh
host=\$1
shift
[ "\$host" = n2 ] || exec unshare -u -m sh -c 'hostname "\$0"; mount -t tmpfs none "$tmp/one"; exec sh -c "exec \$*"' "\$host" "\$@"
exec "$tmp/agent" "\$host" "\$@"
END
chmod +x "$tmp/uneven"
run "$patience" env PATH="$tmp/one:$PATH" "$WIREUP" -launch-agent "$tmp/uneven" -hosts n2:2,n1:2 -n 4 only-there exchange
same "a program that one node has not" \
    "$rc $(cat "$err")" "127 wireup: node n1: only-there: not found on PATH or in the working directory $PWD" || explain
mv "$tmp/one" "$tmp/away"
mkdir "$tmp/one"
cat >"$tmp/elsewhere" <<END
#!/bin/sh
host=\$1
shift
exec unshare -u -m sh -c 'hostname "\$0"; mount --bind "$tmp/away" "$tmp/one"; exec sh -c "exec \$*"' "\$host" "\$@"
END
chmod +x "$tmp/elsewhere"
run "$patience" env PATH="$tmp/one:$PATH" "$WIREUP" -launch-agent "$tmp/elsewhere" -hosts n2:2,n1:2 -n 4 only-there exchange
good "a program that only the launcher's node has not" "raw 4 good"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$build/e2e-libpmi2" >"$tmp/away/only-child"
chmod +x "$tmp/away/only-child"
elsewhere() { run "$patience" env PATH="$tmp/one:$PATH" "$WIREUP" -launch-agent "$tmp/elsewhere" -hosts n2:2,n1:2 "$@"; }
spawning elsewhere -n 2 "$build/e2e-libpmi2" spawn only-child 4
same "nor when it is spawned" "$rc $(cat "$out")" "0 spawn 2 good" || explain
spawned "what only nodes have" 4
over -wireupd /no/such/wireupd -n 8 true
same "no daemon there: all of them are named, in one row" \
    "$rc $(grep -c '^wireup:   n\[1-2,4\]  /no/such/wireupd does not exist' "$err") $(wc -l <"$err")" "125 1 2" || explain
over --dry-run -n 8 true
same "a plan that is only shown" "$rc $(grep -c ' n[124] ' "$out") $(grep -c ' localhost ' "$out")" "0 6 2" || explain
nothing_left "after these"

# ---- what is killed
# shellcheck disable=SC2016
start() # N: ranks that tell who their daemon is, and stay
{
    rm -f "$tmp"/daemon.*
    "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" -n "$1" sh -c 'echo "$PPID" >"$0/new.$PMI_RANK"; mv "$0/new.$PMI_RANK" "$0/daemon.$PMI_RANK"; exec sleep 1000' \
        "$tmp" >"$out" 2>"$err" </dev/null &
    job=$!
    wait_until 60 all_there "$1"
}
all_there() { [ "$(find "$tmp" -name 'daemon.*' | wc -l)" = "$1" ]; }
parent() { sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat"; }

start 8
kill -9 "$(cat "$tmp/daemon.2")"
wait $job
rc=$?
ok "a daemon that is killed ends the job" [ "$rc" != 0 ]
same "with one sentence that names its node" "$(sed 's/lost: .*/lost/' "$err")" \
    "wireup: node n2 is lost" || explain
nothing_left "after the daemon was killed"

start 8
kill -9 "$(parent "$(cat "$tmp/daemon.7")")"
wait $job
rc=$?
ok "a daemon's guard that is killed ends the job" [ "$rc" != 0 ]
same "with one sentence" "$(grep -c '^wireup: .*node n4' "$err") $(wc -l <"$err")" "1 1" || explain
nothing_left "after the guard was killed"

start 8
kill -9 $job
wait $job 2>/dev/null
nothing_left "after the launcher was killed"

start 8
kill -9 "$(cat "$tmp/daemon.4")"
wait $job
rc=$?
ok "the launcher's own worker that is killed ends the job" [ "$rc" != 0 ]
nothing_left "after the launcher's own worker was killed"

# ---- signals
tty() { python3 "$e2e/terminal.py" "$@" >"$out" 2>&1; }
told() { tr -d '\r' <"$out" | grep -c "^[0-9]* got $1\$"; }
ready="see ready see ready see ready see ready see ready see ready see ready see ready"
got=$(echo "$ready" | sed 's/ready/got/g')
# shellcheck disable=SC2086
tty $ready kill USR1 $got kill TERM end -- \
    "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" -n 8 "$bin/signalled"
same "SIGUSR1 reaches the ranks of all nodes" "$(told USR1)" 8 || note "$(cat "$out")"
# shellcheck disable=SC2086
tty $ready type '\x03' end -- "$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" -n 8 "$bin/signalled"
same "Ctrl-C too" "$(told INT)" 8 || note "$(cat "$out")"
nothing_left "after Ctrl-C"

# ---- coming up
cat >"$tmp/slow" <<END
#!/bin/sh
[ "\$1" != n2 ] || read -r _ <"$tmp/go"
exec "$tmp/agent" "\$@"
END
chmod +x "$tmp/slow"
mkfifo "$tmp/go"
# shellcheck disable=SC2016
tty see '1 of 2 nodes are up; n2: ' sh "echo go >'$tmp/go'" see two end -- \
    "$WIREUP" -launch-agent "$tmp/slow" -hosts n1,n2 sh -c '[ "$PMI_RANK" = 0 ] || echo two'
same "a terminal shows the nodes that are up and the slow ones, during the launch" \
    "$(tail -n 1 "$out") $(tr -d '\r' <"$out" | sed 's/.*\x1b\[K//' | sed -n 1p)" "status 0 two" || note "$(cat "$out")"
(echo go >"$tmp/go") &
run "$patience" "$WIREUP" -launch-agent "$tmp/slow" -hosts n1,n2 true
same "without a terminal nothing is shown" "$rc $(cat "$out" "$err")" "0 " || explain
run 60 "$WIREUP" -launcher slurm -rmk none -hosts n1,n2 true
same "slurm outside of an allocation" "$rc $(cat "$err")" \
    "125 wireup: -launcher slurm works only inside an allocation: run wireup by salloc or sbatch, or use -launcher ssh" ||
    explain

# ---- who is missing
# shellcheck disable=SC2016
for time in 5 20 80; do # the others may need longer
    over -timeout $time -n 8 sh -c '[ "$PMI_RANK" = 3 ] && exec sleep 1000; exec "$0" exchange' "$bin/rawpmi1"
    ! grep -q ": 7 of 8 have arrived; missing: 3\$" "$err" || break
done
same "a job whose time is over" "$rc" 124 || explain
ok "is reported with the missing rank and its node" eval 'grep -q ": 7 of 8 have arrived; missing: 3\$" "$err" &&
    grep -q "^wireup:     rank 3 on n2 (pid [0-9]*) running, .*; has not said anything yet" "$err"' || explain

mkfifo "$tmp/input"
# shellcheck disable=SC2016
"$WIREUP" -launch-agent "$tmp/agent" -hosts "$hosts" -n 8 -stdin 6 sh -c '
    [ "$PMI_RANK" != 0 ] || echo "$PMIX_NAMESPACE" >"$1"
    [ "$PMI_RANK" != 6 ] || read -r line
    exec "$0" exchange' "$bin/rawpmi1" "$tmp/name" <"$tmp/input" >"$tmp/job.out" 2>"$tmp/job.err" &
job=$!
exec 9>"$tmp/input"
wait_until 60 [ -s "$tmp/name" ]
fenced()
{
    "$WIREUP" who "$(cat "$tmp/name")" >"$out" 2>"$err"
    grep -q ': 7 of 8 have arrived; missing: 6$' "$out" && grep -q '^    rank 6 on n4 (pid [0-9]*) running' "$out"
}
ok "wireup who lists the missing ranks with their nodes, while they wait" wait_until 60 fenced || explain
same "and each job once" "$(grep -c '^job ' "$out")" 1 || explain
kill -QUIT $job
reported() { grep -q '^wireup: .*missing: 6$' "$tmp/job.err" && grep -q '^wireup:     rank 6 on n4' "$tmp/job.err"; }
ok "SIGQUIT brings the same report" wait_until 60 reported || note "$(cat "$tmp/job.err")"
# The daemon of n1 is stopped: the report comes all the same, and says so.
daemon=$(processes | while read -r pid words; do
    case $words in */wireupd*) [ "$(nsenter -t "$pid" -u hostname)" != n1 ] || echo "$pid" ;; esac
done)
# shellcheck disable=SC2086
kill -STOP $daemon
silent() { "$WIREUP" who "$(cat "$tmp/name")" >"$out" 2>"$err"; grep -q '^no answer from n1$' "$out"; }
ok "a node that does not answer is named" silent || explain
# shellcheck disable=SC2086
kill -CONT $daemon
echo go >&9
exec 9>&-
wait $job
same "the job goes on and ends well" "$? $(head -n 1 "$tmp/job.out")" "0 raw 8 good"
finish
