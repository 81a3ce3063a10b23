/* pmix.c - see pmix.h.  Reading order: creation; the table of commands; framing; answers. */
#include "server/pmix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "server/pmix_alloc.h"
#include "server/pmix_batch.h"
#include "server/pmix_check.h"
#include "server/pmix_commit.h"
#include "server/pmix_control.h"
#include "server/pmix_credential.h"
#include "server/pmix_event.h"
#include "server/pmix_fabric.h"
#include "server/pmix_fence.h"
#include "server/pmix_get.h"
#include "server/pmix_group.h"
#include "server/pmix_hello.h"
#include "server/pmix_invite.h"
#include "server/pmix_iof.h"
#include "server/pmix_log.h"
#include "server/pmix_monitor.h"
#include "server/pmix_names.h"
#include "server/pmix_query.h"
#include "server/pmix_resolve.h"
#include "server/pmix_scheduler.h"
#include "server/pmix_session.h"
#include "server/pmix_spawn.h"
#include "server/pmix_start.h"
#include "wire/pmix_ours.h"

enum { HEARTBEAT_TAG = 1 };

/* ---- creation -------------------------------------------------------------------------------- */

static struct session *create(struct peer *p)
{
    struct pmix_session *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct session){ &pmix_ops, p };
    list_init(&s->groups);
    list_init(&s->invitations);
    list_init(&s->pulls);
    buf_init(&s->in, (size_t)LIMIT_CLIENT_STORE + PMIX_HEADER);
    buf_init(&s->scratch, (size_t)1 << 30);
    buf_init(&s->reply, (size_t)1 << 30);
    arena_init(&s->arena, LIMIT_CLIENT_STORE);
    return &s->base;
}

static void destroy(struct session *base)
{
    struct pmix_session *s = pmix_session_of(base);

    pmix_drop_pending(s);
    pmix_drop_backlog(s);
    buf_free(&s->in);
    buf_free(&s->scratch);
    buf_free(&s->reply);
    arena_free(&s->arena);
    free(s->pending);
    free(s->codes);
    pmix_groups_free(s);
    pmix_invites_free(s);
    pmix_pulls_free(s);
    pmix_forget_given(s);
    pmix_forget_fabrics(s);
    free(s);
}

static int input(struct session *base, struct slice bytes)
{
    struct pmix_session *s = pmix_session_of(base);

    buf_slice_put(&s->in, bytes);
    return s->in.error == BUF_NO_MEMORY ? -ENOMEM : 0;
}

static const struct pmix_session *session_of(const struct peer *p)
{
    return p->session && p->session->ops == &pmix_ops ? pmix_session_of(p->session) : NULL;
}

const struct pmix_pending *pmix_pending_of(const struct peer *p, uint32_t token)
{
    const struct pmix_session *s = session_of(p);

    return s ? pmix_find_pending(s, token) : NULL;
}

const pmix_status_t *pmix_event_codes(const struct peer *p, size_t *n_p)
{
    const struct pmix_session *s = session_of(p);

    *n_p = s ? s->ncodes : 0;
    return s ? s->codes : NULL;
}

struct pmix_dialect pmix_dialect(const struct peer *p)
{
    const struct pmix_session *s = (const struct pmix_session *)(const void *)p->session;

