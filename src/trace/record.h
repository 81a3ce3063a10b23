/* record.h - a trace of a server: its format, written and read.
 *
 * A trace is the line `WIREUP-RECORD 4` and then records: four bytes of length (least first), and
 * that many bytes: the kind, the time since the record before it, the parts in the order of
 * proto/record.def or, of an effect or an input, of proto/operations.def (wire/parts.h).
 *
 * Both sides are sans-IO. The reader trusts nothing: it reads files that others wrote, cut off or
 * changed.  A trace holds the clients' modex values, so it is as secret as they are.
 */
#ifndef WIREUP_TRACE_RECORD_H
#define WIREUP_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/operation_codec.h"
#include "trace/record_reader.h"
#include "trace/record_writer.h"
#include "wire/parts.h"

/* Records of operations are numbered by their rows, so that both tables can grow. */
#define RECORD_KIND_INPUT(id)  RECORD_##id = RECORD_OPERATIONS + 2 * OP_##id,
#define RECORD_KIND_EFFECT(id) RECORD_effect_##id = RECORD_OPERATIONS + 2 * OP_##id + 1,
#define RECORD_KIND_NONE(id)

enum record_kind {
#define RECORD(id, name) RECORD_##id,
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE
    RECORDS_OWN,
    RECORD_OPERATIONS = 32,
#define OPERATION(id, name, E, M, I) RECORD_KIND_##E(id) RECORD_KIND_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    RECORD_KINDS = RECORD_OPERATIONS + 2 * OPERATIONS
};

/* struct record_begin { ... } for each kind that is no operation; the others are the flat forms of
 * their rows. */
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
        union flat of; /* an operation */
    } u;
};

/* The name and the parts (in record.u) of a kind; its name is NULL if there is no such kind. */
const struct operation_row *record_row(enum record_kind kind);

/* Whether it is an effect, which has the name of its row. */
bool record_is_effect(enum record_kind kind);

/* Whether it is an input. */
bool record_is_input(enum record_kind kind);

/* An effect, an input as a record, which borrows from it. */
void record_effect(const struct effect *e, struct record *r);
void record_input(const struct input *in, struct record *r);

/* The input that the record is of; it borrows from the record, a query lives in the arena.  False:
 * a part has a value that the input cannot have. */
bool record_take_input(const struct record *r, struct arena *a, struct input *in_p);

/* The number in the part of this name.  False: the record has none. */
bool record_number(const struct record *r, const char *name, int64_t *n_p);

/* Whether all parts are equal, times aside. */
bool record_same(const struct record *a, const struct record *b);

#endif
