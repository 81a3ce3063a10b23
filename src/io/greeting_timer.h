/* greeting_timer.h - in an event loop: reports the connections that have not said in time who they
 * are (greeting.h).  One timer serves all connections of a listening socket, and outlives it. */
#ifndef WIREUP_IO_GREETING_TIMER_H
#define WIREUP_IO_GREETING_TIMER_H

#include "io/greeting.h"
#include "io/loop.h"

/* That connection is late: it is no longer in the list, and is to be closed. */
typedef void greeting_late_fn(void *arg, struct greeting *g);

struct greeting_timer {
    struct greetings greetings;
    struct timer timer;
    greeting_late_fn *on_late;
    void *arg;
};

void greeting_timer_init(struct greeting_timer *t, struct loop *l, struct quota *quota,
                         uint64_t time_ms, greeting_late_fn *on_late, void *arg);
/* From now on that connection is awaited, until greeting_end(). 0 or -errno: it is not. */
int greeting_timer_add(struct greeting_timer *t, struct greeting *g,
                       const struct quota_source *who);
void greeting_timer_stop(struct greeting_timer *t); /* harmless twice, and on zeroed memory */

#endif
