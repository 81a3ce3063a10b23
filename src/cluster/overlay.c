/* overlay.c - see overlay.h.  Reading order: messages and events; initialization; reports to the
 * top; broadcasts of the top; links and losses; received messages.
 */
#include "cluster/overlay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/gather.h"

enum { BROADCASTS_MAX = 16 << 20 };

bool overlay_schedule_named(struct slice word, enum overlay_schedule *schedule_p)
{
    static const struct {
        const char *word;
        enum overlay_schedule schedule;
    } names[] = {
        { "auto", OVERLAY_AUTO },      { "default", OVERLAY_AUTO },
        { "tree", OVERLAY_TREE },      { "binomial", OVERLAY_TREE },
        { "radix", OVERLAY_TREE },     { "exchange", OVERLAY_EXCHANGE },
        { "bruck", OVERLAY_EXCHANGE }, { "brucks", OVERLAY_EXCHANGE },
        { "rcd", OVERLAY_EXCHANGE },   { "recursive", OVERLAY_EXCHANGE },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_is(word, names[i].word)) {
            *schedule_p = names[i].schedule;
            return true;
        }
    }
    return false;
}

bool overlay_schedule_known(struct slice words, enum overlay_schedule *schedule_p)
{
    *schedule_p = OVERLAY_AUTO;
    while (words.len) {
        if (overlay_schedule_named(slice_trim(slice_cut(&words, ',')), schedule_p))
            return true;
    }
    return false;
}

/* Bytes of results for daemons that join late; without children there are none. */
enum { KEEP = 16 << 20 };

void overlay_defaults(struct overlay_config *c, uint32_t me, uint32_t count, uint32_t width)
{
    *c = (struct overlay_config){ .me = me,
                                  .count = count,
                                  .width = width,
                                  .inline_max = 1 << 20,
                                  .piece_max = 256 << 10,
                                  .keep_max = tree_children(width, count, me) ? KEEP : 0,
                                  .alpha_ns = 45000,
                                  .beta_ps = 1000,
                                  .link_ns = 200000 };
}

/* ---- messages and events --------------------------------------------------------------------- */

struct overlay_msg *overlay_msg_new(enum overlay_kind kind)
{
    struct overlay_msg *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    list_init(&m->link);
    m->kind = kind;
    m->culprit = TREE_NONE;
    return m;
}

struct overlay_msg *overlay_msg_free(struct overlay_msg *m)
{
    if (m) {
        list_unlink(&m->link);
        rank_set_free(&m->all);
        rank_set_free(&m->arrived);
        block_set_drop(m->data);
        free(m->what);
        free(m);
    }
    return NULL;
}

struct overlay_event *overlay_event_free(struct overlay_event *e)
{
    if (e) {
        block_set_drop(e->blocks);
        rank_set_free(&e->peers);
        rank_set_free(&e->left_out);
        free(e->what);
        free(e);
    }
    return NULL;
}

void overlay_send(struct overlay *o, struct overlay_msg *m)
{
    m->from = o->config.me;
    list_append(&o->out, &m->link);
}

struct overlay_msg *overlay_msg_about(struct overlay *o, enum overlay_kind kind,
                                      const struct gather *c, uint32_t to)
{
    struct overlay_msg *m = overlay_msg_new(kind);

    if (m) {
        m->what = strdup(c->what);
        m->generation = c->generation;
        m->to = to;
    }
    if (m && m->what)
        return m;
    o->no_memory = true;
    return overlay_msg_free(m);
}

void overlay_push_event(struct overlay *o, struct overlay_event *e)
{
    list_init(&e->link);
    list_append(&o->events, &e->link);
}

static void push_event(struct overlay *o, enum overlay_event_kind kind, uint32_t from,
                       struct block_set *blocks)
{
    struct overlay_event *e = calloc(1, sizeof *e);

    if (!e) {
        o->no_memory = true;
        return;
    }
    e->kind = kind;
    e->from = from;
    e->culprit = TREE_NONE;
    e->blocks = block_set_ref(blocks);
    overlay_push_event(o, e);
}

