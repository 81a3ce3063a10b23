/* sim_calls.c - see sim_calls.h.  Reading order: requests of a node; the core that answers; time;
 * the end. */
#include "cluster/sim_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/rand.h"
#include "cluster/sim_groups.h"
#include "cluster/sim_store.h"
#include "core/effect.h"
#include "core/input.h"

static const char NSPACE[] = "sim", INVITATION[] = "invitation";

enum { CHANNEL = 2, NOBODY = UINT32_MAX };

static struct slice text_of_number(char text[24], uint64_t v)
{
    snprintf(text, 24, "%llu", (unsigned long long)v);
    return slice_str(text);
}

static uint64_t number_of(struct slice text)
{
    uint64_t v = 0;

    slice_u64(text, &v);
    return v;
}

static void effect(struct sim_node *n, struct effect e)
{
    dispatch_effect(&n->dispatch, &e, n->sim->now);
    dispatch_settle(&n->dispatch);
}

enum { PENDING_TICKET = 1, INQUIRY_TICKET = 2 };

/* ---- requests of a node ---------------------------------------------------------------------- */

static uint32_t other_node(struct sim_node *n)
{
    uint32_t p = (uint32_t)rand_below(&n->sim->rand, n->sim->first - 1);

    return p < n->me ? p : p + 1;
}

static void ask_modex(struct sim_node *n)
{
    uint32_t to = other_node(n);
    char text[24];

    if (n->calls.modex_of != NOBODY || router_is_lost(&n->router, to))
        return;
    n->calls.modex_of = to;
    n->calls.modex++;
    effect(n, EFFECT_WITH(modex_request, .job = 0, .rank = to,
                          .key = text_of_number(text, n->calls.modex)));
}

static void ask_round(struct sim_node *n)
{
    uint32_t to = other_node(n);

    if (n->calls.round_of != NOBODY || router_is_lost(&n->router, to))
        return;
    n->calls.round_of = to;
    n->calls.rounds++;
    effect(n, EFFECT_WITH(collective_query, .job = 0, .rank = to,
                          .id = { .kind = COLL_FENCE, .generation = n->calls.rounds }));
}

static void report_state(struct sim_node *n, enum proc_event event)
{
    n->calls.states++;
    effect(n, EFFECT_WITH(proc_state, .job = 0, .rank = n->me, .event = event,
                          .code = (int)n->calls.states));
}

/* It carries how many process states we have reported before it. */
static void ask_name(struct sim_node *n)
{
    char text[24];
    struct nameservice_query *q = nameservice_query_new(
        &(struct nameservice_query){ .op = NAMESERVICE_LOOKUP,
                                     .service = SLICE("service"),
                                     .port = text_of_number(text, n->calls.states) });

    if (!q) {
        n->sim->no_memory = true;
        return;
    }
    q->rank = n->me;
    q->wait = rand_below(&n->sim->rand, 4) == 0;
    if (q->wait)
        n->calls.waits++;
    else
        n->calls.names++;
    effect(n, EFFECT_WITH(names, .job = 0, .ticket = n->calls.names, .query = q));
    free(q);
}

static void listen(struct sim_node *n)
{
    uint32_t to = other_node(n);

    if (n->calls.source != NOBODY || router_is_lost(&n->router, to))
        return;
    n->calls.source = to;
    effect(n, EFFECT_WITH(iof_subscribe, .nspace = slice_str(NSPACE), .rank = to,
                          .channels = CHANNEL, .subscription = 1));
}

static void write_line(struct sim_node *n)
{
    char text[24];

    n->calls.lines++;
    iof_forward_output(&n->dispatch.iof, &n->sim->job, n->me, CHANNEL,
                       text_of_number(text, n->calls.lines));
}

static void subscribe(struct sim_node *n)
{
    if (n->calls.subscribed)
        return;
    n->calls.subscribed = true;
    effect(n, EFFECT_WITH(subscribe_exits, .job = 0, .rank = n->me));
}

void sim_calls_notify(struct sim_node *n, uint32_t code)
{
    effect(n, EFFECT_WITH(event, .job = JOB_NO_RANK, .nspace = slice_str(INVITATION), .rank = n->me,
                          .code = (int)code));
}

