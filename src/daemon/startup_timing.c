/* startup_timing.c - see startup_timing.h. */
#include "daemon/startup_timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "report/startup_report.h"
#include "daemon/child_daemons.h"
#include "daemon/node_context.h"
#include "daemon/cluster_io.h"
#include "daemon/node_msgs.h"

enum { STARTUP_TIMING_TEXT_MAX = 1 << 24 };

/* ---- the launcher's report ------------------------------------------------------------------- */

typedef void report_fn(const struct startup_report *r, bool json, struct buf *out);

static void print(const struct startup_timing *t, report_fn *fn)
{
    const struct node_config *c = t->context->config;
    struct buf text = BUF_NULL(STARTUP_TIMING_TEXT_MAX);
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

static void print_start(struct startup_timing *t)
{
    t->reported = true;
    timer_stop(&t->patience);
    print(t, startup_report_start);
}

static void quiet(void *arg)
{
    print_start(arg);
}

/* When every node that can report has reported; if more may come, only after a while, or at the
 * end. */
static void look(struct startup_timing *t)
{
    const struct cluster_io *s = t->context->cluster;

    if (!t->report || !t->begun || t->reported)
        return;
    for (uint32_t p = 0; p < t->report->count; p++) {
        if (!t->report->nodes[p].has_part && !(s && router_is_lost(&s->router, p)))
            return;
    }
    if (startup_report_is_over(t->report))
        print_start(t);
    else
        timer_set(&t->patience, LIMIT_STARTUP_QUIET_MS);
}

/* Opened once the number of nodes is known. */
static bool ready_report(struct startup_timing *t)
{
    const struct cluster_io *s = t->context->cluster;
    struct startup_report *r = t->report;
    struct startup_own own;

    if (!r || r->nodes)
        return r != NULL;
    own = r->own;
    if (startup_report_open(r, s ? s->overlay_io.member.overlay.members.count : 1) < 0)
        return false;
    r->own = own;
    r->names = s ? s->names : NULL;
    r->here = t->context->config->name;
    return true;
}

int startup_timing_open(struct startup_timing *t, const struct node_context *c)
{
    t->report = calloc(1, sizeof *t->report);
    if (!t->report)
        return -ENOMEM;
    t->context = c;
    timer_init(&t->patience, c->loop, quiet, t);
    t->report->own.begun = c->config->begun_ns;
    t->report->own.planned = c->config->planned_ns;
    t->report->own.open = clock_now_ns();
    return 0;
}

void startup_timing_close(struct startup_timing *t)
{
    startup_close(&t->own);
    if (t->report) {
        timer_stop(&t->patience);
        startup_report_close(t->report);
    }
    free(t->report);
    *t = (struct startup_timing){ .context = NULL };
}

void startup_timing_ready(struct startup_timing *t, uint32_t position)
{
    if (t->context && ready_report(t))
        startup_report_ready(t->report, position, clock_now_ns());
}

void startup_timing_receive(struct startup_timing *t, uint32_t position, uint64_t job,
                            struct slice part)
{
    if (!t->report || !t->begun || job != t->own.job)
        return;
    if (!startup_report_add(t->report, position, part, clock_now_ns()))
        log_error(t->context->log, "the daemon at position %u sent an invalid start-up report",
                  position);
    look(t);
}

void startup_timing_lost(struct startup_timing *t)
{
    if (t->context)
        look(t);
}

void startup_timing_unshared(struct startup_timing *t)
{
    if (t->report)
        t->report->own.daemons_ended = clock_now_ns();
}

void startup_timing_finish(struct startup_timing *t)
{
    if (!t->report || !t->begun)
        return;
    if (!t->reported)
        print_start(t);
    t->report->own.gone = clock_now_ns();
    print(t, startup_report_end);
}

/* ---- this node's part ------------------------------------------------------------------------ */

static void add_guests(const struct child_daemons *w, struct arena *a, struct startup_part *p)
{
    struct remote_exec_times t;
    uint32_t n = 0;

    while (w && w->agent && remote_exec_times(w->agent, n, &t))
        n++;
    p->guests = arena_array(a, (size_t)n + 1, sizeof *p->guests);
    for (uint32_t i = 0; p->guests && i < n && remote_exec_times(w->agent, i, &t); i++)
        p->guests[p->nguests++] =
            (struct startup_guest){ t.position, t.asked_ns, t.runs_ns, t.up_ns };
}

/* Without memory nothing is sent, and the report names the nodes that are missing. */
static void send_times(struct startup_timing *t, const struct job *j, bool ended)
{
    const struct cluster_io *s = t->context->cluster;
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    struct buf text = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);
    struct startup_part p;

    if (startup_sum_up(&t->own, j, clock_now_ns(), &p) == 0) {
        p.ended = ended;
        add_guests(s ? s->child_daemons : NULL, &a, &p);
        startup_part_write(&p, &text);
        if (buf_ok(&text) && t->report)
            startup_timing_receive(t, 0, t->own.job, buf_slice(&text));
        else if (buf_ok(&text))
            node_msgs_startup(t->context->cluster, t->own.job, buf_slice(&text));
    }
    buf_free(&text);
    arena_free(&a);
}

void startup_timing_begin(struct startup_timing *t, const struct node_context *c,
                          const struct job *j, uint64_t known_ns)
{
    if (t->begun || (t->report && !ready_report(t)))
        return;
    t->context = c;
    if (startup_open(&t->own, j) < 0)
        return;
    t->begun = true;
    t->own.known_ns = known_ns;
    t->own.linked_ns = c->cluster ? c->cluster->linked_ns : 0;
    c->server->core.startup = &t->own;
    if (t->report) {
        t->report->own.announced = known_ns;
        t->report->nprocs = j->plan.nprocs;
        t->report->nnodes = j->plan.nnodes;
    }
}

bool startup_timing_wants(const struct startup_timing *t, const struct job *j)
{
    return t->begun && t->own.job == j->id;
}

void startup_timing_note(struct startup_timing *t, const struct job *j, uint32_t rank,
                         enum startup_point p)
{
    if (startup_timing_wants(t, j))
        startup_note(&t->own, rank, p, clock_now_ns());
}

/* A node without processes has nothing to wait for. */
void startup_timing_settle(struct startup_timing *t)
{
    const struct job *j;

    if (!t->begun || (t->own.count ? t->own.entered < t->own.count : t->sent))
        return;
    j = core_job(&t->context->server->core, t->own.job);
    if (!j || (t->own.count && !startup_look(&t->own, j, clock_now_ns())))
        return;
    t->sent = true;
    send_times(t, j, false);
}

void startup_timing_over(struct startup_timing *t, const struct job *j)
{
    if (!startup_timing_wants(t, j) || t->sent_end)
        return;
    t->sent_end = true;
    if (t->report)
        t->report->own.ended = clock_now_ns();
    send_times(t, j, true);
}
