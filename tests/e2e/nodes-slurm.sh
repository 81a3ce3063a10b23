#!/bin/sh
# Slurm on several hosts: inside an allocation wireup takes its nodes and starts its daemons by srun; and
# our client libraries run under srun itself, whose plugin mpi/pmix also serves with our libpmix.
#
#   nodes-slurm.sh HOSTS
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
# shellcheck source=tests/e2e/netns-slurm.sh
. "$(dirname "$0")/netns-slurm.sh"
hosts=$1
netns_world "$@"
begin
netns_up "$hosts" || netns_skip "no hosts"
netns_slurm_up
salloc=$(command -v salloc)
pmi2=$WU_BUILD/tests/e2e/e2e-libpmi2
cards=$WU_BUILD/tests/e2e/e2e-modex-values

in_job() # WORDS OF SALLOC... -- COMMAND...: what salloc itself says is not looked at
{
    words=
    while [ "$1" != -- ]; do
        words="$words $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    run 300 "$salloc" -Q $words "$@"
}

each=$(for i in $(seq "$hosts"); do echo "2 n$i"; done | sort)
count_hosts()
{
    sed 's/^\[[0-9]*\] //' "$1" | sort | uniq -c | sed 's/^ *//' | sort
}

# ---- wireup in an allocation --------------------------------------------------------------------

in_job -N "$hosts" --ntasks-per-node=2 -- "$WIREUP" -l hostname
same "in salloc it runs on every node, as often as there are tasks" \
    "$rc $(count_hosts "$out")" "0 $each" || explain
same "and prints nothing" "$(cat "$err")" "" || explain
in_job -N "$hosts" -- "$WIREUP" -rmk none hostname
same "unless -rmk none is given" "$rc $(cat "$out" "$err")" "0 head" || explain
in_job -N 3 -- "$WIREUP" -hosts n2,n3 -n 3 hostname
same "nodes that are named are used" "$rc $(sort "$out" | tr '\n' ' ')" "0 n2 n2 n3 " || explain
in_job -N 2 -- "$WIREUP" -hosts n1,n2,n3 -n 3 hostname
same "nodes that are not ours are refused in one sentence" \
    "$rc $(grep -c 'node n1 and 2 more: .*some of the nodes are not in this Slurm allocation' "$err") $(wc -l <"$err")" \
    "125 1 1" || explain
in_job -N 2 -- "$WIREUP" -wireupd /nowhere/wireupd -n 2 hostname
same "as is a daemon that is not there" \
    "$rc $(grep -c '/nowhere/wireupd does not exist' "$err")" "125 1" || explain
printf '#!/bin/sh\n%s -l hostname\nexit $?\n' "$WIREUP" >job
chmod +x job
run 300 sbatch -Q -W -N "$hosts" --ntasks-per-node=2 -o job.out job
same "in sbatch as well" "$rc $(count_hosts job.out)" "0 $each" || explain
# As with PropagateResourceLimits=ALL, which is Slurm's default, and not this cluster's.
mkdir limits
printf '#!/bin/sh\nexec "%s" --propagate=NOFILE "$@"\n' "$(command -v srun)" >limits/srun
chmod +x limits/srun
# shellcheck disable=SC2016
in_job -N 2 --ntasks-per-node=1 -- env PATH="$PWD/limits:$PATH" \
    sh -c 'umask 027; ulimit -S -n 300; exec "$0" sh -c "umask; ulimit -S -n"' "$WIREUP"
same "srun passes on the umask and the limit of the launcher, and not what the launcher raises for itself" \
    "$rc $(sort "$out" | uniq -c | tr -s ' \n' ' ')" "0  2 0027 2 300 " || explain
in_job -N "$hosts" --ntasks-per-node=2 -- "$WIREUP" "$pmi2" exchange
same "a PMI-2 program over all nodes" "$rc $(head -n 1 "$out")" "0 pmi2 $((2 * hosts)) good" || explain
in_job -N "$hosts" --ntasks-per-node=2 -- "$WIREUP" "$cards"
same "a PMIx program over all nodes" "$rc $(cat "$out" "$err")" "0 cards $((2 * hosts)) good" || explain
in_job -N "$hosts" --ntasks-per-node=2 -- "$WIREUP" "$cards" spoil
ok "a wrong byte is seen from every node" \
    [ "$(grep -c "WRONG rank [0-9]*: card of $((2 * hosts - 1))" "$out")" = $((2 * hosts)) ] || explain
