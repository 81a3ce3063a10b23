/* shutdown.h - the end of jobs, of this node's part in them, and of the node.
 *
 * The launcher reports a job that has ended.  When all have ended, what processes left behind is
 * removed, then the last output is written; only then does the loop stop (shutdown_check). */
#ifndef WIREUP_WIREUPD_SHUTDOWN_H
#define WIREUP_WIREUPD_SHUTDOWN_H

#include "wireupd/node_priv.h"

/* EFFECT_kill: asks the processes of a job to end, and kills those that have not ended in time. */
void shutdown_begin(struct node *n, struct job *job);

/* EFFECT_job_ended. */
void shutdown_bury(struct node *n, struct job *job);
/* A daemon: all nodes drop the job. */
void shutdown_forget(struct node *n, struct job *j);

/* Several jobs may end for one reason, which is reported once; by the job that caused it, if
 * possible. */
void shutdown_say(struct node *n, const struct errmsg *reason);

/* Ends what is left if no job runs any more. */
void shutdown_seek(struct node *n);
/* Stops the loop if nothing is left to write. */
void shutdown_check(void *node);

/* Launcher: nothing is left of the other nodes, if the action says so. */
void shutdown_unshared(struct node *n, enum launcher_action action);
/* A daemon: ends its processes, then streams_end(). */
void shutdown_quit(struct node *n);
/* ... and everything has been sent, and our children in the tree have gone. */
void shutdown_gone(struct node *n);
/* A daemon: the launcher cannot be reached, or a signal wants the end. */
void shutdown_orphan(struct node *n);
/* ... kills its processes, and stops the loop. */
void shutdown_kill(struct node *n);

#endif
