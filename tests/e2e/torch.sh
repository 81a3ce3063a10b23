#!/bin/sh
# Programs without MPI: the variables that PyTorch's, JAX's and Horovod's read (proto/environment_styles.def), and the
# store that PyTorch's meet through (tcpstore.py; PyTorch itself, where Python has it).
#
#   WIREUP_TORCH=PYTHON   an interpreter that has PyTorch; otherwise /usr/bin/python3, if it has
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=120
python=/usr/bin/python3
client=$WU_SRC/tests/e2e/tcpstore.py
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT

# The variables of these styles that a process has, in order.
cat >"$tmp/vars.sh" <<'END'
env | grep -E '^(RANK|WORLD_SIZE|LOCAL_|GROUP_|ROLE_|TORCHELASTIC_MAX|JAX_|HOROVOD_|WIREUP_ENV)' | sort | tr '\n' ' '
echo
END
{ echo "#!$python" && echo 'import os, sys' && echo 'os.execv("/bin/sh", ["sh", sys.argv[1]])'; } >"$tmp/script"
chmod +x "$tmp/script"

torch() # RANK SIZE LOCAL_RANK LOCAL_SIZE NODE NODES
{
    echo "GROUP_RANK=$5 GROUP_WORLD_SIZE=$6 LOCAL_RANK=$3 LOCAL_WORLD_SIZE=$4 RANK=$1 ROLE_NAME=default ROLE_RANK=$1" \
        "ROLE_WORLD_SIZE=$2 TORCHELASTIC_MAX_RESTARTS=0 WIREUP_ENV_STYLE=torch WORLD_SIZE=$2 "
}

sorted()
{
    sort "$out"
}

launch 2 "$tmp/script" "$tmp/vars.sh"
same "a Python script" "$rc $(sorted)" "0 $(torch 0 2 0 2 0 1
    torch 1 2 1 2 0 1)" || explain
launch 1 "$python" "$tmp/script" "$tmp/vars.sh"
same "its interpreter" "$rc $(sorted)" "0 $(torch 0 1 0 1 0 1)" || explain
launch 1 env A=b "$python" -u "$tmp/script" "$tmp/vars.sh"
same "its interpreter behind env" "$rc $(sorted)" "0 $(torch 0 1 0 1 0 1)" || explain
launch 1 sh "$tmp/vars.sh"
same "another program" "$rc $(sorted)" "0 " || explain
launch 1 -env-style torch sh "$tmp/vars.sh"
same "another program, told so" "$rc $(sorted)" "0 $(torch 0 1 0 1 0 1)" || explain
launch 1 -env-style none "$tmp/script" "$tmp/vars.sh"
same "none" "$rc $(sorted)" "0 " || explain
launch 1 -env-style jax sh "$tmp/vars.sh"
same "JAX" "$rc $(sorted | sed 's/127.0.0.1:6[0-9]*/HERE/')" \
    "0 JAX_COORDINATOR_ADDRESS=HERE JAX_NUM_PROCESSES=1 JAX_PROCESS_ID=0 WIREUP_ENV_STYLE=jax " || explain
# By what a program imports (here it does not: its words are read).
for module in jax:JAX_ flax:JAX_ horovod.torch:HOROVOD_ torch:RANK deepspeed:RANK mpi4py:RANK; do
    { sed 1d "$tmp/script" && echo "import ${module%:*}"; } >"$tmp/${module%:*}.py"
    launch 1 "$python" "$tmp/${module%:*}.py" "$tmp/vars.sh"
    ok "${module%:*}: its variables" grep -Eq "(^| )${module#*:}[A-Z_]*=[0-9]" "$out" || explain
    same "${module%:*}: and no others" "$rc $(grep -oE '(^| )(RANK|JAX_|HOROVOD_)' "$out" | tr -d ' ' | sort -u)" \
        "0 ${module#*:}" || explain
