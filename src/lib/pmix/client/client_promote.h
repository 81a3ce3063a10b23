/* client_promote.h - a process that was started by hand gets a launcher when it needs one.
 *
 * Requests that nobody can answer alone (spawn, names, groups, connect) start `wireup` on one end
 * of a socket pair (lib/common/singleton_promote.h).  The process keeps its name and rank; what it
 * has committed, and the events that it has handlers for, are sent to the new server.  The launcher
 * ends with the process's connection.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_PROMOTE_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_PROMOTE_H

#include <stdint.h>

#include "pmix_common.h"

struct client;

/* A request with this command is about to be sent, and there is no server.  Called with the lock
 * held (it may be released meanwhile).  PMIX_SUCCESS: there is one now; PMIX_ERR_UNREACH: the
 * process stays alone (the first time one sentence on standard error says why, unless it is not a
 * singleton or the command needs no launcher). */
pmix_status_t client_promote(struct client *c, uint8_t command);

#endif
