#!/bin/sh
# The key of a job over nodes: it lies once in each daemon, where no core file shows it, and nowhere
# else: not in a buffer that has passed it on, not in an argument, not in an environment.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
patience=60
needs_host_names

# As the named agent, and keeps what each daemon is told.
mkdir "$tmp/told"
cat >"$tmp/agent" <<END
#!/bin/sh
host=\$1
shift
tee "$tmp/told/\$host" | unshare -u sh -c 'hostname "\$0"; exec sh -c "exec \$*"' "\$host" "\$@"
END
chmod +x "$tmp/agent"

mkfifo hold
"$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2,n3 -tree-width 2 -n 3 sh -c 'echo here; exec sleep 1000' >"$out" 2>"$err" <hold &
launcher=$!
exec 9>hold
wait_until "$patience" eval '[ "$(grep -c here "$out")" = 3 ]' || explain
keys=$(sed -n 's/^key //p' "$tmp"/told/* | sort -u)
printf '%s\n' "$keys" >"$tmp/key" # (for who would else be found to have it in its arguments)
same "one key, for all daemons" "$(printf %s "$keys" | wc -lc | tr -s ' ')" " 0 64"
everybody="$launcher $(pgrep -P "$launcher") $(pgrep -x wireupd)"
# shellcheck disable=SC2086
if python3 "$e2e/keys.py" "$keys" $everybody >"$tmp/where" 2>"$tmp/why"; then
    same "no core file would show it" "$(grep -v "^#" "$tmp/where" | grep -cv ' shown 0 ')" 0 || note "$(cat "$tmp/where")"
    same "a launcher and three daemons have it, once; their guards have not" \
        "$(sed '/^#/d; s/.*hidden //' "$tmp/where" | sort | uniq -c | tr -s ' \n' ' ')" " 4 0 4 1 " || note "$(cat "$tmp/where")"
else
    skip "memory" "this user may not look into processes: $(tail -n 1 "$tmp/why")"
fi
same "no argument and no environment has it" \
    "$(cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -cFf "$tmp/key")" 0
exec 9>&-
kill "$launcher"
wait "$launcher" 2>/dev/null
finish
