/* remote.h - the daemons of a job over several nodes, as the launcher sees them: it starts them,
 * waits for them, and reports each failure in one sentence; when all are up, the job begins.
 */
#ifndef WIREUP_LAUNCH_REMOTE_H
#define WIREUP_LAUNCH_REMOTE_H

#include "base/map.h"
#include "launch/node_failures.h"
#include "launch/options.h"
#include "io/rendezvous.h"
#include "daemon/distant_launchers.h"
#include "daemon/child_daemons.h"
#include "daemon/cluster_io.h"
#include "daemon/shutdown.h"

struct remote {
    struct launch_options *opt;
    struct job_map *plan; /* of the first job */
    struct log log;
    struct node *node;
    struct cluster_io cluster;
    struct child_daemons child_daemons;
    struct bootstrap boot; /* the common record of all daemons */
    struct arena arena;
    const char **names;             /* by position */
    const char **lost;              /* result of remote_lost() */
    struct bind_machine **machines; /* by position, if requested; equal ones are shared */
    struct buf last_view;           /* the last report of hardware, and its machine */
    struct bind_machine *last_machine;
    struct map by_name; /* ... and by name, when all have reported */
    uint32_t nreported;
    struct node_failures failures;
    struct timer more; /* the launch has failed: waits until all failures are known */
    bool *failed;      /* by position: its failure has been reported */
    uint32_t settled;  /* no failure of those before this position is awaited */
    char host[256];
    char network[128]; /* of the interface, if it was given by our address */
    uint64_t since_ns;
    struct timer progress;
    void (*on_up)(void *arg); /* a DVM: all are up; NULL: the job begins */
    /* A DVM, once it is up, and a job that takes nodes while it runs: the daemon of a node that
     * joins is up, or will not come, or a daemon is lost (why: one sentence).  May be NULL. */
    void (*on_member)(void *arg, uint32_t position);
    void (*on_no_member)(void *arg, uint32_t position, struct slice why);
    void (*on_alive)(void *arg, uint32_t position); /* the answer to a probe; may be NULL */
    /* A launch whose nodes join (join_start.h): the job begins as soon as enough are there; until
     * then on_member() and on_no_member() tell of them, as in a DVM.  NULL: the nodes of the plan
     * are awaited. */
    bool (*enough)(void *arg);
    void (*counted)(void *arg, struct node_progress *p); /* ... and how many are there */
    void *arg;
    uint32_t *slots;         /* by position */
    struct rank_set members; /* ... at first; empty: all */
    uint32_t expected;     /* daemons that the launch waits for; the other positions have no node */
    bool terminal, shown;  /* ... a progress line is on the screen */
    struct timer stopping; /* the commands that start daemons have been asked to end */
};

/* The path of the daemon's program, beside ours: looked for once. */
const char *remote_find_wireupd(struct launch_options *o);

/* Asks that DVM for the daemons of the plan, as many as its launcher can be asked for at once, and
 * if they start through it: remote_open() finds what it was asked for in o->dvm_asked. */
void remote_ask_dvm(const struct launcher_name *dvm, struct launch_options *o,
                    const struct job_map *plan);

/* Starts the daemons of all nodes of the plan but this one; when they are up, the job begins. room:
 * so many nodes may join later (remote_add()).  0; else nothing was started, with a sentence in
 * err.
 */
/* How launchers on other machines are found, in that memory; NULL: they are not. */
const struct distant_launchers_config *remote_distant(const struct launch_options *o,
                                                      struct distant_launchers_config *room);

int remote_open(struct remote *f, struct launch_options *opt, struct node *node,
                struct job_map *plan, uint32_t room, struct log log, struct errmsg *err);

/* A DVM: gives a node that joins the next position; its name and user are copied.  0: there is none
 * left, or no memory. */
uint32_t remote_add(struct remote *f, const struct host *h);
/* The record of its daemon, which is nobody's to start: it joins by itself.  It is a secret.  0 or
 * -errno. */
int remote_record(struct remote *f, uint32_t position, struct buf *out);
/* Starts its daemon, by the launch method of all, at its parent, which must be up.  0 or -errno. */
int remote_start(struct remote *f, uint32_t position, uint32_t parent);
/* Whether a process may run there: it is up and, if that is requested, its hardware is known. */
bool remote_is_ready(const struct remote *f, uint32_t position);
/* It is not there any more, as the caller knows. */
void remote_lose(struct remote *f, uint32_t position, const char *why);

/* After remote_open(): goes on at once if there are no other nodes. */
void remote_go(struct remote *f);

void remote_close(struct remote *f); /* before the node is freed; harmless on zeroed memory */

/* The names of the nodes that are lost; returns their number (f owns the list).  Also 0 if there is
 * no memory. */
uint32_t remote_lost(struct remote *f, const char *const **names_p);

/* How a command of the user is run on that node (agent_reach()). */
int remote_reach(const struct remote *f, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err);

/* How many daemons are up. */
void remote_progress(const struct remote *f, struct node_progress *p);

/* A child of the launcher that is no process of the job has ended. */
void remote_reaped(struct remote *f, pid_t pid, int status);

#endif
