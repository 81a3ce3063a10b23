/* foreign_launchers.c - see foreign_launchers.h.  Reading order: answers; own jobs for others;
 * calls and searches; outcomes; messages of other launchers; links. */
#include "daemon/foreign_launchers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/msg.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/job_map_pack.h"
#include "core/proc_connect.h"
#include "daemon/cluster_io.h"
#include "daemon/launcher_link.h"
#include "daemon/launcher_search.h"

/* A call whose members are not all known yet. */
struct waiting_call {
    struct list link;
    uint32_t from; /* the number of the link; 0: a process of this launcher */
    uint32_t job, rank;
    uint64_t ticket, timeout_ns;
    struct slice group, nspace, block;
    struct foreign_members members;
    char bytes[];
};

/* A call of a process of this launcher that another one decides about. */
struct asked_call {
    struct list link;
    uint32_t to; /* the number of the link */
    uint64_t ticket, theirs;
};

static const struct core *core_of(const struct foreign_launchers *d)
{
    return &d->context->server->core;
}

static struct launcher_link *link_of(const struct foreign_launchers *d, uint32_t number)
{
    LIST_EACH(l, &d->links)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (k->number == number)
            return k;
    }
    return NULL;
}

/* A job that this launcher leads; others may know it. */
static const struct job *own_job(const struct foreign_launchers *d, struct slice nspace)
{
    const struct job *j = core_job_named(core_of(d), nspace);

    return j && !j->follows && !j->is_tool && j->phase != JOB_ENDED ? j : NULL;
}

static void set_due(struct foreign_launchers *d)
{
    timer_at(&d->due, foreign_connects_tick(&d->connects, clock_now_ns()));
}

/* ---- answers --------------------------------------------------------------------------------- */

/* To a process of this launcher, or (from) to another launcher. */
static void answer(struct foreign_launchers *d, uint32_t from, uint64_t ticket,
                   enum answer_status status)
{
    const struct node_context *c = d->context;
    struct answer a = { .status = status };
    struct launcher_link *k = from ? link_of(d, from) : NULL;

    if (k)
        launcher_link_send(k, &MSG_WITH(answer, .ticket = ticket, .status = status,
                                        .about = JOB_NO_RANK, .rank = JOB_NO_RANK));
    else if (!from && (!c->cluster || !rpc_answer(&c->cluster->dispatch.rpc, ticket, &a)))
        server_answer(c->server, ticket, &a);
}

/* The client only learns that they are not found. */
static void explain_unknown(struct foreign_launchers *d, const struct waiting_call *w,
                            const char *nspace)
{
    struct core *c = &d->context->server->core;
    struct job *j = core_job(c, w->job);
    struct buf text = BUF_NULL(LIMIT_STDIO_TAIL);

    if (w->from || !j)
        return;
    buf_printf(
        &text,
        "wireup: %s cannot connect to processes of %s: no launcher of yours on this machine "
        "has that job. Connect works between launchers of one user on one machine: start the "
        "other program there, or both by one command (PROGRAM : PROGRAM).\n",
        j->nspace, nspace);
    if (buf_ok(&text))
        control_log(
            c, j, w->rank,
            &(struct request_log){ .topic = SLICE("wireup / connect"), .text = buf_slice(&text) });
    buf_free(&text);
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
        copy.nodes[i].binding = NULL;
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

void foreign_launchers_state(struct foreign_launchers *d, const struct op_foreign_state *e)
{
    const struct job *j = core_job(core_of(d), e->job);

    if (!j || e->rank >= j->plan.nprocs)
        return;
    LIST_EACH(l, &d->links)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (launcher_link_knows(k, j->id))
            send_state(k, j, e->rank, e->event, e->code);
    }
    if (j->procs[e->rank].state == PROC_STATE_GONE || j->procs[e->rank].unreachable)
        foreign_connects_gone(&d->connects, e->nspace, e->rank);
}

void foreign_launchers_job_ended(struct foreign_launchers *d, const struct job *j)
{
    LIST_EACH(l, &d->links)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (!launcher_link_knows(k, j->id))
            continue;
        launcher_link_send(
            k, &MSG_WITH(foreign_gone, .job = JOB_NO_RANK, .nspace = slice_str(j->nspace)));
        launcher_link_forget(k, j->id);
    }
}

