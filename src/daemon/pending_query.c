/* pending_query.c - see pending_query.h. */
#include "daemon/pending_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "report/job_row.h"
#include "report/who_part.h"
#include "daemon/node_context.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "wire/parts.h"

enum { PENDING_QUERY_REPORT_MAX = 64 << 20 };

enum query_part_state {
    QUERY_PART_NOT_ASKED, /* the daemon has not announced itself yet */
    QUERY_PART_AWAITED,
    QUERY_PART_HERE,
    QUERY_PART_STACKS,  /* it is, and stacks are awaited */
    QUERY_PART_REFUSED, /* the daemon had no memory for it */
    QUERY_PART_LOST     /* ... was lost before it answered */
};

/* A daemon's part of the report; the first one is our own. */
struct query_part {
    struct buf text, stacks;
    enum query_part_state state;
};

/* Of a daemon: its launcher waits for them. */
struct asked_stacks {
    struct list link;
    struct pending_queries *of;
    uint32_t from;
    uint64_t ticket;
};

struct pending_query {
    struct list link;
    struct pending_queries *of;
    uint64_t ticket;
    char *job; /* empty: all */
    bool json, stacks, usage;
    bool second; /* the stacks are awaited */
    struct timer patience;
    struct query_part *parts; /* by position; NULL: no memory */
    uint32_t count, awaited;
    pending_query_fn *done;
    void *arg;
};

/* ---- this node's part ---- */

static bool look(void *arg, int pid, struct proc_look *look_p)
{
    struct pending_queries *q = arg;

    return proc_look_at(&q->looks, pid, look_p) == 0;
}

static bool look_briefly(void *arg, int pid, struct proc_look *look_p)
{
    struct pending_queries *q = arg;

    return proc_look_usage(&q->looks, pid, look_p) == 0;
}

static struct who_options options_of(struct pending_queries *q, struct slice job, bool json)
{
    return (struct who_options){ .job = job,
                                 .json = json,
                                 .number = q->number.value,
                                 .first = q->first,
                                 .now_ns = clock_now_ns(),
                                 .look = look,
                                 .arg = q };
}

void pending_query_part(struct pending_queries *q, struct slice job, bool usage, struct buf *out)
{
    struct who_options o = options_of(q, job, false);

    if (usage)
        o.look = look_briefly;
    who_part(&q->context->server->core, &o, out);
}

static void asked_free(struct asked_stacks *a)
{
    list_unlink(&a->link);
    free(a);
}

static void send_stacks(void *arg, struct slice part)
{
    struct asked_stacks *a = arg;
    const struct node_context *n = a->of->context;

    rpc_part(&n->cluster->dispatch.rpc, a->from, a->ticket, part);
    asked_free(a);
}

void pending_query_stacks(struct pending_queries *q, uint32_t from, uint64_t ticket,
                          struct slice job)
{
    struct asked_stacks *a = calloc(1, sizeof *a);

    if (!a) {
        rpc_part(&q->context->cluster->dispatch.rpc, from, ticket, SLICE_NULL);
        return;
    }
    *a = (struct asked_stacks){ .of = q, .from = from, .ticket = ticket };
    list_init(&a->link);
    list_append(&q->asked, &a->link);
    stacks_begin(&q->stacks, job, send_stacks, a);
}

/* ---- the report ---- */

static bool is_daemon(const struct node_context *n)
{
    return n->cluster && n->cluster->router.config.me != 0;
}

/* The stacks of one node; why_p: why there are not all, borrowed.  False: malformed. */
static int add_stacks(struct who_picture *p, struct slice part, struct slice *why_p)
{
    struct slice stack;
    uint64_t job;
    uint32_t rank;
    int rc = 0;

    while (rc == 0 && parts_get_uint(&part, &job) && job != 0) {
        if (!parts_get_u32(&part, &rank) || !parts_get_bytes(&part, &stack))
            return 0;
        rc = job <= UINT32_MAX ? who_picture_stack(p, (uint32_t)job - 1, rank, stack) : 0;
    }
    return parts_get_bytes(&part, why_p) ? rc : 0;
}

