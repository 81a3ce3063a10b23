# Completion of wireup's command line for bash.  Written from the option table; see
# tests/check-docs.

# How many words follow the option $1 as its values, when $2 is the next word.
_wireup_values()
{
    case $1 in
    env|genv) [[ $2 == *=* ]] && echo 1 || echo 2 ;;
    n|np|c|wdir|wd|chdir|pset|max-restarts|stage|preload-files|job-name|configfile|config|tune|am|amca|timeout|timeout-signal|exit-timeout|hosts|host|H|hostlist|machine|machines|machinelist|hostfile|f|machinefile|hydra-host-file|default-hostfile|dvm|batch|name|spare-hosts|jobs|job-slots|job-nodes|job-time|join-token-file|join-port|join-file|keep|keep-time|takeover|launchers-dir|ppn|perhost|npernode|N|map-by|cpus-per-rank|cpus-per-task|cpus-per-proc|gpus-per-rank|gpus-per-task|gpus-per-proc|g|ranks-per-device|ranks-per-gpu|topology|rank-by|rankby|rankmap|rankfile|rf|nnodes|order-nodes|localhost|launcher|bootstrap|launcher-exec|bootstrap-exec|launch-agent|launcher-args|launcher-user|ssh-user|launcher-port|ssh-port|wireupd|rmk|iface|interface|tree-width|collective|connectivity|port-range|usize|bind-to|binding|cpu-list|cpu-set|membind|topolib|env|envlist|genv|genvlist|env-style|hydra-env|x|stdin|s|prepend-pattern|outfile-pattern|outfile|errfile-pattern|errfile|output-file|output-directory|output-from|on-failure|replace-wait|restart-job|pmi|use-wireup-libraries|memory-alloc-kinds|job-attr|debugger|debugger-ranks|breakpoint|trace|tool-files|tools|display|output|with-ft|path|prefix|runtime-options|rtos|npersocket|output-filename|app|ppr|file|mapby|bindto|set-env|initial-errhandler|stream-buffering|nproc-per-node|nproc_per_node|max_restarts|log-dir|log_dir|master-addr|master_addr|master-port|master_port|demux|gpu-support|personality|forward-signals|rdzv-backend|rdzv_backend|rdzv-endpoint|rdzv_endpoint|rdzv-id|rdzv_id|rdzv-conf|rdzv_conf|monitor-interval|monitor_interval|start-method|start_method|signals-to-handle|signals_to_handle) echo 1 ;;
    mca|gmca|omca|gomca|pmixmca|gpmixmca|prtemca|gprtemca) echo 2 ;;
    pmi_args) echo 4 ;;
    *) echo 0 ;;
    esac
}

