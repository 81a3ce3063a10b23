/* block_set.h - the blocks of many nodes, shared: an immutable, reference-counted tree.
 *
 * Joining two block sets, or cutting one, copies no byte; so the blocks that a node holds in the
 * middle of an exchange cost a reference, and in the simulator a hundred thousand nodes can hold
 * the same gigabyte.
 */
#ifndef WIREUP_OVERLAY_BLOCK_SET_H
#define WIREUP_OVERLAY_BLOCK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct block_set {
    uint32_t refs;
    uint32_t count;                 /* of blocks */
    uint64_t bytes;                 /* of all of them */
    struct block_set *left, *right; /* left NULL: one block (right: the set that has its bytes) */
};

/* A set of one block.  Sets that are joined, which are most, have no place for one. */
struct block_set_leaf {
    struct block_set set;
    uint32_t position;  /* of its node */
    struct slice block; /* in `text`, or in that of `right`; modelled: ptr NULL */
    char text[];
};

/* One block, copied.  NULL: no memory. */
struct block_set *block_set_one(uint32_t position, struct slice block);
/* One block whose bytes are those of another single block, which is kept as long. */
struct block_set *block_set_same(uint32_t position, struct block_set *as);
/* A modelled block: it has a length and no bytes. */
struct block_set *block_set_model(uint32_t position, uint64_t bytes);

/* a's blocks, then b's.  Takes over both references (either may be NULL: no blocks).  False: no
 * memory; both references are dropped. */
bool block_set_join(struct block_set **joined_p, struct block_set *a, struct block_set *b);

/* A reference to the first n blocks.  False: no memory. */
bool block_set_first(struct block_set **first_p, struct block_set *b, uint32_t n);

struct block_set *block_set_ref(struct block_set *b);  /* NULL is harmless */
struct block_set *block_set_drop(struct block_set *b); /* returns NULL; NULL is harmless */

static inline uint32_t block_set_count(const struct block_set *b)
{
    return b ? b->count : 0;
}

static inline uint64_t block_set_bytes(const struct block_set *b)
{
    return b ? b->bytes : 0;
}

/* The block of a set of one, and the position of its node. */
static inline struct slice block_set_block(const struct block_set *b)
{
    return ((const struct block_set_leaf *)(const void *)b)->block;
}

static inline uint32_t block_set_position(const struct block_set *b)
{
    return ((const struct block_set_leaf *)(const void *)b)->position;
}

/* Iteration over the blocks, in order; the depth is bounded by the steps of the exchange and the
 * depth of the tree. */
struct block_set_walk {
    const struct block_set **stack;
    uint32_t n, room;
    bool no_memory;
};

void block_set_walk_begin(struct block_set_walk *w, const struct block_set *b);
const struct block_set *
block_set_walk_next(struct block_set_walk *w); /* NULL: no more, or no memory */
void block_set_walk_end(struct block_set_walk *w);

#endif
