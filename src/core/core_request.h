/* core_request.h - requests of processes in, and the passing of time.
 *
 * The caller identifies a waiting request by a ticket of its own making and gets it back with the
 * answer.
 */
#ifndef WIREUP_CORE_CORE_REQUEST_H
#define WIREUP_CORE_CORE_REQUEST_H

#include "core/core.h"

struct request;

/* Time has passed: answers the requests that are due, and returns the time at which the next
 * becomes due (UINT64_MAX: nothing is pending).  Not needed before c->effects.tick_ns. */
uint64_t core_tick(struct core *c, uint64_t now_ns);

/* One request of one process.  ANSWER_LATER: an EFFECT_answer (or, for a spawn, the host's own
 * answer) brings the ticket back. */
void core_request(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                  const struct request *rq, uint64_t now_ns, struct answer *a_p);

/* A connection of that process to the store of its job has closed: it waits no more. */
void core_store_leave(struct core *c, struct job *j, uint32_t rank, uint32_t connection);

#endif
