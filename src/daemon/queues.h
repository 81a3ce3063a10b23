/* queues.h - the queues of the resource manager in whose job we run, as its own command tells them:
 * Slurm's partitions, by sinfo.
 *
 * The command runs beside the loop (side_command.h), once for each question, and is killed after
 * LIMIT_QUEUES_MS.
 */
#ifndef WIREUP_DAEMON_QUEUES_H
#define WIREUP_DAEMON_QUEUES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/slice.h"
#include "daemon/side_command.h"

struct node_context;

struct queues {
    const struct node_context *context; /* NULL: not open */
    struct side_commands commands;
    struct list all; /* struct queue_question */
};

void queues_open(struct queues *q, const struct node_context *c);
void queues_close(struct queues *q); /* done is not called; harmless twice, and on zeroed memory */

/* Lines `NAME STATE`; empty: the command has failed. */
typedef void queues_fn(void *arg, struct slice lines);

/* True: done is called once, later.  False: we are in no job of a resource manager that has queues,
 * or its command cannot be started. */
bool queues_ask(struct queues *q, queues_fn *done, void *arg);
/* done with this arg is not called any more. */
void queues_forget(struct queues *q, const void *arg);

/* A child of ours has been reaped.  True: it was such a command. */
bool queues_reaped(struct queues *q, pid_t pid, int status);

#endif
