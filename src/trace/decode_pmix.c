/* decode_pmix.c - PMIx: the handshake, and the frames of the messages after it; the tag joins a
 * reply to its request.  Their bodies are read in decode_body.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "trace/decode_priv.h"
#include "wire/pmix_handshake.h"
#include "wire/pmix_message.h"
#include "wire/pmix_ours.h"
#include "wire/pmix_greeting.h"

enum { HEAD = 16 };
enum { TAG_EVENT = 0, TAG_HEARTBEAT = 1, TAG_OUTPUT = 2 };

static uint32_t read_be(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool add_field(struct decode *d, const struct handshake_field *f, const char *m)
{
    const void *at = m + f->offset;

    switch (f->shape) {
    case HANDSHAKE_TEXT:
    case HANDSHAKE_NAME: return decode_add_text(d, f->name, *(const struct slice *)at);
    case HANDSHAKE_SECRET:
        return decode_add_secret(d, slice_str(f->name), *(const struct slice *)at);
    case HANDSHAKE_BYTE: return decode_add_number(d, f->name, *(const uint8_t *)at);
    case HANDSHAKE_WORD: return decode_add_number(d, f->name, *(const uint32_t *)at);
    case HANDSHAKE_STATUS: return decode_add_number(d, f->name, *(const int32_t *)at);
    default: return true; /* the rest is shown by its contents */
    }
}

/* The fields that are there.  False: no memory. */
static bool add_fields(struct decode *d, enum handshake_message id, const void *m,
                       const struct handshake_read *r)
{
    unsigned n;
    const struct handshake_field *fields = handshake_fields(id, &n);

    for (unsigned i = 0; i < n; i++) {
        if (r->has >> i & 1 && !add_field(d, &fields[i], m))
            return false;
    }
    return true;
}

/* Infos, of tools and newer clients; some releases send a meaningless byte instead. */
static bool read_extra(struct decode *d, struct slice rest, struct decoded *m_p)
{
    struct punpack r;

    if (rest.len == 0 || (rest.len == 1 && rest.ptr[0] == 0))
        return true;
    if (!d->as)
        return decode_add_bytes(d, "rest", rest);
    punpack_init(&r, rest, d->as);
    r.described = d->described;
    if (rest.ptr[rest.len - 1] == 0) { /* the byte may come after the infos too */
        struct punpack look = r;
        struct pmsg_infos m;
        bool is_after =
            pmsg_read_infos(&look, d->release, &m) == PTYPE_FINE && punpack_left(&look) == 1;
        pmsg_free_infos(&m, NULL);
        r.end -= is_after;
    }
    return decode_body(d, &pmsg_rows[PMSG_infos], &r, m_p);
}

static bool add_hello(struct decode *d, struct slice body, struct decoded *m_p)
{
    struct handshake_hello h;
    struct handshake_read r;
    bool whole = handshake_read(HANDSHAKE_hello, 0, body, &h, &r);
    char release[64];

    if (!add_fields(d, HANDSHAKE_hello, &h, &r))
        return false;
    snprintf(release, sizeof release, SLICE_FMT, SLICE_ARG(slice_head(h.version, 63)));
    d->kind = h.kind;
    d->is_tool = !hello_is_client(d->kind, release);
    d->as = ptype_flavour(h.encoding);
    d->described = h.buffers == 2;
    d->release = pmsg_release(release);
    if (whole)
        return read_extra(d, h.infos, m_p);
    m_p->fault = "the handshake is cut short";
    return true;
}

/* The first message of the client; its length is in the client's own byte order. */
static int hello(struct decode *d, struct slice in, struct decoded *m_p)
{
    uint32_t n;

    if (in.len < HEAD)
        return DECODE_MORE;
    memcpy(&n, in.ptr + 8, sizeof n);
    if (in.len - HEAD < n)
        return DECODE_MORE;
    m_p->command = SLICE("hello");
    m_p->bytes = slice_head(in, HEAD + (size_t)n);
    d->greeted[DECODE_OUT] = false; /* a program that inherits the connection begins again */
    d->nrequests = 0;
    d->as = NULL;
    return add_hello(d, slice_skip(m_p->bytes, HEAD), m_p) ? DECODE_MESSAGE : -ENOMEM;
}

/* An inherited connection passes from one program to the next: a header of ones, as at first. */
static bool begins_again(struct slice in)
{
    static const char ones[8] = "\377\377\377\377\377\377\377\377";

    return in.len >= HEAD && !memcmp(in.ptr, ones, sizeof ones);
}

/* A status alone is a refusal: the connection is closed after it. */
static int welcome(struct decode *d, struct slice in, struct decoded *m_p)
{
    enum handshake_message id = d->is_tool ? HANDSHAKE_tool_welcome : HANDSHAKE_welcome;
    union handshake_any m;
    struct handshake_read r;

    if (!handshake_read(id, d->kind, in, &m, &r))
        return DECODE_MORE;
    m_p->command = m.welcome.status ? SLICE("refusal") : SLICE("welcome");
    m_p->bytes = slice_head(in, r.bytes);
    return add_fields(d, id, &m, &r) ? DECODE_MESSAGE : -ENOMEM;
}

