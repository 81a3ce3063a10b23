/* sim_store.c - see sim_store.h.  Reading order: a process; the top. */
#include "cluster/sim_store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "core/effect.h"
#include "core/operations.h"
#include "core/key_store.h"
#include "core/store_counters.h"
#include "wire/tcpstore.h"

/* Tickets: this bit, the round, whether it waits, the process on its node. */
#define TICKET (UINT64_C(1) << 40)

enum { WAITS = 1 << 12, ROUND_SHIFT = 13, TEXT_MAX = 64 };

struct sim_store {
    uint64_t *awaited;        /* of each process, the ticket of its query; 0: it waits for none */
    bool *summed;             /* of each sum of each round, whether a process has got it */
    uint32_t *added;          /* of each round, processes that the top has counted */
    uint32_t procs;           /* that meet */
    uint64_t met;             /* how often one has met the others */
    char violation[SIM_TEXT]; /* the first one */
};

__attribute__((format(printf, 2, 3))) static void violated(struct sim_store *t, const char *format,
                                                           ...)
{
    va_list ap;

    va_start(ap, format);
    if (!t->violation[0])
        vsnprintf(t->violation, sizeof t->violation, format, ap);
    va_end(ap);
}

/* ---- a process ------------------------------------------------------------------------------- */

static uint64_t *awaited(const struct sim_node *n, uint32_t proc)
{
    return &n->sim->store->awaited[(size_t)n->me * n->sim->c.ranks + proc];
}

/* To the top; it is the same in a job of one node. */
static void ask(struct sim_node *n, enum tcpstore_id query, uint64_t ticket, uint32_t proc,
                const struct buf *args)
{
    struct op_store_query q = { .rank = n->me,
                                .ticket = ticket,
                                .query = (uint8_t)query,
                                .connection = proc,
                                .args = buf_slice(args) };
    struct effect e = { .kind = EFFECT_store_query, .u.store_query = q };

    if (ticket)
        *awaited(n, proc) = ticket;
    if (n->me == 0)
        sim_store_query(n->sim, &q);
    else
        dispatch_effect(&n->dispatch, &e, n->sim->now);
}

static void put_key(struct buf *args, const char *word, uint64_t round)
{
    char text[TEXT_MAX];

    snprintf(text, sizeof text, "%s/%llu", word, (unsigned long long)round);
    tcpstore_put_bytes(args, slice_str(text));
}

static void add(struct sim_node *n, uint32_t proc, uint64_t round)
{
    struct buf args = BUF_NULL(TEXT_MAX * 2);

    put_key(&args, "count", round);
    tcpstore_put_number(&args, 1);
    ask(n, TCPSTORE_ADD, TICKET | round << ROUND_SHIFT | proc, proc, &args);
    buf_free(&args);
}

static void set(struct sim_node *n, uint32_t proc, uint64_t round)
{
    struct buf args = BUF_NULL(TEXT_MAX * 2);

    put_key(&args, "last", round);
    tcpstore_put_bytes(&args, SLICE("1"));
    ask(n, TCPSTORE_SET, 0, proc, &args);
    buf_free(&args);
}

static void wait(struct sim_node *n, uint32_t proc, uint64_t round)
{
    struct buf args = BUF_NULL(TEXT_MAX * 2);

    tcpstore_put_number(&args, 1);
    put_key(&args, "last", round);
    ask(n, TCPSTORE_WAIT, TICKET | round << ROUND_SHIFT | WAITS | proc, proc, &args);
    buf_free(&args);
}

static void on_sum(struct sim_node *n, uint32_t proc, uint64_t round, struct slice reply)
{
    struct sim_store *t = n->sim->store;
    int64_t sum = 0;

    if (!tcpstore_get_number(&reply, &sum) || sum < 1 || sum > t->procs ||
        t->summed[round * t->procs + (uint64_t)sum - 1]) {
        violated(t, "has heard of process %u of node %u, which gets the sum %lld from the store",
                 proc, n->me, (long long)sum);
        return;
    }
    t->summed[round * t->procs + (uint64_t)sum - 1] = true;
    if (sum == t->procs)
        set(n, proc, round);
    wait(n, proc, round);
}

static void on_ready(struct sim_node *n, uint32_t proc, uint64_t round)
{
    struct sim *s = n->sim;

    if (s->store->added[round] != s->store->procs)
        violated(s->store,
                 "has heard of process %u of node %u, which waits no more at the store, though %u "
                 "of %u have added",
                 proc, n->me, s->store->added[round], s->store->procs);
    s->store->met++;
    s->r->stored_ns = s->now - s->begin;
    if (round + 1 < s->c.store)
        add(n, proc, round + 1);
}

