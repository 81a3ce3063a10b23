/* write_all.h - writes all bytes to a descriptor: a file, a connection, or output for people.
 *
 * Waits until there is room, also where the descriptor is non-blocking: not for an event loop. */
#ifndef WIREUP_IO_WRITE_ALL_H
#define WIREUP_IO_WRITE_ALL_H

#include "base/slice.h"

/* 0, or -errno: not everything was written. */
int write_all_slice(int fd, struct slice s);

#endif
