/* who.h - who is missing: the report on everything in a core that somebody waits for.
 *
 * For every pending fence, and for every meeting of several jobs: its name, which time it is, who
 * has arrived, who is missing with node, pid, state and last request, and for how long.  For every
 * get, look-up and spawn that is not answered yet: who asks, for what, for how long, and whom it
 * waits for. Text for people, JSON for programs; both from the same walk.
 */
#ifndef WIREUP_CORE_WHO_H
#define WIREUP_CORE_WHO_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/core.h"

struct who_options {
    struct slice job; /* name or number of one job; empty: all */
    bool json;
    uint64_t now_ns;
    /* What the machine says of a process ("stopped", "sleeping"), or NULL.  May be NULL itself. */
    const char *(*machine_state)(void *arg, int pid);
    void *arg;
};

enum { WHO_NO_SUCH_JOB = 1 };

/* 0 or WHO_NO_SUCH_JOB.  Running out of memory poisons the buffer. */
int who_report(const struct core *c, const struct who_options *o, struct buf *out);

/* Whether the report is about that job; and about requests of that kind that wait. */
bool who_wants(const struct job *j, struct slice which);
bool who_tells(enum request_kind kind);

#endif
