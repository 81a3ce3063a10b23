/* cred.h - who is at the other end of a connection, by the kernel's word.
 *
 * Unix sockets carry the peer's credentials.  A loopback TCP connection does not, but its other end
 * is a socket of this machine too, and the kernel's socket tables tell who owns it.
 */
#ifndef WIREUP_IO_CRED_H
#define WIREUP_IO_CRED_H

#include <sys/types.h>

/* 0; -ENOENT: the other end is no socket of this machine (or has gone already); -errno. */
int cred_peer_uid(int fd, uid_t *uid_p);

/* The inode of the other end's socket, where it is TCP on this machine.  As above. */
int cred_peer_socket(int fd, ino_t *inode_p);

#endif
