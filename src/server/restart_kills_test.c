/* restart_kills_test.c - processes that are killed at any step and started again, over one node,
 * four and eight: whole daemons joined without a network (tests/cluster.h), whose messages a seed
 * puts in order.
 *
 * Each rank puts, and enters the barrier of the job, as often as the seed wants.  Each of them is
 * informed of every start while it lives, of some together; a barrier is good for all of its
 * members or for none, but for those that have died; nobody waits for ever; and after the last
 * barrier all see what the living have put.  So it is when a spare node takes the place of a lost
 * one; without a spare one all calls are still answered.  Nothing is started again in a job that
 * has been asked to end.  With an argument the test runs so many seeds, from the second one on. */
#include <signal.h>

#include "core/input.h"
#include "tests/cluster.h"
#include "tests/seeds.h"

enum { RANKS = 8, SEEDS = SEEDS_OF(200, 60), DEATHS = 6, CALLS = 40, LAST_CALLS = 100 };
enum { RESTARTS = DEATHS + 1, EPOCHS = RESTARTS + 1 };

struct process {
    bool dead, waits, failed;
    unsigned life, puts;
    uint32_t epoch;        /* that it knows of, or began in */
    unsigned good[EPOCHS]; /* barriers */
    bool died_in[EPOCHS];
};

struct world {
    struct cluster c;
    uint64_t seed;
    struct process procs[RANKS];
    uint32_t starts;
    bool a_node_dies, node_is_lost, is_replaced;
    char wrong[200]; /* empty: all is well */
};

/* The losses of nodes begin epochs, too, and some deaths are lost with them. */
static uint32_t starts(struct world *w)
{
    return w->c.spares ? w->c.nodes[0].jobs[0]->epoch : w->starts;
}

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

static void write_to(struct world *w, uint32_t rank, const char *text)
{
    struct cluster_node *n = cluster_of(&w->c, 0, rank);

    server_deliver(&n->server, INPUT_AT(++n->now, in, .connection = w->c.peers[0][rank]->id,
                                        .bytes = slice_str(text)));
}

/* ---- what a process receives ----------------------------------------------------------------- */

static uint32_t epoch_of(struct world *w, uint32_t rank)
{
    return cluster_of(&w->c, 0, rank)->jobs[0]->procs[rank].epoch;
}

/* Perhaps of several starts at once. */
static void note_start(struct world *w, uint32_t rank)
{
    struct process *p = &w->procs[rank];
    uint32_t now = epoch_of(w, rank);

    if (now <= p->epoch || now > starts(w))
        complain(w, "informed without a start", rank);
    else
        p->epoch = now;
}

static void receive(struct world *w, uint32_t rank)
{
    struct process *p = &w->procs[rank];
    const char *text = p->dead ? "" : cluster_received(&w->c, 0, rank);
    const char *answer = strstr(text, "cmd=barrier_out");

    if (!answer)
        return;
    if (!p->waits || strstr(answer + 1, "cmd=barrier_out"))
        complain(w, "answered twice", rank);
    p->waits = false;
    if (strstr(answer, "rc=0"))
        p->good[p->epoch]++;
    else if (strstr(answer, "process_restarted"))
        note_start(w, rank);
    else
        p->failed = true;
    if (p->failed && !w->node_is_lost)
        complain(w, "its barrier failed", rank);
}

static void some_steps(struct world *w, uint32_t most)
{
    for (uint32_t n = below(w, most); n; n--) {
        cluster_effects(&w->c);
        if (!cluster_step(&w->c))
            break;
    }
    cluster_effects(&w->c);
    for (uint32_t r = 0; r < RANKS; r++)
        receive(w, r);
}

/* ---- what it does ---------------------------------------------------------------------------- */

static void begin(struct world *w, uint32_t rank)
{
    struct process *p = &w->procs[rank];

    p->dead = p->waits = false;
    p->puts = 0;
    p->epoch = epoch_of(w, rank);
    write_to(w, rank, "cmd=init pmi_version=1 pmi_subversion=1\n");
}

/* Those that are started again while it was not looked begin. */
static void begin_restarted(struct world *w)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        struct process *p = &w->procs[r];
        struct cluster_node *n = cluster_of(&w->c, 0, r);
        const struct proc *of = &n->jobs[0]->procs[r];
        if (!p->dead || n->gone || of->restarts < p->life || of->state != PROC_STATE_RUNNING)
            continue;
        p->life = of->restarts;
        begin(w, r);
    }
}