/* A report or a broadcast about the recovery of an exchange.  0, or 1: it is invalid. */
static int push_recovery(struct overlay *o, enum overlay_event_kind kind,
                         const struct overlay_msg *m)
{
    struct overlay_event *e = m->what ? calloc(1, sizeof *e) : NULL;

    if (!m->what)
        return 1;
    if (e)
        e->what = strdup(m->what);
    if (!e || !e->what || rank_set_copy(&e->peers, &m->all) < 0) {
        o->no_memory = true;
        overlay_event_free(e);
        return 0;
    }
    e->kind = kind;
    e->generation = m->bytes;
    e->round = m->step;
    overlay_push_event(o, e);
    return 0;
}

struct overlay_msg *overlay_next(struct overlay *o)
{
    struct list *l = list_first(&o->out);

    if (!l)
        return NULL;
    list_unlink(l);
    return LIST_OF(l, struct overlay_msg, link);
}

struct overlay_event *overlay_event(struct overlay *o)
{
    struct list *l = list_first(&o->events);

    if (!l)
        return NULL;
    list_unlink(l);
    return LIST_OF(l, struct overlay_event, link);
}

void overlay_behind(struct overlay *o)
{
    push_event(o, OVERLAY_BEHIND, 0, NULL);
}

/* ---- initialization -------------------------------------------------------------------------- */

static bool mark(struct overlay *o, uint64_t **bits, uint32_t p);

/* A new node begins with what its parent knows. */
static int know(struct overlay *o, const struct overlay_config *k)
{
    const struct rank_set *gone = k->lost;
    int rc = k->members ? rank_set_copy(&o->members, k->members)
                        : rank_set_add(&o->members, 0, k->count);

    if (rc < 0 || !gone)
        return rc;
    for (uint32_t i = 0; i < gone->nruns; i++) {
        for (uint32_t n = 0; n < gone->runs[i].count; n++)
            mark(o, &o->lost, gone->runs[i].first + n);
    }
    return o->no_memory ? -ENOMEM : rank_set_copy(&o->losses, gone);
}

int overlay_init(struct overlay *o, const struct overlay_config *config)
{
    memset(o, 0, sizeof *o);
    o->config = *config;
    o->parent = TREE_NONE;
    map_init(&o->pending, config->me);
    map_init(&o->done, config->me);
    list_init(&o->pendings);
    list_init(&o->dones);
    list_init(&o->out);
    list_init(&o->events);
    list_init(&o->unacked);
    list_init(&o->broadcasts);
    o->last_broadcast = config->last_broadcast;
    o->first_broadcast = o->last_broadcast + 1;
    if (config->me == 0)
        o->last_reports = calloc(config->count, sizeof *o->last_reports);
    if ((config->me || o->last_reports) &&
        rank_set_subtree(&o->subtree, config->width, config->count, config->me) == 0 &&
        know(o, config) == 0) {
        o->config.members = o->config.lost = NULL;
        return 0;
    }
    overlay_free(o);
    return -ENOMEM;
}

static void free_messages(struct list *all)
{
    LIST_EACH(l, all)
    overlay_msg_free(LIST_OF(l, struct overlay_msg, link));
}

void overlay_free(struct overlay *o)
{
    struct overlay_event *e;

    if (!o->out.next)
        return;
    LIST_EACH(p, &o->pendings)
    gather_free(LIST_OF(p, struct gather, link));
    LIST_EACH(d, &o->dones)
    gather_free(LIST_OF(d, struct gather, link));
    while ((e = overlay_event(o)))
        overlay_event_free(e);
    free_messages(&o->out);
    free_messages(&o->unacked);
    free_messages(&o->broadcasts);
    map_free(&o->pending);
    map_free(&o->done);
    rank_set_free(&o->below);
    rank_set_free(&o->greeted);
    rank_set_free(&o->subtree);
    rank_set_free(&o->members);
    rank_set_free(&o->losses);
    rank_set_free(&o->deferred);
    rank_set_free(&o->broken);
    free(o->lost);
    free(o->shunned);
    free(o->last_reports);
    memset(o, 0, sizeof *o);
}

/* ---- reports to the top ------------------------------------------------------------------------
 * A report is kept until the top has acknowledged it, and sent again whenever a node was lost that
 * may have had it. */

/* What a report or a broadcast says. */
static struct overlay_msg *copy_msg(struct overlay *o, const struct overlay_msg *from)
{
    struct overlay_msg *m = overlay_msg_new(from->kind);

