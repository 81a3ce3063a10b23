/* pmix_scheduler.h - a tool that is the scheduler (PMIX_SERVER_SCHEDULER): it is sent the requests
 * for allocations of other processes, as a server is by its clients, and replies to them.
 *
 * The tag of such a request has its highest bit set, which those of clients have not.  The one that
 * has registered last is asked; its host is `wireup` (daemon/scheduler.h). */
#ifndef WIREUP_SERVER_PMIX_SCHEDULER_H
#define WIREUP_SERVER_PMIX_SCHEDULER_H

#include "core/answer.h"
#include "server/pmix_session.h"

struct reservation_wish;

/* The client is known now; it may be the scheduler. */
void pmix_scheduler_joins(struct pmix_session *s);

/* Whether the message is a reply of the scheduler; its reader, which returns as pmix.c's. */
bool pmix_is_scheduled(const struct command *c);
int pmix_read_scheduled(struct command *c);

/* What the scheduler grants, from its infos; each may be empty or 0.  The texts are the caller's.
 */
struct pmix_grant {
    char *id, *nodes;
    uint32_t seconds;
};
bool pmix_grant_read(struct slice infos, struct pmix_grant *g_p);
void pmix_grant_free(struct pmix_grant *g);

/* The infos of the reply to the client: those that describe the answer a, if there is one, and
 * those of the scheduler with other keys.  Without memory the buffer says so. */
void pmix_grant_infos(struct slice infos, const struct answer *a, struct buf *out);

/* The infos of a request for an allocation that a spawn wants, as PMIx_Allocation_request has them.
 * Without memory the buffer says so. */
void pmix_wish_infos(const struct reservation_wish *w, uint32_t seconds, struct buf *out);

/* Whether the launcher, which has no scheduler, refuses such infos: the status. */
pmix_status_t pmix_alloc_check(struct slice infos);

#endif
