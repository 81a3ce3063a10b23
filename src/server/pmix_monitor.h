/* pmix_monitor.h - heartbeats of a client, which the server monitors at its request. */
#ifndef WIREUP_SERVER_PMIX_MONITOR_H
#define WIREUP_SERVER_PMIX_MONITOR_H

#include "server/pmix_session.h"

pmix_reader pmix_read_monitor;

/* The command begins or ends that; else it is another kind of monitoring. */
bool pmix_is_heartbeat(const struct command *c);

#endif
