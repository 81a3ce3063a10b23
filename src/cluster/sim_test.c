/* sim_test.c - hundreds of nodes, losses, many seeds: the invariants hold (cluster/sim.h).
 * Arguments: the number of seeds, the first one, and a kind of failure (fault_kinds); then only
 * these are run.  A seed that fails prints the command that reproduces it.
 */
#include "cluster/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "tests/seeds.h"
#include "tests/tap.h"

enum { NODES_MAX = 500 };

static bool run(const struct sim_config *c, struct sim_result *r)
{
    struct buf command = BUF_NULL(4096);
    int rc = sim_run(c, r);
    bool good = rc == 0 && !r->violation[0];

    if (!good) {
        sim_command(c, &command);
        printf("# %s\n# %s\n", rc ? "out of memory" : r->violation, buf_cstr(&command));
    }
    buf_free(&command);
    return good;
}

/* The kinds of failure.  Seeds of one kind have no other, and each at least one of it. */
enum fault_kind {
    FAULTS_ALL,
    FAULTS_KILLS,
    FAULTS_CUTS,
    FAULTS_SLOW,
    FAULTS_ELASTIC, /* nodes join and leave, with all kinds of failure */
    FAULTS_JOINS,   /* 63 nodes join by themselves, in any order; every other seed has failures, too
                     */
    FAULTS_TAKEOVER, /* the top is lost, once or twice, with all kinds of failure */
    FAULTS_DOUBLING, /* a power of two of nodes, which exchange by pairs, and all kinds of failure
                      */
    FAULTS_SMALL,    /* a few nodes, and one of the kinds above: many seeds in little time */
    FAULT_KINDS
};

static const char *const fault_kinds[FAULT_KINDS] = { "all",      "kills",    "cuts",
                                                      "slow",     "elastic",  "joins",
                                                      "takeover", "doubling", "small" };

static enum fault_kind fault_kind_of(const char *name)
{
    enum fault_kind k = FAULTS_ALL;

    while (k < FAULT_KINDS && strcmp(fault_kinds[k], name) != 0)
        k++;
    return k;
}

static void keep_only(struct sim_config *c, enum fault_kind kind)
{
    if (kind == FAULTS_ELASTIC) {
        c->grows = 1 + (uint32_t)(c->seed % 8);
        c->leaves = (uint32_t)((c->seed + c->seed / 8) % 4);
        c->groups = 0; /* their members are of the beginning */
        return;
    }
    if (kind == FAULTS_JOINS) {
        c->nodes = 64;
        c->grows = c->seed % 3 ? 63 : 56;
        c->dial_in = true;
        c->groups = 0;
        c->schedule = OVERLAY_TREE;
        c->kills *= 4; /* many hit nodes that have not come yet */
        if (c->seed % 2)
            c->kills = c->cuts = c->slow = 0;
        return;
    }
    if (kind == FAULTS_TAKEOVER) {
        c->nodes = 1 + c->nodes % 64;
        c->takeovers = 1 + (uint32_t)(c->seed % 2);
        if (c->seed % 3 == 0)
            c->grows = c->nodes / 2;
        return;
    }
    if (kind == FAULTS_DOUBLING) {
        c->nodes = UINT32_C(2) << c->seed % 8;
        c->sets = 1;
        c->schedule = OVERLAY_EXCHANGE;
        c->kills %= 3; /* who is lost ends most collectives of a set */
        c->cuts %= 2;
        return;
    }
    if (kind == FAULTS_SMALL) {
        keep_only(c, (enum fault_kind)(FAULTS_ALL + 1 + c->seed % (FAULTS_SMALL - 1)));
        c->nodes = c->sets == 1 ? UINT32_C(2) << c->seed / 7 % 4 : 2 + (uint32_t)(c->seed / 7 % 15);
        c->grows = c->grows ? 1 + c->grows % c->nodes : 0;
        return;
    }
    c->kills = kind == FAULTS_KILLS ? 1 + c->kills : 0;
    c->cuts = kind == FAULTS_CUTS ? 1 + c->cuts : 0;
    c->slow = kind == FAULTS_SLOW ? 1 + c->slow : 0;
}

