/* device.c - see device.h.  Reading order: what hwloc shows, shares of cores, words. */
#include "topo/device.h"

#include <errno.h>
#include <string.h>

#include "topo/hwloc_dl.h"

enum { NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };
enum { CLASS_VGA = 0x0300, CLASS_3D = 0x0302, CLASS_DISPLAY = 0x0380, CLASS_ACCELERATOR = 0x1200 };

/* ---- what hwloc shows ---- */

struct device_finder {
    const struct hwloc_dl *h;
    struct arena *arena;
    struct topo_view *view;
};

static const char *info_of(const struct hwloc_obj *o, const char *name)
{
    for (unsigned i = 0; i < o->infos_count; i++) {
        if (!strcmp(o->infos[i].name, name))
            return o->infos[i].value;
    }
    return NULL;
}

static bool begins(const char *name, const char *head)
{
    return name && !strncmp(name, head, strlen(head));
}

/* By the driver's name of it. */
static enum topo_vendor driver_of(const char *name)
{
    if (begins(name, "nvml") || begins(name, "cuda"))
        return TOPO_CUDA;
    if (begins(name, "rsmi"))
        return TOPO_ROCM;
    return begins(name, "ze") ? TOPO_ONEAPI : TOPO_OTHER;
}

/* By what the card says of itself; cards that only display are none. */
static enum topo_vendor card_vendor(const struct hwloc_obj *pci)
{
    unsigned class = pci->attr->pcidev.class_id, vendor = pci->attr->pcidev.vendor_id;

    if (vendor == NVIDIA && (class == CLASS_3D || class == CLASS_VGA))
        return TOPO_CUDA;
    if (vendor == AMD &&
        (class == CLASS_3D || class == CLASS_DISPLAY || class == CLASS_ACCELERATOR))
        return TOPO_ROCM;
    if (vendor == INTEL && (class == CLASS_DISPLAY || class == CLASS_ACCELERATOR))
        return TOPO_ONEAPI;
    return TOPO_OTHER;
}

static const char *uuid_of(struct arena *a, const struct hwloc_obj *os)
{
    const char *cuda = info_of(os, "NVIDIAUUID"), *rocm = info_of(os, "AMDUUID");

    if (cuda)
        return arena_str(a, slice_str(cuda));
    if (!rocm)
        return NULL;
    return arena_printf(a, "%s%s", begins(rocm, "GPU-") ? "" : "GPU-",
                        begins(rocm, "0x") ? rocm + 2 : rocm);
}

/* A GPU as its driver shows it: of several names the one that has the UUID. */
static void read_drivers(struct arena *a, const struct hwloc_obj *pci, struct topo_device *d)
{
    for (const struct hwloc_obj *os = pci->io_first_child; os; os = os->next_sibling) {
        enum topo_vendor vendor = driver_of(os->name);
        const char *uuid = vendor ? uuid_of(a, os) : NULL;
        if (!vendor || (d->name && (d->uuid || !uuid)))
            continue;
        d->vendor = vendor;
        d->name = arena_str(a, slice_str(os->name));
        d->uuid = uuid;
    }
}

static const char *pci_address(struct arena *a, const struct hwloc_obj *pci)
{
    const struct hwloc_pcidev_attr_s *p = &pci->attr->pcidev;

    return arena_printf(a, "%04x:%02x:%02x.%x", (unsigned)p->domain, p->bus, p->dev, p->func);
}

static uint64_t address_of(const struct hwloc_obj *pci)
{
    const struct hwloc_pcidev_attr_s *p = &pci->attr->pcidev;

    return (uint64_t)p->domain << 24 | (uint64_t)p->bus << 16 | (uint64_t)p->dev << 8 | p->func;
}

static int add(struct device_finder *f, enum topo_kind kind, const struct topo_device *d,
               const struct hwloc_obj *o)
{
    struct topo_objects *all = &f->view->kinds[kind];
    struct topo_device *devices = (struct topo_device *)(uintptr_t)all->devices;
    struct cpus near = cpus_new(f->arena, f->view->processors);

    while (o && !o->cpuset)
        o = o->parent;
    if (!near.bits || !d->name)
        return -ENOMEM;
    for (int cpu = o ? f->h->bitmap_first(o->cpuset) : -1;
         cpu >= 0 && (size_t)cpu < f->view->processors; cpu = f->h->bitmap_next(o->cpuset, cpu))
        cpus_add(near, (size_t)cpu);
    devices[all->count] = *d;
    all->cpus[all->count++] = near;
    return 0;
}

