/* daemon_link.h - links between daemons: authenticated, encrypted TCP connections that carry
 * messages.
 *
 * A struct daemon_link is a link to one other daemon of the job.  The wire format and the
 * authentication are in daemon_link_crypto.h; this module has the descriptors, the attempts at
 * several addresses, the bounds and the queue.
 *
 *  - daemon_link_listen() accepts connections.  A peer that cannot prove that it has the job's key
 *    never becomes a link: it is refused with one line in the log (their rate is limited), and
 *    disturbs nobody.
 *  - daemon_link_connect() tries all addresses of the other daemon in parallel, and keeps the first
 *    that answers with the right key: another machine with the same private address is only one
 *    failed attempt.  An address that closes the connection before it answers is tried again, a few
 *    times: unauthenticated connections may have taken all places there.
 *  - Callbacks run from the loop only, never inside a call of this module.  Each may call anything
 *    here, daemon_link_drop() of its own link included, but not daemon_link_net_free().
 *  - on_down is the last callback of a link, and comes once; after it the link is gone.
 */
#ifndef WIREUP_IO_DAEMON_LINK_H
#define WIREUP_IO_DAEMON_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/slice.h"
#include "io/daemon_link_crypto.h"
#include "io/loop.h"
#include "io/quota.h"

struct daemon_link;
struct daemon_link_net;

enum daemon_link_down {
    DAEMON_LINK_DOWN_BYE,     /* closed on purpose, by either end; nothing was lost */
    DAEMON_LINK_DOWN_BROKEN,  /* the connection is gone without a BYE */
    DAEMON_LINK_DOWN_SILENT,  /* nothing was received for too long */
    DAEMON_LINK_DOWN_NO_WAY,  /* no address could be reached */
    DAEMON_LINK_DOWN_REFUSED, /* reached, but another version, key or position */
};

struct daemon_link_calls {
    /* A link is up: h is new if the other end has connected to us. */
    void (*on_up)(void *arg, struct daemon_link *h);
    void (*on_message)(void *arg, struct daemon_link *h, struct slice message);
    /* why->text: one clear sentence. */
    void (*on_down)(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why);
    /* The queue has drained: daemon_link_pressed() is false again.  May be NULL. */
    void (*on_room)(void *arg, struct daemon_link *h);
};

struct daemon_link_config {
    struct loop *loop;
    const struct log *log;    /* for refusals; may be NULL */
    struct quota *quota;      /* for all unauthenticated connections of this process; NULL: of
                               * this module alone */
    const unsigned char *key; /* must outlive the net, which has no copy */
    uint32_t position;        /* our position in the job */
    struct daemon_link_calls calls;
    void *arg;
    uint32_t alive_ms;    /* a heartbeat is sent after this much silence of ours; 0: never */
    uint32_t silent_ms;   /* a link is down after this much silence of theirs; 0: never */
    uint32_t greeting_ms; /* for a hello; 0: LIMIT_DAEMON_LINK_GREETING_MS */
    bool wipes; /* messages have keys in them: received bytes are wiped before memory is freed */
};

/* What the first net would take time for: to learn what the processor can.  May be done while
 * something else is awaited. */
void daemon_link_prepare(void);

/* The error sentences of daemon_link_net_new() to daemon_link_connect() are for the user.  NULL or
 * -errno. */
struct daemon_link_net *daemon_link_net_new(const struct daemon_link_config *config,
                                            struct errmsg *err);
void daemon_link_net_free(
    struct daemon_link_net *net); /* drops all links, without callbacks; NULL is fine */

/* Listens on all interfaces or on the named one; on any free port, or on one of low ... high (0, 0:
 * any).  0 or -errno. */
int daemon_link_listen(struct daemon_link_net *net, const char *interface, uint16_t low,
                       uint16_t high, struct errmsg *err);
uint16_t daemon_link_port(const struct daemon_link_net *net);
/* The addresses at which others may reach us: "10.0.0.7:4711 [2001:db8::7]:4711", of one interface
 * if named. */
int daemon_link_addresses(const struct daemon_link_net *net, const char *interface,
                          struct buf *text, struct errmsg *err);

/* Callers who prove this other key are accepted, too.  Their links have calls of their own, and
 * their positions mean nothing.  The key must outlive the net. */
void daemon_link_admit(struct daemon_link_net *net, const unsigned char *key,
                       const struct daemon_link_calls *calls, void *arg);

/* Connects to the daemon at one of these addresses (as above; separated by blanks or commas), whose
 * position must be `peer`.  Then on_up or on_down comes, within LIMIT_DAEMON_LINK_CONNECT_MS. NULL:
 * bad text, or no memory. */
struct daemon_link *daemon_link_connect(struct daemon_link_net *net, struct slice addresses,
                                        uint32_t peer, struct errmsg *err);

uint32_t daemon_link_position(const struct daemon_link *h);   /* of the other end */
const char *daemon_link_version(const struct daemon_link *h); /* of its program */
const char *daemon_link_where(const struct daemon_link *h);   /* its address, for people */

/* Queues one message, in parts that are joined, and sends as much as possible at once.  0, or
 * -errno with nothing queued: -EPIPE: not up, or ending; -EMSGSIZE, -ENOBUFS (limits), -ENOMEM. */
int daemon_link_send(struct daemon_link *h, const struct slice *parts, size_t nparts);

/* More than LIMIT_DAEMON_LINK_HIGH is queued: hold back messages that can wait.  on_room reports
 * the end.
 */
bool daemon_link_pressed(const struct daemon_link *h);
size_t daemon_link_waiting(const struct daemon_link *h);

/* Stops reading from it, which puts back-pressure on the sender.  Silence is not counted meanwhile.
 */
void daemon_link_pause(struct daemon_link *h, bool pause);

/* Sends BYE after the queue.  Messages are still received; on_down (DAEMON_LINK_DOWN_BYE if all
 * went well) comes when the other end has closed, or after LIMIT_DAEMON_LINK_CLOSE_MS. */
void daemon_link_end(struct daemon_link *h);
/* Closes it now, without a callback.  The other end sees a broken link. */
void daemon_link_drop(struct daemon_link *h);

#endif
