/* pending_query.c - see pending_query.h. */
#include "daemon/pending_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "report/who_part.h"
#include "io/procstat.h"
#include "daemon/node_context.h"
#include "daemon/cluster_io.h"

enum { PENDING_QUERY_REPORT_MAX = 64 << 20 };

enum query_part_state {
    QUERY_PART_NOT_ASKED, /* the daemon has not announced itself yet */
    QUERY_PART_AWAITED,
    QUERY_PART_HERE,
    QUERY_PART_REFUSED, /* the daemon had no memory for it */
    QUERY_PART_LOST     /* ... was lost before it answered */
};

/* A daemon's part of the report. */
struct query_part {
    struct buf text;
    enum query_part_state state;
};

struct pending_query {
    struct list link;
    struct pending_queries *of;
    uint64_t ticket;
    char *job; /* empty: all */
    bool json;
    struct timer patience;
    struct query_part *parts; /* by position; NULL: only our own */
    uint32_t count, awaited;
    pending_query_fn *done;
    void *arg;
};

/* ---- process states, as /proc has them ---- */

static const char *state_word(char letter)
{
    switch (letter) {
    case 'R': return "running";
    case 'S': return "sleeping";
    case 'D': return "waiting for a device";
    case 'T': return "stopped";
    case 't': return "stopped by a debugger";
    case 'Z': return "ended";
    default: return NULL;
    }
}

static const char *machine_state(void *arg, int pid)
{
    struct procstat st;

    (void)arg;
    return procstat_read(pid, &st) == 0 ? state_word(st.state) : NULL;
}

static struct who_options options_of(struct slice job, bool json)
{
    return (struct who_options){
        .job = job, .json = json, .now_ns = clock_now_ns(), .machine_state = machine_state
    };
}

void pending_query_part(const struct core *c, struct slice job, struct buf *out)
{
    struct who_options o = options_of(job, false);

    who_part(c, &o, out);
}

/* ---- the report ---- */

static bool is_daemon(const struct node_context *n)
{
    return n->cluster && n->cluster->router.config.me != 0;
}

/* This node's part is among them; without memory the report on our own core must do. */
static int report_all(const struct pending_query *i, const struct who_options *o, struct buf *out)
{
    const struct core *c = &i->of->context->server->core;
    struct who_picture *p = who_picture_new(c, o->now_ns);
    struct buf own = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    int rc = p ? 0 : -ENOMEM;

    pending_query_part(c, o->job, &own);
    if (rc == 0 && (!buf_ok(&own) || who_picture_add(p, buf_slice(&own)) < 0))
        rc = -ENOMEM;
    for (uint32_t at = 1; rc == 0 && at < i->count; at++) {
        const struct buf *text = &i->parts[at].text;
        if (buf_len(text) && who_picture_add(p, buf_slice(text)) == -ENOMEM)
            rc = -ENOMEM;
    }
    rc = rc == 0 ? who_picture_report(p, o, out) : who_report(c, o, out);
    who_picture_free(p);
    buf_free(&own);
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

    for (uint32_t at = 1; at < i->count; at++) {
        if (!is_silent(&i->parts[at]))
            continue;
        buf_printf(out, "%s%s%s", before, i->of->context->cluster->names[at],
                   i->parts[at].state == QUERY_PART_LOST ? " (lost)" : "");
        before = ", ";
    }
    if (*before == ',')
        buf_byte(out, '\n');
}

/* For programs, a member of each job.  NULL: no memory, or all have answered. */
static const char **silent_names(const struct pending_query *i, uint32_t *n_p)
{
    const char **names = i->count ? calloc(i->count, sizeof *names) : NULL;

    *n_p = 0;
    for (uint32_t at = 1; names && at < i->count; at++) {
        if (is_silent(&i->parts[at]))
            names[(*n_p)++] = i->of->context->cluster->names[at];
    }
    return names;
}

