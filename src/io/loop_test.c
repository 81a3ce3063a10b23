/* loop_test.c - the promises of loop.h, on both back ends: the calls that a callback may make; then
 * those of loop_epoll.h alone. */
#include "io/loop_epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/deadline.h"
#include "tests/tap.h"

static struct loop loop;
static char order[64];

static void note(char c)
{
    size_t n = strlen(order);

    if (n + 1 < sizeof order)
        order[n] = c;
}

static void stop(void *arg)
{
    (void)arg;
    loop_stop(&loop);
}

struct end {
    struct watch watch;
    int fds[2];
    struct end *other;
};

static struct end *open_end(loop_fn *on_read, loop_fn *on_write)
{
    struct end *e = calloc(1, sizeof *e);

    if (!e || pipe2(e->fds, O_CLOEXEC | O_NONBLOCK) < 0)
        abort();
    watch_open(&e->watch, &loop, e->fds[on_write ? 1 : 0], on_read, on_write, e);
    return e;
}

static void close_end(struct end *e)
{
    watch_close(&e->watch);
    watch_close(&e->watch); /* harmless */
    close(e->fds[0]);
    if (e->fds[1] >= 0)
        close(e->fds[1]);
    free(e);
}

/* Both are readable in the same turn: the first to run closes and frees the other, and itself. */
static void close_both(void *arg)
{
    struct end *e = arg;

    note('b');
    close_end(e->other);
    close_end(e);
    loop_stop(&loop);
}

static void test_close_in_callback(void)
{
    struct end *a = open_end(close_both, NULL), *b = open_end(close_both, NULL);

    memset(order, 0, sizeof order);
    a->other = b;
    b->other = a;
    OK(write(a->fds[1], "x", 1) == 1 && write(b->fds[1], "x", 1) == 1);
    OK(watch_want(&a->watch, LOOP_READ) == 0 && watch_want(&b->watch, LOOP_READ) == 0);
    OK(loop_run(&loop) == 0);
    OK_F(!strcmp(order, "b"), "whom a callback has closed is not called any more");
}

/* Level-triggered: unread bytes are reported again. */
static void read_one(void *arg)
{
    struct end *e = arg;
    char c;

    if (read(e->watch.fd, &c, 1) == 1)
        note(c);
    if (c == 'z')
        loop_stop(&loop);
}

static void test_levels(void)
{
    struct end *e = open_end(read_one, NULL);

    memset(order, 0, sizeof order);
    OK(write(e->fds[1], "xyz", 3) == 3);
    watch_want(&e->watch, LOOP_READ);
    watch_want(&e->watch, LOOP_READ); /* twice has the effect of once */
    loop_run(&loop);
    OK(!strcmp(order, "xyz") && e->watch.what == LOOP_READ);
    watch_want(&e->watch, 0);
    OK(e->watch.what == 0);
    close_end(e);
}

static void write_one(void *arg)
{
    struct end *e = arg;

    note('w');
    watch_want(&e->watch, 0);
    loop_stop(&loop);
}

static void test_writes(void)
{
    struct end *e = open_end(NULL, write_one);

    memset(order, 0, sizeof order);
    watch_want(&e->watch, LOOP_WRITE);
    loop_run(&loop);
    OK(!strcmp(order, "w"));
    close_end(e);
}

