/* gather.c - the gathering of collectives towards the top, and results away from it. */
#include "cluster/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the two tables -------------------------------------------------------------------------- */

/* Keys that are looked up fit on the stack, as a rule. */
enum { KEY_HEAD = sizeof(uint64_t), KEY_ROOM = 256 };

static void write_key(char *key, const char *what, uint64_t generation)
{
    memcpy(key, &generation, KEY_HEAD);
    memcpy(key + KEY_HEAD, what, strlen(what) + 1);
}

static char *make_key(const char *what, uint64_t generation, size_t *len_p)
{
    char *key = malloc(KEY_HEAD + strlen(what) + 1);

    if (!key)
        return NULL;
    write_key(key, what, generation);
    *len_p = KEY_HEAD + strlen(what);
    return key;
}

/* Without memory for a key.  That a collective is unknown must not be said for want of memory: it
 * would mean that it is complete. */
static struct gather *search(const struct map *m, const char *what, uint64_t generation)
{
    struct gather *c;

    for (size_t at = 0; (c = map_next(m, &at));) {
        if (c->generation == generation && !strcmp(c->what, what))
            return c;
    }
    return NULL;
}

struct gather *gather_find(const struct map *m, const char *what, uint64_t generation)
{
    size_t len = KEY_HEAD + strlen(what);
    char room[KEY_ROOM], *key = len < sizeof room ? room : malloc(len + 1);
    struct gather *c;

    if (!key)
        return search(m, what, generation);
    write_key(key, what, generation);
    c = map_get(m, slice_mem(key, len));
    if (key != room)
        free(key);
    return c;
}

static bool fill(struct overlay *o, struct gather *c, const struct rank_set *all)
{
    if (rank_set_copy(&c->all, all) < 0 ||
        rank_set_intersect(&c->expected, &c->all, &o->subtree) < 0)
        return false;
    return map_put(&o->pending, slice_mem(c->key, c->key_len), c, NULL) == 0;
}

/* NULL: no memory. */
static struct gather *gather_new(struct overlay *o, const char *what, uint64_t generation,
                                 const struct rank_set *all)
{
    struct gather *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    list_init(&c->link);
    c->generation = generation;
    c->culprit = c->source = TREE_NONE;
    c->key = make_key(what, generation, &c->key_len);
    if (!c->key || !fill(o, c, all))
        return gather_free(c);
    c->what = c->key + KEY_HEAD;
    list_append(&o->pendings, &c->link);
    return c;
}

static void drop_parts(struct gather *c)
{
    exchange_free(c);
    rank_set_free(&c->expected);
    rank_set_free(&c->arrived);
    c->own = block_set_drop(c->own);
}

struct gather *gather_free(struct gather *c)
{
    if (!c)
        return NULL;
    list_unlink(&c->link);
    drop_parts(c);
    rank_set_free(&c->all);
    rank_set_free(&c->left_out);
    block_set_drop(c->data);
    free(c->key);
    free(c);
    return NULL;
}

void gather_account(struct overlay *o, struct gather *c)
{
    uint64_t now = block_set_bytes(c->data);

    for (uint32_t i = 0; c->got && i <= c->steps; i++) {
        now += block_set_bytes(c->got[i].all);
        for (uint32_t k = 0; c->got[i].pieces && k < c->got[i].npieces; k++)
            now += block_set_bytes(c->got[i].pieces[k]);
    }
    o->stats.held += now - c->held;
    c->held = now;
    if (o->stats.held > o->stats.held_max)
        o->stats.held_max = o->stats.held;
}

/* ---- the end --------------------------------------------------------------------------------- */

enum { DONE_MAX = 1024, LATEST_MAX = 64 << 20 };

static uint64_t *bytes_of(struct overlay *o, const struct gather *c)
{
    return c->latest ? &o->latest : &o->kept;
}

static void forget_done(struct overlay *o, struct gather *c)
{
    if (!c)
        return;
    *bytes_of(o, c) -= block_set_bytes(c->data);
    o->stats.held -= c->held;
    map_del(&o->done, slice_mem(c->key, c->key_len));
    gather_free(c);
}

