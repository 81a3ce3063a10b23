/* decode_pmix.c - PMIx: the handshake, and the frames of the messages after it; the tag joins a
 * reply to its request.  Their bodies are read in decode_body.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "trace/decode_priv.h"
#include "wire/pmix_message.h"
#include "wire/pmix_ours.h"
#include "wire/pmix_hello.h"

enum { HEAD = 16, WELCOME = 8, NAME_ROOM = 256 };
enum { TAG_EVENT = 0, TAG_HEARTBEAT = 1, TAG_OUTPUT = 2 };

static uint32_t read_be(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Up to the next NUL; false: there is none. */
static bool take_text(struct slice *rest, struct slice *text_p)
{
    size_t at = slice_find(*rest, '\0');

    if (at == rest->len)
        return false;
    *text_p = slice_head(*rest, at);
    *rest = slice_skip(*rest, at + 1);
    return true;
}

static bool take(struct slice *rest, size_t n, struct slice *bytes_p)
{
    if (rest->len < n)
        return false;
    *bytes_p = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return true;
}

/* Kind; user and group of a tool; namespace and rank of kinds that have them. */
static bool read_who(struct decode *d, struct slice *rest)
{
    struct slice text, bytes;

    if (!take(rest, 1, &bytes) || !decode_add_number(d, "kind", (unsigned char)bytes.ptr[0]))
        return false;
    d->kind = (uint8_t)bytes.ptr[0];
    if (d->kind != HELLO_CLIENT &&
        (!take(rest, 8, &bytes) || !decode_add_number(d, "user", read_be(bytes.ptr)) ||
         !decode_add_number(d, "group", read_be(bytes.ptr + 4))))
        return false;
    return !hello_is_named(d->kind) ||
           (take_text(rest, &text) && decode_add_text(d, "namespace", text) &&
            take(rest, 4, &bytes) && decode_add_number(d, "rank", read_be(bytes.ptr)));
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

/* Security, credential, identity, version, encoding, buffers, store. */
static bool read_hello(struct decode *d, struct slice rest, struct decoded *m_p)
{
    struct slice text, version, bytes, buffers, store;
    char release[64];

    if (!take_text(&rest, &text) || !decode_add_text(d, "security", text) ||
        !take(&rest, 4, &bytes) || !take(&rest, read_be(bytes.ptr), &bytes) ||
        !decode_add_secret(d, SLICE("credential"), bytes) || !read_who(d, &rest) ||
        !take_text(&rest, &version) || !decode_add_text(d, "version", version))
        return false;
    if (rest.len == 0 && slice_starts(version, SLICE("2.0."))) /* it names nothing more */
        return true;
    if (!take_text(&rest, &text) || !decode_add_text(d, "encoding", text) ||
        !take(&rest, 1, &buffers) ||
        !decode_add_number(d, "buffers", (unsigned char)buffers.ptr[0]) ||
        !take_text(&rest, &store) || !decode_add_text(d, "store", store))
        return false;
    snprintf(release, sizeof release, SLICE_FMT, SLICE_ARG(slice_head(version, 63)));
    d->is_tool = !hello_is_client(d->kind, release);
    d->as = ptype_flavour(text);
    d->described = buffers.ptr[0] == 2;
    d->release = pmsg_release(release);
    return read_extra(d, rest, m_p);
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
    if (!read_hello(d, slice_skip(m_p->bytes, HEAD), m_p))
        m_p->fault = "the handshake is cut short";
    return DECODE_MESSAGE;
}

/* An inherited connection passes from one program to the next: a header of ones, as at first. */
static bool begins_again(struct slice in)
{
    static const char ones[8] = "\377\377\377\377\377\377\377\377";

    return in.len >= HEAD && !memcmp(in.ptr, ones, sizeof ones);
}

/* A name in an array of its own, and a rank. */
static bool add_name(struct decode *d, const char *what, const char *which, const char *at)
{
    struct slice name = slice_mem(at, NAME_ROOM);

    return decode_add_text(d, what, slice_head(name, slice_find(name, '\0'))) &&
           decode_add_number(d, which, read_be(at + NAME_ROOM));
}

/* A status; the tool's name if it brought none; the server's name; a status. */
static int welcome_tool(struct decode *d, struct slice in, struct decoded *m_p)
{
    bool named = hello_is_named(d->kind);
    size_t name = NAME_ROOM + 4, all = 4 + (named ? name : 2 * name) + 4;
    const char *at = in.ptr;

    if (in.len < all)
        return DECODE_MORE;
    m_p->command = SLICE("welcome");
    m_p->bytes = slice_head(in, all);
    if (!decode_add_number(d, "status", (int32_t)read_be(at)))
        return -ENOMEM;
    at += 4;
    if (!named && !add_name(d, "namespace", "rank", at))
        return -ENOMEM;
    at += named ? 0 : name;
    return add_name(d, "server", "server_rank", at) &&
                   decode_add_number(d, "credential", (int32_t)read_be(at + name))
               ? DECODE_MESSAGE
               : -ENOMEM;
}

/* A status alone: the connection is closed after it. */
static int refusal(struct decode *d, struct slice in, struct decoded *m_p)
{
    m_p->command = SLICE("refusal");
    m_p->bytes = slice_head(in, 4);
    return decode_add_number(d, "status", (int32_t)read_be(in.ptr)) ? DECODE_MESSAGE : -ENOMEM;
}

/* A status and an index. */
static int welcome(struct decode *d, struct slice in, struct decoded *m_p)
{
    if (in.len < 4)
        return DECODE_MORE;
    if (read_be(in.ptr) != 0)
        return refusal(d, in, m_p);
    if (d->is_tool)
        return welcome_tool(d, in, m_p);
    if (in.len < WELCOME)
        return DECODE_MORE;
    m_p->command = SLICE("welcome");
    m_p->bytes = slice_head(in, WELCOME);
    return decode_add_number(d, "status", (int32_t)read_be(in.ptr)) &&
                   decode_add_number(d, "index", read_be(in.ptr + 4))
               ? DECODE_MESSAGE
               : -ENOMEM;
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
