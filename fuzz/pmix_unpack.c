/* pmix_unpack.c - fuzzes the reader of PMIx data: any bytes, as any type, in any encoding.
 *
 * Input: encoding (and bit 7: described), data type, room for how many items, then the bytes.
 * What can be unpacked can be packed, unpacked and packed again to the same bytes; it can be
 * copied, and the copy is equal; all of it can be released.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmix_mem.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stands for hwloc, which is not ours to fuzz: a cpuset is its text, a topology its XML. */
static int cpuset_text(const pmix_cpuset_t *set, char **text_p)
{
    *text_p = strdup(set->bitmap);
    return *text_p ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static int cpuset_parse(const char *text, pmix_cpuset_t *set_p)
{
    set_p->bitmap = strdup(text);
    return set_p->bitmap ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static int cpuset_copy(const pmix_cpuset_t *from, pmix_cpuset_t *to_p)
{
    return cpuset_parse(from->bitmap, to_p);
}

static void cpuset_free(pmix_cpuset_t *set)
{
    free(set->bitmap);
}

static bool cpuset_equal(const pmix_cpuset_t *a, const pmix_cpuset_t *b)
{
    return a->bitmap && b->bitmap && strcmp(a->bitmap, b->bitmap) == 0;
}

enum { SUPPORT = 4 };

static size_t support_size(void)
{
    return SUPPORT;
}

static int topo_text(const pmix_topology_t *topo, char **xml_p, void *support_p)
{
    memset(support_p, 7, SUPPORT);
    *xml_p = strdup(topo->topology);
    return *xml_p ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static int topo_parse(const char *xml, const void *support, pmix_topology_t *topo_p)
{
    topo_p->topology = strdup(xml);
    topo_p->source = strndup(support, SUPPORT); /* reads all of it */
    return topo_p->topology && topo_p->source ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static void topo_free(pmix_topology_t *topo)
{
    free(topo->topology);
    free(topo->source);
}

/* Topologies have no copy here: such items are left out of the second half. */
static int topo_copy(const pmix_topology_t *from, pmix_topology_t *to_p)
{
    (void)from;
    (void)to_p;
    return PTYPE_NOT_SUPPORTED;
}

static const struct ptype_foreign foreign = {
    cpuset_text,  cpuset_parse, cpuset_copy, cpuset_free, cpuset_equal,
    support_size, topo_text,    topo_parse,  topo_copy,   topo_free,
};

static const struct ptype_flavour *encoding(uint8_t n)
{
    static const char *const names[] = { "v41", "v3", "v61", "v21", "v4", "v51" };

    return n < 6 ? ptype_flavour(slice_str(names[n])) : &ptype_own;
}

enum { ROOM = 8 };

static void check(const struct ptype *t, const struct punpack *first, void *items, int32_t n)
{
    struct buf once = BUF_NULL(1 << 26), twice = BUF_NULL(1 << 26);
    void *again = calloc(ROOM, t->size), *copy = calloc(ROOM, t->size);
    struct ppack w;
    struct punpack r;
    int32_t m = ROOM;

    ppack_init(&w, &once, first->as);
    w.described = first->described;
    w.foreign = &foreign;
    if (ppack(&w, items, n, t->number) != PTYPE_FINE)
        abort();
    punpack_init(&r, buf_slice(&once), first->as);
    r.described = first->described;
    r.foreign = &foreign;
    if (punpack(&r, again, &m, t->number) != PTYPE_FINE || m != n || punpack_left(&r))
        abort();
    ppack_init(&w, &twice, first->as);
    w.described = first->described;
    w.foreign = &foreign;
    if (ppack(&w, again, n, t->number) != PTYPE_FINE ||
        !slice_eq(buf_slice(&once), buf_slice(&twice)))
        abort();
    pmem_free(t, again, (size_t)m, &foreign);
    if (pmem_copy(t, copy, items, (size_t)n, &foreign) == PTYPE_FINE) {
        buf_clear(&twice);
        ppack_init(&w, &twice, first->as);
        w.described = first->described;
        w.foreign = &foreign;
        if (ppack(&w, copy, n, t->number) != PTYPE_FINE ||
            !slice_eq(buf_slice(&once), buf_slice(&twice)))
            abort();
        pmem_free(t, copy, (size_t)n, &foreign);
    }
    free(again);
    free(copy);
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ptype *t;
    struct punpack r;
    void *items;
    int32_t n;

    if (size < 3)
        return 0;
    t = ptype_find(data[1]);
    if (!t)
        return 0;
    n = data[2] % (ROOM + 1);
    items = malloc(ROOM * t->size);
    if (!items)
        return 0;
    punpack_init(&r, slice_mem(data + 3, size - 3), encoding(data[0] & 7));
    r.described = data[0] & 0x80;
    r.foreign = &foreign;
    punpack(&r, items, &n, t->number);
    if (punpack_ok(&r))
        check(t, &r, items, n);
    else if (r.error != PTYPE_NO_ROOM && n != 0)
        abort();
    pmem_free(t, items, (size_t)n, &foreign);
    free(items);
    return 0;
}