/* Drops the oldest results of the kind that `at` counts, but not the last one of all. */
static void drop_results(struct overlay *o, const uint64_t *at, uint64_t most)
{
    LIST_EACH(l, &o->dones)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        if (*at <= most || l->next == &o->dones)
            break;
        if (!c->data || bytes_of(o, c) != at)
            continue;
        *bytes_of(o, c) -= block_set_bytes(c->data);
        c->data = block_set_drop(c->data);
        gather_account(o, c);
    }
}

/* The fact that a collective is over is kept longer than its result. */
static void trim(struct overlay *o)
{
    drop_results(o, &o->kept, o->config.keep_max);
    drop_results(o, &o->latest, LATEST_MAX);
    while (o->done.count > DONE_MAX)
        forget_done(o, LIST_OF(list_first(&o->dones), struct gather, link));
}

static void count_as(struct overlay *o, struct gather *c, bool latest)
{
    *bytes_of(o, c) -= block_set_bytes(c->data);
    c->latest = latest;
    *bytes_of(o, c) += block_set_bytes(c->data);
}

/* All who take part in this one have come to it, and so have the result of the last one before that
 * has not failed.  (One that fails may do so before they come.) */
static void release_before(struct overlay *o, const struct gather *c)
{
    struct gather *before;
    bool failed = true;

    for (uint64_t g = c->generation; failed && g-- > 0;) {
        before = gather_find(&o->done, c->what, g);
        failed = before && before->failed;
        if (before && rank_set_covers(&c->all, &before->all))
            count_as(o, before, false);
    }
}

static void count_result(struct overlay *o, struct gather *c)
{
    bool good = c->mine && !c->failed;

    c->latest = good && c->exchanges;
    *bytes_of(o, c) += block_set_bytes(c->data);
    if (good)
        release_before(o, c);
    trim(o);
}

static void emit_end(struct overlay *o, const struct gather *c)
{
    struct overlay_event *e = calloc(1, sizeof *e);

    if (e) {
        e->kind = OVERLAY_COMPLETED;
        e->what = strdup(c->what);
        e->generation = c->generation;
        e->failed = c->failed;
        e->culprit = c->culprit;
        e->blocks = c->failed ? NULL : block_set_ref(c->data);
    }
    if (!e || !e->what || rank_set_copy(&e->left_out, &c->left_out) < 0) {
        o->no_memory = true;
        overlay_event_free(e);
        return;
    }
    overlay_push_event(o, e);
}

void gather_finish(struct overlay *o, struct gather *c)
{
    struct slice key = slice_mem(c->key, c->key_len);

    if (c->mine)
        emit_end(o, c);
    map_del(&o->pending, key);
    forget_done(o, gather_find(&o->done, c->what, c->generation));
    list_unlink(&c->link);
    drop_parts(c);
    exchange_free(c);
    c->phase = GATHER_DONE;
    c->after = o->last_broadcast;
    gather_account(o, c);
    if (map_put(&o->done, key, c, NULL) < 0) {
        o->no_memory = true;
        o->stats.held -= c->held;
        gather_free(c);
        return;
    }
    list_append(&o->dones, &c->link);
    count_result(o, c);
}

void gather_lost(struct overlay *o, struct gather *c)
{
    if (c->phase == GATHER_EXCHANGES)
        exchange_stuck(o, c);
    else
        gather_advance(o, c);
}

/* ---- results --------------------------------------------------------------------------------- */

static unsigned flags_of_losses(enum overlay_losses l)
{
    return l == OVERLAY_LOSS_ORDERED ? OVERLAY_ORDERED
           : l == OVERLAY_LOSS_BORNE ? OVERLAY_BEARS
                                     : 0;
}

static enum overlay_losses losses_of(unsigned flags)
{
    return flags & OVERLAY_BEARS     ? OVERLAY_LOSS_BORNE
           : flags & OVERLAY_ORDERED ? OVERLAY_LOSS_ORDERED
                                     : OVERLAY_LOSS_FAILS;
}

static void send_result(struct overlay *o, const struct gather *c, uint32_t child)
{
    struct overlay_msg *m = overlay_msg_about(o, OVERLAY_MSG_RESULT, c, child);

    if (!m)
        return;
    m->flags = (c->exchanges ? OVERLAY_EXCHANGES : 0U) | flags_of_losses(c->losses);
    if (rank_set_copy(&m->arrived, &c->left_out) < 0)
        o->no_memory = true;
    m->failed = c->failed;
    m->culprit = c->culprit;
    m->bytes = c->bytes;
    m->data = c->exchanges ? NULL : block_set_ref(c->data);
    o->stats.results++;
    overlay_send(o, m);
}

