/* write_all.h - all of some bytes to a descriptor that blocks: a file, or whatever we write to
 * people.
 */
#ifndef WIREUP_IO_WRITE_ALL_H
#define WIREUP_IO_WRITE_ALL_H

#include "base/slice.h"

/* 0, or -errno: not all of it is there. */
int write_all_write(int fd, struct slice s);

#endif
