/* timeline.c - see timeline.h.  Reading order: input; the clocks; the critical path. */
#include "report/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/limit.h"

/* ---- input ----------------------------------------------------------------------------------- */

static const char *const kind_requests[TIMELINE_KINDS] = {
#define KIND(id, name, words, light, dark) [TIMELINE_##id] = words,
#include "report/timeline_kinds.def"
#undef KIND
};

static bool has_word(const char *words, struct slice word)
{
    struct slice rest = slice_str(words);

    while (rest.len) {
        if (slice_eq(slice_cut(&rest, ' '), word))
            return true;
    }
    return false;
}

bool timeline_kind_of(struct slice command, enum timeline_kind *kind_p)
{
    for (int k = 0; k < TIMELINE_KINDS; k++) {
        if (has_word(kind_requests[k], command)) {
            *kind_p = (enum timeline_kind)k;
            return true;
        }
    }
    return false;
}

void timeline_init(struct timeline *t)
{
    *t = (struct timeline){ .title = "" };
    arena_init(&t->arena, (size_t)1 << 32);
}

void timeline_free(struct timeline *t)
{
    for (uint32_t i = 0; i < t->nprocs; i++)
        free(t->procs[i].spans);
    free(t->path);
    t->path = NULL;
    free(t->repairs);
    t->repairs = NULL;
    t->nrepairs = t->repairs_room = 0;
    t->nprocs = t->nnodes = t->npath = 0;
    arena_free(&t->arena);
}

int timeline_job(struct timeline *t, uint32_t nprocs, const struct slice *nodes, uint32_t nnodes)
{
    if (t->procs || nprocs > LIMIT_JOB_PROCS)
        return -EINVAL;
    t->procs = arena_array(&t->arena, nprocs, sizeof *t->procs);
    t->nodes = arena_array(&t->arena, nnodes, sizeof *t->nodes);
    if ((nprocs && !t->procs) || (nnodes && !t->nodes))
        return -ENOMEM;
    t->nprocs = nprocs;
    t->nnodes = nnodes;
    for (uint32_t i = 0; i < nprocs; i++)
        t->procs[i].node = TIMELINE_NO_NODE;
    for (uint32_t i = 0; i < nnodes; i++) {
        t->nodes[i].name = arena_str(&t->arena, nodes[i]);
        t->nodes[i].slack_ns = UINT64_MAX;
        t->nodes[i].link = (struct timeline_bounds){ INT64_MIN, INT64_MAX };
        if (!t->nodes[i].name)
            return -ENOMEM;
    }
    return 0;
}

void timeline_trace(struct timeline *t, uint32_t node, uint64_t begin_ns, uint64_t wall_ns)
{
    if (node < t->nnodes) {
        t->nodes[node].begin_ns = begin_ns;
        t->nodes[node].wall_ns = wall_ns;
    }
}

void timeline_launcher(struct timeline *t, uint64_t begin_ns, uint64_t wall_ns)
{
    t->launched_ns = begin_ns;
    t->launched_wall_ns = wall_ns;
}

void timeline_daemon(struct timeline *t, struct slice node, uint64_t asked_ns, uint64_t runs_ns,
                     uint64_t up_ns)
{
    for (uint32_t i = 0; i < t->nnodes; i++) {
        struct timeline_node *n = &t->nodes[i];
        if (!slice_is(node, n->name))
            continue;
        n->asked_ns = asked_ns ? asked_ns : t->launched_ns;
        n->runs_ns = runs_ns ? runs_ns : up_ns;
        n->up_ns = up_ns;
    }
}

void timeline_lost(struct timeline *t, struct slice node, uint64_t at_ns, const char *why)
{
    for (uint32_t i = 0; i < t->nnodes; i++) {
        struct timeline_node *n = &t->nodes[i];
        if (!slice_is(node, n->name))
            continue;
        n->lost_ns = at_ns;
        n->lost_why = *why ? arena_str(&t->arena, slice_str(why)) : NULL;
    }
}

int timeline_repair(struct timeline *t, uint64_t at_ns, const char *text)
{
    struct timeline_repair *more =
        grow_by_one(t->repairs, sizeof *more, t->nrepairs, &t->repairs_room, 8);

    if (!more)
        return -ENOMEM;
    t->repairs = more;
    more[t->nrepairs] = (struct timeline_repair){ at_ns, arena_str(&t->arena, slice_str(text)) };
    return more[t->nrepairs++].text ? 0 : -ENOMEM;
}