static bool has_part_below(const struct overlay *o, const struct gather *c, uint32_t child)
{
    struct rank_set below;
    bool has;

    if (c->all.count == o->config.count)
        return true;
    has = rank_set_subtree(&below, o->config.width, o->config.count, child) < 0 ||
          rank_set_meets(&below, &c->all);
    rank_set_free(&below);
    return has;
}

/* To every child that takes part or has participants below it. */
static void send_results(struct overlay *o, const struct gather *c)
{
    /* One that has yet to say which broadcasts it has missed gets these first, and then the result
     * as the answer to its part, which it sends again. */
    for (uint32_t i = 0; i < o->greeted.nruns; i++) {
        for (uint32_t k = 0; k < o->greeted.runs[i].count; k++) {
            if (has_part_below(o, c, o->greeted.runs[i].first + k))
                send_result(o, c, o->greeted.runs[i].first + k);
        }
    }
}

/* Then the collective is over here, or goes on among the participants. */
static void settle(struct overlay *o, struct gather *c)
{
    send_results(o, c);
    if (c->exchanges)
        exchange_begin(o, c);
    else
        gather_finish(o, c);
}

void gather_fail(struct overlay *o, struct gather *c, uint32_t culprit)
{
    c->failed = true;
    c->exchanges = false;
    c->culprit = culprit;
    c->data = block_set_drop(c->data);
    if (c->phase == GATHER_GATHERS)
        send_results(o, c);
    gather_finish(o, c);
}

void gather_pass_exchange(struct overlay *o, struct gather *c)
{
    c->exchanges = true;
    send_results(o, c);
}

void gather_results_between(struct overlay *o, uint32_t child, uint64_t from, uint64_t to)
{
    LIST_EACH(l, &o->dones)
    {
        const struct gather *c = LIST_OF(l, struct gather, link);
        if (c->losses != OVERLAY_LOSS_FAILS && c->after >= from && c->after < to &&
            (c->failed || c->data || !c->bytes) && has_part_below(o, c, child))
            send_result(o, c, child);
    }
}

/* ---- the gathering --------------------------------------------------------------------------- */

static unsigned flags_of(enum overlay_schedule s)
{
    return s == OVERLAY_TREE ? OVERLAY_BY_TREE : s == OVERLAY_EXCHANGE ? OVERLAY_BY_EXCHANGE : 0;
}

static enum overlay_schedule asked_by(unsigned flags)
{
    return flags & OVERLAY_BY_TREE       ? OVERLAY_TREE
           : flags & OVERLAY_BY_EXCHANGE ? OVERLAY_EXCHANGE
                                         : OVERLAY_AUTO;
}

static void ask_for(struct gather *c, struct overlay_way way)
{
    if (c->schedule == OVERLAY_AUTO)
        c->schedule = way.schedule;
    if (c->losses == OVERLAY_LOSS_FAILS)
        c->losses = way.losses;
}

/* A request for this collective overrides the configured schedule. */
static enum overlay_schedule schedule_of(const struct overlay *o, const struct gather *c)
{
    if (c->losses != OVERLAY_LOSS_FAILS)
        return OVERLAY_TREE;
    return c->schedule == OVERLAY_AUTO ? o->config.schedule : c->schedule;
}

static void send_gathering(struct overlay *o, struct gather *c)
{
    struct overlay_msg *m = overlay_msg_about(o, OVERLAY_MSG_GATHER, c, o->parent);

    if (!m)
        return;
    m->flags =
        (c->withheld ? OVERLAY_WITHHELD : 0U) | flags_of(c->schedule) | flags_of_losses(c->losses);
    m->bytes = c->bytes;
    m->data = block_set_ref(c->data);
    if (rank_set_copy(&m->all, &c->all) < 0 || rank_set_copy(&m->arrived, &c->arrived) < 0)
        o->no_memory = true;
    c->sent = true;
    o->stats.gathered++;
    overlay_send(o, m);
}

static uint32_t log2_up(uint32_t n)
{
    uint32_t s = 0;

    while (s < 32 && (UINT64_C(1) << s) < n)
        s++;
    return s;
}

