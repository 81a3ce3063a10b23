/* iof_forward.h - forwards output of processes to subscribers on other nodes. */
#ifndef WIREUP_WIREUPD_IOF_FORWARD_H
#define WIREUP_WIREUPD_IOF_FORWARD_H

#include "wireupd/multinode.h"

struct effect_listen;

/* EFFECT_listen */
void iof_forward_ask(struct multinode *s, const struct effect_listen *e);

/* MSG_listen or _iof_data. */
void iof_forward_hear(struct multinode *s, const struct msg *m);

/* Whether a subscriber on another node wants that process's output. */
bool iof_forward_wanted(const struct multinode *s, const struct job *j, uint32_t rank);
/* Sends output of a local process to its subscribers on other nodes.  True: there is one. */
bool iof_forward_said(struct multinode *s, const struct job *j, uint32_t rank, uint16_t channel,
                      struct slice bytes);

#endif
