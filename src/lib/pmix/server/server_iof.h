/* server_iof.h - output that is forwarded to subscribers (IOF). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_IOF_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_IOF_H

#include "lib/pmix/server/server.h"

struct ask;

/* A new subscriber: our number of it; 0: no memory. */
size_t iof_add(struct pserver *s, struct ask *a, const struct peer *p);
void iof_follow(struct ask *a, const char *nspace); /* of a job that it has spawned (a->channels) */
void iof_drop(struct pserver *s, const struct peer *p, size_t ref);
pmix_status_t iof_deliver(struct pserver *s, const pmix_proc_t *source, pmix_iof_channel_t channel,
                          const pmix_byte_object_t *bo, const pmix_info_t *infos, size_t ninfos);
void iof_forget(struct pserver *s, const struct peer *p);
void iof_free(struct pserver *s);

#endif