/* The tree brings everything to the top, and sends it `width` times out of each node, one level
 * after the other.  The exchange sends and receives each byte once, and costs a message for each of
 * its steps, and a link: whether that is up already is not known at the top. */
uint64_t overlay_border(const struct overlay_config *c, uint32_t participants)
{
    uint64_t copies = (uint64_t)tree_children(c->width, c->count, 0) *
                      tree_depth(c->width, c->count ? c->count - 1 : 0);
    uint64_t fixed_ns = log2_up(participants) * ((uint64_t)c->alpha_ns + c->link_ns);

    return copies && c->beta_ps ? fixed_ns * 1000 / (copies * c->beta_ps) : UINT64_MAX;
}

/* Of the tree of the positions that have a node. */
static uint64_t border(const struct overlay *o, const struct gather *c)
{
    struct overlay_config k = o->config;

    k.count = rank_set_nth(&o->members, o->members.count - 1) + 1;
    return overlay_border(&k, c->all.count);
}

static bool is_for_exchange(const struct overlay *o, const struct gather *c)
{
    switch (schedule_of(o, c)) {
    case OVERLAY_TREE: return c->withheld; /* by a node that did not know the request */
    case OVERLAY_EXCHANGE: return c->bytes > 0;
    case OVERLAY_AUTO: break;
    }
    return c->withheld || c->bytes > border(o, c);
}

static void emit_decision(struct overlay *o, const struct gather *c)
{
    struct overlay_event *e = calloc(1, sizeof *e);

    if (e) {
        e->kind = OVERLAY_DECIDED;
        e->what = strdup(c->what);
        e->generation = c->generation;
        e->nodes = c->all.count;
        e->bytes = c->bytes;
        e->exchanges = c->exchanges;
        overlay_push_event(o, e);
    }
}

static bool all_arrived_or_lost(struct overlay *o, const struct gather *c)
{
    struct rank_set known;
    bool all;

    if (rank_set_copy(&known, &c->arrived) < 0 || rank_set_add_all(&known, &o->losses) < 0)
        o->no_memory = true;
    all = rank_set_covers(&known, &c->expected);
    rank_set_free(&known);
    return all;
}

/* Nothing more that is needed will come: one that the top has to fail is sent as far as it is, so
 * that the top knows of it. */
static bool is_ready(struct overlay *o, const struct gather *c)
{
    if (c->arrived.count == c->expected.count)
        return true;
    return c->losses == OVERLAY_LOSS_BORNE ? all_arrived_or_lost(o, c)
                                           : rank_set_meets(&c->all, &o->losses);
}

/* Keeps the blocks of positions that are not in `but`; takes the reference over. */
static bool keep_others(struct block_set **data, const struct rank_set *but)
{
    struct block_set *all = *data, *kept = NULL;
    const struct block_set *b;
    struct block_set_walk w;
    bool good = true;

    block_set_walk_begin(&w, all);
    while (good && (b = block_set_walk_next(&w))) {
        if (!rank_set_has(but, block_set_position(b)))
            good = block_set_join(&kept, kept, block_set_ref((struct block_set *)(uintptr_t)b));
    }
    good = good && !w.no_memory;
    block_set_walk_end(&w);
    block_set_drop(all);
    *data = kept;
    return good;
}

/* Top: what the losses so far mean. */
static void decide(struct overlay *o, struct gather *c)
{
    struct rank_set lost;
    bool good = rank_set_intersect(&lost, &c->all, &o->losses) == 0;

    if (lost.count && c->losses != OVERLAY_LOSS_BORNE) {
        c->failed = true;
        c->culprit = rank_set_nth(&lost, 0);
        c->data = block_set_drop(c->data);
    } else if (lost.count) {
        good = good && keep_others(&c->data, &lost) && rank_set_copy(&c->left_out, &lost) == 0;
        c->bytes = block_set_bytes(c->data);
    }
    gather_account(o, c);
    rank_set_free(&lost);
    o->no_memory = o->no_memory || !good;
}

/* Top: what the loss of a participant means for it is not known yet. */
static bool is_deferred(const struct overlay *o, const struct gather *c)
{
    return c->losses == OVERLAY_LOSS_ORDERED && rank_set_meets(&c->all, &o->deferred);
}

