/* loop.h - the event loop: descriptors that become ready, and timers; epoll and nothing else, so
 * that a daemon has one library less to load before it can say that it is there.
 *
 * Rules:
 *  - one loop belongs to one thread; every call is made from it;
 *  - callbacks run from loop_run() only, never from inside another call of this module;
 *  - a callback may change or close any watch or timer, its own included, and may free the memory
 *    that holds it afterwards;
 *  - interest is level-triggered: a callback does one read or write and returns;
 *  - a watch does not own its descriptor: close the watch first, the descriptor after it; one watch
 *    for one descriptor;
 *  - a turn runs who is ready to be read or written, then the timers that were due when it began.
 *
 * A loop, a watch and a timer that are in use stay where they are in memory.  None of them takes
 * any more: setting a timer never fails.
 */
#ifndef WIREUP_IO_LOOP_H
#define WIREUP_IO_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct timer;

/* Zeroed memory is a loop that is closed. */
struct loop {
    bool open, stopped;
    int fd;              /* of epoll */
    struct list ready;   /* watches whose callbacks are still to run in this turn */
    struct timer *first; /* the top of a heap: due first */
    uint64_t settings;   /* how often timers were set */
};

enum loop_what { LOOP_READ = 1, LOOP_WRITE = 2 };

typedef void loop_fn(void *arg);

/* Interest in one descriptor.  Zeroed memory is a closed watch. */
struct watch {
    struct loop *loop;
    int fd;
    unsigned what; /* the interest that is on */
    loop_fn *on_read, *on_write;
    void *arg;
    struct list link; /* among the ready */
    unsigned ready;   /* for what */
};

struct timer {
    struct loop *loop;
    loop_fn *fn;
    void *arg;
    uint64_t due_ns, setting; /* equal times: in the order of setting */
    bool set;
    /* In the heap: the first of those behind it; the next and the one before in that row, where the
     * one before the first is the one in front of the row. */
    struct timer *child, *next, *prev;
};

int loop_init(struct loop *l); /* 0 or -errno */
void loop_free(struct loop *l);
int loop_run(struct loop *l); /* until loop_stop(): 0, or -errno */
void loop_stop(struct loop *l);

void watch_open(struct watch *w, struct loop *l, int fd, loop_fn *on_read, loop_fn *on_write,
                void *arg);
/* Sets the interest to exactly `what`.  0 or -errno; -EPERM: a regular file, which is always
 * ready and cannot be watched. */
int watch_want(struct watch *w, unsigned what);
void watch_close(struct watch *w); /* harmless twice */

void timer_init(struct timer *t, struct loop *l, loop_fn *fn, void *arg);
int timer_set(struct timer *t, uint64_t ms); /* again from now; 0 */
void timer_stop(struct timer *t);            /* harmless twice, and on zeroed memory */

#endif
