/* ended_procs_test.c - a process that has ended counts as ended for every process that waits for
 * it, now or later, whatever it sent before and whichever process still holds its socket: every
 * protocol, every kind of end, every instant, one node and several. */
#include "tests/cluster.h"
#include "core/input.h"
#include "tests/pmix_bytes.h"
#include "core/job_end.h"

enum { RANKS = 4 };

/* ---- three protocols ------------------------------------------------------------------------- */

struct protocol {
    const char *name;
    void (*init)(struct cluster *c, uint32_t rank);
    void (*fence)(struct cluster *c, uint32_t rank);
    void (*finalize)(struct cluster *c, uint32_t rank);
};

static void send_to(struct cluster *c, uint32_t rank, const char *text)
{
    cluster_write(c, 0, rank, slice_str(text));
}

static void send2(struct cluster *c, uint32_t rank, const char *text)
{
    char framed[300];

    snprintf(framed, sizeof framed, "%6zu%s", strlen(text), text);
    send_to(c, rank, framed);
}

static void pmi1_init(struct cluster *c, uint32_t rank)
{
    send_to(c, rank, "cmd=init pmi_version=1 pmi_subversion=1\n");
}

static void pmi1_fence(struct cluster *c, uint32_t rank)
{
    send_to(c, rank, "cmd=barrier_in\n");
}

static void pmi1_finalize(struct cluster *c, uint32_t rank)
{
    send_to(c, rank, "cmd=finalize\n");
}

static void pmi2_init(struct cluster *c, uint32_t rank)
{
    char text[100];

    send_to(c, rank, "cmd=init pmi_version=2 pmi_subversion=0\n");
    snprintf(text, sizeof text, "cmd=fullinit;pmijobid=job0;pmirank=%u;threaded=FALSE;", rank);
    send2(c, rank, text);
}

static void pmi2_fence(struct cluster *c, uint32_t rank)
{
    send2(c, rank, "cmd=kvs-fence;");
}

static void pmi2_finalize(struct cluster *c, uint32_t rank)
{
    send2(c, rank, "cmd=finalize;");
}

static void pmix_init(struct cluster *c, uint32_t rank)
{
    char text[300];

    snprintf(text, sizeof text,
             "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'job0' "
             "%08x '4.2.2rc2' 'v41' 01 'hash' 00",
             rank);
    cluster_write(c, 0, rank, pmix_bytes(text));
    cluster_write(c, 0, rank, pmix_bytes(PMIX_HEAD "0200")); /* its requests during init */
}

static void pmix_fence(struct cluster *c, uint32_t rank)
{
    cluster_write(c, 0, rank, pmix_bytes(PMIX_HEAD "0203 0201 020a 'job0' feffffff0f 0200"));
}

static void pmix_finalize(struct cluster *c, uint32_t rank)
{
    cluster_write(c, 0, rank, pmix_bytes(PMIX_HEAD "0205"));
}

static const struct protocol protocols[] = {
    { "PMI-1", pmi1_init, pmi1_fence, pmi1_finalize },
    { "PMI-2", pmi2_init, pmi2_fence, pmi2_finalize },
    { "PMIx", pmix_init, pmix_fence, pmix_finalize },
};

/* ---- ends ------------------------------------------------------------------------------------ */

static const struct end {
    const char *name;
    enum proc_event event;
    int code, status; /* and the status of the job then */
    const char *words;
} ends[] = {
    { "exit 0", PROC_EVENT_EXIT, 0, 1, "exited with code 0" },
    { "exit 3", PROC_EVENT_EXIT, 3, 3, "exited with code 3" },
    { "kill -9", PROC_EVENT_DEATH, 9, 137, "was killed by signal 9" },
};

static const char *const instants[] = { "before the others' fence", "while the others wait",
                                        "after a fence and finalize" };

struct scene {
    const struct protocol *protocol;
    const struct end *end;
    uint32_t instant, nodes, gone;
    bool held; /* a grandchild holds the socket */
};

static void leave(struct cluster *c, const struct scene *s)
{
    if (!s->held)
        server_deliver(&cluster_of(c, 0, s->gone)->server,
                       INPUT(hangup, .connection = c->peers[0][s->gone]->id));
    cluster_event(c, 0, s->gone, s->end->event, s->end->code);
}

static void others_fence(struct cluster *c, const struct scene *s)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r != s->gone && cluster_of(c, 0, r)->jobs[0]->phase == JOB_RUNNING)
            s->protocol->fence(c, r);
    }
}

