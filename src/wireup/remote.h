/* remote.h - the daemons of a job over several nodes, as the launcher sees them: they are started,
 * waited for, and told of by one sentence each when they do not come; then the job begins.
 */
#ifndef WIREUP_WIREUP_REMOTE_H
#define WIREUP_WIREUP_REMOTE_H

#include "base/map.h"
#include "wireup/node_failures.h"
#include "wireup/options.h"
#include "wireupd/child_daemons.h"
#include "wireupd/multinode.h"

struct remote {
    struct launch_options *opt;
    struct job_map *plan; /* of the first job */
    struct log log;
    struct node *node;
    struct multinode multinode;
    struct child_daemons child_daemons;
    struct bootstrap boot; /* what all daemons are told alike */
    struct arena arena;
    const char **names;             /* by position */
    const char **lost;              /* of remote_lost() */
    struct bind_machine **machines; /* by position, where they are asked; equal ones are the same */
    struct buf last_view;           /* of who has told last, and which one that was */
    struct bind_machine *last_machine;
    struct map by_name; /* … and by name, when all have told */
    uint32_t ntold;
    struct node_failures failures;
    struct timer more; /* the launch has failed: until all that fail are known */
    char host[256];
    char network[128]; /* of the interface, when it was given by our address */
    uint64_t since_ns;
    struct timer progress;
    void (*on_up)(void *arg); /* a standing system: all are there; NULL: the job begins */
    void *arg;
    uint32_t *slots;               /* by position */
    bool started, terminal, shown; /* … a progress line is on the screen */
    struct timer stopping;         /* what starts daemons has been asked to end */
    bool over;                     /* it has been given up: nothing more is to be said */
};

/* Starts the daemons of all nodes of the plan but this one; when they are there, the job begins.
 * Nothing was started when it fails.  0, or not, with a sentence. */
int remote_open(struct remote *f, struct launch_options *opt, struct node *node,
                struct job_map *plan, struct log log, struct errmsg *err);
void remote_close(struct remote *f); /* before the node is freed; harmless on zeroed memory */

/* The names of the nodes that are lost; how many (the list is the far's).  0 of them also when
 * there is no memory. */
uint32_t remote_lost(struct remote *f, const char *const **names_p);

/* How far they are. */
void remote_progress(const struct remote *f, struct node_progress *p);

/* A child of the launcher has ended that is no process of the job. */
void remote_reaped(struct remote *f, pid_t pid, int status);

#endif
