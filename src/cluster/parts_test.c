/* parts_test.c - the parts of the overlay: the tree's shape, sets of positions, sets of blocks, and
 * encoded messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/rand.h"
#include "cluster/msg.h"
#include "cluster/overlay_codec.h"
#include "cluster/window.h"
#include "tests/tap.h"

static void test_tree(void)
{
    bool good = true;

    for (uint32_t width = 1; width < 6; width++) {
        for (uint32_t p = 1; p < 200; p++) {
            uint32_t up = tree_parent(width, p), first = tree_first_child(width, up);
            good = good && p >= first && p < first + tree_children(width, 200, up);
            good = good && tree_is_below(width, p, up) && !tree_is_below(width, up, p);
            good = good && tree_next(width, up, p) == p && tree_depth(width, p) > 0;
            good = good && (p > 100 || tree_next(width, p, 0) == up);
        }
    }
    OK_F(good, "parents and children agree");
    OK(tree_parent(2, 0) == TREE_NONE && tree_children(2, 1, 0) == 0);
    OK(tree_next(2, 1, 6) == 0 && tree_next(2, 0, 6) == 2 && tree_next(2, 2, 6) == 6);
    OK(tree_depth(32, 99999) == 4);
    {
        uint64_t lost[1] = { UINT64_C(1) << 2 };
        OK(tree_living_parent(2, 6, lost) == 0 && tree_living_parent(2, 3, lost) == 1);
    }
}

enum { BITS = 150 };

static bool same(const struct rank_set *s, const bool *bits)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < BITS; p++) {
        if (rank_set_has(s, p) != bits[p] || rank_set_rank(s, p) != n)
            return false;
        if (bits[p] && rank_set_nth(s, n++) != p)
            return false;
    }
    for (uint32_t i = 1; i < s->nruns; i++) {
        if (s->runs[i].first <= s->runs[i - 1].first + s->runs[i - 1].count)
            return false; /* they touch */
    }
    return s->count == n;
}

/* Positions are taken out one by one; those that are not in it may be, too. */
static bool take_out(struct rank_set *s, bool *bits, uint64_t *rand)
{
    bool good = true;

    for (uint32_t i = 0; i < 40; i++) {
        uint32_t p = (uint32_t)rand_below(rand, BITS);
        bits[p] = false;
        good = good && rank_set_remove(s, p) == 0 && same(s, bits);
    }
    return good;
}

static void fill(struct rank_set *s, bool *bits, uint64_t *rand)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t first = (uint32_t)rand_below(rand, BITS), n = (uint32_t)rand_below(rand, 20);
        n = n < BITS - first ? n : BITS - first;
        rank_set_add(s, first, n);
        memset(bits + first, 1, n);
    }
}

static void test_sets(void)
{
    uint64_t rand = 5;
    bool good = true;

    for (int round = 0; round < 500; round++) {
        struct rank_set a = { NULL, 0, 0, 0 }, b = a, both, copy;
        bool x[BITS] = { false }, y[BITS] = { false }, z[BITS];
        uint32_t missing = UINT32_MAX;
        bool meets = false;
        fill(&a, x, &rand);
        fill(&b, y, &rand);
        rank_set_intersect(&both, &a, &b);
        for (uint32_t p = 0; p < BITS; p++) {
            z[p] = x[p] && y[p];
            meets = meets || z[p];
            if (x[p] && !y[p] && missing == UINT32_MAX)
                missing = p;
        }
        good = good && same(&a, x) && same(&b, y) && same(&both, z);
        good = good && rank_set_meets(&a, &b) == meets && rank_set_missing(&a, &b) == missing;
        good = good && rank_set_covers(&b, &a) == (missing == UINT32_MAX);
        good = good && take_out(&b, y, &rand);
        rank_set_copy(&copy, &a);
        rank_set_add_all(&copy, &b);
        for (uint32_t p = 0; p < BITS; p++)
            z[p] = x[p] || y[p];
        good = good && same(&copy, z);
        rank_set_free(&a);
        rank_set_free(&b);
        rank_set_free(&both);
        rank_set_free(&copy);
    }
    OK_F(good, "sets of runs are sets");
    {
        struct rank_set s;
        rank_set_subtree(&s, 2, 12, 1);
        OK(s.count == 7 && s.nruns == 3 && rank_set_has(&s, 9) && !rank_set_has(&s, 2));
        rank_set_free(&s);
    }
}

static struct block_set *numbered(uint32_t from, uint32_t to)
{
    struct block_set *b = NULL;
    char text[16];

    for (uint32_t p = from; p < to; p++) {
        snprintf(text, sizeof text, "b%u", p % 3);
        block_set_join(&b, b, block_set_one(p, slice_str(text)));
    }
    return b;
}

