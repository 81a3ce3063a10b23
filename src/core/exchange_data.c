/* exchange_data.c - see exchange_data.h. */
#include "core/exchange_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/block.h"
#include "core/coll_id.h"
#include "core/collective_multijob.h"
#include "core/effect.h"
#include "core/modex.h"

/* ---- fresh entries --------------------------------------------------------------------------- */

int exchange_data_note(struct job *j, uint32_t rank, struct slice key)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item;

    if (!seg_find(&j->store.view, rank, key, &item))
        return 0;
    if (p->nfresh == p->fresh_room) {
        uint32_t room = p->fresh_room ? p->fresh_room * 2 : 8;
        struct slice *more = realloc(p->fresh, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        p->fresh = more;
        p->fresh_room = room;
    }
    p->fresh[p->nfresh++] = item.key;
    return 0;
}

static bool is_for_others(const struct seg_item *item)
{
    return item->scope != MODEX_LOCAL;
}

static void write_fresh(const struct job *j, uint32_t rank, bool collect, struct block_writer *w)
{
    const struct proc *p = &j->procs[rank];
    bool begun = false;
    struct seg_item item;

    for (uint32_t i = 0; i < p->nfresh; i++) {
        if (!seg_find(&j->store.view, rank, p->fresh[i], &item) || !is_for_others(&item) ||
            (!collect && !(item.flags & SEG_RECORD_FLAT)))
            continue;
        if (!begun)
            block_rank(w, rank, collect && p->committed);
        begun = true;
        block_entry(w, &item);
    }
    if (!begun && collect && p->committed) /* an empty set of entries is information too */
        block_rank(w, rank, true);
}

/* All nodes have it now.  Modex entries that a fence without data left out stay fresh. */
static void forget_fresh(struct job *j, uint32_t rank, bool collect)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item;
    uint32_t kept = 0;

    for (uint32_t i = 0; !collect && i < p->nfresh; i++) {
        if (seg_find(&j->store.view, rank, p->fresh[i], &item) && is_for_others(&item) &&
            !(item.flags & SEG_RECORD_FLAT))
            p->fresh[kept++] = p->fresh[i];
    }
    p->nfresh = kept;
}

void exchange_data_cards(const struct job *j, uint32_t rank, struct buf *out)
{
    const struct proc *p = &j->procs[rank];
    struct block_writer w;
    struct seg_item item;

    block_begin(&w, out, j->colls.groups.seed);
    block_rank(&w, rank, p->committed);
    for (uint32_t i = 0; i < p->nkeys; i++) {
        if (seg_find(&j->store.view, rank, p->keys[i], &item) && is_for_others(&item))
            block_entry(&w, &item);
    }
    block_end(&w);
}

/* ---- out ------------------------------------------------------------------------------------- */

static struct contribution *fence_contribution(const struct job *j, const struct collective *c)
{
    const struct collective_group *g = c->group;
    struct coll_id id = exchange_data_id(j, c);
    struct contribution *k = contribution_new(&id, c->collect, g->all ? g->nall : 1);

    if (!k)
        return NULL;
    snprintf(k->ways, sizeof k->ways, "%s", c->ways);
    k->parties[0] = (struct party){ j->id, REQUEST_ALL_RANKS };
    for (uint32_t i = 0; g->all && i < g->nall; i++)
        k->parties[i] = (struct party){ j->id, g->all[i] };
    return k;
}

static bool fill_block(const struct job *j, const struct collective *c, struct buf *block)
{
    struct block_writer w;

    block_begin(&w, block, j->colls.groups.seed);
    for (uint32_t i = 0; i < c->group->count && buf_ok(block); i++)
        write_fresh(j, collective_member(c->group, i), c->collect, &w);
    block_end(&w);
    return buf_ok(block);
}

