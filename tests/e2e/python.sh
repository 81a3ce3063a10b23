#!/bin/sh
# The modules in python/.  pmix: every data type there and back, wrong values refused, a host in Python, asyncio, and
# the scripts for python3-pmix unchanged; on our library and on OpenPMIx's.  wireup: jobs from Python.
#
# Environment: PYTHON (the interpreter: /usr/bin/python3); `scripts/campaign python` tries others.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
ours=$WU_BUILD/src/lib/pmix
python=${PYTHON:-/usr/bin/python3}
PYTHONPATH=$WU_SRC/python
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# A sanitized library needs its run-time first; what an interpreter leaves behind is not ours.
preload=$(sanitizer_preload "$ours/libpmix.so.2")
if [ -n "$preload" ]; then
    python="env LD_PRELOAD=$preload ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 $python"
fi

# What their library does not put: 4.2 says UNSUPPORTED TYPE, and loses what it has put of ALLOC_DIRECTIVE.
case $(pkg-config --modversion pmix 2>/dev/null) in
4.2*) theirs="- ALLOC_DIRECTIVE IOF_CHANNEL INFO_DIRECTIVES DATA_TYPE COMMAND" ;;
*) theirs= ;;
esac

for row in "$ours" "$theirs"; do
    # shellcheck disable=SC2086 # words
    set -- $row
    [ $# -gt 0 ] || continue
    name=ours
    library=$1
    shift
    [ "$library" != - ] || name=theirs library=
    launch 2 env LD_LIBRARY_PATH="$library" $python "$e2e/python_values.py" "$@"
    same "$name: the processes of every type end well" "$rc $(grep -c '^values' "$out")" "0 2" || explain
    same "$name: every value arrives, and every wrong one is refused" "$(grep '^not ok' "$out" | sort -u)" ""
    ok "$name: they have tried hundreds" [ "$(grep -c '^ok' "$out")" -gt 700 ]
    launch 3 env LD_LIBRARY_PATH="$library" $python "$e2e/python_aio.py"
    same "$name: asyncio" "$rc $(sort "$out" | uniq -c | sed 's/^ *//' | tr '\n' ,)" \
        "0 3 commit does not wait: call it without aio,3 events True,3 fence 0,3 finalize 0,$(
        )3 published [0, 0, 0, 0, 0] found True others ran True,3 refused -27 -46," || explain
done

# ---- jobs
named_agent
cat >"$tmp/want" <<EOF
run [(0, 'I am 0 of 3'), (1, 'I am 1 of 3'), (2, 'I am 2 of 3')]
trace True True
timeline True True True
lines up up
row sleepers 2 running
who 2 wireup-names-1
jobs 1
signalled True True
gone None []
still there
ended True
error 3 True
error 127 True
error 1 True
error 2 True
dvm ['n1', 'n1', 'n2', 'n2']
down []
EOF
run 300 env WIREUP="$WIREUP" $python "$e2e/python_jobs.py" "$tmp" "$WU_BUILD/tests/e2e/e2e-libpmi" "$tmp/agent"
same "jobs from Python" "$rc $(grep -v '^exchange' "$out" | diff - "$tmp/want")" "0 " || explain
ok "they exchange" grep -q "^exchange.*lib 4 good" "$out"

# ---- a wheel, without a network, from a copy, because building writes beside the sources
if $python -c 'import setuptools, wheel, pip' 2>/dev/null; then
    cp -r "$WU_SRC/python" "$tmp/sources"
    pip="$python -m pip --disable-pip-version-check --no-cache-dir --quiet"
    # shellcheck disable=SC2086 # words
    run 120 $pip wheel --no-index --no-deps --no-build-isolation -w "$tmp/wheels" "$tmp/sources"
    same "a wheel is built" "$rc $(cd "$tmp/wheels" && ls)" "0 wireup-0.1.0-py3-none-any.whl" || explain
    # shellcheck disable=SC2086 # words
    run 120 $pip install --no-index --no-deps --no-compile --root-user-action=ignore --target "$tmp/installed" "$tmp"/wheels/*.whl
    same "it brings every file, and no other" "$rc $(cd "$tmp/installed" && LC_ALL=C ls | grep -v '\.dist-info$' | tr '\n' ' ')$(
        for module in pmix wireup; do diff -rq -x __pycache__ "$WU_SRC/python/$module" "$tmp/installed/$module"; done 2>&1)" \
        "0 pmix wireup " || explain
    cat >"$tmp/installed.py" <<'EOF'
import sys
import pmix
import wireup
client = pmix.PMIxClient()
rc, me = client.init()
print(pmix.__file__.startswith(sys.argv[1]), wireup.__file__.startswith(sys.argv[1]), rc, client.fence([], []), client.finalize())
EOF
    launch 2 env PYTHONPATH="$tmp/installed" LD_LIBRARY_PATH="$ours" $python "$tmp/installed.py" "$tmp/installed"
    same "what it installs works" "$rc $(sort -u "$out")" "0 True True 0 0 0" || explain
else
    skip "a wheel" "pip, setuptools or wheel is not installed for $python"
fi

# ---- a host
cat >"$tmp/want" <<EOF
init 0
no such function True True
patterns 0 0 True
registered True True
fork 0 True
client init 0 0
publish 0
lookup True [('name', 'a value', 0)]
unpublish 0
lookup True
commit 0 0
fence 0
modex True
spawn (0, 'job.prog')
connect 0 0
query ['answer to my.key']
log 0
allocate 1
control pmix.jctrl.pause
monitor pmix.monitor.fmon
credential 0 {'bytes': b'who: 0', 'size': 6}
validated rank 0 True
group [77]
group end 0
events 0 0 0
client finalize 0
process 0
saw name a value a line ['prog', 'x'] g 7 4294967294
not called []
finalize 0
EOF
for client in "$ours" ${theirs:+-}; do
    [ "$client" != - ] || client=
    run 200 env LD_LIBRARY_PATH="$ours" PYTHON_HOST_LIBRARY="$client" $python "$e2e/python_host.py"
    same "a host in Python, its process on $([ -n "$client" ] && echo ours || echo theirs)" \
        "$rc $(grep -v '^abort' "$out" | diff - "$tmp/want")" "0 " || explain
done
ok "a function that a host does not have is named" grep -q "a host has no function 'nothing'" "$err"

# ---- scripts for python3-pmix, unchanged
run 200 env LD_LIBRARY_PATH="$ours" $python "$e2e/pmixserver.py" "$ours" $python "$e2e/pmixclient.py"
same "a server and a client of python3-pmix" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 client finalize 0,client init 0 0,commit 0,expect True,fence 0,finalize 0,fork 0,get 4711,init 0,nothing False,$(
    )process 0,put 0,register True,size 1,upcall finalized testnspace 0," || explain
"$WIREUP" -tool-files on -n 1 sh -c 'echo ready; exec sleep 1000' >"$tmp/job" 2>"$tmp/told" </dev/null &
launcher=$!
wait_until 60 grep -q ready "$tmp/job"
run 60 env LD_LIBRARY_PATH="$ours" $python "$e2e/pmixtool.py" pid "$launcher"
same "a tool of python3-pmix" "$rc $(sed 's/kvs_.*/JOB/' "$out" | tr '\n' ,)" \
    "0 tool init 0,query 0 JOB,servers 0 1,tool finalize 0," || explain
kill "$launcher"
wait "$launcher"
finish
