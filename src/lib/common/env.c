/* env.c - see env.h. */
#include "lib/common/env.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/slice.h"

/* A decimal number from 0 to INT_MAX; `absent` when the variable is not set. */
static int read_number(const char *name, int absent, int *value_p, struct errmsg *err)
{
    const char *text = getenv(name);

    *value_p = absent;
    if (!text)
        return 0;
    if (slice_int(slice_str(text), value_p) && *value_p >= 0)
        return 0;
    *value_p = absent;
    return errmsg_set(err, -EINVAL, "%s=%s is not a number from 0 up", name, text);
}

static bool is_true(const char *text)
{
    return text && *text && !slice_is(slice_str(text), "0");
}

int client_env_read(struct client_env *e_p, struct errmsg *err)
{
    struct client_env *e = e_p;
    int rc;

    *e = (struct client_env){ .fd = -1, .wireup_fd = -1, .size = 1 };
    /* Output, and waiting for a debugger: never at the request of a user with fewer rights
     * (setuid). */
    e->debug = is_true(secure_getenv("PMI_DEBUG"));
    e->spawned = is_true(getenv("PMI_SPAWNED"));
    e->restarted = is_true(getenv("WIREUP_RESTARTS"));
    e->traced = is_true(secure_getenv("PMI_TOTALVIEW"));
    rc = read_number("PMI_FD", -1, &e->fd, err);
    if (rc < 0)
        return rc;
    if (e->fd < 0) {
        e->port = getenv("PMI_PORT");
        e->id = e->port ? getenv("PMI_ID") : NULL;
        if (!e->port)
            return 0; /* alone: rank and size, if set, were left behind by an outer job */
    }
    /* Not worth a failure: without it we use the plain protocol. */
    (void)read_number("WIREUP_FD", -1, &e->wireup_fd, NULL);
    rc = read_number("PMI_RANK", 0, &e->rank, err);
    if (rc == 0)
        rc = read_number("PMI_SIZE", 1, &e->size, err);
    if (rc == 0 && e->rank >= e->size && !e->id)
        rc = errmsg_set(err, -EINVAL, "PMI_RANK=%d does not fit PMI_SIZE=%d", e->rank, e->size);
    return rc;
}
