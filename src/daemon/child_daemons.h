/* child_daemons.h - the daemons directly below this one in the tree: which they are, their records,
 * and their start (remote_exec.h).  The launcher and every daemon have one.
 *
 * Where daemons can start daemons (ssh, rsh, srun, fork, and launch methods with ssh's calling
 * convention), daemons are started along the tree of links.  Elsewhere the launcher starts all of
 * them, and the tree is as wide as the job: child_daemons_width() gives the width for the records.
 */
#ifndef WIREUP_DAEMON_CHILD_DAEMONS_H
#define WIREUP_DAEMON_CHILD_DAEMONS_H

#include "cluster/overlay.h"
#include "daemon/remote_exec.h"

struct child_daemons_config {
    struct loop *loop;
    const struct bootstrap
        *boot; /* common to all daemons; holds at least the nodes below us; outlives this struct */
    struct agent_spec spec;
    uint32_t me;
    const struct overlay *overlay; /* what we know of the others (bootstrap_overlay.h); NULL: every
                                    * position has a node */
    const char *addresses;         /* ours; copied */
    char *const *envp;
    struct daemon_states *daemons;  /* of all daemons of the launch; outlives this struct */
    struct remote_exec_calls calls; /* all but record */
    void *arg;
};

struct child_daemons {
    struct child_daemons_config c;
    struct arena arena;
    struct remote_exec *agent; /* NULL: no daemon is below us */
};

uint32_t child_daemons_width(enum agent_kind kind, uint32_t count, uint32_t wanted);

/* Is any daemon directly below that position? */
bool child_daemons_wanted(const struct bootstrap *b, uint32_t me);

/* Starts the daemons directly below us.  0; BOOTSTRAP_BAD or -errno with one sentence, and none was
 * started. */
int child_daemons_open(struct child_daemons *w, const struct child_daemons_config *config,
                       struct errmsg *err);
/* Starts more of them, which have joined later (after child_daemons_open()).  The same results. */
int child_daemons_add(struct child_daemons *w, const struct bootstrap_node *nodes, uint32_t n,
                      struct errmsg *err);
/* The record of one below us that is started by nobody (after child_daemons_open()).  0 or -errno.
 */
int child_daemons_record(struct child_daemons *w, uint32_t position, struct buf *out);
bool child_daemons_is_open(const struct child_daemons *w);
void child_daemons_close(
    struct child_daemons *w); /* kills the running commands; harmless twice, and on zeroed memory */

/* As in remote_exec.h; harmless when no daemon is below us. */
void child_daemons_up(struct child_daemons *w, uint32_t position);
bool child_daemons_reaped(struct child_daemons *w, pid_t pid, int status);
void child_daemons_end(struct child_daemons *w);
void child_daemons_stop(struct child_daemons *w);
bool child_daemons_idle(const struct child_daemons *w);

#endif