done
launch 1 -genv JAX_PROCESS_ID 7 -x HOROVOD_RANK=8 "$python" "$tmp/jax.py" "$tmp/vars.sh"
ok "what the user sets stays, of every style" grep -q 'HOROVOD_RANK=8 .*JAX_PROCESS_ID=7 ' "$out" || explain
# As jax.distributed.initialize() without arguments does: process 0 serves, the others come when it is there.
cat >"$tmp/jax.py" <<'END'
import os, re, socket, time
uri = os.environ['OMPI_MCA_orte_hnp_uri']
rank, size = (int(os.environ['OMPI_COMM_WORLD_' + name]) for name in ('RANK', 'SIZE'))
host, port = os.environ['JAX_COORDINATOR_ADDRESS'].split(':')
assert int(port) == int(uri.split('.')[0]) // 4096 % 4096 + 61440 and re.search('tcp://(.+?)[,:]', uri)[1] == host
if rank == 0:
    with socket.create_server(('', int(port))) as server:
        print('met', 1 + sum(server.accept()[0].recv(1) == b'x' for _ in range(1, size)))
else:
    for _ in range(600):
        try:
            socket.create_connection((host, int(port))).sendall(b'x')
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
END
launch 3 -env-style jax "$python" "$tmp/jax.py"
same "JAX's processes meet where process 0 is" "$rc $(cat "$out")" "0 met 3" || explain
launch 2 sh "$tmp/vars.sh" : -n 1 "$tmp/script" "$tmp/vars.sh"
same "each program of a job has its own" "$rc $(sorted | grep RANK)" "0 $(torch 2 3 2 3 0 1)" || explain
launch 1 -genv RANK 7 -x LOCAL_RANK=8 "$tmp/script" "$tmp/vars.sh"
same "what the user sets stays" "$rc $(sorted)" "0 $(torch 7 1 8 1 0 1 | sed 's/ROLE_RANK=7/ROLE_RANK=0/')" || explain
echo "exec '$WIREUP' -n 1 '$tmp/script' '$tmp/vars.sh'" >"$tmp/nested.sh"
launch 2 "$tmp/script" "$tmp/nested.sh"
same "a launcher inside a job passes no rank on" "$rc $(sorted | sort -u)" "0 $(torch 0 1 0 1 0 1)" || explain

# The store.
goods() # N
{
    yes "store good" | head -n "$1"
}
for dialect in old new; do
    launch 4 "$python" "$client" "$dialect"
    same "the store, $dialect messages" "$rc $(cat "$out")" "0 $(goods 4)" || explain
    ok "a wrong query is reported" grep -q 'rank 3: its store knows no query 71' "$err" || explain
done
launch 1 -genv MASTER_ADDR example.invalid "$python" -c "import os; print(os.environ['MASTER_ADDR'],
    'MASTER_PORT' in os.environ, 'TORCHELASTIC_USE_AGENT_STORE' in os.environ)"
same "a meeting point of the user's" "$rc $(cat "$out")" "0 example.invalid False False" || explain

# A job that fails starts again, as torchrun's do.
cat >"$tmp/fails.sh" <<'END'
echo "$TORCHELASTIC_RESTART_COUNT/$TORCHELASTIC_MAX_RESTARTS"
echo "$TORCHELASTIC_RUN_ID" >>"$1"
[ "$TORCHELASTIC_RESTART_COUNT" = 2 ] || [ "$RANK" = 1 ] || sleep 100
[ "$TORCHELASTIC_RESTART_COUNT" = 2 ]
END
restarts() # N WORDS...
{
    rm -f "$tmp/ids"
    ranks=$1
    shift
    launch "$ranks" -env-style torch -restart-job 3 "$@" sh "$tmp/fails.sh" "$tmp/ids"
}
restarts 2
same "a job starts again until it succeeds" "$rc $(sorted | uniq | tr '\n' ' ')$(grep -c 'start [23] of 4' "$err")" \
    "0 0/3 1/3 2/3 2" || explain
same "... each time as another job" "$(sort -u "$tmp/ids" | wc -l)" 3
launch 1 -restart-job 1 sh -c 'echo out; exit 7'
same "or not more often than it may" "$rc $(sorted | tr '\n' ' ')$(grep -c 'start 2 of 2' "$err")" "7 out out 1" || explain
launch 1 -restart-job 5 -timeout 1 sleep 100
same "not after the time limit" "$rc $(grep -c 'start 2' "$err")" "124 0" || explain
launch 1 -restart-job 5 sh -c 'kill -INT $(ps -o ppid= -p $PPID); sleep 100'
same "not after a signal" "$rc $(grep -c 'start 2' "$err")" "130 0" || explain

