/* allocation.h - the nodes that a resource manager has given us, read from the environment in which
 * it started us.  One table says how each manager is recognised, how daemons are started there, and
 * which function of allocation.c reads its nodes; options and messages take its names from there.
 *
 * Files and programs are read through functions of the caller, so that tests bring their own.
 */
#ifndef WIREUP_LAUNCH_ALLOCATION_H
#define WIREUP_LAUNCH_ALLOCATION_H

#include "base/buf.h"
#include "launch/hosts.h"

/* One row for each resource manager, the first that is recognised is taken.
 *
 * X(name, launcher, inside, reader, signs...):
 * - launcher: the launch method (daemon/launch_methods.h)
 * - inside: the commands that make an allocation, if the launch method works only in one; or NULL
 * - reader: the end of the name of a function read_... in allocation.c
 * - signs: one of these variables must be set
 *
 * Cobalt and OAR also set PBS's variable, for programs that know only PBS.  The first program of a
 * Flux instance that no Flux has started (flux start, the Flux Operator) knows its instance by
 * FLUX_URI alone. */
#define RESOURCE_MANAGERS(X)                                                                       \
    X("slurm", "slurm", "salloc or sbatch", slurm, "SLURM_JOB_NODELIST", "SLURM_NODELIST")         \
    X("flux", "flux", NULL, flux, "FLUX_URI")                                                      \
    X("lsf", "lsf", "bsub", lsf, "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS")               \
    X("sge", "sge", "qsub", sge, "PE_HOSTFILE")                                                    \
    X("cobalt", "ssh", NULL, cobalt, "COBALT_NODEFILE")                                            \
    X("oar", "ssh", NULL, oar, "OAR_NODEFILE", "OAR_NODE_FILE")                                    \
    X("loadleveler", "ssh", NULL, loadleveler, "LOADL_HOSTFILE")                                   \
    X("pbs", "ssh", "qsub", pbs, "PBS_NODEFILE")

#define ALLOCATION_NAME(name, ...) ", " name
/* ", slurm, flux ...": for help and messages. */
#define ALLOCATION_NAMES RESOURCE_MANAGERS(ALLOCATION_NAME)

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

/* NULL: daemons can be started by this -launcher value, or it is not the name of a manager.  Else
 * the commands that make the allocation it needs, because we are in none. */
const char *allocation_needed(const struct allocation_world *w, const char *launcher);

/* The managers as a table in Markdown, for docs/batch-systems.md. */
void allocation_table(struct buf *out);

/* The -launcher value that starts daemons there: "slurm", "ssh" ... */
const char *allocation_launcher(const char *name);

#endif
