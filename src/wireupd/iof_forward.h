/* iof_forward.h - output of processes that somebody on another node listens to. */
#ifndef WIREUP_WIREUPD_IOF_FORWARD_H
#define WIREUP_WIREUPD_IOF_FORWARD_H

#include "wireupd/multinode.h"

/* EFFECT_LISTEN */
void iof_forward_ask(struct multinode *s, const struct effect *e);

/* MSG_listen or _said. */
void iof_forward_hear(struct multinode *s, const struct msg *m);

/* Somebody on another node listens to that process. */
bool iof_forward_wanted(const struct multinode *s, const struct job *j, uint32_t rank);
/* A process of ours has written something: for who listens on other nodes.  Whether anybody does.
 */
bool iof_forward_said(struct multinode *s, const struct job *j, uint32_t rank, uint16_t channel,
                      struct slice bytes);

#endif
