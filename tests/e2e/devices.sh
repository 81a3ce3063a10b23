#!/bin/sh
# Devices: which GPUs and network interfaces each process gets and which cores it is bound to, on published kinds of
# machines (tests/machines), whose maps are in tests/machines/golden.txt; and what the processes are told.
. "$(dirname "$0")/lib.sh"
private_world "$@"
begin
use_launcher wireup
machines=$WU_SRC/tests/machines
if ! "$machines/make-xml" "$machines/machines.def" "$tmp"; then
    echo "Bail out! cannot make the machines"
    exit 1
fi

# ---- maps: each line is a rank: its processors; its devices
map() # MACHINE OPTIONS...
{
    map_machine=$1
    shift
    echo "== $map_machine $*"
    "$WIREUP" -dry-run -topology "$tmp/$map_machine.xml" "$@" true 2>&1 |
        sed -n 's/^ *\([0-9][0-9]*\)  [^ ]*  *[0-9][0-9]*  *[0-9][0-9]*  /\1: /p; s/^wireup: //p'
}
maps()
{
    sed -n 's/^machine \([^ ]*\).*/\1/p' "$machines/machines.def" | while read -r name; do
        map "$name" -gpus-per-rank 1
        map "$name" -gpus-per-rank 2
        map "$name" -ranks-per-device 2
        map "$name" -map-by device=gpu -n 4 -bind-to core
        map "$name" -map-by device=nic -n 4
    done
}
maps >"$tmp/maps"
[ "${1-}" != --renew ] || cp "$tmp/maps" "$machines/golden.txt"
sed -n 's/^== //p' "$machines/golden.txt" >"$tmp/cases"
ok "at least eight kinds of machines, five maps each" [ "$(wc -l <"$tmp/cases")" -ge 40 ]
part() # FILE CASE
{
    awk -v want="== $2" '/^== / { on = $0 == want } on' "$1"
}
while read -r case; do
    same "$case" "$(part "$tmp/maps" "$case")" "$(part "$machines/golden.txt" "$case")"
done <"$tmp/cases"

# ---- what processes are told (hwloc takes this machine for another)
on() # MACHINE OPTIONS... PROGRAM...
{
    HWLOC_XMLFILE=$tmp/$1.xml
    export HWLOC_XMLFILE
    shift
    run 60 "$WIREUP" "$@"
    unset HWLOC_XMLFILE
}
# shellcheck disable=SC2016
show='echo "$MPI_LOCALRANKID $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES $ZE_AFFINITY_MASK $WIREUP_DEVICES"'
told() # WHAT WANT
{
    same "$1" "$rc $(sed 's/  */ /g' "$out" | sort)" "0 $2" || explain
}
on alps-gh200 -n 2 -gpus-per-rank 2 sh -c "$show"
told "CUDA, by UUID" "0 GPU-00000001-0000-0000-0000-000000000000,GPU-00000002-0000-0000-0000-000000000000 nvml0,nvml1
1 GPU-00000003-0000-0000-0000-000000000000,GPU-00000004-0000-0000-0000-000000000000 nvml2,nvml3"
on frontier -n 1 -gpus-per-rank 1 sh -c "$show"
told "ROCm, by UUID" "0 GPU-0000000000000005 rsmi4"
on aurora -n 2 -gpus-per-rank 3 sh -c "$show"
told "oneAPI, by number" "0 0,1,2 ze0,ze1,ze2
1 3,4,5 ze3,ze4,ze5"
sed 's/.*NVIDIAUUID.*//' "$tmp/polaris.xml" >"$tmp/nouuid.xml"
on nouuid -n 1 -gpus-per-rank 1 sh -c "$show; echo \$CUDA_DEVICE_ORDER"
told "without UUIDs by number in PCI order" "0 3 nvml3
PCI_BUS_ID"
on alps-gh200 -n 1 -genv CUDA_VISIBLE_DEVICES 7 -gpus-per-rank 1 sh -c "$show"
told "it replaces what was set" "0 GPU-00000001-0000-0000-0000-000000000000 nvml0"
on alps-gh200 -n 2 sh -c "$show"
told "the control: nobody asks for devices" "0 
1 "
# A program that is not sanitized cannot load a sanitized library.
if [ "${1-}" = client ]; then
cat >"$tmp/told.c" <<'END'
#include <pmix.h>
#include <stdio.h>
int main(void)
{
    pmix_proc_t me;
    pmix_value_t *v = NULL;
    int rc;

    if (PMIx_Init(&me, NULL, 0))
        return 1;
    rc = PMIx_Get(&me, PMIX_DEVICE_ID, NULL, 0, &v);
    printf("%u %s\n", me.rank, rc == 0 ? v->data.string : PMIx_Error_string(rc));
    return PMIx_Finalize(NULL, 0);
}
END
${CC:-cc} -I "$WU_SRC/include" -o "$bin/told" "$tmp/told.c" "$WU_BUILD/src/lib/pmix/libpmix.so.2" \
    -Wl,-rpath,"$WU_BUILD/src/lib/pmix" || exit 1
