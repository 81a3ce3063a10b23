/* timeline.h - what each process of a job did when, as one picture: the model.
 *
 * A process is started, sends its first message, is initialized, enters fences and leaves them,
 * asks for values, finalizes and ends.  What it does between its messages is its own time.  The
 * caller adds these points in the order in which they happened on the process's node, by that
 * node's clock.
 *
 * The clocks of the nodes are compared by the fences of all processes: nobody leaves a fence before
 * everybody has entered it.  The clocks of the system (wall time) are believed where they agree
 * with that; where not, the middle of what is possible is taken.  A node that has asked the
 * launcher for its clock is bounded by that, too.
 *
 * The critical path is, between two fences of all processes, the process that entered the second
 * one last; after the last fence the one that ended last.
 *
 * The pictures are in timeline_picture.h.
 */
#ifndef WIREUP_REPORT_TIMELINE_H
#define WIREUP_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

/* What a process waits for, or does. */
enum timeline_kind {
#define KIND(id, name, words, light, dark) TIMELINE_##id,
#include "report/timeline_kinds.def"
#undef KIND
    TIMELINE_KINDS
};

struct timeline_span {
    enum timeline_kind kind;
    uint32_t number; /* of a FENCE: the process's how manieth, from 1 */
    uint32_t count;  /* requests of the same kind in a row are one span */
    uint32_t tag;    /* while it is open */
    bool open;       /* not answered yet */
    uint64_t begin_ns, end_ns;
};

enum { TIMELINE_NO_NODE = UINT32_MAX };

struct timeline_proc {
    uint32_t node;     /* index; TIMELINE_NO_NODE: not known */
    bool ended, badly; /* badly: by a signal, with a code that is not 0, or without finalize */
    uint64_t started_ns, first_ns, ended_ns; /* 0: not known */
    uint32_t fences;
    struct timeline_span *spans;
    uint32_t nspans, room, cursor;
};

/* How far a clock can be ahead of another one; least > most: not known. */
struct timeline_bounds {
    int64_t least, most;
};

struct timeline_node {
    const char *name;
    uint64_t asked_ns, runs_ns, up_ns; /* of its daemon; 0: not known */
    uint64_t lost_ns;                  /* when it was lost; 0: it was not */
    const char *lost_why;              /* ... and why; NULL: not known */
    uint64_t job_ns;                   /* when it knew the job; 0: not known */
    struct timeline_bounds link;       /* of its clock, ahead of the launcher's */
    uint64_t begin_ns, wall_ns;        /* of its trace, by its two clocks; 0: it has no trace */
    int64_t ahead_ns;  /* of the first node's clock; known after timeline_settle() */
    uint64_t slack_ns; /* the possible error of it; UINT64_MAX: nothing bounds it */
};

/* A process or a node that is replaced after a failure. */
struct timeline_repair {
    uint64_t at_ns;
    const char *text; /* a sentence without its end */
};

/* A piece of the critical path. */
struct timeline_step {
    uint32_t rank;
    uint32_t fence; /* it ends when the process enters this one; 0: when it ends */
    uint64_t begin_ns, end_ns;
};

struct timeline {
    struct arena arena;
    const char *title; /* the programs */
    struct timeline_proc *procs;
    uint32_t nprocs;
    struct timeline_node *nodes;
    uint32_t nnodes;
    struct timeline_step *path;
    uint32_t npath;
    struct timeline_repair *repairs; /* in the order of time */
    uint32_t nrepairs, repairs_room;
    uint64_t launched_ns, launched_wall_ns; /* the launcher's trace begins, by its two clocks */
    uint64_t begin_ns, end_ns;              /* of everything, by the first node's clock */
};

void timeline_init(struct timeline *t);
void timeline_free(struct timeline *t); /* harmless twice */

/* Sizes of the job, once; the names are copied.  0; -EINVAL: they are given already, or are more
 * than LIMIT_JOB_PROCS; -ENOMEM. */
int timeline_job(struct timeline *t, uint32_t nprocs, const struct slice *nodes, uint32_t nnodes);

/* A trace of this node begins. */
void timeline_trace(struct timeline *t, uint32_t node, uint64_t begin_ns, uint64_t wall_ns);

/* The launcher's trace begins. */
void timeline_launcher(struct timeline *t, uint64_t begin_ns, uint64_t wall_ns);
/* By the launcher's clock: the node's daemon is up, its command was started, it ran (0: not known).
 */
void timeline_daemon(struct timeline *t, struct slice node, uint64_t asked_ns, uint64_t runs_ns,
                     uint64_t up_ns);
/* By the launcher's clock: the node was lost; the reason is copied. */
void timeline_lost(struct timeline *t, struct slice node, uint64_t at_ns, const char *why);
/* By the launcher's clock: what was lost is replaced; the text is copied.  0 or -ENOMEM. */
int timeline_repair(struct timeline *t, uint64_t at_ns, const char *text);
/* By the node's clock: it knows the job now. */
void timeline_known(struct timeline *t, uint32_t node, uint64_t now_ns);
/* What the links say of the node's clock. */
void timeline_link(struct timeline *t, uint32_t node, int64_t least, int64_t most);

/* Of a rank that the job does not have nothing is added.  0 or -ENOMEM. */
void timeline_started(struct timeline *t, uint32_t rank, uint64_t now_ns);
int timeline_request(struct timeline *t, uint32_t rank, enum timeline_kind kind, uint32_t tag,
                     uint64_t now_ns);
/* The request with this tag is answered. */
void timeline_answer(struct timeline *t, uint32_t rank, uint32_t tag, uint64_t now_ns);
void timeline_ended(struct timeline *t, uint32_t rank, bool badly, uint64_t now_ns);

/* Nothing more comes: brings all times to the first node's clock and finds the critical path.  0 or
 * -ENOMEM. */
int timeline_settle(struct timeline *t);

/* Which requests are waits of this kind, by the names of the three protocols.  False: the name is
 * that of no request that is shown. */
bool timeline_kind_of(struct slice command, enum timeline_kind *kind_p);

#endif
