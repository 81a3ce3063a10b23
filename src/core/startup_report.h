/* startup_report.h - where the time of a job's start went, over all nodes: what each has summed up
 * (startup.h), and what the launcher knows by itself, as a table for people or JSON for programs.
 *
 * A phase is a time between two points of one process or node, so that it is measured on one clock,
 * and who comes late because of others is not blamed.  To show when it was, the clocks of nodes are
 * set to the launcher's by messages that went anyway: a daemon's clock stands so that what it has
 * said was said before it was heard here, and the other way round; the middle is taken, and half of
 * the difference is how wrong that may be.
 */
#ifndef WIREUP_CORE_STARTUP_REPORT_H
#define WIREUP_CORE_STARTUP_REPORT_H

#include "core/startup.h"

/* What is known of one node; its clock is ahead of ours by something from `least` to `most`. */
struct startup_node {
    bool told; /* its part is here */
    uint64_t ready_ns;
    int64_t least, most;
    struct startup_part part;
};

/* The launcher's own times, by its clock.  0: not yet. */
struct startup_own {
    uint64_t begun;         /* its first instruction */
    uint64_t planned;       /* it knows what is to run, and where */
    uint64_t open;          /* it can be spoken to */
    uint64_t announced;     /* nodes were told of the job */
    uint64_t ended;         /* all processes had gone */
    uint64_t daemons_ended; /* all daemons had */
    uint64_t gone;          /* it has nothing to do any more */
};

struct startup_report {
    struct arena arena;
    struct startup_own own;
    struct startup_node *nodes; /* by position */
    uint32_t count;
    const char *const *names; /* by position; the caller's, or NULL */
    const char *here;         /* our own, when that is not among them */
    uint32_t nprocs, nnodes;  /* of the job */
};

/* For so many positions.  0 or -ENOMEM. */
int startup_report_open(struct startup_report *r, uint32_t count);
void startup_report_close(struct startup_report *r); /* harmless twice, and on zeroed memory */

/* The daemon there has said that it is linked. */
void startup_report_ready(struct startup_report *r, uint32_t position, uint64_t now_ns);
/* Its part (0: our own), which takes the place of an earlier one.  False: it is none. */
bool startup_report_add(struct startup_report *r, uint32_t position, struct slice part,
                        uint64_t now_ns);

/* As far as can be known: no more is to be expected of the start. */
bool startup_report_is_over(const struct startup_report *r);

/* Running out of memory poisons the buffer.  The start: lines, or one line of JSON. */
void startup_report_start(const struct startup_report *r, bool json, struct buf *out);
/* … and the end. */
void startup_report_end(const struct startup_report *r, bool json, struct buf *out);

#endif