/* ---- values for neighbours ------------------------------------------------------------------- */

/* What a node sends to another: the bytes of so many ranks. */
struct sim_ahead {
    uint32_t node, ranks, last;
};

struct sim_ahead_head {
    uint32_t from, fence;
};

static void add_ahead(struct sim_ahead *all, uint32_t *n, uint32_t node, uint32_t rank)
{
    uint32_t i = 0;

    while (i < *n && all[i].node != node)
        i++;
    if (i == *n)
        all[(*n)++] = (struct sim_ahead){ node, 1, rank };
    else if (all[i].last != rank)
        all[i] = (struct sim_ahead){ node, all[i].ranks + 1, rank };
}

/* The nodes of the neighbours of this node's ranks; the caller frees *all_p. */
static uint32_t neighbours(const struct sim *s, uint32_t me, struct sim_ahead **all_p)
{
    uint32_t n = 0, of[CONNECTIVITY_NEIGHBOURS], ranks = s->c.ranks;
    struct sim_ahead *all = calloc((size_t)ranks * CONNECTIVITY_NEIGHBOURS + 1, sizeof *all);

    for (uint32_t r = me * ranks; all && r < (me + 1) * ranks; r++) {
        uint32_t count = connectivity_neighbours(&s->connectivity, s->c.nodes * ranks, r, of);
        for (uint32_t i = 0; i < count; i++) {
            if (of[i] / ranks != me)
                add_ahead(all, &n, of[i] / ranks, r);
        }
    }
    *all_p = all;
    return n;
}

static void send_ahead(struct sim_node *n, const struct sim_ahead *to)
{
    struct sim_ahead_head head = { n->me, n->calls.ahead };
    size_t len = to->ranks * n->sim->c.card;
    char *bytes = calloc(1, sizeof head + len);

    if (!bytes) {
        n->sim->no_memory = true;
        return;
    }
    memcpy(bytes, &head, sizeof head);
    if (!router_is_lost(&n->router, to->node))
        effect(n, EFFECT_WITH(modex_ahead, .job = 0, .rank = to->node,
                              .block = slice_mem(bytes, sizeof head + len)));
    free(bytes);
}

void sim_calls_send_ahead(struct sim_node *n)
{
    struct sim_ahead *all;
    uint32_t count = neighbours(n->sim, n->me, &all);

    n->calls.ahead++;
    for (uint32_t i = 0; i < count; i++)
        send_ahead(n, &all[i]);
    free(all);
}

static uint16_t *ahead_of(const struct sim *s, uint32_t from, uint32_t to)
{
    return &s->ahead[(size_t)from * s->c.nodes + to];
}

static void on_ahead(struct sim_node *n, const struct op_modex_ahead *m)
{
    struct sim_ahead_head head = { UINT32_MAX, 0 };

    if (m->block.len >= sizeof head)
        memcpy(&head, m->block.ptr, sizeof head);
    if (m->rank != n->me || head.from >= n->sim->c.nodes)
        sim_violated(n->sim, "node %u gets values for node %u", n->me, m->rank);
    else if (n->sim->ahead && head.fence != ++*ahead_of(n->sim, head.from, n->me))
        sim_violated(n->sim, "node %u gets values of node %u out of order", n->me, head.from);
}

/* Whether values of each living neighbour have come as often as that one has sent some, or (at
 * least) so often. */
static bool has_all(const struct sim_node *n, uint32_t least)
{
    const struct sim *s = n->sim;
    struct sim_ahead *all;
    uint32_t count = neighbours(s, n->me, &all);
    bool good = true;

    for (uint32_t i = 0; s->ahead && i < count; i++) {
        const struct sim_node *p = &s->nodes[all[i].node];
        uint32_t got = *ahead_of(s, p->me, n->me);
        good = good && (least ? got >= least : p->dead || got == p->calls.ahead);
    }
    free(all);
    return good;
}

void sim_calls_fence_over(struct sim_node *n)
{
    const struct sim_config *c = &n->sim->c;

    if (!c->kills && !c->cuts && !has_all(n, n->calls.ahead))
        n->calls.ahead_early++;
}

