/* fence_timeouts_test.c - fences with time-outs, and processes that end: random cases from a seed,
 * over nodes and ranks per node, compared with a model of the waiting ranks.
 *
 * Each rank fences up to MOST_ROUNDS times, now and then with a time-out; when it times out, it
 * tries again or ends.  A job is ended only when a process has waited for one that had ended too
 * early, and the reason names such a process; and no process is left waiting for one.
 *
 *   test-fence-timeouts [SEEDS]        also: WIREUP_FENCE_TIMEOUT_SEEDS
 */
#include "tests/cluster.h"
#include "tests/pmix_bytes.h"
#include "core/effect.h"
#include "core/input.h"

enum { MOST_RANKS = 12, MOST_ROUNDS = 3 };

#define SECOND UINT64_C(1000000000)

/* DOOMED: its fence has failed; the end of the job is on its way. */
enum state { IDLE, WAITING, DOOMED, GONE };

struct rank {
    enum state state;
    bool patient;  /* waits without a time-out */
    unsigned done; /* fences that are over for it */
    bool needed;   /* a process has waited for it after its end */
};

struct model {
    struct cluster c;
    struct rank ranks[MOST_RANKS];
    uint32_t n;
    unsigned rounds;
    uint64_t rand;
    bool last; /* no process ends early or times out any more */
    const char *wrong;
};

static bool is_running(const struct model *m)
{
    return m->c.nodes[0].jobs[0]->phase == JOB_RUNNING;
}

/* Every daemon runs until it is idle, and some of the messages between them are delivered. */
static void pass_messages(struct model *m, uint64_t messages)
{
    cluster_effects(&m->c);
    while (messages-- && cluster_step(&m->c))
        continue;
}

static void expect(struct model *m, uint32_t rank, const char *text)
{
    struct cluster_node *n = cluster_of(&m->c, 0, rank);

    server_deliver(&n->server, INPUT_AT(++n->now, in, .connection = m->c.peers[0][rank]->id,
                                        .bytes = pmix_bytes(text)));
}

/* The status of the answer, if there is one: 0, or as it is packed. */
static int receives_end(struct model *m, uint32_t rank)
{
    struct peer *p = m->c.peers[0][rank];
    struct slice s = buf_slice(&p->out);
    int status = s.len < 18 ? -1 : (unsigned char)s.ptr[17];

    server_wrote(&cluster_of(&m->c, 0, rank)->server, p, s.len);
    return status;
}

static void enters(struct model *m, uint32_t rank)
{
    struct rank *r = &m->ranks[rank];
    char text[200];
    uint64_t seconds = 1 + rand_below(&m->rand, 5);

    r->patient = m->last || rand_below(&m->rand, 3) == 0;
    r->state = WAITING;
    snprintf(text, sizeof text, PMIX_HEAD "0203 0201 020a 'job0' feffffff0f %s 06%02x",
             r->patient ? "0200" : "0201 021a 'pmix.timeout' 00", (unsigned)(2 * seconds));
    if (r->patient)
        text[strlen(text) - 5] = '\0';
    expect(m, rank, text);
}

static void ends(struct model *m, uint32_t rank)
{
    struct cluster_node *n = cluster_of(&m->c, 0, rank);

    expect(m, rank, PMIX_HEAD "0205");
    cluster_effects(&m->c);
    server_deliver(&n->server, INPUT(hangup, .connection = m->c.peers[0][rank]->id));
    server_deliver(&n->server, INPUT(proc_state, .job = n->jobs[0]->id, .rank = rank,
                                     .event = PROC_EVENT_EXIT));
    m->ranks[rank].state = GONE;
}

/* Finds the awaited processes that cannot come. */
static void note_needed(struct model *m)
{
    for (uint32_t w = 0; w < m->n; w++) {
        for (uint32_t g = 0; g < m->n && m->ranks[w].state == WAITING; g++) {
            if (m->ranks[g].state == GONE && m->ranks[g].done <= m->ranks[w].done)
                m->ranks[g].needed = true;
        }
    }
}

static void read_all(struct model *m)
{
    for (uint32_t r = 0; r < m->n && is_running(m); r++) {
        int status = m->ranks[r].state == WAITING ? receives_end(m, r) : -1;
        if (status < 0)
            continue;
        m->ranks[r].state = status == 0 || status == 0x2f ? IDLE : DOOMED;
        m->ranks[r].done += status == 0;
        if (status == 0x2f && m->ranks[r].patient)
            m->wrong = "a time-out that nobody asked for";
    }
}

