/* ranking.c - see ranking.h.
 *
 * Each process of a program has a key: its node, its object there, how many of the program come
 * before it on that node or object, and its position in the mapping.  The ways to rank differ only
 * in the order of these. */
#include "launch/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parsing ---- */

static bool word_is(struct slice a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

static int read_modifier(struct slice word, struct ranking_spec *s)
{
    if (word_is(word, "fill"))
        s->how = RANK_FILL;
    else if (word_is(word, "span"))
        s->how = RANK_SPAN;
    else
        return RANKING_BAD;
    return 0;
}

int ranking_parse(const char *text, struct ranking_spec *spec_p, struct errmsg *err)
{
    struct ranking_spec s = { .how = RANK_AS_MAPPED };
    struct slice rest = slice_str(text), word = slice_cut(&rest, ':');
    int rc = 0;

    *spec_p = s;
    if (text == NULL)
        return 0;
    if (word_is(word, "slot"))
        s.how = RANK_BY_SLOT;
    else if (word_is(word, "node"))
        s.how = RANK_BY_NODE;
    else if (topo_kind_find(word, &s.object)) {
        s.how = RANK_BY_OBJECT;
        s.object_given = true;
        if (rest.len)
            rc = read_modifier(rest, &s);
        rest = SLICE_NULL;
    } else
        rc = read_modifier(word, &s);
    if (rc || rest.len)
        return errmsg_set(err, RANKING_BAD,
                          "-rank-by %.200s: it must be slot, node, fill, span, hwthread, core, "
                          "l1cache to l5cache, numa, socket and machine, each also with :span or "
                          ":fill",
                          text);
    *spec_p = s;
    return 0;
}

/* ---- order ---- */

struct key {
    uint32_t node, place, turn, mapped;
};

static int less(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const uint32_t *a, const uint32_t *b, size_t n)
{
    int c = 0;

    for (size_t i = 0; i < n && c == 0; i++)
        c = less(a[i], b[i]);
    return c;
}

/* One object after the other, each in the order of the mapping. */
static int by_place(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    return compare((const uint32_t[]){ x->node, x->place, x->mapped },
                   (const uint32_t[]){ y->node, y->place, y->mapped }, 3);
}

/* The first of each object, the second of each, ...; node after node. */
static int by_turn_in_node(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    return compare((const uint32_t[]){ x->node, x->turn, x->place },
                   (const uint32_t[]){ y->node, y->turn, y->place }, 3);
}

/* The same over all nodes. */
static int by_turn(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    return compare((const uint32_t[]){ x->turn, x->node, x->place },
                   (const uint32_t[]){ y->turn, y->node, y->place }, 3);
}

/* By slot and by node each node is one object. */
static void sort_app(struct key *keys, uint32_t n, enum ranking_how how)
{
    qsort(keys, n, sizeof *keys, by_place);
    for (uint32_t i = 1; i < n; i++) {
        bool same = keys[i].node == keys[i - 1].node && keys[i].place == keys[i - 1].place;
        keys[i].turn = same ? keys[i - 1].turn + 1 : 0;
    }
    if (how == RANK_BY_OBJECT)
        qsort(keys, n, sizeof *keys, by_turn_in_node);
    else if (how == RANK_SPAN || how == RANK_BY_NODE)
        qsort(keys, n, sizeof *keys, by_turn);
}

static enum ranking_how how_of(const struct job_map *p, uint32_t app, const enum ranking_how *how)
{
    return how[p->apps[app].placement];
}

static void make_keys(const struct job_map *p, const enum ranking_how *how, const uint32_t *places,
                      struct key *keys)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        bool placed = places && how_of(p, q->app, how) >= RANK_BY_OBJECT;
        keys[r] = (struct key){ q->node, placed ? places[r] : 0, 0, r };
    }
}

/* Local ranks follow the ranks; turns records each process's seat in the mapping. */
static void renumber(struct job_map *p, const struct key *keys, const struct job_map_proc *old,
                     const uint32_t *seats, uint32_t *used, uint32_t *turns)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &old[keys[r].mapped];
        p->procs[r] = *q;
        p->procs[r].rank = r;
        p->procs[r].local_rank = used[q->node]++;
        turns[r] = seats[keys[r].mapped];
    }
}

static bool renumbers(const struct job_map *p, const enum ranking_how *how)
{
    for (uint32_t i = 0; i < p->napps && p->nprocs; i++) {
        if (how_of(p, i, how) != RANK_AS_MAPPED)
            return true;
    }
    return false;
}

int ranking_apply(struct job_map *plan, const enum ranking_how *how, const uint32_t *places,
                  const uint32_t **turns_p)
{
    size_t n = plan->nprocs;
    struct key *keys;
    struct job_map_proc *old;
    uint32_t *used, *turns, *seats;
    int rc = -ENOMEM;

    *turns_p = NULL;
    if (!renumbers(plan, how))
        return 0;
    keys = calloc(n, sizeof *keys);
    old = calloc(n, sizeof *old);
    used = calloc((size_t)plan->nnodes + 1, sizeof *used);
    seats = job_map_seats(plan);
    turns = arena_array(&plan->arena, n, sizeof *turns);
    if (keys && old && used && seats && turns) {
        make_keys(plan, how, places, keys);
        for (uint32_t i = 0; i < plan->napps; i++) {
            if (how_of(plan, i, how) != RANK_AS_MAPPED)
                sort_app(&keys[plan->apps[i].first_rank], plan->apps[i].nprocs,
                         how_of(plan, i, how));
        }
        memcpy(old, plan->procs, n * sizeof *old);
        renumber(plan, keys, old, seats, used, turns);
        *turns_p = turns;
        rc = 0;
    }
    free(keys);
    free(old);
    free(used);
    free(seats);
    return rc;
}
