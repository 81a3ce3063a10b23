/* timeline_rows.c - see timeline_rows.h. */
#include "report/timeline_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a process did ---------------------------------------------------------------------- */

typedef void span_fn(void *arg, enum timeline_kind kind, uint64_t begin_ns, uint64_t end_ns);

static void one_span(span_fn *fn, void *arg, enum timeline_kind kind, uint64_t begin_ns,
                     uint64_t end_ns)
{
    if (begin_ns && end_ns > begin_ns)
        fn(arg, kind, begin_ns, end_ns);
}

/* How its node came up, and the process in it. */
static void each_span_before(const struct timeline *t, const struct timeline_proc *p, span_fn *fn,
                             void *arg)
{
    const struct timeline_node *n = p->node < t->nnodes ? &t->nodes[p->node] : NULL;

    if (!n)
        return;
    one_span(fn, arg, TIMELINE_CONTACT, n->asked_ns, n->runs_ns);
    one_span(fn, arg, TIMELINE_DAEMON, n->runs_ns, n->up_ns);
    one_span(fn, arg, TIMELINE_SPAWN, n->job_ns > n->up_ns ? n->job_ns : n->up_ns, p->started_ns);
}

/* Its whole life in order, without gaps. */
static void each_span(const struct timeline_proc *p, span_fn *fn, void *arg)
{
    uint64_t at = p->started_ns ? p->started_ns : p->first_ns, until = at;

    if (!at)
        return;
    if (p->first_ns > at) {
        fn(arg, TIMELINE_START, at, p->first_ns);
        until = p->first_ns;
    }
    for (uint32_t i = 0; i < p->nspans; i++) {
        const struct timeline_span *s = &p->spans[i];
        uint64_t begin = s->begin_ns > until ? s->begin_ns : until;
        if (begin > until)
            fn(arg, TIMELINE_PROGRAM, until, begin);
        if (s->end_ns > begin)
            fn(arg, s->kind, begin, s->end_ns);
        until = s->end_ns > begin ? s->end_ns : begin;
    }
    if (p->ended_ns > until)
        fn(arg, p->nspans ? TIMELINE_PROGRAM : TIMELINE_START, until, p->ended_ns);
}

static void each_span_of(const struct timeline *t, uint32_t rank, span_fn *fn, void *arg)
{
    each_span_before(t, &t->procs[rank], fn, arg);
    each_span(&t->procs[rank], fn, arg);
}

struct adding {
    double *weights;
    uint32_t columns;
    uint64_t begin_ns;
    double scale; /* columns per nanosecond */
};

static void add_weight(void *arg, enum timeline_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
    const struct adding *a = arg;
    double x = (double)(begin_ns - a->begin_ns) * a->scale;
    double end = (double)(end_ns - a->begin_ns) * a->scale;

    for (uint32_t c = (uint32_t)x; c < a->columns && c < end; c++) {
        double from = x > c ? x : c, to = end < c + 1 ? end : c + 1;
        a->weights[c * TIMELINE_KINDS + kind] += to - from;
    }
}

/* Waits count double: a short fence in a long computation is what the reader looks for. */
static int kind_of_column(const double *weights)
{
    int best = -1;
    double most = 1e-9;

    for (int k = 0; k < TIMELINE_KINDS; k++) {
        double w = k == TIMELINE_PROGRAM ? weights[k] / 2 : weights[k];
        if (w > most) {
            most = w;
            best = k;
        }
    }
    return best;
}

static void add_run(struct timeline_rows *r, int kind, uint32_t column)
{
    struct timeline_run *last = r->nruns ? &r->runs[r->nruns - 1] : NULL;

    if (kind < 0)
        return;
    if (last && last->kind == (enum timeline_kind)kind && last->end == column)
        last->end++;
    else
        r->runs[r->nruns++] = (struct timeline_run){ (enum timeline_kind)kind, column, column + 1 };
}

void timeline_rows_paint(struct timeline_rows *r, const struct timeline_row *row)
{
    uint64_t length = r->t->end_ns - r->t->begin_ns;
    struct adding a = { r->weights, r->columns, r->t->begin_ns,
                        length ? r->columns / (double)length : 0 };

    memset(r->weights, 0, (size_t)r->columns * TIMELINE_KINDS * sizeof *r->weights);
    for (uint32_t i = 0; i < row->count; i++)
        each_span_of(r->t, r->order[row->first + i], add_weight, &a);
    r->nruns = 0;
    for (uint32_t c = 0; c < r->columns; c++)
        add_run(r, kind_of_column(&r->weights[c * TIMELINE_KINDS]), c);
}

static void add_seconds(void *arg, enum timeline_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
    double *seconds = arg;

    seconds[kind] += (double)(end_ns - begin_ns) / 1e9;
}

