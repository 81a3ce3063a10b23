/* gate.c - see gate.h. */
#include "lib/common/gate.h"

void gate_lock(struct gate *g)
{
    pthread_mutex_lock(&g->mutex);
}

void gate_unlock(struct gate *g)
{
    pthread_mutex_unlock(&g->mutex);
}

void gate_wait(struct gate *g)
{
    pthread_cond_wait(&g->changed, &g->mutex);
}

void gate_tell(struct gate *g)
{
    pthread_cond_broadcast(&g->changed);
}

void gate_wire_take(struct gate *g)
{
    while (g->wire_taken)
        gate_wait(g);
    g->wire_taken = true;
}

void gate_wire_give(struct gate *g)
{
    g->wire_taken = false;
    gate_tell(g);
}

void gate_reset(struct gate *g)
{
    *g = (struct gate)GATE_INIT;
}
