/* second_jobs.h - jobs that the launcher of a DVM submits to the resource manager in whose job it
 * runs, as its user, because that manager cannot extend the first job: their nodes join the DVM by
 * themselves (launch/joins.h), and say for which request.
 *
 * Each job is watched by the command that has submitted it, which ends with the job, until all of
 * its nodes have come.  One that nobody waits for any more is taken out of the queue; if it has
 * begun meanwhile, its nodes are refused, and it ends.  A job ends with the last of its daemons.
 */
#ifndef WIREUP_LAUNCH_SECOND_JOBS_H
#define WIREUP_LAUNCH_SECOND_JOBS_H

#include "base/log.h"
#include "daemon/side_command.h"
#include "launch/second_job_words.h"

struct second_jobs_config {
    struct loop *loop;
    const struct log *log;
    const char *manager; /* NULL: we are in no job of one */
    /* The job is in the queue, under that number. */
    void (*submitted)(void *arg, uint32_t request, const char *manager, const char *id);
    /* No node comes of it any more; it is forgotten.  why: a sentence. */
    void (*over)(void *arg, uint32_t request, const char *why);
    void *arg;
};

struct second_jobs {
    struct second_jobs_config config;
    struct side_commands commands;
    struct list all;
    uint32_t last;
};

void second_jobs_open(struct second_jobs *s, const struct second_jobs_config *config);
/* Takes all that are awaited out of the queue, and waits for that, up to LIMIT_SECOND_JOB_END_MS.
 * Harmless twice, and on zeroed memory. */
void second_jobs_close(struct second_jobs *s);

/* Asks for j->nodes nodes; fills in the request.  0; else a sentence in err, and there is no job.
 */
int second_jobs_begin(struct second_jobs *s, struct second_job *j, struct errmsg *err);

/* All of its nodes have come: it is forgotten. */
void second_jobs_came(struct second_jobs *s, uint32_t request);
/* Nobody waits for it any more; no over().  Harmless if it is not known. */
void second_jobs_give_up(struct second_jobs *s, uint32_t request);

/* A child of ours has been reaped.  True: it was such a command. */
bool second_jobs_reaped(struct second_jobs *s, pid_t pid, int status);

#endif
