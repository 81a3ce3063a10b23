/* modex.c - see modex.h. */
#include "core/modex.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/modex_keys.h"

static struct card card_of(const struct seg_item *item)
{
    return (struct card){ .type = item->type ? item->type : MODEX_STRING,
                          .scope = item->scope ? item->scope : MODEX_GLOBAL,
                          .key = item->key,
                          .value = item->value };
}

bool modex_find(const struct job *j, uint32_t rank, struct slice key, struct card *card_p)
{
    struct seg_item item;

    if (!seg_find(&j->store.view, rank, key, &item) || item.type == MODEX_DROPPED)
        return false;
    *card_p = card_of(&item);
    return true;
}

bool modex_card(const struct job *j, uint32_t rank, uint32_t i, struct card *card_p)
{
    const struct proc *p = &j->procs[rank];

    return i < p->nkeys && modex_find(j, rank, p->keys[i], card_p);
}

/* ---- putting --------------------------------------------------------------------------------- */

static bool same(const struct card *a, const struct card *b)
{
    return a->type == b->type && a->scope == b->scope && slice_eq(a->value, b->value);
}

static enum answer_status put_card(struct job *j, uint32_t rank, const struct card *c)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item = {
        .rank = rank, .type = c->type, .scope = c->scope, .key = c->key, .value = c->value
    };
    struct card old;
    bool known = modex_find(j, rank, c->key, &old);
    int rc;

    if (known && same(&old, c)) /* clients send everything again with each commit */
        return ANSWER_OK;
    if (!proc_can_keep(p, c->key.len + c->value.len))
        return ANSWER_OVER_QUOTA;
    rc = seg_put_item(&j->store, &item, SEG_REPLACE);
    if (rc == SEG_TOO_LONG)
        return ANSWER_BAD_VALUE;
    if (rc)
        return ANSWER_NO_MEMORY;
    proc_keeps(p, c->key.len + c->value.len);
    if (j->spread && modex_keys_add_fresh(j, rank, c->key, known) < 0)
        return ANSWER_NO_MEMORY;
    if (known)
        return ANSWER_OK;
    return modex_keys_add(p, j->store.key) < 0 ? ANSWER_NO_MEMORY : ANSWER_OK;
}

/* ---- starting again -------------------------------------------------------------------------- */

static void keep_old(struct job *j, uint32_t rank, const struct seg_item *item)
{
    struct proc *p = &j->procs[rank];
    struct buf key = BUF_NULL(UINT16_MAX);
    struct seg_item old = *item;

    buf_printf(&key, MODEX_OLD "%u.", rank);
    buf_slice_put(&key, item->key);
    old.key = buf_slice(&key);
    old.scope = MODEX_LOCAL;
    if (buf_ok(&key) && proc_can_keep(p, old.key.len + old.value.len) &&
        seg_put_item(&j->store, &old, SEG_REPLACE) == 0)
        proc_keeps(p, old.key.len + old.value.len);
    buf_free(&key);
}

static void drop_entry(struct job *j, uint32_t rank, const struct seg_item *item)
{
    struct seg_item none = {
        .rank = rank, .type = MODEX_DROPPED, .scope = MODEX_LOCAL, .key = item->key
    };

    if (job_rank_is_here(j, rank))
        keep_old(j, rank, item);
    seg_put_item(&j->store, &none, SEG_REPLACE); /* without memory the old value stays */
}

void modex_drop(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->nkeys; i++) {
        if (!seg_find(&j->store.view, rank, p->keys[i], &item))
            continue;
        if (item.flags & SEG_RECORD_FLAT)
            p->keys[kept++] = p->keys[i];
        else if (item.type != MODEX_DROPPED)
            drop_entry(j, rank, &item);
    }
    p->nkeys = kept;
    p->nfresh = 0;
    p->committed = p->fetching = false;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* All entries whose scope includes other nodes, whatever was requested. */
