/* loop_backend.h - the part of an event loop that waits: one table of functions for each way.
 *
 * The functions of a watch are called only when its interest changes; those of a timer, only when
 * it is set to another time, or is stopped while it is set. */
#ifndef WIREUP_IO_LOOP_BACKEND_H
#define WIREUP_IO_LOOP_BACKEND_H

#include "io/loop.h"

struct loop_backend {
    void (*free)(struct loop *l);
    int (*run)(struct loop *l); /* 0 or -errno */
    void (*stop)(struct loop *l);
    void (*watch_open)(struct watch *w);
    int (*watch_want)(struct watch *w, unsigned what); /* 0 or -errno; it updates w->what */
    void (*timer_init)(struct timer *t);
    int (*timer_set)(struct timer *t, uint64_t due_ns); /* 0 or -errno; then it may be set or not */
    void (*timer_stop)(struct timer *t);
};

#endif
