#!/bin/sh
# Some 480 command lines of MPICH's mpiexec, Open MPI's mpirun and Slurm's srun, one of each option of their manuals and
# more: what becomes of each is in tests/words/golden.txt.  At most one of twenty is refused, each with what to do
# instead.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
words=$WU_SRC/tests/words

for name in mpiexec mpirun srun; do
    ln -s "$WIREUP" "$bin/$name"
done
"$WU_SRC/tests/machines/make-xml" "$WU_SRC/tests/machines/machines.def" "$tmp" || exit 1
printf 'n1 slots=2\nn2 slots=2\n' >HOSTFILE
printf -- '-n 2 true\n-n 1 true\n' >CONFIG
printf 'n1\nn2\n' >NODES
printf 'rank 0=n1 slot=0\nrank 1=n2 slot=0\n' >RANKFILE
printf '0-1 true\n2 true\n' >MULTI
printf 'btl = self\nmpi_show_handle_leaks = 1\n' >TUNE
: >uri
chmod +x MULTI

# The nodes of the ranks, and how they are bound on a machine of 32 cores; or the sentence.
result() # COMMAND LINE
{
    eval "timeout 300 env $1" >"$out" 2>"$err" </dev/null
    case $? in
    0) awk '/^ *[0-9]+  / { n++; nodes = nodes (nodes ? " " : "") $2; sub(/^ *[0-9]+ +[^ ]+ +[0-9]+ +[0-9]+ +/, "")
                if ($0 != last) bound = bound (bound ? " | " : "") $0; last = $0 }
            END { print n ? nodes ": " bound : "shows" }' "$out" ;;
    *) head -n 1 "$err" ;;
    esac
}
results()
{
    WIREUP_DRY_RUN=1
    WIREUP_TOPOLOGY=$tmp/polaris.xml
    PATH=$bin:$PATH
    export PATH WIREUP_DRY_RUN WIREUP_TOPOLOGY
    for name in mpiexec mpirun srun; do
        while read -r line; do
            printf '%s\n    %s\n' "$line" "$(result "$line")"
        done <"$words/$name.lines"
    done | sed "s|$tmp|TMP|g; s|\b$(uname -n)\b|here|g"
}
results >"$tmp/results"
[ "${1-}" != --renew ] || cp "$tmp/results" "$words/golden.txt"
count() # NAME: lines, and those that are refused
{
    awk -v name="$1" '$0 ~ "^" name " " { n++; getline; bad += /^    (mpiexec|mpirun|srun): / } END { print n, bad + 0 }' "$words/golden.txt"
}
for name in mpiexec mpirun srun; do
    note "$name: $(count $name)"
    same "$name: every line as it should be" "$(awk "/^$name /{on=1} /^[a-z]/{on=/^$name /} on" "$tmp/results")" \
        "$(awk "/^$name /{on=1} /^[a-z]/{on=/^$name /} on" "$words/golden.txt")"
done
bad=$(count '[a-z]*' | cut -d' ' -f2)
all=$(count '[a-z]*' | cut -d' ' -f1)
ok "at least 300 lines, at most one of twenty refused: $bad of $all" [ $((all >= 300 && bad * 20 <= all)) = 1 ]
same "no word is unknown" "$(grep 'unknown option' "$words/golden.txt")" ""

# The options that the help of the launcher beside us has, of the releases whose words were read, are all in the table.
options_of() # COMMAND LINE...
{
    "$@" 2>&1 | tr '|' ',' | sed -n 's/^ *\(-[^ ]*\).*/\1/p' | tr '/,' '\n\n' | sed -n 's/^-*\([a-zA-Z][-a-zA-Z_0-9]*\).*/\1/p' | sort -u
}
without_row() # PAGE
{
    while read -r word; do
        grep -q -e "\`-$word\`" -e "\`--$word\`" "$WU_SRC/docs/coming-from-$1.md" || echo "$word"
    done
}
if mpiexec.hydra --version 2>/dev/null | grep -q 'Version: *4\.0'; then
    options_of mpiexec.hydra -help >"$tmp/hydra"
    ok "$(wc -l <"$tmp/hydra") options of Hydra 4.0" [ "$(wc -l <"$tmp/hydra")" -gt 40 ]
    same "each has its row" "$(without_row hydra <"$tmp/hydra")" ""
fi
if mpirun.openmpi --version 2>/dev/null | grep -q 'Open MPI) 4\.1'; then
    options_of mpirun.openmpi --allow-run-as-root --help all >"$tmp/mpirun"
    ok "$(wc -l <"$tmp/mpirun") options of Open MPI 4.1" [ "$(wc -l <"$tmp/mpirun")" -gt 80 ]
    same "each has its row" "$(without_row mpirun <"$tmp/mpirun")" ""
fi
if srun --version 2>/dev/null | grep -q 'slurm 22\.05'; then
    printf 'ClusterName=none\nSlurmctldHost=localhost\nNodeName=localhost\nPartitionName=p Nodes=localhost\n' >"$tmp/slurm.conf"
    SLURM_CONF=$tmp/slurm.conf srun --help 2>&1 | grep -oE '(^ *|, )-+[a-zA-Z][-a-zA-Z]*' | sed 's/^[ ,-]*//' | sort -u >"$tmp/srun"
    ok "$(wc -l <"$tmp/srun") options of Slurm 22.05" [ "$(wc -l <"$tmp/srun")" -gt 130 ]
    same "each has its row" "$(without_row srun <"$tmp/srun")" ""
fi
in_manuals() # lines "PAGE WORD"
{
    sed '/^#/d' "$words/manuals.txt" | awk '/^[a-z]/ { page = $1; next } { for (i = 1; i <= NF; i++) print page, $i }'
}
for page in hydra mpirun srun torchrun; do
    in_manuals | sed -n "s/^$page //p" | sort -u >"$tmp/manual"
    ok "$(wc -l <"$tmp/manual") options in the manuals of $page" [ "$(wc -l <"$tmp/manual")" -gt 40 ]
    same "each has its row" "$(without_row $page <"$tmp/manual")" ""
done
finish
