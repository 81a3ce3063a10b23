/* shutdown.h - the end of jobs, of this node's part in them, and of the node.
 *
 * A job that has ended is reported by the launcher.  When all have, what processes left behind goes
 * too, then their last output; only then does the loop stop (shutdown_check). */
#ifndef WIREUP_WIREUPD_SHUTDOWN_H
#define WIREUP_WIREUPD_SHUTDOWN_H

#include "wireupd/node_priv.h"

/* EFFECT_KILL: asks the processes of a job to end, and kills them when they have not in time. */
void shutdown_begin(struct node *n, struct job *job);

/* EFFECT_JOB_ENDED. */
void shutdown_bury(struct node *n, struct job *job);
/* A daemon: everybody forgets the job. */
void shutdown_forget(struct node *n, struct job *j);

/* Several jobs may end for one reason, which is said once; by the job that had it, if it can. */
void shutdown_say(struct node *n, const struct errmsg *reason);

/* Ends what is left, if no job runs any more. */
void shutdown_seek(struct node *n);
/* Stops the loop, if there is nothing left to write. */
void shutdown_check(void *node);

/* Launcher: nothing is left of the other nodes. */
void shutdown_unshared(struct node *n);
/* A daemon: ends what there is, then streams_end(). */
void shutdown_quit(struct node *n);
/* … and everything has been told, and those below us have gone. */
void shutdown_gone(struct node *n);
/* A daemon: the launcher cannot be reached. */
void shutdown_orphan(struct node *n);

#endif
