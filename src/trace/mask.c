/* mask.c - see mask.h.  Reading order: overwriting; credentials that are known; messages; the bytes
 * of a connection; records. */
#include "trace/mask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/record.h"
#include "wire/pmix_greeting.h"
#include "wire/pmix_message.h"

enum { HEAD = 16, SHORTEST = 8, PIECE = LIMIT_TRACE_RECORD / 2 };

static const char key[] = PMIX_CREDENTIAL;

/* One direction of a connection. */
struct mask_way {
    struct buf frame; /* the message that is not complete */
    size_t passed;    /* bytes of it that records have */
    bool store;       /* bytes that were held back came with the store */
};

struct mask_line {
    struct list link;
    uint32_t number;
    bool known, text; /* text: PMI-1 or PMI-2 */
    struct mask_way ways[DECODE_WAYS];
    struct decode decode; /* has the handshake, and the requests for credentials */
};

/* ---- overwriting ----------------------------------------------------------------------------- */

static void overwrite(char *at, size_t n)
{
    if (n && at[n - 1] == '\0')
        n--;
    memset(at, 'x', n);
}

/* All places of the text in the bytes.  False: there is none. */
static bool overwrite_all(char *at, size_t n, struct slice text)
{
    char *found;
    bool some = false;

    if (text.len && text.ptr[text.len - 1] == '\0')
        text.len--;
    while (text.len && (found = memmem(at, n, text.ptr, text.len))) {
        overwrite(found, text.len);
        some = true;
        n -= (size_t)(found - at) + text.len;
        at = found + text.len;
    }
    return some;
}

/* ---- credentials that are known -------------------------------------------------------------- */

static bool is_known(const struct trace_mask *m, struct slice text)
{
    for (uint32_t i = 0; i < m->nknown; i++) {
        if (slice_eq(buf_slice(&m->known[i]), text))
            return true;
    }
    return false;
}

static int remember(struct trace_mask *m, struct slice text)
{
    struct buf *b;

    if (text.len && text.ptr[text.len - 1] == '\0')
        text.len--;
    if (text.len < SHORTEST || is_known(m, text))
        return 0;
    b = &m->known[m->nknown < LIMIT_TRACE_CREDENTIALS ? m->nknown : m->oldest];
    if (m->nknown < LIMIT_TRACE_CREDENTIALS)
        m->nknown++;
    else
        m->oldest = (m->oldest + 1) % LIMIT_TRACE_CREDENTIALS;
    buf_free(b);
    buf_init_secret(b, SIZE_MAX / 4);
    buf_slice_put(b, text);
    return buf_ok(b) ? 0 : -ENOMEM;
}

static void overwrite_known(const struct trace_mask *m, char *at, size_t n)
{
    for (uint32_t i = 0; i < m->nknown; i++)
        overwrite_all(at, n, buf_slice(&m->known[i]));
}

static bool has_known(const struct trace_mask *m, struct slice s)
{
    for (uint32_t i = 0; i < m->nknown; i++) {
        struct slice k = buf_slice(&m->known[i]);
        if (s.len && memmem(s.ptr, s.len, k.ptr, k.len))
            return true;
    }
    return false;
}

/* The text itself, or a copy in which they are overwritten. */
static struct slice without_known(struct trace_mask *m, struct slice s)
{
    char *copy;

