/* segment.h - the job store's memory: an anonymous file that children can map read-only.
 *
 * A memfd: no name in any directory, nothing to clean up.  It is mapped once with all the address
 * space it may ever need and grows in place.  Sealed so that nobody can shrink it under a reader.
 */
#ifndef WIREUP_IO_SEGMENT_H
#define WIREUP_IO_SEGMENT_H

#include "shm/store_write.h"

struct segment {
    struct seg_region region;
    int fd;        /* ours, writable */
    int reader_fd; /* the same memory, read-only: what clients get */
};

#define SEGMENT_NULL ((struct segment){ .fd = -1, .reader_fd = -1 })

/* 0 or -errno.  A process limit on address space makes the maximum smaller, not an error. */
int segment_open(struct segment *s);
void segment_close(struct segment *s); /* harmless twice */

#endif
