/* lock.h - the one lock of a client library, and the right to use its connection.
 *
 * All state of a library is protected by this lock.  The connection carries one exchange at a time:
 * a thread takes the wire first, and while it waits for the server it releases the lock (but not
 * the wire), so that a thread in a barrier does not block look-ups of others.
 *
 * After a fork the child's lock may be held by a thread that does not exist there; lock_reset
 * reinitializes it.
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

/* Locked: lock_wait waits for a change (unlocked meanwhile); lock_wake wakes the waiters. */
void lock_wait(struct lock *g);
void lock_wake(struct lock *g);

/* Locked: the caller owns the wire between these two.  Taking it may wait, unlocked meanwhile. */
void lock_wire_take(struct lock *g);
void lock_wire_give(struct lock *g);

void lock_reset(struct lock *g); /* in a forked child only */

#endif
