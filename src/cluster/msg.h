/* msg.h - messages between daemons: the rows of proto/operations.def that are MESSAGE, as structs
 * and bytes.
 *
 * One message is one record of a link (io/daemon_link.h): kind, from, to, parts.  The link provides
 * secrecy, order and length; nothing else is trusted here.
 */
#ifndef WIREUP_CLUSTER_MSG_H
#define WIREUP_CLUSTER_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cluster/msg_address.h"
#include "core/operation.h"

struct effect;
struct input;

#define MSG_KIND_MESSAGE(id) MSG_##id = OP_##id,
#define MSG_KIND_NONE(id)
#define MSG_UNION_MESSAGE(id) struct op_##id id;
#define MSG_UNION_NONE(id)

enum msg_kind {
#define OPERATION(id, name, E, M, I) MSG_KIND_##M(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

struct msg {
    enum msg_kind kind;
    uint32_t from, to;
    uint64_t number, acked; /* of reliable.h; 0: none */
    union {
#define OPERATION(id, name, E, M, I) MSG_UNION_##M(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    } u;
};

/* MSG_WITH(begin, .job = 3): a message of this kind with these members. */
#define MSG_WITH(id, ...) ((struct msg){ .kind = MSG_##id, .u.id = { __VA_ARGS__ } })

/* An effect as the message to another node, a message of another node as the input here: the
 * members are the same, and are borrowed.  False: the row of the operation has no such form. */
bool msg_effect(const struct effect *e, struct msg *m_p);
bool msg_input(const struct msg *m, uint64_t now_ns, struct input *in_p);

const char *msg_name(enum msg_kind kind); /* "ready" */

/* Appends the message; running out of memory (or over the buffer's maximum) poisons the buffer. */
void msg_write(const struct msg *m, struct buf *out);

/* Reads one whole message.  Bytes borrow from the input; lists, and the query of one about a name,
 * live in the arena.  0, or 1 with the error. */
int msg_read(struct slice bytes, struct arena *a, struct msg *m_p, struct errmsg *err);

/* Reads the addresses only: for daemons that forward it.  False: not a message. */
bool msg_address(struct slice bytes, uint32_t *from_p, uint32_t *to_p);

#endif
