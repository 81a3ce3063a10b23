/* loss.h - the loss of a node: why, and what becomes of jobs whose processes have gone with it. */
#ifndef WIREUP_WIREUPD_LOSS_H
#define WIREUP_WIREUPD_LOSS_H

#include "wireupd/share.h"

/* Launcher: why that daemon may be lost; the first reason counts. */
void loss_reason(struct share *s, uint32_t position, const char *why);

/* That daemon is lost, and the processes there are gone. */
void loss_position(struct share *s, uint32_t position);

void loss_free(struct share *s);

#endif
