/* collective.h - collectives: which members have arrived, and which are missing.
 *
 * A collective has an identity (coll_id.h; in a set: its name) and a generation (the n-th use of
 * that name). Arrivals are a set of ranks, never a count, so a second arrival of the same rank
 * belongs to the next generation, two in a row cannot mix, and missing ranks can be named.
 *
 * One struct collective is one generation (a round); a struct collective_set holds those that are
 * pending in one job.  Each arrival leaves a ticket (the caller's own number), given back when all
 * have arrived.
 *
 * An arrival may have a deadline.  When it passes, the arrival is withdrawn: its ticket comes back
 * alone, the others go on waiting, and the member is missing again, marked as withdrawn.  If it
 * arrives once more, it enters the same round, so a retry joins the others.
 *
 * When the round is over meanwhile, because its node had contributed, its result is owed to the
 * withdrawn member: that answers the retry.
 *
 * Of a group that is spread over nodes, `members` are those of this node.  A round that is complete
 * here is on the `contributed` list until the other nodes have contributed; generations are counted
 * as long as the set lives, so that every node gives a round the same number.
 */
#ifndef WIREUP_CORE_COLLECTIVE_H
#define WIREUP_CORE_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"
#include "core/coll_id.h"

enum { COLLECTIVE_WAYS = 64 };

/* The ticket of a member that has ended and is left out (coll_kind_is_flexible): nobody waits for
 * its answer. */
#define COLLECTIVE_ABSENT UINT64_MAX

struct collective {
    struct list link;           /* in the group's rounds, oldest first */
    uint64_t generation;        /* from 0 */
    uint64_t since_ns;          /* the first arrival */
    uint32_t arrived;           /* how many bits of `here` are set */
    uint64_t number;            /* the caller's own */
    bool contributed;           /* complete here; withdrawn members may still come again */
    bool asked;                 /* the nodes of members that had ended have been asked */
    bool collect;               /* a participant wants the others' data */
    char ways[COLLECTIVE_WAYS]; /* exchange methods, as the first participant that named some gave
                                   them */
    uint64_t *here;             /* by member position */
    uint64_t *tickets;          /* by member position */
    void **notes;        /* by member position: malloc'ed data of each arrival; NULL: nothing */
    uint64_t *deadlines; /* by member position, UINT64_MAX: none; NULL: no member has any */
    uint64_t *withdrawn; /* by member position, bits: arrived and withdrew; allocated with the
                            deadlines */
    struct collective_group *group;
};

/* One name, while any round of it is pending (the group of the whole job: for ever). */
struct collective_group {
    struct list link; /* in the set */
    enum coll_kind kind;
    char *name;        /* "WORLD:0", "NODE:7@2", "0,3:12" */
    uint32_t *members; /* ranks, ascending; NULL: all of 0..count-1 */
    uint32_t count;
    uint64_t generation; /* of the next round */
    struct list rounds;
    struct list contributed; /* rounds that wait for other nodes */
    struct list owed;        /* rounds that are over, for members that had withdrawn from them */
    bool keep;
    bool spread;   /* some members are on other nodes: */
    uint32_t *all; /* members on all nodes, ascending; NULL: 0..nall-1 */
    uint32_t nall;
    uint64_t ncontributed; /* earlier rounds that have been contributed to */
};

struct collective_set {
    struct map groups;   /* by name */
    struct list all;     /* of struct collective_group */
    uint64_t due;        /* no deadline passes before this; UINT64_MAX: there is none */
    struct list past;    /* generations of spread groups without a pending round */
    struct map counters; /* the same, by name */
    uint64_t first;      /* the least generation of new groups */
};

enum { COLLECTIVE_OK = 0, COLLECTIVE_WAITING, COLLECTIVE_NOT_MEMBER, COLLECTIVE_OVER };

void collective_set_init(struct collective_set *s, uint64_t seed);
void collective_set_free(struct collective_set *s);

/* Finds the group or makes it; members are copied, NULL means 0..count-1. 0, or -ENOMEM. An
 * existing group keeps its members. */
int collective_group_get(struct collective_set *s, struct slice name, const uint32_t *members,
                         uint32_t count, bool keep, struct collective_group **group_p);

/* The same for a group that is spread: `mine` of this node, `all` (NULL: 0..nall-1) everywhere. */
int collective_group_get_spread(struct collective_set *s, struct slice name, const uint32_t *mine,
                                uint32_t count, const uint32_t *all, uint32_t nall, bool keep,
                                struct collective_group **group_p);

/* A spread group without a pending round has these members on this node from now on.  0, or
 * -ENOMEM: nothing has changed. */
int collective_group_move(struct collective_group *g, const uint32_t *mine, uint32_t count);

/* Rank enters the group's oldest round where it is still missing.  COLLECTIVE_WAITING: the ticket
 * is kept, in *coll_p, which waits for others.  COLLECTIVE_OK: all have arrived: *coll_p is the
 * complete round, unlinked, with every ticket; the caller frees it with collective_free(), which
 * also drops the group when nothing of it is pending.  COLLECTIVE_OVER: it had withdrawn from
 * *coll_p, which has ended without it; collective_paid() follows. */
