/* parts.h - numbers, bytes and lists of them, as described by the tables of Wireup's own formats.
 *
 * Such a format (traces and messages between daemons: proto/operations.def, proto/record.def) is a
 * table of records, and a record a row of parts.  Each part is a member of a struct; this module
 * writes and reads the members by the row.  Numbers are varints (7 bits a byte, least first, signed
 * ones zigzagged); bytes and lists begin with their length.
 *
 * The reader trusts nothing: a list's length is checked against the remaining bytes before memory
 * is taken.  Parts that are missing at the end read as 0 or empty; parts that a newer writer adds
 * there are ignored.
 */
#ifndef WIREUP_WIRE_PARTS_H
#define WIREUP_WIRE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"

enum part_kind { PART_UINT, PART_INT, PART_BYTES, PART_UINTS, PART_INTS, PART_TEXTS };

/* Lists belong to the creator of the struct: the caller, or the arena of the reader. */
struct part_uints {
    const uint32_t *items;
    uint32_t n;
};
struct part_ints {
    const int *items;
    uint32_t n;
};
struct part_texts {
    const struct slice *items;
    uint32_t n;
};

#define PART_TYPE_UINT  uint64_t
#define PART_TYPE_INT   int64_t
#define PART_TYPE_BYTES struct slice
#define PART_TYPE_UINTS struct part_uints
#define PART_TYPE_INTS  struct part_ints
#define PART_TYPE_TEXTS struct part_texts

/* Without an address: tables with addresses are written to at each start of a program. */
struct part {
    char name[21];
    uint8_t kind;    /* enum part_kind */
    uint16_t offset; /* in the struct */
};

/* Appends the n parts of the struct at base; running out of memory poisons the buffer. */
void parts_write(const struct part *parts, uint32_t n, const void *base, struct buf *out);

/* Reads them into the struct at base, whose members are 0 before; bytes borrow from the input,
 * lists live in the arena.  False: the bytes do not fit the table (or there is no memory). */
bool parts_read(const struct part *parts, uint32_t n, struct slice bytes, struct arena *a,
                void *base);

/* One number, as a part of kind PART_UINT. */
void parts_put_uint(struct buf *out, uint64_t v);
/* These cut one off; false: there is none, or it is larger than the type. */
bool parts_get_uint(struct slice *rest, uint64_t *v_p);
bool parts_get_u32(struct slice *rest, uint32_t *v_p);
/* Bytes after their length, as a part of kind PART_BYTES; borrowed. */
bool parts_get_bytes(struct slice *rest, struct slice *s_p);

#endif
