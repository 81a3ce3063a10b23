/* write_all.h - writes all bytes to a blocking descriptor: a file, or output for people. */
#ifndef WIREUP_IO_WRITE_ALL_H
#define WIREUP_IO_WRITE_ALL_H

#include "base/slice.h"

/* 0, or -errno: not everything was written. */
int write_all_slice(int fd, struct slice s);

#endif
