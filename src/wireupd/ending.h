/* ending.h - the end of jobs, of this node's part in them, and of the node.
 *
 * A job that has ended is reported by the launcher.  When all have, what processes left behind goes
 * too, then their last output; only then does the loop stop (ending_check). */
#ifndef WIREUP_WIREUPD_ENDING_H
#define WIREUP_WIREUPD_ENDING_H

#include "wireupd/node_priv.h"

/* EFFECT_KILL: asks the processes of a job to end, and kills them when they have not in time. */
void ending_begin(struct node *n, struct job *job);

/* EFFECT_JOB_ENDED. */
void ending_bury(struct node *n, struct job *job);
/* A daemon: everybody forgets the job. */
void ending_forget(struct node *n, struct job *j);

/* Several jobs may end for one reason, which is said once; by the job that had it, if it can. */
void ending_say(struct node *n, const struct errmsg *reason);

/* Ends what is left, if no job runs any more. */
void ending_seek(struct node *n);
/* Stops the loop, if there is nothing left to write. */
void ending_check(void *node);

/* Launcher: nothing is left of the other nodes. */
void ending_unshared(struct node *n);
/* A daemon: ends what there is, then streams_end(). */
void ending_quit(struct node *n);
/* … and everything has been told, and those below us have gone. */
void ending_gone(struct node *n);
/* A daemon: the launcher cannot be reached. */
void ending_orphan(struct node *n);

#endif
