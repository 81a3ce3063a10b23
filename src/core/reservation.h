/* reservation.h - which nodes of a launcher are reserved, by whom, and until when.
 *
 * A reservation is made of whole nodes.  A node belongs to one reservation at most; those of none
 * are for jobs that name no reservation.  Nodes where fewest processes run are given first; a node
 * where some run can be given, and they go on.  Who has made a reservation owns it: a job, or a
 * tool (its number as a job).
 *
 * Nodes that the owner gives back one by one are lent: anybody may have them, and the owner can
 * take them back when they are free.
 *
 * No clock and no descriptor: times come in as arguments.
 */
#ifndef WIREUP_CORE_RESERVATION_H
#define WIREUP_CORE_RESERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/slice.h"
#include "core/answer.h"

/* Directives of a request besides those of PMIx_Allocation_request: of PMIx_Session_control. */
enum {
    RESERVATION_SIGNAL = 192, /* to all its jobs */
    RESERVATION_TERMINATE,    /* its jobs, and it ends */
    RESERVATION_COMPLETE,     /* it ends, if no job of it runs */
    RESERVATION_PREEMPT,      /* its jobs stop, and its nodes are lent */
    RESERVATION_RESTORE       /* they are taken back, and its jobs go on */
};

struct reservation {
    struct list link;
    uint32_t number;      /* of the session; from 1 on */
    char *id;             /* "NAME-alloc-NUMBER" */
    char *req_id;         /* the owner's own word for it, unique among its own; or NULL */
    uint32_t owner;       /* number of a job */
    uint64_t deadline_ns; /* UINT64_MAX: none */
};

struct reservation_node {
    char *name;
    uint32_t slots;
    uint32_t busy; /* processes there; the caller counts them before a request */
    bool lost;     /* likewise */
    bool visits;   /* it has joined for a reservation, and leaves when it is in none any more */
    const struct reservation *of, *lent_by; /* or NULL */
};

struct reservations {
    struct list all; /* the oldest first */
    struct reservation_node *nodes;
    uint32_t nnodes, last;
};

/* What a request wants.  Without a list of nodes any may be given.  Names are separated by commas.
 */
struct reservation_wish {
    uint32_t owner;
    struct slice id; /* of a new one; empty: it is given one */
    struct slice req_id;
    uint64_t num_nodes, num_cpus; /* 0: not said */
    struct slice nodes, exclude;
    uint64_t duration_ns, now_ns; /* 0: no limit */
};

/* 0 or -ENOMEM; the nodes have no names yet. */
int reservations_open(struct reservations *r, uint32_t nnodes);
int reservations_name_node(struct reservations *r, uint32_t node, const char *name, uint32_t slots);
/* One more, behind the others.  0 or -ENOMEM. */
int reservations_add_node(struct reservations *r, const char *name, uint32_t slots);
void reservations_close(struct reservations *r); /* harmless twice, and on zeroed memory */

/* OK; OVER_QUOTA: there are not enough free nodes; NOT_FOUND: a node is unknown; DUPLICATE: the
 * owner has one with that req_id, or there is one with that id; BAD_VALUE: nothing is wanted;
 * NO_MEMORY. */
enum answer_status reservation_make(struct reservations *r, const char *name,
                                    const struct reservation_wish *w, struct reservation **made_p);

/* More nodes, more time (from the deadline on), or both.  As above; nothing changes on a failure.
 */
enum answer_status reservation_extend(struct reservations *r, struct reservation *of,
                                      const struct reservation_wish *w);

/* Lends these nodes.  NOT_FOUND: one is not in it. */
enum answer_status reservation_lend(struct reservations *r, struct reservation *of,
                                    struct slice nodes);

/* Takes all lent nodes back.  OVER_QUOTA: others have one; nothing changes.  NOT_FOUND: none is
 * lent. */
enum answer_status reservation_reacquire(struct reservations *r, struct reservation *of);

/* Ends it: its nodes are free. */
void reservation_end(struct reservations *r, struct reservation *of);

/* By its id, or number, or the req_id that this owner has given it; empty and 0: not said.  NULL:
 * there is none, or none is said. */
struct reservation *reservation_find(const struct reservations *r, struct slice id, uint32_t number,
                                     struct slice req_id, uint32_t owner);

/* The one whose time ends first, if it has one; NULL. */
struct reservation *reservation_first_due(const struct reservations *r);

/* The reservation of a node; NULL: none, or the node is unknown. */
const struct reservation *reservation_of(const struct reservations *r, struct slice node);

/* How many are left, rounded up; without a limit 0. */
uint32_t reservation_seconds(const struct reservation *of, uint64_t now_ns);

/* These nodes of a reservation visit. */
void reservation_visits(struct reservations *r, const struct reservation *of, struct slice nodes);
/* Appends the names of nodes that visit, and are in no reservation any more; they are the caller's,
 * and forgotten: until they are marked again they do not visit. */
void reservation_leavers(struct reservations *r, struct buf *out);

/* The names of its nodes, separated by commas; returns their number. */
uint32_t reservation_list(const struct reservations *r, const struct reservation *of,
                          struct buf *out);

#endif
