/* exchange_data.c - see exchange_data.h. */
#include "core/exchange_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "core/contribution.h"
#include "core/effect_queue.h"
#include "core/modex.h"
#include "core/modex_keys.h"
#include "core/ondemand.h"

/* ---- out ------------------------------------------------------------------------------------- */

static struct contribution *fence_contribution(const struct job *j, const struct collective *c)
{
    const struct collective_group *g = c->group;
    struct coll_id id = collective_id(c, j->id);
    struct contribution *k = contribution_new(&id, c->collect, g->all ? g->nall : 1);

    if (!k)
        return NULL;
    k->ordered = job_restarts(j);
    snprintf(k->ways, sizeof k->ways, "%s", c->ways);
    k->parties[0] = (struct party){ j->id, REQUEST_ALL_RANKS };
    for (uint32_t i = 0; g->all && i < g->nall; i++)
        k->parties[i] = (struct party){ j->id, g->all[i] };
    return k;
}

/* Values that can be got on demand stay on their node. */
static bool leaves_values(const struct job *j, const struct collective *c)
{
    return c->group == j->world && ondemand_withholds(j);
}

static bool fill_block(const struct job *j, const struct collective *c, struct buf *block)
{
    enum fresh_part part = leaves_values(j, c) ? FRESH_TO_ALL : FRESH_ALL;
    struct block_writer w;

    block_begin(&w, block, j->colls.groups.seed);
    for (uint32_t i = 0; i < c->group->count && buf_ok(block); i++)
        modex_keys_write_fresh(j, collective_member(c->group, i), part, c->collect, &w);
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
    if (leaves_values(j, c)) /* before the contribution: it comes before the end of the fence */
        ondemand_send_ahead(j, c);
    if (!effects_contribute(j->effects, j->id, k))
        return false;
    for (uint32_t i = 0; c->group == j->world && i < c->group->count; i++)
        modex_keys_sent(j, collective_member(c->group, i), c->collect);
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

static enum answer_status store_entry(struct job *j, const struct seg_item *item, bool stays)
{
    struct proc *p = &j->procs[item->rank];
    struct seg_item old;
    bool known = seg_find(&j->store.view, item->rank, item->key, &old) && old.type != MODEX_DROPPED;
    bool in_space = slice_find(item->key, '\0') < item->key.len;

    if (known && (stays || is_known(item, &old)))
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
    return modex_keys_add(p, old.key) < 0 ? ANSWER_NO_MEMORY : ANSWER_OK;
}

static void rank_is_complete(struct job *j, uint32_t rank, bool whole)
{
    if (rank == JOB_NO_RANK)
        return;
    j->procs[rank].committed = j->procs[rank].committed || whole;
    if (!list_empty(&j->waits))
        modex_wake(j, rank);
}

static enum answer_status store(struct job *j, struct slice blocks, bool stays)
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
            one = store_entry(j, &r.item, stays);
            st = st == ANSWER_OK ? one : st;
        }
    }
    rank_is_complete(j, rank, whole);
    block_close(&r);
    if (rc == BLOCK_BAD)
        return ANSWER_BAD_VALUE;
    return rc < 0 ? ANSWER_NO_MEMORY : st;
}

enum answer_status exchange_data_store(struct job *j, struct slice blocks)
{
    return store(j, blocks, false);
}

enum answer_status exchange_data_add(struct job *j, struct slice blocks)
{
    return store(j, blocks, true);
}
