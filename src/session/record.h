/* record.h - a trace of a server: its format, written and read.
 *
 * A trace is the line `WIREUP-RECORD 2` and then records: four bytes of length (least first), and
 * that many bytes: the kind, the time since the record before it, the parts in the order of
 * proto/record.def or, of an effect, of proto/operations.def (wire/parts.h).
 *
 * Both sides are sans-IO. The reader trusts nothing: it reads files that others wrote, cut off or
 * changed.  A trace holds what clients put, so it is as secret as their modex values.
 */
#ifndef WIREUP_SESSION_RECORD_H
#define WIREUP_SESSION_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "core/effect.h"
#include "session/record_writer.h"
#include "wire/parts.h"

/* The parts of a record by a member of an effect (proto/operations.def). */
#define TRACE_JOB(id, member, name)  PART(id, INT, member, name)
#define TRACE_RANK(id, member, name) PART(id, INT, member, name)
#define TRACE_TICKET(id, member, name)                                                             \
    PART(id, UINT, member##_connection, "connection") PART(id, UINT, member##_token, "token")
#define TRACE_U64(id, member, name)        PART(id, UINT, member, name)
#define TRACE_U32(id, member, name)        PART(id, UINT, member, name)
#define TRACE_U16(id, member, name)        PART(id, UINT, member, name)
#define TRACE_U8(id, member, name)         PART(id, UINT, member, name)
#define TRACE_I64(id, member, name)        PART(id, INT, member, name)
#define TRACE_INT(id, member, name)        PART(id, INT, member, name)
#define TRACE_BOOL(id, member, name)       PART(id, UINT, member, name)
#define TRACE_STATUS(id, member, name)     PART(id, BYTES, member, name)
#define TRACE_PROC_EVENT(id, member, name) PART(id, BYTES, member, name)
#define TRACE_PID(id, member, name)
#define TRACE_TEXT(id, member, name) PART(id, BYTES, member, name)
#define TRACE_WHY(id, member, name)  PART(id, BYTES, member, name)
#define TRACE_SECRET(id, member, name)
#define TRACE_COLL_ID(id, member, name)                                                            \
    PART(id, BYTES, member##_kind, "kind")                                                         \
    PART(id, UINT, member##_job, "of_job")                                                         \
    PART(id, BYTES, member##_group, "group") PART(id, UINT, member##_generation, "generation")
#define TRACE_SPAWN(id, member, name)                                                              \
    PART(id, UINT, member##_processes, "processes") PART(id, BYTES, member##_program, "program")
#define TRACE_QUERY(id, member, name)                                                              \
    PART(id, BYTES, member##_op, "op")                                                             \
    PART(id, BYTES, member##_service, "service") PART(id, BYTES, member##_port, "port")
#define TRACE_CONTRIBUTION(id, member, name)                                                       \
    TRACE_COLL_ID(id, member, name)                                                                \
    PART(id, UINT, member##_collect, "collect") PART(id, BYTES, member##_block, "block")

enum record_kind {
#define RECORD(id, name) RECORD_##id,
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE
    RECORD_KINDS
};

/* struct record_put { ... } for each kind. */
#define RECORD(id, name)                                                                           \
    struct record_##id {                                                                           \
        char none[1]; /* a record may have no parts */
#define PART(id, kind, member, name) PART_TYPE_##kind member;
#define DONE(id)                                                                                   \
    }                                                                                              \
    ;
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE

struct record {
    enum record_kind kind;
    uint64_t time_ns; /* by the clock of the writer, never running backwards */
    union {
#define RECORD(id, name) struct record_##id id;
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE
    } u;
};

/* The name and parts of each kind, for printing. */
struct record_row {
    const char *name;
    uint32_t nparts;
    const struct part *parts;
};

extern const struct record_row record_rows[RECORD_KINDS];

/* The row with this name, or -1. */
int record_find(struct slice name);

/* The name of the effect that the record is of; NULL: of none. */
const char *record_effect_name(enum record_kind kind);

/* An effect as a record, which borrows from it. */
void record_effect(const struct effect *e, struct record *r);

/* The number in the part of this name.  False: the record has none. */
bool record_number(const struct record *r, const char *name, int64_t *n_p);

/* Whether all parts are equal, times aside. */
bool record_same(const struct record *a, const struct record *b);

/* ---- reading --------------------------------------------------------------------------------- */

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

/* Bytes that belong to no whole record yet: the trace was cut off there. */
static inline size_t record_reader_left(const struct record_reader *r)
{
    return buf_len(&r->in) - r->taken;
}

#endif
