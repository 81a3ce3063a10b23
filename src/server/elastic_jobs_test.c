/* elastic_jobs_test.c - groups, fences and connections of processes of several jobs, while nodes of
 * their DVM join and leave, nodes and processes are lost, jobs begin and end: whole daemons joined
 * without a network (tests/cluster_elastic.h), whose messages a seed puts in order.
 *
 * Every member that lives gets one answer to each call, the same as all others; a call is good if
 * no member of it has ended and no node of one is lost: nodes that join, and nodes and jobs that
 * have nothing to do with it, spoil none.  Members of a group know of the same members.  Nothing
 * is received that was not asked for.  The root knows the exit status of each process that its node
 * has seen.  When the last process has ended all jobs have, and no node knows of them any more.
 * Arguments: the number of seeds, the first one, and the name of a kind; then only these are run.
 */
#include "tests/cluster_elastic.h"

enum { RANKS_MAX = 8, SEEDS = 12, ROUNDS = 5, NO_ANSWER = 1, FIRST_TAG = 0x100 };

enum { FENCE = 3, FINALIZE = 5, CONNECT = 10, DISCONNECT = 11, CONSTRUCT = 24, DESTRUCT = 28 };

/* What happens between two messages. */
enum trouble { JOIN, LEAVE, BEGIN, END, EXIT, KILL, LOSE, TROUBLES };

struct kind {
    const char *name;
    uint32_t troubles[TROUBLES]; /* how often, compared to the others */
};

enum { JOINS, LEAVES, EXITS, LOSSES };

static const struct kind kinds[] = {
    [JOINS] = { "joins", { [JOIN] = 2, [BEGIN] = 1 } },
    [LEAVES] = { "leaves", { [JOIN] = 2, [LEAVE] = 2, [BEGIN] = 1, [END] = 1 } },
    [EXITS] = { "exits", { [JOIN] = 1, [BEGIN] = 1, [EXIT] = 4 } },
    [LOSSES] = { "losses",
                 { [JOIN] = 2, [LEAVE] = 1, [BEGIN] = 1, [END] = 1, [KILL] = 1, [LOSE] = 1 } },
};

struct caller {
    bool greeted, in, called;
    uint32_t tag;                 /* of its call */
    unsigned answers;             /* to that */
    int status;                   /* NO_ANSWER */
    uint32_t group[CLUSTER_JOBS]; /* bits of ranks: the members that it was told */
};

struct world {
    struct elastic e;
    const struct kind *kind;
    uint64_t seed;
    struct caller members[CLUSTER_JOBS][RANKS_MAX];
    uint32_t tag, name;
    bool bears; /* PMIX_GROUP_FT_COLLECTIVE */
    uint32_t counts[TROUBLES], good, failed;
    char wrong[200]; /* empty: all is well */
};

/* The processes of all jobs. */
#define EACH_PROC(w, j, r)                                                                         \
    for (uint32_t j = 0; j < (w)->e.c.njobs; j++)                                                  \
        for (uint32_t r = 0; r < (w)->e.sizes[j]; r++)

static void complain(struct world *w, const char *what, uint32_t job, uint32_t rank)
{
    if (!w->wrong[0])
        snprintf(w->wrong, sizeof w->wrong, "seed %llu: %s: rank %u of job %u",
                 (unsigned long long)w->seed, what, rank, job);
}

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)rand_below(&w->e.c.rand, n);
}

static bool lives(const struct world *w, uint32_t job, uint32_t rank)
{
    return w->e.procs[job][rank].runs;
}

/* ---- what a process writes and reads --------------------------------------------------------- */

static void write_to(struct world *w, uint32_t job, uint32_t rank, const char *text)
{
    struct cluster_node *n = &w->e.c.nodes[w->e.c.at[job][rank]];

    server_deliver(&n->server, INPUT_AT(++n->now, in, .connection = w->e.c.peers[job][rank]->id,
                                        .bytes = pmix_bytes(text)));
}

