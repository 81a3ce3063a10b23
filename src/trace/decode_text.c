/* decode_text.c - PMI-1 lines and blocks, PMI-2 frames, and the raw bytes after some of them.
 *
 * The first byte shows which of them comes next: a frame begins with the digits of its length, a
 * line with a letter.  So each direction is read by itself, and a connection may change from one
 * protocol to the other and back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "trace/decode_priv.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"

union any {
    union pmi1_any one;
    union pmi2_any two;
};

/* A message as it was cut out, before its fields are named. */
struct cut {
    const struct text_proto *proto;
    enum text_style style;
    struct slice text; /* without head, with the final newline */
    size_t end;        /* where it ends in the stream */
};

/* ---- cutting --------------------------------------------------------------------------------- */

static bool cut_line(struct decode_stream *s, struct slice in, struct cut *c)
{
    size_t at = s->scanned + slice_find(slice_skip(in, s->scanned), '\n');

    if (at == in.len) {
        s->scanned = in.len;
        return false;
    }
    c->proto = &pmi1_proto;
    c->style = TEXT_BLANKS;
    c->text = slice_head(in, at);
    c->end = at + 1;
    return true;
}

/* Up to the line `endcmd`. */
static bool cut_block(struct decode_stream *s, struct slice in, struct cut *c)
{
    while (s->scanned < in.len) {
        struct slice rest = slice_skip(in, s->scanned);
        size_t len = slice_find(rest, '\n');
        if (len == rest.len)
            return false;
        s->scanned += len + 1;
        if (slice_is(slice_trim(slice_head(rest, len)), "endcmd")) {
            *c = (struct cut){ &pmi1_proto, TEXT_LINES, slice_head(in, s->scanned), s->scanned };
            return true;
        }
    }
    return false;
}

static bool is_head(struct slice in)
{
    size_t n = in.len < PMI2_HEAD ? in.len : PMI2_HEAD;

    for (size_t i = 0; i < n; i++) {
        if (in.ptr[i] != ' ' && (in.ptr[i] < '0' || in.ptr[i] > '9'))
            return false;
    }
    return true;
}

/* True: there is a message. */
static bool cut(struct decode_stream *s, struct slice in, struct cut *c)
{
    if (is_head(in)) {
        struct slice body;
        int rc = pmi2_frame(in, &body);
        if (rc == PMI2_FRAME_SHORT)
            return false;
        if (rc == PMI2_FRAME_WHOLE) {
            *c = (struct cut){ &pmi2_proto, TEXT_SEMICOLONS, body, PMI2_HEAD + body.len };
            return true;
        }
    }
    if (slice_starts(SLICE("mcmd="), slice_head(in, 5)))
        return in.len >= 5 && cut_block(s, in, c);
    return cut_line(s, in, c);
}

/* ---- raw bytes after a message --------------------------------------------------------------- */

static bool is_ranks2hosts(const struct cut *c)
{
    return c->proto == &pmi1_proto && slice_starts(c->text, SLICE("cmd=put_ranks2hosts "));
}

/* `cmd=put_ranks2hosts BYTES HOSTS` */
static size_t ranks2hosts_bytes(struct slice text)
{
    uint32_t n = 0;

    slice_cut(&text, ' ');
    slice_u32(slice_cut(&text, ' '), &n);
    return n;
}

static size_t raw_bytes(const struct cut *c, unsigned id, const union any *m)
{
    if (c->proto == &pmi1_proto) {
        switch (id) {
        case PMI1_mput_wireup: return m->one.mput_wireup.bytes;
        case PMI1_value_wireup: return m->one.value_wireup.bytes;
        default: return 0;
        }
    }
    switch (id) {
    case PMI2_mput_wireup: return m->two.mput_wireup.bytes;
    case PMI2_get_wireup_response: return m->two.get_wireup_response.bytes;
    default: return 0;
    }
}

static uint32_t read_le(const char *bytes, int n)
{
    uint32_t v = 0;

    while (n--)
        v = v << 8 | (unsigned char)bytes[n];
    return v;
}

/* Cuts one off: key length (2 bytes), value length (4), key, value. */
static bool next_record(struct slice *raw, struct slice *key_p, struct slice *value_p)
{
    struct slice rest = slice_skip(*raw, 6);
    size_t key, value;

    if (raw->len < 6)
        return false;
    key = read_le(raw->ptr, 2);
    value = read_le(raw->ptr + 2, 4);
    if (key > rest.len || value > rest.len - key)
        return false;
    *key_p = slice_head(rest, key);
    *value_p = slice_head(slice_skip(rest, key), value);
    *raw = slice_skip(rest, key + value);
    return true;
}