/* Failures of the kind, on trees of different shapes and sizes. */
static void faults(struct sim_config *c, uint64_t seed, enum fault_kind kind)
{
    static const uint32_t widths[] = { 2, 3, 8, 32 };

    uint64_t rand = seed;

    sim_defaults(c);
    c->nodes = 1 + (uint32_t)rand_below(&rand, NODES_MAX);
    c->ranks = 1;
    c->card = 64;
    c->width = widths[seed % 4];
    c->seed = seed;
    c->schedule = (enum overlay_schedule)(seed / 4 % 3);
    c->rounds = 3;
    c->sets = 3;
    c->barrier_first = true;
    c->jitter_ns = 30000;
    c->kills = (uint32_t)(seed % 6);
    c->cuts = (uint32_t)(seed / 6 % 3);
    c->slow = (uint32_t)(seed / 2 % 4);
    c->reports = 2;
    c->broadcasts = 3;
    c->requests = seed % 7 ? 6 : 0;
    c->groups = seed % 3 ? 0 : 1 + (uint32_t)(seed / 3 % 4);
    c->store = seed % 4 == 3 ? 2 : 0;
    c->through_tree = seed % 5 == 0;
    if (kind != FAULTS_ALL)
        keep_only(c, kind);
}

static void test_seeds(uint64_t first, uint32_t count, enum fault_kind kind)
{
    uint64_t messages = 0, failed = 0, collectives = 0, exchanged = 0, requests = 0, bad = 0;
    uint64_t joined = 0, left = 0, held = 0;
    struct sim_config c;
    struct sim_result r;

    for (uint32_t i = 0; i < count && bad < 5; i++) {
        faults(&c, first + i, kind);
        bad += !run(&c, &r);
        messages += r.messages;
        failed += r.failed;
        collectives += r.collectives;
        exchanged += r.exchanged;
        requests += r.requests;
        joined += r.joined;
        left += r.left;
        held += r.held;
    }
    OK_F(bad == 0, "%u seeds (%s) of up to %d nodes from %llu: no invariant is violated", count,
         fault_kinds[kind], NODES_MAX, (unsigned long long)first);
    printf("# %llu messages (%llu of exchanges), %llu requests, %llu collectives entered, %llu of "
           "them "
           "failed\n",
           (unsigned long long)messages, (unsigned long long)exchanged,
           (unsigned long long)requests, (unsigned long long)collectives,
           (unsigned long long)failed);
    OK_F(failed < collectives && requests > 0, "collectives end well");
    if (kind != FAULTS_JOINS && kind != FAULTS_TAKEOVER) /* their trees are small */
        OK_F(exchanged > 0, "some by exchanges");
    if (kind == FAULTS_JOINS)
        OK_F(joined > 40 * count, "%llu nodes joined", (unsigned long long)joined);
    if (kind == FAULTS_ELASTIC)
        OK_F(joined > count && left > 0, "%llu nodes joined, %llu left", (unsigned long long)joined,
             (unsigned long long)left);
    if (kind == FAULTS_TAKEOVER || kind == FAULTS_SMALL)
        OK_F(held > count && joined > count, "%llu nodes have lost the top, %llu have joined one",
             (unsigned long long)held, (unsigned long long)joined);
    if (kind == FAULTS_SLOW)
        OK_F(failed == 0, "all of them: no node is lost");
    else if (kind != FAULTS_JOINS) /* few are lost after they have come */
        OK_F(failed > 0, "some with the name of a lost node");
}

static uint32_t log2_of(uint32_t n)
{
    uint32_t s = 0;

    while ((UINT64_C(1) << s) < n)
        s++;
    return s;
}

/* Losses, with values for neighbours on the way. */
static void test_connectivity(const char *pattern)
{
    struct sim_config c;
    struct sim_result r;
    uint64_t bad = 0;

    for (uint64_t seed = 1; seed <= 24 && bad < 3; seed++) {
        faults(&c, seed, FAULTS_ALL);
        c.connectivity = pattern;
        c.nodes = 60;
        bad += !run(&c, &r);
    }
    OK_F(bad == 0, "%s: what goes to neighbours arrives, also with losses", pattern);
}

static uint64_t bytes_of(const char *pattern, enum overlay_schedule schedule)
{
    struct sim_config c;
    struct sim_result r;

    sim_defaults(&c);
    c.ranks = 1;
    c.modelled = true;
    c.schedule = schedule;
    c.connectivity = pattern;
    OK(run(&c, &r));
    return r.bytes;
}

static void test_bytes(void)
{
    uint64_t ring = bytes_of("ring", OVERLAY_AUTO), all = bytes_of(NULL, OVERLAY_EXCHANGE);

    OK_F(all >= 10 * ring, "64 nodes, 1 rank each: an exchange moves %llu bytes, a ring %llu",
         (unsigned long long)all, (unsigned long long)ring);
}

