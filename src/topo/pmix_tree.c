/* pmix_tree.c - whole topologies of PMIx: loading, sending, and the places of processors and
 * devices in them; see pmix_topo.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "topo/pmix_levels.h"
#include "topo/pmix_machine.h"
#include "topo/pmix_topo.h"

/* --- loading, copying, releasing --- */

/* Labels a topology with its source; takes over t. */
static int label(const struct hwloc_dl *h, hwloc_topology_t t, pmix_topology_t *topo_p)
{
    char *source = t ? strdup("hwloc:" HWLOC_VERSION) : NULL;

    if (!source) {
        if (t)
            h->topology_destroy(t);
        return -ENOMEM;
    }
    *topo_p = (pmix_topology_t){ .source = source, .topology = t };
    return 0;
}

int ptopo_load(pmix_topology_t *topo)
{
    const struct hwloc_dl *h;
    hwloc_topology_t mine, copy = NULL;
    char *asked = topo->source;
    int rc;

    if (asked && !ptopo_is_hwloc(asked))
        return PTOPO_OTHER;
    h = ptopo_hwloc();
    mine = h ? ptopo_machine(h) : NULL;
    if (!mine)
        return PTOPO_MISSING;
    if (h->topology_dup(&copy, mine) != 0)
        return -ENOMEM;
    rc = label(h, copy, topo);
    if (rc == 0 && asked) { /* the caller's source stays */
        free(topo->source);
        topo->source = asked;
    }
    return rc;
}

int ptopo_copy(const pmix_topology_t *from, pmix_topology_t *to_p)
{
    const struct hwloc_dl *h = from->topology ? ptopo_hwloc() : NULL;
    pmix_topology_t to = { 0 };
    hwloc_topology_t t = NULL;

    if (from->topology && (!h || !ptopo_is_hwloc(from->source)))
        return PTYPE_NOT_SUPPORTED;
    if (from->topology && h->topology_dup(&t, from->topology) != 0)
        return PTYPE_NO_MEMORY;
    to.topology = t;
    if (from->source)
        to.source = strdup(from->source);
    if (from->source && !to.source) {
        ptopo_free(&to);
        return PTYPE_NO_MEMORY;
    }
    *to_p = to;
    return PTYPE_FINE;
}

void ptopo_free(pmix_topology_t *topo)
{
    const struct hwloc_dl *h = topo->topology ? ptopo_hwloc() : NULL;

    if (h)
        h->topology_destroy(topo->topology);
    free(topo->source);
    *topo = (pmix_topology_t){ 0 };
}

/* --- sending: XML, followed by the capabilities of the sender's system, as hwloc has them in
 * memory --- */

enum {
    DISCOVERY = sizeof(struct hwloc_topology_discovery_support),
    CPUBIND = sizeof(struct hwloc_topology_cpubind_support),
    MEMBIND = sizeof(struct hwloc_topology_membind_support),
};

size_t ptopo_support_size(void)
{
    return DISCOVERY + CPUBIND + MEMBIND;
}

