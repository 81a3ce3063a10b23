/* startup_report.c - see startup_report.h.  Reading order: input; phases over all nodes; the two
 * output formats; the two reports. */
#include "report/startup_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* ---- input ----------------------------------------------------------------------------------- */

int startup_report_open(struct startup_report *r, uint32_t count)
{
    memset(r, 0, sizeof *r);
    arena_init(&r->arena, (size_t)1 << 30);
    r->nodes = arena_array(&r->arena, count, sizeof *r->nodes);
    r->count = r->nodes ? count : 0;
    for (uint32_t p = 1; p < r->count; p++) {
        r->nodes[p].least = INT64_MIN;
        r->nodes[p].most = INT64_MAX;
    }
    return r->nodes ? 0 : -ENOMEM;
}

void startup_report_close(struct startup_report *r)
{
    arena_free(&r->arena);
    r->nodes = NULL;
    r->count = 0;
}

void startup_report_ready(struct startup_report *r, uint32_t position, uint64_t now_ns)
{
    if (position < r->count)
        r->nodes[position].ready_ns = now_ns;
}

/* A message was sent at `theirs` and arrived here at `ours`. */
static void sent(struct startup_node *n, uint64_t theirs, uint64_t ours)
{
    int64_t ahead = (int64_t)(theirs - ours);

    if (theirs && ours && ahead > n->least)
        n->least = ahead;
}

static void received(struct startup_node *n, uint64_t theirs, uint64_t ours)
{
    int64_t ahead = (int64_t)(theirs - ours);

    if (theirs && ours && ahead < n->most)
        n->most = ahead;
}

bool startup_report_add(struct startup_report *r, uint32_t position, struct slice part,
                        uint64_t now_ns)
{
    struct startup_node *n = position < r->count ? &r->nodes[position] : NULL;
    struct startup_part p;

    if (!n || !startup_part_read(part, &r->arena, &p))
        return false;
    n->part = p;
    n->has_part = true;
    if (position) {
        sent(n, p.linked, n->ready_ns);
        sent(n, p.now, now_ns);
        received(n, p.known, r->own.announced);
    }
    return true;
}

/* ---- phases over all nodes ------------------------------------------------------------------- */

static bool is_set(const struct startup_node *n)
{
    return n->least > INT64_MIN && n->most < INT64_MAX;
}

/* How far its clock is ahead. */
static int64_t ahead(const struct startup_node *n)
{
    if (n->most == INT64_MAX)
        return n->least > INT64_MIN ? n->least : 0;
    return n->least == INT64_MIN ? n->most : n->least + (n->most - n->least) / 2;
}

static uint64_t slack(const struct startup_node *n)
{
    return !is_set(n) ? 0 : (uint64_t)(n->most > n->least ? n->most - n->least : 0);
}

struct who {
    uint32_t rank, node;
};

struct weighed {
    uint64_t size, weight;
};

struct phase {
    const char *title, *name; /* for people, for programs */
    uint64_t count;
    int64_t begun, ended; /* by the launcher's clock */
    uint64_t shortest, median, longest;
    struct who who_shortest, who_longest, who_last;
    struct weighed *medians;
    uint32_t nmedians, room;
    bool no_memory;
};

static void keep_median(struct phase *f, uint64_t size, uint64_t weight)
{
    if (f->nmedians == f->room) {
        uint32_t room = f->room ? f->room * 2 : 64;
        struct weighed *more = realloc(f->medians, room * sizeof *more);
        f->no_memory = f->no_memory || !more;
        if (!more)
            return;
        f->medians = more;
        f->room = room;
    }
    f->medians[f->nmedians++] = (struct weighed){ size, weight };
}

/* Measured on the clock of node `from`, about node `node`. */
static void add(struct phase *f, const struct startup_report *r, uint32_t from, uint32_t node,
                const struct startup_times *t)
{
    int64_t off = ahead(&r->nodes[from]);
    int64_t begun = (int64_t)t->begun - off, ended = (int64_t)t->ended - off;

    if (t->count == 0)
        return;
    if (f->count == 0 || begun < f->begun)
        f->begun = begun;
    if (f->count == 0 || ended > f->ended) {
        f->ended = ended;
        f->who_last = (struct who){ t->who_last, node };
    }
    if (f->count == 0 || t->shortest < f->shortest) {
        f->shortest = t->shortest;
        f->who_shortest = (struct who){ t->who_shortest, node };
    }
    if (f->count == 0 || t->longest > f->longest) {
        f->longest = t->longest;
        f->who_longest = (struct who){ t->who_longest, node };
    }
    f->count += t->count;
    keep_median(f, t->median, t->count);
}

