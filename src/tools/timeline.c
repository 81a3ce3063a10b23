/* timeline.c - see timeline.h.
 *
 * The launcher's trace has the job, its nodes, and the processes of its own node; those of the
 * others are found by trace_set.h.  Each trace is read by itself; from it come the processes of its
 * node, by its clock (report/timeline.h).  Of a node without a trace only the ends of processes are
 * known, as the launcher has heard of them.
 */
#include "tools/timeline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limit.h"
#include "io/create.h"
#include "report/timeline_picture.h"
#include "tools/trace_file.h"
#include "tools/trace_set.h"
#include "trace/record.h"
#include "trace/trace_reader.h"

enum { TIMELINE_OUT_MAX = 1 << 30, EVERY_NODE = -1 };

struct traced_daemon {
    const char *host;
    uint64_t asked_ns, runs_ns, up_ns;
    const char *why; /* not NULL: it was lost, at up_ns */
};

/* A trace that is being read. */
struct traced {
    const struct command_line *line;
    struct timeline timeline;
    struct trace_reader reader;
    struct errmsg err;
    struct trace_set set;
    struct trace_clock clock;
    bool first;   /* the launcher's */
    int64_t node; /* whose trace it is, or EVERY_NODE */
    struct traced_daemon *daemons;
    uint32_t ndaemons;
    bool no_memory, begun;
    uint64_t job; /* the first that is not a tool's, as that of a DVM */
};

/* ---- the job --------------------------------------------------------------------------------- */

/* "runs": how many, app, node, local rank of the first. */
static void take_places(struct traced *d, const struct part_uints *runs)
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i + 3 < runs->n; i += 4) {
        for (uint64_t k = 0; k < runs->items[i] && rank < d->timeline.nprocs; k++)
            d->timeline.procs[rank++].node = (uint32_t)runs->items[i + 2];
    }
}

static uint32_t count_ranks(const struct part_uints *runs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i + 3 < runs->n && n <= LIMIT_JOB_PROCS; i += 4)
        n += runs->items[i];
    return n > LIMIT_JOB_PROCS ? LIMIT_JOB_PROCS + 1 : (uint32_t)n;
}

static void take_title(struct timeline *t, const struct part_texts *apps)
{
    struct buf b = BUF_NULL(1 << 16);

    for (uint32_t i = 0; i < apps->n; i++) {
        if (i)
            buf_str(&b, " : ");
        buf_slice_put(&b, apps->items[i]);
    }
    t->title = arena_str(&t->arena, buf_slice(&b));
    if (!t->title)
        t->title = "";
    buf_free(&b);
}

/* The job that the launcher, or the first tool of a DVM, has started: those that it spawns are not
 * shown. */
static void take_job(struct traced *d, const struct record_job *job, uint64_t now_ns)
{
    uint32_t own;
    int rc;

    d->node = job->here ? (int64_t)job->here - 1 : EVERY_NODE;
    own = d->node == EVERY_NODE ? 0 : (uint32_t)d->node;
    d->begun = true;
    d->job = job->job;
    if (d->first) {
        rc = timeline_job(&d->timeline, count_ranks(&job->runs), job->nodes.items, job->nodes.n);
        d->no_memory = d->no_memory || rc == -ENOMEM;
        if (rc == 0) {
            take_places(d, &job->runs);
            take_title(&d->timeline, &job->apps);
        }
    }
    timeline_trace(&d->timeline, own, d->clock.begin_ns, d->clock.wall_ns);
    timeline_known(&d->timeline, own, now_ns);
    if (d->first) {
        timeline_launcher(&d->timeline, d->clock.begin_ns, d->clock.wall_ns);
        timeline_link(&d->timeline, own, 0, 0);
    }
}

/* They come up before the job is announced, whose nodes they are. */
static struct traced_daemon *add_daemon(struct traced *d, struct slice host, uint64_t now_ns)
{
    struct traced_daemon *more =
        d->first ? realloc(d->daemons, (d->ndaemons + 1) * sizeof *more) : NULL;