static void call(struct world *w, uint32_t rank)
{
    struct process *p = &w->procs[rank];
    char text[100];

    snprintf(text, sizeof text, "cmd=put kvsname=job0 key=r%u.%u.%u value=v\n", rank, p->life,
             p->puts++);
    write_to(w, rank, text);
    p->waits = true;
    write_to(w, rank, "cmd=barrier_in\n");
}

static void die(struct world *w, uint32_t rank)
{
    struct process *p = &w->procs[rank];
    struct cluster_node *n = cluster_of(&w->c, 0, rank);

    receive(w, rank);
    p->died_in[p->epoch] = true;
    p->dead = true;
    p->life++;
    w->starts++;
    if (below(w, 2))
        server_deliver(&n->server, INPUT(hangup, .connection = w->c.peers[0][rank]->id));
    server_deliver(&n->server, INPUT(proc_state, .job = n->jobs[0]->id, .rank = rank,
                                     .event = PROC_EVENT_DEATH, .code = 9));
}

static void node_dies(struct world *w)
{
    uint32_t used = w->c.nnodes - w->c.spares, node = 1 + below(w, used - 1);

    for (uint32_t r = node; r < RANKS; r += used) {
        struct process *p = &w->procs[r];
        if (!p->dead)
            receive(w, r);
        p->died_in[p->epoch] = p->dead = true;
        p->life += w->c.spares > 0;
    }
    w->node_is_lost = !w->c.spares;
    w->is_replaced = w->c.spares;
    cluster_effects(&w->c); /* what it has done is in its recording */
    cluster_die(&w->c, node);
}

static void act(struct world *w, uint32_t *deaths)
{
    uint32_t rank = below(w, RANKS);

    begin_restarted(w);
    if (w->c.awaited && below(w, CALLS / 4) == 0)
        cluster_replace_late(&w->c);
    if (w->a_node_dies && !w->node_is_lost && !w->is_replaced && below(w, CALLS) == 0) {
        node_dies(w);
    } else if (*deaths && !w->procs[rank].dead && below(w, 4) == 0) {
        die(w, rank);
        --*deaths;
    } else if (!w->procs[rank].dead && !w->procs[rank].waits) {
        call(w, rank);
    }
    some_steps(w, 12);
}

/* ---- the judge ------------------------------------------------------------------------------- */

static void settle(struct world *w)
{
    cluster_settle(&w->c);
    for (uint32_t r = 0; r < RANKS; r++)
        receive(w, r);
    begin_restarted(w);
    cluster_settle(&w->c);
}

/* All call until all are in one epoch and their barrier is good, or fails for ever. */
static void finish(struct world *w)
{
    bool over = false;

    cluster_settle(&w->c);
    cluster_replace_late(&w->c);
    for (int n = 0; !over && n < LAST_CALLS; n++) {
        settle(w);
        over = true;
        for (uint32_t r = 0; r < RANKS; r++) {
            struct process *p = &w->procs[r];
            if (p->dead && !w->node_is_lost)
                complain(w, "not started again", r);
            if (p->dead || p->waits)
                continue;
            if (w->node_is_lost ? !p->failed : p->epoch < starts(w) || !n) {
                over = false;
                call(w, r);
            }
        }
    }
    settle(w);
}

/* Those that wait when all others have an answer get theirs with one more barrier of these. */
static void meet(struct world *w)
{
    bool somebody = true;

    for (int n = 0; somebody && n < LAST_CALLS; n++) {
        unsigned most = 0;
        settle(w);
        somebody = false;
        for (uint32_t r = 0; r < RANKS; r++)
            most = w->procs[r].good[starts(w)] + w->procs[r].waits > most
                       ? w->procs[r].good[starts(w)] + w->procs[r].waits
                       : most;
        for (uint32_t r = 0; r < RANKS; r++) {
            struct process *p = &w->procs[r];
            somebody = somebody || p->waits;
            if (!p->waits && p->good[starts(w)] < most) {
                somebody = true;
                call(w, r);
            }
        }
    }
    if (somebody)
        complain(w, "a barrier without end", 0);
}

static void check_starts(struct world *w)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (w->procs[r].epoch != starts(w))
            complain(w, "not informed of each start", r);
    }
}

/* Of an epoch all have the same barriers, but for those that have died, or were not born. */
static void check_barriers(struct world *w)
{
    for (uint32_t e = 0; e <= starts(w); e++) {
        int64_t good = -1;
        for (uint32_t r = 0; r < RANKS; r++) {
            const struct process *p = &w->procs[r];
            if (p->died_in[e])
                continue;
            if (good >= 0 && p->good[e] != good)
                complain(w, "a barrier is not good for all", r);
            good = p->good[e];
        }
    }
}