    return (struct pmix_dialect){ s->as, s->described, s->version, s->release };
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The handler of a command.  Without a function for the reply, that is the status alone. */
static const struct command_handler {
    pmix_reader *read;
    pmix_replier *reply;
    bool checks; /* read() calls pmix_check_read */
} handlers[] = {
    [CMD_REQ] = { pmix_read_req, pmix_reply_req },
    [CMD_ABORT] = { pmix_read_abort, NULL },
    [CMD_COMMIT] = { pmix_read_commit, NULL },
    [CMD_FENCE] = { pmix_read_fence, NULL, .checks = true },
    [CMD_GET] = { pmix_read_get, pmix_reply_get, .checks = true },
    [CMD_FINALIZE] = { pmix_read_finalize, NULL },
    [CMD_PUBLISH] = { pmix_read_publish, pmix_reply_names },
    [CMD_LOOKUP] = { pmix_read_keys, pmix_reply_names },
    [CMD_UNPUBLISH] = { pmix_read_keys, pmix_reply_names },
    [CMD_SPAWN] = { pmix_read_spawn, pmix_reply_spawn },
    [CMD_CONNECT] = { pmix_read_connect, pmix_reply_connect },
    [CMD_DISCONNECT] = { pmix_read_disconnect, NULL },
    [CMD_NOTIFY] = { pmix_read_notify, NULL },
    [CMD_REGEVENTS] = { pmix_read_regevents, NULL },
    [CMD_DEREGEVENTS] = { pmix_read_deregevents, NULL },
    [CMD_QUERY] = { pmix_read_query, pmix_reply_query },
    [CMD_LOG] = { pmix_read_log, pmix_reply_batch },
    [CMD_JOB_CONTROL] = { pmix_read_control, pmix_reply_batch },
    [CMD_MONITOR] = { pmix_read_monitor, pmix_reply_monitor },
    [CMD_GET_CREDENTIAL] = { pmix_read_get_credential, pmix_reply_credential },
    [CMD_VALIDATE_CREDENTIAL] = { pmix_read_validate, pmix_reply_validated },
    [CMD_IOF_PULL] = { pmix_read_pull, NULL },
    [CMD_IOF_PUSH] = { pmix_read_push, pmix_reply_push },
    [CMD_IOF_DEREG] = { pmix_read_dereg, NULL },
    [CMD_GROUP_CONSTRUCT] = { pmix_read_group, pmix_reply_group },
    [CMD_GROUP_DESTRUCT] = { pmix_read_ungroup, pmix_reply_ungroup },
    [CMD_FABRIC_REGISTER] = { pmix_read_fabric, pmix_reply_fabric },
    [CMD_FABRIC_UPDATE] = { pmix_read_fabric_update, pmix_reply_fabric },
    [CMD_ALLOC] = { pmix_read_alloc, pmix_reply_alloc },
    [CMD_SESSION_CONTROL] = { pmix_read_session_control, pmix_reply_session_control },
    [CMD_REFRESH_CACHE] = { pmix_read_refresh, pmix_reply_refresh },
    [CMD_RESOLVE_PEERS] = { pmix_read_resolve_peers, NULL },
    [CMD_RESOLVE_NODES] = { pmix_read_resolve_node, NULL },
};

/* NULL: the server does not support it. */
static const struct command_handler *handler_of(unsigned command)
{
    bool is = command < sizeof handlers / sizeof *handlers && handlers[command].read;

    return is ? &handlers[command] : NULL;
}

/* Some commands a server carries out by itself, with any host. */
static bool is_for_host(const struct command *c)
{
    if ((unsigned)c->cmd >= 64 || !(c->s->base.peer->host_commands >> c->cmd & 1))
        return false;
    switch (c->cmd) {
    case CMD_JOB_CONTROL: return !pmix_is_cleanup(c);
    case CMD_QUERY: return !pmix_query_is_ours(c);
    case CMD_MONITOR: return !pmix_is_heartbeat(c);
    default: return true;
    }
}

/* It is in the client's encoding already; a failure has no data. */
static void reply_of_host(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct slice words = answer_to_host(a).reply;

    if (words.len == 0) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    pmix_writer(s);
    buf_slice_put(&s->reply, words);
    pmix_send(s, p->tag);
}

/* The host reads it. */
static int pass_on(struct command *c)
{
    struct slice words = slice_mem(c->r.at, punpack_left(&c->r));
    struct pmix_pending *p =
        pmix_ask(c, REQUEST_WITH(host, .command = (uint8_t)c->cmd, .body = words));

    if (p)
        p->reply = reply_of_host;
    return c->no_memory ? -ENOMEM : SESSION_IDLE;
}

static void handle(struct command *c, const struct command_handler *h)
{
    pmix_status_t status = h->checks ? PMIX_SUCCESS : pmix_check(c);

    c->reply = h->reply;
    if (status == PMIX_SUCCESS)
        h->read(c);
    else
        pmix_reply_status(c->s, c->tag, status);
}

static int carry_out(struct command *c)
{
    uint8_t number = punpack_byte(&c->r, PMIX_COMMAND);
    const struct command_handler *h = handler_of(number);
    bool passes;

    c->cmd = (enum pmix_command)number;
    passes = punpack_ok(&c->r) && is_for_host(c);
    if (punpack_ok(&c->r) && !passes && !h) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        return SESSION_IDLE;
    }
    if (punpack_ok(&c->r) && c->s->npending - c->s->nanswered >= LIMIT_CLIENT_PENDING &&
        number != CMD_ABORT && number != CMD_FINALIZE) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        return SESSION_IDLE;
    }
    if (passes)
        return pass_on(c);
    if (punpack_ok(&c->r))
        handle(c, h);
    if (c->no_memory || !arena_ok(&c->s->arena))
        return -ENOMEM;
    if (!punpack_ok(&c->r))
        return errmsg_set(c->err, SESSION_BROKEN,
                          "PMIx command %u of a client of version %s cannot be read (error %d)",
                          number, c->s->version, (int)c->r.error);
    return SESSION_IDLE;
}

/* ---- framing --------------------------------------------------------------------------------- */

/* An inherited connection passes from one program to the next: each begins with a handshake. */
static int begin_again(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    pmix_drop_pending(s);
    s->state = PMIX_HELLO;
    s->every_event = false;
    s->ncodes = 0;
    pmix_pulls_free(s);
    return pmix_hello(s, rq, err);
}

