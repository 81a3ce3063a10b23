#!/bin/sh
# Daemons are started without ssh: by kubectl, docker, podman, Flux, Slurm with containers (pyxis), and where the
# operators of Kubernetes leave the list of nodes.  The commands are stand-ins that take the real ones' words, and give
# each node a host name of its own.  The recipes: docs/containers.md.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=60
needs_host_names
PATH=$bin:$PATH
export PATH

cat >"$bin/on-host" <<'END'
#!/bin/sh
exec unshare -u sh -c 'hostname "$0"; exec "$@"' "$@"
END
# kubectl exec [-i] POD -- WORDS: there is no standard input without -i.
cat >"$bin/kubectl" <<'END'
#!/bin/sh
[ "$1" = exec ] || exit 64
shift
[ "$1" = -i ] && shift || exec </dev/null
pod=$1
[ "$2" = -- ] || exit 65
shift 2
exec on-host "$pod" "$@"
END
# docker exec -i CONTAINER WORDS
cat >"$bin/docker" <<'END'
#!/bin/sh
[ "$1 $2" = "exec -i" ] || exit 64
shift 2
exec on-host "$@"
END
cp "$bin/docker" "$bin/podman"
# all-of "A B C" WORDS: on each of these hosts, with all of standard input; the host "here" is this one
cat >"$bin/all-of" <<'END'
#!/usr/bin/env python3
import os, subprocess, sys
start = lambda host: [] if host == "here" else ["on-host", host]
programs = [subprocess.Popen(start(host) + sys.argv[2:], stdin=subprocess.PIPE,
                             env=dict(os.environ, SLURMD_NODENAME=host) if host != "here" else None)
            for host in sys.argv[1].split()]
while data := os.read(0, 65536):
    for program in programs:
        try:
            os.write(program.stdin.fileno(), data)
        except BrokenPipeError:
            pass
for program in programs:
    program.stdin.close()
sys.exit(max(program.wait() for program in programs))
END
# flux exec -r RANKS WORDS; flux resource list, flux jobs: what they print of an instance of three nodes
cat >"$bin/flux" <<'END'
#!/bin/sh
case $1 in
exec) [ "$2 $3" = "-r all" ] && shift 3 && exec all-of "here n2 n3" "$@" ;;
resource) [ "$*" = "resource list -s free,allocated -no {nodelist} {nnodes} {ncores}" ] && exec printf '%s,n[2-3] 3 6\n' "$(hostname)" ;;
jobs) [ "$*" = "jobs -no {nodelist} {nnodes} {ncores} fJob" ] && exec echo 'n[2-3] 2 4' ;;
esac
exit 64
END
# srun WORDS --nodelist=A,B WORDS PROGRAM WORDS, in a container (pyxis) if one is named
cat >"$bin/srun" <<'END'
#!/bin/sh
while :; do
    case $1 in
    --nodelist=*) nodes=$(echo "${1#*=}" | tr , ' ') ;;
    --container-image=*) echo "${1#*=}" >"$SEEN" ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