void timeline_rows_sum(const struct timeline_rows *r, const struct timeline_row *row,
                       double seconds[TIMELINE_KINDS])
{
    memset(seconds, 0, TIMELINE_KINDS * sizeof *seconds);
    for (uint32_t i = 0; i < row->count; i++)
        each_span_of(r->t, r->order[row->first + i], add_seconds, seconds);
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* A node with the processes that it has. */
struct group {
    uint32_t node, count;
    uint64_t ready_ns; /* when the last one has sent its first message */
};

static int slowest_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if ((x->count == 0) != (y->count == 0))
        return x->count == 0 ? 1 : -1;
    if (x->ready_ns != y->ready_ns)
        return x->ready_ns < y->ready_ns ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Processes of no known node are the last group's. */
static uint32_t group_of(const struct timeline *t, uint32_t rank)
{
    return t->procs[rank].node < t->nnodes ? t->procs[rank].node : t->nnodes;
}

static void count_groups(const struct timeline *t, struct group *groups)
{
    for (uint32_t n = 0; n <= t->nnodes; n++)
        groups[n].node = n;
    for (uint32_t i = 0; i < t->nprocs; i++) {
        const struct timeline_proc *p = &t->procs[i];
        struct group *g = &groups[group_of(t, i)];
        g->count++;
        if (p->first_ns > g->ready_ns)
            g->ready_ns = p->first_ns;
    }
}

static void rows_of_ranks(struct timeline_rows *r)
{
    for (uint32_t i = 0; i < r->t->nprocs; i++) {
        r->order[i] = i;
        r->rows[r->nrows++] = (struct timeline_row){ i, 1, r->t->procs[i].node, 0 };
    }
}

static void order_procs(struct timeline_rows *r, const struct group *groups, uint32_t *places)
{
    uint32_t at = 0;

    for (uint32_t g = 0; g <= r->t->nnodes; g++) {
        places[groups[g].node] = at;
        at += groups[g].count;
    }
    for (uint32_t i = 0; i < r->t->nprocs; i++)
        r->order[places[group_of(r->t, i)]++] = i;
}

/* The first rows are of one node each, the slowest; the others share what is left, half of them. */
static void rows_of_nodes(struct timeline_rows *r, const struct group *groups, uint32_t most)
{
    uint32_t used = 0, alone, each, at = 0;

    while (used <= r->t->nnodes && groups[used].count)
        used++;
    alone = used <= most ? used : most / 2;
    each = used > alone ? (used - alone + most - alone - 1) / (most - alone) : 1;
    for (uint32_t g = 0; g < used;) {
        uint32_t n = g < alone ? 1 : each < used - g ? each : used - g, count = 0;
        for (uint32_t i = 0; i < n; i++)
            count += groups[g + i].count;
        r->rows[r->nrows++] = (struct timeline_row){ at, count, groups[g].node, n };
        at += count;
        g += n;
    }
}

static int fold(struct timeline_rows *r, uint32_t most)
{
    struct group *groups = calloc((size_t)r->t->nnodes + 1, sizeof *groups);
    uint32_t *places = calloc((size_t)r->t->nnodes + 1, sizeof *places);
    int rc = groups && places ? 0 : -ENOMEM;

    if (rc == 0) {
        count_groups(r->t, groups);
        qsort(groups, (size_t)r->t->nnodes + 1, sizeof *groups, slowest_first);
        order_procs(r, groups, places);
        rows_of_nodes(r, groups, most);
        r->folded = true;
    }
    free(groups);
    free(places);
    return rc;
}

int timeline_rows_open(struct timeline_rows *r, const struct timeline *t, uint32_t columns,
                       uint32_t most_ranks, uint32_t most_nodes)
{
    size_t most = most_ranks > most_nodes ? most_ranks : most_nodes;

    *r = (struct timeline_rows){ .t = t, .columns = columns };
    r->order = calloc((size_t)t->nprocs + 1, sizeof *r->order);
    r->rows = calloc(most + 1, sizeof *r->rows);
    r->weights = calloc((size_t)columns * TIMELINE_KINDS, sizeof *r->weights);
    r->runs = calloc(columns, sizeof *r->runs);
    if (!r->order || !r->rows || !r->weights || !r->runs)
        return -ENOMEM;
    if (t->nprocs > most_ranks)
        return fold(r, most_nodes);
    rows_of_ranks(r);
    return 0;
}

void timeline_rows_close(struct timeline_rows *r)
{
    free(r->order);
    free(r->rows);
    free(r->weights);
    free(r->runs);
    *r = (struct timeline_rows){ 0 };
}

uint32_t timeline_rows_of(const struct timeline_rows *r, uint32_t rank)
{
    for (uint32_t i = 0; i < r->nrows; i++) {
        for (uint32_t k = 0; k < r->rows[i].count; k++) {
            if (r->order[r->rows[i].first + k] == rank)
                return i;
        }
    }
    return 0;
}
