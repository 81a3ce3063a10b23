#!/bin/sh
# `wireup doctor` on several hosts (netns.sh): nothing is wrong at first; then one fault after another is planted,
# and each is found on its host alone.  What a node says that is no answer harms nobody.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/netns.sh
. "$(dirname "$0")/netns.sh"
netns_world "$@"
begin
use_launcher wireup
if ! netns_up 3; then
    note "$(cat "$netns"/*.log "$netns"/*.sshd | tail -n 20)"
    echo "Bail out! no hosts"
    exit 1
fi

# A program with a library of its own, of which there is another build.
mkdir "$tmp/lib" "$tmp/other"
echo 'int one(void) { return VALUE; }' >"$tmp/one.c"
echo 'int one(void); int main(void) { return one(); }' >"$tmp/main.c"
for where in lib other; do
    ${CC:-cc} -shared -fPIC -Wl,--build-id -DVALUE=${#where} -o "$tmp/$where/libone.so" "$tmp/one.c"
done
${CC:-cc} -Wl,--build-id -o "$bin/program" "$tmp/main.c" -L"$tmp/lib" -lone -Wl,-rpath,"$tmp/lib"
doctor() { run 120 "$WIREUP" doctor --launcher-exec "ssh $netns_ssh" "$@"; }
found() { ok "$1" grep -qE "$2" "$out" || explain; }

doctor n1,n2,n3 --program "$bin/program"
same "three hosts are well" "$rc $(grep -c ' bad ' "$out") $(tail -n 1 "$out")" "0 0 3 nodes: 0 bad, 0 warnings" || explain
found "they are reached" '^reach +ok +n1,n2,n3: by ssh '
found "and get back to here" '^route +ok +n1,n2,n3: connects to the launcher$'
found "their clocks are read" '^clock +ok +n1,n2,n3: within [0-9.]+ s of ours'
found "the program is the same" "^program +ok +n1,n2,n3: $bin/program, build id [0-9a-f]{8,}\$"
found "and its libraries" '^libraries +ok +n1,n2,n3: [2-9], the same on all nodes$'
doctor n1,n2,n3 --program "$bin/program" --json
same "for programs, too" "$rc $("$WU_SRC/tests/check-schemas" "$WU_SRC" wireup-doctor-1 "$out")" "0 good" || explain
(cd "$bin" && doctor n1 --program ./program)
found "a relative name means the same there" '^program +ok +n1: .*/program, build id'

# ---- faults
netns_sshd_off n2
netns_run n3 mount --bind "$tmp/other/libone.so" "$tmp/lib/libone.so"
netns_run n1 mount --bind /dev/null "$bin/program"
doctor n1,n2,n3,no-such-host --program "$bin/program"
same "faults make it fail" "$rc" 1 || explain
found "nobody answers at one" '^reach +bad +n2: node n2: .*refused'
found "one has no such name" '^reach +bad +no-such-host: node no-such-host: .*resolve'
found "one has another library" "^libraries +bad +n3: libone.so differs from most nodes: $tmp/lib/libone.so|^libraries +ok +n3: "
found "one has not the program" '^program +bad +n1: '
same "the others are well" "$(grep -c '^version .* ok  *n1,n3: ' "$out")" 1 || explain
netns_run n1 umount "$bin/program"
doctor n1,n3,localhost --program "$bin/program"
same "of three, the odd one is named" "$rc $(grep -c "^libraries  *bad  *n3: libone.so differs from most nodes: $tmp/lib/libone.so\$" "$out") $(grep -c ' bad ' "$out")" \
    "1 1 1" || explain
doctor n1,n3
same "without the program nothing is wrong" "$rc $(grep -cE '^(program|libraries)' "$out")" "0 0" || explain
netns_run n3 umount "$tmp/lib/libone.so"

run 60 "$WIREUP" doctor --launcher-exec "$tmp/no-agent" n1
same "an agent that is missing is named itself" "$rc $(grep -c "^reach *bad *n1: $tmp/no-agent: no such program\$" "$out")" "1 1" || explain

# ---- faults of one machine
here() { run 60 "$WIREUP" doctor --here "$@"; }
tab=$(printf '\t')
here --route 127.0.0.1/1
found "a port that nobody listens at" "^check${tab}route${tab}bad${tab}cannot connect to the launcher \(127.0.0.1/1\): Connection refused"
mkdir -p "$TMPDIR/wireup-$(id -u)/999999999-abc"
here
found "a directory of a launch that was killed" "^check${tab}stale files${tab}warning${tab}.* has 1 directory of launches"
rm -r "$TMPDIR/wireup-$(id -u)"
here
found "the control: none" "^check${tab}stale files${tab}ok${tab}none"
PMIX_RANK=3 here
found "the environment of a rank" "^check${tab}environment${tab}warning${tab}.*PMIX_RANK"
(ulimit -n 64 && run 60 "$WIREUP" doctor --here)
found "few open files" "^check${tab}limits${tab}warning${tab}few open files .*open files 64,"
TMPDIR=$tmp/none here
found "no directory for temporary files" "^check${tab}tmp${tab}bad${tab}$tmp/none: No such file"
${CC:-cc} -shared -fPIC -o "$tmp/lib/libslurm_pmi.so" "$tmp/one.c" -DVALUE=1
${CC:-cc} -shared -fPIC -Wl,-soname,libpmi.so.0 -Wl,--no-as-needed -o "$tmp/lib/libpmi.so.0" "$tmp/one.c" -DVALUE=1 \
    -L"$tmp/lib" -lslurm_pmi
${CC:-cc} -Wl,--no-as-needed -o "$bin/slurms" "$tmp/main.c" -L"$tmp/lib" -lone -l:libpmi.so.0 -Wl,-rpath-link,"$tmp/lib"
here --program "$bin/slurms" --library-path "$tmp/lib"
found "a library of Slurm's" "^check${tab}PMI library${tab}bad${tab}libpmi.so.0: .* is Slurm's"
if [ -f "$WU_BUILD/src/lib/pmi/libpmi.so.0" ]; then
    here --program "$bin/slurms" --library-path "$WU_BUILD/src/lib/pmi:$tmp/lib"
    found "ours before it" "^check${tab}PMI library${tab}ok${tab}libpmi.so.0: .* \(Wireup's\)"
fi
here --program "$bin/slurms" --library-path /none
found "a library that is not found" "^library${tab}libone.so${tab}${tab}\$"
here --program "$e2e/doctor.sh"
found "a script" "^check${tab}program${tab}ok${tab}.*doctor.sh, a script"

# ---- answers that are none
cat >"$tmp/liar" <<'END'
#!/bin/sh
case $1 in
old) printf 'welcome\ncheck\tversion\tok\t0.0.1\nready\n'; read -r _; printf 'clock\t5\n' ;;
mad) head -c 3000000 /dev/urandom ;;
mute) exec sleep 1000 ;;
*) shift; exec sh -c "$*" ;;
esac
END
chmod +x "$tmp/liar"
run 120 "$WIREUP" doctor old,mad,mute,n4,n5 --launcher-exec "$tmp/liar" --timeout 3
same "liars make it fail" "$rc" 1 || explain
found "an older version" '^version +bad +old: 0.0.1; most nodes have '
found "a clock that is wrong" '^clock +warning +old: -[0-9.]+ s from ours'
found "noise" '^reach +bad +mad: '
found "silence" '^reach +bad +mute: '
found "the others are well" '^reach +ok +old,n4,n5: by '
run 60 "$WIREUP" doctor n1 --timeout never
same "a time that is none" "$rc $(cat "$err")" "2 wireup: doctor: --timeout must be a number of seconds, not 'never'"
# ---- the report
c_program rawpmi1
run 120 "$WIREUP" -launcher-exec "ssh $netns_ssh" -hosts n1,n3 -n 2 --trace "$tmp/trace" "$bin/rawpmi1" exchange
same "a job is recorded" "$rc $(cd "$tmp" && echo trace*)" "0 trace" || explain
run 120 env PMIX_AUTH_TOKEN=hush-hush MY_PASSWORD=hush-hush SLURM_JOB_ID=77 \
    "$WIREUP" bug-report "$tmp/trace" -o "$tmp/report.tar" --hosts n1,n3 --launcher-exec "ssh $netns_ssh"