/* ---- calls and searches ---------------------------------------------------------------------- */

static void call_free(struct waiting_call *w)
{
    foreign_members_free(&w->members);
    list_unlink(&w->link);
    free(w);
}

static struct slice keep(char **at, struct slice s)
{
    char *begin = *at;

    if (s.len)
        memcpy(begin, s.ptr, s.len);
    *at += s.len;
    return slice_mem(begin, s.len);
}

static struct waiting_call *call_new(const struct op_foreign_connect *e, uint32_t from)
{
    struct waiting_call *w = calloc(1, sizeof *w + e->group.len + e->nspace.len + e->block.len + 1);
    char *at = w ? w->bytes : NULL;

    if (!w)
        return NULL;
    list_init(&w->link);
    w->from = from;
    w->job = e->job;
    w->rank = e->rank;
    w->ticket = e->ticket;
    w->timeout_ns = e->timeout_ns;
    w->group = keep(&at, e->group);
    w->nspace = keep(&at, e->nspace);
    w->block = keep(&at, e->block);
    return w;
}

static struct launcher_search *search_of(const struct foreign_launchers *d, struct slice nspace)
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
static bool search(struct foreign_launchers *d, struct slice nspace)
{
    struct launcher_search *s = search_of(d, nspace);

    if (s)
        return true;
    s = launcher_search_new(d->context, nspace, &search_calls, d);
    if (s)
        list_append(&d->searches, &s->link);
    return s != NULL;
}

/* OK: all are known; LATER: some are being searched for. */
static enum answer_status find_members(struct foreign_launchers *d, const struct waiting_call *w)
{
    enum answer_status status = ANSWER_OK;

    for (uint32_t i = 0; i < w->members.n; i++) {
        struct slice nspace = w->members.all[i].nspace;
        if (own_job(d, nspace) || foreign_jobs_named(d->jobs, nspace))
            continue;
        if (!search(d, nspace))
            return ANSWER_NO_MEMORY;
        status = ANSWER_LATER;
    }
    return status;
}

/* Each launcher of a member must know the jobs of all. */
static void announce_own(struct foreign_launchers *d, const struct foreign_members *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct foreign_job *to = foreign_jobs_named(d->jobs, m->all[i].nspace);
        struct launcher_link *k = to ? link_of(d, to->from) : NULL;
        for (uint32_t o = 0; k && o < m->n; o++) {
            const struct job *j = own_job(d, m->all[o].nspace);
            if (j)
                announce(k, j);
        }
    }
}

/* The launcher at that link decides. */
static enum answer_status pass_on(struct foreign_launchers *d, const struct waiting_call *w,
                                  uint32_t to)
{
    struct launcher_link *k = link_of(d, to);
    struct asked_call *a = k ? calloc(1, sizeof *a) : NULL;

    if (!a)
        return k ? ANSWER_NO_MEMORY : ANSWER_LOST;
    a->to = to;
    a->ticket = w->ticket;
    a->theirs = ++d->last_ticket;
    list_append(&d->asked, &a->link);
    launcher_link_send(k, &MSG_WITH(foreign_connect, .rank = w->rank, .ticket = a->theirs,
                                    .group = w->group, .nspace = w->nspace, .block = w->block,
                                    .timeout_ns = w->timeout_ns));
    return ANSWER_LATER;
}

/* All members are known. */
static void enter(struct foreign_launchers *d, const struct waiting_call *w)
{
    const struct foreign_job *first = foreign_jobs_named(d->jobs, w->members.all[0].nspace);
    struct foreign_call call = { .ticket = w->ticket,
                                 .deadline_ns =
                                     w->timeout_ns ? clock_now_ns() + w->timeout_ns : UINT64_MAX,
                                 .from = w->from,
                                 .rank = w->rank,
                                 .nspace = w->nspace,
                                 .block = w->block };
    enum answer_status status = ANSWER_LATER;

    announce_own(d, &w->members);
    if (!first)
        foreign_connects_enter(&d->connects, w->group, &call);
    else
        status = w->from ? ANSWER_BAD_KEY : pass_on(d, w, first->from);
    if (status != ANSWER_LATER)
        answer(d, w->from, w->ticket, status);
}

