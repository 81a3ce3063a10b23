/* client_stdin.h - this process's own standard input, on its way to others (PMIX_IOF_PUSH_STDIN).
 *
 * A thread of its own reads it, and reads on when the last piece has been taken: a slow receiver
 * stops the reading, and nothing is lost.  At its end the input of the receivers ends.
 *
 * Called with the client's lock held.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_STDIN_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_STDIN_H

#include <pthread.h>
#include <stdbool.h>

#include "pmix_common.h"

struct client;

struct client_stdin {
    pthread_t thread;
    pthread_cond_t answered;
    int stop_fd;          /* an eventfd: readable, when no more is to be read */
    bool started;         /* the thread is to be joined */
    bool done;            /* it reads and sends nothing any more */
    bool awaited;         /* a piece is sent, and has not been taken */
    bool ending;          /* nothing is sent any more */
    pmix_status_t status; /* of the last piece */
    pmix_proc_t *procs;
    size_t nprocs;
};

void client_stdin_init(struct client_stdin *i);

/* Begins.  PMIX_ERR_RESOURCE_BUSY: it is read already; PMIX_ERR_NOMEM; PMIX_ERR_OUT_OF_RESOURCE: no
 * thread can read it. */
pmix_status_t client_stdin_start(struct client *c, const pmix_proc_t *procs, size_t nprocs);

/* As if the input had come to its end.  False: it is not read. */
bool client_stdin_close(struct client *c);

/* Waits for the thread; what has not been sent is not sent. */
void client_stdin_stop(struct client *c);

/* In a forked child: the thread does not exist there. */
void client_stdin_abandon(struct client_stdin *i);

#endif
