/* rank_set.h - sets of positions as runs: all nodes, a subtree or half a machine are a few numbers.
 */
#ifndef WIREUP_OVERLAY_RANK_SET_H
#define WIREUP_OVERLAY_RANK_SET_H

#include <stdbool.h>
#include <stdint.h>

struct posrun {
    uint32_t first, count;
};

/* Runs are ascending, none touches the next, none is empty.  Zeroed memory is the empty set. */
struct rank_set {
    struct posrun *runs;
    uint32_t nruns, room;
    uint32_t count; /* of positions */
};

void rank_set_free(struct rank_set *s); /* harmless twice */

/* 0 or -ENOMEM; positions that are in the set already may be added again. */
int rank_set_add(struct rank_set *s, uint32_t first, uint32_t count);
int rank_set_add_all(struct rank_set *s, const struct rank_set *more);
int rank_set_copy(struct rank_set *s, const struct rank_set *from);
int rank_set_remove(struct rank_set *s, uint32_t p);
/* s becomes the intersection of a and b. */
int rank_set_intersect(struct rank_set *s, const struct rank_set *a, const struct rank_set *b);
/* The subtree of p in a tree of n. */
int rank_set_subtree(struct rank_set *s, uint32_t width, uint32_t n, uint32_t p);

bool rank_set_has(const struct rank_set *s, uint32_t p);
/* The sets intersect. */
bool rank_set_meets(const struct rank_set *a, const struct rank_set *b);
/* All of `part` is in s. */
bool rank_set_covers(const struct rank_set *s, const struct rank_set *part);
/* How many positions of the set are less than p; the index of p if it is in the set. */
uint32_t rank_set_rank(const struct rank_set *s, uint32_t p);
uint32_t rank_set_nth(const struct rank_set *s, uint32_t index); /* index < count */
/* The first position of s that is not in `but`; UINT32_MAX: none. */
uint32_t rank_set_missing(const struct rank_set *s, const struct rank_set *but);

#endif
