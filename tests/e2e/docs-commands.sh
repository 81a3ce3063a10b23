#!/bin/sh
# Every command that the documents print runs here, with stand-ins for programs and machines that are not here; those
# that cannot are rows of docs_commands.tsv, each with its reason.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
needs_host_names
unset WIREUP_LIBRARIES
PATH=$bin:$(dirname "$WIREUP"):$PATH
PYTHONPATH=$WU_SRC/python PYTHONDONTWRITEBYTECODE=1 PMIX_LIBRARY=$WU_BUILD/src/lib/pmix/libpmix.so.2
HOME=$tmp/home
WIREUP_WIREUPD=$WU_BUILD/src/daemon/wireupd
export WIREUP_WIREUPD PATH PYTHONPATH PYTHONDONTWRITEBYTECODE PMIX_LIBRARY HOME WIREUP
mkdir -p "$HOME"
ln -s "$WIREUP" "$bin/mpirun"
ln -s "$WIREUP" "$bin/mpiexec"
ln -s /usr/bin/python3 "$bin/python3" # whose modules the packages bring

# Machines: a name of their own.  Programs: one that has come to life says so.
cat >"$bin/on-host" <<'END'
#!/bin/sh
host=$1
shift
exec unshare -u sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
cat >"$bin/ssh" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
    [ "$1" != -o ] || shift
    shift
done
exec on-host "$@"
END
printf '#!/bin/sh\nshift 2\npod=$1\nshift 2\nexec on-host "$pod" "$@"\n' >"$bin/kubectl"
printf '#!/bin/sh\nshift 2\nexec on-host "$@"\n' >"$bin/docker"
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >"$bin/apptainer"
for program in hello ring solver leader worker master program prog my-mpi-program; do
    printf '#!/bin/sh\necho "%s $*"\n' $program >$program
done
ln -s "$PWD/program" "$bin/program"
ln -s "$PWD/prog" "$bin/prog"
echo 'print("train")' >train.py
ln -s "$WU_BUILD/tests/e2e/e2e-rawpmix" my-program
printf 'import os\nos.execv("./my-program", ["my-program"])\n' >script.py
printf 'a:4\nb:4\n' >two
ln -s "$WU_BUILD" build
printf -- '-n 2 ./solver\n-n 1 ./hello\n' >jobs.txt
chmod +x "$bin"/* hello ring solver leader worker master program prog my-mpi-program

# What the commands are about: a trace, and a job that runs.
"$WIREUP" -trace job.trace -n 2 "$WU_BUILD/tests/e2e/e2e-rawpmix" >/dev/null 2>&1
"$WIREUP" -job-name stands -n 6 sh -c 'echo up; exec sleep 1000' >"$tmp/job" 2>&1 &
wait_until 60 eval '[ "$(grep -c up "$tmp/job")" = 6 ]'
python3 "$e2e/docs_commands.py" "$WU_SRC" "$e2e/docs_commands.tsv" >"$tmp/said" 2>"$err"
same "the pages are read" "$?" 0 || note "$(cat "$err")"
while read -r result what; do
    case $result in
    good) point 0 "$what" ;;
    bad) point 1 "$what" ;;
    '#') note "$what" ;;
    esac
done <"$tmp/said"
# shellcheck disable=SC2046
set -- $(cut -d' ' -f1 "$tmp/said" | grep -c good) $(cut -d' ' -f1 "$tmp/said" | grep -c not)
note "$1 commands run, $2 do not:" "$(sed -n 's/^not //p' "$tmp/said")"
ok "most of them run" [ "$1" -gt 40 ]

# ---- controls
mkdir -p "$tmp/pages/docs/man"
printf 'Do this:\n\n    wireup -n 1 false\n\nor `wireup -n 1 true`.\n' >"$tmp/pages/README.md"
: >"$tmp/pages/CONTRIBUTING.md"
: >"$tmp/pages/docs/man/wireup.1"
printf 'nobody prints this\tnot\ta reason\nwireup --help\tnot\tnot these\n' >"$tmp/table"
python3 "$e2e/docs_commands.py" "$tmp/pages" "$tmp/table" 2>&1 | grep -v '^#\|^not' >"$tmp/said"
same "a command that fails, and a row that nothing needs, are seen" "$(cut -c1-40 "$tmp/said")" "bad README.md: wireup -n 1 false
good README.md: wireup -n 1 true
bad no command is as this row of the tab"
"$WIREUP" down >/dev/null 2>&1
"$WIREUP" kill -s KILL stands >/dev/null 2>&1
wait
finish