static bool is_run(const struct block_set *b, uint32_t from, uint32_t to)
{
    const struct block_set *one;
    struct block_set_walk w;
    char text[16];
    bool good = true;

    block_set_walk_begin(&w, b);
    while ((one = block_set_walk_next(&w))) {
        snprintf(text, sizeof text, "b%u", from % 3);
        good = good && block_set_position(one) == from++ && slice_is(block_set_block(one), text);
    }
    block_set_walk_end(&w);
    return good && from == to;
}

static void test_bundles(void)
{
    struct block_set *b = NULL, *head;
    bool good = true;

    for (uint32_t part = 0; part < 10; part++)
        block_set_join(&b, b, numbered(part * 10, part * 10 + 10));
    OK(b->count == 100 && b->bytes == 200 && is_run(b, 0, 100));
    for (uint32_t n = 0; n <= 100; n++) {
        good = good && block_set_first(&head, b, n) && block_set_count(head) == n &&
               is_run(head, 0, n);
        block_set_drop(head);
    }
    OK_F(good, "every head of a bundle is one");
    block_set_drop(b);
    b = numbered(0, 50000); /* no recursion */
    OK(is_run(b, 0, 50000));
    block_set_drop(b);
}

static void test_carry(void)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_PIECE), *back;
    struct buf bytes = BUF_NULL(1 << 20);
    struct arena a = ARENA_NULL(1 << 20);
    struct errmsg err;
    struct msg out, in;
    size_t whole;

    m->what = strdup("fence job/WORLD:0");
    m->generation = UINT64_C(1) << 33;
    m->from = 3;
    m->to = 7;
    m->culprit = 5;
    m->failed = true;
    m->step = 4;
    m->piece = 1;
    m->pieces = 9;
    rank_set_add(&m->all, 2, 30);
    rank_set_add(&m->arrived, 2, 3);
    m->data = numbered(2, 32);
    OK(overlay_codec_out(m, &a, &out));
    OK_F(out.u.overlay.blocks.n == 3 && out.u.overlay.positions.n == 30, "equal blocks stand once");
    msg_write(&out, &bytes);
    whole = buf_len(&bytes);
    OK(msg_read(buf_slice(&bytes), &a, &in, &err) == 0);
    back = overlay_codec_in(&in, 100);
    OK(back && back->from == 3 && back->to == 7 && back->step == 4 && back->pieces == 9);
    OK(back && !strcmp(back->what, m->what) && back->generation == m->generation && back->failed);
    OK(back && back->culprit == 5 && back->all.count == 30 && back->arrived.count == 3);
    OK(back && is_run(back->data, 2, 32));
    overlay_msg_free(back);
    OK_F(!overlay_codec_in(&in, 20), "positions that are none are refused");
    for (size_t n = 0; n < whole; n++) {
        struct arena cut = ARENA_NULL(1 << 20);
        char *copy = malloc(n + 1);
        memcpy(copy, buf_slice(&bytes).ptr, n);
        if (msg_read(slice_mem(copy, n), &cut, &in, &err) == 0 && in.kind == MSG_overlay)
            overlay_msg_free(overlay_codec_in(&in, 100));
        free(copy);
        arena_free(&cut);
    }
    overlay_msg_free(m);
    arena_free(&a);
    buf_free(&bytes);
}

/* Both ends of a stream, with data and credit on their way: it never stops for good, and no end
 * gets a message that it must refuse. */
static void test_window(void)
{
    struct window from = { 0 }, to = { 0 };
    uint64_t rand = 7, data = 0, credit = 0, all = 0, passed = 0;
    const uint64_t want = UINT64_C(20) * LIMIT_CHANNEL_WINDOW;
    bool good = true;

    for (int i = 0; i < 100000 && passed < want && good; i++) {
        uint64_t n = rand_below(&rand, 100000);
        switch (rand_below(&rand, 4)) {
        case 0: /* send */
            n = n < window_room(&from) ? n : window_room(&from);
            good = window_take(&from, n);
            data += n;
            all += n;
            break;
        case 1: /* arrive */
            n = n < data ? n : data;
            good = window_take(&to, n);
            data -= n;
            break;
        case 2: /* pass on */
            n = n < to.in_flight ? n : to.in_flight;
            good = window_give(&to, n);
            credit += n;
            passed += n;
            break;
        default: /* credit arrives */
            good = window_give(&from, credit);
            credit = 0;
            break;
        }
        good = good && all - passed <= LIMIT_CHANNEL_WINDOW;
    }
    OK(good && passed >= want);
    OK(!window_take(&from, window_room(&from) + UINT64_C(1)) &&
       !window_give(&to, to.in_flight + 1));
}

/* ---- results --------------------------------------------------------------------------------- */

static void greet(struct overlay *o, uint32_t child)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_HELLO);

    m->from = child;
    m->to = 1;
    OK_F(overlay_receive(o, m) == 0, "a child tells what it has received");
}

