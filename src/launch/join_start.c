/* join_start.c - see join_start.h.  Reading order: who is there; what people are told; nodes that
 * come and go; opening. */
#include "launch/join_start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "launch/plan_builder.h"

enum { JOIN_START_TEXT = 1 << 16 };

/* ---- who is there ---------------------------------------------------------------------------- */

static bool takes_ranks(const struct join_start *s, uint32_t position)
{
    return position ? remote_is_ready(s->remote, position) : !s->remote->opt->join_only;
}

static struct join_count count(const struct join_start *s)
{
    const struct remote *f = s->remote;
    struct join_count c = { 0, 0 };

    for (uint32_t p = 0; p <= f->boot.nnodes; p++) {
        if (takes_ranks(s, p))
            join_wish_count(s->wish, &c, f->slots[p]);
    }
    return c;
}

static bool enough(void *arg)
{
    struct join_start *s = arg;
    struct join_count c = count(s);

    s->begun = join_wish_met(s->wish, &c);
    if (s->begun)
        timer_stop(&s->late);
    return s->begun;
}

/* A living node of that name, or one that is coming up; the count: none. */
static uint32_t position_named(const struct join_start *s, const char *name)
{
    const struct remote *f = s->remote;
    uint32_t p = 0;

    while (p < f->boot.count && (!f->names[p] || strcmp(f->names[p], name) != 0 ||
                                 (p && router_is_lost(&f->cluster.router, p))))
        p++;
    return p;
}

/* ---- what people are told -------------------------------------------------------------------- */

static void put_names(const struct join_start *s, struct buf *out)
{
    const char *between = "";

    for (uint32_t p = 0; p <= s->remote->boot.nnodes; p++) {
        if (!takes_ranks(s, p))
            continue;
        buf_printf(out, "%s%s", between, s->remote->names[p]);
        between = ", ";
    }
    if (!*between)
        buf_str(out, "none yet");
}

/* For the line of progress, and for whoever asks or interrupts us. */
static void counted(void *arg, struct node_progress *p)
{
    const struct join_start *s = arg;
    struct join_count c = count(s);
    struct buf names = BUF_NULL(JOIN_START_TEXT);

    put_names(s, &names);
    *p = (struct node_progress){ .slots = s->wish->nodes == 0 };
    p->up = p->slots ? (uint32_t)c.slots : c.nodes;
    p->all = p->slots ? (uint32_t)s->wish->slots : s->wish->nodes;
    snprintf(p->awaited, sizeof p->awaited, "there: " SLICE_FMT,
             SLICE_ARG(slice_head(buf_slice(&names), sizeof p->awaited - 8)));
    buf_free(&names);
}

/* One address is enough. */
static void report(const struct join_start *s)
{
    struct node_progress p;
    struct buf where = BUF_NULL(JOIN_START_TEXT);
    struct errmsg err;

    counted((void *)(uintptr_t)s, &p);
    if (joins_addresses(&s->joins, &where, &err) == 0 && buf_cstr(&where))
        log_warn(&s->remote->log, "%u of %u %s are up (%s); others join by `wireupd --join %.*s`",
                 p.up, p.all, p.slots ? "slots" : "nodes", p.awaited,
                 (int)strcspn(buf_cstr(&where), " "), buf_cstr(&where));
    buf_free(&where);
}

static void on_late(void *arg)
{
    report(arg);
}

/* At once where people look, and where they could not know the address otherwise. */
static void report_first(struct join_start *s)
{
    const struct remote *f = s->remote;

    if (f->terminal || (!f->opt->join_port && !f->opt->join_file))
        report(s);
    if (!f->terminal)
        timer_set(&s->late, LIMIT_JOIN_LATE_MS);
}

/* ---- nodes that come and go ------------------------------------------------------------------ */

/* In the place of a node that is lost. */
static bool may_come_late(const struct join_start *s)
{
    return s->begun && s->remote->opt->replace &&
           node_state(s->remote->node) == LAUNCHER_STATE_RUNNING;
}

static int refuse_late(const struct join_start *s, struct errmsg *err)
{
    return errmsg_set(err, JOINS_REFUSED, "%s",
                      s->begun ? "the job has begun, and takes no more nodes"
                               : "the launch has been ended, and takes no more nodes");
}

