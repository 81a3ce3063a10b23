/* router_test.c - the routes that the launcher learns when daemons change their parents: a daemon
 * is reached by a link that is there, in whatever order its announcements arrive.
 */
#include "cluster/msg.h"
#include "cluster/router.h"

#include <stdlib.h>
#include <string.h>

#include "tests/log_capture.h"
#include "tests/tap.h"

enum { COUNT = 11, WIDTH = 2, SIGNAL = 5 };

struct router_link {
    uint32_t position;
    unsigned sent; /* signals */
    bool dropped;
};

static uint32_t position(const struct router_link *l)
{
    return l->position;
}

static int count_signals(struct router_link *l, struct slice bytes)
{
    l->sent += bytes.len && ((unsigned char)bytes.ptr[0] & 127) == MSG_signal; /* it is numbered */
    return 0;
}

static void drop(struct router_link *l)
{
    l->dropped = true;
}

static void ignore_message(void *arg, const struct msg *m)
{
    (void)arg;
    (void)m;
}

static void count_ready(void *arg, uint32_t at, struct slice host)
{
    unsigned *ready = arg;

    (void)host;
    ready[at]++;
}

static void ignore_loss(void *arg, uint32_t at, const char *why)
{
    (void)arg;
    (void)at;
    (void)why;
}

/* Position 0: 1 is its child in the tree, 3 and 4 are those of 1, 9 is one of 4. */
struct top {
    struct router router;
    struct log_capture log;
    struct router_link links[COUNT];
    unsigned ready[COUNT];
};

static void top_open(struct top *t)
{
    struct router_config c = {
        .log = log_capture_open(&t->log),
        .count = COUNT,
        .width = WIDTH,
        .host = "top",
        .actions = { .position = position, .send = count_signals, .drop = drop },
        .calls = { .on_message = ignore_message, .on_ready = count_ready, .on_lost = ignore_loss },
        .arg = t->ready
    };

    memset(t->links, 0, sizeof t->links);
    memset(t->ready, 0, sizeof t->ready);
    for (uint32_t i = 0; i < COUNT; i++)
        t->links[i].position = i;
    router_open(&t->router, &c);
}

static void top_close(struct top *t)
{
    router_close(&t->router);
    EQ(t->log.count, 0);
}

/* That position says by this link that it, and `more` if that is not 0, can be reached there. */
static void announce(struct top *t, uint32_t by, uint32_t from, uint32_t more)
{
    uint32_t positions[] = { from, more };
    struct slice host = SLICE("host");
    struct msg m = MSG_WITH(ready, .positions = { positions, more ? 2 : 1 }, .hosts = { &host, 1 });
    struct buf bytes = BUF_NULL(1000);

    m.from = from;
    msg_write(&m, &bytes);
    router_bytes(&t->router, &t->links[by], buf_slice(&bytes), 1);
    buf_free(&bytes);
}

static void link_up(struct top *t, uint32_t by)
{
    router_link_up(&t->router, &t->links[by], 1);
}

static void link_breaks(struct top *t, uint32_t by)
{
    router_link_down(&t->router, &t->links[by], ROUTER_DOWN_BROKEN, "broken");
}

/* The link by which a message to that position goes; COUNT: none, it waits. */
static uint32_t way_to(struct top *t, uint32_t to)
{
    struct msg m = MSG_WITH(signal, .signal = SIGNAL);

    for (uint32_t i = 0; i < COUNT; i++)
        t->links[i].sent = 0;
    m.to = to;
    OK(router_send(&t->router, &m) == 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (t->links[i].sent)
            return i;
    }
    return COUNT;
}

/* 4 has lost its link to 1, and comes to us; its first announcement was still on its way through 1.
 */
static void test_old_announcement_is_late(void)
{
    struct top t;

    top_open(&t);
    link_up(&t, 1);
    announce(&t, 1, 1, 3);
    EQ(way_to(&t, 3), 1);
    link_up(&t, 4);
    announce(&t, 4, 4, 0);
    EQ(way_to(&t, 4), 4);
    announce(&t, 1, 4, 0);
    EQ(way_to(&t, 4), 4);
    link_breaks(&t, 1);
    EQ(way_to(&t, 4), 4);
    EQ(way_to(&t, 3), COUNT);
    EQ(t.ready[4], 1);
    top_close(&t);
}

/* 9 was below 4, which has lost its link to 1 and then died: it comes to 1, and says so before the
 * end of our link to 4 is known here. */
static void test_new_announcement_is_early(void)
{
    struct top t;

    top_open(&t);
    link_up(&t, 1);
    announce(&t, 1, 1, 0);
    link_up(&t, 4);
    announce(&t, 4, 4, 9);
    EQ(way_to(&t, 9), 4);
    announce(&t, 1, 9, 0);
    link_breaks(&t, 4);
    EQ(way_to(&t, 9), 1);
    router_lost(&t.router, 4);
    EQ(way_to(&t, 9), 1);
    top_close(&t);
}

/* It is reached by none of the links by which it has announced itself. */
static void test_lost(void)
{
    struct top t;

    top_open(&t);
    link_up(&t, 1);
    announce(&t, 1, 1, 4);
    link_up(&t, 4);
    announce(&t, 4, 4, 0);
    OK(router_reaches(&t.router, 4));
    router_lost(&t.router, 4);
    OK(t.links[4].dropped && !t.links[1].dropped && !router_reaches(&t.router, 4));
    top_close(&t);
}

int main(void)
{
    test_old_announcement_is_late();
    test_new_announcement_is_early();
    test_lost();
    return tap_done();
}
