/* pmix_session.c - see pmix_session.h. */
#include "server/pmix_session.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/grow.h"
#include "base/search.h"
#include "core/core.h"
#include "server/pmix_batch.h"
#include "server/pmix_group_list.h"
#include "server/pmix_value.h"

/* ---- requests -------------------------------------------------------------------------------- */

void pmix_pending_free(struct pmix_pending *p)
{
    free(p->nspace);
    free(p->key);
    for (uint32_t i = 0; i < p->nothers; i++)
        free(p->others[i]);
    free(p->others);
    pmix_group_free(NULL, p->group);
    pmem_free(ptype_find(PMIX_QUERY), p->queries, p->nqueries, NULL);
    free(p->queries);
    pmem_free(ptype_find(PMIX_INFO), p->infos, p->ninfos, NULL);
    free(p->infos);
}

static void drop_values(struct pmix_session *s)
{
    for (size_t i = 0; i < s->nvalues; i++)
        pmem_value_free(&s->values[i], NULL);
    free(s->values);
    s->values = NULL;
    s->nvalues = 0;
}

void pmix_drop_backlog(struct pmix_session *s)
{
    for (uint32_t i = s->backlog_at; i < s->nbacklog; i++)
        request_drop(&s->backlog[i]);
    free(s->backlog);
    s->backlog = NULL;
    s->nbacklog = s->backlog_at = 0;
    drop_values(s);
}

/* Their answers are ignored. */
void pmix_drop_pending(struct pmix_session *s)
{
    for (uint32_t i = 0; i < s->npending; i++) {
        pmix_batch_leave(s->pending[i].batch);
        pmix_pending_free(&s->pending[i]);
    }
    s->npending = s->nanswered = 0;
}

/* Tokens only grow, so the list stays sorted; answered entries are removed when they are half of
 * it. */
static void compact_pending(struct pmix_session *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->npending; i++) {
        if (s->pending[i].token)
            s->pending[kept++] = s->pending[i];
    }
    s->npending = kept;
    s->nanswered = 0;
}

static struct pmix_pending *add_pending(struct pmix_session *s, const struct command *c)
{
    struct pmix_pending *p;

    if (s->npending == s->pending_room && s->nanswered > s->npending / 2)
        compact_pending(s);
    p = grow_by_one(s->pending, sizeof *p, s->npending, &s->pending_room, 4);
    if (!p)
        return NULL;
    s->pending = p;
    p = &s->pending[s->npending++];
    *p = (struct pmix_pending){ .token = ++s->base.peer->next_token,
                                .serial = s->base.peer->next_token,
                                .tag = c->tag,
                                .cmd = c->cmd,
                                .reply = c->reply };
    return p;
}

static bool was_asked_before(const void *item, const void *key)
{
    const struct pmix_pending *p = item;

    return p->serial < *(const uint32_t *)key;
}

/* Moves the entry out; false: there is none. */
static size_t find_at(const struct pmix_session *s, uint32_t token)
{
    size_t at = search_first(s->pending, s->npending, sizeof *s->pending, was_asked_before, &token);

    return at < s->npending && s->pending[at].token == token ? at : s->npending;
}

const struct pmix_pending *pmix_find_pending(const struct pmix_session *s, uint32_t token)
{
    size_t at = find_at(s, token);

    return at < s->npending ? &s->pending[at] : NULL;
}

bool pmix_take_pending(struct pmix_session *s, uint32_t token, struct pmix_pending *p_p)
{
    size_t at = find_at(s, token);

    if (at == s->npending)
        return false;
    *p_p = s->pending[at];
    s->pending[at] = (struct pmix_pending){ .serial = token };
    s->nanswered++;
    while (s->npending && !s->pending[s->npending - 1].token) {
        s->npending--;
        s->nanswered--;
    }
    return true;
}

/* Puts a request on the backlog; the pending entry is the caller's to complete until the next. */
struct pmix_pending *pmix_ask(struct command *c, struct request rq)
{
    struct pmix_session *s = c->s;
    struct request *more = realloc(s->backlog, (s->nbacklog + 1) * sizeof *more);
    struct pmix_pending *p = more ? add_pending(s, c) : NULL;

    if (more)
        s->backlog = more;
    if (!p) {
        c->no_memory = true;
        return NULL;
    }
    rq.token = p->token;
    s->backlog[s->nbacklog++] = rq;
    return p;
}

