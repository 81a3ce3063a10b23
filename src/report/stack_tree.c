/* stack_tree.c - see stack_tree.h.  Reading order: calls; where a stack is; the tree; the order;
 * printing. */
#include "report/stack_tree.h"

#include <stdlib.h>

#include "core/rank_ranges.h"

enum { STACK_TREE_MEMORY = 256 << 20 };

/* ---- calls ---- */

static struct slice library_of(struct slice call)
{
    return slice_skip(call, slice_find(call, '@') + 1);
}

static bool is_own(struct slice call)
{
    return slice_find(call, '@') == call.len;
}

/* As people know it: without the library, MPI_Send for PMPI_Send. */
static struct slice call_name(struct slice call)
{
    struct slice name = slice_head(call, slice_find(call, '@'));

    if (name.len == 0)
        return library_of(call).len ? library_of(call) : SLICE("?");
    if (slice_starts(name, SLICE("PMPI_")) || slice_starts(name, SLICE("pmpi_")))
        return slice_skip(name, 1);
    return name;
}

static bool communicates(struct slice call)
{
    static const char *const heads[] = { "MPI_",  "mpi_",  "PMIx_",  "PMI_",
                                         "PMI2_", "PMIX_", "shmem_", "MPIX_" };
    struct slice name = call_name(call);

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (slice_starts(name, slice_str(heads[i])))
            return true;
    }
    return false;
}

/* Those of the C library that call main, or begin a thread. */
static bool is_outside(struct slice call)
{
    struct slice name = call_name(call);

    return slice_is(name, "_start") || slice_starts(name, SLICE("__libc_start")) ||
           slice_is(name, "start_thread");
}

static bool is_of_libc(struct slice call)
{
    return slice_is(library_of(call), "libc.so");
}

/* A local function of the C library, of which a stripped one has no name. */
static bool is_nameless(struct slice call)
{
    return is_of_libc(call) && call.len > 0 && call.ptr[0] == '@';
}

struct calls {
    struct slice all[STACK_CALLS_MAX]; /* outermost first */
    uint32_t n;
};

/* The innermost ones, of a stack that is deeper; without those by which the C library calls main,
 * and what a call of it does inside. */
static void read_calls(const char *stack, struct calls *c)
{
    struct slice rest = slice_str(stack), lines[STACK_CALLS_MAX];
    uint32_t n = 0, inner = 0;

    while (rest.len && n < STACK_CALLS_MAX)
        lines[n++] = slice_cut(&rest, '\n');
    for (uint32_t i = 1; i < n; i++)
        n = is_outside(lines[i]) ? i : n;
    while (n > 1 && is_nameless(lines[n - 1])) /* what calls main */
        n--;
    while (inner + 1 < n && is_nameless(lines[inner]) && is_of_libc(lines[inner + 1]))
        inner++;
    c->n = n - inner;
    for (uint32_t i = 0; i < c->n; i++)
        c->all[i] = lines[n - 1 - i];
}

/* ---- where a stack is ---- */

static struct stack_place place_of(const struct calls *c)
{
    struct stack_place p = { .communicates = false };

    for (uint32_t i = 0; i < c->n; i++) {
        if (communicates(c->all[i])) {
            p.call = call_name(c->all[i]);
            p.caller = i ? call_name(c->all[i - 1]) : SLICE_NULL;
            p.communicates = true;
            return p;
        }
        if (is_own(c->all[i])) {
            p.call = call_name(c->all[i]);
            p.caller = SLICE_NULL;
        } else if (i && is_own(c->all[i - 1])) {
            p.caller = call_name(c->all[i - 1]);
            p.call = call_name(c->all[i]);
        } else if (i == 0) {
            p.call = call_name(c->all[i]);
        }
    }
    return p;
}

static bool same_place(const struct stack_place *a, const struct stack_place *b)
{
    return slice_eq(a->call, b->call) && slice_eq(a->caller, b->caller) &&
           a->communicates == b->communicates;
}

/* ---- the tree ---- */

static void add_rank(struct arena *a, uint32_t **ranks, uint32_t *n, uint32_t *room, uint32_t rank)
{
    if (*n == *room) {
        uint32_t more = *room ? 2 * *room : 4;
        uint32_t *bigger = arena_array(a, more, sizeof *bigger);
        if (!bigger)
            return;
        for (uint32_t i = 0; i < *n; i++)
            bigger[i] = (*ranks)[i];
        *ranks = bigger;
        *room = more;
    }
    (*ranks)[(*n)++] = rank;
}

static struct stack_node *child_of(struct arena *a, struct stack_node *of, struct slice call)
{
    struct stack_node **at = &of->children;

    while (*at && !slice_eq((*at)->call, call))
        at = &(*at)->next;
    if (!*at && (*at = arena_alloc(a, sizeof **at)) != NULL)
        **at = (struct stack_node){ .call = call };
    return *at;
}