/* "from n1: gdb is not installed; from n2: ..." */
static int all_stacks(const struct pending_query *i, struct who_picture *p, struct buf *why)
{
    const struct cluster_io *s = i->of->context->cluster;
    int rc = 0;

    for (uint32_t at = 0; rc == 0 && at < i->count; at++) {
        struct slice one = SLICE_NULL;
        if (buf_len(&i->parts[at].stacks))
            rc = add_stacks(p, buf_slice(&i->parts[at].stacks), &one);
        else if (i->parts[at].state == QUERY_PART_STACKS)
            one = SLICE("no answer");
        if (one.len == 0)
            continue;
        buf_str(why, buf_len(why) ? "; " : "");
        buf_printf(why, "from %s: ", s ? s->names[at] : "this node");
        buf_escaped(why, one);
    }
    return rc;
}

/* All parts together; NULL: no memory. */
static struct who_picture *merge(const struct pending_query *i, uint64_t now_ns)
{
    const struct core *c = &i->of->context->server->core;
    struct who_picture *p = i->parts ? who_picture_new(c, now_ns) : NULL;
    int rc = p && buf_ok(&i->parts[0].text) ? 0 : -ENOMEM;

    for (uint32_t at = 0; rc == 0 && at < i->count; at++) {
        const struct buf *text = &i->parts[at].text;
        if (buf_len(text) && who_picture_add(p, buf_slice(text)) == -ENOMEM)
            rc = -ENOMEM;
    }
    return rc == 0 ? p : who_picture_free(p);
}

/* Without memory the report on our own core must do. */
static int report_all(const struct pending_query *i, struct who_options *o, struct buf *out)
{
    const struct core *c = &i->of->context->server->core;
    struct who_picture *p = merge(i, o->now_ns);
    struct buf why = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    int rc = p ? 0 : -ENOMEM;

    if (rc == 0 && i->stacks)
        rc = all_stacks(i, p, &why);
    o->no_stacks = buf_len(&why) ? buf_cstr(&why) : NULL;
    rc = rc == 0 ? who_picture_report(p, o, out) : who_report(c, o, out);
    who_picture_free(p);
    buf_free(&why);
    return rc;
}

static bool is_silent(const struct query_part *p)
{
    return p->state == QUERY_PART_AWAITED || p->state == QUERY_PART_REFUSED ||
           p->state == QUERY_PART_LOST;
}

/* For people, a line at the end of the report. */
static void list_silent(const struct pending_query *i, struct buf *out)
{
    const char *before = "no answer from ";

    for (uint32_t at = 1; i->parts && at < i->count; at++) {
        if (!is_silent(&i->parts[at]))
            continue;
        buf_printf(out, "%s%s%s", before, i->of->context->cluster->names[at],
                   i->parts[at].state == QUERY_PART_LOST ? " (lost)" : "");
        before = ", ";
    }
    if (*before == ',')
        buf_byte(out, '\n');
}

/* NULL: no memory, or all have answered. */
static struct who_silent *silent_nodes(const struct pending_query *i, uint32_t *n_p)
{
    struct who_silent *nodes = i->count ? calloc(i->count, sizeof *nodes) : NULL;

    *n_p = 0;
    for (uint32_t at = 1; nodes && i->parts && at < i->count; at++) {
        if (is_silent(&i->parts[at]))
            nodes[(*n_p)++] = (struct who_silent){ i->of->context->cluster->names[at],
                                                   i->parts[at].state == QUERY_PART_LOST };
    }
    return nodes;
}

static void write_report(const struct pending_query *i, struct buf *out)
{
    struct who_options o = options_of(i->of, slice_str(i->job), i->json);
    struct who_silent *silent = silent_nodes(i, &o.nsilent);
    int rc = o.job.len ? WHO_NO_SUCH_JOB : 0;

    o.silent = silent;
    if (is_daemon(i->of->context))
        buf_str(out, i->json ? "[]\n" : "");
    else
        rc = report_all(i, &o, out);
    if (rc == WHO_NO_SUCH_JOB) {
        buf_clear(out);
        buf_printf(out, "error: no job " SLICE_FMT " here\n", SLICE_ARG(slice_head(o.job, 200)));
    } else if (!i->json) {
        list_silent(i, out);
    }
    free(silent);
}

