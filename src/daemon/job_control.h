/* job_control.h - carries out requests of processes to their process manager: paths to clean up,
 * session directories, lines for a log, credentials, looks at monitored files.  (Signals:
 * signals.h.)
 */
#ifndef WIREUP_DAEMON_JOB_CONTROL_H
#define WIREUP_DAEMON_JOB_CONTROL_H

#include "io/file_looker.h"
#include "io/session_dir.h"
#include "server/server.h"
#include "daemon/leftovers.h"
#include "daemon/output.h"
#include "daemon/proc_root.h"
#include "daemon/node_context.h"

struct job_control_config {
    const struct node_context *context;
    struct server *server;
    struct output *output;
    struct session_dir *sessions; /* or NULL */
    struct leftovers *leftovers;  /* or NULL */
    const struct log *log;
};

struct job_control {
    struct job_control_config config;
    struct proc_roots roots;
    struct file_looker looker;
    unsigned char *own_key; /* of tokens, when there are no other daemons (io/secret.h); or NULL */
    bool has_key;
    bool session_dir_warned; /* warned that the session directory cannot be created */
    bool list_is_old;        /* the leftovers are not yet what is registered now */
    bool cleanup_warned;     /* warned that something cannot be cleaned up */
};

/* conns: those of the processes. */
void job_control_open(struct job_control *c, const struct job_control_config *config,
                      const struct peer_conns *conns);
void job_control_close(struct job_control *c); /* harmless on zeroed memory */

/* EFFECT_proc_root, _cleanup, _session_dir, _log, _credential or _file_look. */
void job_control_carry_out(struct job_control *c, const struct effect *e);
/* All effects so far have been carried out. */
void job_control_drained(struct job_control *c);

#endif
