/* collectives.c - see collectives.h. */
#include "cluster/collectives.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "core/collective_multijob.h"
#include "core/contribution_places.h"
#include "core/group_record.h"
#include "core/input.h"
#include "core/request.h"

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

/* Collectives across jobs are in order with the events about their members and with the ends of the
 * jobs, and fences of jobs whose processes are started again with these starts. */
static enum overlay_losses losses_of(const struct contribution *k)
{
    if (coll_kind_is_flexible(k->id.kind))
        return OVERLAY_LOSS_BORNE;
    return coll_kind_is_meeting(k->id.kind) || k->ordered ? OVERLAY_LOSS_ORDERED
                                                          : OVERLAY_LOSS_FAILS;
}

/* Takes over the block. */
static int contribute(const struct core_context *x, const struct contribution *k,
                      struct block_set *mine, uint64_t now_ns)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct buf what = BUF_NULL(LIMIT_BLOCK);
    struct overlay_way way = { .losses = losses_of(k) };
    int rc = positions_of(x, k, &all);

    overlay_schedule_known(slice_str(k->ways), &way.schedule);
    coll_id_write(&k->id, &what);
    if (rc == 0 && !buf_ok(&what))
        rc = -ENOMEM;
    if (rc == 0)
        rc = membership_contribute(x->queue->config.member, way, buf_slice(&what), k->id.generation,
                                   &all, mine, now_ns);
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

/* Whose rounds end with a node: of the job, or (NULL) across jobs. */
struct rounds {
    const struct core_context *x;
    const struct job *of;
    uint32_t position; /* of the node */
};

/* For its own job a process that is gone may return. */
static bool ended_there(const struct rounds *r, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    return j->spread && (p->unreachable || (!r->of && p->state == PROC_STATE_GONE)) &&
           node_map_rank(r->x->map, j, rank) == r->position;
}

/* A member that has ended on that node; NULL: none. */
static const struct job *find_ended(const struct rounds *r, const struct collective_group *g,
                                    uint32_t *rank_p)
{
    for (uint32_t i = 0; i < g->nall; i++) {
        uint32_t id = g->all ? g->all[i] : i;
        const struct job *j = r->of ? r->of : core_job_of_id(r->x->core, id);
        *rank_p = r->of || !j ? id : id - j->base;
        if (j && ended_there(r, j, *rank_p))
            return j;
    }
    return NULL;
}

/* Those that bear losses go on without that node. */
static bool may_end(const struct collective_group *g)
{
    return g->spread && !list_empty(&g->rounds) && !coll_kind_is_flexible(g->kind);
}

/* Ends one such round; false: there is none.  The question about the member may have been lost with
 * its node. */
static bool end_round(const struct rounds *r, const struct collective_set *s)
{
    LIST_EACH(l, &s->all)
    {
        const struct collective_group *g = LIST_OF(l, struct collective_group, link);
        uint32_t rank;
        const struct job *j = may_end(g) ? find_ended(r, g, &rank) : NULL;
        if (!j)
            continue;
        return r->x->calls.deliver(
            r->x->arg, INPUT(collective_reply, .job = j->id, .rank = rank, .contributes = false,
                             .id = collective_id(
                                 LIST_OF(list_first(&g->rounds), struct collective, link), j->id)));
    }
    return false;
}

void collectives_lost(const struct core_context *x, uint32_t position)
{
    struct rounds r = { .x = x, .position = position };

    while (end_round(&r, &x->core->meetings))
        continue;
    LIST_EACH(l, &x->core->jobs)
    {
        r.of = LIST_OF(l, struct job, link);
        while (r.of->keep_going && end_round(&r, &r.of->colls))
            continue;
    }
}

static void put_if_lost(const struct core_context *x, const struct rank_set *lost,
                        const struct job *j, uint32_t rank, struct buf *out)
{
    if (rank_set_has(lost, node_map_rank(x->map, j, rank)))
        group_record_put(out, &(struct group_record){ GROUP_ABSENT, .job = j->id, .rank = rank });
}

static void put_lost_of(const struct core_context *x, const struct rank_set *lost,
                        const struct member *m, struct buf *out)
{
    const struct job *j = core_job_named(x->core, m->nspace);

    if (j && m->rank < j->plan.nprocs)
        put_if_lost(x, lost, j, m->rank, out);
    for (uint32_t r = 0; j && m->rank == REQUEST_ALL_RANKS && r < j->plan.nprocs; r++)
        put_if_lost(x, lost, j, r, out);
}

/* Records of the members on nodes that the collective was completed without. */
static bool put_lost(const struct core_context *x, const struct rank_set *lost,
                     const struct coll_id *id, struct buf *out)
{
    struct coll_meeting m;
    struct member *members;

    if (!lost->count || !coll_kind_is_meeting(id->kind) || !coll_meeting_read(id->group, &m))
        return true;
    members = calloc((size_t)m.nmembers + 1, sizeof *members);
    if (!members)
        return false;
    coll_meeting_members(id->group, members);
    for (uint32_t i = 0; i < m.nmembers; i++)
        put_lost_of(x, lost, &members[i], out);
    free(members);
    return buf_ok(out);
}

void collectives_completed(const struct core_context *x, const struct overlay_event *e)
{
    uint32_t room = block_set_count(e->blocks), n = 0;
    struct slice *blocks = calloc((size_t)room + 2, sizeof *blocks);
    enum answer_status status = e->failed ? ANSWER_FAILED : ANSWER_OK;
    struct buf absent = BUF_NULL(LIMIT_GROUP_RECORDS);
    const struct block_set *b;
    struct block_set_walk walk;
    struct coll_id id;
    bool known = coll_id_read(slice_str(e->what), e->generation, &id);

    block_set_walk_begin(&walk, e->blocks);
    while (blocks && n < room && (b = block_set_walk_next(&walk)))
        blocks[n++] = block_set_block(b);
    if (!blocks || walk.no_memory || (known && !put_lost(x, &e->left_out, &id, &absent)))
        status = ANSWER_NO_MEMORY;
    else if (buf_len(&absent))
        blocks[n++] = buf_slice(&absent);
    block_set_walk_end(&walk);
    if (known)
        x->calls.deliver(x->arg, INPUT(completed, .id = id, .status = status,
                                       .blocks = { blocks, status == ANSWER_OK ? n : 0 }));
    buf_free(&absent);
    free(blocks);
}

static bool meeting_is_over(const struct core_context *x, struct slice group)
{
    struct coll_meeting m;
    struct member *members =
        coll_meeting_read(group, &m) ? calloc((size_t)m.nmembers + 1, sizeof *members) : NULL;
    bool over;

    if (!members)
        return false;
    coll_meeting_members(group, members);
    over = collective_multijob_is_over(x->core, members, m.nmembers);
    free(members);
    return over;
}

bool collectives_are_over(void *context, const char *what)
{
    const struct core_context *x = context;
    struct coll_id id;

    if (!coll_id_read(slice_str(what), 0, &id))
        return false;
    if (coll_kind_is_meeting(id.kind))
        return meeting_is_over(x, id.group);
    return !core_job(x->core, id.job) && core_ended_number(x->core, id.job);
}
