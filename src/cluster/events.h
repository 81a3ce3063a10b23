/* events.h - event notifications between nodes.
 *
 * An event goes to all nodes, from the one where it was raised.  Exits of processes, of which there
 * are as many as processes, go only to the nodes that have subscribed to them at the launcher,
 * which also sends those that it has kept.
 */
#ifndef WIREUP_CLUSTER_EVENTS_H
#define WIREUP_CLUSTER_EVENTS_H

#include "cluster/core_calls.h"

struct events {
    const struct core_context *context;
    struct rank_set subscribed; /* launcher: positions of nodes that want exits */
};

void events_open(struct events *s, const struct core_context *x);
void events_close(struct events *s); /* harmless twice, and on zeroed memory */

/* EFFECT_event or _subscribe_exits. */
void events_effect(struct events *s, const struct effect *e);

/* MSG_event or _subscribe_exits. */
void events_receive(struct events *s, uint32_t from);

/* That daemon is lost. */
void events_lost(struct events *s, uint32_t position);

#endif
