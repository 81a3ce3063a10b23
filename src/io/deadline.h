/* deadline.h - how long somebody else may take, in an event loop: only the time counts in which this
 * process comes back to its loop.
 *
 * A process that was stopped for a while (by a debugger, with its container or its virtual machine),
 * or whose callback has taken long, finds its timers due before it has read what others have sent
 * meanwhile.  A deadline is a timer that rings several times, and does not count the times at which
 * it comes much too late; a limited number of them, so that it comes to its end in every case.
 *
 * For times of seconds: an absence is noticed if it is longer than an eighth of the time.
 */
#ifndef WIREUP_IO_DEADLINE_H
#define WIREUP_IO_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"

struct deadline {
    struct timer timer;
    loop_fn *fn;
    void *arg;
    uint64_t step_ms;
    unsigned left, absences;
};

void deadline_init(struct deadline *d, struct loop *l, loop_fn *fn, void *arg);
int deadline_set(struct deadline *d, uint64_t ms); /* restarts from now; 0 or -errno */
void deadline_stop(struct deadline *d);            /* harmless twice, and on zeroed memory */
bool deadline_is_set(const struct deadline *d);

#endif
