/* channel_test.c - two ends joined in one process: all bytes arrive, a reader that stops also stops
 * the other end, ends and cuts arrive, and invalid messages are refused. */
#include "daemon/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "tests/tap.h"

struct world {
    struct loop loop;
    struct channel from, to;
    int in[2], out[2]; /* pipes: in[1] -> channel -> out[0] */
    uint64_t sent, credited;
    uint32_t unread;  /* times it was notified that the reader has gone */
    uint32_t refused; /* credits for bytes that `from` never sent */
    bool from_ended, to_ended;
    struct timer stop;
};

static void on_data(void *arg, struct channel *c, struct slice bytes)
{
    struct world *w = arg;

    (void)c;
    w->sent += bytes.len;
    OK(channel_data(&w->to, bytes));
}

static void on_credit(void *arg, struct channel *c, uint64_t count)
{
    struct world *w = arg;

    (void)c;
    w->credited += count;
    w->refused += !channel_credit(&w->from, count);
}

static void on_ended(void *arg, struct channel *c)
{
    struct world *w = arg;

    if (c == &w->from)
        w->from_ended = true;
    else
        w->to_ended = true;
    if (w->from_ended && w->to_ended)
        loop_stop(&w->loop);
}

static void on_unread(void *arg, struct channel *c)
{
    struct world *w = arg;

    OK(c == &w->to);
    w->unread++;
    channel_unread(&w->from);
}

static const struct channel_ops ops = { on_data, on_credit, on_unread, on_ended };

static void stop_now(void *arg)
{
    struct world *w = arg;

    loop_stop(&w->loop);
}

static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    OK(loop_init(&w->loop) == 0 && pipe2(w->in, O_CLOEXEC) == 0 && pipe2(w->out, O_CLOEXEC) == 0);
    timer_init(&w->stop, &w->loop, stop_now, w);
    OK(channel_open(&w->from, &w->loop, w->in[0], false, &ops, w) == 0);
    OK(channel_open(&w->to, &w->loop, w->out[1], true, &ops, w) == 0);
}

static void close_world(struct world *w)
{
    timer_stop(&w->stop);
    channel_close(&w->from);
    channel_close(&w->to);
    if (w->in[1] >= 0)
        close(w->in[1]);
    close(w->out[0]);
    loop_free(&w->loop);
}

/* Runs until nothing moves any more. */
static void settle(struct world *w)
{
    uint64_t before;

    do {
        before = w->sent + w->credited;
        timer_set(&w->stop, 20);
        loop_run(&w->loop);
    } while (w->sent + w->credited != before);
}

static size_t fill(int fd)
{
    static const char piece[4096] = "x";
    size_t all = 0;
    ssize_t n;

    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((n = write(fd, piece, sizeof piece)) > 0)
        all += (size_t)n;
    return all;
}

static size_t drain(int fd)
{
    char piece[4096];
    size_t all = 0;
    ssize_t n;

    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((n = read(fd, piece, sizeof piece)) > 0)
        all += (size_t)n;
    return all;
}

/* Nothing reads at the far end: the near end stops after a window. */
static void test_flow(void)
{
    struct world w;
    size_t written = 0, got = 0, n;

    open_world(&w);
    for (int i = 0; i < 40; i++) {
        written += fill(w.in[1]);
        settle(&w);
    }
    OK_F(w.sent <= w.credited + LIMIT_CHANNEL_WINDOW, "no more than a window is on the way");
    OK_F(window_room(&w.from.window) == 0, "the near end has stopped");
    OK_F(fill(w.in[1]) == 0, "and so has who writes to it");
    close(w.in[1]);
    w.in[1] = -1;
    do {
        n = drain(w.out[0]);
        got += n;
        if (!w.to_ended)
            settle(&w);
    } while (n || !w.to_ended);
    OK_F(got == written, "everything arrives: %zu of %zu bytes", got, written);
    OK(w.from_ended && w.to_ended && w.refused == 0);
    close_world(&w);
}

static void test_lies(void)
{
    static char big[LIMIT_CHANNEL_WINDOW + 1];
    struct world w;

    open_world(&w);
    OK_F(!channel_credit(&w.from, 1), "credit that nobody owes is refused");
    OK_F(!channel_data(&w.to, slice_mem(big, sizeof big)), "more than a window is refused");
    OK(channel_data(&w.to, SLICE_NULL));
    OK_F(w.to_ended, "the end arrives");
    OK_F(channel_data(&w.to, SLICE("late")), "bytes after it are ignored");
    close_world(&w);
}

static void test_cut(void)
{
    struct world w;
    char got[8];

    open_world(&w);
    OK(channel_data(&w.to, SLICE("last")));
    channel_cut(&w.to);
    channel_cut(&w.from);
    OK(w.to_ended && w.from_ended && w.refused == 1);
    OK_F(read(w.out[0], got, sizeof got) == 4, "bytes before the cut are passed on");
    close_world(&w);
}

/* Data already in the pipe is sent at once, without the loop. */
static void test_catch_up(void)
{
    struct world w;
    char got[16];

    open_world(&w);
    channel_catch_up(&w.from);
    OK_F(w.sent == 0 && !w.from_ended, "nothing is there yet");
    OK(write(w.in[1], "all", 3) == 3);
    close(w.in[1]);
    w.in[1] = -1;
    channel_catch_up(&w.from);
    OK_F(w.sent == 3 && w.from_ended && w.to_ended, "the bytes and their end have gone");
    OK(read(w.out[0], got, sizeof got) == 3);
    channel_catch_up(&w.from);
    close_world(&w);
}

/* The reader goes away: the writer at the other end gets EPIPE, as from a pipe. */
static void test_deaf(void)
{
    struct world w;

    signal(SIGPIPE, SIG_IGN);
    open_world(&w);
    close(w.out[0]);
    w.out[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fill(w.in[1]);
    settle(&w);
    OK_F(w.unread == 1 && w.to_ended && w.from_ended,
         "both ends have closed, and it was said once");
    OK_F(write(w.in[1], "x", 1) < 0 && errno == EPIPE, "who writes gets EPIPE");
    channel_unread(&w.from);
    OK(w.unread == 1);
    close_world(&w);
}

int main(void)
{
    test_flow();
    test_lies();
    test_cut();
    test_catch_up();
    test_deaf();
    return tap_done();
}
