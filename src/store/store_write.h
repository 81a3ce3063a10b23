/* store_write.h - filling a job's shared store.  One writer: the server.
 *
 * Pure memory code: the owner of the region (a sealed memfd in the daemon, plain memory in a test)
 * grows it on request.  A put that fails leaves the store as it was.
 *
 * Entries are (rank, key) -> bytes, with two ways of putting:
 *   flat (PMI-1, PMI-2)  SEG_FLAT: found under (rank, key) and in the flat view under
 *                        (SEG_ANY_RANK, key); a key that was put flat before is a duplicate.
 *   by rank (PMIx)       found under (rank, key); in the flat view only while no other rank has
 *                        the key there.  A later flat put takes the flat entry over.
 * SEG_REPLACE makes a second put of the same entry win.  With rank SEG_ANY_RANK the server itself
 * puts: only the flat view has the entry.
 */
#ifndef WIREUP_STORE_STORE_WRITE_H
#define WIREUP_STORE_STORE_WRITE_H

#include <stdint.h>

#include "base/slice.h"
#include "store/store_read.h"

/* Zeroed memory that can grow in place. */
struct seg_region {
    void *base; /* 8-byte aligned; never moves */
    uint64_t size;
    uint64_t max;
    /* Makes at least `want` (<= max) bytes usable, the new ones zero, and updates size.
     * 0 or -errno. */
    int (*grow)(struct seg_region *, uint64_t want, void *arg);
    void *arg;
};

enum { SEG_DUPLICATE = 2, SEG_FULL, SEG_TOO_LONG };

enum seg_put_flag {
    SEG_FLAT = 1,
    SEG_REPLACE = 2,
    SEG_UNLISTED = 4, /* by rank only: no flat view shows it */
};

struct seg_writer {
    struct seg_region *region; /* NULL: not created */
    struct seg_view view;
    uint64_t used; /* bytes handed out */
    uint64_t dead; /* of these, no longer reachable: replaced records, outgrown indexes */
    uint64_t index, cap, filled;
    uint64_t last;    /* record at the end of the flat list */
    struct slice key; /* of the latest put, as it lies in the store, where it never moves */
};

#define SEG_WRITER_NULL ((struct seg_writer){ NULL })

/* Lays out an empty store in the region, with room in its index for about `expect` entries (it
 * grows by itself). The seed makes hash collisions hard to arrange.  The region outlives the
 * writer.  0, -errno of grow, or SEG_FULL: max is too small. */
int seg_create(struct seg_writer *w, struct seg_region *r, uint64_t seed, uint64_t expect);

/* 0; SEG_DUPLICATE; SEG_FULL: the region's max is reached; SEG_TOO_LONG: key over 65535 bytes or
 * value over LIMIT_STORE_VALUE; -errno of grow.  Anything but 0 changes nothing. */
int seg_put(struct seg_writer *w, uint32_t rank, struct slice key, struct slice value,
            unsigned flags);

/* The same with type, scope and qualifiers (item.flags is not read). */
int seg_put_item(struct seg_writer *w, const struct seg_item *item, unsigned flags);

/* All puts so far belong to a finished fence: makes that visible to the readers. */
void seg_publish(struct seg_writer *w);

/* Region bytes in use, dead ones included. */
static inline uint64_t seg_used(const struct seg_writer *w)
{
    return w->used;
}

#endif