static void write_report(const struct pending_query *i, struct buf *out)
{
    const struct node_context *n = i->of->context;
    struct who_options o = options_of(slice_str(i->job), i->json);
    const char **silent = i->parts ? silent_names(i, &o.nsilent) : NULL;
    int rc = o.job.len ? WHO_NO_SUCH_JOB : 0;

    o.silent = silent;
    if (is_daemon(n))
        buf_str(out, i->json ? "[]\n" : "");
    else
        rc = i->parts ? report_all(i, &o, out) : who_report(&n->server->core, &o, out);
    if (rc == WHO_NO_SUCH_JOB) {
        buf_clear(out);
        buf_printf(out, "error: no job " SLICE_FMT " here\n", SLICE_ARG(slice_head(o.job, 200)));
    } else if (i->parts && !i->json) {
        list_silent(i, out);
    }
    free(silent);
}

static void pending_query_free(struct pending_query *i)
{
    timer_stop(&i->patience);
    list_unlink(&i->link);
    for (uint32_t at = 0; i->parts && at < i->count; at++)
        buf_free(&i->parts[at].text);
    free(i->parts);
    free(i->job);
    free(i);
}

static void pending_query_over(void *arg)
{
    struct pending_query *i = arg;
    struct buf report = BUF_NULL(PENDING_QUERY_REPORT_MAX);
    pending_query_fn *done = i->done;
    void *who = i->arg;

    write_report(i, &report);
    if (!buf_ok(&report))
        buf_clear(&report);
    pending_query_free(i);
    done(who, buf_slice(&report));
    buf_free(&report);
}

/* ---- requests ---- */

static void ask_nodes(struct pending_query *i)
{
    struct cluster_io *s = i->of->context->cluster;

    i->count = s->router.config.count;
    i->parts = calloc(i->count, sizeof *i->parts);
    if (!i->parts)
        return;
    for (uint32_t at = 1; at < i->count; at++) {
        buf_init(&i->parts[at].text, LIMIT_DAEMON_LINK_MESSAGE);
        if (!router_reaches(&s->router, at))
            continue;
        i->parts[at].state = QUERY_PART_AWAITED;
        i->awaited++;
    }
    if (i->awaited)
        rpc_query(&s->dispatch.rpc, i->ticket, slice_str(i->job));
}

void pending_query_begin(struct pending_queries *q, struct slice words, pending_query_fn *done,
                         void *arg)
{
    const struct node_context *n = q->context;
    struct pending_query *i = calloc(1, sizeof *i);
    struct slice job = slice_trim(words), rest = job;
    bool json = slice_is(slice_cut(&rest, ' '), "json");

    if (json)
        job = slice_trim(rest);
    if (i)
        i->job = strndup(job.len ? job.ptr : "", job.len);
    if (!i || !i->job) {
        free(i);
        done(arg, SLICE("error: out of memory\n"));
        return;
    }
    i->of = q;
    i->json = json;
    i->done = done;
    i->arg = arg;
    i->ticket = ++q->next;
    list_init(&i->link);
    list_append(&q->all, &i->link);
    timer_init(&i->patience, n->loop, pending_query_over, i);
    if (n->cluster && !is_daemon(n) && !launcher_state_is_alone(*n->state))
        ask_nodes(i);
    if (i->awaited)
        timer_set(&i->patience, LIMIT_WHO_MS);
    else
        pending_query_over(i);
}

/* Its part is not awaited any more. */
static void settle(struct pending_query *i, uint32_t position, enum query_part_state state)
{
    if (position >= i->count || i->parts[position].state != QUERY_PART_AWAITED)
        return;
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
            pending_query_over(i);
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
        if (i->ticket != ticket || position >= i->count ||
            i->parts[position].state != QUERY_PART_AWAITED)
            continue;
        buf_slice_put(&i->parts[position].text, text);
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
}

void pending_queries_close(struct pending_queries *q)
{
    if (!q->context)
        return;
    LIST_EACH(l, &q->all)
    pending_query_free(LIST_OF(l, struct pending_query, link));
    q->context = NULL;
}
