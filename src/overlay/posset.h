/* posset.h - sets of positions as runs: everybody, a subtree or a machine's half are a few numbers.
 */
#ifndef WIREUP_OVERLAY_POSSET_H
#define WIREUP_OVERLAY_POSSET_H

#include <stdbool.h>
#include <stdint.h>

struct posrun {
    uint32_t first, count;
};

/* Runs are ascending, none touches the next, none is empty.  Zeroed memory is the empty set. */
struct posset {
    struct posrun *runs;
    uint32_t nruns, room;
    uint32_t count; /* of positions */
};

void posset_free(struct posset *s); /* harmless twice */

/* 0 or -ENOMEM; what is in the set already may come again. */
int posset_add(struct posset *s, uint32_t first, uint32_t count);
int posset_add_all(struct posset *s, const struct posset *more);
int posset_copy(struct posset *s, const struct posset *from);
/* s becomes what is in both. */
int posset_intersect(struct posset *s, const struct posset *a, const struct posset *b);
/* The subtree of p in a tree of n. */
int posset_subtree(struct posset *s, uint32_t width, uint32_t n, uint32_t p);

bool posset_has(const struct posset *s, uint32_t p);
/* Something is in both. */
bool posset_meets(const struct posset *a, const struct posset *b);
/* All of `part` is in s. */
bool posset_covers(const struct posset *s, const struct posset *part);
/* How many are below p; its index if it is in the set. */
uint32_t posset_rank(const struct posset *s, uint32_t p);
uint32_t posset_nth(const struct posset *s, uint32_t index); /* index < count */
/* The first of s that is not in `but`; UINT32_MAX: there is none. */
uint32_t posset_missing(const struct posset *s, const struct posset *but);

#endif