/* Node 1 of five, with 0 above it, and 3 and 4 below it. */
static void open_middle(struct overlay *o)
{
    struct overlay_config k;

    overlay_defaults(&k, 1, 5, 2);
    OK(overlay_init(o, &k) == 0 && overlay_link_up(o, 0) && overlay_link_up(o, 3));
    overlay_link_up(o, 4);
    greet(o, 3);
    greet(o, 4);
}

static struct overlay_msg *about(enum overlay_kind kind, uint32_t from, const char *what)
{
    struct overlay_msg *m = overlay_msg_new(kind);

    m->from = from;
    m->to = 1;
    m->generation = 7;
    m->what = strdup(what);
    return m;
}

static struct overlay_msg *gathering_of_3(void)
{
    struct overlay_msg *m = about(OVERLAY_MSG_GATHER, 3, "fence");

    rank_set_add(&m->all, 3, 2);
    rank_set_add(&m->arrived, 3, 1);
    m->data = block_set_one(3, SLICE("three"));
    return m;
}

/* The results that this node sends to `to`; all other messages are dropped. */
static uint32_t results_to(struct overlay *o, uint32_t to)
{
    struct overlay_msg *m;
    uint32_t n = 0;

    while ((m = overlay_next(o))) {
        n += m->kind == OVERLAY_MSG_RESULT && m->to == to && block_set_count(m->data) == 2;
        overlay_msg_free(m);
    }
    return n;
}

static struct overlay_msg *result_of(const char *what)
{
    struct overlay_msg *m = about(OVERLAY_MSG_RESULT, 0, what);

    m->data = numbered(3, 5);
    return m;
}

static void drop_events(struct overlay *o)
{
    struct overlay_event *e;

    while ((e = overlay_event(o)))
        overlay_event_free(e);
}

static bool always(void *arg, const char *what)
{
    (void)arg;
    (void)what;
    return true;
}

/* The contribution of 4 went past us, because its link to us broke: the result counts all the
 * same. */
static void test_result_that_went_past(void)
{
    struct overlay o;

    open_middle(&o);
    OK(overlay_receive(&o, gathering_of_3()) == 0);
    EQ(results_to(&o, 3), 0);
    OK_F(overlay_receive(&o, result_of("fence")) == 0, "a result though not all came through us");
    EQ(results_to(&o, 3), 1);
    overlay_free(&o);

    for (int down = 0; down < 2; down++) {
        open_middle(&o);
        if (down)
            overlay_link_down(&o, 4);
        OK(overlay_receive(&o, result_of("fence")) == 0);
        results_to(&o, 3);
        OK_F(overlay_receive(&o, gathering_of_3()) == 0 && results_to(&o, 3) == 1,
             "who comes back finds the result, %s",
             down ? "after a loss" : "of which we do not know yet");
        overlay_free(&o);
    }

    open_middle(&o);
    o.config.is_over = always;
    OK(overlay_receive(&o, result_of("fence")) == 0);
    EQ(results_to(&o, 3), 0);
    OK_F(list_empty(&o.dones), "a result for which nobody waits any more is not kept");
    overlay_free(&o);

    open_middle(&o);
    OK(overlay_contribute(&o, SLICE("other"), 7, NULL, block_set_one(1, SLICE("one"))) == 0);
    OK(overlay_receive(&o, about(OVERLAY_MSG_RESULT, 3, "other")) == 1);
    overlay_free(&o);
    open_middle(&o);
    {
        struct overlay_msg *m = about(OVERLAY_MSG_GATHER, 3, "ours");
        rank_set_add(&m->all, 1, 4);
        rank_set_add(&m->arrived, 3, 1);
        m->data = block_set_one(3, SLICE("three"));
        OK(overlay_receive(&o, m) == 0);
        OK_F(overlay_receive(&o, result_of("ours")) == 1, "no result counts without our part");
    }
    drop_events(&o);
    overlay_free(&o);
}

int main(void)
{
    enum overlay_schedule s = OVERLAY_AUTO;

    test_tree();
    test_sets();
    test_bundles();
    test_carry();
    test_window();
    OK(overlay_schedule_named(SLICE("bruck"), &s) && s == OVERLAY_EXCHANGE);
    OK(!overlay_schedule_named(SLICE("magic"), &s));
    OK(overlay_schedule_known(SLICE("magic, tree ,bruck"), &s) && s == OVERLAY_TREE);
    OK(overlay_schedule_known(SLICE("auto,tree"), &s) && s == OVERLAY_AUTO);
    OK(!overlay_schedule_known(SLICE("magic,,more"), &s) && s == OVERLAY_AUTO);
    OK(!overlay_schedule_known(SLICE_NULL, &s));
    test_result_that_went_past();
    return tap_done();
}
