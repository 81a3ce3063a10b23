/* sim_phases.c - see sim_phases.h.  Reading order: phases; the start; messages; the end. */
#include "cluster/sim_phases.h"

#include <stdlib.h>

#include "cluster/msg.h"

/* What messages of MSG_data mean, as their channel. */
enum {
    CHANNEL_JOB = 1,
    CHANNEL_EVENT,
    CHANNEL_WANTED,
    CHANNEL_VALUE,
    CHANNEL_STATE,
    CHANNEL_ENDED
};

enum {
    JOB_BYTES = 4096, /* the announcement of a job, most of it the environment */
    SMALL_BYTES = 16, /* a state of a process, an event, a question */
    VALUE_MAX = 1 << 20
};

#define PAUSE_NS UINT64_C(1000000000) /* between phases */

struct sim_phases {
    enum sim_phase phase;
    uint64_t begin_ns;
    uint32_t left;  /* nodes for which the phase is not over */
    uint32_t ready; /* nodes; later, nodes whose processes have ended */
    char bytes[VALUE_MAX];
};

bool sim_phases_open(struct sim *s)
{
    if (s->c.processors)
        s->processors = calloc(s->c.processors, sizeof *s->processors);
    if (s->c.phases)
        s->phases = calloc(1, sizeof *s->phases);
    return (!s->c.processors || s->processors) && (!s->c.phases || s->phases);
}

void sim_phases_close(struct sim *s)
{
    free(s->processors);
    free(s->phases);
}

static uint32_t others(const struct sim *s)
{
    return s->c.nodes - 1;
}

static void later(struct sim_node *n, enum sim_kind kind, uint32_t step, uint64_t work_ns)
{
    sim_push(n->sim,
             (struct sim_event){
                 .at = sim_work(n->sim, n, work_ns), .kind = kind, .node = n->me, .other = step });
}

