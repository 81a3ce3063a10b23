/* arena.h - memory that is freed all at once.
 *
 * For data with one common lifetime: a plan, a decoded message, the strings of a job.  Allocations
 * are aligned to 16 bytes and zeroed.  A maximum bounds the size of one arena.  The arena
 * remembers its first failure: one arena_ok() after a series of allocations is enough, provided
 * that nothing is written through the results before (they may be NULL).
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
void arena_free(struct arena *a); /* frees everything; harmless twice */

static inline bool arena_ok(const struct arena *a)
{
    return !a->failed;
}

void *arena_alloc(struct arena *a, size_t n);
/* count * size bytes, with the product checked. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* A NUL-terminated copy. */
char *arena_str(struct arena *a, struct slice s);
/* A copy as a slice; the empty slice on failure. */
struct slice arena_copy(struct arena *a, struct slice s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
