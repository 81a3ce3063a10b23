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
#ifndef WIREUP_LIB_PMIX_CLIENT_PROGRESS_H
#define WIREUP_LIB_PMIX_CLIENT_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/list.h"
#include "lib/pmix/client_op.h"
#include "pmix_common.h"

enum progress_kind { PROGRESS_THREAD, PROGRESS_PROGRAM, PROGRESS_LOOP };

struct progress {
    enum progress_kind kind;
    bool started, stopping;
    bool running;     /* a callback is running */
    pthread_t thread; /* THREAD, started; or the thread that runs a callback */
    bool in_poll;     /* the thread has the reader's role, and waits for wake_fd too */
    pthread_cond_t wake;
    int wake_fd; /* an eventfd, or -1 */
    struct list tasks;
    /* LOOP: the program's event base, and our two events in it. */
    void *base, *on_wake, *on_data;
};

void progress_init(struct progress *p);

/* Callbacks may be due from now on.  PMIX_SUCCESS, or PMIX_ERR_OUT_OF_RESOURCE: no thread can
 * run them. */
pmix_status_t progress_need(struct client *c);

void progress_add(struct client *c, struct task *t);

/* There is something to write, or a new connection to read from. */
void progress_kick(struct client *c);

/* Reads what has arrived and runs due callbacks, without waiting; releases the lock for
 * callbacks. */
void progress_once(struct client *c);

/* No more callbacks run; waits for one under way, unless the caller is in it. */
void progress_stop(struct client *c);

/* Whether the caller is in a callback. */
bool progress_inside(struct client *c);

/* In a forked child: the thread does not exist there. */
void progress_abandon(struct progress *p);

#endif
