/* dvm_zygote.h - the daemon program of a DVM's node, loaded once and forked for each launcher of a
 * job: its loader and libraries take longer than the start of a program on the node.
 *
 * A second way to start a process, as prefork.h is: what the process gets is the same, and
 * child_start() does what the zygote (io/zygote.h) cannot do.  It is loaded beside the first daemon
 * that is started as usual, so a DVM without jobs of `wireup run` has none.
 */
#ifndef WIREUP_DAEMON_DVM_ZYGOTE_H
#define WIREUP_DAEMON_DVM_ZYGOTE_H

#include "base/log.h"
#include "io/zygote.h"

enum dvm_zygote_state {
    DVM_ZYGOTE_NONE, /* it has not been needed yet */
    DVM_ZYGOTE_LOADING,
    DVM_ZYGOTE_READY,
    DVM_ZYGOTE_FAILED /* or was killed: it is not tried again */
};

struct dvm_zygote {
    enum dvm_zygote_state state;
    struct zygote zygote;
    const struct log *log;
};

/* The path of our own program's file as it is now.  False: it has none, or too long a one. */
bool dvm_zygote_own_path(char *path, size_t room);
/* Whether a command line is that path alone: a new version that has taken the place of ours is
 * started, and not forked. */
bool dvm_zygote_is_own(struct slice command);

/* The program is loaded. */
bool dvm_zygote_is_ready(const struct dvm_zygote *z);

/* Starts a process of our own program: path and argv are ours, all else is as in child_start(). 0
 * and its pid; DVM_ZYGOTE_NOT: it is to be started as usual.  The first call loads the program. */
enum { DVM_ZYGOTE_NOT = 1 };
int dvm_zygote_start(struct dvm_zygote *z, struct loop *loop, const struct log *log,
                     const struct child_plan *plan, pid_t *pid_p);

/* False: that child is none of ours. */
bool dvm_zygote_reaped(struct dvm_zygote *z, pid_t pid);

/* Ends the zygote, and not its children; then as zeroed memory.  Harmless twice, and on zeroed
 * memory. */
void dvm_zygote_close(struct dvm_zygote *z);

#endif
