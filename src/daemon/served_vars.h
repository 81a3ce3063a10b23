/* served_vars.h - what the processes of `wireup serve` must have in their environment, and which
 * process gets which rank.
 *
 * `wireup serve` prints it for all ranks; a process that runs already asks for one rank (`wireup
 * enter`).
 */
#ifndef WIREUP_DAEMON_SERVED_VARS_H
#define WIREUP_DAEMON_SERVED_VARS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

struct job;
struct local_jobs;
struct processes;

/* The variables of that rank, until the arena for environments is freed; NULL: no memory. */
char **served_vars(struct processes *p, const struct job *job, uint32_t rank);

/* As a line of shell commands. */
void served_vars_line(struct buf *out, char *const *vars);
/* As members of JSON: those of the whole, with an open object, and an object of one rank. */
void served_vars_head(struct json *j, const char *schema, const struct job *job);
void served_vars_rank(struct json *j, uint32_t rank, char *const *vars);

/* How served_vars_enter() writes them. */
enum served_vars_form {
    SERVED_VARS_SHELL, /* as a line of shell commands */
    SERVED_VARS_JSON,
    SERVED_VARS_LINES /* a line for each: NAME=VALUE, or -NAME: the process must not have it */
};

/* A process that runs already becomes that rank, or (JOB_NO_RANK) the first one that has not come
 * and has not been given to another one.  Appends its variables; or `error: ` and a sentence. */
void served_vars_enter(struct local_jobs *jobs, struct processes *p, uint32_t job, uint32_t rank,
                       enum served_vars_form form, struct buf *out);

#endif
