/* ask.h - requests of a PMI-2 client and their answers.
 *
 * Towards our own server any number of threads ask at once: each request carries a number that the
 * answer repeats (thrid).  Whoever waits and finds nobody reading reads, for all: answers of others
 * are left with them, and when its own has come it leaves the reading to one of the others.  So no
 * thread is needed that does nothing else, and nobody waits for another's answer.
 *
 * Towards other servers the requests follow one another.
 *
 * The answer is the caller's from ask() to ask_end(); the gate must not be let go in between.
 */
#ifndef WIREUP_LIB_PMI2_ASK_H
#define WIREUP_LIB_PMI2_ASK_H

#include <pthread.h>

#include "lib/pmi2/member.h"
#include "wire/pmi2.h"

struct ask {
    union pmi2_any answer; /* slices in it belong to the ask */
    struct slice raw;      /* what followed a get-wireup-response */

    struct list link;
    uint32_t id;
    enum pmi2_msg want;
    bool done;
    bool holds_wire;
    bool no_memory;
    pthread_cond_t wake;
    struct arena arena;
    struct buf kept; /* an answer that another thread has read */
};

/* Sends the request (its thrid is set here) and waits for the answer `want`.
 * 0; MEMBER_REFUSED: rc was not 0; MEMBER_FAILED; MEMBER_BAD_VALUE: it cannot be said; -ENOMEM.
 * In any case followed by ask_end(). */
int ask(struct membership *m, struct ask *a, enum pmi2_msg msg, void *request, enum pmi2_msg want,
        struct errmsg *err);
void ask_end(struct membership *m, struct ask *a);

/* Sends the puts that are not sent yet, without waiting.  0, MEMBER_FAILED or -ENOMEM. */
int ask_send_puts(struct membership *m, struct errmsg *err);

/* The refusal of an earlier put that nobody was told of yet, or 0. */
int ask_put_verdict(struct membership *m, struct errmsg *err);

/* A last word, past whoever is waiting; nobody hears whether it came through. */
void ask_nothing(struct membership *m, enum pmi2_msg msg, const void *request);

/* A line of PMI-1 and the line that answers it (before frames begin).  The slice lives until the
 * next word on the link.  0, MEMBER_FAILED or -ENOMEM. */
int ask_line(struct membership *m, struct slice line, struct slice *answer_p, struct errmsg *err);

#endif
