/* store_read.h - looking up entries in a job's shared store.
 *
 * Readers trust only that `size` bytes exist, as the header states (touching more would be a bus
 * error, and only the server can write there): every offset and length is checked against the
 * mapping, every field is loaded once, every walk is bounded.  On a mapping full of random bytes a
 * look-up misses; it does not crash and does not hang.
 *
 * No lock, no system call, no allocation.  Any number of threads may read one view.  Returned
 * slices lie in the mapping: they stay valid and unchanged until it is unmapped, also when the
 * entry is replaced meanwhile.
 */
#ifndef WIREUP_STORE_STORE_READ_H
#define WIREUP_STORE_STORE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "store/layout.h"

enum { SEG_FOREIGN = 1 }; /* not a store, or of a version that this reader does not know */

struct seg_view {
    const unsigned char *base; /* NULL: no store; every look-up misses */
    uint64_t len;              /* of the mapping; may be more than the store has now */
};

#define SEG_VIEW_NULL ((struct seg_view){ NULL, 0 })

/* An entry as it was put. */
struct seg_item {
    uint32_t rank;
    uint16_t type;
    uint8_t scope;
    uint8_t flags; /* enum seg_record_flag */
    struct slice key, value, quals;
};

/* Looks at a mapping of map_len bytes, whose first page must exist (see layout.h).
 * 0, or SEG_FOREIGN with *view_p SEG_VIEW_NULL. */
int seg_open(const void *base, uint64_t map_len, struct seg_view *view_p);

/* The value that rank put under key; SEG_ANY_RANK: the flat view.  False: not there (yet). */
bool seg_find(const struct seg_view *v, uint32_t rank, struct slice key, struct seg_item *item_p);
bool seg_get(const struct seg_view *v, uint32_t rank, struct slice key, struct slice *value_p);

/* The flat view in the order of first puts.  *cursor is 0 at the start and is left alone at the end
 * (false), so that a later call continues with later puts.  Each key comes once, with its current
 * value. */
bool seg_next(const struct seg_view *v, uint64_t *cursor, struct seg_item *item_p);

/* Fences published so far; values put before the n-th fence are visible once this returns n. */
uint64_t seg_generation(const struct seg_view *v);

/* Keys in the flat view. */
uint64_t seg_entries(const struct seg_view *v);

#endif
