/* router_io_test.c - a launcher and daemons in one process, over loopback: all are found, messages
 * reach one or all, the loss of a daemon is noticed, messages on their way through it still arrive,
 * pieces use peer links but do not need them, and the end comes from the leaves. */
#include "cluster/msg.h"
#include "daemon/router_io.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/tap.h"

enum { DAEMONS = 6, WIDTH = 2, FDS = 256 };

struct daemon {
    struct world *world;
    struct router router;
    struct router_io io;
    uint32_t me, messages, last_from, losses, last_lost;
    int64_t number; /* of the last message */
    bool closed, orphan, disorder;
    uint32_t pieces;
    uint64_t piece[DAEMONS]; /* the last one, by sender */
    uint64_t sent[DAEMONS];  /* the last one that we have sent, by receiver */
    bool moves;              /* when its parent is lost, it joins the launcher */
    char why[200];
};

struct world {
    struct loop loop;
    struct timer limit;
    struct daemon members[DAEMONS];
    uint32_t nready, nclosed, wanted; /* messages, until the loop stops */
    uint32_t meet_ms, links;          /* of each router's configuration */
    unsigned char key[DAEMON_LINK_KEY];
};

static void on_message(void *arg, const struct msg *m)
{
    struct daemon *a = arg;

    if (m->kind == MSG_overlay) {
        a->pieces++;
        a->disorder = a->disorder || m->u.overlay.generation != ++a->piece[m->from];
    } else if (m->kind == MSG_signal) {
        a->messages++;
        a->last_from = m->from;
        a->disorder = a->disorder || m->u.signal.signal <= a->number;
        a->number = m->u.signal.signal;
    } else {
        return;
    }
    if (a->world->wanted && --a->world->wanted == 0)
        loop_stop(&a->world->loop);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct daemon *a = arg;

    (void)position;
    (void)host;
    if (++a->world->nready == DAEMONS - 1)
        loop_stop(&a->world->loop);
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct daemon *a = arg;

    a->losses++;
    a->last_lost = position;
    snprintf(a->why, sizeof a->why, "%s", why);
    loop_stop(&a->world->loop);
}

static void join_to(struct world *w, uint32_t i, uint32_t parent);

static void on_orphan(void *arg, const char *why)
{
    struct daemon *a = arg;

    a->orphan = true;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (a->moves)
        join_to(a->world, a->me, 0);
}

static void on_closed(void *arg)
{
    struct daemon *a = arg;

    a->closed = true;
    if (++a->world->nclosed == DAEMONS)
        loop_stop(&a->world->loop);
}

static void too_long(void *arg)
{
    struct world *w = arg;

    OK_F(false, "the world does not hang");
    loop_stop(&w->loop);
}

static void run(struct world *w)
{
    timer_set(&w->limit, 300000);
    loop_run(&w->loop);
    timer_stop(&w->limit);
}

static void open_member(struct world *w, uint32_t i)
{
    struct daemon *a = &w->members[i];
    struct router_io_config config = {
        .router = { .me = i,
                    .count = DAEMONS,
                    .width = WIDTH,
                    .host = "here",
                    .meet_ms = w->meet_ms,
                    .links = w->links,
                    .calls = { on_message, on_ready, on_lost, on_orphan, on_closed, NULL },
                    .arg = a },
        .loop = &w->loop,
        .key = w->key,
        .interface = "lo",
    };
    struct errmsg err = { "" };

    a->world = w;
    a->me = i;
    if (!OK(router_io_open(&a->io, &a->router, &config, &err) == 0))
        printf("# %s\n", err.text);
}

static void join_to(struct world *w, uint32_t i, uint32_t parent)
{
    struct buf text = BUF_NULL(4096);
    struct errmsg err = { "" };

    OK(router_io_addresses(&w->members[parent].io, &text, &err) == 0);
    if (!OK(router_io_join(&w->members[i].io, parent, buf_slice(&text), &err) == 0))
        printf("# %s\n", err.text);
    buf_free(&text);
}

static void open_world_of(struct world *w, uint32_t meet_ms, uint32_t links)
{
    memset(w, 0, sizeof *w);
    memset(w->key, 7, sizeof w->key);
    w->meet_ms = meet_ms;
    w->links = links;
    OK(loop_init(&w->loop) == 0);
    timer_init(&w->limit, &w->loop, too_long, w);
    for (uint32_t i = 0; i < DAEMONS; i++)
        open_member(w, i);
    for (uint32_t i = 1; i < DAEMONS; i++)
        join_to(w, i, (i - 1) / WIDTH);
    run(w);
    EQ(w->nready, DAEMONS - 1);
}

