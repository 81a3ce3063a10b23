/* launcher_links.h - the other launchers of this user on this machine: searching for the one that
 * has a job, the links to them, and what goes over these about jobs.
 *
 * Each launcher tells the other of its own jobs that matter to it, of the ends of their processes,
 * and of the end of the job; what it learns becomes a foreign job (foreign_jobs.h).  The end of a
 * link is the end of all processes of the jobs that are known by it.  What else goes over links is
 * the owner's (foreign_launchers.h).
 */
#ifndef WIREUP_DAEMON_LAUNCHER_LINKS_H
#define WIREUP_DAEMON_LAUNCHER_LINKS_H

#include "daemon/foreign_jobs.h"
#include "daemon/launcher_link.h"

struct foreign_members;
struct op_foreign_state;

struct launcher_links_calls {
    /* A job has become known or is gone, a search or a link is over: what waits may go on. */
    void (*changed)(void *arg);
    /* No launcher has that job. */
    void (*not_found)(void *arg, const char *nspace);
    /* A process of a foreign job, or of an own one that others know, takes part in nothing more. */
    void (*gone)(void *arg, struct slice nspace, uint32_t rank);
    /* That link is closed, and its jobs are forgotten; `changed` follows. */
    void (*lost)(void *arg, uint32_t number);
    /* Another message.  False: it is none that a launcher sends. */
    bool (*message)(void *arg, struct launcher_link *k, const struct msg *m);
};

struct launcher_links {
    const struct node_context *context; /* NULL: not open */
    struct foreign_jobs *jobs;
    struct list all;
    struct list searches;
    const struct launcher_links_calls *calls;
    void *arg;
    uint32_t last; /* number of a link */
};

void launcher_links_open(struct launcher_links *d, const struct node_context *c,
                         struct foreign_jobs *jobs, const struct launcher_links_calls *calls,
                         void *arg);
void launcher_links_close(struct launcher_links *d); /* harmless twice, and on zeroed memory */

/* NULL: it is closed. */
struct launcher_link *launcher_links_numbered(const struct launcher_links *d, uint32_t number);

enum launcher_links_found {
    LAUNCHER_LINKS_KNOWN,
    LAUNCHER_LINKS_SEARCHED,
    LAUNCHER_LINKS_NO_MEMORY
};

/* Whether a job is known; if not, its launcher is searched for, and `changed` or `not_found`
 * follow. */
enum launcher_links_found launcher_links_find(struct launcher_links *d, struct slice nspace);

/* The launcher of each member learns of the own jobs among them. */
void launcher_links_announce(struct launcher_links *d, const struct foreign_members *m);

/* A process of a job of this launcher has changed its state. */
void launcher_links_state(struct launcher_links *d, const struct op_foreign_state *e);
void launcher_links_job_ended(struct launcher_links *d, const struct job *j);

/* Another launcher asks for a link (`link VERSION NSPACE`).  True: it is made, on that connection,
 * which is taken over. */
bool launcher_links_accept(struct launcher_links *d, struct slice question, int fd);

#endif
