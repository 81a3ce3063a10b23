/* second_job_words.h - how a resource manager is asked for another job whose nodes join a DVM by
 * themselves: the command and its environment, the job's script, and what the command answers.
 * Pure.
 *
 * Nothing secret is on a command line or in a file of ours: the token is in the environment of the
 * command, which the manager hands to the job.  The script is the command's standard input.
 *
 * One row of the table in second_job_words.c for each manager.  Only those are in it that have been
 * tried.
 */
#ifndef WIREUP_LAUNCH_SECOND_JOB_WORDS_H
#define WIREUP_LAUNCH_SECOND_JOB_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

enum { SECOND_JOB_ID = 63 };

struct second_job {
    uint32_t nodes;
    uint32_t slots;      /* of each node; 0: as many as it has processors */
    uint32_t request;    /* by which its nodes are known (daemon/join_request.h) */
    const char *wireupd; /* the daemon's path */
    const char *where;   /* addresses of the launcher */
    const char *token;   /* the text of a token (io/join_token.h) */
    const char *without; /* nodes that it is not to have, names with commas; empty: any will do */
    char *const *envp;   /* of the launcher: what the first job is like */
    uint64_t now_s;      /* since 1970 */
};

struct second_job_words {
    const char **submit; /* stays until the job ends */
    char **env;
    struct slice script;
};

/* Whether that manager can be asked; name NULL: there is none. */
bool second_job_known(const char *manager);

/* The words, in the arena.  0; -ENOMEM with a sentence. */
int second_job_words(struct arena *a, const char *manager, const struct second_job *j,
                     struct second_job_words *w_p, struct errmsg *err);

/* Once the command has been started: the token is not in our memory any more. */
void second_job_words_wipe(const struct second_job_words *w);

/* What takes a job that has not begun out of the queue, whether its number is known or not.  NULL:
 * no memory. */
const char **second_job_cancel(struct arena *a, const char *manager, uint32_t request);

/* The job's number, of what the command has written so far.  False: it is not there, or not one. */
bool second_job_id(struct slice out, char id_p[SECOND_JOB_ID + 1]);

/* Why there is no job: the command's last line, without its name; empty: it has said nothing. */
struct slice second_job_reason(struct slice errors);

#endif
