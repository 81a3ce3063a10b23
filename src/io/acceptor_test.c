/* acceptor_test.c - a listening socket in the loop: other descriptors have their turn in a flood,
 * and a shortage of descriptors ends, whichever of them is closed, or none; who says nothing is
 * closed in time.
 */
#include "io/acceptor.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/greeting_timer.h"
#include "tests/tap.h"

enum { CALLERS = 3 * LIMIT_ACCEPT_TURN };

static struct loop loop;
static unsigned taken, turns, most_in_turn, in_turn, rooms;
static unsigned want;
static int kept[CALLERS];

static void on_caller(void *arg, int fd, const struct sockaddr_storage *from)
{
    (void)arg;
    (void)from;
    kept[taken++] = fd;
    if (++in_turn > most_in_turn)
        most_in_turn = in_turn;
    if (taken == want)
        loop_stop(&loop);
}

/* Another callback in the same loop. */
static void other_turn(void *arg)
{
    struct timer *t = arg;

    turns++;
    in_turn = 0;
    timer_set(t, 0);
}

static int listener(struct sockaddr_un *at, socklen_t *len)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    *len = sizeof *at;
    if (bind(fd, (struct sockaddr *)at, offsetof(struct sockaddr_un, sun_path)) < 0 ||
        listen(fd, CALLERS) < 0 || getsockname(fd, (struct sockaddr *)at, len) < 0)
        abort();
    return fd;
}

static int call(const struct sockaddr_un *at, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (const struct sockaddr *)at, len) < 0)
        abort();
    return fd;
}

static void close_all(int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        close(fds[i]);
}

static void test_flood(void)
{
    const struct acceptor_calls calls = { on_caller, NULL };
    struct sockaddr_un at;
    socklen_t len;
    struct acceptor d = ACCEPTOR_CLOSED;
    struct timer other;
    int callers[CALLERS];

    acceptor_close(&d);
    OK(acceptor_open(&d, &loop, listener(&at, &len), &calls, NULL) == 0);
    timer_init(&other, &loop, other_turn, &other);
    timer_set(&other, 0);
    for (int i = 0; i < CALLERS; i++)
        callers[i] = call(&at, len);
    want = CALLERS;
    loop_run(&loop);
    OK_F(most_in_turn <= LIMIT_ACCEPT_TURN && turns >= 2,
         "%u at most in a turn, %u turns of another", most_in_turn, turns);
    timer_stop(&other);
    close_all(callers, CALLERS);
    close_all(kept, taken);
    acceptor_close(&d);
    acceptor_close(&d);
}

static int fill[4096];
static unsigned nfill;

/* All descriptors but `spare`. */
static void take_descriptors(unsigned spare)
{
    int fd;

    for (nfill = 0; nfill < sizeof fill / sizeof *fill && (fd = dup(0)) >= 0; nfill++)
        fill[nfill] = fd;
    while (spare-- && nfill)
        close(fill[--nfill]);
}

static void free_descriptors(void *arg)
{
    (void)arg;
    close_all(fill, nfill);
    nfill = 0;
}

static bool make_room(void *arg)
{
    bool some = nfill > 0;

    (void)arg;
    rooms++;
    if (some)
        close(fill[--nfill]);
    return some;
}

static void test_no_descriptors(void)
{
    struct acceptor_calls calls = { on_caller, NULL };
    struct sockaddr_un at;
    socklen_t len;
    struct acceptor d = ACCEPTOR_CLOSED;
    struct timer later;
    int one, two, three;

    OK(acceptor_open(&d, &loop, listener(&at, &len), &calls, NULL) == 0);
    timer_init(&later, &loop, free_descriptors, NULL);
    one = call(&at, len);
    two = call(&at, len);
    three = call(&at, len);

    taken = 0;
    want = 1;
    take_descriptors(1);
    loop_run(&loop);
    EQ(taken, 1);
    /* The listener is paused now; it is not notified that there is room again. */
    want = 2;
    timer_set(&later, 1);
    loop_run(&loop);
    OK_F(taken >= 2, "it listens again by itself");

    if (taken == 2) {
        want = 3;
        loop_run(&loop);
    }
    close(call(&at, len));
    d.calls.make_room = make_room;
    take_descriptors(0);
    want = 4;
    loop_run(&loop);
    OK_F(taken == 4 && rooms == 1, "one that is worth less makes room for the caller");
    free_descriptors(NULL);
    close_all(kept, taken);
    close(one);
    close(two);
    close(three);
    acceptor_close(&d);
}

