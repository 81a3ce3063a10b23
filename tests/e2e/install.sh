#!/bin/sh
# `make install`: what lands where, and that it works from there; `make uninstall`: nothing stays.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
CFLAGS=-O0
CC=${CC:-cc} # by itself Meson would take a ccache, which leaves a folder in the run-time directory
export CFLAGS CC
unset MAKEFLAGS MAKELEVEL CI 2>/dev/null
MESONFLAGS=-Dtests=false # what is installed is the same, and half of the time is the tests'
export MESONFLAGS

# A minimal Debian has no dpkg-dev, whose program Meson would ask where libraries belong.
mkdir "$tmp/minimal"
printf '#!/bin/sh\nexit 127\n' >"$tmp/minimal/dpkg-architecture"
chmod +x "$tmp/minimal/dpkg-architecture"
PATH=$tmp/minimal:$PATH

run 900 make -C "$WU_SRC" install SETUP=no BUILD="$tmp/build" PREFIX=/opt/wireup DESTDIR="$tmp/dest"
same "make install with PREFIX and DESTDIR" "$rc" 0 || explain
prefix=$tmp/dest/opt/wireup
same "nothing lands beside the prefix" "$(cd "$tmp/dest" && find . ! -type d | grep -v '^./opt/wireup/')" ""

lib=$(dirname "$(find "$prefix" -name libpmi.so.0 ! -path '*/lib*/wireup/pmi/*' | head -n 1)")
triplet=$(cc -print-multiarch 2>/dev/null)
if [ -n "$triplet" ] && [ -d "/usr/lib/$triplet" ]; then
    same "libraries are where this system has its own" "$lib" "$prefix/lib/$triplet"
fi
for file in bin/wireup include/pmi.h share/man/man1/wireup.1 share/man/man1/pmix-tools.1 \
    share/bash-completion/completions/pps share/bash-completion/completions/wireup; do
    ok "$file" [ -s "$prefix/$file" ]
done
for name in pmi; do
    ok "lib$name.so.0, lib$name.so and $name.pc" eval \
        '[ -s "$lib/lib$name.so.0" ] && [ -e "$lib/lib$name.so" ] && [ -s "$lib/pkgconfig/$name.pc" ]'
done
ok "the program does not know where it was built" eval '! grep -q "$WU_SRC/" "$WIREUP"'
run 30 bash -n "$prefix/share/bash-completion/completions/wireup"
same "the completion is bash" "$rc" 0

# A program of somebody else: the installed header and library, found by pkg-config, run by the
# installed launcher.
cat >"$tmp/user.c" <<'END'
#include <pmi.h>
#include <stdio.h>
int main(void)
{
    int spawned, rank = -1, size = -1;

    if (PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size) || PMI_Barrier())
        return 1;
    printf("%d of %d\n", rank, size);
    return PMI_Finalize();
}
END
flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --define-variable=prefix="$prefix" --cflags --libs pmi)
# shellcheck disable=SC2086
run 60 cc -o "$bin/user" "$tmp/user.c" $flags
same "pkg-config finds header and library" "$rc" 0 || explain
LD_LIBRARY_PATH=$lib run 60 "$prefix/bin/wireup" -n 3 "$bin/user"
same "and the program runs" "$rc $(sort "$out" | tr '\n' ,)" "0 0 of 3,1 of 3,2 of 3," || explain

# The PMIx tools know where they are, and take the library that lies beside them.
same "the PMIx tools are there" "$(cd "$prefix/bin" && echo p*)" \
    "palloc pattrs pctrl pevent plookup pmix_info pmixcc pps pquery"
run 30 "$prefix/bin/pmix_info" --parsable --path libdir
same "they know where they are" "$(cat "$out")" "path:libdir:$lib" || explain
same "they take the library beside them" "$(ldd "$prefix/bin/pps" | sed -n 's/.*libpmix.so.2 => \([^ ]*\).*/\1/p' | xargs readlink -f)" \
    "$(readlink -f "$lib/libpmix.so.2")"
cat >"$tmp/user3.c" <<'END'
#include <pmix.h>
#include <stdio.h>
int main(void)
{
    pmix_proc_t me;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    printf("rank %u\n", me.rank);
    return PMIx_Finalize(NULL, 0);
}
END
run 60 env PMIXCC_CC=cc "$prefix/bin/pmixcc" -o "$bin/user3" "$tmp/user3.c"
same "pmixcc compiles" "$rc" 0 || explain
run 60 "$prefix/bin/wireup" -n 2 "$bin/user3"
same "what runs" "$rc $(sort "$out" | tr '\n' ,)" "0 rank 0,rank 1," || explain

