/* effect.h - what the core wants done by somebody who has descriptors.
 *
 * Effects come out in the order in which they are to be carried out.  A record is the test's
 * expectation, the trace's line and the replay's format alike, so it holds no pointer into the
 * core: the spawn request, the query and the bytes of an answer are handed over.
 */
#ifndef WIREUP_CORE_EFFECT_H
#define WIREUP_CORE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names.h"
#include "core/request.h"

enum effect_kind {
    EFFECT_ANSWER,   /* a request that had to wait is done: ticket, status, what it carries */
    EFFECT_ATTR,     /* find out an attribute of the job: ticket; it carries the key */
    EFFECT_SPAWN,    /* start these commands for the job: ticket, spawn */
    EFFECT_NAMES,    /* ask the neighbours about a name: ticket, names; then core_names_heard() */
    EFFECT_KILL,     /* end all processes of the job: politely, after a grace period for good */
    EFFECT_JOB_ENDED /* every process of the job has ended */
};

struct effect {
    enum effect_kind kind;
    enum answer_status status;
    uint32_t job;
    uint64_t ticket;
    struct spawn_request *spawn;
    struct names_query *names;
    int64_t number; /* EFFECT_ANSWER: as in struct answer */
    char *bytes;    /* malloc'ed: a key and a value behind each other; NULL: both empty */
    uint32_t key_len, value_len;
};

/* Gives the effect copies of a key and a value.  False: no memory (nothing is changed). */
bool effect_carry(struct effect *e, struct slice key, struct slice value);
struct slice effect_key(const struct effect *e);
struct slice effect_value(const struct effect *e);

/* Frees what an effect holds; harmless twice. */
void effect_drop(struct effect *e);

enum { EFFECTS_FIRST = 16 };

/* A queue of effects.  It has room for a few without any memory, so that "out of memory" can still
 * be carried out.  Zeroed memory is an empty queue; it stays where it is. */
struct effects {
    struct effect first[EFFECTS_FIRST];
    struct effect *ring; /* NULL: `first` */
    size_t head, count, cap;
    bool lost; /* there was no memory for one: somebody would wait for ever (see core_effect) */
};

void effects_free(struct effects *q);

/* False: no memory; the effect is lost (and dropped). */
bool effects_push(struct effects *q, struct effect e);
bool effects_pop(struct effects *q, struct effect *e_p);

#endif
