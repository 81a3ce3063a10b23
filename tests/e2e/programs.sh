#!/bin/sh
# What users of other launchers take for granted, on one node and on several, whatever the program
# speaks: an abort with 0 ends with 0; the universe has as many places as there are slots; a program
# that lies in the working directory starts by its name; help messages are shown, once.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
PATH=$PATH:/usr/lib64/openmpi/bin
patience=120
build=$WU_BUILD/tests/e2e
c_program rawpmi1
unshare -u true 2>/dev/null && nodes=yes || nodes=
no_nodes="this user may not give a process another host name"
named_agent
over() { run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 "$@"; }
openmpi() # NAME: builds mpi/NAME.c with Open MPI's compiler as $bin/NAME.ompi
{
    command -v mpicc.openmpi >/dev/null 2>&1 &&
        mpicc.openmpi -std=gnu11 -D_GNU_SOURCE -O1 -w -o "$bin/$1.ompi" "$e2e/mpi/$1.c"
}

# ---- aborts: the code that the program gives is the launcher's, 0 too
for code in 0 9; do
    launch 3 "$bin/rawpmi1" abort $code 1 "on purpose"
    same "PMI-1's abort with $code" "$rc $(grep -c "aborted with code $code: on purpose" "$err")" "$code 1" || explain
    launch 3 "$build/e2e-libpmi" abort $code 1 "on purpose"
    same "PMI_Abort($code)" "$rc" $code || explain
    launch 3 "$build/e2e-pmixcalls" abort $code
    same "PMIx_Abort($code)" "$rc" $code || explain
done
launch 3 "$bin/rawpmi1" abort 256 1 "on purpose"
same "a code that is 0 in its low 8 bits is no success" "$rc" 1 || explain
for rank in 0 3; do
    if [ -z "$nodes" ]; then
        skip "an abort with 0 by rank $rank of two nodes" "$no_nodes"
        continue
    fi
    over -n 4 "$bin/rawpmi1" abort 0 $rank "on purpose"
    same "an abort with 0 by rank $rank of two nodes" "$rc $(grep -c 'on purpose' "$err")" "0 1" || explain
done
if mpicc.mpich -o "$bin/abort" "$e2e/mpi/abort.c" 2>/dev/null; then
    launch 2 "$bin/abort" 1 0
    same "MPICH's MPI_Abort(0)" "$rc" 0 || explain
else
    skip "MPICH's MPI_Abort(0)" "MPICH's compiler is not installed"
fi
if openmpi abort; then
    for code in 0 9; do
        launch 2 "$bin/abort.ompi" 1 $code
        same "Open MPI's MPI_Abort($code), and no empty words of its library" \
            "$rc $(grep -c "aborted with code $code\$" "$err")" "$code 1" || explain
    done
else
    skip "Open MPI's MPI_Abort(0)" "Open MPI's compiler is not installed"
fi
if command -v oshcc >/dev/null 2>&1 && oshcc -o "$bin/osh" "$e2e/mpi/osh.c" 2>/dev/null; then
    for code in 0 9; do
        launch 2 "$bin/osh" exit $code
        same "shmem_global_exit($code)" "$rc" $code || explain
    done
else
    skip "shmem_global_exit(0)" "Open MPI has no OpenSHMEM here"
fi
if [ -x "$bin/abort.ompi" ] && [ -x "$bin/abort" ]; then
    launch 1 "$bin/abort" : -n 2 "$bin/abort.ompi"
    ok "different MPI libraries in one job are told of" eval \
        '[ "$rc" != 0 ] && grep -q "aborted with code .*; it speaks PMIx and rank 0 PMI: if they have different" "$err"' || explain
else
    skip "different MPI libraries in one job" "one of them has no compiler here"
fi

# ---- bare names: PATH, then the working directory of the rank
mkdir away way
for dir in . away; do
    printf '#!/bin/sh\necho "$0 in ${PWD##*/}"\n' >$dir/bare
    chmod +x $dir/bare
done
cp bare away/only-away
cp bare way/hostname
cp bare hostname
ln -s "$WIREUP" mpirun
ln -s "$WIREUP" mpiexec.hydra
started() { same "$1" "$rc $(grep -v '^cmd=spawn_result rc=0' "$out" | sort | tr '\n' ,)" "0 $2," || explain; }
launch 1 bare
started "a program of the working directory" "./bare in work"
launch 1 bare : -n 1 -wdir away bare : -n 1 -wdir "$PWD/away" only-away
started "three of several directories" \
    "./bare in work,$PWD/away/bare in away,$PWD/away/only-away in away"
run "$patience" env PATH="$PWD/way:$PATH" "$WIREUP" -n 1 hostname
started "PATH comes first" "$PWD/way/hostname in work"
run "$patience" ./mpirun -n 1 bare
started "called mpirun" "./bare in work"
run "$patience" ./mpiexec.hydra -n 1 bare
same "called mpiexec.hydra, which refuses that" "$rc $(cat "$err")" \
    "127 mpiexec.hydra: bare: not found on PATH; it is in the working directory: ./bare" || explain
