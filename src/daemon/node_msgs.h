/* node_msgs.h - short messages to other daemons, for modules that need no others. */
#ifndef WIREUP_DAEMON_NODE_MSGS_H
#define WIREUP_DAEMON_NODE_MSGS_H

#include <stdint.h>

#include "base/slice.h"

struct cluster_io;

/* Tells all other daemons to exit. */
void node_msgs_quit(struct cluster_io *s);

/* Launcher: more of the stream of staged files (staging.h); none: its end. */
void node_msgs_stage(struct cluster_io *s, uint32_t job, struct slice bytes);
/* A daemon: so much of it has been written here. */
void node_msgs_staged(struct cluster_io *s, uint32_t job, uint64_t count);

/* Sends the launcher what this node knows of a job's start-up times (core/startup.h). */
void node_msgs_startup(struct cluster_io *s, uint32_t job, struct slice part);

#endif
