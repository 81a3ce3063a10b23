/* help.h - help messages that processes send with PMIx_Log: the launcher shows each topic once, and
 * reports how many more processes have sent it. */
#ifndef WIREUP_DAEMON_HELP_H
#define WIREUP_DAEMON_HELP_H

#include "core/help_topics.h"
#include "io/loop.h"
#include "cluster/msg.h"

struct op_help;

struct node;

struct help {
    struct help_topics topics;
    struct timer timer; /* until the counted messages are reported */
    bool waiting;       /* the timer is set */
    bool hinted;        /* the hint how to see all messages has been printed */
};

void help_open(struct node *n);
void help_close(struct node *n); /* harmless twice, and on zeroed memory */

/* EFFECT_help. */
void help_effect(struct node *n, const struct op_help *e);

/* Launcher: a help message forwarded by a daemon. */
void help_hear(struct node *n, const struct op_help *m);

/* Reports the counted messages now. */
void help_tell(struct node *n);

#endif
