/* side_thread.c - see side_thread.h. */
#include "io/side_thread.h"

#include <pthread.h>
#include <signal.h>

int side_thread_start(void *(*run)(void *arg), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_t thread;
    int rc = pthread_attr_init(&attr);

    if (rc)
        return -rc;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return -rc;
}
