/* pmix_hello.c - see pmix_hello.h. */
#include "server/pmix_hello.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/request.h"
#include "server/pmix_info.h"
#include "wire/pmix_ours.h"
#include "wire/pmix_hello.h"

enum { HELLO_MAX = 131072 };

/* ---- the first message ----------------------------------------------------------------------- */

struct cursor {
    const unsigned char *at, *end;
    bool good;
};

static struct slice take_text(struct cursor *c)
{
    const unsigned char *from = c->at, *nul = NULL;

    if (c->good)
        nul = memchr(c->at, 0, (size_t)(c->end - c->at));
    if (!nul) {
        c->good = false;
        return SLICE_NULL;
    }
    c->at = nul + 1;
    return slice_mem(from, (size_t)(nul - from));
}

static struct slice take_bytes(struct cursor *c, size_t n)
{
    const unsigned char *from = c->at;

    if (!c->good || (size_t)(c->end - c->at) < n) {
        c->good = false;
        return SLICE_NULL;
    }
    c->at += n;
    return slice_mem(from, n);
}

static uint32_t take_u32(struct cursor *c)
{
    struct slice s = take_bytes(c, 4);
    uint32_t v = 0;

    if (s.len == 4)
        memcpy(&v, s.ptr, 4);
    return ntohl(v);
}

static uint8_t take_u8(struct cursor *c)
{
    struct slice s = take_bytes(c, 1);

    return s.len ? (uint8_t)s.ptr[0] : 0;
}

/* OpenPMIx 4, 5.0 to 5.0.8 and 6.0 ignore an error in the reply and wait for more, for ever; they
 * understand only that the connection is closed. */
static bool reads_refusals(const struct pmix_session *s)
{
    return s->release >= PMSG_RELEASE(6, 1, 0) ||
           (s->release >= PMSG_RELEASE(5, 0, 9) && s->release < PMSG_RELEASE(6, 0, 0));
}

/* The connection is closed after that. */
static void send_refusal(struct pmix_session *s, pmix_status_t status)
{
    uint32_t word = htonl((uint32_t)status);

    if (reads_refusals(s))
        buf_put(&s->base.peer->out, &word, sizeof word);
}

/* Both sides' versions, as far as they are known. */
static int refuse(struct errmsg *err, struct slice version, const char *why, struct slice what)
{
    return errmsg_set(err, SESSION_BROKEN,
                      "refused a PMIx client%s" SLICE_FMT ": %s '" SLICE_FMT
                      "'; this server is Wireup %s and speaks "
                      "the encodings v3, v4, v41, v51, v61",
                      version.len ? " of version " : "", SLICE_ARG(slice_head(version, 63)), why,
                      SLICE_ARG(slice_head(what, 64)), WIREUP_VERSION);
}

/* What a client of Wireup's library adds to its first message; others add other things, or
 * meaningless bytes. */
static bool asks_for_store(const struct pmix_session *s, struct slice bytes)
{
    struct pmsg_infos m;
    struct punpack r;
    bool asks = false;

    punpack_init(&r, bytes, s->as);
    r.described = s->described;
    pmsg_read_infos(&r, s->release, &m);
    for (size_t i = 0; i < m.infos.n && !asks; i++)
        asks = !strcmp(m.infos.items[i].key, OURS_STORE) &&
               m.infos.items[i].value.type == PMIX_UINT32 &&
               m.infos.items[i].value.data.uint32 >= OURS_STORE_FORM;
    pmsg_free_infos(&m, NULL);
    return asks;
}

static int read_hello(struct pmix_session *s, struct slice body, struct request *rq,
                      struct errmsg *err)
{
    const unsigned char *at = (const unsigned char *)body.ptr;
    struct cursor c = { at, at + body.len, true };
    struct slice psec = take_text(&c), nspace, version, encoding, store;
    uint8_t buffers;
    uint32_t rank;

