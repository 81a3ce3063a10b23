/* job_node.c - see job_node.h. */
#include "core/job_node.h"

#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/effect_queue.h"
#include "core/job_attr.h"
#include "core/job_connect.h"
#include "core/rank_ranges.h"
#include "wire/pmi2_attributes.h"

enum { NODE_PART = 16 }; /* "@4294967295" and its NUL */

/* The name in the store: `@node`, a NUL, the key. */
struct node_key {
    char text[NODE_PART + LIMIT_PMI_KEY];
    struct slice name;
};

static size_t put_node(char *text, uint32_t node)
{
    return (size_t)snprintf(text, NODE_PART, "@%u", node) + 1;
}

static bool is_connected(struct slice key)
{
    return slice_starts(key, SLICE(ATTRIBUTE_CONNECTED));
}

static enum answer_status make_key_of(uint32_t node, struct slice key, struct node_key *k)
{
    size_t n = put_node(k->text, node);

    if (key.len == 0 || key.len >= LIMIT_PMI_KEY || slice_find(key, '\0') < key.len)
        return ANSWER_BAD_KEY;
    memcpy(k->text + n, key.ptr, key.len);
    k->name = slice_mem(k->text, n + key.len);
    return ANSWER_OK;
}

/* The name under which gets wait for it: those for an attribute of all connected jobs have one of
 * their own, because processes of other jobs can put it. */
static struct slice wait_name(struct node_key *k, struct slice key)
{
    if (is_connected(key))
        k->text[0] = '&';
    return k->name;
}

static enum answer_status make_key(const struct job *j, uint32_t rank, struct slice key,
                                   struct node_key *k)
{
    return make_key_of(j->plan.procs[rank].node, key, k);
}

static void answer(struct job *j, const struct nodeattr_wait *w, enum answer_status status,
                   struct slice value)
{
    j->procs[w->rank].idle_waits -= w->idle;
    effects_answer(j->effects, w->ticket, ANSWER_TO(node_get, status, .value = value));
}

static void wake(struct job *j, struct slice name, struct slice value)
{
    struct nodeattr *n = nodeattrs_take(&j->waiting, name);

    for (uint32_t i = 0; n && i < n->n; i++)
        answer(j, &n->waits[i], ANSWER_OK, value);
    nodeattr_free(n);
}

/* ---- connected jobs -------------------------------------------------------------------------- */

/* The index in the other job's plan of the node that has this index in ours; false: it is in no
 * part of it. */
static bool find_node(const struct job *j, uint32_t node, const struct job *other, uint32_t *node_p)
{
    for (uint32_t i = 0; i < other->plan.nnodes; i++) {
        if (!strcmp(other->plan.nodes[i].name, j->plan.nodes[node].name)) {
            *node_p = i;
            return true;
        }
    }
    return false;
}

/* The next job after `at` (NULL: the first) that is related to j and has a part in the node, as
 * *node_p of its plan; NULL: no more. */
static struct job *next_related(const struct job *j, uint32_t node, const struct job *at,
                                uint32_t *node_p)
{
    bool after = !at;

    if (!j->core)
        return NULL;
    LIST_EACH(l, &j->core->jobs)
    {
        struct job *one = LIST_OF(l, struct job, link);
        if (after && one != j && job_is_related(one, j) && find_node(j, node, one, node_p))
            return one;
        after = after || one == at;
    }
    return NULL;
}

static void wake_related(const struct job *j, uint32_t node, struct slice key, struct slice value)
{
    struct node_key k;
    uint32_t there;

    for (struct job *o = NULL; (o = next_related(j, node, o, &there));) {
        if (make_key_of(there, key, &k) == ANSWER_OK)
            wake(o, wait_name(&k, key), value);
    }
}

static bool find_related(const struct job *j, uint32_t node, struct slice key,
                         struct slice *value_p)
{
    struct node_key k;
    uint32_t there;

    for (const struct job *o = NULL; (o = next_related(j, node, o, &there));) {
        if (make_key_of(there, key, &k) == ANSWER_OK &&
            seg_get(&o->store.view, SEG_ANY_RANK, k.name, value_p))
            return true;
    }
    return false;
}

