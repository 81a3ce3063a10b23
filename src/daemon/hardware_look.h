/* hardware_look.h - looks at this machine's hardware, devices included, for the launcher.
 *
 * hwloc asks drivers for their devices, which may take longer than others wait for a sign of life of
 * this daemon.  So a thread of its own looks, and what it has found comes in by the loop.
 */
#ifndef WIREUP_DAEMON_HARDWARE_LOOK_H
#define WIREUP_DAEMON_HARDWARE_LOOK_H

#include "base/slice.h"
#include "io/loop.h"

/* view: as bytes (topo/view_pack.h), or none and the reason. */
typedef void hardware_look_fn(void *arg, struct slice view, const char *why_not);

/* Zeroed memory is closed. */
struct hardware_look {
    hardware_look_fn *fn;
    void *arg;
    struct watch watch;
    int fd; /* to the thread */
};

/* fn gets what is found, from the loop; or before this returns, where there can be no thread. */
void hardware_look_begin(struct hardware_look *k, struct loop *l, hardware_look_fn *fn, void *arg);
/* Does not wait for a look that takes its time.  Harmless twice. */
void hardware_look_close(struct hardware_look *k);

#endif
