/* foreign_launchers.c - see foreign_launchers.h.  Reading order: answers; calls; outcomes; messages
 * of other launchers. */
#include "daemon/foreign_launchers.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/msg.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/proc_connect.h"
#include "daemon/cluster_io.h"

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
    struct launcher_link *k = from ? launcher_links_numbered(&d->links, from) : NULL;

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
        "has that job%s. Connect works between launchers of one user on one machine, or with one "
        "-launchers-dir: start the other program so, or both by one command (PROGRAM : PROGRAM).\n",
        j->nspace, nspace,
        d->context->distant ? ", and none in the directory of -launchers-dir" : "");
    if (buf_ok(&text))
        control_log(
            c, j, w->rank,
            &(struct request_log){ .topic = SLICE("wireup / connect"), .text = buf_slice(&text) });
    buf_free(&text);
}

/* ---- calls ----------------------------------------------------------------------------------- */

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

/* OK: all are known; LATER: some are being searched for. */
static enum answer_status find_members(struct foreign_launchers *d, const struct waiting_call *w)
{
    enum answer_status status = ANSWER_OK;

    for (uint32_t i = 0; i < w->members.n; i++) {
        switch (launcher_links_find(&d->links, w->members.all[i].nspace)) {
        case LAUNCHER_LINKS_KNOWN: break;
        case LAUNCHER_LINKS_SEARCHED: status = ANSWER_LATER; break;
        case LAUNCHER_LINKS_NO_MEMORY: return ANSWER_NO_MEMORY;
        }
    }
    return status;
}

/* The launcher at that link decides. */
static enum answer_status pass_on(struct foreign_launchers *d, const struct waiting_call *w,
                                  uint32_t to)
{
    struct launcher_link *k = launcher_links_numbered(&d->links, to);
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
    const struct foreign_job *first = foreign_jobs_named(d->links.jobs, w->members.all[0].nspace);
    struct foreign_call call = { .ticket = w->ticket,
                                 .deadline_ns =
                                     w->timeout_ns ? clock_now_ns() + w->timeout_ns : UINT64_MAX,
                                 .from = w->from,
                                 .rank = w->rank,
                                 .nspace = w->nspace,
                                 .block = w->block };
    enum answer_status status = ANSWER_LATER;

    launcher_links_announce(&d->links, &w->members);
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
static void fail_calls(void *arg, const char *nspace)
{
    struct foreign_launchers *d = arg;

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

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Records the connects of all members, on all nodes. */
static void connected(struct foreign_launchers *d, const struct foreign_members *m)
{
    const struct job *j = core_known_job(core_of(d), m->all[0].nspace);
    struct buf procs = BUF_NULL(1 << 26);

    proc_connect_write(core_of(d), m->all, m->n, &procs);
    if (j && buf_ok(&procs))
        foreign_jobs_connected(d->links.jobs, j, m->kind == COLL_CONNECT, buf_slice(&procs));
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
    const struct foreign_job *j = foreign_jobs_named(d->links.jobs, nspace);

    if (j && block.len)
        foreign_jobs_values(d->links.jobs, j->job, block);
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
    LIST_EACH(l, &d->links.all)
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

static bool on_call(struct foreign_launchers *d, struct launcher_link *k,
                    const struct op_foreign_connect *m)
{
    if (!foreign_jobs_named(d->links.jobs, m->nspace))
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

static bool on_message(void *arg, struct launcher_link *k, const struct msg *m)
{
    struct foreign_launchers *d = arg;

    switch (m->kind) {
    case MSG_foreign_connect: return on_call(d, k, &m->u.foreign_connect);
    case MSG_foreign_block:
        take_values(d, m->u.foreign_block.nspace, m->u.foreign_block.block);
        return true;
    case MSG_foreign_connected: return on_connected(d, m->u.foreign_connected.group);
    case MSG_foreign_get: foreign_values_serve(&d->values, k, &m->u.foreign_get); return true;
    case MSG_answer:
        return foreign_values_answer(&d->values, k, &m->u.answer) || on_answer(d, k, &m->u.answer);
    default: return false;
    }
}

static void on_gone(void *arg, struct slice nspace, uint32_t rank)
{
    struct foreign_launchers *d = arg;

    foreign_connects_gone(&d->connects, nspace, rank);
}

/* Also when a job is gone: then what has members of it fails. */
static void on_changed(void *arg)
{
    struct foreign_launchers *d = arg;

    foreign_connects_lost(&d->connects, 0);
    go_on(d);
}

static void on_lost(void *arg, uint32_t number)
{
    struct foreign_launchers *d = arg;

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
    foreign_connects_lost(&d->connects, number);
    foreign_values_lost(&d->values, number);
}

/* ---- the module ------------------------------------------------------------------------------ */

void foreign_launchers_open(struct foreign_launchers *d, const struct node_context *c,
                            struct foreign_jobs *jobs)
{
    static const struct foreign_connects_calls calls = { on_complete, on_outcome };
    static const struct launcher_links_calls links = { .changed = on_changed,
                                                       .not_found = fail_calls,
                                                       .gone = on_gone,
                                                       .lost = on_lost,
                                                       .message = on_message };

    d->context = c;
    list_init(&d->calls);
    list_init(&d->asked);
    launcher_links_open(&d->links, c, jobs, &links, d);
    foreign_values_open(&d->values, c, &d->links);
    foreign_connects_open(&d->connects, &c->server->core, &calls, d);
    timer_init(&d->due, c->loop, on_due, d);
}

void foreign_launchers_close(struct foreign_launchers *d)
{
    if (!d->context)
        return;
    timer_stop(&d->due);
    launcher_links_close(&d->links);
    LIST_EACH(l, &d->calls)
    call_free(LIST_OF(l, struct waiting_call, link));
    LIST_EACH(l, &d->asked)
    {
        list_unlink(l);
        free(LIST_OF(l, struct asked_call, link));
    }
    foreign_connects_close(&d->connects);
    foreign_values_close(&d->values);
    d->context = NULL;
}
