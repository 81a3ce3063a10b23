/* file_change.h - tells when a file has been written, or has got its name: another process of this
 * machine makes it.
 *
 * The directory is watched by inotify; while it does not exist, the nearest one above it is.  What
 * other machines write into a shared directory is not told, so the owner looks there from time to
 * time as well.
 */
#ifndef WIREUP_IO_FILE_CHANGE_H
#define WIREUP_IO_FILE_CHANGE_H

#include <limits.h>

#include "io/loop.h"

struct file_change {
    const char *path;
    char name[PATH_MAX]; /* what is awaited in the directory that is watched */
    int fd;              /* of inotify */
    struct watch watch;
    loop_fn *fn;
    void *arg;
};

/* fn comes from the loop: the file may have changed.  The path must outlive the object.  0, or
 * -errno: changes will not be told, and closing is harmless. */
int file_change_open(struct file_change *f, struct loop *l, const char *path, loop_fn *fn,
                     void *arg);
void file_change_close(struct file_change *f); /* harmless twice, and on zeroed memory */

#endif