void pmix_keep_infos(struct command *c, struct pmix_pending *p, pmix_info_t **infos_p, size_t *n_p)
{
    if (!p || c->s->base.peer->core->is_manager || *n_p == 0)
        return;
    p->infos = *infos_p;
    p->ninfos = *n_p;
    *infos_p = NULL;
    *n_p = 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

struct slice pmix_keep(struct command *c, struct slice text)
{
    return arena_copy(&c->s->arena, text);
}

struct slice pmix_keep_value(struct command *c, const pmix_value_t *v)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice payload = pmix_canonical(v, &bytes);

    if (buf_ok(&bytes)) {
        payload = pmix_keep(c, payload);
    } else {
        c->no_memory = bytes.error == BUF_NO_MEMORY;
        c->r.error = PTYPE_MALFORMED;
        payload = SLICE_NULL;
    }
    buf_free(&bytes);
    return payload;
}

struct slice pmix_keep_packed(struct command *c, pmix_info_t *infos, size_t n)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice kept = SLICE_NULL;
    struct ppack w;

    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { n, infos } });
    if (ppack_ok(&w))
        kept = pmix_keep(c, buf_slice(&bytes));
    else
        c->no_memory = true;
    buf_free(&bytes);
    return kept;
}

const struct member *pmix_keep_members(struct command *c, const pmix_proc_t *procs, size_t n)
{
    struct member *m = arena_array(&c->s->arena, n ? n : 1, sizeof *m);

    for (size_t i = 0; m && i < n; i++)
        m[i] = (struct member){ pmix_keep(c, slice_str(procs[i].nspace)), procs[i].rank };
    return m;
}

struct job *pmix_known_job_of(const struct command *c, struct slice nspace)
{
    struct peer *p = c->s->base.peer;

    return nspace.len ? core_known_job(p->core, nspace) : p->job;
}

struct job *pmix_job_of(const struct command *c, struct slice nspace)
{
    struct peer *p = c->s->base.peer;

    return nspace.len ? core_job_named(p->core, nspace) : p->job;
}

/* ---- replies --------------------------------------------------------------------------------- */

struct header {
    uint32_t index, tag, nbytes, padding;
};

pmix_status_t pmix_status_of(enum answer_status status)
{
    switch (status) {
    case ANSWER_OK: return PMIX_SUCCESS;
    case ANSWER_NOT_FOUND: return PMIX_ERR_NOT_FOUND;
    case ANSWER_DUPLICATE: return PMIX_ERR_DUPLICATE_KEY;
    case ANSWER_RESERVED:
    case ANSWER_DENIED: return PMIX_ERR_NO_PERMISSIONS;
    case ANSWER_BAD_KEY:
    case ANSWER_BAD_VALUE: return PMIX_ERR_BAD_PARAM;
    case ANSWER_OVER_QUOTA: return PMIX_ERR_OUT_OF_RESOURCE;
    case ANSWER_TIMEOUT: return PMIX_ERR_TIMEOUT;
    case ANSWER_NO_MEMORY: return PMIX_ERR_NOMEM;
    case ANSWER_UNSUPPORTED: return PMIX_ERR_NOT_SUPPORTED;
    case ANSWER_LOST: return PMIX_ERR_LOST_CONNECTION;
    case ANSWER_RESTARTED: return PMIX_ERR_PROC_RESTART;
    case ANSWER_LATER:
    case ANSWER_FAILED: break;
    }
    return PMIX_ERROR;
}

struct ppack pmix_writer(struct pmix_session *s)
{
    struct ppack w;

    buf_clear(&s->reply);
    ppack_init(&w, &s->reply, s->as);
    w.described = s->described;
    return w;
}

void pmix_send(struct pmix_session *s, uint32_t tag)
{
    struct header h = { 0, htonl(tag), htonl((uint32_t)buf_len(&s->reply)), 0 };
    struct buf *out = &s->base.peer->out;

    if (!buf_ok(&s->reply)) { /* never an empty message: clients take it for a lost connection */
        out->error = BUF_NO_MEMORY;
        return;
    }
    buf_put(out, &h, sizeof h);
    buf_slice_put(out, buf_slice(&s->reply));
}

void pmix_send_or_fail(struct pmix_session *s, uint32_t tag, const struct ppack *w)
{
    if (ppack_ok(w))
        pmix_send(s, tag);
    else
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
}

void pmix_reply_status(struct pmix_session *s, uint32_t tag, pmix_status_t status)
{
    struct ppack w = pmix_writer(s);

    pmsg_write_status(&w, s->release, &(struct pmsg_status){ .status = status });
    pmix_send(s, tag);
}