/* The answer to the handshake is no message. */
static void greet(struct world *w, uint32_t job, uint32_t rank)
{
    struct peer *p = w->e.c.peers[job][rank];
    char text[300];

    snprintf(text, sizeof text,
             "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'job%u' "
             "%08x '4.2.4' 'v41' 01 'hash' 00",
             job, rank);
    write_to(w, job, rank, text);
    server_wrote(&w->e.c.nodes[w->e.c.at[job][rank]].server, p, buf_len(&p->out));
    w->members[job][rank].greeted = true;
}

static void note_member(void *arg, struct slice nspace, uint32_t rank)
{
    struct caller *m = arg;
    uint32_t job;

    if (slice_u32(slice_skip(nspace, 3), &job) && job < CLUSTER_JOBS)
        m->group[job] |= UINT32_C(1) << (rank & 31);
}

static void take_answer(struct world *w, uint32_t job, uint32_t rank, uint32_t tag,
                        struct slice body)
{
    struct caller *m = &w->members[job][rank];

    if (tag != m->tag) {
        complain(w, "an answer that nobody waits for", job, rank);
        return;
    }
    m->answers++;
    m->status = pmix_status(&body);
    memset(m->group, 0, sizeof m->group);
    if (m->status == 0)
        pmix_members(body, note_member, m);
}

static void read_all(struct world *w)
{
    EACH_PROC(w, j, r)
    {
        struct peer *p = w->e.c.peers[j][r];
        struct slice all = p ? buf_slice(&p->out) : SLICE_NULL, s = all, body;
        uint32_t tag;
        while (pmix_next(&s, &tag, &body)) {
            if (w->e.fault == ELASTIC_TWICE && tag % 16 == 0 && tag >= FIRST_TAG)
                take_answer(w, j, r, tag, body);
            if (tag >= FIRST_TAG && tag < UINT32_MAX) /* others are events and the handshake */
                take_answer(w, j, r, tag, body);
        }
        if (p)
            server_wrote(&w->e.c.nodes[w->e.c.at[j][r]].server, p, all.len);
    }
}

static void some_steps(struct world *w, uint32_t most)
{
    for (uint32_t n = below(w, most); n && elastic_step(&w->e); n--)
        continue;
    cluster_effects(&w->e.c);
    read_all(w);
}

static void settle(struct world *w)
{
    elastic_settle(&w->e);
    read_all(w);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_of_group(int command)
{
    return command == CONSTRUCT || command == DESTRUCT;
}

/* The members one by one, then PMIX_GROUP_FT_COLLECTIVE if it is wanted. */
static void call(struct world *w, uint32_t job, uint32_t rank, int command)
{
    struct caller *m = &w->members[job][rank];
    char text[1600];
    uint32_t count = 0;
    size_t n;

    if (!m->greeted)
        greet(w, job, rank);
    *m = (struct caller){ .greeted = true, .in = m->in, .called = true, .status = NO_ANSWER };
    m->tag = w->tag++;
    EACH_PROC(w, j, r) count += w->members[j][r].in;
    n = (size_t)snprintf(text, sizeof text, "00000000 %08x 00000000 00000000 02%02x", m->tag,
                         command);
    if (is_of_group(command))
        n += (size_t)snprintf(text + n, sizeof text - n, " 020a 'g%03u'", w->name % 1000);
    n += (size_t)snprintf(text + n, sizeof text - n, " 02%02x %02x", count, 2 * count);
    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in)
            n += (size_t)snprintf(text + n, sizeof text - n, " 0a 'job%u' %02x", j, r);
    }
    snprintf(text + n, sizeof text - n, "%s",
             w->bears && is_of_group(command) ? " 0201 0220 'pmix.grp.ftcoll' 00 0101" : " 0200");
    write_to(w, job, rank, text);
}

/* ---- troubles -------------------------------------------------------------------------------- */

/* Of all that live; false: nobody does. */
static bool choose_process(struct world *w, uint32_t *job, uint32_t *rank)
{
    uint32_t n = 0;

    EACH_PROC(w, j, r)
    {
        if (lives(w, j, r) && below(w, ++n) == 0) {
            *job = j;
            *rank = r;
        }
    }
    return n;
}

