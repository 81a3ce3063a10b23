/* client_env.h - the environment variables that a server sets for a process, and the server's URI.
 *
 * Read again at each initialization, since a program may have changed them.  Everything else works
 * on this struct, so that a test can act as any process of any job.  Strings belong to the
 * environment.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_ENV_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_ENV_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"
#include "io/pmix_uri.h"
#include "wire/pmix_types.h"

struct pmix_env {
    const char *nspace;             /* NULL: not started by a server */
    uint32_t rank;                  /* valid with nspace */
    const char *uri;                /* NULL: no server */
    const char *uri_name;           /* the variable that holds it */
    const struct ptype_flavour *as; /* the encoding that goes with the URI */
    const char *version;            /* of the server; never NULL */
    const char *security;           /* list of modules, or NULL */
    const char *hostname;           /* or NULL */
    const char *tmpdir, *system_tmpdir;
    int wireup_fd; /* a socket to a Wireup server; -1 */
};

/* 0, or -EINVAL with the invalid variable named in err. */
int pmix_env_read(struct pmix_env *e_p, struct errmsg *err);

#endif