/* The time of a barrier grows with the logarithm of the nodes. */
static void test_growth(void)
{
    struct sim_config c;
    struct sim_result r;
    uint64_t first = 0;

    for (uint32_t n = 64; n <= 65536; n *= 4) {
        sim_defaults(&c);
        c.nodes = n;
        c.card = 0;
        if (!run(&c, &r))
            break;
        first = first ? first : r.last_ns;
        OK_F(r.last_ns * log2_of(64) <= first * log2_of(n) * 5 / 4 && r.last_ns <= 4 * r.bound_ns,
             "barrier of %u nodes: %.3f ms", n, (double)r.last_ns / 1e6);
    }
}

/* Much data: every node sends no more than it has to receive, and the time is near the bound. */
static void test_large(uint32_t nodes)
{
    struct sim_config c;
    struct sim_result r;

    sim_defaults(&c);
    c.nodes = nodes;
    c.modelled = true;
    OK(run(&c, &r));
    OK_F(r.last_ns <= 2 * r.bound_ns,
         "fence of %u nodes x 8 ranks, 248 bytes each: %.3f ms, bound %.3f ms", nodes,
         (double)r.last_ns / 1e6, (double)r.bound_ns / 1e6);
    OK_F(r.node_bytes < 2 * c.card * c.ranks * nodes,
         "no byte goes out of a node twice: %llu bytes", (unsigned long long)r.node_bytes);
}

/* Up to a limit the tree is chosen by the defaults; the simulator's own costs give another limit;
 * and the choice on both sides of it. */
static void test_border(uint32_t nodes, uint32_t width, uint64_t border)
{
    struct overlay_config k;
    struct sim_config c;
    struct sim_result r;

    overlay_defaults(&k, 0, nodes, width);
    EQ(overlay_border(&k, nodes), border);
    sim_defaults(&c);
    k.alpha_ns = (uint32_t)(c.latency_ns + 2 * c.overhead_ns);
    k.beta_ps = c.byte_ps;
    k.link_ns = c.link_ns;
    c.nodes = nodes;
    c.width = width;
    c.ranks = 1;
    c.modelled = true;
    c.card = overlay_border(&k, nodes) / nodes;
    OK(run(&c, &r) && r.exchanged == 0);
    c.card++;
    OK_F(run(&c, &r) && r.exchanged > 0, "%u nodes: above %llu bytes of all, the exchange", nodes,
         (unsigned long long)overlay_border(&k, nodes));
}

/* Little data uses the tree, much data does not; either can be requested. */
static void test_choice(void)
{
    struct sim_config c;
    struct sim_result r;

    sim_defaults(&c);
    c.nodes = 16;
    c.ranks = 1;
    c.card = 16;
    OK(run(&c, &r) && r.exchanged == 0);
    c.schedule = OVERLAY_EXCHANGE;
    OK(run(&c, &r) && r.exchanged == 16 * 4);
    c.schedule = OVERLAY_AUTO;
    c.card = 100000;
    c.modelled = true;
    OK(run(&c, &r) && r.exchanged == 16 * 4);
    c.schedule = OVERLAY_TREE;
    OK(run(&c, &r) && r.exchanged == 0);
    test_border(16, 32, 65333);
    test_border(64, 32, 22968);
    test_border(2, 2, 245000);
    for (uint32_t n = 1; n < 40; n++) { /* all numbers of nodes */
        sim_defaults(&c);
        c.nodes = n;
        c.width = 1 + n % 5;
        c.rounds = 2;
        c.sets = 3;
        c.schedule = n % 2 ? OVERLAY_EXCHANGE : OVERLAY_AUTO;
        if (!run(&c, &r) || r.failed)
            break;
    }
    OK(c.nodes == 39);
}

/* A broken overlay is detected: this checks the checks. */
static void test_control(void)
{
    struct sim_config c;
    struct sim_result r;

    sim_defaults(&c);
    c.nodes = 50;
    c.rounds = 10;
    c.swallow = 100;
    OK(sim_run(&c, &r) == 0);
    OK_F(r.violation[0], "a message that vanishes is missed: %s", r.violation);
}

/* Nor is it overlooked when nodes judge by themselves what a loss means for a fence, or a group. */
static void test_control_outcomes(uint32_t sets, uint32_t groups)
{
    struct sim_config c;
    struct sim_result r = { .violation = "" };

    for (uint64_t seed = 1; seed < 40 && !r.violation[0]; seed++) {
        faults(&c, seed, FAULTS_KILLS);
        c.disagree = true;
        c.sets = sets;
        c.groups = groups;
        c.reports = c.requests = 0;
        OK(sim_run(&c, &r) == 0);
    }
    OK_F(strstr(r.violation, "another outcome"), "nodes that do not agree are found: %s",
         r.violation);
}

