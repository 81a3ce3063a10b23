#!/bin/sh
# What the environment of a program names: a client that must choose by it, as MPICH 5 (chooser.c), finds what it
# was built for and nothing else, however it is started and whatever the user has set.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup

# A program ($bin/NAME/program) on a library of that kind; ORIGIN: the folder of the program.
# shellcheck disable=SC2016
built() # NAME FLAGS...
{
    to=$bin/$1
    mkdir "$to"
    shift
    echo 'int chooser_init(void); int main(void) { return chooser_init(); }' >"$to/main.c"
    gcc -O1 -shared -fPIC -Wl,-soname,libmpi.so.12 -o "$to/libmpi.so.12" "$e2e/chooser.c" "$@" &&
        gcc -o "$to/program" "$to/main.c" "$to/libmpi.so.12" -Wl,-rpath,'$ORIGIN' || exit 1
}
# Libraries of that name, to be linked and not called.
echo 'int nothing(void); int nothing(void) { return 0; }' >"$tmp/nothing.c"
for name in libpmi.so.0 libpmi2.so.0 libpmix.so.2; do
    gcc -shared -fPIC -Wl,-soname,$name -o "$bin/$name" "$tmp/nothing.c" || exit 1
done
needs="-Wl,--no-as-needed -Wl,-rpath,$bin"

built own -DCHOOSES -DWITH_PMI1 -DWITH_PMI2
built old -DWITH_PMI1 -DWITH_PMI2
# shellcheck disable=SC2086
built two -DCHOOSES -DWITH_PMI2 $needs "$bin/libpmi2.so.0"
gcc -O1 -DCHOOSES -DWITH_PMI1 -DWHOLE -o "$bin/whole" "$e2e/chooser.c" || exit 1

# N ranks, each line once, by that protocol and with no other word
chosen() # WHAT PROTOCOL
{
    same "$1" "$rc $(sort "$out") $(cat "$err")" "0 0 of 2 by $2
1 of 2 by $2 " || explain
}

own=$bin/own/program
launch 2 -pmi all sh -c 'unset MPIR_CVAR_PMI_VERSION; exec "$0"' "$own"
ok "the control: with both and no choice it ends" grep -q 'ambiguous' "$err" || explain
launch 2 -pmi pmix "$own"
ok "the control: PMIx alone is of no use to it" grep -q 'not built for this' "$err" || explain

# ---- whatever the user sets
launch 2 "$own"
chosen "a client of its own" PMI-1
for name in MPIR_CVAR_PMI_VERSION MPIR_PARAM_PMI_VERSION MPICH_PMI_VERSION; do
    launch 2 -genv $name auto "$own"
    chosen "$name=auto" PMI-1
    launch 2 -genv $name auto sh -c 'exec "$(printf %s "$0")"' "$own"
    chosen "$name=auto, in a shell" PMI-1
    launch 2 -genv $name 2 "$own"
    chosen "$name=2" PMI-2
    launch 2 -pmi all -genv $name 2 "$own"
    chosen "$name=2, with both" PMI-2
    launch 2 -pmi all -genv $name auto "$own"
    chosen "$name=auto, with both" PMI-1
done
launch 2 -pmi pmi2 "$own"
chosen "-pmi pmi2" PMI-2
launch 2 -pmi pmi1 -genv MPIR_CVAR_PMI_VERSION 2 "$own"
chosen "-pmi pmi1 is before the variable" PMI-1
launch 2 "$bin/two/program"
chosen "a library of PMI-2" PMI-2
launch 2 "$bin/whole"
chosen "a static one" PMI-1
launch 2 "$bin/old/program"
chosen "an earlier one" PMI-1

