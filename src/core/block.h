/* block.h - the values of the processes of one node, as one sequence of bytes for other nodes.
 *
 *   block  'B', four bytes of length (least first): records, to its end
 *   record a number (a varint, as all numbers here):
 *            0      the entries of another rank follow: its number, and a byte that is 1 when the
 *                   block has all that the rank has put for other nodes
 *            1      an entry with a key that has not occurred in this block: length, bytes
 *            k + 2  an entry with the k-th key of this block
 *   entry  after its key: flags, type, scope, then the value: length and bytes, or (BLOCK_AGAIN)
 *          the number of an equal value before it; then (BLOCK_QUALS) qualifiers: length, bytes
 *
 * So keys, which all ranks have in common, and values that several have are written once.  Blocks
 * may follow each other in one buffer; each is complete in itself.  The reader trusts nothing.
 */
#ifndef WIREUP_CORE_BLOCK_H
#define WIREUP_CORE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "store/store_read.h"

enum { BLOCK_FLAT = 1, BLOCK_AGAIN = 2, BLOCK_QUALS = 4 };

struct block_writer {
    struct buf *out;
    size_t start;
    struct map keys, values; /* borrowed from the caller: index + 1 of each that has occurred */
    uint32_t nranks;
};

/* The bytes written hold no reference; items must stay where they are until block_end(). */
void block_begin(struct block_writer *w, struct buf *out, uint64_t seed);
void block_rank(struct block_writer *w, uint32_t rank, bool whole);
void block_entry(struct block_writer *w, const struct seg_item *item);
/* A block without a rank is no bytes.  Out of memory poisons the buffer. */
void block_end(struct block_writer *w);

enum { BLOCK_OVER = 0, BLOCK_RANK, BLOCK_ENTRY, BLOCK_BAD };

struct block_reader {
    struct slice rest; /* blocks not yet begun */
    struct slice body; /* of the current block */
    struct slice *keys, *values;
    uint32_t nkeys, nvalues, keys_room, values_room;
    bool has_rank, bad;
    bool whole;           /* BLOCK_RANK */
    struct seg_item item; /* BLOCK_RANK: rank; BLOCK_ENTRY: all of it; borrows from the bytes */
};

void block_open(struct block_reader *r, struct slice blocks);
/* BLOCK_..., or -ENOMEM. */
int block_next(struct block_reader *r);
void block_close(struct block_reader *r);

#endif
