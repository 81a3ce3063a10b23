/* foreign_launchers.h - connects between jobs of several launchers of one user on one machine: the
 * launcher's part (EFFECT_foreign_connect, EFFECT_foreign_state).
 *
 * A call names members by namespaces.  For each that is not known, the launcher that has the job is
 * searched for (launcher_search.h); the connection stays as a link (launcher_link.h), by which each
 * tells the other of its own jobs among the members, of the ends of their processes, and of the end
 * of the job.  When all are known, the call goes to the launcher that decides
 * (core/foreign_connect.h), which sends the members' modex values and the outcome to all others.
 *
 * The end of a link is the end of all processes of the jobs that are known by it.  A launcher ends
 * only processes that it has started: jobs of two launchers do not end together.
 */
#ifndef WIREUP_DAEMON_FOREIGN_LAUNCHERS_H
#define WIREUP_DAEMON_FOREIGN_LAUNCHERS_H

#include "core/foreign_connect.h"
#include "daemon/foreign_jobs.h"

struct op_foreign_connect;
struct op_foreign_state;

struct foreign_launchers {
    const struct node_context *context; /* NULL: not open */
    struct foreign_jobs *jobs;
    struct list links;
    struct list searches;
    struct list calls; /* that wait for searches */
    struct list asked; /* calls that another launcher decides about */
    struct foreign_connects connects;
    struct timer due; /* a time-out of these passes */
    uint32_t last_link;
    uint64_t last_ticket;
};

void foreign_launchers_open(struct foreign_launchers *d, const struct node_context *c,
                            struct foreign_jobs *jobs);
void foreign_launchers_close(
    struct foreign_launchers *d); /* harmless twice, and on zeroed memory */

/* A process calls; its answer follows, now or later. */
void foreign_launchers_connect(struct foreign_launchers *d, const struct op_foreign_connect *e);

/* A process of a job of this launcher has changed its state. */
void foreign_launchers_state(struct foreign_launchers *d, const struct op_foreign_state *e);
void foreign_launchers_job_ended(struct foreign_launchers *d, const struct job *j);

/* Another launcher asks for a link (`link VERSION NSPACE`).  True: it is made, on that connection,
 * which is taken over. */
bool foreign_launchers_accept(struct foreign_launchers *d, struct slice question, int fd);

#endif
