/* pmix_hello.c - see pmix_hello.h. */
#include "server/pmix_hello.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/request.h"
#include "server/pmix_info.h"
#include "wire/pmix_ours.h"
#include "wire/pmix_handshake.h"
#include "wire/pmix_greeting.h"

enum { HELLO_MAX = 131072 };

/* ---- the first message ----------------------------------------------------------------------- */

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
    if (reads_refusals(s))
        handshake_write(HANDSHAKE_welcome, s->kind, &(struct handshake_welcome){ .status = status },
                        &s->base.peer->out);
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

/* The bytes that a client of Wireup's library adds to its first message; others add other things,
 * or meaningless bytes. */
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

/* The encoding and the store that the client wants. */
static int agree(struct pmix_session *s, const struct handshake_hello *h, struct errmsg *err)
{
    s->as = ptype_flavour(h->encoding);
    if (!s->as || s->as->level < PTYPE_V3) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, h->version, "it wants the unknown encoding", h->encoding);
    }
    if (slice_starts(h->store, SLICE("shmem"))) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, h->version, "it wants the store (hash is offered)", h->store);
    }
    s->described = h->buffers == 2;
    s->reads_store = s->base.peer->can_pass_fd && asks_for_store(s, h->infos);
    return 0;
}

/* Credential, user and group are not looked at: the kernel's information is better. */
static int read_hello(struct pmix_session *s, struct slice body, struct request *rq,
                      struct errmsg *err)
{
    struct handshake_hello h;
    struct handshake_read r;
    bool whole = handshake_read(HANDSHAKE_hello, 0, body, &h, &r);
    int rc;

    s->kind = h.kind;
    if (HANDSHAKE_HAS(&r, hello, kind) && s->kind > HELLO_SCHEDULER)
        return refuse(err, SLICE_NULL, "it is neither client nor tool; security", h.security);
    if (!whole)
        return refuse(err, SLICE_NULL, "its first message is cut short or is none; security",
                      h.security);
    snprintf(s->version, sizeof s->version, SLICE_FMT, SLICE_ARG(slice_head(h.version, 63)));
    s->release = pmsg_release(s->version);
    rc = agree(s, &h, err);
    if (rc != 0)
        return rc;
    s->state = PMIX_ASKED;
    s->hello_token = ++s->base.peer->next_token;
    *rq = REQUEST_WITH(identify, .nspace = h.nspace, .rank = h.rank, .tool = s->kind,
                       .description = h.infos);
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

static void welcome(struct pmix_session *s)
{
    struct peer *p = s->base.peer;
    bool is_client = hello_is_client(s->kind, s->version);

    if (is_client) {
        /* What is for one process alone is not in the store. */
        p->pass_store =
            s->reads_store && !pmix_stops(p->job, p->rank) && pmix_make_job_info(p->job);
        handshake_write(HANDSHAKE_welcome, s->kind, &(struct handshake_welcome){ .index = p->rank },
                        &p->out);
    } else {
        handshake_write(HANDSHAKE_tool_welcome, s->kind,
                        &(struct handshake_tool_welcome){ .nspace = slice_str(p->job->nspace),
                                                          .rank = p->rank,
                                                          .server = slice_str(p->core->name),
                                                          .server_rank = p->core->name_rank },
                        &p->out);
    }
    s->state = PMIX_WELCOME;
}

static void turn_away(struct pmix_session *s, const struct answer *a)
{
    int64_t host_status = answer_to_identify(a).host_status;

    send_refusal(s, host_status ? (pmix_status_t)host_status : pmix_status_of(a->status));
    s->base.peer->closing = true;
}

void pmix_hello_answer(struct pmix_session *s, const struct answer *a)
{
    if (a->status == ANSWER_OK)
        welcome(s);
    else
        turn_away(s, a);
}
