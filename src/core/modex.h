/* modex.h - cards put by rank (PMIx), who may see them, and who waits for one.
 *
 * A card is (rank, key) -> typed value with a scope.  Values are canonical, so that every protocol
 * can read them: a STRING is its characters without the NUL (a PMI client gets it by key alone),
 * anything else is the payload of a v41 value.  What a PMI client put is read as a STRING.
 *
 * What a process of another node has put is there once a fence with data has brought it; before
 * that, its node is asked, once for all who wait here, and sends everything that it may.
 *
 * A get of something that is not there yet waits for its owner's next commit, until its time is
 * over, unless the asker wants an answer at once or the owner has gone.
 */
#ifndef WIREUP_CORE_MODEX_H
#define WIREUP_CORE_MODEX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"

enum { MODEX_STRING = 3 }; /* PMIX_STRING */
enum { MODEX_LOCAL = 1, MODEX_REMOTE = 2, MODEX_GLOBAL = 3 };

/* No card: the process's number, which its node knows as soon as it runs (core.h: is_manager). */
#define MODEX_PID "pmix.ppid"

struct modex_wait {
    struct list link; /* in the owner's job */
    uint64_t ticket, deadline_ns, timeout_ns;
    uint32_t rank;
    bool foreign; /* another node asks: its host has the ticket (EFFECT_MODEX_REPLY) */
    bool asked;   /* the key that the owner's node has been asked for is this one */
    struct slice key;
    char text[]; /* the key's bytes */
};

struct modex_get {
    uint32_t rank;    /* SEG_ANY_RANK: whoever has it */
    struct slice key; /* empty: everything there is */
    bool immediate;
    uint64_t timeout_ns;
    uint64_t ticket, now_ns;
};

/* Stores the cards of one commit and wakes those who waited for them. */
enum answer_status modex_commit(struct job *j, uint32_t rank, const struct card *cards,
                                uint32_t ncards);

/* OK: it is there; LATER; NOT_FOUND. */
enum answer_status modex_get(struct job *owner, const struct modex_get *g);

/* The same for another node; the answer is always an EFFECT_MODEX_REPLY. */
void modex_serve(struct job *owner, const struct modex_get *g);

/* The owner's node has answered EFFECT_MODEX_REQUEST; what it has sent is in the store already. */
void modex_fetched(struct job *owner, uint32_t rank, enum answer_status status);

/* Cards of the rank have come: who waited for them is answered. */
void modex_wake(struct job *j, uint32_t rank);

/* Answers those whose owner will not put anything any more. */
void modex_owner_gone(struct job *j, uint32_t rank);

/* Answers those whose time is over (ANSWER_TIMEOUT); returns when the next one will be, or
 * UINT64_MAX. */
uint64_t modex_tick(struct job *j, uint64_t now_ns);

/* A card of the owner; false: not there.  (PMI entries of the rank are cards too.) */
bool modex_find(const struct job *j, uint32_t rank, struct slice key, struct card *card_p);

/* The rank's i-th card in the order of first puts, whatever its scope; false: no more. */
bool modex_card(const struct job *j, uint32_t rank, uint32_t i, struct card *card_p);

void modex_free(struct job *j);

#endif
