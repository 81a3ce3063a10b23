/* lookup.h - from what the user calls a program or directory to what can be executed or entered.
 *
 * The rules of execvp after the change of directory: a name with a slash is relative to the working
 * directory; any other is sought on PATH, and the first executable file of that name wins.
 */
#ifndef WIREUP_WIREUPD_LOOKUP_H
#define WIREUP_WIREUPD_LOOKUP_H

#include "base/arena.h"
#include "base/err.h"

enum { LOOKUP_NOT_FOUND = 1, LOOKUP_NOT_EXECUTABLE };

/* wdir: absolute, or NULL for the current directory.  search: a PATH, or NULL for the system's
 * default.  *path_p: in the arena or name itself.
 * 0; LOOKUP_NOT_FOUND or LOOKUP_NOT_EXECUTABLE with the sentence; -ENOMEM. */
int lookup_program(struct arena *a, const char *name, const char *wdir, const char *search,
                   const char **path_p, struct errmsg *err);

/* The absolute path of a directory that can be entered.  0; LOOKUP_NOT_EXECUTABLE; -errno. */
int lookup_wdir(struct arena *a, const char *given, const char **wdir_p, struct errmsg *err);

#endif
