/* foreign_values.c - see foreign_values.h.  Reading order: gets; questions of others. */
#include "daemon/foreign_values.h"

#include <stdlib.h>

#include "base/clock.h"
#include "cluster/msg.h"
#include "core/input.h"
#include "core/modex.h"

/* Waits for the answer of another launcher. */
struct asked_values {
    struct list link;
    uint64_t ticket;
    uint32_t to; /* the number of the link */
    uint32_t job, rank;
};

/* Another launcher waits for the answer of this one. */
struct values_question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t from;         /* the number of the link */
};

/* ---- gets ------------------------------------------------------------------------------------ */

static void deliver(const struct foreign_values *v, uint32_t job, uint32_t rank,
                    enum answer_status status, struct slice block)
{
    server_deliver(v->context->server,
                   INPUT(modex_reply, .job = job, .rank = rank, .status = status, .block = block));
}

static struct asked_values *keep_asked(struct foreign_values *v, uint32_t to,
                                       const struct op_modex_request *q)
{
    struct asked_values *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->ticket = ++v->last;
    a->to = to;
    a->job = q->job;
    a->rank = q->rank;
    list_append(&v->asked, &a->link);
    return a;
}

/* The link by which a job is known, and the job. */
static struct launcher_link *link_of(const struct foreign_values *v, uint32_t id,
                                     const struct job **j_p)
{
    LIST_EACH(l, &v->links->jobs->all)
    {
        const struct foreign_job *f = LIST_OF(l, struct foreign_job, link);
        if (f->job->id != id)
            continue;
        *j_p = f->job;
        return launcher_links_numbered(v->links, f->from);
    }
    return NULL;
}

void foreign_values_get(struct foreign_values *v, const struct op_modex_request *q)
{
    const struct job *j;
    struct launcher_link *k = link_of(v, q->job, &j);
    const struct asked_values *a = k ? keep_asked(v, k->number, q) : NULL;

    if (a)
        launcher_link_send(k, &MSG_WITH(foreign_get, .ticket = a->ticket,
                                        .nspace = slice_str(j->nspace), .rank = q->rank,
                                        .key = q->key, .timeout_ns = q->timeout_ns));
    else
        deliver(v, q->job, q->rank, k ? ANSWER_NO_MEMORY : ANSWER_NOT_FOUND, SLICE_NULL);
}

bool foreign_values_answer(struct foreign_values *v, const struct launcher_link *k,
                           const struct op_answer *m)
{
    LIST_EACH(l, &v->asked)
    {
        struct asked_values a = *LIST_OF(l, struct asked_values, link);
        if (a.to != k->number || a.ticket != m->ticket)
            continue;
        list_unlink(l);
        free(LIST_OF(l, struct asked_values, link));
        deliver(v, a.job, a.rank, m->status, m->value);
        return true;
    }
    return false;
}

/* ---- questions of others --------------------------------------------------------------------- */

static void answer(struct launcher_link *k, uint64_t ticket, enum answer_status status,
                   struct slice block)
{
    launcher_link_send(k, &MSG_WITH(answer, .ticket = ticket, .status = status, .value = block,
                                    .about = JOB_NO_RANK, .rank = JOB_NO_RANK));
}

static bool keep_question(struct foreign_values *v, uint32_t from, uint64_t theirs)
{
    struct values_question *q = calloc(1, sizeof *q);

    if (!q)
        return false;
    q->ours = ++v->last;
    q->theirs = theirs;
    q->from = from;
    list_append(&v->questions, &q->link);
    return true;
}

/* A job that the other launcher has been told of. */
void foreign_values_serve(struct foreign_values *v, struct launcher_link *k,
                          const struct op_foreign_get *m)
{
    const struct job *j = core_job_named(&v->context->server->core, m->nspace);

    if (!j || !launcher_link_knows(k, j->id) || m->rank >= j->plan.nprocs)
        answer(k, m->ticket, ANSWER_NOT_FOUND, SLICE_NULL);
    else if (!keep_question(v, k->number, m->ticket))
        answer(k, m->ticket, ANSWER_NO_MEMORY, SLICE_NULL);
    else
        server_deliver(v->context->server,
                       INPUT_AT(clock_now_ns(), modex_request, .job = j->id, .rank = m->rank,
                                .key = m->key, .timeout_ns = m->timeout_ns, .asker = v->last));
}

void foreign_values_reply(struct foreign_values *v, const struct op_modex_reply *e)
{
    LIST_EACH(l, &v->questions)
    {
        struct values_question *q = LIST_OF(l, struct values_question, link);
        struct launcher_link *k;
        if (q->ours != e->asker)
            continue;
        k = launcher_links_numbered(v->links, q->from);
        if (k)
            answer(k, q->theirs, e->status, e->block);
        list_unlink(&q->link);
        free(q);
        return;
    }
}

/* ---- the module ------------------------------------------------------------------------------ */

void foreign_values_lost(struct foreign_values *v, uint32_t number)
{
    LIST_EACH(l, &v->asked)
    {
        struct asked_values *a = LIST_OF(l, struct asked_values, link);
        if (a->to != number)
            continue;
        list_unlink(&a->link);
        free(a);
    }
    LIST_EACH(o, &v->questions)
    {
        struct values_question *q = LIST_OF(o, struct values_question, link);
        if (q->from != number)
            continue;
        list_unlink(&q->link);
        free(q);
    }
}

void foreign_values_open(struct foreign_values *v, const struct node_context *c,
                         const struct launcher_links *links)
{
    v->context = c;
    v->links = links;
    v->last = MODEX_LAUNCHERS;
    list_init(&v->asked);
    list_init(&v->questions);
}

void foreign_values_close(struct foreign_values *v)
{
    if (!v->context)
        return;
    LIST_EACH(l, &v->asked)
    {
        list_unlink(l);
        free(LIST_OF(l, struct asked_values, link));
    }
    LIST_EACH(o, &v->questions)
    {
        list_unlink(o);
        free(LIST_OF(o, struct values_question, link));
    }
    v->context = NULL;
}
