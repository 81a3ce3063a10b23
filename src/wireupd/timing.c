/* timing.c - see timing.h. */
#include "wireupd/timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/startup_report.h"
#include "wireupd/crew.h"
#include "wireupd/node_priv.h"
#include "wireupd/share.h"
#include "wireupd/tell.h"

enum { TIMING_TEXT_MAX = 1 << 24 };

/* ---- the launcher's report ------------------------------------------------------------------- */

typedef void report_fn(const struct startup_report *r, bool json, struct buf *out);

static void print(const struct timing *t, report_fn *fn)
{
    const struct node_config *c = &t->node->config;
    struct buf text = BUF_NULL(TIMING_TEXT_MAX);
    struct slice rest;

    fn(t->report, c->json, &text);
    rest = buf_ok(&text) ? buf_slice(&text) : SLICE_NULL;
    if (c->json)
        log_text(&c->log, rest);
    while (!c->json && rest.len) {
        struct slice line = slice_cut(&rest, '\n');
        log_error(&c->log, SLICE_FMT, SLICE_ARG(line));
    }
    buf_free(&text);
}

static void print_start(struct timing *t)
{
    t->reported = true;
    timer_stop(&t->patience);
    print(t, startup_report_start);
}

static void quiet(void *arg)
{
    print_start(arg);
}

/* Once everybody has told who can; when more may come, only after a while, or at the end. */
static void look(struct timing *t)
{
    const struct share *s = t->node->share;

    if (!t->report || !t->begun || t->reported)
        return;
    for (uint32_t p = 0; p < t->report->count; p++) {
        if (!t->report->nodes[p].told && !(s && s->cluster.lost[p]))
            return;
    }
    if (startup_report_is_over(t->report))
        print_start(t);
    else
        timer_set(&t->patience, LIMIT_STARTUP_QUIET_MS);
}

/* Known when the share is. */
static bool ready_report(struct timing *t)
{
    const struct share *s = t->node->share;
    struct startup_report *r = t->report;
    struct startup_own own;

    if (!r || r->nodes)
        return r != NULL;
    own = r->own;
    if (startup_report_open(r, s ? s->cluster.config.count : 1) < 0)
        return false;
    r->own = own;
    r->names = s ? s->names : NULL;
    r->here = t->node->config.name;
    return true;
}

int timing_open(struct timing *t, struct node *n)
{
    t->report = calloc(1, sizeof *t->report);
    if (!t->report)
        return -ENOMEM;
    t->node = n;
    timer_init(&t->patience, &n->loop, quiet, t);
    t->report->own.begun = n->config.begun_ns;
    t->report->own.planned = n->config.planned_ns;
    t->report->own.open = clock_now_ns();
    return 0;
}

void timing_close(struct timing *t)
{
    startup_close(&t->own);
    if (t->report) {
        timer_stop(&t->patience);
        startup_report_close(t->report);
    }
    free(t->report);
    *t = (struct timing){ .node = NULL };
}

void timing_ready(struct timing *t, uint32_t position)
{
    if (t->node && ready_report(t))
        startup_report_ready(t->report, position, clock_now_ns());
}

void timing_heard(struct timing *t, uint32_t position, uint64_t job, struct slice part)
{
    if (!t->report || !t->begun || job != t->own.job)
        return;
    if (!startup_report_add(t->report, position, part, clock_now_ns()))
        log_error(&t->node->config.log, "position %u says of its start-up what cannot be",
                  position);
    look(t);
}

void timing_lost(struct timing *t)
{
    if (t->node)
        look(t);
}

void timing_unshared(struct timing *t)
{
    if (t->report)
        t->report->own.daemons_ended = clock_now_ns();
}

void timing_finish(struct timing *t)
{
    if (!t->report || !t->begun)
        return;
    if (!t->reported)
        print_start(t);
    t->report->own.gone = clock_now_ns();
    print(t, startup_report_end);
}

/* ---- this node's part ------------------------------------------------------------------------ */

static void add_guests(const struct crew *w, struct arena *a, struct startup_part *p)
{
    struct agent_times t;
    uint32_t n = 0;

    while (w && w->agent && agent_times(w->agent, n, &t))
        n++;
    p->guests = arena_array(a, (size_t)n + 1, sizeof *p->guests);
    for (uint32_t i = 0; p->guests && i < n && agent_times(w->agent, i, &t); i++)
        p->guests[p->nguests++] =
            (struct startup_guest){ t.position, t.asked_ns, t.runs_ns, t.up_ns };
}

static void say_part(struct timing *t, struct slice part)
{
    struct msg m = { .kind = MSG_startup };

    m.u.startup.job = t->own.job;
    m.u.startup.part = part;
    tell_to(t->node->share, &m, 0);
}

/* Without memory nobody is told, and the report says of whom. */
static void tell(struct timing *t, const struct job *j, bool ended)
{
    const struct share *s = t->node->share;
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    struct buf text = BUF_NULL(LIMIT_HOP_MESSAGE / 2);
    struct startup_part p;

    if (startup_sum_up(&t->own, j, clock_now_ns(), &p) == 0) {
        p.ended = ended;
        add_guests(s ? s->crew : NULL, &a, &p);
        startup_part_write(&p, &text);
        if (buf_ok(&text) && t->report)
            timing_heard(t, 0, t->own.job, buf_slice(&text));
        else if (buf_ok(&text))
            say_part(t, buf_slice(&text));
    }
    buf_free(&text);
    arena_free(&a);
}

void timing_begin(struct timing *t, struct node *n, const struct job *j, uint64_t told_ns)
{
    if (t->begun || (t->report && !ready_report(t)))
        return;
    t->node = n;
    if (startup_open(&t->own, j) < 0)
        return;
    t->begun = true;
    t->own.told_ns = told_ns;
    t->own.linked_ns = n->share ? n->share->linked_ns : 0;
    n->server.core.startup = &t->own;
    if (t->report) {
        t->report->own.announced = told_ns;
        t->report->nprocs = j->plan.nprocs;
        t->report->nnodes = j->plan.nnodes;
    }
}

bool timing_wants(const struct timing *t, const struct job *j)
{
    return t->begun && t->own.job == j->id;
}

void timing_note(struct timing *t, const struct job *j, uint32_t rank, enum startup_point p)
{
    if (timing_wants(t, j))
        startup_note(&t->own, rank, p, clock_now_ns());
}

/* Who has no processes has nothing to wait for. */
void timing_settle(struct timing *t)
{
    const struct job *j;

    if (!t->begun || (t->own.count ? t->own.entered < t->own.count : t->told))
        return;
    j = core_job(&t->node->server.core, t->own.job);
    if (!j || (t->own.count && !startup_look(&t->own, j, clock_now_ns())))
        return;
    t->told = true;
    tell(t, j, false);
}

void timing_over(struct timing *t, const struct job *j)
{
    if (!timing_wants(t, j) || t->told_end)
        return;
    t->told_end = true;
    if (t->report)
        t->report->own.ended = clock_now_ns();
    tell(t, j, true);
}
