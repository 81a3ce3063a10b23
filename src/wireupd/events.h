/* events.h - events that concern several nodes, and process exits for the nodes that have
 * subscribed to them. */
#ifndef WIREUP_WIREUPD_EVENTS_H
#define WIREUP_WIREUPD_EVENTS_H

#include "wireupd/multinode.h"

struct effect;

/* EFFECT_event or _subscribe_exits. */
void events_effect(struct multinode *s, const struct effect *e);

/* MSG_event or _subscribe_exits. */
void events_hear(struct multinode *s, const struct msg *m);

#endif
