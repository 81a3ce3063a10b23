/* remote_exec.h - starting daemons on other nodes: runs the commands (launch_methods.h), gives each
 * daemon its record, follows it until its link is up, and says in one sentence about each node that
 * does not come why, within LIMIT_AGENT_UP_MS.
 *
 *  - Who owns the agent tells it by remote_exec_up() which daemons have linked, and by
 * remote_exec_reaped() which children of the process have ended: one place reaps for all.
 *  - The commands stay until their daemons end, which they do when they are told so over their
 * links, or have lost them.  remote_exec_end(): no more are started.  remote_exec_free() kills what
 * is left.
 *  - Callbacks come from the loop and from remote_exec_reaped() only; they may not free the agent.
 */
#ifndef WIREUP_WIREUPD_REMOTE_EXEC_H
#define WIREUP_WIREUPD_REMOTE_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "wireupd/launch_methods.h"
#include "wireupd/bootstrap.h"

struct remote_exec;

struct remote_exec_calls {
    /* Writes the record for this daemon (BOOTSTRAP_BY_NAME: one for all).  0 or -errno. */
    int (*record)(void *arg, uint32_t position, struct buf *out);
    /* This daemon will not come; never after remote_exec_up() of it.  When one command was for many
     * and has failed, it is one sentence that names the first of them, and how many there are. */
    void (*on_failed)(void *arg, uint32_t position, const struct errmsg *why);
    /* A line that the daemon of a node, or its command, has for the user. */
    void (*on_remark)(void *arg, const char *node, struct slice line);
};

struct remote_exec_config {
    struct loop *loop;
    struct agent_spec spec; /* its strings live as long as the agent */
    char *const *envp;      /* of the commands */
    struct remote_exec_calls calls;
    void *arg;
    uint32_t up_ms; /* 0: LIMIT_AGENT_UP_MS */
    bool verbose;   /* what commands say while all goes well is for the user too */
};

struct remote_exec *remote_exec_new(const struct remote_exec_config *c, struct errmsg *err);
void remote_exec_free(struct remote_exec *a); /* NULL is fine */

/* Starts the daemons of these nodes, at most LIMIT_AGENT_AT_ONCE commands at a time.  The strings
 * are copied.  0; BOOTSTRAP_BAD or -errno with one sentence, and nothing was started. */
int remote_exec_start(struct remote_exec *a, const struct bootstrap_node *nodes, uint32_t n,
                      struct errmsg *err);

void remote_exec_up(struct remote_exec *a, uint32_t position); /* harmless for others' */
bool remote_exec_reaped(struct remote_exec *a, pid_t pid,
                        int status); /* true: it was one of ours */
void remote_exec_end(struct remote_exec *a);
/* The same, and commands whose daemons are not up are asked to end (SIGTERM): srun gives its step
 * back to Slurm then. */
void remote_exec_stop(struct remote_exec *a);
bool remote_exec_idle(const struct remote_exec *a); /* no command runs, and none is to be run */

/* Is that one still waited for; has every one come or failed? */
const char *remote_exec_how(const struct remote_exec *a); /* "ssh": what is run to reach nodes */
bool remote_exec_waits(const struct remote_exec *a, uint32_t position);
bool remote_exec_settled(const struct remote_exec *a);

/* How a command that was up has ended, for who saw the link of its daemon break: "ssh was killed by
 * SIGKILL".  False: it runs, or there is none. */
bool remote_exec_how_ended(const struct remote_exec *a, uint32_t position, struct errmsg *how);

struct remote_exec_progress {
    uint32_t all, up, failed;
    const char *slowest; /* the node that has been waited for longest; NULL: none */
    const char *at;      /* what it is about: "ssh", "its link" */
    uint64_t since_ns;
};
void remote_exec_progress(const struct remote_exec *a, struct remote_exec_progress *p);

/* When it was asked for the at-th daemon, when that said that it runs, and when it was up; 0: not
 * known.  False: there are no more. */
struct remote_exec_times {
    uint32_t position;
    uint64_t asked_ns, runs_ns, up_ns;
};
bool remote_exec_times(const struct remote_exec *a, uint32_t at, struct remote_exec_times *t);

/* The daemon's program that belongs to this one: wireupd in its folder, or beside that folder (as
 * built); else the bare name. */
void remote_exec_find_wireupd(char *path, size_t room);

#endif
