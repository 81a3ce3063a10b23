/* recovery_test.c - an exchange of four nodes, of which one is lost, with each request for memory
 * refused that the recovery makes: a node that lacks memory knows it, and nothing leaks. */
#include "cluster/recovery.h"

#include <string.h>

#include "tests/alloc.h"
#include "tests/tap.h"

enum { NODES = 4, DOOMED = 3, PIECES = 2, TURNS = 10000 };

/* Names of collectives: a short one, and one that needs memory to be looked up. */
static char names[2][400] = { "fence" };

struct net {
    struct overlay nodes[NODES];
    struct list wire;
    uint32_t arrive, sent; /* of the pieces of the doomed node: bits, and their number */
    bool dead;
    bool over[NODES], failed[NODES];
    uint32_t blocks[NODES];
    uint64_t refused;  /* of the requests for memory of recoveries: this one; 0: none */
    uint64_t requests; /* so far */
};

/* ---- the network ----------------------------------------------------------------------------- */

static void die(struct net *n)
{
    n->dead = true;
    overlay_lose(&n->nodes[0], DOOMED);
}

/* Not all pieces of the doomed node arrive; with the last one it dies. */
static bool is_cut_off(struct net *n, uint32_t from, const struct overlay_msg *m)
{
    bool arrives = true;

    if (from == DOOMED && m->kind == OVERLAY_MSG_PIECE && !n->dead) {
        arrives = n->arrive >> n->sent++ & 1;
        if (n->sent == PIECES)
            die(n);
    } else if (from == DOOMED || m->to == DOOMED) {
        arrives = !n->dead;
    }
    return !arrives;
}

static void send_all(struct net *n, uint32_t from)
{
    struct overlay_msg *m;

    while ((m = overlay_next(&n->nodes[from]))) {
        if (is_cut_off(n, from, m))
            overlay_msg_free(m);
        else
            list_append(&n->wire, &m->link);
    }
}

/* Only here memory is refused. */
static bool recovers(struct net *n, uint32_t at, const struct overlay_event *e)
{
    bool done;

    if (n->refused > n->requests)
        alloc_fail(n->refused - n->requests, false);
    else
        alloc_fail(0, false);
    done = recovery_event(&n->nodes[at], e);
    n->requests += alloc_count();
    alloc_fail(0, false);
    return done;
}

static void take_event(struct net *n, uint32_t at, const struct overlay_event *e)
{
    struct overlay *o = &n->nodes[at];

    if (e->kind == OVERLAY_COMPLETED) {
        n->over[at] = true;
        n->failed[at] = e->failed;
        n->blocks[at] = block_set_count(e->blocks);
    } else if (e->kind == OVERLAY_LOST) {
        overlay_link_down(o, e->from);
        overlay_decide(o, e->from);
    }
}

static void turn(struct net *n, uint32_t at)
{
    struct overlay_event *e;

    send_all(n, at);
    while ((e = overlay_event(&n->nodes[at]))) {
        if (!recovers(n, at, e))
            take_event(n, at, e);
        overlay_event_free(e);
        send_all(n, at);
    }
}

/* Until nothing is under way; a node without memory ends. */
static void run(struct net *n)
{
    for (int i = 0; i < TURNS; i++) {
        struct overlay_msg *m = NULL;
        for (uint32_t at = 0; at < (n->dead ? DOOMED : NODES); at++)
            turn(n, at);
        LIST_EACH(l, &n->wire)
        {
            m = LIST_OF(l, struct overlay_msg, link);
            break;
        }
        if (!m)
            return;
        list_unlink(&m->link);
        if (n->dead && m->to == DOOMED)
            overlay_msg_free(m);
        else
            overlay_receive(&n->nodes[m->to], m);
    }
}

static void begin(struct net *n, const char *what, uint32_t arrive, uint64_t refused)
{
    *n = (struct net){ .arrive = arrive, .refused = refused };
    list_init(&n->wire);
    for (uint32_t at = 0; at < NODES; at++) {
        struct overlay_config c;
        overlay_defaults(&c, at, NODES, NODES);
        c.schedule = OVERLAY_EXCHANGE;
        c.inline_max = 0;
        OK(overlay_init(&n->nodes[at], &c) == 0);
    }
    for (uint32_t at = 1; at < NODES; at++) {
        overlay_link_up(&n->nodes[0], at);
        overlay_link_up(&n->nodes[at], 0);
    }
    for (uint32_t at = 0; at < NODES; at++)
        overlay_contribute(&n->nodes[at], slice_str(what), 0, NULL,
                           block_set_one(at, SLICE("a value")));
}

static void end(struct net *n)
{
    LIST_EACH(l, &n->wire)
    {
        struct overlay_msg *m = LIST_OF(l, struct overlay_msg, link);
        list_unlink(&m->link);
        overlay_msg_free(m);
    }
    for (uint32_t at = 0; at < NODES; at++)
        overlay_free(&n->nodes[at]);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Whether those that live have the same outcome. */
static bool agree(const struct net *n)
{
    for (uint32_t at = 0; at < DOOMED; at++) {
        if (!n->over[at] || n->failed[at] != n->failed[0] || n->blocks[at] != n->blocks[0])
            return false;
    }
    return n->failed[0] || n->blocks[0] == NODES;
}

static bool any_lacks_memory(const struct net *n)
{
    for (uint32_t at = 0; at < DOOMED; at++) {
        if (n->nodes[at].no_memory)
            return true;
    }
    return false;
}

/* Returns how many requests for memory the recovery makes. */
static uint64_t play(const char *what, uint32_t arrive, uint64_t refused)
{
    int64_t before = alloc_live();
    uint64_t requests; /* so far */
    struct net n;

    begin(&n, what, arrive, refused);
    run(&n);
    requests = n.requests;
    if (!refused || refused > requests)
        OK_F(agree(&n) && !any_lacks_memory(&n), "pieces %u: all that live have one outcome: %s",
             arrive, n.failed[0] ? "it has failed" : "it is complete");
    else
        OK_F(any_lacks_memory(&n) || agree(&n),
             "pieces %u, request %llu refused: who lacks memory knows it", arrive,
             (unsigned long long)refused);
    end(&n);
    OK_F(alloc_live() == before, "pieces %u, request %llu: nothing is left", arrive,
         (unsigned long long)refused);
    return requests;
}

static void play_all(const char *what)
{
    for (uint32_t arrive = 0; arrive < 1 << PIECES; arrive++) {
        uint64_t requests = play(what, arrive, 0);
        for (uint64_t i = 1; i <= requests; i++)
            play(what, arrive, i);
        OK_F(requests > 20 || arrive == (1 << PIECES) - 1, "pieces %u: %llu requests, each refused",
             arrive, (unsigned long long)requests);
    }
}

int main(void)
{
    memset(names[1], 'x', sizeof names[1] - 1);
    for (int i = 0; i < 2; i++)
        play_all(names[i]);
    return tap_done();
}
