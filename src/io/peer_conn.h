/* peer_conn.h - the connections of a server: one descriptor for each struct peer (session.h).
 *
 * The daemon and libpmix's server both keep theirs here, from the first byte to the last:
 *
 * Accept: from a loopback port, never so many in a turn that others starve (acceptor.h); without a
 * free descriptor, the oldest connection that has not said who it is makes room.
 *
 * Identify: by the kernel (peer_cred.h), when it is accepted, and again with its first bytes, so
 * that these are its owner's; users who are not expected are refused unread.
 *
 * Greet: it has LIMIT_GREETING_MS to say who it is (greeting.h), and its bytes until it is let
 * in are charged to its source (quota.h); a user other than ours may call so often.
 *
 * Read: into the session; the bytes of a marked connection carry their writer's user, and another
 * one restricts it (the input rights_lost).
 *
 * Flush: sends the output of the session, and the store's descriptor with it; from a peer that does
 * not read nothing is read either, except a little, and so from one that requests more than the
 * host carries out (peer_conn_hold()).
 *
 * Close: at its end, by the server's or the host's decision.
 *
 * The hosts differ in a table of functions.  None of them may close connections,
 * except settle().
 */
#ifndef WIREUP_IO_PEER_CONN_H
#define WIREUP_IO_PEER_CONN_H

#include "base/log.h"
#include "io/acceptor.h"
#include "io/greeting_timer.h"
#include "io/peer_cred.h"
#include "server/server.h"

struct peer_conn {
    struct list link; /* in all->given or all->accepted */
    struct peer_conns *all;
    struct peer *peer;
    int fd;
    void *owner; /* the host's own */
    /* Inherited: the user of the process that it was made for; accepted: of the one that connected,
     * as the kernel reported it; socket 0: not looked up yet. */
    struct peer_cred cred;
    bool marked;  /* its bytes carry their writer's user (peer_cred_mark()) */
    bool proven;  /* its owner is known: inherited, or checked again with its first bytes */
    bool known;   /* it has said who it is, and the host knows */
    bool counted; /* as a call of its source (quota_count_connection()) */
    bool blocked; /* the peer does not read */
    bool called;  /* by TCP, so that the kernel may hold back what it sends (acknowledge()) */
    size_t held;  /* bytes of its requests that the host has not carried out */
    struct greeting greeting;
    struct watch watch;
};

/* Functions of a host for its connections.  Members that are NULL do nothing. */
struct peer_conn_host {
    /* Whether processes of that user are served; ours are in any case. */
    bool (*expects)(void *arg, uid_t uid);
    /* One was accepted. */
    void (*accepted)(void *arg, struct peer_conn *c);
    /* It has said who it is, and was let in. */
    void (*known)(void *arg, struct peer_conn *c);
    /* The descriptor of the store of the peer's job; -1: none. */
    int (*store)(void *arg, const struct peer *p);
    /* The other end is closed (refused: or its bytes were), and the server has been told. */
    void (*hung_up)(void *arg, struct peer_conn *c, bool refused);
    /* The connection is closed; peer and memory go next. */
    void (*closed)(void *arg, struct peer_conn *c);
    /* Bytes were read: effects, and answers to write.  NULL: the host's loop does that. */
    void (*settle)(void *arg);
};

struct peer_conns_config {
    struct server *server;
    struct loop *loop;
    struct quota *quota; /* of connections that are not let in; may be shared with others */
    const struct log *log;
    const char *port_name; /* for sentences: "the job's port" */
    uint16_t port;         /* to listen on; 0: any */
    uid_t uid;             /* ours */
    gid_t gid;
    const struct peer_conn_host *host;
    void *arg;
};

struct peer_conns {
    struct peer_conns_config config;
    struct list given;    /* inherited by a process: the other end was made here */
    struct list accepted; /* the others */
    struct acceptor acceptor;
    uint16_t port; /* 0: there is none */
    struct greeting_timer greetings;
    int spare_fd;                 /* closed for a moment when no descriptors are left */
    struct peer_conn *unanswered; /* bytes of its were read in this turn, and nothing was written */
};

void peer_conns_init(struct peer_conns *all, const struct peer_conns_config *config);
/* Listens on a loopback port.  0 or -errno. */
int peer_conns_listen(struct peer_conns *all);
/* A connection to the port that another has accepted, close-on-exec and non-blocking; it may be
 * closed at once. */
void peer_conns_called(struct peer_conns *all, int fd);
/* The same at the port for clients of jobs' stores (server_store_peer_new()), which do not say who
 * they are: whose() finds their process by the kernel's word, and without it (NULL) the connection
 * is refused. */
typedef struct job *peer_conn_whose_fn(void *arg, const struct peer_cred *cred, uint32_t *rank_p);
void peer_conns_store_called(struct peer_conns *all, int fd, peer_conn_whose_fn *whose, void *arg);
/* Closes the port and all connections; harmless twice, and on zeroed memory. */
void peer_conns_close(struct peer_conns *all);

/* A connection of that rank; job NULL: it will say who it is.  inherited: the other end was made
 * for that process, which we start; descriptors can travel on it.  On success the descriptor is the
 * connection's.  NULL: no memory. */
struct peer_conn *peer_conn_open(struct peer_conns *all, int fd, struct job *job, uint32_t rank,
                                 bool inherited);
/* The same, of a process with these credentials that has connected: its greeting is awaited. */
struct peer_conn *peer_conn_accept(struct peer_conns *all, int fd, const struct peer_cred *cred);
/* Closes and frees; NULL is harmless. */
void peer_conn_close(struct peer_conn *c);

/* Writes the peer's pending output; closes when the server asks for it. */
void peer_conn_flush(struct peer_conn *c);
/* Reads the bytes that are in the socket now, and EOF; none that are written later. */
void peer_conn_drain(struct peer_conn *c);

/* Counts bytes that a request takes until the host has carried it out. */
void peer_conn_hold(struct peer_conn *c, size_t bytes);
void peer_conn_release(struct peer_conn *c, size_t bytes);

#endif
