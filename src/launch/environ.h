/* environ.h - the environment of an application: variables that are forwarded, set, or hidden.
 *
 * From low to high priority: variables that the launcher inherited (all, those of a list, or none);
 * those of -genv, -x and -env; those of the process manager itself.  The variables of the
 * process manager (environ.def) are never taken from any other source: a launcher inside a job must
 * not pass on its own rank, and two PMI_RANK entries in one environment would be ambiguous.  The
 * per-rank ones are added by the spawner; their names are guaranteed to be absent here.  A launcher
 * inside a job does not pass on those of a style either (daemon/environment_style.h), unless they
 * are set.
 *
 * "None" and "list" keep the variables of a fresh login (HOME, PATH, ...): without it hardly
 * any program starts.
 */
#ifndef WIREUP_LAUNCH_ENVIRON_H
#define WIREUP_LAUNCH_ENVIRON_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

enum env_forward { ENV_UNSAID = 0, ENV_ALL, ENV_NONE, ENV_LIST };

struct env_entry {
    struct env_entry *next;
    struct slice name;
    const char *text; /* "NAME=VALUE"; NULL: the inherited value of that name, if there is one */
};

/* The environment options of one block, or of the whole job.  All zero: none. */
struct env_rules {
    enum env_forward forward;
    struct env_entry *list, *list_last; /* ENV_LIST: names to forward */
    struct env_entry *sets, *sets_last; /* in the order given; the last one of a name wins */
};

static inline bool env_rules_empty(const struct env_rules *r)
{
    return r->forward == ENV_UNSAID && !r->sets;
}

/* Additions to the rules.  0; ENVIRON_BAD_NAME: a name must not be empty or contain '='; -ENOMEM.
 */
enum { ENVIRON_BAD_NAME = 1 };
int environ_set(struct arena *a, struct env_rules *r, struct slice name, struct slice value);
int environ_export(struct arena *a, struct env_rules *r, struct slice name);
int environ_list(struct arena *a, struct env_rules *r, struct slice names); /* "A,B,C" */

/* Inserts defaults, which have lower priority, before the settings of r; moves them. */
void environ_defaults(struct env_rules *r, struct env_rules *defaults);

/* True for the variables that only the process manager sets. */
bool environ_reserved(struct slice name);

/* The complete environment (NULL-terminated, in the arena): inherited, filtered by the block's
 * choice or else the job's; then the settings of the job, of the block, and of the process manager
 * (only these may be reserved names).  0 or -ENOMEM. */
int environ_build(struct arena *a, char *const *inherited, const struct env_rules *job,
                  const struct env_rules *block, const struct env_rules *manager, char ***env_p);

#endif
