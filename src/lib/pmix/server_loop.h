/* server_loop.h - a server's event loop: descriptors, one timer, and a wake-up from other threads.
 *
 * An epoll descriptor and nothing else: clients of this library need not load an event library, and
 * since an epoll descriptor can itself be polled, a host's loop (PMIX_EVENT_BASE) needs one event
 * for all that a server does.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_LOOP_H
#define WIREUP_LIB_PMIX_SERVER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct sloop {
    int fd;   /* epoll; -1: closed */
    int wake; /* eventfd */
    int moment;
    uint64_t due_ns; /* UINT64_MAX: none */
};

#define SLOOP_NULL ((struct sloop){ .fd = -1, .wake = -1, .moment = -1, .due_ns = UINT64_MAX })

enum { SLOOP_READ = 1, SLOOP_WRITE = 2 };

/* Interest in a descriptor; the struct must stay in place until the end of the turn in which it
 * was closed. */
struct swatch {
    int fd; /* -1: closed */
    unsigned what;
    void (*ready)(void *arg, unsigned what);
    void *arg;
};

int sloop_open(struct sloop *l); /* 0 or -errno */
void sloop_close(struct sloop *l);

int swatch_open(struct sloop *l, struct swatch *w, int fd, unsigned what,
                void (*ready)(void *arg, unsigned what), void *arg);
int swatch_want(struct sloop *l, struct swatch *w, unsigned what);
void swatch_close(struct sloop *l, struct swatch *w); /* idempotent */

void sloop_wake(struct sloop *l);                /* from any thread */
void sloop_at(struct sloop *l, uint64_t due_ns); /* on the monotonic clock; UINT64_MAX: never */

struct sready {
    struct swatch *watch; /* NULL: woken, or the time has come */
    unsigned what;
};

enum { SLOOP_BATCH = 64 };

/* The ready descriptors; wait: blocks until there are some.  Returns their number. */
int sloop_wait(struct sloop *l, bool wait, struct sready *ready);

#endif
