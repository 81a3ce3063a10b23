/* servers_overlay_test.c - whole daemons without a network: fences by either method, and the loss
 * of a node.
 */
#include "cluster/msg.h"
#include "tests/cluster.h"

enum { NODES = CLUSTER_NODES, RANKS = 24 };

static void write_to(struct cluster *c, uint32_t rank, const char *text)
{
    cluster_write(c, 0, rank, slice_str(text));
}

static void begin(struct cluster *c, bool keep_going, enum overlay_schedule schedule)
{
    cluster_open_by(c, NODES, 5, schedule);
    cluster_job(c, RANKS, true, keep_going);
    for (uint32_t r = 0; r < RANKS; r++) {
        write_to(c, r, "cmd=init pmi_version=1 pmi_subversion=1\n");
        cluster_received(c, 0, r);
    }
}

static bool exchange(struct cluster *c, unsigned round)
{
    char text[200], want[200];
    bool good = true;

    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf(text, sizeof text, "cmd=put kvsname=job0 key=k%u.%u value=v%u.%u\n", round, r,
                 round, r);
        write_to(c, r, text);
        write_to(c, r, "cmd=barrier_in\n");
        cluster_received(c, 0, r);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t of = (r * 7 + 5) % RANKS;
        cluster_received(c, 0, r);
        snprintf(text, sizeof text, "cmd=get kvsname=job0 key=k%u.%u\n", round, of);
        snprintf(want, sizeof want, "value=v%u.%u\n", round, of);
        write_to(c, r, text);
        good = good && strstr(cluster_received(c, 0, r), want);
    }
    return good;
}

static void test_exchange(enum overlay_schedule schedule)
{
    struct cluster c;

    begin(&c, false, schedule);
    OK_F(exchange(&c, 0) && exchange(&c, 1), "%u ranks on %u nodes: everybody has all cards, twice",
         RANKS, NODES);
    write_to(&c, 0, "cmd=barrier_in group=0,1,6:3\n");
    write_to(&c, 6, "cmd=barrier_in group=0,1,6:3\n");
    write_to(&c, 1, "cmd=barrier_in group=0,1,6:3\n");
    OK(!strcmp(cluster_received(&c, 0, 6), "cmd=barrier_out rc=0 tag=3\n"));
    cluster_close(&c);
}

/* A node dies while the others wait for it in a fence. */
static void test_lost_node(void)
{
    struct cluster c;
    enum { LOST = 2 }; /* with nodes 5 and 6 below it */

    begin(&c, true, OVERLAY_AUTO);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r % NODES != LOST)
            write_to(&c, r, "cmd=barrier_in\n");
    }
    cluster_die(&c, LOST);
    cluster_settle(&c);
    OK(router_parent(&c.nodes[5].router) == 0 && router_parent(&c.nodes[6].router) == 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r % NODES != LOST)
            OK_F(strstr(cluster_received(&c, 0, r), "cmd=barrier_out rc=1"),
                 "rank %u hears that somebody is dead", r);
    }
    write_to(&c, 5, "cmd=barrier_in group=0,5:8\n");
    write_to(&c, 0, "cmd=barrier_in group=0,5:8\n");
    OK_F(!strcmp(cluster_received(&c, 0, 5), "cmd=barrier_out rc=0 tag=8\n"), "the others go on");
    cluster_close(&c);
}

int main(void)
{
    test_exchange(OVERLAY_AUTO);
    test_exchange(OVERLAY_EXCHANGE);
    test_lost_node();
    return tap_done();
}
