/* collectives.c - see collectives.h. */
#include "cluster/collectives.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "core/contribution_places.h"
#include "core/input.h"

/* The positions of a contribution's nodes; -ENOMEM. */
static int positions_of(const struct core_context *x, const struct contribution *k,
                        struct rank_set *all)
{
    struct place *places = NULL;
    uint32_t n = 0;
    int rc = contribution_places(x->core, k, &places, &n);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = rank_set_add(all, node_map_position(x->map, places[i].job, places[i].node), 1);
    free(places);
    return rc;
}

/* Takes over the block. */
static int contribute(const struct core_context *x, const struct contribution *k,
                      struct block_set *mine, uint64_t now_ns)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct buf what = BUF_NULL(LIMIT_BLOCK);
    enum overlay_schedule schedule;
    int rc = positions_of(x, k, &all);

    overlay_schedule_known(slice_str(k->ways), &schedule);
    coll_id_write(&k->id, &what);
    if (rc == 0 && !buf_ok(&what))
        rc = -ENOMEM;
    if (rc == 0)
        rc = membership_contribute(x->queue->config.member, schedule, buf_slice(&what),
                                   k->id.generation, &all, mine, now_ns);
    else
        block_set_drop(mine);
    rank_set_free(&all);
    buf_free(&what);
    return rc;
}

void collectives_contribute(const struct core_context *x, const struct contribution *k,
                            uint64_t now_ns)
{
    struct slice block = buf_slice(&k->block);
    struct block_set *mine = block.len ? block_set_one(x->map->me, block) : NULL;
    int rc = block.len && !mine ? -ENOMEM : contribute(x, k, mine, now_ns);

    if (rc < 0)
        x->calls.deliver(x->arg, INPUT(completed, .id = k->id,
                                       .status = rc == -ENOMEM ? ANSWER_NO_MEMORY : ANSWER_FAILED));
}

void collectives_completed(const struct core_context *x, const struct overlay_event *e)
{
    uint32_t room = block_set_count(e->blocks), n = 0;
    struct slice *blocks = calloc((size_t)room + 1, sizeof *blocks);
    enum answer_status status = e->failed ? ANSWER_FAILED : ANSWER_OK;
    const struct block_set *b;
    struct block_set_walk walk;
    struct coll_id id;

    block_set_walk_begin(&walk, e->blocks);
    while (blocks && n < room && (b = block_set_walk_next(&walk)))
        blocks[n++] = b->block;
    if (!blocks || walk.no_memory)
        status = ANSWER_NO_MEMORY;
    block_set_walk_end(&walk);
    if (coll_id_read(slice_str(e->what), e->generation, &id))
        x->calls.deliver(x->arg, INPUT(completed, .id = id, .status = status,
                                       .blocks = { blocks, status == ANSWER_OK ? n : 0 }));
    free(blocks);
}
