/* foreign_jobs.h - jobs of other launchers that are known on this node.
 *
 * Nothing here starts, signals or awaits their processes.  The launcher learns of them
 * (foreign_launchers.h), numbers them, and passes on to its daemons what it learns, so that all
 * nodes know the same.
 */
#ifndef WIREUP_DAEMON_FOREIGN_JOBS_H
#define WIREUP_DAEMON_FOREIGN_JOBS_H

#include "core/proc_state.h"
#include "daemon/node_context.h"
#include "io/memfd.h"

struct msg;

struct foreign_job {
    struct list link;
    struct memfd store;
    struct job *job;
    uint32_t from; /* launcher: the link by which it is known; elsewhere 0 */
};

struct foreign_jobs {
    const struct node_context *context; /* NULL: not open */
    struct list all;
};

void foreign_jobs_open(struct foreign_jobs *f, const struct node_context *c);
void foreign_jobs_close(struct foreign_jobs *f); /* harmless twice, and on zeroed memory */

struct foreign_job *foreign_jobs_named(const struct foreign_jobs *f, struct slice nspace);

/* ---- the launcher: all daemons are told, too ------------------------------------------------- */

/* A new one, by its packed map.  0, 1 (malformed) or -ENOMEM, with a sentence. */
int foreign_jobs_add(struct foreign_jobs *f, struct slice nspace, struct slice plan, uint32_t from,
                     struct errmsg *err);
void foreign_jobs_state(struct foreign_jobs *f, const struct job *j, uint32_t rank,
                        enum proc_event event, int code);
void foreign_jobs_values(struct foreign_jobs *f, const struct job *j, struct slice block);
/* These processes have connected or disconnected (core/proc_connect.h); j is one of their jobs. */
void foreign_jobs_connected(struct foreign_jobs *f, const struct job *j, bool on,
                            struct slice procs);
void foreign_jobs_remove(struct foreign_jobs *f, struct foreign_job *j);

/* ---- a daemon -------------------------------------------------------------------------------- */

/* MSG_foreign_job, _foreign_gone. */
void foreign_jobs_receive(struct foreign_jobs *f, const struct msg *m);

#endif
