/* launcher_links.c - see launcher_links.h.  Reading order: own jobs for others; searches; messages
 * about jobs; links. */
#include "daemon/launcher_links.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "core/foreign_connect.h"
#include "core/job_map_pack.h"
#include "daemon/launcher_search.h"

static const struct core *core_of(const struct launcher_links *d)
{
    return &d->context->server->core;
}

struct launcher_link *launcher_links_numbered(const struct launcher_links *d, uint32_t number)
{
    LIST_EACH(l, &d->all)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (k->number == number)
            return k;
    }
    return NULL;
}

/* A job that this launcher leads; others may know it. */
static const struct job *own_job(const struct launcher_links *d, struct slice nspace)
{
    const struct job *j = core_job_named(core_of(d), nspace);

    return j && !j->follows && !j->is_tool && j->phase != JOB_ENDED ? j : NULL;
}

/* ---- own jobs for others --------------------------------------------------------------------- */

static void send_state(struct launcher_link *k, const struct job *j, uint32_t rank,
                       enum proc_event event, int code)
{
    launcher_link_send(k, &MSG_WITH(foreign_state, .rank = rank, .event = event, .code = code,
                                    .nspace = slice_str(j->nspace)));
}

/* Those that have ended already, as if well: the connects that they had are over. */
static void send_ends(struct launcher_link *k, const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].state != PROC_STATE_GONE)
            continue;
        send_state(k, j, r, PROC_EVENT_FINALIZE, 0);
        send_state(k, j, r, PROC_EVENT_EXIT, j->procs[r].code);
    }
}

/* The map without the environment of the programs, and how they are bound. */
static bool pack_job(const struct job *j, struct buf *out)
{
    static char *no_env[] = { NULL };
    struct job_map copy = j->plan;

    copy.apps = calloc(copy.napps + (size_t)1, sizeof *copy.apps);
    copy.nodes = calloc(copy.nnodes + (size_t)1, sizeof *copy.nodes);
    for (uint32_t i = 0; copy.apps && i < copy.napps; i++) {
        copy.apps[i] = j->plan.apps[i];
        copy.apps[i].env = no_env;
    }
    for (uint32_t i = 0; copy.nodes && i < copy.nnodes; i++) {
        copy.nodes[i] = j->plan.nodes[i];
        copy.nodes[i].bindings = NULL;
    }
    if (copy.apps && copy.nodes)
        job_map_pack(&copy, out);
    else
        out->error = BUF_NO_MEMORY;
    free(copy.apps);
    free(copy.nodes);
    return buf_ok(out);
}

/* Without memory the other launcher learns no more than that this one is lost. */
static void announce(struct launcher_link *k, const struct job *j)
{
    struct buf plan = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);

    if (launcher_link_knows(k, j->id))
        return;
    if (pack_job(j, &plan) && launcher_link_note(k, j->id)) {
        launcher_link_send(k, &MSG_WITH(foreign_job, .job = JOB_NO_RANK,
                                        .nspace = slice_str(j->nspace), .plan = buf_slice(&plan)));
        send_ends(k, j);
    } else {
        k->out.error = BUF_NO_MEMORY;
    }
    buf_free(&plan);
}

void launcher_links_state(struct launcher_links *d, const struct op_foreign_state *e)
{
    const struct job *j = core_job(core_of(d), e->job);

    if (!j || e->rank >= j->plan.nprocs)
        return;
    LIST_EACH(l, &d->all)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (launcher_link_knows(k, j->id))
            send_state(k, j, e->rank, e->event, e->code);
    }
    if (j->procs[e->rank].state == PROC_STATE_GONE || j->procs[e->rank].unreachable)
        d->calls->gone(d->arg, e->nspace, e->rank);
}

void launcher_links_job_ended(struct launcher_links *d, const struct job *j)
{
    LIST_EACH(l, &d->all)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (!launcher_link_knows(k, j->id))
            continue;
        launcher_link_send(
            k, &MSG_WITH(foreign_gone, .job = JOB_NO_RANK, .nspace = slice_str(j->nspace)));
        launcher_link_forget(k, j->id);
    }
}

