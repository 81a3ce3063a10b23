/* runtime_dir.h - a directory for sockets that is this user's alone: wireup/ below the user's
 * run-time directory.
 *
 * That is $XDG_RUNTIME_DIR, or /run/user/UID, which is found also by processes that were started
 * without the variable.  Each counts only if it belongs to us and nobody else may enter it; links
 * are not followed, and the directory that was checked is the one that is used, by its descriptor.
 * wireup/ is created on demand, and removed by its last user.
 */
#ifndef WIREUP_IO_RUNTIME_DIR_H
#define WIREUP_IO_RUNTIME_DIR_H

#include <stdbool.h>

enum { RUNTIME_DIRS = 2 };

/* The descriptor of the i-th, i < RUNTIME_DIRS; make: created if need be.  -ENOENT: there is none;
 * -EACCES: others have access to it; -errno. */
int runtime_dir_open(int i, bool make);

/* Closes the descriptor of wireup/, and removes the directory if it is empty. */
void runtime_dir_leave(int dir);

#endif