# Where the cursor is: at an option's value ($option), among the options, after a program.
# Read from the line itself, because bash cuts its words at '=' and ':' too.
_wireup_place()
{
    local words word i skip=0
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')
    place=options option=
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        if ((skip > 0)); then
            ((skip--))
        elif [[ $word == : ]]; then
            place=options
        elif [[ $place == arguments ]]; then
            continue
        elif [[ $word == -* ]]; then
            option=${word#"${word%%[!-]*}"}
            [[ $word == *=* ]] || skip=$(_wireup_values "$option" "${words[i + 1]}")
        elif [[ $i != 1 || $word != run ]]; then
            place=arguments
        fi
    done
    word=${words[i]}
    if ((skip > 0)); then
        place=value
    elif [[ $place == options && $word == -*=* ]]; then
        option=${word#"${word%%[!-]*}"}
        option=${option%%=*}
        place=value
    fi
}

_wireup_value()
{
    case $option in
    order-nodes) COMPREPLY=($(compgen -W "given ascending up descending down" -- "$cur")) ;;
    launcher|bootstrap) COMPREPLY=($(compgen -W "auto fork ssh rsh slurm lsf sge pbs flux manual" -- "$cur")) ;;
    collective) COMPREPLY=($(compgen -W "auto tree exchange" -- "$cur")) ;;
    membind) COMPREPLY=($(compgen -W "none firsttouch" -- "$cur")) ;;
    topolib) COMPREPLY=($(compgen -W "hwloc" -- "$cur")) ;;
    env-style) COMPREPLY=($(compgen -W "auto none torch jax horovod" -- "$cur")) ;;
    pmi) COMPREPLY=($(compgen -W "auto pmi1 pmi2 pmix all" -- "$cur")) ;;
    tool-files|tools) COMPREPLY=($(compgen -W "off on system" -- "$cur")) ;;
    stage|preload-files|configfile|config|tune|am|amca|hostfile|f|machinefile|default-hostfile|batch|join-token-file|join-file|keep|takeover|launchers-dir|topology|rankfile|rf|wireupd|outfile-pattern|outfile|errfile-pattern|errfile|output-file|trace) COMPREPLY=($(compgen -f -- "$cur")) ;;
    wdir|wd|chdir|output-directory) COMPREPLY=($(compgen -d -- "$cur")) ;;
    bind-to|binding) COMPREPLY=($(compgen -W "none hwthread core l1cache l2cache l3cache numa socket machine rr user:" -- "$cur")) ;;
    map-by) COMPREPLY=($(compgen -W "slot node hwthread core l1cache l2cache l3cache numa socket machine ppr:" -- "$cur")) ;;
    rank-by|rankby) COMPREPLY=($(compgen -W "slot node fill span hwthread core l1cache l2cache l3cache numa socket machine" -- "$cur")) ;;
    esac
}

# Completes the words of a command other than run; false: the line has no such command.
_wireup_command()
{
    local options
    if ((COMP_CWORD == 1)); then
        [[ $cur == -* ]] && return 1
        COMPREPLY=($(compgen -W "$_wireup_commands" -- "$cur") $(compgen -c -- "$cur"))
        return 0
    fi
    options=$(_wireup_choices "${COMP_WORDS[1]}") || return 1
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}

_wireup()
{
    local cur=${COMP_WORDS[COMP_CWORD]} place option dashes
    [[ $cur == = ]] && cur=
    COMPREPLY=()
    _wireup_place
    if _wireup_command; then
        return
    elif [[ $place == value ]]; then
        _wireup_value
    elif [[ $place == options && $cur == -* ]]; then
        dashes=${cur%%[!-]*}
        COMPREPLY=($(compgen -P "$dashes" -W "$_wireup_options" -- "${cur#"$dashes"}"))
    elif [[ $place == options ]]; then
        COMPREPLY=($(compgen -c -- "$cur"))
    fi
}

complete -o default -F _wireup wireup

