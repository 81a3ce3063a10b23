/* client_tasks.h - callbacks that are due, and waking whoever runs them (client_progress.h).
 *
 * Called with the client's lock held.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_TASKS_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_TASKS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/list.h"
#include "lib/pmix/client/client_thread.h"

struct client;

/* Work for the thread that runs callbacks; without the lock. */
struct client_task {
    struct list link;
    void (*run)(struct client_task *t);  /* t is its own from now on */
    void (*drop)(struct client_task *t); /* instead: it will not be run any more */
};

enum progress_kind { PROGRESS_THREAD, PROGRESS_PROGRAM, PROGRESS_LOOP };

struct progress {
    enum progress_kind kind;
    bool started, stopping;
    bool leaving, at_once; /* THREAD: it ends, when all tasks are done, or after this one */
    bool running;          /* a callback is running */
    pthread_t thread;      /* THREAD, started; or the thread that runs a callback */
    struct client_thread_cpus cpus; /* THREAD: where it runs */
    bool in_poll; /* the thread has the reader's role, and waits for wake_fd too */
    pthread_cond_t wake;
    int wake_fd; /* an eventfd, or -1 */
    struct list tasks;
    /* LOOP: the program's event base, and our two events in it. */
    void *base, *on_wake, *on_data;
};

/* It is run as soon as its turn comes; progress_need() has been called. */
void tasks_add(struct client *c, struct client_task *t);

/* There is something to write, or a new connection to read from. */
void tasks_kick(struct client *c);

/* Whether the caller is in a callback. */
bool tasks_inside(struct client *c);

#endif
