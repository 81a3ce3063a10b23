/* socket_owner.h - a process and what came from it: which of them holds a socket.
 *
 * For a second connection that claims to be a process which is connected already: children that
 * were started by it may do so, strangers may not.
 */
#ifndef WIREUP_IO_SOCKET_OWNER_H
#define WIREUP_IO_SOCKET_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* This process itself has the socket with this inode open. */
bool socket_owner_has(pid_t pid, ino_t socket);

/* The socket with this inode is open in the process or in one of its descendants.  False also when
 * that cannot be found out. */
bool socket_owner_is_below(pid_t root, ino_t socket);

/* Which of them it is, from the oldest on; 0: none, or it cannot be found out. */
pid_t socket_owner_below(pid_t root, ino_t socket);

/* The first of the process and its descendants of which that is true; 0: none. */
pid_t socket_owner_find(pid_t root, bool (*is)(const void *arg, pid_t pid), const void *arg);

#endif
