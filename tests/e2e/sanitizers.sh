#!/bin/sh
# What a sanitizer finds in a program of ours fails the test that ran it, with either compiler, and however its run-time library
# is linked.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin

cat >"$tmp/faulty.c" <<'END'
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_now.h"

static int shared;
static void *volatile kept;

static void *count(void *unused)
{
    (void)unused;
    shared++;
    return NULL;
}

/* The words on the stack may still hold the pointer. */
static __attribute__((noinline)) void leak(int n)
{
    kept = malloc(100);
    memset(kept, n, 100);
    kept = NULL;
    kept = malloc(1);
    free(kept);
    kept = NULL;
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "";
    pthread_t two[2];

    if (strstr(fault, "leak"))
        leak(argc);
    if (strstr(fault, "overflow"))
        shared = INT_MAX - 1 + argc;
    for (int i = 0; strstr(fault, "race") && i < 2; i++)
        pthread_create(&two[i], NULL, count, NULL);
    for (int i = 0; strstr(fault, "race") && i < 2; i++)
        pthread_join(two[i], NULL);
    if (strstr(fault, "now"))
        exit_now(0);
    return 0;
}
END

# What a test says that has run the program with this fault: the number of its bad points.
verdict() # FAULT
{
    (
        WU_BUILD=$tmp/build WIREUP=$bin/faulty
        mkdir -p "$WU_BUILD"
        collect_reports
        "$bin/faulty" "$1" >"$out" 2>"$err"
        [ -z "$reports" ] || nothing_reported
        rm -rf "$WU_BUILD"
    ) >"$tmp/verdict"
    grep -c '^not ok' "$tmp/verdict"
}

found() # FAULT COMPILER FLAGS...
{
    fault=$1
    shift
    found_name="$fault, $*"
    if ! "$@" -std=gnu11 -O0 -g -I"$WU_SRC/src" -o "$bin/faulty" "$tmp/faulty.c" -lpthread 2>"$err"; then
        skip "$found_name" "it cannot be built here: $(tail -n 1 "$err")"
        return
    fi
    same "$found_name" "$(verdict none) $(verdict "$fault")" "0 1" || note "$(cat "$tmp/verdict" "$err")"
}

for compiler in gcc clang; do
    for fault in leak leak-now; do
        found $fault $compiler -fsanitize=address
        found $fault $compiler -fsanitize=address,undefined
    done
    found race $compiler -fsanitize=thread
    found overflow $compiler -fsanitize=undefined
done
found leak gcc -fsanitize=address -static-libasan
found leak clang -fsanitize=address -shared-libasan -Wl,-rpath,"$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null)")"

same "no test looks for a run-time library by its name" \
    "$(cd "$e2e" && grep -nE '(ldd|maps).*[at]san' ./*.sh ./*.py | grep -v '^./lib\.sh:\|^./sanitizers\.sh:')" ""

# Without one, nothing is collected.
cc -std=gnu11 -I"$WU_SRC/src" -o "$bin/faulty" "$tmp/faulty.c" -lpthread
same "a program without a sanitizer" "$(sanitizer_of "$bin/faulty"), $(verdict leak)" ", 0"
finish
