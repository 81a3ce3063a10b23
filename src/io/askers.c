/* askers.c - see askers.h. */
#include "io/askers.h"

void askers_start(struct askers *a, void *(*run)(void *), void *arg)
{
    for (a->n = 0; a->n < LIMIT_STAGING_ASKERS; a->n++) {
        if (pthread_create(&a->threads[a->n], NULL, run, arg) != 0)
            return;
    }
}

void askers_join(struct askers *a)
{
    while (a->n)
        pthread_join(a->threads[--a->n], NULL);
}