static struct stack_group *group_of(struct stack_tree *t, const struct stack_place *p)
{
    for (uint32_t i = 0; i < t->ngroups; i++) {
        if (same_place(&t->groups[i].place, p))
            return &t->groups[i];
    }
    if (t->ngroups == t->groups_room) {
        uint32_t more = t->groups_room ? 2 * t->groups_room : 8;
        struct stack_group *bigger = realloc(t->groups, more * sizeof *bigger);
        if (!bigger)
            return NULL;
        t->groups = bigger;
        t->groups_room = more;
    }
    t->groups[t->ngroups] = (struct stack_group){ .place = *p };
    return &t->groups[t->ngroups++];
}

void stack_tree_add(struct stack_tree *t, uint32_t rank, const char *stack)
{
    struct stack_node *at = &t->top;
    struct stack_group *g;
    struct stack_place p;
    struct calls c;

    read_calls(stack, &c);
    if (c.n == 0)
        return;
    p = place_of(&c);
    g = group_of(t, &p);
    if (g)
        add_rank(&t->arena, &g->ranks, &g->n, &g->room, rank);
    add_rank(&t->arena, &at->ranks, &at->n, &at->room, rank);
    for (uint32_t i = 0; at && i < c.n; i++) {
        at = child_of(&t->arena, at, c.all[i]);
        if (at)
            add_rank(&t->arena, &at->ranks, &at->n, &at->room, rank);
    }
}

void stack_tree_init(struct stack_tree *t)
{
    *t = (struct stack_tree){ .ngroups = 0 };
    arena_init(&t->arena, STACK_TREE_MEMORY);
}

void stack_tree_free(struct stack_tree *t)
{
    arena_free(&t->arena);
    free(t->groups);
    t->groups = NULL;
    t->ngroups = 0;
}

/* ---- the order ---- */

static int compare(uint32_t na, bool ca, uint32_t fa, uint32_t nb, bool cb, uint32_t fb)
{
    if (na != nb)
        return na < nb ? -1 : 1;
    if (ca != cb)
        return ca ? 1 : -1;
    return fa < fb ? -1 : fa > fb;
}

static int compare_groups(const void *one, const void *other)
{
    const struct stack_group *a = one, *b = other;

    return compare(a->n, a->place.communicates, a->n ? a->ranks[0] : 0, b->n, b->place.communicates,
                   b->n ? b->ranks[0] : 0);
}

static bool is_before(const struct stack_node *a, const struct stack_node *b)
{
    return compare(a->n, communicates(a->call), a->n ? a->ranks[0] : 0, b->n, communicates(b->call),
                   b->n ? b->ranks[0] : 0) < 0;
}

/* By insertion: few calls are made at one place.  (No deeper than STACK_CALLS_MAX.) */
static void sort_children(struct stack_node *of)
{
    struct stack_node *sorted = NULL;

    while (of->children) {
        struct stack_node *one = of->children, **at = &sorted;
        of->children = one->next;
        while (*at && !is_before(one, *at))
            at = &(*at)->next;
        one->next = *at;
        *at = one;
        sort_children(one);
    }
    of->children = sorted;
}

void stack_tree_sort(struct stack_tree *t)
{
    if (t->ngroups)
        qsort(t->groups, t->ngroups, sizeof *t->groups, compare_groups);
    sort_children(&t->top);
}

/* ---- printing ---- */

void stack_ranks(const uint32_t *ranks, uint32_t n, struct buf *out)
{
    struct rank_ranges r = { .out = out };

    for (uint32_t i = 0; i < n; i++)
        rank_ranges_add(&r, ranks[i]);
    rank_ranges_end(&r);
}

static void put_name(struct slice call, struct buf *out)
{
    buf_escaped(out, call_name(call));
}

/* A call that all make from there is on the same line. */
static void node_text(const struct stack_node *n, uint32_t indent, struct buf *out)
{
    buf_printf(out, "%*s", (int)indent, "");
    stack_ranks(n->ranks, n->n, out);
    buf_str(out, ": ");
    put_name(n->call, out);
    while (!communicates(n->call) && n->children && n->children->n == n->n) {
        n = n->children;
        buf_str(out, " > ");
        put_name(n->call, out);
    }
    buf_byte(out, '\n');
    for (const struct stack_node *c = n->children; c && !communicates(n->call); c = c->next)
        node_text(c, indent + 2, out);
}

void stack_tree_text(const struct stack_tree *t, uint32_t indent, struct buf *out)
{
    for (const struct stack_node *c = t->top.children; c; c = c->next)
        node_text(c, indent, out);
}

static void node_json(const struct stack_node *n, struct json *j, struct buf *scratch)
{
    json_object(j, NULL);
    json_text(j, "call", slice_head(n->call, slice_find(n->call, '@')));
    json_text(j, "library", library_of(n->call));
    buf_clear(scratch);
    stack_ranks(n->ranks, n->n, scratch);
    json_text(j, "ranks", buf_slice(scratch));
    json_array(j, "calls");
    for (const struct stack_node *c = n->children; c; c = c->next)
        node_json(c, j, scratch);
    json_array_end(j);
    json_object_end(j);
}

void stack_tree_json(const struct stack_tree *t, struct json *j, struct buf *scratch)
{
    for (const struct stack_node *c = t->top.children; c; c = c->next)
        node_json(c, j, scratch);
}
