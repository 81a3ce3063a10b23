/* pmix_handshake.h - the messages of proto/pmix_handshake.def as C: structs, and one reader and one
 * writer for all of them.
 *
 *   struct handshake_hello h;
 *   struct handshake_read r;
 *   if (handshake_read(HANDSHAKE_hello, NULL, bytes, &h, &r))
 *       ... h.kind, h.version, HANDSHAKE_HAS(&r, hello, encoding) ...
 */
#ifndef WIREUP_WIRE_PMIX_HANDSHAKE_H
#define WIREUP_WIRE_PMIX_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum handshake_shape {
    HANDSHAKE_TEXT,
    HANDSHAKE_SECRET,
    HANDSHAKE_BYTE,
    HANDSHAKE_WORD,
    HANDSHAKE_STATUS,
    HANDSHAKE_NAME,
    HANDSHAKE_REST
};

enum handshake_when {
    HANDSHAKE_ALWAYS,
    HANDSHAKE_FOREIGN,
    HANDSHAKE_NAMED,
    HANDSHAKE_UNNAMED,
    HANDSHAKE_GOOD,
    HANDSHAKE_SINCE_2_1
};

/* The bytes of a NAME. */
enum { HANDSHAKE_NAME_ROOM = 256 };

/* The structs.  Texts are lent from the message. */
#define HANDSHAKE_CTYPE_TEXT   struct slice
#define HANDSHAKE_CTYPE_SECRET struct slice
#define HANDSHAKE_CTYPE_BYTE   uint8_t
#define HANDSHAKE_CTYPE_WORD   uint32_t
#define HANDSHAKE_CTYPE_STATUS int32_t
#define HANDSHAKE_CTYPE_NAME   struct slice
#define HANDSHAKE_CTYPE_REST   struct slice

#define MSG(id)                              struct handshake_##id {
#define FIELD(id, shape, member, name, when) HANDSHAKE_CTYPE_##shape member;
#define END(id)                                                                                    \
    }                                                                                              \
    ;
#include "proto/pmix_handshake.def"
#undef MSG
#undef FIELD
#undef END

/* The place of each field. */
#define MSG(id)                                                                                    \
    enum handshake_fields_##id                                                                     \
    {
#define FIELD(id, shape, member, name, when) HANDSHAKE_AT_##id##_##member,
#define END(id)                                                                                    \
    HANDSHAKE_FIELDS_##id                                                                          \
    }                                                                                              \
    ;
#include "proto/pmix_handshake.def"
#undef MSG
#undef FIELD
#undef END

#define FIELD(id, shape, member, name, when)
#define END(id)
enum handshake_message {
#define MSG(id) HANDSHAKE_##id,
#include "proto/pmix_handshake.def"
#undef MSG
    HANDSHAKES
};

union handshake_any {
#define MSG(id) struct handshake_##id id;
#include "proto/pmix_handshake.def"
#undef MSG
};
#undef FIELD
#undef END

struct handshake_field {
    char name[16];
    uint8_t shape, when; /* enum handshake_shape, enum handshake_when */
    uint16_t offset;     /* in the struct */
};

/* The fields of a message; their number. */
const struct handshake_field *handshake_fields(enum handshake_message id, unsigned *n_p);

/* The result of reading: which fields, and their bytes; or, if the bytes end before the message,
 * how many it has at least. */
struct handshake_read {
    uint32_t has;
    size_t bytes;
};

#define HANDSHAKE_HAS(r, id, member) (((r)->has >> HANDSHAKE_AT_##id##_##member & 1) != 0)

/* Reads a message to its struct m; `kind` is that of the hello which an answer answers.  False: the
 * bytes end before the message does; the fields before that are there. */
bool handshake_read(enum handshake_message id, uint8_t kind, struct slice bytes, void *m,
                    struct handshake_read *read_p);

/* Appends a message; which fields it has follows from its contents and the kind. */
void handshake_write(enum handshake_message id, uint8_t kind, const void *m, struct buf *out);

/* Appends a hello with the header before it.  The buffer is poisoned when it fails. */
void handshake_put_hello(struct buf *out, const struct handshake_hello *h);

#endif
