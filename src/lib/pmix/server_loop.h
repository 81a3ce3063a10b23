/* server_loop.h - what a server waits for: descriptors, one moment, and a wake-up from other
 * threads.
 *
 * An epoll descriptor, and nothing else: a client of this library does not load an event library
 * for it, and since epoll descriptors can be waited for themselves, the loop of a host
 * (PMIX_EVENT_BASE) needs one event for all that a server does.
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

/* Interest in a descriptor; it stays where it is until the turn in which it was closed is over. */
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
void swatch_close(struct sloop *l, struct swatch *w); /* harmless twice */

void sloop_wake(struct sloop *l);                /* from any thread */
void sloop_at(struct sloop *l, uint64_t due_ns); /* of the monotonic clock; UINT64_MAX: never */

struct sready {
    struct swatch *watch; /* NULL: woken, or the moment has come */
    unsigned what;
};

enum { SLOOP_BATCH = 64 };

/* What is ready; wait: until something is.  How many. */
int sloop_wait(struct sloop *l, bool wait, struct sready *ready);

#endif
