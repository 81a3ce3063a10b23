/* client_thread.h - threads of the library: which processors they may use
 * (PMIX_BIND_PROGRESS_THREAD).
 *
 * They get no signals, which are the program's business. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_THREAD_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "pmix_common.h"

struct client_thread_cpus {
    cpu_set_t set;
    bool given; /* otherwise those of the thread that starts it */
};

/* From the infos of a call that starts the library.  PMIX_SUCCESS; PMIX_ERR_BAD_PARAM: it is no
 * list of processors ("0-3,8"); PMIX_ERR_NOT_SUPPORTED: these cannot be used, and
 * PMIX_BIND_REQUIRED is set.  (Otherwise they do not count.) */
pmix_status_t client_thread_cpus_read(const pmix_info_t *infos, size_t n,
                                      struct client_thread_cpus *cpus_p);

/* As pthread_create. */
int client_thread_create(pthread_t *thread_p, const struct client_thread_cpus *cpus,
                         void *(*run)(void *arg), void *arg);

#endif