static int step_command(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    struct command c = { .s = s, .err = err };
    uint32_t words[3];
    uint32_t n;

    if (bytes.len < PMIX_HEADER)
        return SESSION_IDLE;
    memcpy(words, bytes.ptr, sizeof words);
    if (words[0] == UINT32_MAX && words[1] == UINT32_MAX)
        return begin_again(s, rq, err);
    n = ntohl(words[2]);
    if (n > LIMIT_CLIENT_STORE)
        return errmsg_set(err, SESSION_BROKEN, "a PMIx message of %u bytes (the limit is %u)", n,
                          LIMIT_CLIENT_STORE);
    if (bytes.len < PMIX_HEADER + (size_t)n)
        return SESSION_IDLE;
    s->consumed = PMIX_HEADER + (size_t)n;
    c.tag = ntohl(words[1]);
    if (n == 0 && c.tag == HEARTBEAT_TAG && s->monitored) {
        *rq = (struct request){ .kind = REQ_beat, .token = ++s->base.peer->next_token };
        return SESSION_REQUEST;
    }
    if (n == 0) { /* a heartbeat that is not monitored */
        pmix_reply_status(s, c.tag, PMIX_ERR_LOST_CONNECTION);
        return SESSION_IDLE;
    }
    punpack_init(&c.r, slice_mem(bytes.ptr + PMIX_HEADER, n), s->as);
    c.r.described = s->described;
    return pmix_is_scheduled(&c) ? pmix_read_scheduled(&c) : carry_out(&c);
}

static void drop_consumed(struct pmix_session *s)
{
    buf_take(&s->in, s->consumed);
    s->consumed = 0;
    pmix_drop_backlog(s);
    arena_free(&s->arena);
}

static int next(struct session *base, struct request *rq_p, struct errmsg *err)
{
    struct pmix_session *s = pmix_session_of(base);

    if (s->in.error == BUF_TOO_LONG)
        return errmsg_set(err, SESSION_BROKEN, "a PMIx message that is too long");
    for (;;) {
        int rc;
        if (s->backlog_at < s->nbacklog) {
            *rq_p = s->backlog[s->backlog_at++];
            return SESSION_REQUEST;
        }
        if (s->consumed || s->nbacklog)
            drop_consumed(s);
        if (s->state == PMIX_HELLO)
            return pmix_hello(s, rq_p, err);
        if (s->state == PMIX_ASKED)
            return SESSION_IDLE; /* unknown here: the owner closes it */
        if (s->state == PMIX_WELCOME) {
            s->state = PMIX_TALKING;
            pmix_scheduler_joins(s);
            *rq_p = REQUEST_WITH(attach, .speaks = SPEAKS_PMIX);
            rq_p->token = ++base->peer->next_token;
            return SESSION_REQUEST;
        }
        rc = step_command(s, rq_p, err);
        if (rc != SESSION_IDLE || s->consumed == 0)
            return rc;
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A client of Wireup's library does not wait for an answer without information. */
static bool is_quiet(const struct pmix_session *s, const struct pmix_pending *p,
                     const struct answer *a)
{
    if (!s->reads_store || p->tag != OURS_TAG_QUIET)
        return false;
    return p->cmd == CMD_FINALIZE || (p->cmd == CMD_COMMIT && a->status == ANSWER_OK);
}

static void reply(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    if (p->reply)
        p->reply(s, p, a);
    else if (p->cmd != CMD_NONE && !is_quiet(s, p, a))
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
}

static void answer(struct session *base, uint32_t token, const struct answer *a)
{
    struct pmix_session *s = pmix_session_of(base);
    struct pmix_pending p;

    if (s->state == PMIX_ASKED && token == s->hello_token) {
        pmix_hello_answer(s, a);
    } else if (pmix_take_pending(s, token, &p)) {
        reply(s, &p, a);
        pmix_pending_free(&p);
    }
}

const struct session_ops pmix_ops = {
    .name = "PMIx",
    .create = create,
    .destroy = destroy,
    .input = input,
    .next = next,
    .answer = answer,
    .notify = pmix_notify,
    .follow = pmix_groups_follow,
    .job_goes = pmix_groups_drop_restarted,
    .output = pmix_output,
    .caught_up = pmix_pulls_caught_up,
    .drain = pmix_pulls_drain,
    .tick = pmix_pulls_tick,
};

void pmix_send_output(struct peer *p, const pmix_proc_t *source, uint16_t channel, size_t ref,
                      const pmix_info_t *infos, size_t ninfos, struct slice bytes)
{
    struct pmix_session *s = p->session ? pmix_session_of(p->session) : NULL;

    if (s && s->base.ops == &pmix_ops && s->state == PMIX_TALKING)
        pmix_put_output(s, source, channel, ref, infos, ninfos, bytes);
}