# ---- however it is started
drops='for v in $(env | sed -n "s/^\(MPI[RC][^=]*\)=.*/\1/p"); do unset $v; done; exec "$@"'
printf '#!/bin/sh\n%s\n' "$drops" >"$bin/drops"
chmod +x "$bin/drops"
launch 2 sh -c "$drops" sh "$own"
chosen "a shell that drops MPIR_*" PMI-1
launch 2 "$bin/drops" "$own"
chosen "a script that drops MPIR_*" PMI-1
launch 2 env -u MPIR_CVAR_PMI_VERSION nice -n 1 "$own"
chosen "through env and nice" PMI-1
cp "$bin/own/libmpi.so.12" "$bin"
gcc -shared -fPIC -o "$bin/libapp.so" -Wl,--no-as-needed "$tmp/nothing.c" "$bin/libmpi.so.12" || exit 1
gcc -o "$bin/deep" "$bin/own/main.c" -Wl,--no-as-needed "$bin/libapp.so" "$bin/libmpi.so.12" || exit 1
launch 2 -env LD_LIBRARY_PATH "$bin" env -u MPIR_CVAR_PMI_VERSION "$bin/deep"
chosen "found by LD_LIBRARY_PATH" PMI-1
launch 2 -env LD_LIBRARY_PATH "/nowhere:$bin/old" -env LD_PRELOAD "$bin/own/libmpi.so.12" "$bin/deep"
chosen "found by LD_PRELOAD" PMI-1
launch 2 -env PATH "$bin/own:$PATH" -env MPIR_CVAR_PMI_VERSION auto program
chosen "found on PATH" PMI-1
run 300 "$WIREUP" -n 1 -env MPIR_CVAR_PMI_VERSION auto "$own" : -n 1 "$bin/two/program"
same "each program of a job its own" "$rc $(sort "$out")" "0 0 of 2 by PMI-1
1 of 2 by PMI-2" || explain

# ---- who else is in the program
offered() # WHAT WANT PROGRAM OPTIONS...
{
    what=$1 want=$2 program=$3
    shift 3
    launch 1 "$@" sh -c 'echo ${PMI_SIZE:+PMI} ${PMIX_NAMESPACE:+PMIx} ${PMI_RANK:+rank} $MPIR_CVAR_PMI_VERSION' "$program"
    same "$what" "$(cat "$out")" "$want" || explain
}
# shellcheck disable=SC2086
{
    built pmix -DCHOOSES -DWITH_PMI1 $needs "$bin/libpmix.so.2"
    built both -DCHOOSES -DWITH_PMI1 $needs "$bin/libpmix.so.2" "$bin/libpmi.so.0"
    gcc -o "$bin/mixed" "$bin/own/main.c" $needs "$bin/libmpi.so.12" "$bin/libpmix.so.2" || exit 1
    gcc -o "$bin/tool" "$tmp/nothing.c" -Wl,--defsym=main=nothing $needs "$bin/libpmix.so.2" || exit 1
}
offered "a program without any" "PMI PMIx rank 1" true
offered "one of PMIx" "PMI PMIx rank 1" "$bin/tool"
offered "an earlier MPICH" "PMI PMIx rank 1" "$bin/old/program"
offered "an MPICH with its own client" "PMI rank" "$own"
offered "one that was built for PMIx" "PMIx" "$bin/pmix/program"
offered "one that was built for both libraries" "PMI rank" "$bin/both/program"
offered "... and whose user has chosen PMIx" "PMIx x" "$bin/both/program" -genv MPIR_CVAR_PMI_VERSION x
offered "... and PMI-2" "PMI rank 2" "$bin/both/program" -genv MPIR_CVAR_PMI_VERSION 2
offered "an earlier one in its place, by a word of env" "PMI PMIx rank 1" "$own" env LD_LIBRARY_PATH="$bin/old"
offered "another word of env" "PMI rank" "$own" env LD_BIND_NOW=1
offered "one whose program uses PMIx itself" "PMI PMIx rank 1" "$bin/mixed"
launch 2 -genv MPIR_CVAR_PMI_VERSION auto "$bin/mixed"
chosen "and it still chooses" PMI-1

# ---- with a library of PMIx that answers
pmix_flags=$(openpmix)
if [ -n "$pmix_flags" ]; then
    # shellcheck disable=SC2086
    built real -DCHOOSES -DWITH_PMIX $pmix_flags -Wl,-rpath,/usr/lib/x86_64-linux-gnu/pmix2/lib
    for choice in "" "-genv MPIR_CVAR_PMI_VERSION auto" "-genv MPIR_CVAR_PMI_VERSION 1" "-pmi pmix" "-pmi all"; do
        # shellcheck disable=SC2086
        launch 2 $choice "$bin/real/program"
        chosen "a client of PMIx: $choice" PMIx
    done
else
    skip "a client of PMIx" "OpenPMIx is not installed"
fi

# ---- other nodes
needs_host_names
named_agent
run 300 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2 -n 2 -genv MPIR_CVAR_PMI_VERSION auto "$own"
chosen "on two nodes" PMI-1
run 300 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2 -n 2 -pmi pmi2 "$own"
chosen "on two nodes, as the option says" PMI-2
finish
