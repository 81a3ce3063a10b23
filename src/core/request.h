/* request.h - the requests of a process to its job, whichever protocol it speaks.
 *
 * A session turns messages into requests; the server passes them to the core and brings the answer
 * back; the session turns the answer into a message of its protocol.  Slices in a request belong to
 * the session and live until the answer or the next input, whichever comes first; slices in an
 * answer live until the call that delivers it returns.
 */
#ifndef WIREUP_CORE_REQUEST_H
#define WIREUP_CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "core/spawn.h"

enum request_kind {
    REQ_IDENTIFY, /* number: the id given to a process that had to connect by itself; the server
                     answers this one, no job is known yet. kvs, number: its job and rank, when it
                     knows them; count: the kind of a tool (pmix-wire: flag), or 0; value: the
                     tool's description of itself, as infos in its own encoding */
    REQ_HOST,     /* a PMIx command for the host: number; value: its body, not decoded; the answer's
                     value is the whole reply */
    REQ_ATTACH, /* the first message of a process: it takes part from now on; number: SPEAKS_... */
    REQ_PUT,    /* kvs, key, value */
    REQ_PUT_MANY,   /* value: records as in mput_wireup; count */
    REQ_GET,        /* kvs (empty: the own job's), key; number: the rank that put it, if has_rank */
    REQ_GET_INDEX,  /* kvs, number: the n-th pair of the key-value space */
    REQ_KVS_CREATE, /* */
    REQ_KVS_DELETE, /* kvs */
    REQ_FENCE,      /* key: the group ("" is the whole job); value: the tag */
    REQ_NODE_PUT,   /* key, value: an attribute of the process's node */
    REQ_NODE_GET,   /* key; number: not 0: wait for the put; idle */
    REQ_JOB_ATTR,   /* key: an attribute of the job from the process manager */
    REQ_RING,       /* key, value: for the left and for the right neighbour */
    REQ_CONNECT,    /* kvs: the job whose key-value space is wanted */
    REQ_DISCONNECT, /* kvs */
    REQ_PUBLISH,    /* key: service, value: port */
    REQ_UNPUBLISH,  /* key: service */
    REQ_LOOKUP,     /* key: service */
    REQ_SPAWN,      /* spawn: handed over with the request */
    REQ_COMMIT,     /* modex entries, count */
    REQ_GET_CARD,   /* kvs: nspace, number: rank, key, immediate, timeout_ns */
    REQ_MEET,       /* key: the purpose; members, count: a collective across jobs */
    REQ_NOTIFY,     /* number: event code, count: range, value: infos, event_flags; the server
                       distributes it */
    REQ_RECALL, /* the events that the server keeps, for a late registration; value: for which codes
                   (int each), count of them; none: for all */
    REQ_SIGNAL, /* members, count; number: the signal; immediate: it is meant to end them */
    REQ_REGISTER_CLEANUP, /* members, count, key, value, number: core/control.h */
    REQ_LOG,              /* key, value, number, kvs: core/control.h */
    REQ_CREDENTIAL,       /* number, value: core/control.h */
    REQ_LISTEN,           /* the output that the server keeps, for a new subscription */
    REQ_INPUT, /* members, count; value: bytes for their standard input; immediate: end of input */
    REQ_MONITOR,  /* heartbeats are due every timeout_ns (0: monitoring stops); count: how many may
                     be missing, number: event code, key: a name for it */
    REQ_BEAT,     /* */
    REQ_FINALIZE, /* */
    REQ_ABORT     /* number: exit code, value: message; never answered */
};

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

struct request {
    enum request_kind kind;
    uint32_t token; /* the session's own number, repeated in the answer */
    struct slice kvs;
    struct slice key;
    struct slice value;
    int64_t number;
    bool has_rank;
    uint32_t count;
    struct spawn_request *spawn;
    uint16_t type; /* REQ_PUBLISH: as in an answer */
    const struct card *cards;
    const struct member *members;
    uint8_t event_flags;
    bool collect;      /* REQ_FENCE: with what PMIx processes have committed */
    struct slice ways; /* REQ_FENCE: exchange methods, separated by commas; or empty */
    bool immediate;
    enum name_life life; /* REQ_PUBLISH */
    bool wait; /* REQ_LOOKUP: wait for the name to be published, at most timeout_ns (0: for ever) */
    uint64_t timeout_ns;
    bool idle; /* the process sends nothing before it has the answer */
};

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
    struct slice key; /* the key of an indexed pair; the offending key of a failed REQ_PUT_MANY; the
                         left neighbour's value */
    struct slice value; /* the value, port, name of a new key-value space or job; the right
                           neighbour's value */
    int64_t number; /* REQ_RING: the place in the ring; REQ_MEET: the collective's number; a refused
                       REQ_IDENTIFY: the host's PMIx status, or 0 */
    struct slice text; /* one sentence, on failure; may be empty */
    struct job *about; /* REQ_LOOKUP: the publisher's job (NULL: another launcher's) */
    uint32_t rank;     /* REQ_LOOKUP: its rank */
    uint16_t type;     /* REQ_LOOKUP: PMIx data type of the value; 0: characters */
    const int *codes;  /* REQ_SPAWN: one per process, or NULL: all started */
    uint32_t ncodes;
};

/* A word for each status, without blanks, for the `msg` of the text protocols. */
const char *answer_word(enum answer_status status);

#endif
