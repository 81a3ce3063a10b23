/* dvm_members.h - nodes that join a DVM and leave it while it stands.
 *
 * A request is a line on a connection to the DVM's launcher (daemon/control_socket.h), which goes
 * on as the request's:
 *
 *     grow HOSTS                 HOSTS as of -hosts.  Answers, in any order, a line for each node:
 *                                `up NAME SLOTS` or `failed NAME SENTENCE`
 *     more N                     N nodes, wherever the resource manager gives them, from a job of
 *                                its own (launch/second_jobs.h).  Answers `submitted ID MANAGER`,
 *                                and when all have come an `up` line for each
 *     shrink now|wait|drain NODES   NODES: names with commas.  For each node: `left NAME`, or
 *                                `draining NAME PROCESSES` (drain)
 *     job NODES grow|more ...    the same for a job, from this process (daemon/dvm_growth.h): NODES
 *                                (or -), of the DVM or new, are what it may use then, and leave at
 *                                the earliest when the connection ends, or anything comes on it
 *
 * The last line is `end`, or `error: SENTENCE` if nothing has been changed.
 *
 * A node that joins gets a position that no node has had, and is started by its parent in the tree,
 * once that is a member.  A node that is to leave gets no new jobs, and leaves when no process of a
 * job is on it: `now` is refused while there are some, or while it is reserved (and waits while a
 * job that starts or spawns has yet to say whether it uses the node); `wait` answers at
 * the end, and is called off when the connection ends before; `drain` answers at once.  `grow` of a
 * node that leaves keeps it if it only drains and nobody waits for its end, else lets it join again
 * when it has left.
 *
 * `more` gets all of its nodes or none.  They get jobs when its connection ends after that: so who
 * has asked for them can have them first.  Before, they are held; if one does not come, or the
 * connection ends, the job is cancelled, those that have come leave, and later ones are refused.
 *
 * A node that comes by itself under the name of another one waits until that one has left, if it
 * leaves; else that one is asked for an answer: it is there, and the node is refused, or it is
 * lost, and the node gets its place.
 */
#ifndef WIREUP_LAUNCH_DVM_MEMBERS_H
#define WIREUP_LAUNCH_DVM_MEMBERS_H

#include "daemon/dvm_exec.h"
#include "daemon/dvm_leases.h"
#include "launch/joins.h"
#include "launch/joins_probe.h"
#include "launch/coming_node.h"
#include "launch/remote.h"

struct dvm_member;

struct dvm_members_config {
    const char *name; /* of the DVM */
    struct remote *remote;
    struct dvm_leases *leases;
    const struct dvm_exec_list *execs;
    struct job_map *plan; /* what jobs of tools are like: gets the nodes that join */
    /* A node joins or leaves; code: of wireup_client.h. */
    void (*news)(void *arg, int code, const char *name, uint32_t slots);
    void (*judged)(void *arg); /* dvm_members_place() knows more about nodes that it let wait */
    /* Asks the resource manager for so many nodes, and not for those (names with commas); the
     * number of the request.  0; else a sentence.  NULL: there is none. */
    int (*submit)(void *arg, uint32_t nodes, const char *without, uint32_t *request_p,
                  struct errmsg *err);
    void (*came)(void *arg, uint32_t request);    /* all of them have */
    void (*give_up)(void *arg, uint32_t request); /* nobody waits for them any more */
    void *arg;
};

struct dvm_members {
    struct dvm_members_config config;
    struct dvm_member *all; /* by position; NULL: not open */
    struct list requests;
    const char **unusable;
    bool turning, again; /* something has changed; … meanwhile */
    struct joins_probe probe;
};

/* After remote_open().  0 or -ENOMEM. */
int dvm_members_open(struct dvm_members *m, const struct dvm_members_config *config);
void dvm_members_close(struct dvm_members *m); /* harmless twice, and on zeroed memory */

/* The connection, taken over, and the request line. */
void dvm_members_take(struct dvm_members *m, int fd, struct slice words);

/* Gives a node that has come by itself (launch/joins.h) its position.  0; JOINS_REFUSED with a
 * sentence; JOINS_LATER: the DVM is not up yet, or a node of that name is there still. */
int dvm_members_place(struct dvm_members *m, const struct join_request *q, uint32_t *position_p,
                      struct errmsg *err);

/* The resource manager has taken a job for that request, or no node comes of it any more. */
void dvm_members_submitted(struct dvm_members *m, uint32_t request, const char *manager,
                           const char *id);
void dvm_members_over(struct dvm_members *m, uint32_t request, const char *why);

/* The daemon of a node that joins is up, or will not come. */
void dvm_members_up(struct dvm_members *m, uint32_t position);
void dvm_members_failed(struct dvm_members *m, uint32_t position, struct slice why);
void dvm_members_alive(struct dvm_members *m, uint32_t position); /* it has answered */
/* Processes may have ended, or nodes been lost. */
void dvm_members_changed(struct dvm_members *m);

enum dvm_node_use dvm_members_use(const struct dvm_members *m, uint32_t position);
/* The names of nodes that get no jobs: lost, leaving, or not up yet.  Returns their number; the
 * list is valid until the next call. */
uint32_t dvm_members_unusable(struct dvm_members *m, const char *const **names_p);

#endif