/* One time of one node. */
static void add_one(struct phase *f, const struct startup_report *r, uint32_t from, uint32_t node,
                    uint64_t begun, uint64_t ended)
{
    uint64_t d = ended - begun;
    struct startup_times t = { .count = 1,
                               .begun = begun,
                               .ended = ended,
                               .shortest = d,
                               .median = d,
                               .longest = d,
                               .who_shortest = STARTUP_NODE,
                               .who_longest = STARTUP_NODE,
                               .who_last = STARTUP_NODE };

    if (begun && ended >= begun && node < r->count)
        add(f, r, from, node, &t);
}

static int by_size(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    return x->size < y->size ? -1 : x->size > y->size;
}

/* Over several nodes: the median of their medians, each weighted by its count. */
static void find_median(struct phase *f)
{
    uint64_t seen = 0;

    if (f->nmedians)
        qsort(f->medians, f->nmedians, sizeof *f->medians, by_size);
    for (uint32_t i = 0; i < f->nmedians && seen < (f->count + 1) / 2; i++) {
        seen += f->medians[i].weight;
        f->median = f->medians[i].size;
    }
}

/* The fence of the exchange: the last one that any node has put something for. */
static uint32_t exchange_of(const struct startup_report *r)
{
    uint32_t last = 0;

    for (uint32_t p = 0; p < r->count; p++) {
        if (r->nodes[p].has_part && r->nodes[p].part.exchange > last)
            last = r->nodes[p].part.exchange;
    }
    return last;
}

/* The exchange is known only to nodes that have put something for it. */
static void add_span(struct phase *f, const struct startup_report *r, enum startup_span k)
{
    bool of_exchange = k == SPAN_PUT || k == SPAN_ENTER || k == SPAN_FENCE;
    uint32_t which = of_exchange ? exchange_of(r) : 0;

    for (uint32_t p = 0; p < r->count; p++) {
        if (r->nodes[p].has_part && (!of_exchange || r->nodes[p].part.exchange == which))
            add(f, r, p, p, &r->nodes[p].part.spans[k]);
    }
}

typedef void guest_fn(struct phase *f, const struct startup_report *r, uint32_t from,
                      const struct startup_guest *g);

static void guest_runs(struct phase *f, const struct startup_report *r, uint32_t from,
                       const struct startup_guest *g)
{
    if (g->runs)
        add_one(f, r, from, g->position, g->asked, g->runs);
}

static void guest_links(struct phase *f, const struct startup_report *r, uint32_t from,
                        const struct startup_guest *g)
{
    if (g->runs && g->up)
        add_one(f, r, from, g->position, g->runs, g->up);
}

/* Of daemons started by one command for all, it is not reported when each runs. */
static void guest_all(struct phase *f, const struct startup_report *r, uint32_t from,
                      const struct startup_guest *g)
{
    if (!g->runs && g->up)
        add_one(f, r, from, g->position, g->asked, g->up);
}

static void add_guests(struct phase *f, const struct startup_report *r, guest_fn *fn)
{
    for (uint32_t p = 0; p < r->count; p++) {
        const struct startup_part *part = &r->nodes[p].part;
        for (uint32_t i = 0; r->nodes[p].has_part && i < part->nguests; i++)
            fn(f, r, p, &part->guests[i]);
    }
}

/* How long the job's description took to a node is not known, but an upper bound is. */
static void add_ways(struct phase *f, const struct startup_report *r)
{
    for (uint32_t p = 1; p < r->count; p++) {
        if (r->nodes[p].has_part && is_set(&r->nodes[p]))
            add_one(f, r, 0, p, r->own.announced, r->own.announced + slack(&r->nodes[p]));
    }
}

/* ---- output formats -------------------------------------------------------------------------- */

struct writer {
    const struct startup_report *r;
    struct buf *out;
    struct json *json; /* NULL: the report is text */
};

static double seconds(const struct writer *w, int64_t at)
{
    return (double)(at - (int64_t)w->r->own.begun) / 1e9;
}

static double lasted(uint64_t ns)
{
    return (double)ns / 1e9;
}

static const char *name_of(const struct writer *w, uint32_t node)
{
    const char *name = node < w->r->count && w->r->names ? w->r->names[node] : NULL;

    return name ? name : node == 0 && w->r->here ? w->r->here : "?";
}

