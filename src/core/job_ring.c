/* job_ring.c - see job_ring.h.
 *
 * The order is that of the nodes and, on a node, of the ranks: so that most neighbours share a
 * node.  The ring is a collective of the whole job; a process's values wait with its ticket.
 *
 * Other nodes need from a node the left value of its first process and the right value of its last
 * one: 'R', the node's number in the plan, and these two, each with its length (varints).
 */
#include "core/job_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect_queue.h"
#include "core/contribution.h"
#include "core/job_fence.h"
#include "core/job_restart.h"
#include "wire/parts.h"

/* The values of one process. */
struct note {
    uint32_t left, right; /* lengths */
    char bytes[];         /* the left neighbour's value, then the right one's */
};

static struct note *note_new(struct slice left, struct slice right)
{
    struct note *n = malloc(sizeof *n + left.len + right.len);

    if (!n)
        return NULL;
    n->left = (uint32_t)left.len;
    n->right = (uint32_t)right.len;
    if (left.len)
        memcpy(n->bytes, left.ptr, left.len);
    if (right.len)
        memcpy(n->bytes + left.len, right.ptr, right.len);
    return n;
}

static struct slice to_left(const struct note *n)
{
    return slice_mem(n->bytes, n->left);
}

static struct slice to_right(const struct note *n)
{
    return slice_mem(n->bytes + n->left, n->right);
}

/* order_p[i] is the rank at place i. */
static bool ring_order(const struct job_map *p, uint32_t **order_p)
{
    uint32_t *first = calloc(p->nnodes + (size_t)1, sizeof *first);
    uint32_t *order = calloc(p->nprocs + (size_t)1, sizeof *order);

    if (!first || !order) {
        free(first);
        free(order);
        return false;
    }
    for (uint32_t r = 0; r < p->nprocs; r++)
        first[p->procs[r].node + 1]++;
    for (uint32_t n = 1; n < p->nnodes; n++)
        first[n] += first[n - 1];
    for (uint32_t r = 0; r < p->nprocs; r++)
        order[first[p->procs[r].node]++] = r;
    free(first);
    *order_p = order;
    return true;
}

static void answer_one(struct job *j, const struct collective *c, uint32_t place,
                       const uint32_t *order)
{
    uint32_t n = j->plan.nprocs;
    const struct note *before = c->notes[order[(place + n - 1) % n]];
    const struct note *behind = c->notes[order[(place + 1) % n]];

    effects_answer(j->effects, c->tickets[order[place]],
                   ANSWER_TO(ring, ANSWER_OK, .place = place, .left = to_right(before),
                             .right = to_left(behind)));
}

static void answer_all(struct job *j, const struct collective *c)
{
    uint32_t *order = NULL;

    if (ring_order(&j->plan, &order)) {
        for (uint32_t i = 0; i < j->plan.nprocs; i++)
            answer_one(j, c, i, order);
    } else {
        for (uint32_t i = 0; i < j->plan.nprocs; i++)
            effects_answer(j->effects, c->tickets[i], answer_status(ANSWER_NO_MEMORY));
    }
    free(order);
}

/* ---- several nodes --------------------------------------------------------------------------- */

static void put_part(struct buf *out, struct slice s)
{
    parts_put_uint(out, s.len);
    buf_slice_put(out, s);
}

static bool push_contribution(struct job *j, const struct collective *c)
{
    struct coll_id id = collective_id(c, j->id);
    struct contribution *k = contribution_new(&id, false, 1);

    if (!k)
        return false;
    k->ordered = job_restarts(j);
    k->parties[0] = (struct party){ j->id, REQUEST_ALL_RANKS };
    buf_byte(&k->block, 'R');
    parts_put_uint(&k->block, j->here);
    put_part(&k->block, to_left(c->notes[0]));
    put_part(&k->block, to_right(c->notes[c->group->count - 1]));
    if (!buf_ok(&k->block)) {
        contribution_free(k);
        return false;
    }
    return effects_contribute(j->effects, j->id, k);
}

struct ring_part {
    struct slice left, right;
    uint32_t node;
};

static bool read_part(struct slice *rest, struct ring_part *p)
{
    uint64_t node;

    if (rest->len == 0 || rest->ptr[0] != 'R')
        return false;
    *rest = slice_skip(*rest, 1);
    if (!parts_get_uint(rest, &node) || node >= UINT32_MAX)
        return false;
    p->node = (uint32_t)node;
    return parts_get_bytes(rest, &p->left) && parts_get_bytes(rest, &p->right);
}

/* The next node with processes in this direction, around the ring. */
static uint32_t next_node(const struct job_map *p, uint32_t from, uint32_t step)
{
    uint32_t n = from;

    do
        n = (n + step) % p->nnodes;
    while (p->nodes[n].nprocs == 0 && n != from);
    return n;
}

struct ring_ends {
    uint32_t before_node, behind_node;
    bool has_before, has_behind;
    struct slice before, behind;
};

