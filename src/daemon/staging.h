/* staging.h - brings the files of a job to its nodes before its processes start
 * (docs/design/staging.md).
 *
 * The launcher broadcasts what its reader says; each daemon passes it to its writer, and reports
 * how much that has taken, so that no node gets more than LIMIT_STAGING_WINDOW ahead.  Reader and
 * writers are processes of their own (staging_child.h).
 */
#ifndef WIREUP_DAEMON_STAGING_H
#define WIREUP_DAEMON_STAGING_H

#include "daemon/local_job.h"

struct staging;

/* The files are here (why NULL), or cannot be (a sentence): once, from the loop. */
typedef void staging_done_fn(struct local_job *w, const char *why);

/* Of a job whose plan says so, before it is announced, and when it has been: w->staging.  0, or
 * -errno or positive with a sentence. */
int staging_lead(struct local_job *w, staging_done_fn *done, struct errmsg *err);
int staging_follow(struct local_job *w, staging_done_fn *done, struct errmsg *err);
/* Ends it: no file is made any more.  Harmless twice, and without any. */
void staging_end(struct local_job *w);

/* More of the stream has come from the launcher; that daemon has written so much of it. */
void staging_receive(struct local_jobs *jobs, uint64_t job, struct slice bytes);
void staging_note(struct local_jobs *jobs, uint32_t from, uint64_t job, uint64_t count);
/* Launcher: a daemon will not report any more. */
void staging_lost(struct local_jobs *jobs, uint32_t position);
/* False: that child is none of ours. */
bool staging_reaped(struct local_jobs *jobs, pid_t pid, int status);

/* The directory of the job's files on this node; NULL: it has none, or no memory. */
char *staging_dir(const struct node_config *c, const struct job *j, struct arena *a);
/* The file there that a word of the command line means; NULL: there is none. */
char *staging_program(const struct node_config *c, const struct job *j, const char *word,
                      struct arena *a);

#endif
