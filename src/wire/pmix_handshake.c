/* pmix_handshake.c - see pmix_handshake.h. */
#include "wire/pmix_handshake.h"

#include <arpa/inet.h>
#include <string.h>

#include "wire/pmix_greeting.h"

enum { HELLO_HEADER = 16 };

/* ---- the descriptors ------------------------------------------------------------------------- */

#define MSG(id) static const struct handshake_field fields_##id[] = {
#define FIELD(id, shape, member, name, when)                                                       \
    { name, HANDSHAKE_##shape, HANDSHAKE_##when, offsetof(struct handshake_##id, member) },
#define END(id)                                                                                    \
    }                                                                                              \
    ;
#include "proto/pmix_handshake.def"
#undef MSG
#undef FIELD
#undef END

static const struct row {
    const struct handshake_field *fields;
    uint16_t nfields, size;
} rows[HANDSHAKES] = {
#define FIELD(id, shape, member, name, when)
#define END(id)
#define MSG(id)                                                                                    \
    [HANDSHAKE_##id] = { fields_##id, HANDSHAKE_FIELDS_##id, sizeof(struct handshake_##id) },
#include "proto/pmix_handshake.def"
#undef MSG
#undef FIELD
#undef END
};

const struct handshake_field *handshake_fields(enum handshake_message id, unsigned *n_p)
{
    *n_p = rows[id].nfields;
    return rows[id].fields;
}

/* ---- which fields are there ------------------------------------------------------------------ */

static bool is_2_0(struct slice version)
{
    return slice_starts(version, SLICE("2.0.")) || slice_is(version, "2.0");
}

/* By the fields before it. */
static bool is_there(enum handshake_message id, uint8_t kind, enum handshake_when when,
                     const union handshake_any *m)
{
    bool good = id == HANDSHAKE_hello || m->welcome.status == 0;

    if (id == HANDSHAKE_hello)
        kind = m->hello.kind;
    switch (when) {
    case HANDSHAKE_FOREIGN: return kind != HELLO_CLIENT;
    case HANDSHAKE_NAMED: return hello_is_named(kind);
    case HANDSHAKE_UNNAMED: return good && !hello_is_named(kind);
    case HANDSHAKE_GOOD: return good;
    case HANDSHAKE_SINCE_2_1: return !is_2_0(m->hello.version);
    default: return true;
    }
}

/* Both answers begin with their status. */
_Static_assert(offsetof(struct handshake_welcome, status) == 0 &&
                   offsetof(struct handshake_tool_welcome, status) == 0,
               "is_there() reads the status of either");

/* ---- reading --------------------------------------------------------------------------------- */

static uint32_t number_at(const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return ntohl(v);
}

static size_t least_length(const struct handshake_field *f)
{
    switch (f->shape) {
    case HANDSHAKE_REST: return 0;
    case HANDSHAKE_TEXT:
    case HANDSHAKE_BYTE: return 1;
    case HANDSHAKE_NAME: return HANDSHAKE_NAME_ROOM;
    default: return sizeof(uint32_t);
    }
}

/* The bytes of the field at the start of the rest, which may have fewer. */
static size_t length(const struct handshake_field *f, struct slice rest)
{
    size_t n = least_length(f);

    if (f->shape == HANDSHAKE_TEXT)
        return slice_find(rest, '\0') + 1;
    if (f->shape == HANDSHAKE_SECRET && rest.len >= n)
        return n + number_at(rest.ptr);
    return f->shape == HANDSHAKE_REST ? rest.len : n;
}

static void read_field(const struct handshake_field *f, struct slice bytes, char *m)
{
    void *at = m + f->offset;

    switch (f->shape) {
    case HANDSHAKE_TEXT: *(struct slice *)at = slice_head(bytes, bytes.len - 1); break;
    case HANDSHAKE_SECRET: *(struct slice *)at = slice_skip(bytes, sizeof(uint32_t)); break;
    case HANDSHAKE_NAME: *(struct slice *)at = slice_head(bytes, slice_find(bytes, '\0')); break;
    case HANDSHAKE_REST: *(struct slice *)at = bytes; break;
    case HANDSHAKE_BYTE: *(uint8_t *)at = (uint8_t)bytes.ptr[0]; break;
    case HANDSHAKE_STATUS: *(int32_t *)at = (int32_t)number_at(bytes.ptr); break;
    default: *(uint32_t *)at = number_at(bytes.ptr); break;
    }
}

bool handshake_read(enum handshake_message id, uint8_t kind, struct slice bytes, void *m,
                    struct handshake_read *read_p)
{
    const struct row *row = &rows[id];

    memset(m, 0, row->size);
    *read_p = (struct handshake_read){ 0, 0 };
    for (unsigned i = 0; i < row->nfields; i++) {
        const struct handshake_field *f = &row->fields[i];
        struct slice rest = slice_skip(bytes, read_p->bytes);
        size_t n;
        if (!is_there(id, kind, f->when, m))
            continue;
        n = length(f, rest);
        read_p->bytes += n;
        if (n > rest.len)
            return false;
        read_field(f, slice_head(rest, n), m);
        read_p->has |= UINT32_C(1) << i;
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_number(uint32_t v, struct buf *out)
{
    uint32_t net = htonl(v);

    buf_put(out, &net, sizeof net);
}

static void write_name(struct slice name, struct buf *out)
{
    static const char blank[HANDSHAKE_NAME_ROOM];
    size_t n = name.len < sizeof blank ? name.len : sizeof blank - 1;

    buf_put(out, name.ptr, n);
    buf_put(out, blank, sizeof blank - n);
}

static void write_field(const struct handshake_field *f, const char *m, struct buf *out)
{
    const void *at = m + f->offset;
    const struct slice *text = at;

    switch (f->shape) {
    case HANDSHAKE_TEXT:
        buf_slice_put(out, *text);
        buf_byte(out, '\0');
        break;
    case HANDSHAKE_SECRET:
        write_number((uint32_t)text->len, out);
        buf_slice_put(out, *text);
        break;
    case HANDSHAKE_NAME: write_name(*text, out); break;
    case HANDSHAKE_REST: buf_slice_put(out, *text); break;
    case HANDSHAKE_BYTE: buf_byte(out, *(const char *)at); break;
    default: write_number(*(const uint32_t *)at, out); break;
    }
}

void handshake_write(enum handshake_message id, uint8_t kind, const void *m, struct buf *out)
{
    const struct row *row = &rows[id];

    for (unsigned i = 0; i < row->nfields; i++) {
        if (is_there(id, kind, row->fields[i].when, m))
            write_field(&row->fields[i], m, out);
    }
}

void handshake_put_hello(struct buf *out, const struct handshake_hello *h)
{
    unsigned char header[HELLO_HEADER] = { 0 };
    size_t from = buf_len(out);
    uint32_t len;

    buf_put(out, header, sizeof header);
    handshake_write(HANDSHAKE_hello, h->kind, h, out);
    if (!buf_ok(out))
        return;
    /* The only header whose length is in the sender's byte order. */
    len = (uint32_t)(buf_len(out) - from - HELLO_HEADER);
    memset(header, 0xff, 8);
    memcpy(header + 8, &len, sizeof len);
    memcpy(out->mem + out->start + from, header, sizeof header);
}
