/* pmix_usage.h - samples of what processes and nodes use, for monitors: those that a request wants,
 * out of what the nodes have told (node_part.h).
 *
 * A request is the monitor (PMIX_MONITOR_PROC_RESOURCE_USAGE or _NODE_; its value is an array of
 * the attributes that are wanted, or an empty one: all), followed by its directives.  The targets
 * of one process or pid are added up, and so are those of one node; a sample of a process has to be
 * of a target of both kinds, where there are both.  Pids may be bare (PMIX_PID), too: those of the
 * client's own node, because clients before 6.1 have no type for a pid with its node.
 */
#ifndef WIREUP_SERVER_PMIX_USAGE_H
#define WIREUP_SERVER_PMIX_USAGE_H

#include "server/info_array.h"
#include "server/pmix_session.h"

/* What the nodes must tell for such a monitor; 0: it monitors something else. */
uint32_t pmix_usage_parts(const pmix_info_t *monitor);

/* The values are what they have to be, and the targets are such as the monitor can have. */
bool pmix_usage_is_fine(const pmix_info_t *request, size_t n);

/* Appends the samples, of processes and nodes that the client may see: one info each,
 * PMIX_PROC_RESOURCE_USAGE or PMIX_NODE_RESOURCE_USAGE. */
void pmix_usage_samples(const struct pmix_session *s, const pmix_info_t *request, size_t n,
                        struct slice parts, struct info_array *out);

/* Likewise for a request in Wireup's own encoding (pmix_keep_packed()). */
void pmix_usage_samples_of(const struct pmix_session *s, struct slice request, struct slice parts,
                           struct info_array *out);

#endif
