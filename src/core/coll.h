/* coll.h - collectives: who has arrived, and who is missing.
 *
 * A collective has an identity (coll_id.h; in a set: its name) and a generation (the n-th use of
 * that name).  Arrivals are a set of ranks, never a count, so a second arrival of the same rank
 * belongs to the next generation, two in a row cannot mix, and the missing ones have names.
 *
 * One struct coll is one generation; a struct coll_set holds those that are pending in one job.
 * Each arrival leaves a ticket (the caller's own number), given back when all are there.
 *
 * An arrival may have a deadline.  When it passes, the arrival is withdrawn: its ticket comes back
 * alone, the others go on waiting, and the member is missing again; it is remembered that it was
 * here.  If it comes once more, it is in the same round, so one that tries again meets the others.
 *
 * Where the round is over meanwhile, because its node had contributed, what it owes it is its end:
 * that answers who comes again.
 *
 * Of a group that is spread over nodes, `members` are those of this node.  A round that is complete
 * here stands among the `contributed` until the others are heard of; generations are counted as
 * long as the set lives, so that every node gives a round the same number.
 */
#ifndef WIREUP_CORE_COLL_H
#define WIREUP_CORE_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"

enum { COLL_WAYS = 64 };

struct coll {
    struct list link;     /* in the group's rounds, oldest first */
    uint64_t generation;  /* from 0 */
    uint64_t since_ns;    /* the first arrival */
    uint32_t arrived;     /* how many bits of `here` are set */
    uint64_t number;      /* what the caller wants to remember of it */
    bool contributed;     /* complete here; who withdraws may still come again */
    bool collect;         /* somebody wants what the others have put */
    char ways[COLL_WAYS]; /* how it should be exchanged, as the first said who said so */
    uint64_t *here;       /* by member position */
    uint64_t *tickets;    /* by member position */
    void **notes;         /* by member position: what each left besides, malloc'ed; NULL: nothing */
    uint64_t *deadlines;  /* by member position, UINT64_MAX: none; NULL: nobody has any */
    uint64_t *withdrawn;  /* by member position, bits: was here and left; made with the deadlines */
    struct coll_group *group;
};

/* One name, while anything of it is pending (the group of everybody: for ever). */
struct coll_group {
    struct list link;  /* in the set */
    char *name;        /* "WORLD:0", "NODE:7@2", "0,3:12" */
    uint32_t *members; /* ranks, ascending; NULL: all of 0..count-1 */
    uint32_t count;
    uint64_t generation; /* of the next round to be opened */
    struct list rounds;
    struct list contributed; /* rounds that wait for other nodes */
    struct list owed;        /* rounds that are over, for those who had withdrawn from them */
    bool keep;
    bool spread;   /* others are elsewhere: */
    uint32_t *all; /* everybody, ascending; NULL: 0..nall-1 */
    uint32_t nall;
    uint64_t ncontributed; /* rounds before this one that have been contributed to */
};

struct coll_set {
    struct map groups;   /* by name */
    struct list all;     /* of struct coll_group */
    uint64_t due;        /* no deadline passes before; UINT64_MAX: there is none */
    struct list past;    /* generations of groups that are spread, and that nothing is pending of */
    struct map counters; /* the same, by name */
};

enum { COLL_OK = 0, COLL_WAITING, COLL_NOT_MEMBER, COLL_OVER };

void coll_set_init(struct coll_set *s, uint64_t seed);
void coll_set_free(struct coll_set *s);

/* Finds the group or makes it; members are copied, NULL means 0..count-1.
 * 0, or -ENOMEM.  A group that exists keeps the members it has. */
int coll_group_get(struct coll_set *s, struct slice name, const uint32_t *members, uint32_t count,
                   bool keep, struct coll_group **group_p);

