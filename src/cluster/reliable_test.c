/* reliable_test.c - numbered messages over a route that loses, repeats and delays: all arrive, once
 * and in order; few are kept.
 */
#include "cluster/msg.h"
#include "cluster/reliable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "tests/tap.h"

enum { HERE = 1, THERE = 2, COUNT = 3, MESSAGES = 2000 };

struct pair {
    struct reliable ends[COUNT];
    uint32_t taken[COUNT]; /* messages that were taken */
    bool good;
};

static void pair_open(struct pair *p)
{
    memset(p, 0, sizeof *p);
    p->good = true;
    for (int i = 0; i < COUNT; i++)
        reliable_open(&p->ends[i], COUNT);
}

static void pair_close(struct pair *p)
{
    for (int i = 0; i < COUNT; i++)
        reliable_close(&p->ends[i]);
}

static void write_message(struct msg *m, struct buf *out)
{
    buf_clear(out);
    msg_write(m, out);
}

static void arrive(struct pair *p, uint32_t at, struct slice bytes)
{
    struct arena a = ARENA_NULL(1 << 16);
    struct errmsg err;
    struct msg m;

    p->good = p->good && msg_read(bytes, &a, &m, &err) == 0;
    if (reliable_take(&p->ends[at], &m, bytes.len) && m.kind == MSG_signal)
        p->good = p->good && m.u.signal.signal == (int)p->taken[at]++;
    if (reliable_owes(&p->ends[at], m.from)) {
        struct msg note = { .kind = MSG_ack, .from = at, .to = m.from };
        struct buf out = BUF_NULL(1 << 16);
        reliable_note(&p->ends[at], &note);
        write_message(&note, &out);
        arrive(p, m.from, buf_slice(&out));
        buf_free(&out);
    }
    arena_free(&a);
}

static uint32_t kept(const struct reliable *t, uint32_t to)
{
    const struct reliable_kept *k = NULL;
    uint32_t n = 0;

    while ((k = reliable_next(t, to, k)))
        n++;
    return n;
}

static void send_one(struct pair *p, uint32_t from, uint32_t to, uint32_t number, bool arrives)
{
    struct msg m = { .kind = MSG_signal, .from = from, .to = to };
    struct buf out = BUF_NULL(1 << 16);

    m.u.signal.signal = (int)number;
    p->good = p->good && reliable_number(&p->ends[from], &m);
    write_message(&m, &out);
    p->good = p->good && reliable_keep(&p->ends[from], to, buf_slice(&out));
    if (arrives)
        arrive(p, to, buf_slice(&out));
    buf_free(&out);
}

static void resend(struct pair *p, uint32_t from, uint32_t to)
{
    const struct reliable_kept *k = NULL;
    struct slice all[MESSAGES];
    uint32_t n = 0;

    /* Copies: an arriving message is acknowledged at once, and the acknowledgement frees kept
     * messages. */
    while ((k = reliable_next(&p->ends[from], to, k))) {
        char *copy = malloc(reliable_bytes(k).len);
        memcpy(copy, reliable_bytes(k).ptr, reliable_bytes(k).len);
        all[n++] = slice_mem(copy, reliable_bytes(k).len);
    }
    for (uint32_t i = 0; i < n; i++) {
        arrive(p, to, all[i]);
        free((void *)(uintptr_t)all[i].ptr);
    }
}

static void test_good_way(void)
{
    struct pair p;

    pair_open(&p);
    for (uint32_t i = 0; i < MESSAGES; i++)
        send_one(&p, HERE, THERE, i, true);
    OK(p.good && p.taken[THERE] == MESSAGES);
    OK_F(kept(&p.ends[HERE], THERE) < 64, "%u are kept when one speaks and the other listens",
         kept(&p.ends[HERE], THERE));
    send_one(&p, THERE, HERE, 0, true);
    EQ(kept(&p.ends[HERE], THERE), 0); /* each message carries the acknowledgement */
    pair_close(&p);
}

static void test_lossy_way(uint64_t seed)
{
    uint64_t rand = seed;
    struct pair p;

    pair_open(&p);
    for (uint32_t i = 0, up = 0; i < MESSAGES; i++) {
        if (rand_below(&rand, 40) == 0)
            up = !up;
        if (rand_below(&rand, 25) == 0)
            resend(&p, HERE, THERE);
        send_one(&p, HERE, THERE, i, up);
        send_one(&p, THERE, HERE, i, rand_below(&rand, 3) != 0);
    }
    resend(&p, HERE, THERE);
    resend(&p, THERE, HERE);
    OK_F(p.good && p.taken[THERE] == MESSAGES && p.taken[HERE] == MESSAGES,
         "seed %llu: all have come in order", (unsigned long long)seed);
    pair_close(&p);
}

static void test_lost_end(void)
{
    struct pair p;

    pair_open(&p);
    for (uint32_t i = 0; i < 10; i++)
        send_one(&p, HERE, THERE, i, false);
    EQ(kept(&p.ends[HERE], THERE), 10);
    reliable_forget(&p.ends[HERE], THERE);
    EQ(kept(&p.ends[HERE], THERE), 0);
    reliable_forget(&p.ends[HERE], 99);
    OK(!reliable_next(&p.ends[HERE], 99, NULL) && !reliable_owes(&p.ends[HERE], 99));
    pair_close(&p);
}

int main(void)
{
    test_good_way();
    for (uint64_t seed = 1; seed <= 20; seed++)
        test_lossy_way(seed);
    test_lost_end();
    return tap_done();
}
