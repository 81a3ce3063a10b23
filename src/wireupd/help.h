/* help.h - help messages that processes send by PMIx_Log: the launcher shows each topic once, and
 * tells how many more have sent it. */
#ifndef WIREUP_WIREUPD_HELP_H
#define WIREUP_WIREUPD_HELP_H

#include "core/effect.h"
#include "core/help_topics.h"
#include "io/loop.h"
#include "overlay/msg.h"

struct node;

struct help {
    struct help_topics topics;
    struct timer timer; /* to tell who has been counted meanwhile */
    bool waiting;       /* it is set */
    bool hinted;        /* how to see all of them has been told */
};

void help_open(struct node *n);
void help_close(struct node *n); /* harmless twice, and on zeroed memory */

/* EFFECT_HELP; it is taken over. */
void help_effect(struct node *n, struct effect *e);

/* The launcher: a daemon passes one on. */
void help_hear(struct node *n, const struct msg_help *m);

/* Tells who has been counted, now. */
void help_tell(struct node *n);

#endif
