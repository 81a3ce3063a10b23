/* core_abort.c - see core_abort.h. */
#include "core/core_abort.h"

#include <signal.h>
#include <stdlib.h>

#include "core/control.h"
#include "core/effect.h"
#include "core/job_end.h"
#include "core/rank_ranges.h"

enum { MESSAGE_MAX = 512 };

/* ---- the own job ----------------------------------------------------------------------------- */

static const char *family_of(uint8_t speaks)
{
    return speaks == SPEAKS_PMIX ? "PMIx" : "PMI";
}

/* Why an MPI library may have aborted without a message of its own: another library is in the same
 * job, and uses another protocol.  The text is empty, or begins with "; ". */
static void report_mixture(const struct job *j, uint32_t rank, struct errmsg *text)
{
    uint8_t mine = j->procs[rank].speaks;

    text->text[0] = '\0';
    for (uint32_t r = 0; r < j->plan.nprocs && mine; r++) {
        uint8_t other = j->procs[r].speaks;
        if (other == 0 || (other == SPEAKS_PMIX) == (mine == SPEAKS_PMIX))
            continue;
        errmsg_set(
            text, 0,
            "; it speaks %s and rank %u %s: if they have different MPI libraries, run them as "
            "jobs of their own",
            family_of(mine), r, family_of(other));
        return;
    }
}

/* "rank 3 on n1 (pid 77) aborted" */
static void name_asker(const struct core_call *k, struct errmsg *text)
{
    const struct job_map *p = &k->job->plan;

    errmsg_set(text, 0, "rank %u on %s (pid %d) aborted", k->rank,
               p->nodes[p->procs[k->rank].node].name, k->job->procs[k->rank].pid);
}

static void abort_own(const struct core_call *k)
{
    const struct request_abort *rq = &k->rq->u.abort;
    struct slice why = slice_head(rq->message, MESSAGE_MAX);
    struct errmsg mixture = { "" }, who;

    if (k->job->is_tool) /* its end concerns no other process */
        return;
    if (why.len == 0)
        report_mixture(k->job, k->rank, &mixture);
    name_asker(k, &who);
    k->job->procs[k->rank].aborted = true;
    job_abort(k->job, k->rank, rq->code, "%s with code %d%s" SLICE_FMT "%s", who.text, rq->code,
              why.len ? ": " : "", SLICE_ARG(why), mixture.text);
}

/* ---- chosen processes ------------------------------------------------------------------------ */

struct chosen {
    bool *ranks;
    bool any, all; /* of the processes that have not ended */
};

/* One that returns may have been started again where that is decided. */
static bool has_ended(const struct job *j, uint32_t rank)
{
    return j->procs[rank].state == PROC_STATE_GONE && !j->procs[rank].returns;
}

/* The members that are processes of the job; their ranks are valid. */
static void choose(const struct core_call *k, const struct job *j, struct chosen *c)
{
    const struct request_abort *rq = &k->rq->u.abort;
    bool whole = false;

    for (uint32_t i = 0; i < rq->count; i++) {
        const struct member *m = &rq->members[i];
        if (!slice_is(m->nspace, j->nspace))
            continue;
        c->any = true;
        if (m->rank == REQUEST_ALL_RANKS)
            whole = true;
        else
            c->ranks[m->rank] = true;
    }
    c->all = true;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        c->ranks[r] = c->ranks[r] || whole;
        c->all = c->all && (c->ranks[r] || has_ended(j, r));
    }
}

/* "rank 0 on n1 (pid 77) aborted ranks 1-2 of job x with code 7: why" */
static void explain(const struct core_call *k, const struct job *j, const struct chosen *c,
                    struct errmsg *text)
{
    const struct request_abort *rq = &k->rq->u.abort;
    struct slice why = slice_head(rq->message, MESSAGE_MAX);
    struct buf list = BUF_NULL(ERRMSG_MAX / 4);
    struct rank_ranges ranges = { .out = &list };
    struct errmsg who;
    uint32_t n = 0;

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (c->ranks[r])
            rank_ranges_add(&ranges, r);
        n += c->ranks[r];
    }
    rank_ranges_end(&ranges);
    name_asker(k, &who);
    errmsg_set(text, 0, "%s rank%s %s%s%s with code %d%s" SLICE_FMT, who.text, n == 1 ? "" : "s",
               buf_cstr(&list) ? buf_cstr(&list) : "(many)", j == k->job ? "" : " of job ",
               j == k->job ? "" : j->nspace, rq->code, why.len ? ": " : "", SLICE_ARG(why));
    buf_free(&list);
}

static void kill_chosen(const struct core_call *k, struct job *j, const struct chosen *c)
{
    struct errmsg reason;

    explain(k, j, c, &reason);
    job_fail(j, k->rq->u.abort.code, reason.text);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (!c->ranks[r] || has_ended(j, r))
            continue;
        control_commanded(j, r);
        effects_push(&k->core->effects, EFFECT_WITH(signal, .job = j->id, .rank = r,
                                                    .signal = SIGKILL, .ends_procs = true));
    }
}

static enum answer_status abort_in(const struct core_call *k, struct job *j)
{
    struct chosen c = { .ranks = calloc(j->plan.nprocs + (size_t)1, sizeof *c.ranks) };

    if (!c.ranks)
        return ANSWER_NO_MEMORY;
    choose(k, j, &c);
    if (c.any && c.all && j == k->job)
        abort_own(k);
    else if (c.any)
        kill_chosen(k, j, &c);
    free(c.ranks);
    return ANSWER_OK;
}

enum answer_status core_abort(const struct core_call *k)
{
    const struct request_abort *rq = &k->rq->u.abort;
    enum answer_status st = control_members(k->core, k->job, rq->members, rq->count);

    if (st == ANSWER_OK && rq->count == 0)
        abort_own(k);
    LIST_EACH(l, &k->core->jobs)
    {
        if (st == ANSWER_OK && rq->count)
            st = abort_in(k, LIST_OF(l, struct job, link));
    }
    return st;
}
