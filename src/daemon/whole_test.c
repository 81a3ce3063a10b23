/* whole_test.c - whole daemons without a network: servers with their cores, joined by their
 * overlays.
 *
 * The host of tests/cluster.h carries the collectives over the overlay here, and nothing else; so
 * it is the model of how a daemon connects the two: a contribution of the core becomes the node's
 * part in the overlay's collective, and the overlay's result is passed to the core. */
#define CLUSTER_OVERLAY 1
#include "cluster/overlay_codec.h"
#include "tests/cluster.h"
#include "core/contribution_places.h"
#include "core/input.h"

/* ---- the overlays of all nodes --------------------------------------------------------------- */

static struct overlay overlays[CLUSTER_NODES];
static bool gone[CLUSTER_NODES];

enum { WIDTH = 2 };

static void overlays_open(uint32_t n, enum overlay_schedule schedule)
{
    for (uint32_t i = 0; i < n; i++) {
        struct overlay_config k;
        overlay_defaults(&k, i, n, WIDTH);
        k.schedule = schedule;
        gone[i] = false;
        if (overlay_init(&overlays[i], &k) < 0)
            abort();
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = tree_parent(WIDTH, i);
        if (!overlay_link_up(&overlays[parent], i) || !overlay_link_up(&overlays[i], parent))
            abort();
    }
}

static void overlays_close(void)
{
    for (uint32_t i = 0; i < CLUSTER_NODES; i++)
        overlay_free(&overlays[i]);
}

/* The participants, as positions: here node i of each plan is position i. */
static void cluster_contribute(struct cluster *c, uint32_t node, struct contribution *k)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct buf what = BUF_NULL(1 << 16);
    struct place *places;
    uint32_t n;

    if (contribution_places(&c->nodes[node].server.core, k, &places, &n) < 0)
        abort();
    for (uint32_t i = 0; i < n; i++)
        rank_set_add(&all, places[i].node, 1);
    c->contributions++;
    c->bytes += (unsigned)buf_len(&k->block);
    coll_id_write(&k->id, &what);
    if (overlay_contribute(&overlays[node], buf_slice(&what), k->id.generation, &all,
                           buf_len(&k->block) ? block_set_one(node, buf_slice(&k->block)) : NULL) !=
        0)
        OK_F(false, "node %u cannot contribute to %s", node, k->group);
    rank_set_free(&all);
    buf_free(&what);
    free(places);
}

static void hear_end(struct cluster *c, uint32_t node, const struct overlay_event *e)
{
    struct slice blocks[CLUSTER_NODES];
    const struct block_set *b;
    struct block_set_walk w;
    struct coll_id id;
    uint32_t n = 0;

    block_set_walk_begin(&w, e->blocks);
    while ((b = block_set_walk_next(&w)) && n < CLUSTER_NODES)
        blocks[n++] = b->block;
    block_set_walk_end(&w);
    if (!coll_id_read(slice_str(e->what), e->generation, &id))
        abort();
    server_deliver(&c->nodes[node].server,
                   INPUT(completed, .id = *(&id), .status = e->failed ? ANSWER_FAILED : ANSWER_OK,
                         .blocks = { blocks, n }));
}

/* A node is lost, and its processes with it. */
static void hear_loss(struct cluster *c, uint32_t node, uint32_t lost)
{
    struct job *j = c->nodes[node].jobs[0];

    overlay_link_down(&overlays[node], lost);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node == lost && j->procs[r].state != PROC_STATE_GONE)
            server_deliver(&c->nodes[node].server, INPUT(proc_state, .job = j->id, .rank = r,
                                                         .event = PROC_EVENT_DEATH, .code = 9));
    }
}

/* Every message is encoded and decoded. */
static struct overlay_msg *recode(struct overlay_msg *m)
{
    struct arena a = ARENA_NULL(1 << 24);
    struct buf bytes = BUF_NULL(1 << 24);
    struct overlay_msg *back = NULL;
    struct errmsg err;
    struct msg out, in;

    if (overlay_codec_out(m, &a, &out))
        msg_write(&out, &bytes);
    if (buf_ok(&bytes) && msg_read(buf_slice(&bytes), &a, &in, &err) == 0)
        back = overlay_codec_in(&in, CLUSTER_NODES);
    overlay_msg_free(m);
    arena_free(&a);
    buf_free(&bytes);
    return back;
}

