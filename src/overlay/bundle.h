/* bundle.h - the blocks of many nodes, shared: an immutable, counted tree of references.
 *
 * Putting two bundles together, or cutting one, copies no byte; so what a node holds in the middle
 * of an exchange costs a reference, and the simulator can have a hundred thousand nodes hold the
 * same gigabyte.
 */
#ifndef WIREUP_OVERLAY_BUNDLE_H
#define WIREUP_OVERLAY_BUNDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct bundle {
    uint32_t refs;
    uint32_t count;              /* of blocks */
    uint64_t bytes;              /* of all of them */
    struct bundle *left, *right; /* left NULL: one block (right: whose bytes it has) */
    uint32_t position;           /* … of this node */
    struct slice block;          /* in memory of the bundle, or (modelled) ptr NULL */
    char text[];
};

/* One block, copied.  NULL: no memory. */
struct bundle *bundle_one(uint32_t position, struct slice block);
/* One block whose bytes are those of another single block, which stays as long. */
struct bundle *bundle_same(uint32_t position, struct bundle *as);
/* A block that is only modelled: it has a length and no bytes. */
struct bundle *bundle_model(uint32_t position, uint64_t bytes);

/* a's blocks, then b's.  Takes over both references (either may be NULL: no blocks).  False: no
 * memory; both references are dropped. */
bool bundle_join(struct bundle **joined_p, struct bundle *a, struct bundle *b);

/* A reference to the first n blocks.  False: no memory. */
bool bundle_first(struct bundle **first_p, struct bundle *b, uint32_t n);

struct bundle *bundle_ref(struct bundle *b);  /* NULL is harmless */
struct bundle *bundle_drop(struct bundle *b); /* returns NULL; NULL is harmless */

static inline uint32_t bundle_count(const struct bundle *b)
{
    return b ? b->count : 0;
}

static inline uint64_t bundle_bytes(const struct bundle *b)
{
    return b ? b->bytes : 0;
}

/* One after the other, from the first; the depth is bounded by the exchange's steps and the tree's.
 */
struct bundle_walk {
    const struct bundle **stack;
    uint32_t n, room;
    bool no_memory;
};

void bundle_walk_begin(struct bundle_walk *w, const struct bundle *b);
const struct bundle *bundle_walk_next(struct bundle_walk *w); /* NULL: no more, or no memory */
void bundle_walk_end(struct bundle_walk *w);

#endif
