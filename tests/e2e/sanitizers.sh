#!/bin/sh
# What a sanitizer finds in a program of ours fails the test that ran it, with either compiler, and however its run-time library
# is linked.
#
#   sanitizers.sh               programs that are built here
#   sanitizers.sh built LIST    the program that the build has made as it makes all others; LIST: its sanitizers, as address,undefined
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin

# What a test says that has run the program with this fault, and does not read its output: the number of its bad points.
verdict() # PROGRAM FAULT
{
    (
        WU_BUILD=$tmp/build WIREUP=$1
        mkdir -p "$WU_BUILD"
        collect_reports
        "$1" "$2" >"$out" 2>"$err"
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
    if ! "$@" -std=gnu11 -O0 -g -I"$WU_SRC/src" -I"$WU_SRC/tests" -o "$bin/faulty" \
        "$e2e/faulty.c" -lpthread 2>"$err"; then
        skip "$found_name" "it cannot be built here: $(tail -n 1 "$err")"
        return
    fi
    is_found "$bin/faulty" "$fault"
}

is_found() # PROGRAM FAULT
{
    same "${found_name-$2}" "$(verdict "$1" none) $(verdict "$1" "$2")" "0 1" || note "$(cat "$tmp/verdict" "$err")"
}

if [ "${1-}" = built ]; then
    for sanitizer in $(echo "$2" | tr , ' '); do
        case $sanitizer in
        address) faults="leak leak-now" ;;
        undefined) faults="overflow overflow-now" ;;
        thread) faults=race ;;
        *) faults= && ok "the faults that $sanitizer finds are known" false ;;
        esac
        for fault in $faults; do
            is_found "$WU_BUILD/tests/e2e/e2e-faulty" $fault
        done
    done
    finish
fi

for compiler in gcc clang; do
    for fault in leak leak-now; do
        found $fault $compiler -fsanitize=address
        found $fault $compiler -fsanitize=address,undefined
    done
    found race $compiler -fsanitize=thread
    found overflow $compiler -fsanitize=undefined
    found overflow $compiler -fsanitize=address,undefined -include ubsan_log.h
done
found leak gcc -fsanitize=address -static-libasan
found leak clang -fsanitize=address -shared-libasan -Wl,-rpath,"$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null)")"

same "no test looks for a run-time library by its name" \
    "$(cd "$e2e" && grep -nE '(ldd|maps).*[at]san' ./*.sh ./*.py | grep -v '^./lib\.sh:\|^./sanitizers\.sh:')" ""

# Without one, nothing is collected.
cc -std=gnu11 -I"$WU_SRC/src" -o "$bin/faulty" "$e2e/faulty.c" -lpthread
same "a program without a sanitizer" "$(sanitizer_of "$bin/faulty"), $(verdict "$bin/faulty" leak)" ", 0"
finish
