/* dvm_warm.h - the daemon of the next job on a node of a DVM: forked before anybody asks for it, it
 * is its two processes already, so a job waits for neither.
 *
 * It is what dvm_zygote_start() starts for any job, earlier: it has seen nothing of the jobs before
 * it, has opened nothing, and is used once.  There is at most one.  It is made when the daemon of a
 * job has ended, or some time after the last start, so a node without jobs of `wireup run` has
 * none; the daemons of jobs that begin at the same time are forked as before.  When its job begins
 * it is told so at once (BOOTSTRAP_BEGIN), and opens its ports while its launcher does.  It ends
 * with its standard input, and with us.
 */
#ifndef WIREUP_DAEMON_DVM_WARM_H
#define WIREUP_DAEMON_DVM_WARM_H

#include "daemon/dvm_zygote.h"

struct dvm_warm {
    struct dvm_zygote *zygote;
    struct loop *loop;
    const struct log *log;
    struct timer due;
    pid_t pid;   /* 0: there is none */
    int in, out; /* to its standard input, from its output */
};

void dvm_warm_open(struct dvm_warm *w, struct dvm_zygote *z, struct loop *loop,
                   const struct log *log);
/* Kills it.  Harmless twice, and on zeroed memory. */
void dvm_warm_close(struct dvm_warm *w);

/* The daemon of a job starts, or has ended: the next one is made a little later, unless another one
 * starts meanwhile. */
void dvm_warm_started(struct dvm_warm *w);
void dvm_warm_ended(struct dvm_warm *w);

/* Hands it over: its pid and our ends of its standard input and output, which is its standard error
 * as well.  False: there is none. */
bool dvm_warm_take(struct dvm_warm *w, pid_t *pid_p, int *in_p, int *out_p);

/* False: that child is none of ours. */
bool dvm_warm_reaped(struct dvm_warm *w, pid_t pid);

#endif