in_job -N "$hosts" -- "$WIREUP" -n "$hosts" -ppn 1 sh -c 'exit $((PMI_RANK == 1 ? 7 : 0))'
same "an exit code comes back" "$rc" 7 || explain
netns_still "after the jobs"

# ---- srun itself --------------------------------------------------------------------------------

on_all() # WORDS OF SRUN... COMMAND...: two processes on each host
{
    run 300 srun -Q -N "$hosts" -n $((2 * hosts)) -O "$@"
}

on_all --mpi=pmi2 "$pmi2" exchange
same "our libpmi2 under srun on $hosts nodes" "$rc $(head -n 1 "$out")" \
    "0 pmi2 $((2 * hosts)) good" || explain
on_all --mpi=pmi2 -m cyclic "$pmi2" all slurm
same "and every function of it" "$rc $(cat "$out" "$err")" "0 all $((2 * hosts)) good" || explain
if srun --mpi=list 2>&1 | grep -qw pmix; then
    on_all --mpi=pmix "$cards"
    same "our libpmix under srun on $hosts nodes" "$rc $(cat "$out" "$err")" \
        "0 cards $((2 * hosts)) good" || explain
else
    skip "our libpmix under srun" "Slurm has no plugin mpi/pmix here"
fi

# ---- and its plugin on our libpmix ----------------------------------------------------------------

pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
if [ -n "$(sanitizer_of "$cards")" ]; then
    note "Slurm's daemons do not take a sanitized library in"
elif [ -z "$pmix_flags" ] || ! srun --mpi=list 2>&1 | grep -qw pmix; then
    skip "Slurm's plugin on our libpmix" "Slurm's plugin mpi/pmix or OpenPMIx (libpmix-dev) is not installed"
else
    # The plugin opens the library by an absolute path, so ours is mounted over it, on the hosts alone.
    # shellcheck disable=SC2086
    c_program modex_values $pmix_flags
    real=$(realpath "$(ldd "$bin/modex_values" | sed -n 's/.*libpmix.so.2 => \([^ ]*\).*/\1/p')")
    ours=$(realpath "$WU_BUILD/src/lib/pmix/libpmix.so.2")
    mkdir "$tmp/theirs"
    cp "$real" "$tmp/theirs/libpmix.so.2"
    for i in $(seq "$hosts"); do
        netns_run "n$i" mount --bind "$ours" "$real" || exit 1
    done
    # shellcheck disable=SC2016
    on_all --mpi=pmix sh -c 'grep -q "$1" /proc/$PPID/maps && echo yes' sh "$(stat -c ' %i ' "$ours")"
    same "Slurm's daemons have our library" "$rc $(sort "$out" | uniq -c | sed 's/^ *//')" "0 $((2 * hosts)) yes" ||
        explain
    on_all --mpi=pmix "$cards"
    same "they serve our library" "$rc $(cat "$out" "$err")" "0 cards $((2 * hosts)) good" || explain
    on_all --mpi=pmix env LD_LIBRARY_PATH="$tmp/theirs" "$bin/modex_values"
    same "and OpenPMIx's" "$rc $(cat "$out" "$err")" "0 cards $((2 * hosts)) good" || explain
    on_all --mpi=pmix env LD_LIBRARY_PATH="$tmp/theirs" "$bin/modex_values" spoil
    ok "and a wrong byte is seen from every node" \
        [ "$(grep -c "WRONG rank [0-9]*: card of $((2 * hosts - 1))" "$out")" = $((2 * hosts)) ] || explain
    for i in $(seq "$hosts"); do
        netns_run "n$i" umount "$real"
    done
fi
netns_slurm_down
netns_still "after Slurm"
netns_down
finish