    if (!more)
        return NULL;
    d->daemons = more;
    d->daemons[d->ndaemons] =
        (struct traced_daemon){ .host = arena_str(&d->timeline.arena, host), .up_ns = now_ns };
    return &d->daemons[d->ndaemons++];
}

static void add_repair(struct traced *d, uint64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void take_daemon(struct traced *d, const struct record_daemon *r, uint64_t now_ns)
{
    struct traced_daemon *a = add_daemon(d, r->host, now_ns);

    if (a) {
        a->asked_ns = r->asked_ns;
        a->runs_ns = r->runs_ns;
    }
    if (d->begun) /* those of the job were up before */
        add_repair(d, now_ns, "node " SLICE_FMT " has joined", SLICE_ARG(r->host));
}

static void take_loss(struct traced *d, const struct record_node_lost *r, uint64_t now_ns)
{
    struct traced_daemon *a = add_daemon(d, r->host, now_ns);

    if (a)
        a->why = arena_str(&d->timeline.arena, r->why);
}

static void add_repair(struct traced *d, uint64_t now_ns, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (d->first && timeline_repair(&d->timeline, now_ns, text) < 0)
        d->no_memory = true;
}

/* The launcher's core has decided it; of a job on one node its node's. */
static bool is_restart(const struct traced *d, const struct record *r)
{
    if (!record_is_effect(r->kind))
        return false;
    return d->node == EVERY_NODE ? r->kind == RECORD_effect_restart
                                 : r->kind == RECORD_effect_proc_state &&
                                       slice_is(r->u.of.proc_state.event, "restart");
}

static void take_replacement(struct traced *d, const struct record *r)
{
    const struct flat_node_replaced *o = &r->u.of.node_replaced;
    const char *before = o->node < d->timeline.nnodes ? d->timeline.nodes[o->node].name : "?";

    add_repair(d, r->time_ns,
               "node " SLICE_FMT " takes the place of %s, and starts %u rank%s again",
               SLICE_ARG(o->name), before, o->ranks.n, o->ranks.n == 1 ? "" : "s");
}

static void set_daemons(struct traced *d)
{
    for (uint32_t i = 0; i < d->ndaemons; i++) {
        const struct traced_daemon *a = &d->daemons[i];
        if (a->why)
            timeline_lost(&d->timeline, slice_str(a->host), a->up_ns, a->why);
        else
            timeline_daemon(&d->timeline, slice_str(a->host), a->asked_ns, a->runs_ns, a->up_ns);
    }
}

/* ---- what a trace says ----------------------------------------------------------------------- */

static uint32_t node_of(const struct traced *d, uint64_t rank)
{
    return rank < d->timeline.nprocs ? d->timeline.procs[rank].node : TIMELINE_NO_NODE;
}

static bool is_own(const struct traced *d, uint64_t rank)
{
    return d->node == EVERY_NODE || (int64_t)node_of(d, rank) == d->node;
}

static void take_state(struct traced *d, uint64_t rank, struct slice event, int64_t code,
                       uint64_t now_ns)
{
    bool exited = slice_is(event, "exit"), died = slice_is(event, "death");

    if (is_own(d, rank) && slice_is(event, "started"))
        timeline_started(&d->timeline, (uint32_t)rank, now_ns);
    if (is_own(d, rank) && (exited || died))
        timeline_ended(&d->timeline, (uint32_t)rank, died || code != 0, now_ns);
}

/* Traces of other nodes have the job of the launcher's. */
static bool is_shown(const struct traced *d, const struct record_job *job)
{
    return !d->begun && !job->tool && (d->first || job->job == d->job);
}

static void on_record(void *arg, const struct trace_reader_line *l, const struct record *r)
{
    struct traced *d = arg;
    int64_t job, rank, code = 0;

    (void)l;
    trace_clock_take(&d->clock, r);
    if (r->kind == RECORD_job && is_shown(d, &r->u.job)) {
        take_job(d, &r->u.job, r->time_ns);
    } else if (r->kind == RECORD_daemon) {
        take_daemon(d, &r->u.daemon, r->time_ns);
    } else if (r->kind == RECORD_node_lost) {
        take_loss(d, &r->u.node_lost, r->time_ns);
    } else if (r->kind == RECORD_node_replaced) {
        take_replacement(d, r);
    } else if (is_restart(d, r) && record_number(r, "job", &job) && (uint64_t)job == d->job &&
               record_number(r, "rank", &rank)) {
        add_repair(d, r->time_ns, "rank %lld has failed, and is started again", (long long)rank);
    } else if (r->kind == RECORD_proc_state && record_number(r, "job", &job) &&
               (uint64_t)job == d->job && record_number(r, "rank", &rank) && rank >= 0) {
        record_number(r, "code", &code);
        take_state(d, (uint64_t)rank, r->u.of.proc_state.event, code, r->time_ns);
    }
}

enum { NO_ANSWER = -1 };

/* 0: the answers of this protocol come in order.  NO_ANSWER: none comes. */
static int64_t tag_of(const struct decoded *m)
{
    for (uint32_t i = 0; i < m->nfields; i++) {
        if (slice_is(m->fields[i].name, "tag"))
            return m->fields[i].number == UINT32_MAX ? NO_ANSWER : m->fields[i].number;
    }
    return 0;
}

/* A fence of PMIx may be of some processes only. */
static bool is_of_all(const struct decoded *m)
{
    for (uint32_t i = 0; i + 1 < m->nfields; i++) {
        if (!slice_is(m->fields[i].name, "procs"))
            continue;
        const struct slice who = m->fields[i + 1].text;
        bool one = i + 2 < m->nfields && m->fields[i + 2].kind == DECODE_END;
        return one && who.len > 2 && slice_is(slice_skip(who, who.len - 2), ".*");
    }
    return true;
}

static void take_request(struct traced *d, uint32_t rank, const struct decoded *m, uint64_t now_ns)
{
    enum timeline_kind kind;
    int64_t tag = tag_of(m);

    if (!timeline_kind_of(m->command, &kind))
        return;
    if (kind == TIMELINE_FENCE && !is_of_all(m))
        kind = TIMELINE_OTHER;
    if (timeline_request(&d->timeline, rank, kind, (uint32_t)tag, now_ns) < 0)
        d->no_memory = true;
    if (tag == NO_ANSWER)
        timeline_answer(&d->timeline, rank, (uint32_t)tag, now_ns);
}

static void on_message(void *arg, const struct trace_reader_line *l, enum decode_way way,
                       const struct decoded *m, uint64_t now_ns)
{
    struct traced *d = arg;

    if (!d->begun || (uint64_t)l->job != d->job || !is_own(d, l->rank))
        return;
    if (way == DECODE_IN)
        take_request(d, l->rank, m, now_ns);
    else
        timeline_answer(&d->timeline, l->rank, (uint32_t)tag_of(m), now_ns);
}

/* ---- the files ------------------------------------------------------------------------------- */

static int feed(void *arg, struct slice bytes)
{
    struct traced *d = arg;

    return trace_reader_feed(&d->reader, bytes, &d->err) ? 2 : 0;
}

static int read_trace(struct traced *d, uint32_t member)
{
    const struct trace_member *m = &d->set.members[member];
    int code;

    d->begun = false;
    d->err.text[0] = 0;
    d->clock = TRACE_CLOCK_NULL;
    trace_reader_init(&d->reader, (struct trace_reader_printer){ on_record, on_message, d });
    code = trace_set_pass(&d->set, member, feed, d);
    if (code == 0 && trace_reader_end(&d->reader, &d->err))
        code = 2;
    if (!d->first && d->node >= 0)
        timeline_link(&d->timeline, (uint32_t)d->node, d->clock.least, d->clock.most);
    if (d->err.text[0])
        log_error(d->line->log, "%s: %s", trace_file_name(m->name), d->err.text);
    else if (code == 0 && !d->reader.ended && m->why)
        log_warn(d->line->log, "%s is incomplete: %s", m->name, m->why);
    else if (code == 0 && !d->reader.ended)
        log_warn(d->line->log, "%s is incomplete: the launcher was killed, or it is still running",
                 trace_file_name(m->name));
    trace_reader_free(&d->reader);
    return code;
}

/* The traces of the other nodes, where they are. */
static int read_others(struct traced *d)
{
    uint32_t own = d->node == EVERY_NODE ? 0 : (uint32_t)d->node, member;
    bool alone = d->node == EVERY_NODE;
    int code = 0;

    d->first = false;
    for (uint32_t i = 0; !alone && code == 0 && i < d->timeline.nnodes; i++) {
        member = trace_set_find(&d->set, slice_str(d->timeline.nodes[i].name));
        if (i != own && member && !d->set.members[member].missing)
            code = read_trace(d, member);
    }
    trace_set_warn(&d->set);
    return code;
}

/* ---- the picture ----------------------------------------------------------------------------- */

typedef void draw_fn(const struct timeline *t, struct buf *out);

static const struct {
    const char *suffix;
    draw_fn *draw;
} pictures[] = {
    { ".html", timeline_html },
    { ".svg", timeline_svg },
    { ".json", timeline_json },
    { ".txt", timeline_text },
};

static draw_fn *picture_of(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        size_t n = strlen(pictures[i].suffix);
        if (len > n && !strcmp(path + len - n, pictures[i].suffix))
            return pictures[i].draw;
    }
    return NULL;
}