static uint64_t calls_ns(const struct sim *s)
{
    return s->c.costs.call * s->c.ranks;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void next_phase(struct sim *s)
{
    struct sim_phases *p = s->phases;

    s->r->phase_ns[p->phase] = s->now - p->begin_ns;
    if (++p->phase < SIM_PHASES)
        sim_push(s, (struct sim_event){ .at = s->now + PAUSE_NS, .kind = SIM_PHASE });
}

static void over(struct sim *s)
{
    if (--s->phases->left == 0)
        next_phase(s);
}

/* Rank 0's node, and the last one: of a single one, the same. */
static uint32_t first_node(void)
{
    return 1;
}

static uint32_t last_node(const struct sim *s)
{
    return others(s);
}

static bool is_collective(enum sim_phase phase)
{
    return phase == SIM_PHASE_BARRIER || phase == SIM_PHASE_FENCE || phase == SIM_PHASE_AGAIN;
}

static void begin_phase(struct sim *s)
{
    struct sim_phases *p = s->phases;
    bool one = p->phase == SIM_PHASE_BROADCAST || p->phase == SIM_PHASE_GET;

    p->begin_ns = s->now;
    p->left = p->phase == SIM_PHASE_BROADCAST    ? others(s) - 1
              : one || p->phase == SIM_PHASE_END ? 1
                                                 : others(s);
    p->ready = 0;
    if (p->left == 0) /* nobody else hears of the event */
        next_phase(s);
    else if (one)
        later(&s->nodes[first_node()], SIM_PART, 0, s->c.costs.call);
    for (uint32_t i = 1; p->left && !one && i < s->c.nodes; i++) {
        later(&s->nodes[i], is_collective(p->phase) ? SIM_ENTER : SIM_PART, 0, calls_ns(s));
        if (p->phase == SIM_PHASE_END)
            later(&s->nodes[i], SIM_PART, 1, s->c.costs.leave * s->c.ranks);
    }
}

void sim_phases_completed(struct sim_node *n)
{
    later(n, SIM_OVER, 0, calls_ns(n->sim));
}

/* ---- the start ------------------------------------------------------------------------------- */

enum { DAEMON_RUNS, DAEMON_CALLS };

/* The parent starts one after the other. */
static void start_children(struct sim_node *n)
{
    struct sim *s = n->sim;

    for (uint32_t i = 0; i < tree_children(s->c.width, s->c.nodes, n->me); i++)
        sim_push(s, (struct sim_event){ .at = sim_work(s, n, s->c.costs.agent) + s->c.costs.shell,
                                        .kind = SIM_DAEMON,
                                        .node = n->me * s->c.width + 1 + i,
                                        .other = DAEMON_RUNS });
}

static void start_daemon(struct sim_node *n, uint32_t step)
{
    if (n->me == 0) {
        start_children(n);
    } else if (step == DAEMON_RUNS) {
        later(n, SIM_DAEMON, DAEMON_CALLS, n->sim->c.costs.daemon);
    } else {
        router_join(&n->router, sim_net_connect(n, tree_parent(n->sim->c.width, n->me)));
        start_children(n);
    }
}

void sim_phases_begin(struct sim *s)
{
    s->phases->left = others(s);
    if (s->phases->left)
        later(&s->nodes[0], SIM_DAEMON, DAEMON_CALLS, s->c.costs.prepare);
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct msg message(const struct sim *s, uint32_t channel, uint64_t bytes, uint32_t to)
{
    struct msg m = { .kind = MSG_data, .to = to };

    m.u.data.channel = channel;
    m.u.data.bytes = slice_mem(s->phases->bytes, bytes < VALUE_MAX ? bytes : VALUE_MAX);
    return m;
}

static void send_to(struct sim_node *n, uint32_t channel, uint64_t bytes, uint32_t to)
{
    struct msg m = message(n->sim, channel, bytes, to);

    if (router_send(&n->router, &m) < 0)
        sim_violated(n->sim, "node %u cannot send to node %u", n->me, to);
}

static void send_to_all(struct sim_node *n, uint32_t channel, uint64_t bytes)
{
    struct msg m = message(n->sim, channel, bytes, MSG_EVERYBODY);

    if (membership_broadcast(&n->member, &m) < 0)
        sim_violated(n->sim, "node %u cannot broadcast", n->me);
}

void sim_phases_ready(struct sim *s)
{
    if (++s->phases->ready == others(s))
        send_to_all(&s->nodes[0], CHANNEL_JOB, JOB_BYTES);
}

/* The launcher hears that processes have finalized and ended, and an acknowledgement of the job. */
static void send_end(struct sim_node *n, uint32_t step)
{
    send_to(n, CHANNEL_STATE, SMALL_BYTES, 0);
    if (step == 1)
        send_to(n, CHANNEL_ENDED, SMALL_BYTES, 0);
}

/* The work of the node's processes is done: its part in the phase. */
static void take_part(struct sim_node *n, uint32_t step)
{
    struct sim *s = n->sim;

    if (s->phases->phase == SIM_PHASE_BROADCAST)
        send_to_all(n, CHANNEL_EVENT, SMALL_BYTES);
    else if (s->phases->phase == SIM_PHASE_END)
        send_end(n, step);
    else if (last_node(s) == n->me)
        later(n, SIM_OVER, 0, s->c.costs.call);
    else
        send_to(n, CHANNEL_WANTED, SMALL_BYTES, last_node(s));
}

/* ---- the end --------------------------------------------------------------------------------- */

static void quit(struct sim_node *top)
{
    struct msg m = { .kind = MSG_quit, .to = MSG_EVERYBODY };

    if (router_send(&top->router, &m) < 0)
        sim_violated(top->sim, "the launcher cannot tell the daemons to exit");
    router_leave(&top->router);
    router_end(&top->router);
}

/* The end of its processes.  The time when it is over. */
static uint64_t exit_now(struct sim_node *n)
{
    n->exited = true;
    return sim_work(n->sim, n, n->sim->c.costs.end);
}

/* A daemon ends when its link is closed; the launcher ends those that it has started and that have
 * not, and waits for them. */
void sim_phases_closed(struct sim_node *n)
{
    struct sim *s = n->sim;
    uint64_t last = s->now;

    if (n->me && !n->exited)
        exit_now(n);
    if (n->me)
        return;
    for (uint32_t i = 1; i <= tree_children(s->c.width, s->c.nodes, 0); i++) {
        uint64_t at = s->nodes[i].exited ? s->now : exit_now(&s->nodes[i]);
        last = at > last ? at : last;
    }
    sim_push(s, (struct sim_event){ .at = last + s->c.costs.finish, .kind = SIM_OVER });
}

static void take_data(struct sim_node *n, const struct msg *m)
{
    struct sim *s = n->sim;

    switch (m->u.data.channel) {
    case CHANNEL_JOB: later(n, SIM_OVER, 0, s->c.costs.rank * s->c.ranks); break;
    case CHANNEL_EVENT:
        if (n->me)
            later(n, SIM_OVER, 0, s->c.costs.event * s->c.ranks);
        break;
    case CHANNEL_WANTED: send_to(n, CHANNEL_VALUE, SMALL_BYTES + 2 * s->c.card, m->from); break;
    case CHANNEL_VALUE: later(n, SIM_OVER, 0, s->c.costs.call); break;
    case CHANNEL_STATE: break;
    default:
        if (++s->phases->ready == others(s))
            quit(n);
    }
}

/* The two streams of output end first. */
static void leave(struct sim_node *n)
{
    send_to(n, CHANNEL_STATE, 0, 0);
    send_to(n, CHANNEL_STATE, 0, 0);
    router_end(&n->router);
}

bool sim_phases_message(struct sim_node *n, const struct msg *m)
{
    if (m->kind == MSG_data)
        take_data(n, m);
    else if (m->kind == MSG_quit)
        leave(n);
    return m->kind == MSG_data || m->kind == MSG_quit;
}

void sim_phases_happen(struct sim_node *n, const struct sim_event *e)
{
    switch (e->kind) {
    case SIM_PHASE: begin_phase(n->sim); break;
    case SIM_DAEMON: start_daemon(n, e->other); break;
    case SIM_PART: take_part(n, e->other); break;
    default: over(n->sim);
    }
}