static void others_init(struct cluster *c, const struct scene *s)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r != s->gone)
            s->protocol->init(c, r);
    }
}

static void act(struct cluster *c, const struct scene *s)
{
    others_init(c, s);
    if (s->instant == 1) {
        others_fence(c, s);
        leave(c, s);
        return;
    }
    if (s->instant == 2) {
        s->protocol->init(c, s->gone);
        others_fence(c, s);
        s->protocol->fence(c, s->gone);
        s->protocol->finalize(c, s->gone);
    }
    leave(c, s);
    others_fence(c, s);
}

static bool names_reason(const struct job *j, const struct scene *s)
{
    char who[40];

    snprintf(who, sizeof who, "rank %u on ", s->gone);
    return strstr(j->reason.text, who) == j->reason.text && strstr(j->reason.text, s->end->words) &&
           (s->end->event == PROC_EVENT_DEATH || strstr(j->reason.text, "wait for it in a fence"));
}

/* One scene: whether the job was ended on all nodes, with the true reason and status. */
static bool play(const struct scene *s, uint64_t seed)
{
    struct cluster c;
    struct job *j;
    bool good, all = true;

    cluster_open(&c, s->nodes, seed);
    cluster_job(&c, RANKS, false, false);
    act(&c, s);
    j = c.nodes[0].jobs[0];
    for (uint32_t i = 0; i < s->nodes; i++)
        all = all && c.nodes[i].ends == 1;
    good = all && j->failed && job_exit_code(j) == s->end->status && names_reason(j, s);
    if (!good)
        printf("# %s, %s, %s, %u nodes, rank %u%s, seed %llu: status %d, %s%s\n", s->protocol->name,
               s->end->name, instants[s->instant], s->nodes, s->gone, s->held ? ", held" : "",
               (unsigned long long)seed, job_exit_code(j),
               all ? "" : "not ended everywhere: ", j->failed ? j->reason.text : "no reason");
    cluster_close(&c);
    return good;
}

static void test_scenes(const struct protocol *p, const struct end *e, uint32_t instant)
{
    struct scene s = { .protocol = p, .end = e, .instant = instant };
    uint32_t bad = 0;

    for (s.nodes = 1; s.nodes <= RANKS; s.nodes *= 2) {
        for (s.gone = 0; s.gone < RANKS; s.gone += RANKS - 1) {
            for (uint64_t seed = 1; seed <= 4; seed++) {
                s.held = seed % 2 == 0;
                bad += !play(&s, seed);
            }
        }
    }
    OK_F(bad == 0, "%s: %s %s ends the job, on 1, 2 and 4 nodes", p->name, e->name,
         instants[instant]);
}

/* ---- jobs that go on ------------------------------------------------------------------------- */

/* Programs without PMI end as they like; the first code that is not 0 counts. */
static void test_without_pmi(uint32_t nodes)
{
    struct cluster c;

    cluster_open(&c, nodes, nodes);
    cluster_job(&c, RANKS, false, false);
    for (uint32_t r = 0; r < RANKS; r++)
        cluster_event(&c, 0, r, PROC_EVENT_EXIT, r == 2 ? 3 : 0);
    OK_F(c.nodes[0].kills == 0 && c.nodes[0].ends == 1 && job_exit_code(c.nodes[0].jobs[0]) == 3,
         "%u nodes: programs without PMI end one by one", nodes);
    cluster_close(&c);
}

/* No process needs the one without PMI: groups of the others complete, and its modex entries are
 * not waited for. */
static void test_beside(uint32_t nodes)
{
    struct cluster c;
    bool good = true;

    cluster_open(&c, nodes, 5);
    cluster_job(&c, RANKS, false, false);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        pmi1_init(&c, r);
    cluster_event(&c, 0, RANKS - 1, PROC_EVENT_EXIT, 0);
    for (uint32_t r = 0; r + 1 < RANKS; r++) {
        cluster_received(&c, 0, r);
        send_to(&c, r, "cmd=barrier_in group=0,1,2:7\n");
    }
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        good = good && !strcmp(cluster_received(&c, 0, r), "cmd=barrier_out rc=0 tag=7\n");
    OK_F(good && c.nodes[0].jobs[0]->phase == JOB_RUNNING && !c.nodes[0].jobs[0]->failed,
         "%u nodes: a program without PMI beside others that need only each other", nodes);
    cluster_close(&c);
}