/* ---- requests and replies -------------------------------------------------------------------- */

/* A server replies to the newest request of a tag. */
static bool keep_request(struct decode *d, uint32_t tag, uint8_t command)
{
    if (d->nrequests == LIMIT_CLIENT_PENDING) /* no server keeps more */
        memmove(d->requests, d->requests + 1, --d->nrequests * sizeof *d->requests);
    if (d->nrequests == d->request_room) {
        uint32_t room = d->request_room ? d->request_room * 2 : 16;
        struct decode_request *more = realloc(d->requests, room * sizeof *more);
        if (!more)
            return false;
        d->requests = more;
        d->request_room = room;
    }
    d->requests[d->nrequests++] = (struct decode_request){ tag, command };
    return true;
}

/* NULL: there is no request of this tag. */
static const struct pmsg_command *take_request(struct decode *d, uint32_t tag)
{
    for (uint32_t i = d->nrequests; i-- > 0;) {
        struct decode_request *q = &d->requests[i];
        uint8_t command = q->command;
        if (q->tag != tag)
            continue;
        memmove(q, q + 1, (--d->nrequests - i) * sizeof *q);
        return &pmsg_commands[command];
    }
    return NULL;
}

static bool request(struct decode *d, uint32_t tag, struct punpack *r, struct decoded *m_p)
{
    uint8_t number;
    const struct pmsg_command *c;

    if (tag == TAG_HEARTBEAT && punpack_left(r) == 0) {
        m_p->command = SLICE("heartbeat");
        return true;
    }
    number = punpack_byte(r, PMIX_COMMAND);
    c = &pmsg_commands[number < PMSG_COMMANDS ? number : 0];
    if (!punpack_ok(r) || number >= PMSG_COMMANDS)
        return decode_body_rest(d, r, "a command that is not known", m_p);
    m_p->command = slice_str(c->name);
    if (c->reply != &pmsg_rows[PMSG_nothing] && tag != OURS_TAG_QUIET &&
        !keep_request(d, tag, number))
        return false;
    if (c->who == PMSG_NOBODY)
        return decode_body_rest(d, r, "a command that no client sends", m_p);
    return decode_body(d, c->request, r, m_p);
}

/* The job information has no status, but a failure has. */
static bool is_status(const struct decode *d, const struct punpack *r)
{
    struct punpack look = *r;
    struct pmsg_status m;

    return pmsg_read_status(&look, d->release, &m) == PTYPE_FINE && !punpack_left(&look);
}

static bool reply(struct decode *d, uint32_t tag, struct punpack *r, struct decoded *m_p)
{
    const struct pmsg_command *c;

    if (tag == TAG_EVENT) {
        m_p->command = SLICE("notify");
        return decode_body(d, &pmsg_rows[PMSG_event], r, m_p);
    }
    if (tag == TAG_OUTPUT) {
        m_p->command = SLICE("output");
        return decode_body(d, &pmsg_rows[PMSG_output], r, m_p);
    }
    c = take_request(d, tag);
    m_p->command = c ? slice_str(c->name) : SLICE("reply");
    if (c && !(c->reply == &pmsg_rows[PMSG_job_info] && is_status(d, r)))
        return decode_body(d, c->reply, r, m_p);
    if (is_status(d, r))
        return decode_body(d, &pmsg_rows[PMSG_status], r, m_p);
    return decode_body_rest(d, r, "a reply to no request", m_p);
}

int decode_pmix(struct decode *d, enum decode_way way, struct slice in, struct decoded *m_p)
{
    struct punpack r;
    uint32_t tag, n;
    bool good;

    m_p->protocol = "PMIx";
    if (way == DECODE_IN && (!d->greeted[way] || begins_again(in)))
        return hello(d, in, m_p);
    if (!d->greeted[way])
        return welcome(d, in, m_p);
    if (in.len < HEAD)
        return DECODE_MORE;
    tag = read_be(in.ptr + 4);
    n = read_be(in.ptr + 8);
    if (in.len - HEAD < n)
        return DECODE_MORE;
    m_p->bytes = slice_head(in, HEAD + (size_t)n);
    if (!decode_add_number(d, "tag", tag))
        return -ENOMEM;
    punpack_init(&r, slice_skip(m_p->bytes, HEAD), d->as);
    r.described = d->described;
    if (!d->as)
        good = decode_body_rest(d, &r, "the handshake was not understood", m_p);
    else
        good = way == DECODE_IN ? request(d, tag, &r, m_p) : reply(d, tag, &r, m_p);
    return good ? DECODE_MESSAGE : -ENOMEM;
}
