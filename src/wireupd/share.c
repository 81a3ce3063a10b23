/* share.c - see share.h.  Reading order: what is kept; effects out; messages in; the end.
 */
#include "wireupd/share.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/plan_pack.h"
#include "core/spawn_pack.h"
#include "wireupd/crew.h"
#include "wireupd/ending.h"
#include "wireupd/errand.h"
#include "wireupd/loss.h"
#include "wireupd/node_priv.h"
#include "wireupd/signals.h"
#include "wireupd/spawning.h"
#include "wireupd/starter.h"

/* Where the nodes of a job are. */
struct placement {
    struct list link;
    uint32_t job, nnodes;
    uint32_t positions[]; /* by the plan's node */
};

/* A question of another node that our server (or the planner of spawns) works on. */
struct question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t position;
};

static bool is_root(const struct share *s)
{
    return s->cluster.config.me == 0;
}

static struct server *server_of(const struct share *s)
{
    return &s->node->server;
}

static struct job *job_of(const struct share *s, uint64_t id)
{
    return id < UINT32_MAX ? core_job(&server_of(s)->core, (uint32_t)id) : NULL;
}

/* The job, if it has that rank. */
static struct job *job_with(const struct share *s, uint64_t id, uint64_t rank)
{
    struct job *j = job_of(s, id);

    return j && rank < j->plan.nprocs ? j : NULL;
}

/* ---- what is kept ------------------------------------------------------------------------------
 */

static struct placement *placement_of(const struct share *s, uint32_t job)
{
    LIST_EACH(l, &s->placed)
    {
        struct placement *p = LIST_OF(l, struct placement, link);
        if (p->job == job)
            return p;
    }
    return NULL;
}

static bool keep_placement(struct share *s, uint32_t job, const uint32_t *positions, uint32_t n)
{
    struct placement *p = calloc(1, sizeof *p + n * sizeof *positions);

    if (!p)
        return false;
    p->job = job;
    p->nnodes = n;
    memcpy(p->positions, positions, n * sizeof *positions);
    list_append(&s->placed, &p->link);
    return true;
}

static void drop_placement(struct share *s, uint32_t job)
{
    struct placement *p = placement_of(s, job);

    if (p)
        list_unlink(&p->link);
    free(p);
}

/* The position where a rank of a job runs; our own when nothing is known of it. */
uint32_t share_position(const struct share *s, const struct job *j, uint32_t rank)
{
    const struct placement *p = placement_of(s, j->id);

    return p && rank < j->plan.nprocs ? p->positions[j->plan.procs[rank].node]
                                      : s->cluster.config.me;
}

uint32_t share_node_at(const struct share *s, const struct job *j, uint32_t position)
{
    const struct placement *p = placement_of(s, j->id);
    uint32_t n = 0;

    while (p && n < p->nnodes && p->positions[n] != position)
        n++;
    return p && n < p->nnodes ? n : JOB_NONE_HERE;
}

uint32_t share_place(const struct share *s, uint32_t job, uint32_t node)
{
    const struct placement *p = placement_of(s, job);

    return p && node < p->nnodes ? p->positions[node] : s->cluster.config.me;
}

static uint64_t keep_question(struct share *s, uint32_t position, uint64_t theirs)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return 0;
    q->ours = ++s->next_ticket | SHARE_TICKET;
    q->theirs = theirs;
    q->position = position;
    list_append(&s->asked, &q->link);
    return q->ours;
}

static struct question *find_question(const struct share *s, uint64_t ours)
{
    LIST_EACH(l, &s->asked)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->ours == ours)
            return q;
    }
    return NULL;
}

/* ---- sending -----------------------------------------------------------------------------------
 */

/* A message that cannot be sent is somebody's loss, and is told as such; here it is only noted. */
static void post(struct share *s, struct msg *m, uint32_t to)
{
    int rc;

    m->to = to;
    rc = to == MSG_EVERYBODY ? weave_tell(&s->weave, m) : cluster_send(&s->cluster, m);
    if (rc < 0 && rc != -EPIPE)
        log_error(&s->node->config.log, "cannot send `%s` to the daemon at position %u: %s",
                  msg_name(m->kind), to, err_text(rc));
}

static void add_number(struct buf *b, uint32_t v)
{
    buf_put(b, &v, sizeof v);
}

/* To the launcher; the launcher's own are for everybody, and old when all are leaving. */
static void flush_news(struct share *s)
{
    struct msg_news *n = &s->news.u.news;
    uint32_t count = (uint32_t)(buf_len(&s->ranks) / sizeof(uint32_t));

    timer_stop(&s->gossip);
    s->urgent = false;
    if (count == 0)
        return;
    n->ranks = (struct part_uints){ (const void *)buf_slice(&s->ranks).ptr, count };
    n->events = (struct part_uints){ (const void *)buf_slice(&s->events).ptr, count };
    n->codes = (struct part_ints){ (const void *)buf_slice(&s->codes).ptr, count };
    n->pids = (struct part_ints){ (const void *)buf_slice(&s->pids).ptr, count };
    s->news.kind = MSG_news;
    if (!is_root(s) || !s->quitting)
        post(s, &s->news, is_root(s) ? MSG_EVERYBODY : 0);
    buf_clear(&s->ranks);
    buf_clear(&s->events);
    buf_clear(&s->codes);
    buf_clear(&s->pids);
}