exec all-of "$nodes" "$@"
END
# apptainer exec IMAGE WORDS: a mount and a process name space of its own
cat >"$bin/apptainer" <<'END'
#!/bin/sh
[ "$1" = exec ] || exit 64
shift 2
exec unshare -m -p -f --mount-proc "$@"
END
printf '#!/bin/sh\npod=$1\nshift\nexec kubectl exec "$pod" -- /bin/sh -c "$*"\n' >"$bin/kubexec.sh"
chmod +x "$bin"/*

where='echo "$PMI_RANK $(hostname)"'
on() { run "$patience" "$WIREUP" "$@" -n 4 sh -c "$where"; }
placed() # WHAT NODE...: ranks 0 to 3 are there
{
    what=$1 wanted=0
    shift
    for node; do
        wanted="$wanted $node"
    done
    same "$what" "$rc $(sort -n "$out" | cut -d' ' -f2 | tr '\n' ' ')" "$wanted " || explain
}

# ---- one command for each node
on -hosts pod-0:2,pod-1:2 -launcher-exec 'kubectl exec -i {node} -- {command}'
placed "kubectl exec" pod-0 pod-0 pod-1 pod-1
on -hosts pod-0:2,pod-1:2 -launcher-exec "kubectl exec -i {node} -- sh -c 'exec {command}'"
placed "by a shell" pod-0 pod-0 pod-1 pod-1
for command in docker podman; do
    on -hosts c1:2,c2:2 -launcher-exec "$command exec -i {node}"
    placed "$command exec" c1 c1 c2 c2
done
run "$patience" "$WIREUP" -hosts pod-0:2,pod-1:2 -launcher-exec 'kubectl exec -i {node} -- {command}' -n 4 \
    "$WU_BUILD/tests/e2e/e2e-rawpmix"
same "processes in pods exchange values" "$rc $(cat "$out" "$err")" "0 rawpmix 4 good" || explain
run "$patience" "$WIREUP" up -hosts pod-0:2,pod-1:2 -launcher-exec 'kubectl exec -i {node} -- {command}'
run "$patience" "$WIREUP" run -n 4 sh -c "$where"
placed "a job in a DVM of pods" pod-0 pod-0 pod-1 pod-1
run "$patience" "$WIREUP" down
same "... which goes" "$rc" 0 || explain
run "$patience" "$WIREUP" up -hosts localhost:2,pod-0:2 -launcher-exec 'kubectl exec -i {node} -- {command}'
run "$patience" "$WIREUP" run -nolocal -n 2 sh -c "$where"
same "in a DVM that has the launcher's node, too, -nolocal uses the other one" "$rc $(sort -n "$out" | tr '\n' ' ')" \
    "0 0 pod-0 1 pod-0 " || explain
run "$patience" "$WIREUP" down
on -hosts pod-0:2,pod-1:2 -launcher-exec 'kubectl exec {node} -- {command}'
ok "without -i the sentence says what is missing" eval '[ "$rc" = 125 ] && grep -q "kubectl exec -i" "$err"' || explain

# ---- Kubernetes: what the MPI Operator sets in the launcher's pod
printf 'job-worker-0.job.ns.svc slots=2\njob-worker-1.job.ns.svc slots=2\n' >"$tmp/hostfile"
printf 'job-worker-0.job.ns.svc:2\njob-worker-1.job.ns.svc:2\n' >"$tmp/hostfile.colon"
cat >"$bin/ssh" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
    [ "$1" != -o ] || { echo "$2" >>"$SEEN"; shift; }
    shift
done
host=$1
shift
exec on-host "$host" sh -c "exec $*"
END
chmod +x "$bin/ssh"
SEEN=$tmp/seen
export SEEN
workers="job-worker-0.job.ns.svc job-worker-0.job.ns.svc job-worker-1.job.ns.svc job-worker-1.job.ns.svc"
operator() # WHAT VARIABLE=VALUE...
{
    what=$1
    shift
    : >"$SEEN"
    run "$patience" env "$@" "$WIREUP" -n 4 sh -c "$where"
    # shellcheck disable=SC2086
    placed "$what" $workers
    same "... and ssh has the operator's words" "$(grep -c '^ConnectionAttempts=10$' "$SEEN")" 2
}
operator "MPIJob, Open MPI" OMPI_MCA_orte_keep_fqdn_hostnames=true OMPI_MCA_orte_default_hostfile="$tmp/hostfile" \
    OMPI_MCA_plm_rsh_args="-o ConnectionAttempts=10"
operator "MPIJob, Intel MPI" I_MPI_HYDRA_HOST_FILE="$tmp/hostfile.colon" \
    I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS="-o ConnectionAttempts=10"
operator "MPIJob, MPICH" HYDRA_HOST_FILE="$tmp/hostfile.colon" HYDRA_LAUNCH_EXTRA_ARGS="-o ConnectionAttempts=10"
run "$patience" env OMPI_MCA_orte_default_hostfile="$tmp/hostfile" OMPI_MCA_plm_rsh_agent="$bin/kubexec.sh" "$WIREUP" true
ok "an agent without standard input (MPIJob v1) is told what to write instead" \
    eval '[ "$rc" = 125 ] && grep -q "kubectl exec -i" "$err"' || explain
rm "$bin/ssh"

# ---- one command for all nodes
run "$patience" env FLUX_URI=local:///x "$WIREUP" -n 6 sh -c "$where"
placed "a Flux instance, as the Flux Operator starts one" "$(hostname)" "$(hostname)" n2 n2 n3 n3
run "$patience" env FLUX_URI=local:///x "$WIREUP" -nolocal -n 4 sh -c "$where"
placed "... and its processes are not where the launcher is" n2 n2 n3 n3
run "$patience" env FLUX_URI=local:///x FLUX_JOB_ID=fJob "$WIREUP" -n 4 sh -c "$where"
placed "a job of a Flux instance has its own nodes only" n2 n2 n3 n3
run "$patience" env SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE='2(x2)' "$WIREUP" \
    -launcher-args '--container-image=image.sqsh --container-mounts=/tmp' -n 4 sh -c "$where"
placed "Slurm with pyxis" n1 n1 n2 n2
same "... and srun has named the image" "$(cat "$SEEN")" image.sqsh

# ---- the hybrid model: processes in containers, daemons outside
run "$patience" "$WIREUP" -n 4 apptainer exec image.sif "$WU_BUILD/tests/e2e/e2e-libpmi" exchange
same "apptainer exec" "$rc $(head -n 1 "$out")" "0 lib 4 good" || explain
finish