/* A node that does not get all that was announced while it joined is detected. */
static void test_control_elastic(enum fault_kind kind)
{
    struct sim_config c;
    struct sim_result r;
    uint32_t found = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        faults(&c, seed, kind);
        c.nodes = 30;
        c.kills = c.cuts = 0;
        c.forgets = 3;
        OK(sim_run(&c, &r) == 0);
        found += r.violation[0] != 0;
    }
    OK_F(found > 15, "%s: in %u of 20 runs it is noticed that a node misses broadcasts: %s",
         fault_kinds[kind], found, r.violation);
}

static void test_control_takeover(void)
{
    struct sim_config c;
    struct sim_result r;
    uint32_t found = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        faults(&c, seed, FAULTS_TAKEOVER);
        c.nodes = 30;
        c.stays = true;
        OK(sim_run(&c, &r) == 0);
        found += r.violation[0] != 0;
    }
    OK_F(found == 20, "in %u of 20 runs it is noticed that a node stays without a launcher: %s",
         found, r.violation);
}

/* One node after the other, all of them, in trees of several shapes; none is lost. */
static void test_growth_alone(void)
{
    struct sim_config c;
    struct sim_result r = { .joined = 0 };
    uint64_t bad = 0;

    for (uint64_t seed = 1; seed <= 16 && bad == 0; seed++) {
        faults(&c, seed, FAULTS_ELASTIC);
        c.kills = c.cuts = c.slow = c.leaves = 0;
        c.nodes = 2 + (uint32_t)seed;
        c.grows = c.nodes - 1;
        bad += !run(&c, &r) || r.joined == 0;
    }
    OK_F(bad == 0, "nearly all nodes of a tree may join later: %llu of %u",
         (unsigned long long)r.joined, c.nodes);
}

enum { SEEDS = SEEDS_OF(60, 30), SMALL_SEEDS = SEEDS_OF(5000, 500), LARGE = 4000 };

/* The processes of a node ask together. */
static void test_store(void)
{
    struct sim_config c;
    struct sim_result one, eight;

    sim_defaults(&c);
    c.nodes = 500;
    c.ranks = 1;
    c.rounds = 0;
    c.store = 2;
    OK_F(run(&c, &one), "500 processes meet at the store, one on each node");
    c.ranks = 8;
    OK_F(run(&c, &eight) && eight.stored_ns < 3 * one.stored_ns,
         "eight on each take %llu ns instead of %llu", (unsigned long long)eight.stored_ns,
         (unsigned long long)one.stored_ns);
    c.swallow = 300;
    OK_F(sim_run(&c, &one) == 0 && strstr(one.violation, "store"),
         "the control: a lost message is noticed (%s)", one.violation);
}

/* A step was asked for again of a node that had fetched the data of all, in another order. */
static void test_found(void)
{
    struct sim_config c;
    struct sim_result r;

    faults(&c, 201012, FAULTS_ELASTIC);
    OK_F(run(&c, &r), "who has fetched an exchange sends its steps as the others do");
    faults(&c, 44600, FAULTS_SMALL);
    OK_F(run(&c, &r), "also if the exchange is by pairs");
    faults(&c, 2340969, FAULTS_SMALL);
    OK_F(run(&c, &r), "a result waits for those that went past, though no loss is known yet");
}

/* ---- links beside the tree ---- */

static uint64_t messages_of_exchange(uint32_t nodes, uint32_t link_ns)
{
    struct sim_config c;
    struct sim_result r;

    sim_defaults(&c);
    c.nodes = nodes;
    c.ranks = 1;
    c.modelled = true;
    c.schedule = OVERLAY_EXCHANGE;
    c.window = 14480;
    c.link_ns = link_ns;
    return run(&c, &r) ? r.messages : 0;
}

/* For each link one message by way of the top, on two links of the tree, and some acknowledgements.
 */
static void test_meetings(void)
{
    uint64_t links = 64 * 6 / 2;
    uint64_t more = messages_of_exchange(64, 200000) - messages_of_exchange(64, 0);

    OK_F(more > links && more < 3 * links, "%llu messages for %llu links", (unsigned long long)more,
         (unsigned long long)links);
}

/* ---- the phases of a job ---- */

/* A launcher and two nodes, 10 ms away from it, on which nothing costs anything. */
static struct sim_config distant_nodes(void)
{
    struct sim_config c;

