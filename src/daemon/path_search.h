/* path_search.h - resolves the name of a program or directory to a path that can be executed or
 * entered.
 *
 * The rules are those of execvp after the change of directory: a name with a slash is relative to
 * the working directory; any other is searched on PATH, and the first executable file of that name
 * wins.  If PATH has none, a file of that name in the working directory is taken, as Open MPI's
 * mpirun does; path_only selects execvp's rules alone, as in MPICH's mpiexec.hydra.
 */
#ifndef WIREUP_DAEMON_PATH_SEARCH_H
#define WIREUP_DAEMON_PATH_SEARCH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

enum { PATH_SEARCH_NOT_FOUND = 1, PATH_SEARCH_NOT_EXECUTABLE };

/* wdir: absolute, or NULL for the current directory.  search: a PATH, or NULL for the system's
 * default.  path_only: a bare name is not taken from the working directory.  *path_p: in the arena,
 * or name itself. 0; PATH_SEARCH_NOT_FOUND or PATH_SEARCH_NOT_EXECUTABLE with the sentence;
 * -ENOMEM. */
int path_search_program(struct arena *a, const char *name, const char *wdir, const char *search,
                        bool path_only, const char **path_p, struct errmsg *err);

/* The absolute path of a directory that can be entered.  0; PATH_SEARCH_NOT_EXECUTABLE; -errno. */
int path_search_wdir(struct arena *a, const char *given, const char **wdir_p, struct errmsg *err);

#endif