/* A get of a value that was never put is answered, whether it came before the end or after it. */
static void test_get(uint32_t nodes, bool early)
{
    static const char get[] = PMIX_HEAD "0204 020a 'job0' 0203 0200 0210 'mykey.g'";
    struct cluster c;

    cluster_open(&c, nodes, 5);
    cluster_job(&c, RANKS, false, false);
    pmix_init(&c, 0);
    cluster_received(&c, 0, 0);
    if (early)
        cluster_write(&c, 0, 0, pmix_bytes(get));
    cluster_event(&c, 0, RANKS - 1, PROC_EVENT_EXIT, 0);
    if (!early)
        cluster_write(&c, 0, 0, pmix_bytes(get));
    OK_F(buf_len(&c.peers[0][0]->out) > 0, "%u nodes: a get %s its end is answered", nodes,
         early ? "before" : "after");
    cluster_close(&c);
}

/* ---- values of any rank ---------------------------------------------------------------------- */

/* A get of any rank's value, for ever, when all but the requester have ended. */
static bool play_get_any(uint32_t nodes, const struct end *e, bool early)
{
    static const char get[] =
        PMIX_HEAD "0204 020a 'job0' 02ffffffff0f 0201 021a 'pmix.timeout' 00 0600 0210 'mykey.g'";
    struct cluster c;
    bool good;

    cluster_open(&c, nodes, 5);
    cluster_job(&c, RANKS, false, true);
    pmix_init(&c, 0);
    cluster_received(&c, 0, 0);
    if (early)
        cluster_write(&c, 0, 0, pmix_bytes(get));
    for (uint32_t r = 1; r + 1 < RANKS; r++)
        cluster_event(&c, 0, r, e->event, e->code);
    good = buf_len(&c.peers[0][0]->out) == 0; /* the last one could put it */
    cluster_event(&c, 0, RANKS - 1, e->event, e->code);
    if (!early)
        cluster_write(&c, 0, 0, pmix_bytes(get));
    good = good && buf_len(&c.peers[0][0]->out) > 0;
    cluster_close(&c);
    return good;
}

static void test_get_any(const struct end *e, bool early)
{
    uint32_t bad = 0;

    for (uint32_t nodes = 1; nodes <= RANKS; nodes *= 2)
        bad += !play_get_any(nodes, e, early);
    OK_F(bad == 0, "a get of any rank's value %s the last %s is answered",
         early ? "before" : "after", e->name);
}

/* ---- attributes of nodes --------------------------------------------------------------------- */

static const char node_get[] = "cmd=info-getnodeattr;key=na;wait=TRUE;";
static const char node_get_absent[] = "47    cmd=info-getnodeattr-response;rc=0;found=FALSE;";

/* The last step of the others of its node before they ended. */
static const char *const words[] = { "no word", "init", "finalize" };

struct node_scene {
    const struct end *end;
    uint32_t words, nodes;
    bool early, threaded;
};

static void others_end(struct cluster *c, const struct node_scene *s)
{
    for (uint32_t r = 1; r < RANKS / s->nodes; r++) {
        if (s->words > 0)
            pmi2_init(c, r);
        if (s->words > 1)
            pmi2_finalize(c, r);
        cluster_event(c, 0, r, s->end->event, s->end->code);
    }
}

/* The other node's processes live on, and the job goes on. */
static bool play_node_get(const struct node_scene *s)
{
    struct cluster c;
    bool good;

    cluster_open(&c, s->nodes, 11);
    cluster_job(&c, RANKS, false, true);
    pmi2_init(&c, 0);
    if (s->threaded)
        send2(&c, 0, "cmd=fullinit;pmijobid=job0;pmirank=0;threaded=TRUE;");
    cluster_received(&c, 0, 0);
    if (s->early)
        send2(&c, 0, node_get);
    good = !*cluster_received(&c, 0, 0);
    others_end(&c, s);
    if (!s->early)
        send2(&c, 0, node_get);
    good = good && !strcmp(cluster_received(&c, 0, 0), node_get_absent);
    cluster_close(&c);
    return good;
}

static void test_node_get(const struct end *e, uint32_t nwords)
{
    struct node_scene s = { .end = e, .words = nwords };
    uint32_t bad = 0;

    for (s.nodes = 1; s.nodes <= 2; s.nodes++) {
        for (uint32_t i = 0; i < 4; i++) {
            s.early = i & 1;
            s.threaded = i & 2;
            bad += !play_node_get(&s);
        }
    }
    OK_F(bad == 0, "a get of a node's attribute ends after the others' %s and %s", words[nwords],
         e->name);
}