/* ---- the others ------------------------------------------------------------------------------ */

static void root_request(struct sim_node *n)
{
    struct sim *s = n->sim;

    if (!s->asked && rand_below(&s->rand, 4) == 0) {
        s->asked = true;
        rpc_query(&n->dispatch.rpc, PENDING_TICKET, SLICE_NULL, RPC_QUERY_PENDING);
        return;
    }
    s->exits++;
    effect(n, EFFECT_WITH(event, .job = 0, .nspace = slice_str(NSPACE), .code = (int)s->exits,
                          .is_exit = true));
}

static void request(struct sim_node *n)
{
    static void (*const requests[])(struct sim_node *) = { ask_modex, ask_round,  ask_name,
                                                           listen,    write_line, subscribe };
    uint64_t what = rand_below(&n->sim->rand, 8);

    n->sim->r->requests++;
    if (n->me == 0)
        root_request(n);
    else if (what < 6)
        requests[what](n);
    else
        report_state(n, what == 6 ? PROC_EVENT_STARTED : PROC_EVENT_EXIT);
}

/* ---- the core that answers ------------------------------------------------------------------- */

/* At once, or later. */
static void reply_later(struct sim_node *n, struct sim_event e)
{
    struct sim *s = n->sim;

    e.kind = SIM_REPLY;
    e.node = n->me;
    e.at = s->now + (s->c.jitter_ns ? rand_below(&s->rand, 8 * s->c.jitter_ns) : 0);
    if (rand_below(&s->rand, 2))
        sim_calls_happen(n, &e);
    else
        sim_push(s, e);
}

static void on_modex_request(struct sim_node *n, const struct op_modex_request *m)
{
    if (m->rank != n->me)
        sim_violated(n->sim, "node %u is asked for the modex of node %u", n->me, m->rank);
    reply_later(n, (struct sim_event){ .other = (uint32_t)m->asker, .ticket = number_of(m->key) });
}

static void on_modex_reply(struct sim_node *n, const struct op_modex_reply *m)
{
    bool lost = router_is_lost(&n->router, m->rank) && m->status == ANSWER_NOT_FOUND;

    if (m->rank == n->calls.modex_of &&
        (lost || (m->status == ANSWER_OK && number_of(m->block) == n->calls.modex)))
        n->calls.modex_of = NOBODY;
    else
        sim_violated(n->sim, "node %u gets a modex of node %u that it has not asked for", n->me,
                     m->rank);
}

static void on_names(struct sim_node *n, const struct op_names *m)
{
    if (n->sim->states[m->query->rank] < number_of(m->query->port))
        sim_violated(n->sim, "a request of node %u comes before the process states before it",
                     m->query->rank);
    if (!m->query->wait) /* for a name that nobody publishes */
        reply_later(n, (struct sim_event){ .other = NOBODY, .ticket = m->ticket });
}

static void on_answer(struct sim_node *n, const struct op_answer *m)
{
    uint64_t bit = UINT64_C(1) << (m->ticket & 63);

    if (sim_store_answer(n, m))
        return;
    if (m->status != ANSWER_OK || m->ticket == 0 || m->ticket > n->calls.names ||
        (n->calls.named & bit))
        sim_violated(n->sim, "node %u gets answer %u of %u twice", n->me, (unsigned)m->ticket,
                     n->calls.names);
    n->calls.named |= bit;
}

static void on_collective_query(struct sim_node *n, const struct op_collective_query *m)
{
    if (m->rank != n->me)
        sim_violated(n->sim, "node %u is asked about a collective of node %u", n->me, m->rank);
    effect(n, EFFECT_WITH(collective_reply, .asker = m->asker, .job = 0, .rank = n->me, .id = m->id,
                          .contributes = m->id.generation % 2));
}

static void on_collective_reply(struct sim_node *n, const struct op_collective_reply *m)
{
    if (m->rank == n->calls.round_of && m->id.generation == n->calls.rounds &&
        m->contributes == m->id.generation % 2)
        n->calls.round_of = NOBODY;
    else if (!router_is_lost(&n->router, m->rank))
        sim_violated(n->sim, "node %u hears of a collective that it has not asked about", n->me);
}