/* 0: the name is free now. */
static int ask_namesake(struct join_start *s, uint32_t position, struct errmsg *err)
{
    enum joins_answer answer = position ? joins_probe_ask(&s->probe, position) : JOINS_ANSWER_ALIVE;

    if (answer == JOINS_ANSWER_ALIVE)
        return errmsg_set(err, JOINS_REFUSED, "node %.200s has joined this launch already",
                          s->remote->names[position]);
    if (answer != JOINS_ANSWER_NONE)
        return JOINS_LATER;
    remote_lose(s->remote, position, "another node has come under its name");
    log_warn(&s->remote->log, "node %s did not answer; another node of this name takes its place",
             s->remote->names[position]);
    return 0;
}

static int place(void *arg, const struct join_request *q, uint32_t *position_p, struct errmsg *err)
{
    struct join_start *s = arg;
    struct host h = { .name = q->name, .slots = q->slots };
    uint32_t p;
    int rc;

    if (node_state(s->remote->node) != LAUNCHER_STATE_RAISING && !may_come_late(s))
        return refuse_late(s, err);
    p = position_named(s, q->name);
    rc = p < s->remote->boot.count ? ask_namesake(s, p, err) : 0;
    if (rc)
        return rc;
    *position_p = remote_add(s->remote, &h);
    return *position_p ? 0
                       : errmsg_set(err, JOINS_REFUSED,
                                    "%u nodes have come before, and the launch has no place for "
                                    "another one",
                                    s->remote->boot.nnodes);
}

/* The daemon has not linked in time. */
static void failed(void *arg, uint32_t position, struct slice why)
{
    const struct join_start *s = arg;
    struct remote *f = s->remote;
    char line[ERRMSG_MAX];

    if ((node_state(f->node) != LAUNCHER_STATE_RAISING && !may_come_late(s)) ||
        f->cluster.daemons.states[position] == DAEMON_STATE_SERVING ||
        router_is_lost(&f->cluster.router, position))
        return;
    snprintf(line, sizeof line, SLICE_FMT, SLICE_ARG(slice_head(why, ERRMSG_MAX - 1)));
    remote_lose(f, position, line);
    log_warn(&f->log, "node %s: %s; waiting for another node", f->names[position], line);
}

/* One that was there does not count any more.  The sentence names it. */
static void lost(void *arg, uint32_t position, struct slice why)
{
    const struct join_start *s = arg;

    (void)position;
    log_warn(&s->remote->log, SLICE_FMT "; waiting for another node", SLICE_ARG(why));
}

static void judged(void *arg)
{
    struct join_start *s = arg;

    joins_go(&s->joins);
}

static void alive(void *arg, uint32_t position)
{
    struct join_start *s = arg;

    joins_probe_alive(&s->probe, position);
}

/* ---- opening --------------------------------------------------------------------------------- */

void join_start_take_token(struct join_start *s)
{
    joins_take_variable(&s->joins);
}

int join_start_prepare(struct join_start *s, struct launch_options *o, struct job_map *plan,
                       struct errmsg *err)
{
    if (joins_find_token(&s->joins, o, NULL, false, err) < 0)
        return LAUNCH_REFUSED;
    s->wish = launch_wish(o);
    joins_expect(o, plan);
    return LAUNCH_GO;
}

uint32_t join_start_room(const struct launch_options *o)
{
    const struct join_wish *w = launch_wish(o);
    uint64_t nodes = w->nodes ? w->nodes : w->slots;

    return (uint32_t)(nodes < LIMIT_JOIN_NODES ? nodes : LIMIT_JOIN_NODES) + LIMIT_DVM_JOINS;
}

int join_start_open(struct join_start *s, struct remote *f, struct errmsg *err)
{
    const struct joins_config config = { f, place, failed, s };
    int rc = joins_open(&s->joins, &config, err);

    s->remote = f;
    timer_init(&s->late, node_loop(f->node), on_late, s);
    s->open = true;
    if (rc == 0 && joins_probe_open(&s->probe, f, judged, s) < 0)
        rc = errmsg_set(err, -ENOMEM, "out of memory");
    if (rc < 0)
        return rc;
    f->enough = enough;
    f->counted = counted;
    f->on_no_member = lost;
    f->on_alive = alive;
    f->arg = s;
    report_first(s);
    return 0;
}

void join_start_close(struct join_start *s)
{
    if (s->open) {
        timer_stop(&s->late);
        joins_probe_close(&s->probe);
    }
    joins_close(&s->joins);
    s->open = false;
}
