/* memfd.h - the job store's memory: an anonymous file that children can map read-only.
 *
 * A memfd: no name in any directory, nothing to clean up.  It is mapped once with all the address
 * space it may ever need and grows in place.  Sealed so that nobody can shrink it under a reader.
 */
#ifndef WIREUP_IO_MEMFD_H
#define WIREUP_IO_MEMFD_H

#include "shm/store_write.h"

struct memfd {
    struct seg_region region;
    int fd;        /* ours, writable; -1: nobody else sees the memory */
    int reader_fd; /* of memfd_reader(), or -1 */
};

#define MEMFD_NULL ((struct memfd){ .fd = -1, .reader_fd = -1 })

/* 0 or -errno.  A process limit on address space makes the maximum smaller, not an error. */
int memfd_open(struct memfd *s);
/* For a job without processes here: memory of our own, which is less to make and to take down. */
int memfd_open_private(struct memfd *s);
/* A descriptor of the same memory that only reads, for clients; most jobs have none that asks.
 * It stays the segment's.  Or -errno. */
int memfd_reader(struct memfd *s);
void memfd_close(struct memfd *s); /* harmless twice */
/* At the end of the process: the mapping goes with it, which spares telling other processors. */
void memfd_leave(struct memfd *s);

#endif