# A rank is started again in place, and the others meet it anew, at another attempt.
cat >"$tmp/in_place.py" <<'END'
import os, signal, sys
sys.argv[1] = "old"
source = open(sys.argv[2]).read()
exec(source[:source.index("rank, size =")])
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
attempt = first = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
def meet():
    store = Store(OLD)
    name = f"//worker/attempt_{attempt}/"
    store.set(name + str(rank), f"{rank} at {attempt}")
    for other in range(size):
        assert store.get(name + str(other)).decode() == f"{other} at {attempt}"
    return store
for step, how in enumerate(sys.argv[3:]):
    victim = (step + 1) % size
    if step < first:
        if how == "stale":
            os._exit(0)
        continue
    try:
        store = meet()
        if rank == victim and how in ("kill", "stale"):
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == victim and how == "node":
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        store.wait(f"//worker/attempt_{attempt}/never")
    except (EOFError, ConnectionError):
        pass
    if how == "stale":
        Store(OLD).get("/wireup/attempt/1")
        try:
            meet()
        except (EOFError, ConnectionError):
            print(rank, "is refused", flush=True)
        os._exit(0)
    attempt = int(Store(OLD).get(f"/wireup/attempt/{attempt + 1}"))
meet()
print(rank, "met at", attempt, flush=True)
END
in_place() # TITLE "OPTIONS" FAILURES...
{
    title=$1
    options=$2
    shift 2
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" $options -n 3 "$python" "$tmp/in_place.py" - "$client" "$@"
    same "$title" "$rc $(sort "$out" | tr '\n' ' ')$(grep -c 'started again' "$err")" \
        "0 0 met at $# 1 met at $# 2 met at $# $#" || explain
    ok "$title: nothing else is reported" eval '! grep -v "started again\|is lost: .* takes its place" "$err"' || explain
}
in_place "ranks are started again in place, and all meet anew" "-on-failure restart" kill kill kill
run "$patience" "$WIREUP" -on-failure restart -n 3 "$python" "$tmp/in_place.py" - "$client" stale
same "the control: one that meets at the attempt before is refused" "$rc $(sort "$out" | tr '\n' ' ')" "0 0 is refused 2 is refused " ||
    explain
printf '%s\n' 'import os, signal' 'os.kill(os.getpid(), 9) if os.environ["RANK"] == "0" and "WIREUP_RESTARTS" not in os.environ else 0' \
    >"$tmp/unjoined.py"
run "$patience" "$WIREUP" -on-failure restart -n 2 -env-style torch "$python" "$tmp/unjoined.py"
same "one that has not met anybody is started again alone" "$rc $(grep -c 'started again' "$err")" "0 1" || explain

# A barrier in which ranks are missing: who names them.  Older clients ask again and again, newer ones wait.
cat >"$tmp/late.py" <<'END'
import os, sys, time
sys.argv[1] = "old"
source = open(sys.argv[2]).read()
exec(source[:source.index("def barrier")])
if rank % 2 == 0:
    store.add("init:1", 1)
    if sys.argv[3] == "waits":
        store.send("wait", count(["init:1/last"]))
while not os.path.exists(sys.argv[4]):
    if rank % 2 == 0 and sys.argv[3] == "asks":
        store.add("init:1", 0)
    time.sleep(0.02)
