/* agent.h - starting daemons on other nodes: runs the commands (agent_words.h), gives each daemon
 * its record, follows it until its link is up, and says in one sentence about each node that does
 * not come why, within LIMIT_AGENT_UP_MS.
 *
 *  - Who owns the agent tells it by agent_up() which daemons have linked, and by agent_reaped()
 * which children of the process have ended: one place reaps for all.
 *  - The commands stay until their daemons end, which they do when they are told so over their
 * links, or have lost them.  agent_end(): no more are started.  agent_free() kills what is left.
 *  - Callbacks come from the loop and from agent_reaped() only; they may not free the agent.
 */
#ifndef WIREUP_WIREUPD_AGENT_H
#define WIREUP_WIREUPD_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "wireupd/agent_words.h"
#include "wireupd/boot.h"

struct agent;

struct agent_calls {
    /* Writes the record for this daemon (BOOT_BY_NAME: one for all).  0 or -errno. */
    int (*record)(void *arg, uint32_t position, struct buf *out);
    /* This daemon will not come; never after agent_up() of it.  When one command was for many and
     * has failed, it is one sentence that names the first of them, and how many there are. */
    void (*on_failed)(void *arg, uint32_t position, const struct errmsg *why);
    /* A line that the daemon of a node, or its command, has for the user. */
    void (*on_remark)(void *arg, const char *node, struct slice line);
};

struct agent_config {
    struct loop *loop;
    struct agent_spec spec; /* its strings live as long as the agent */
    char *const *envp;      /* of the commands */
    struct agent_calls calls;
    void *arg;
    uint32_t up_ms; /* 0: LIMIT_AGENT_UP_MS */
    bool verbose;   /* what commands say while all goes well is for the user too */
};

struct agent *agent_new(const struct agent_config *c, struct errmsg *err);
void agent_free(struct agent *a); /* NULL is fine */

/* Starts the daemons of these nodes, at most LIMIT_AGENT_AT_ONCE commands at a time.  The strings
 * are copied.  0; BOOT_BAD or -errno with one sentence, and nothing was started. */
int agent_start(struct agent *a, const struct boot_node *nodes, uint32_t n, struct errmsg *err);

void agent_up(struct agent *a, uint32_t position);         /* harmless for others' */
bool agent_reaped(struct agent *a, pid_t pid, int status); /* true: it was one of ours */
void agent_end(struct agent *a);
/* The same, and commands whose daemons are not up are asked to end (SIGTERM): srun gives its step
 * back to Slurm then. */
void agent_stop(struct agent *a);
bool agent_idle(const struct agent *a); /* no command runs, and none is to be run */

/* Is that one still waited for; has every one come or failed? */
const char *agent_how(const struct agent *a); /* "ssh": what is run to reach nodes */
bool agent_waits(const struct agent *a, uint32_t position);
bool agent_settled(const struct agent *a);

/* How a command that was up has ended, for who saw the link of its daemon break: "ssh was killed by
 * SIGKILL".  False: it runs, or there is none. */
bool agent_how_ended(const struct agent *a, uint32_t position, struct errmsg *how);

struct agent_progress {
    uint32_t all, up, failed;
    const char *slowest; /* the node that has been waited for longest; NULL: none */
    const char *at;      /* what it is about: "ssh", "its link" */
    uint64_t since_ns;
};
void agent_progress(const struct agent *a, struct agent_progress *p);

/* When it was asked for the at-th daemon, when that said that it runs, and when it was up; 0: not
 * known.  False: there are no more. */
struct agent_times {
    uint32_t position;
    uint64_t asked_ns, runs_ns, up_ns;
};
bool agent_times(const struct agent *a, uint32_t at, struct agent_times *t);

/* The daemon's program that belongs to this one: wireupd in its folder, or beside that folder (as
 * built); else the bare name. */
void agent_find_wireupd(char *path, size_t room);

#endif
