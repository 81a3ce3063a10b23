/* arena.h - memory that is given back all at once.
 *
 * For things that live and die together: a plan, a decoded message, the strings of a job.
 * Allocations are aligned to 16 bytes and zeroed.  A maximum bounds what one arena may take.
 * The first failure is remembered: arena_ok() after a series of allocations is enough, provided
 * no result is written through before (results may be NULL).
 */
#ifndef WIREUP_BASE_ARENA_H
#define WIREUP_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used;                /* bytes handed out, all blocks */
    size_t max;
    bool failed;
};

#define ARENA_NULL(maximum) ((struct arena){ NULL, 0, (maximum), false })

void arena_init(struct arena *a, size_t max);
void arena_free(struct arena *a); /* everything goes; harmless twice */

static inline bool arena_ok(const struct arena *a)
{
    return !a->failed;
}

void *arena_alloc(struct arena *a, size_t n);
/* count * size bytes, with the product checked. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* A NUL-terminated copy. */
char *arena_str(struct arena *a, struct slice s);
/* A copy as slice; on failure the empty slice. */
struct slice arena_copy(struct arena *a, struct slice s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