/* One round of all nodes; true: something happened. */
static bool cluster_overlays(struct cluster *c)
{
    bool some = false;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct overlay_event *e;
        struct overlay_msg *m;
        while (!gone[i] && (m = overlay_next(&overlays[i]))) {
            uint32_t to = m->to;
            some = true;
            m = gone[to] ? overlay_msg_free(m) : recode(m);
            if (m && overlay_hear(&overlays[to], m) != 0)
                OK_F(false, "node %u understands node %u", to, i);
        }
        while (!gone[i] && (e = overlay_event(&overlays[i]))) {
            some = true;
            if (e->kind == OVERLAY_COMPLETED)
                hear_end(c, i, e);
            else if (e->kind == OVERLAY_LOST)
                hear_loss(c, i, e->from);
            overlay_event_free(e);
        }
    }
    return some;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

enum { NODES = CLUSTER_NODES, RANKS = 24 };

static void say(struct cluster *c, uint32_t rank, const char *text)
{
    cluster_say(c, 0, rank, slice_str(text));
}

static void begin(struct cluster *c, bool keep_going, enum overlay_schedule schedule)
{
    cluster_open(c, NODES, 5);
    overlays_open(NODES, schedule);
    cluster_job(c, RANKS, true, keep_going);
    for (uint32_t r = 0; r < RANKS; r++) {
        say(c, r, "cmd=init pmi_version=1 pmi_subversion=1\n");
        cluster_heard(c, 0, r);
    }
}

static bool exchange(struct cluster *c, unsigned round)
{
    char text[200], want[200];
    bool good = true;

    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf(text, sizeof text, "cmd=put kvsname=job0 key=k%u.%u value=v%u.%u\n", round, r,
                 round, r);
        say(c, r, text);
        say(c, r, "cmd=barrier_in\n");
        cluster_heard(c, 0, r);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t of = (r * 7 + 5) % RANKS;
        cluster_heard(c, 0, r);
        snprintf(text, sizeof text, "cmd=get kvsname=job0 key=k%u.%u\n", round, of);
        snprintf(want, sizeof want, "value=v%u.%u\n", round, of);
        say(c, r, text);
        good = good && strstr(cluster_heard(c, 0, r), want);
    }
    return good;
}

static void test_exchange(enum overlay_schedule schedule)
{
    struct cluster c;

    begin(&c, false, schedule);
    OK_F(exchange(&c, 0) && exchange(&c, 1), "%u ranks on %u nodes: everybody has all cards, twice",
         RANKS, NODES);
    say(&c, 0, "cmd=barrier_in group=0,1,6:3\n");
    say(&c, 6, "cmd=barrier_in group=0,1,6:3\n");
    say(&c, 1, "cmd=barrier_in group=0,1,6:3\n");
    OK(!strcmp(cluster_heard(&c, 0, 6), "cmd=barrier_out rc=0 tag=3\n"));
    cluster_close(&c);
    overlays_close();
}

/* A node dies while the others wait for it in a fence. */
static void test_lost_node(void)
{
    struct cluster c;
    enum { LOST = 2 }; /* with nodes 5 and 6 below it */

    begin(&c, true, OVERLAY_AUTO);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r % NODES != LOST)
            say(&c, r, "cmd=barrier_in\n");
    }
    gone[LOST] = true;
    for (uint32_t p = 5; p <= 6; p++) {
        overlay_link_down(&overlays[p], LOST);
        OK(overlay_wanted_parent(&overlays[p]) == 0);
        OK(overlay_link_up(&overlays[0], p) && overlay_link_up(&overlays[p], 0));
    }
    overlay_link_down(&overlays[0], LOST);
    cluster_settle(&c);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r % NODES != LOST)
            OK_F(strstr(cluster_heard(&c, 0, r), "cmd=barrier_out rc=1"),
                 "rank %u hears that somebody is dead", r);
    }
    say(&c, 5, "cmd=barrier_in group=0,5:8\n");
    say(&c, 0, "cmd=barrier_in group=0,5:8\n");
    OK_F(!strcmp(cluster_heard(&c, 0, 5), "cmd=barrier_out rc=0 tag=8\n"), "the others go on");
    cluster_close(&c);
    overlays_close();
}

int main(void)
{
    test_exchange(OVERLAY_AUTO);
    test_exchange(OVERLAY_EXCHANGE);
    test_lost_node();
    return tap_done();
}
