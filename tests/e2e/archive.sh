#!/bin/sh
# The archive for users without root works wherever it is unpacked; Wireup as a subproject of Meson.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
CC=${CC:-cc} # by itself Meson would take a ccache, which leaves a folder in the run-time directory
export CC
unset CFLAGS LDFLAGS CI 2>/dev/null

run 120 "$WU_SRC/scripts/dist" programs "$tmp/dist" "$WU_BUILD"
same "scripts/dist makes an archive" "$rc" 0 || note "$(cat "$err")"
run 120 "$WU_SRC/scripts/dist" programs "$tmp/again" "$WU_BUILD"
archive=$(cd "$tmp/dist" && ls)
ok "twice the same bytes" cmp "$tmp/dist/$archive" "$tmp/again/$archive"

mkdir "$tmp/some where"
tar -xzf "$tmp/dist/$archive" -C "$tmp/some where"
mv "$tmp/some where/${archive%.tar.gz}" "$tmp/some where/moved"
there="$tmp/some where/moved"
WIREUP="$there/bin/wireup"
same "nothing in it names the folder where it was built" "$(grep -rl "$WU_SRC/\|$WU_BUILD" "$there")" ""
run 30 "$WIREUP" -n 3 sh -c 'echo $PMI_RANK'
same "its launcher runs" "$rc $(sort "$out" | tr '\n' ,)" "0 0,1,2," || note "$(cat "$err")"
named_agent
run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts nA,nB -n 2 uname -n
same "it finds its daemon beside itself" "$rc $(sort "$out" | tr '\n' ,)" "0 nA,nB," ||
    note "$(cat "$err")"
mv "$there/bin/wireupd" "$there/bin/hidden"
run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts nA,nB -n 2 uname -n
ok "control: without it the nodes do not come up" [ "$rc" != 0 ]
mv "$there/bin/hidden" "$there/bin/wireupd"

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
pc=$(dirname "$(find "$there" -name pmi.pc)")
# pkg-config quotes blanks for a shell.
eval "$CC -o $bin/user $tmp/user.c $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs pmi)" 2>"$err"
ok "pkg-config finds its header and library" [ -x "$bin/user" ] || note "$(cat "$err")"
LD_LIBRARY_PATH=$(dirname "$pc") run 30 "$WIREUP" -n 2 "$bin/user"
same "and the program runs" "$rc $(sort "$out" | tr '\n' ,)" "0 0 of 2,1 of 2," || note "$(cat "$err")"

mkdir -p "$tmp/project/subprojects"
ln -s "$WU_SRC" "$tmp/project/subprojects/wireup"
cp "$tmp/user.c" "$tmp/project/"
cat >"$tmp/project/meson.build" <<'END'
project('theirs', 'c')
executable('user', 'user.c', dependencies: dependency('pmi', fallback: 'wireup', required: true))
END
run 300 meson setup --wrap-mode=forcefallback -Doptimization=0 "$tmp/sub" "$tmp/project"
same "Wireup is a subproject" "$rc" 0 || note "$(tail -n 5 "$out")"
run 300 ninja -C "$tmp/sub" -j 2 user
same "its library is built" "$rc" 0 || note "$(tail -n 5 "$out")"
same "and no more than it needs" "$(find "$tmp/sub" -name 'lib*.so*' ! -name '*.symbols' ! -name '*.p' -type f | sed 's,.*/,,')" "libpmi.so.0.0.0"
run 30 "$WIREUP" -n 2 "$tmp/sub/user"
same "the project's program runs" "$rc $(sort "$out" | tr '\n' ,)" "0 0 of 2,1 of 2," || note "$(cat "$err")"
finish