void gather_advance(struct overlay *o, struct gather *c)
{
    if (c->phase != GATHER_GATHERS || c->sent || !is_ready(o, c) || is_deferred(o, c))
        return;
    if (o->config.me == 0) {
        if (o->losses.count)
            decide(o, c);
        c->exchanges = !c->failed && is_for_exchange(o, c);
        emit_decision(o, c);
        settle(o, c);
    } else if (o->parent != TREE_NONE) {
        send_gathering(o, c);
    }
}

/* Most bytes sent with the gathering: none if the tree is certainly not used. */
static uint64_t most_inline(const struct overlay *o, const struct gather *c)
{
    uint64_t most = border(o, c);

    switch (schedule_of(o, c)) {
    case OVERLAY_TREE: return UINT64_MAX;
    case OVERLAY_EXCHANGE: return 0;
    case OVERLAY_AUTO: break;
    }
    return most < o->config.inline_max ? most : o->config.inline_max;
}

/* Data that is too large for the gathering stays on its node. */
static void withhold(struct overlay *o, struct gather *c)
{
    if (block_set_bytes(c->data) > most_inline(o, c) ||
        (c->withheld && schedule_of(o, c) != OVERLAY_TREE)) {
        c->withheld = true;
        c->data = block_set_drop(c->data);
    }
    gather_account(o, c);
}

static int everybody(const struct overlay *o, struct rank_set *all)
{
    *all = (struct rank_set){ NULL, 0, 0, 0 };
    return rank_set_add(all, 0, o->config.count);
}

static struct gather *get(struct overlay *o, const char *what, uint64_t generation,
                          const struct rank_set *all)
{
    struct gather *c = gather_find(&o->pending, what, generation);

    return c ? c : gather_new(o, what, generation, all);
}

static bool is_over(const struct overlay *o, const char *what)
{
    return o->config.is_over && o->config.is_over(o->config.over_arg, what);
}

void overlay_forget(struct overlay *o)
{
    LIST_EACH(l, &o->pendings)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        if (!is_over(o, c->what))
            continue;
        map_del(&o->pending, slice_mem(c->key, c->key_len));
        o->stats.held -= c->held;
        gather_free(c);
    }
    LIST_EACH(l, &o->dones)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        if (c->latest && is_over(o, c->what))
            count_as(o, c, false);
    }
    trim(o);
}

/* Some of it may have come before on another path: its node has a new parent. */
static int merge(struct overlay *o, struct gather *c, const struct rank_set *arrived,
                 struct block_set *data, uint64_t bytes, bool withheld)
{
    if (rank_set_covers(&c->arrived, arrived) || c->phase != GATHER_GATHERS) {
        block_set_drop(data);
        return 0;
    }
    if (!rank_set_covers(&c->expected, arrived)) {
        block_set_drop(data);
        return 1;
    }
    if (rank_set_meets(&c->arrived, arrived) && !keep_others(&data, &c->arrived))
        o->no_memory = true;
    if (rank_set_add_all(&c->arrived, arrived) < 0) {
        block_set_drop(data);
        o->no_memory = true;
    } else if (!block_set_join(&c->data, c->data, data)) {
        o->no_memory = true;
    }
    c->bytes += bytes;
    c->withheld = c->withheld || withheld;
    withhold(o, c);
    gather_advance(o, c);
    return 0;
}

static int contribute(struct overlay *o, struct gather *c, struct block_set *block)
{
    struct rank_set me = { NULL, 0, 0, 0 };
    uint64_t bytes = block_set_bytes(block);
    int rc;

    if (c->mine || rank_set_add(&me, o->config.me, 1) < 0) {
        block_set_drop(block);
        return c->mine ? -EINVAL : -ENOMEM;
    }
    c->mine = true;
    c->own = block_set_ref(block);
    rc = merge(o, c, &me, block, bytes, false);
    rank_set_free(&me);
    return rc ? -EINVAL : 0;
}

/* The top has decided without this node's part. */
static int come_late(struct overlay *o, struct gather *done, struct block_set *block)
{
    bool again = done->mine;

    block_set_drop(block);
    done->mine = true;
    if (!again)
        emit_end(o, done);
    return again ? -EINVAL : 0;
}