bool sim_store_answer(struct sim_node *n, const struct op_answer *a)
{
    uint32_t proc = (uint32_t)a->ticket & (WAITS - 1);
    uint64_t round = (a->ticket & ~TICKET) >> ROUND_SHIFT;

    if (!(a->ticket & TICKET) || !n->sim->store)
        return false;
    if (proc >= n->sim->c.ranks || *awaited(n, proc) != a->ticket || a->status != ANSWER_OK) {
        violated(
            n->sim->store,
            "has heard of process %u of node %u, which gets an answer of the store that it does "
            "not wait for",
            proc, n->me);
        return true;
    }
    *awaited(n, proc) = 0;
    if (a->ticket & WAITS)
        on_ready(n, proc, round);
    else
        on_sum(n, proc, round, a->value);
    return true;
}

void sim_store_happen(struct sim_node *n)
{
    for (uint32_t i = 0; i < n->sim->c.ranks; i++)
        add(n, i, 0);
    dispatch_settle(&n->dispatch);
}

/* ---- the top --------------------------------------------------------------------------------- */

static void give(struct sim *s, uint64_t ticket, const struct answer *a)
{
    struct op_answer own = { .ticket = ticket, .status = a->status, .value = a->parts.value };

    if (ticket && !rpc_answer(&s->nodes[0].dispatch.rpc, ticket, a))
        sim_store_answer(&s->nodes[0], &own);
}

/* Those that wait for what has been set now. */
static void give_all(struct sim *s)
{
    struct effect e;

    while (effects_pop(&s->core.effects, &e)) {
        struct answer a = { .status = e.u.answer.status };
        a.parts.value = e.u.answer.value;
        give(s, e.u.answer.ticket, &a);
        effect_drop(&e);
    }
}

void sim_store_query(struct sim *s, const struct op_store_query *q)
{
    struct request rq =
        REQUEST_WITH(store, .query = q->query, .connection = q->connection, .args = q->args);
    struct answer a = { .status = ANSWER_OK };
    struct core_call k = { .core = &s->core,
                           .job = &s->job,
                           .rank = q->rank,
                           .ticket = q->ticket,
                           .rq = &rq,
                           .now_ns = s->now,
                           .a = &a };
    struct slice rest = q->args, key, round;
    uint64_t number = 0;

    if (q->query == TCPSTORE_ADD && tcpstore_get_bytes(&rest, &key)) {
        round = slice_skip(key, 6);
        slice_u64(round, &number);
        s->store->added[number]++;
    }
    if (key_store_request(&k) != ANSWER_LATER)
        give(s, q->ticket, &a);
    give_all(s);
}

uint32_t sim_store_waits(const struct sim_node *n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; n->sim->store && n->me && i < n->sim->c.ranks; i++)
        count += *awaited(n, i) != 0;
    return count;
}

const char *sim_store_wrong(const struct sim_node *n)
{
    const struct sim *s = n->sim;
    const struct sim_store *t = s->store;

    if (t && t->violation[0])
        return t->violation;
    if (t && !s->c.kills && !s->c.cuts && t->met != (uint64_t)t->procs * s->c.store)
        return "has processes that have not met the others at the store";
    return NULL;
}

/* Processes of nodes that join or leave do not meet. */
void sim_store_begin(struct sim *s)
{
    for (uint32_t i = 0; s->store && i < s->first; i++) {
        if (s->nodes[i].leaves)
            continue;
        s->store->procs += s->c.ranks;
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, s->c.jitter_ns + 1),
                                        .kind = SIM_STORE,
                                        .node = i });
    }
}

bool sim_store_open(struct sim *s)
{
    size_t procs = (size_t)s->c.nodes * s->c.ranks;
    struct sim_store *t;

    if (!s->c.store)
        return true;
    t = s->store = calloc(1, sizeof *t);
    if (!t)
        return false;
    t->awaited = calloc(procs + 1, sizeof *t->awaited);
    t->summed = calloc(procs * s->c.store + 1, sizeof *t->summed);
    t->added = calloc(s->c.store, sizeof *t->added);
    s->job.procs = calloc(s->c.nodes + 1, sizeof *s->job.procs);
    return t->awaited && t->summed && t->added && s->job.procs;
}

void sim_store_close(struct sim *s)
{
    s->job.key_store = key_store_free(s->job.key_store);
    s->job.counters = store_counters_free(s->job.counters);
    free(s->job.procs);
    if (s->store) {
        free(s->store->awaited);
        free(s->store->summed);
        free(s->store->added);
    }
    free(s->store);
}
