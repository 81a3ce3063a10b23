/* dvm_exec.h - programs that a DVM (`wireup up`) runs for launchers of the same user: it starts
 * their daemons on its nodes at once, faster than ssh.
 *
 * An execution is one program on one node; its standard input and output are a connection to the
 * requester (dvm_request.h: a launcher, or `wireup on NODE WORDS...`).  The DVM's launcher holds
 * the connection, the daemon holds the process; two channels join them.  The launcher of any job
 * may run programs in this way for itself, too (trace_collect.h).  Each launcher has its own
 * daemons, key and tree: a DVM knows nothing of their jobs and does not mix them.
 *
 * A daemon that outlives its launcher (up -keep) holds its executions: their requesters have gone
 * with the launcher, so their input ends and their output is dropped, but the processes go on.  The
 * next launcher is told how many there are.
 */
#ifndef WIREUP_DAEMON_DVM_EXEC_H
#define WIREUP_DAEMON_DVM_EXEC_H

#include "daemon/cluster_io.h"
#include "daemon/dvm_warm.h"
#include "daemon/dvm_zygote.h"

/* Channel numbers of an execution: DVM_EXEC_CHANNELS + 2 * number (in) and + 1 (out). */
enum { DVM_EXEC_CHANNELS = 16, DVM_EXEC_MOST = 4096 };

struct dvm_exec_list {
    struct cluster_io *cluster;
    struct list all;
    uint32_t next, count;
    struct list held;         /* on a daemon: processes whose requesters are gone */
    uint32_t *held_there;     /* launcher: their number by position; NULL: none */
    struct dvm_zygote zygote; /* on a daemon: of its own program */
    struct dvm_warm warm;     /* ... and the next job's daemon */
};

void dvm_execs_open(struct dvm_exec_list *e, struct cluster_io *s);
void dvm_execs_close(struct dvm_exec_list *e); /* harmless twice, and on zeroed memory */

/* Launcher: runs words (dvm_request_read()) for this connection; how it ends is written to that
 * socket (dvm_request_end_write()), -1: to none.  Both are taken over.  False: no such node, or too many
 * executions; err has the reason. */
bool dvm_exec_take(struct dvm_exec_list *e, struct slice words, int fd, int notify_fd,
                   struct errmsg *err);

/* Launcher: lets that node complete its own trace, and then run words (a command line for the
 * shell, in pieces) that print it; they get no input.  The output goes to a descriptor, which is
 * taken over. done is called once; whole: all of it has come.  False: no memory, or too many;
 * nothing is called.
 */
typedef void dvm_exec_done_fn(void *arg, bool whole);
bool dvm_exec_trace(struct dvm_exec_list *e, uint32_t position, const struct part_texts *words,
                    int out, dvm_exec_done_fn *done, void *arg);

/* Handles a message of proto/operations.def about executions; false: it is about something else. */
bool dvm_exec_receive(struct dvm_exec_list *e, const struct msg *m);

/* Daemon: a process has ended; false: it was not an execution's. */
bool dvm_exec_reaped(struct dvm_exec_list *e, pid_t pid, int status);

/* Daemon: ends all connections, and lets the processes go on; then as closed, until it is opened
 * again. */
void dvm_execs_hold(struct dvm_exec_list *e);
/* Their processes, for child_end_except(): the number, and a list for free(); NULL: no memory. */
pid_t *dvm_execs_held(const struct dvm_exec_list *e, size_t *n_p);
/* Tells the launcher how many are held, if there are any. */
void dvm_execs_report(struct dvm_exec_list *e);

/* Launcher: how many run on that node. */
uint32_t dvm_execs_at(const struct dvm_exec_list *e, uint32_t position);

/* A daemon is lost: its executions have ended. */
void dvm_execs_lost(struct dvm_exec_list *e, uint32_t position);

#endif
