/* events.h - events that concern several nodes, and the ends of processes for who has asked for
 * them. */
#ifndef WIREUP_WIREUPD_EVENTS_H
#define WIREUP_WIREUPD_EVENTS_H

#include "wireupd/multinode.h"

/* EFFECT_EVENT or _HEED. */
void events_effect(struct multinode *s, const struct effect *e);

/* MSG_event or _heed. */
void events_hear(struct multinode *s, const struct msg *m);

#endif
