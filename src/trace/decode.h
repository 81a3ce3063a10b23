/* decode.h - a passive decoder: the messages of a recorded connection, for people, from its bytes
 * alone.
 *
 * It takes no part in the conversation: it is fed both directions as they were recorded, detects
 * the protocol, cuts messages out and names their fields by the same tables that the two ends use.
 * It returns bytes that it cannot read as they are, with the reason.
 *
 * Fields nest: after a LIST or a GROUP come its elements, then an END.  Elements of a group have
 * names; those of a list have none, unless they are keys with their values.
 *
 * Each protocol is a row of functions (decode_proto, decode.c); the text protocols share one.
 */
#ifndef WIREUP_TRACE_DECODE_H
#define WIREUP_TRACE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"

enum decode_way { DECODE_IN, DECODE_OUT, DECODE_WAYS }; /* from the client; to it */

struct ptype_flavour;

enum decode_kind {
    DECODE_TEXT,
    DECODE_NUMBER,
    DECODE_FLAG,
    DECODE_BYTES,
    DECODE_UNSIGNED, /* a number beyond INT64_MAX is possible */
    DECODE_NULL,     /* no value */
    DECODE_LIST,
    DECODE_GROUP,
    DECODE_END
};

struct decode_field {
    struct slice name;
    const char *type; /* PMIx: of a value whose type is in the message; else NULL */
    uint32_t flags;   /* PMIx: directives of an info */
    enum decode_kind kind;
    struct slice text; /* TEXT, BYTES */
    int64_t number;    /* NUMBER, FLAG, UNSIGNED (its bits) */
    uint32_t item;     /* 0: of the message; else of its n-th part: a record, a spawned command */
};

/* PMIx: a request that has not been answered. */
struct decode_request {
    uint32_t tag;
    uint8_t command;
};

/* One message. */
struct decoded {
    const char *protocol; /* "PMI-1" */
    struct slice command; /* empty: not known */
    const struct decode_field *fields;
    uint32_t nfields;
    struct slice bytes; /* all of it, as it was on the wire */
    bool secret;        /* there is a credential in it: the bytes are not for people */
    const char *fault;  /* NULL, or why the rest could not be read */
};

struct decode_stream {
    struct buf in;
    size_t taken;   /* length of the message that was lent */
    size_t scanned; /* bytes already searched for the end of the message */
};

/* One connection. */
struct decode {
    struct decode_stream ways[DECODE_WAYS];
    struct arena arena;          /* of the message that was lent */
    struct decode_field *fields; /* likewise */
    uint32_t nfields, room;
    uint32_t item; /* of the fields being added */
    char fault[160];
    bool pmix;    /* else the text protocols */
    uint8_t kind; /* the client's kind, from the handshake */
    bool is_tool;
    bool greeted[DECODE_WAYS];      /* PMIx: its handshake is over */
    const struct ptype_flavour *as; /* PMIx: the client's encoding */
    bool described;
    uint32_t release;                /* PMIx: the client's */
    struct decode_request *requests; /* PMIx: oldest first */
    uint32_t nrequests, request_room;
    /* Of the message that was lent: the credentials, which are not shown; they are lent from the
     * message too, or copies. */
    struct slice *secrets;
    uint32_t nsecrets, secret_room;
    bool full; /* fields of the message beyond LIMIT_DECODE_FIELDS were dropped */
};

void decode_init(struct decode *d);
void decode_free(struct decode *d); /* harmless twice */

/* Keeps a copy of the bytes.  0 or -ENOMEM. */
int decode_feed(struct decode *d, enum decode_way way, struct slice bytes);

enum { DECODE_MORE = 0, DECODE_MESSAGE = 1 };

/* The next whole message of one direction; *m_p borrows from d until the next call for any
 * direction.  DECODE_MORE, DECODE_MESSAGE, or -ENOMEM. */
int decode_next(struct decode *d, enum decode_way way, struct decoded *m_p);

/* The stream has ended: the remaining part of a message, as one; the same results. */
int decode_rest(struct decode *d, enum decode_way way, struct decoded *m_p);

/* Forgets the bytes of one direction that have been fed, and the message that was lent. */
void decode_forget(struct decode *d, enum decode_way way);

#endif
