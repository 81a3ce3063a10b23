/* lock.c - see lock.h. */
#include "lib/common/lock.h"

void lock_lock(struct lock *g)
{
    pthread_mutex_lock(&g->mutex);
}

void lock_unlock(struct lock *g)
{
    pthread_mutex_unlock(&g->mutex);
}

void lock_wait(struct lock *g)
{
    pthread_cond_wait(&g->changed, &g->mutex);
}

void lock_wake(struct lock *g)
{
    pthread_cond_broadcast(&g->changed);
}

void lock_wire_take(struct lock *g)
{
    while (g->wire_taken)
        lock_wait(g);
    g->wire_taken = true;
}

void lock_wire_give(struct lock *g)
{
    g->wire_taken = false;
    lock_wake(g);
}

void lock_reset(struct lock *g)
{
    *g = (struct lock)LOCK_INIT;
}
