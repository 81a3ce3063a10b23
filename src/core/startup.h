/* startup.h - where the time of a job's start goes, as one node sees it: the times of its
 * processes' steps, and their summary, from which the launcher makes a report (startup_report.h).
 *
 * Nothing is recorded unless the user asked for it.  All times are of the node's own clock, given
 * by the caller.
 */
#ifndef WIREUP_CORE_STARTUP_H
#define WIREUP_CORE_STARTUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct request;

struct job;

/* In the course of one process. */
enum startup_point {
    STARTUP_STARTED,
    STARTUP_INIT,
    STARTUP_FIRST, /* it has entered the first fence of the whole job */
    STARTUP_PUT,   /* its last put before the exchange */
    STARTUP_FENCE, /* it has entered the exchange's fence */
    STARTUP_FINALIZE,
    STARTUP_GONE,
    STARTUP_LAST_PUT,   /* while it is not known whether it belongs to the exchange */
    STARTUP_LAST_FENCE, /* likewise; 0: it has not entered the next fence */
    STARTUP_POINTS
};

/* The exchange of addresses is the last of the first few fences before which a process here has put
 * something (MPI_Init may begin with fences that bring nothing); or the first, when no process
 * puts. */
struct startup {
    uint32_t job;
    uint32_t *ranks; /* of this node, ascending */
    uint32_t count;
    uint64_t (*times)[STARTUP_POINTS]; /* by index in ranks; 0: not yet */
    uint64_t linked_ns, known_ns;      /* this node was linked; it received the job */
    uint32_t entered;                  /* how many have entered the fence in progress */
    uint32_t fences,
        exchange; /* fences completed; which of them is the exchange, from 1 (0: none) */
    uint64_t first_left_ns, left_ns; /* the first, and the exchange, completed */
    bool fresh;                      /* something was put since the last fence */
    uint64_t bytes, exchanged;       /* of keys and values put: in all; up to the exchange */
};

/* 0 or -ENOMEM; for the processes of j on this node. */
int startup_open(struct startup *s, const struct job *j);
void startup_close(struct startup *s); /* harmless twice, and on zeroed memory */

/* Ignores ranks of other nodes. */
void startup_note(struct startup *s, uint32_t rank, enum startup_point p, uint64_t now_ns);
void startup_request(struct startup *s, uint32_t rank, const struct request *rq, uint64_t now_ns);

/* All answers are given.  True: a fence of the whole job is over, and it was the first, or brought
 * something: it is worth reporting. */
bool startup_look(struct startup *s, const struct job *j, uint64_t now_ns);

/* ---- summary --------------------------------------------------------------------------------- */

/* A phase: from one point to another of one process, or of the node. */
enum startup_span {
    SPAN_SPAWN,      /* the node received the job .. its last process is started */
    SPAN_PROGRAM,    /* a process is started .. its init */
    SPAN_FIRST,      /* init .. first fence entered */
    SPAN_FIRST_LEFT, /* .. left */
    SPAN_PUT,        /* init, or first fence left if the exchange is later .. last put */
    SPAN_ENTER,      /* .. fence of the exchange entered */
    SPAN_FENCE,      /* .. left */
    SPAN_END,        /* finalize .. gone */
    STARTUP_SPANS
};

enum { STARTUP_NODE = UINT32_MAX }; /* in place of a rank: the node itself */

struct startup_times {
    uint32_t count;
    uint64_t begun, ended; /* of the first to begin, of the last to end */
    uint64_t shortest, median, longest;
    uint32_t who_shortest, who_longest, who_last;
};

/* A daemon that this node has started; 0: not known. */
struct startup_guest {
    uint32_t position;
    uint64_t asked, runs, up;
};

struct startup_part {
    uint64_t linked, known, now;
    uint64_t bytes, exchanged, fences; /* as above; fences: all of the whole job so far */
    uint32_t exchange, put;            /* as above; how many processes have put something */
    bool ended;                        /* all its processes have ended */
    struct startup_times spans[STARTUP_SPANS];
    uint32_t nguests;
    struct startup_guest *guests; /* the caller's */
};

/* Fills all but the guests.  0 or -ENOMEM. */
int startup_sum_up(const struct startup *s, const struct job *j, uint64_t now_ns,
                   struct startup_part *p);

/* Running out of memory poisons the buffer. */
void startup_part_write(const struct startup_part *p, struct buf *out);
/* The guests lie in the arena.  False: the bytes are malformed (or there is no memory). */
bool startup_part_read(struct slice bytes, struct arena *a, struct startup_part *p);

#endif
