/* collectives.h - collectives of the core over several nodes: this node's contribution becomes its
 * part in a collective of the overlay, whose result is passed to the core.
 *
 * Each node contributes one block when its processes have arrived; all blocks come to every node.
 */
#ifndef WIREUP_CLUSTER_COLLECTIVES_H
#define WIREUP_CLUSTER_COLLECTIVES_H

#include "cluster/core_calls.h"

struct contribution;

/* EFFECT_contribute; the core is called with the result, perhaps at once. */
void collectives_contribute(const struct core_context *x, const struct contribution *k,
                            uint64_t now_ns);

/* A node is lost: the collectives that this node has not contributed to, and whose members there
 * had ended before, are over.  (Of the others the core is told with the ends of their members.) */
void collectives_lost(const struct core_context *x, uint32_t position);

/* The overlay's OVERLAY_COMPLETED. */
void collectives_completed(const struct core_context *x, const struct overlay_event *e);

/* Of overlay_config, with a core_context: its job is over, or one of those that it is across. */
bool collectives_are_over(void *context, const char *what);

#endif
