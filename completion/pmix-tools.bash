# Completion of the PMIx tools' command lines for bash.  Written from their table; see
# tests/check-docs.

_wireup_pmix_tools()
{
    local cur=${COMP_WORDS[COMP_CWORD]} options
    case ${1##*/} in
    pps) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --nodes" ;;
    pquery) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up" ;;
    palloc) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --request-id --id --nodes --nodelist --exclude --time --extend --shrink --queue --image --wait-all-nodes --uid --gid --signal --share --no-shell --begin --immediate --dependency --do-not-wait" ;;
    pattrs) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --do-not-connect --client --server --tool --host --client-fns --server-fns --tool-fns --host-fns" ;;
    pctrl) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --request-id --targets --pause --resume --signal --terminate --kill --pset --cancel --checkpoint --restart" ;;
    pevent) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --event --range" ;;
    plookup) options="--help --version --verbose --json --pmixmca --uri --pid --namespace --system-server --system-server-first --system-controller --connect-order --tmpdir --num-connect-retries --wait-to-connect --give-up --wait --timeout" ;;
    pmix_info) options="--help --version --verbose --json --pmixmca --all --arch --config --hostname --param --internal --path --show-version --pretty-print --parsable --show-failed --selected-only" ;;
    pmixcc) options="-showme -showme:command -showme:compile -showme:link -showme:incdirs -showme:libdirs -showme:libs -showme:version -showme:json -showme:help" ;;
    esac
    COMPREPLY=()
    [[ $cur != -* ]] || COMPREPLY=($(compgen -W "$options" -- "$cur"))
}

complete -o default -F _wireup_pmix_tools pps pquery palloc pattrs pctrl pevent plookup pmix_info pmixcc
