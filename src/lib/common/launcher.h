/* launcher.h - started wrongly: there is a launcher, but nothing that this library can speak to.
 *
 * Without a process manager a process is a job of its own.  That is right for a program started by
 * hand, and wrong for each of N processes of a job whose launcher speaks something else: all of
 * them would be rank 0 of 1, and nobody would know.  So a library that finds no connection asks
 * here, and fails with a sentence: who has started it, and what would work.
 */
#ifndef WIREUP_LIB_COMMON_LAUNCHER_H
#define WIREUP_LIB_COMMON_LAUNCHER_H

#include <stdbool.h>

#include "base/err.h"

enum launcher_wants { LAUNCHER_PMI, LAUNCHER_PMIX };

/* The value of a variable, or NULL. */
typedef const char *launcher_get(void *arg, const char *name);

/* True, with the sentence: by the environment this process is one of several (or of a number that
 * nobody knows).  False: it is alone, or WIREUP_SINGLETON says that it may be. */
bool launcher_found(enum launcher_wants wants, launcher_get *get, void *arg, struct errmsg *err);

/* The same for this process's own environment. */
bool launcher_found_here(enum launcher_wants wants, struct errmsg *err);

#endif