/* News of one job gather; anything else that is said comes after them. */
static void add_news(struct share *s, const struct effect *e)
{
    if (s->news.u.news.job != e->job)
        flush_news(s);
    s->news.u.news.job = e->job;
    add_number(&s->ranks, e->rank);
    add_number(&s->events, (uint32_t)e->event);
    add_number(&s->codes, (uint32_t)e->code);
    add_number(&s->pids, (uint32_t)e->pid);
    s->urgent = s->urgent || !is_root(s) || e->event != LIFE_EXIT;
}

static void gossip(void *arg)
{
    flush_news(arg);
}

void share_say(struct share *s, struct msg *m, uint32_t to)
{
    if (!is_root(s))
        flush_news(s);
    post(s, m, to);
}

/* That processes end as they should concerns only those who wait for them in vain: mostly all end
 * at about the same time, and nobody has to be told. */
void share_settle(struct share *s)
{
    if (s->urgent)
        flush_news(s);
    else if (buf_len(&s->ranks) && !s->gossip.set)
        timer_set(&s->gossip, LIMIT_NEWS_MS);
}

/* ---- effects -----------------------------------------------------------------------------------
 */

static void ask_cards(struct share *s, struct job *j, const struct effect *e)
{
    struct msg m = { .kind = MSG_fetch };

    m.u.fetch.job = e->job;
    m.u.fetch.rank = e->rank;
    m.u.fetch.key = effect_key(e);
    m.u.fetch.timeout_ms = e->timeout_ns / NS_PER_MS;
    share_say(s, &m, share_position(s, j, e->rank));
}

/* The ticket is the position that asked. */
static void tell_cards(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_cards };

    m.u.cards.job = e->job;
    m.u.cards.rank = e->rank;
    m.u.cards.status = (uint64_t)e->status;
    m.u.cards.block = effect_value(e);
    m.u.cards.pid = (uint64_t)e->pid;
    share_say(s, &m, (uint32_t)e->ticket);
}

static void ask_name(struct share *s, const struct effect *e)
{
    const struct names_query *q = e->names;
    struct msg m = { .kind = MSG_name };
    struct msg_name *n = &m.u.name;

    n->ticket = e->ticket;
    n->op = (uint64_t)q->op;
    n->job = q->job;
    n->rank = q->rank;
    n->type = q->type;
    n->flags = (q->wait ? NAME_FLAG_WAIT : 0u) | (q->stays ? NAME_FLAG_STAYS : 0u);
    n->timeout_ms = q->timeout_ns / NS_PER_MS;
    n->service = q->service;
    n->port = q->port;
    share_say(s, &m, 0);
}

static void tell_answer(struct share *s, uint32_t position, uint64_t ticket, const struct answer *a)
{
    struct msg m = { .kind = MSG_answer };
    struct msg_answer *n = &m.u.answer;

    n->ticket = ticket;
    n->status = (uint64_t)a->status;
    n->number = a->number;
    n->type = a->type;
    n->job = a->about ? a->about->id : JOB_NO_RANK;
    n->rank = a->rank;
    n->value = a->value;
    n->text = a->text;
    n->codes = (struct part_ints){ a->codes, a->ncodes };
    share_say(s, &m, position);
}

/* What our server was asked by another node. */
static void tell_reply(struct share *s, const struct effect *e)
{
    struct question *q = find_question(s, e->ticket);
    struct answer a = { .status = e->status,
                        .value = effect_value(e),
                        .number = e->number,
                        .about = job_of(s, e->job),
                        .rank = e->rank,
                        .type = e->type };

    if (!q)
        return;
    tell_answer(s, q->position, q->theirs, &a);
    list_unlink(&q->link);
    free(q);
}

bool share_answer(struct share *s, uint64_t ticket, const struct answer *a)
{
    struct question *q = ticket & SHARE_TICKET ? find_question(s, ticket) : NULL;

    if (!q)
        return false;
    tell_answer(s, q->position, q->theirs, a);
    list_unlink(&q->link);
    free(q);
    return true;
}

static void ask_spawn(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_spawn };

    buf_clear(&s->scratch);
    spawn_pack(e->spawn, &s->scratch);
    if (!buf_ok(&s->scratch)) {
        struct answer a = { .status = ANSWER_NO_MEMORY };
        server_answer(server_of(s), e->ticket, &a);
        return;
    }
    m.u.spawn.ticket = e->ticket;
    m.u.spawn.job = e->job;
    m.u.spawn.request = buf_slice(&s->scratch);
    share_say(s, &m, 0);
}

static void say_abort(struct share *s, uint32_t job, uint32_t rank, int code, struct slice reason)
{
    struct msg m = { .kind = MSG_abort };

    m.u.abort.job = job;
    m.u.abort.culprit = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.abort.code = code;
    m.u.abort.reason = reason;
    share_say(s, &m, 0);
}

static void ask_abort(struct share *s, const struct effect *e)
{
    say_abort(s, e->job, e->rank, e->code, effect_value(e));
}

void share_ask_end(struct share *s, struct job *j, uint32_t rank, int code, const char *reason)
{
    if (j->phase != JOB_RUNNING || j->asked_abort)
        return;
    j->asked_abort = true;
    say_abort(s, j->id, rank, code, slice_str(reason));
}

/* Ends concern those nodes alone that have asked for them. */
static void tell_event(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_event };

    m.u.event.code = e->number;
    m.u.event.range = e->event_range;
    m.u.event.flags = e->event_flags;
    m.u.event.nspace = effect_key(e);
    m.u.event.rank = e->rank;
    m.u.event.infos = effect_value(e);
    if (e->code == 0 || !s->heeding) {
        share_say(s, &m, MSG_EVERYBODY);
        return;
    }
    for (uint32_t p = 1; p < s->cluster.config.count; p++) {
        if (s->heeding[p])
            share_say(s, &m, p);
    }
}

