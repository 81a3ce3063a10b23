/* answer.h - the answer to a request of a process (request.h), and the parts of requests and
 * answers. */
#ifndef WIREUP_CORE_ANSWER_H
#define WIREUP_CORE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "core/operations.h"
#include "wire/parts.h"

/* The value that one process puts under a key (core/modex.h defines the bytes). */
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
enum name_persistence {
    NAME_OF_JOB,    /* as long as its publisher's job */
    NAME_STAYS,     /* longer than that */
    NAME_READ_ONCE, /* as long as the job, and until the first look-up */
    NAME_OF_PROC,   /* as long as its publisher */
    NAME_OF_APP,    /* as long as a process of its publisher's application */
    NAME_PERSISTENCES
};

/* Which processes, as seen from one of them: those that may read a name that it publishes, or
 * those whose names a look-up of it considers.  (In traces and between launchers: these numbers.)
 */
enum name_range {
    NAME_RANGE_DEFAULT,   /* none given: a publisher's is NAME_RANGE_SESSION */
    NAME_RANGE_PROC,      /* itself */
    NAME_RANGE_NAMESPACE, /* its job */
    NAME_RANGE_LOCAL,     /* its node */
    NAME_RANGE_CUSTOM,    /* those that it lists */
    NAME_RANGE_SESSION,   /* all of the user's launchers on this machine */
    NAME_RANGE_GLOBAL,    /* the same: there are no others that could be asked */
    NAME_RANGE_RM,        /* none: the host, which neither publishes nor looks up */
    NAME_RANGES
};

/* Who may read a name besides: of a list that is not empty the reader must be a member. */
struct name_access {
    struct part_uints uids, gids; /* effective ones */
};

struct name_scope {
    enum name_range range;
    bool preferred;            /* of a look-up or unpublish: if it has no such name, others count */
    struct part_texts nspaces; /* NAME_RANGE_CUSTOM: one for each process ... */
    struct part_uints ranks;   /* ... and its rank, or REQUEST_ALL_RANKS */
};

/* Of an event. */
enum {
    EVENT_NOT_KEPT = 1, /* not delivered to later registrations */
    EVENT_BY_CODE = 2,  /* only to handlers registered for its code */
    EVENT_RECALLED = 4, /* an old one: only to the latest registration */
    EVENT_OWN = 8, /* of the process itself: an old one only if its library does not keep its own */
    EVENT_ABOUT = 16 /* about its source, which has not sent it, and is notified too */
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
    ANSWER_DENIED,      /* the publisher of the name does not admit the reader */
    ANSWER_FAILED,      /* the reason is in text */
    ANSWER_NO_MEMORY,   /* the server's own, not the client's quota */
    ANSWER_UNSUPPORTED, /* the host has no function for it */
    ANSWER_LOST,        /* the launcher of a process concerned is lost */
    ANSWER_RESTARTED    /* a process of the job was started again (job_restart.h) */
};

/* ---- answers, from the table ----------------------------------------------------------------- */

/* How any answer travels: the row `answer` of proto/operations.def has the same parts.  The meaning
 * of each in the answer to a request is in proto/requests.def; who makes or reads an answer
 * uses ANSWER_TO() and answer_to_..., which know the members by their names and types. */
struct answer_parts {
    int64_t number;
    struct slice key, value;
    uint16_t type;
    struct job *about;
    uint32_t rank;
    struct part_ints codes;
};

struct answer {
    enum answer_status status;
    struct slice text; /* one sentence, on failure; may be empty */
    struct answer_parts parts;
};

/* struct answer_get { struct slice value; } for each request whose answer has members. */
#define ANSWER(id)                            struct answer_##id {
#define ANSWER_MEMBER(id, KIND, member, part) OPERATION_TYPE_##KIND member;
#define ANSWER_DONE(id)                                                                            \
    }                                                                                              \
    ;
#include "proto/requests.def"

/* answer_to_get(a): the members of the answer to such a request; those that a failure does not have
 * are 0 or empty. */
#define ANSWER(id)                                                                                 \
    static inline struct answer_##id answer_to_##id(const struct answer *a)                        \
    {                                                                                              \
        return (struct answer_##id)                                                                \
        {
#define ANSWER_MEMBER(id, KIND, member, part) .member = a->parts.part,
#define ANSWER_DONE(id)                                                                            \
    }                                                                                              \
    ;                                                                                              \
    }
#include "proto/requests.def"

#define ANSWER(id)                                                                                 \
    static inline struct answer answer_of_##id(enum answer_status status, struct answer_##id m)    \
    {                                                                                              \
        struct answer a = { .status = status };
#define ANSWER_MEMBER(id, KIND, member, part) a.parts.part = m.member;
#define ANSWER_DONE(id)                                                                            \
    return a;                                                                                      \
    }
#include "proto/requests.def"

/* ANSWER_TO(get, ANSWER_OK, .value = v): the answer to such a request, with these members. */
#define ANSWER_TO(id, status, ...) answer_of_##id((status), (struct answer_##id){ __VA_ARGS__ })

/* The answer to any request: nothing but a status. */
static inline struct answer answer_status(enum answer_status status)
{
    return (struct answer){ .status = status };
}

/* A word for each status, without blanks, for the `msg` of the text protocols. */
const char *answer_word(enum answer_status status);

#endif
