/* coll_id.h - the identity of a collective: its kind, its job or members, and its purpose.
 *
 * With the generation (the n-th time) it is unique: equal on all participating nodes, and shared
 * with no other collective.  It is kept, sent and compared as text, in which every foreign name
 * (groups, namespaces) follows its length, so that two texts are equal only if all parts are:
 *
 *     fence JOB LENGTH:GROUP                      of one job; GROUP as in job_fence.c
 *     ring JOB
 *     KIND LENGTH:NAME LENGTH:NAMESPACE.RANK ...  of several jobs: members ascending, '*' for all
 */
#ifndef WIREUP_CORE_COLL_ID_H
#define WIREUP_CORE_COLL_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "core/request.h"

enum coll_kind {
    COLL_FENCE,
    COLL_RING,
    /* of several jobs */
    COLL_MEET_FENCE,
    COLL_CONNECT,
    COLL_DISCONNECT,
    COLL_GROUP,
    COLL_UNGROUP,
    COLL_KINDS
};

struct coll_id {
    enum coll_kind kind;
    uint32_t job;      /* FENCE, RING: its number */
    struct slice name; /* FENCE: the group; GROUP, UNGROUP: the group's name; else empty */
    const struct member *members; /* to be written: ascending, each once */
    uint32_t nmembers;
};

/* Out of memory poisons the buffer. */
void coll_id_write(const struct coll_id *id, struct buf *out);

/* False: not an identity.  Members are checked and counted, but not kept. */
bool coll_id_read(struct slice text, struct coll_id *id_p);

/* The kind and name of a collective across jobs, by the purpose given in a request: "connect",
 * "group NAME". False: no such purpose. */
bool coll_id_purpose(struct slice purpose, struct coll_id *id_p);

static inline bool coll_kind_is_meeting(enum coll_kind kind)
{
    return kind >= COLL_MEET_FENCE && kind < COLL_KINDS;
}

/* For people: "connect one.4 two.*"; a text that is no identity is shown as it is. */
void coll_id_show(struct slice text, struct buf *out);

#endif
