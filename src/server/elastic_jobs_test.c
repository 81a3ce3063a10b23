/* elastic_jobs_test.c - groups, fences, connections, spawns, aborts and names of processes of
 * several jobs, while nodes of their DVM join, brought by it or by themselves, and leave, nodes,
 * processes and the root are lost, jobs begin and end: whole daemons joined without a network
 * (tests/cluster_elastic.h), whose messages a seed puts in order.
 *
 * Every member that lives gets one answer to each call, the same as all others; a call is good if
 * no member of it has ended and no node of one is lost: nodes that join, and nodes and jobs that
 * have nothing to do with it, spoil none.  Members of a group know of the same members.  Nothing
 * is received that was not asked for.  The root knows the exit status of each process that its node
 * has seen.  A spawn, a publication and a look-up have one answer.  An abort ends its job and those
 * that are connected with it, and no others.  When the root is lost, all others end, and come to
 * another one.  When the last process has ended all jobs have, and no node knows of them any more.
 * Arguments: the number of seeds, the first one, and the name of a kind; then only these are run.
 */
#include "tests/cluster_elastic.h"
#include "tests/seeds.h"

enum { RANKS_MAX = 8, SEEDS = SEEDS_OF(560, 40), ROUNDS = 5, NO_ANSWER = 1, FIRST_TAG = 0x100 };
enum { ASKS = 64, ABORT_CODES = 30, TRIES = 60, RESTARTED = -4 };

enum {
    ABORT = 1,
    FENCE = 3,
    FINALIZE = 5,
    PUBLISH = 6,
    LOOKUP = 7,
    SPAWN = 9,
    CONNECT = 10,
    DISCONNECT = 11,
    CONSTRUCT = 24,
    DESTRUCT = 28
};

/* What happens between two messages. */
enum trouble {
    JOIN,
    LEAVE,
    BEGIN,
    END,
    EXIT,
    KILL,
    LOSE,
    SPAWN_JOB,
    ABORT_JOB,
    PUBLISH_NAME,
    LOSE_TOP,
    TROUBLES
};

struct kind {
    const char *name;
    uint32_t troubles[TROUBLES]; /* how often, compared to the others */
    uint32_t restarts;           /* of each process */
    bool dials_in;               /* nodes come by themselves */
};

enum { JOINS, LEAVES, EXITS, LOSSES, SPAWNS, ABORTS, TAKEOVERS, HEALS, ARRIVALS };

static const struct kind kinds[] = {
    [JOINS] = { "joins", { [JOIN] = 2, [BEGIN] = 1 } },
    [LEAVES] = { "leaves", { [JOIN] = 2, [LEAVE] = 2, [BEGIN] = 1, [END] = 1 } },
    [EXITS] = { "exits", { [JOIN] = 1, [BEGIN] = 1, [EXIT] = 4 } },
    [LOSSES] = { "losses",
                 { [JOIN] = 2, [LEAVE] = 1, [BEGIN] = 1, [END] = 1, [KILL] = 1, [LOSE] = 1 } },
    [SPAWNS] = { "spawns",
                 { [JOIN] = 2,
                   [LEAVE] = 2,
                   [END] = 2,
                   [EXIT] = 1,
                   [LOSE] = 1,
                   [SPAWN_JOB] = 4,
                   [PUBLISH_NAME] = 4 } },
    [ABORTS] = { "aborts",
                 { [JOIN] = 2,
                   [LEAVE] = 2,
                   [BEGIN] = 4,
                   [SPAWN_JOB] = 2,
                   [ABORT_JOB] = 1,
                   [PUBLISH_NAME] = 2 } },
    [TAKEOVERS] = { "takeovers",
                    { [JOIN] = 6,
                      [LEAVE] = 1,
                      [BEGIN] = 1,
                      [LOSE] = 1,
                      [SPAWN_JOB] = 4,
                      [ABORT_JOB] = 2,
                      [PUBLISH_NAME] = 4,
                      [LOSE_TOP] = 3 } },
    [HEALS] = { "heals",
                { [JOIN] = 4,
                  [LEAVE] = 1,
                  [BEGIN] = 1,
                  [KILL] = 6,
                  [LOSE] = 2,
                  [SPAWN_JOB] = 2,
                  [ABORT_JOB] = 1,
                  [PUBLISH_NAME] = 2 },
                .restarts = 100 },
    [ARRIVALS] = { "arrivals",
                   { [JOIN] = 8,
                     [LEAVE] = 1,
                     [BEGIN] = 2,
                     [EXIT] = 1,
                     [LOSE] = 1,
                     [SPAWN_JOB] = 3,
                     [ABORT_JOB] = 1,
                     [PUBLISH_NAME] = 3,
                     [LOSE_TOP] = 1 },
                   .dials_in = true },
};

