/* server_cleanup.h - removes files that clients have registered (PMIX_REGISTER_CLEANUP) with the
 * clients' rights, not with the host's.
 *
 * Each user's files are removed by a thread of their own (io/act_as.h), so that no user waits for
 * another's file system.  Where the host runs as that user and group itself, it is done at once.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_CLEANUP_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_CLEANUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/log.h"
#include "io/cleanup.h"

struct cleanup;

/* NULL: no memory. */
struct cleanup *cleanup_new(const struct log *log);
/* Waits for work under way, but not for ever.  Harmless with NULL. */
void cleanup_free(struct cleanup *c);

/* Whether files can be removed with the rights of that user, and no others. */
bool cleanup_can(uid_t uid, gid_t gid);

/* Removes files, now or soon.  The texts of o are copied; o->uid is the user's. */
void cleanup_add(struct cleanup *c, const struct cleanup_order *o, gid_t gid);

#endif
