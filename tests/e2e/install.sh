#!/bin/sh
# `make install`: what lands where, and that it works from there.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
CFLAGS=-O0
export CFLAGS
unset MAKEFLAGS MESONFLAGS MAKELEVEL CI 2>/dev/null

run 900 make -C "$WU_SRC" install SETUP=no BUILD="$tmp/build" PREFIX=/opt/wireup DESTDIR="$tmp/dest"
same "make install with PREFIX and DESTDIR" "$rc" 0 || explain
prefix=$tmp/dest/opt/wireup
same "nothing lands beside the prefix" "$(cd "$tmp/dest" && find . ! -type d | grep -v '^./opt/wireup/')" ""

lib=$(dirname "$(find "$prefix" -name libpmi.so.0 | head -n 1)")
for file in bin/wireup include/pmi.h share/man/man1/wireup.1 \
    share/bash-completion/completions/wireup; do
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

# Another prefix does not need another build.
run 900 make -C "$WU_SRC" install SETUP=no BUILD="$tmp/build" PREFIX=/opt/second DESTDIR="$tmp/dest"
same "make install with another PREFIX" "$rc $([ -x "$tmp/dest/opt/second/bin/wireup" ] && echo there)" \
    "0 there" || explain
ok "compiles nothing again" eval '! grep -q "Compiling C object" "$out"'
finish