static void on_proc_state(struct sim_node *n, const struct op_proc_state *m)
{
    if (n->me || (uint32_t)m->code != ++n->sim->states[m->rank])
        sim_violated(n->sim, "node %u hears process state %d of node %u out of order", n->me,
                     m->code, m->rank);
}

static void on_event(struct sim_node *n, const struct op_event *m)
{
    if (slice_is(m->nspace, INVITATION))
        sim_groups_event(n, m->rank, (uint32_t)m->code);
    else if (m->nspace.len == 0)
        sim_broadcast_arrives(n, m->rank, (uint32_t)m->code);
    else if (!n->calls.subscribed || (uint32_t)m->code != ++n->calls.exits)
        sim_violated(n->sim, "node %u hears of exit %d, not %u", n->me, m->code, n->calls.exits);
}

static void on_output(struct sim_node *n, const struct op_iof_data *m)
{
    if (m->rank != n->calls.source || number_of(m->bytes) != ++n->calls.lines_received)
        sim_violated(n->sim, "node %u gets line %u of node %u, not %u", n->me,
                     (unsigned)number_of(m->bytes), m->rank, n->calls.lines_received);
}

static bool deliver(void *arg, const struct input *in)
{
    struct sim_node *n = arg;

    switch (in->kind) {
    case INPUT_modex_request: on_modex_request(n, &in->u.modex_request); break;
    case INPUT_modex_reply: on_modex_reply(n, &in->u.modex_reply); break;
    case INPUT_modex_ahead: on_ahead(n, &in->u.modex_ahead); break;
    case INPUT_store_query: sim_store_query(n->sim, &in->u.store_query); break;
    case INPUT_names: on_names(n, &in->u.names); break;
    case INPUT_answer: on_answer(n, &in->u.answer); break;
    case INPUT_collective_query: on_collective_query(n, &in->u.collective_query); break;
    case INPUT_collective_reply: on_collective_reply(n, &in->u.collective_reply); break;
    case INPUT_proc_state: on_proc_state(n, &in->u.proc_state); break;
    case INPUT_event: on_event(n, &in->u.event); break;
    case INPUT_iof_data: on_output(n, &in->u.iof_data); break;
    default: sim_violated(n->sim, "node %u gets an input that nobody sends", n->me); break;
    }
    return true;
}

static void kept_exits(void *arg, core_exit_fn *fn, void *fn_arg)
{
    struct sim_node *n = arg;

    for (uint32_t i = 1; i <= n->sim->exits; i++) {
        struct op_event e = { .nspace = slice_str(NSPACE), .code = (int)i };
        fn(fn_arg, &e);
    }
}

static void recall(void *arg, struct slice nspace, uint32_t rank, core_output_fn *fn, void *fn_arg)
{
    struct sim_node *n = arg;
    char text[24];

    (void)nspace;
    for (uint32_t i = 1; i <= n->calls.lines; i++)
        fn(fn_arg, rank, CHANNEL, text_of_number(text, i));
}

static void pending(void *arg, struct slice job, bool usage, struct buf *part)
{
    struct sim_node *n = arg;

    (void)job;
    (void)usage;
    buf_printf(part, "%u", n->me);
}

/* ---- an inquiry ------------------------------------------------------------------------------ */

static void inquire(struct sim_node *n)
{
    struct sim *s = n->sim;

    s->inquired_at = s->now;
    rpc_query(&n->dispatch.rpc, INQUIRY_TICKET, SLICE_NULL, RPC_QUERY_STACKS);
    sim_push(s, (struct sim_event){ .at = s->now + s->c.inquiry->work_ns, .kind = SIM_ANSWER });
}

static void inquired(void *arg, uint32_t from, uint64_t ticket, struct slice job)
{
    struct sim_node *n = arg;

    (void)job;
    sim_push(n->sim, (struct sim_event){ .at = n->sim->now + n->sim->c.inquiry->work_ns,
                                         .kind = SIM_ANSWER,
                                         .node = n->me,
                                         .other = from,
                                         .ticket = ticket });
}