static void send_cards(struct job *j, uint32_t rank, uint64_t ticket, enum answer_status status)
{
    bool is_here = rank < j->plan.nprocs && job_rank_is_here(j, rank);
    struct buf block = BUF_NULL(LIMIT_BLOCK);
    struct block_writer w;

    if (status == ANSWER_OK) {
        block_begin(&w, &block, j->colls.groups.seed);
        modex_keys_write_all(j, rank, &w);
        block_end(&w);
    }
    effects_push(j->effects, EFFECT_WITH(modex_reply, .asker = ticket, .job = j->id, .rank = rank,
                                         .status = buf_ok(&block) ? status : ANSWER_NO_MEMORY,
                                         .block = buf_ok(&block) ? buf_slice(&block) : SLICE_NULL,
                                         .pid = is_here ? j->procs[rank].pid : 0));
    buf_free(&block);
}

static void answer_wait(struct job *j, struct modex_wait *w, enum answer_status status)
{
    if (w->foreign) {
        send_cards(j, w->rank, w->ticket, status);
        list_unlink(&w->link);
        free(w);
        return;
    }
    effects_answer(j->effects, w->ticket, answer_status(status));
    list_unlink(&w->link);
    free(w);
}

static bool is_there(const struct job *j, uint32_t rank, struct slice key)
{
    struct card c;

    if (slice_is(key, MODEX_PID))
        return rank < j->plan.nprocs && j->procs[rank].pid;
    if (key.len)
        return modex_find(j, rank, key, &c);
    return rank < j->plan.nprocs && j->procs[rank].committed;
}

/* Values that were sent before its request are not what it waits for. */
static bool is_early(const struct modex_wait *w)
{
    return w->refresh && !w->asked;
}

void modex_wake(struct job *j, uint32_t rank)
{
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (!is_early(w) && (w->rank == rank || w->rank == SEG_ANY_RANK) &&
            is_there(j, w->rank, w->key))
            answer_wait(j, w, ANSWER_OK);
    }
}

enum answer_status modex_commit(struct job *j, uint32_t rank, const struct card *cards,
                                uint32_t ncards)
{
    enum answer_status st = ANSWER_OK;

    for (uint32_t i = 0; i < ncards && st == ANSWER_OK; i++)
        st = put_card(j, rank, &cards[i]);
    j->procs[rank].committed = true;
    if (!list_empty(&j->waits))
        modex_wake(j, rank);
    return st;
}

static bool rank_may_put(const struct job *j, uint32_t rank)
{
    enum proc_state s;

    if (rank >= j->plan.nprocs)
        return false;
    s = j->procs[rank].state;
    return s == PROC_STATE_PLANNED || s == PROC_STATE_RUNNING || s == PROC_STATE_ATTACHED;
}

/* A process does not wait for itself when it asks for any rank's value. */
static bool another_may_put(const struct job *j, uint32_t asker)
{
    for (uint32_t r = 0; r < j->plan.nprocs && j->phase == JOB_RUNNING; r++) {
        if (j->base + r != asker && rank_may_put(j, r))
            return true;
    }
    return false;
}

static bool owner_may_put(const struct job *j, const struct modex_get *g)
{
    return g->rank == SEG_ANY_RANK ? another_may_put(j, g->asker) : rank_may_put(j, g->rank);
}

static bool is_elsewhere(const struct job *j, uint32_t rank)
{
    return rank < j->plan.nprocs && !job_rank_is_here(j, rank);
}

/* Asks the owner's node for the key that w waits for, unless a request is under way already. */
static void fetch(struct job *j, struct modex_wait *w, uint64_t timeout_ns)
{
    if (j->procs[w->rank].fetching)
        return;
    w->asked = effects_push(j->effects, EFFECT_WITH(modex_request, .job = j->id, .rank = w->rank,
                                                    .key = w->key, .timeout_ns = timeout_ns));
    j->procs[w->rank].fetching = w->asked;
}

/* A new answer of the owner's node is wanted, and will come: that node is not lost. */
static bool is_to_be_asked(const struct job *j, const struct modex_get *g)
{
    return g->refresh && is_elsewhere(j, g->rank) &&
           (!j->procs[g->rank].unreachable || j->procs[g->rank].left);
}

