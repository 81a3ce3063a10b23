/* help.h - help messages that processes send with PMIx_Log: the launcher shows each topic once, and
 * reports how many more processes have sent it. */
#ifndef WIREUP_DAEMON_HELP_H
#define WIREUP_DAEMON_HELP_H

#include "cluster/msg_address.h"
#include "core/core.h"
#include "core/help_topics.h"
#include "daemon/output.h"

struct op_help;
struct send_queue;

struct help {
    const struct core *core;
    struct output *output;
    const struct log *log;
    struct help_topics topics;
    struct timer timer; /* until the counted messages are reported */
    bool waiting;       /* the timer is set */
    bool hinted;        /* the hint how to see all messages has been printed */
};

void help_open(struct help *h, struct loop *l, const struct core *core, struct output *output,
               const struct log *log);
void help_close(struct help *h); /* harmless twice, and on zeroed memory */

/* EFFECT_help; queue: a daemon's, through which it goes to the launcher. */
void help_effect(struct help *h, const struct op_help *e, struct send_queue *queue);

/* Launcher: a help message forwarded by a daemon. */
void help_receive(struct help *h, const struct op_help *m);

/* Reports the counted messages now. */
void help_report(struct help *h);

#endif