static void inquiry_part(struct sim *s, uint32_t from, struct slice part)
{
    struct sim_node *n = &s->nodes[from];

    if (n->calls.answered)
        sim_violated(s, "node %u answers the inquiry twice", from);
    n->calls.answered = true;
    s->r->answers++;
    s->r->answered_ns = s->now - s->inquired_at;
    s->c.inquiry->part(s->c.inquiry->arg, from, part);
}

static void answer_inquiry(struct sim_node *n, const struct sim_event *e)
{
    const struct sim_inquiry *q = n->sim->c.inquiry;
    struct buf part = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE);

    q->answer(q->arg, n->me, &part);
    if (!buf_ok(&part))
        n->sim->no_memory = true;
    else if (n->me)
        rpc_part(&n->dispatch.rpc, e->other, e->ticket, buf_slice(&part));
    else
        inquiry_part(n->sim, 0, buf_slice(&part));
    buf_free(&part);
}

static void query_part(void *arg, uint32_t from, uint64_t ticket, struct slice part)
{
    struct sim_node *n = arg;

    if (n->me == 0 && ticket == INQUIRY_TICKET && n->sim->c.inquiry)
        inquiry_part(n->sim, from, part);
    else if (n->me || ticket != PENDING_TICKET || number_of(part) != from || n->sim->parts[from]++)
        sim_violated(n->sim, "node %u gets a part of node %u twice", n->me, from);
}

static void batch_later(void *arg, uint32_t ms)
{
    struct sim_node *n = arg;

    (void)ms;
    sim_push(n->sim, (struct sim_event){ .at = n->sim->now + n->sim->c.notice_ns,
                                         .kind = SIM_BATCH,
                                         .node = n->me });
}

/* ---- time ------------------------------------------------------------------------------------ */

static void reply(struct sim_node *n, const struct sim_event *e)
{
    char text[24];

    if (e->other == NOBODY)
        effect(n, EFFECT_WITH(reply, .ticket = e->ticket, .status = ANSWER_OK, .job = JOB_NO_RANK));
    else
        effect(n, EFFECT_WITH(modex_reply, .asker = e->other, .job = 0, .rank = n->me,
                              .status = ANSWER_OK, .block = text_of_number(text, e->ticket)));
}

void sim_calls_happen(struct sim_node *n, const struct sim_event *e)
{
    if (e->kind == SIM_REQUEST)
        request(n);
    else if (e->kind == SIM_REPLY)
        reply(n, e);
    else if (e->kind == SIM_BATCH)
        dispatch_tick(&n->dispatch);
    else if (e->kind == SIM_INQUIRE)
        inquire(n);
    else if (e->kind == SIM_ANSWER)
        answer_inquiry(n, e);
}

void sim_calls_begin(struct sim *s)
{
    uint64_t span = 60 * (s->c.jitter_ns + s->c.latency_ns) + s->c.notice_ns;
    uint64_t most = s->first > 1 ? s->c.requests : 0;

    for (uint64_t i = 0; i < most * s->first; i++)
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, span),
                                        .kind = SIM_REQUEST,
                                        .node = (uint32_t)(i % s->first) });
    if (s->c.inquiry)
        sim_push(s, (struct sim_event){ .at = s->now, .kind = SIM_INQUIRE });
}

/* Requests to it are answered by the core, which knows that its processes are gone; those for modex
 * values by the dispatcher. */
void sim_calls_lost(struct sim_node *n, uint32_t position)
{
    dispatch_lost(&n->dispatch, position);
    if (n->calls.round_of == position)
        n->calls.round_of = NOBODY;
}

/* ---- the end --------------------------------------------------------------------------------- */

