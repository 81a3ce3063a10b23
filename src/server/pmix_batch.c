/* pmix_batch.c - see pmix_batch.h. */
#include "server/pmix_batch.h"

#include <stdlib.h>

#include "wire/pmix_mem.h"

struct pmix_batch *pmix_batch_new(struct command *c)
{
    struct pmix_batch *b = calloc(1, sizeof *b);

    if (!b)
        c->no_memory = true;
    return b;
}

struct pmix_pending *pmix_batch_ask(struct command *c, struct pmix_batch *b, struct request rq)
{
    struct pmix_pending *p = b ? pmix_ask(c, rq) : NULL;

    if (p) {
        b->left++;
        p->batch = b;
    }
    return p;
}

void pmix_batch_end(struct command *c, struct pmix_batch *b, pmix_status_t if_none)
{
    if (!b || b->left)
        return;
    free(b);
    if (punpack_ok(&c->r) && !c->no_memory)
        pmix_reply_status(c->s, c->tag, if_none);
}

bool pmix_batch_leave(struct pmix_batch *b)
{
    if (!b || --b->left)
        return false;
    pmem_free(ptype_find(PMIX_PDATA), b->found, b->nfound, NULL);
    free(b->found);
    free(b);
    return true;
}

void pmix_reply_batch(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct pmix_batch *b = p->batch;

    if (a->status != ANSWER_OK)
        b->worst = a->status;
    if (b->left == 1)
        pmix_reply_status(s, p->tag,
                          b->worst != ANSWER_OK ? pmix_status_of(b->worst)
                          : b->refused          ? PMIX_ERR_PARTIAL_SUCCESS
                                                : PMIX_SUCCESS);
    pmix_batch_leave(b);
}