static bool add_records(struct decode *d, struct slice raw)
{
    struct slice rest = raw, key, value;

    while (next_record(&rest, &key, &value)) {
    }
    if (rest.len)
        return decode_add_bytes(d, "raw", raw);
    while (next_record(&raw, &key, &value)) {
        d->item++;
        if (!decode_add_text(d, "key", key) || !decode_add_bytes(d, "value", value))
            return false;
    }
    d->item = 0;
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool add_message(struct decode *d, const struct text_proto *proto,
                        const struct text_msg *msg, const void *m);

static bool add_list(struct decode *d, const struct text_field *f, const struct text_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const char *name = arena_printf(&d->arena, "%s%u", f->name, i + list->first);
        if (!name || !decode_add_text(d, name, list->items[i]))
            return false;
    }
    return true;
}

static bool add_group(struct decode *d, const struct text_proto *proto, const struct text_field *f,
                      const struct text_group *g)
{
    int row = text_find(proto, slice_mem(f->name, f->name_len));

    for (uint32_t i = 0; row >= 0 && i < g->n; i++) {
        const struct text_msg *part = &proto->msgs[row];
        d->item = i + 1;
        if (!add_message(d, proto, part, (const char *)g->items + (size_t)part->size * i))
            return false;
    }
    d->item = 0;
    return true;
}

static bool add_field(struct decode *d, const struct text_proto *proto, const struct text_field *f,
                      const void *at)
{
    switch (f->kind) {
    case TEXT_WORD:
    case TEXT_REST: return decode_add_text(d, f->name, *(const struct slice *)at);
    case TEXT_INT: return decode_add_number(d, f->name, *(const int64_t *)at);
    case TEXT_UINT: return decode_add_number(d, f->name, *(const uint32_t *)at);
    case TEXT_BOOL:
        return decode_add(d, (struct decode_field){ .name = slice_str(f->name),
                                                    .kind = DECODE_FLAG,
                                                    .number = *(const bool *)at });
    case TEXT_LIST0:
    case TEXT_LIST1: return add_list(d, f, at);
    case TEXT_GROUP: return add_group(d, proto, f, at);
    default: return true;
    }
}

static bool add_message(struct decode *d, const struct text_proto *proto,
                        const struct text_msg *msg, const void *m)
{
    const struct text_head *head = m;

    for (int i = 0; i < msg->nfields; i++) {
        const struct text_field *f = &msg->fields[i];
        if (head->has >> i & 1 && !add_field(d, proto, f, (const char *)m + f->offset))
            return false;
    }
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The answer to get_ranks2hosts. */
static int read_ranks2hosts(struct decode *d, struct slice in, const struct cut *c,
                            struct decoded *m_p)
{
    size_t raw = ranks2hosts_bytes(c->text);

    if (in.len - c->end < raw)
        return DECODE_MORE;
    m_p->command = SLICE("put_ranks2hosts");
    m_p->bytes = slice_head(in, c->end + raw);
    return decode_add_text(d, "hosts", slice_skip(m_p->bytes, c->end)) ? DECODE_MESSAGE : -ENOMEM;
}

/* The text after `cmd=`, for messages that the tables do not have. */
static struct slice command_word(const struct cut *c)
{
    struct slice text = c->text, first;
    char end = c->style == TEXT_BLANKS ? ' ' : c->style == TEXT_LINES ? '\n' : ';';

    first = slice_trim(slice_cut(&text, end));
    slice_cut(&first, '=');
    return first;
}

static int unreadable(struct decode *d, const struct cut *c, const struct errmsg *err,
                      struct decoded *m_p)
{
    m_p->command = command_word(c);
    snprintf(d->fault, sizeof d->fault, "%s", err->text);
    m_p->fault = d->fault;
    return DECODE_MESSAGE;
}

int decode_text(struct decode *d, enum decode_way way, struct slice in, struct decoded *m_p)
{
    struct errmsg err = { "" };
    struct cut c;
    union any m;
    unsigned id;
    size_t raw;
    int rc;

    if (!cut(&d->ways[way], in, &c))
        return DECODE_MORE;
    m_p->protocol = c.proto->name;
    m_p->bytes = slice_head(in, c.end);
    if (slice_trim(c.text).len == 0) /* an empty line: part of the message before it */
        return DECODE_MESSAGE;
    if (is_ranks2hosts(&c))
        return read_ranks2hosts(d, in, &c, m_p);
    rc = text_decode(c.proto, c.style, c.text, &d->arena, &id, &m, sizeof m, &err);
    if (rc < 0)
        return rc;
    if (rc != TEXT_FINE)
        return unreadable(d, &c, &err, m_p);
    raw = raw_bytes(&c, id, &m);
    if (in.len - c.end < raw)
        return DECODE_MORE;
    m_p->bytes = slice_head(in, c.end + raw);
    m_p->command = slice_str(c.proto->msgs[id].name);
    if (!add_message(d, c.proto, &c.proto->msgs[id], &m))
        return -ENOMEM;
    if (raw && way == DECODE_IN && !add_records(d, slice_skip(m_p->bytes, c.end)))
        return -ENOMEM;
    if (raw && way == DECODE_OUT && !decode_add_bytes(d, "value", slice_skip(m_p->bytes, c.end)))
        return -ENOMEM;
    return DECODE_MESSAGE;
}
