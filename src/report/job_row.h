/* job_row.h - one line about one job: what `wireup ps` and `wireup top` show, and by which a word
 * of the user is resolved to a job.  A launcher writes the lines of its jobs, the commands read
 * them.
 *
 * A line is a list of fields with tabs between them; a text in it is escaped as in C.  The first
 * line of an answer is the launcher's own (struct launcher_row).
 */
#ifndef WIREUP_REPORT_JOB_ROW_H
#define WIREUP_REPORT_JOB_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "core/core.h"

enum { JOB_ROWS_VERSION = 3 };

enum job_row_state {
    JOB_ROW_STARTING,
    JOB_ROW_RUNNING,
    JOB_ROW_STOPPED, /* all processes that were looked at are */
    JOB_ROW_ENDING,
    JOB_ROW_STATES
};

struct launcher_row {
    uint32_t number; /* io/job_number.h; 0: none */
    int pid;         /* the one that users know */
    bool is_dvm;
    /* Of a DVM: */
    struct slice dvm_name;
    uint32_t nodes;        /* that are up */
    uint64_t slots, free;  /* of those */
    uint32_t waiting;      /* launchers that wait for slots */
    struct slice lost;     /* names of nodes, separated by commas */
    struct slice draining; /* the same: they get no new jobs, and leave when their last one ends */
    /* Names of nodes that did not answer, separated by commas. */
    struct slice silent;
};

struct job_row {
    uint32_t job;  /* its number within its launcher */
    bool is_first; /* of its launcher, which is not a DVM: the launcher's number is its name */
    struct slice nspace; /* escaped, as all texts */
    struct slice label;  /* of the user; empty: none */
    struct slice program;
    uint32_t ranks, nodes;
    enum job_row_state state;
    uint64_t age_s;    /* since it was started */
    uint32_t looked;   /* at so many processes; the following are of them */
    uint32_t permille; /* of one processor, since the last look at each */
    uint64_t cpu_ms, memory;
    uint32_t waiting;   /* processes that wait in the process manager */
    struct slice waits; /* for what: "fence: 3 of 4, missing 2"; empty: nobody waits */
};

enum { JOB_ID_MAX = 24 };

/* The short id of a job: the number of its launcher, 3, for the first job, 3.1 for another one. */
void job_row_id(uint32_t number, bool is_first, uint32_t job, char id[JOB_ID_MAX]);

/* "starting", ... */
const char *job_row_state_name(enum job_row_state state);

void launcher_row_put(const struct launcher_row *r, struct buf *out);

/* False: not such a line.  Texts are borrowed. */
bool launcher_row_get(struct slice line, struct launcher_row *r_p);
bool job_row_get(struct slice line, struct job_row *r_p);

/* What the launcher knows besides its core. */
struct job_rows_options {
    uint64_t now_ns;
    uint32_t first;    /* number of the first job */
    const char *label; /* of that one; NULL: none */
    bool is_dvm;
};

/* The lines of all jobs of a core (of tools and other launchers: none), with what the merged core
 * (who_part.h) tells of their processes; the same one if nobody was asked. */
void job_rows_write(const struct core *c, const struct core *merged,
                    const struct job_rows_options *o, struct buf *out);

#endif
