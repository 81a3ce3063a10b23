/* pmix_alloc.h - PMIx_Allocation_request and PMIx_Session_control: requests to the launcher about
 * reservations of its nodes (core/reservation.h). */
#ifndef WIREUP_SERVER_PMIX_ALLOC_H
#define WIREUP_SERVER_PMIX_ALLOC_H

#include "server/info_array.h"
#include "server/pmix_session.h"

/* Seconds, which have been both, a number and a text.  PMIX_ERR_BAD_PARAM: neither, or none. */
pmix_status_t pmix_alloc_time(const pmix_value_t *v, uint32_t *to);

/* The answer (to REQ_allocate) as infos. */
void pmix_alloc_infos(struct info_array *l, const struct answer *a);

pmix_reader pmix_read_alloc;
pmix_replier pmix_reply_alloc;

pmix_reader pmix_read_session_control;
pmix_replier pmix_reply_session_control;

#endif