static struct modex_wait *add_wait(struct job *owner, const struct modex_get *g)
{
    struct modex_wait *w = calloc(1, sizeof *w + g->key.len);

    if (!w)
        return NULL;
    w->ticket = g->ticket;
    w->rank = g->rank;
    w->asker = g->asker;
    w->extent = g->extent;
    w->refresh = is_to_be_asked(owner, g);
    w->timeout_ns = g->timeout_ns;
    w->deadline_ns = g->timeout_ns ? g->now_ns + g->timeout_ns : UINT64_MAX;
    if (g->key.len)
        memcpy(w->text, g->key.ptr, g->key.len);
    w->key = slice_mem(w->text, g->key.len);
    list_append(&owner->waits, &w->link);
    owner->waits_due = w->deadline_ns < owner->waits_due ? w->deadline_ns : owner->waits_due;
    effects_tick_by(owner->effects, w->deadline_ns);
    return w;
}

/* A request whose answer tells whether a fence has left the value on another node. */
static void ask_once(struct job *j, struct modex_wait *w)
{
    if (w->rank != SEG_ANY_RANK && w->extent != ONDEMAND_PROC) {
        if (!ondemand_prefetch(j, w->rank, w->extent, &w->number))
            w->number = 0;
    } else if (w->rank != SEG_ANY_RANK)
        w->number = ondemand_ask(j, w->rank, ONDEMAND_PROC);
    else
        w->number = ondemand_ask_all(j) ? ONDEMAND_ALL : 0;
}

/* No process puts a key that begins with "pmix.", unless it has qualifiers. */
static bool is_left_elsewhere(const struct job *j, const struct modex_get *g)
{
    return (is_elsewhere(j, g->rank) || g->rank == SEG_ANY_RANK) && ondemand_may_lack(j) &&
           (!slice_starts(g->key, SLICE("pmix.")) || slice_starts(g->key, SLICE(MODEX_QUALIFIED)));
}

/* Nobody will put it; but a fence may have left it on another node. */
static enum answer_status look_elsewhere(struct job *j, const struct modex_get *g)
{
    struct modex_wait *w = is_left_elsewhere(j, g) ? add_wait(j, g) : NULL;

    if (!w)
        return is_left_elsewhere(j, g) ? ANSWER_NO_MEMORY : ANSWER_NOT_FOUND;
    ask_once(j, w);
    if (w->number)
        return ANSWER_LATER;
    list_unlink(&w->link);
    free(w);
    return ANSWER_NO_MEMORY;
}

/* Without memory these values are fetched one by one. */
static void prefetch(struct job *owner, const struct modex_get *g)
{
    uint64_t number;

    if (g->extent != ONDEMAND_PROC && ondemand_may_lack(owner))
        ondemand_prefetch(owner, g->rank, g->extent, &number);
}

enum answer_status modex_get(struct job *owner, const struct modex_get *g)
{
    bool ask = is_to_be_asked(owner, g);
    struct modex_wait *w;

    if (!ask && is_there(owner, g->rank, g->key))
        return ANSWER_OK;
    if (owner->is_foreign && g->rank == SEG_ANY_RANK) /* nobody tells which of them have it */
        return ANSWER_NOT_FOUND;
    if ((g->immediate && !ask) || (!is_elsewhere(owner, g->rank) && !owner_may_put(owner, g)))
        return look_elsewhere(owner, g);
    w = add_wait(owner, g);
    if (!w)
        return ANSWER_NO_MEMORY;
    if (g->rank == SEG_ANY_RANK && ondemand_may_lack(owner))
        ondemand_ask_all(owner);
    if (is_elsewhere(owner, g->rank)) {
        prefetch(owner, g);
        fetch(owner, w, w->timeout_ns);
    }
    return ANSWER_LATER;
}

/* A launcher has been asked for values of another node, or of another launcher. */
static bool is_to_ask_on(const struct job *owner, const struct modex_get *g)
{
    return is_elsewhere(owner, g->rank) && (owner->is_foreign || g->ticket >= MODEX_LAUNCHERS);
}

