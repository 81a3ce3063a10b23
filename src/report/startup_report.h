/* startup_report.h - where the time of a job's start went, over all nodes: each node's summary
 * (startup.h) and the launcher's own times, as a table for people or JSON for programs.
 *
 * A phase is the time between two points of one process or node, so that it is measured on one
 * clock, and a process that is late because of others is not blamed.  To place phases in time, the
 * nodes' clocks are aligned to the launcher's by messages that are sent anyway: a daemon's message
 * was sent before it was received here, and the other way round; the middle of the two bounds is
 * taken, and half of their difference is the possible error.
 */
#ifndef WIREUP_REPORT_STARTUP_REPORT_H
#define WIREUP_REPORT_STARTUP_REPORT_H

#include "core/startup.h"

/* The times of one node; its clock is ahead of this one's by something from `least` to `most`.
 */
struct startup_node {
    bool has_part; /* its part has arrived */
    uint64_t ready_ns;
    int64_t least, most;
    struct startup_part part;
};

/* The launcher's own times, by its clock.  0: not yet. */
struct startup_own {
    uint64_t begun;         /* its first instruction */
    uint64_t planned;       /* the processes to run, and their nodes, are known */
    uint64_t open;          /* it accepts requests */
    uint64_t announced;     /* nodes were sent the job */
    uint64_t ended;         /* all processes had ended */
    uint64_t daemons_ended; /* all daemons had ended */
    uint64_t gone;          /* it has nothing to do any more */
};

struct startup_report {
    struct arena arena;
    struct startup_own own;
    struct startup_node *nodes; /* by position */
    uint32_t count;
    const char *const *names; /* by position; the caller's, or NULL */
    const char *here;         /* this node's, when it is not among them */
    uint32_t nprocs, nnodes;  /* of the job */
};

/* For that many positions.  0 or -ENOMEM. */
int startup_report_open(struct startup_report *r, uint32_t count);
void startup_report_close(struct startup_report *r); /* harmless twice, and on zeroed memory */

/* The daemon at that position has reported that it is linked. */
void startup_report_ready(struct startup_report *r, uint32_t position, uint64_t now_ns);
/* Its part (position 0: this node's), which replaces an earlier one.  False: it is malformed. */
bool startup_report_add(struct startup_report *r, uint32_t position, struct slice part,
                        uint64_t now_ns);

/* As far as can be known: nothing more of the start is expected. */
bool startup_report_is_over(const struct startup_report *r);

/* Running out of memory poisons the buffer.  The start: lines, or one line of JSON. */
void startup_report_start(const struct startup_report *r, bool json, struct buf *out);
/* … and the end. */
void startup_report_end(const struct startup_report *r, bool json, struct buf *out);

#endif
