#!/bin/sh
# Files of settings: which are read, that the later one overrides, what `wireup config` says, and that nobody can
# put one under another user.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
unset WIREUP_CONFIG WIREUP_LIBRARIES
export HOME="$tmp/home"
unset XDG_CONFIG_HOME
mkdir -p "$HOME/.config/wireup" "$tmp/etc"
user=$HOME/.config/wireup/config

# A system with a file of its own, here only.
cp -a /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache "$tmp/etc" 2>/dev/null
cp /etc/hosts "$tmp/etc"
[ -z "${WU_PRIVATE-}" ] || mount --bind "$tmp/etc" /etc
system=/etc/wireup.conf

settings() # what is in force, one word list
{
    "$WIREUP" config --json "$@" >"$out" 2>"$err" || return
    python3 -c 'import json, sys
print(*(f["option"] + "=" + f["value"] for f in json.load(sys.stdin)["settings"] if f["in_force"]))' <"$out"
}
says() # NAME RC PATTERN ARGUMENTS...: the launcher ends so, and says that
{
    says_name=$1 says_rc=$2 says_what=$3
    shift 3
    run 60 "$WIREUP" "$@"
    ok "$says_name" eval '[ $rc = "$says_rc" ] && grep -q -- "$says_what" "$err"' || note "$rc $(cat "$err")"
}

same "nothing: no settings" "$(settings)" ""
run 60 "$WIREUP" config
ok "and the files are named" eval '[ $rc = 0 ] && grep -q "user  *$user (none)" "$out" && grep -q "$system (none)" "$out"' ||
    note "$(cat "$out" "$err")"

if [ -n "${WU_PRIVATE-}" ]; then
    printf 'prepend-pattern "sys "\ntree-width 5\n' >"$system"
    run 60 "$WIREUP" -n 1 echo hello
    same "the file of the system" "$(cat "$out" "$err")" "sys hello"
else
    skip "the file of the system" "no private name spaces"
fi
printf '# of me\nprepend-pattern = "user "\ngenv V "from a file"\n' >"$user"
run 60 "$WIREUP" -n 1 sh -c 'echo $V'
same "that of the user overrides it" "$(cat "$out" "$err")" "user from a file"
printf 'prepend-pattern "project "\n' >.wireup.conf
run 60 "$WIREUP" -n 1 echo hello
same "that of the directory overrides both" "$(cat "$out" "$err")" "project hello"
printf 'prepend-pattern "named "\nhosts localhost\n' >named
run 60 "$WIREUP" -config named -n 1 echo hello
same "one that is named takes its place" "$(cat "$out" "$err")" "named hello"
WIREUP_CONFIG=named run 60 "$WIREUP" -n 1 echo hello
same "by a variable, too" "$(cat "$out" "$err")" "named hello"
run 60 "$WIREUP" -prepend-pattern "typed " -n 1 echo hello
same "the command line overrides all" "$(cat "$out" "$err")" "typed hello"
WIREUP_CONFIG=named run 60 "$WIREUP" -config none -n 1 echo hello
same "none: none is read" "$(cat "$out" "$err")" "hello"
run 60 "$WIREUP" -config none -n 1 echo -config nosuch
same "a word of the program is its own" "$(cat "$out" "$err")" "-config nosuch"
same "wireup config: what is in force" "$(WIREUP_TREE_WIDTH=6 settings | sed 's/tree-width=5 //')" \
    "genv=V from a file prepend-pattern=project  tree-width=6"
same "and with a named file" "$(settings --config named | grep -o 'prepend.*')" "prepend-pattern=named  hosts=localhost"
XDG_CONFIG_HOME=$tmp/elsewhere run 60 "$WIREUP" -config none config
mkdir -p "$tmp/elsewhere/wireup" && echo 'job-name other' >"$tmp/elsewhere/wireup/config"
same "XDG_CONFIG_HOME" "$(XDG_CONFIG_HOME=$tmp/elsewhere settings | grep -o 'job-name[^ ]*')" job-name=other

