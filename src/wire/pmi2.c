/* pmi2.c - the descriptors of proto/pmi2.def, and frames. */
#include "wire/pmi2.h"

#include <stdio.h>
#include <string.h>

#define NOBODY TEXT_NOBODY
#define CLIENT TEXT_CLIENT
#define SERVER TEXT_SERVER
#define START  TEXT_START
#define READY  TEXT_READY
#define OPT    TEXT_OPT
#define REQ    TEXT_REQ

/* An extra, unused row keeps messages without fields from being empty arrays. */
#define MSG(id, text, who, when) static const struct text_field fields_##id[] = {
#define FIELD(id, kind, member, text, need)                                                        \
    { text, sizeof(text) - 1, TEXT_##kind, need, offsetof(struct pmi2_##id, member) },
#define END(id)                                                                                    \
    {                                                                                              \
        "", 0, 0, 0, 0                                                                             \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END

static const struct text_msg msgs[] = {
#define MSG(id, text, who, when)                                                                   \
    { text, sizeof(text) - 1, who, when, PMI2_FIELDS_##id, sizeof(struct pmi2_##id), fields_##id },
#define FIELD(id, kind, member, text, need)
#define END(id)
#include "proto/pmi2.def"
#undef MSG
#undef FIELD
#undef END
};

const struct text_proto pmi2_proto = { "PMI-2", msgs, PMI2_COUNT };

int pmi2_frame(struct slice bytes, struct slice *body_p)
{
    uint32_t len;

    if (bytes.len < PMI2_HEAD)
        return PMI2_FRAME_SHORT;
    if (!slice_u32(slice_trim(slice_head(bytes, PMI2_HEAD)), &len))
        return PMI2_FRAME_BAD;
    if (bytes.len - PMI2_HEAD < len)
        return PMI2_FRAME_SHORT;
    *body_p = slice_head(slice_skip(bytes, PMI2_HEAD), len);
    return PMI2_FRAME_WHOLE;
}

int pmi2_encode(unsigned msg, const void *in, struct buf *out, struct errmsg *err)
{
    size_t before = buf_len(out), body;
    char head[16];
    int rc;

    buf_put(out, "      ", PMI2_HEAD);
    rc = text_encode(&pmi2_proto, TEXT_SEMICOLONS, msg, in, out, err);
    if (!buf_ok(out)) {
        buf_cut(out, before); /* a client would read the blanks as a length */
        return TEXT_FINE;
    }
    body = buf_len(out) - before - PMI2_HEAD;
    if (rc == TEXT_FINE && body > PMI2_BODY_MAX)
        rc = errmsg_set(err, TEXT_UNSAYABLE, "'%s' with %zu bytes: a PMI-2 message has %d at most",
                        pmi2_proto.msgs[msg].name, body, PMI2_BODY_MAX);
    if (rc != TEXT_FINE) {
        buf_cut(out, before);
        return rc;
    }
    snprintf(head, sizeof head, "%-6zu", body);
    memcpy(out->mem + out->start + before, head, PMI2_HEAD);
    return TEXT_FINE;
}
