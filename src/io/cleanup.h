/* cleanup.h - removes files and directories that a client has named.
 *
 * The name is not trusted: no symbolic link is followed on the way to it or below it, only entries
 * that belong to one user are removed, and mount points are not crossed.  A process that cleans up
 * for another user does so with that user's rights alone (io/act_as.h).
 */
#ifndef WIREUP_IO_CLEANUP_H
#define WIREUP_IO_CLEANUP_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/slice.h"

struct cleanup_order {
    struct slice path; /* absolute */
    int root;          /* the root directory of the path; 0: our own */
    struct slice stay; /* names of files to keep, comma-separated */
    uid_t uid;         /* only entries of this user are removed */
    bool directory, recursive, empty_only, leave_top;
};

/* The number of entries removed, or -errno when the path could not be reached (-ENOENT: it is gone
 * already). */
int cleanup_run(const struct cleanup_order *o);

/* Removes the System V shared memory segment with that number, in decimal, if the user owns it and
 * has made it.  0; -EPERM: another user's; -ENOENT: there is none; or -errno. */
int cleanup_segment(struct slice number, uid_t uid);

#endif
