/* recovery.c - see recovery.h.  Reading order: asking for a round; a round; its end. */
#include "cluster/recovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/gather.h"

/* The collective of a round: "recovery ROUND WHAT". */
static const char ROUND[] = "recovery ";

static bool is_round(const char *what)
{
    return strncmp(what, ROUND, sizeof ROUND - 1) == 0;
}

static char *round_name(const char *what, uint32_t round)
{
    char *name;

    return asprintf(&name, "%s%u %s", ROUND, round, what) < 0 ? NULL : name;
}

/* The exchange that the round is about. */
static const char *subject_of(const char *name, uint32_t *round_p)
{
    char *end;

    *round_p = (uint32_t)strtoul(name + sizeof ROUND - 1, &end, 10);
    return *end == ' ' ? end + 1 : end;
}

struct round {
    const char *what; /* the exchange */
    uint64_t generation;
    const struct rank_set *all; /* its participants */
    uint32_t number;
};

static struct round round_of(const struct overlay_event *e)
{
    return (struct round){ e->what, e->generation, &e->peers, e->round };
}

static struct gather *find(const struct overlay *o, const struct round *r)
{
    struct gather *c = gather_find(&o->pending, r->what, r->generation);

    return c ? c : gather_find(&o->done, r->what, r->generation);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* NULL: it has not completed the exchange.  Who knows nothing of it any more has. */
static const char *state_of(const struct gather *c)
{
    if (c && (c->phase != GATHER_DONE || c->failed))
        return NULL;
    return c && c->data ? "+" : "-";
}

static void contribute(struct overlay *o, const struct round *r, const char *state)
{
    struct block_set *block = state ? block_set_one(o->config.me, slice_str(state)) : NULL;
    struct overlay_way way = { OVERLAY_TREE, OVERLAY_LOSS_BORNE };
    char *name = round_name(r->what, r->number);

    if (!name || (state && !block)) {
        block_set_drop(block);
        o->no_memory = true;
    } else if (overlay_contribute_by(o, way, slice_str(name), r->generation, r->all, block) ==
               -ENOMEM) {
        o->no_memory = true;
    }
    free(name);
}

static void begin_round(struct overlay *o, struct round r)
{
    struct gather *c = find(o, &r);

    if (is_round(r.what) || (c && r.number <= c->round))
        return;
    if (c) {
        c->round = r.number;
        c->asked = false;
        c->frozen = c->phase != GATHER_DONE && c->mine;
    }
    if (rank_set_has(r.all, o->config.me))
        contribute(o, &r, state_of(c));
}

/* ---- asking for one -------------------------------------------------------------------------- */

static struct overlay_msg *new_msg(struct overlay *o, enum overlay_kind kind, const struct round *r)
{
    struct overlay_msg *m = overlay_msg_new(kind);

    if (m)
        m->what = strdup(r->what);
    if (!m || !m->what || rank_set_copy(&m->all, r->all) < 0) {
        o->no_memory = true;
        return overlay_msg_free(m);
    }
    m->flags = OVERLAY_RECOVERS;
    m->bytes = r->generation;
    m->step = r->number;
    return m;
}

/* Top: the next round. */
static void announce(struct overlay *o, struct round r)
{
    struct overlay_msg *m;

    r.number++;
    m = new_msg(o, OVERLAY_MSG_BROADCAST, &r);
    if (!m)
        return;
    overlay_broadcast_msg(o, m);
    begin_round(o, r);
}

static void ask(struct overlay *o, struct gather *c)
{
    struct round r = { c->what, c->generation, &c->all, c->round };
    struct overlay_msg *m;

    c->asked = true;
    if (o->config.me == 0) {
        announce(o, r);
        return;
    }
    m = new_msg(o, OVERLAY_MSG_REPORT, &r);
    if (m)
        overlay_report_msg(o, m);
}

/* Top.  Who has not received a round yet that has been announced takes part in it all the same. */
static void answer(struct overlay *o, struct round r)
{
    const struct gather *c = find(o, &r);
    bool is_late = c && (c->round > r.number || c->phase == GATHER_GATHERS);

    if (!is_round(r.what) && r.number != UINT32_MAX && !is_late)
        announce(o, r);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Who has completed the exchange: all; those that live; those of them that still have the data. */
struct completers {
    uint32_t all, living, sources;
};

/* Counts them, and finds the n-th source. */
static uint32_t find_source(struct overlay *o, const struct block_set *blocks, uint32_t nth,
                            struct completers *s)
{
    uint32_t source = TREE_NONE;
    const struct block_set *b;
    struct block_set_walk w;

    *s = (struct completers){ 0, 0, 0 };
    block_set_walk_begin(&w, blocks);
    while ((b = block_set_walk_next(&w))) {
        s->all++;
        if (tree_is_lost(o->lost, block_set_position(b)))
            continue;
        s->living++;
        if (slice_is(block_set_block(b), "+") && s->sources++ == nth)
            source = block_set_position(b);
    }
    o->no_memory = o->no_memory || w.no_memory;
    block_set_walk_end(&w);
    return source;
}

static void fail(struct overlay *o, struct gather *c)
{
    struct rank_set lost;
    uint32_t culprit = TREE_NONE;

    if (rank_set_intersect(&lost, &c->all, &o->losses) < 0)
        o->no_memory = true;
    else if (lost.count)
        culprit = rank_set_nth(&lost, 0);
    rank_set_free(&lost);
    gather_fail(o, c, culprit);
}

/* Not all of them ask the same one. */
static void fetch(struct overlay *o, struct gather *c, const struct block_set *states)
{
    struct completers s;
    uint32_t source;

    find_source(o, states, 0, &s);
    source = find_source(o, states, s.sources ? o->config.me % s.sources : 0, &s);
    if (c->phase == GATHER_GATHERS)
        gather_pass_exchange(o, c);
    if (source != TREE_NONE)
        exchange_fetch(o, c, source);
    else if (s.living)
        overlay_behind(o);
    else
        ask(o, c);
}

static void end_round(struct overlay *o, const struct overlay_event *e)
{
    uint32_t round;
    const char *what = subject_of(e->what, &round);
    struct gather *c = gather_find(&o->pending, what, e->generation);

    if (!c || !c->frozen || c->round != round)
        return;
    c->frozen = false;
    if (block_set_count(e->blocks))
        fetch(o, c, e->blocks);
    else
        fail(o, c);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void is_stuck(struct overlay *o, const struct overlay_event *e)
{
    struct gather *c = gather_find(&o->pending, e->what, e->generation);

    if (c && c->asked) /* else it is over, or a round has begun meanwhile */
        ask(o, c);
}

bool recovery_event(struct overlay *o, const struct overlay_event *e)
{
    switch (e->kind) {
    case OVERLAY_STUCK: is_stuck(o, e); return true;
    case OVERLAY_ASKED: answer(o, round_of(e)); return true;
    case OVERLAY_ROUND: begin_round(o, round_of(e)); return true;
    case OVERLAY_DECIDED: return is_round(e->what);
    case OVERLAY_COMPLETED:
        if (!is_round(e->what))
            return false;
        end_round(o, e);
        return true;
    default: return false;
    }
}