void launcher_links_announce(struct launcher_links *d, const struct foreign_members *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct foreign_job *to = foreign_jobs_named(d->jobs, m->all[i].nspace);
        struct launcher_link *k = to ? launcher_links_numbered(d, to->from) : NULL;
        for (uint32_t o = 0; k && o < m->n; o++) {
            const struct job *j = own_job(d, m->all[o].nspace);
            if (j)
                announce(k, j);
        }
    }
}

/* ---- searches -------------------------------------------------------------------------------- */

static struct launcher_search *search_of(const struct launcher_links *d, struct slice nspace)
{
    LIST_EACH(l, &d->searches)
    {
        struct launcher_search *s = LIST_OF(l, struct launcher_search, link);
        if (slice_is(nspace, s->nspace))
            return s;
    }
    return NULL;
}

static const struct launcher_search_calls search_calls;

/* False: no memory. */
static bool search(struct launcher_links *d, struct slice nspace)
{
    struct launcher_search *s = search_of(d, nspace);

    if (s)
        return true;
    s = launcher_search_new(d->context, nspace, &search_calls, d);
    if (s)
        list_append(&d->searches, &s->link);
    return s != NULL;
}

enum launcher_links_found launcher_links_find(struct launcher_links *d, struct slice nspace)
{
    if (own_job(d, nspace) || foreign_jobs_named(d->jobs, nspace))
        return LAUNCHER_LINKS_KNOWN;
    return search(d, nspace) ? LAUNCHER_LINKS_SEARCHED : LAUNCHER_LINKS_NO_MEMORY;
}

static struct launcher_link *add_link(struct launcher_links *d, int fd, struct slice greeting);

/* The other launcher sends its job next; until then the search stays. */
static void search_over(void *arg, struct launcher_search *s, int fd)
{
    struct launcher_links *d = arg;
    struct launcher_link *k = fd >= 0 ? add_link(d, fd, SLICE_NULL) : NULL;

    if (k) {
        s->found = k->number;
        return;
    }
    if (fd >= 0)
        close(fd);
    d->calls->not_found(d->arg, s->nspace);
    launcher_search_free(s);
    turn_end(d->context->turn);
}

static const struct launcher_search_calls search_calls = { search_over };

/* ---- messages about jobs --------------------------------------------------------------------- */

static struct foreign_job *job_of_link(const struct launcher_links *d,
                                       const struct launcher_link *k, struct slice nspace)
{
    struct foreign_job *j = foreign_jobs_named(d->jobs, nspace);

    return j && j->from == k->number ? j : NULL;
}

/* It may have changed its state while nobody here wanted to know. */
static void send_ends_again(struct launcher_links *d, struct launcher_link *k)
{
    LIST_EACH(l, &core_of(d)->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (launcher_link_knows(k, j->id))
            send_ends(k, j);
    }
}

static bool on_job(struct launcher_links *d, struct launcher_link *k,
                   const struct op_foreign_job *m)
{
    struct launcher_search *s;
    struct errmsg err;

    if (!core_known_job(core_of(d), m->nspace) &&
        foreign_jobs_add(d->jobs, m->nspace, m->plan, k->number, &err)) {
        log_error(d->context->log, "%s", err.text);
        return false;
    }
    s = search_of(d, m->nspace);
    if (s)
        launcher_search_free(s);
    send_ends_again(d, k);
    d->calls->changed(d->arg);
    return true;
}

static bool on_state(struct launcher_links *d, const struct launcher_link *k,
                     const struct op_foreign_state *m)
{
    const struct foreign_job *j = job_of_link(d, k, m->nspace);
    const struct proc *p = j && m->rank < j->job->plan.nprocs ? &j->job->procs[m->rank] : NULL;

    if (!p || m->event == PROC_EVENT_STARTED || m->event == PROC_EVENT_READY ||
        p->state == PROC_STATE_GONE)
        return true;
    foreign_jobs_state(d->jobs, j->job, m->rank, m->event, m->code);
    if (p->state == PROC_STATE_GONE || p->unreachable)
        d->calls->gone(d->arg, m->nspace, m->rank);
    return true;
}

