/* control.h - what people want of the launcher: signals, which the guard passes on, and the end of
 * the time that the job was given. */
#ifndef WIREUP_WIREUPD_CONTROL_H
#define WIREUP_WIREUPD_CONTROL_H

#include "wireupd/node_priv.h"

int control_open(struct node *n); /* 0 or -errno */
void control_close(struct node *n);

#endif
