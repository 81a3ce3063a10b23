/* sim_tcp.c - see sim_tcp.h.  Reading order: sending; receiving. */
#include "cluster/sim_tcp.h"

#include <stdlib.h>

enum {
    SEGMENT = 1448, /* bytes of a packet of Ethernet, with time stamps ... */
    HEADERS = 52,   /* ... and what comes in addition */
    CHUNKS = 64,    /* a message is sent in so many parts, of two packets at least: one for each */
    CHUNK = 2 * SEGMENT, /* acknowledgement */
    WINDOW_MAX = 2900,   /* packets: of a kernel's buffers */
};

/* After so much time without a byte, and a round trip, the window is the first one again. */
#define PAUSE_NS UINT64_C(200000000)

struct sim_flow {
    uint64_t window, in_flight;      /* packets */
    uint64_t most;                   /* that have been in flight */
    uint64_t sent_ns;                /* when something was sent last */
    uint64_t read_begin_ns, read_ns; /* when the other end will read what came last, has read it */
    struct sim_message *first, **last; /* to be sent */
};

static uint64_t packets_of(uint64_t bytes)
{
    return (bytes + SEGMENT - 1) / SEGMENT;
}

static uint64_t first_window(const struct sim *s)
{
    return packets_of(s->c.window);
}

static struct sim_flow *flow_of(struct sim *s, struct router_link *l)
{
    if (l->flow)
        return l->flow;
    l->flow = calloc(1, sizeof *l->flow);
    if (!l->flow) {
        s->no_memory = true;
        return NULL;
    }
    l->flow->window = first_window(s);
    l->flow->last = &l->flow->first;
    return l->flow;
}

