/* view.c - see view.h. */
#include "topo/view.h"

#include <errno.h>

#include "topo/device.h"
#include "topo/hwloc_dl.h"

static const hwloc_obj_type_t types[TOPO_KIND_COUNT] = {
    [TOPO_HWTHREAD] = HWLOC_OBJ_PU,     [TOPO_CORE] = HWLOC_OBJ_CORE,
    [TOPO_L1] = HWLOC_OBJ_L1CACHE,      [TOPO_L2] = HWLOC_OBJ_L2CACHE,
    [TOPO_L3] = HWLOC_OBJ_L3CACHE,      [TOPO_L4] = HWLOC_OBJ_L4CACHE,
    [TOPO_L5] = HWLOC_OBJ_L5CACHE,      [TOPO_NUMA] = HWLOC_OBJ_NUMANODE,
    [TOPO_PACKAGE] = HWLOC_OBJ_PACKAGE, [TOPO_MACHINE] = HWLOC_OBJ_MACHINE,
};

static int copy_cpus(const struct hwloc_dl *h, struct arena *a, hwloc_const_bitmap_t from,
                     size_t processors, struct cpus *to_p)
{
    struct cpus s = cpus_new(a, processors);

    if (!s.bits)
        return -ENOMEM;
    for (int cpu = h->bitmap_first(from); cpu >= 0 && (size_t)cpu < processors;
         cpu = h->bitmap_next(from, cpu))
        cpus_add(s, (size_t)cpu);
    *to_p = s;
    return 0;
}

static int copy_kind(const struct hwloc_dl *h, hwloc_topology_t t, struct arena *a,
                     enum topo_kind kind, struct topo_view *view)
{
    struct topo_objects *o = &view->kinds[kind];
    int depth = h->get_type_depth(t, types[kind]);
    int rc = 0;

    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE)
        return 0;
    o->count = h->get_nbobjs_by_depth(t, depth);
    o->cpus = arena_array(a, o->count, sizeof *o->cpus);
    if (!o->cpus)
        return -ENOMEM;
    for (uint32_t i = 0; i < o->count && rc == 0; i++)
        rc = copy_cpus(h, a, h->get_obj_by_depth(t, depth, i)->cpuset, view->processors,
                       &o->cpus[i]);
    return rc;
}

static int copy_all(const struct hwloc_dl *h, hwloc_topology_t t, struct arena *a,
                    struct topo_view *view, struct errmsg *err)
{
    int last = h->bitmap_last(h->topology_get_topology_cpuset(t)), rc = 0;

    if (last < 0 || last >= CPUS_MAX)
        return errmsg_set(err, TOPO_MISSING, "hwloc reports no usable topology of this machine");
    view->processors = (size_t)last + 1;
    for (int k = 0; k <= TOPO_MACHINE && rc == 0; k++)
        rc = copy_kind(h, t, a, (enum topo_kind)k, view);
    return rc;
}

/* Where the description of a machine comes from. */
struct origin {
    const char *synthetic, *path; /* both NULL: this machine */
    bool devices;
};

static int prepare(const struct hwloc_dl *h, hwloc_topology_t t, const struct origin *o,
                   struct errmsg *err)
{
    if (o->synthetic && h->topology_set_synthetic(t, o->synthetic) != 0)
        return errmsg_set(err, TOPO_MISSING, "'%.200s' does not describe a machine", o->synthetic);
    if (o->path && h->topology_set_xml(t, o->path) != 0)
        return errmsg_set(err, TOPO_MISSING, "%.300s is no machine in hwloc's XML", o->path);
    if (o->devices && h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0)
        return errmsg_set(err, TOPO_MISSING, "hwloc cannot look for devices");
    if (h->topology_load(t) != 0)
        return errmsg_set(err, TOPO_MISSING, "hwloc cannot read the topology of %.300s: %s",
                          o->path ? o->path : "this machine", err_text(errno));
    return 0;
}

static int load(struct arena *a, const struct origin *o, struct topo_view *view_p,
                struct errmsg *err)
{
    struct topo_view view = { 0 };
    struct hwloc_dl h;
    hwloc_topology_t t = NULL;
    int rc = hwloc_dl_open(&h, err);

    if (rc)
        return TOPO_MISSING;
    if (h.topology_init(&t) != 0)
        rc = -ENOMEM;
    else
        rc = prepare(&h, t, o, err);
    if (rc == 0)
        rc = copy_all(&h, t, a, &view, err);
    if (rc == 0 && o->devices)
        rc = topo_devices_find(&h, t, a, &view);
    if (t)
        h.topology_destroy(t);
    hwloc_dl_close(&h);
    if (rc == 0)
        *view_p = view;
    return rc;
}

int topo_view_machine(struct arena *a, struct topo_view *view_p, struct errmsg *err)
{
    return load(a, &(struct origin){ NULL, NULL, false }, view_p, err);
}

int topo_view_devices(struct arena *a, const char *path, struct topo_view *view_p,
                      struct errmsg *err)
{
    return load(a, &(struct origin){ NULL, path, true }, view_p, err);
}

int topo_view_synthetic(struct arena *a, const char *description, struct topo_view *view_p,
                        struct errmsg *err)
{
    return load(a, &(struct origin){ description, NULL, false }, view_p, err);
}