static bool write_all(int fd, struct slice s)
{
    while (s.len) {
        ssize_t n = write(fd, s.ptr, s.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s = slice_skip(s, (size_t)n);
    }
    return true;
}

static int write_out(const struct command_line *l, const char *path, const struct buf *out)
{
    struct errmsg err = { "" };
    int fd = path ? create_named(path, 0666, &err) : STDOUT_FILENO;
    bool done = fd >= 0 && write_all(fd, buf_slice(out));

    if (fd >= 0 && path && close(fd) < 0)
        done = false;
    if (fd < 0)
        log_error(l->log, "%s", err.text);
    else if (!done)
        log_error(l->log, "cannot write %s: %s", path ? path : "to standard output",
                  err_text(errno));
    return done ? 0 : 1;
}

static int draw(struct traced *d, draw_fn *fn, const char *path)
{
    struct buf out = BUF_NULL(TIMELINE_OUT_MAX);
    int code = 2;

    if (d->timeline.nprocs == 0)
        log_error(d->line->log, "%s has no job: nothing was started",
                  trace_file_name(d->line->operand));
    else if (d->no_memory || timeline_settle(&d->timeline) < 0)
        log_error(d->line->log, "out of memory");
    else
        code = 0;
    if (code == 0)
        fn(&d->timeline, &out);
    if (code == 0 && !buf_ok(&out)) {
        log_error(d->line->log, "out of memory");
        code = 2;
    }
    if (code == 0)
        code = write_out(d->line, path, &out);
    buf_free(&out);
    return code;
}

int timeline_command(const struct command_line *l)
{
    struct traced d = { .line = l, .first = true, .node = EVERY_NODE, .job = UINT64_MAX };
    const char *path = l->choices[CHOICE_timeline_output];
    bool json = l->choices[CHOICE_timeline_json] != NULL;
    draw_fn *fn = path ? picture_of(path) : json ? timeline_json : timeline_text;
    int code;

    if (!fn) {
        log_error(l->log,
                  "--output must be a file that ends in .html, .svg, .json or .txt, not '%s'",
                  path);
        return 2;
    }
    if (trace_set_init(&d.set, l->log, l->operand) < 0) {
        log_error(l->log, "out of memory");
        return 2;
    }
    timeline_init(&d.timeline);
    trace_set_scan(&d.set);
    code = read_trace(&d, 0);
    if (code == 0)
        code = read_others(&d);
    set_daemons(&d);
    if (code == 0)
        code = draw(&d, fn, path);
    timeline_free(&d.timeline);
    free(d.daemons);
    trace_set_free(&d.set);
    return code;
}
