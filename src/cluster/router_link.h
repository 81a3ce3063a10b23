/* router_link.h - links between daemons as the router sees them, and its actions on them.
 *
 * Actions are calls and not a queue, because a queue would cost a copy of each message.  None of
 * them calls the router back.
 */
#ifndef WIREUP_CLUSTER_ROUTER_LINK_H
#define WIREUP_CLUSTER_ROUTER_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* One connection to another daemon: the host's. */
struct router_link;

enum router_down {
    ROUTER_DOWN_CLOSED,     /* on purpose, by either end; nothing was lost */
    ROUTER_DOWN_BROKEN,     /* everything else */
    ROUTER_DOWN_UNREACHABLE /* it never was up */
};

/* Actions that the host carries out. */
struct router_actions {
    uint32_t (*position)(const struct router_link *l); /* of the other end, while the link is up */
    /* Sends one message.  0, or -errno with nothing sent; -EPIPE: not up, or ending. */
    int (*send)(struct router_link *l, struct slice bytes);
    size_t (*waiting)(const struct router_link *l); /* bytes that are queued on it */
    /* Closes it once everything is sent; router_link_down() follows. */
    void (*end)(struct router_link *l);
    /* Closes it now; nothing follows. */
    void (*drop)(struct router_link *l);
    /* Connects to a daemon beside the tree; router_link_up() or router_link_down() follows.  NULL
     * with a sentence. */
    struct router_link *(*connect)(void *arg, uint32_t position, struct slice addresses,
                                   struct errmsg *err);
    /* Appends the addresses where others reach us; they are valid from now on.  0 or -errno. */
    int (*addresses)(void *arg, struct buf *text, struct errmsg *err);
    /* router_tick() is wanted at that time; replaces the former one. */
    void (*wake)(void *arg, uint64_t at_ns);
    void *arg; /* of the last three */
};

#endif
