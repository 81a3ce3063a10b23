#!/bin/sh
# The newest MPICH that is at hand: how it finds us, whatever its environment says; sessions, spawns, several nodes.
#
#   WIREUP_MPICH=DIR     its source tree (with a configure script, built here) or its installation; otherwise that
#                        of the system
#   WIREUP_MPICH_PMI=ours   the source tree is built on our three libraries, in place of its own clients
#
# `mpich-newest.sh chroot`: that of the next release of Debian (chroot.sh), on programs that are compiled here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi-trees.sh"
[ "${1-}" != chroot ] || outside=yes # packages may have to be fetched
private_world "$@"
begin
use_launcher wireup
into= # the command that starts programs where MPICH is

# Our libraries as MPICH's configure script wants them: DIR/include, DIR/lib.
pmi_words()
{
    [ "${WIREUP_MPICH_PMI-}" = ours ] || return 0
    mkdir -p "$tmp/pmi/lib"
    ln -s "$WU_SRC/include" "$tmp/pmi/include"
    for library in pmi pmi2 pmix; do
        ln -s "$WU_BUILD/src/lib/$library"/lib$library.so* "$tmp/pmi/lib"
    done
    echo "LD_LIBRARY_PATH=$tmp/pmi/lib --with-pmi1=$tmp/pmi --with-pmi2=$tmp/pmi --with-pmix=$tmp/pmi"
}

find_newest()
{
    if [ -z "${WIREUP_MPICH-}" ]; then
        find_mpicc
    else
        # shellcheck disable=SC2046
        mpich_prefix "$WIREUP_MPICH" --disable-mpi-abi $(pmi_words)
        mpicc=$prefix/bin/mpicc
    fi
}

enter_chroot()
{
    chroot_make
    chroot_mount "$tmp"
    into="chroot $root"
}

[ "${1-}" != chroot ] || enter_chroot
find_newest
for program in hello comms names sessions universe; do
    "$mpicc" -cc=gcc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -o "$bin/$program" "$e2e/mpi/$program.c" || exit 1
done
if [ -n "$into" ]; then
    there=$($into dpkg-query -W -f '${Version}' libmpich12)
    note "MPICH $there"
    ok "it is another MPICH than that of this system" [ "$there" != "$(dpkg-query -W -f '${Version}' libmpich12)" ]
else
    echo "# $("${mpicc%/*}"/mpichversion 2>/dev/null | head -n 1)"
fi

hello() # WHAT
{
    same "$1" "$rc $(sort "$out") $(cat "$err")" "0 hello 0 of 3
hello 1 of 3
hello 2 of 3 " || explain
}

# ---- built on the libraries for PMI-1, PMI-2 and PMIx: it takes the one that it is told to
if readelf -d "${mpicc%/bin/*}/lib/libmpi.so" 2>/dev/null | grep -q 'NEEDED.*libpmix'; then
    ours=$WU_BUILD/src/lib
    LD_LIBRARY_PATH=$ours/pmi:$ours/pmi2:$ours/pmix${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    for version in 1 2 x; do
        launch 3 -genv MPIR_CVAR_PMI_VERSION $version $into "$bin/hello"
        hello "MPICH on our libraries, version $version"
        launch 5 -genv MPIR_CVAR_PMI_VERSION $version $into "$bin/comms"
        same "communicators, version $version" "$rc $(cat "$out")" "0 comms 5 good" || explain
        launch 4 -genv MPIR_CVAR_PMI_VERSION $version $into "$bin/sessions" 0
        same "sessions, version $version" "$rc $(cat "$out")" "0 sessions 4 good" || explain
        spawning run 300 "$WIREUP" -hosts localhost:4 -genv MPIR_CVAR_PMI_VERSION $version -n 1 $into "$bin/universe" 3
        same "workers of a master, version $version" "$rc $(cat "$out")" "0 universe 4 workers 3 see 4 on 1" || explain
        spawned "workers of a master, version $version" 3
        launch 3 -genv MPIR_CVAR_PMI_VERSION $version $into "$bin/names"
        same "published names, version $version" "$rc $(cat "$out")" "0 names 3 good" || explain
    done
    launch 3 -pmi pmix $into "$bin/hello"
    hello "MPICH on our libraries, -pmi pmix"
fi

# ---- however it is told to choose
launch 3 $into "$bin/hello"
hello "it is told nothing"
for value in auto 1 2; do
    launch 3 -genv MPIR_CVAR_PMI_VERSION $value $into "$bin/hello"
    hello "MPIR_CVAR_PMI_VERSION=$value"
done
launch 3 -genv MPICH_PMI_VERSION auto $into "$bin/hello"
hello "MPICH_PMI_VERSION=auto"
launch 3 env -u MPIR_CVAR_PMI_VERSION $into "$bin/hello"
hello "a command drops the variable"
launch 3 sh -c 'unset MPIR_CVAR_PMI_VERSION; exec "$@"' sh $into "$bin/hello"
hello "a shell drops the variable"
for kind in pmi1 pmi2; do
    launch 3 -pmi $kind $into "$bin/hello"
    hello "-pmi $kind"
    launch 5 -pmi $kind $into "$bin/comms"
    same "communicators, -pmi $kind" "$rc $(cat "$out")" "0 comms 5 good" || explain
done
launch 3 -pmi-port $into "$bin/hello"
hello "-pmi-port"

# ---- sessions: barriers of groups, from several threads
launch 4 $into "$bin/sessions" 4 spoil
ok "the control: a wrong sum is seen" grep -q 'sessions 4 WRONG' "$out" || explain
for threads in 0 4; do
    launch 4 $into "$bin/sessions" $threads
    same "sessions of $threads more threads" "$rc $(cat "$out")" "0 sessions 4 good" || explain
done
# ---- spawned processes find it as well (not with the packages of Debian 12 and 13: on UCX, MPICH refuses to spawn and asks
# nobody to)
[ -z "${WIREUP_MPICH-}" ] || {
spawning run 300 "$WIREUP" -hosts localhost:4 -genv MPIR_CVAR_PMI_VERSION auto -n 1 $into "$bin/universe" 3
same "workers of a master" "$rc $(cat "$out")" "0 universe 4 workers 3 see 4 on 1" || explain
spawned "workers of a master" 3
}
launch 3 $into "$bin/names"
same "published names" "$rc $(cat "$out")" "0 names 3 good" || explain

# ---- other nodes
needs_host_names
named_agent
nodes() # HOSTS ARGS... (no name server knows these nodes)
{
    hosts=$1
    shift
    run 300 "$WIREUP" -launch-agent "$tmp/agent" -disable-hostname-propagation \
        -genv MPIR_CVAR_CH3_INTERFACE_HOSTNAME localhost -hosts "$hosts" "$@"
}
nodes n1,n2,n3 -n 3 -genv MPIR_CVAR_PMI_VERSION auto $into "$bin/hello"
hello "on three nodes"
if [ -n "${ours-}" ]; then
    nodes n1:2,n2:2 -n 4 -genv MPIR_CVAR_PMI_VERSION x $into "$bin/sessions" 0
    same "sessions by PMIx on two nodes" "$rc $(cat "$out")" "0 sessions 4 good" || explain
fi
nodes n1:2,n2:2 -n 4 $into "$bin/sessions" 4
same "sessions on two nodes" "$rc $(cat "$out")" "0 sessions 4 good" || explain
finish