static void print_who(struct writer *w, struct who who)
{
    bool alone = w->r->nnodes < 2;

    if (who.rank != STARTUP_NODE)
        buf_printf(w->out, alone ? "rank %u" : "rank %u on ", who.rank);
    if (who.rank == STARTUP_NODE || !alone)
        buf_str(w->out, name_of(w, who.node));
}

static void json_who(struct writer *w, const char *key, struct who who)
{
    json_object(w->json, key);
    if (who.rank != STARTUP_NODE)
        json_u64(w->json, "rank", who.rank);
    json_str(w->json, "node", name_of(w, who.node));
    json_object_end(w->json);
}

static void text_head(const struct writer *w)
{
    buf_printf(w->out, "%-33s %10s %10s %10s %10s %10s  %s\n", "", "begun", "ended", "shortest",
               "median", "longest", "whose");
}

static void begin_row(struct writer *w, const char *title, const char *name, int64_t begun,
                      int64_t ended)
{
    if (!w->json) {
        buf_printf(w->out, "%-33s %10.4f %10.4f", title, seconds(w, begun), seconds(w, ended));
        return;
    }
    json_object(w->json, NULL);
    json_str(w->json, "phase", name);
    json_decimal(w->json, "begun", seconds(w, begun), 6);
    json_decimal(w->json, "ended", seconds(w, ended), 6);
}

static void end_row(struct writer *w)
{
    if (w->json)
        json_object_end(w->json);
    else
        buf_byte(w->out, '\n');
}

/* Of the launcher alone. */
static void print_own(struct writer *w, const char *title, const char *name, uint64_t begun,
                      uint64_t ended)
{
    if (!begun || ended < begun)
        return;
    begin_row(w, title, name, (int64_t)begun, (int64_t)ended);
    end_row(w);
}

static void json_durations(struct writer *w, const struct phase *f)
{
    json_u64(w->json, "count", f->count);
    json_decimal(w->json, "shortest", lasted(f->shortest), 6);
    json_decimal(w->json, "median", lasted(f->median), 6);
    json_decimal(w->json, "longest", lasted(f->longest), 6);
    json_who(w, "who_shortest", f->who_shortest);
    json_who(w, "who_longest", f->who_longest);
    json_who(w, "who_last", f->who_last);
}

static void text_durations(struct writer *w, const struct phase *f, uint64_t all)
{
    buf_printf(w->out, " %10.4f %10.4f %10.4f  ", lasted(f->shortest), lasted(f->median),
               lasted(f->longest));
    print_who(w, f->who_longest);
    if (all && f->count != all)
        buf_printf(w->out, " (%llu of %llu)", (unsigned long long)f->count,
                   (unsigned long long)all);
}

/* all: the expected number. */
static void print_phase(struct writer *w, struct phase *f, uint64_t all)
{
    find_median(f);
    if (f->count) {
        begin_row(w, f->title, f->name, f->begun, f->ended);
        if (w->json)
            json_durations(w, f);
        else
            text_durations(w, f, all);
        end_row(w);
    }
    if (f->no_memory)
        w->out->error = BUF_NO_MEMORY;
    free(f->medians);
    f->medians = NULL;
}

static void print_guests(struct writer *w, const char *title, const char *name, guest_fn *fn)
{
    struct phase f = { .title = title, .name = name };

    add_guests(&f, w->r, fn);
    print_phase(w, &f, 0);
}

static void print_span(struct writer *w, const char *title, const char *name, enum startup_span k,
                       uint64_t all)
{
    struct phase f = { .title = title, .name = name };

    add_span(&f, w->r, k);
    print_phase(w, &f, all);
}

/* ---- the reports ----------------------------------------------------------------------------- */

static uint64_t last_ready(const struct startup_report *r)
{
    uint64_t last = 0;

    for (uint32_t p = 1; p < r->count; p++)
        last = r->nodes[p].ready_ns > last ? r->nodes[p].ready_ns : last;
    return last;
}

static void print_daemons(struct writer *w)
{
    struct phase ways = { .title = "  .. there, at most", .name = "job_there" };

    print_guests(w, "daemon asked for .. runs", "daemon_runs", guest_runs);
    print_guests(w, "  .. linked", "daemon_linked", guest_links);
    print_guests(w, "daemon asked for .. linked", "daemon_up", guest_all);
    print_own(w, "all linked .. job sent", "job_sent", last_ready(w->r), w->r->own.announced);
    add_ways(&ways, w->r);
    print_phase(w, &ways, 0);
}

