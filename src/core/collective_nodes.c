/* collective_nodes.c - see collective_nodes.h. */
#include "core/collective_nodes.h"

#include "core/collective_multijob.h"
#include "core/exchange_data.h"
#include "core/job_fence.h"
#include "core/job_lookup.h"
#include "core/job_ring.h"
#include "core/modex.h"
#include "core/ondemand.h"

static void fence_completed(struct job *j, const struct coll_id *id, enum answer_status status,
                            const struct slice *blocks, uint32_t n)
{
    bool leaves_values = ondemand_withholds(j) && slice_is(id->group, j->world->name);

    if (leaves_values)
        ondemand_fence_over(j);
    for (uint32_t i = 0; i < n; i++) {
        enum answer_status st = exchange_data_store(j, blocks[i]);
        status = status == ANSWER_OK ? st : status;
    }
    seg_publish(&j->store);
    job_fence_over(j, id->group, id->generation, status);
    if (leaves_values) {
        modex_ask_again(j);
        job_lookup_ask_again(j);
    }
}

void collective_nodes_completed(struct core *c, const struct coll_id *id, enum answer_status status,
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

bool collective_nodes_will_complete(struct core *c, const struct job *j, uint32_t rank,
                                    const struct coll_id *id)
{
    if (coll_kind_is_meeting(id->kind))
        return collective_multijob_asked(c, j, rank, id);
    return id->job == j->id &&
           collective_has_contributed(&j->colls, id->group, id->generation, rank);
}

void collective_nodes_receive(struct core *c, struct job *j, uint32_t rank,
                              const struct coll_id *id, bool will_complete)
{
    if (!coll_kind_is_meeting(id->kind) && id->job == j->id)
        job_fence_receive(j, rank, id->group, id->generation, will_complete);
    else if (coll_kind_is_meeting(id->kind) && !will_complete)
        collective_multijob_fail(c, id);
}