# The unit of a user's DVM, where systemd is at hand to read it.
verify() # SED-COMMAND: what systemd says of the unit
{
    sed -e "s,/opt/wireup/bin,$prefix/bin," -e "$1" "$(find "$prefix" -name wireup-dvm.service)" >"$tmp/units/wireup-dvm.service"
    XDG_RUNTIME_DIR=$tmp/units/run systemd-analyze --user --man=no verify "$tmp/units/wireup-dvm.service" 2>&1
}
if command -v systemd-analyze >/dev/null 2>&1; then
    mkdir -p "$tmp/units/run"
    same "systemd reads the unit" "$(verify "")" ""
    ok "control: an unknown key is seen" eval 'verify s/^ExecStop/ExecStopped/ | grep -q "Unknown key"'
fi

# Another prefix does not need another build.
run 900 make -C "$WU_SRC" install SETUP=no BUILD="$tmp/build" PREFIX=/opt/second DESTDIR="$tmp/dest"
same "make install with another PREFIX" "$rc $([ -x "$tmp/dest/opt/second/bin/wireup" ] && echo there)" \
    "0 there" || explain
ok "compiles nothing again" eval '! grep -q "Compiling C object" "$out"'

# ---- and away again
uninstall() # PREFIX [DESTDIR]
{
    run 60 make -C "$WU_SRC" uninstall SETUP=no BUILD="$tmp/build" PREFIX="$1" ${2:+DESTDIR="$2"}
}

: >"$tmp/dest/opt/wireup/bin/theirs"
uninstall /opt/wireup "$tmp/dest"
same "make uninstall removes the files of make install, and no others" \
    "$rc $(cd "$tmp/dest" && find opt/wireup | tr '\n' ,)" "0 opt/wireup,opt/wireup/bin,opt/wireup/bin/theirs," ||
    explain
ok "but no file below another prefix" [ -x "$tmp/dest/opt/second/bin/wireup" ]
rm -r "$tmp/dest/opt/wireup"
rm -r "$tmp/build/meson-logs"
uninstall /opt/second "$tmp/dest"
same "without the build directory's memory nothing is left, no folder either" \
    "$rc $(find "$tmp/dest")" "0 $tmp/dest
$tmp/dest/opt" || explain # made for the other prefix, which could not take it away: this one lay in it
uninstall /opt/second "$tmp/dest"
ok "without an installation it reports that" eval '[ "$rc" != 0 ] && grep -q "nothing to remove" "$err"' || explain

# ---- into the system, of which this is a copy: only the test's own world sees it
over() # FOLDER
{
    mkdir -p "$tmp/over$1/up" "$tmp/over$1/work" &&
        mount -t overlay -o "lowerdir=$1,upperdir=$tmp/over$1/up,workdir=$tmp/over$1/work" none "$1" 2>"$err"
}

if [ -z "${WU_PRIVATE-}" ] || ! mkdir "$tmp/over" || ! mount -t tmpfs none "$tmp/over"; then
    skip "into the system" "this machine gives us no mount name space of our own"
    finish
fi
if ! over /usr/local || ! over /etc; then
    skip "into the system" "nothing can be laid over /usr/local and /etc here: $(head -n 1 "$err")"
    umount /usr/local
    finish
fi
if ! mkdir /usr/local/wireup-probe 2>"$err"; then
    skip "into the system" "an ordinary user's name space may not write there: $(head -n 1 "$err")"
    umount /etc
    umount /usr/local
    umount "$tmp/over"
    finish
fi
rmdir /usr/local/wireup-probe
find /usr/local | sort >"$tmp/local.before"
# What a newer version no longer has, the older one's list knows.
mkdir -p /usr/local/share/wireup
: >/usr/local/share/wireup/stale
printf '%s\n' /usr/local/share/wireup /usr/local/share/wireup/stale >/usr/local/share/wireup/installed
run 900 make -C "$WU_SRC" install SETUP=no BUILD="$tmp/build" PREFIX=/usr/local
same "make install into /usr/local" "$rc" 0 || explain
ok "files that only the earlier version had are gone" [ ! -e /usr/local/share/wireup/stale ]
# shellcheck disable=SC2046
run 60 cc -o "$bin/user" "$tmp/user.c" $(pkg-config --cflags --libs pmi)
same "header and library are found without a word" "$rc" 0 || explain
run 60 wireup -n 3 "$bin/user"
same "and so are the launcher and the library that runs" "$rc $(sort "$out" | tr '\n' ,)" \
    "0 0 of 3,1 of 3,2 of 3," || explain
case $(ldd "$bin/user" | sed -n 's/.*libpmi.so.0 => \([^ ]*\).*/\1/p') in
/usr/local/lib*) point 0 "the library is the installed one" ;;
*) point 1 "the library is the installed one" ;;
esac
uninstall /usr/local
same "make uninstall" "$rc" 0 || explain
find /usr/local | sort >"$tmp/local.after"
same "leaves /usr/local as it was" "$(comm -3 "$tmp/local.before" "$tmp/local.after")" ""
ok "and the loader without it" eval '! PATH=$PATH:/sbin ldconfig -p | grep /usr/local/.*libpmi'
umount /usr/local /etc "$tmp/over"
finish