static int room_for(struct device_finder *f, enum topo_kind kind, unsigned n)
{
    struct topo_objects *all = &f->view->kinds[kind];

    all->count = 0;
    all->cpus = arena_array(f->arena, n + 1u, sizeof *all->cpus);
    all->devices = arena_array(f->arena, n + 1u, sizeof *all->devices);
    return all->cpus && all->devices ? 0 : -ENOMEM;
}

/* The order in which the vendors' libraries count, asked so: hwloc's is that of the processors. */
static void number_them(struct topo_objects *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct topo_device *d = (struct topo_device *)(uintptr_t)&all->devices[i];
        for (uint32_t k = 0; k < all->count; k++)
            d->number +=
                all->devices[k].vendor == d->vendor && all->devices[k].address < d->address;
    }
}

static int find_gpus(struct device_finder *f, hwloc_topology_t t)
{
    unsigned n = f->h->get_nbobjs_by_depth(t, HWLOC_TYPE_DEPTH_PCI_DEVICE);
    int rc = room_for(f, TOPO_GPU, n);

    for (unsigned i = 0; i < n && rc == 0; i++) {
        const struct hwloc_obj *pci = f->h->get_obj_by_depth(t, HWLOC_TYPE_DEPTH_PCI_DEVICE, i);
        struct topo_device d = { .address = address_of(pci) };
        read_drivers(f->arena, pci, &d);
        if (!d.vendor) {
            d.vendor = card_vendor(pci);
            d.name = pci_address(f->arena, pci);
        }
        if (d.vendor)
            rc = add(f, TOPO_GPU, &d, pci);
    }
    number_them(&f->view->kinds[TOPO_GPU]);
    return rc;
}

static bool is_nic(const struct hwloc_obj *os, int round)
{
    hwloc_obj_osdev_type_t type = os->attr->osdev.type;

    if (round == 0)
        return type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    if (type != HWLOC_OBJ_OSDEV_NETWORK || !os->parent || os->parent->type != HWLOC_OBJ_PCI_DEVICE)
        return false;
    return round == 2 || begins(os->name, "hsn");
}

static int find_nics(struct device_finder *f, hwloc_topology_t t)
{
    unsigned n = f->h->get_nbobjs_by_depth(t, HWLOC_TYPE_DEPTH_OS_DEVICE);
    int rc = room_for(f, TOPO_NIC, n);

    for (int round = 0; round < 3 && rc == 0 && f->view->kinds[TOPO_NIC].count == 0; round++) {
        for (unsigned i = 0; i < n && rc == 0; i++) {
            const struct hwloc_obj *os = f->h->get_obj_by_depth(t, HWLOC_TYPE_DEPTH_OS_DEVICE, i);
            struct topo_device d = { .vendor = TOPO_OTHER };
            if (!os->name || !is_nic(os, round))
                continue;
            d.name = arena_str(f->arena, slice_str(os->name));
            rc = add(f, TOPO_NIC, &d, os);
        }
    }
    return rc;
}

int topo_devices_find(const struct hwloc_dl *h, struct hwloc_topology *t, struct arena *a,
                      struct topo_view *view)
{
    struct device_finder f = { h, a, view };
    int rc = find_gpus(&f, t);

    view->has_devices = true;
    return rc ? rc : find_nics(&f, t);
}

/* ---- shares of cores ---- */

static bool same_set(struct cpus a, struct cpus b)
{
    return cpus_within(a, b) && cpus_within(b, a);
}

/* The part of the cores of a set that is the one of `sharers` with number `turn`. */
static struct cpus share_of(struct arena *a, const struct topo_view *view, struct cpus set,
                            uint32_t turn, uint32_t sharers)
{
    const struct topo_objects *kinds = view->kinds;
    const struct topo_objects *cores = &kinds[kinds[TOPO_CORE].count ? TOPO_CORE : TOPO_HWTHREAD];
    struct cpus share = cpus_new(a, view->processors);
    uint32_t n = 0, at = 0, from, to;

    for (uint32_t i = 0; i < cores->count; i++)
        n += cpus_meet(cores->cpus[i], set);
    from = n < sharers ? turn % (n ? n : 1) : (uint32_t)((uint64_t)n * turn / sharers);
    to = n < sharers ? from + 1 : (uint32_t)((uint64_t)n * (turn + 1) / sharers);
    for (uint32_t i = 0; share.bits && i < cores->count; i++) {
        if (!cpus_meet(cores->cpus[i], set))
            continue;
        if (at >= from && at < to)
            cpus_or(share, cores->cpus[i]);
        at++;
    }
    if (share.bits)
        cpus_and(share, set);
    return share;
}

