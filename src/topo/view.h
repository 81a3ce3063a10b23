/* view.h - a machine's hardware as flat lists: for each kind of object, the processors of each.
 *
 * Just the facts that binding needs, independent of the library they came from: so binding is pure,
 * and machines that nobody has can be tested from a description.
 */
#ifndef WIREUP_TOPO_VIEW_H
#define WIREUP_TOPO_VIEW_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "topo/cpus.h"
#include "topo/kind.h"

struct topo_device;

struct topo_objects {
    uint32_t count;
    struct cpus *cpus; /* by logical number: neighbours in the machine are neighbours here */
    const struct topo_device *devices; /* of devices, by the same number; else NULL */
};

struct topo_view {
    size_t processors; /* largest number + 1 */
    struct topo_objects kinds[TOPO_KIND_COUNT];
    bool has_devices; /* they were looked for, which takes longer than all else */
};

/* Both load hwloc for the duration of the call, and take memory from the arena.
 * 0; TOPO_MISSING: no hwloc, or it cannot read this machine or description; -ENOMEM. */
enum { TOPO_MISSING = 1 };
int topo_view_machine(struct arena *a, struct topo_view *view_p, struct errmsg *err);
/* With its devices, whose cpus are those near them.  path: a machine in a file of hwloc's XML;
 * NULL: this one. */
int topo_view_devices(struct arena *a, const char *path, struct topo_view *view_p,
                      struct errmsg *err);
int topo_view_synthetic(struct arena *a, const char *description, struct topo_view *view_p,
                        struct errmsg *err);

#endif
