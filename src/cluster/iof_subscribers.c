/* iof_subscribers.c - see iof_subscribers.h. */
#include "cluster/iof_subscribers.h"

#include <stdlib.h>
#include <string.h>

#include "core/job.h"

void iof_subscribers_init(struct iof_subscribers *e)
{
    list_init(&e->all);
}

static void drop(struct iof_subscription *r)
{
    list_unlink(&r->link);
    free(r);
}

void iof_subscribers_free(struct iof_subscribers *e)
{
    if (!e->all.next)
        return;
    LIST_EACH(l, &e->all)
    drop(LIST_OF(l, struct iof_subscription, link));
}

const struct iof_subscription *iof_subscribers_add(struct iof_subscribers *e, uint32_t position,
                                                   uint64_t id, struct slice nspace, uint32_t rank,
                                                   uint16_t channels)
{
    struct iof_subscription *r = calloc(1, sizeof *r + nspace.len + 1);

    if (!r)
        return NULL;
    r->position = position;
    r->id = id;
    r->rank = rank;
    r->channels = channels;
    memcpy(r->nspace, nspace.ptr ? nspace.ptr : "", nspace.len);
    list_append(&e->all, &r->link);
    return r;
}

void iof_subscribers_drop(struct iof_subscribers *e, uint32_t position, uint64_t id)
{
    LIST_EACH(l, &e->all)
    {
        struct iof_subscription *r = LIST_OF(l, struct iof_subscription, link);
        if (r->position == position && r->id == id)
            drop(r);
    }
}

void iof_subscribers_lost(struct iof_subscribers *e, uint32_t position)
{
    LIST_EACH(l, &e->all)
    {
        struct iof_subscription *r = LIST_OF(l, struct iof_subscription, link);
        if (r->position == position)
            drop(r);
    }
}

static bool is_for(const struct iof_subscription *r, const char *nspace, uint32_t rank)
{
    return (r->rank == JOB_NO_RANK || r->rank == rank) && strcmp(r->nspace, nspace) == 0;
}

/* The entries of one subscription are adjacent. */
const struct iof_subscription *iof_subscribers_next(const struct iof_subscribers *e,
                                                    const struct iof_subscription *last,
                                                    const char *nspace, uint32_t rank)
{
    struct list *l = last ? last->link.next : e->all.next;

    for (; l != &e->all; l = l->next) {
        const struct iof_subscription *r = LIST_OF(l, struct iof_subscription, link);
        bool again = last && r->position == last->position && r->id == last->id;
        if (!again && is_for(r, nspace, rank))
            return r;
    }
    return NULL;
}
