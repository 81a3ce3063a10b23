/* program_libevent.h - the few functions of libevent that we use, from the library that the program
 * itself uses: an event base works only with the code that made it. */
#ifndef WIREUP_LIB_COMMON_PROGRAM_LIBEVENT_H
#define WIREUP_LIB_COMMON_PROGRAM_LIBEVENT_H

#include <stdbool.h>
#include <sys/time.h>

enum { PROGRAM_LIBEVENT_READ = 0x02, PROGRAM_LIBEVENT_PERSIST = 0x10 }; /* EV_READ, EV_PERSIST */

struct program_libevent {
    void *(*event_new)(void *base, int fd, short what, void (*fn)(int, short, void *), void *arg);
    int (*event_add)(void *event, const struct timeval *timeout);
    void (*event_free)(void *event);
};

/* False: the program has no libevent 2. */
bool program_libevent_find(struct program_libevent *l);

#endif
