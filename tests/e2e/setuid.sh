#!/bin/sh
# Programs with rights that their user has not: copies of ours refuse, and our libraries in those of
# others run and open nothing that the environment names.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
patience=60

# Another user who is to get the rights of this one (or its group's).
if ! setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    echo "1..0 # SKIP only root can be another user"
    exit 0
fi
other() { run "$patience" setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 755 "$tmp" "$tmp/bin"
mkdir -m 1777 "$tmp/theirs"
cd "$tmp/theirs" || exit 99

# ---- our programs
for program in "$WIREUP" "$WU_BUILD/src/daemon/wireupd"; do
    copy=$bin/${program##*/}
    for mode in 4755 2755; do
        cp "$program" "$copy"
        chmod $mode "$copy"
        other "$copy" -n 1 touch "$tmp/theirs/ran"
        ok "${copy##*/} with mode $mode does nothing" [ "$rc" -ne 0 -a ! -e "$tmp/theirs/ran" ] || explain
        ok "and says why" grep -q 'this program is installed set-[ug]id' "$err" || explain
        rm -f "$tmp/theirs/ran"
    done
    chmod 755 "$copy"
done
other env PATH="$bin:$PATH" "$bin/wireup" -n 1 touch "$tmp/theirs/ran"
same "the control: without it does" "$rc $(ls "$tmp/theirs")" "0 ran" || explain
rm "$tmp/theirs/ran"

# ---- our library in a program of somebody else
cat >"$bin/evil" <<END
#!/bin/sh
id -u >"$tmp/theirs/evil"
END
chmod 755 "$bin/evil"
for library in pmi pmi2; do
    program=singleton
    [ $library = pmi ] || program=singleton2
    cp "$WU_BUILD/src/lib/$library/lib$library.so.0" "$bin/"
    c_program $program -I"$WU_SRC/include" "$bin/lib$library.so.0" -Wl,-rpath,"$bin"
    chmod 4755 "$bin/$program"
    other env WIREUP="$bin/evil" "$bin/$program" true
    same "lib$library in a set-uid program does not run what WIREUP names" "$(ls "$tmp/theirs")" "" || explain
    rm -f "$tmp/theirs/evil"
    mkdir -p "$tmp/path"
    ln -sf "$bin/evil" "$tmp/path/wireup"
    other env -u WIREUP PATH="$tmp/path:$PATH" "$bin/$program" true
    same "nor what PATH finds" "$(ls "$tmp/theirs")" "" || explain
    rm -f "$tmp/theirs/evil"
    chmod 755 "$bin/$program"
    other env WIREUP="$bin/evil" "$bin/$program" true
    same "the control: in another one it does, as its user" "$(cat "$tmp/theirs/evil")" 65534 || explain
    rm -f "$tmp/theirs/evil"
done
chmod 700 "$tmp/theirs"
finish