/* ---- puts ------------------------------------------------------------------------------------ */

enum answer_status job_node_put(struct job *j, uint32_t rank, struct slice key, struct slice value)
{
    struct proc *p = &j->procs[rank];
    struct node_key k;
    enum answer_status st = make_key(j, rank, key, &k);
    int rc;

    if (st != ANSWER_OK)
        return st;
    if (!proc_can_keep(p, k.name.len + value.len))
        return ANSWER_OVER_QUOTA;
    rc = seg_put(&j->store, SEG_ANY_RANK, k.name, value, SEG_FLAT | SEG_REPLACE);
    if (rc)
        return rc == SEG_TOO_LONG ? ANSWER_BAD_VALUE : ANSWER_NO_MEMORY;
    proc_keeps(p, k.name.len + value.len);
    wake(j, wait_name(&k, key), value);
    if (is_connected(key))
        wake_related(j, j->plan.procs[rank].node, key, value);
    return ANSWER_OK;
}

/* ---- waits without end ----------------------------------------------------------------------- */

/* Takes part, or may still begin to; after finalize a process puts nothing. */
static bool is_member(const struct job *j, uint32_t rank, uint32_t node)
{
    enum proc_state s = j->procs[rank].state;

    return j->plan.procs[rank].node == node && !j->procs[rank].unreachable &&
           (s == PROC_STATE_PLANNED || s == PROC_STATE_RUNNING || s == PROC_STATE_ATTACHED);
}

/* The processes of a node that could put an attribute.  Idle ones are none of them: they wait for
 * one, and send nothing else until then. */
struct putters {
    uint32_t able, idle;
    uint32_t last; /* of the able ones */
};

static struct putters putters_of(const struct job *j, uint32_t node, uint32_t except)
{
    struct putters p = { .last = JOB_NO_RANK };

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (r == except || !is_member(j, r, node))
            continue;
        if (j->procs[r].idle_waits) {
            p.idle++;
        } else {
            p.able++;
            p.last = r;
        }
    }
    return p;
}

static void name_waiting(struct job *j, uint32_t rank, uint32_t count)
{
    uint32_t node = j->plan.procs[rank].node;
    struct buf who = BUF_NULL(ERRMSG_MAX / 2);
    struct rank_ranges ranges = { .out = &who };

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (r != rank && is_member(j, r, node) && j->procs[r].idle_waits)
            rank_ranges_add(&ranges, r);
    }
    rank_ranges_end(&ranges);
    errmsg_set(&j->node_wait_refusal, 0,
               "%s %s wait%s for attributes of this node, too: no process is left to put one",
               count == 1 ? "rank" : "ranks", buf_ok(&who) ? buf_cstr(&who) : "(many)",
               count == 1 ? "s" : "");
    buf_free(&who);
}

/* Processes of the node that could put an attribute of all connected jobs. */
static uint32_t count_connected(const struct job *j, uint32_t node)
{
    uint32_t n = 0, there;

    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        n += is_member(j, r, node);
    for (const struct job *o = NULL; (o = next_related(j, node, o, &there));) {
        for (uint32_t r = 0; r < o->plan.nprocs; r++)
            n += is_member(o, r, there);
    }
    return n;
}

/* Whether another process can put the attribute that this rank waits for. */
static enum answer_status may_wait(struct job *j, uint32_t rank)
{
    struct putters others = putters_of(j, j->plan.procs[rank].node, rank);

    if (others.able)
        return ANSWER_LATER;
    if (!others.idle)
        return ANSWER_NOT_FOUND;
    name_waiting(j, rank, others.idle);
    return ANSWER_FAILED;
}

/* One that is computed goes to the store, where the next get finds it. */
static bool make(struct job *j, uint32_t node, struct slice key, struct slice name,
                 struct slice *value_p)
{
    struct buf text = BUF_NULL(LIMIT_PMI_VALUE);
    bool made = job_attr_of_node(j, node, key, &text) &&
                seg_put(&j->store, SEG_ANY_RANK, name, buf_slice(&text), SEG_FLAT) == 0 &&
                seg_get(&j->store.view, SEG_ANY_RANK, name, value_p);

