/* client_timer.h - work that is due at a time.
 *
 * A thread of its own waits for the next one, started with the first: the thread that runs
 * callbacks may be the program's.  Called with the client's lock held. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_TIMER_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_TIMER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "lib/pmix/client/client_tasks.h"
#include "pmix_common.h"

struct client_timer {
    struct client_task task; /* runs when it is due; the caller sets run and drop */
    uint64_t at_ns;          /* UINT64_MAX: it is not waited for */
};

struct client_timers {
    struct list all; /* of the tasks' links; any order */
    pthread_cond_t wake;
    pthread_t thread;
    bool started, stopping;
};

void client_timers_init(struct client_timers *t);
void client_timers_stop(struct client *c); /* those that are left are dropped */
void client_timers_abandon(
    struct client_timers *t); /* in a forked child: the thread does not exist */

/* PMIX_ERR_OUT_OF_RESOURCE: no thread. */
pmix_status_t client_timer_start(struct client *c, struct client_timer *t, uint64_t after_ns);

/* It does not run any more, unless it runs now. */
void client_timer_stop(struct client_timer *t);

#endif
