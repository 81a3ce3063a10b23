/* pmix_log.h - logs: texts of a client for people.  Several texts of a command are requests of
 * their own (pmix_batch.h). */
#ifndef WIREUP_SERVER_PMIX_LOG_H
#define WIREUP_SERVER_PMIX_LOG_H

#include "server/pmix_session.h"

pmix_reader pmix_read_log;

#endif