static const char *wrong(const struct sim_node *n)
{
    const struct sim *s = n->sim;
    const struct sim_calls *c = &n->calls;

    if (c->modex_of != NOBODY || c->round_of != NOBODY)
        return "waits for an answer of another node";
    for (uint64_t t = 1; t <= c->names; t++) {
        if (!(c->named >> (t & 63) & 1))
            return "waits for an answer of the top";
    }
    if (!has_all(n, 0))
        return "has not got all values of its neighbours";
    if (c->ahead_early)
        return "had not got the values of its neighbours at the end of a fence";
    if (c->subscribed && c->exits != s->exits)
        return "has not heard of all exits";
    if (c->source != NOBODY && !s->nodes[c->source].dead &&
        c->lines_received != s->nodes[c->source].calls.lines)
        return "has not got all output";
    if (s->states && n->me && s->states[n->me] != c->states)
        return "has process states that the top does not know";
    if (s->c.inquiry && !c->answered && !n->grown)
        return "has not answered the inquiry";
    if (s->asked && n->me && !n->grown && !s->parts[n->me])
        return "has not sent its pending operations";
    for (uint32_t p = 0; n->me == 0 && p < s->c.nodes; p++) {
        const struct sim_node *of = &s->nodes[p];
        uint32_t waits = of->dead ? 0 : of->calls.waits + sim_store_waits(of);
        if (rpc_questions(&n->dispatch.rpc, p) != waits)
            return "keeps requests that are over, or has lost some";
    }
    return NULL;
}

bool sim_calls_wrong(const struct sim_node *n, char *why, size_t room)
{
    const char *text = wrong(n);

    if (text)
        snprintf(why, room, "node %u %s", n->me, text);
    return text != NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool has_job(const struct sim *s)
{
    return s->c.requests || s->c.store || s->connectivity.kind != CONNECTIVITY_ALL;
}

/* Only of so many nodes, each pair is counted. */
enum { PAIRS_MAX = 2048 };

static bool open_ahead(struct sim *s)
{
    if (s->connectivity.kind == CONNECTIVITY_ALL || s->c.nodes > PAIRS_MAX)
        return true;
    s->ahead = calloc((size_t)s->c.nodes * s->c.nodes + 1, sizeof *s->ahead);
    return s->ahead != NULL;
}

bool sim_calls_open(struct sim *s)
{
    struct job_map *p = &s->job.plan;
    uint32_t n = s->c.nodes;

    core_init(&s->core, s->c.seed);
    if (!has_job(s))
        return true;
    s->c.requests = s->c.requests < SIM_REQUESTS_MAX ? s->c.requests : SIM_REQUESTS_MAX;
    job_map_init(p);
    p->nprocs = p->nnodes = n;
    p->procs = arena_array(&p->arena, n ? n : 1, sizeof *p->procs);
    s->positions = calloc(n ? n : 1, sizeof *s->positions);
    s->states = calloc(n ? n : 1, sizeof *s->states);
    s->parts = calloc(n ? n : 1, sizeof *s->parts);
    if (!p->procs || !s->positions || !s->states || !s->parts || !open_ahead(s))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        p->procs[i] = (struct job_map_proc){ .rank = i, .node = i };
        s->positions[i] = i;
    }
    s->job.nspace = s->nspace;
    snprintf(s->nspace, sizeof s->nspace, "%s", NSPACE);
    s->job.parent = JOB_NO_RANK;
    list_append(&s->core.jobs, &s->job.link);
    return true;
}

void sim_calls_close(struct sim *s)
{
    if (s->job.link.next)
        list_unlink(&s->job.link);
    if (s->core.jobs.next)
        core_free(&s->core);
    if (has_job(s))
        job_map_free(&s->job.plan);
    free(s->ahead);
    free(s->positions);
    free(s->states);
    free(s->parts);
}

bool sim_calls_open_node(struct sim_node *n)
{
    struct dispatch_config k = {
        .core = &n->sim->core,
        .router = &n->router,
        .member = &n->member,
        .me = n->me,
        .log = &n->sim->errors,
        .core_calls = { deliver, kept_exits, recall },
        .core_arg = n,
        .rpc_calls = { .pending = pending, .part = query_part, .stacks = inquired },
        .wake = batch_later,
        .arg = n
    };

    n->calls = (struct sim_calls){ .modex_of = NOBODY, .round_of = NOBODY, .source = NOBODY };
    dispatch_open(&n->dispatch, &k);
    return !has_job(n->sim) ||
           node_map_keep(&n->dispatch.map, 0, n->sim->positions, n->sim->c.nodes, false);
}