static void ask_ends(struct share *s)
{
    struct msg m = { .kind = MSG_heed };

    if (!is_root(s))
        share_say(s, &m, 0);
}

static void tell_tie(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_tie };

    m.u.tie.job = e->job;
    m.u.tie.other = (uint64_t)e->number;
    m.u.tie.on = e->code != 0;
    share_say(s, &m, MSG_EVERYBODY);
}

static void tell_space(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_space };

    m.u.space.job = e->job;
    m.u.space.name = effect_key(e);
    share_say(s, &m, MSG_EVERYBODY);
}

/* A job that has ended is not known any more; something of what it said may be kept anywhere. */
static void ask_output(struct share *s, const struct effect *e)
{
    const struct job *j = core_job_named(&server_of(s)->core, effect_key(e));
    bool one = j && e->rank != JOB_NO_RANK && e->rank < j->plan.nprocs;
    uint32_t to = one ? share_position(s, j, e->rank) : MSG_EVERYBODY;
    struct msg m = { .kind = MSG_listen };

    m.u.listen.ear = e->ticket;
    m.u.listen.nspace = effect_key(e);
    m.u.listen.rank = e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank;
    m.u.listen.channels = (uint64_t)e->number;
    if (to != s->cluster.config.me)
        share_say(s, &m, to);
}

static void ask_round(struct share *s, const struct effect *e)
{
    const struct job *j = job_of(s, e->job);
    struct msg m = { .kind = MSG_round };

    if (!j)
        return;
    m.u.round.job = e->job;
    m.u.round.rank = e->rank;
    m.u.round.what = effect_key(e);
    m.u.round.generation = (uint64_t)e->number;
    share_say(s, &m, share_position(s, j, e->rank));
}

void share_effect(struct share *s, struct effect *e)
{
    struct job *j = job_of(s, e->job);

    switch (e->kind) {
    case EFFECT_CONTRIBUTE: weave_contribute(&s->weave, e->contribution); break;
    case EFFECT_FETCH:
        if (j)
            ask_cards(s, j, e);
        break;
    case EFFECT_CARDS: tell_cards(s, e); break;
    case EFFECT_REPLY: tell_reply(s, e); break;
    case EFFECT_NAMES: ask_name(s, e); break;
    case EFFECT_NEWS: add_news(s, e); break;
    case EFFECT_ABORT: ask_abort(s, e); break;
    case EFFECT_EVENT: tell_event(s, e); break;
    case EFFECT_ROUND: ask_round(s, e); break;
    case EFFECT_LISTEN: ask_output(s, e); break;
    case EFFECT_TIE: tell_tie(s, e); break;
    case EFFECT_SPACE: tell_space(s, e); break;
    case EFFECT_HEED: ask_ends(s); break;
    case EFFECT_SPAWN: ask_spawn(s, e); break;
    case EFFECT_ANSWER:
    case EFFECT_ATTR:
    case EFFECT_KILL:
    case EFFECT_SIGNAL:
    case EFFECT_ROOT:
    case EFFECT_SWEEP:
    case EFFECT_LOG:
    case EFFECT_CREDENTIAL:
    case EFFECT_INPUT:
    case EFFECT_TOOL:
    case EFFECT_JOB_ENDED: break; /* the node's own */
    }
    effect_drop(e);
}

/* ---- jobs --------------------------------------------------------------------------------------
 */

/* The position of that node, sought from `at` on: plans mostly have them in order, and then each is
 * found at once.  The number of positions: there is none. */
static uint32_t position_named(const struct share *s, const char *name, uint32_t at)
{
    uint32_t count = s->cluster.config.count;

    for (uint32_t tried = 0; tried < count; tried++, at = at + 1 < count ? at + 1 : 0) {
        if (s->names[at] && strcmp(s->names[at], name) == 0)
            return at;
    }
    return count;
}

uint32_t *share_places(const struct share *s, struct plan *p, struct errmsg *err)
{
    uint32_t *positions = arena_array(&p->arena, (size_t)p->nnodes + 1, sizeof *positions);
    uint32_t at = 0;

    for (uint32_t n = 0; positions && n < p->nnodes; n++) {
        at = position_named(s, p->nodes[n].name, at);
        if (at == s->cluster.config.count) {
            errmsg_set(err, 1, "node %s is none of those that this job was started on",
                       p->nodes[n].name);
            return NULL;
        }
        if (s->cluster.lost[at]) {
            errmsg_set(err, 1, "node %s is lost", p->nodes[n].name);
            return NULL;
        }
        positions[n] = at;
    }
    if (!positions)
        errmsg_set(err, -ENOMEM, "out of memory for %u nodes", p->nnodes);
    return positions;
}

static void say_config(const struct node_config *c, struct msg_job *m)
{
    m->keep_going = c->keep_going;
    m->stdin_to = (uint64_t)c->stdin_to;
    m->stdin_rank = c->stdin_rank;
    m->label = c->label ? slice_str(c->label) : SLICE_NULL;
    m->outfile = c->outfile ? slice_str(c->outfile) : SLICE_NULL;
    m->errfile = c->errfile ? slice_str(c->errfile) : SLICE_NULL;
    m->speaker = c->speaker;
    m->flags =
        (c->hostname ? JOB_FLAG_HOSTNAME : 0u) | (c->one_rank_speaks ? JOB_FLAG_ONE_SPEAKS : 0u);
}

