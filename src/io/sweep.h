/* sweep.h - clearing up files and directories that somebody else has named.
 *
 * The name is not trusted: no symbolic link is followed on the way to it or below it, only what
 * belongs to our own user goes, and mount points are not crossed.
 */
#ifndef WIREUP_IO_SWEEP_H
#define WIREUP_IO_SWEEP_H

#include <stdbool.h>

#include "base/slice.h"

struct sweep_order {
    struct slice path; /* absolute */
    int root;          /* the directory in which it is; 0: our own root */
    struct slice stay; /* names of files that stay, with commas */
    bool directory, recursive, empty_only, leave_top;
};

/* How many entries were removed, or -errno when the path could not be reached (-ENOENT: it is gone
 * already). */
int sweep(const struct sweep_order *o);

#endif