struct caller {
    bool greeted, in, called;
    bool calls;    /* once more */
    bool outlives; /* it lived when the root was lost */
    bool is_new;   /* it was started again since the members were chosen */
    unsigned start;
    uint32_t tag;                 /* of its call */
    unsigned answers;             /* to that */
    int status;                   /* NO_ANSWER */
    uint32_t group[CLUSTER_JOBS]; /* bits of ranks: the members that it was told */
};

/* What the processes do while the DVM changes: each change meets each of them in some seed
 * (docs/design/elastic.md). */
enum change { GROW, SHRINK, HEAL, TAKEOVER, ARRIVE, CHANGES };
enum deed { IN_FENCE, IN_GROUP, IN_SPAWN, IN_ABORT, IN_CONNECT, IN_PUBLISH, DEEDS };

static const char *const change_names[CHANGES] = { "grow", "shrink", "heal", "takeover", "join" };
static const char *const deed_names[DEEDS] = { "fence", "group",   "spawn",
                                               "abort", "connect", "publish" };

/* What a process asks for alone. */
struct ask {
    int command;
    uint32_t job, rank, tag, of; /* of: the publication that is looked for, of this tag */
    unsigned answers;
    int status;
    bool gone; /* who has asked has ended, and was started again */
};

struct world {
    struct elastic e;
    const struct kind *kind;
    uint64_t seed;
    struct caller members[CLUSTER_JOBS][RANKS_MAX];
    uint32_t tag, name;
    bool takes[CLUSTER_JOBS]; /* it has members */
    bool bears;               /* PMIX_GROUP_FT_COLLECTIVE */
    bool in_group;            /* the members are in a group */
    bool lacks;               /* ... without one that was started again */
    struct ask asks[ASKS];
    uint32_t nasks;
    bool aborted[CLUSTER_JOBS];               /* it, or one that ends with it */
    bool related[CLUSTER_JOBS][CLUSTER_JOBS]; /* those have ever been connected */
    uint32_t codes;                           /* bits: of the aborts */
    uint32_t counts[TROUBLES], good, failed, eras;
    bool changed[CHANGES], done[DEEDS]; /* in this round of calls */
    bool met[CHANGES][DEEDS];
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