static void print_phases(struct writer *w)
{
    const struct startup_own *o = &w->r->own;
    uint64_t n = w->r->nprocs;

    print_own(w, "arguments and placement", "arguments", o->begun, o->planned);
    print_own(w, "launcher", "launcher", o->planned, o->open);
    print_daemons(w);
    print_span(w, "job there .. processes started", "processes_started", SPAN_SPAWN, 0);
    print_span(w, "process started .. its init", "init", SPAN_PROGRAM, n);
    if (exchange_of(w->r) > 1) {
        print_span(w, "  .. first fence", "first_entered", SPAN_FIRST, n);
        print_span(w, "first fence .. left", "first_left", SPAN_FIRST_LEFT, n);
    }
    print_span(w, "  .. last put or commit", "put", SPAN_PUT, n);
    print_span(w, exchange_of(w->r) > 1 ? "  .. its fence" : "  .. first fence", "fence_entered",
               SPAN_ENTER, n);
    print_span(w, "fence .. left", "fence_left", SPAN_FENCE, n);
}

/* All processes have put something, and the same fence has brought it to all. */
bool startup_report_is_over(const struct startup_report *r)
{
    uint32_t which = exchange_of(r);
    uint64_t put = 0;

    for (uint32_t p = 0; p < r->count; p++) {
        const struct startup_part *part = &r->nodes[p].part;
        if (!r->nodes[p].has_part)
            continue;
        put += part->put;
        if (part->spans[SPAN_FENCE].count && part->exchange != which)
            return false;
    }
    return put == r->nprocs;
}

static uint64_t bytes_of(const struct startup_report *r)
{
    uint64_t n = 0;

    for (uint32_t p = 0; p < r->count; p++)
        n += r->nodes[p].has_part ? r->nodes[p].part.bytes : 0;
    return n;
}

static uint64_t exchanged_of(const struct startup_report *r)
{
    uint64_t n = 0;

    for (uint32_t p = 0; p < r->count; p++)
        n += r->nodes[p].has_part ? r->nodes[p].part.exchanged : 0;
    return n;
}

/* All nodes count them alike; a node without processes counts none. */
static uint64_t fences_of(const struct startup_report *r)
{
    uint64_t n = 0;

    for (uint32_t p = 0; p < r->count; p++) {
        if (r->nodes[p].has_part && r->nodes[p].part.fences > n)
            n = r->nodes[p].part.fences;
    }
    return n;
}

static void print_clocks(struct writer *w)
{
    uint64_t worst = 0;
    uint32_t who = 0;

    for (uint32_t p = 1; p < w->r->count; p++) {
        if (w->r->nodes[p].has_part && (who == 0 || slack(&w->r->nodes[p]) / 2 > worst)) {
            worst = slack(&w->r->nodes[p]) / 2;
            who = p;
        }
    }
    if (w->json)
        json_decimal(w->json, "clock_error", lasted(worst), 6);
    else if (who)
        buf_printf(
            w->out,
            "begun and ended: seconds of the launcher's clock, other nodes' set to it within "
            "%.4f s (%s); all else: each on one clock\n",
            lasted(worst), name_of(w, who));
}

enum { SILENT_MAX = 16 }; /* named in the table */

static void json_silent(struct writer *w)
{
    bool begun = false;

    for (uint32_t p = 1; p < w->r->count; p++) {
        if (w->r->nodes[p].has_part)
            continue;
        if (!begun)
            json_array(w->json, "silent");
        begun = true;
        json_str(w->json, NULL, name_of(w, p));
    }
    if (begun)
        json_array_end(w->json);
}

static void text_silent(struct writer *w)
{
    uint32_t n = 0;

    for (uint32_t p = 1; p < w->r->count; p++) {
        if (w->r->nodes[p].has_part || n++ >= SILENT_MAX)
            continue;
        buf_str(w->out, n == 1 ? "no word of it from " : ", ");
        buf_str(w->out, name_of(w, p));
    }
    if (n > SILENT_MAX)
        buf_printf(w->out, " and %u more", n - SILENT_MAX);
    if (n)
        buf_byte(w->out, '\n');
}

/* The process that all have waited for. */
static void print_fence(struct writer *w, const struct phase *in, const struct phase *f)
{
    if (in->count == 0 || f->count == 0)
        return;
    if (w->json) {
        json_who(w, "fence_last", in->who_last);
        json_who(w, "fence_first", f->who_longest);
        return;
    }
    buf_str(w->out, "last into that fence: ");
    print_who(w, in->who_last);
    buf_printf(w->out, ", at %.4f; longest in it: ", seconds(w, in->ended));
    print_who(w, f->who_longest);
    buf_printf(w->out, ", %.4f s\n", lasted(f->longest));
}

