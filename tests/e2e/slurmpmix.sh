#!/bin/sh
# Slurm's plugin mpi/pmix on our libpmix: it opens the library by an absolute path, so ours is
# mounted over it, where nobody else sees that.  Ranks use OpenPMIx's library (a copy) or ours.
#
#   slurmpmix.sh RANKS...
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
. "$e2e/slurm-lib.sh"
ours=$WU_BUILD/src/lib/pmix

plugin=$(ls /usr/lib/*/slurm*/mpi_pmix_v*.so /usr/lib64/slurm/mpi_pmix_v*.so 2>/dev/null | head -n 1)
[ -n "$plugin" ] || slurm_skip "Slurm's plugin mpi/pmix is not installed"
[ -n "${WU_PRIVATE-}" ] || slurm_skip "this machine gives us no mount name space of our own"
pmix_flags=$(pkg-config --cflags --libs pmix 2>/dev/null)
[ -n "$pmix_flags" ] || slurm_skip "OpenPMIx (libpmix-dev) is not installed"
# shellcheck disable=SC2086
c_program pmixcalls $pmix_flags
real=$(realpath "$(ldd "$bin/pmixcalls" | sed -n 's/.*libpmix.so.2 => \([^ ]*\).*/\1/p')")
mkdir "$tmp/theirs"
cp "$real" "$tmp/theirs/libpmix.so.2"
mount --bind "$(realpath "$ours/libpmix.so.2")" "$real" || exit 1
theirs="env LD_LIBRARY_PATH=$tmp/theirs"

slurm_start
srun()
{
    run 300 srun -Q -O --mpi=pmix "$@"
}

# The step's daemon has mapped our library, and its program has not, when it has been told so.
# shellcheck disable=SC2016,SC2086
srun -n 1 $theirs sh -c 'grep -c "$1" /proc/$PPID/maps' sh "$(stat -c ' %i ' "$real")"
ok "Slurm's daemon has our library" [ "$(cat "$out")" -gt 0 ] || explain
# shellcheck disable=SC2086
srun -n 3 $theirs "$bin/pmixcalls" spoil
ok "a wrong value is seen to be wrong" grep -q "^pmixcalls 3 WRONG" "$out" || explain
for n in $(rank_counts "$@"); do
    # shellcheck disable=SC2086
    srun -n "$n" $theirs "$bin/pmixcalls" cards
    same "$n ranks of OpenPMIx's library" "$rc $(cat "$out")" "0 pmixcalls $n good" || explain
    srun -n "$n" env LD_LIBRARY_PATH="$ours" "$bin/pmixcalls" cards
    same "$n ranks of ours" "$rc $(cat "$out")" "0 pmixcalls $n good" || explain
done
slurm_stop
umount "$real"
finish