/* Its processes that have not ended have not said so. */
static void lose_job(struct launcher_links *d, struct foreign_job *j)
{
    for (uint32_t r = 0; r < j->job->plan.nprocs; r++) {
        if (j->job->procs[r].state != PROC_STATE_GONE)
            foreign_jobs_state(d->jobs, j->job, r, PROC_EVENT_EXIT, 0);
    }
    foreign_jobs_remove(d->jobs, j);
}

static bool on_gone(struct launcher_links *d, const struct launcher_link *k, struct slice nspace)
{
    struct foreign_job *j = job_of_link(d, k, nspace);

    if (j)
        lose_job(d, j);
    d->calls->changed(d->arg);
    return true;
}

static bool receive(struct launcher_links *d, struct launcher_link *k, const struct msg *m)
{
    switch (m->kind) {
    case MSG_foreign_job: return on_job(d, k, &m->u.foreign_job);
    case MSG_foreign_state: return on_state(d, k, &m->u.foreign_state);
    case MSG_foreign_gone: return on_gone(d, k, m->u.foreign_gone.nspace);
    default: return d->calls->message(d->arg, k, m);
    }
}

static bool on_message(void *arg, struct launcher_link *k, const struct msg *m)
{
    struct launcher_links *d = arg;
    bool good = receive(d, k, m);

    turn_end(d->context->turn);
    return good;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void lose_jobs(struct launcher_links *d, uint32_t number)
{
    LIST_EACH(l, &d->jobs->all)
    {
        struct foreign_job *j = LIST_OF(l, struct foreign_job, link);
        if (j->from != number)
            continue;
        log_warn(d->context->log, "the launcher of job %s is lost: its processes count as ended",
                 j->job->nspace);
        lose_job(d, j);
    }
}

static void lose_searches(struct launcher_links *d, uint32_t number)
{
    LIST_EACH(l, &d->searches)
    {
        struct launcher_search *s = LIST_OF(l, struct launcher_search, link);
        if (s->found != number)
            continue;
        d->calls->not_found(d->arg, s->nspace);
        launcher_search_free(s);
    }
}

static void on_closed(void *arg, struct launcher_link *k)
{
    struct launcher_links *d = arg;
    uint32_t number = k->number;

    launcher_link_free(k);
    lose_jobs(d, number);
    lose_searches(d, number);
    d->calls->lost(d->arg, number);
    d->calls->changed(d->arg);
    turn_end(d->context->turn);
}

static const struct launcher_link_calls link_calls = { on_message, on_closed };

static struct launcher_link *add_link(struct launcher_links *d, int fd, struct slice greeting)
{
    struct launcher_link *k = launcher_link_new(d->context->loop, fd, greeting, &link_calls, d);

    if (!k)
        return NULL;
    k->number = ++d->last;
    list_append(&d->all, &k->link);
    return k;
}

bool launcher_links_accept(struct launcher_links *d, struct slice question, int fd)
{
    struct slice rest = question, version = slice_cut(&rest, ' ');
    const struct job *j = slice_is(version, LAUNCHER_LINK_VERSION) ? own_job(d, rest) : NULL;
    struct launcher_link *k = j ? add_link(d, fd, SLICE(LAUNCHER_LINK_YES)) : NULL;

    if (k)
        announce(k, j);
    return k != NULL;
}

void launcher_links_open(struct launcher_links *d, const struct node_context *c,
                         struct foreign_jobs *jobs, const struct launcher_links_calls *calls,
                         void *arg)
{
    d->context = c;
    d->jobs = jobs;
    d->calls = calls;
    d->arg = arg;
    list_init(&d->all);
    list_init(&d->searches);
}

void launcher_links_close(struct launcher_links *d)
{
    if (!d->context)
        return;
    LIST_EACH(l, &d->searches)
    launcher_search_free(LIST_OF(l, struct launcher_search, link));
    LIST_EACH(l, &d->all)
    launcher_link_free(LIST_OF(l, struct launcher_link, link));
    d->context = NULL;
}