    if (m && from->what)
        m->what = strdup(from->what);
    if (!m || (from->what && !m->what) || rank_set_copy(&m->arrived, &from->arrived) < 0 ||
        rank_set_copy(&m->all, &from->all) < 0) {
        o->no_memory = true;
        return overlay_msg_free(m);
    }
    m->generation = from->generation;
    m->flags = from->flags;
    m->bytes = from->bytes;
    m->step = from->step;
    m->data = block_set_ref(from->data);
    return m;
}

static void send_report(struct overlay *o, const struct overlay_msg *r)
{
    struct overlay_msg *m = o->parent != TREE_NONE ? copy_msg(o, r) : NULL;

    if (m)
        overlay_send(o, m);
}

static void send_reports(struct overlay *o)
{
    LIST_EACH(l, &o->unacked)
    send_report(o, LIST_OF(l, struct overlay_msg, link));
}

int overlay_report_msg(struct overlay *o, struct overlay_msg *m)
{
    if (!m)
        return -ENOMEM;
    m->generation = ++o->reported;
    list_append(&o->unacked, &m->link);
    send_report(o, m);
    return 0;
}

int overlay_report(struct overlay *o, struct slice bytes)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_REPORT);
    struct block_set *block = block_set_one(o->config.me, bytes);

    if (!m || !block) {
        block_set_drop(block);
        overlay_msg_free(m);
        return -ENOMEM;
    }
    if (o->config.me == 0) {
        overlay_msg_free(m);
        push_event(o, OVERLAY_REPORTED, 0, block);
        block_set_drop(block);
        return 0;
    }
    m->data = block;
    return overlay_report_msg(o, m);
}

static void report_losses(struct overlay *o)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_REPORT);

    if (!m || rank_set_copy(&m->arrived, &o->broken) < 0) {
        o->no_memory = true;
        overlay_msg_free(m);
        return;
    }
    m->flags = OVERLAY_LOSSES;
    overlay_report_msg(o, m);
}

static void lose(struct overlay *o, const struct rank_set *gone);

static void acknowledge(struct overlay *o, uint32_t to)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_ACK);

    if (!m) {
        o->no_memory = true;
        return;
    }
    m->to = to;
    m->generation = o->last_reports[to];
    overlay_send(o, m);
}

static int take_report(struct overlay *o, struct overlay_msg *m)
{
    if (m->flags & OVERLAY_RECOVERS)
        return push_recovery(o, OVERLAY_ASKED, m);
    if (m->flags & OVERLAY_LOSSES)
        lose(o, &m->arrived);
    else
        push_event(o, OVERLAY_REPORTED, m->from, m->data);
    return 0;
}

static int on_report(struct overlay *o, struct overlay_msg *m)
{
    int rc = 0;

    if (o->config.me != 0 || m->from >= o->config.count || m->from == 0)
        return 1;
    if (m->generation == o->last_reports[m->from] + 1) {
        o->last_reports[m->from]++;
        rc = take_report(o, m);
    }
    if (!tree_is_lost(o->lost, m->from))
        acknowledge(o, m->from);
    return rc;
}

static int on_ack(struct overlay *o, struct overlay_msg *m)
{
    LIST_EACH(l, &o->unacked)
    {
        struct overlay_msg *r = LIST_OF(l, struct overlay_msg, link);
        if (r->generation <= m->generation)
            overlay_msg_free(r);
    }
    return 0;
}

/* ---- broadcasts of the top ---------------------------------------------------------------------
 * Every node keeps the last ones for children that come from a lost parent. */

static struct overlay_msg *copy_broadcast(struct overlay *o, const struct overlay_msg *w,
                                          uint32_t to)
{
    struct overlay_msg *m = copy_msg(o, w);

    if (m)
        m->to = to;
    return m;
}

static void forward_broadcast(struct overlay *o, const struct overlay_msg *w)
{
    for (uint32_t i = 0; i < o->greeted.nruns; i++) {
        for (uint32_t k = 0; k < o->greeted.runs[i].count; k++) {
            struct overlay_msg *m = copy_broadcast(o, w, o->greeted.runs[i].first + k);
            if (m)
                overlay_send(o, m);
        }
    }
}

