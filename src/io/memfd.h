/* memfd.h - the job store's memory: an anonymous file that children can map read-only.
 *
 * A memfd: no name in any directory, nothing to clean up.  It is mapped once with all the address
 * space it may ever need, and grows in place.  It is sealed so that nobody can shrink it under a
 * reader.
 */
#ifndef WIREUP_IO_MEMFD_H
#define WIREUP_IO_MEMFD_H

#include "store/store_write.h"

struct memfd {
    struct seg_region region;
    int fd;        /* ours, writable; -1: the memory is private */
    int reader_fd; /* of memfd_reader(), or -1 */
};

#define MEMFD_NULL ((struct memfd){ .fd = -1, .reader_fd = -1 })

/* 0 or -errno.  A process limit on address space lowers the maximum; it is no error. */
int memfd_open(struct memfd *s);
/* For a job without processes here: private memory, which is cheaper to set up and to tear down. */
int memfd_open_private(struct memfd *s);
/* A read-only descriptor of the same memory, for clients; made on demand, since in most jobs none
 * asks.  It is owned by the segment.  Or -errno. */
int memfd_reader(struct memfd *s);
void memfd_close(struct memfd *s); /* harmless twice */
/* At the end of the process: the mapping is left to the exit, which spares a TLB shootdown. */
void memfd_leave(struct memfd *s);

#endif