/* The server's own entries in the store go along, so that all nodes show the same. */
static void say_presets(const struct share *s, const struct spawn_request *rq, struct msg_job *m,
                        struct slice *pairs)
{
    const struct node_config *c = &s->node->config;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->njob_attrs; i++) {
        pairs[n++] = c->job_attrs[i].key;
        pairs[n++] = c->job_attrs[i].value;
    }
    if (c->memory_kinds) {
        pairs[n++] = SLICE("PMI_mpi_memory_alloc_kinds");
        pairs[n++] = slice_str(c->memory_kinds);
    }
    for (uint32_t i = 0; rq && i < rq->npreputs; i++) {
        pairs[n++] = rq->preputs[i].key;
        pairs[n++] = rq->preputs[i].value;
    }
    m->presets = (struct part_texts){ pairs, n };
}

void share_announce(struct share *s, struct job *j, const uint32_t *positions, int64_t push_to,
                    const struct spawn_request *rq)
{
    const struct node_config *c = &s->node->config;
    struct slice *pairs =
        calloc(2 * ((size_t)c->njob_attrs + 1 + (rq ? rq->npreputs : 0)), sizeof *pairs);
    struct msg m = { .kind = MSG_job };
    struct msg_job *o = &m.u.job;

    buf_clear(&s->scratch);
    plan_pack(&j->plan, &s->scratch);
    if (!pairs || !buf_ok(&s->scratch) || !keep_placement(s, j->id, positions, j->plan.nnodes)) {
        free(pairs);
        server_abort(server_of(s), j, JOB_NO_RANK, 1,
                     "out of memory for telling the nodes of a job");
        return;
    }
    o->job = j->id;
    o->base = j->base;
    o->nspace = slice_str(j->nspace);
    o->parent = j->parent == JOB_NO_RANK ? -1 : (int64_t)j->parent;
    o->positions = (struct part_uints){ positions, j->plan.nnodes };
    o->plan = buf_slice(&s->scratch);
    o->push_to = push_to;
    o->trace = s->trace ? slice_str(s->trace) : SLICE_NULL;
    say_config(c, o);
    o->keep_going = j->keep_going;
    o->flags |= j->is_asked ? JOB_FLAG_ASKED : 0;
    say_presets(s, rq, o, pairs);
    share_say(s, &m, MSG_EVERYBODY);
    free(pairs);
}

static const char *keep_text(struct share *s, struct slice text)
{
    return text.len ? arena_str(&s->node->kept, text) : NULL;
}

/* What the launcher says of all its jobs alike; the first one says it. */
static void hear_config(struct share *s, const struct msg_job *m)
{
    struct node_config *c = &s->node->config;

    c->stdin_to = m->stdin_to == NODE_STDIN_ALL   ? NODE_STDIN_ALL
                  : m->stdin_to == NODE_STDIN_ONE ? NODE_STDIN_ONE
                                                  : NODE_STDIN_NONE;
    c->stdin_rank = (uint32_t)m->stdin_rank;
    c->label = keep_text(s, m->label);
    c->outfile = keep_text(s, m->outfile);
    c->errfile = keep_text(s, m->errfile);
    c->speaker = (uint32_t)m->speaker;
    c->hostname = m->flags & JOB_FLAG_HOSTNAME;
    c->one_rank_speaks = m->flags & JOB_FLAG_ONE_SPEAKS;
    c->keep_going = m->keep_going != 0;
}

/* Each node records what its own server is told and says.  One that cannot says so, and goes on. */
static void record_here(struct share *s, struct slice trace)
{
    struct node *n = s->node;
    struct errmsg err = { "out of memory" };
    char *file;

    if (trace.len == 0 || n->tape.server)
        return;
    file = arena_printf(&n->kept, SLICE_FMT ".%s", SLICE_ARG(trace), n->config.name);
    for (char *c = file ? file + trace.len : NULL; c && (c = strchr(c, '/'));)
        *c = '_'; /* of the name, which is no directory */
    if (!file || node_record(n, file, &err) < 0)
        log_warn(&n->config.log, "node %s: %s", n->config.name, err.text);
}

static uint32_t node_here(const struct share *s, const struct part_uints *positions)
{
    for (uint32_t n = 0; n < positions->n; n++) {
        if (positions->items[n] == s->cluster.config.me)
            return n;
    }
    return JOB_NONE_HERE;
}

/* With the first job. */
static void begin_here(struct share *s, const struct msg_job *m)
{
    hear_config(s, m);
    record_here(s, m->trace);
}

static void hear_job(struct share *s, const struct msg_job *m)
{
    struct errmsg err = { "" };
    struct plan plan;
    struct job *j = NULL;
    int rc = plan_unpack(m->plan, &plan, &err);

    if (rc == 0 && m->positions.n != plan.nnodes)
        rc = errmsg_set(&err, 1, "a plan of %u nodes with %u positions", plan.nnodes,
                        m->positions.n);
    if (rc == 0 && !s->node->kept.blocks)
        begin_here(s, m);
    if (rc == 0 && keep_placement(s, (uint32_t)m->job, m->positions.items, m->positions.n))
        j = starter_follow(s->node, &plan, m, node_here(s, &m->positions), &err);
    if (j)
        return;
    plan_free(&plan);
    log_error(&s->node->config.log, "cannot take part in the job: %s",
              err.text[0] ? err.text : "out of memory");
    share_quit(s);
}

/* What the launcher tells all comes back to where it happened. */
static bool is_old(const struct share *s, const struct job *j, uint32_t rank)
{
    return !is_root(s) && (job_rank_is_here(j, rank) || j->procs[rank].state == LIFE_GONE);
}

