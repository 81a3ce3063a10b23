/* server_cleanup.h - what clients have registered for clearing up (PMIX_REGISTER_CLEANUP) goes with
 * their own rights, not with those of the host.
 *
 * Each user's files are removed by a thread of their own (io/act_as.h), so that nobody waits for
 * another's file system.  Where the host runs as that user and group itself, it is done at once.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_CLEANUP_H
#define WIREUP_LIB_PMIX_SERVER_CLEANUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/log.h"
#include "io/cleanup.h"

struct cleanup;

/* NULL: no memory. */
struct cleanup *cleanup_new(const struct log *log);
/* What is under way is waited for, but not for ever.  Harmless with NULL. */
void cleanup_free(struct cleanup *c);

/* Whether files of that user can be cleared up: with its rights, and no others. */
bool cleanup_can(uid_t uid, gid_t gid);

/* Clears up, now or soon.  What o refers to is copied; o->uid is the user's. */
void cleanup_add(struct cleanup *c, const struct cleanup_order *o, gid_t gid);

#endif