void sim_tcp_free(struct router_link *l)
{
    struct sim_message *m;

    while (l->flow && (m = l->flow->first)) {
        l->flow->first = m->next;
        free(m);
    }
    free(l->flow);
    l->flow = NULL;
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint64_t wire_ns(const struct sim *s, uint64_t bytes)
{
    return (bytes + packets_of(bytes) * HEADERS) * s->c.byte_ps / 1000;
}

/* Once for each end. */
static uint64_t close_ns(const struct sim *s, struct router_link *l)
{
    bool paid = l->paid;

    l->paid = true;
    return paid ? 0 : s->c.costs.close;
}

/* joined: it is written or read with one before it. */
static uint64_t work_of(const struct sim *s, struct router_link *l, const struct sim_message *m,
                        bool joined)
{
    uint64_t ns = joined ? s->c.costs.joined : s->c.overhead_ns;

    return m->closes ? close_ns(s, l) : ns + m->cost * s->c.work_ps / 1000;
}

/* One write. */
static void write_out(struct sim *s, struct router_link *l, struct sim_message *first)
{
    uint64_t work = 0, at;

    for (struct sim_message *m = first; m; m = m->next) {
        m->left = m->cost;
        work += work_of(s, l, m, m != first);
    }
    at = sim_work(s, l->of, work);
    l->last = at = at > l->last ? at : l->last;
    sim_push(s, (struct sim_event){ .at = at, .kind = SIM_OUT, .end = l, .m = first });
}

void sim_tcp_flush(struct sim *s)
{
    struct sim_message *first = s->held;

    s->held = NULL;
    if (first)
        write_out(s, s->reading, first);
}

void sim_tcp_send(struct sim *s, struct router_link *l, struct sim_message *m)
{
    m->next = NULL;
    if (l != s->reading) { /* and nothing waits behind it */
        sim_tcp_flush(s);
        write_out(s, l, m);
        return;
    }
    *(s->held ? s->last : &s->held) = m;
    s->last = &m->next;
}

/* whole: the messages of which these are the last bytes. */
static void send_chunk(struct sim *s, struct router_link *l, uint64_t bytes,
                       struct sim_message *whole)
{
    struct sim_node *a = l->of;
    uint64_t start = a->out_free > s->now ? a->out_free : s->now;

    a->out_free = start + wire_ns(s, bytes);
    l->flow->in_flight += packets_of(bytes);
    l->flow->sent_ns = s->now;
    if (l->flow->in_flight > l->flow->most)
        l->flow->most = l->flow->in_flight;
    sim_push(s, (struct sim_event){ .at = start + s->c.latency_ns,
                                    .kind = SIM_CHUNK,
                                    .end = l->peer,
                                    .other = (uint32_t)bytes,
                                    .m = whole });
}

/* Takes up to so many bytes of what waits; *whole_p gets the messages that end with them. */
static uint64_t take(struct sim_flow *f, uint64_t most, struct sim_message **whole_p)
{
    uint64_t bytes = 0, n;

    while (f->first && bytes < most) {
        struct sim_message *m = f->first;
        n = m->left < most - bytes ? m->left : most - bytes;
        bytes += n;
        m->left -= n;
        if (m->left)
            break;
        f->first = m->next;
        m->next = NULL;
        *whole_p = m;
        whole_p = &m->next;
    }
    if (!f->first)
        f->last = &f->first;
    return bytes;
}

/* Small messages that have waited for the window share packets. */
static void send_more(struct sim *s, struct router_link *l)
{
    struct sim_flow *f = l->flow;

    if (f->in_flight == 0 && s->now > f->sent_ns + PAUSE_NS + 2 * s->c.latency_ns) {
        f->window = first_window(s);
        f->most = 0;
    }
    while (f->first && f->in_flight < f->window) {
        struct sim_message *whole = NULL;
        uint64_t most = f->first->cost / CHUNKS, room = (f->window - f->in_flight) * SEGMENT, bytes;
        most = most > CHUNK ? most : CHUNK;
        bytes = take(f, most < room ? most : room, &whole);
        send_chunk(s, l, bytes, whole);
    }
}

static void out(struct sim *s, struct router_link *l, struct sim_message *m)
{
    struct sim_flow *f = l->cut ? NULL : flow_of(s, l);

    if (!f) {
        sim_messages_free(m);
        return;
    }
    *f->last = m;
    while (*f->last)
        f->last = &(*f->last)->next;
    send_more(s, l);
}

static void acknowledged(struct sim *s, struct router_link *l, uint64_t packets)
{
    struct sim_flow *f = l->flow;

    f->in_flight -= packets;
    if (f->window < 2 * f->most && f->window < WINDOW_MAX)
        f->window += packets;
    send_more(s, l);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void chunk(struct sim *s, struct sim_event *e)
{
    struct sim_node *n = e->end->of;
    struct sim_event got = *e;

    n->in_free = (n->in_free > s->now ? n->in_free : s->now) + wire_ns(s, e->other);
    got.kind = SIM_GOT;
    got.at = n->in_free;
    sim_push(s, got);
}

/* Nobody reads there any more. */
static bool is_over(const struct router_link *l)
{
    return l->closed || l->cut || l->of->dead || l->of->exited;
}

static void read_message(struct sim *s, struct router_link *l, struct sim_message *m)
{
    struct sim_flow *f = l->peer->flow;
    bool joined = s->now <= f->read_begin_ns;
    uint64_t at;

    m->next = NULL;
    if (is_over(l)) {
        free(m);
        return;
    }
    if (!joined)
        f->read_begin_ns = sim_work_begins(s, l->of);
    at = sim_work(s, l->of, work_of(s, l, m, joined));
    f->read_ns = at = at > f->read_ns ? at : f->read_ns;
    sim_push(s, (struct sim_event){ .at = at, .kind = SIM_MESSAGE, .end = l, .m = m });
}

static void got(struct sim *s, struct sim_event *e)
{
    struct sim_message *next;

    sim_push(s, (struct sim_event){ .at = s->now + s->c.latency_ns,
                                    .kind = SIM_ACK,
                                    .end = e->end->peer,
                                    .other = (uint32_t)packets_of(e->other) });
    for (struct sim_message *m = e->m; m; m = next) {
        next = m->next;
        read_message(s, e->end, m);
    }
}

void sim_tcp_happen(struct sim *s, struct sim_event *e)
{
    switch (e->kind) {
    case SIM_OUT: out(s, e->end, e->m); return;
    case SIM_ACK: acknowledged(s, e->end, e->other); return;
    case SIM_CHUNK: chunk(s, e); return;
    default: got(s, e); return;
    }
}
