/* client_group.h - what a client remembers of its groups. */
#ifndef WIREUP_LIB_PMIX_CLIENT_GROUP_H
#define WIREUP_LIB_PMIX_CLIENT_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "pmix_common.h"

struct client;

/* Notes, or notes anew, who is in the group.  False: no memory. */
bool group_remember(struct client *c, const char *id, const pmix_proc_t *procs, size_t n);

/* Forgets it; false: we are in no such group.  The members are the caller's to free. */
bool group_take(struct client *c, const char *id, pmix_proc_t **procs_p, size_t *n_p);

/* All of them, at the client's end. */
void groups_free(struct client *c);

#endif