static void open_world(struct world *w)
{
    open_world_of(w, 1000000, 0);
}

static void close_world(struct world *w)
{
    for (uint32_t i = 0; i < DAEMONS; i++)
        router_io_close(&w->members[i].io);
    timer_stop(&w->limit);
    loop_free(&w->loop);
}

static void send_one(struct world *w, uint32_t from, uint32_t to, uint32_t number,
                     uint32_t arrivals)
{
    struct msg m = { .kind = MSG_signal, .to = to };

    m.u.signal.signal = (int)number;
    w->wanted = arrivals;
    OK_F(router_send(&w->members[from].router, &m) == 0, "%u says %u to %u", from, number, to);
    run(w);
}

/* A leaf does not listen, unless an interface or a port has to be checked. */
static void test_leaf(void)
{
    static struct world w;
    struct daemon *a = &w.members[DAEMONS - 1];
    struct router_io_config config = {
        .router = { .me = DAEMONS - 1, .count = DAEMONS, .width = WIDTH, .host = "here" },
        .loop = &w.loop,
        .key = w.key,
    };
    struct buf text = BUF_NULL(1 << 16);
    struct errmsg err = { "" };

    OK(loop_init(&w.loop) == 0 && router_io_open(&a->io, &a->router, &config, &err) == 0);
    OK(daemon_link_port(a->io.net) == 0);
    router_io_addresses(&a->io, &text, &err); /* unless the addresses are requested */
    OK(daemon_link_port(a->io.net) != 0);
    router_io_close(&a->io);
    config.router.me = 1;
    OK(router_io_open(&a->io, &a->router, &config, &err) == 0 && daemon_link_port(a->io.net) != 0);
    router_io_close(&a->io);
    config.router.me = DAEMONS - 1;
    config.port_low = 1024;
    config.port_high = 65535;
    OK(router_io_open(&a->io, &a->router, &config, &err) == 0 &&
       daemon_link_port(a->io.net) >= 1024);
    router_io_close(&a->io);
    config.interface = "no-such-if0";
    OK_F(router_io_open(&a->io, &a->router, &config, &err) < 0 &&
             strstr(err.text, config.interface),
         "%.200s", err.text);
    buf_free(&text);
    loop_free(&w.loop);
}

static void test_ways(void)
{
    static struct world w;

    open_world(&w);
    send_one(&w, 0, 5, 1, 1);
    OK(w.members[5].number == 1 && w.members[5].last_from == 0);
    send_one(&w, 5, 3, 2, 1); /* up over the launcher, and down */
    OK(w.members[3].number == 2 && w.members[3].last_from == 5 && w.members[0].messages == 0);
    send_one(&w, 4, MSG_EVERYBODY, 3, DAEMONS - 1);
    for (uint32_t i = 0; i < DAEMONS; i++)
        OK_F(i == 4 || w.members[i].number == 3, "%u has heard it", i);
    EQ(w.members[4].messages, 0);
    close_world(&w);
}

static void test_loss(void)
{
    static struct world w;

    open_world(&w);
    router_io_close(&w.members[1].io);
    run(&w);
    OK_F(w.members[0].losses == 1 && w.members[0].last_lost == 1, "the launcher misses it: %s",
         w.members[0].why);
    while (!w.members[3].orphan || !w.members[4].orphan) {
        w.wanted = 1;
        send_one(&w, 2, 0, 1, 1); /* turns the loop */
    }
    OK_F(true, "those below know that they are alone: %s", w.members[3].why);
    close_world(&w);
}

/* Daemon 1 is lost with everything that is queued in it.  The messages between its children and the
 * launcher arrive, once and in order: sent before, while there is no route, and after. */
