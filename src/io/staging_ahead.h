/* staging_ahead.h - opens files in the order of a walk, some of them before it is their turn.
 *
 * Several threads open files, have their first bytes read, and read where links lead (askers.h),
 * while the caller sends those before.
 */
#ifndef WIREUP_IO_STAGING_AHEAD_H
#define WIREUP_IO_STAGING_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "io/askers.h"
#include "io/staging_walk.h"

enum { STAGING_AHEAD = 32 };

struct staging_opened {
    int rc;         /* 0, or -errno: it could not be opened */
    int fd;         /* FILE; else -1 */
    struct stat st; /* FILE: when it was opened */
    char *target;   /* LINK; else NULL */
    bool ready;
};

struct staging_ahead {
    const struct staging_walk *w;
    pthread_mutex_t lock;
    pthread_cond_t opened, taken;
    uint32_t next;  /* to be opened */
    uint32_t first; /* of the window: the caller's, if it holds one */
    bool holds, ends;
    struct staging_opened window[STAGING_AHEAD];
    struct askers askers;
};

void staging_ahead_start(struct staging_ahead *a, const struct staging_walk *w);
/* The next entry of the walk, once it is open; it stays until the next call. */
const struct staging_opened *staging_ahead_next(struct staging_ahead *a);
/* Closes all. */
void staging_ahead_end(struct staging_ahead *a);

#endif
