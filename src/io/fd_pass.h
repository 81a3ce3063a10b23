/* fd_pass.h - sends and receives bytes over a local connection, and a descriptor with them. */
#ifndef WIREUP_IO_FD_PASS_H
#define WIREUP_IO_FD_PASS_H

#include <sys/types.h>

#include "base/slice.h"

/* One non-blocking write, as send(); the descriptor (-1: none) goes with the first byte. */
ssize_t fd_pass_send(int fd, struct slice bytes, int attach);

/* One non-blocking read, as recv(); *attached_p: the first descriptor that has come with the bytes,
 * which is the caller's; -1: none. */
ssize_t fd_pass_receive(int fd, void *to, size_t n, int *attached_p);

#endif