    if (!has_known(m, s))
        return s;
    copy = arena_alloc(&m->arena, s.len);
    if (!copy)
        return SLICE_NULL;
    memcpy(copy, s.ptr, s.len);
    overwrite_known(m, copy, s.len);
    return slice_mem(copy, s.len);
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t read_be(const char *at)
{
    uint32_t n;

    memcpy(&n, at, sizeof n);
    return ntohl(n);
}

static bool is_hello(struct slice head)
{
    return head.len >= 8 && !memcmp(head.ptr, "\377\377\377\377\377\377\377\377", 8);
}

/* The length of a message by its header, which is there.  That of a handshake is in the client's
 * own byte order. */
static size_t length_of(enum decode_way way, struct slice head)
{
    uint32_t n;

    if (way == DECODE_IN && is_hello(head))
        memcpy(&n, head.ptr + 8, sizeof n);
    else
        n = read_be(head.ptr + 8);
    return HEAD + (size_t)n;
}

static bool is_of_credentials(const struct mask_line *l, struct slice message)
{
    struct punpack r;
    uint8_t command;

    punpack_init(&r, slice_skip(message, HEAD), l->decode.as);
    r.described = l->decode.described;
    command = punpack_byte(&r, PMIX_COMMAND);
    return punpack_ok(&r) && (command == CMD_GET_CREDENTIAL || command == CMD_VALIDATE_CREDENTIAL);
}

static bool answers_one(const struct mask_line *l, uint32_t tag)
{
    for (uint32_t i = 0; i < l->decode.nrequests; i++) {
        if (l->decode.requests[i].tag == tag)
            return true;
    }
    return false;
}

/* Whether it may have credentials, or is needed to understand later ones. */
static bool matters(const struct mask_line *l, enum decode_way way, struct slice message)
{
    if (way == DECODE_IN && is_hello(message))
        return true;
    if (!l->decode.as)
        return false;
    if (way == DECODE_OUT)
        return answers_one(l, read_be(message.ptr + 4));
    return is_of_credentials(l, message) || memmem(message.ptr, message.len, key, sizeof key - 1);
}

/* Where the message has it; NULL: it is a copy. */
static char *place_of(char *at, struct slice message, struct slice secret)
{
    size_t place = (size_t)((uintptr_t)secret.ptr - (uintptr_t)message.ptr);

    return place <= message.len && secret.len <= message.len - place ? at + place : NULL;
}

/* at: the message, of which the decoder has a copy.  A part that cannot be read may be a
 * credential.  0 or -ENOMEM. */
static int overwrite_found(struct trace_mask *m, struct mask_line *l, char *at,
                           const struct decoded *d)
{
    char *keyed = memmem(at, d->bytes.len, key, sizeof key - 1), *end = at + d->bytes.len;
    bool hello = is_hello(d->bytes), all = !d->fault;
    int rc = 0;

    if (hello && d->fault && !l->decode.nsecrets)
        overwrite(at + HEAD, d->bytes.len - HEAD);
    for (uint32_t i = 0; i < l->decode.nsecrets && rc == 0; i++) {
        struct slice secret = l->decode.secrets[i];
        char *place = place_of(at, d->bytes, secret);
        if (place)
            overwrite(place, secret.len);
        else if (!keyed || !overwrite_all(keyed, (size_t)(end - keyed), secret))
            all = false;
        if (!place || !hello)
            rc = remember(m, secret);
    }
    if (keyed && !all)
        overwrite(keyed + sizeof key - 1, (size_t)(end - keyed) - (sizeof key - 1));
    return rc;
}

/* A whole message of PMIx. */
static int mask_message(struct trace_mask *m, struct mask_line *l, enum decode_way way,
                        struct buf *message)
{
    char *at = message->mem + message->start;
    struct decoded d;
    int rc;

