/* kind.h - the kinds of hardware objects that options and keys name, from small to large.
 *
 * A fixed list in our own order, so that code which only names objects (option parsing, mapping)
 * needs no topology library.
 */
#ifndef WIREUP_TOPO_KIND_H
#define WIREUP_TOPO_KIND_H

#include <stdbool.h>

#include "base/slice.h"

enum topo_kind {
    TOPO_HWTHREAD = 0,
    TOPO_CORE,
    TOPO_L1,
    TOPO_L2,
    TOPO_L3,
    TOPO_L4,
    TOPO_L5,
    TOPO_NUMA,
    TOPO_PACKAGE,
    TOPO_MACHINE,
    /* Devices: each with its share of the cores that are near it (topo/device.h). */
    TOPO_GPU,
    TOPO_NIC,
    TOPO_KIND_COUNT
};

/* Finds the kind by the name that users write ("core", "socket", "package", "l2cache", "l2", "pu",
 * ...), in any case. */
bool topo_kind_find(struct slice name, enum topo_kind *kind_p);

static inline bool topo_kind_is_device(enum topo_kind kind)
{
    return kind >= TOPO_GPU;
}

/* Its name in our texts: "core". */
const char *topo_kind_name(enum topo_kind kind);

#endif