    for (uint32_t i = 0; i < w->nasks; i++) {
        struct ask *a = &w->asks[i];
        if (a->gone || a->tag != tag || a->job != job || a->rank != rank)
            continue;
        a->answers++;
        a->status = pmix_status(&body);
        return;
    }
    if (tag != m->tag && w->kind->restarts) /* to a call that could not end well any more */
        return;
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

/* A process that was started again has called nothing, and is in no group. */
static void note_starts(struct world *w)
{
    EACH_PROC(w, j, r)
    {
        struct caller *m = &w->members[j][r];
        if (m->start == w->e.starts[j][r])
            continue;
        w->lacks = w->lacks || (m->in && w->in_group);
        w->changed[HEAL] = w->changed[HEAL] || m->start > 0;
        *m = (struct caller){ .in = m->in && !w->in_group,
                              .is_new = m->start > 0,
                              .start = w->e.starts[j][r],
                              .status = NO_ANSWER };
        for (uint32_t i = 0; i < w->nasks; i++) {
            if (w->asks[i].job == j && w->asks[i].rank == r)
                w->asks[i].gone = true;
        }
    }
}

static void read_all(struct world *w)
{
    note_starts(w);
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

    note_starts(w);
    if (!m->greeted)
        greet(w, job, rank);
    *m = (struct caller){ .greeted = true,
                          .in = m->in,
                          .is_new = m->is_new,
                          .start = m->start,
                          .called = true,
                          .status = NO_ANSWER };
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

/* ---- what a process asks for alone ----------------------------------------------------------- */

static void ask(struct world *w, uint32_t job, uint32_t rank, int command, uint32_t of,
                const char *body)
{
    struct ask *a = &w->asks[w->nasks];
    char text[400];

    note_starts(w);
    if (!w->members[job][rank].greeted)
        greet(w, job, rank);
    w->nasks++;
    w->done[command == SPAWN ? IN_SPAWN : command == ABORT ? IN_ABORT : IN_PUBLISH] = true;
    *a = (struct ask){ command, job, rank, w->tag++, of, 0, NO_ANSWER, false };
    snprintf(text, sizeof text, "00000000 %08x 00000000 00000000 02%02x %s", a->tag, command, body);
    write_to(w, job, rank, text);
}

static bool may_ask(const struct world *w)
{
    return w->nasks < ASKS;
}

/* PMIX_JOB_RECOVERABLE, one application, and no attributes of it. */
static void ask_spawn(struct world *w, uint32_t job, uint32_t rank)
{
    char body[100];

    snprintf(body, sizeof body,
             "0201 02 1a 'pmix.recover' 00 0101 0201 02 0a 'prog' 00 00 02 '' %02x 00",
             2 * (1 + below(w, RANKS_MAX)));
    ask(w, job, rank, SPAWN, 0, body);
}

/* The name is the tag of the request. */
static void ask_publish(struct world *w, uint32_t job, uint32_t rank)
{
    char body[100];

    snprintf(body, sizeof body, "0200 0201 02 12 '%08x' 00 03 04 'v'", w->tag);
    ask(w, job, rank, PUBLISH, 0, body);
}

static void ask_lookup(struct world *w, uint32_t job, uint32_t rank, uint32_t name)
{
    char body[100];

    snprintf(body, sizeof body, "0200 0201 02 12 '%08x' 0200", name);
    ask(w, job, rank, LOOKUP, name, body);
}

/* Of the own job, or of a related one. */
static void ask_abort(struct world *w, uint32_t job, uint32_t rank, uint32_t victim)
{
    uint32_t code = 1 + below(w, ABORT_CODES);
    char body[100];

    if (victim == job)
        snprintf(body, sizeof body, "02 %02x 02 02 '' 0200", 2 * code);
    else
        snprintf(body, sizeof body, "02 %02x 02 02 '' 0201 02 0a 'job%u' feffffff0f", 2 * code,
                 victim);
    w->codes |= UINT32_C(1) << code;
    ask(w, job, rank, ABORT, victim, body);
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

    if (!choose_process(w, &job, &rank))
        return;
    note_starts(w);
    if (w->kind->restarts && !w->members[job][rank].greeted)
        greet(w, job, rank); /* else its node alone would start it again (daemon/process.c) */
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

    note_starts(w);
    if (!m->greeted)
        greet(w, job, rank);
    m->tag = w->tag++;
    m->answers = 0;
    snprintf(text, sizeof text, "00000000 %08x 00000000 00000000 02%02x", m->tag, FINALIZE);
    write_to(w, job, rank, text);
}

/* With or without having taken part in anything. */
static void exit_one(struct world *w)
{
    uint32_t job, rank;

    if (!choose_process(w, &job, &rank))
        return;
    note_starts(w);
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

static void spawn(struct world *w)
{
    uint32_t job, rank;

    if (may_ask(w) && choose_process(w, &job, &rank))
        ask_spawn(w, job, rank);
}

/* A name, or its value. */
static void publish(struct world *w)
{
    uint32_t job, rank;

    if (!may_ask(w) || !choose_process(w, &job, &rank))
        return;
    for (uint32_t i = 0; i < w->nasks; i++) {
        const struct ask *a = &w->asks[i];
        if (a->command == PUBLISH && a->answers && below(w, 3) == 0) {
            ask_lookup(w, job, rank, a->tag);
            return;
        }
    }
    ask_publish(w, job, rank);
}

static void abort_job(struct world *w)
{
    uint32_t job, rank;

    if (!may_ask(w) || !choose_process(w, &job, &rank))
        return;
    for (uint32_t j = 0; j < w->e.c.njobs; j++) {
        if (w->e.spawner[j] == job && w->e.sizes[j] && !w->e.over[j] && below(w, 2)) {
            ask_abort(w, job, rank, j);
            return;
        }
    }
    ask_abort(w, job, rank, job);
    w->aborted[job] = true;
}

static void lose_top(struct world *w)
{
    cluster_effects(&w->e.c);
    read_all(w);
    w->e.top_is_lost = true;
    elastic_die(&w->e, 0);
    EACH_PROC(w, j, r) w->members[j][r].outlives = lives(w, j, r);
}

static void happen(struct world *w, enum trouble t)
{
    if (w->e.top_is_lost)
        return;
    w->counts[t]++;
    if (t == JOIN)
        w->changed[w->kind->dials_in ? ARRIVE : GROW] = true;
    w->changed[SHRINK] = w->changed[SHRINK] || t == LEAVE;
    w->changed[TAKEOVER] = w->changed[TAKEOVER] || t == LOSE_TOP;
    switch (t) {
    case JOIN: elastic_grow(&w->e); break;
    case LEAVE: leave(w); break;
    case BEGIN: begin_job(w); break;
    case END: end_job(w, below(w, w->e.c.njobs)); break;
    case EXIT: exit_one(w); break;
    case KILL: kill_one(w); break;
    case LOSE: lose_node(w); break;
    case SPAWN_JOB: spawn(w); break;
    case ABORT_JOB: abort_job(w); break;
    case PUBLISH_NAME: publish(w); break;
    case LOSE_TOP: lose_top(w); break;
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

/* Jobs that have spawned one another, or have been connected, may end together. */
static bool spread_aborts(struct world *w)
{
    bool more = false;

    for (uint32_t a = 0; a < w->e.c.njobs; a++) {
        for (uint32_t b = 0; b < w->e.c.njobs; b++) {
            bool together = w->related[a][b] || w->e.spawner[a] == b || w->e.spawner[b] == a;
            if (together && w->aborted[a] && !w->aborted[b])
                more = w->aborted[b] = true;
        }
    }
    return more;
}

/* Jobs end by aborts of theirs, and by no others. */
static void check_aborts(struct world *w)
{
    while (spread_aborts(w))
        continue;
    EACH_PROC(w, j, r)
    {
        const struct elastic_proc *p = &w->e.procs[j][r];
        bool may_end = w->aborted[j] || w->e.not_started[j];
        if (p->ended && p->event == PROC_EVENT_DEATH && p->code == SIGTERM && !may_end)
            complain(w, "ended by an abort of others", j, r);
    }
    for (uint32_t j = 0; j < w->e.c.njobs; j++) {
        bool by_abort = w->e.over[j] && w->aborted[j] && w->kind == &kinds[ABORTS];
        if (by_abort && w->e.codes[j] && w->e.codes[j] < 128 &&
            !(w->codes & UINT32_C(1) << (w->e.codes[j] & 31)))
            complain(w, "its code is not that of an abort", j, 0);
    }
}

static bool runs(const struct world *w, uint32_t job)
{
    for (uint32_t r = 0; r < w->e.sizes[job]; r++) {
        if (lives(w, job, r))
            return true;
    }
    return false;
}

/* Of a living asker: nothing else ends a wait. */
static void check_ask(struct world *w, struct ask *a)
{
    bool good = a->status == 0, quiet = !w->counts[LOSE] && !w->counts[ABORT_JOB];

    if (a->gone || !lives(w, a->job, a->rank))
        return;
    if (a->answers != 1)
        complain(w, a->answers ? "a request is answered twice" : "a request is never answered",
                 a->job, a->rank);
    else if (a->command == SPAWN && !good && quiet && w->e.c.njobs < CLUSTER_JOBS)
        complain(w, "a spawn fails", a->job, a->rank);
    else if (a->command == PUBLISH && !good)
        complain(w, "a name is not published", a->job, a->rank);
    else if (a->command == ABORT && a->of == a->job)
        complain(w, "lives after its abort", a->job, a->rank);
    else if (a->command == ABORT && good && runs(w, a->of))
        complain(w, "a job that it has aborted lives", a->job, a->rank);
}

static const struct ask *publication(const struct world *w, uint32_t name)
{
    for (uint32_t i = 0; i < w->nasks; i++) {
        if (w->asks[i].command == PUBLISH && w->asks[i].tag == name)
            return &w->asks[i];
    }
    return NULL;
}

/* Names stay as long as their publisher at least. */
static void check_lookup(struct world *w, const struct ask *a)
{
    const struct ask *of = publication(w, a->of);

    if (lives(w, a->job, a->rank) && of && of->status == 0 && lives(w, of->job, of->rank) &&
        !a->gone && a->status != 0)
        complain(w, "a published name is not found", a->job, a->rank);
}

/* Publications stay, as they may be looked for. */
static void check_asks(struct world *w)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < w->nasks; i++)
        check_ask(w, &w->asks[i]);
    for (uint32_t i = 0; i < w->nasks; i++) {
        if (w->asks[i].command == LOOKUP)
            check_lookup(w, &w->asks[i]);
    }
    for (uint32_t i = 0; i < w->nasks; i++) {
        if (w->asks[i].command == PUBLISH && kept < ASKS / 2)
            w->asks[kept++] = w->asks[i];
    }
    w->nasks = kept;
}

/* A job of which the spawner was told that it has not started has ended. */
static void check_spawned(struct world *w)
{
    EACH_PROC(w, j, r)
    {
        if (w->e.not_started[j] && lives(w, j, r))
            complain(w, "runs in a job that has failed to start", j, r);
    }
}

static bool is_spoiled(const struct world *w)
{
    if (w->lacks)
        return true;
    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in && !lives(w, j, r))
            return true;
    }
    return false;
}

/* It has no answer, or one by which all have to meet again. */
static bool has_to_meet(const struct caller *m, bool some_new)
{
    return !m->called || m->answers == 0 || m->status == RESTARTED || (some_new && m->status);
}

static bool some_are_new(const struct world *w)
{
    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in && w->members[j][r].is_new)
            return true;
    }
    return false;
}