void timeline_known(struct timeline *t, uint32_t node, uint64_t now_ns)
{
    if (node < t->nnodes)
        t->nodes[node].job_ns = now_ns;
}

void timeline_link(struct timeline *t, uint32_t node, int64_t least, int64_t most)
{
    if (node < t->nnodes)
        t->nodes[node].link = (struct timeline_bounds){ least, most };
}

static struct timeline_proc *proc_at(struct timeline *t, uint32_t rank)
{
    return rank < t->nprocs ? &t->procs[rank] : NULL;
}

void timeline_started(struct timeline *t, uint32_t rank, uint64_t now_ns)
{
    struct timeline_proc *p = proc_at(t, rank);

    if (p && !p->started_ns)
        p->started_ns = now_ns;
}

void timeline_ended(struct timeline *t, uint32_t rank, bool badly, uint64_t now_ns)
{
    struct timeline_proc *p = proc_at(t, rank);

    if (!p || p->ended)
        return;
    p->ended = true;
    p->badly = badly;
    p->ended_ns = now_ns;
}

static struct timeline_span *new_span(struct timeline_proc *p)
{
    struct timeline_span *spans = grow_by_one(p->spans, sizeof *spans, p->nspans, &p->room, 8);

    if (!spans)
        return NULL;
    p->spans = spans;
    return &p->spans[p->nspans++];
}

/* The last span, when this request goes on with it: many gets in a row are one. */
static struct timeline_span *same_span(struct timeline_proc *p, enum timeline_kind kind)
{
    struct timeline_span *s = p->nspans ? &p->spans[p->nspans - 1] : NULL;

    return s && s->kind == kind && kind != TIMELINE_FENCE && kind != TIMELINE_OTHER ? s : NULL;
}

int timeline_request(struct timeline *t, uint32_t rank, enum timeline_kind kind, uint32_t tag,
                     uint64_t now_ns)
{
    struct timeline_proc *p = proc_at(t, rank);
    struct timeline_span *s = p ? same_span(p, kind) : NULL;

    if (!p)
        return 0;
    if (!p->first_ns)
        p->first_ns = now_ns;
    if (!s) {
        s = new_span(p);
        if (!s)
            return -ENOMEM;
        *s = (struct timeline_span){ .kind = kind, .begin_ns = now_ns };
        if (kind == TIMELINE_FENCE)
            s->number = ++p->fences;
    }
    s->count++;
    s->tag = tag;
    s->open = true;
    s->end_ns = now_ns;
    return 0;
}

void timeline_answer(struct timeline *t, uint32_t rank, uint32_t tag, uint64_t now_ns)
{
    struct timeline_proc *p = proc_at(t, rank);

    for (uint32_t i = p ? p->nspans : 0; i > 0; i--) {
        struct timeline_span *s = &p->spans[i - 1];
        if (s->open && s->tag == tag) {
            s->open = false;
            s->end_ns = now_ns;
            return;
        }
    }
}

/* ---- the clocks ------------------------------------------------------------------------------ */

/* When the processes of a node entered a fence last, and left it first, by its clock. */
struct timeline_pass {
    uint64_t entered, left; /* 0: none has */
};

/* The next fence of a process, from its cursor on. */
static const struct timeline_span *next_fence(struct timeline_proc *p)
{
    while (p->cursor < p->nspans) {
        const struct timeline_span *s = &p->spans[p->cursor++];
        if (s->kind == TIMELINE_FENCE)
            return s;
    }
    return NULL;
}

static void rewind_fences(struct timeline *t)
{
    for (uint32_t i = 0; i < t->nprocs; i++)
        t->procs[i].cursor = 0;
}

/* Fences of all processes: those that each process has entered. */
static uint32_t common_fences(const struct timeline *t)
{
    uint32_t n = t->nprocs ? UINT32_MAX : 0;

    for (uint32_t i = 0; i < t->nprocs; i++) {
        if (t->procs[i].fences < n)
            n = t->procs[i].fences;
    }
    return n;
}