on frontier -n 2 -gpus-per-rank 1 "$bin/told"
told "PMIX_DEVICE_ID" "0 GPU-0000000000000005
1 GPU-0000000000000006"
fi

# ---- what cannot be
refused() # WHAT WORDS OPTIONS...
{
    refused_what=$1 refused_words=$2
    shift 2
    run 60 "$WIREUP" -dry-run -topology "$tmp/polaris.xml" "$@" true
    ok "$refused_what" eval '[ "$rc" != 0 ] && grep -q -e "$refused_words" "$err"' || explain
}
refused "more processes than GPUs" 'more processes than the 4 slots' -n 5 -gpus-per-rank 1
refused "with a mapping of another kind" 'use either -gpus-per-rank or -map-by node' -gpus-per-rank 1 -map-by node
refused "with -ppn" 'use either -gpus-per-rank or -ppn' -gpus-per-rank 1 -ppn 2
refused "not bound" 'to bind them to all, use -bind-to machine' -gpus-per-rank 1 -bind-to none
run 60 "$WIREUP" -topology "$tmp/polaris.xml" true
ok "-topology alone" grep -q 'needs -dry-run' "$err" || explain
run 60 "$WIREUP" -dry-run -topology "$tmp/told.c" true
ok "-topology with another file" eval '[ "$rc" = 2 ] && [ -s "$err" ]' || explain
# ---- the picture shows them
run 60 "$WIREUP" map -topology "$tmp/polaris.xml" -gpus-per-rank 1 -picture true
same "the picture has the GPUs and their ranks" "$(grep -F 'gpu' "$out")" "  gpu         |nvml3: 0|nvml2: 1|nvml1: 2|nvml0: 3|"
run 60 "$WIREUP" map -topology "$tmp/polaris.xml" -gpus-per-rank 1 -svg true
ok "so has the SVG" grep -q '>gpu nvml3, near processors 0-7,32-39: rank 0<' "$out"

# ---- the picture of nodes that are different machines
needs_host_names
cat >"$tmp/agent" <<'END'
#!/bin/sh
host=$1
shift
case $host in
n1) machine=frontier ;;
*) machine=alps-gh200 ;;
esac
exec unshare -u env HWLOC_XMLFILE="$(dirname "$0")/$machine.xml" sh -c 'hostname "$0"; exec sh -c "exec $*"' "$host" "$@"
END
chmod +x "$tmp/agent"
picture() { run 60 "$WIREUP" map "$@" -launch-agent "$tmp/agent" -hosts n1:2,n2:2 -bind-to core -n 4 true; }
cores() { sed -n "s/^$1: 2 ranks; .* \([0-9]*\) cores.*/\1/p" "$out"; }
picture -picture -ask-nodes
ok "asked nodes are drawn as they are: $(cores n1) and $(cores n2) cores" \
    eval '[ "$rc" = 0 ] && [ -n "$(cores n1)" ] && [ -n "$(cores n2)" ] && [ "$(cores n1)" != "$(cores n2)" ]' || explain
picture -svg -ask-nodes
ok "as SVG, too" eval '[ "$rc" = 0 ] && python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$out"' || explain
picture -picture
ok "nodes that are not asked are taken for this one" grep -q "assumed to be like it" "$out" || explain
finish
