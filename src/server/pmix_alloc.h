/* pmix_alloc.h - PMIx_Allocation_request and PMIx_Session_control: requests to the launcher about
 * reservations of its nodes (core/reservation.h). */
#ifndef WIREUP_SERVER_PMIX_ALLOC_H
#define WIREUP_SERVER_PMIX_ALLOC_H

#include "server/pmix_session.h"

pmix_reader pmix_read_alloc;
pmix_replier pmix_reply_alloc;

pmix_reader pmix_read_session_control;
pmix_replier pmix_reply_session_control;

#endif