static int share_kind(struct arena *a, struct topo_view *view, struct topo_objects *all,
                      struct cpus allowed)
{
    struct cpus *near = arena_array(a, all->count + 1u, sizeof *near);

    for (uint32_t i = 0; near && i < all->count; i++) {
        near[i] = cpus_new(a, view->processors);
        if (!near[i].bits)
            return -ENOMEM;
        cpus_or(near[i], cpus_meet(all->cpus[i], allowed) ? all->cpus[i] : allowed);
        cpus_and(near[i], allowed);
    }
    for (uint32_t i = 0; near && i < all->count; i++) {
        uint32_t turn = 0, sharers = 0;
        for (uint32_t k = 0; k < all->count; k++) {
            turn += k < i && same_set(near[k], near[i]);
            sharers += same_set(near[k], near[i]);
        }
        all->cpus[i] = share_of(a, view, near[i], turn, sharers);
        if (!all->cpus[i].bits)
            return -ENOMEM;
    }
    return near ? 0 : -ENOMEM;
}

int topo_devices_share(struct arena *a, struct topo_view *view, struct cpus allowed)
{
    int rc = share_kind(a, view, &view->kinds[TOPO_GPU], allowed);

    return rc ? rc : share_kind(a, view, &view->kinds[TOPO_NIC], allowed);
}

/* ---- words ---- */

/* How a vendor's libraries are told which devices there are. */
static const struct vendor_words {
    const char *variable;
    bool by_uuid;     /* else by number only */
    const char *also; /* how the numbers are counted */
} vendors[TOPO_VENDORS] = {
    [TOPO_CUDA] = { "CUDA_VISIBLE_DEVICES", true, "CUDA_DEVICE_ORDER=PCI_BUS_ID" },
    [TOPO_ROCM] = { "ROCR_VISIBLE_DEVICES", true, NULL },
    [TOPO_ONEAPI] = { "ZE_AFFINITY_MASK", false, "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE" },
};

enum list_of { LIST_NAMES, LIST_UUIDS, LIST_NUMBERS };

static const char *list(struct arena *a, const struct topo_device *d, uint32_t n, enum list_of what)
{
    const char *all = "";

    for (uint32_t i = 0; i < n && all; i++) {
        const char *comma = i ? "," : "";
        if (what == LIST_NUMBERS)
            all = arena_printf(a, "%s%s%u", all, comma, d[i].number);
        else
            all = arena_printf(a, "%s%s%s", all, comma, what == LIST_UUIDS ? d[i].uuid : d[i].name);
    }
    return all;
}

static bool have_uuids(const struct topo_device *d, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!d[i].uuid)
            return false;
    }
    return true;
}

/* Of one vendor: a machine with GPUs of two has them in two ranges. */
static bool are_of_one(const struct topo_device *d, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (d[i].vendor != d[0].vendor)
            return false;
    }
    return true;
}

const struct topo_device_words *topo_devices_words(struct arena *a, const struct topo_view *view,
                                                   enum topo_kind kind, uint32_t first, uint32_t n)
{
    const struct topo_objects *all = &view->kinds[kind];
    const struct topo_device *d = all->devices ? all->devices + first : NULL;
    struct topo_device_words *w = d ? arena_alloc(a, sizeof *w) : NULL;
    const char **env = w ? arena_array(a, 4, sizeof *env) : NULL;
    const struct vendor_words *v;
    bool by_uuid;

    if (!env || first + n > all->count || n == 0)
        return NULL;
    v = &vendors[are_of_one(d, n) ? d->vendor : TOPO_OTHER];
    by_uuid = have_uuids(d, n);
    w->env = env;
    w->names = list(a, d, n, LIST_NAMES);
    w->ids = by_uuid ? list(a, d, n, LIST_UUIDS) : w->names;
    *env++ = arena_printf(a, "WIREUP_DEVICES=%s", w->names);
    if (v->variable)
        *env++ = arena_printf(a, "%s=%s", v->variable,
                              list(a, d, n, v->by_uuid && by_uuid ? LIST_UUIDS : LIST_NUMBERS));
    if (v->also && !(v->by_uuid && by_uuid))
        *env = v->also;
    return arena_ok(a) ? w : NULL;
}
