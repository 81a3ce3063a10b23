/* stacks.h - takes the stacks of this node's processes with a tool that is installed here: eu-stack
 * (elfutils), or gdb.
 *
 * As many tools run at a time as there are processors; each is started without a fork (io/child.h)
 * and has the time of LIMIT_STACK_MS, all together have LIMIT_STACKS_MS.  The server works on
 * meanwhile.  A process is stopped only while its tool reads it.
 */
#ifndef WIREUP_DAEMON_STACKS_H
#define WIREUP_DAEMON_STACKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/slice.h"

struct proc_looks;
struct node_context;

struct stacks {
    const struct node_context *context; /* NULL: not open */
    struct proc_looks *looks;
    struct list all; /* struct stack_round */
};

void stacks_open(struct stacks *s, const struct node_context *c, struct proc_looks *looks);
void stacks_close(struct stacks *s); /* done is not called; harmless twice, and on zeroed memory */

/* The part of this node: for each process its job + 1, rank, and stack; 0; then a text that says
 * why there are not all, or nothing (wire/parts.h). */
typedef void stacks_fn(void *arg, struct slice part);

/* job: name or number; empty: all.  done is called once: now or later. */
void stacks_begin(struct stacks *s, struct slice job, stacks_fn *done, void *arg);
/* done with this arg is not called any more. */
void stacks_forget(struct stacks *s, const void *arg);

/* A child of ours has been reaped.  True: it was a tool. */
bool stacks_reaped(struct stacks *s, pid_t pid);

/* What eu-stack or gdb has printed, as lines of a stack (report/stack_tree.h). */
void stacks_parse(struct slice text, struct buf *out);

#endif
