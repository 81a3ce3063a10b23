/* pmix_start.h - a client's first command, which gets the job-level information; and its last. */
#ifndef WIREUP_SERVER_PMIX_START_H
#define WIREUP_SERVER_PMIX_START_H

#include "server/pmix_session.h"

pmix_reader pmix_read_req, pmix_read_abort, pmix_read_finalize;
pmix_replier pmix_reply_req;

#endif
