/* greeting.h - connections that have been accepted and have not said yet who they are: each has
 * until its deadline, whether it says nothing or a byte now and then; and its bytes until it is
 * let in are charged to its source (quota.h).
 *
 * All connections of a list have the same time, so the list is in the order of their deadlines, and
 * one timer is enough for it (greeting_timer.h).
 *
 * Sans I/O: the time is an argument, in nanoseconds of any clock that never goes back.
 */
#ifndef WIREUP_IO_GREETING_H
#define WIREUP_IO_GREETING_H

#include <stdint.h>

#include "base/list.h"
#include "io/quota.h"

struct greeting { /* part of a connection; zeroed memory is in no list */
    struct list link;
    uint64_t until_ns;
    struct quota *quota;
    struct quota_source who;
    uint64_t bytes;
};

struct greetings {
    struct list all;
    struct quota *quota;
    uint64_t time_ns; /* that each has */
};

void greetings_init(struct greetings *all, struct quota *quota, uint64_t time_ns);

void greeting_begin(struct greetings *all, struct greeting *g, const struct quota_source *who,
                    uint64_t now_ns);
/* So many more bytes of it are about to be kept.  False: too many; close it. */
bool greeting_received(struct greeting *g, size_t bytes, uint64_t now_ns);
/* It has said who it is; whether it is let in may take time. */
void greeting_complete(struct greeting *g);
/* It is let in, or closed; harmless twice, and on zeroed memory. */
void greeting_end(struct greeting *g);

/* The first deadline; UINT64_MAX: nobody is awaited. */
uint64_t greetings_due(const struct greetings *all);
/* Takes one out whose deadline is over; NULL: there is none. */
struct greeting *greetings_late(struct greetings *all, uint64_t now_ns);

#endif
