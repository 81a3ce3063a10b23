/* control.h - the user's control of the launcher: signals, which the supervisor passes on, and the
 * time limit of the job.  The effect of each depends on the phase: phase.def. */
#ifndef WIREUP_DAEMON_CONTROL_H
#define WIREUP_DAEMON_CONTROL_H

#include "daemon/phase.h"
#include "io/loop.h"

struct node;

struct control {
    enum phase_state phase; /* of the launcher: decides what a signal does */
    int ended_by;           /* the first signal that asked for the end; 0: none */
    struct watch supervisor;
    struct timer timeout;  /* of the job */
    struct timer patience; /* with what was asked to end */
};

/* 0 or -errno.  Call it before creating anything that would have to be removed: until then the
 * supervisor kills us on a signal. */
int control_open(struct node *n);
void control_close(struct node *n);

/* Events that the node itself reports. */
void control_job_up(struct node *n); /* the first job begins */
void control_all_ended(void *node);  /* all processes have ended */

/* The exit code for the user: after an interruption, that of the signal. */
int control_code(const struct node *n);

#endif