/* Takes over the message. */
static void keep_broadcast(struct overlay *o, struct overlay_msg *w)
{
    list_unlink(&w->link);
    list_append(&o->broadcasts, &w->link);
    o->broadcasts_bytes += block_set_bytes(w->data) + sizeof *w;
    while (o->broadcasts_bytes > BROADCASTS_MAX) {
        struct overlay_msg *old = LIST_OF(list_first(&o->broadcasts), struct overlay_msg, link);
        o->broadcasts_bytes -= block_set_bytes(old->data) + sizeof *old;
        o->first_broadcast = old->generation + 1;
        overlay_msg_free(old);
    }
}

int overlay_broadcast_msg(struct overlay *o, struct overlay_msg *w)
{
    if (!w)
        return -ENOMEM;
    w->generation = ++o->last_broadcast;
    forward_broadcast(o, w);
    keep_broadcast(o, w);
    return 0;
}

int overlay_broadcast(struct overlay *o, struct slice bytes)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_BROADCAST);

    if (m)
        m->data = block_set_one(0, bytes);
    if (m && m->data)
        return overlay_broadcast_msg(o, m);
    overlay_msg_free(m);
    return -ENOMEM;
}

static void apply_losses(struct overlay *o, const struct rank_set *gone);
static void apply_welcomes(struct overlay *o, const struct rank_set *fresh);

/* Takes over m if it returns 0. */
static int on_broadcast(struct overlay *o, struct overlay_msg *m)
{
    if (m->from != o->parent)
        return 1;
    if (m->generation <= o->last_broadcast) { /* received from the old parent already */
        overlay_msg_free(m);
        return 0;
    }
    if (m->generation != o->last_broadcast + 1) {
        overlay_behind(o);
        overlay_msg_free(m);
        return 0;
    }
    o->last_broadcast++;
    forward_broadcast(o, m);
    if (m->flags & OVERLAY_LOSSES)
        apply_losses(o, &m->arrived);
    else if (m->flags & OVERLAY_WELCOMES)
        apply_welcomes(o, &m->arrived);
    else if (m->flags & OVERLAY_RECOVERS)
        push_recovery(o, OVERLAY_ROUND, m);
    else
        push_event(o, OVERLAY_BROADCAST, 0, m->data);
    keep_broadcast(o, m);
    return 0;
}

/* A child has connected, perhaps from a lost parent: sends it the broadcasts that it has missed,
 * and at their places among them the results that the top has decided. */
static int on_hello(struct overlay *o, struct overlay_msg *m)
{
    uint64_t at = m->generation;

    if (!rank_set_has(&o->below, m->from))
        return 1;
    LIST_EACH(l, &o->broadcasts)
    {
        struct overlay_msg *w = LIST_OF(l, struct overlay_msg, link);
        struct overlay_msg *copy;
        if (w->generation <= m->generation)
            continue;
        gather_results_between(o, m->from, at, w->generation);
        at = w->generation;
        copy = copy_broadcast(o, w, m->from);
        if (copy)
            overlay_send(o, copy);
    }
    gather_results_between(o, m->from, at, UINT64_MAX);
    if (rank_set_add(&o->greeted, m->from, 1) < 0)
        o->no_memory = true;
    return 0;
}

/* ---- links and losses ------------------------------------------------------------------------ */

static bool is_on_my_way(const struct overlay *o, const struct rank_set *gone)
{
    uint32_t p = o->config.me;

    while (p) {
        p = tree_parent(o->config.width, p);
        if (rank_set_has(gone, p))
            return true;
    }
    return false;
}

/* What the host says of a loss comes before the outcome of a collective in order, everywhere. */
static bool is_decided_later(const struct overlay *o, const struct gather *c)
{
    return o->config.me == 0 && c->losses == OVERLAY_LOSS_ORDERED;
}

/* Goes on with the collectives that cannot complete, and requests or notes messages that may have
 * been lost. */
static void after_losses(struct overlay *o, const struct rank_set *gone)
{
    LIST_EACH(l, &o->pendings)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        bool meets = rank_set_meets(&c->all, gone);
        if (meets && !is_decided_later(o, c))
            gather_lost(o, c);
        else if (!meets && c->phase == GATHER_EXCHANGES)
            exchange_ask_again(o, c);
        else if (!meets)
            c->suspect = true;
    }
}

