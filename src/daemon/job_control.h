/* job_control.h - carries out requests of processes to their process manager: signals, paths to
 * clean up, lines for a log, credentials. */
#ifndef WIREUP_DAEMON_JOB_CONTROL_H
#define WIREUP_DAEMON_JOB_CONTROL_H

#include "daemon/node.h"

struct effect;

/* EFFECT_signal, _root, _cleanup, _place, _log or _credential. */
void job_control_carry_out(struct node *n, const struct effect *e);

#endif
