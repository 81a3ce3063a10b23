/* control.h - what people want of the launcher: signals, which the guard passes on, and the end of
 * the time that the job was given.  What each does depends on the phase: phase.def. */
#ifndef WIREUP_WIREUPD_CONTROL_H
#define WIREUP_WIREUPD_CONTROL_H

#include "wireupd/node_priv.h"

/* 0 or -errno.  Before anything is made that somebody would have to remove: until then the guard
 * kills us on a signal. */
int control_open(struct node *n);
void control_close(struct node *n);

/* What the node itself brings about. */
void control_job_up(struct node *n);    /* the first job begins */
void control_all_ended(struct node *n); /* all processes have ended */

/* The exit code for the user: after an interruption that of the signal. */
int control_code(const struct node *n);

#endif