static void json_title(struct writer *w, const struct phase *f)
{
    json_object(w->json, NULL);
    json_str(w->json, "schema", "wireup-startup-1");
    json_object(w->json, "startup");
    json_u64(w->json, "processes", w->r->nprocs);
    json_u64(w->json, "nodes", w->r->nnodes);
    if (f->count) /* otherwise no process has left the fence yet */
        json_decimal(w->json, "seconds", seconds(w, f->ended), 6);
    else
        json_null(w->json, "seconds");
    json_u64(w->json, "fence", exchange_of(w->r));
    json_u64(w->json, "bytes", exchanged_of(w->r));
}

static void text_title(struct writer *w, const struct phase *f)
{
    uint32_t n = w->r->nprocs, m = w->r->nnodes;
    uint64_t bytes = exchanged_of(w->r);

    buf_printf(w->out, "start-up of %u process%s on %u node%s: ", n, n == 1 ? "" : "es", m,
               m == 1 ? "" : "s");
    if (f->count == 0)
        buf_str(w->out, "there was no fence of all\n");
    else if (bytes == 0)
        buf_printf(w->out, "%.4f s until all had left their first fence\n", seconds(w, f->ended));
    else
        buf_printf(w->out, "%.4f s until %llu bytes of addresses were exchanged, by fence %u\n",
                   seconds(w, f->ended), (unsigned long long)bytes, exchange_of(w->r));
}

/* The two objects of a report end, and its line. */
static void json_report_done(struct json *j)
{
    json_object_end(j);
    json_object_end(j);
    json_done(j);
    buf_byte(j->out, '\n');
}

static void json_start(struct writer *w, const struct phase *in, const struct phase *fence)
{
    json_init(w->json, w->out);
    json_title(w, fence);
    json_array(w->json, "phases");
    print_phases(w);
    json_array_end(w->json);
    print_fence(w, in, fence);
    print_clocks(w);
    json_silent(w);
    json_report_done(w->json);
}

static void text_start(struct writer *w, const struct phase *in, const struct phase *fence)
{
    text_title(w, fence);
    text_head(w);
    print_phases(w);
    print_fence(w, in, fence);
    print_clocks(w);
    text_silent(w);
}

void startup_report_start(const struct startup_report *r, bool json, struct buf *out)
{
    struct json j;
    struct writer w = { r, out, json ? &j : NULL };
    struct phase in = { .count = 0 }, fence = { .count = 0 };

    add_span(&in, r, SPAN_ENTER);
    add_span(&fence, r, SPAN_FENCE);
    if (json)
        json_start(&w, &in, &fence);
    else
        text_start(&w, &in, &fence);
    free(in.medians);
    free(fence.medians);
}

static void print_end_phases(struct writer *w)
{
    const struct startup_own *o = &w->r->own;

    print_span(w, "finalize .. process gone", "process_gone", SPAN_END, w->r->nprocs);
    print_own(w, "processes gone .. daemons gone", "daemons_gone", o->ended, o->daemons_ended);
    print_own(w, "  .. launcher gone", "launcher_gone",
              o->daemons_ended ? o->daemons_ended : o->ended, o->gone);
}

static void json_end(struct writer *w)
{
    json_init(w->json, w->out);
    json_object(w->json, NULL);
    json_str(w->json, "schema", "wireup-startup-1");
    json_object(w->json, "end");
    json_decimal(w->json, "seconds", seconds(w, (int64_t)w->r->own.gone), 6);
    json_array(w->json, "phases");
    print_end_phases(w);
    json_array_end(w->json);
    json_u64(w->json, "fences", fences_of(w->r));
    json_u64(w->json, "bytes", bytes_of(w->r));
    json_silent(w);
    json_report_done(w->json);
}

static void text_end(struct writer *w)
{
    buf_printf(w->out, "end: %.4f s after the start of the launcher\n",
               seconds(w, (int64_t)w->r->own.gone));
    text_head(w);
    print_end_phases(w);
    buf_printf(w->out, "fences of all: %llu; put: %llu bytes\n",
               (unsigned long long)fences_of(w->r), (unsigned long long)bytes_of(w->r));
    text_silent(w);
}

void startup_report_end(const struct startup_report *r, bool json, struct buf *out)
{
    struct json j;
    struct writer w = { r, out, json ? &j : NULL };

    if (json)
        json_end(&w);
    else
        text_end(&w);
}
