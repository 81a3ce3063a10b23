/* pmix_fence.h - collectives of processes: fence, connect, disconnect. */
#ifndef WIREUP_SERVER_PMIX_FENCE_H
#define WIREUP_SERVER_PMIX_FENCE_H

#include "server/pmix_session.h"

struct participants {
    pmix_proc_t *procs;
    size_t n;
    uint64_t timeout_ns; /* 0: none */
    bool collect;        /* a fence with data */
    struct slice ways;   /* exchange methods */
    bool ways_required;  /* and only those */
    struct slice data;   /* a group: for the other members */
};

/* Requests a collective of processes of any jobs, under this purpose.  NULL: no memory. */
struct pmix_pending *pmix_ask_collective(struct command *c, const struct participants *w,
                                         const char *purpose);

pmix_reader pmix_read_fence, pmix_read_connect, pmix_read_disconnect;
pmix_replier pmix_reply_connect;

#endif
