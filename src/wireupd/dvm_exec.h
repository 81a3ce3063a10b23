/* dvm_exec.h - what a standing system (`wireup up`) does for launchers of the same user: it starts
 * their daemons on its nodes, at once, where ssh would take its time.
 *
 * An errand is one program on one node, its standard input and its output a connection to who asked
 * (`wireup on NODE WORDS...`, called as ssh is).  The launcher of the standing system has the
 * connection, the daemon the process; in between are two channels.  Each launcher has its own
 * daemons, key and tree: a standing system knows nothing of their jobs, and they do not meet in it.
 */
#ifndef WIREUP_WIREUPD_DVM_EXEC_H
#define WIREUP_WIREUPD_DVM_EXEC_H

#include "wireupd/multinode.h"

/* Its channels have the numbers DVM_EXEC_CHANNELS + 2 * number (in) and + 1 (out). */
enum { DVM_EXEC_CHANNELS = 16, DVM_EXEC_MOST = 4096 };

struct dvm_exec_list {
    struct multinode *multinode;
    struct list all;
    uint32_t next, count;
};

void dvm_execs_open(struct dvm_exec_list *e, struct multinode *s);
void dvm_execs_close(struct dvm_exec_list *e); /* harmless twice, and on zeroed memory */

/* Launcher: words (the first is the node, blanks between, %XX for what is special) for this
 * connection, which is taken over.  False: no such node, or too many; err says why. */
bool dvm_exec_take(struct dvm_exec_list *e, struct slice words, int fd, struct errmsg *err);

/* A message of proto/overlay.def that concerns errands; false: it does not. */
bool dvm_exec_hear(struct dvm_exec_list *e, const struct msg *m);

/* A daemon: the process of an errand has ended; false: it was none. */
bool dvm_exec_reaped(struct dvm_exec_list *e, pid_t pid);

/* A daemon is lost: what ran there has ended. */
void dvm_execs_lost(struct dvm_exec_list *e, uint32_t position);

#endif
