/* remote_exec.h - starts daemons on other nodes: runs the commands (launch_methods.h), writes each
 * daemon its record, follows it until its link is up, and reports in one sentence why a node did
 * not come up within LIMIT_AGENT_UP_MS.
 *
 * - The owner reports by remote_exec_up() which daemons have linked, and by
 *   remote_exec_reaped() which children of the process have ended: one place reaps for all.
 * - The commands run until their daemons exit; a daemon exits when it is told to over its
 *   link, or has lost it.  remote_exec_end(): no more are started.  remote_exec_free() kills the
 *   commands that are left.
 * - Callbacks come from the loop and from remote_exec_reaped() only; they may not free the object.
 */
#ifndef WIREUP_DAEMON_REMOTE_EXEC_H
#define WIREUP_DAEMON_REMOTE_EXEC_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "daemon/daemon_state.h"
#include "daemon/launch_methods.h"
#include "daemon/bootstrap.h"

struct remote_exec;

struct remote_exec_calls {
    /* Writes the record for this daemon (BOOTSTRAP_BY_NAME: one for all).  0 or -errno. */
    int (*record)(void *arg, uint32_t position, struct buf *out);
    /* This daemon will not come up; never called after its remote_exec_up().  If one command was
     * for many daemons and has failed, there is one sentence, which names the first of them and
     * their number. */
    void (*on_failed)(void *arg, uint32_t position, const struct errmsg *why);
    /* A line from a node's daemon, or from its command, for the user. */
    void (*on_remark)(void *arg, const char *node, struct slice line);
    /* A connection to a DVM has ended, and with it perhaps the last command (remote_exec_idle());
     * of a process, remote_exec_reaped() says so.  NULL: nobody waits for that. */
    void (*on_ended)(void *arg);
};

struct remote_exec_config {
    struct loop *loop;
    struct agent_spec spec;        /* its strings must outlive this object */
    char *const *envp;             /* of the commands */
    struct daemon_states *daemons; /* of all daemons of the launch */
    struct remote_exec_calls calls;
    void *arg;
    uint32_t up_ms; /* 0: LIMIT_AGENT_UP_MS */
    bool verbose;   /* the commands' output is also for the user while all goes well */
};

struct remote_exec *remote_exec_new(const struct remote_exec_config *c, struct errmsg *err);
void remote_exec_free(struct remote_exec *a); /* NULL is fine */

/* Starts the daemons of these nodes, as many commands at a time as this machine bears
 * (start_window.h).  One that a busy sshd refuses is run again a little later, and a DVM whose
 * backlog is full is asked again.  The strings are copied.  0; BOOTSTRAP_BAD or -errno with one
 * sentence, and nothing was started. */
int remote_exec_start(struct remote_exec *a, const struct bootstrap_node *nodes, uint32_t n,
                      struct errmsg *err);

void remote_exec_up(struct remote_exec *a, uint32_t position); /* harmless for others' */
bool remote_exec_reaped(struct remote_exec *a, pid_t pid,
                        int status); /* true: it was one of our commands */
void remote_exec_end(struct remote_exec *a);
/* The same, and commands whose daemons are not up get SIGTERM: srun then gives its step back to
 * Slurm. */
void remote_exec_stop(struct remote_exec *a);
bool remote_exec_idle(const struct remote_exec *a); /* no command runs or is queued */

const char *remote_exec_how(const struct remote_exec *a); /* "ssh": the command to reach nodes */
bool remote_exec_waits(const struct remote_exec *a, uint32_t position); /* it is still awaited */

/* How the command of a daemon that was up has ended, for the report of its broken link: "ssh was
 * killed by SIGKILL".  False: it still runs, or there is none. */
bool remote_exec_how_ended(const struct remote_exec *a, uint32_t position, struct errmsg *how);

struct remote_exec_progress {
    uint32_t all, up, failed;
    const char *slowest; /* the node that has been awaited longest; NULL: none */
    const char *at;      /* the step it waits for: "ssh", "its link" */
    uint64_t since_ns;
};
void remote_exec_progress(const struct remote_exec *a, struct remote_exec_progress *p);

/* Times of the at-th daemon: its command was started, it reported that it runs, it was up; 0: not
 * known.  False: there are no more. */
struct remote_exec_times {
    uint32_t position;
    uint64_t asked_ns, runs_ns, up_ns;
};
bool remote_exec_times(const struct remote_exec *a, uint32_t at, struct remote_exec_times *t);

/* The path of the matching daemon program: wireupd in our own directory, or beside that directory
 * (in a build tree); else the bare name. */
void remote_exec_find_wireupd(char path[PATH_MAX]);

#endif
