/* quota_test.c - shares of connections and of the log: a flood takes nothing from other sources. */
#include "io/quota.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

static struct quota q;
static const struct quota_rules rules = { .begin = 50,
                                          .most = 100,
                                          .calls = 10,
                                          .calls_ms = 4,
                                          .bytes = 1000,
                                          .lines = 4,
                                          .lines_ms = 1000 };
static const struct quota_rules evicts = {
    .begin = 100, .most = 100, .lines = 4, .lines_ms = 1000
};

static struct quota_source address(const char *text)
{
    struct sockaddr_storage at = { .ss_family = strchr(text, ':') ? AF_INET6 : AF_INET };
    void *to = at.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)(void *)&at)->sin_addr
                                       : (void *)&((struct sockaddr_in6 *)(void *)&at)->sin6_addr;

    OK(inet_pton(at.ss_family, text, to) == 1);
    return quota_address(&at);
}

static void test_sources(void)
{
    struct quota_source a = address("192.0.2.1"), b = address("::ffff:192.0.2.1");
    struct quota_source c = address("2001:db8::1"), d = address("2001:db8::2");
    struct quota_source e = address("2001:db8:0:1::1"), u = quota_user(0), v = quota_user(1000);

    OK_F(quota_same(&a, &b), "IPv4 is the same source over both families");
    OK_F(quota_same(&c, &d), "a host owns its network of IPv6");
    OK(!quota_same(&c, &e) && !quota_same(&u, &v) && !quota_same(&a, &c));
}

static void test_random_drop(void)
{
    struct quota_source flood = quota_user(1), good = quota_user(2);
    unsigned in = 0, away = 0;

    quota_init(&q, &rules, 7);
    for (int i = 0; i < 50; i++)
        in += quota_enter(&q, &flood, 0) == QUOTA_IN;
    EQ(in, 50);
    OK_F(quota_enter(&q, &good, 0) == QUOTA_IN, "the other comes in");
    for (int i = 0; i < 10000; i++)
        away += quota_enter(&q, &flood, 0) == QUOTA_AWAY;
    OK_F(away > 9900 && q.open <= 76, "the flood is turned away before all is full: %u", q.open);
    for (int i = 0; i < 20; i++)
        OK_F(quota_enter(&q, &good, 0) != QUOTA_AWAY, "and the other is not, below its share");
    while (q.open)
        quota_leave(&q, q.accounts[0].open ? &flood : &good);
    quota_leave(&q, &good);
    EQ(q.open, 0);
}

static void test_greediest(void)
{
    struct quota_source flood = quota_user(1), good = quota_user(2), who;

    quota_init(&q, &evicts, 7);
    for (int i = 0; i < 10; i++)
        quota_enter(&q, &good, 0);
    for (int i = 0; i < 90; i++)
        EQ(quota_enter(&q, &flood, 0), QUOTA_IN);
    EQ(quota_enter(&q, &good, 0), QUOTA_FULL);
    who = quota_greediest(&q);
    OK(quota_same(&who, &flood));
    quota_leave(&q, &who);
    EQ(quota_enter(&q, &good, 0), QUOTA_IN);
}

/* More sources than the table has places: those without a connection are evicted. */
static void test_many_sources(void)
{
    struct quota_source good = quota_user(0);
    unsigned in = 0;

    quota_init(&q, &evicts, 7);
    quota_enter(&q, &good, 0);
    for (uid_t u = 1; u < 100000; u++) {
        struct quota_source s = quota_user(u);
        if (quota_enter(&q, &s, u) == QUOTA_IN)
            in++;
        if (u % 2)
            quota_leave(&q, &s);
    }
    OK(q.naccounts == QUOTA_SOURCES && q.open <= 100 && in >= 100);
    quota_leave(&q, &good);
    OK_F(q.open <= 99, "who is in is not forgotten");
}

static unsigned calls(const struct quota_source *who, unsigned n, uint64_t now_ms)
{
    unsigned in = 0;

    for (unsigned i = 0; i < n; i++)
        in += quota_count_connection(&q, who, now_ms);
    return in;
}

