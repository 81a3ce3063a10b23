/* allocation_refusal.h - why a request for an allocation, or a control of a session, is refused: a
 * sentence for its requester. */
#ifndef WIREUP_DAEMON_ALLOCATION_REFUSAL_H
#define WIREUP_DAEMON_ALLOCATION_REFUSAL_H

#include <stdbool.h>

#include "base/err.h"
#include "core/reservation.h"

/* is_there: the allocation that the request names.  slurm_job: in which the launcher runs; NULL:
 * none. */
void allocation_refusal(const struct reservations *r, uint8_t directive, bool is_there,
                        enum answer_status status, const char *slurm_job, struct errmsg *err);

#endif
