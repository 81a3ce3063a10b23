/* notices.h - events that concern several nodes, and the ends of processes for who has asked for
 * them. */
#ifndef WIREUP_WIREUPD_NOTICES_H
#define WIREUP_WIREUPD_NOTICES_H

#include "wireupd/share.h"

/* EFFECT_EVENT or _HEED. */
void notices_effect(struct share *s, const struct effect *e);

/* MSG_event or _heed. */
void notices_hear(struct share *s, const struct msg *m);

#endif