int overlay_defer(struct overlay *o, uint32_t gone)
{
    return rank_set_add(&o->deferred, gone, 1);
}

void overlay_settle(struct overlay *o, uint32_t gone)
{
    if (!rank_set_has(&o->deferred, gone))
        return;
    if (rank_set_remove(&o->deferred, gone) < 0)
        o->no_memory = true;
    overlay_decide(o, gone);
}

void overlay_decide(struct overlay *o, uint32_t gone)
{
    if (rank_set_has(&o->deferred, gone))
        return;
    LIST_EACH(l, &o->pendings)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        if (is_decided_later(o, c) && rank_set_has(&c->all, gone))
            gather_lost(o, c);
    }
}

/* Most nodes never see a loss: memory is allocated on the first one. */
static bool mark(struct overlay *o, uint64_t **bits, uint32_t p)
{
    if (!*bits)
        *bits = calloc(o->config.count / 64 + 1, sizeof **bits);
    if (*bits)
        (*bits)[p / 64] |= UINT64_C(1) << (p % 64);
    o->no_memory = o->no_memory || !*bits;
    return *bits != NULL;
}

static void apply_losses(struct overlay *o, const struct rank_set *gone)
{
    struct rank_set fresh = { NULL, 0, 0, 0 };

    for (uint32_t i = 0; i < gone->nruns; i++) {
        for (uint32_t p = gone->runs[i].first; p < gone->runs[i].first + gone->runs[i].count; p++) {
            if (p >= o->config.count || tree_is_lost(o->lost, p))
                continue;
            if (!mark(o, &o->lost, p) || rank_set_add(&o->losses, p, 1) < 0 ||
                rank_set_add(&fresh, p, 1) < 0)
                o->no_memory = true;
            push_event(o, OVERLAY_LOST, p, NULL);
        }
    }
    if (fresh.count) {
        after_losses(o, &fresh);
        if (is_on_my_way(o, &fresh))
            send_reports(o);
    }
    rank_set_free(&fresh);
}

static void apply_welcomes(struct overlay *o, const struct rank_set *fresh)
{
    for (uint32_t i = 0; i < fresh->nruns; i++) {
        for (uint32_t n = 0; n < fresh->runs[i].count; n++)
            push_event(o, OVERLAY_WELCOMED, fresh->runs[i].first + n, NULL);
    }
    if (rank_set_add_all(&o->members, fresh) < 0)
        o->no_memory = true;
}

/* Top: broadcasts that these are lost, or new members.  False: no memory, which is noted. */
static bool broadcast_set(struct overlay *o, const struct rank_set *set, unsigned flag)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_BROADCAST);

    if (!m || rank_set_copy(&m->arrived, set) < 0) {
        o->no_memory = true;
        overlay_msg_free(m);
        return false;
    }
    m->flags = flag;
    overlay_broadcast_msg(o, m);
    return true;
}

/* Top: broadcasts the losses, and applies them here too. */
static void lose(struct overlay *o, const struct rank_set *gone)
{
    if (!rank_set_covers(&o->losses, gone) && broadcast_set(o, gone, OVERLAY_LOSSES))
        apply_losses(o, gone);
}

void overlay_lose(struct overlay *o, uint32_t position)
{
    struct rank_set one = { NULL, 0, 0, 0 };

    if (position && position < o->config.count && rank_set_add(&one, position, 1) == 0)
        lose(o, &one);
    rank_set_free(&one);
}

void overlay_welcome(struct overlay *o, uint32_t position)
{
    struct rank_set one = { NULL, 0, 0, 0 };

    if (position >= o->config.count || rank_set_has(&o->members, position) ||
        tree_is_lost(o->lost, position))
        return;
    if (rank_set_add(&one, position, 1) < 0)
        o->no_memory = true;
    else if (broadcast_set(o, &one, OVERLAY_WELCOMES))
        apply_welcomes(o, &one);
    rank_set_free(&one);
}

static void send_hello(struct overlay *o)
{
    struct overlay_msg *m = overlay_msg_new(OVERLAY_MSG_HELLO);

    if (!m) {
        o->no_memory = true;
        return;
    }
    m->to = o->parent;
    m->generation = o->last_broadcast;
    overlay_send(o, m);
}