static void hear_news(struct share *s, const struct msg_news *m)
{
    struct job *j = job_of(s, m->job);

    for (uint32_t i = 0; j && i < m->ranks.n; i++) {
        uint32_t rank = m->ranks.items[i];
        if (i >= m->events.n || i >= m->codes.n || i >= m->pids.n || rank >= j->plan.nprocs ||
            m->events.items[i] >= LIFE_EVENTS)
            return;
        if (is_old(s, j, rank))
            continue;
        if (m->pids.items[i])
            j->procs[rank].pid = m->pids.items[i];
        server_event(server_of(s), j, rank, (enum life_event)m->events.items[i], m->codes.items[i]);
    }
    if (j)
        spawning_heard(s->node, j);
}

static void hear_end(struct share *s, uint64_t job, int64_t culprit, int64_t code,
                     struct slice reason)
{
    struct job *j = job_of(s, job);
    uint32_t rank =
        j && culprit >= 0 && culprit < (int64_t)j->plan.nprocs ? (uint32_t)culprit : JOB_NO_RANK;

    if (j)
        server_abort(server_of(s), j, rank, (int)code, SLICE_FMT, SLICE_ARG(reason));
}

void share_kill(struct share *s, const struct job *j)
{
    struct msg m = { .kind = MSG_kill };

    m.u.kill.job = j->id;
    m.u.kill.culprit = j->culprit == JOB_NO_RANK ? -1 : (int64_t)j->culprit;
    m.u.kill.code = j->exit_code;
    m.u.kill.reason = slice_str(j->reason.text);
    share_say(s, &m, MSG_EVERYBODY);
}

void share_over(struct share *s, const struct job *j)
{
    struct msg m = { .kind = MSG_over };

    m.u.over.job = j->id;
    share_say(s, &m, MSG_EVERYBODY);
    drop_placement(s, j->id);
}

/* Who is to end is everybody's to know: its end is judged by its own node and by the launcher. */
void share_signal(struct share *s, const struct job *j, uint32_t rank, int sig, bool meant)
{
    uint32_t to = !j || rank == JOB_NO_RANK || meant ? MSG_EVERYBODY : share_position(s, j, rank);
    struct msg m = { .kind = MSG_signal };

    m.u.signal.job = j ? (int64_t)j->id : -1;
    m.u.signal.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.signal.number = (uint64_t)sig;
    m.u.signal.meant = meant;
    if (to != s->cluster.config.me)
        share_say(s, &m, to);
}

void share_input(struct share *s, const struct job *j, uint32_t rank, struct slice bytes)
{
    struct msg m = { .kind = MSG_input };

    m.u.input.job = j->id;
    m.u.input.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.input.bytes = bytes;
    share_say(s, &m, rank == JOB_NO_RANK ? MSG_EVERYBODY : share_position(s, j, rank));
}

static void hear_input(struct share *s, const struct msg_input *m)
{
    const struct job *j = job_of(s, m->job);

    if (j)
        node_input(s->node, j, m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank, m->bytes, 0);
}

static void hear_over(struct share *s, const struct msg_over *m)
{
    struct job *j = job_of(s, m->job);

    drop_placement(s, (uint32_t)m->job);
    if (j)
        ending_forget(s->node, j);
}

/* ---- questions ---------------------------------------------------------------------------------
 */

static void hear_fetch(struct share *s, uint32_t from, const struct msg_fetch *m)
{
    struct job *j = job_with(s, m->job, m->rank);

    if (j) {
        server_fetch(server_of(s), j, (uint32_t)m->rank, m->key, m->timeout_ms * NS_PER_MS, from,
                     clock_now_ns());
    } else {
        struct effect e = { .kind = EFFECT_CARDS,
                            .status = ANSWER_NOT_FOUND,
                            .job = (uint32_t)m->job,
                            .rank = (uint32_t)m->rank,
                            .ticket = from };
        tell_cards(s, &e);
    }
}

static enum answer_status read_status(uint64_t v)
{
    return v <= ANSWER_NO_MEMORY && v != ANSWER_LATER ? (enum answer_status)v : ANSWER_FAILED;
}

static void hear_cards(struct share *s, const struct msg_cards *m)
{
    struct job *j = job_with(s, m->job, m->rank);

    if (j && m->pid)
        j->procs[m->rank].pid = (int)m->pid;
    if (j)
        server_fetched(server_of(s), j, (uint32_t)m->rank, read_status(m->status), m->block);
}

static void hear_name(struct share *s, uint32_t from, const struct msg_name *m)
{
    struct job *j = job_of(s, m->job);
    struct names_query *q = m->op <= NAMES_UNPUBLISH
                                ? names_query_new((enum names_op)m->op, m->service, m->port)
                                : NULL;
    uint64_t ticket = q && j ? keep_question(s, from, m->ticket) : 0;
    struct answer a = { .status = ANSWER_FAILED, .text = SLICE("the launcher knows no such job") };

    if (ticket) {
        q->job = (uint32_t)m->job;
        q->rank = (uint32_t)m->rank;
        q->type = (uint16_t)m->type;
        q->wait = m->flags & NAME_FLAG_WAIT;
        q->stays = m->flags & NAME_FLAG_STAYS;
        q->timeout_ns = m->timeout_ms * NS_PER_MS;
        server_ask(server_of(s), j, q, ticket, clock_now_ns());
    } else {
        tell_answer(s, from, m->ticket, &a);
    }
    free(q);
}