/* ---- lines about jobs ---- */

static void put_name(struct buf *names, const char *name)
{
    buf_printf(names, "%s%s", buf_len(names) ? "," : "", name);
}

/* lost, draining: room for the names that the row borrows. */
static void describe_dvm(const struct dvm_leases *l, struct launcher_row *r, struct buf *lost,
                         struct buf *draining)
{
    struct arena a = ARENA_NULL(64 << 20);
    uint32_t n = 0;
    struct dvm_slots_node *nodes = dvm_leases_nodes(l, &a, &n);
    struct dvm_slots_sum sum = dvm_slots_sum(nodes, nodes ? n : 0);

    /* Those that jobs may use: this machine is one only if it was named. */
    for (uint32_t i = 0; nodes && i < n; i++) {
        r->nodes += nodes[i].usable;
        if (nodes[i].lost)
            put_name(lost, nodes[i].name);
        else if (nodes[i].draining)
            put_name(draining, nodes[i].name);
    }
    r->dvm_name = slice_str(l->config.name);
    r->slots = sum.slots;
    r->free = sum.free;
    r->waiting = dvm_leases_waiting(l);
    r->lost = buf_slice(lost);
    r->draining = buf_slice(draining);
    arena_free(&a);
}

static void put_launcher(const struct pending_queries *q, struct slice silent, struct buf *out)
{
    const struct node_context *n = q->context;
    const struct node_config *c = n->config;
    const struct dvm_leases *dvm = c ? c->dvm_leases : NULL;
    struct buf lost = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    struct buf draining = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    struct launcher_row r = { .number = q->number.value,
                              .pid = c && c->guard ? (int)c->guard : (int)getpid(),
                              .is_dvm = dvm && dvm->cluster,
                              .silent = silent };

    if (r.is_dvm)
        describe_dvm(dvm, &r, &lost, &draining);
    launcher_row_put(&r, out);
    buf_free(&lost);
    buf_free(&draining);
}

static void put_jobs(const struct pending_queries *q, const struct core *merged, struct buf *out)
{
    const struct node_context *n = q->context;
    const struct job_rows_options o = { .now_ns = clock_now_ns(),
                                        .first = q->first,
                                        .label = n->config ? n->config->job_name : NULL,
                                        .is_dvm = n->config && n->config->dvm_leases };

    job_rows_write(&n->server->core, merged, &o, out);
}

void pending_query_jobs(const struct pending_queries *q, struct buf *out)
{
    if (is_daemon(q->context))
        return;
    put_launcher(q, SLICE_NULL, out);
    put_jobs(q, &q->context->server->core, out);
}

static void write_usage(const struct pending_query *i, struct buf *out)
{
    struct buf names = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    struct who_picture *p = is_daemon(i->of->context) ? NULL : merge(i, clock_now_ns());

    if (!p) {
        pending_query_jobs(i->of, out);
        return;
    }
    for (uint32_t at = 1; at < i->count; at++) {
        if (is_silent(&i->parts[at]))
            buf_printf(&names, "%s%s", buf_len(&names) ? "," : "",
                       i->of->context->cluster->names[at]);
    }
    put_launcher(i->of, buf_slice(&names), out);
    put_jobs(i->of, who_picture_core(p), out);
    who_picture_free(p);
    buf_free(&names);
}

static void pending_query_free(struct pending_query *i)
{
    timer_stop(&i->patience);
    list_unlink(&i->link);
    stacks_forget(&i->of->stacks, i);
    for (uint32_t at = 0; i->parts && at < i->count; at++) {
        buf_free(&i->parts[at].text);
        buf_free(&i->parts[at].stacks);
    }
    free(i->parts);
    free(i->job);
    free(i);
}

static void finish(struct pending_query *i)
{
    struct buf report = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    pending_query_fn *done = i->done;
    void *who = i->arg;

    if (i->usage)
        write_usage(i, &report);
    else
        write_report(i, &report);
    if (!buf_ok(&report))
        buf_clear(&report);
    pending_query_free(i);
    done(who, buf_slice(&report));
    buf_free(&report);
}

/* ---- requests ---- */

