/* allocation.h - the nodes that a resource manager has given us, read from the environment in which
 * it started us.  One table (rm.c): how each is recognised, where it writes the nodes, how it
 * writes them.
 *
 * What is outside is asked by functions of the caller, so that tests bring files of their own.
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

enum { ALLOCATION_NONE = 2 }; /* beside HOSTS_BAD */

/* The nodes of the allocation we are in, and the name of its manager ("slurm").  wanted: that
 * manager and no other; NULL or "auto": whichever is there; "none": nobody is asked. 0;
 * ALLOCATION_NONE: there is none; HOSTS_BAD with the sentence; -ENOMEM. */
int allocation_read(const struct allocation_world *w, const char *wanted, struct arena *a,
                    struct host_list *list, const char **name_p, struct errmsg *err);

/* Only which one is there, by the same rules; NULL: none. */
const char *allocation_detect(const struct allocation_world *w, const char *wanted);

/* The word of -launcher by which daemons start there: "slurm", "ssh" ... */
const char *allocation_launcher(const char *name);

/* "slurm|pbs|..." */
const char *allocation_names(void);

#endif
