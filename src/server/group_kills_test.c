/* group_kills_test.c - PMIx groups, processes that connect and disconnect, and fences of PMIx and
 * PMI, whose members, or their whole nodes, are killed at any step, over one node, four and eight:
 * whole daemons joined without a network (tests/cluster.h), whose messages a seed puts in order.
 *
 * Every member that lives gets one answer to each call, the same as all others.  A group that bears
 * the loss of members is made for all who live; they agree who belongs to it, and nobody does who
 * has ended before it called.  After a fence with data all have the values of all, of the dead too.
 * With an argument the test runs so many seeds, from the second one on. */
#include "core/input.h"
#include "tests/cluster_pmix.h"
#include "tests/seeds.h"

enum { RANKS = 8, SEEDS = SEEDS_OF(200, 60), NO_ANSWER = 1 };

/* What all members call, the same. */
enum { FENCE = 3, CONNECT = 10, DISCONNECT = 11, CONSTRUCT = 24, DESTRUCT = 28 };

struct caller {
    bool in, dead, called;
    int status;       /* of its last call; NO_ANSWER */
    unsigned answers; /* to that call */
    uint32_t group;   /* bits of ranks: the members that it was told */
};

struct world {
    struct cluster c;
    uint64_t seed;
    struct caller members[RANKS];
    bool bears; /* PMIX_GROUP_FT_COLLECTIVE */
    uint32_t victims;
    bool a_node_dies;
    bool collects;   /* fences: with data */
    bool pmi;        /* ... as barriers of PMI-1 */
    uint32_t steps;  /* so many messages at most arrive between two deaths, once all have called */
    char wrong[200]; /* empty: all is well */
};

static void complain(struct world *w, const char *what, uint32_t rank)
{
    if (!w->wrong[0])
        snprintf(w->wrong, sizeof w->wrong, "seed %llu, %s: rank %u", (unsigned long long)w->seed,
                 what, rank);
}

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)rand_below(&w->c.rand, n);
}

/* ---- the network, between two steps of the program ------------------------------------------- */

static void steps(struct world *w, uint32_t most)
{
    for (uint32_t n = below(w, most); n; n--) {
        cluster_effects(&w->c);
        if (!cluster_step(&w->c))
            return;
    }
}

static void some_steps(struct world *w)
{
    steps(w, 8);
}

static void bytes_to(struct world *w, uint32_t rank, struct slice bytes)
{
    struct cluster_node *n = cluster_of(&w->c, 0, rank);

    server_deliver(&n->server,
                   INPUT_AT(++n->now, in, .connection = w->c.peers[0][rank]->id, .bytes = bytes));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_of_group(int command)
{
    return command == CONSTRUCT || command == DESTRUCT;
}

/* The members one by one, then PMIX_GROUP_FT_COLLECTIVE if it is wanted. */
static void call(struct world *w, uint32_t rank, int command)
{
    struct caller *m = &w->members[rank];
    char text[900];
    uint32_t count = 0;
    size_t n;

    m->called = true;
    m->status = NO_ANSWER;
    m->answers = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        count += w->members[r].in;
    n = (size_t)snprintf(text, sizeof text, PMIX_HEAD "02%02x %s 02%02x %02x", command,
                         is_of_group(command) ? "0208 'grp'" : "", count, 2 * count);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (w->members[r].in)
            n += (size_t)snprintf(text + n, sizeof text - n, " 0a 'job0' %02x", r);
    }
    snprintf(text + n, sizeof text - n, "%s",
             w->bears      ? " 0201 0220 'pmix.grp.ftcoll' 00 0101"
             : w->collects ? " 0201 021a 'pmix.collect' 00 0101"
                           : " 0200");
    bytes_to(w, rank, w->pmi ? SLICE("cmd=barrier_in\n") : pmix_bytes(text));
}

static void note_member(void *arg, struct slice nspace, uint32_t rank)
{
    struct caller *m = arg;

    (void)nspace;
    m->group |= UINT32_C(1) << (rank & 31);
}

static void read_barriers(struct world *w, uint32_t rank)
{
    struct peer *p = w->c.peers[0][rank];
    struct slice all = buf_slice(&p->out), s = all;
    struct caller *m = &w->members[rank];

    while (s.len) {
        struct slice line = slice_cut(&s, '\n');
        if (!slice_starts(line, SLICE("cmd=barrier_out")))
            continue;
        m->answers++;
        m->status = slice_is(line, "cmd=barrier_out rc=0") ? 0 : -1;
    }
    server_wrote(&cluster_of(&w->c, 0, rank)->server, p, all.len);
}

