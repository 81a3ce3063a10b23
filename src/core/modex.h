/* modex.h - modex values put by rank (PMIx), who may see them, and which gets wait for one.
 *
 * An entry is (rank, key) -> typed value with a scope.  Values are canonical, so that every
 * protocol can read them: a STRING is its characters without the NUL (a PMI client gets it by key
 * alone), anything else is the payload of a v41 value.  The value of a PMI client is read as a
 * STRING.
 *
 * A value of a process of another node is present after a fence with data; before that, its node
 * is asked, once for all waiting gets here, and sends everything that its scope permits.
 *
 * A get of a missing value waits for its owner's next commit, until its timeout, unless the
 * requester wants an answer at once, or the owner has ended: for a value of any rank, all processes
 * of the job but the requester.
 *
 * A process of another launcher (core.foreign) is asked in the same way: all nodes ask the own
 * launcher, and that one asks the other, which asks the node.
 */
#ifndef WIREUP_CORE_MODEX_H
#define WIREUP_CORE_MODEX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/ondemand.h"

/* Askers from here on are other launchers, by numbers of the host; below, nodes. */
#define MODEX_LAUNCHERS (UINT64_C(1) << 32)

enum { MODEX_STRING = 3 }; /* PMIX_STRING */
enum { MODEX_LOCAL = 1, MODEX_REMOTE = 2, MODEX_GLOBAL = 3 };

/* The type of an entry that is not there any more: its process was started again. */
enum { MODEX_DROPPED = 0xffff };
/* Before a rank, a dot and a key: the value that it had put before it was started again.  (The name
 * has the rank because OpenPMIx's clients ask nobody for values of their own.) */
#define MODEX_OLD "wireup.old."

/* Not an entry: the pid of the process, which its node knows as soon as it runs (core.h:
 * is_manager). */
#define MODEX_PID "pmix.ppid"

/* A key with qualifiers (PMIx): an entry for each, under this and their hash.  Clients get the
 * value under PMIX_QUALIFIED_VALUE, which is the same without the colon. */
#define MODEX_QUALIFIED "pmix.qual.val:"

struct modex_wait {
    struct list link; /* in the owner's job */
    uint64_t ticket, deadline_ns, timeout_ns;
    uint32_t rank;
    uint32_t asker; /* job->base + rank: the number of the process among all */
    bool foreign;   /* from elsewhere, whose host has the ticket (EFFECT_modex_reply) */
    bool asked;     /* the owner's node has been asked for this key */
    bool refresh;   /* only its answer counts */
    enum ondemand_extent extent;
    uint64_t number; /* of the request (ondemand.h) whose answer ends the wait; 0: none does */
    struct slice key;
    char text[]; /* the key's bytes */
};

struct modex_get {
    uint32_t rank;    /* SEG_ANY_RANK: any rank that has it */
    struct slice key; /* empty: all entries */
    bool immediate;
    bool refresh; /* a value of another node: its node is asked even if the value is present */
    enum ondemand_extent extent; /* the hint: what a request for a value that a fence has left
                                  * elsewhere is to bring besides */
    uint64_t timeout_ns;
    uint64_t ticket, now_ns;
    uint32_t asker; /* job->base + rank; not of modex_serve() */
};

/* Stores the entries of one commit and answers the gets that waited for them. */
enum answer_status modex_commit(struct job *j, uint32_t rank, const struct card *cards,
                                uint32_t ncards);

/* The process is started again.  Its values are not found any more; on its node they are under
 * MODEX_OLD, as far as its quota permits.  Those of PMI clients stay: their key-value
 * space is one of the whole job. */
void modex_drop(struct job *j, uint32_t rank);

/* OK: it is present; LATER; NOT_FOUND. */
enum answer_status modex_get(struct job *owner, const struct modex_get *g);

/* The same for another node or launcher; the answer is always an EFFECT_modex_reply.  A launcher
 * asks on, of which node ever the process is. */
void modex_serve(struct job *owner, const struct modex_get *g);

/* The owner's node has answered EFFECT_modex_request; the entries that it sent are in the store
 * already. */
void modex_fetched(struct job *owner, uint32_t rank, enum answer_status status);

/* A request of ondemand.h has been answered: ends the waits for it. */
void modex_answered(struct job *owner);
/* A fence of the whole job is over: those that wait for such a request need a new one. */
void modex_ask_again(struct job *owner);

/* Entries of the rank have arrived: answers the gets that wait for them. */
void modex_wake(struct job *j, uint32_t rank);

/* Answers the gets whose owner will put nothing any more. */
void modex_owner_gone(struct job *j, uint32_t rank);

/* The job is forgotten: answers all gets of its values. */
void modex_job_gone(struct job *j);

/* A process of the job has changed its state: answers the gets of any rank's value when no process
 * is left that could put it, except the requester. */
void modex_any_gone(struct job *j);

/* Answers the gets whose timeout has passed (ANSWER_TIMEOUT); returns the next deadline, or
 * UINT64_MAX. */
uint64_t modex_tick(struct job *j, uint64_t now_ns);

/* An entry of the owner; false: not present.  (PMI entries of the rank count too.) */
bool modex_find(const struct job *j, uint32_t rank, struct slice key, struct card *card_p);

/* The rank's i-th entry in the order of first puts, whatever its scope; false: no more. */
bool modex_card(const struct job *j, uint32_t rank, uint32_t i, struct card *card_p);

#endif