static void find_ends(const struct job *j, const struct slice *blocks, uint32_t n,
                      struct ring_ends *e)
{
    *e = (struct ring_ends){ .before_node = next_node(&j->plan, j->here, j->plan.nnodes - 1),
                             .behind_node = next_node(&j->plan, j->here, 1) };
    for (uint32_t i = 0; i < n; i++) {
        struct slice rest = blocks[i];
        struct ring_part p;
        while (read_part(&rest, &p)) {
            if (p.node == e->before_node) {
                e->has_before = true;
                e->before = p.right;
            }
            if (p.node == e->behind_node) {
                e->has_behind = true;
                e->behind = p.left;
            }
        }
    }
}

static uint32_t first_place(const struct job_map *p, uint32_t node)
{
    uint32_t place = 0;

    for (uint32_t n = 0; n < node; n++)
        place += p->nodes[n].nprocs;
    return place;
}

static void answer_here(struct job *j, const struct collective *c, uint32_t i, uint32_t first,
                        const struct ring_ends *ends, enum answer_status status)
{
    uint32_t last = c->group->count - 1;
    struct answer_ring m = { .place = first + i };

    if (status == ANSWER_OK) {
        m.left = i ? to_right(c->notes[i - 1]) : ends->before;
        m.right = i < last ? to_left(c->notes[i + 1]) : ends->behind;
    }
    effects_answer(j->effects, c->tickets[i], answer_of_ring(status, m));
}

void job_ring_over(struct job *j, uint64_t generation, enum answer_status status,
                   const struct slice *blocks, uint32_t nblocks)
{
    struct collective *c = collective_take_contributed(&j->colls, SLICE(JOB_RING), generation);
    struct ring_ends ends;
    uint32_t first;

    if (!c)
        return;
    find_ends(j, blocks, nblocks, &ends);
    if (status == ANSWER_OK && (!ends.has_before || !ends.has_behind))
        status = ANSWER_FAILED;
    first = first_place(&j->plan, j->here);
    for (uint32_t i = 0; i < c->group->count; i++)
        answer_here(j, c, i, first, &ends, status);
    collective_free(&j->colls, c);
}

static void contribute(struct job *j, struct collective *c)
{
    if (push_contribution(j, c)) {
        collective_contributed(c);
        return;
    }
    for (uint32_t i = 0; i < c->group->count; i++)
        answer_here(j, c, i, 0, NULL, ANSWER_NO_MEMORY);
    collective_free(&j->colls, c);
}

static enum answer_status enter(struct job *j, struct collective_group *g, uint32_t rank,
                                uint64_t ticket, uint64_t now_ns, struct note *note)
{
    bool fresh = !collective_next(g, rank);
    struct collective *c;

    switch (collective_enter_with(g, rank, ticket, now_ns, note, &c)) {
    case COLLECTIVE_OK: break;
    case COLLECTIVE_WAITING:
        if (fresh)
            job_ask_about_lost(j, c);
        return ANSWER_LATER;
    case COLLECTIVE_NOT_MEMBER: return ANSWER_BAD_KEY;
    default: return ANSWER_NO_MEMORY;
    }
    if (fresh)
        job_ask_about_lost(j, c);
    if (g->spread) {
        contribute(j, c);
        return ANSWER_LATER;
    }
    answer_all(j, c);
    collective_free(&j->colls, c);
    return ANSWER_LATER;
}

static uint32_t rounds_of(const struct collective_group *g)
{
    uint32_t n = 0;

    LIST_EACH(l, &g->rounds)
    n++;
    return n;
}

enum answer_status job_ring(struct job *j, uint32_t rank, struct slice left, struct slice right,
                            uint64_t ticket, uint64_t now_ns)
{
    struct collective_group *g;
    enum answer_status st;
    struct note *note;
    uint32_t missing;

    if (left.len > LIMIT_RING_VALUE || right.len > LIMIT_RING_VALUE)
        return ANSWER_BAD_VALUE;
    if (job_restart_is_news(j, rank))
        return ANSWER_RESTARTED;
    if ((j->spread ? collective_group_get_spread(&j->colls, SLICE(JOB_RING), j->mine, j->nmine,
                                                 NULL, j->plan.nprocs, false, &g)
                   : collective_group_get(&j->colls, SLICE(JOB_RING), NULL, j->plan.nprocs, false,
                                          &g)) < 0)
        return ANSWER_NO_MEMORY;
    g->kind = COLL_RING;
    if (rounds_of(g) > LIMIT_RING_ROUNDS)
        return ANSWER_OVER_QUOTA;
    missing = job_missing(j, g, rank);
    note = missing == JOB_NO_RANK ? note_new(left, right) : NULL;
    st = missing != JOB_NO_RANK ? job_miss(j, missing)
         : note                 ? enter(j, g, rank, ticket, now_ns, note)
                                : ANSWER_NO_MEMORY;
    if (st != ANSWER_LATER) {
        free(note);
        collective_group_drop_idle(&j->colls, g);
    }
    return st;
}
