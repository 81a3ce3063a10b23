/* topology.h - the file from which programs read this node's topology (PMI_hwloc_xmlfile).
 *
 * One anonymous file in memory for all processes of the node, created at the first request. Its
 * name is that of our own descriptor, `/proc/PID/fd/N`: every process of the same user can open it,
 * nothing has to be inherited or removed, and it vanishes with us.
 */
#ifndef WIREUP_DAEMON_TOPOLOGY_H
#define WIREUP_DAEMON_TOPOLOGY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"

struct topology {
    int fd; /* -1: none */
    bool tried;
    char path[64];
    struct slice text; /* mapped */
};

#define TOPOLOGY_NULL ((struct topology){ -1, false, "", { NULL, 0 } })

/* The name of the file; NULL: there is none (the first time with a sentence in err). */
const char *topology_path(struct topology *t, struct errmsg *err);
/* The XML text; empty: there is none, or the user has given programs another.  It is valid until
 * topology_close(). */
struct slice topology_text(struct topology *t);
void topology_close(struct topology *t); /* harmless twice */

#endif