static void hear_spawn(struct share *s, uint32_t from, const struct msg_spawn *m)
{
    struct job *j = job_of(s, m->job);
    struct errmsg err = { "the launcher knows no such job" };
    struct spawn_request *rq = j ? spawn_unpack(m->request, &err) : NULL;
    uint64_t ticket = rq ? keep_question(s, from, m->ticket) : 0;

    if (ticket) {
        struct effect e = { .kind = EFFECT_SPAWN, .job = j->id, .ticket = ticket, .spawn = rq };
        spawning_begin(s->node, &e);
    } else {
        struct answer a = { .status = ANSWER_FAILED, .text = slice_str(err.text) };
        spawn_free(rq);
        tell_answer(s, from, m->ticket, &a);
    }
}

static void hear_answer(struct share *s, const struct msg_answer *m)
{
    struct answer a = { .status = read_status(m->status),
                        .number = m->number,
                        .type = (uint16_t)m->type,
                        .about = job_of(s, m->job),
                        .rank = (uint32_t)m->rank,
                        .value = m->value,
                        .text = m->text,
                        .codes = m->codes.n ? m->codes.items : NULL,
                        .ncodes = m->codes.n };

    server_answer(server_of(s), m->ticket, &a);
}

void share_who(struct share *s, uint64_t ticket, struct slice job)
{
    struct msg m = { .kind = MSG_who };

    m.u.who.ticket = ticket;
    m.u.who.job = job;
    share_say(s, &m, MSG_EVERYBODY);
}

static void hear_who(struct share *s, uint32_t from, const struct msg_who *w)
{
    struct answer a = { .status = ANSWER_OK };
    struct buf part = BUF_NULL(LIMIT_HOP_MESSAGE / 2);

    tape_flush(&s->node->tape); /* whoever asks may want to read it, too */
    inquest_part(s->node, w->job, &part);
    a.value = buf_ok(&part) ? buf_slice(&part) : SLICE_NULL;
    tell_answer(s, from, w->ticket, &a);
    buf_free(&part);
}

static void hear_event(struct share *s, const struct msg_event *m)
{
    char *nspace = strndup(m->nspace.ptr ? m->nspace.ptr : "", m->nspace.len);
    struct notice n = { .code = (int)m->code,
                        .range = (uint8_t)m->range,
                        .flags = (uint8_t)m->flags,
                        .nspace = nspace,
                        .rank = (uint32_t)m->rank,
                        .infos = m->infos };

    if (nspace)
        server_notify(server_of(s), &n);
    free(nspace);
}

struct heeder {
    struct share *share;
    uint32_t position;
};

static void tell_kept_end(void *arg, const struct notice *n)
{
    struct heeder *h = arg;
    struct msg m = { .kind = MSG_event };

    m.u.event.code = n->code;
    m.u.event.range = n->range;
    m.u.event.flags = n->flags;
    m.u.event.nspace = slice_str(n->nspace);
    m.u.event.rank = n->rank;
    m.u.event.infos = n->infos;
    share_say(h->share, &m, h->position);
}

static void hear_heed(struct share *s, uint32_t from)
{
    struct heeder h = { s, from };

    if (!s->heeding || from >= s->cluster.config.count || s->heeding[from])
        return;
    s->heeding[from] = true;
    server_kept_ends(server_of(s), tell_kept_end, &h);
}

static void hear_round(struct share *s, uint32_t from, const struct msg_round *m)
{
    struct job *j = job_with(s, m->job, m->rank);
    struct msg reply = { .kind = MSG_heard };

    reply.u.heard.job = m->job;
    reply.u.heard.rank = m->rank;
    reply.u.heard.what = m->what;
    reply.u.heard.generation = m->generation;
    reply.u.heard.will =
        j && server_round(server_of(s), j, (uint32_t)m->rank, m->what, m->generation);
    share_say(s, &reply, from);
}

static void hear_heard(struct share *s, const struct msg_heard *m)
{
    struct job *j = job_with(s, m->job, m->rank);

    if (j)
        server_round_heard(server_of(s), j, (uint32_t)m->rank, m->what, m->generation,
                           m->will != 0);
}

/* ---- who listens to whom -----------------------------------------------------------------------
 */

/* What is to be said to an ear of another node. */
struct saying {
    struct share *share;
    const struct ear *ear;
};

static void say_to(void *arg, uint32_t rank, uint16_t channel, struct slice bytes)
{
    const struct saying *k = arg;
    struct msg m = { .kind = MSG_said };

    if (!(k->ear->channels & channel))
        return;
    /* Who does not read misses some, as on one node, rather than making us keep it. */
    if (bytes.len && cluster_waiting(&k->share->cluster, k->ear->position) > LIMIT_LISTENER_QUEUE)
        return;
    m.u.said.ear = k->ear->id;
    m.u.said.nspace = slice_str(k->ear->nspace);
    m.u.said.rank = rank;
    m.u.said.channel = channel;
    m.u.said.bytes = bytes;
    share_say(k->share, &m, k->ear->position);
}

static void hear_listen(struct share *s, uint32_t from, const struct msg_listen *m)
{
    uint32_t rank = m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank;
    struct saying k = { .share = s };

    if (m->channels == 0) {
        ears_drop(&s->ears, from, m->ear);
        return;
    }
    k.ear = ears_add(&s->ears, from, m->ear, m->nspace, rank, (uint16_t)m->channels);
    if (k.ear) /* what was kept comes first */
        server_recall(server_of(s), m->nspace, rank, say_to, &k);
}

bool share_is_heard(const struct share *s, const struct job *j, uint32_t rank)
{
    return ears_next(&s->ears, NULL, j->nspace, rank) != NULL;
}

