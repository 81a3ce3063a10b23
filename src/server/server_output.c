/* server_output.c - output of processes, for subscribed clients.
 *
 * A process of a spawned job may have written everything before a client that knows the job's name
 * can subscribe: the last of it is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/operation.h"
#include "pmix_common.h"
#include "server/server_priv.h"

struct kept_output {
    struct list link;
    struct spoken output;
    char text[]; /* the name, and the bytes */
};

static void forget_oldest(struct server *s)
{
    struct kept_output *k = LIST_OF(list_first(&s->outputs), struct kept_output, link);

    s->output_bytes -= k->output.bytes.len + sizeof *k;
    list_unlink(&k->link);
    free(k);
}

void server_outputs_free(struct server *s)
{
    while (!list_empty(&s->outputs))
        forget_oldest(s);
}

static void keep(struct server *s, const struct spoken *o)
{
    size_t name = strlen(o->nspace) + 1;
    struct kept_output *k = calloc(1, sizeof *k + name + o->bytes.len);

    if (!k)
        return;
    k->output = *o;
    memcpy(k->text, o->nspace, name);
    if (o->bytes.len)
        memcpy(k->text + name, o->bytes.ptr, o->bytes.len);
    k->output.nspace = k->text;
    k->output.bytes = slice_mem(k->text + name, o->bytes.len);
    list_append(&s->outputs, &k->link);
    s->output_bytes += o->bytes.len + sizeof *k;
    while (s->output_bytes > LIMIT_KEPT_OUTPUT)
        forget_oldest(s);
}

static bool give(struct server *s, struct peer *p, const struct spoken *o)
{
    if (!p->session || !p->session->ops->output || p->closing)
        return false;
    if (!p->session->ops->output(p->session, o))
        return false;
    server_mark_dirty(s, p);
    return true;
}

/* A subscriber may come late. */
static bool may_be_late(const struct job *j)
{
    return j->parent != JOB_NO_RANK || j->is_asked;
}

bool server_output_wanted(const struct server *s, const struct op_output *o)
{
    return s->core.listeners || may_be_late(core_job(&s->core, o->job));
}

bool server_on_output(struct server *s, const struct op_output *o, uint64_t now_ns)
{
    const struct job *j = core_job(&s->core, o->job);
    struct spoken p = { .nspace = j->nspace,
                        .rank = o->rank,
                        .channel = o->channel,
                        .bytes = o->bytes,
                        .redirected_p = &s->output_redirected };
    bool given = false;

    (void)now_ns;
    LIST_EACH(l, &s->peers)
    {
        if (s->core.listeners)
            given = give(s, LIST_OF(l, struct peer, link), &p) || given;
    }
    p.redirected_p = NULL;
    if (may_be_late(j))
        keep(s, &p);
    return given;
}

void server_recall(const struct server *s, struct slice nspace, uint32_t rank, server_kept_fn *fn,
                   void *arg)
{
    LIST_EACH(l, &s->outputs)
    {
        const struct spoken *o = &LIST_OF(l, struct kept_output, link)->output;
        if (slice_is(nspace, o->nspace) && (rank == JOB_NO_RANK || rank == o->rank))
            fn(arg, o->rank, o->channel, o->bytes);
    }
}

bool server_on_iof_data(struct server *s, const struct op_iof_data *o, uint64_t now_ns)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct spoken p = { .nspace = name,
                        .rank = o->rank,
                        .channel = o->channel,
                        .subscription = o->subscription,
                        .bytes = o->bytes };

    (void)now_ns;
    if (o->nspace.len >= sizeof name || o->subscription == 0)
        return false;
    memcpy(name, o->nspace.ptr ? o->nspace.ptr : "", o->nspace.len);
    name[o->nspace.len] = '\0';
    LIST_EACH(l, &s->peers)
    give(s, LIST_OF(l, struct peer, link), &p);
    return true;
}

enum answer_status server_recall_output(struct server *s, struct peer *p)
{
    LIST_EACH(l, &s->outputs)
    {
        struct spoken o = LIST_OF(l, struct kept_output, link)->output;
        o.recalled = true;
        give(s, p, &o);
    }
    if (p->session->ops->caught_up)
        p->session->ops->caught_up(p->session);
    return ANSWER_OK;
}

uint64_t server_outputs_tick(struct server *s, uint64_t now_ns, bool *notified_p)
{
    uint64_t next = UINT64_MAX;

    LIST_EACH(l, &s->peers)
    {
        struct peer *p = LIST_OF(l, struct peer, link);
        uint64_t due;
        if (!p->gathers_output || !p->session || p->closing)
            continue;
        due = p->session->ops->tick(p->session, now_ns);
        next = due < next ? due : next;
        *notified_p = true;
        server_mark_dirty(s, p);
    }
    return next;
}
