/* gate.h - the one lock of a client library, and who may speak on its connection.
 *
 * All state of a library is touched under the gate's lock.  The connection carries one conversation
 * at a time: who wants to speak takes the wire, and while it waits for the server it lets the lock
 * go (and only the lock), so that a thread in a barrier does not stop others from look-ups.
 *
 * After a fork the child's gate may be locked by a thread that does not exist there; gate_reset
 * makes it new.
 */
#ifndef WIREUP_LIB_COMMON_GATE_H
#define WIREUP_LIB_COMMON_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool wire_taken;
};

#define GATE_INIT                                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false                                 \
    }

void gate_lock(struct gate *g);
void gate_unlock(struct gate *g);

/* Locked: waits for something to change (unlocked meanwhile); tells who waits. */
void gate_wait(struct gate *g);
void gate_tell(struct gate *g);

/* Locked: the wire is the caller's between these two.  Taking may wait, unlocked meanwhile. */
void gate_wire_take(struct gate *g);
void gate_wire_give(struct gate *g);

void gate_reset(struct gate *g); /* in a forked child only */

#endif
