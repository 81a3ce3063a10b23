/* client_progress.h - running callbacks.
 *
 * Callbacks run one after the other, never in a thread that is in a call of its own: a program may
 * hold its locks while it waits for us.  So there is one place for them:
 *
 *   THREAD    a thread of ours, started when the first callback can become due
 *   PROGRAM   the program calls PMIx_Progress (PMIX_EXTERNAL_PROGRESS)
 *   LOOP      the program's event loop (PMIX_EVENT_BASE), through the libevent that it brought
 *
 * Called with the lock held unless noted otherwise.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_PROGRESS_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/list.h"
#include "lib/pmix/client/client_op.h"
#include "pmix_common.h"

void progress_init(struct progress *p);

/* Callbacks may be due from now on.  PMIX_SUCCESS, or PMIX_ERR_OUT_OF_RESOURCE: no thread can
 * run them. */
pmix_status_t progress_need(struct client *c);

/* Begins a call with a callback: sends the message, and ensures that the callback will be run.  It
 * takes the op over in any case. */
pmix_status_t progress_send(struct message *m, struct op *op);

/* The same for a call that is over already, with this status. */
pmix_status_t progress_complete(struct client *c, struct op *op, pmix_status_t status);

/* Reads the bytes that have arrived and runs due callbacks, without waiting; releases the lock for
 * callbacks. */
void progress_once(struct client *c);

/* Our thread ends, after all due callbacks (flush) or the one under way; from now on the program
 * calls PMIx_Progress.  Nothing happens without such a thread, or in a callback. */
void progress_hand_over(struct client *c, bool flush);

/* No more callbacks run; waits for one under way, unless the caller is in it. */
void progress_stop(struct client *c);

/* In a forked child: the thread does not exist there. */
void progress_abandon(struct progress *p);

#endif
