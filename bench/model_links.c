/* model_links.c - what a message between daemons costs that is written and read together with
 * another one, beside one that has a write and a read of its own (bench/model).
 *
 *   bench-model-links
 *
 * One thread has both ends of a link (src/io/daemon_link.h).  One end asks, and the other answers
 * with one message, or with many: these are written together, and read together.  Prints
 * nanoseconds of work of each end, the best of all rounds: "OVERHEAD JOINED". */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/msg.h"
#include "io/daemon_link.h"

enum { ROUNDS = 50, TURNS = 200, MANY = 32, MESSAGE_MAX = 256 };

static const unsigned char key[DAEMON_LINK_KEY] = { 1, 2, 3 };
static struct loop loop;
static struct daemon_link *asks; /* the asking end */
static unsigned answers, awaited, turns;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void must(const char *what, int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "model_links: %s: %s\n", what, err_text(rc));
    exit(1);
}

/* The state of a process, as daemons send it. */
static void send_state(struct daemon_link *h)
{
    uint32_t rank = 1, event = 2;
    int code = 0, pid = 3;
    struct msg m = MSG_WITH(proc_states, .job = 1, .ranks = { &rank, 1 }, .events = { &event, 1 },
                            .codes = { &code, 1 }, .pids = { &pid, 1 });
    struct buf bytes = BUF_NULL(MESSAGE_MAX);
    struct slice part;

    msg_write(&m, &bytes);
    part = buf_slice(&bytes);
    must("a message", daemon_link_send(h, &part, 1));
    buf_free(&bytes);
}

static void read_state(struct slice bytes)
{
    struct arena a = ARENA_NULL(1 << 16);
    struct errmsg err;
    struct msg m;

    must("reading a message", -msg_read(bytes, &a, &m, &err));
    arena_free(&a);
}

static void ask(void)
{
    awaited = answers;
    send_state(asks);
}

static void on_question(void *arg, struct daemon_link *h, struct slice bytes)
{
    (void)arg;
    read_state(bytes);
    for (unsigned i = 0; i < answers; i++)
        send_state(h);
}

static void on_answer(void *arg, struct daemon_link *h, struct slice bytes)
{
    (void)arg;
    (void)h;
    read_state(bytes);
    if (--awaited > 0)
        return;
    if (--turns > 0)
        ask();
    else
        loop_stop(&loop);
}

static void on_asking_up(void *arg, struct daemon_link *h)
{
    (void)arg;
    asks = h;
    loop_stop(&loop);
}

static void on_up(void *arg, struct daemon_link *h)
{
    (void)arg;
    (void)h;
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    (void)arg;
    (void)h;
    (void)how;
    fprintf(stderr, "model_links: %s\n", why->text);
    exit(1);
}

static struct daemon_link_net *open_end(uint32_t position, const struct daemon_link_calls *calls)
{
    struct daemon_link_config c = {
        .loop = &loop, .key = key, .position = position, .calls = *calls
    };
    struct errmsg err = { "" };
    struct daemon_link_net *net = daemon_link_net_new(&c, &err);

    if (net)
        return net;
    fprintf(stderr, "model_links: %s\n", err.text);
    exit(1);
}

static void connect_ends(struct daemon_link_net *from, struct daemon_link_net *to)
{
    struct errmsg err = { "" };
    char where[32];

    must("listening", daemon_link_listen(to, NULL, 0, 0, &err));
    snprintf(where, sizeof where, "127.0.0.1:%u", daemon_link_port(to));
    must("connecting", daemon_link_connect(from, slice_str(where), 0, &err) ? 0 : -1);
    must("the loop", loop_run(&loop));
}

/* Nanoseconds from a question to its last answer. */
static uint64_t turn_ns(unsigned n)
{
    uint64_t best = UINT64_MAX;

    answers = n;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begun = now_ns(), took;
        turns = TURNS;
        ask();
        must("the loop", loop_run(&loop));
        took = (now_ns() - begun) / TURNS;
        best = took < best ? took : best;
    }
    return best;
}

int main(void)
{
    static const struct daemon_link_calls asking = { on_asking_up, on_answer, on_down, NULL };
    static const struct daemon_link_calls answering = { on_up, on_question, on_down, NULL };
    struct daemon_link_net *from, *to;
    uint64_t one, many;

    must("the loop", loop_init(&loop));
    from = open_end(1, &asking);
    to = open_end(0, &answering);
    connect_ends(from, to);
    one = turn_ns(1);
    many = turn_ns(MANY);
    printf("%llu %llu\n", (unsigned long long)(one / 4),
           (unsigned long long)((many - one) / (2 * (MANY - 1))));
    daemon_link_net_free(from);
    daemon_link_net_free(to);
    loop_free(&loop);
    return 0;
}
