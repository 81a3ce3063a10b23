/* effect_host.h - the part that all hosts of a server have in common: effects are carried out in
 * their order, the output of the server is sent, and deadlines are kept.
 *
 * A host is a table: a function for each kind of effect that it carries out, and one each for
 * bytes and for time.  The daemon, libpmix's server, the replay of traces and the tests have one
 * each.  Answers to processes are delivered here.  An effect that nobody carries out is refused, if
 * a process waits for it: so a new kind is never a request that hangs.
 */
#ifndef WIREUP_SERVER_EFFECT_HOST_H
#define WIREUP_SERVER_EFFECT_HOST_H

#include "server/server.h"

struct effect;

/* Carries out the effect.  It takes out the members that it keeps: those that are freed with
 * an effect are NULL then, or it is another effect. */
typedef void effect_fn(void *arg, struct effect *e);

struct effect_handlers {
    effect_fn *const *kinds; /* by kind, OPERATIONS of them, NULL: `others`; or NULL: none */
    effect_fn *others;       /* NULL: refused */
    /* Sends p->out (server_wrote()), and closes the connection when p->closing.  NULL: the host
     * does that at another time. */
    void (*write)(void *arg, struct peer *p);
    /* The time, and a call of effect_host_ring() at that time (UINT64_MAX: none).  Both or none:
     * then the host calls server_tick() itself. */
    uint64_t (*now_ns)(void *arg);
    void (*ring_at)(void *arg, uint64_t due_ns);
    /* All effects so far are carried out, and what is answered about them is not written yet; or
     * NULL. */
    void (*drained)(void *arg);
};

struct effect_host {
    struct server *server;
    const struct effect_handlers *handlers;
    void *arg;
    uint64_t due_ns; /* the time last given to ring_at() */
};

void effect_host_init(struct effect_host *h, struct server *s, const struct effect_handlers *table,
                      void *arg);

/* Carries out all effects, writes all answers, and keeps the time: the end of every turn. */
void effect_host_settle(struct effect_host *h);
/* Writes, and no more. */
void effect_host_flush(struct effect_host *h);
/* The time of ring_at() has come; to be followed by effect_host_settle(). */
void effect_host_ring(struct effect_host *h);
/* Carries out one effect, and drops it. */
void effect_host_carry_out(struct effect_host *h, struct effect *e);

#endif