    if (matters(l, way, buf_slice(message))) {
        rc = decode_feed(&l->decode, way, buf_slice(message));
        if (rc == 0)
            rc = decode_next(&l->decode, way, &d);
        if (rc == DECODE_MESSAGE)
            rc = overwrite_found(m, l, at, &d);
        decode_forget(&l->decode, way);
        if (rc < 0)
            return rc;
    }
    overwrite_known(m, at, buf_len(message));
    return 0;
}

/* ---- the bytes of a connection --------------------------------------------------------------- */

/* The rest of the bytes that have arrived goes into the record. */
static int pass(struct trace_mask *m, struct mask_way *w)
{
    struct slice all = buf_slice(&w->frame);

    buf_slice_put(&m->bytes, slice_skip(all, w->passed));
    w->passed = all.len;
    return buf_ok(&m->bytes) ? 0 : -ENOMEM;
}

/* Takes up to n bytes of the input. */
static int take(struct mask_way *w, struct slice *bytes, size_t n)
{
    buf_slice_put(&w->frame, slice_head(*bytes, n));
    *bytes = slice_skip(*bytes, n);
    return buf_ok(&w->frame) ? 0 : -ENOMEM;
}

static void begin_next(struct mask_way *w)
{
    buf_clear(&w->frame);
    w->passed = 0;
}

/* The server's part of the handshake has no header; the decoder knows where it ends. */
static int read_welcome(struct trace_mask *m, struct mask_line *l, struct slice *bytes)
{
    struct mask_way *w = &l->ways[DECODE_OUT];
    size_t before = buf_len(&w->frame), more = bytes->len;
    struct decoded d;
    int rc = decode_feed(&l->decode, DECODE_OUT, *bytes);

    if (rc == 0)
        rc = decode_next(&l->decode, DECODE_OUT, &d);
    if (rc < 0)
        return rc;
    if (rc == DECODE_MESSAGE) {
        more = d.bytes.len - before;
        decode_forget(&l->decode, DECODE_OUT);
    }
    if (take(w, bytes, more) < 0 || pass(m, w) < 0)
        return -ENOMEM;
    if (rc == DECODE_MESSAGE)
        begin_next(w);
    return 0;
}

/* One message, or a part of it. */
static int read_message(struct trace_mask *m, struct mask_line *l, enum decode_way way,
                        struct slice *bytes)
{
    struct mask_way *w = &l->ways[way];
    size_t have = buf_len(&w->frame), all;
    int rc = 0;

    if (have < HEAD)
        return take(w, bytes, HEAD - have) < 0 ? -ENOMEM : pass(m, w);
    all = length_of(way, buf_slice(&w->frame));
    if (all > HEAD + (size_t)LIMIT_CLIENT_STORE) { /* no credential is as long; it is not held */
        size_t n = bytes->len < all - w->passed ? bytes->len : all - w->passed;
        buf_slice_put(&m->bytes, slice_head(*bytes, n));
        *bytes = slice_skip(*bytes, n);
        w->passed += n;
        if (w->passed == all)
            begin_next(w);
        return buf_ok(&m->bytes) ? 0 : -ENOMEM;
    }
    if (take(w, bytes, all - have) < 0)
        return -ENOMEM;
    if (buf_len(&w->frame) < all)
        return 0;
    rc = mask_message(m, l, way, &w->frame);
    if (rc == 0)
        rc = pass(m, w);
    begin_next(w);
    return rc;
}

static int read_text(struct trace_mask *m, struct slice *bytes)
{
    size_t before = buf_len(&m->bytes);

    buf_slice_put(&m->bytes, *bytes);
    if (!buf_ok(&m->bytes))
        return -ENOMEM;
    overwrite_known(m, m->bytes.mem + m->bytes.start + before, bytes->len);
    *bytes = SLICE_NULL;
    return 0;
}

/* Bytes of one direction; those that can be recorded are then in m->bytes. */
static int read_bytes(struct trace_mask *m, struct mask_line *l, enum decode_way way,
                      struct slice bytes)
{
    int rc = 0;

    if (bytes.len && !l->known) {
        l->known = true;
        l->text = way == DECODE_OUT || !hello_begins(bytes.ptr[0]);
    }
    while (bytes.len && rc == 0) {
        if (l->text)
            rc = read_text(m, &bytes);
        else if (way == DECODE_OUT && !l->decode.greeted[DECODE_OUT])
            rc = read_welcome(m, l, &bytes);
        else
            rc = read_message(m, l, way, &bytes);
    }
    return rc;
}

/* ---- records --------------------------------------------------------------------------------- */

static struct mask_line *line_of(struct trace_mask *m, uint64_t number)
{
    uint32_t n = (uint32_t)number;
    struct mask_line *l = map_get(&m->by_number, slice_mem(&n, sizeof n));

