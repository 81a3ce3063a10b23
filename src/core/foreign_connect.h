/* foreign_connect.h - connects, fences and disconnects with processes of other launchers.
 *
 * One launcher decides about each: that of the member whose namespace is the first one.  The others
 * pass the calls of their processes on to it, so all get one outcome:
 *
 *   - It is complete when all members have called.
 *   - It fails for all when a member ends before, or its launcher is lost.
 *   - A call whose time-out passes is withdrawn, and its caller is missing again.
 *
 * The functions of a process's node come first, then the table of the launcher that decides.
 */
#ifndef WIREUP_CORE_FOREIGN_CONNECT_H
#define WIREUP_CORE_FOREIGN_CONNECT_H

#include "base/list.h"
#include "core/coll_id.h"
#include "core/core_call.h"

/* ---- requests -------------------------------------------------------------------------------- */

/* It is one of these three, and names a process of a job that is none of this launcher's. */
bool foreign_connect_is_meant(const struct core *c, const struct request_collective *rq);
/* The first member that is none of this launcher's, or NULL. */
const struct member *foreign_connect_stranger(const struct core *c,
                                              const struct request_collective *rq);
/* LATER: EFFECT_foreign_connect, with the modex values of the caller; or NO_MEMORY. */
enum answer_status foreign_connect_ask(const struct core_call *k);

/* ---- members --------------------------------------------------------------------------------- */

/* As the name of the group lists them: sorted, each once.  They borrow from the name. */
struct foreign_members {
    enum coll_kind kind; /* COLL_CONNECT, COLL_DISCONNECT or COLL_MEET_FENCE */
    struct member *all;
    uint32_t n;
};

/* False: not such a name, or no memory. */
bool foreign_members_read(struct slice group, struct foreign_members *m_p);
void foreign_members_free(struct foreign_members *m);

/* ---- the table ------------------------------------------------------------------------------- */

struct foreign_call {
    struct list link; /* the table's */
    uint64_t ticket, deadline_ns;
    uint32_t from; /* the launcher of the caller, by the host's number; 0: this one */
    uint32_t rank;
    struct slice nspace, block; /* of the caller */
    char bytes[];
};

struct foreign_meeting {
    struct list link;
    struct list calls; /* in the order of their arrival */
    uint32_t ncalls;
    struct foreign_members members;
    struct slice group;
    char bytes[];
};

struct foreign_connects_calls {
    /* All members have called; the answers follow. */
    void (*complete)(void *arg, const struct foreign_meeting *m);
    void (*answer)(void *arg, const struct foreign_call *k, enum answer_status status);
};

struct foreign_connects {
    const struct core *core;
    struct list all;
    struct foreign_connects_calls calls;
    void *arg;
};

void foreign_connects_open(struct foreign_connects *t, const struct core *c,
                           const struct foreign_connects_calls *calls, void *arg);
void foreign_connects_close(struct foreign_connects *t); /* answers nobody */

/* A call, whose texts are copied; the job of each member is known.  `answer` follows, now or later:
 * OK, FAILED (a member has ended), LOST, TIMEOUT, BAD_KEY (no member, or it calls twice),
 * NO_MEMORY.
 */
void foreign_connects_enter(struct foreign_connects *t, struct slice group,
                            const struct foreign_call *k);

/* The process has ended, or takes part in nothing any more. */
void foreign_connects_gone(struct foreign_connects *t, struct slice nspace, uint32_t rank);

/* That launcher is lost (or its job has ended): its calls are dropped; what has members that are
 * not known any more fails. */
void foreign_connects_lost(struct foreign_connects *t, uint32_t from);

/* Withdraws late calls; returns the next deadline, or UINT64_MAX. */
uint64_t foreign_connects_tick(struct foreign_connects *t, uint64_t now_ns);

#endif