static void test_files(void)
{
    FILE *f = tmpfile();
    struct watch w;

    watch_open(&w, &loop, fileno(f), stop, NULL, NULL);
    OK_F(watch_want(&w, LOOP_READ) == -EPERM, "a file is always ready and cannot be watched");
    watch_close(&w);
    fclose(f);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static struct timer one, two;

static void again(void *arg)
{
    (void)arg;
    note('1');
    OK(!one.set);
    if (strlen(order) < 3)
        timer_set(&one, 0);
    else
        loop_stop(&loop);
}

static void never(void *arg)
{
    (void)arg;
    note('!');
}

static void stop_other(void *arg)
{
    (void)arg;
    note('s');
    timer_stop(&two);
    loop_stop(&loop);
}

static void test_timers(void)
{
    static struct timer zeroed;

    timer_stop(&zeroed);
    memset(order, 0, sizeof order);
    timer_init(&one, &loop, again, NULL);
    timer_set(&one, 0);
    loop_run(&loop);
    OK_F(!strcmp(order, "111"), "a timer may set itself again");

    memset(order, 0, sizeof order);
    timer_init(&one, &loop, stop_other, NULL);
    timer_init(&two, &loop, never, NULL);
    timer_set(&one, 3600 * 1000);
    timer_set(&one, 0); /* set again: this time counts */
    timer_set(&two, 3600 * 1000);
    loop_run(&loop);
    OK_F(!strcmp(order, "s") && !one.set && !two.set, "the last word about a timer counts");
    timer_stop(&two);
}

static void test_order(void)
{
    memset(order, 0, sizeof order);
    timer_init(&one, &loop, stop_other, NULL);
    timer_init(&two, &loop, again, NULL);
    OK(timer_at(&two, clock_now_ns() + 3600 * NS_PER_S) == 0 && two.set);
    OK(timer_at(&one, 1) == 0 && one.set && one.due_ns == 1);
    OK_F(timer_at(&one, 1) == 0 && timer_at(&two, UINT64_MAX) == 0 && !two.set,
         "no time stops a timer");
    loop_run(&loop);
    OK_F(!strcmp(order, "s") && !one.set, "a time that is over is due at once");
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* Others have to send two words, the second one some time after they have the answer to the first. */
struct slow_peer {
    struct deadline deadline;
    struct end *end;
    unsigned absent_ms, words;
    bool late;
};

static struct slow_peer *peer;

static void is_late(void *arg)
{
    struct slow_peer *p = arg;

    p->late = true;
    loop_stop(&loop);
}

static void be_absent(void *arg)
{
    struct slow_peer *p = arg;

    usleep(p->absent_ms * 1000);
}

static void send_second(void *arg)
{
    struct slow_peer *p = arg;

    OK(write(p->end->fds[1], "2", 1) == 1);
}

static void read_word(void *arg)
{
    struct end *e = arg;
    char c;

    if (read(e->watch.fd, &c, 1) != 1 || ++peer->words == 2)
        loop_stop(&loop);
    else
        timer_set(&two, 20);
}

static void test_deadline(unsigned absent_ms, const char *first, unsigned words)
{
    struct slow_peer p = { .absent_ms = absent_ms, .end = open_end(read_word, NULL) };

    peer = &p;
    deadline_init(&p.deadline, &loop, is_late, &p);
    timer_init(&one, &loop, be_absent, &p);
    timer_init(&two, &loop, send_second, &p);
    watch_want(&p.end->watch, LOOP_READ);
    deadline_set(&p.deadline, 800);
    timer_set(&one, 0);
    OK(write(p.end->fds[1], first, strlen(first)) == (ssize_t)strlen(first));
    loop_run(&loop);
    OK_F(p.words == words && p.late == (words < 2), "away for %u ms: %u words%s", absent_ms,
         p.words, p.late ? ", late" : "");
    deadline_stop(&p.deadline);
    deadline_stop(&p.deadline);
    timer_stop(&two);
    close_end(p.end);
}

static void test_deadlines(void)
{
    test_deadline(0, "1", 2);
    test_deadline(2000, "1", 2);
    test_deadline(0, "", 0);
    test_deadline(2000, "", 0);
}

/* ---- on epoll: turned by its owner, shared by threads ---------------------------------------- */

static bool has_work(void)
{
    struct pollfd p = { loop_epoll_fd(&loop), POLLIN, 0 };

    return poll(&p, 1, 0) == 1;
}

/* A watch that another thread closes after the wait was over. */
static void test_closed_since(void)
{
    struct end *e = open_end(read_one, NULL), *other;
    struct loop_epoll_ready ready;

    memset(order, 0, sizeof order);
    OK(write(e->fds[1], "x", 1) == 1 && !has_work());
    watch_want(&e->watch, LOOP_READ);
    OK_F(has_work(), "the loop's own descriptor is readable");
    loop_epoll_wait(&loop, true, &ready);
    EQ(ready.n, 1);
    close_end(e);
    other = open_end(read_one, NULL); /* the same memory and descriptors, probably */
    OK(write(other->fds[1], "y", 1) == 1 && watch_want(&other->watch, LOOP_READ) == 0);
    loop_epoll_handle(&loop, &ready);
    OK_F(!strcmp(order, ""), "neither it nor its successor is called");
    loop_epoll_wait(&loop, false, &ready);
    loop_epoll_handle(&loop, &ready);
    OK(!strcmp(order, "y") && !has_work());
    close_end(other);
}

static void test_hang_up(void)
{
    struct end *e = open_end(read_one, NULL);

    watch_want(&e->watch, LOOP_READ);
    watch_want(&e->watch, 0);
    close(e->fds[1]);
    e->fds[1] = -1;
    OK_F(!has_work(), "a peer that nobody reads from makes no work when it hangs up");
    watch_want(&e->watch, LOOP_READ);
    OK(has_work());
    close_end(e);
}

static void *wake(void *arg)
{
    loop_epoll_wake(arg);
    return NULL;
}

static void test_wake(void)
{
    struct loop_epoll_ready ready;
    pthread_t thread;

    OK(pthread_create(&thread, NULL, wake, &loop) == 0);
    loop_epoll_wait(&loop, true, &ready);
    pthread_join(thread, NULL);
    loop_epoll_handle(&loop, &ready);
    OK_F(ready.n == 1 && !has_work(), "another thread ends a wait");
    timer_init(&one, &loop, never, NULL);
    timer_set(&one, 0);
    timer_stop(&one);
    loop_epoll_wait(&loop, true, &ready); /* the stopped timer rings for nothing */
    loop_epoll_handle(&loop, &ready);
    OK(!has_work());
}

static void test_all(int rc)
{
    if (rc < 0)
        abort();
    test_close_in_callback();
    test_levels();
    test_writes();
    test_files();
    test_timers();
    test_order();
    test_deadlines();
}

int main(void)
{
    test_all(loop_init(&loop));
    loop_free(&loop);
    loop_free(&loop);
    test_all(loop_epoll_init(&loop));
    test_closed_since();
    test_hang_up();
    test_wake();
    loop_free(&loop);
    loop_free(&loop);
    return tap_done();
}
