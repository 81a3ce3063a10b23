/* pmix_monitor.h - monitors of a client that the server keeps at its request: heartbeats, files,
 * what processes and nodes use. */
#ifndef WIREUP_SERVER_PMIX_MONITOR_H
#define WIREUP_SERVER_PMIX_MONITOR_H

#include "server/pmix_session.h"

pmix_reader pmix_read_monitor;
pmix_replier pmix_reply_monitor;

/* The command begins or ends that; else it is another kind of monitoring. */
bool pmix_is_heartbeat(const struct command *c);

#endif
