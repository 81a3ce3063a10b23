/* memory.c - see memory.h.  The whole maximum is allocated at once, because a region never moves;
 * pages that nobody touches cost nothing. */
#include "shm/memory.h"

#include <errno.h>
#include <stdlib.h>

static int grow(struct seg_region *r, uint64_t want, void *arg)
{
    (void)arg;
    if (want > r->max)
        return -ENOMEM;
    r->size = want;
    return 0;
}

int seg_memory_open(uint64_t max, struct seg_region *r_p)
{
    *r_p = (struct seg_region){ NULL };
    r_p->base = calloc(1, max);
    if (!r_p->base)
        return -ENOMEM;
    r_p->max = max;
    r_p->grow = grow;
    return 0;
}

void seg_memory_close(struct seg_region *r)
{
    free(r->base);
    *r = (struct seg_region){ NULL };
}
