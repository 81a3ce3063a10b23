/* pmix_data.c - our codec beside another's, in one process: every type, random content.
 *
 *   pmix_data ENCODING FORM ROUNDS
 *
 * For each item: both pack it to the same bytes; what one packed, the other unpacks, and packs
 * again to the same bytes.
 */
#include "tests/interop/pmix_peer.h"
#include "tests/pmix_fill.h"
#include "tests/tap.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

static struct peer peer;
static const struct ptype_flavour *as;
static bool described;

/* What OpenPMIx 4.2.2 cannot do right inside values and arrays, and is not asked to:
 * - reading a PROC_STATS (not even its own), or arrays of some types (no memory, it says);
 * - a DATA_BUFFER in a value (packs what lies behind its address), a REGEX in an array;
 * - disks and networks in a node's statistics (packs other things).
 * Beside that it reads a DATA_TYPE as a signed number: only 0 comes out as it went in. */
static bool skip(const struct ptype *t, bool in_value)
{
    static const uint16_t no_arrays[] = {
        PMIX_REGEX,        PMIX_DISK_STATS,
        PMIX_NET_STATS,    PMIX_COMMAND,
        PMIX_DATA_ARRAY,   PMIX_JOB_STATE,
        PMIX_DEVTYPE,      PMIX_LOCTYPE,
        PMIX_STOR_MEDIUM,  PMIX_STOR_ACCESS,
        PMIX_STOR_PERSIST, PMIX_STOR_ACCESS_TYPE,
        PMIX_DATA_BUFFER,  PMIX_COMPRESSED_BYTE_OBJECT,
    };

    if (t->number == PMIX_PROC_STATS)
        return true;
    if (in_value)
        return t->number == PMIX_DATA_BUFFER;
    for (size_t i = 0; i < sizeof no_arrays / sizeof no_arrays[0]; i++)
        if (t->number == no_arrays[i])
            return true;
    return false;
}

/* What it can pack and not unpack at all. */
static bool writes_only(const struct ptype *t)
{
    return t->number == PMIX_PROC_STATS;
}

static bool ours_pack(struct buf *out, const void *items, int32_t n, uint16_t type)
{
    struct ppack w;

    ppack_init(&w, out, as);
    w.described = described;
    return ppack(&w, items, n, type) == PTYPE_FINE;
}

static bool ours_unpack(struct slice bytes, void *items, int32_t *n_p, uint16_t type)
{
    struct punpack r;

    punpack_init(&r, bytes, as);
    r.described = described;
    return punpack(&r, items, n_p, type) == PTYPE_FINE && punpack_left(&r) == 0;
}

/* Both directions for n items; says where they part. */
static const char *compare(const struct ptype *t, void *in, int32_t n)
{
    struct buf ours = BUF_NULL(1 << 26), again = BUF_NULL(1 << 26);
    pmix_data_buffer_t theirs = PMIX_DATA_BUFFER_STATIC_INIT, copy = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_data_buffer_t back = PMIX_DATA_BUFFER_STATIC_INIT;
    void *from_ours = fill_take((size_t)n * t->size), *from_theirs = fill_take((size_t)n * t->size);
    int32_t got_ours = n, got_theirs = n;
    const char *what = NULL;

    if (!ours_pack(&ours, in, n, t->number))
        what = "we cannot pack";
    else if (peer.pack(NULL, &theirs, in, n, t->number) != PMIX_SUCCESS)
        what = "they cannot pack";
    else if (!slice_eq(buf_slice(&ours), slice_mem(theirs.base_ptr, theirs.bytes_used)))
        what = "packed differently";
    if (!what && writes_only(t)) {
        got_ours = 0;
    } else if (!what) {
        PMIx_Data_embed(&copy, &(pmix_byte_object_t){ ours.mem + ours.start, buf_len(&ours) });
        if (peer.unpack(NULL, &copy, from_ours, &got_ours, t->number) != PMIX_SUCCESS ||
            got_ours != n)
            what = "they cannot unpack ours", got_ours = 0;
        else if (!ours_pack(&again, from_ours, n, t->number) ||
                 !slice_eq(buf_slice(&ours), buf_slice(&again)))
            what = "they unpack ours differently";
    } else {
        got_ours = 0;
    }
    if (!what && (!ours_unpack(slice_mem(theirs.base_ptr, theirs.bytes_used), from_theirs,
                               &got_theirs, t->number) ||
                  got_theirs != n))
        what = "we cannot unpack theirs", got_theirs = 0;
    else if (!what && (peer.pack(NULL, &back, from_theirs, n, t->number) != PMIX_SUCCESS ||
                       !slice_eq(buf_slice(&ours), slice_mem(back.base_ptr, back.bytes_used))))
        what = "we unpack theirs differently";
    else if (what)
        got_theirs = 0;
    pmem_free(t, from_ours, (size_t)got_ours, NULL);
    pmem_free(t, from_theirs, (size_t)got_theirs, NULL);
    free(from_ours);
    free(from_theirs);
    buf_free(&ours);
    buf_free(&again);
    PMIx_Data_buffer_destruct(&theirs);
    PMIx_Data_buffer_destruct(&copy);
    PMIx_Data_buffer_destruct(&back);
    return what;
}

static void test_type(const struct ptype *t, unsigned rounds)
{
    struct fill f = {
        .state = t->number * 1000003u, .depth = 3, .as = as, .skip = skip, .no_types = true
    };
    const char *what = NULL;
    unsigned i;

    for (i = 0; i < rounds && !what; i++) {
        int32_t n = (int32_t)(1 + i % 2);
        char *in = fill_take((size_t)n * t->size);
        for (int32_t k = 0; k < n; k++)
            fill_item(&f, t, in + (size_t)k * t->size);
        what = compare(t, in, n);
        pmem_free(t, in, (size_t)n, NULL);
        free(in);
    }
    OK_F(!what, "%s: %u times %s%s%s", as->name, i, t->name, what ? ": " : "", what ? what : "");
}

/* The other one in its encoding and we in another: the comparison must tell. */
static void test_the_test(void)
{
    const struct ptype_flavour *right = as;
    uint32_t v = 300;

    as = ptype_flavour(right->fixed ? SLICE("v41") : SLICE("v3"));
    OK(compare(ptype_find(PMIX_UINT32), &v, 1) != NULL);
    as = right;
    OK(compare(ptype_find(PMIX_UINT32), &v, 1) == NULL);
}

int main(int argc, char **argv)
{
    size_t types = 0;

    if (argc != 4)
        return 2;
    as = ptype_flavour(slice_str(argv[1]));
    described = argv[2][0] == '2';
    if (!as || !peer_open(&peer, argv[1], argv[2])) {
        printf("1..0 # SKIP no other libpmix here\n");
        return 0;
    }
    for (size_t number = 0; number < PTYPE_NUMBERS; number++) {
        const struct ptype *t = &ptype_table[number];
        uint8_t op = t->fields ? t->fields->op : PTYPE_NONE;
        if (!t->fields || !ptype_known(as, t) || op == PTYPE_CPUSET || op == PTYPE_TOPO)
            continue;
        test_type(t, (unsigned)strtoul(argv[3], NULL, 10));
        types++;
    }
    test_the_test();
    OK_F(types >= 38, "%zu types compared", types);
    peer_close(&peer);
    return tap_done();
}