    sim_defaults(&c);
    c.nodes = 3;
    c.ranks = 1;
    c.card = 100;
    c.phases = c.barrier_first = c.modelled = true;
    c.rounds = 3;
    c.latency_ns = 10000000;
    c.overhead_ns = c.byte_ps = c.link_ns = 0;
    c.window = 14480;
    return c;
}

static bool takes(const struct sim_result *r, enum sim_phase phase, uint64_t ms)
{
    uint64_t ns = r->phase_ns[phase];

    if (ns != ms * 1000000)
        printf("# phase %d takes %llu ns, not %llu ms\n", (int)phase, (unsigned long long)ns,
               (unsigned long long)ms);
    return ns == ms * 1000000;
}

/* Each phase takes as many latencies as messages of the daemons follow each other in it. */
static void test_phases(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    OK(run(&c, &r));
    OK(takes(&r, SIM_PHASE_START, 60)); /* TCP 2, hello and answer 2, proof and ready 1, job 1 */
    OK(takes(&r, SIM_PHASE_BARRIER, 20));
    OK(takes(&r, SIM_PHASE_FENCE, 20) && takes(&r, SIM_PHASE_AGAIN, 20));
    OK(takes(&r, SIM_PHASE_BROADCAST, 20)); /* by way of the launcher, as the next one */
    OK(takes(&r, SIM_PHASE_GET, 40));
    OK(takes(&r, SIM_PHASE_END, 30)); /* ended, quit, links closed */
}

/* 50 kB of each node need three windows, and so do both of them on the way down. */
static void test_windows(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    c.card = 50000;
    OK(run(&c, &r) && r.exchanged == 0);
    OK(takes(&r, SIM_PHASE_FENCE, 100) && takes(&r, SIM_PHASE_AGAIN, 100));
    c.window = 1 << 20;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_FENCE, 20));
}

/* Two nodes report three times, with a write each, and the launcher has read all after five reads:
 * two have come together with one before them.  It tells both to exit, by two writes; a node answers
 * with one write of three messages, and both answers are one read each. */
static void test_joined(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    c.overhead_ns = 1000000;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_END, 30 + 10));
    c.costs.joined = c.overhead_ns;
    OK(run(&c, &r) && r.phase_ns[SIM_PHASE_END] >= UINT64_C(44000000));
}

/* A window of one packet: the second report of three waits for the acknowledgement, and the third
 * one shares its packet; so do all three answers. */
static void test_shared_packets(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    c.window = 1448;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_END, 30 + 20));
}

/* Each of eight nodes has links to three others, and pays once for the end of each. */
static void test_links_end(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    c.nodes = 9;
    c.schedule = OVERLAY_EXCHANGE;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_END, 30));
    c.costs.close = 1000000;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_END, 30 + 3));
}

/* Work of several nodes is done together, or in turn by the processor that they share. */
static void test_processors(void)
{
    struct sim_config c = distant_nodes();
    struct sim_result r;

    c.costs.call = 1000000;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_BARRIER, 22));
    c.processors = 1;
    OK(run(&c, &r) && takes(&r, SIM_PHASE_BARRIER, 24));
}

/* Other runs have none of them, and a run of phases has nothing else. */
static void test_only_phases(void)
{
    struct sim_config c;

    sim_defaults(&c);
    OK(sim_only_phases(&c));
    c.kills = 1;
    OK(!sim_only_phases(&c));
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : SEEDS;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    enum fault_kind kind = argc > 3 ? fault_kind_of(argv[3]) : FAULTS_ALL;

    if (kind == FAULT_KINDS) {
        fprintf(stderr, "test-cluster-sim: no kind of failure is called %s\n", argv[3]);
        return 2;
    }
    test_seeds(first, count, kind);
    if (argc > 1)
        return tap_done();
    for (kind = FAULTS_KILLS; kind < FAULTS_SMALL; kind++)
        test_seeds(first, count / 5, kind);
    test_seeds(first, SMALL_SEEDS, FAULTS_SMALL);
    test_meetings();
    test_phases();
    test_windows();
    test_joined();
    test_shared_packets();
    test_links_end();
    test_processors();
    test_only_phases();
    test_found();
    test_control();
    test_control_outcomes(3, 0);
    test_control_outcomes(0, 2);
    test_control_elastic(FAULTS_ELASTIC);
    test_control_elastic(FAULTS_JOINS);
    test_control_takeover();
    test_growth_alone();
    test_choice();
    test_growth();
    test_large(LARGE);
    test_connectivity("ring");
    test_connectivity("hypercube");
    test_connectivity("cartesian:3x4x5");
    test_connectivity("sparse");
    test_bytes();
    test_store();
    return tap_done();
}
