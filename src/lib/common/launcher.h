/* launcher.h - detects a process that was started by a launcher this library cannot talk to.
 *
 * Without a process manager a process is a job of its own (a singleton).  That is right for a
 * program started by hand, and wrong for each of N processes whose launcher uses another protocol:
 * all of them would silently be rank 0 of 1.  So a library that finds no connection calls this and
 * fails with a sentence that names the launcher and a command that would work.
 */
#ifndef WIREUP_LIB_COMMON_LAUNCHER_H
#define WIREUP_LIB_COMMON_LAUNCHER_H

#include <stdbool.h>

#include "base/err.h"

enum launcher_wants { LAUNCHER_PMI, LAUNCHER_PMIX };

/* The value of a variable, or NULL. */
typedef const char *launcher_get(void *arg, const char *name);

/* True, with a sentence in err: the environment shows that this process is one of several (or of
 * an unknown number).  False: it is alone, or WIREUP_SINGLETON allows it to be. */
bool launcher_found(enum launcher_wants wants, launcher_get *get, void *arg, struct errmsg *err);

/* The same for this process's own environment. */
bool launcher_found_here(enum launcher_wants wants, struct errmsg *err);

#endif