static void kill_one(struct world *w)
{
    uint32_t job, rank;

    if (choose_process(w, &job, &rank))
        elastic_end_proc(&w->e, job, rank, PROC_EVENT_DEATH, 9);
}

static void lose_node(struct world *w)
{
    if (w->e.c.nnodes == 1)
        return;
    cluster_effects(&w->e.c); /* what it has done is in its recording */
    elastic_die(&w->e, 1 + below(w, w->e.c.nnodes - 1));
}

static void leave(struct world *w)
{
    uint32_t first = below(w, w->e.c.nnodes);

    for (uint32_t i = 0; i < w->e.c.nnodes; i++) {
        if (elastic_leave(&w->e, (first + i) % w->e.c.nnodes))
            return;
    }
}

/* Most have room for one more job at the end. */
static void begin_job(struct world *w)
{
    if (w->e.c.njobs + 1 < CLUSTER_JOBS)
        elastic_begin_job(&w->e, 1 + below(w, RANKS_MAX), NULL, 0, true);
}

static void finalize(struct world *w, uint32_t job, uint32_t rank)
{
    struct caller *m = &w->members[job][rank];
    char text[100];

    if (!m->greeted)
        greet(w, job, rank);
    m->tag = w->tag++;
    snprintf(text, sizeof text, "00000000 %08x 00000000 00000000 02%02x", m->tag, FINALIZE);
    write_to(w, job, rank, text);
}

/* With or without having taken part in anything. */
static void exit_one(struct world *w)
{
    uint32_t job, rank;

    if (!choose_process(w, &job, &rank))
        return;
    if (w->members[job][rank].greeted &&
        !(w->members[job][rank].in && w->members[job][rank].called))
        finalize(w, job, rank);
    cluster_effects(&w->e.c);
    read_all(w);
    elastic_end_proc(&w->e, job, rank, PROC_EVENT_EXIT, 0);
}

/* Its processes leave, if none of them is in a call. */
static void end_job(struct world *w, uint32_t job)
{
    for (uint32_t r = 0; r < w->e.sizes[job]; r++) {
        if (w->members[job][r].in)
            return;
    }
    for (uint32_t r = 0; r < w->e.sizes[job]; r++) {
        if (!lives(w, job, r))
            continue;
        finalize(w, job, r);
        cluster_effects(&w->e.c);
        read_all(w);
        elastic_end_proc(&w->e, job, r, PROC_EVENT_EXIT, 0);
    }
}

static void happen(struct world *w, enum trouble t)
{
    w->counts[t]++;
    switch (t) {
    case JOIN: elastic_grow(&w->e); break;
    case LEAVE: leave(w); break;
    case BEGIN: begin_job(w); break;
    case END: end_job(w, below(w, w->e.c.njobs)); break;
    case EXIT: exit_one(w); break;
    case KILL: kill_one(w); break;
    case LOSE: lose_node(w); break;
    case TROUBLES: break;
    }
}

static void trouble(struct world *w)
{
    uint32_t sum = 0, chosen;

    for (uint32_t t = 0; t < TROUBLES; t++)
        sum += w->kind->troubles[t];
    chosen = below(w, sum);
    for (uint32_t t = 0; t < TROUBLES; t++) {
        if (chosen < w->kind->troubles[t]) {
            happen(w, (enum trouble)t);
            return;
        }
        chosen -= w->kind->troubles[t];
    }
}

/* ---- a call of all members ------------------------------------------------------------------- */

static bool next_caller(struct world *w, uint32_t *job, uint32_t *rank)
{
    uint32_t n = 0;

    EACH_PROC(w, j, r)
    {
        const struct caller *m = &w->members[j][r];
        if (m->in && !m->called && lives(w, j, r) && below(w, ++n) == 0) {
            *job = j;
            *rank = r;
        }
    }
    return n;
}

static void all_call(struct world *w, int command)
{
    uint32_t troubles = below(w, 5), job, rank;

    EACH_PROC(w, j, r) w->members[j][r].called = false;
    while (next_caller(w, &job, &rank)) {
        call(w, job, rank, command);
        some_steps(w, 8);
        for (; troubles && below(w, 3) == 0; troubles--) {
            trouble(w);
            some_steps(w, 8);
        }
    }
    for (; troubles; troubles--) {
        some_steps(w, 40);
        trouble(w);
    }
    settle(w);
}

