/* msg.h - messages between daemons: the table proto/overlay.def as structs and bytes.
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
#include "wire/parts.h"

/* Addresses besides positions. */
#define MSG_EVERYBODY UINT32_C(0xffffffff) /* all daemons but the sender, launcher included */
#define MSG_NEIGHBOUR UINT32_C(0xfffffffe) /* the daemon at the other end of the link */

enum {
    JOB_FLAG_HOSTNAME = 1,
    JOB_FLAG_ONE_SPEAKS = 2,
    JOB_FLAG_SPAWNED = 4,
    JOB_FLAG_ASKED = 8,
    JOB_FLAG_TIMED = 16, /* report the start-up times (`startup`) */
    JOB_FLAG_HELD = 32   /* report that this node's part can start (`checked`), and wait for
                          * `begin` */
};
enum { TROUBLE_REMARK, TROUBLE_FAILED, TROUBLE_LOST };
enum { NAME_FLAG_WAIT = 1, NAME_FLAG_STAYS = 2, NAME_FLAG_READ_ONCE = 4 };

enum msg_kind {
#define MSG(id, name) MSG_##id,
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/overlay.def"
#undef MSG
#undef PART
#undef DONE
    MSG_KINDS
};

/* struct msg_ready { ... } for each kind. */
#define MSG(id, name)                                                                              \
    struct msg_##id {                                                                              \
        char none[1]; /* a message may have no parts */
#define PART(id, kind, member, name) PART_TYPE_##kind member;
#define DONE(id)                                                                                   \
    }                                                                                              \
    ;
#include "proto/overlay.def"
#undef MSG
#undef PART
#undef DONE

struct msg {
    enum msg_kind kind;
    uint32_t from, to;
    uint64_t number, heard; /* of reliable.h; 0: none */
    union {
#define MSG(id, name) struct msg_##id id;
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/overlay.def"
#undef MSG
#undef PART
#undef DONE
    } u;
};

const char *msg_name(enum msg_kind kind); /* "ready" */

/* Appends the message; running out of memory (or over the buffer's maximum) poisons the buffer. */
void msg_write(const struct msg *m, struct buf *out);

/* Reads one whole message.  Bytes borrow from the input, lists live in the arena. 0, or 1 with the
 * error. */
int msg_read(struct slice bytes, struct arena *a, struct msg *m_p, struct errmsg *err);

/* Reads the addresses only: for daemons that forward it.  False: not a message. */
bool msg_address(struct slice bytes, uint32_t *from_p, uint32_t *to_p);

#endif