launch 1 only-away
same "a missing program: one sentence" "$rc $(cat "$err")" \
    "127 wireup: only-away: not found on PATH or in the working directory" || explain
run "$patience" "$WIREUP" whoo
same "a command with one wrong letter" "$rc $(cat "$err")" \
    "127 wireup: whoo: not found on PATH or in the working directory; did you mean wireup who?" || explain
launch 2 -v true
same "-v prints each step" "$rc $(sed 's/job [^ :]*/job J/' "$err" | tr '\n' ';')" \
    "0 wireup: placed: 2 processes on 1 node;wireup: job J: all processes of this node are started;$(:
    )wireup: job J has ended: exit code 0;" || explain
launch 2 true
same "and without it nothing is printed" "$rc $(cat "$err")" "0 " || explain
: >data
launch 1 data
same "a file that cannot be executed is named" "$rc $(cat "$err")" "126 wireup: ./data: no permission to execute it" || explain

wdir="info_num=1\ninfo_key_0=wdir\ninfo_val_0=away\nendcmd\n"
head="mcmd=spawn\nnprocs=2\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=0\n"
spawning launch 1 "$bin/rawpmi1" say "${head}execname=bare\ninfo_num=0\nendcmd\n"
started "PMI-1 spawns it" "./bare in work,./bare in work"
spawned "PMI-1" 2
launch 1 "$bin/rawpmi1" say "${head}execname=only-away\n$wdir"
started "in another directory" "$PWD/away/only-away in away,$PWD/away/only-away in away"
launch 1 "$build/e2e-pmixctl" start bare
started "PMIx spawns it" "$PWD/bare in work,$PWD/bare in work,pmixctl start good"
launch 1 "$build/e2e-pmixctl" start only-away away
started "in another directory" "$PWD/away/only-away in away,$PWD/away/only-away in away,pmixctl start good"
launch 1 "$build/e2e-pmixctl" start only-away
same "and a missing program is refused" "$rc $(grep -c "only-away: not found on PATH or in the working directory $PWD" "$err")" \
    "1 1" || explain
ln -s "$build/e2e-libpmi2" child2
spawning launch 1 "$build/e2e-libpmi2" spawn child2 3
started "PMI-2 spawns it" "spawn 1 good"
spawned "PMI-2" 3
if [ -n "$nodes" ]; then
    over -n 4 bare
    started "on two nodes" "$PWD/bare in work,$PWD/bare in work,$PWD/bare in work,$PWD/bare in work"
    over -n 1 "$build/e2e-pmixctl" start only-away away
    started "spawned there" "$PWD/away/only-away in away,$PWD/away/only-away in away,pmixctl start good"
    # Only on n2 is that directory what it seems here.
    cat >"$tmp/uneven" <<END
#!/bin/sh
[ "\$1" = n2 ] || exec unshare -m sh -c 'mount -t tmpfs none "$PWD/away"; exec "\$@"' sh "$tmp/agent" "\$@"
exec "$tmp/agent" "\$@"
END
    chmod +x "$tmp/uneven"
    run "$patience" "$WIREUP" -launch-agent "$tmp/uneven" -hosts n2:1 -wdir "$PWD/away" -n 1 only-away
    started "the node's directory counts" "$PWD/away/only-away in away"
    run "$patience" "$WIREUP" -launch-agent "$tmp/uneven" -hosts n2:1,n1:1 -wdir "$PWD/away" -n 2 only-away
    same "and a node that has it not is named" "$rc $(cat "$err")" \
        "127 wireup: node n1: only-away: not found on PATH or in the working directory $PWD/away" || explain
    ln -s "$WIREUP" "$tmp/mpiexec.hydra"
    run "$patience" "$tmp/mpiexec.hydra" -launch-agent "$tmp/agent" -hosts n1:1,n2:1 -n 2 bare
    same "as mpiexec.hydra no node takes it" "$rc $(grep -c "bare: not found on PATH; it is in the working" "$err")" \
        "127 1" || explain
else
    skip "bare names on two nodes" "$no_nodes"
fi

# ---- help messages: shown once, and who repeats them is counted
helped() # NAME TIMES: of each page one, and so many more processes
{
    same "$1" "$(grep -c '^page of five$' "$err") $(grep -c '^page of four$' "$err") $(grep -c '^each page$' "$err") $(
        grep -c "^wireup: $2 more process.* sent help message five.txt / topic$" "$err") $(
        grep -c "^wireup: $2 more process.* sent help message four.t / topic$" "$err") $(
        grep -c 'wireup: -mca orte_base_help_aggregate 0 shows all' "$err")" "1 1 $(($2 + 1)) 1 1 1" || explain
}
launch 3 "$build/e2e-pmixctl" help
same "messages in the form of Open MPI are accepted" "$rc $(cat "$out")" "0 pmixctl help good" || explain
helped "a page is shown once, and the others are counted" 2
launch 1 "$build/e2e-pmixctl" help
same "a page that one process sends is shown, and nobody is counted" "$(grep -v '^wireup:' "$err" | sort | uniq -c | tr -s ' \n' ' ')$(grep -c '^wireup: .* more process' "$err")" \
    " 1 each page 1 page of five 1 page of four 0" || explain
