/* process_env.h - the environment of a process: that of its application, and the variables by
 * which it finds its process manager. */
#ifndef WIREUP_DAEMON_PROCESS_ENV_H
#define WIREUP_DAEMON_PROCESS_ENV_H

#include <stdint.h>

struct job;
struct job_map_app;
struct processes;

/* The descriptor of its connection. */
enum { PROCESS_ENV_FD = 3 };

/* In the arena for environments, until process_start() returns; NULL: no memory. */
char **process_env(struct processes *p, const struct job *job, uint32_t rank);

/* What all processes of an application have in common; likewise. */
char **process_env_common(struct processes *p, const struct job_map_app *app);

#endif
