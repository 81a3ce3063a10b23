/* answer.h - the answer to a request of a process (request.h), and what requests and answers are
 * made of. */
#ifndef WIREUP_CORE_ANSWER_H
#define WIREUP_CORE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* What one process puts under a key (core/modex.h defines the bytes). */
struct card {
    uint16_t type; /* PMIx data type */
    uint8_t scope;
    struct slice key, value;
};

/* One process of any job. */
struct member {
    struct slice nspace;
    uint32_t rank; /* REQUEST_ALL_RANKS: the whole job */
};

/* The protocol of a process; 0: not known. */
enum { SPEAKS_PMI1 = 1, SPEAKS_PMI2, SPEAKS_PMIX };

enum { REQUEST_ALL_RANKS = 0xfffffffe };

/* How long a published name stays.  (In traces: these numbers.) */
enum name_life {
    NAME_OF_JOB,   /* as long as its publisher's job */
    NAME_STAYS,    /* longer than that */
    NAME_READ_ONCE /* as long as the job, and until the first look-up */
};

/* Of an event. */
enum {
    EVENT_NOT_KEPT = 1, /* not delivered to later registrations */
    EVENT_BY_CODE = 2,  /* only to handlers registered for its code */
    EVENT_RECALLED = 4, /* an old one: only to the latest registration */
    EVENT_OWN = 8       /* of the process itself: only if its library does not keep its own */
};

struct job;

enum answer_status {
    ANSWER_OK = 0,
    ANSWER_LATER,     /* no answer yet: one will come with the same token */
    ANSWER_NOT_FOUND, /* no such key, name, index or key-value space */
    ANSWER_DUPLICATE, /* the key or name is taken */
    ANSWER_RESERVED,  /* the key belongs to the process manager */
    ANSWER_BAD_KEY,   /* empty, too long, or with a byte that no client can send */
    ANSWER_BAD_VALUE, /* too long */
    ANSWER_OVER_QUOTA,
    ANSWER_TIMEOUT,
    ANSWER_FAILED,   /* the reason is in text */
    ANSWER_NO_MEMORY /* the server's own, not the client's quota */
};

struct answer {
    enum answer_status status;
    struct slice key; /* the key of an indexed pair; the offending key of a failed REQ_put_many; the
                         left neighbour's value */
    struct slice value; /* the value, port, name of a new key-value space or job; the right
                           neighbour's value */
    int64_t number; /* REQ_ring: the place in the ring; REQ_collective: the collective's number; a
                       refused REQ_identify: the host's PMIx status, or 0 */
    struct slice text; /* one sentence, on failure; may be empty */
    struct job *about; /* REQ_lookup: the publisher's job (NULL: another launcher's) */
    uint32_t rank;     /* REQ_lookup: its rank */
    uint16_t type;     /* REQ_lookup: PMIx data type of the value; 0: characters */
    const int *codes;  /* REQ_spawn: one per process, or NULL: all started */
    uint32_t ncodes;
};

/* A word for each status, without blanks, for the `msg` of the text protocols. */
const char *answer_word(enum answer_status status);

#endif
