/* daemon_link.h - links between daemons: authenticated, encrypted TCP connections that carry
 * messages.
 *
 * A hop is a link to one other daemon of the job.  What is on the wire, and who is let in, is in
 * daemon_link_crypto.h; here are the descriptors, the tries of several addresses, the bounds and
 * the queue.
 *
 *  - daemon_link_listen() waits for callers.  Who cannot prove that it has the job's key never
 * becomes a hop: it is refused with one line in the log, while there are few, and disturbs nobody.
 *  - daemon_link_connect() tries all addresses of the other daemon, one beside the other, and keeps
 * the first that answers with the right key: another machine behind the same private address is
 * only one try that failed.  An address that closes us out before it answers is called again, a few
 *    times: strangers may have taken all places there.
 *  - Callbacks run from the loop only, never inside a call of this module.  Each may call anything
 *    here, daemon_link_drop() of its own hop included, but not daemon_link_net_free().
 *  - on_down is the last callback of a hop, and comes once; after it the hop is gone.
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
    DAEMON_LINK_DOWN_BYE,     /* closed on purpose, by one of the two; nothing was lost */
    DAEMON_LINK_DOWN_BROKEN,  /* the connection is gone without a good-bye */
    DAEMON_LINK_DOWN_SILENT,  /* nothing came for too long */
    DAEMON_LINK_DOWN_NO_WAY,  /* no address could be reached */
    DAEMON_LINK_DOWN_REFUSED, /* reached, and other version, key or position */
};

struct daemon_link_calls {
    /* A link is there: h is new when the other end has called us. */
    void (*on_up)(void *arg, struct daemon_link *h);
    void (*on_message)(void *arg, struct daemon_link *h, struct slice message);
    /* why->text: one clear sentence. */
    void (*on_down)(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why);
    /* What waited has left: daemon_link_pressed() is false again.  May be NULL. */
    void (*on_room)(void *arg, struct daemon_link *h);
};

struct daemon_link_config {
    struct loop *loop;
    const struct log *log;    /* for refusals; may be NULL */
    struct quota *quota;      /* of all strangers to this process; NULL: of this module alone */
    const unsigned char *key; /* outlives the net, which has no copy */
    uint32_t position;        /* ours in the job */
    struct daemon_link_calls calls;
    void *arg;
    uint32_t alive_ms;  /* after so much silence of ours a sign of life is sent; 0: never */
    uint32_t silent_ms; /* after so much silence of theirs a link is down; 0: never */
};

/* The sentences of daemon_link_net_new() to daemon_link_connect() are for the user.  NULL or
 * -errno. */
struct daemon_link_net *daemon_link_net_new(const struct daemon_link_config *config,
                                            struct errmsg *err);
void daemon_link_net_free(
    struct daemon_link_net *net); /* drops all hops, without callbacks; NULL is fine */

/* Waits for callers on all interfaces, or on the one that is named; on a free port, or one of
 * low ... high (0, 0: any).  0 or -errno. */
int daemon_link_listen(struct daemon_link_net *net, const char *interface, uint16_t low,
                       uint16_t high, struct errmsg *err);
uint16_t daemon_link_port(const struct daemon_link_net *net);
/* Where others may reach us: "10.0.0.7:4711 [2001:db8::7]:4711", of one interface when named. */
int daemon_link_addresses(const struct daemon_link_net *net, const char *interface,
                          struct buf *text, struct errmsg *err);

/* Calls the daemon at one of these addresses (as above; blanks or commas between), whose position
 * must be `peer`.  Then on_up or on_down comes, within LIMIT_HOP_CONNECT_MS.  NULL: bad text, or no
 * memory. */
struct daemon_link *daemon_link_connect(struct daemon_link_net *net, struct slice addresses,
                                        uint32_t peer, struct errmsg *err);

uint32_t daemon_link_position(const struct daemon_link *h);   /* of the other end */
const char *daemon_link_version(const struct daemon_link *h); /* of its program */
const char *daemon_link_where(const struct daemon_link *h);   /* its address, for people */
void daemon_link_set_arg(struct daemon_link *h,
                         void *arg); /* in place of the config's, for callbacks of h */
void *daemon_link_arg(const struct daemon_link *h);

/* Queues one message, in parts that are joined, and sends what it can at once.  0, or -errno with
 * nothing queued: -EPIPE: not up, or ending; -EMSGSIZE, -ENOBUFS (limits), -ENOMEM. */
int daemon_link_send(struct daemon_link *h, const struct slice *parts, size_t nparts);

/* More waits than LIMIT_HOP_HIGH: hold back what can wait.  on_room says when it is over. */
bool daemon_link_pressed(const struct daemon_link *h);
size_t daemon_link_waiting(const struct daemon_link *h);

/* Stops reading from it, so that its sender comes under pressure.  Its silence is not counted. */
void daemon_link_pause(struct daemon_link *h, bool pause);

/* Says good-bye behind what waits.  Messages still come; on_down (DAEMON_LINK_DOWN_BYE when all has
 * gone well) comes when the other end has closed, or after LIMIT_HOP_LINGER_MS. */
void daemon_link_end(struct daemon_link *h);
/* Lets go of it now, without a callback.  The other end sees it broken. */
void daemon_link_drop(struct daemon_link *h);

#endif