static void ask_on(struct job *owner, const struct modex_get *g)
{
    struct modex_get fresh = *g;
    struct modex_wait *w;

    fresh.refresh = true;
    w = add_wait(owner, &fresh);
    if (!w) {
        send_cards(owner, g->rank, g->ticket, ANSWER_NO_MEMORY);
        return;
    }
    w->foreign = true;
    fetch(owner, w, w->timeout_ns);
}

void modex_serve(struct job *owner, const struct modex_get *g)
{
    struct modex_wait *w;

    if (is_to_ask_on(owner, g)) {
        ask_on(owner, g);
    } else if (g->rank >= owner->plan.nprocs || is_elsewhere(owner, g->rank)) {
        send_cards(owner, g->rank, g->ticket, ANSWER_NOT_FOUND);
    } else if (is_there(owner, g->rank, g->key)) {
        send_cards(owner, g->rank, g->ticket, ANSWER_OK);
    } else if (g->immediate || !owner_may_put(owner, g)) {
        send_cards(owner, g->rank, g->ticket, ANSWER_NOT_FOUND);
    } else {
        w = add_wait(owner, g);
        if (w)
            w->foreign = true;
        else
            send_cards(owner, g->rank, g->ticket, ANSWER_NO_MEMORY);
    }
}

/* The key was requested; an answer without it is an answer, too. */
static void answer_asked(struct job *j, uint32_t rank, enum answer_status status)
{
    struct modex_wait *asked = NULL;

    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->rank == rank && w->asked)
            asked = w;
    }
    if (!asked)
        return;
    LIST_EACH(a, &j->waits)
    {
        struct modex_wait *w = LIST_OF(a, struct modex_wait, link);
        if (w != asked && !is_early(w) && w->rank == rank && slice_eq(w->key, asked->key))
            answer_wait(j, w, status);
    }
    answer_wait(j, asked, status);
}

void modex_fetched(struct job *j, uint32_t rank, enum answer_status status)
{
    j->procs[rank].fetching = false;
    modex_wake(j, rank);
    answer_asked(j, rank, status == ANSWER_OK ? ANSWER_NOT_FOUND : status);
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->rank == rank && !w->number)
            fetch(j, w, w->timeout_ns);
    }
}

void modex_answered(struct job *j)
{
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->number && !ondemand_is_asked(j, w->number))
            answer_wait(j, w, is_there(j, w->rank, w->key) ? ANSWER_OK : ondemand_verdict(j));
    }
}

void modex_ask_again(struct job *j)
{
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        bool waits = w->number != 0;
        if (waits)
            ask_once(j, w);
        else if (w->rank == SEG_ANY_RANK)
            ondemand_ask_all(j);
        if (waits && !w->number)
            answer_wait(j, w, ANSWER_NO_MEMORY);
    }
}

void modex_owner_gone(struct job *j, uint32_t rank)
{
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->rank == rank)
            answer_wait(j, w, ANSWER_NOT_FOUND);
    }
}

void modex_job_gone(struct job *j)
{
    LIST_EACH(l, &j->waits)
    answer_wait(j, LIST_OF(l, struct modex_wait, link), ANSWER_NOT_FOUND);
}

void modex_any_gone(struct job *j)
{
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->rank != SEG_ANY_RANK || w->number || another_may_put(j, w->asker))
            continue;
        if (ondemand_may_lack(j))
            ask_once(j, w);
        if (!w->number)
            answer_wait(j, w, ANSWER_NOT_FOUND);
    }
}

uint64_t modex_tick(struct job *j, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;

    if (now_ns < j->waits_due)
        return j->waits_due;
    LIST_EACH(l, &j->waits)
    {
        struct modex_wait *w = LIST_OF(l, struct modex_wait, link);
        if (w->deadline_ns <= now_ns)
            answer_wait(j, w, ANSWER_TIMEOUT);
        else if (w->deadline_ns < next)
            next = w->deadline_ns;
    }
    return j->waits_due = next;
}
