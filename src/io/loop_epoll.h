/* loop_epoll.h - an event loop (loop.h) on epoll, for a server inside another program: it needs no
 * library, and the program may wait for it in a loop of its own.
 *
 * Several threads may share such a loop.  The rule of loop.h is then: every call is made with one
 * and the same lock held, except loop_epoll_wait(), which is called without it, and
 * loop_epoll_wake(), which may be called either way.  So other threads open, change and close
 * watches and timers while one waits.  One thread at a time turns the loop:
 *
 *     loop_epoll_wait(l, true, &ready);
 *     lock
 *     loop_epoll_handle(l, &ready);
 *     unlock
 *
 * loop_run() does the same without a lock.
 */
#ifndef WIREUP_IO_LOOP_EPOLL_H
#define WIREUP_IO_LOOP_EPOLL_H

#include "io/loop.h"

enum { LOOP_EPOLL_BATCH = 64 };

/* Descriptors that were ready.  They are named by numbers that are never used twice: a watch that
 * has been closed since is not found any more. */
struct loop_epoll_ready {
    unsigned n;
    struct {
        uint64_t id;
        unsigned what;
    } items[LOOP_EPOLL_BATCH];
};

int loop_epoll_init(struct loop *l); /* 0 or -errno */
/* A descriptor that is readable when there is something to handle: for poll() and other loops. */
int loop_epoll_fd(const struct loop *l);
/* Waits until something is ready (block: false: does not wait). */
void loop_epoll_wait(struct loop *l, bool block, struct loop_epoll_ready *ready_p);
/* Calls the callbacks of these, and of the timers that are due. */
void loop_epoll_handle(struct loop *l, const struct loop_epoll_ready *ready);
/* Ends the wait under way, or else the next one, from any thread. */
void loop_epoll_wake(struct loop *l);

#endif
