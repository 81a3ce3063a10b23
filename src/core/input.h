/* input.h - inputs that a host delivers to its server (server_deliver()).
 *
 * The inputs are the rows of proto/operations.def that are INPUT.  An input holds numbers and
 * borrowed bytes, and no pointer into the server, so the same struct comes from the host, from a
 * message of another node and from a trace.
 */
#ifndef WIREUP_CORE_INPUT_H
#define WIREUP_CORE_INPUT_H

#include "core/operation.h"

#define INPUT_KIND_INPUT(id) INPUT_##id = OP_##id,
#define INPUT_KIND_NONE(id)
#define INPUT_UNION_INPUT(id) struct op_##id id;
#define INPUT_UNION_NONE(id)

enum input_kind {
#define OPERATION(id, name, E, M, I) INPUT_KIND_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

struct input {
    enum input_kind kind;
    uint64_t now_ns; /* 0: the kind needs no time, or none has passed */
    union {
#define OPERATION(id, name, E, M, I) INPUT_UNION_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    } u;
};

/* INPUT(hangup, .connection = 3): the address of an input of this kind with these members. */
#define INPUT(id, ...) INPUT_AT(0, id, __VA_ARGS__)
#define INPUT_AT(now, id, ...)                                                                     \
    (&(struct input){ .kind = INPUT_##id, .now_ns = (now), .u.id = { __VA_ARGS__ } })

#endif