/* Without one that has ended, all have the same answer, and none is good. */
static bool have_to_meet(const struct world *w)
{
    bool some_new = some_are_new(w) && !is_spoiled(w);

    EACH_PROC(w, j, r)
    {
        if (w->members[j][r].in && lives(w, j, r) && has_to_meet(&w->members[j][r], some_new))
            return true;
    }
    return false;
}

/* All that do not wait now. */
static void meet(struct world *w, int command)
{
    EACH_PROC(w, j, r)
    {
        struct caller *m = &w->members[j][r];
        m->calls = m->in && lives(w, j, r) && !(m->called && m->answers == 0);
    }
    EACH_PROC(w, j, r)
    {
        if (!w->members[j][r].calls || !lives(w, j, r))
            continue;
        call(w, j, r, command);
        some_steps(w, 8);
    }
    settle(w);
}

/* Who was started again, and who was told of it, meets the others. */
static void call_again(struct world *w, int command)
{
    uint32_t n = 0;

    while (w->kind->restarts && have_to_meet(w) && n++ < TRIES)
        meet(w, command);
    if (n > TRIES)
        complain(w, "calls without end", 0, 0);
}

static void all_call(struct world *w, int command)
{
    uint32_t troubles = below(w, 5), job, rank;

    EACH_PROC(w, j, r) w->members[j][r].called = false;
    while (!w->e.top_is_lost && next_caller(w, &job, &rank)) {
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
    if (w->e.top_is_lost)
        return;
    call_again(w, command);
    check_asks(w);
    check_spawned(w);
    check_aborts(w);
}

/* One that was started again may call when those that it would meet have been answered, and one
 * has ended. */
static bool may_come_late(const struct world *w, const struct caller *m)
{
    return m->is_new && is_spoiled(w);
}

static const struct caller *first_alive(const struct world *w)
{
    EACH_PROC(w, j, r)
    {
        const struct caller *m = &w->members[j][r];
        if (m->in && lives(w, j, r) && !may_come_late(w, m))
            return m;
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
        if (!m->in || !lives(w, j, r) || (w->kind->restarts && !m->called))
            continue;
        if (m->answers != 1)
            complain(w, m->answers ? "answered twice" : "never answered", j, r);
        else if (first && !may_come_late(w, m) && (m->status != 0) != (first->status != 0))
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
        if (named && (!m->in || (!m->called && !m->is_new && w->bears)))
            complain(w, "is a member, and never called", j, r);
    }
}

/* Of one job, or of all. */
static bool choose_members(struct world *w)
{
    bool one = below(w, 2);
    uint32_t of = one ? below(w, w->e.c.njobs) : CLUSTER_JOBS, n = 0;

    memset(w->takes, 0, sizeof w->takes);
    EACH_PROC(w, j, r)
    {
        bool may = lives(w, j, r) && (of == CLUSTER_JOBS || of == j);
        n += w->members[j][r].in = may && (w->kind->restarts || below(w, 2));
        w->takes[j] = w->takes[j] || w->members[j][r].in;
        w->members[j][r].is_new = false;
    }
    return n > 1;
}

/* Members of jobs that have once been connected. */
static void relate(struct world *w)
{
    for (uint32_t a = 0; a < CLUSTER_JOBS; a++) {
        for (uint32_t b = 0; b < CLUSTER_JOBS; b++)
            w->related[a][b] = w->related[a][b] || (w->takes[a] && w->takes[b]);
    }
}

static bool succeeds(struct world *w, int command)
{
    const struct caller *first;

    w->done[is_of_group(command) ? IN_GROUP : command == FENCE ? IN_FENCE : IN_CONNECT] = true;
    if (command == CONNECT)
        relate(w);
    all_call(w, command);
    if (w->e.top_is_lost)
        return false;
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
    bool good;

    if (!choose_members(w))
        return;
    w->bears = below(w, 2);
    good = succeeds(w, pair[0]);
    w->in_group = good && pair[0] == CONSTRUCT;
    if (!good || !succeeds(w, pair[1]))
        w->name++; /* otherwise the next group has the same */
    w->in_group = w->lacks = false;
}

static void begin(struct world *w, uint32_t nodes, uint64_t seed, enum elastic_fault fault)
{
    memset(&w->e, 0, sizeof w->e);
    memset(w->members, 0, sizeof w->members);
    memset(w->aborted, 0, sizeof w->aborted);
    memset(w->related, 0, sizeof w->related);
    w->nasks = w->codes = 0;
    elastic_open(&w->e, w->kind->dials_in ? 1 : nodes, CLUSTER_NODES, seed, w->kind->dials_in);
    w->e.c.restarts = w->kind->restarts;
    w->e.fault = fault;
    w->tag = FIRST_TAG;
    for (uint32_t n = 1; w->kind->dials_in && n < nodes; n++) {
        elastic_grow(&w->e);
        some_steps(w, 8);
    }
    elastic_begin_job(&w->e, RANKS_MAX, NULL, 0, true);
    if (below(w, 2))
        elastic_begin_job(&w->e, 1 + below(w, RANKS_MAX), NULL, 0, true);
    settle(w);
}

/* ---- the root is lost ------------------------------------------------------------------------ */

/* Nobody is there any more, and no two of those that have been answered have different answers. */
static void check_lost_top(struct world *w)
{
    int status = NO_ANSWER;

    for (uint32_t n = 0; n < w->e.c.nnodes; n++) {
        if (!w->e.c.nodes[n].gone)
            complain(w, "a node stays without a root", 0, n);
    }
    EACH_PROC(w, j, r)
    {
        const struct caller *m = &w->members[j][r];
        if (lives(w, j, r))
            complain(w, "runs without a root", j, r);
        if (m->answers > 1)
            complain(w, "answered twice", j, r);
        if (!m->in || !m->called || !m->answers || !m->outlives)
            continue;
        if (status != NO_ANSWER && (status != 0) != (m->status != 0))
            complain(w, "another status when the root is lost", j, r);
        status = m->status;
    }
}

/* The nodes come to another root, one by one. */
static void take_over(struct world *w)
{
    check_lost_top(w);
    cluster_close(&w->e.c);
    w->eras++;
    begin(w, 1, rand_next(&w->e.c.rand), w->e.fault);
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
        bool lost = router_is_lost(&w->e.c.nodes[0].router, n);
        if (!w->e.c.nodes[n].gone)
            check_node(w, n);
        if (w->e.c.nodes[n].opened && w->e.c.nodes[n].gone != lost)
            complain(w, lost ? "a node is lost, and lives" : "a node is gone, and counts", 0, n);
    }
    if (w->e.wrong)
        complain(w, w->e.wrong, 0, 0);
}