static void over(struct pending_query *i);

/* Only those that answered at once are waited for longer. */
static void own_stacks_here(void *arg, struct slice part)
{
    struct pending_query *i = arg;

    buf_slice_put(&i->parts[0].stacks, part);
    if (--i->awaited == 0)
        over(i);
}

static void patience_over(void *arg)
{
    struct pending_query *i = arg;
    const struct turn *turn = i->of->context->turn;

    over(i);
    turn_end(turn);
}

static void ask_stacks(struct pending_query *i)
{
    struct cluster_io *s = i->of->context->cluster;
    uint32_t others = 0;

    i->second = true;
    i->ticket = ++i->of->next;
    for (uint32_t at = 1; at < i->count; at++) {
        if (i->parts[at].state == QUERY_PART_HERE)
            others++;
    }
    i->awaited = others + 1; /* ours may be there at once, and end the query */
    for (uint32_t at = 1; at < i->count; at++) {
        if (i->parts[at].state == QUERY_PART_HERE)
            i->parts[at].state = QUERY_PART_STACKS;
    }
    if (others)
        rpc_query(&s->dispatch.rpc, i->ticket, slice_str(i->job), RPC_QUERY_STACKS);
    timer_set(&i->patience, LIMIT_STACKS_MS + LIMIT_WHO_MS);
    stacks_begin(&i->of->stacks, slice_str(i->job), own_stacks_here, i);
}

/* The answers are there, or the time has passed. */
static void over(struct pending_query *i)
{
    if (i->stacks && !i->second && i->parts && !is_daemon(i->of->context))
        ask_stacks(i);
    else
        finish(i);
}

/* A node that was lost before it was asked is missing, too. */
static enum query_part_state first_state(const struct router *r, uint32_t at)
{
    if (router_reaches(r, at))
        return QUERY_PART_AWAITED;
    return router_is_lost(r, at) ? QUERY_PART_LOST : QUERY_PART_NOT_ASKED;
}

/* Another daemon is at work there, at a later position. */
static bool is_back(const struct cluster_io *s, uint32_t at)
{
    for (uint32_t p = at + 1;
         s->names && s->names[at] && router_is_lost(&s->router, at) && p < s->router.config.count;
         p++) {
        if (s->names[p] && router_reaches(&s->router, p) && !strcmp(s->names[p], s->names[at]))
            return true;
    }
    return false;
}

/* A node that has left the DVM, or has come again, is not missing. */
static bool has_left(const struct node_context *n, uint32_t at)
{
    const struct dvm_leases *l = n->config->dvm_leases;

    if (is_back(n->cluster, at))
        return true;
    return l && l->cluster && l->config.use(l->config.arg, at) == DVM_NODE_LEFT;
}

static void open_parts(struct pending_query *i, bool alone)
{
    struct cluster_io *s = i->of->context->cluster;

    i->count = alone ? 1 : s->router.config.count;
    i->parts = calloc(i->count, sizeof *i->parts);
    for (uint32_t at = 0; i->parts && at < i->count; at++) {
        buf_init(&i->parts[at].text, LIMIT_DAEMON_LINK_MESSAGE);
        buf_init(&i->parts[at].stacks, LIMIT_DAEMON_LINK_MESSAGE);
        if (at == 0 || has_left(i->of->context, at))
            continue;
        i->parts[at].state = first_state(&s->router, at);
        i->awaited += i->parts[at].state == QUERY_PART_AWAITED;
    }
}

static void ask_nodes(struct pending_query *i)
{
    const struct node_context *n = i->of->context;
    bool alone = !n->cluster || is_daemon(n) || launcher_state_is_alone(*n->state);

    open_parts(i, alone);
    if (i->parts && !is_daemon(n))
        pending_query_part(i->of, slice_str(i->job), i->usage, &i->parts[0].text);
    if (i->awaited)
        rpc_query(&n->cluster->dispatch.rpc, i->ticket, slice_str(i->job),
                  i->usage ? RPC_QUERY_USAGE : RPC_QUERY_PENDING);
}

static bool cut_word(struct slice *words, const char *word)
{
    struct slice rest = *words;

    if (!slice_is(slice_cut(&rest, ' '), word))
        return false;
    *words = slice_trim(rest);
    return true;
}

