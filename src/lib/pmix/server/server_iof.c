/* server_iof.c - forwards output to its subscribers (IOF). */
#include "lib/pmix/server/server_iof.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "lib/pmix/server/server_ask.h"
#include "server/pmix.h"

struct iof_output {
    struct list link;
    const struct peer *peer;
    pmix_proc_t *procs;
    size_t nprocs;
    pmix_iof_channel_t channels;
    size_t ref;  /* the subscriber's */
    size_t mine; /* ours, by which it is deregistered */
};

static void output_free(struct iof_output *o)
{
    list_unlink(&o->link);
    free(o->procs);
    free(o);
}

static unsigned count_of(const struct pserver *s, const struct peer *p)
{
    unsigned n = 0;

    LIST_EACH(l, &s->outputs)
    n += LIST_OF(l, struct iof_output, link)->peer == p;
    return n;
}

static struct iof_output *add_output(struct pserver *s, const struct peer *p,
                                     const pmix_proc_t *procs, size_t n)
{
    struct iof_output *o = count_of(s, p) < LIMIT_CLIENT_MONITORS ? calloc(1, sizeof *o) : NULL;

    if (!o)
        return NULL;
    list_init(&o->link);
    o->procs = calloc(n + 1, sizeof *o->procs);
    if (!o->procs) {
        free(o);
        return NULL;
    }
    if (n)
        memcpy(o->procs, procs, n * sizeof *o->procs);
    o->nprocs = n;
    o->peer = p;
    o->mine = ++s->next_ref;
    list_append(&s->outputs, &o->link);
    return o;
}

size_t iof_add(struct pserver *s, struct ask *a, const struct peer *p)
{
    struct iof_output *o = add_output(s, p, a->procs, a->nprocs);

    if (!o)
        return 0;
    o->channels = (pmix_iof_channel_t)a->status;
    o->ref = (size_t)a->number;
    return o->mine;
}

/* It has no handler: number 0 means output that the requester prints as its own. */
void iof_follow(struct ask *a, const char *nspace)
{
    const struct peer *p =
        a->channels ? map_get(&a->s->server.by_id, slice_mem(&a->payer, sizeof a->payer)) : NULL;
    struct iof_output *o;
    pmix_proc_t all;

    PMIx_Load_procid(&all, nspace, PMIX_RANK_WILDCARD);
    o = p && !p->closing ? add_output(a->s, p, &all, 1) : NULL;
    if (o)
        o->channels = a->channels;
}

void iof_drop(struct pserver *s, const struct peer *p, size_t ref)
{
    LIST_EACH(l, &s->outputs)
    {
        struct iof_output *o = LIST_OF(l, struct iof_output, link);
        if (o->peer == p && o->mine == ref)
            output_free(o);
    }
}

void iof_forget(struct pserver *s, const struct peer *p)
{
    LIST_EACH(l, &s->outputs)
    {
        struct iof_output *o = LIST_OF(l, struct iof_output, link);
        if (o->peer == p)
            output_free(o);
    }
}

void iof_free(struct pserver *s)
{
    LIST_EACH(l, &s->outputs)
    output_free(LIST_OF(l, struct iof_output, link));
}

static bool wants(const struct iof_output *o, const pmix_proc_t *source, pmix_iof_channel_t channel)
{
    if (!(o->channels & channel))
        return false;
    for (size_t i = 0; i < o->nprocs; i++) {
        if (PMIx_Check_procid(&o->procs[i], source))
            return true;
    }
    return o->nprocs == 0;
}

/* A subscriber that does not read misses new output; nothing is kept for it. */
pmix_status_t iof_deliver(struct pserver *s, const pmix_proc_t *source, pmix_iof_channel_t channel,
                          const pmix_byte_object_t *bo, const pmix_info_t *infos, size_t ninfos)
{
    LIST_EACH(l, &s->outputs)
    {
        struct iof_output *o = LIST_OF(l, struct iof_output, link);
        struct peer *p = (struct peer *)(uintptr_t)o->peer;
        if (!wants(o, source, channel) || p->closing || buf_len(&p->out) > LIMIT_LISTENER_QUEUE)
            continue;
        pmix_send_output(p, source, channel, o->ref, infos, ninfos,
                         bo ? slice_mem(bo->bytes, bo->size) : SLICE_NULL);
        server_spoken(&s->server, p);
    }
    return PMIX_SUCCESS;
}
