/* tcpstore.c - see tcpstore.h. */
#include "server/tcpstore.h"

#include <errno.h>
#include <stdlib.h>

#include "core/request.h"
#include "wire/tcpstore.h"

struct tcpstore_pending {
    uint32_t token;
    enum tcpstore_id query;
    size_t bytes;
};

struct tcpstore {
    struct session base;
    struct tcpstore_reader reader;
    struct buf in;   /* bytes not yet understood */
    size_t consumed; /* length of the query that the last request borrows from */
    struct tcpstore_pending *pending;
    uint32_t npending, pending_room;
    size_t asked; /* bytes of these */
};

static struct tcpstore *tcpstore_of(struct session *s)
{
    return (struct tcpstore *)(void *)s;
}

static struct session *tcpstore_create(struct peer *p)
{
    struct tcpstore *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct session){ &tcpstore_ops, p };
    buf_init(&s->in, SIZE_MAX); /* the reader refuses what is too long */
    return &s->base;
}

static void tcpstore_destroy(struct session *base)
{
    struct tcpstore *s = tcpstore_of(base);

    buf_free(&s->in);
    free(s->pending);
    free(s);
}

static int tcpstore_input(struct session *base, struct slice bytes)
{
    struct tcpstore *s = tcpstore_of(base);

    buf_slice_put(&s->in, bytes);
    return s->in.error == BUF_NO_MEMORY ? -ENOMEM : 0;
}

/* ---- queries --------------------------------------------------------------------------------- */

static int too_much(struct errmsg *err)
{
    return errmsg_set(err, SESSION_BROKEN,
                      "more than %u MiB of its store's queries wait to be carried out",
                      LIMIT_CLIENT_STORE >> 20);
}

static int ask(struct tcpstore *s, const struct tcpstore_query *q, struct request *rq,
               struct errmsg *err)
{
    struct peer *p = s->base.peer;

    if (s->npending >= LIMIT_CLIENT_PENDING || s->asked + q->len > LIMIT_CLIENT_STORE)
        return too_much(err);
    if (s->npending == s->pending_room) {
        uint32_t room = s->pending_room ? s->pending_room * 2 : 2;
        struct tcpstore_pending *more = realloc(s->pending, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->pending = more;
        s->pending_room = room;
    }
    *rq = REQUEST_WITH(store, .query = (uint8_t)q->id, .connection = p->id, .args = q->args);
    rq->token = ++p->next_token;
    s->pending[s->npending++] = (struct tcpstore_pending){ rq->token, q->id, q->len };
    s->asked += q->len;
    return SESSION_REQUEST;
}

/* What it waits for is not answered any more. */
static void forget_wait(struct tcpstore *s)
{
    for (uint32_t i = 0; i < s->npending; i++) {
        if (s->pending[i].query == TCPSTORE_WAIT)
            s->pending[i].query = TCPSTORE_CANCEL_WAIT;
    }
}

static int carry_out(struct tcpstore *s, const struct tcpstore_query *q, struct request *rq,
                     struct errmsg *err)
{
    struct buf *out = &s->base.peer->out;

    switch (q->id) {
    case TCPSTORE_VALIDATE: return SESSION_IDLE;
    case TCPSTORE_PING: buf_slice_put(out, q->args); return SESSION_IDLE;
    case TCPSTORE_WATCH_KEY:
        return errmsg_set(err, SESSION_BROKEN,
                          "watches a key of its store (PyTorch 1.x and 2.0), which is not served");
    case TCPSTORE_CANCEL_WAIT:
        forget_wait(s);
        buf_byte(out, TCPSTORE_NOT_READY);
        return ask(s, q, rq, err);
    default: return ask(s, q, rq, err);
    }
}

static int tcpstore_next(struct session *base, struct request *rq_p, struct errmsg *err)
{
    struct tcpstore *s = tcpstore_of(base);
    struct tcpstore_query q;
    int rc = SESSION_IDLE;

    while (rc == SESSION_IDLE) {
        buf_take(&s->in, s->consumed);
        s->consumed = 0;
        rc = tcpstore_read(&s->reader, buf_slice(&s->in), &q, err);
        if (rc != TCPSTORE_WHOLE)
            return rc == TCPSTORE_BAD ? SESSION_BROKEN : SESSION_IDLE;
        s->consumed = q.len;
        rc = carry_out(s, &q, rq_p, err);
    }
    return rc;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The protocol has no word for it: PyTorch's own server closes the connection, too.  That an
 * attempt is over, all know from the report of the process that was started again. */
static const char *fault_of(enum answer_status status)
{
    switch (status) {
    case ANSWER_OVER_QUOTA: return "keeps more in its store than a process may (64 MiB)";
    case ANSWER_BAD_VALUE:
        return "adds to a value of its store that is no number, or makes one that is too large";
    case ANSWER_UNSUPPORTED:
        return "waits for another start of processes, which are not started again here "
               "(-on-failure restart)";
    case ANSWER_DUPLICATE: return "waits for keys of its store while it waits for others";
    case ANSWER_NO_MEMORY: return "there is no memory for a query of its store";
    default: return "a query of its store was refused";
    }
}

static bool take_pending(struct tcpstore *s, uint32_t token, struct tcpstore_pending *one_p)
{
    for (uint32_t i = 0; i < s->npending; i++) {
        if (s->pending[i].token != token)
            continue;
        *one_p = s->pending[i];
        s->asked -= one_p->bytes;
        s->npending--;
        memmove(&s->pending[i], &s->pending[i + 1], (s->npending - i) * sizeof *s->pending);
        return true;
    }
    return false;
}

static void tcpstore_answer(struct session *base, uint32_t token, const struct answer *a)
{
    struct tcpstore *s = tcpstore_of(base);
    struct tcpstore_pending one;

    if (!take_pending(s, token, &one) || one.query == TCPSTORE_CANCEL_WAIT)
        return;
    if (a->status == ANSWER_RESTARTED)
        base->peer->closing = true;
    else if (a->status != ANSWER_OK)
        base->peer->fault = fault_of(a->status);
    else if (*tcpstore_reply(one.query))
        buf_slice_put(&base->peer->out, answer_to_store(a).reply);
}

const struct session_ops tcpstore_ops = { .name = "TCPStore",
                                          .is_aside = true,
                                          .create = tcpstore_create,
                                          .destroy = tcpstore_destroy,
                                          .input = tcpstore_input,
                                          .next = tcpstore_next,
                                          .answer = tcpstore_answer };
