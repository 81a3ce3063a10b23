/* who.h - the report on pending operations: everything in a core that a process waits for, and
 * which ranks are missing.
 *
 * For every pending fence, and for every collective across jobs: its name, its generation, the
 * ranks that have arrived, the missing ones with node, pid, state and last request, and for how
 * long.  For every get, look-up and spawn that is not answered yet: the requester, the object, for
 * how long, and the process it waits for.  What is wrong with the job, as far as that shows it
 * (findings.h), comes first; its stacks, if they were taken (stack_tree.h), last.  Text for people,
 * JSON for programs (docs/design/seeing.md); both from the same walk.
 */
#ifndef WIREUP_REPORT_WHO_H
#define WIREUP_REPORT_WHO_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/core.h"
#include "core/proc_look.h"

struct who_silent {
    const char *name;
    bool lost; /* it will not answer any more */
};

struct who_options {
    struct slice job;       /* name or number of one job; empty: all */
    uint32_t number, first; /* of the launcher, and of its first job: for short ids (job_row.h); 0:
                               jobs have their numbers within the launcher */
    bool json;
    uint64_t now_ns;
    /* How the machine sees a process of this node (who_part.h); false: it is gone.  May be NULL. */
    bool (*look)(void *arg, int pid, struct proc_look *look_p);
    void *arg;
    /* Nodes whose part is missing. */
    const struct who_silent *silent;
    uint32_t nsilent;
    const char *no_stacks; /* why there are not all; NULL: they were not wanted, or are there */
};

enum { WHO_NO_SUCH_JOB = 1 };

/* 0 or WHO_NO_SUCH_JOB.  Running out of memory poisons the buffer. */
int who_report(const struct core *c, const struct who_options *o, struct buf *out);

/* Whether the report covers that job; and waiting requests of that kind. */
bool who_wants(const struct job *j, struct slice which);
bool who_knows(uint32_t kind);

#endif