static void read_answers(struct world *w, uint32_t rank, bool with_members)
{
    struct peer *p = w->c.peers[0][rank];
    struct slice all = buf_slice(&p->out), s = all, body;
    struct caller *m = &w->members[rank];
    uint32_t tag;

    while (pmix_next(&s, &tag, &body)) {
        if (tag != 0x66) /* that of PMIX_HEAD; others are events */
            continue;
        m->answers++;
        m->status = pmix_status(&body);
        m->group = 0;
        if (with_members && m->status == 0)
            pmix_members(body, note_member, m);
    }
    server_wrote(&cluster_of(&w->c, 0, rank)->server, p, all.len);
}

/* ---- deaths ---------------------------------------------------------------------------------- */

static void die(struct world *w, uint32_t rank)
{
    struct cluster_node *n = cluster_of(&w->c, 0, rank);
    struct caller *m = &w->members[rank];

    if (m->dead)
        return;
    m->dead = true;
    server_deliver(&n->server, INPUT(proc_state, .job = n->jobs[0]->id, .rank = rank,
                                     .event = PROC_EVENT_DEATH, .code = 9));
}

static void node_dies(struct world *w)
{
    uint32_t node = 1 + below(w, w->c.nnodes - 1);

    if (w->c.nodes[node].gone)
        return;
    for (uint32_t r = 0; r < RANKS; r++)
        w->members[r].dead = w->members[r].dead || r % w->c.nnodes == node;
    cluster_effects(&w->c); /* what it has done is in its recording */
    cluster_die(&w->c, node);
}

static void something_dies(struct world *w)
{
    bool both = w->steps > 1; /* of fences: a process, and then its node, in any order */

    if ((both ? below(w, 2) : w->a_node_dies) && w->c.nnodes > 1)
        node_dies(w);
    else
        die(w, below(w, RANKS));
}

/* ---- a call of all members, while some die --------------------------------------------------- */

/* Who of those that are to call comes next; RANKS: nobody is left. */
static uint32_t next_caller(struct world *w)
{
    uint32_t chosen = RANKS, n = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        const struct caller *m = &w->members[r];
        if (m->in && !m->dead && !m->called && below(w, ++n) == 0)
            chosen = r;
    }
    return chosen;
}

static void read_all_answers(struct world *w, int command)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (!w->members[r].in || w->members[r].dead)
            continue;
        if (w->pmi)
            read_barriers(w, r);
        else
            read_answers(w, r, command == CONSTRUCT);
    }
}

static void all_call(struct world *w, int command, uint32_t deaths)
{
    uint32_t rank;

    for (uint32_t r = 0; r < RANKS; r++)
        w->members[r].called = false;
    while ((rank = next_caller(w)) < RANKS) {
        call(w, rank, command);
        some_steps(w);
        if (deaths && below(w, 4) == 0) {
            something_dies(w);
            deaths--;
            some_steps(w);
        }
    }
    for (; deaths; deaths--) {
        steps(w, w->steps);
        something_dies(w);
        some_steps(w);
    }
    cluster_settle(&w->c);
    read_all_answers(w, command);
}

static const struct caller *first_alive(const struct world *w)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (w->members[r].in && !w->members[r].dead)
            return &w->members[r];
    }
    return NULL;
}

/* All who live were told, once and the same. */
static void check_answers(struct world *w)
{
    const struct caller *first = first_alive(w);

    for (uint32_t r = 0; r < RANKS; r++) {
        const struct caller *m = &w->members[r];
        if (!m->in || m->dead)
            continue;
        if (m->answers != 1)
            complain(w, m->answers ? "answered twice" : "never answered", r);
        if (m->status != first->status)
            complain(w, "another status", r);
    }
}

static void check_group(struct world *w)
{
    const struct caller *first = first_alive(w);

    for (uint32_t r = 0; first && r < RANKS; r++) {
        const struct caller *m = &w->members[r];
        bool named = first->group & UINT32_C(1) << r, lives = m->in && !m->dead;
        if (first->status != 0)
            continue;
        if (lives && m->status == 0 && m->group != first->group)
            complain(w, "other members", r);
        if (lives && !named)
            complain(w, "lives, and is not a member", r);
        if (named && (!m->in || (!m->called && w->bears)))
            complain(w, "is a member, and never called", r);
    }
    if (first && first->status != 0 && (!w->victims || w->bears))
        complain(w, "no group", (uint32_t)(first - w->members));
}

static uint32_t alive(const struct world *w)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < RANKS; r++)
        n += w->members[r].in && !w->members[r].dead;
    return n;
}

static void choose(struct world *w)
{
    uint32_t n = 0;

    while (n < 2) {
        n = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            n += w->members[r].in = below(w, 2);
    }
    w->bears = below(w, 2);
    w->victims = below(w, 4);
    w->a_node_dies = below(w, 3) == 0;
}

/* Who has connected disconnects, as far as all live. */
static void run_connect(struct world *w)
{
    w->bears = false;
    all_call(w, CONNECT, w->victims);
    check_answers(w);
    if (!alive(w))
        return;
    if (!w->victims && first_alive(w)->status != 0)
        complain(w, "not connected", (uint32_t)(first_alive(w) - w->members));
    if (first_alive(w)->status == 0) {
        all_call(w, DISCONNECT, below(w, 2));
        check_answers(w);
    }
}