/* A search has ended, or a job has become known: calls that need no other enter. */
static void go_on(struct foreign_launchers *d)
{
    LIST_EACH(l, &d->calls)
    {
        struct waiting_call *w = LIST_OF(l, struct waiting_call, link);
        enum answer_status status = find_members(d, w);
        if (status == ANSWER_OK)
            enter(d, w);
        else if (status != ANSWER_LATER)
            answer(d, w->from, w->ticket, status);
        if (status != ANSWER_LATER)
            call_free(w);
    }
    set_due(d);
}

static void take_call(struct foreign_launchers *d, const struct op_foreign_connect *e,
                      uint32_t from)
{
    struct waiting_call *w = call_new(e, from);

    if (!w || !foreign_members_read(w->group, &w->members)) {
        answer(d, from, e->ticket, w ? ANSWER_BAD_KEY : ANSWER_NO_MEMORY);
        if (w)
            call_free(w);
        return;
    }
    list_append(&d->calls, &w->link);
    go_on(d);
}

void foreign_launchers_connect(struct foreign_launchers *d, const struct op_foreign_connect *e)
{
    take_call(d, e, 0);
}

static bool has_member(const struct waiting_call *w, const char *nspace)
{
    for (uint32_t i = 0; i < w->members.n; i++) {
        if (slice_is(w->members.all[i].nspace, nspace))
            return true;
    }
    return false;
}

/* No launcher has that job. */
static void fail_calls(struct foreign_launchers *d, const char *nspace)
{
    LIST_EACH(l, &d->calls)
    {
        struct waiting_call *w = LIST_OF(l, struct waiting_call, link);
        if (!has_member(w, nspace))
            continue;
        explain_unknown(d, w, nspace);
        answer(d, w->from, w->ticket, ANSWER_NOT_FOUND);
        call_free(w);
    }
}

static struct launcher_link *add_link(struct foreign_launchers *d, int fd, struct slice greeting);

/* The other launcher sends its job next; until then the search stays. */
static void search_over(void *arg, struct launcher_search *s, int fd)
{
    struct foreign_launchers *d = arg;
    struct launcher_link *k = fd >= 0 ? add_link(d, fd, SLICE_NULL) : NULL;

    if (k) {
        s->found = k->number;
        return;
    }
    if (fd >= 0)
        close(fd);
    fail_calls(d, s->nspace);
    launcher_search_free(s);
    turn_end(d->context->turn);
}

static const struct launcher_search_calls search_calls = { search_over };

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Records the connects of all members, on all nodes. */
static void connected(struct foreign_launchers *d, const struct foreign_members *m)
{
    const struct job *j = core_known_job(core_of(d), m->all[0].nspace);
    struct buf procs = BUF_NULL(1 << 26);

    proc_connect_write(core_of(d), m->all, m->n, &procs);
    if (j && buf_ok(&procs))
        foreign_jobs_connected(d->jobs, j, m->kind == COLL_CONNECT, buf_slice(&procs));
    buf_free(&procs);
}

/* Calls have come by this link, so the answers go there, too. */
static bool has_called(const struct launcher_link *k, const struct foreign_meeting *m)
{
    LIST_EACH(l, &m->calls)
    {
        if (LIST_OF(l, struct foreign_call, link)->from == k->number)
            return true;
    }
    return false;
}

static void send_values(struct launcher_link *k, const struct foreign_meeting *m)
{
    LIST_EACH(l, &m->calls)
    {
        const struct foreign_call *c = LIST_OF(l, struct foreign_call, link);
        if (c->from != k->number && c->block.len)
            launcher_link_send(k, &MSG_WITH(foreign_block, .nspace = c->nspace, .block = c->block));
    }
}

static void take_values(struct foreign_launchers *d, struct slice nspace, struct slice block)
{
    const struct foreign_job *j = foreign_jobs_named(d->jobs, nspace);

    if (j && block.len)
        foreign_jobs_values(d->jobs, j->job, block);
}

