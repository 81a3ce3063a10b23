/* cleanup.h - clearing up files and directories that somebody else has named.
 *
 * The name is not trusted: no symbolic link is followed on the way to it or below it, only what
 * belongs to one user goes, and mount points are not crossed.  Who sweeps for another user than
 * itself does so with that user's rights alone (io/act_as.h).
 */
#ifndef WIREUP_IO_CLEANUP_H
#define WIREUP_IO_CLEANUP_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/slice.h"
#include "core/control.h"
#include "core/effect.h"

struct cleanup_order {
    struct slice path; /* absolute */
    int root;          /* the directory in which it is; 0: our own root */
    struct slice stay; /* names of files that stay, with commas */
    uid_t uid;         /* only what belongs to this user goes */
    bool directory, recursive, empty_only, leave_top;
};

/* What EFFECT_CLEANUP asks for, in our own root. */
static inline struct cleanup_order cleanup_of(const struct effect *e)
{
    return (struct cleanup_order){ .path = effect_key(e),
                                   .stay = effect_value(e),
                                   .uid = geteuid(),
                                   .directory = e->number & SWEEP_DIRECTORY,
                                   .recursive = e->number & SWEEP_RECURSIVE,
                                   .empty_only = e->number & SWEEP_EMPTY_ONLY,
                                   .leave_top = e->number & SWEEP_LEAVE_TOP };
}

/* How many entries were removed, or -errno when the path could not be reached (-ENOENT: it is gone
 * already). */
int sweep(const struct cleanup_order *o);

#endif
