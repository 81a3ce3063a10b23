/* pmix_levels.h - the names in locality texts, shared by the writer and the comparison. */
#ifndef WIREUP_TOPO_PMIX_LEVELS_H
#define WIREUP_TOPO_PMIX_LEVELS_H

#include "pmix_common.h"

/* In the order in which they are written. */
enum ptopo_level_id {
    PTOPO_PACKAGE,
    PTOPO_L3,
    PTOPO_L2,
    PTOPO_L1,
    PTOPO_CORE,
    PTOPO_PU,
    PTOPO_NUMA,
    PTOPO_LEVELS
};

struct ptopo_level {
    const char *name; /* two letters */
    pmix_locality_t bit;
};

extern const struct ptopo_level ptopo_levels[PTOPO_LEVELS];

#endif
