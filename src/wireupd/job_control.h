/* job_control.h - what processes have asked their process manager to do, carried out: signals,
 * paths to be cleared up, lines for a log, credentials. */
#ifndef WIREUP_WIREUPD_JOB_CONTROL_H
#define WIREUP_WIREUPD_JOB_CONTROL_H

#include "wireupd/node.h"

/* EFFECT_SIGNAL, _ROOT, _SWEEP, _LOG or _CREDENTIAL; the effect is dropped. */
void job_control_carry_out(struct node *n, struct effect *e);

#endif