static int contribute_to(struct overlay *o, struct overlay_way way, const char *what,
                         uint64_t generation, const struct rank_set *all, struct block_set *block)
{
    struct gather *c = gather_find(&o->done, what, generation);

    if (!rank_set_has(all, o->config.me) || (!c && is_over(o, what))) {
        block_set_drop(block);
        return -EINVAL;
    }
    if (c)
        return come_late(o, c, block);
    c = get(o, what, generation, all);
    if (!c) {
        block_set_drop(block);
        return -ENOMEM;
    }
    ask_for(c, way);
    return contribute(o, c, block);
}

int overlay_contribute(struct overlay *o, struct slice what, uint64_t generation,
                       const struct rank_set *all, struct block_set *block)
{
    return overlay_contribute_by(o, (struct overlay_way){ OVERLAY_AUTO, OVERLAY_LOSS_FAILS }, what,
                                 generation, all, block);
}

int overlay_contribute_by(struct overlay *o, struct overlay_way way, struct slice what,
                          uint64_t generation, const struct rank_set *all, struct block_set *block)
{
    char *name = strndup(what.ptr ? what.ptr : "", what.len);
    struct rank_set whole;
    int rc = -ENOMEM;

    if (!name || everybody(o, &whole) < 0)
        block_set_drop(block);
    else
        rc = contribute_to(o, way, name, generation, all ? all : &whole, block);
    if (name)
        rank_set_free(&whole);
    free(name);
    return rc;
}

/* ---- messages -------------------------------------------------------------------------------- */

int gather_gathering(struct overlay *o, struct overlay_msg *m)
{
    struct gather *c = gather_find(&o->done, m->what, m->generation);
    struct block_set *data;

    if (!rank_set_has(&o->below, m->from) || m->arrived.count == 0 ||
        !rank_set_covers(&m->all, &m->arrived) || !rank_set_covers(&o->subtree, &m->arrived))
        return 1;
    if (c) { /* its node has a new parent, and did not get the result from the old one */
        if (!c->failed && !c->exchanges && !c->data && c->bytes)
            c->failed = true;
        send_result(o, c, m->from);
        return 0;
    }
    if (is_over(o, m->what)) /* its node will learn that, too */
        return 0;
    c = get(o, m->what, m->generation, &m->all);
    if (!c) {
        o->no_memory = true;
        return 0;
    }
    if (c->phase == GATHER_EXCHANGES) {
        send_result(o, c, m->from);
        return 0;
    }
    ask_for(c, (struct overlay_way){ asked_by(m->flags), losses_of(m->flags) });
    data = m->data;
    m->data = NULL;
    return merge(o, c, &m->arrived, data, m->bytes, m->flags & OVERLAY_WITHHELD);
}

/* The result of a collective to which nobody here has contributed: those below us went past us, for
 * they have lost their links, of which we need not know yet, and the ones that come to us later
 * have to find it.  NULL: it came before, or nobody waits for it any more. */
static struct gather *gone_past(struct overlay *o, const struct overlay_msg *m)
{
    struct gather *c = NULL;
    struct rank_set all;

    if (gather_find(&o->done, m->what, m->generation) || is_over(o, m->what))
        return NULL;
    if (everybody(o, &all) == 0)
        c = gather_new(o, m->what, m->generation, &all);
    rank_set_free(&all);
    o->no_memory = o->no_memory || !c;
    return c;
}

/* Not all that is expected here need have arrived: nodes below us that took us for lost have sent
 * theirs past us.  But nothing completes without ours. */
int gather_result(struct overlay *o, struct overlay_msg *m)
{
    struct gather *c = gather_find(&o->pending, m->what, m->generation);

    if (m->from != o->parent)
        return 1;
    if (c && !m->failed && !c->mine && rank_set_has(&c->all, o->config.me))
        return 1;
    if (!c)
        c = gone_past(o, m);
    if (!c || c->phase != GATHER_GATHERS)
        return 0; /* received twice, from two parents */
    c->exchanges = m->flags & OVERLAY_EXCHANGES && !m->failed;
    c->losses = losses_of(m->flags);
    if (c->losses == OVERLAY_LOSS_BORNE && rank_set_copy(&c->left_out, &m->arrived) < 0)
        o->no_memory = true;
    c->failed = m->failed;
    c->culprit = m->culprit;
    c->bytes = m->bytes;
    block_set_drop(c->data);
    c->data = m->data;
    m->data = NULL;
    gather_account(o, c);
    settle(o, c);
    return 0;
}
