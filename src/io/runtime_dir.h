/* runtime_dir.h - a directory for sockets that is this user's alone: wireup/ below the user's
 * run-time directory.
 *
 * That is $XDG_RUNTIME_DIR, and /run/user/UID, which processes find that were started without the
 * variable.  Each counts only if it belongs to us and nobody else may enter it; links are not
 * followed, and what was looked at is what is used, by its descriptor.  wireup/ is made when it is
 * needed, and removed by the last one who used it.
 */
#ifndef WIREUP_IO_RUNTIME_DIR_H
#define WIREUP_IO_RUNTIME_DIR_H

#include <stdbool.h>

enum { RUNTIME_DIRS = 2 };

/* The descriptor of the i-th, i < RUNTIME_DIRS; make: it is made if need be.  -ENOENT: there is
 * none; -EACCES: it is not ours alone; -errno. */
int runtime_dir_open(int i, bool make);

/* Goes from the descriptor of wireup/, which is closed, and removes it if it is empty. */
void runtime_dir_leave(int dir);

#endif