void share_said(struct share *s, const struct job *j, uint32_t rank, uint16_t channel,
                struct slice bytes)
{
    struct saying k = { .share = s };

    while ((k.ear = ears_next(&s->ears, k.ear, j->nspace, rank)))
        say_to(&k, rank, channel, bytes);
}

/* ---- coming, going -----------------------------------------------------------------------------
 */

/* A daemon that has ended and told everything leaves; the launcher waits for their links. */
static void maybe_over(struct share *s)
{
    if (!s->quitting || !streams_over(&s->streams))
        return;
    if (!is_root(s) && !s->left) {
        s->left = true;
        tape_close(&s->node->tape); /* whole when the launcher has ended */
        cluster_end(&s->cluster);
    }
    if (is_root(s) && s->closed && !s->told) {
        s->told = true;
        if (s->calls.on_gone)
            s->calls.on_gone(s->arg);
        ending_unshared(s->node);
    }
}

void share_streams_ended(struct share *s)
{
    maybe_over(s);
}

void share_quit(struct share *s)
{
    struct msg m = { .kind = MSG_quit };

    if (s->quitting)
        return;
    s->quitting = true;
    if (is_root(s)) {
        share_say(s, &m, MSG_EVERYBODY);
        cluster_leave(&s->cluster);
        cluster_end(&s->cluster);
    } else {
        cluster_leave(&s->cluster);
        ending_quit(s->node);
    }
    maybe_over(s);
}

static struct share_reason *reason_of(const struct share *s, uint32_t position)
{
    LIST_EACH(l, &s->reasons)
    {
        struct share_reason *r = LIST_OF(l, struct share_reason, link);
        if (r->position == position)
            return r;
    }
    return NULL;
}

/* Launcher: the first reason counts. */
static void keep_reason(struct share *s, uint32_t position, const char *why)
{
    size_t n = strlen(why);
    struct share_reason *r;

    if (!is_root(s) || s->cluster.lost[position] || reason_of(s, position))
        return;
    r = calloc(1, sizeof *r + n + 1);
    if (!r)
        return;
    r->position = position;
    memcpy(r->text, why, n);
    list_append(&s->reasons, &r->link);
}

static void lose_node(struct share *s, uint32_t position)
{
    struct share_reason *r = reason_of(s, position);

    log_info(&s->node->config.log, "node %s is lost%s%s", s->names[position], r ? ": " : "",
             r ? r->text : "");
    streams_cut(&s->streams, position);
    if (s->errands)
        errands_lost(s->errands, position);
    loss_node(s->node, position,
              r ? r->text : "its way to the launcher was lost, and it has found no other in time");
    if (r)
        list_unlink(&r->link);
    free(r);
}

/* A daemon: the launcher decides what becomes of the job; here those processes are gone. */
static void lose_ranks(struct share *s, const struct placement *p, uint32_t position)
{
    struct job *j = job_of(s, p->job);

    for (uint32_t r = 0; j && r < j->plan.nprocs; r++) {
        if (share_position(s, j, r) == position && j->procs[r].state != LIFE_GONE)
            server_event(server_of(s), j, r, LIFE_DEATH, SIGKILL);
    }
}

void share_lost(struct share *s, uint32_t position)
{
    ears_lost(&s->ears, position);
    if (is_root(s)) {
        lose_node(s, position);
        return;
    }
    LIST_EACH(l, &s->placed)
    lose_ranks(s, LIST_OF(l, struct placement, link), position);
}

static void hear_trouble(struct share *s, const struct msg_trouble *m)
{
    char why[ERRMSG_MAX];
    bool known = m->position > 0 && m->position < s->cluster.config.count;

    snprintf(why, sizeof why, SLICE_FMT, SLICE_ARG(m->text));
    if (m->fatal == TROUBLE_LOST && known && s->calls.on_lost)
        s->calls.on_lost(s->arg, (uint32_t)m->position, why);
    else if (s->calls.on_trouble)
        s->calls.on_trouble(s->arg, m->fatal ? m->position : -1, m->text);
    if (!is_root(s) || !m->fatal || !known)
        return;
    keep_reason(s, (uint32_t)m->position, why);
    weave_lose(&s->weave, (uint32_t)m->position);
}