static void on_complete(void *arg, const struct foreign_meeting *m)
{
    struct foreign_launchers *d = arg;

    LIST_EACH(l, &m->calls)
    {
        const struct foreign_call *c = LIST_OF(l, struct foreign_call, link);
        if (c->from)
            take_values(d, c->nspace, c->block);
    }
    LIST_EACH(l, &d->links)
    {
        struct launcher_link *k = LIST_OF(l, struct launcher_link, link);
        if (!has_called(k, m))
            continue;
        send_values(k, m);
        launcher_link_send(k, &MSG_WITH(foreign_connected, .group = m->group));
    }
    if (m->members.kind != COLL_MEET_FENCE)
        connected(d, &m->members);
}

static void on_outcome(void *arg, const struct foreign_call *k, enum answer_status status)
{
    answer(arg, k->from, k->ticket, status);
}

static void on_due(void *arg)
{
    struct foreign_launchers *d = arg;

    set_due(d);
    turn_end(d->context->turn);
}

/* ---- messages of other launchers ------------------------------------------------------------- */

static struct foreign_job *job_of_link(const struct foreign_launchers *d,
                                       const struct launcher_link *k, struct slice nspace)
{
    struct foreign_job *j = foreign_jobs_named(d->jobs, nspace);

    return j && j->from == k->number ? j : NULL;
}

/* It may have changed its state while nobody here wanted to know. */
static void send_ends_again(struct foreign_launchers *d, struct launcher_link *k)
{
    LIST_EACH(l, &core_of(d)->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (launcher_link_knows(k, j->id))
            send_ends(k, j);
    }
}

static bool on_job(struct foreign_launchers *d, struct launcher_link *k,
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
    go_on(d);
    return true;
}

static bool on_call(struct foreign_launchers *d, struct launcher_link *k,
                    const struct op_foreign_connect *m)
{
    if (!foreign_jobs_named(d->jobs, m->nspace))
        answer(d, k->number, m->ticket, ANSWER_BAD_KEY);
    else
        take_call(d, m, k->number);
    return true;
}

static bool on_answer(struct foreign_launchers *d, const struct launcher_link *k,
                      const struct op_answer *m)
{
    LIST_EACH(l, &d->asked)
    {
        struct asked_call *a = LIST_OF(l, struct asked_call, link);
        if (a->to != k->number || a->theirs != m->ticket)
            continue;
        answer(d, 0, a->ticket, m->status);
        list_unlink(&a->link);
        free(a);
        return true;
    }
    return false;
}

static bool on_connected(struct foreign_launchers *d, struct slice group)
{
    struct foreign_members m;
    bool good = foreign_members_read(group, &m);

    if (good && m.kind != COLL_MEET_FENCE)
        connected(d, &m);
    foreign_members_free(&m);
    return good;
}

static bool on_state(struct foreign_launchers *d, const struct launcher_link *k,
                     const struct op_foreign_state *m)
{
    const struct foreign_job *j = job_of_link(d, k, m->nspace);
    const struct proc *p = j && m->rank < j->job->plan.nprocs ? &j->job->procs[m->rank] : NULL;

    if (!p || m->event == PROC_EVENT_STARTED || m->event == PROC_EVENT_READY ||
        p->state == PROC_STATE_GONE)
        return true;
    foreign_jobs_state(d->jobs, j->job, m->rank, m->event, m->code);
    if (p->state == PROC_STATE_GONE || p->unreachable)
        foreign_connects_gone(&d->connects, m->nspace, m->rank);
    return true;
}

/* Its processes that have not ended have not said so. */
static void lose_job(struct foreign_launchers *d, struct foreign_job *j)
{
    for (uint32_t r = 0; r < j->job->plan.nprocs; r++) {
        if (j->job->procs[r].state != PROC_STATE_GONE)
            foreign_jobs_state(d->jobs, j->job, r, PROC_EVENT_EXIT, 0);
    }
    foreign_jobs_remove(d->jobs, j);
}

static bool on_gone(struct foreign_launchers *d, const struct launcher_link *k, struct slice nspace)
{
    struct foreign_job *j = job_of_link(d, k, nspace);

    if (j)
        lose_job(d, j);
    foreign_connects_lost(&d->connects, 0);
    go_on(d);
    return true;
}

