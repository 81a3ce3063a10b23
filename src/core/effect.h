/* effect.h - actions that the core asks of the host, which has the file descriptors.
 *
 * The effects and their members are the rows of proto/operations.def that are EFFECT.  They come
 * out in the order in which they are to be carried out.  An effect holds no pointer into the core:
 * its texts are copies of its own from effects_push() on, and spawn requests, queries and
 * contributions are handed over. So one record serves as a test's expectation, a trace's line and
 * the replay's format.
 */
#ifndef WIREUP_CORE_EFFECT_H
#define WIREUP_CORE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contribution.h"
#include "core/effect_queue.h"
#include "core/proc_state.h"
#include "core/nameservice.h"
#include "core/operation.h"
#include "core/request.h"

/* ---- effects, from the table ----------------------------------------------------------------- */

#define EFFECT_KIND_EFFECT(id) EFFECT_##id = OP_##id,
#define EFFECT_KIND_NONE(id)
#define EFFECT_UNION_EFFECT(id) struct op_##id id;
#define EFFECT_UNION_NONE(id)

enum effect_kind {
#define OPERATION(id, name, E, M, I) EFFECT_KIND_##E(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

struct effect {
    enum effect_kind kind;
    char *bytes; /* malloc'ed: its own copy of the texts; NULL: they are borrowed, or all empty */
    union {
#define OPERATION(id, name, E, M, I) EFFECT_UNION_##E(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    } u;
};

/* EFFECT_WITH(session_dir, .job = 3, .rank = 1): an effect of this kind with these members. */
#define EFFECT_WITH(id, ...)                                                                       \
    ((struct effect){ .kind = EFFECT_##id, .bytes = NULL, .u.id = { __VA_ARGS__ } })

/* The job that it is about; JOB_NO_RANK: none. */
uint32_t effect_job(const struct effect *e);

/* Gives the effect copies of its texts, which were borrowed until now.  False: no memory (nothing
 * is changed). */
bool effect_own(struct effect *e);

/* Frees the members that an effect owns; harmless twice. */
void effect_drop(struct effect *e);

/* Takes over the effect; texts that it borrows are copied.  Without memory for these an answer
 * says so, and a sentence is left out.  False: no memory; the effect is lost (and dropped). */
bool effects_push(struct effects *q, struct effect e);
bool effects_pop(struct effects *q, struct effect *e_p);

#endif
