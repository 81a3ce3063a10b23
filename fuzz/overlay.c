/* overlay.c - fuzzes one node's overlay: messages of neighbours who say anything, links that come
 * and go, and its own part in between.
 *
 * Each step is a byte: below 128 a message follows (two bytes of length, its bytes as on a link),
 * else something happens here.  Whatever is said: every collective of this node ends at most once,
 * and a message that goes out can be read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/msg.h"
#include "cluster/overlay_codec.h"
#include "cluster/recovery.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COUNT = 20, WIDTH = 3, ROUNDS = 8 };

struct state {
    struct overlay o;
    bool inside[ROUNDS];
    unsigned round;
};

static void receive(struct state *s, struct slice bytes)
{
    struct arena a = ARENA_NULL(1 << 24);
    struct overlay_msg *m = NULL;
    struct errmsg err;
    struct msg in;

    if (msg_read(bytes, &a, &in, &err) == 0 && in.kind == MSG_overlay)
        m = overlay_codec_in(&in, COUNT);
    if (m)
        overlay_receive(&s->o, m);
    arena_free(&a);
}

static void contribute(struct state *s, unsigned byte)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct overlay_way way = { OVERLAY_AUTO, (enum overlay_losses)(byte / 8 % 3) };
    uint32_t me = s->o.config.me;
    unsigned round = s->round;

    if (round >= ROUNDS)
        return;
    rank_set_add(&all, me, 1);
    rank_set_add(&all, byte % COUNT, 1 + byte % (COUNT - byte % COUNT));
    if (overlay_contribute_by(&s->o, way, SLICE("f"), round, byte % 4 ? &all : NULL,
                              byte % 3 ? block_set_one(me, SLICE("block")) : NULL) == 0) {
        s->inside[round] = true;
        s->round++;
    }
    rank_set_free(&all);
}

static void happen(struct state *s, unsigned byte)
{
    uint32_t p = byte / 8 % COUNT;

    switch (byte % 8) {
    case 0:
    case 1: overlay_link_up(&s->o, p); break;
    case 2: overlay_link_down(&s->o, p); break;
    case 3: contribute(s, byte); break;
    case 4: overlay_report(&s->o, SLICE("news")); break;
    case 5: overlay_overdue(&s->o); break;
    case 6: overlay_shun(&s->o, p); break;
    default:
        if (s->o.config.me == 0) {
            overlay_broadcast(&s->o, SLICE("word"));
            overlay_lose(&s->o, p);
        }
        break;
    }
}

/* What goes out is a message. */
static void check_out(const struct overlay_msg *m)
{
    struct arena a = ARENA_NULL(1 << 24);
    struct buf bytes = BUF_NULL(1 << 24);
    struct overlay_msg *back;
    struct errmsg err;
    struct msg out, in;

    if (overlay_codec_out(m, &a, &out)) {
        msg_write(&out, &bytes);
        if (buf_ok(&bytes)) {
            if (msg_read(buf_slice(&bytes), &a, &in, &err) != 0 ||
                !(back = overlay_codec_in(&in, COUNT)))
                abort();
            overlay_msg_free(back);
        }
    }
    buf_free(&bytes);
    arena_free(&a);
}

static void drain(struct state *s)
{
    struct overlay_event *e;
    struct overlay_msg *m;

    while ((m = overlay_next(&s->o))) {
        check_out(m);
        overlay_msg_free(m);
    }
    while ((e = overlay_event(&s->o))) {
        if (!recovery_event(&s->o, e) && e->kind == OVERLAY_COMPLETED) {
            if (e->generation >= ROUNDS || !s->inside[e->generation])
                abort();
            s->inside[e->generation] = false;
        }
        overlay_event_free(e);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct state s = { .round = 0 };
    struct overlay_config c;

    if (size == 0)
        return 0;
    overlay_defaults(&c, data[0] % COUNT, COUNT, WIDTH);
    c.inline_max = 8;
    c.piece_max = 8;
    c.keep_max = 64;
    if (overlay_init(&s.o, &c) < 0)
        return 0;
    for (size_t at = 1; at < size;) {
        size_t n;
        if (data[at] >= 128) {
            happen(&s, data[at++] - 128U);
            drain(&s);
            continue;
        }
        if (size - at < 3)
            break;
        n = data[at + 1] | (size_t)data[at + 2] << 8;
        n = n < size - at - 3 ? n : size - at - 3;
        receive(&s, slice_mem(data + at + 3, n));
        at += 3 + n;
        drain(&s);
    }
    overlay_free(&s.o);
    return 0;
}