int ptopo_wire_text(const pmix_topology_t *topo, char **xml_p, void *support_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    const struct hwloc_topology_support *s;
    char *xml, *at = support_p;
    int n;

    if (!h || !ptopo_is_hwloc(topo->source))
        return PTYPE_NOT_SUPPORTED;
    if (h->topology_export_xmlbuffer(topo->topology, &xml, &n, 0) != 0)
        return PTYPE_NO_MEMORY;
    *xml_p = strdup(xml);
    h->free_xmlbuffer(topo->topology, xml);
    s = h->topology_get_support(topo->topology);
    memcpy(at, s->discovery, DISCOVERY);
    memcpy(at + DISCOVERY, s->cpubind, CPUBIND);
    memcpy(at + DISCOVERY + CPUBIND, s->membind, MEMBIND);
    return *xml_p ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

int ptopo_wire_parse(const char *xml, const void *support, pmix_topology_t *topo_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    const struct hwloc_topology_support *s;
    const char *at = support;
    hwloc_topology_t t;

    if (!h)
        return PTYPE_NOT_SUPPORTED;
    if (h->topology_init(&t) != 0)
        return PTYPE_NO_MEMORY;
    if (h->topology_set_xmlbuffer(t, xml, (int)strlen(xml) + 1) != 0 ||
        h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
        h->topology_load(t) != 0) {
        h->topology_destroy(t);
        return PTYPE_MALFORMED;
    }
    s = h->topology_get_support(t);
    memcpy(s->discovery, at, DISCOVERY);
    memcpy(s->cpubind, at + DISCOVERY, CPUBIND);
    memcpy(s->membind, at + DISCOVERY + CPUBIND, MEMBIND);
    return label(h, t, topo_p) == 0 ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

/* --- where processors are --- */

static const hwloc_obj_type_t level_types[PTOPO_LEVELS] = {
    [PTOPO_PACKAGE] = HWLOC_OBJ_PACKAGE, [PTOPO_L3] = HWLOC_OBJ_L3CACHE,
    [PTOPO_L2] = HWLOC_OBJ_L2CACHE,      [PTOPO_L1] = HWLOC_OBJ_L1CACHE,
    [PTOPO_CORE] = HWLOC_OBJ_CORE,       [PTOPO_PU] = HWLOC_OBJ_PU,
    [PTOPO_NUMA] = HWLOC_OBJ_NUMANODE,
};

/* "L30-1,4": the objects of a level that have a processor of the set. */
static void put_level(const struct hwloc_dl *h, hwloc_topology_t t, hwloc_const_bitmap_t set,
                      enum ptopo_level_id level, struct buf *out)
{
    int depth = h->get_type_depth(t, level_types[level]);
    unsigned count = h->get_nbobjs_by_depth(t, depth), last = 0;
    bool open = false, any = false; /* a range has begun; the level has been named */

    for (unsigned i = 0; i <= count; i++) {
        hwloc_obj_t obj = i < count ? h->get_obj_by_depth(t, depth, i) : NULL;
        bool in = obj && obj->cpuset && h->bitmap_intersects(obj->cpuset, set);
        if (in && !open) {
            if (any)
                buf_byte(out, ',');
            else
                buf_printf(out, "%s%s", buf_len(out) ? ":" : "", ptopo_levels[level].name);
            buf_u64(out, i);
            any = true;
            last = i;
        } else if (!in && open && i - 1 > last) {
            buf_byte(out, '-');
            buf_u64(out, i - 1);
        }
        open = in;
    }
}

int ptopo_locality_text(const pmix_cpuset_t *set, char **text_p)
{
    const struct hwloc_dl *h;
    hwloc_topology_t t;
    struct buf out = BUF_NULL(1 << 20);

    *text_p = NULL;
    if (!set->bitmap)
        return 0;
    if (!ptopo_is_hwloc(set->source))
        return PTOPO_OTHER;
    h = ptopo_hwloc();
    t = h ? ptopo_machine(h) : NULL;
    if (!t)
        return PTOPO_MISSING;
    for (int level = 0; level < PTOPO_LEVELS; level++)
        put_level(h, t, set->bitmap, (enum ptopo_level_id)level, &out);
    if (buf_len(&out) || !buf_ok(&out)) {
        *text_p = buf_steal(&out, NULL);
        if (!*text_p) {
            buf_free(&out);
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- where devices are --- */

static const struct {
    pmix_device_type_t type;
    const char *scheme;
} device_kinds[] = {
    [HWLOC_OBJ_OSDEV_BLOCK] = { PMIX_DEVTYPE_BLOCK, "block" },
    [HWLOC_OBJ_OSDEV_GPU] = { PMIX_DEVTYPE_GPU, "gpu" },
    [HWLOC_OBJ_OSDEV_NETWORK] = { PMIX_DEVTYPE_NETWORK, "net" },
    [HWLOC_OBJ_OSDEV_OPENFABRICS] = { PMIX_DEVTYPE_OPENFABRICS, "fab" },
    [HWLOC_OBJ_OSDEV_DMA] = { PMIX_DEVTYPE_DMA, "dma" },
    [HWLOC_OBJ_OSDEV_COPROC] = { PMIX_DEVTYPE_COPROC, "coproc" },
};

static const char *info_of(hwloc_obj_t obj, const char *name)
{
    for (unsigned i = 0; i < obj->infos_count; i++)
        if (strcmp(obj->infos[i].name, name) == 0)
            return obj->infos[i].value;
    return NULL;
}

/* A unique name of the device: by its address, or by its host and name. */
static char *device_uuid(hwloc_obj_t dev)
{
    enum { MAC_TEXT = 17 /* longer addresses are named ipv6 */ };
    const char *address = info_of(dev, "Address"), *node = info_of(dev, "NodeGUID");
    const char *system = info_of(dev, "SysImageGUID");
    char *text = NULL, host[256] = "";
    hwloc_obj_osdev_type_t kind = dev->attr->osdev.type;
    int n;

    if (kind == HWLOC_OBJ_OSDEV_NETWORK && address) {
        n = asprintf(&text, "ipv%d://%s", strlen(address) > MAC_TEXT ? 6 : 4, address);
    } else if (kind == HWLOC_OBJ_OSDEV_OPENFABRICS && node && system) {
        n = asprintf(&text, "fab://%s::%s", node, system);
    } else {
        gethostname(host, sizeof host - 1);
        n = asprintf(&text, "%s://%s::%s", device_kinds[kind].scheme, host, dev->name);
    }
    return n < 0 ? NULL : text;
}

/* The object with processors that a device hangs from; memory has processors, but no depth. */
static hwloc_obj_t place_of(hwloc_obj_t dev)
{
    while (dev && (!dev->cpuset || dev->depth < 0))
        dev = dev->parent;
    return dev;
}

/* From one processor: the higher the common ancestor, the greater the distance; at the root, where
 * only the machine is shared, the maximum. */
static uint16_t distance(const struct hwloc_dl *h, int depth, hwloc_obj_t pu, hwloc_obj_t place)
{
    hwloc_obj_t both = place;

    while (both->parent && !h->bitmap_isincluded(pu->cpuset, both->cpuset))
        both = both->parent;
    return (uint16_t)(both->parent ? depth - both->depth : depth + pu->depth);
}

static void set_distances(const struct hwloc_dl *h, hwloc_topology_t t, hwloc_const_bitmap_t set,
                          hwloc_obj_t place, pmix_device_distance_t *d)
{
    int depth = h->topology_get_depth(t), pus = h->get_type_depth(t, HWLOC_OBJ_PU);
    unsigned count = h->get_nbobjs_by_depth(t, pus);

    d->mindist = UINT16_MAX;
    d->maxdist = 0;
    for (unsigned i = 0; i < count; i++) {
        hwloc_obj_t pu = h->get_obj_by_depth(t, pus, i);
        uint16_t distance_to;
        if (!h->bitmap_isset(set, pu->os_index))
            continue;
        distance_to = distance(h, depth, pu, place);
        if (distance_to < d->mindist)
            d->mindist = distance_to;
        if (distance_to > d->maxdist)
            d->maxdist = distance_to;
    }
    if (d->mindist > d->maxdist) /* no processor in the set */
        d->maxdist = UINT16_MAX;
}

static bool is_wanted(const struct ptopo_wanted *wanted, hwloc_obj_t dev, const char *uuid)
{
    for (size_t i = 0; i < wanted->nids; i++)
        if (strcmp(wanted->ids[i], uuid) == 0 || strcmp(wanted->ids[i], dev->name) == 0)
            return true;
    return wanted->nids == 0;
}

/* Fills *d; 1 if the device is one of those requested, 0 if not, -ENOMEM. */
static int consider(const struct ptopo_wanted *wanted, hwloc_obj_t dev, pmix_device_distance_t *d)
{
    hwloc_obj_osdev_type_t kind = dev->attr->osdev.type;
    bool known = (size_t)kind < sizeof device_kinds / sizeof device_kinds[0];

    if (!known || !dev->name || !place_of(dev) ||
        (wanted->types && !(wanted->types & device_kinds[kind].type)) ||
        (kind == HWLOC_OBJ_OSDEV_NETWORK && strcmp(dev->name, "lo") == 0))
        return 0;
    *d = (pmix_device_distance_t){ .type = device_kinds[kind].type };
    d->uuid = device_uuid(dev);
    if (!d->uuid)
        return -ENOMEM;
    if (!is_wanted(wanted, dev, d->uuid)) {
        free(d->uuid);
        return 0;
    }
    d->osname = strdup(dev->name);
    if (d->osname)
        return 1;
    free(d->uuid);
    return -ENOMEM;
}

int ptopo_distances(const pmix_topology_t *topo, const pmix_cpuset_t *set,
                    const struct ptopo_wanted *wanted, pmix_device_distance_t **list_p, size_t *n_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    pmix_device_distance_t *list;
    unsigned count;
    size_t n = 0;
    int rc = 0;

    if (!ptopo_is_hwloc(topo->source) || !ptopo_is_hwloc(set->source))
        return PTOPO_OTHER;
    if (!h)
        return PTOPO_MISSING;
    count = h->get_nbobjs_by_depth(topo->topology, HWLOC_TYPE_DEPTH_OS_DEVICE);
    list = calloc(count + 1, sizeof *list);
    if (!list)
        return -ENOMEM;
    for (unsigned i = 0; i < count && rc >= 0; i++) {
        hwloc_obj_t dev = h->get_obj_by_depth(topo->topology, HWLOC_TYPE_DEPTH_OS_DEVICE, i);
        rc = consider(wanted, dev, &list[n]);
        if (rc > 0)
            set_distances(h, topo->topology, set->bitmap, place_of(dev), &list[n++]);
    }
    if (rc >= 0 && n > 0) {
        *list_p = list;
        *n_p = n;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        free(list[i].uuid);
        free(list[i].osname);
    }
    free(list);
    return rc < 0 ? rc : PTOPO_NOTHING;
}