_wireup_options="
n np c wdir wd chdir pset max-restarts stage preload-binary preload-files job-name
configfile config tune am amca timeout timeout-signal exit-timeout get-stack-traces
hosts host H hostlist machine machines machinelist hostfile f machinefile all-nodes
dvm wait batch batch-stop name spare-hosts jobs job-slots job-nodes job-time join
join-token-file join-port join-file join-only keep keep-time takeover launchers-dir
ppn perhost npernode N map-by cpus-per-rank cpus-per-task cpus-per-proc gpus-per-rank
gpus-per-task gpus-per-proc g ranks-per-device ranks-per-gpu topology rank-by rankby
rankmap rankfile rf oversubscribe nooversubscribe nolocal skip-launch-node nnodes
order-nodes localhost launcher bootstrap launcher-exec bootstrap-exec launch-agent
launcher-args launcher-user ssh-user launcher-port ssh-port wireupd rmk iface interface
tree-width collective connectivity port-range usize bind-to binding report-bindings
cpu-list cpu-set membind topolib env envlist envnone envall genv genvlist genvnone
genvall env-style x mca gmca omca gomca stdin s prepend-rank l tag-output prepend-time
prepend-pattern outfile-pattern outfile errfile-pattern errfile merge-output raw-output
xml-output xml output-file output-directory output-from on-failure replace-wait
disable-auto-cleanup enable-recovery continuous enable-auto-cleanup restart-job
print-all-exitcodes pmi use-wireup-libraries pmi-port disable-hostname-propagation
enable-hostname-propagation memory-alloc-kinds job-attr debugger debugger-ranks
stop-on-exec stop-in-init stop-in-app breakpoint verbose debug v very-verbose vv
quiet q display-map display-allocation dry-run do-not-launch donotlaunch picture
svg ask-nodes trace report-startup tool-files tools json version V info help h
display output with-ft pmixmca gpmixmca prtemca gprtemca path prefix runtime-options
rtos set-cwd-to-session-dir prefork index-argv-by-rank bynode byslot pernode npersocket
bycore bysocket bind-to-none bind-to-core bind-to-socket display-devel-map timestamp-output
merge-stderr-to-stdout output-filename app ppr file disable-recovery debug-daemons
debug-devel d show-progress parsable parseable p mapby bindto set-env display-comm
display-comm-finalize initial-errhandler stream-buffering display-devel-allocation
display-diffable-map nproc-per-node nproc_per_node max_restarts log-dir log_dir
master-addr master_addr master-port master_port disable-x enable-x demux allow-run-as-root
report-state-on-timeout use-hwthread-cpus noprefix leave-session-attached novm
fwd-environment hetero-nodes uniform-nodes no-aggregate-help no-app-prefix gpu-support
no-ready-msg personality forward-signals do-not-resolve use-regexp enable-instant-on-support
fwd-mpirun-port standalone rdzv-backend rdzv_backend rdzv-endpoint rdzv_endpoint
rdzv-id rdzv_id rdzv-conf rdzv_conf monitor-interval monitor_interval start-method
start_method signals-to-handle signals_to_handle no-python no_python"
_wireup_commands="who serve names enter trace fetch timeline replay sim up tools ps top kill attach down grow shrink on doctor bug-report map srun conform config help version"

# The options of the command $1.
_wireup_choices()
{
    case $1 in
    who) echo "--json --stacks" ;;
    serve) echo "--n --timeout --trace --launchers-dir --json" ;;
    names) echo "--json" ;;
    enter) echo "--json" ;;
    trace) echo "--json --follow --node --key --rank --command --from --to --all --conversation" ;;
    fetch) echo "--launcher-exec --json" ;;
    timeline) echo "--output --json" ;;
    replay) echo "--json" ;;
    sim) echo "--nodes --ranks --bytes-per-rank --width --schedule --connectivity --seed --rounds --sets --node-failures --link-failures --slow --joins --leaves --takeovers --reports --broadcasts --requests --groups --store --stacks --jitter --latency --overhead --ps-per-byte --link --phases --costs --processors --window --flags --json" ;;
    up) echo "--name --json" ;;
    tools) echo "--json" ;;
    ps) echo "--nodes --json" ;;
    top) echo "--period --count --once --json" ;;
    kill) echo "--signal --json" ;;
    attach) echo "--debugger --print --json --apart" ;;
    down) echo "--json" ;;
    grow) echo "--hosts --nodes --timeout --json" ;;
    shrink) echo "--hosts --wait --drain --json" ;;
    on) echo "--dvm --json" ;;
    doctor) echo "--program --hostfile --launcher-exec --timeout --json --here --path --library-path --route" ;;
    bug-report) echo "--output --hosts --program --launcher-exec --json" ;;
    map) echo "--json" ;;
    srun) echo "" ;;
    conform) echo "--json --only --transcripts --n --timeout --server --client" ;;
    config) echo "--config --json" ;;
    help) echo "--json" ;;
    version) echo "--json" ;;
    *) return 1 ;;
    esac
}