END
reported() # PID
{
    "$WIREUP" who >"$tmp/who" 2>&1
    grep -q '3 of 5 have arrived' "$tmp/who"
}
missing_at_barrier() # TITLE HOW OPTION...
{
    title=$1
    how=$2
    shift 2
    rm -f "$tmp/end"
    run "$patience" "$WIREUP" "$@" -n 5 "$python" "$tmp/late.py" - "$client" "$how" "$tmp/end" &
    pid=$!
    wait_until 60 reported
    same "$title: who names the missing ranks" "$(sed -n 's/.*barrier of its store \("init:1"\), for [0-9.]* s: /\1 /p' "$tmp/who")" \
        '"init:1" 3 of 5 have arrived; missing: 1,3' || sed 's/^/# /' "$tmp/who"
    ok "$title: so does --json" sh -c '"$1" who --json | grep -q "\"store_barrier\":\"init:1\".*\"missing\":\"1,3\""' - "$WIREUP"
    : >"$tmp/end"
    wait "$pid"
}
missing_at_barrier "processes that wait" waits
cat >"$tmp/group.py" <<'END'
import os, sys, time
sys.argv[1] = "old"
source = open(sys.argv[2]).read()
exec(source[:source.index("def barrier")])
prefix = "/worker/attempt_0/default_pg/0/0/"
if rank != 2:
    store.set(prefix + str(rank), "address")
if rank == 0:
    store.send("wait", count([prefix + key for key in sys.argv[4:]]))
while not os.path.exists(sys.argv[3]):
    time.sleep(0.02)
END
waits() # PID
{
    "$WIREUP" who >"$tmp/who" 2>&1
    grep -q 'store query.*/2' "$tmp/who"
}
# What is asked for many addresses at once, as gloo of 2025 does, waits for one after the other.
missing_address() # TITLE KEYS OPTION...
{
    title=$1
    keys=$2
    shift 2
    rm -f "$tmp/end"
    # shellcheck disable=SC2086
    run "$patience" "$WIREUP" "$@" -n 3 "$python" "$tmp/group.py" - "$client" "$tmp/end" $keys &
    pid=$!
    wait_until 60 waits
    same "$title" "$(sed -n 's/for [0-9.]* s/for S s/p' "$tmp/who" | head -1)" \
        '  store query "/worker/attempt_0/default_pg/0/0/2" of rank 2, for S s, by rank 0: missing: 2'
    : >"$tmp/end"
    wait "$pid"
}
missing_address "who names the rank whose address others wait for" 2
missing_address "also among those of all" "0 1 2"
missing_at_barrier "processes that ask" asks

cat >"$tmp/port.py" <<'END'
import os, sys, time
with open(sys.argv[1] + ".new", "w") as file:
    file.write(os.environ["MASTER_PORT"])
os.rename(sys.argv[1] + ".new", sys.argv[1])
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
END
"$WIREUP" -n 1 "$python" "$tmp/port.py" "$tmp/port" "$tmp/go" >"$out" 2>"$err" &
pid=$!
wait_until 60 test -e "$tmp/port"
"$python" -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(60)
try:
    s.sendall(b"\3\1\0\0\0\0\0\0\0n\1\0\0\0\0\0\0\0")
    print(len(s.recv(8)))
except ConnectionError:
    print(0)' "$(cat "$tmp/port")" >"$tmp/stranger"
: >"$tmp/go"
wait "$pid"
same "a process of no job is not served" "$? $(cat "$tmp/stranger")" "0 0" || explain
ok "and reported" grep -q "refused a connection to the store of a job: it is from no process of one here" "$err" || explain

needs_host_names
named_agent
run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:1,n3:1 -n 4 "$tmp/script" "$tmp/vars.sh"
same "over three nodes" "$rc $(sorted)" "0 $(
    torch 0 4 0 2 0 3
    torch 1 4 1 2 0 3
    torch 2 4 0 1 1 3
    torch 3 4 0 1 2 3
)" || explain
for dialect in old new; do
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:1 -n 5 "$python" "$client" "$dialect"
    same "the store over three nodes, $dialect messages" "$rc $(cat "$out")" "0 $(goods 5)" || explain
done
in_place "over three nodes, too" "-launch-agent $tmp/agent -hosts n1,n2,n3 -on-failure restart" kill kill kill
in_place "and those of lost nodes, on others" "-launch-agent $tmp/agent -hosts n1,n2,n3,s1,s2 -on-failure replace" kill node node
restarts 3 -launch-agent "$tmp/agent" -hosts n1,n2,n3
same "a job over three nodes starts again" "$rc $(sorted | uniq | tr '\n' ' ')" "0 0/3 1/3 2/3 " || explain

