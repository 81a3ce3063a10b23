/* overhear.h - output of processes that somebody on another node listens to. */
#ifndef WIREUP_WIREUPD_OVERHEAR_H
#define WIREUP_WIREUPD_OVERHEAR_H

#include "wireupd/share.h"

/* EFFECT_LISTEN */
void overhear_ask(struct share *s, const struct effect *e);

/* MSG_listen or _said. */
void overhear_hear(struct share *s, const struct msg *m);

/* Somebody on another node listens to that process. */
bool overhear_wanted(const struct share *s, const struct job *j, uint32_t rank);
/* A process of ours has written something: for who listens on other nodes.  Whether anybody does.
 */
bool overhear_said(struct share *s, const struct job *j, uint32_t rank, uint16_t channel,
                   struct slice bytes);

#endif
