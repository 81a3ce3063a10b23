/* env.h - the environment variables that the process manager sets for a client.
 *
 * Read again at each initialization, since a program may have changed them.  Everything else works
 * on this struct, so that a test can act as any process of any job.  Strings belong to the
 * environment.
 */
#ifndef WIREUP_LIB_COMMON_ENV_H
#define WIREUP_LIB_COMMON_ENV_H

#include <stdbool.h>

#include "base/err.h"

struct client_env {
    int fd;           /* PMI_FD; -1: not set */
    int wireup_fd;    /* WIREUP_FD: the same number when the peer is a Wireup server; -1 */
    const char *port; /* PMI_PORT, or NULL */
    const char *id;   /* PMI_ID, or NULL */
    int rank, size;   /* PMI_RANK, PMI_SIZE; 0 and 1 when not set */
    bool spawned;     /* PMI_SPAWNED is set and not 0 */
    bool restarted;   /* WIREUP_RESTARTS is: the rank had another process before */
    bool debug;       /* PMI_DEBUG is set, not empty and not 0 */
    bool traced;      /* PMI_TOTALVIEW: the server sends first */
};

/* 0, or -EINVAL with the invalid variable named in err (debug is valid then, too). */
int client_env_read(struct client_env *e_p, struct errmsg *err);

#endif