static void check_values(struct world *w)
{
    char text[100];

    for (uint32_t from = 0; from < RANKS; from++) {
        const struct process *p = &w->procs[from];
        for (uint32_t to = 0; p->puts && to < RANKS; to++) {
            snprintf(text, sizeof text, "cmd=get kvsname=job0 key=r%u.%u.%u\n", from, p->life,
                     below(w, p->puts));
            write_to(w, to, text);
            cluster_settle(&w->c);
            if (!strstr(cluster_received(&w->c, 0, to), "value=v"))
                complain(w, "does not find a value", to);
        }
    }
}

static void check_answered(struct world *w)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (!w->procs[r].dead && w->procs[r].waits)
            complain(w, "never answered", r);
    }
}

static void check(struct world *w)
{
    if (w->node_is_lost) {
        check_answered(w);
        return;
    }
    meet(w);
    check_starts(w);
    check_barriers(w);
    check_values(w);
}

static bool run(uint32_t nodes, uint32_t spares, bool late, uint64_t seed)
{
    struct world w = { .seed = seed };
    uint32_t deaths;

    cluster_open(&w.c, nodes, seed);
    w.c.restarts = RESTARTS;
    w.c.spares = spares;
    w.c.late = late;
    cluster_job(&w.c, RANKS, true, true);
    for (uint32_t r = 0; r < RANKS; r++)
        begin(&w, r);
    deaths = 1 + below(&w, DEATHS);
    w.a_node_dies = spares || (nodes > 1 && below(&w, 4) == 0);
    for (int n = 0; n < CALLS * 2; n++)
        act(&w, &deaths);
    finish(&w);
    check(&w);
    if (w.wrong[0])
        printf("# %u nodes, %s\n", nodes, w.wrong);
    cluster_close(&w.c);
    return !w.wrong[0];
}

/* ---- a job that has been asked to end -------------------------------------------------------- */

/* How many ranks are started again that die when all nodes, or only the root, have been asked. */
static uint32_t restarts_when_asked(uint32_t nodes, uint32_t asked, bool all_jobs)
{
    struct world w = { .seed = 1 };
    uint32_t id, n = 0;

    cluster_open(&w.c, nodes, w.seed);
    w.c.restarts = RESTARTS;
    cluster_job(&w.c, RANKS, true, true);
    for (uint32_t r = 0; r < RANKS; r++)
        begin(&w, r);
    cluster_settle(&w.c);
    id = w.c.nodes[0].jobs[0]->id;
    for (uint32_t i = 0; i < asked; i++)
        server_deliver(&w.c.nodes[i].server,
                       INPUT(signal, .job = all_jobs ? JOB_NO_RANK : id, .rank = JOB_NO_RANK,
                             .signal = SIGTERM, .ends_jobs = true));
    for (uint32_t r = 0; r < RANKS; r++)
        die(&w, r);
    cluster_settle(&w.c);
    for (uint32_t r = 0; r < RANKS; r++)
        n += w.c.nodes[0].jobs[0]->procs[r].state != PROC_STATE_GONE;
    OK_F(!asked || w.c.nodes[0].jobs[0]->phase == JOB_ENDED, "the job has ended on %u nodes",
         nodes);
    cluster_close(&w.c);
    return n;
}

static void test_asked(void)
{
    OK(restarts_when_asked(4, 0, true) == RANKS);
    OK(restarts_when_asked(1, 1, true) == 0);
    OK(restarts_when_asked(4, 4, true) == 0);
    OK(restarts_when_asked(4, 4, false) == 0);
    OK(restarts_when_asked(4, 1, true) == 0); /* the others have not been told yet */
}

int main(int argc, char **argv)
{
    static const struct {
        uint32_t nodes, spares;
        bool late;
    } sizes[] = { { 1, 0, false }, { 4, 0, false }, { 8, 0, false }, { 4, 1, false },
                  { 8, 2, false }, { 4, 1, true },  { 8, 2, true } };
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t nodes = sizes[i].nodes, spares = sizes[i].spares;
        uint64_t good = 0;
        for (uint64_t s = first; s < first + count; s++)
            good += run(nodes, spares, sizes[i].late, s);
        OK_F(good == count,
             "processes are started again on %u nodes, %u spare%s: %llu of %llu seeds", nodes,
             spares, sizes[i].late ? " later" : "", (unsigned long long)good,
             (unsigned long long)count);
    }
    test_asked();
    return tap_done();
}
