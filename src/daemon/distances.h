/* distances.h - the devices of this machine, and how far they are from processors. */
#ifndef WIREUP_DAEMON_DISTANCES_H
#define WIREUP_DAEMON_DISTANCES_H

#include "base/buf.h"

enum { DISTANCES_MAX = 1 << 20 };

/* From those of a cpuset ("hwloc:0-3"), as the value of CORE_DISTANCES (core/core.h), in out.
 * Empty: there are no devices, hwloc does not show any, or there is no memory. */
struct slice distances_text(struct slice cpuset, struct buf *out);

#endif
