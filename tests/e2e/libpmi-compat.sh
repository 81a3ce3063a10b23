#!/bin/sh
# pmi.h and libpmi.so.0 in the place of other people's: the header in C and C++, a program built with
# another library's header on ours, and symbols bound at once.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
here=$WU_BUILD/src/lib/pmi

# (One prototype that all headers of this name share is not pedantic C++ before 2017.)
for how in "cc -std=c99 -x c -Wpedantic" "cc -std=gnu11 -x c -Wpedantic" "c++ -std=c++98 -x c++" \
    "c++ -std=c++17 -x c++ -Wpedantic"; do
    if ! command -v "${how%% *}" >/dev/null 2>&1; then
        skip "pmi.h alone: $how" "no ${how%% *} here"
        continue
    fi
    # shellcheck disable=SC2086
    ok "pmi.h alone: $how" $how -Wall -Wextra -Werror -fsyntax-only "$WU_SRC/include/pmi.h"
done

slurm=/usr/include/slurm
if [ -e $slurm/pmi.h ]; then
    # Slurm's pair has a writable key; nothing here writes it.
    ok "a program builds with Slurm's header" cc -std=gnu11 -D_GNU_SOURCE -DNO_GROUPS \
        -o "$bin/with-slurm" -I$slurm "$e2e/libpmi.c" -L"$here" -lpmi -pthread
    for n in 1 4; do
        LD_LIBRARY_PATH=$here LD_BIND_NOW=1 launch "$n" "$bin/with-slurm" all ours
        same "and runs on $n ranks of our library" "$rc $(cat "$out" "$err")" "0 all $n good" ||
            explain
    done
    theirs=$(ls /usr/lib/*/libpmi.so.0 /usr/lib64/libpmi.so.0 2>/dev/null | head -n 1)
    nm -D --defined-only "$theirs" | awk '$2 == "T" { print $3 }' | grep '^PMI_' | sort >"$tmp/theirs"
    nm -D --defined-only "$here/libpmi.so.0" | awk '{ print $3 }' | sort >"$tmp/ours"
    same "every function of $theirs is in ours" "$(comm -23 "$tmp/theirs" "$tmp/ours")" ""
    ok "and that was a comparison" [ "$(wc -l <"$tmp/theirs")" = 33 ]
else
    skip "a program builds with Slurm's header" "Slurm's pmi.h is not installed"
fi

c_program libpmi-dl -ldl
launch 3 "$bin/libpmi-dl" "$here/libpmi.so.0"
same "opened, closed, opened again, and forks between" "$rc $(sort -u "$out") $(cat "$err")" \
    "0 dl good " || explain
launch 2 "$bin/libpmi-dl" /nonexistent
ok "a library that is not there is seen" [ "$rc" != 0 ]

# Little address space: the window into the store is small, and everything works.
launch 3 sh -c 'ulimit -v 300000 && exec "$@"' small "$WU_BUILD/tests/e2e/e2e-libpmi" all ours
same "with 300 MB of address space" "$rc $(cat "$out" "$err")" "0 all 3 good" || explain
finish