# ---- mistakes
printf '\nbind-too core\n' >"$user"
says "a mistake is told with file and line" 2 "$user:2: unknown option 'bind-too'; did you mean -bind-to?" -n 1 true
says "wireup config, too" 2 "$user:2: unknown option" config
rm "$user"
says "a file that is named and is not there" 2 "the settings in nosuch cannot be used: No such file" -config nosuch true
head -c 2000000 /dev/zero | tr '\0' '#' >big
says "one that is too large" 2 "the settings in big cannot be used" -config big true
says "a directory" 2 "the settings in / cannot be used" -config / true
printf 'n 1\0x\n' >nul
says "a NUL byte" 2 "nul:1: .*NUL" -config nul true

# ---- files of parameters
printf 'btl = self\nmpi_x = 1 2\n' >am
printf -- '-mca pml ob1 -x TUNED=yes\n-x GONE\n' >tune
# shellcheck disable=SC2016
show='echo "$OMPI_MCA_btl,$OMPI_MCA_mpi_x,$OMPI_MCA_pml,$TUNED"'
run 60 "$WIREUP" -tune am,tune -mca btl tcp sh -c "$show"
same "files of parameters, and the command line before them" "$rc $(cat "$out")" "0 project tcp,1 2,ob1,yes" || explain
run 60 "$WIREUP" -config none -tune tune -tune am sh -c "$show"
same "... also without files of settings" "$rc $(cat "$out")" "0 self,1 2,ob1,yes" || explain
run 60 env WIREUP_CONFIG=none "$WIREUP" -n 1 sh -c "$show"
same "the control: without them" "$rc $(cat "$out")" "0 ,,," || explain
echo hosts a >none
ln -s "$WIREUP" mpirun
run 60 ./mpirun --am am -np 1 sh -c "$show"
same "mpirun --am" "$rc $(cat "$out")" "0 project self,1 2,," || explain
says "a line that is none" 2 "none:1: 'hosts a' is no parameter" -tune none true
says "a file that is not there" 2 "the parameters in gone cannot be used: No such file" -tune am,gone true
printf -- '-tune am -n 1 true\n' >programs
says "not in a -configfile" 2 "programs:1: -tune must be on the command line" -configfile programs
rm -f am tune none mpirun programs

# ---- others
printf 'launcher-exec ./evil\n' >.wireup.conf
says "what was only found starts no command" 2 ".wireup.conf:1: launcher-exec: .* -config .wireup.conf" -n 1 true
printf 'prepend-pattern "evil "\n' >.wireup.conf
for what in "ln .wireup.conf twin:hard links" "chmod 666 .wireup.conf:others may write it" \
    "mv .wireup.conf f && ln -s f .wireup.conf:a symbolic link" "rm .wireup.conf && mkfifo .wireup.conf:not a file" \
    "foreign .wireup.conf:belongs to another user"; do
    foreign()
    {
        rm "$1" && echo 'prepend-pattern "evil "' >"$1"
        [ "$(id -u)" = 0 ] && chown 65534 "$1" 2>/dev/null || mount --bind /usr/bin/env "$1"
    }
    rm -f twin f
    eval "${what%:*}"
    run 60 "$WIREUP" -n 1 echo hello
    ok "found, but ${what#*:}: not used, with a remark" eval \
        'grep -q hello "$out" && ! grep -q evil "$out" && grep -q "settings in .wireup.conf are not used: .*${what#*:}" "$err"' ||
        note "$(cat "$out" "$err")"
    rm -f twin
    [ "${what%%:*}" != "ln .wireup.conf twin" ] || ok "(one name again: used)" [ "$("$WIREUP" -n 1 echo x)" = "evil x" ]
done
umount .wireup.conf 2>/dev/null
rm -f .wireup.conf
echo quiet >"$user"
chmod 620 "$user"
says "the user's file must not be writable by others" 2 "$user cannot be used: others may write it" -n 1 true
chmod 600 "$user"
if [ "$(id -u)" = 0 ] && chown 65534 "$user" 2>/dev/null; then
    says "nor be another user's" 2 "$user cannot be used: it belongs to another user" -n 1 true
else
    skip "nor be another user's" "this user cannot give a file away"
fi
rm -f "$user"
if [ -n "${WU_PRIVATE-}" ]; then
    chmod 666 "$system"
    says "nor the system's file be writable" 2 "$system cannot be used: others may write it" -n 1 true
else
    skip "nor the system's file be writable" "no private name spaces"
fi
finish