/* `[usage] [json] [stacks] [JOB]` */
static void read_words(struct pending_query *i, struct slice words)
{
    struct slice job = slice_trim(words);

    i->usage = cut_word(&job, "usage");
    i->json = cut_word(&job, "json");
    i->stacks = cut_word(&job, "stacks");
    i->job = strndup(job.len ? job.ptr : "", job.len);
}

void pending_query_begin(struct pending_queries *q, struct slice words, pending_query_fn *done,
                         void *arg)
{
    struct pending_query *i = calloc(1, sizeof *i);

    if (i)
        read_words(i, words);
    if (!i || !i->job) {
        free(i);
        done(arg, SLICE("error: out of memory\n"));
        return;
    }
    i->of = q;
    i->done = done;
    i->arg = arg;
    i->ticket = ++q->next;
    list_init(&i->link);
    list_append(&q->all, &i->link);
    timer_init(&i->patience, q->context->loop, patience_over, i);
    ask_nodes(i);
    if (i->awaited)
        timer_set(&i->patience, LIMIT_WHO_MS);
    else
        over(i);
}

static bool is_awaited(const struct pending_query *i, uint32_t position)
{
    return i->parts && position < i->count &&
           i->parts[position].state == (i->second ? QUERY_PART_STACKS : QUERY_PART_AWAITED);
}

/* Its part is not awaited any more. */
static void settle(struct pending_query *i, uint32_t position, enum query_part_state state)
{
    if (!is_awaited(i, position))
        return;
    /* The loss is worth a line, although the first part is here. */
    i->parts[position].state = state;
    i->awaited--;
}

/* `done` may begin and forget queries. */
static bool end_one(struct pending_queries *q)
{
    LIST_EACH(l, &q->all)
    {
        struct pending_query *i = LIST_OF(l, struct pending_query, link);
        if (i->awaited == 0) {
            over(i);
            return true;
        }
    }
    return false;
}

static void end_complete(struct pending_queries *q)
{
    while (end_one(q))
        ;
}

void pending_query_receive(struct pending_queries *q, uint32_t position, uint64_t ticket,
                           struct slice text)
{
    LIST_EACH(l, &q->all)
    {
        struct pending_query *i = LIST_OF(l, struct pending_query, link);
        if (i->ticket != ticket || !is_awaited(i, position))
            continue;
        buf_slice_put(i->second ? &i->parts[position].stacks : &i->parts[position].text, text);
        settle(i, position, text.len ? QUERY_PART_HERE : QUERY_PART_REFUSED);
    }
    end_complete(q);
}

void pending_query_lost(struct pending_queries *q, uint32_t position)
{
    LIST_EACH(l, &q->all)
    settle(LIST_OF(l, struct pending_query, link), position, QUERY_PART_LOST);
    end_complete(q);
}

void pending_query_forget(struct pending_queries *q, const void *arg)
{
    LIST_EACH(l, &q->all)
    {
        struct pending_query *i = LIST_OF(l, struct pending_query, link);
        if (i->arg == arg)
            pending_query_free(i);
    }
}

void pending_queries_open(struct pending_queries *q, const struct node_context *c)
{
    q->context = c;
    q->next = 0;
    list_init(&q->all);
    list_init(&q->asked);
    q->number = JOB_NUMBER_NONE;
    q->first = JOB_NO_RANK;
    q->looks = (struct proc_looks){ NULL };
    stacks_open(&q->stacks, c, &q->looks);
}

void pending_queries_lead(struct pending_queries *q, uint32_t job)
{
    job_number_take(&q->number);
    if (q->first == JOB_NO_RANK)
        q->first = job;
}

void pending_queries_close(struct pending_queries *q)
{
    if (!q->context)
        return;
    LIST_EACH(l, &q->all)
    pending_query_free(LIST_OF(l, struct pending_query, link));
    LIST_EACH(l, &q->asked)
    asked_free(LIST_OF(l, struct asked_stacks, link));
    stacks_close(&q->stacks);
    proc_looks_free(&q->looks);
    job_number_drop(&q->number);
    q->context = NULL;
}