static void note_met(struct world *w)
{
    for (int c = 0; c < CHANGES; c++) {
        for (int d = 0; d < DEEDS; d++)
            w->met[c][d] = w->met[c][d] || (w->changed[c] && w->done[d]);
    }
    memset(w->changed, 0, sizeof w->changed);
    memset(w->done, 0, sizeof w->done);
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct totals {
    uint64_t good, calls, failed, troubles[TROUBLES];
    bool met[CHANGES][DEEDS];
};

static void count(const struct world *w, struct totals *t)
{
    t->good += !w->wrong[0];
    t->calls += w->good + w->failed;
    t->failed += w->failed;
    for (int i = 0; i < TROUBLES; i++)
        t->troubles[i] += w->counts[i];
    for (int i = 0; i < CHANGES * DEEDS; i++)
        (&t->met[0][0])[i] |= (&w->met[0][0])[i];
}

static void run(const struct kind *k, uint64_t seed, enum elastic_fault fault, struct totals *t)
{
    static struct world w;
    uint64_t rand = seed;

    w = (struct world){ .seed = seed, .kind = k };
    begin(&w, 1 + (uint32_t)rand_below(&rand, 5), seed, fault);
    for (uint32_t n = 0; n < ROUNDS && !w.wrong[0]; n++) {
        round_of_calls(&w);
        note_met(&w);
        if (w.e.top_is_lost)
            take_over(&w);
    }
    finish(&w);
    if (w.wrong[0] && !fault)
        printf("# %s, %s\n", k->name, w.wrong);
    count(&w, t);
    cluster_close(&w.e.c);
}

static void run_kind(const struct kind *k, uint64_t first, uint64_t n, struct totals *all)
{
    struct totals t = { 0 };

    for (uint64_t s = first; s < first + n; s++)
        run(k, s, ELASTIC_NO_FAULT, &t);
    OK_F(t.good == n, "%s: %llu of %llu seeds", k->name, (unsigned long long)t.good,
         (unsigned long long)n);
    printf("# %llu calls, %llu of them failed\n", (unsigned long long)t.calls,
           (unsigned long long)t.failed);
    OK_F(t.failed < t.calls, "most calls end well");
    for (int i = 0; all && i < CHANGES * DEEDS; i++)
        (&all->met[0][0])[i] |= (&t.met[0][0])[i];
}

static void check_met(const struct totals *all)
{
    for (int c = 0; c < CHANGES; c++) {
        for (int d = 0; d < DEEDS; d++) {
            OK_F(all->met[c][d], "%s meets %s", change_names[c], deed_names[d]);
        }
    }
}

/* Seeds that have found defects. */
static void test_found(void)
{
    static const struct {
        uint32_t kind;
        uint64_t seed;
    } found[] = {
        { EXITS, 109 },    /* one ends well elsewhere when those of its job here have ended */
        { HEALS, 42 },     /* a node that joins after processes were started again replaces one */
        { SPAWNS, 17 },    /* a node is lost with processes that have not been started yet */
        { LOSSES, 5706 },  /* a member whose job is over when the group is answered */
        { LOSSES, 20154 }, /* the node that is asked about a member that has ended is lost */
        { LOSSES, 20022 }, /* a fence that some nodes have contributed to when its job ends */
        { HEALS, 85 },     /* a node joins while a process is lost that is started again */
        { HEALS, 1 },      /* groups and connections with processes that are started again */
        { HEALS, 8 },      /* a group of one that was started again is destructed */
        { HEALS, 67 },     /* a process that is aborted while it is started again */
        { HEALS, 1446 },   /* one that was started before could not be started again */
        { HEALS,
          1748 }, /* the job of one that was started again is over when its group is destructed */
        { LOSSES, 1000340 }, /* a node that changes its parent misses the result of a group ... */
        { TAKEOVERS, 6903 }, /* ... or of its destruction, and then hears that a job is over */
        { HEALS, 3024 },     /* a node has come to the root, and its old parent announces it ... */
        { HEALS, 18510 },    /* ... so it gets no acknowledgement, and no answer */
    };

    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        run_kind(&kinds[found[i].kind], found[i].seed, 1, NULL);
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
    test_control("one that comes by itself misses broadcasts", &kinds[ARRIVALS], ELASTIC_MISSES);
    test_control("one that comes by itself knows no older job", &kinds[ARRIVALS],
                 ELASTIC_NOT_REPEATED);
    test_control("nodes keep jobs that are over", losses, ELASTIC_KEEPS_JOBS);
    test_control("a node reports another exit status", losses, ELASTIC_OTHER_STATUS);
    test_control("an answer is sent twice", losses, ELASTIC_TWICE);
    test_control("spawns are not answered", &kinds[SPAWNS], ELASTIC_SPAWN_UNTOLD);
    test_control("nodes do not hear of aborts", &kinds[ABORTS], ELASTIC_ABORT_UNTOLD);
    test_control("an abort ends all jobs", &kinds[ABORTS], ELASTIC_ABORT_ALL);
    test_control("names do not arrive", &kinds[SPAWNS], ELASTIC_NAMES_LOST);
    test_control("processes are not started again", &kinds[HEALS], ELASTIC_NOT_AGAIN);
    test_control("processes go on without a root", &kinds[TAKEOVERS], ELASTIC_STAYS);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
    struct totals all = { 0 };

    if (argc <= 1) {
        test_controls();
        test_found();
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc <= 3 || !strcmp(argv[3], kinds[i].name))
            run_kind(&kinds[i], first, n, &all);
    }
    if (argc <= 1)
        check_met(&all);
    return tap_done();
}
