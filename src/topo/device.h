/* device.h - the GPUs and network interfaces of a machine, and what a process must be told to use
 * some of them.
 *
 * A GPU is a PCI device of NVIDIA, AMD or Intel that computes or displays, or that a driver of them
 * shows; its number is its place in PCI order among those of the same vendor.  A network interface
 * is one of InfiniBand and its like; where there is none, one of Slingshot; else any on PCI.
 */
#ifndef WIREUP_TOPO_DEVICE_H
#define WIREUP_TOPO_DEVICE_H

#include "topo/view.h"

struct hwloc_dl;
struct hwloc_topology;

enum topo_vendor { TOPO_OTHER, TOPO_CUDA, TOPO_ROCM, TOPO_ONEAPI, TOPO_VENDORS };

struct topo_device {
    const char *name; /* "nvml0", "mlx5_0"; without a driver its PCI address */
    const char *uuid; /* as its vendor's libraries write it; NULL: not known */
    enum topo_vendor vendor;
    uint32_t number;
    uint64_t address; /* in PCI order */
};

/* Fills the kinds of devices of a view whose other kinds are filled.  0; -ENOMEM. */
int topo_devices_find(const struct hwloc_dl *h, struct hwloc_topology *t, struct arena *a,
                      struct topo_view *view);

/* Devices that are near the same processors share them: each gets as many of their allowed cores.
 * Far from all that is allowed, it gets all of that.  0; -ENOMEM. */
int topo_devices_share(struct arena *a, struct topo_view *view, struct cpus allowed);

/* What a process is told about n devices from `first` on. */
struct topo_device_words {
    const char *names;      /* "nvml2,nvml3" */
    const char *ids;        /* "GPU-...,GPU-...", or the same as names */
    const char *const *env; /* NAME=VALUE, NULL-terminated */
};

/* In the arena; NULL: no memory, or the devices are not known. */
const struct topo_device_words *topo_devices_words(struct arena *a, const struct topo_view *view,
                                                   enum topo_kind kind, uint32_t first, uint32_t n);

#endif
