# dvm_lines.sh - the line of a DVM in `wireup ps`, and what a PMIx tool is told of the same.  Sourced after lib.sh.

# Prints the line; false if there is none, or a tool hears of another number of free slots.
dvm_line() # NAME
{
    run 120 "$WIREUP" ps
    dvm_row=$(grep -E "^ *[0-9]+  $1 " "$out") || return 1
    dvm_pid=$(printf '%s\n' "$dvm_row" | sed -n 's/.* \([0-9][0-9]*\)  *[0-9]* of [0-9]* slots free.*/\1/p')
    dvm_free=$(printf '%s\n' "$dvm_row" | sed -n 's/.* \([0-9][0-9]*\) of [0-9]* slots free.*/\1/p')
    dvm_told=$("$WU_BUILD/src/tools/pmix/pquery" --pid "$dvm_pid" PMIX_QUERY_AVAILABLE_SLOTS 2>&1)
    if [ "$(printf '%s\n' "$dvm_told" | sed -n 's/.* //p')" != "$dvm_free" ]; then
        echo "a tool is told: $dvm_told, but: $dvm_row" >>"$err"
        return 1
    fi
    printf '%s\n' "$dvm_row"
}
