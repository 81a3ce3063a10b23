/* core_effect.h - effects out, in order; and jobs that end because a connected one has failed. */
#ifndef WIREUP_CORE_CORE_EFFECT_H
#define WIREUP_CORE_CORE_EFFECT_H

#include "core/core.h"

struct effect;

/* The next effect, in order; false: none.  Recovers here from effects lost for want of memory: a
 * job that lost an answer is aborted; an end or an abort is reported late. */
bool core_effect(struct core *c, struct effect *e_p);

/* A job has been aborted: the jobs that spawned it or were spawned by it end with it, each with one
 * sentence that gives the reason. */
void core_abort_connected(struct core *c, const struct job *j);

#endif
