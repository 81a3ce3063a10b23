#!/bin/sh
# Programs that were linked to another libpmi or libpmix take ours in its place (-use-wireup-libraries): where
# their files prove that they cannot tell the difference, and nowhere else.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
unset WIREUP_LIBRARIES

# A library of somebody else under the name of ours.  Its programs are all rank 7.
mkdir "$bin/their" "$bin/versions"
cat >"$tmp/their.c" <<'END'
int PMI_Init(int *spawned);
int PMI_Get_rank(int *rank);
int PMI_Finalize(void);
int PMI_Special(void);
int PMI_Init(int *spawned) { *spawned = 0; return 0; }
int PMI_Get_rank(int *rank) { *rank = 7; return 0; }
int PMI_Finalize(void) { return 0; }
int PMI_Special(void) { return 0; }
END
theirs="-shared -fPIC -Wl,-soname,libpmi.so.0 $tmp/their.c"
echo 'THEIRS_1 { global: PMI_*; local: *; };' >"$tmp/map"
# shellcheck disable=SC2086
gcc $theirs -o "$bin/their/libpmi.so.0" && gcc $theirs -o "$bin/versions/libpmi.so.0" \
    -Wl,--version-script="$tmp/map" || exit 1
cat >"$tmp/user.c" <<'END'
#include <stdio.h>
int PMI_Init(int *spawned);
int PMI_Get_rank(int *rank);
int PMI_Finalize(void);
int PMI_Special(void);
int main(void)
{
    int spawned, rank = -1;

    if (PMI_Init(&spawned) || PMI_Get_rank(&rank))
        return 1;
#ifdef SPECIAL
    PMI_Special();
#endif
    printf("rank %d\n", rank);
    return PMI_Finalize();
}
END
user() # NAME FLAGS...
{
    user_name=$1
    shift
    gcc -o "$bin/$user_name" "$tmp/user.c" "$@" || exit 1
}
user plain "$bin/their/libpmi.so.0" -Wl,--enable-new-dtags,-rpath,"$bin/their"
user special -DSPECIAL "$bin/their/libpmi.so.0" -Wl,--enable-new-dtags,-rpath,"$bin/their"
user rpath "$bin/their/libpmi.so.0" -Wl,--disable-new-dtags,-rpath,"$bin/their"
user versioned "$bin/versions/libpmi.so.0" -Wl,--enable-new-dtags,-rpath,"$bin/versions"
user already "$WU_BUILD/src/lib/pmi/libpmi.so.0" -Wl,-rpath,"$WU_BUILD/src/lib/pmi"
user marked "$bin/their/libpmi.so.0" -Wl,--enable-new-dtags,-rpath,"$bin/their"
chmod u+s "$bin/marked"

has() # WHAT RANKS
{
    same "$1" "$rc $(sort -u "$out" | tr '\n' ' ')$(cat "$err")" "0 $2 " || explain
}
refused() # WHAT WORDS
{
    refused_words=$2
    ok "$1" eval '[ "$rc" != 0 ] && ! [ -s "$out" ] && grep -q "$refused_words" "$err"' || explain
}

launch 2 -use-wireup-libraries no "$bin/plain"
has "the control: the other library" "rank 7"
launch 2 "$bin/plain"
has "by default it takes ours" "rank 0 rank 1"
launch 2 -use-wireup-libraries yes "$bin/plain"
has "and where the user insists" "rank 0 rank 1"
launch 2 -use-wireup-libraries yes "$bin/already"
has "one that has ours already" "rank 0 rank 1"
launch 2 -genv LD_LIBRARY_PATH /nowhere "$bin/plain"
has "before what the user has there" "rank 0 rank 1"
run 60 env WIREUP_LIBRARIES=no "$WIREUP" -n 2 "$bin/plain"
has "the variable says no" "rank 7"
launch 2 -envnone -use-wireup-libraries no "$bin/plain"
has "the option says no, with an environment of its own" "rank 7"