# A job starts again on the nodes that are left, as an elastic job of torchrun's; in the place of a lost node comes the
# next one of the list.
cat >"$tmp/elastic-agent" <<'END'
#!/bin/sh
[ ! -e "$(dirname "$0")/down-$1" ] || exit 9
exec "$(dirname "$0")/agent" "$@"
END
chmod +x "$tmp/elastic-agent"
cat >"$tmp/loses.sh" <<'END'
node=$(hostname)
echo "$TORCHELASTIC_RESTART_COUNT $RANK/$WORLD_SIZE $node"
[ "$TORCHELASTIC_RESTART_COUNT" = 0 ] || exit 0
[ "$node$LOCAL_RANK" = n20 ] || exec sleep 1000
kill -KILL "$PPID" "$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$PPID/stat")"
END
elastic() # NODES MIN:MAX WORDS...
{
    nodes=$1
    range=$2
    shift 2
    run "$patience" "$WIREUP" -launch-agent "$tmp/elastic-agent" -hosts "$nodes" -nnodes "$range" -env-style torch "$@" \
        sh "$tmp/loses.sh"
}
second() { sed -n 's/^1 //p' "$out" | sort | tr '\n' ' '; }
elastic n1,n2,n3,n4 2:3 -restart-job 1 -ppn 2
same "another node for a lost one" "$rc $(second)" "0 0/6 n1 1/6 n1 2/6 n3 3/6 n3 4/6 n4 5/6 n4 " || explain
elastic n1,n2,n3 2:3 -restart-job 1
same "or fewer" "$rc $(second)" "0 0/2 n1 1/2 n3 " || explain
elastic n1,n2,n3 3 -restart-job 1
same "but not fewer than it needs" "$rc $(second)$(sed -n 's/.*: the job needs/the job needs/p' "$err")" \
    "125 the job needs at least 3 nodes (-nnodes), and 2 are left: 1 is lost" || explain
: >"$tmp/down-n3"
elastic n1,n3,n4 2:3 -restart-job 1
same "without a node that does not come up" "$rc $(second)" "0 0/2 n1 1/2 n4 " || explain
elastic n1,n3,n4 2:3
same "the control: without restarts it is a failure" "$rc $(second)" "125 " || explain
rm "$tmp/down-n3"
elastic n1,n2 1:2 -max-restarts 1
ok "with the restarts of single processes it is refused" grep -q 'use -restart-job 1$' "$err" || explain

# PyTorch itself.
if [ -n "${WIREUP_TORCH-}" ] || "$python" -c 'import torch.distributed' 2>/dev/null; then
    export GLOO_SOCKET_IFNAME=lo
    with_torch=${WIREUP_TORCH:-$python}
    run "$patience" "$WIREUP" -n 3 -env-style torch "$with_torch" "$e2e/torch_train.py"
    same "PyTorch's processes on one node" "$rc $(sed 's/ on .*:/:/' "$out" | sort)" "0 0 of 3: good
1 of 3: good
2 of 3: good" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/elastic-agent" -hosts n1,n2,n3,n4 -nnodes 2:3 -restart-job 1 -env-style torch \
        "$with_torch" "$e2e/torch_train.py" n2
    same "on three, of which one is lost and replaced" "$rc $(sort "$out")" "0 0 of 3 on n1: good
1 of 3 on n3: good
2 of 3 on n4: good" || explain
    run "$patience" "$WIREUP" -n 3 -on-failure restart -env-style torch "$with_torch" "$WU_SRC/examples/python/torch_in_place.py"
    same "one is started again in place" "$rc $(cat "$out") $(grep -c 'started again' "$err")" "0 torch_in_place: good 1" || explain
    run "$patience" "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2,n3 -on-failure restart -env-style torch "$with_torch" \
        "$WU_SRC/examples/python/torch_in_place.py"
    same "... over three nodes" "$rc $(cat "$out") $(grep -c 'started again' "$err")" "0 torch_in_place: good 1" || explain
fi
missing_address "over three nodes who names the rank among all" "1 0 2" -launch-agent "$tmp/agent" -hosts n1,n2,n3
missing_at_barrier "over three nodes" waits -launch-agent "$tmp/agent" -hosts n1:2,n2:2,n3:1
finish
