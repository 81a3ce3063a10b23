/* client_group.h - the groups that a client is a member of. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_GROUP_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "pmix_common.h"

struct client;

/* Records, or replaces, the members of the group, and its context id (or NULL).  False: no memory.
 */
bool group_remember(struct client *c, const char *id, const pmix_proc_t *procs, size_t n,
                    const size_t *context);

/* Its context id; false: it has none, or we are in no such group. */
bool group_context(struct client *c, const char *id, size_t *context_p);

/* Its members, in the order of the group, until it is removed; false: we are in no such group. */
bool group_members(struct client *c, const char *id, const pmix_proc_t **procs_p, size_t *n_p);

/* Removes it; false: we are in no such group.  The caller frees the members. */
bool group_take(struct client *c, const char *id, pmix_proc_t **procs_p, size_t *n_p);

/* Frees all of them, at finalization. */
void groups_free(struct client *c);

#endif
