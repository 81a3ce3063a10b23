#!/bin/sh
# Every example as its head tells to run it: the commands are read from the files.  Each has three lines of why, ends
# with status 0, and says that it is good.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
patience=100
examples=$WU_SRC/examples
PATH=$(dirname "$WIREUP"):$PATH:/usr/lib64/mpich/bin
PYTHONPATH=$WU_SRC/python PYTHONDONTWRITEBYTECODE=1
PMIX_LIBRARY=$WU_BUILD/src/lib/pmix/libpmix.so.2
export PATH PYTHONPATH PYTHONDONTWRITEBYTECODE PMIX_LIBRARY
named_agent
export AGENT="$tmp/agent"
# The Python of the system, whose modules the packages bring.
mkdir -p "$tmp/path"
ln -s /usr/bin/python3 "$tmp/path/python3"
PATH=$tmp/path:$PATH

head_of() # FILE: its first comment, without the marks
{
    sed -n '/^#!/d; /^\/\*/,/\*\//p; /^"""/,/^"""$/p; /^# [a-z_]*\.sh/,/^[^#]/p' "$1" |
        sed 's/^[#/ ]*\*\{0,1\} \{0,1\}//; s/ *\*\/$//'
}

command_of() # FILE: what its head tells to run
{
    sed -n 's/^[ *#]*  *\(\(wireup\|sh\|python3\|\.\/[a-z]*\) .*[^ *\/]\).*/\1/p' "$1" | grep -m1 '\./\|\.py\|\.sh' |
        sed 's/     .*//'
}

explains_itself() # FILE
{
    [ "$(head_of "$1" | head -n 4 | grep -c '[a-z]')" -ge 3 ] && [ -n "$(command_of "$1")" ]
}

compile() # FILE
{
    name=$(basename "$1" .c)
    case ${1#"$examples"} in
    /elastic/*) ln -sf "$WU_BUILD/examples/elastic/example-$name" "$name" ;;
    /pmix/*) ln -sf "$WU_BUILD/examples/pmix/example-$name" "$name" ;;
    /mpi/*) mpicc.mpich -o "$name" "$1" ;;
    *)
        library=${1%/*}
        library=${library##*/}
        ${CC:-cc} -std=gnu11 -I"$WU_SRC/include" -o "$name" "$1" "$WU_BUILD/src/lib/${library%1}/lib${library%1}.so.0" \
            -Wl,-rpath,"$WU_BUILD/src/lib/${library%1}"
        ;;
    esac
}

# What needs a job that runs is started by the test `examples`, or by another example; what this launcher does not offer says so.
expected() # NAME FILE
{
    case $2 in
    */tool.c | */debugger.c | */elastic.c) echo elsewhere ;;
    *) echo "^$1: good" ;;
    esac
}

missing() # FILE: what it needs and this machine lacks
{
    case $1 in
    *mpi4py*) python3 -c 'import mpi4py' 2>/dev/null || echo "mpi4py is not installed" ;;
    */dvm.sh | */elastic.sh) unshare -u true 2>/dev/null || echo "this user may not give a process another host name" ;;
    */container.sh) unshare -m true 2>/dev/null || echo "this user may not have a mount namespace" ;;
    esac
}

try() # FILE
{
    what=${1#"$examples/"}
    name=$(basename "$1" | sed 's/\..*//')
    line=$(command_of "$1")
    pattern=$(expected "$name" "$1")
    ok "$what: why, and a command" explains_itself "$1"
    [ "$pattern" != elsewhere ] || return
    reason=$(missing "$1")
    [ -z "$reason" ] || {
        skip "$what" "$reason"
        return
    }
    case $what in
    */torch*) # in no package of all releases
        python3 -c 'import torch' 2>/dev/null || {
            note "$what: PyTorch is not installed"
            return
        }
        ;;
    esac
    run "$patience" sh -c "$line"
    ok "$what: $line" eval '[ "$rc" = 0 ] || [ "$name" = fault ] && grep -Eq "$pattern" "$out" && ! grep -q WRONG "$out"' ||
        explain
}

# (Those of api/ are run by examples-api.sh.)
programs=$(find "$examples" -name '*.c' ! -path '*/api/*' | sort)
for file in $programs; do
    compile "$file"
done
cp "$examples"/*/*.py "$examples"/*/*.sh .
total=0
for file in $programs "$examples"/*/*.py "$examples"/*/*.sh; do
    try "$file"
    total=$((total + 1))
done
ok "there are at least 25" [ $total -ge 25 ]
# The control.
printf '%s\n' '#!/bin/sh' '# bad.sh - ends well and says nothing.' '# Two.' '# Three.' '#' '#   sh bad.sh' ':' >bad.sh
run 10 sh -c "$(command_of bad.sh)"
ok "an example that says nothing is not good" eval '[ "$rc" = 0 ] && ! grep -Eq "$(expected bad bad.sh)" "$out"' || explain
cd / && rm -rf "$tmp"/work/*
finish
