/* multinode_priv.h - helpers for the modules of multinode. */
#ifndef WIREUP_DAEMON_MULTINODE_PRIV_H
#define WIREUP_DAEMON_MULTINODE_PRIV_H

#include "daemon/local_job.h"
#include "daemon/multinode.h"

static inline bool share_is_root(const struct multinode *s)
{
    return s->router.config.me == 0;
}

static inline struct server *share_server(const struct multinode *s)
{
    return s->context->server;
}

static inline struct job *share_job(const struct multinode *s, uint64_t id)
{
    return id < UINT32_MAX ? core_job(&share_server(s)->core, (uint32_t)id) : NULL;
}

/* The job, if it has that rank. */
static inline struct job *share_job_with(const struct multinode *s, uint64_t id, uint64_t rank)
{
    struct job *j = share_job(s, id);

    return j && rank < j->plan.nprocs ? j : NULL;
}

#endif