/* The next fence of all. */
static void pass_nodes(struct timeline *t, struct timeline_pass *passes)
{
    memset(passes, 0, t->nnodes * sizeof *passes);
    for (uint32_t i = 0; i < t->nprocs; i++) {
        struct timeline_proc *p = &t->procs[i];
        const struct timeline_span *s = next_fence(p);
        struct timeline_pass *n = p->node < t->nnodes ? &passes[p->node] : NULL;
        if (!s || !n)
            continue;
        if (s->begin_ns > n->entered)
            n->entered = s->begin_ns;
        if (!s->open && (!n->left || s->end_ns < n->left))
            n->left = s->end_ns;
    }
}

/* Both had entered before the other left. */
static void bound(struct timeline_bounds *b, const struct timeline_pass *own,
                  const struct timeline_pass *first)
{
    int64_t least = (int64_t)(own->entered - first->left);
    int64_t most = (int64_t)(own->left - first->entered);

    if (own->entered && first->left && least > b->least)
        b->least = least;
    if (own->left && first->entered && most < b->most)
        b->most = most;
}

static bool is_bounded(const struct timeline_bounds *b)
{
    return b->least != INT64_MIN && b->most != INT64_MAX && b->least <= b->most;
}

/* What the links say of a node's clock and of the first node's bounds the one by the other. */
static struct timeline_bounds link_bounds(const struct timeline *t, uint32_t node)
{
    const struct timeline_bounds *own = &t->nodes[node].link, *first = &t->nodes[0].link;

    if (!is_bounded(own) || !is_bounded(first))
        return (struct timeline_bounds){ INT64_MIN, INT64_MAX };
    return (struct timeline_bounds){ own->least - first->most, own->most - first->least };
}

/* What wall time says, unless the fences and links know better. */
static void set_clock(struct timeline *t, struct timeline_node *n, const struct timeline_bounds *b)
{
    const struct timeline_node *first = &t->nodes[0];

    n->ahead_ns = (int64_t)(n->begin_ns - first->begin_ns) - (int64_t)(n->wall_ns - first->wall_ns);
    if (!is_bounded(b))
        return;
    n->slack_ns = (uint64_t)(b->most - b->least);
    if (n->ahead_ns < b->least || n->ahead_ns > b->most)
        n->ahead_ns = b->least + (b->most - b->least) / 2;
}

static int set_clocks(struct timeline *t)
{
    struct timeline_pass *passes = calloc(t->nnodes + 1, sizeof *passes);
    struct timeline_bounds *bounds = calloc(t->nnodes + 1, sizeof *bounds);
    uint32_t fences = common_fences(t);
    int rc = passes && bounds ? 0 : -ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < t->nnodes; i++)
        bounds[i] = link_bounds(t, i);
    rewind_fences(t);
    for (uint32_t k = 0; rc == 0 && k < fences; k++) {
        pass_nodes(t, passes);
        for (uint32_t i = 1; i < t->nnodes; i++)
            bound(&bounds[i], &passes[i], &passes[0]);
    }
    for (uint32_t i = 1; rc == 0 && i < t->nnodes; i++) {
        if (t->nodes[i].begin_ns)
            set_clock(t, &t->nodes[i], &bounds[i]);
    }
    free(bounds);
    free(passes);
    return rc;
}

static void move(uint64_t *ns, int64_t ahead)
{
    if (*ns)
        *ns = (uint64_t)((int64_t)*ns - ahead);
}

static void move_proc(struct timeline_proc *p, int64_t ahead)
{
    move(&p->started_ns, ahead);
    move(&p->first_ns, ahead);
    move(&p->ended_ns, ahead);
    for (uint32_t i = 0; i < p->nspans; i++) {
        move(&p->spans[i].begin_ns, ahead);
        move(&p->spans[i].end_ns, ahead);
    }
}

static void widen(struct timeline *t, uint64_t ns)
{
    if (!ns)
        return;
    if (!t->begin_ns || ns < t->begin_ns)
        t->begin_ns = ns;
    if (ns > t->end_ns)
        t->end_ns = ns;
}

/* How far the launcher's clock is ahead of the first node's. */
static int64_t launcher_ahead(const struct timeline *t)
{
    const struct timeline_node *first = &t->nodes[0];

    if (is_bounded(&first->link))
        return -(first->link.least + (first->link.most - first->link.least) / 2);
    return (int64_t)(t->launched_ns - first->begin_ns) -
           (int64_t)(t->launched_wall_ns - first->wall_ns);
}

