#!/bin/sh
# What fails alike is told once, with all whom it concerns: nodes that do not come up, ranks whose
# libraries are not found; and a program of another machine is called that.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
private_world "$@"
needs_host_names
begin
use_launcher wireup
named_agent

# ---- nodes
cat >"$bin/bad" <<END
#!/bin/sh
case \$1 in
n1) exec "$tmp/agent" "\$@" ;;
n2 | n3) echo "Could not resolve hostname \$1: Name or service not known" >&2; exit 255 ;;
n4) echo "Permission denied (publickey)" >&2; exit 255 ;;
n5) exec sleep 1000 ;;
esac
END
chmod +x "$bin/bad"
run 60 "$WIREUP" -launch-agent "$bin/bad" -hosts n1,n2,n3,n4,n5 -n 5 true
same "all nodes that fail are named at once, those that fail alike in one row" \
    "$rc $(sed 's/  */ /g; s/;.*//; s/ for [0-9]* s//' "$err" | tr '\n' ';')" \
    "125 wireup: 3 of 5 nodes do not come up, and nothing was started:;$(
    )wireup: n[2-3] its name does not resolve here;wireup: n4 it refuses a login without a password;$(
    )wireup: node n5: bad has not answered;" || explain
run 60 "$WIREUP" -json -launch-agent "$bin/bad" -hosts n2,n4 -n 2 true
ok "and for programs" eval 'python3 -c "
import json, sys
failed = json.load(open(sys.argv[1]))[\"failed_nodes\"]
sys.exit([f[\"node\"] for f in failed] != [\"n2\", \"n4\"] or not all(f[\"why\"] for f in failed))" "$err"' || explain
run 60 "$WIREUP" -launch-agent "$bin/bad" -hosts n1,n4 -n 2 true
same "one alone is one sentence" "$rc $(wc -l <"$err") $(grep -c '^wireup: node n4: ' "$err")" "125 1 1" || explain

# ---- a failure comes first, and the others come up later: nobody waits when none is awaited any more
cat >"$bin/first" <<END
#!/bin/sh
if [ \$1 = n1 ]; then
    echo \$\$ >"$tmp/first.pid"
    echo "Permission denied (publickey)" >&2
    exit 255
fi
# The launcher has seen the end of the other one: it has been reaped.
until [ -s "$tmp/first.pid" ] && ! [ -e "/proc/\$(cat "$tmp/first.pid")" ]; do sleep 0.02; done
exec "$tmp/agent" "\$@"
END
chmod +x "$bin/first"
# With each of them up before the time for further failures is over, which a busy machine may not manage at once.
ends_at_once() # OPTIONS...
{
    rm -f "$tmp/first.pid"
    run 60 "$WIREUP" -v -launch-agent "$bin/first" "$@" true
    grep -q "each of the 3 nodes is up or has failed" "$err"
}
ok "a launch that has failed ends as soon as the others are up" wait_until 60 ends_at_once -hosts n1,n2,n3 -n 3 || explain
same "with the reason alone" "$rc $(grep -c '^wireup: node n1: it refuses a login without a password' "$err")" "125 1" || explain
ok "all the more when they were never started" wait_until 60 ends_at_once -tree-width 1 -hosts n1,n2,n3 -n 3 || explain
ok "as it does when their hardware is awaited" wait_until 60 ends_at_once -bind-to core -hosts n1,n2,n3 -n 3 || explain

# ---- ranks
echo 'int foo(void) { return 0; }' >foo.c
echo 'int foo(void); int main(void) { return foo(); }' >prog.c
${CC:-cc} -shared -fPIC -o libfoo.so foo.c && ${CC:-cc} -o prog prog.c -L. -lfoo -Wl,-rpath,/nowhere && rm libfoo.so
for w in "" "-launch-agent $tmp/agent -hosts n1:8,n2:8"; do
    # shellcheck disable=SC2086
    run 60 "$WIREUP" $w -n 16 ./prog
    # (Who was ended before it came to its line has not said it.)
    same "one sentence for all ranks without their library${w:+, over nodes}" \
        "$rc $(sed 's/ranks* [0-9,-]*/ranks R/' "$err")" \
        "127 wireup: ranks R could not start ./prog: libfoo.so is not found" || explain
done
# shellcheck disable=SC2016
run 60 "$WIREUP" -disable-auto-cleanup -n 4 ./prog
same "which names all of them" "$rc $(grep could "$err")" \
    "127 wireup: ranks 0-3 could not start ./prog: libfoo.so is not found" || explain
line="./prog: error while loading shared libraries: libfoo.so: cannot open shared object file: No such file or directory"
run 60 "$WIREUP" -n 1 sh -c './prog; echo more >&2; exit 127'
same "other output of a program is shown unchanged" "$rc $(head -n 2 "$err" | tr '\n' ';')" "127 $line;more;" || explain
run 60 "$WIREUP" -n 1 sh -c './prog; exit 3'
same "and so is the line when the program goes on" "$rc $(head -n 1 "$err")" "3 $line" || explain
run 60 "$WIREUP" -errfile-pattern 'e.%r' -n 1 ./prog
same "or when it is for a file" "$rc $(cat e.0)" "127 $line" || explain

# ---- machines
machine=183 name=aarch64
[ "$(uname -m)" != aarch64 ] || machine=62 name=x86_64
{
    printf '\177ELF\002\001\001'
    head -c 9 /dev/zero
    # shellcheck disable=SC2059
    printf "\\002\\000\\$(printf %03o $machine)\\000"
    head -c 4000 /dev/zero
} >foreign
chmod +x foreign
run 60 "$WIREUP" -n 3 ./foreign
same "a program of another machine" "$rc $(cat "$err")" "126 wireup: ./foreign is for $name; this machine is $(uname -m)" || explain
finish
