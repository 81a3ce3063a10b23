/* allocation_refusal.c - see allocation_refusal.h. */
#include "daemon/allocation_refusal.h"

#include "pmix_common.h"

static void too_few(const struct reservations *r, const char *slurm_job, struct errmsg *err)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->nnodes; i++)
        n += !r->nodes[i].of && !r->nodes[i].lost;
    if (slurm_job)
        errmsg_set(
            err, 0,
            "too few nodes are free (%u of %u); the launcher asks Slurm for no more than its "
            "job %.40s has",
            n, r->nnodes, slurm_job);
    else
        errmsg_set(err, 0, "too few nodes are free (%u of %u)", n, r->nnodes);
}

static const char *not_found(uint8_t directive, bool is_there)
{
    if (directive == PMIX_ALLOC_REQ_CANCEL)
        return "no request of that name waits for nodes";
    if (directive == PMIX_ALLOC_NEW || (directive == PMIX_ALLOC_EXTEND && is_there))
        return "a node that is named cannot be had: the launcher does not have it";
    if (!is_there)
        return "there is no such allocation";
    return directive == PMIX_ALLOC_RELEASE ? "a node that is named is not in the allocation"
                                           : "no node of the allocation is lent";
}

static const char *fixed(uint8_t directive, bool is_there, enum answer_status status)
{
    switch (status) {
    case ANSWER_NOT_FOUND: return not_found(directive, is_there);
    case ANSWER_OVER_QUOTA:
        return directive == RESERVATION_COMPLETE ? "jobs of the session run"
                                                 : "others have nodes that were lent";
    case ANSWER_DUPLICATE: return "there is an allocation with that id";
    case ANSWER_BAD_VALUE:
        return directive == RESERVATION_SIGNAL ? "there is no such signal"
                                               : "it names neither nodes nor a number of them";
    case ANSWER_DENIED: return "the allocation is another's";
    case ANSWER_NO_MEMORY: return "the launcher is out of memory";
    default: return "the launcher has no such directive";
    }
}

void allocation_refusal(const struct reservations *r, uint8_t directive, bool is_there,
                        enum answer_status status, const char *slurm_job, struct errmsg *err)
{
    if (status == ANSWER_OVER_QUOTA &&
        (directive == PMIX_ALLOC_NEW || directive == PMIX_ALLOC_EXTEND))
        too_few(r, slurm_job, err);
    else
        errmsg_set(err, 0, "%s", fixed(directive, is_there, status));
}
