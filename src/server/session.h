/* session.h - a connection, and the functions that the server needs of its protocol.
 *
 * A session turns bytes into requests and answers into bytes; it is sans-IO: no file descriptor, no
 * clock.  The server feeds it, takes requests with next() until there is none, and gives each of
 * them exactly one answer (at once or later, by token). Replies gather in the peer's `out`.
 *
 * The protocol is detected from the first bytes, and may change: PMI-2 begins as PMI-1 text.  A
 * session that finds the other protocol's messages reports it and hands back the bytes that it has
 * not read.
 */
#ifndef WIREUP_SERVER_SESSION_H
#define WIREUP_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/list.h"
#include "core/job.h"
#include "core/answer.h"

struct request;

struct core;
struct session_ops;

/* The part of every session that the server sees; first in the struct of each protocol. */
struct session {
    const struct session_ops *ops;
    struct peer *peer;
};

/* One connection.  It outlives its session, and keeps the data that a change of protocol must not
 * lose. */
struct peer {
    struct list link;  /* in the server's list of all */
    struct list dirty; /* in the server's list of those with something to write */
    uint32_t id;       /* never used twice */
    struct core *core; /* to look up other jobs */
    struct job *job;   /* NULL: not identified yet */
    uint32_t rank;
    uint32_t uid, gid;   /* of its owner */
    uint32_t next_token; /* of requests; never used twice on one connection */
    bool can_pass_fd;    /* file descriptors can travel on it */
    bool pass_store;     /* the host attaches the store to the next bytes out, and clears this */
    bool greeted;        /* it has said who it is; whether it is let in may take time */
    bool closing;        /* write the rest of the output, then close */
    bool attached;       /* a process takes part through this connection */
    bool counted;        /* in proc.lines */
    bool hung_up;
    bool restricted_logged; /* the refusal of a request for that was reported */
    bool restricted;        /* the writer lacks the rights of the user who started it (rights.h) */
    bool wants_output;      /* the session has subscribed to output: the kept output is due */
    bool holds_output;      /* … and output waits for it to read */
    bool gathers_output;    /* … and some waits for its time (ops.tick) */
    bool registered;        /* it has registered for events */
    bool owes;              /* the session has requests, though no bytes have come */
    const char *fault;      /* an answer shows that it is to be closed, and why; else NULL */
    uint64_t notified[(LIMIT_KEPT_EVENTS + 63) / 64]; /* the kept events that it was notified of: a
                                                     bit for each slot */
    struct session *session;                          /* NULL: no bytes have come yet */
    struct buf out;
    void *host; /* the host's own */
    /* PMIx commands (bit 1 << number) that the host reads itself: REQ_host. */
    uint64_t host_commands;
};

/* Results of next() besides -ENOMEM. */
enum {
    SESSION_IDLE = 0,    /* more bytes are needed */
    SESSION_BROKEN = 1,  /* the client broke the protocol; err names the rule and the offending
                            message; the connection is to be closed */
    SESSION_REQUEST = 2, /* *rq_p borrows from the session until the next call */
    SESSION_SWITCH = 3   /* *rq_p is REQ_switch_version */
};

/* The host of a server that uses Wireup's own library, connected to it: it has the server's own
 * name. */
bool session_is_host(const struct peer *p);

/* An event on its way to the clients that registered for it. */
struct notice {
    int code;
    uint8_t range;
    uint8_t flags;      /* EVENT_... (core/request.h) */
    const char *nspace; /* of its source */
    uint32_t rank;
    struct slice infos;     /* canonical: v41 units SIZE n, n INFO */
    const struct peer *but; /* the client that need not be notified; or NULL */
    bool by_server;         /* raised by the server: a host that has connected is notified too */
    bool is_exit;           /* an end that another node has told of */
};

/* Output of a process on its way to the subscribers. */
struct spoken {
    const char *nspace;
    uint32_t rank;
    uint16_t channel;      /* as in PMIx: 2 is standard output, 4 standard error */
    bool recalled;         /* kept earlier: only for the newest subscription */
    uint64_t subscription; /* from another node, for this one only; 0: for all */
    struct slice bytes;
    bool *redirected_p; /* becomes true if a subscriber wants it for itself; NULL: it has been shown
                         */
};

struct session_ops {
    const char *name; /* "PMI-1" */
    bool is_aside; /* its process takes part by other connections: its end is that of no process */
    struct session *(*create)(struct peer *p); /* NULL: no memory */
    void (*destroy)(struct session *s);
    /* Keeps a copy of the bytes.  0 or -ENOMEM. */
    int (*input)(struct session *s, struct slice bytes);
    int (*next)(struct session *s, struct request *rq_p, struct errmsg *err);
    /* The answer to the request with this token; a token that is not pending is ignored. */
    void (*answer)(struct session *s, uint32_t token, const struct answer *a);
    /* An event that the client may have registered for.  True: it has, and is notified; of its own
     * event (EVENT_OWN) it is only by its library, unless the event is an old one.  May be NULL. */
    bool (*notify)(struct session *s, const struct notice *n);
    /* Any event that reaches this node, for the session's own records; is_end: a process or a job
     * has ended.  Requests that it leads to are marked (peer.owes).  May be NULL. */
    void (*follow)(struct session *s, const struct notice *n, bool is_end);
    /* A job is about to be forgotten, at the same place in the order of the results of collectives
     * on all nodes.  May be NULL. */
    void (*job_goes)(struct session *s);
    /* True: the client has subscribed to that output, and was sent some.  May be NULL. */
    bool (*output)(struct session *s, const struct spoken *o);
    /* More of the output that was held may be sent (peer.holds_output).  May be NULL. */
    void (*drain)(struct session *s);
    /* Time has passed, for one that gathers output; returns when it is due again, or UINT64_MAX.
     * May be NULL. */
    uint64_t (*tick)(struct session *s, uint64_t now_ns);
    /* All kept output has been sent.  May be NULL. */
    void (*caught_up)(struct session *s);
};

#endif
