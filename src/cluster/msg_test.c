/* msg_test.c - messages between daemons survive encoding; truncated or malformed ones are refused.
 */
#include "cluster/msg.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void sample(struct msg *m)
{
    static const uint32_t positions[] = { 1, 2, 70000 };
    static struct slice blocks[2];

    blocks[0] = SLICE("one");
    blocks[1] = SLICE("other");
    memset(m, 0, sizeof *m);
    m->kind = MSG_job;
    m->from = 7;
    m->to = MSG_EVERYBODY;
    m->number = 300;
    m->acked = UINT64_C(1) << 33;
    m->u.job.nspace = SLICE("job 0 WORLD:0");
    m->u.job.base = UINT32_C(1) << 31;
    m->u.job.parent = UINT32_MAX;
    m->u.job.positions = (struct part_uints){ positions, 3 };
    m->u.job.presets = (struct part_texts){ blocks, 2 };
}

static void round_trip(void)
{
    struct buf bytes = BUF_NULL(1 << 16);
    struct arena a = ARENA_NULL(1 << 16);
    struct msg m, back;
    struct errmsg err;
    uint32_t from, to;

    sample(&m);
    msg_write(&m, &bytes);
    OK(buf_ok(&bytes));
    OK(msg_read(buf_slice(&bytes), &a, &back, &err) == 0);
    OK(back.kind == MSG_job && back.from == 7 && back.to == MSG_EVERYBODY);
    OK(back.number == 300 && back.acked == UINT64_C(1) << 33);
    OK(slice_is(back.u.job.nspace, "job 0 WORLD:0"));
    OK(back.u.job.base == UINT32_C(1) << 31 && back.u.job.parent == UINT32_MAX);
    OK(back.u.job.positions.n == 3 && back.u.job.positions.items[2] == 70000);
    OK(back.u.job.presets.n == 2 && slice_is(back.u.job.presets.items[1], "other"));
    OK(msg_address(buf_slice(&bytes), &from, &to) && from == 7 && to == MSG_EVERYBODY);
    arena_free(&a);
    buf_free(&bytes);
}

/* A cut at a border of parts reads as a message without the rest; none reads out of bounds. */
static void every_cut(void)
{
    struct buf bytes = BUF_NULL(1 << 16);
    struct msg m, back;
    struct errmsg err;
    size_t refused = 0;

    sample(&m);
    msg_write(&m, &bytes);
    for (size_t n = 0; n < buf_len(&bytes); n++) {
        struct arena a = ARENA_NULL(1 << 16);
        char *copy = malloc(n + 1);
        if (n)
            memcpy(copy, buf_slice(&bytes).ptr, n);
        refused += msg_read(slice_mem(copy, n), &a, &back, &err) != 0;
        free(copy);
        arena_free(&a);
    }
    OK(refused > buf_len(&bytes) / 2);
    buf_free(&bytes);
}

static void unknown_kind(void)
{
    struct arena a = ARENA_NULL(1 << 16);
    struct errmsg err;
    struct msg m;

    OK(msg_read(SLICE("\x7f\x01\x02"), &a, &m, &err) == 1);
    OK(strstr(err.text, "unknown kind 127") != NULL);
    OK(msg_read(SLICE("\x01"), &a, &m, &err) == 1);
    arena_free(&a);
}

int main(void)
{
    round_trip();
    every_cut();
    unknown_kind();
    return tap_done();
}
