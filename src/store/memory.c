/* memory.c - see memory.h.  The whole maximum is taken at once, because a region never moves; pages
 * that are never touched cost nothing.  A large one therefore comes from the kernel, with a page
 * behind it that nobody may touch: an allocator fills or clears what it used before, and
 * AddressSanitizer an eighth of it, each time.  A small one comes from the allocator, whose
 * checkers detect accesses beyond its end. */
#include "store/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 2 << 20 };

static int grow(struct seg_region *r, uint64_t want, void *arg)
{
    (void)arg;
    if (want > r->max)
        return -ENOMEM;
    r->size = want;
    return 0;
}

/* The whole pages of a large region, and the page behind them. */
static size_t mapped(uint64_t max)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return ((size_t)max + page - 1) / page * page + page;
}

static void *take(uint64_t max)
{
    void *base;

    if (max < LARGE)
        return calloc(1, max);
    base = mmap(NULL, mapped(max), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base, max, PROT_READ | PROT_WRITE) < 0) {
        munmap(base, mapped(max));
        return NULL;
    }
    return base;
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
        munmap(r->base, mapped(r->max));
    else
        free(r->base);
    *r = (struct seg_region){ NULL };
}
