/* loop.h - the event loop, behind one interface with two back ends.
 *
 * loop_init() makes one on libevent, for our own programs: the only module that knows libevent is
 * loop_libevent.c.  loop_epoll_init() (loop_epoll.h) makes one on epoll alone, for a server inside
 * another program (docs/design/server.md gives the reasons).  Whoever uses a loop does not see the
 * difference.
 *
 * Rules:
 *  - one loop belongs to one thread; every call is made from it (loop_epoll.h has the exception);
 *  - callbacks run from loop_run() only, never from inside another call of this module;
 *  - a callback may change or close any watch or timer, its own included, and may free the memory
 *    that holds it afterwards;
 *  - interest is level-triggered: a callback does one read or write and returns;
 *  - a descriptor has one watch at a time;
 *  - a watch does not own its descriptor: close the watch first, the descriptor after it.
 */
#ifndef WIREUP_IO_LOOP_H
#define WIREUP_IO_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct event; /* libevent's */
struct loop_backend;

struct loop {
    const struct loop_backend *backend; /* NULL: there is none */
    void *state;                        /* the back end's */
};

enum loop_what { LOOP_READ = 1, LOOP_WRITE = 2 };

typedef void loop_fn(void *arg);

/* Interest in one descriptor.  Zeroed memory is a closed watch. */
struct watch {
    struct loop *loop;
    int fd;
    unsigned what; /* the interest that is set */
    loop_fn *on_read, *on_write;
    void *arg;
    union {                      /* the back end's */
        struct event *events[2]; /* of those that are wanted */
        uint64_t id;
    } own;
};

struct timer {
    struct loop *loop;
    loop_fn *fn;
    void *arg;
    bool set;
    uint64_t due_ns;         /* if set */
    union {                  /* the back end's */
        struct event *event; /* if set */
        struct list link;
    } own;
};

int loop_init(struct loop *l);  /* on libevent; 0 or -errno */
void loop_free(struct loop *l); /* harmless twice */
int loop_run(struct loop *l);   /* until loop_stop(): 0, or -errno */
void loop_stop(struct loop *l);

void watch_open(struct watch *w, struct loop *l, int fd, loop_fn *on_read, loop_fn *on_write,
                void *arg);
/* Sets the interest to exactly `what`.  0 or -errno; -EPERM: a regular file, which is always
 * ready and cannot be watched. */
int watch_want(struct watch *w, unsigned what);
void watch_close(struct watch *w); /* harmless twice */

void timer_init(struct timer *t, struct loop *l, loop_fn *fn, void *arg);
int timer_set(struct timer *t, uint64_t ms); /* restarts from now; 0 or -errno */
/* On the clock of base/clock.h; UINT64_MAX stops it.  Costs nothing when it is set to that already.
 * 0 or -errno. */
int timer_at(struct timer *t, uint64_t due_ns);
void timer_stop(struct timer *t); /* harmless twice, and on zeroed memory */

#endif