static bool receive(struct foreign_launchers *d, struct launcher_link *k, const struct msg *m)
{
    switch (m->kind) {
    case MSG_foreign_job: return on_job(d, k, &m->u.foreign_job);
    case MSG_foreign_connect: return on_call(d, k, &m->u.foreign_connect);
    case MSG_foreign_block:
        take_values(d, m->u.foreign_block.nspace, m->u.foreign_block.block);
        return true;
    case MSG_foreign_connected: return on_connected(d, m->u.foreign_connected.group);
    case MSG_foreign_state: return on_state(d, k, &m->u.foreign_state);
    case MSG_foreign_gone: return on_gone(d, k, m->u.foreign_gone.nspace);
    case MSG_answer: return on_answer(d, k, &m->u.answer);
    default: return false;
    }
}

static bool on_message(void *arg, struct launcher_link *k, const struct msg *m)
{
    struct foreign_launchers *d = arg;
    bool good = receive(d, k, m);

    turn_end(d->context->turn);
    return good;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void lose_jobs(struct foreign_launchers *d, uint32_t number)
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

static void lose_calls(struct foreign_launchers *d, uint32_t number)
{
    LIST_EACH(l, &d->asked)
    {
        struct asked_call *a = LIST_OF(l, struct asked_call, link);
        if (a->to != number)
            continue;
        answer(d, 0, a->ticket, ANSWER_LOST);
        list_unlink(&a->link);
        free(a);
    }
    LIST_EACH(l, &d->calls)
    {
        struct waiting_call *w = LIST_OF(l, struct waiting_call, link);
        if (w->from == number)
            call_free(w);
    }
}

static void lose_searches(struct foreign_launchers *d, uint32_t number)
{
    LIST_EACH(l, &d->searches)
    {
        struct launcher_search *s = LIST_OF(l, struct launcher_search, link);
        if (s->found != number)
            continue;
        fail_calls(d, s->nspace);
        launcher_search_free(s);
    }
}

static void on_closed(void *arg, struct launcher_link *k)
{
    struct foreign_launchers *d = arg;
    uint32_t number = k->number;

    launcher_link_free(k);
    lose_jobs(d, number);
    lose_calls(d, number);
    lose_searches(d, number);
    foreign_connects_lost(&d->connects, number);
    go_on(d);
    turn_end(d->context->turn);
}

static const struct launcher_link_calls link_calls = { on_message, on_closed };

static struct launcher_link *add_link(struct foreign_launchers *d, int fd, struct slice greeting)
{
    struct launcher_link *k = launcher_link_new(d->context->loop, fd, greeting, &link_calls, d);

    if (!k)
        return NULL;
    k->number = ++d->last_link;
    list_append(&d->links, &k->link);
    return k;
}

bool foreign_launchers_accept(struct foreign_launchers *d, struct slice question, int fd)
{
    struct slice rest = question, version = slice_cut(&rest, ' ');
    const struct job *j = slice_is(version, LAUNCHER_LINK_VERSION) ? own_job(d, rest) : NULL;
    struct launcher_link *k = j ? add_link(d, fd, SLICE(LAUNCHER_LINK_YES)) : NULL;

    if (k)
        announce(k, j);
    return k != NULL;
}

void foreign_launchers_open(struct foreign_launchers *d, const struct node_context *c,
                            struct foreign_jobs *jobs)
{
    static const struct foreign_connects_calls calls = { on_complete, on_outcome };

    d->context = c;
    d->jobs = jobs;
    list_init(&d->links);
    list_init(&d->searches);
    list_init(&d->calls);
    list_init(&d->asked);
    foreign_connects_open(&d->connects, &c->server->core, &calls, d);
    timer_init(&d->due, c->loop, on_due, d);
}

void foreign_launchers_close(struct foreign_launchers *d)
{
    if (!d->context)
        return;
    timer_stop(&d->due);
    LIST_EACH(l, &d->searches)
    launcher_search_free(LIST_OF(l, struct launcher_search, link));
    LIST_EACH(l, &d->links)
    launcher_link_free(LIST_OF(l, struct launcher_link, link));
    LIST_EACH(l, &d->calls)
    call_free(LIST_OF(l, struct waiting_call, link));
    LIST_EACH(l, &d->asked)
    {
        list_unlink(l);
        free(LIST_OF(l, struct asked_call, link));
    }
    foreign_connects_close(&d->connects);
    d->context = NULL;
}
