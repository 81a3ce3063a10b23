/* core_effect.c - see core_effect.h. */
#include "core/core_effect.h"

#include "core/effect.h"
#include "core/job_connect.h"
#include "core/job_end.h"

/* Ends other because of j, or, when that has happened, updates it with the details of j's end that
 * are known now: a process that hangs up is reaped a moment later, and only then its code is known.
 */
static void blame(struct job *other, const struct job *j)
{
    if (other->blames == j->id) {
        other->exit_code = j->exit_code;
        errmsg_set(&other->reason, 0, "connected job %s failed: %.500s", j->nspace, j->reason.text);
    } else if (other->phase == JOB_RUNNING && !other->failed) {
        other->blames = j->id;
        job_abort(other, JOB_NO_RANK, j->exit_code, "connected job %s failed: %.500s", j->nspace,
                  j->reason.text);
    } else {
        job_abort(other, JOB_NO_RANK, j->exit_code, "%s", j->reason.text);
    }
}

static bool fail_together(const struct job *a, const struct job *b)
{
    const struct job *child = a->parent == b->id ? a : b->parent == a->id ? b : NULL;

    if (child && child->plan.ways & JOB_MAP_APART)
        return job_is_connected(a, b->id) || job_is_connected(b, a->id);
    return job_is_related(a, b);
}

void core_abort_connected(struct core *c, const struct job *j)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *other = LIST_OF(l, struct job, link);
        if (other != j && !other->follows && !other->is_tool && fail_together(other, j))
            blame(other, j);
    }
}

/* Its last process has been reaped: everything about its end is known now. */
static void notify_blaming(struct core *c, uint32_t id)
{
    const struct job *j = core_job(c, id);

    LIST_EACH(l, &c->jobs)
    {
        struct job *other = LIST_OF(l, struct job, link);
        if (j && j->failed && other->blames == id)
            blame(other, j);
    }
}

/* The queue is empty, so there is room for at least some. */
static void make_good(struct core *c)
{
    bool lost = c->effects.lost;

    c->effects.lost = false;
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (lost)
            job_abort(j, JOB_NO_RANK, 1, "the launcher ran out of memory");
        job_settle(j);
    }
}

bool core_effect(struct core *c, struct effect *e_p)
{
    if (!c->effects.count && c->effects.lost)
        make_good(c);
    if (!c->effects.count)
        return false;
    effects_pop(&c->effects, e_p);
    if (e_p->kind == EFFECT_job_ended)
        notify_blaming(c, e_p->u.job_ended.job);
    return true;
}
