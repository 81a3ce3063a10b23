/* pmix_differ.h - our codec beside another libpmix, in one process: the same items, both ways.
 *
 * For tests and fuzz targets that compare.  Include once.
 */
#ifndef WIREUP_TESTS_PMIX_DIFFER_H
#define WIREUP_TESTS_PMIX_DIFFER_H

#include "tests/interop/pmix_peer.h"
#include "tests/pmix_fill.h"
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

/* Whether a type is compared at all: hwloc's are not ours. */
static bool compared(const struct ptype *t)
{
    uint8_t op = t->fields ? t->fields->op : PTYPE_NONE;

    return t->fields && ptype_known(as, t) && op != PTYPE_CPUSET && op != PTYPE_TOPO;
}

/* n random items, compared; NULL when nothing differs. */
static const char *compare_random(struct fill *f, const struct ptype *t, int32_t n)
{
    char *in = fill_take((size_t)n * t->size);
    const char *what;

    for (int32_t k = 0; k < n; k++)
        fill_item(f, t, in + (size_t)k * t->size);
    what = compare(t, in, n);
    pmem_free(t, in, (size_t)n, NULL);
    free(in);
    return what;
}

#endif
