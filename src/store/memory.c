/* memory.c - see memory.h.  The whole maximum is taken at once, because a region never moves; pages
 * that are never touched cost nothing.  A large one therefore comes from the kernel: an allocator
 * that fills new memory (MALLOC_PERTURB_) would touch gigabytes.  A small one comes from the
 * allocator, whose checkers detect accesses beyond its end. */
#include "store/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE = 64 << 20 };

static int grow(struct seg_region *r, uint64_t want, void *arg)
{
    (void)arg;
    if (want > r->max)
        return -ENOMEM;
    r->size = want;
    return 0;
}

static void *take(uint64_t max)
{
    void *base;

    if (max < LARGE)
        return calloc(1, max);
    base =
        mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

int seg_memory_open(uint64_t max, struct seg_region *r_p)
{
    *r_p = (struct seg_region){ NULL };
    r_p->base = take(max);
    if (!r_p->base)
        return -ENOMEM;
    r_p->max = max;
    r_p->grow = grow;
    return 0;
}

void seg_memory_close(struct seg_region *r)
{
    if (r->base && r->max >= LARGE)
        munmap(r->base, r->max);
    else
        free(r->base);
    *r = (struct seg_region){ NULL };
}
