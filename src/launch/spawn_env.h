/* spawn_env.h - the environment of a spawned program.
 *
 * That of the parent's first program; then the infos of the command:
 *   env              NAME=VALUE, several separated by newlines
 *   env-value        NAME=VALUE, one; the value may have newlines
 *   env-set, env-add NAME=VALUE; env-add only if there is no such variable yet
 *   env-unset        NAME
 *   env-prepend, env-append    the separator, then NAME=VALUE: before, or after, what is there
 *   env-first        as env-prepend, unless the value is the first there already
 * The first two come first, whatever their position; the others are carried out in their order.
 * Variables that only the process manager sets are skipped in the first two: programs pass
 * their whole environment on.  The others name one variable, so that is an error.
 */
#ifndef WIREUP_LAUNCH_SPAWN_ENV_H
#define WIREUP_LAUNCH_SPAWN_ENV_H

#include "base/err.h"
#include "core/spawn.h"

/* NULL-terminated and, with all its texts, in the arena.  0; SPAWN_BAD_REQUEST with the sentence;
 * -ENOMEM. */
int spawn_env_build(struct arena *a, char *const *inherited, const struct spawn_command *c,
                    char ***env_p, struct errmsg *err);

#endif
