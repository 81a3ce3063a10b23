/* router_io.c - see router_io.h. */
#include "daemon/router_io.h"

#include <errno.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/tree.h"

/* ---- links ----------------------------------------------------------------------------------- */

/* A link of the router is a link of io/daemon_link.h. */
static struct daemon_link *wire(const struct router_link *l)
{
    return (struct daemon_link *)(uintptr_t)l;
}

static struct router_link *link_of(struct daemon_link *h)
{
    return (struct router_link *)h;
}

static uint32_t position(const struct router_link *l)
{
    return daemon_link_position(wire(l));
}

static int send_bytes(struct router_link *l, struct slice bytes)
{
    return daemon_link_send(wire(l), &bytes, 1);
}

static size_t waiting(const struct router_link *l)
{
    return daemon_link_waiting(wire(l));
}

static void end(struct router_link *l)
{
    daemon_link_end(wire(l));
}

static void drop(struct router_link *l)
{
    daemon_link_drop(wire(l));
}

static struct router_link *connect_to(void *arg, uint32_t to, struct slice addresses,
                                      struct errmsg *err)
{
    return router_io_connect(arg, to, addresses, err);
}

static int addresses_here(void *arg, struct buf *text, struct errmsg *err)
{
    return router_io_addresses(arg, text, err);
}

static void on_up(void *arg, struct daemon_link *h)
{
    struct router_io *w = arg;

    router_link_up(w->router, link_of(h), clock_now_ns());
}

static void on_message(void *arg, struct daemon_link *h, struct slice bytes)
{
    struct router_io *w = arg;

    router_bytes(w->router, link_of(h), bytes, clock_now_ns());
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    static const enum router_down downs[] = {
        [DAEMON_LINK_DOWN_BYE] = ROUTER_DOWN_CLOSED,
        [DAEMON_LINK_DOWN_BROKEN] = ROUTER_DOWN_BROKEN,
        [DAEMON_LINK_DOWN_SILENT] = ROUTER_DOWN_BROKEN,
        [DAEMON_LINK_DOWN_NO_WAY] = ROUTER_DOWN_UNREACHABLE,
        [DAEMON_LINK_DOWN_REFUSED] = ROUTER_DOWN_UNREACHABLE,
    };
    struct router_io *w = arg;

    router_link_down(w->router, link_of(h), downs[how], why->text);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void wake(void *arg, uint64_t at_ns)
{
    struct router_io *w = arg;
    uint64_t now = clock_now_ns();

    if (timer_set(&w->wake, at_ns > now ? (at_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0) < 0)
        log_error(w->config.router.log, "out of memory for a timer of the links");
}

static void on_time(void *arg)
{
    struct router_io *w = arg;

    router_tick(w->router, clock_now_ns());
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* A daemon that has lost its parent joins an ancestor, so a leaf is called only by daemons that
 * have pieces for it (cluster/peer_links.h).  (If an interface or ports are configured, it reports
 * now when there are none.) */
static bool is_called(const struct router_io_config *k)
{
    uint32_t count = k->members ? k->members : k->router.count;

    return k->interface || k->port_low || tree_children(k->router.width, count, k->router.me) > 0;
}

/* Harmless twice. */
static int start_listening(struct router_io *w, struct errmsg *err)
{
    const struct router_io_config *k = &w->config;

    return daemon_link_port(w->net)
               ? 0
               : daemon_link_listen(w->net, k->interface, k->port_low, k->port_high, err);
}

int router_io_open(struct router_io *w, struct router *c, const struct router_io_config *config,
                   struct errmsg *err)
{
    struct daemon_link_config links = { .loop = config->loop,
                                        .log = config->router.log,
                                        .quota = config->quota,
                                        .key = config->key,
                                        .position = config->router.me,
                                        .calls = { on_up, on_message, on_down, NULL },
                                        .arg = w,
                                        .alive_ms = LIMIT_NODE_ALIVE_MS,
                                        .silent_ms = LIMIT_NODE_SILENT_MS };

    *w = (struct router_io){ .config = *config, .router = c };
    w->config.router.actions =
        (struct router_actions){ position,   send_bytes,     waiting, end, drop,
                                 connect_to, addresses_here, wake,    w };
    timer_init(&w->wake, config->loop, on_time, w);
    router_open(c, &w->config.router);
    w->net = daemon_link_net_new(&links, err);
    if (w->net && (!is_called(config) || start_listening(w, err) == 0))
        return 0;
    router_io_close(w);
    return -EIO;
}

void router_io_close(struct router_io *w)
{
    if (!w->router)
        return;
    timer_stop(&w->wake);
    daemon_link_net_free(w->net);
    w->net = NULL;
    router_close(w->router);
    w->router = NULL;
}

int router_io_addresses(struct router_io *w, struct buf *text, struct errmsg *err)
{
    int rc = start_listening(w, err);

    return rc < 0 ? rc : daemon_link_addresses(w->net, w->config.interface, text, err);
}

struct router_link *router_io_connect(struct router_io *w, uint32_t ancestor,
                                      struct slice addresses, struct errmsg *err)
{
    return link_of(daemon_link_connect(w->net, addresses, ancestor, err));
}

int router_io_join(struct router_io *w, uint32_t parent, struct slice addresses, struct errmsg *err)
{
    struct router_link *l = router_io_connect(w, parent, addresses, err);

    router_join(w->router, l);
    return l ? 0 : -EINVAL;
}