    buf_free(&text);
    return made;
}

enum answer_status job_node_get(struct job *j, uint32_t rank, const struct node_get *g,
                                struct answer *a_p)
{
    uint32_t node = j->plan.procs[rank].node;
    struct node_key k;
    enum answer_status st = make_key_of(node, g->key, &k);
    struct slice value;

    if (st != ANSWER_OK)
        return st;
    if (seg_get(&j->store.view, SEG_ANY_RANK, k.name, &value) ||
        make(j, node, g->key, k.name, &value) ||
        (is_connected(g->key) && find_related(j, node, g->key, &value))) {
        *a_p = ANSWER_TO(node_get, ANSWER_OK, .value = value);
        return ANSWER_OK;
    }
    if (g->wait && is_connected(g->key))
        st = count_connected(j, node) > 1 ? ANSWER_LATER : ANSWER_NOT_FOUND;
    else
        st = g->wait ? may_wait(j, rank) : ANSWER_NOT_FOUND;
    if (st == ANSWER_FAILED)
        a_p->text = slice_str(j->node_wait_refusal.text);
    if (st != ANSWER_LATER)
        return st;
    if (nodeattrs_wait(&j->waiting, wait_name(&k, g->key),
                       (struct nodeattr_wait){ g->ticket, rank, g->idle }) < 0)
        return ANSWER_NO_MEMORY;
    j->procs[rank].idle_waits += g->idle;
    return ANSWER_LATER;
}

/* Gets for attributes of all connected jobs that no other process could put any more. */
static void drop_connected(struct job *j, uint32_t node)
{
    const struct slice key = SLICE(ATTRIBUTE_CONNECTED);
    struct nodeattr_wait w;
    struct node_key k;

    if (!j->waiting.by_name.count || count_connected(j, node) > 1 ||
        make_key_of(node, key, &k) != ANSWER_OK)
        return;
    while (nodeattrs_take_one(&j->waiting, wait_name(&k, key), NODEATTR_ANY_RANK, &w))
        answer(j, &w, ANSWER_NOT_FOUND, SLICE_NULL);
}

/* A process of this job has ended: it will put nothing for the jobs that are connected to it. */
static void end_connected(struct job *j, uint32_t node)
{
    uint32_t there;

    drop_connected(j, node);
    if (!j->core)
        return;
    LIST_EACH(l, &j->core->jobs)
    {
        struct job *o = LIST_OF(l, struct job, link);
        if (o->waiting.by_name.count && o != j && job_is_related(o, j) &&
            find_node(j, node, o, &there))
            drop_connected(o, there);
    }
}

void job_node_apart(struct job *j)
{
    for (uint32_t node = 0; j->waiting.by_name.count && node < j->plan.nnodes; node++)
        drop_connected(j, node);
}

void job_node_forget(struct job *j, uint32_t rank)
{
    struct nodeattr_wait w;
    char text[NODE_PART];
    struct slice prefix = slice_mem(text, put_node(text, j->plan.procs[rank].node));

    while (nodeattrs_take_one(&j->waiting, prefix, rank, &w))
        answer(j, &w, ANSWER_NOT_FOUND, SLICE_NULL);
    text[0] = '&'; /* those of connected jobs: wait_name() */
    while (nodeattrs_take_one(&j->waiting, prefix, rank, &w))
        answer(j, &w, ANSWER_NOT_FOUND, SLICE_NULL);
}

/* The last one able to put waits for nobody but itself. */
void job_node_ended(struct job *j, uint32_t rank)
{
    uint32_t node = j->plan.procs[rank].node;
    struct putters left;
    struct nodeattr_wait w;
    char text[NODE_PART];
    struct slice prefix;

    end_connected(j, node);
    if (!j->waiting.by_name.count)
        return;
    left = putters_of(j, node, JOB_NO_RANK);
    prefix = slice_mem(text, put_node(text, node));
    while (left.able < 2 &&
           nodeattrs_take_one(&j->waiting, prefix, left.able ? left.last : NODEATTR_ANY_RANK, &w))
        answer(j, &w, ANSWER_NOT_FOUND, SLICE_NULL);
}
