/* server_env.h - the environment variables by which a process finds us. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_ENV_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_ENV_H

#include "lib/pmix/server/server.h"

pmix_status_t senv_fill(struct pserver *s, const pmix_proc_t *proc, char ***env);

#endif