void share_hear(struct share *s, const struct msg *m)
{
    if (s->errands && errand_hear(s->errands, m))
        return;
    switch (m->kind) {
    case MSG_trouble: hear_trouble(s, &m->u.trouble); break;
    case MSG_ready:
    case MSG_lost: break;
    case MSG_quit: share_quit(s); break;
    case MSG_job: hear_job(s, &m->u.job); break;
    case MSG_news: hear_news(s, &m->u.news); break;
    case MSG_abort:
        hear_end(s, m->u.abort.job, m->u.abort.culprit, m->u.abort.code, m->u.abort.reason);
        break;
    case MSG_kill:
        hear_end(s, m->u.kill.job, m->u.kill.culprit, m->u.kill.code, m->u.kill.reason);
        break;
    case MSG_over: hear_over(s, &m->u.over); break;
    case MSG_signal:
        signals_order(s->node, m->u.signal.job, m->u.signal.rank, (int)m->u.signal.number,
                      m->u.signal.meant != 0);
        break;
    case MSG_tie:
        if (job_of(s, m->u.tie.job))
            server_tied(server_of(s), job_of(s, m->u.tie.job), (uint32_t)m->u.tie.other,
                        m->u.tie.on != 0);
        break;
    case MSG_space:
        if (job_of(s, m->u.space.job))
            server_space_gone(server_of(s), job_of(s, m->u.space.job), m->u.space.name);
        break;
    case MSG_listen: hear_listen(s, m->from, &m->u.listen); break;
    case MSG_said:
        server_overheard(server_of(s), m->u.said.nspace, (uint32_t)m->u.said.rank,
                         (uint16_t)m->u.said.channel, m->u.said.ear, m->u.said.bytes);
        break;
    case MSG_input: hear_input(s, &m->u.input); break;
    case MSG_data:
    case MSG_credit: streams_hear(&s->streams, m); break;
    case MSG_fetch: hear_fetch(s, m->from, &m->u.fetch); break;
    case MSG_cards: hear_cards(s, &m->u.cards); break;
    case MSG_name: hear_name(s, m->from, &m->u.name); break;
    case MSG_spawn: hear_spawn(s, m->from, &m->u.spawn); break;
    case MSG_answer:
        if (is_root(s)) /* which asks for nothing else */
            inquest_heard(&s->node->inquests, m->from, m->u.answer.ticket, m->u.answer.value);
        else
            hear_answer(s, &m->u.answer);
        break;
    case MSG_who: hear_who(s, m->from, &m->u.who); break;
    case MSG_event: hear_event(s, &m->u.event); break;
    case MSG_heed: hear_heed(s, m->from); break;
    case MSG_round: hear_round(s, m->from, &m->u.round); break;
    case MSG_heard: hear_heard(s, &m->u.heard); break;
    case MSG_overlay: weave_hear(&s->weave, m); break;
    case MSG_exec:
    case MSG_noted:
    case MSG_KINDS: break;
    }
    node_settle(s->node);
}

static void on_message(void *arg, const struct msg *m)
{
    share_hear(arg, m);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct share *s = arg;

    (void)host;
    if (is_root(s))
        streams_show(&s->streams, position);
    if (s->calls.on_ready)
        s->calls.on_ready(s->arg, position);
}

static bool on_near(void *arg, uint32_t position)
{
    struct share *s = arg;

    if (!weave_near(&s->weave, position))
        return false;
    if (s->cluster.parent && position == hop_position(s->cluster.parent))
        streams_flow(&s->streams);
    if (s->calls.on_near)
        s->calls.on_near(s->arg, position);
    node_settle(s->node);
    return true;
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct share *s = arg;

    if (s->calls.on_lost)
        s->calls.on_lost(s->arg, position, why);
    keep_reason(s, position, why);
    weave_far(&s->weave, position);
    node_settle(s->node);
}

static void on_orphan(void *arg, const char *why)
{
    struct share *s = arg;

    snprintf(s->why, sizeof s->why, "%s", why);
    if (!weave_seek(&s->weave))
        ending_orphan(s->node);
}

void share_end(struct share *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    if (is_root(s)) {
        log_error(&s->node->config.log, "%s", why);
        node_give_up(s->node, 1);
    } else {
        ending_orphan(s->node);
    }
}

static void on_closed(void *arg)
{
    struct share *s = arg;

    s->closed = true;
    if (!is_root(s)) {
        ending_gone(s->node);
        return;
    }
    for (uint32_t p = 1; p < s->cluster.config.count; p++)
        streams_cut(&s->streams, p);
    maybe_over(s);
}

int share_open(struct share *s, struct node *n, const struct cluster_config *config,
               const struct weave_config *weave, const int far[STREAM_KINDS], struct errmsg *err)
{
    struct cluster_config c = *config;
    int rc;

    memset(s, 0, sizeof *s);
    s->node = n;
    list_init(&s->placed);
    list_init(&s->reasons);
    list_init(&s->asked);
    ears_init(&s->ears);
    buf_init(&s->ranks, SIZE_MAX / 4);
    buf_init(&s->events, SIZE_MAX / 4);
    buf_init(&s->codes, SIZE_MAX / 4);
    buf_init(&s->pids, SIZE_MAX / 4);
    buf_init(&s->scratch, LIMIT_HOP_MESSAGE);
    timer_init(&s->gossip, &n->loop, gossip, s);
    c.calls =
        (struct cluster_calls){ on_message, on_ready, on_lost, on_orphan, on_closed, on_near };
    c.arg = s;
    s->heeding = config->me == 0 ? calloc(config->count, sizeof *s->heeding) : NULL;
    if (config->me == 0 && !s->heeding)
        return errmsg_set(err, -ENOMEM, "out of memory for %u daemons", config->count);
    rc = cluster_open(&s->cluster, &c, err);
    if (rc < 0)
        return rc;
    rc = streams_open(&s->streams, s, far);
    if (rc == 0)
        rc = weave_open(&s->weave, s, weave);
    return rc < 0 ? errmsg_set(err, rc, "out of memory for %u daemons", config->count) : 0;
}

void share_close(struct share *s)
{
    if (!s->node)
        return;
    timer_stop(&s->gossip);
    streams_close(&s->streams);
    free(s->heeding);
    s->heeding = NULL;
    weave_close(&s->weave);
    cluster_close(&s->cluster);
    LIST_EACH(p, &s->placed)
    {
        list_unlink(p);
        free(LIST_OF(p, struct placement, link));
    }
    LIST_EACH(r, &s->reasons)
    {
        list_unlink(r);
        free(LIST_OF(r, struct share_reason, link));
    }
    LIST_EACH(q, &s->asked)
    {
        list_unlink(q);
        free(LIST_OF(q, struct question, link));
    }
    buf_free(&s->ranks);
    buf_free(&s->events);
    buf_free(&s->codes);
    buf_free(&s->pids);
    buf_free(&s->scratch);
    ears_free(&s->ears);
    s->node = NULL;
}
