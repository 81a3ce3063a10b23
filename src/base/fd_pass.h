/* fd_pass.h - sends and receives bytes over a local connection, and descriptors with them.
 *
 * A descriptor that comes with a message is open in this process, whether the reader wanted one or
 * not, and the peer decides how many come.  Whoever receives control messages uses these functions,
 * so that none stays open unnoticed.
 */
#ifndef WIREUP_BASE_FD_PASS_H
#define WIREUP_BASE_FD_PASS_H

#include <sys/types.h>

#include "base/slice.h"

struct msghdr;

/* One non-blocking write, as send(); the descriptor (-1: none) goes with the first byte. */
ssize_t fd_pass_send(int fd, struct slice bytes, int attach);

/* One read, as recv() with these flags.  *passed_p: the first descriptor that has come, which is
 * the caller's and close-on-exec; one that is there already stays (-1: none).  All others are
 * closed. */
ssize_t fd_pass_receive(int fd, void *to, size_t n, int flags, int *passed_p);

/* The descriptors of a message that recvmsg() has received: the first `room` of them are stored in
 * fds, and are the caller's; the others are closed.  The number of those stored. */
size_t fd_pass_take(struct msghdr *m, int *fds, size_t room);

#endif
