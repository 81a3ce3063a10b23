#!/bin/sh
# Programs started by hand: alone they are a job of one; those that spawn get a launcher.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
single=$WU_BUILD/tests/e2e/e2e-singleton
printf '#!/bin/sh\necho "child $PMI_RANK of $PMI_SIZE spawned $PMI_SPAWNED $1"\n' >"$tmp/child"
chmod +x "$tmp/child"

WIREUP_SAVED=$WIREUP
export WIREUP
run 120 "$single" "$tmp/child" word
same "a singleton spawns, and keeps its values" "$(grep '^size' "$out")" \
    "size 1 spawned 0 put 0 spawn good errors 0 0 get 0 two words name same fin 0" || explain
same "its children run" "$(grep '^child' "$out" | sort | tr '\n' ';')" \
    "child 0 of 2 spawned 1 word;child 1 of 2 spawned 1 word;" || explain

run 120 "$single" "$tmp/nobody"
same "a spawn of nothing fails, and it goes on" "$(cat "$out")" \
    "size 1 spawned 0 put 0 spawn bad errors -1 -1 get 0 two words name same fin 0" || explain

single2=$WU_BUILD/tests/e2e/e2e-singleton2
run 120 "$single2" "$tmp/child" word
same "the same with PMI-2" "$(grep '^size' "$out")" \
    "size 1 spawned 0 put 0 spawn good job told errors 0 0 get 0 two words name same fin 0" || explain
same "and its children" "$(grep '^child' "$out" | sort | tr '\n' ';')" \
    "child 0 of 2 spawned 1 word;child 1 of 2 spawned 1 word;" || explain

single3=$WU_BUILD/tests/e2e/e2e-singleton3
run 120 "$single3"
same "the same with PMIx: names, spawn, queries, connect, groups" "$(grep '^init' "$out")" \
    "init PMIX_ERR_UNREACH, publish PMIX_SUCCESS, spawn PMIX_SUCCESS, jobs 2, connect PMIX_SUCCESS, group PMIX_SUCCESS, own value was committed, same name 1, finalize PMIX_SUCCESS" || explain
same "and its children find what it had committed, and only that" "$(grep '^child' "$out" | sort)" \
    "child 0: committed was committed, later PMIX_ERR_NOT_FOUND, name 4711
child 1: committed was committed, later PMIX_ERR_NOT_FOUND, name 4711" || explain

# A program's pipe, open without close-on-exec: whatever else has it open keeps its reader from the end of file.
pipe=$tmp/pipe
mkfifo "$pipe"
cat >"$tmp/holders" <<END
#!/bin/sh
for fd in \$(find /proc/[0-9]*/fd -lname "$pipe" 2>/dev/null); do
    cat "\${fd%/fd/*}/comm"
done | sort -u | tr '\n' ' ' | sed 's/.*/open in: &\n/'
[ "\${1-}" != child ] || exec "$single3" child
END
printf '#!/bin/sh\n"%s" "$@"\n' "$WIREUP" >"$tmp/wrapper"
chmod +x "$tmp/holders" "$tmp/wrapper"
# shellcheck disable=SC2016
with_pipe() { run 120 env CHILD="$tmp/holders" PIPE="$pipe" sh -c 'exec "$0" "$@" 9<>"$PIPE"' "$@"; }
for program in "$single $tmp/holders" "$single2 $tmp/holders" "$single3"; do
    name=$(basename "${program%% *}")
    for WIREUP in "$WIREUP_SAVED" "$tmp/wrapper"; do
        # shellcheck disable=SC2086
        with_pipe $program
        same "$name keeps its descriptors to itself, and its launcher (${WIREUP##*/}) has none" \
            "$(grep '^open' "$out" | sort | uniq -c | tr -s ' ')" " 2 open in: $name " || explain
    done
done
WIREUP=$WIREUP_SAVED

# MPICH's library forks and becomes `mpiexec -pmi_args PORT ...`, with all descriptors of the program.
cat >"$tmp/fork.py" <<'END'
import os, socket, subprocess, sys
server = socket.create_server(('127.0.0.1', 0))
port = str(server.getsockname()[1])
launcher = subprocess.Popen([os.environ['WIREUP'], '-pmi_args', port, 'default_interface', 'default_key', str(os.getpid())],
                            stdin=subprocess.DEVNULL, close_fds=False)
connection, _ = server.accept()
subprocess.run(sys.argv[1], check=True)
connection.close()
launcher.wait()
END
with_pipe python3 "$tmp/fork.py" "$tmp/holders"
same "nor has one that a program becomes after a fork, as with MPICH" "$(cat "$out")" "open in: python3 " || explain

WIREUP=$tmp/not-installed
run 120 "$single3"
same "PMIx without Wireup stays alone" "$(cat "$out")" \
    "init PMIX_ERR_UNREACH, publish PMIX_ERR_UNREACH, spawn PMIX_ERR_UNREACH, own value was committed, same name 1, finalize PMIX_SUCCESS" || explain
same "and says once why" "$(grep -c "install Wireup, or start the program with" "$err")" 1 || explain
run 120 env PMI_DEBUG=1 "$single" true
same "without Wireup it stays alone" "$(cat "$out")" \
    "size 1 spawned 0 put 0 spawn bad errors -1 -1 get 0 two words name same fin 0" || explain
ok "and one sentence names the missing program" grep -q "install Wireup, or start the program with" "$err"
WIREUP=$WIREUP_SAVED
finish
