/* allocation.h - the nodes that a resource manager has given us, read from the environment in which
 * it started us.  One table (allocation.c): how each manager is recognised, where it writes the
 * nodes, and in which format.
 *
 * Files and programs are read through functions of the caller, so that tests bring their own.
 */
#ifndef WIREUP_WIREUP_ALLOCATION_H
#define WIREUP_WIREUP_ALLOCATION_H

#include "base/buf.h"
#include "wireup/hosts.h"

struct allocation_world {
    char *const *envp;
    int (*read_file)(void *arg, const char *path, struct buf *out);  /* 0 or -errno */
    int (*run)(void *arg, const char *const *argv, struct buf *out); /* its output; likewise */
    void *arg;
};

enum { ALLOCATION_NONE = 2 }; /* in addition to HOSTS_BAD */

/* The nodes of our allocation, and the name of its manager ("slurm").  wanted: only that manager;
 * NULL or "auto": any that is detected; "none": no manager.  0; ALLOCATION_NONE: there is none;
 * HOSTS_BAD with the sentence; -ENOMEM. */
int allocation_read(const struct allocation_world *w, const char *wanted, struct arena *a,
                    struct host_list *list, const char **name_p, struct errmsg *err);

/* Only detects the manager, by the same rules; NULL: none. */
const char *allocation_detect(const struct allocation_world *w, const char *wanted);

/* The -launcher value that starts daemons there: "slurm", "ssh" ... */
const char *allocation_launcher(const char *name);

#endif
