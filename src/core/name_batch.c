/* name_batch.c - see name_batch.h. */
#include "core/name_batch.h"

#include <errno.h>
#include <stdlib.h>

#include "core/job.h"

static struct name_batch *find(const struct list *all, const struct nameservice_query *q)
{
    if (!q->batch_total)
        return NULL;
    LIST_EACH(l, all)
    {
        struct name_batch *b = LIST_OF(l, struct name_batch, link);
        if (b->job == q->job && b->rank == q->rank && b->id == q->batch)
            return b;
    }
    return NULL;
}

static void free_batch(struct name_batch *b)
{
    list_unlink(&b->link);
    free(b);
}

int name_batch_open(struct list *all, const struct nameservice_query *q)
{
    struct name_batch *b = find(all, q);

    if (b || !q->batch_total)
        return 0;
    b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->job = q->job;
    b->rank = q->rank;
    b->id = q->batch;
    b->needed = q->batch_needed;
    b->left = q->batch_total;
    list_append(all, &b->link);
    return 0;
}

void name_batch_count(struct list *all, const struct nameservice_query *q, bool found)
{
    struct name_batch *b = find(all, q);

    if (!b)
        return;
    b->found += found;
    if (--b->left == 0)
        free_batch(b);
}

bool name_batch_is_over(const struct list *all, const struct nameservice_query *q)
{
    const struct name_batch *b = find(all, q);

    return b && b->found >= b->needed;
}

void name_batch_drop(struct list *all, uint32_t job, uint32_t rank)
{
    LIST_EACH(l, all)
    {
        struct name_batch *b = LIST_OF(l, struct name_batch, link);
        if (b->job == job && (rank == JOB_NO_RANK || b->rank == rank))
            free_batch(b);
    }
}
