/* loss.h - the loss of a node: its processes have gone with it, and the launcher decides what
 * becomes of their jobs. */
#ifndef WIREUP_WIREUPD_LOSS_H
#define WIREUP_WIREUPD_LOSS_H

#include "wireupd/node_priv.h"

/* Launcher: a daemon that was below us has gone. */
void loss_node(struct node *n, uint32_t position, const char *why);

#endif