/* What the launcher's trace says of the daemons. */
static void move_launch(struct timeline *t)
{
    int64_t ahead = t->nnodes && t->nodes[0].begin_ns && t->launched_ns ? launcher_ahead(t) : 0;

    move(&t->launched_ns, ahead);
    widen(t, t->launched_ns);
    for (uint32_t i = 0; i < t->nnodes; i++) {
        struct timeline_node *n = &t->nodes[i];
        move(&n->asked_ns, ahead);
        move(&n->runs_ns, ahead);
        move(&n->up_ns, ahead);
        move(&n->lost_ns, ahead);
        widen(t, n->lost_ns);
        move(&n->job_ns, n->ahead_ns);
    }
    for (uint32_t i = 0; i < t->nrepairs; i++) {
        move(&t->repairs[i].at_ns, ahead);
        widen(t, t->repairs[i].at_ns);
    }
}

static void widen_by_proc(struct timeline *t, const struct timeline_proc *p)
{
    widen(t, p->started_ns);
    widen(t, p->first_ns);
    widen(t, p->ended_ns);
    if (p->nspans)
        widen(t, p->spans[p->nspans - 1].end_ns);
}

static void move_all(struct timeline *t)
{
    move_launch(t);
    for (uint32_t i = 0; i < t->nnodes; i++) {
        uint64_t begin = t->nodes[i].begin_ns;
        move(&begin, t->nodes[i].ahead_ns);
        widen(t, begin);
    }
    for (uint32_t i = 0; i < t->nprocs; i++) {
        struct timeline_proc *p = &t->procs[i];

        if (p->node < t->nnodes)
            move_proc(p, t->nodes[p->node].ahead_ns);
        widen_by_proc(t, p);
    }
}

/* A request that was never answered is waited for until the process ends, or the trace. */
static void close_spans(struct timeline *t)
{
    for (uint32_t i = 0; i < t->nprocs; i++) {
        struct timeline_proc *p = &t->procs[i];
        for (uint32_t k = 0; k < p->nspans; k++) {
            if (p->spans[k].open)
                p->spans[k].end_ns = p->ended_ns ? p->ended_ns : t->end_ns;
        }
    }
}

/* ---- the critical path ----------------------------------------------------------------------- */

/* The process that enters the next fence of all last, and when its first one leaves. */
static uint32_t last_to_enter(struct timeline *t, uint64_t *entered_p, uint64_t *left_p)
{
    uint32_t last = 0;

    *entered_p = *left_p = 0;
    for (uint32_t i = 0; i < t->nprocs; i++) {
        const struct timeline_span *s = next_fence(&t->procs[i]);
        if (s && s->begin_ns > *entered_p) {
            *entered_p = s->begin_ns;
            last = i;
        }
        if (s && !s->open && (!*left_p || s->end_ns < *left_p))
            *left_p = s->end_ns;
    }
    return last;
}

static uint32_t last_to_end(const struct timeline *t, uint64_t *ended_p)
{
    uint32_t last = 0;

    *ended_p = 0;
    for (uint32_t i = 0; i < t->nprocs; i++) {
        if (t->procs[i].ended_ns > *ended_p) {
            *ended_p = t->procs[i].ended_ns;
            last = i;
        }
    }
    return last;
}

static void add_step(struct timeline *t, struct timeline_step s)
{
    if (s.end_ns > s.begin_ns)
        t->path[t->npath++] = s;
}

static int find_path(struct timeline *t)
{
    uint32_t fences = common_fences(t);
    uint64_t from = t->begin_ns, entered, left;

    t->path = calloc((size_t)fences + 1, sizeof *t->path);
    if (!t->path)
        return -ENOMEM;
    rewind_fences(t);
    for (uint32_t k = 1; k <= fences; k++) {
        uint32_t rank = last_to_enter(t, &entered, &left);
        add_step(t, (struct timeline_step){ rank, k, from, entered });
        from = left > entered ? left : entered;
    }
    if (t->nprocs) {
        uint32_t rank = last_to_end(t, &entered);
        add_step(t, (struct timeline_step){ rank, 0, from, entered });
    }
    return 0;
}

int timeline_settle(struct timeline *t)
{
    int rc = set_clocks(t);

    if (rc)
        return rc;
    move_all(t);
    close_spans(t);
    return find_path(t);
}
