/* pmi1.h - the PMI-1 messages of proto/pmi1.def as C: structs, numbers, descriptors.
 *
 *   struct pmi1_put m = { .has = 0 };
 *   PMI1_SET(m, put, key, SLICE("k"));
 *   text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_put, &m, &out, &err);
 *
 * union pmi1_any is large enough for each of them.
 */
#ifndef WIREUP_WIRE_PMI1_H
#define WIREUP_WIRE_PMI1_H

#include "wire/text.h"

/* The structs. */
#define MSG(id, text, who, when)                                                                   \
    struct pmi1_##id {                                                                             \
        uint32_t has;
#define FIELD(id, kind, member, text, need) TEXT_TYPE_##kind member;
#define END(id)                                                                                    \
    }                                                                                              \
    ;
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END

/* The bit of each field in `has`: PMI1_BIT_put_key. */
#define MSG(id, text, who, when)                                                                   \
    enum pmi1_fields_##id                                                                          \
    {
#define FIELD(id, kind, member, text, need) PMI1_AT_##id##_##member,
#define END(id)                                                                                    \
    PMI1_FIELDS_##id                                                                               \
    }                                                                                              \
    ;
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END

/* The numbers. */
enum pmi1_msg {
#define MSG(id, text, who, when) PMI1_##id,
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END
    PMI1_COUNT
};

union pmi1_any {
    struct text_head head;
#define MSG(id, text, who, when) struct pmi1_##id id;
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END
};

#define PMI1_BIT(id, member)         (UINT32_C(1) << PMI1_AT_##id##_##member)
#define PMI1_HAS(m, id, member)      (((m)->has & PMI1_BIT(id, member)) != 0)
#define PMI1_SET(m, id, member, ...) ((m).has |= PMI1_BIT(id, member), (m).member = (__VA_ARGS__))

extern const struct text_proto pmi1_proto;

#endif
