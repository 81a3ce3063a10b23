/* socket_owner.h - finds the process, among a process and its descendants, that holds a socket.
 *
 * For a second connection that claims to be a process which is connected already: descendants of
 * that process may do so, others may not.
 */
#ifndef WIREUP_IO_SOCKET_OWNER_H
#define WIREUP_IO_SOCKET_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/peer_cred.h"

/* This process itself has the socket with this inode open. */
bool socket_owner_has(pid_t pid, ino_t socket);

/* The socket with this inode is open in the process or in one of its descendants.  False also if
 * that cannot be determined. */
bool socket_owner_is_below(pid_t root, ino_t socket);

/* The first of them that has it, oldest first; 0: none, or it cannot be determined. */
pid_t socket_owner_below(pid_t root, ino_t socket);

/* The first of them that has the other end of a connection: the process that connected, where the
 * kernel names it; 0: none. */
pid_t socket_owner_of(pid_t root, const struct peer_cred *c);

/* The first of the process and its descendants for which is() is true; 0: none. */
pid_t socket_owner_find(pid_t root, bool (*is)(const void *arg, pid_t pid), const void *arg);

/* This process has the socket at this descriptor. */
bool socket_owner_has_at(pid_t pid, int fd, ino_t socket);

struct socket_visitor {
    /* A socket that the process has open; true: the end of the visit. */
    bool (*found)(void *arg, pid_t pid, int fd, ino_t socket);
    bool (*enters)(void *arg, pid_t pid); /* a descendant: false leaves it and its own out */
    void *arg;
    pid_t behind; /* descendants: those that come behind this one first; 0: from the oldest on */
};

/* All sockets of the process, or (below) of its descendants; true: found() was. */
bool socket_owner_visit(pid_t root, bool below, const struct socket_visitor *v);

#endif