int collective_enter(struct collective_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
                     struct collective **coll_p);

/* The same, with a note (malloc'ed), which the round owns once 0 is returned. */
int collective_enter_with(struct collective_group *g, uint32_t rank, uint64_t ticket,
                          uint64_t now_ns, void *note, struct collective **coll_p);

/* The arrival of rank that left this ticket waits until deadline_ns.  0 or -ENOMEM. */
int collective_wait_until(struct collective_set *s, struct collective_group *g, uint32_t rank,
                          uint64_t ticket, uint64_t deadline_ns);

/* Withdraws one arrival whose deadline has passed; false: there is none, and s->due is exact. */
bool collective_withdraw_late(struct collective_set *s, uint64_t now_ns, uint32_t *rank_p,
                              uint64_t *ticket_p);

/* It arrived, its deadline passed, and it has not come again. */
bool collective_has_withdrawn(const struct collective *c, uint32_t position);
/* A complete round of a spread group waits for the other nodes. */
void collective_contributed(struct collective *c);
/* A round that collective_take_contributed() gave is over, and its waiting members are answered: it
 * is freed, or kept for those that had withdrawn. */
void collective_over(struct collective_set *s, struct collective *c);
void collective_paid(struct collective_set *s, struct collective *c);
/* The other nodes have contributed: the round, unlinked; NULL: it is not waiting (any more). */
struct collective *collective_take_contributed(struct collective_set *s, struct slice name,
                                               uint64_t generation);
/* The pending round, wherever it waits; NULL: there is none. */
struct collective *collective_find(const struct collective_set *s, struct slice name,
                                   uint64_t generation);
/* Whether this node has contributed to the round, or will without another arrival of rank. */
bool collective_has_contributed(const struct collective_set *s, struct slice name,
                                uint64_t generation, uint32_t rank);
/* Takes a round that has not been completed, whichever list it is on. */
struct collective *collective_take(struct collective_set *s, struct slice name,
                                   uint64_t generation);
/* Rank takes part, on this node or another. */
bool collective_includes(const struct collective_group *g, uint32_t rank);

/* For merged reports of several nodes (who_part.h): the round of this generation, made if need be;
 * and the arrival of a member, which completes nothing.  NULL: no memory. */
struct collective *collective_round(struct collective_group *g, uint64_t generation,
                                    uint64_t since_ns);
void collective_note_arrival(struct collective *c, uint32_t member);
/* A member that is missing had arrived, and timed out.  False: no memory. */
bool collective_note_withdrawal(struct collective *c, uint32_t member);

/* Takes the oldest round that cannot complete because rank has ended; NULL: there is none. */
struct collective *collective_take_broken(struct collective_set *s, uint32_t rank);
/* Takes a round, contributed or not, of a group with one of these ranks; NULL: there is none. */
struct collective *collective_take_with(struct collective_set *s, uint32_t first, uint32_t count);
/* A round of a flexible group where rank is still missing; NULL: there is none. */
struct collective *collective_lacking(const struct collective_set *s, uint32_t rank);

/* Whether an arrival waits for rank in some round.  (A round that all have withdrawn from has
 * none.) */
bool collective_is_awaited(const struct collective_set *s, uint32_t rank);

/* Withdraws an arrival of rank from a round that cannot complete; false: there is none (any more).
 */
bool collective_withdraw_rank(struct collective_set *s, uint32_t rank, uint64_t *ticket_p);

/* The pending round that rank would enter next; NULL: a new one. */
struct collective *collective_next(const struct collective_group *g, uint32_t rank);

/* The next round of rank has been contributed to already, or is over: it needs no arrival on this
 * node any more. */
bool collective_is_behind(const struct collective_group *g, uint32_t rank);

/* A pending round of any group, unlinked; NULL: there is none. */
struct collective *collective_take_any(struct collective_set *s);
/* There is no pending round.  All groups, past and future ones, go on with this generation, which
 * is above all earlier ones; what is owed to members that had withdrawn is forgotten. */
void collective_set_renew(struct collective_set *s, uint64_t generation);

/* The groups that are asked for from now on go on with that generation at least. */
void collective_set_begin_at(struct collective_set *s, uint64_t generation);
/* What is owed to members that had withdrawn is forgotten, of groups with one of these ranks. */
void collective_forget_owed(struct collective_set *s, uint32_t first, uint32_t count);

void collective_free(struct collective_set *s, struct collective *c);

/* Drops a group without arrivals (unless it is kept); for callers whose entry failed. */
void collective_group_drop_idle(struct collective_set *s, struct collective_group *g);

/* The identity of a round among all nodes: of one job, or (job is ignored) of a collective across
 * jobs.  It lends the group's name. */
struct coll_id collective_id(const struct collective *c, uint32_t job);

/* Position of rank among the members, or -1. */
int64_t collective_position(const struct collective_group *g, uint32_t rank);
uint32_t collective_member(const struct collective_group *g, uint32_t position);
bool collective_is_here(const struct collective *c, uint32_t position);

#endif
