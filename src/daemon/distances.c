/* distances.c - see distances.h. */
#include "daemon/distances.h"

#include <stdlib.h>
#include <string.h>

#include "topo/pmix_topo.h"
#include "wire/pmix_mem.h"

static void put_text(struct buf *out, const char *text)
{
    buf_str(out, text);
    buf_byte(out, '\0');
}

static void put_device(struct buf *out, const pmix_device_distance_t *d)
{
    put_text(out, d->uuid);
    put_text(out, d->osname);
    buf_printf(out, "%llu", (unsigned long long)d->type);
    buf_byte(out, '\0');
    buf_printf(out, "%u", d->mindist);
    buf_byte(out, '\0');
    buf_printf(out, "%u", d->maxdist);
    buf_byte(out, '\0');
}

static void put_devices(struct buf *out, const pmix_topology_t *topo, const pmix_cpuset_t *set)
{
    const struct ptopo_wanted all = { 0 };
    pmix_device_distance_t *list;
    size_t n;

    if (ptopo_distances(topo, set, &all, &list, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++)
        put_device(out, &list[i]);
    pmem_free(ptype_find(PMIX_DEVICE_DIST), list, n, &ptopo_foreign);
    free(list);
}

struct slice distances_text(struct slice cpuset, struct buf *out)
{
    char *text = strndup(cpuset.ptr ? cpuset.ptr : "", cpuset.len);
    pmix_topology_t topo = { 0 };
    pmix_cpuset_t set = { 0 };

    if (text && ptopo_cpuset_parse(text, &set) == 0 && ptopo_load(&topo) == 0)
        put_devices(out, &topo, &set);
    ptopo_foreign.cpuset_free(&set);
    ptopo_foreign.topo_free(&topo);
    free(text);
    return buf_ok(out) ? buf_slice(out) : SLICE_NULL;
}