bool exchange_data_fence(struct job *j, struct collective *c)
{
    struct contribution *k = fence_contribution(j, c);

    if (!k || !fill_block(j, c, &k->block)) {
        contribution_free(k);
        return false;
    }
    if (!effects_push(j->effects, EFFECT_WITH(contribute, .job = j->id, .contribution = k)))
        return false;
    for (uint32_t i = 0; c->group == j->world && i < c->group->count; i++)
        forget_fresh(j, collective_member(c->group, i), c->collect);
    collective_contributed(c);
    return true;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* A key of a further space names the space; this node may not know it yet. */
static bool know_space(struct job *j, struct slice key)
{
    struct slice name = slice_head(key, slice_find(key, '\0'));
    char *copy;

    if (name.len == 0 || name.len == key.len || map_get(&j->spaces, name) ||
        map_get(&j->gone_spaces, name))
        return true;
    copy = strndup(name.ptr, name.len);
    if (copy && map_put(&j->spaces, slice_str(copy), copy, NULL) == 0)
        return true;
    free(copy);
    return false;
}

/* Two nodes may have accepted the same flat key: that of the lower rank counts, on every node. */
static unsigned put_flags(const struct job *j, const struct seg_item *item)
{
    struct seg_item old;

    if (!(item->flags & SEG_RECORD_FLAT))
        return SEG_REPLACE;
    if (seg_find(&j->store.view, SEG_ANY_RANK, item->key, &old) && old.flags & SEG_RECORD_FLAT &&
        (old.rank < item->rank || old.rank == SEG_ANY_RANK))
        return SEG_REPLACE;
    return SEG_REPLACE | SEG_FLAT;
}

static bool is_known(const struct seg_item *a, const struct seg_item *b)
{
    return a->type == b->type && a->scope == b->scope && slice_eq(a->value, b->value) &&
           slice_eq(a->quals, b->quals);
}

static enum answer_status store_entry(struct job *j, const struct seg_item *item)
{
    struct proc *p = &j->procs[item->rank];
    struct seg_item old;
    bool known = seg_find(&j->store.view, item->rank, item->key, &old);
    bool in_space = slice_find(item->key, '\0') < item->key.len;

    if (known && is_known(item, &old))
        return ANSWER_OK;
    if (in_space && !know_space(j, item->key))
        return ANSWER_NO_MEMORY;
    switch (seg_put_item(&j->store, item, put_flags(j, item))) {
    case 0: break;
    case SEG_TOO_LONG: return ANSWER_BAD_VALUE;
    default: return ANSWER_NO_MEMORY;
    }
    if (known || in_space || !seg_find(&j->store.view, item->rank, item->key, &old))
        return ANSWER_OK;
    return modex_note_key(p, old.key) < 0 ? ANSWER_NO_MEMORY : ANSWER_OK;
}

static void rank_is_complete(struct job *j, uint32_t rank, bool whole)
{
    if (rank == JOB_NO_RANK)
        return;
    j->procs[rank].committed = j->procs[rank].committed || whole;
    if (!list_empty(&j->waits))
        modex_wake(j, rank);
}

enum answer_status exchange_data_store(struct job *j, struct slice blocks)
{
    enum answer_status st = ANSWER_OK, one;
    uint32_t rank = JOB_NO_RANK;
    bool whole = false;
    struct block_reader r;
    int rc;

    block_open(&r, blocks);
    while ((rc = block_next(&r)) == BLOCK_RANK || rc == BLOCK_ENTRY) {
        if (rc == BLOCK_RANK) {
            rank_is_complete(j, rank, whole);
            rank = r.item.rank;
            whole = r.whole;
            if (rank >= j->plan.nprocs || job_rank_is_here(j, rank))
                rank = JOB_NO_RANK;
        } else if (rank != JOB_NO_RANK) {
            one = store_entry(j, &r.item);
            st = st == ANSWER_OK ? one : st;
        }
    }
    rank_is_complete(j, rank, whole);
    block_close(&r);
    if (rc == BLOCK_BAD)
        return ANSWER_BAD_VALUE;
    return rc < 0 ? ANSWER_NO_MEMORY : st;
}

/* ---- which collective ------------------------------------------------------------------------ */

struct coll_id exchange_data_id(const struct job *j, const struct collective *c)
{
    return (struct coll_id){ .kind = c->group->kind,
                             .job = coll_kind_is_meeting(c->group->kind) ? 0 : j->id,
                             .group = slice_str(c->group->name),
                             .generation = c->generation };
}

static void fence_completed(struct job *j, const struct coll_id *id, enum answer_status status,
                            const struct slice *blocks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        enum answer_status st = exchange_data_store(j, blocks[i]);
        status = status == ANSWER_OK ? st : status;
    }
    seg_publish(&j->store);
    job_fence_over(j, id->group, id->generation, status);
}

void exchange_data_completed(struct core *c, const struct coll_id *id, enum answer_status status,
                             const struct slice *blocks, uint32_t nblocks)
{
    struct job *j = coll_kind_is_meeting(id->kind) ? NULL : core_job(c, id->job);

    if (coll_kind_is_meeting(id->kind))
        collective_multijob_over(c, id, status, blocks, nblocks);
    else if (j && id->kind == COLL_FENCE)
        fence_completed(j, id, status, blocks, nblocks);
    else if (j)
        job_ring_over(j, id->generation, status, blocks, nblocks);
}

bool exchange_data_round(const struct core *c, const struct job *j, uint32_t rank,
                         const struct coll_id *id)
{
    if (coll_kind_is_meeting(id->kind))
        return collective_has_contributed(&c->meetings, id->group, id->generation, j->base + rank);
    return id->job == j->id &&
           collective_has_contributed(&j->colls, id->group, id->generation, rank);
}

void exchange_data_round_heard(struct core *c, struct job *j, uint32_t rank,
                               const struct coll_id *id, bool will_complete)
{
    if (!coll_kind_is_meeting(id->kind) && id->job == j->id)
        job_fence_heard(j, rank, id->group, id->generation, will_complete);
    else if (coll_kind_is_meeting(id->kind) && !will_complete)
        collective_multijob_fail(c, id);
}

/* ---- participants ---------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static size_t room_for(const struct core *c, const struct contribution *k)
{
    size_t n = 1;

    for (uint32_t i = 0; i < k->nparties; i++) {
        const struct job *j = core_job(c, k->parties[i].job);
        if (j)
            n += k->parties[i].rank == REQUEST_ALL_RANKS ? j->plan.nnodes : 1;
    }
    return n;
}

static uint32_t add_party(const struct job *j, uint32_t rank, struct place *places, uint32_t n)
{
    if (rank != REQUEST_ALL_RANKS) {
        if (rank < j->plan.nprocs)
            places[n++] = (struct place){ j->id, j->plan.procs[rank].node };
        return n;
    }
    for (uint32_t node = 0; node < j->plan.nnodes; node++) {
        if (j->plan.nodes[node].nprocs)
            places[n++] = (struct place){ j->id, node };
    }
    return n;
}

int exchange_data_places(const struct core *c, const struct contribution *k,
                         struct place **places_p, uint32_t *n_p)
{
    struct place *places = calloc(room_for(c, k), sizeof *places);
    uint32_t n = 0, kept = 0;

    if (!places)
        return -ENOMEM;
    for (uint32_t i = 0; i < k->nparties; i++) {
        const struct job *j = core_job(c, k->parties[i].job);
        if (j)
            n = add_party(j, k->parties[i].rank, places, n);
    }
    qsort(places, n, sizeof *places, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_place(&places[i], &places[kept - 1]) != 0)
            places[kept++] = places[i];
    }
    *places_p = places;
    *n_p = kept;
    return 0;
}
