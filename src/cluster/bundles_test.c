/* bundles_test.c - messages that go as one: their order, one alone, large ones, and what is
 * refused. */
#include "cluster/bundles.h"

#include <string.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "tests/tap.h"

enum { SENT = 8 };

/* What has been sent. */
struct sent {
    enum msg_kind kinds[SENT];
    uint32_t to[SENT], messages[SENT]; /* of a bundle */
    uint32_t n;
    char tickets[200]; /* of all queries, in the order in which they are received */
    bool invalid;
};

static void received(void *arg, const struct msg *m)
{
    struct sent *s = arg;
    size_t len = strlen(s->tickets);

    if (m->kind == MSG_store_query)
        snprintf(s->tickets + len, sizeof s->tickets - len, "%u:%u ", m->from,
                 (unsigned)m->u.store_query.ticket);
}

static void on_send(void *arg, struct msg *m, uint32_t to)
{
    struct sent *s = arg;

    m->from = 7;
    if (s->n == SENT)
        return;
    s->kinds[s->n] = m->kind;
    s->to[s->n] = to;
    s->messages[s->n++] = m->kind == MSG_bundle ? m->u.bundle.messages.n : 0;
    if (m->kind == MSG_bundle)
        s->invalid = !bundles_read(m, received, s) || s->invalid;
    else
        received(s, m);
}

static void ask(struct bundles *b, uint64_t ticket, uint32_t to, struct slice args)
{
    struct msg m = MSG_WITH(store_query, .ticket = ticket, .args = args);

    bundles_add(b, &m, to);
}

static void test_order(void)
{
    struct sent s = { .n = 0 };
    struct bundles b;

    bundles_open(&b, on_send, &s);
    ask(&b, 1, 3, SLICE("a"));
    ask(&b, 2, 4, SLICE("b"));
    ask(&b, 3, 3, SLICE("c"));
    EQ(s.n, 0);
    bundles_flush(&b);
    EQ(s.n, 2);
    OK(s.kinds[0] == MSG_bundle && s.to[0] == 3 && s.messages[0] == 2);
    OK(s.kinds[1] == MSG_store_query && s.to[1] == 4); /* alone */
    OK(!strcmp(s.tickets, "7:1 7:3 7:2 "));
    bundles_flush(&b);
    EQ(s.n, 2);
    OK(!s.invalid);
    bundles_close(&b);
}

/* A large message goes by itself, after those before it. */
static void test_large(void)
{
    static char bytes[LIMIT_BUNDLE];
    struct sent s = { .n = 0 };
    struct bundles b;

    bundles_open(&b, on_send, &s);
    ask(&b, 1, 3, SLICE("a"));
    ask(&b, 2, 3, SLICE("b"));
    ask(&b, 3, 3, slice_mem(bytes, sizeof bytes));
    ask(&b, 4, 3, SLICE("c"));
    bundles_flush(&b);
    EQ(s.n, 3);
    OK(s.kinds[0] == MSG_bundle && s.kinds[1] == MSG_store_query && s.kinds[2] == MSG_store_query);
    OK(!strcmp(s.tickets, "7:1 7:2 7:3 7:4 "));
    bundles_close(&b);
}

static void test_many(void)
{
    struct sent s = { .n = 0 };
    struct bundles b;

    bundles_open(&b, on_send, &s);
    for (uint32_t i = 0; i < LIMIT_BUNDLE_MESSAGES + 2; i++)
        ask(&b, 0, 3, SLICE_NULL);
    EQ(s.n, 1);
    EQ(s.messages[0], LIMIT_BUNDLE_MESSAGES);
    bundles_close(&b); /* two are left */
    EQ(s.n, 1);
}

static bool reads(struct slice bytes)
{
    struct sent s = { .n = 0 };
    struct msg m = MSG_WITH(bundle, .messages = { &bytes, 1 });

    return bundles_read(&m, received, &s);
}

static void test_invalid(void)
{
    struct buf bytes = BUF_NULL(1000);
    struct msg query = MSG_WITH(store_query, .args = SLICE("abc")),
               leave = MSG_WITH(leave, .position = 1);

    msg_write(&query, &bytes);
    OK(reads(buf_slice(&bytes)));
    OK(!reads(slice_mem(buf_slice(&bytes).ptr, buf_len(&bytes) - 1)));
    buf_clear(&bytes);
    msg_write(&leave, &bytes); /* of a kind that is never bundled */
    OK(!reads(buf_slice(&bytes)));
    OK(!reads(SLICE_NULL));
    buf_free(&bytes);
}

int main(void)
{
    test_order();
    test_large();
    test_many();
    test_invalid();
    return tap_done();
}