run "$patience" "$WIREUP" -mca orte_base_help_aggregate 0 -n 3 "$build/e2e-pmixctl" help
same "all of them are shown when that is asked for" "$(grep -c '^page of four$' "$err") $(grep -c 'more process.*four.t' "$err")" "3 0" || explain
if [ -n "$nodes" ]; then
    over -n 4 "$build/e2e-pmixctl" help
    same "on two nodes" "$rc $(cat "$out")" "0 pmixctl help good" || explain
    helped "one page of all nodes" 3
else
    skip "help messages of two nodes" "$no_nodes"
fi
if openmpi hello; then
    run "$patience" "$WIREUP" -mca pml ob1 -mca btl self -n 3 "$bin/hello.ompi"
    # Open MPI 4 ends with 1, Open MPI 5 with 14.
    same "Open MPI says why it does not start, once" \
        "$([ "$rc" -gt 0 ] && echo failed) $(grep -c 'unable to reach each other' "$err")" "failed 1" || explain
else
    skip "Open MPI's help messages" "Open MPI's compiler is not installed"
fi

# ---- the universe: the slots where they are known, else the processors
# shellcheck disable=SC2016
ask='echo "cmd=init pmi_version=1 pmi_subversion=1" >&3; read -r line <&3
echo cmd=get_universe_size >&3; read -r line <&3; [ "$PMI_RANK" != 0 ] || echo "${line##*=}"
echo cmd=finalize >&3; read -r line <&3'
printf '%s\n' localhost:3 127.0.0.1:4 >"$tmp/hosts"
for row in "32 -hosts localhost:32 -n 1" "7 -hostfile $tmp/hosts -n 1" "5 -hosts localhost:2 -n 5" \
    "9 -hosts localhost:32 -usize 9 -n 1" "-1 -hosts localhost:32 -usize INFINITE -n 1" "$(nproc) -n 1" "300 -n 300"; do
    want=${row%% *}
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" ${row#* } sh -c "$ask"
    same "PMI-1 with${row#"$want"}" "$rc $(cat "$out")" "0 $want" || explain
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" ${row#* } "$build/e2e-libpmi2" attr universeSize
    same "PMI-2 with${row#"$want"}" "$rc $(sort -u "$out")" "0 universeSize $want" || explain
done
run "$patience" env SLURM_JOB_NODELIST=localhost SLURM_TASKS_PER_NODE=6 SLURM_JOB_ID=1 "$WIREUP" -n 1 sh -c "$ask"
same "the slots of a resource manager" "$rc $(cat "$out")" "0 6" || explain
if [ -n "$nodes" ]; then
    over -n 1 sh -c "$ask"
    same "two nodes, one without ranks" "$rc $(cat "$out")" "0 4" || explain
    run "$patience" "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:3
    run "$patience" "$WIREUP" run -n 1 sh -c "$ask"
    same "standing daemons" "$rc $(cat "$out")" "0 5" || explain
    run "$patience" "$WIREUP" down
else
    skip "the universe of two nodes" "$no_nodes"
fi
if openmpi universe; then
    launch 1 "$bin/universe.ompi"
    processors=$(nproc)
    same "Open MPI, nothing said: the processors" "$rc $(cut -d' ' -f1,2 "$out")" "0 universe $processors" || explain
    spawning run "$patience" "$WIREUP" -hosts localhost:5 -n 2 "$bin/universe.ompi"
    spawned "a master's workers" 4
    same "a master finds room for its workers" "$rc $(cat "$out")" "0 universe 5 workers 4 see 5 on 1" || explain
    (cd "$bin" && exec "$WIREUP" -hosts localhost:4 -n 1 universe.ompi >"$out" 2>"$err")
    same "whom it spawns by a name in its directory" "$(cat "$out")" "universe 4 workers 3 see 4 on 1" || explain
    [ -z "$nodes" ] || over -n 3 "$bin/universe.ompi" 2
    [ -z "$nodes" ] || same "on two nodes, too" "$rc $(cut -d' ' -f1-6 "$out")" "0 universe 4 workers 2 see 4" || explain
else
    skip "Open MPI's universe" "Open MPI's compiler is not installed"
fi
if mpicc.mpich -w -o "$bin/universe" "$e2e/mpi/universe.c" 2>/dev/null; then
    run "$patience" "$WIREUP" -hosts localhost:5 -n 2 "$bin/universe" 0
    same "MPICH's universe" "$rc $(cat "$out")" "0 universe 5 workers 0" || explain
else
    skip "MPICH's universe" "MPICH's compiler is not installed"
fi

# What ranks that were ended leave behind is their libraries' own.
[ -z "${WU_PRIVATE-}" ] || # else they may be somebody's
    rm -rf /dev/shm/vader_segment.* /dev/shm/osh* /tmp/mpich_shar_tmp* /dev/shm/mpich_shar_tmp*
finish