static bool is_spoiled(const struct world *w)
{
    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in && !lives(w, j, r))
            return true;
    }
    return false;
}

static const struct caller *first_alive(const struct world *w)
{
    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in && lives(w, j, r))
            return &w->members[j][r];
    }
    return NULL;
}

static void check_answers(struct world *w)
{
    const struct caller *first = first_alive(w);
    bool spoiled = is_spoiled(w);

    EACH_PROC(w, j, r)
    {
        const struct caller *m = &w->members[j][r];
        if (!m->in || !lives(w, j, r))
            continue;
        if (m->answers != 1)
            complain(w, m->answers ? "answered twice" : "never answered", j, r);
        else if ((m->status != 0) != (first->status != 0))
            complain(w, "another status", j, r);
        else if (m->status != 0 && !spoiled)
            complain(w, "a call fails, and no member has ended", j, r);
    }
    if (first)
        *(first->status ? &w->failed : &w->good) += 1;
}

static void check_group(struct world *w)
{
    const struct caller *first = first_alive(w);

    if (!first || first->status != 0)
        return;
    EACH_PROC(w, j, r)
    {
        const struct caller *m = &w->members[j][r];
        bool named = first->group[j] & UINT32_C(1) << r;
        if (m->in && lives(w, j, r) && memcmp(m->group, first->group, sizeof m->group))
            complain(w, "other members", j, r);
        if (m->in && lives(w, j, r) && !named)
            complain(w, "lives, and is not a member", j, r);
        if (named && (!m->in || (!m->called && w->bears)))
            complain(w, "is a member, and never called", j, r);
    }
}

/* Of one job, or of all. */
static bool choose_members(struct world *w)
{
    uint32_t of = below(w, 2) ? below(w, w->e.c.njobs) : CLUSTER_JOBS, n = 0;

    EACH_PROC(w, j, r)
    {
        bool may = lives(w, j, r) && (of == CLUSTER_JOBS || of == j);
        n += w->members[j][r].in = may && below(w, 2);
    }
    return n > 1;
}

static bool succeeds(struct world *w, int command)
{
    const struct caller *first;

    all_call(w, command);
    check_answers(w);
    if (command == CONSTRUCT)
        check_group(w);
    first = first_alive(w);
    return first && first->status == 0;
}

static void round_of_calls(struct world *w)
{
    static const int calls[][2] = { { FENCE, FENCE },
                                    { CONNECT, DISCONNECT },
                                    { CONSTRUCT, DESTRUCT } };
    const int *pair = calls[below(w, 3)];

    if (!choose_members(w))
        return;
    w->bears = below(w, 2);
    if (!succeeds(w, pair[0]) || !succeeds(w, pair[1]))
        w->name++; /* otherwise the next group has the same */
}

/* ---- the end --------------------------------------------------------------------------------- */

static void check_node(struct world *w, uint32_t node)
{
    const struct cluster_node *n = &w->e.c.nodes[node];
    const struct overlay *o = &n->member.overlay;

    for (uint32_t j = 0; j < w->e.c.njobs; j++) {
        if (n->jobs[j])
            complain(w, "a node still knows a job", j, node);
    }
    if (!list_empty(&o->unacked))
        complain(w, "a node keeps operations", 0, node);
    if (!list_empty(&o->pendings))
        complain(w, "a collective is pending", 0, node);
}

static void finish(struct world *w)
{
    EACH_PROC(w, j, r) w->members[j][r].in = false;
    for (uint32_t j = 0; j < w->e.c.njobs; j++)
        end_job(w, j);
    settle(w);
    for (uint32_t j = 0; j < w->e.c.njobs; j++) {
        if (!w->e.over[j])
            complain(w, "a job does not end", j, 0);
    }
    for (uint32_t n = 0; n < w->e.c.nnodes; n++) {
        if (!w->e.c.nodes[n].gone)
            check_node(w, n);
        else if (w->e.c.nodes[n].opened && !router_is_lost(&w->e.c.nodes[0].router, n))
            complain(w, "a node is gone, and counts", 0, n);
    }
    if (w->e.wrong)
        complain(w, w->e.wrong, 0, 0);
}