static void act(struct model *m, uint32_t rank)
{
    struct rank *r = &m->ranks[rank];

    if (r->state != IDLE)
        return;
    if (r->done == m->rounds || (!m->last && rand_below(&m->rand, 24) == 0))
        ends(m, rank);
    else
        enters(m, rank);
}

static void pass_time(struct model *m, uint64_t ns)
{
    for (uint32_t i = 0; i < m->c.nnodes; i++) {
        m->c.nodes[i].now += ns;
        server_tick(&m->c.nodes[i].server, m->c.nodes[i].now);
    }
    cluster_wait(&m->c);
}

static void step(struct model *m)
{
    uint64_t what = rand_below(&m->rand, 8);

    note_needed(m);
    if (what < 4)
        act(m, (uint32_t)rand_below(&m->rand, m->n));
    else if (what < 6)
        pass_messages(m, rand_below(&m->rand, 8));
    else
        pass_time(m, rand_below(&m->rand, 2) * SECOND);
    note_needed(m);
    cluster_effects(&m->c);
    read_all(m);
}

/* All ranks go to the end, as far as they get. */
static void finish(struct model *m)
{
    m->last = true;
    for (unsigned i = 0; i < 20 * MOST_ROUNDS && is_running(m); i++) {
        for (uint32_t r = 0; r < m->n && is_running(m); r++) {
            act(m, rand_below(&m->rand, 4) ? (uint32_t)rand_below(&m->rand, m->n) : r);
            note_needed(m);
            pass_messages(m, rand_below(&m->rand, 16));
            read_all(m);
        }
        pass_messages(m, UINT64_MAX);
        read_all(m);
        pass_time(m, 10 * SECOND);
        pass_messages(m, UINT64_MAX);
        read_all(m);
    }
}

static void judge(struct model *m)
{
    const struct job *j = m->c.nodes[0].jobs[0];
    unsigned long culprit = m->n;

    pass_messages(m, UINT64_MAX);
    if (is_running(m)) {
        m->wrong = "somebody waits for ever";
    } else if (j->failed) {
        sscanf(j->reason.text, "rank %lu ", &culprit);
        if (culprit >= m->n || !m->ranks[culprit].needed)
            m->wrong = "a false accusation";
    }
    for (uint32_t i = 0; i < m->c.nnodes && !is_running(m); i++) {
        if (m->c.nodes[i].ends != 1)
            m->wrong = "it does not end everywhere";
    }
}

static bool is_good(uint64_t seed, unsigned *failed_p)
{
    static struct model m;
    uint64_t rand = seed;
    uint32_t nodes = 1 + (uint32_t)rand_below(&rand, 4), each = 1 + (uint32_t)rand_below(&rand, 3);

    memset(&m, 0, sizeof m);
    m.rand = rand;
    m.n = nodes * each;
    m.rounds = 1 + (unsigned)rand_below(&m.rand, MOST_ROUNDS);
    cluster_open(&m.c, nodes, seed);
    cluster_job(&m.c, m.n, rand_below(&m.rand, 2) == 0, false);
    for (uint32_t r = 0; r < m.n; r++) {
        char hello[300];
        snprintf(hello, sizeof hello,
                 "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 "
                 "'job0' %08x '4.2.2rc2' 'v41' 01 'hash' 00",
                 r);
        expect(&m, r, hello);
        expect(&m, r, PMIX_HEAD "0200");
        receives_end(&m, r);
    }
    for (unsigned i = 0; i < 60 * m.n && is_running(&m) && !m.wrong; i++)
        step(&m);
    finish(&m);
    judge(&m);
    *failed_p += m.c.nodes[0].jobs[0]->failed;
    if (m.wrong)
        printf("# seed %llu, %u nodes of %u ranks: %s: %s\n", (unsigned long long)seed, nodes, each,
               m.wrong, m.c.nodes[0].jobs[0]->reason.text);
    cluster_close(&m.c);
    return !m.wrong;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : getenv("WIREUP_FENCE_TIMEOUT_SEEDS");
    unsigned long n = wanted ? strtoul(wanted, NULL, 10) : 400, bad = 0;
    unsigned failed = 0;

    for (uint64_t seed = 1; seed <= n; seed++)
        bad += !is_good(seed, &failed);
    OK_F(bad == 0, "%lu seeds, of which %u ended their job with reason: %lu wrong", n, failed, bad);
    OK_F(n < 100 || (failed > n / 10 && failed < n - n / 10), "and both ends are among them");
    return tap_done();
}