/* All that are left wait for attributes that nobody has put: the last get is refused, the others
 * wait until its process puts, or ends. */
static void test_node_circle(bool puts)
{
    struct cluster c;

    cluster_open(&c, 1, 3);
    cluster_job(&c, RANKS, false, false);
    for (uint32_t r = 0; r < RANKS; r++) {
        pmi2_init(&c, r);
        cluster_received(&c, 0, r);
        send2(&c, r, node_get);
    }
    OK(!strcmp(cluster_received(&c, 0, RANKS - 1),
               "133   cmd=info-getnodeattr-response;rc=1;errmsg=ranks 0-2 wait for attributes of "
               "this node, too: no process is left to put one;found=FALSE;"));
    OK(!*cluster_received(&c, 0, 0));
    if (puts)
        send2(&c, RANKS - 1, "cmd=info-putnodeattr;key=na;value=v;");
    else
        pmi2_finalize(&c, RANKS - 1);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        OK(!strcmp(cluster_received(&c, 0, r),
                   puts ? "54    cmd=info-getnodeattr-response;rc=0;found=TRUE;value=v;"
                        : node_get_absent));
    cluster_close(&c);
}

/* Another thread of a waiting process may put for others, but a process puts nothing for itself. */
static void test_node_threads(void)
{
    struct cluster c;

    cluster_open(&c, 1, 3);
    cluster_job(&c, RANKS, false, false);
    for (uint32_t r = 0; r < RANKS; r++)
        pmi2_init(&c, r);
    send2(&c, 0, "cmd=fullinit;pmijobid=job0;pmirank=0;threaded=TRUE;");
    for (uint32_t r = 0; r < 2; r++) {
        cluster_received(&c, 0, r);
        send2(&c, r, node_get);
    }
    for (uint32_t r = 2; r < RANKS; r++)
        pmi2_finalize(&c, r);
    OK(!strcmp(cluster_received(&c, 0, 0), node_get_absent) && !*cluster_received(&c, 0, 1));
    send2(&c, 0, "cmd=info-putnodeattr;key=na;value=v;");
    OK(!strcmp(cluster_received(&c, 0, 1),
               "54    cmd=info-getnodeattr-response;rc=0;found=TRUE;value=v;"));
    cluster_close(&c);
}

/* Where the job goes on after failures, waiting processes get an answer that the fence failed. */
static void test_keep_going(uint32_t nodes, bool early)
{
    static const char failed[] = "cmd=barrier_out rc=1 msg=a_member_has_died\n";
    struct cluster c;
    bool good = true;

    cluster_open(&c, nodes, 9);
    cluster_job(&c, RANKS, false, true);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        pmi1_init(&c, r);
    if (!early)
        cluster_event(&c, 0, RANKS - 1, PROC_EVENT_EXIT, 3);
    for (uint32_t r = 0; r + 1 < RANKS; r++) {
        cluster_received(&c, 0, r);
        pmi1_fence(&c, r);
    }
    if (early)
        cluster_event(&c, 0, RANKS - 1, PROC_EVENT_EXIT, 3);
    for (uint32_t r = 0; r + 1 < RANKS; r++)
        good = good && !strcmp(cluster_received(&c, 0, r), failed);
    OK_F(good && c.nodes[0].kills == 0 && c.nodes[0].jobs[0]->phase == JOB_RUNNING,
         "%u nodes, a job that goes on: the fence fails, whether it %s", nodes,
         early ? "had begun" : "begins later");
    send_to(&c, 0, "cmd=get kvsname=job0 key=PMI_dead_processes\n");
    OK(!strcmp(cluster_received(&c, 0, 0), "cmd=get_result rc=0 msg=success value=3\n"));
    cluster_close(&c);
}

int main(void)
{
    for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            for (uint32_t i = 0; i < sizeof instants / sizeof *instants; i++)
                test_scenes(&protocols[p], &ends[e], i);
        }
    }
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        test_get_any(&ends[e], true);
        test_get_any(&ends[e], false);
        for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
            test_node_get(&ends[e], i);
    }
    test_node_circle(true);
    test_node_circle(false);
    test_node_threads();
    for (uint32_t nodes = 1; nodes <= 2; nodes++) {
        test_without_pmi(nodes);
        test_beside(nodes);
        test_get(nodes, true);
        test_get(nodes, false);
        test_keep_going(nodes, true);
        test_keep_going(nodes, false);
    }
    return tap_done();
}