/* The same for a group that is spread: `mine` of this node, `all` (NULL: 0..nall-1) everywhere. */
int coll_group_get_spread(struct coll_set *s, struct slice name, const uint32_t *mine,
                          uint32_t count, const uint32_t *all, uint32_t nall, bool keep,
                          struct coll_group **group_p);

/* Rank enters the group's oldest round where it is still missing.  COLL_WAITING: the ticket is
 * kept, in *coll_p, which waits for others.  COLL_OK: all are there: *coll_p is the complete round,
 * unlinked, with every ticket; the caller frees it with coll_free(), which also drops the group
 * when nothing of it is pending.  COLL_OVER: it had withdrawn from *coll_p, which has come to its
 * end without it; coll_paid() follows. */
int coll_enter(struct coll_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
               struct coll **coll_p);

/* The same, leaving a note (malloc'ed), which is the round's once 0 is returned. */
int coll_enter_with(struct coll_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
                    void *note, struct coll **coll_p);

/* The arrival of rank that left this ticket waits until deadline_ns.  0 or -ENOMEM. */
int coll_wait_until(struct coll_set *s, struct coll_group *g, uint32_t rank, uint64_t ticket,
                    uint64_t deadline_ns);

/* Withdraws one arrival whose deadline has passed; false: there is none, and s->due is exact. */
bool coll_withdraw_late(struct coll_set *s, uint64_t now_ns, uint32_t *rank_p, uint64_t *ticket_p);

/* It was here, waited in vain, and has not come again. */
bool coll_has_withdrawn(const struct coll *c, uint32_t position);
/* A complete round of a group that is spread waits for the other nodes. */
void coll_contributed(struct coll *c);
/* A round that coll_take_contributed() gave has come to its end, and who was there is answered: it
 * goes, or stays for those who had withdrawn. */
void coll_over(struct coll_set *s, struct coll *c);
void coll_paid(struct coll_set *s, struct coll *c);
/* The others are heard of: the round, unlinked; NULL: it is not waiting (any more). */
struct coll *coll_take_contributed(struct coll_set *s, struct slice name, uint64_t generation);
/* Whether this node has contributed to the round, or will without any more of rank. */
bool coll_has_contributed(const struct coll_set *s, struct slice name, uint64_t generation,
                          uint32_t rank);
/* Takes a round that has not been completed, wherever it stands. */
struct coll *coll_take(struct coll_set *s, struct slice name, uint64_t generation);
/* Rank takes part, here or elsewhere. */
bool coll_includes(const struct coll_group *g, uint32_t rank);

/* For pictures of several nodes (who_part.h): the round of this generation, made if need be; and
 * the arrival of a member, which completes nothing.  NULL: no memory. */
struct coll *coll_round(struct coll_group *g, uint64_t generation, uint64_t since_ns);
void coll_note_arrival(struct coll *c, uint32_t member);

/* Takes the oldest round that cannot complete because rank has gone; NULL when there is none. */
struct coll *coll_take_broken(struct coll_set *s, uint32_t rank);

/* Somebody waits for rank in some round.  (A round that all have withdrawn from has nobody.) */
bool coll_is_awaited(const struct coll_set *s, uint32_t rank);

/* Withdraws an arrival of rank from a round that it could still wait in vain for; false: there is
 * none (any more). */
bool coll_withdraw_rank(struct coll_set *s, uint32_t rank, uint64_t *ticket_p);

/* What rank would enter now has been contributed to already, or is over: it needs nobody's arrival
 * on this node any more. */
bool coll_is_behind(const struct coll_group *g, uint32_t rank);

void coll_free(struct coll_set *s, struct coll *c);

/* Drops a group that nobody has entered (and that is not kept); for callers whose entry failed. */
void coll_group_drop_idle(struct coll_set *s, struct coll_group *g);

/* Position of rank among the members, or -1. */
int64_t coll_position(const struct coll_group *g, uint32_t rank);
uint32_t coll_member(const struct coll_group *g, uint32_t position);
bool coll_is_here(const struct coll *c, uint32_t position);

#endif
