/* exchange.c - the exchange of large collectives among the participants themselves.  Participants
 * have indexes 0..n-1, by position.  Each holds blocks in the order in which they came, its own
 * first.  In step s it sends the first min(2^s, n - 2^s) of them to one participant, and receives
 * as many from one: after ceil(log2 n) steps it has all.
 *
 * If n is a power of two, both are the one whose index differs in bit s alone (recursive doubling):
 * each has log2 n peers, and as many links.  Otherwise they are those 2^s before and after it,
 * wrapping around (Bruck and others, 1997), and there are twice as many.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/gather.h"

enum { PIECES_MAX = 1 << 20 };

static uint32_t steps_of(uint32_t n)
{
    uint32_t s = 0;

    while (s < GATHER_STEPS - 1 && (UINT64_C(1) << s) < n)
        s++;
    return s;
}

static uint32_t count_in(const struct gather *c, uint32_t step)
{
    uint32_t n = c->all.count, d = UINT32_C(1) << step;

    return step == GATHER_WHOLE ? n : d < n - d ? d : n - d;
}

static bool doubles(const struct gather *c)
{
    return (c->all.count & (c->all.count - 1)) == 0;
}

/* The one that we send to, or (`behind`) receive from. */
static uint32_t peer(const struct gather *c, uint32_t step, bool behind)
{
    uint32_t n = c->all.count, d = UINT32_C(1) << step;
    uint64_t index = behind ? (uint64_t)c->me + d : (uint64_t)c->me + n - d;

    return rank_set_nth(&c->all, doubles(c) ? c->me ^ d : (uint32_t)(index % n));
}

