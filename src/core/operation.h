/* operation.h - the operations of proto/operations.def: a number and a struct for each row.
 *
 * An effect, a message between daemons and an input of the server have the same struct if they are
 * of the same row; which rows can be which is in the table (core/effect.h, cluster/msg.h,
 * core/input.h).
 */
#ifndef WIREUP_CORE_OPERATION_H
#define WIREUP_CORE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "core/answer.h"
#include "core/coll_id.h"
#include "core/operations.h"
#include "core/proc_state.h"
#include "wire/parts.h"

struct contribution;
struct nameservice_query;
struct spawn_request;

enum operation {
#define OPERATION(id, name, E, M, I) OP_##id,
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    OPERATIONS
};

/* struct op_answer { uint64_t ticket; ... } for each row. */
#define OPERATION(id, name, E, M, I)   struct op_##id {
#define MEMBER(id, KIND, member, name) OPERATION_TYPE_##KIND member;
#define DONE(id)                                                                                   \
    }                                                                                              \
    ;
#include "proto/operations.def"

#endif