static void test_lost_relay(void)
{
    enum { NUMBERS = 50 };
    static struct world w;
    struct msg m = { .kind = MSG_signal };

    open_world(&w);
    w.members[3].moves = w.members[4].moves = true;
    for (uint32_t n = 1; n <= 3 * NUMBERS; n++) {
        if (n == NUMBERS) /* before the loop turns: all so far is queued up to daemon 1 */
            router_io_close(&w.members[1].io);
        if (n == 2 * NUMBERS) {
            run(&w); /* until the launcher notices the loss */
            EQ(w.members[0].losses, 1);
            router_lost(&w.members[0].router, 1);
        }
        m.u.signal.signal = (int)n;
        m.to = 3;
        OK(router_send(&w.members[0].router, &m) == 0);
        m.to = 0;
        OK(router_send(&w.members[4].router, &m) == 0);
    }
    while (w.members[3].number != 3 * NUMBERS || w.members[0].number != 3 * NUMBERS) {
        w.wanted = 1;
        run(&w);
    }
    OK_F(w.members[3].messages == 3 * NUMBERS && !w.members[3].disorder,
         "messages of the launcher come once and in order: %u", w.members[3].messages);
    OK_F(w.members[0].messages == 3 * NUMBERS && !w.members[0].disorder, "and messages to it: %u",
         w.members[0].messages);
    m.to = 1;
    OK_F(router_send(&w.members[0].router, &m) == -EPIPE, "nothing is said to who is lost");
    close_world(&w);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void piece(struct world *w, uint32_t from, uint32_t to, size_t bytes)
{
    static char room[100000];
    struct slice block = slice_mem(room, bytes);
    struct msg m = { .kind = MSG_overlay, .to = to };

    m.u.overlay.generation = ++w->members[from].sent[to];
    m.u.overlay.blocks = (struct part_texts){ &block, 1 };
    OK_F(router_send_piece(&w->members[from].router, &m, clock_now_ns()) == 0,
         "%u has a piece for %u", from, to);
    w->wanted++;
}

static void pieces(struct world *w, uint32_t a, uint32_t b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        piece(w, a, b, i % 7 == 6 ? 100000 : 10);
        piece(w, b, a, 1000);
    }
}

static bool all_came(const struct world *w, uint32_t a, uint32_t b)
{
    const struct daemon *x = &w->members[a], *y = &w->members[b];

    return x->sent[b] == y->piece[a] && y->sent[a] == x->piece[b] && !x->disorder && !y->disorder;
}

static bool is_linked(const struct world *w, uint32_t a, uint32_t b)
{
    return peer_links_is_up(&w->members[a].router, b) && peer_links_is_up(&w->members[b].router, a);
}

/* The one connection to this leaf. */
static void break_link_at(const struct world *w, uint32_t me)
{
    uint16_t port = daemon_link_port(w->members[me].io.net);
    uint32_t broken = 0;

    for (int fd = 0; fd < FDS; fd++) {
        struct sockaddr_in6 at;
        socklen_t len = sizeof at, peer = sizeof at;
        if (getsockname(fd, (struct sockaddr *)&at, &len) == 0 && at.sin6_family != AF_UNIX &&
            ntohs(at.sin6_port) == port && getpeername(fd, (struct sockaddr *)&at, &peer) == 0)
            broken += shutdown(fd, SHUT_RDWR) == 0;
    }
    OK_F(broken == 1, "%u has one such link: %u", me, broken);
}

/* Both need the link, it is one, and the tree is not needed any more. */
static void test_direct(void)
{
    static struct world w;

    open_world(&w);
    pieces(&w, 3, 5, 50);
    run(&w);
    OK_F(is_linked(&w, 3, 5) && all_came(&w, 3, 5), "two leaves have a link of their own");
    pieces(&w, 0, 4, 10); /* from the launcher to a daemon below it that is not its child */
    run(&w);
    OK_F(is_linked(&w, 0, 4) && all_came(&w, 0, 4), "so have the launcher and a leaf");
    pieces(&w, 1, 3, 10);
    run(&w);
    OK_F(!is_linked(&w, 1, 3) && all_came(&w, 1, 3), "neighbours have one already");
    send_one(&w, 3, 5, 1, 1);
    router_io_close(&w.members[0].io);
    while (!w.members[1].orphan || !w.members[2].orphan) {
        pieces(&w, 3, 5, 1);
        run(&w);
    }
    pieces(&w, 3, 5, 50);
    run(&w);
    OK_F(all_came(&w, 3, 5), "without the launcher between them, too");
    close_world(&w);
}

