/* control.h - the user's control of the launcher: signals, which the supervisor passes on, and the
 * time limit of the job.  The effect of each depends on the phase: phase.def. */
#ifndef WIREUP_DAEMON_CONTROL_H
#define WIREUP_DAEMON_CONTROL_H

#include "daemon/phase.h"
#include "io/loop.h"

struct control_socket;
struct end_progress;
struct launcher;
struct local_jobs;
struct node_context;
struct pending_queries;
struct processes;
struct shutdown;
struct tools;
struct trace_writer;

struct control_config {
    const struct node_context *context;
    struct local_jobs *jobs;
    struct processes *processes;
    struct launcher *launcher;
    struct pending_queries *pending_queries;
    struct trace_writer *trace_writer;
    struct shutdown *shutdown;
    /* These are found by others, and may not stay when the supervisor has gone. */
    struct tools *tools;
    struct control_socket *control_socket;
    struct end_progress *ends;
};

struct control {
    struct control_config config;
    enum phase_state phase; /* of the launcher: decides what a signal does */
    int ended_by;           /* the first signal that asked for the end; 0: none */
    bool late;              /* a time limit has asked for it */
    struct watch supervisor;
    struct timer timeout;  /* of the job */
    struct timer leaving;  /* of the processes that the first one to end leaves behind */
    bool some_ended;       /* that timer has been set */
    bool left_behind;      /* that it, and not the other one, ends the job */
    struct timer warning;  /* of the signal before it */
    struct timer patience; /* with processes and daemons that were asked to end */
};

/* 0 or -errno.  Call it before creating anything that would have to be removed: until then the
 * supervisor kills us on a signal. */
int control_open(struct control *u, const struct control_config *config);
void control_close(struct control *u);

/* Events that the node itself reports. */
void control_job_up(struct control *u); /* the first job begins */
void control_all_ended(void *control);  /* all processes have ended */
void control_stands(struct control *u); /* all daemons are up and stay, without a job */

/* The end of a turn: if a process of the first job has ended, the time of the others begins
 * (-exit-timeout). */
void control_turn(struct control *u);

/* A signal or the time limit has asked for the end. */
bool control_is_asked(const struct control *u);

/* The exit code for the user: after an interruption, that of the signal. */
int control_code(const struct control *u);

#endif