    if (l)
        return l;
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->number = n;
    list_init(&l->link);
    list_append(&m->lines, &l->link);
    decode_init(&l->decode);
    for (int w = 0; w < DECODE_WAYS; w++)
        buf_init(&l->ways[w].frame, SIZE_MAX / 4);
    return map_put(&m->by_number, slice_mem(&l->number, sizeof l->number), l, NULL) < 0 ? NULL : l;
}

static void line_free(struct trace_mask *m, struct mask_line *l)
{
    map_del(&m->by_number, slice_mem(&l->number, sizeof l->number));
    list_unlink(&l->link);
    decode_free(&l->decode);
    for (int w = 0; w < DECODE_WAYS; w++)
        buf_free(&l->ways[w].frame);
    free(l);
}

/* A record of m->bytes, in as many as needed. */
static void write_bytes(struct trace_mask *m, struct mask_line *l, enum decode_way way,
                        uint64_t time_ns, trace_mask_fn *write, void *arg)
{
    struct slice rest = buf_slice(&m->bytes);
    struct record r = { .time_ns = time_ns };

    while (rest.len) {
        struct slice piece = slice_head(rest, PIECE);
        if (way == DECODE_IN) {
            r.kind = RECORD_in;
            r.u.of.in = (struct flat_in){ .connection = l->number, .bytes = piece };
        } else {
            r.kind = RECORD_out;
            r.u.out = (struct record_out){ .connection = l->number,
                                           .store = l->ways[DECODE_OUT].store,
                                           .bytes = piece };
            l->ways[DECODE_OUT].store = false;
        }
        write(arg, &r);
        rest = slice_skip(rest, piece.len);
    }
    buf_clear(&m->bytes);
}

static int on_bytes(struct trace_mask *m, const struct record *r, trace_mask_fn *write, void *arg)
{
    enum decode_way way = r->kind == RECORD_in ? DECODE_IN : DECODE_OUT;
    struct slice bytes = way == DECODE_IN ? r->u.of.in.bytes : r->u.out.bytes;
    struct mask_line *l =
        line_of(m, way == DECODE_IN ? r->u.of.in.connection : r->u.out.connection);
    int rc;

    if (!l)
        return -ENOMEM;
    if (way == DECODE_OUT && r->u.out.store)
        l->ways[way].store = true;
    rc = read_bytes(m, l, way, bytes);
    if (rc == 0)
        write_bytes(m, l, way, r->time_ns, write, arg);
    return rc;
}

/* Nothing more comes: a part of a message is overwritten as a whole. */
static int end_way(struct trace_mask *m, uint64_t number, enum decode_way way, uint64_t time_ns,
                   trace_mask_fn *write, void *arg)
{
    struct mask_line *l = line_of(m, number);
    struct mask_way *w = l ? &l->ways[way] : NULL;
    size_t held;

    if (!l)
        return -ENOMEM;
    if (l->text || buf_len(&w->frame) <= w->passed)
        return 0;
    held = buf_len(&w->frame) - w->passed;
    memset(w->frame.mem + w->frame.start + w->passed, 'x', held);
    if (pass(m, w) < 0)
        return -ENOMEM;
    begin_next(w);
    write_bytes(m, l, way, time_ns, write, arg);
    return 0;
}

static int on_close(struct trace_mask *m, const struct record *r, trace_mask_fn *write, void *arg)
{
    uint64_t number = r->u.close.connection;

    if (end_way(m, number, DECODE_IN, r->time_ns, write, arg) < 0 ||
        end_way(m, number, DECODE_OUT, r->time_ns, write, arg) < 0)
        return -ENOMEM;
    line_free(m, line_of(m, number));
    return 0;
}

static uint64_t ticket(uint64_t connection, uint64_t token)
{
    return connection << 32 | token;
}

static int await_answer(struct trace_mask *m, const struct flat_credential *e)
{
    uint64_t *more;

    if (e->validate)
        return 0;
    more = realloc(m->tickets, (m->ntickets + (size_t)1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    m->tickets = more;
    m->tickets[m->ntickets++] = ticket(e->ticket_connection, e->ticket_token);
    return 0;
}

/* The value becomes known, and is overwritten as such even if it is short. */
static int on_answer(struct trace_mask *m, struct flat_answer *a)
{
    for (uint32_t i = 0; i < m->ntickets; i++) {
        struct slice copy;
        if (m->tickets[i] != ticket(a->ticket_connection, a->ticket_token))
            continue;
        m->tickets[i] = m->tickets[--m->ntickets];
        copy = arena_copy(&m->arena, a->value);
        if (copy.len != a->value.len || remember(m, a->value) < 0)
            return -ENOMEM;
        memset((char *)(uintptr_t)copy.ptr, 'x', copy.len); /* the reply adds a NUL */
        a->value = copy;
        return 0;
    }
    return 0;
}

static void mask_texts(struct trace_mask *m, struct part_texts *t)
{
    struct slice *items = arena_array(&m->arena, t->n + (size_t)1, sizeof *items);

    for (uint32_t i = 0; items && i < t->n; i++)
        items[i] = without_known(m, t->items[i]);
    t->items = items;
}

static int mask_parts(struct trace_mask *m, struct record *r)
{
    const struct operation_row *row = record_row(r->kind);

    for (uint32_t i = 0; m->nknown && i < row->nparts; i++) {
        void *at = (char *)&r->u + row->parts[i].offset;
        if (row->parts[i].kind == PART_BYTES)
            *(struct slice *)at = without_known(m, *(const struct slice *)at);
        else if (row->parts[i].kind == PART_TEXTS)
            mask_texts(m, at);
    }
    return arena_ok(&m->arena) ? 0 : -ENOMEM;
}

static int on_other(struct trace_mask *m, const struct record *r, trace_mask_fn *write, void *arg)
{
    struct record copy = *r;
    int rc = 0;

    arena_free(&m->arena);
    switch ((int)r->kind) {
    case RECORD_begin: copy.u.begin.masked = 1; break;
    case RECORD_effect_credential: rc = await_answer(m, &r->u.of.credential); break;
    case RECORD_answer: rc = on_answer(m, &copy.u.of.answer); break;
    case RECORD_hangup:
        rc = end_way(m, r->u.of.hangup.connection, DECODE_IN, r->time_ns, write, arg);
        break;
    case RECORD_close: rc = on_close(m, r, write, arg); break;
    default: break;
    }
    if (rc == 0)
        rc = mask_parts(m, &copy);
    if (rc == 0)
        write(arg, &copy);
    return rc;
}

int trace_mask_record(struct trace_mask *m, const struct record *r, trace_mask_fn *write, void *arg)
{
    bool bytes = r->kind == RECORD_in || (r->kind == RECORD_out && r->u.out.bytes.len);

    return bytes ? on_bytes(m, r, write, arg) : on_other(m, r, write, arg);
}

void trace_mask_init(struct trace_mask *m)
{
    *m = (struct trace_mask){ .bytes = BUF_NULL(SIZE_MAX / 4) };
    list_init(&m->lines);
    map_init(&m->by_number, 0);
    arena_init(&m->arena, SIZE_MAX / 4);
}

void trace_mask_free(struct trace_mask *m)
{
    if (!m->lines.next)
        return;
    LIST_EACH(l, &m->lines)
    line_free(m, LIST_OF(l, struct mask_line, link));
    for (uint32_t i = 0; i < m->nknown; i++)
        buf_free(&m->known[i]);
    map_free(&m->by_number);
    buf_free(&m->bytes);
    arena_free(&m->arena);
    free(m->tickets);
    *m = (struct trace_mask){ .tickets = NULL };
}
