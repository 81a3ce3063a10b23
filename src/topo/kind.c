/* kind.c - see kind.h. */
#include "topo/kind.h"

#include <strings.h>

static const struct {
    const char *name;
    enum topo_kind kind;
} names[] = {
    /* The first name of each kind is the one that we print. */
    { "hwthread", TOPO_HWTHREAD },
    { "pu", TOPO_HWTHREAD },
    { "thread", TOPO_HWTHREAD },
    { "core", TOPO_CORE },
    { "l1cache", TOPO_L1 },
    { "l1", TOPO_L1 },
    { "l1dcache", TOPO_L1 },
    { "l2cache", TOPO_L2 },
    { "l2", TOPO_L2 },
    { "l3cache", TOPO_L3 },
    { "l3", TOPO_L3 },
    { "l4cache", TOPO_L4 },
    { "l4", TOPO_L4 },
    { "l5cache", TOPO_L5 },
    { "l5", TOPO_L5 },
    { "numa", TOPO_NUMA },
    { "numanode", TOPO_NUMA },
    { "socket", TOPO_PACKAGE },
    { "package", TOPO_PACKAGE },
    { "machine", TOPO_MACHINE },
    { "board", TOPO_MACHINE },
    { "gpu", TOPO_GPU },
    { "device=gpu", TOPO_GPU },
    { "nic", TOPO_NIC },
    { "device=nic", TOPO_NIC },
};

enum { NAME_COUNT = sizeof names / sizeof names[0] };

bool topo_kind_find(struct slice name, enum topo_kind *kind_p)
{
    for (int i = 0; i < NAME_COUNT; i++) {
        if (name.len == strlen(names[i].name) &&
            strncasecmp(name.ptr, names[i].name, name.len) == 0) {
            *kind_p = names[i].kind;
            return true;
        }
    }
    return false;
}

const char *topo_kind_name(enum topo_kind kind)
{
    for (int i = 0; i < NAME_COUNT; i++) {
        if (names[i].kind == kind)
            return names[i].name;
    }
    return "?";
}