same "a report is packed, for its owner alone" "$rc $(cat "$err") $(stat -c %a "$tmp/report.tar")" "0  600" || explain
mkdir "$tmp/unpacked"
tar -C "$tmp/unpacked" -xf "$tmp/report.tar"
same "tar reads it" "$? $(cd "$tmp/unpacked/wireup-report" && echo *)" \
    "0 doctor.json doctor.txt environment.txt trace version.txt"
same "the traces are whole" "$(cmp "$tmp/trace" "$tmp/unpacked/wireup-report/trace" && echo same)" same
run 60 "$WIREUP" replay "$tmp/unpacked/wireup-report/trace"
same "and are found together" "$rc $(grep -c ': the same again: ' "$out")" "0 3" || explain
report=$tmp/unpacked/wireup-report
same "settings are in it" "$(grep -c '^SLURM_JOB_ID=77$' "$report/environment.txt") $(grep -c '^n1\|n1,n3' "$report/doctor.txt" | grep -c '[1-9]')" "1 1"
same "secrets are not" "$(grep -rc hush "$report" | grep -v ':0$') $(grep -c '^PMIX_AUTH_TOKEN=(not shown)$' "$report/environment.txt") $(grep -c PASSWORD "$report/environment.txt")" " 1 0"
python3 - "$tmp/trace" "$tmp/bare" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data[:16] + b"no trace at all")
END
run 60 "$WIREUP" bug-report "$tmp/bare" -o "$tmp/none.tar"
same "what is no such trace is not packed" "$rc $(ls "$tmp/none.tar" 2>/dev/null) $(grep -c 'is not packed' "$err")" "2  1" || explain
netns_still
netns_down
finish
