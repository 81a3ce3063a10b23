/* turn.h - the end of a turn of the event loop: effects of the core are carried out, and answers
 * are written.
 *
 * Every module that handles an event ends with turn_end().  The functions are the node's, which
 * gives them to its modules when it creates them: so none of them has to know the node.
 */
#ifndef WIREUP_DAEMON_TURN_H
#define WIREUP_DAEMON_TURN_H

struct turn {
    void (*end)(void *arg);
    void (*flush)(void *arg);
    void *arg;
};

/* Carries out all effects and writes all answers. */
static inline void turn_end(const struct turn *t)
{
    t->end(t->arg);
}

/* Writes the server's pending output to clients, and no more. */
static inline void turn_flush(const struct turn *t)
{
    t->flush(t->arg);
}

#endif
