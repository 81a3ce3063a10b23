/* door_test.c - a listening socket in the loop: other descriptors have their turn in a flood, and a
 * shortage of descriptors ends, whichever of them is closed, or none.
 */
#include "io/door.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limit.h"
#include "tests/tap.h"

enum { CALLERS = 3 * LIMIT_DOOR_TURN };

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
    const struct door_calls calls = { on_caller, NULL };
    struct sockaddr_un at;
    socklen_t len;
    struct door d = DOOR_CLOSED;
    struct timer other;
    int callers[CALLERS];

    door_close(&d);
    OK(door_open(&d, &loop, listener(&at, &len), &calls, NULL) == 0);
    timer_init(&other, &loop, other_turn, &other);
    timer_set(&other, 0);
    for (int i = 0; i < CALLERS; i++)
        callers[i] = call(&at, len);
    want = CALLERS;
    loop_run(&loop);
    OK_F(most_in_turn <= LIMIT_DOOR_TURN && turns >= 2, "%u at most in a turn, %u turns of another",
         most_in_turn, turns);
    timer_stop(&other);
    close_all(callers, CALLERS);
    close_all(kept, taken);
    door_close(&d);
    door_close(&d);
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
    struct door_calls calls = { on_caller, NULL };
    struct sockaddr_un at;
    socklen_t len;
    struct door d = DOOR_CLOSED;
    struct timer later;
    int one, two, three;

    OK(door_open(&d, &loop, listener(&at, &len), &calls, NULL) == 0);
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
    door_close(&d);
}

int main(void)
{
    struct rlimit few = { 1024, 1024 };

    if (loop_init(&loop) < 0 || setrlimit(RLIMIT_NOFILE, &few) < 0)
        return 1;
    test_flood();
    test_no_descriptors();
    loop_free(&loop);
    return tap_done();
}
