/* coll_id.h - the identity of a collective: its kind, its job, its group and its generation.
 *
 * It is unique: equal on all participating nodes, and shared with no other collective.  The group
 * of one job is named as in job_fence.c.  The group of several jobs is named by the purpose
 * of the collective and by its members: in that name every foreign name (groups, namespaces)
 * follows its length, so that two are equal only if all parts are:
 *
 *     KIND LENGTH:NAME LENGTH:NAMESPACE.RANK ...  members ascending, '*' for all
 *
 * Between nodes all but the generation is one text, by which the overlay tells collectives apart:
 * that name, or
 *
 *     fence JOB LENGTH:GROUP
 *     ring JOB
 */
#ifndef WIREUP_CORE_COLL_ID_H
#define WIREUP_CORE_COLL_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "core/answer.h"

enum coll_kind {
    COLL_FENCE,
    COLL_RING,
    /* of several jobs */
    COLL_MEET_FENCE,
    COLL_CONNECT,
    COLL_DISCONNECT,
    COLL_GROUP,
    COLL_UNGROUP,
    COLL_GROUP_OPTIONAL, /* a group that is formed without members that have ended */
    COLL_KINDS
};

/* The ring's name among the groups of a job; no fence can have it. */
#define JOB_RING "RING"

struct coll_id {
    enum coll_kind kind;
    uint32_t job;       /* FENCE, RING: its number; of several jobs: 0 */
    struct slice group; /* its name in the set of its job, or of several jobs */
    uint64_t generation;
};

/* The parts of the name of a group of several jobs. */
struct coll_meeting {
    enum coll_kind kind;
    struct slice name;            /* GROUP, UNGROUP, GROUP_OPTIONAL: the group's name; else empty */
    const struct member *members; /* to be written: ascending, each once */
    uint32_t nmembers;
};

/* Sorts the members as a name has them, without repeats: how many are left. */
uint32_t coll_meeting_sort(struct member *members, uint32_t n);

/* Out of memory poisons the buffer. */
void coll_meeting_write(const struct coll_meeting *m, struct buf *out);
/* False: not a name of such a group.  Members are checked and counted, but not kept. */
bool coll_meeting_read(struct slice group, struct coll_meeting *m_p);

/* The members of such a name, as many as coll_meeting_read() has counted. */
void coll_meeting_members(struct slice group, struct member *members);

/* The kind and name of a collective across jobs, by the purpose given in a request: "connect",
 * "group NAME". False: no such purpose. */
bool coll_id_purpose(struct slice purpose, struct coll_meeting *m_p);

/* The text for other nodes.  Out of memory poisons the buffer. */
void coll_id_write(const struct coll_id *id, struct buf *out);
/* With that generation; the group borrows from the text.  False: not an identity. */
bool coll_id_read(struct slice text, uint64_t generation, struct coll_id *id_p);

bool coll_id_same(const struct coll_id *a, const struct coll_id *b);

const char *coll_kind_name(enum coll_kind kind); /* "fence" */
bool coll_kind_find(struct slice name, enum coll_kind *kind_p);

static inline bool coll_kind_is_meeting(enum coll_kind kind)
{
    return kind >= COLL_MEET_FENCE && kind < COLL_KINDS;
}

/* Members that end without taking part are left out; other collectives fail with them. */
static inline bool coll_kind_is_flexible(enum coll_kind kind)
{
    return kind == COLL_UNGROUP || kind == COLL_GROUP_OPTIONAL;
}

/* The name of a group for people: "connect one.4 two.*"; of one job it is shown as it is. */
void coll_group_show(struct slice group, struct buf *out);

#endif