/* The link breaks with pieces in it: they arrive along the tree, once and in order. */
static void test_direct_broken(void)
{
    static struct world w;

    open_world(&w);
    pieces(&w, 3, 5, 20);
    run(&w);
    OK(is_linked(&w, 3, 5));
    pieces(&w, 3, 5, 100);
    break_link_at(&w, 5);
    pieces(&w, 3, 5, 100);
    run(&w);
    OK_F(all_came(&w, 3, 5), "messages in a link that broke come another way");
    pieces(&w, 3, 5, 100);
    run(&w);
    OK_F(all_came(&w, 3, 5) && !is_linked(&w, 3, 5), "and so does all that follows");
    close_world(&w);
}

/* Nothing listens at the announced address, or something accepts and never sends a byte. */
static void test_unreachable(bool mute)
{
    static struct world w;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    OK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && (!mute || listen(fd, 1) == 0) &&
       getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    open_world_of(&w, mute ? 1 : 1000000, 0);
    buf_printf(&w.members[5].router.direct.here, "127.0.0.1:%u", ntohs(at.sin_port));
    pieces(&w, 3, 5, 100);
    run(&w);
    OK_F(all_came(&w, 3, 5) && !is_linked(&w, 3, 5), "who cannot be called is reached by the tree");
    pieces(&w, 4, 5, 10);
    pieces(&w, 3, 4, 10);
    run(&w);
    OK_F(all_came(&w, 4, 5) && all_came(&w, 3, 4), "so do others; and they may have other links");
    OK(mute || is_linked(&w, 3, 4));
    close(fd);
    close_world(&w);
}

/* No more links than the limit: idle ones are closed. */
static void test_few_links(void)
{
    static struct world w;

    open_world_of(&w, 1000000, 1);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t to = 4; to <= 5; to++) {
            pieces(&w, 3, to, 40);
            run(&w);
            OK_F(all_came(&w, 3, to), "all pieces between 3 and %u", to);
            OK(!peer_links_is_up(&w.members[3].router, 4) ||
               !peer_links_is_up(&w.members[3].router, 5));
        }
    }
    pieces(&w, 3, 4, 40);
    pieces(&w, 3, 5, 40);
    pieces(&w, 4, 5, 40);
    run(&w);
    OK_F(all_came(&w, 3, 4) && all_came(&w, 3, 5) && all_came(&w, 4, 5), "and of three at once");
    close_world(&w);
}

/* No pieces to a lost daemon; a lost relay loses no pieces. */
static void test_direct_losses(void)
{
    static struct world w;
    struct msg m = { .kind = MSG_overlay };

    open_world_of(&w, 1, 0); /* by the tree first, more often than not */
    w.members[3].moves = w.members[4].moves = true;
    pieces(&w, 3, 5, 50);
    router_io_close(&w.members[1].io);
    while (w.members[0].losses == 0)
        run(&w); /* until the launcher notices the loss */
    router_lost(&w.members[0].router, 1);
    pieces(&w, 3, 5, 50);
    while (!all_came(&w, 3, 5)) {
        w.wanted = 1;
        run(&w);
    }
    OK_F(all_came(&w, 3, 5), "pieces on their way through a lost daemon come all the same");
    router_lost(&w.members[3].router, 5);
    m.to = 5;
    OK_F(router_send_piece(&w.members[3].router, &m, clock_now_ns()) == -EPIPE,
         "nothing is sent to the lost");
    close_world(&w);
}

static void test_end(void)
{
    static struct world w;

    open_world(&w);
    pieces(&w, 3, 5, 20);
    pieces(&w, 0, 5, 20);
    run(&w);
    OK(is_linked(&w, 3, 5) && is_linked(&w, 0, 5));
    pieces(&w, 4, 5, 1); /* its peer link does not come up any more */
    for (uint32_t i = 0; i < DAEMONS; i++)
        router_end(&w.members[i].router);
    run(&w);
    for (uint32_t i = 0; i < DAEMONS; i++)
        OK_F(w.members[i].closed && !w.members[i].losses && !w.members[i].orphan,
             "%u is closed as it should", i);
    close_world(&w);
}

int main(void)
{
    test_leaf();
    test_ways();
    test_loss();
    test_lost_relay();
    test_direct();
    test_direct_broken();
    test_unreachable(false);
    test_unreachable(true);
    test_few_links();
    test_direct_losses();
    test_end();
    return tap_done();
}
