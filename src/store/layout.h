/* layout.h - the job store in shared memory, byte by byte.
 *
 * One region per job and node.  Only the server writes; every process of the job that can maps it
 * read-only and looks up keys without a message, a lock or a system call.  Nothing in it is a
 * pointer: all references are offsets from the start of the region, so each process may map it at
 * any address.
 *
 *   0        struct seg_header           size, index and list are the only places that change
 *   ...      struct seg_record           one per put, 8-byte aligned, never changed, never reused
 *   ...      struct seg_index            bucket array; a bigger one is built beside and swapped in
 *
 * Why readers never see half a record: a record is complete before a slot refers to it (release
 * store; readers acquire). Replacing writes a new record and changes one slot.  Memory of replaced
 * records and outgrown indexes is not used again, because a reader may still look at it; the writer
 * counts it as dead, and client quotas are charged for each put, not for live data.
 *
 * A slot has the place of an entry's record and the kind of look-up that it answers: (rank, key),
 * or the key alone (the flat view of PMI-1 and PMI-2). Both kinds may refer to one record.
 *
 *   63        49 48  47                        0
 *   | hash tag 15 | A | offset of record / 8    |     A: entry of the flat view; 0: free slot
 *
 * The region never shrinks, and header.size never exceeds the file.  Version 1.
 */
#ifndef WIREUP_STORE_LAYOUT_H
#define WIREUP_STORE_LAYOUT_H

#include <stdint.h>
#include <string.h>

#include "base/slice.h"

#define SEG_MAGIC   UINT64_C(0x45524f5453505557) /* "WUPSTORE" on a little-endian machine */
#define SEG_VERSION 1u

/* Any rank: the flat view.  The same number as PMIx's undefined rank, on purpose. */
#define SEG_ANY_RANK UINT32_MAX

struct seg_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* sizeof of the writer's header; readers accept more */
    uint64_t seed;         /* of the hash */
    uint64_t spare0;
    uint64_t size;       /* bytes that may be touched (atomic; only grows) */
    uint64_t index;      /* offset of the bucket array in use (atomic) */
    uint64_t first;      /* offset of the first record of the flat list, 0: empty (atomic) */
    uint64_t generation; /* fences published so far (atomic; only grows) */
    uint64_t entries;    /* of the flat list (atomic; only grows) */
    uint64_t spare[7];   /* zero */
};

struct seg_index {
    uint64_t cap;    /* slots; a power of two */
    uint64_t slot[]; /* (atomic) */
};

struct seg_record {
    uint64_t next;      /* the flat list: offset of the next record, larger than this one's, or 0 */
    uint32_t rank;      /* the putter; SEG_ANY_RANK: the server itself */
    uint32_t value_len; /* followed by: value, */
    uint32_t quals_len; /* qualifiers (opaque here), */
    uint16_t key_len;   /* key */
    uint16_t type;      /* the meaning of the value's bytes; 0: plain bytes (PMI-1, PMI-2) */
    uint8_t scope;      /* its visibility; 0: all. Applied by the reader's caller */
    uint8_t flags;      /* enum seg_record_flag */
    uint8_t spare[6];   /* zero */
    char bytes[];       /* the value comes first, so that it is 8-byte aligned */
};

enum seg_record_flag {
    SEG_RECORD_FLAT = 1, /* put as a flat key: its entry in the flat view is taken */
};

_Static_assert(sizeof(struct seg_header) == 128, "the header is part of the format");
_Static_assert(sizeof(struct seg_record) == 32, "the record is part of the format");

#define SEG_SLOT_ANY      (UINT64_C(1) << 48)
#define SEG_SLOT_OFFSET   ((UINT64_C(1) << 48) - 1)
#define SEG_SLOT_TAG(h)   ((h) & ~((UINT64_C(1) << 49) - 1))
#define SEG_SLOT_IS(a, b) ((((a) ^ (b)) & ~SEG_SLOT_OFFSET) == 0) /* same tag, same view */

/* Position in the bucket array: low bits; tag: high bits. */
static inline uint64_t seg_hash(uint64_t seed, uint32_t rank, struct slice key)
{
    uint64_t h = seed ^ ((uint64_t)rank + 1) * UINT64_C(0x9e3779b97f4a7c15), word;

    for (; key.len >= sizeof word; key = slice_skip(key, sizeof word)) {
        memcpy(&word, key.ptr, sizeof word);
        h = (h ^ word) * UINT64_C(0xd6e8feb86659fd93);
        h ^= h >> 32;
    }
    word = key.len;
    for (size_t i = 0; i < key.len; i++)
        word = word << 8 | (unsigned char)key.ptr[i];
    h = (h ^ word) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

#endif
