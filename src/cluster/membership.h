/* membership.h - one daemon as a member of the cluster: the router (router.h) and the overlay
 * (overlay.h) put together.
 *
 * Links of the router become links of the overlay, messages of the overlay become messages of the
 * router, and the overlay's events become calls of the host.  A daemon that has lost its parent
 * joins the nearest ancestor that it can reach; a lost daemon is announced to everybody, and those
 * below it that do not rejoin in time are lost, too.
 *
 * Sans-IO as both of them: wireupd (daemon/overlay_io.h), the simulator and tests are hosts of the
 * same code.  The host opens the router with membership_router_calls() and `member` as their
 * argument.
 */
#ifndef WIREUP_CLUSTER_MEMBERSHIP_H
#define WIREUP_CLUSTER_MEMBERSHIP_H

#include "cluster/overlay.h"
#include "cluster/membership_state.h"
#include "cluster/router.h"

struct arena;

struct membership_calls {
    /* A message for us, alone or with everybody else.  It is valid until the call returns. */
    void (*on_message)(void *arg, const struct msg *m);
    void (*on_ready)(void *arg, uint32_t position, struct slice host); /* as in router.h */
    /* A link to our parent or to a child is up.  May be NULL, as the next two. */
    void (*on_near)(void *arg, uint32_t position);
    /* The link to a child has gone down without being asked to; why: one sentence.  on_lost()
     * follows. */
    void (*on_down)(void *arg, uint32_t position, const char *why);
    /* The top has decided how a collective's data gets to everybody (OVERLAY_DECIDED). */
    void (*on_decided)(void *arg, const struct overlay_event *e);
    /* A collective that we have contributed to is over (OVERLAY_COMPLETED). */
    void (*on_completed)(void *arg, const struct overlay_event *e);
    /* A daemon is lost, which everybody learns. */
    void (*on_lost)(void *arg, uint32_t position);
    /* A position has a node now, which everybody learns.  May be NULL. */
    void (*on_welcome)(void *arg, uint32_t position);
    /* This daemon cannot stay in the cluster; why: one sentence. */
    void (*on_end)(void *arg, const char *why);
    /* After router_end(): all links are closed. */
    void (*on_closed)(void *arg);
    /* The last call of all that a message of the overlay, a link or the time has caused.  May be
     * NULL. */
    void (*on_settled)(void *arg);

    /* Two actions.  Connects to an ancestor: NULL if there is no way to try. */
    struct router_link *(*join)(void *arg, uint32_t position);
    /* membership_overdue() is wanted after that time; replaces the former one. */
    void (*overdue)(void *arg, uint32_t ms);
};

/* How messages of the overlay become messages between daemons; the simulator may pass references
 * to blocks that have no bytes. */
struct membership_codec {
    bool (*out)(void *arg, const struct overlay_msg *from, struct arena *a, struct msg *m_p);
    struct overlay_msg *(*in)(void *arg, const struct msg *m, uint32_t count);
    void *arg;
};

struct membership_config {
    struct overlay_config overlay;
    uint32_t parent;               /* where we join first; TREE_NONE: the launcher */
    struct membership_codec codec; /* zeroed: overlay_codec.h */
    const struct log *log;
    struct membership_calls calls;
    void *arg;
};

struct membership {
    struct membership_config config;
    struct router *router;
    struct overlay overlay;
    uint32_t tried; /* the parent that we have or are connecting to */
    enum membership_state state;
    bool turning; /* events are being handled, further up the stack */
};

/* The calls that a member needs of its router. */
struct router_calls membership_router_calls(void);

/* The router may be opened before or afterwards; before, if some positions are lost already.  0 or
 * -ENOMEM. */
int membership_open(struct membership *m, struct router *c, const struct membership_config *config);
void membership_close(struct membership *m); /* harmless twice, and on zeroed memory */

/* To all others, once and in order, whatever is lost on the way.  0, -EMSGSIZE or -ENOMEM. */
int membership_broadcast(struct membership *m, struct msg *out);

/* This node's part in a collective (overlay_contribute_by()); on_completed() follows, perhaps at
 * once. */
int membership_contribute(struct membership *m, struct overlay_way way, struct slice what,
                          uint64_t generation, const struct rank_set *all, struct block_set *block,
                          uint64_t now_ns);

/* What was gathered for collectives that are over (overlay_config) is dropped; harmless after
 * membership_close(). */
void membership_forget(struct membership *m);

/* Launcher: that daemon is lost, whichever node noticed. */
void membership_lose(struct membership *m, uint32_t position);
/* Launcher, during on_lost(): what it means is decided by membership_settle() (overlay_defer()).  0
 * or -ENOMEM. */
int membership_defer(struct membership *m, uint32_t position);
void membership_settle(struct membership *m, uint32_t position); /* harmless of another one */
/* Launcher: that position has a node now: it is ready. */
void membership_welcome(struct membership *m, uint32_t position);
/* A daemon: it has been asked to leave, and does not seek another ancestor any more. */
void membership_leave(struct membership *m);
bool membership_has(const struct membership *m, uint32_t position); /* it has, or had, a node */
/* Some daemons that should have joined here have not. */
void membership_overdue(struct membership *m);

#endif
