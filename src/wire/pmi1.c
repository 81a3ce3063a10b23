/* pmi1.c - the descriptors of proto/pmi1.def. */
#include "wire/pmi1.h"

#define CLIENT TEXT_CLIENT
#define SERVER TEXT_SERVER
#define BOTH   TEXT_BOTH
#define START  TEXT_START
#define READY  TEXT_READY
#define LEFT   TEXT_LEFT
#define OPT    TEXT_OPT
#define REQ    TEXT_REQ

/* An extra, unused row keeps messages without fields from being empty arrays. */
#define MSG(id, text, who, when) static const struct text_field fields_##id[] = {
#define FIELD(id, kind, member, text, need)                                                        \
    { text, sizeof(text) - 1, TEXT_##kind, need, offsetof(struct pmi1_##id, member) },
#define END(id)                                                                                    \
    {                                                                                              \
        "", 0, 0, 0, 0                                                                             \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END

static const struct text_msg msgs[] = {
#define MSG(id, text, who, when)                                                                   \
    { text, sizeof(text) - 1, who, when, PMI1_FIELDS_##id, sizeof(struct pmi1_##id), fields_##id },
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi1.def"
#undef MSG
#undef FIELD
#undef END
};

const struct text_proto pmi1_proto = { "PMI-1", msgs, PMI1_COUNT };