# ---- what cannot be proven keeps its library, or is refused with a reason
not_ours() # WHAT PROGRAM WORDS
{
    launch 2 "$bin/$2"
    has "$1 keeps its library" "rank 7"
    launch 2 -use-wireup-libraries yes "$bin/$2"
    refused "$1 is refused, and why" "$3"
}
not_ours "one that takes more than ours has" special 'special takes PMI_Special from'
not_ours "one whose DT_RPATH comes first" rpath 'is found before LD_LIBRARY_PATH'
not_ours "one of a library with versions" versioned 'have versions'
not_ours "one with rights of its own" marked 'is set-uid'
launch 2 -use-wireup-libraries yes sh -c 'exec "$0"' "$bin/plain"
refused "a shell is refused" 'sh: it is not seen to load'
launch 2 sh -c 'exec "$0"' "$bin/plain"
has "what a shell starts keeps its library" "rank 7"
launch 2 -verbose "$bin/special"
ok "-verbose says why not" grep -q 'use-wireup-libraries: not for .*PMI_Special' "$err" || explain
launch 1 -use-wireup-libraries perhaps "$bin/plain"
refused "another word" 'must be auto, yes or no'

# ---- in another root nothing is proven: its files are not those that are seen here
put_in() # FILE...: the same place there
{
    for file in "$@"; do
        mkdir -p "$tmp/root${file%/*}" && cp -L "$file" "$tmp/root$file" || exit 1
    done
}
if chroot / true 2>/dev/null; then
    # shellcheck disable=SC2046
    put_in "$bin/plain" "$bin/their/libpmi.so.0" $(ldd "$bin/plain" | grep -o '/[^ ]*')
    launch 2 chroot "$tmp/root" "$bin/plain"
    has "one in another root keeps its library" "rank 7"
    launch 2 -use-wireup-libraries yes chroot "$tmp/root" "$bin/plain"
    refused "one in another root is refused, and why" 'chroot: it is not seen to load'
else
    skip "a program in another root" "this user may not chroot"
fi

# ---- other nodes look for themselves
needs_host_names
named_agent
run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1,n2 -n 2 "$bin/plain"
has "on two nodes" "rank 0 rank 1"

# ---- the topology comes with ours, too, or each rank would discover it (four ranks and more)
cat >"$tmp/topology.c" <<'END'
#include <pmix.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    pmix_proc_t me, job;
    pmix_info_t only;
    pmix_value_t *v = NULL;
    bool yes = true;
    int rc;

    if (PMIx_Init(&me, NULL, 0))
        return 1;
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&only, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    rc = PMIx_Get(&job, KEY, &only, 1, &v);
    printf("%s\n", rc == 0 && strstr(v->data.string, "<topology") ? "topology" : PMIx_Error_string(rc));
    return PMIx_Finalize(NULL, 0);
}
END
for key in PMIX_LOCAL_TOPO PMIX_HWLOC_XML_V2; do
    gcc -DKEY=$key -I "$WU_SRC/include" -o "$bin/topology" "$tmp/topology.c" "$WU_BUILD/src/lib/pmix/libpmix.so.2" \
        -Wl,-rpath,"$WU_BUILD/src/lib/pmix" || exit 1
    launch 4 "$bin/topology"
    same "$key of four ranks" "$rc $(sort "$out" | uniq -c | xargs)" "0 4 topology" || explain
done
launch 2 "$bin/topology"
same "two ranks find it faster themselves" "$rc $(sort "$out" | uniq -c | xargs)" "0 2 PMIX_ERR_NOT_FOUND" || explain

# ---- Open MPI, whose component opens libpmix
if command -v mpicc.openmpi >/dev/null 2>&1; then
    cat >"$tmp/mapped.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[4096];
    int size;
    FILE *f;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, "/libpmix.so.2") && strstr(line, " r-xp ")) {
            printf("%d %s", size, strchr(line, '/'));
            break;
        }
    }
    return MPI_Finalize();
}
END
    mpicc.openmpi -o "$bin/mapped" "$tmp/mapped.c" || exit 1
    ours="2 $WU_BUILD/src/lib/pmix/"
    launch 2 -use-wireup-libraries no "$bin/mapped"
    ok "the control: Open MPI with the library of the system" eval '[ "$rc" = 0 ] && grep -q "^2 /" "$out" && ! grep -q "$ours" "$out"' ||
        explain
    launch 2 "$bin/mapped"
    same "Open MPI takes ours" "$rc $(grep -c "^$ours" "$out")" "0 2" || explain
    launch 2 -genv OMPI_MCA_mca_base_component_path /nowhere:/usr/lib -use-wireup-libraries yes "$bin/mapped"
    refused "unless components may be elsewhere" 'says where Open MPI finds its components'
    mkdir -p "$tmp/home/.openmpi/components"
    launch 2 -genv HOME "$tmp/home" -use-wireup-libraries yes "$bin/mapped"
    refused "or the user has some" 'brings components of the user'
else
    skip "Open MPI" "it is not installed"
fi
finish
