/* askers.h - threads that ask a file system at once.
 *
 * A shared file system takes its time for each answer, most of which is waiting.  For a process of
 * its own that has no event loop (staging_pack.h).
 */
#ifndef WIREUP_IO_ASKERS_H
#define WIREUP_IO_ASKERS_H

#include <pthread.h>

#include "base/limit.h"

struct askers {
    pthread_t threads[LIMIT_STAGING_ASKERS];
    unsigned n;
};

/* Each thread runs `run`.  There may be fewer than LIMIT_STAGING_ASKERS, and none (n), where the
 * system has no more: then the caller does their work. */
void askers_start(struct askers *a, void *(*run)(void *), void *arg);
/* Returns when each has returned. */
void askers_join(struct askers *a);

#endif