/* The clock is ours. */
static struct quota q;

static void test_greetings(void)
{
    struct quota_source who = quota_user(1);
    struct greetings all;
    struct greeting a = { 0 }, b = { 0 }, c = { 0 };

    quota_init(&q, &quota_declines, 1);
    greetings_init(&all, &q, 100);
    greeting_end(&a);
    OK(greetings_due(&all) == UINT64_MAX && !greetings_late(&all, UINT64_MAX - 1));
    greeting_begin(&all, &a, &who, 1000);
    greeting_begin(&all, &b, &who, 1010);
    greeting_begin(&all, &c, &who, 1020);
    OK(greetings_due(&all) == 1100 && !greetings_late(&all, 1099));
    greeting_end(&b);
    greeting_end(&b);
    OK_F(greetings_late(&all, 1119) == &a && !greetings_late(&all, 1119),
         "who is late is told once, and who has greeted never");
    OK(greetings_due(&all) == 1120 && greetings_late(&all, 1120) == &c);
    OK(greetings_due(&all) == UINT64_MAX);
}

static void test_greeting_bytes(void)
{
    static const struct quota_rules rules = { .begin = 1, .most = 1, .bytes = 1000 };
    struct quota_source who = quota_user(1);
    struct greetings all;
    struct greeting a = { 0 }, b = { 0 };

    quota_init(&q, &rules, 1);
    greetings_init(&all, &q, 100);
    OK_F(greeting_received(&a, 5000, 0), "a connection that is not awaited may send any bytes");
    greeting_begin(&all, &a, &who, 0);
    greeting_begin(&all, &b, &who, 0);
    OK(greeting_received(&a, 900, 0) && greeting_received(&b, 100, 0));
    OK_F(!greeting_received(&b, 1, 0), "connections of one source have one share");
    greeting_complete(&a);
    OK_F(!greeting_received(&b, 1, 0), "which ends when they are let in, and not before");
    greeting_end(&a);
    greeting_end(&a);
    OK(greeting_received(&b, 900, 0) && !greeting_received(&b, 1, 0));
    greeting_end(&b);
}

static struct greeting *late[3];
static unsigned nlate;

static void on_late(void *arg, struct greeting *g)
{
    (void)arg;
    late[nlate++] = g;
    if (nlate == want)
        loop_stop(&loop);
}

static void test_greeting_timer(void)
{
    struct quota_source who = quota_user(1);
    struct greeting_timer t = { .arg = NULL };
    struct greeting a = { 0 }, b = { 0 }, c = { 0 };

    greeting_timer_stop(&t);
    greeting_timer_init(&t, &loop, &q, 1, on_late, NULL);
    OK(greeting_timer_add(&t, &a, &who) == 0 && greeting_timer_add(&t, &b, &who) == 0);
    greeting_end(&a);
    want = 1;
    loop_run(&loop);
    OK_F(nlate == 1 && late[0] == &b, "the timer goes on to the next when the first has greeted");
    OK(greeting_timer_add(&t, &c, &who) == 0);
    want = 2;
    loop_run(&loop);
    OK_F(nlate == 2 && late[1] == &c, "and is set again when there was nobody");
    greeting_timer_stop(&t);
}

int main(void)
{
    struct rlimit few = { 1024, 1024 };

    if (loop_init(&loop) < 0 || setrlimit(RLIMIT_NOFILE, &few) < 0)
        return 1;
    test_flood();
    test_no_descriptors();
    test_greetings();
    test_greeting_bytes();
    test_greeting_timer();
    loop_free(&loop);
    return tap_done();
}
