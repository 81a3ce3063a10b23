/* client_debug.h - waiting in PMIx_Init for a debugger, where the job's information says so. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_DEBUG_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_DEBUG_H

struct client;

/* If PMIX_DEBUG_STOP_IN_INIT names this process: says PMIX_READY_FOR_DEBUG to the server, and
 * returns when the event PMIX_DEBUGGER_RELEASE comes, or the server is lost.  The wait is the
 * caller's: no thread or loop of the program is needed. */
void debug_wait(struct client *c);

#endif
