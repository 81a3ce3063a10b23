/* job_ring.c - the ring: everybody leaves a value for each neighbour and gets theirs.
 *
 * The order is that of the nodes and, on a node, of the ranks: so that most neighbours share a
 * node.  The ring is a collective of all; what a process left waits with its ticket.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/job.h"

/* What one process left. */
struct note {
    uint32_t left, right; /* lengths */
    char bytes[];         /* what goes to the left neighbour, then what goes to the right one */
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
static bool ring_order(const struct plan *p, uint32_t **order_p)
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

static void answer_one(struct job *j, const struct coll *c, uint32_t place, const uint32_t *order)
{
    uint32_t n = j->plan.nprocs;
    const struct note *before = c->notes[order[(place + n - 1) % n]];
    const struct note *behind = c->notes[order[(place + 1) % n]];
    struct effect e = { .kind = EFFECT_ANSWER,
                        .status = ANSWER_OK,
                        .job = j->id,
                        .ticket = c->tickets[order[place]],
                        .number = place };

    if (!effect_carry(&e, to_right(before), to_left(behind)))
        e.status = ANSWER_NO_MEMORY;
    effects_push(j->effects, e);
}

static void answer_all(struct job *j, const struct coll *c)
{
    uint32_t *order = NULL;

    if (ring_order(&j->plan, &order)) {
        for (uint32_t i = 0; i < j->plan.nprocs; i++)
            answer_one(j, c, i, order);
    } else {
        for (uint32_t i = 0; i < j->plan.nprocs; i++)
            effects_push(j->effects, (struct effect){ .kind = EFFECT_ANSWER,
                                                      .status = ANSWER_NO_MEMORY,
                                                      .job = j->id,
                                                      .ticket = c->tickets[i] });
    }
    free(order);
}

static enum answer_status enter(struct job *j, struct coll_group *g, uint32_t rank, uint64_t ticket,
                                uint64_t now_ns, struct note *note)
{
    struct coll *c;

    switch (coll_enter_with(g, rank, ticket, now_ns, note, &c)) {
    case COLL_OK: break;
    case COLL_WAITING: return ANSWER_LATER;
    case COLL_NOT_MEMBER: return ANSWER_BAD_KEY;
    default: return ANSWER_NO_MEMORY;
    }
    answer_all(j, c);
    coll_free(&j->colls, c);
    return ANSWER_LATER;
}

static uint32_t rounds_of(const struct coll_group *g)
{
    uint32_t n = 0;

    LIST_EACH(l, &g->rounds)
    n++;
    return n;
}

enum answer_status job_ring(struct job *j, uint32_t rank, struct slice left, struct slice right,
                            uint64_t ticket, uint64_t now_ns)
{
    struct coll_group *g;
    enum answer_status st;
    struct note *note;

    if (left.len > LIMIT_RING_VALUE || right.len > LIMIT_RING_VALUE)
        return ANSWER_BAD_VALUE;
    if (j->lost)
        return job_miss(j);
    if (coll_group_get(&j->colls, SLICE("RING"), NULL, j->plan.nprocs, false, &g) < 0)
        return ANSWER_NO_MEMORY;
    if (rounds_of(g) > LIMIT_RING_ROUNDS)
        return ANSWER_OVER_QUOTA;
    note = note_new(left, right);
    st = note ? enter(j, g, rank, ticket, now_ns, note) : ANSWER_NO_MEMORY;
    if (st != ANSWER_LATER) {
        free(note);
        coll_group_drop_idle(&j->colls, g);
    }
    return st;
}
