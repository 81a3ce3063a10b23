/* pmi2.h - the PMI-2 messages of proto/pmi2.def as C: structs, numbers, descriptors; and frames.
 *
 *   struct pmi2_kvs_put m = { .has = 0 };
 *   PMI2_SET(m, kvs_put, key, SLICE("k"));
 *   pmi2_encode(PMI2_kvs_put, &m, &out, &err);
 *
 * union pmi2_any is large enough for each of them.
 */
#ifndef WIREUP_WIRE_PMI2_H
#define WIREUP_WIRE_PMI2_H

#include "wire/text.h"

/* The structs. */
#define MSG(id, text, who, when)                                                                   \
    struct pmi2_##id {                                                                             \
        uint32_t has;
#define FIELD(id, kind, member, text, need) TEXT_TYPE_##kind member;
#define END(id)                                                                                    \
    }                                                                                              \
    ;
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END

/* The bit of each field in `has`: PMI2_BIT_put_key. */
#define MSG(id, text, who, when)                                                                   \
    enum pmi2_fields_##id                                                                          \
    {
#define FIELD(id, kind, member, text, need) PMI2_AT_##id##_##member,
#define END(id)                                                                                    \
    PMI2_FIELDS_##id                                                                               \
    }                                                                                              \
    ;
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END

/* The numbers. */
enum pmi2_msg {
#define MSG(id, text, who, when) PMI2_##id,
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END
    PMI2_COUNT
};

union pmi2_any {
    struct text_head head;
#define MSG(id, text, who, when) struct pmi2_##id id;
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END
};

#define PMI2_BIT(id, member)         (UINT32_C(1) << PMI2_AT_##id##_##member)
#define PMI2_HAS(m, id, member)      (((m)->has & PMI2_BIT(id, member)) != 0)
#define PMI2_SET(m, id, member, ...) ((m).has |= PMI2_BIT(id, member), (m).member = (__VA_ARGS__))

extern const struct text_proto pmi2_proto;

/* The common beginning of all requests and all answers: the other structs may be read as these. */
struct pmi2_request {
    uint32_t has;
    struct slice thrid;
};

struct pmi2_response {
    uint32_t has;
    struct slice thrid;
    int64_t rc;
    struct slice errmsg;
};

/* A frame: six characters with the length of the body in decimal, padded with blanks on either side
 * (written after the number), then the body. */
enum { PMI2_HEAD = 6, PMI2_BODY_MAX = 999999 };

enum { PMI2_FRAME_SHORT = 0, PMI2_FRAME_WHOLE = 1, PMI2_FRAME_BAD = 2 };

/* Whether a whole frame is at the start of bytes.  SHORT: more bytes are needed; BAD: the length is
 * not a number.  WHOLE: *body_p follows the first PMI2_HEAD bytes. */
int pmi2_frame(struct slice bytes, struct slice *body_p);

/* Appends one message as a frame.  0; TEXT_UNSAYABLE: a NUL in a value, or a body over
 * PMI2_BODY_MAX.  Nothing is written then, nor to a buffer that the message poisons. */
int pmi2_encode(unsigned msg, const void *in, struct buf *out, struct errmsg *err);

#endif
