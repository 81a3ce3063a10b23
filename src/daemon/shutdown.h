/* shutdown.h - the end of the node.
 *
 * When all jobs have ended (job_shutdown.h), leftovers of processes are removed, then the last
 * output is written; only then does the loop stop.  With other nodes, the launcher first tells the
 * daemons to exit and waits for their output and the end of their links; a daemon ends its
 * processes, sends its output, and waits for the daemons below it.  The tables of launcher_state.h
 * and own_state.h hold the order; this module carries their actions out.
 */
#ifndef WIREUP_DAEMON_SHUTDOWN_H
#define WIREUP_DAEMON_SHUTDOWN_H

#include "daemon/launcher_state.h"

struct job_shutdown;
struct launcher;
struct local_jobs;
struct node_context;
struct processes;

/* Functions of the owner. */
struct shutdown_calls {
    void (*all_ended)(void *arg); /* all processes have ended */
    /* A daemon removes the files by which others could still find it: the launcher's end, which
     * follows, may take this process with it. */
    void (*clean_up)(void *arg);
    void *arg;
};

struct shutdown {
    const struct node_context *context;
    struct local_jobs *jobs;
    struct processes *processes;
    struct launcher *launcher;
    struct job_shutdown *job_shutdown;
    struct shutdown_calls calls;
};

/* The end of every turn: ends the node if no job runs any more. */
void shutdown_seek(struct shutdown *d);
/* Stops the loop if nothing is left to write. */
void shutdown_check(void *shutdown);

/* Ends now, with this exit code: before a job was started. */
void shutdown_give_up(struct shutdown *d, int exit_code);
/* Launcher: all daemons end.  A daemon: it has been told to exit. */
void shutdown_quit(struct shutdown *d);
/* This node cannot stay in the job; a daemon ends, the launcher gives up. */
void shutdown_failed(struct shutdown *d, const char *why);
/* A daemon: the launcher cannot be reached, or a signal wants the end. */
void shutdown_orphan(struct shutdown *d);

/* All streams between this daemon and the launcher, or all of the launcher's, have ended. */
void shutdown_streams_over(struct shutdown *d);
/* All links are closed. */
void shutdown_links_closed(struct shutdown *d);
/* Launcher, in the state LAUNCHER_STATE_STOPPING: the commands that started daemons are gone. */
void shutdown_commands_ended(struct shutdown *d);

#endif
