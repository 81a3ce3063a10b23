/* job_connect.c - see job_connect.h. */
#include "core/job_connect.h"

#include <stdlib.h>

static struct job_partner *partner(const struct job *j, uint32_t other)
{
    for (uint32_t i = 0; i < j->npartners; i++) {
        if (j->partners[i].job == other)
            return &j->partners[i];
    }
    return NULL;
}

bool job_is_connected(const struct job *j, uint32_t other)
{
    return partner(j, other) != NULL;
}

bool job_is_related(const struct job *a, const struct job *b)
{
    return a->parent == b->id || b->parent == a->id || job_is_connected(a, b->id) ||
           job_is_connected(b, a->id);
}

bool job_may_act_on(const struct job *asker, const struct job *target)
{
    return asker->is_tool || asker == target || job_is_related(asker, target);
}

enum answer_status job_connect(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other), *more;

    if (p) {
        p->count += p->count < UINT32_MAX;
        return ANSWER_OK;
    }
    more = realloc(j->partners, (j->npartners + (size_t)1) * sizeof *more);
    if (!more)
        return ANSWER_NO_MEMORY;
    j->partners = more;
    more[j->npartners++] = (struct job_partner){ other, 1 };
    return ANSWER_OK;
}

void job_forget(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other);

    if (p)
        *p = j->partners[--j->npartners];
}

enum answer_status job_disconnect(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other);

    if (!p)
        return ANSWER_NOT_FOUND;
    if (--p->count == 0)
        job_forget(j, other);
    return ANSWER_OK;
}