static void begin(struct world *w, enum elastic_fault fault)
{
    elastic_open(&w->e, 1 + below(w, 5), CLUSTER_NODES, w->seed);
    w->e.fault = fault;
    w->tag = FIRST_TAG;
    elastic_begin_job(&w->e, RANKS_MAX, NULL, 0, true);
    if (below(w, 2))
        elastic_begin_job(&w->e, 1 + below(w, RANKS_MAX), NULL, 0, true);
    settle(w);
}

struct totals {
    uint64_t good, calls, failed, troubles[TROUBLES];
};

static void count(const struct world *w, struct totals *t)
{
    t->good += !w->wrong[0];
    t->calls += w->good + w->failed;
    t->failed += w->failed;
    for (int i = 0; i < TROUBLES; i++)
        t->troubles[i] += w->counts[i];
}

static void run(const struct kind *k, uint64_t seed, enum elastic_fault fault, struct totals *t)
{
    static struct world w;

    w = (struct world){ .seed = seed, .kind = k };
    w.e.c.rand = seed;
    begin(&w, fault);
    for (uint32_t n = 0; n < ROUNDS && !w.wrong[0]; n++)
        round_of_calls(&w);
    finish(&w);
    if (w.wrong[0] && !fault)
        printf("# %s, %s\n", k->name, w.wrong);
    count(&w, t);
    cluster_close(&w.e.c);
}

static void run_kind(const struct kind *k, uint64_t first, uint64_t n)
{
    struct totals t = { 0 };

    for (uint64_t s = first; s < first + n; s++)
        run(k, s, ELASTIC_NO_FAULT, &t);
    OK_F(t.good == n, "%s: %llu of %llu seeds", k->name, (unsigned long long)t.good,
         (unsigned long long)n);
    printf("# %llu calls, %llu of them failed\n", (unsigned long long)t.calls,
           (unsigned long long)t.failed);
    OK_F(t.failed < t.calls, "most calls end well");
}

/* Seeds that have found defects. */
static void test_found(void)
{
    static const struct {
        uint32_t kind;
        uint64_t seed;
    } found[] = {
        { EXITS, 109 },    /* one ends well elsewhere when those of its job here have ended */
        { LOSSES, 5706 },  /* a member whose job is over when the group is answered */
        { LOSSES, 20154 }, /* the node that is asked about a member that has ended is lost */
        { LOSSES, 20022 }, /* a fence that some nodes have contributed to when its job ends */
    };

    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        run_kind(&kinds[found[i].kind], found[i].seed, 1);
}

/* A host that makes this mistake is noticed. */
static void test_control(const char *what, const struct kind *k, enum elastic_fault fault)
{
    enum { MOST = 8 };
    struct totals t = { 0 };

    for (uint64_t s = 1; s <= MOST; s++)
        run(k, s, fault, &t);
    OK_F(t.good < MOST, "the control: %s, noticed in %llu of %d runs", what,
         (unsigned long long)(MOST - t.good), MOST);
}

static void test_controls(void)
{
    const struct kind *losses = &kinds[LOSSES];

    test_control("a node that joins misses broadcasts", &kinds[LEAVES], ELASTIC_MISSES);
    test_control("a node that joins knows no older job", &kinds[JOINS], ELASTIC_NOT_REPEATED);
    test_control("nodes keep jobs that are over", losses, ELASTIC_KEEPS_JOBS);
    test_control("a node reports another exit status", losses, ELASTIC_OTHER_STATUS);
    test_control("an answer is sent twice", losses, ELASTIC_TWICE);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;

    if (argc <= 1) {
        test_controls();
        test_found();
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc <= 3 || !strcmp(argv[3], kinds[i].name))
            run_kind(&kinds[i], first, n);
    }
    return tap_done();
}
