#!/bin/sh
# `wireup conform`: our own server and libraries, those of others, and servers and clients with planted faults.
#
#   conform.sh [others]
# (Slurm's are examined in slurm.sh and examples.sh, PRRTE's in container.sh: these have them at hand.)
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
patience=120
python=$(command -v python3) || {
    echo "1..0 # SKIP python3 is not installed"
    exit 0
}

differing() # : the names of the rows that differ
{
    echo "$verdicts" | sed -n 's/ differs$//p' | tr '\n' ',' | sed 's/,$//'
}

rows() # VERDICT
{
    echo "$verdicts" | grep -c " $1\$"
}

# ---- ourselves -------------------------------------------------------------------------------

conform --json --only pmi2 --server "$WIREUP"
ok "our server: JSON as documented" grep -q good <<END || explain
$("$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-conform-1 "$out" 2>&1)
END
conform --server "$WIREUP"
same "our server conforms in each row" "$rc $(differing)" "0 " || explain
ok "and these are many" [ "$(rows conforms)" -ge 30 ] || explain
conform --only pmi1/port --server "$WIREUP" -pmi-port
same "over a port as well" "$rc $verdicts" "0 pmi1/port-2 conforms" || explain
for client in tests/e2e/e2e-libpmi tests/e2e/e2e-libpmi2 examples/pmix/example-client; do
    conform --client "$WU_BUILD/$client" exchange
    same "our library in ${client##*/} conforms in each row" "$rc $(differing)" "0 " || explain
done

# ---- planted faults --------------------------------------------------------------------------

faulty() # server|client|pmix FAULT
{
    case $1 in
    server) set -- --only pmi1/basics --server "$python" "$e2e/conform_faults.py" "$@" ;;
    client) set -- -n 1 --client "$python" "$e2e/conform_faults.py" "$@" ;;
    pmix) set -- --only pmix-4 --server "$python" "$e2e/conform_faults.py" "$@" "$WIREUP" ;;
    esac
    conform --timeout "$limit" "$@"
}

limit=30
faulty server none
same "the control: a good server of a few lines" "$rc $verdicts" "0 pmi1/basics-2 conforms" || explain
for fault in value absent limit name version other words early status; do
    faulty server $fault
    same "a server with the fault: $fault" "$rc $(differing)" "1 pmi1/basics-2" || explain
done
for row in "none 0 " "spawn 1 pmi1/spawn-1"; do
    conform --timeout "$limit" --only pmi1/spawn --server "$python" "$e2e/conform_faults.py" server "${row%% *}"
    same "a server that spawns, with the fault: ${row%% *}" "$rc $(differing)" "${row#* }" || explain
done
while read -r fault wrong; do
    faulty pmix "$fault"
    same "a server of PMIx with the fault: $fault" "$rc,$(differing)" "$wrong" || explain
done <<'END'
none 0,
event-status 1,pmix-4 events
event-command 1,pmix-4 events
event-refused 1,pmix-4 events
group-refused 1,pmix-4 groups
group-stays 1,pmix-4 groups
group-unknown 0,
END
same "which makes no groups, and says so" "$(echo "$verdicts" | grep -c "groups not offered")" 1 || explain
limit=5
faulty server silent
ok "a server that does not answer" grep -q "gets no reply within 5 s" "$out" || explain

limit=30
faulty client none
same "the control: a good client of a few lines" "$rc $(differing)" "0 " || explain
while read -r fault wrong; do
    faulty client "$fault"
    same "a client with the fault: $fault" "$rc $(differing)" "1 $wrong" || explain
done <<'END'
no-init pmi1 begins,pmi1 pieces,pmi1 unknown-tuples,pmi1 other-order
no-end pmi1 ends,pmi1 runs
goes-on pmi1 ends,pmi1 runs
long-key pmi1 limits,pmi1 pieces,pmi1 unknown-tuples,pmi1 other-order
word pmi1 readable,pmi1 ends,pmi1 runs
malformed pmi1 readable,pmi1 ends,pmi1 runs
pieces pmi1 pieces
order pmi1 other-order
unknown pmi1 unknown-tuples
END

# ---- others ----------------------------------------------------------------------------------

hydra()
{
    PATH=$PATH:/usr/lib64/mpich/bin
    command -v mpiexec.hydra >/dev/null 2>&1 || {
        skip "Hydra" "MPICH's mpiexec.hydra is not installed"
        return
    }
    conform --timeout 10 --server mpiexec.hydra
    # It reads a doubled semicolon as the end, and does without the tuple that Slurm's library looks for.
    case $(mpiexec.hydra --version 2>&1) in
    *"Version:"*" 4.0"*)
        same "Hydra 4.0 knows no PMI 1.2, and two things of PMI-2 are its own" "$rc $(differing)" \
            "1 pmi1/barriers-12,pmi2/escapes-2,pmi2/names-2" || explain
        ;;
    esac
    good="pmi1/hello-1 pmi1/hello-2 pmi1/alltoall-5 pmi1/names-2 pmi1/abort-2 pmi2/start-2 pmi2/exchange-2"
    # Hydra 4.3 puts a word of its own behind the value, which PMI-1 gives the rest of the line.
    if grep -q "^pmi1/hello-2 *differs.* found=TRUE'" "$out"; then
        good=pmi1/hello-1
    fi
    for row in $good; do
        ok "Hydra: $row" grep -qx "$row conforms" <<END || explain
$verdicts
END
    done
}

openmpi()
{
    PATH=$PATH:/usr/lib64/openmpi/bin
    command -v mpirun.openmpi >/dev/null 2>&1 || {
        skip "Open MPI" "mpirun.openmpi is not installed"
        return
    }
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    # From 5 on it is PRRTE, which makes groups.
    case $(mpirun.openmpi --version 2>&1) in
    *" 4."*) want="0  6 1" ;;
    *) want="0  7 0" ;;
    esac
    for release in 4 5; do
        conform --only pmix-$release --server mpirun.openmpi --oversubscribe
        same "Open MPI's mpirun serves PMIx $release" "$rc $(differing) $(rows conforms) $(
            echo "$verdicts" | grep -c "groups not offered")" "$want" || explain
    done
    theirs_stay 'ompi.*' 'prte.*'
}

client_of_openpmix()
{
    flags=$(openpmix)
    [ -n "$flags" ] || {
        skip "OpenPMIx's client" "it is not installed"
        return
    }
    # shellcheck disable=SC2086
    c_program rawpmix $flags
    conform --timeout 6 --client "$bin/rawpmix" bare
    for row in readable begins ends runs; do
        ok "OpenPMIx's client: $row" grep -qx "pmix $row conforms" <<END || explain
$verdicts
END
    done
    # It forgets the bytes of a header that does not come in one piece.
    case $(pkg-config --modversion pmix) in
    4.*) same "OpenPMIx 4 does not understand a header in pieces" "$rc $(differing)" "1 pmix pieces" || explain ;;
    esac
}

if [ "${1-}" = others ]; then
    hydra
    openmpi
    client_of_openpmix
fi
run 20 "$WIREUP" conform --server /nonexistent
same "a launcher that is not there" "$rc" 2 || explain
run 20 "$WIREUP" conform --client true
same "a program that speaks none of them" "$rc" 2 || explain
run 20 "$WIREUP" conform --sideways
same "wrong use" "$rc" 2 || explain
finish