/* Where the data of all stands, at the one with index `holder`, that stands at `place` here. */
static uint32_t place_at(const struct gather *c, uint32_t holder, uint32_t place)
{
    uint32_t n = c->all.count;

    return doubles(c) ? holder ^ c->me ^ place
                      : (uint32_t)(((uint64_t)place + c->me + n - holder) % n);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* What is sent: a step of an exchange, to a participant. */
struct sending {
    uint32_t step, to;
};

static bool send_piece(struct overlay *o, const struct gather *c, struct sending s,
                       struct block_set *data, uint32_t piece, uint32_t pieces)
{
    struct overlay_msg *m = overlay_msg_about(o, OVERLAY_MSG_PIECE, c, s.to);

    if (!m) {
        block_set_drop(data);
        return false;
    }
    m->step = s.step;
    m->piece = piece;
    m->pieces = pieces;
    m->data = data;
    o->stats.pieces++;
    overlay_send(o, m);
    return true;
}

/* The number of pieces: whole blocks, as many as fit in each; at least one. */
static uint32_t count_pieces(const struct overlay *o, const struct block_set *all)
{
    uint64_t max = o->config.piece_max, bytes = 0;
    const struct block_set *b;
    struct block_set_walk w;
    uint32_t n = 1;

    if (max == 0 || all->bytes <= max)
        return 1;
    block_set_walk_begin(&w, all);
    while ((b = block_set_walk_next(&w))) {
        if (bytes && bytes + b->bytes > max) {
            n++;
            bytes = 0;
        }
        bytes += b->bytes;
    }
    if (w.no_memory)
        n = 0;
    block_set_walk_end(&w);
    return n;
}

static bool send_cut(struct overlay *o, const struct gather *c, struct sending s,
                     struct block_set *all, uint32_t pieces)
{
    struct block_set *part = NULL;
    struct block_set_walk w;
    const struct block_set *b;
    uint32_t piece = 0;
    bool good = true;

    block_set_walk_begin(&w, all);
    while (good && (b = block_set_walk_next(&w))) {
        if (block_set_bytes(part) && part->bytes + b->bytes > o->config.piece_max) {
            good = send_piece(o, c, s, part, piece++, pieces);
            part = NULL;
        }
        good = good && block_set_join(&part, part, block_set_ref((struct block_set *)(uintptr_t)b));
    }
    good = good && !w.no_memory && send_piece(o, c, s, part, piece, pieces);
    block_set_walk_end(&w);
    return good;
}

static bool send_blocks(struct overlay *o, const struct gather *c, struct sending s)
{
    struct block_set *all;
    uint32_t pieces;
    bool good;

    if (!block_set_first(&all, c->data, count_in(c, s.step)))
        return false;
    pieces = count_pieces(o, all);
    if (pieces <= 1)
        return pieces == 1 && send_piece(o, c, s, all, 0, 1);
    good = send_cut(o, c, s, all, pieces);
    block_set_drop(all);
    return good;
}

static bool send_step(struct overlay *o, const struct gather *c, uint32_t step)
{
    return send_blocks(o, c, (struct sending){ step, peer(c, step, false) });
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void step_free(struct gather_step *s)
{
    for (uint32_t i = 0; s->pieces && i < s->npieces; i++)
        block_set_drop(s->pieces[i]);
    free(s->pieces);
    block_set_drop(s->all);
    *s = (struct gather_step){ NULL, 0, 0, NULL };
}

void exchange_free(struct gather *c)
{
    for (uint32_t i = 0; c->got && i <= c->steps; i++)
        step_free(&c->got[i]);
    free(c->got);
    c->got = NULL;
}

/* Where the pieces of that step are put together. */
static struct gather_step *place_of(const struct gather *c, uint32_t step)
{
    return &c->got[step < c->steps ? step : c->steps];
}

static bool make_steps(struct gather *c)
{
    if (c->got)
        return true;
    c->steps = steps_of(c->all.count);
    c->me = 0;
    c->got = calloc((size_t)c->steps + 1, sizeof *c->got);
    return c->got != NULL;
}

/* Goes on with the steps that have arrived. */
static void go_on(struct overlay *o, struct gather *c)
{
    if (c->frozen)
        return;
    while (c->step < c->steps && c->got[c->step].all) {
        struct gather_step *s = &c->got[c->step];
        struct block_set *more = s->all;
        s->all = NULL;
        step_free(s);
        if (!block_set_join(&c->data, c->data, more)) {
            o->no_memory = true;
            return;
        }
        c->step++;
        if (c->step < c->steps && !send_step(o, c, c->step)) {
            o->no_memory = true;
            return;
        }
    }
    gather_account(o, c);
    if (c->step == c->steps)
        gather_finish(o, c);
}

static void emit_peers(struct overlay *o, const struct gather *c)
{
    struct overlay_event *e = calloc(1, sizeof *e);

    for (uint32_t s = 0; e && s < c->steps; s++) {
        if (rank_set_add(&e->peers, peer(c, s, false), 1) < 0 ||
            rank_set_add(&e->peers, peer(c, s, true), 1) < 0)
            o->no_memory = true;
    }
    o->no_memory = o->no_memory || !e;
    if (!e)
        return;
    e->kind = OVERLAY_EXCHANGING;
    overlay_push_event(o, e);
}

/* Our own block is here, and nothing else yet. */
static bool prepare(struct overlay *o, struct gather *c)
{
    c->phase = GATHER_EXCHANGES;
    block_set_drop(c->data);
    c->data = c->own ? block_set_ref(c->own) : block_set_one(o->config.me, SLICE_NULL);
    o->no_memory = o->no_memory || !make_steps(c) || !c->data;
    c->me = rank_set_rank(&c->all, o->config.me);
    return !o->no_memory;
}

void exchange_begin(struct overlay *o, struct gather *c)
{
    if (!c->mine) {
        c->phase = GATHER_EXCHANGES;
        c->data = block_set_drop(c->data);
        gather_finish(o, c);
        return;
    }
    if (!prepare(o, c))
        return;
    emit_peers(o, c);
    if (c->steps && !send_step(o, c, 0)) {
        o->no_memory = true;
        return;
    }
    if (c->suspect)
        exchange_ask_again(o, c);
    if (rank_set_meets(&c->all, &o->losses))
        exchange_stuck(o, c);
    go_on(o, c);
}

static bool put_together(struct gather_step *s)
{
    for (uint32_t i = 0; i < s->npieces; i++) {
        struct block_set *piece = s->pieces[i];
        s->pieces[i] = NULL;
        if (!block_set_join(&s->all, s->all, piece))
            return false;
    }
    return true;
}

static bool is_piece(const struct gather *c, const struct overlay_msg *m)
{
    if (m->pieces == 0 || m->pieces > PIECES_MAX || m->piece >= m->pieces || !m->data)
        return false;
    if (m->step == GATHER_WHOLE)
        return rank_set_has(&c->all, m->from);
    return m->step < c->steps && m->from == peer(c, m->step, true);
}

static int take_piece(struct overlay *o, struct gather *c, struct overlay_msg *m)
{
    struct gather_step *s;

    c->me = rank_set_rank(&c->all, o->config.me);
    if (!is_piece(c, m))
        return 1;
    s = place_of(c, m->step);
    if (m->step < c->step || s->all)
        return 0; /* it was requested again, and came twice */
    if (m->step == GATHER_WHOLE && m->from != c->source)
        return 0; /* of one that was asked before */
    if (!s->pieces) {
        s->pieces = calloc(m->pieces, sizeof *s->pieces);
        if (!s->pieces)
            return -ENOMEM;
        s->npieces = m->pieces;
    }
    if (m->pieces != s->npieces)
        return 1;
    if (s->pieces[m->piece])
        return 0;
    s->pieces[m->piece] = m->data;
    m->data = NULL;
    if (++s->here < s->npieces)
        return 0;
    if (!put_together(s))
        return -ENOMEM;
    return block_set_count(s->all) == count_in(c, m->step) ? 0 : 1;
}

/* Borrowed. */
static bool list_blocks(const struct block_set *data, struct block_set **blocks, uint32_t n)
{
    const struct block_set *b;
    struct block_set_walk w;
    uint32_t at = 0;
    bool good;

    block_set_walk_begin(&w, data);
    while (at < n && (b = block_set_walk_next(&w)))
        blocks[at++] = (struct block_set *)(uintptr_t)b;
    good = !w.no_memory && at == n;
    block_set_walk_end(&w);
    return good;
}

/* The source's data is in its order.  Ours has to be in ours, as after the steps, for a peer may
 * ask for a step again.  Takes the reference over. */
static bool put_in_our_order(const struct gather *c, struct block_set **data)
{
    uint32_t n = c->all.count, source = rank_set_rank(&c->all, c->source);
    struct block_set **blocks = calloc(n, sizeof *blocks), *all = NULL;
    bool good = blocks && list_blocks(*data, blocks, n);

    for (uint32_t i = 0; good && i < n; i++)
        good = block_set_join(&all, all, block_set_ref(blocks[place_at(c, source, i)]));
    free(blocks);
    block_set_drop(*data);
    *data = good ? all : block_set_drop(all);
    return good;
}

/* The data of all has come from one that has completed the exchange. */
static void take_whole(struct overlay *o, struct gather *c)
{
    struct gather_step *s = place_of(c, GATHER_WHOLE);

    block_set_drop(c->data);
    c->data = s->all;
    s->all = NULL;
    if (!put_in_our_order(c, &c->data))
        o->no_memory = true;
    gather_account(o, c);
    gather_finish(o, c);
}

/* Of a step it comes from one that has sent it already, and does not keep it.  Of the data of all,
 * from one that has dropped it since the round: the next one tells whether another one has it. */
static void is_refused(struct overlay *o, struct gather *c, const struct overlay_msg *m)
{
    if (m->step != GATHER_WHOLE || m->from != c->source)
        return;
    c->source = TREE_NONE;
    exchange_stuck(o, c);
}

int exchange_piece(struct overlay *o, struct overlay_msg *m)
{
    struct gather *c = gather_find(&o->pending, m->what, m->generation);
    int rc;

    if (!c || !c->mine || c->frozen) /* it has failed here, or is over, or will be fetched */
        return 0;
    if (m->failed) {
        is_refused(o, c, m);
        return 0;
    }
    rc = make_steps(c) ? take_piece(o, c, m) : -ENOMEM;
    o->no_memory = o->no_memory || rc < 0;
    if (rc == 1 && (m->step < c->steps || m->step == GATHER_WHOLE))
        step_free(place_of(c, m->step)); /* with a piece that does not fit it is never complete */
    gather_account(o, c);
    if (rc == 0 && c->phase == GATHER_EXCHANGES) {
        if (place_of(c, GATHER_WHOLE)->all)
            take_whole(o, c);
        else
            go_on(o, c);
    }
    return rc != 0;
}

/* ---- after a loss ---------------------------------------------------------------------------- */

static void ask_again(struct overlay *o, const struct gather *c, struct sending s)
{
    struct overlay_msg *m = overlay_msg_about(o, OVERLAY_MSG_AGAIN, c, s.to);

    if (!m)
        return;
    m->step = s.step;
    o->stats.again++;
    overlay_send(o, m);
}

void exchange_ask_again(struct overlay *o, struct gather *c)
{
    if (c->source != TREE_NONE)
        ask_again(o, c, (struct sending){ GATHER_WHOLE, c->source });
    for (uint32_t s = c->step; c->source == TREE_NONE && s < c->steps; s++) {
        if (!c->got[s].all)
            ask_again(o, c, (struct sending){ s, peer(c, s, true) });
    }
}

void exchange_stuck(struct overlay *o, struct gather *c)
{
    struct overlay_event *e;

    if (c->frozen || c->asked || (c->source != TREE_NONE && !tree_is_lost(o->lost, c->source)))
        return;
    c->source = TREE_NONE;
    c->asked = true;
    e = calloc(1, sizeof *e);
    if (e)
        e->what = strdup(c->what);
    if (!e || !e->what) {
        o->no_memory = true;
        overlay_event_free(e);
        return;
    }
    e->kind = OVERLAY_STUCK;
    e->generation = c->generation;
    overlay_push_event(o, e);
}

void exchange_fetch(struct overlay *o, struct gather *c, uint32_t source)
{
    if (c->phase == GATHER_GATHERS && !prepare(o, c))
        return;
    step_free(place_of(c, GATHER_WHOLE));
    c->source = source;
    ask_again(o, c, (struct sending){ GATHER_WHOLE, source });
}

/* The collective is over here and was not kept, or has failed. */
static void refuse(struct overlay *o, const struct overlay_msg *asked, uint32_t culprit)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_PIECE);

    if (m) {
        m->to = asked->from;
        m->what = strdup(asked->what);
        m->generation = asked->generation;
        m->step = asked->step;
        m->failed = true;
        m->culprit = culprit;
        overlay_send(o, m);
    }
    o->no_memory = o->no_memory || !m || !m->what;
}

/* Only of one that is over here is the data of all asked for. */
static bool may_ask(const struct gather *c, const struct overlay_msg *m, bool over)
{
    if (m->step == GATHER_WHOLE)
        return over && c->mine && rank_set_has(&c->all, m->from);
    return c->mine && m->step < c->steps && peer(c, m->step, false) == m->from;
}

/* A node that has not reached that step yet will send it when it does. */
int exchange_again(struct overlay *o, struct overlay_msg *m)
{
    struct gather *c = gather_find(&o->pending, m->what, m->generation);
    bool over = !c;

    if (over)
        c = gather_find(&o->done, m->what, m->generation);
    if (!c || c->failed || (over && !c->data)) {
        refuse(o, m, c && c->failed ? c->culprit : TREE_NONE);
        return 0;
    }
    if (!over && (c->phase != GATHER_EXCHANGES || c->step < m->step))
        return 0;
    if (!may_ask(c, m, over))
        return 1;
    if (!send_blocks(o, c, (struct sending){ m->step, m->from }))
        o->no_memory = true;
    return 0;
}