    take_bytes(&c, take_u32(&c)); /* the credential: the kernel's information is better */
    s->kind = take_u8(&c);
    if (c.good && s->kind > HELLO_SCHEDULER)
        return refuse(err, SLICE_NULL, "it is neither client nor tool; security", psec);
    if (s->kind != HELLO_CLIENT)
        take_bytes(&c, 2 * sizeof(uint32_t)); /* user and group: likewise */
    nspace = hello_is_named(s->kind) ? take_text(&c) : SLICE_NULL;
    rank = hello_is_named(s->kind) ? take_u32(&c) : 0;
    version = take_text(&c);
    encoding = take_text(&c);
    buffers = take_u8(&c);
    store = take_text(&c);
    if (!c.good)
        return refuse(err, SLICE_NULL, "its first message is cut short or is none; security", psec);
    snprintf(s->version, sizeof s->version, SLICE_FMT, SLICE_ARG(slice_head(version, 63)));
    s->release = pmsg_release(s->version);
    s->as = ptype_flavour(encoding);
    if (!s->as || s->as->level < PTYPE_V3) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, version, "it wants the unknown encoding", encoding);
    }
    if (slice_starts(store, SLICE("shmem"))) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, version, "it wants the store (hash is offered)", store);
    }
    s->described = buffers == 2;
    s->reads_store =
        s->base.peer->can_pass_fd && asks_for_store(s, slice_mem(c.at, (size_t)(c.end - c.at)));
    s->state = PMIX_ASKED;
    s->hello_token = ++s->base.peer->next_token;
    *rq = REQUEST_WITH(identify, .nspace = nspace, .rank = rank, .tool = s->kind,
                       .description = slice_mem(c.at, (size_t)(c.end - c.at)));
    rq->token = s->hello_token;
    return SESSION_REQUEST;
}

/* The first header has its length in the client's own byte order, which is this machine's. */
int pmix_hello(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    uint32_t n;

    if (bytes.len < PMIX_HEADER)
        return SESSION_IDLE;
    memcpy(&n, bytes.ptr + 8, sizeof n);
    if (n > HELLO_MAX)
        return refuse(err, SLICE_NULL, "its first message has an impossible length", SLICE("?"));
    if (bytes.len < PMIX_HEADER + (size_t)n)
        return SESSION_IDLE;
    s->consumed = PMIX_HEADER + (size_t)n;
    return read_hello(s, slice_mem(bytes.ptr + PMIX_HEADER, n), rq, err);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* A name as tools read it: in an array of its own. */
static void put_name(struct buf *out, const char *nspace, uint32_t rank)
{
    char name[PMIX_MAX_NSLEN + 1] = "";
    uint32_t number = htonl(rank);

    strncpy(name, nspace ? nspace : "", PMIX_MAX_NSLEN);
    buf_put(out, name, sizeof name);
    buf_put(out, &number, sizeof number);
}

static void welcome_tool(struct pmix_session *s)
{
    struct peer *p = s->base.peer;
    uint32_t good = 0;

    buf_put(&p->out, &good, sizeof good);
    if (!hello_is_named(s->kind))
        put_name(&p->out, p->job->nspace, p->rank);
    put_name(&p->out, p->core->name, p->core->name_rank);
    buf_put(&p->out, &good, sizeof good);
}

static void welcome(struct pmix_session *s)
{
    struct peer *p = s->base.peer;
    uint32_t words[2] = { 0, htonl(p->rank) };

    if (!hello_is_client(s->kind, s->version)) {
        welcome_tool(s);
    } else {
        p->pass_store = s->reads_store && pmix_tell_job_info(p->job);
        buf_put(&p->out, words, sizeof words);
    }
    s->state = PMIX_WELCOME;
}

static void turn_away(struct pmix_session *s, const struct answer *a)
{
    send_refusal(s, a->number ? (pmix_status_t)a->number : pmix_status_of(a->status));
    s->base.peer->closing = true;
}

void pmix_hello_answer(struct pmix_session *s, const struct answer *a)
{
    if (a->status == ANSWER_OK)
        welcome(s);
    else
        turn_away(s, a);
}
