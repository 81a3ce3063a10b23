/* node_failure.h - the loss of a node: the reason, and the consequences for jobs that had processes
 * on it. */
#ifndef WIREUP_DAEMON_NODE_FAILURE_H
#define WIREUP_DAEMON_NODE_FAILURE_H

#include "daemon/cluster_io.h"

/* Launcher: why that daemon may be lost; the first reason counts. */
void node_failure_reason(struct cluster_io *s, uint32_t position, const char *why);

/* The better reason for a loss that the launcher's configuration knows; else that one. */
const char *node_failure_why(const struct cluster_io *s, const char *why);

/* That daemon is lost, and its processes are gone. */
void node_failure_position(struct cluster_io *s, uint32_t position);

/* The job's ranks there end, which may be a failure (replacing_lose_fn). */
void node_failure_ranks(struct cluster_io *s, struct job *j, uint32_t position, const char *why);

void node_failure_free(struct cluster_io *s);

#endif