/* Messages to the old parent may not have been forwarded. */
static void begin_with(struct overlay *o, uint32_t parent)
{
    o->parent = parent;
    send_hello(o);
    send_reports(o);
    LIST_EACH(l, &o->pendings)
    {
        struct gather *c = LIST_OF(l, struct gather, link);
        c->sent = false;
        gather_advance(o, c);
    }
}

bool overlay_link_up(struct overlay *o, uint32_t position)
{
    const struct overlay_config *k = &o->config;

    if (position >= k->count || position == k->me || tree_is_lost(o->lost, position))
        return false;
    if (position > k->me) {
        if (!tree_is_below(k->width, position, k->me) || rank_set_has(&o->broken, position))
            return false;
        return rank_set_add(&o->below, position, 1) == 0;
    }
    if (!tree_is_below(k->width, k->me, position) || o->parent != TREE_NONE)
        return false;
    begin_with(o, position);
    return true;
}

void overlay_link_down(struct overlay *o, uint32_t position)
{
    if (position == o->parent) {
        o->parent = TREE_NONE;
        overlay_shun(o, position);
        return;
    }
    if (!rank_set_has(&o->below, position))
        return;
    if (rank_set_remove(&o->below, position) < 0 || rank_set_remove(&o->greeted, position) < 0 ||
        rank_set_add(&o->broken, position, 1) < 0)
        o->no_memory = true;
    if (tree_is_lost(o->lost, position))
        return;
    if (o->config.me == 0)
        overlay_lose(o, position);
    else
        report_losses(o);
}

/* Records the children of the lost node that should be ours now. */
static bool miss_children(struct overlay *o, uint32_t gone)
{
    uint32_t first = tree_first_child(o->config.width, gone);
    uint32_t n = tree_children(o->config.width, o->config.count, gone);
    bool some = false;

    for (uint32_t c = first; c < first + n; c++) {
        if (tree_is_lost(o->lost, c) || rank_set_has(&o->below, c) || rank_set_has(&o->broken, c) ||
            !rank_set_has(&o->members, c))
            continue;
        some = true;
        if (rank_set_add(&o->broken, c, 1) < 0)
            o->no_memory = true;
    }
    return some;
}

void overlay_overdue(struct overlay *o)
{
    const struct overlay_config *k = &o->config;
    bool some = false;

    for (uint32_t i = 0; i < o->losses.nruns; i++) {
        for (uint32_t n = 0; n < o->losses.runs[i].count; n++) {
            uint32_t gone = o->losses.runs[i].first + n;
            if (tree_living_parent(k->width, gone, o->lost) == k->me)
                some = miss_children(o, gone) || some;
        }
    }
    if (some && k->me == 0)
        lose(o, &o->broken);
    else if (some)
        report_losses(o);
}

void overlay_shun(struct overlay *o, uint32_t position)
{
    if (position < o->config.count)
        mark(o, &o->shunned, position);
}

uint32_t overlay_wanted_parent(const struct overlay *o)
{
    uint32_t p = o->config.me;

    do
        p = tree_living_parent(o->config.width, p, o->lost);
    while (p != TREE_NONE && tree_is_lost(o->shunned, p));
    return p;
}

/* ---- received messages ----------------------------------------------------------------------- */

static bool has_what(const struct overlay_msg *m)
{
    return m->what != NULL;
}

int overlay_receive(struct overlay *o, struct overlay_msg *m)
{
    int rc = 1;

    switch (m->kind) {
    case OVERLAY_MSG_GATHER: rc = has_what(m) ? gather_gathering(o, m) : 1; break;
    case OVERLAY_MSG_RESULT: rc = has_what(m) ? gather_result(o, m) : 1; break;
    case OVERLAY_MSG_PIECE: rc = has_what(m) ? exchange_piece(o, m) : 1; break;
    case OVERLAY_MSG_AGAIN: rc = has_what(m) ? exchange_again(o, m) : 1; break;
    case OVERLAY_MSG_REPORT: rc = on_report(o, m); break;
    case OVERLAY_MSG_ACK: rc = on_ack(o, m); break;
    case OVERLAY_MSG_HELLO: rc = on_hello(o, m); break;
    case OVERLAY_MSG_BROADCAST:
        rc = on_broadcast(o, m);
        if (rc == 0)
            return 0;
        break;
    }
    overlay_msg_free(m);
    return rc;
}
