/* lock.h - the one lock of a client library, and who may speak on its connection.
 *
 * All state of a library is touched under the gate's lock.  The connection carries one conversation
 * at a time: who wants to speak takes the wire, and while it waits for the server it lets the lock
 * go (and only the lock), so that a thread in a barrier does not stop others from look-ups.
 *
 * After a fork the child's gate may be locked by a thread that does not exist there; lock_reset
 * makes it new.
 */
#ifndef WIREUP_LIB_COMMON_LOCK_H
#define WIREUP_LIB_COMMON_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct lock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool wire_taken;
};

#define LOCK_INIT                                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false                                 \
    }

void lock_lock(struct lock *g);
void lock_unlock(struct lock *g);

/* Locked: waits for something to change (unlocked meanwhile); tells who waits. */
void lock_wait(struct lock *g);
void lock_tell(struct lock *g);

/* Locked: the wire is the caller's between these two.  Taking may wait, unlocked meanwhile. */
void lock_wire_take(struct lock *g);
void lock_wire_give(struct lock *g);

void lock_reset(struct lock *g); /* in a forked child only */

#endif