/* A value of each rank, for all. */
static void put(struct world *w, uint32_t rank)
{
    char text[300];

    if (w->pmi)
        snprintf(text, sizeof text, "cmd=put kvsname=job0 key=k%u value=value-%u\n", rank, rank);
    else
        snprintf(text, sizeof text,
                 PMIX_HEAD "0202 0201 020112 020c 'key.g' 0310 'value-%u'"
                           "0202 020112 020c 'key.g' 0310 'value-%u'",
                 rank, rank);
    bytes_to(w, rank, w->pmi ? slice_str(text) : pmix_bytes(text));
    pmix_receives(&w->c, rank, "");
}

static bool gets(struct world *w, uint32_t rank, uint32_t of)
{
    char text[300], value[20];

    snprintf(value, sizeof value, "value-%u", of);
    if (w->pmi)
        snprintf(text, sizeof text, "cmd=get kvsname=job0 key=k%u\n", of);
    else
        snprintf(text, sizeof text, PMIX_HEAD "0204 020a 'job0' 02%02x 0200 020c 'key.g'", of);
    cluster_write(&w->c, 0, rank, w->pmi ? slice_str(text) : pmix_bytes(text));
    return pmix_receives(&w->c, rank, value);
}

/* Without asking the node of the other, which may be gone. */
static void check_values(struct world *w)
{
    unsigned fetches = w->c.fetches;

    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t of = 0; of < RANKS; of++) {
            if (w->members[r].in && !w->members[r].dead && w->members[of].in && !gets(w, r, of))
                complain(w, "has not got all values", r);
        }
    }
    if (w->c.fetches != fetches)
        complain(w, "values were fetched: first", 0);
}

/* All fence, again and again. */
static void run_fence(struct world *w)
{
    w->bears = false;
    w->collects = below(w, 2);
    w->steps = 2 + below(w, 40);
    for (uint32_t r = 0; r < RANKS; r++)
        put(w, r);
    for (uint32_t round = 0; round < 3 && alive(w); round++) {
        bool die = round == 2 || below(w, 2);
        all_call(w, FENCE, die ? w->victims : 0);
        check_answers(w);
        if (!alive(w) || first_alive(w)->status != 0)
            return;
        if (w->collects || w->pmi)
            check_values(w);
    }
}

static void run_barrier(struct world *w)
{
    for (uint32_t r = 0; r < RANKS; r++)
        w->members[r].in = true;
    run_fence(w);
}

static void run_group(struct world *w)
{
    all_call(w, CONSTRUCT, w->victims);
    check_answers(w);
    check_group(w);
    if (alive(w) && first_alive(w)->status == 0) {
        all_call(w, DESTRUCT, below(w, 2));
        check_answers(w);
    }
}

static void begin(struct world *w, uint32_t nodes)
{
    cluster_open_by(&w->c, nodes, w->seed, (enum overlay_schedule)(w->seed % 3));
    cluster_job(&w->c, RANKS, true, true);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (w->pmi) {
            cluster_write(&w->c, 0, r, SLICE("cmd=init pmi_version=1 pmi_subversion=1\n"));
            cluster_received(&w->c, 0, r);
        } else {
            pmix_handshake_as(&w->c, r, "4.2.4");
        }
    }
    choose(w);
}

struct kills {
    uint32_t nodes;
    void (*calls)(struct world *w);
    const char *who;
    bool pmi;
};

static bool run(const struct kills *k, uint64_t seed)
{
    struct world w = { .seed = seed, .pmi = k->pmi, .steps = 1 };

    begin(&w, k->nodes);
    k->calls(&w);
    if (w.wrong[0])
        printf("# %u nodes, %s\n", k->nodes, w.wrong);
    cluster_close(&w.c);
    return !w.wrong[0];
}

int main(int argc, char **argv)
{
    static const struct kills cases[] = { { 1, run_group, "members", false },
                                          { 4, run_group, "members", false },
                                          { 8, run_group, "members", false },
                                          { 4, run_connect, "processes that connect", false },
                                          { 1, run_fence, "processes that fence", false },
                                          { 4, run_fence, "processes that fence", false },
                                          { 8, run_fence, "processes that fence", false },
                                          { 4, run_barrier, "processes in barriers", true },
                                          { 8, run_barrier, "processes in barriers", true } };
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t good = 0;
        for (uint64_t s = first; s < first + count; s++)
            good += run(&cases[i], s);
        OK_F(good == count, "%s are killed on %u nodes: %llu of %llu seeds", cases[i].who,
             cases[i].nodes, (unsigned long long)good, (unsigned long long)count);
    }
    return tap_done();
}
