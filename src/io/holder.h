/* holder.h - whether a socket is held by a process or by what came from it.
 *
 * For a second connection that claims to be a process which is connected already: children that
 * were started by it may do so, strangers may not.
 */
#ifndef WIREUP_IO_HOLDER_H
#define WIREUP_IO_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The socket with this inode is open in the process or in one of its descendants.  False also when
 * that cannot be found out. */
bool holder_is_below(pid_t root, ino_t socket);

#endif
