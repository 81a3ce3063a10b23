/* effect_queue.h - a queue of effects (effect.h), for files that hold one and need not know its
 * contents: files that depend on the table of operations are compiled again whenever that changes.
 */
#ifndef WIREUP_CORE_EFFECT_QUEUE_H
#define WIREUP_CORE_EFFECT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/answer.h"

struct contribution;
struct effect;

/* An effect takes at most so many words. */
enum { EFFECTS_FIRST = 16, EFFECT_WORDS = 20 };

/* It has room for a few without any memory, so that "out of memory" can still be carried out.
 * Zeroed memory is an empty queue; it stays where it is. */
struct effects {
    uint64_t first[EFFECTS_FIRST * EFFECT_WORDS];
    struct effect *ring; /* NULL: `first` */
    size_t head, count, cap;
    bool lost; /* there was no memory for one: a requester would wait for ever (see core_effect) */
    uint64_t tick_ns; /* nothing becomes due before (see core_tick); nothing waits: UINT64_MAX */
};

/* Something becomes due then. */
static inline void effects_tick_by(struct effects *q, uint64_t due_ns)
{
    if (due_ns < q->tick_ns)
        q->tick_ns = due_ns;
}

/* The effect `answer`: the request with that ticket is complete.  False: no memory; it is lost. */
bool effects_answer(struct effects *q, uint64_t ticket, struct answer a);

/* The effect `contribute`; takes over k.  False: no memory; it is lost (and freed). */
bool effects_contribute(struct effects *q, uint32_t job, struct contribution *k);

void effects_free(struct effects *q);

#endif
