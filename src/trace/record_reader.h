/* record_reader.h - reads the records of a trace (record.h), for those who hold a reader: they need
 * no operation's members.
 */
#ifndef WIREUP_TRACE_RECORD_READER_H
#define WIREUP_TRACE_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct record;

enum {
    RECORD_MORE = 0,  /* more bytes are needed */
    RECORD_WHOLE = 1, /* *r_p borrows from the reader until the next call */
    RECORD_BAD = 2    /* not a trace, or a broken one: err tells where and why; it stays so */
};

struct record_reader {
    struct buf in;
    struct arena arena; /* the lists of the current record */
    size_t taken;       /* length of the record that was lent */
    uint64_t at;        /* position of the next record in the trace */
    uint64_t last_ns;
    bool begun, bad;
};

void record_reader_init(struct record_reader *r);
void record_reader_free(struct record_reader *r); /* harmless twice */

/* Keeps a copy of the bytes.  0 or -ENOMEM. */
int record_reader_feed(struct record_reader *r, struct slice bytes);

/* RECORD_..., or -ENOMEM. */
int record_reader_next(struct record_reader *r, struct record *r_p, struct errmsg *err);

/* Where bytes of the record that was returned last are in the trace. */
uint64_t record_reader_position(const struct record_reader *r, struct slice bytes);

/* Bytes that belong to no whole record yet: the trace was cut off there. */
static inline size_t record_reader_left(const struct record_reader *r)
{
    return buf_len(&r->in) - r->taken;
}

#endif