static void test_calls(void)
{
    struct quota_source flood = quota_user(1), good = quota_user(2);
    unsigned in = 0;

    quota_init(&q, &rules, 7);
    OK_F(calls(&flood, 1000, 0) == 10, "a source that calls and calls is slowed");
    OK_F(calls(&good, 10, 0) == 10, "and another is not");
    EQ(calls(&flood, 1000, 3), 0);
    EQ(calls(&flood, 1000, 12), 3);
    quota_uncount_connection(&q, &flood);
    OK_F(calls(&flood, 1000, 12) == 1, "who was let in does not count");
    EQ(calls(&flood, 1000, 1000000), 10);
    quota_init(&q, &quota_evicts, 7);
    for (unsigned i = 0; i < 100000; i++) {
        in += quota_count_connection(&q, &good, 0);
        quota_uncount_connection(&q, &good);
    }
    EQ(in, 100000);
    OK(calls(&good, 5000, 0) == 4096);
}

static void test_bytes(void)
{
    struct quota_source flood = quota_user(1), good = quota_user(2);

    quota_init(&q, &rules, 7);
    OK(quota_charge(&q, &flood, 600, 0) && quota_charge(&q, &flood, 400, 0));
    OK_F(!quota_charge(&q, &flood, 1, 0), "a source has its share of bytes");
    OK_F(quota_charge(&q, &good, 1000, 0), "and the other one its own");
    quota_discharge(&q, &flood, 400);
    OK(!quota_charge(&q, &flood, 401, 0) && quota_charge(&q, &flood, 400, 0));
    for (uid_t u = 10; u < 1000; u++) {
        struct quota_source s = quota_user(u);
        quota_enter(&q, &s, u);
        quota_leave(&q, &s);
    }
    OK_F(!quota_charge(&q, &flood, 1, 0), "who has bytes here is not forgotten");
    quota_discharge(&q, &flood, 2000);
    OK(quota_charge(&q, &flood, 1000, 0) && !quota_charge(&q, &flood, UINT64_MAX, 0));
}

/* Counts the lines that come out of a pipe. */
static unsigned lines_in(int fd, char *text, size_t room)
{
    ssize_t n = read(fd, text, room - 1);
    unsigned lines = 0;

    text[n > 0 ? n : 0] = '\0';
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    return lines;
}

static void test_log(void)
{
    struct quota_source flood = quota_user(1), good = quota_user(2);
    struct log log = { -1, LOG_WARN, "test", NULL };
    char text[65536];
    int ends[2];

    OK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    log.fd = ends[1];
    quota_init(&q, &rules, 7);
    for (int i = 0; i < 100000; i++)
        quota_warn(&q, &flood, 0, &log, "go away");
    EQ(lines_in(ends[0], text, sizeof text), 4);
    quota_warn(&q, &good, 0, &log, "you too");
    OK_F(lines_in(ends[0], text, sizeof text) == 2 && strstr(text, "you too") &&
             strstr(text, "99996 more messages"),
         "another source is heard, and the omission is reported once: %s", text);
    quota_warn(&q, &flood, 999, &log, "go away");
    EQ(lines_in(ends[0], text, sizeof text), 0);
    quota_warn(&q, &flood, 1000, &log, "go away");
    OK(lines_in(ends[0], text, sizeof text) == 2 && strstr(text, "1 more message about"));
    for (uid_t u = 10; u < 1000; u++) {
        struct quota_source s = quota_user(u);
        quota_warn(&q, &s, 1000, &log, "go away");
    }
    OK_F(lines_in(ends[0], text, sizeof text) <= 17, "all sources together have a bound, too");
    quota_report(&q, &log);
    EQ(lines_in(ends[0], text, sizeof text), 1);
    quota_report(&q, &log);
    EQ(lines_in(ends[0], text, sizeof text), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    test_sources();
    test_random_drop();
    test_greediest();
    test_many_sources();
    test_calls();
    test_bytes();
    test_log();
    return tap_done();
}
