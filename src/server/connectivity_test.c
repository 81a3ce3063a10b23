/* connectivity_test.c - fences that leave values on their nodes (core/ondemand.h), in whole daemons
 * joined without a network (tests/cluster.h): what comes ahead, what is fetched, what is absent,
 * and what happens when nodes are lost meanwhile.
 */
#include "tests/cluster_pmix.h"

static const char INIT[] = "cmd=init pmi_version=1 pmi_subversion=1\n";

enum { RANKS = 64, NODES = 8 };

static void send_to(struct cluster *c, uint32_t rank, const char *text)
{
    cluster_write(c, 0, rank, slice_str(text));
}

static bool receives(struct cluster *c, uint32_t rank, const char *text)
{
    const char *got = cluster_received(c, 0, rank);
    bool same = !strcmp(got, text);

    if (!same)
        printf("# rank %u heard: %s\n# instead of: %s\n", rank, got, text);
    return same;
}

static void open_job(struct cluster *c, const char *connectivity, uint32_t nodes, uint32_t ranks,
                     bool cyclic)
{
    cluster_open(c, nodes, nodes);
    c->connectivity = connectivity;
    cluster_job(c, ranks, cyclic, true);
}

static bool fence(struct cluster *c, uint32_t ranks)
{
    bool good = true;

    for (uint32_t r = 0; r < ranks; r++)
        send_to(c, r, "cmd=barrier_in\n");
    for (uint32_t r = 0; r < ranks; r++)
        good = receives(c, r, "cmd=barrier_out rc=0\n") && good;
    return good;
}

/* Keys name their rank, or (not) do so. */
static const char *key_of(bool named, unsigned round, uint32_t rank)
{
    static char key[40];

    snprintf(key, sizeof key, named ? "card%u-%u" : "%2$u-card%1$u", round, rank);
    return key;
}

static bool put_all(struct cluster *c, bool named, unsigned round)
{
    char text[200];
    bool good = true;

    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf(text, sizeof text, "cmd=put kvsname=job0 key=%s value=of-%u-%u\n",
                 key_of(named, round, r), round, r);
        send_to(c, r, text);
        good = receives(c, r, "cmd=put_result rc=0 msg=success\n") && good;
    }
    return good && fence(c, RANKS);
}

static bool gets(struct cluster *c, uint32_t rank, uint32_t of, bool named, unsigned round)
{
    char text[200], want[200];

    snprintf(text, sizeof text, "cmd=get kvsname=job0 key=%s\n", key_of(named, round, of));
    snprintf(want, sizeof want, "cmd=get_result rc=0 msg=success value=of-%u-%u\n", round, of);
    send_to(c, rank, text);
    return receives(c, rank, want);
}

static bool lacks(struct cluster *c, uint32_t rank, const char *key)
{
    char text[200];

    snprintf(text, sizeof text, "cmd=get kvsname=job0 key=%s\n", key);
    send_to(c, rank, text);
    return receives(c, rank, "cmd=get_result rc=-1 msg=not_found\n");
}

static void init_all(struct cluster *c, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        send_to(c, r, INIT);
        cluster_received(c, 0, r);
    }
}

/* ---- each pattern ---------------------------------------------------------------------------- */

static bool all_get_neighbours(struct cluster *c, const struct connectivity *p, unsigned round)
{
    uint32_t of[CONNECTIVITY_NEIGHBOURS];
    bool good = true;

    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t n = connectivity_neighbours(p, RANKS, r, of);
        for (uint32_t i = 0; i < n; i++)
            good = gets(c, r, of[i], true, round) && good;
    }
    return good;
}

static void test_pattern(const char *text, bool cyclic)
{
    unsigned fetches, nodes = NODES;
    struct connectivity p;
    struct cluster c;
    bool good = true;

    connectivity_parse(slice_str(text), &p, NULL);
    open_job(&c, text, nodes, RANKS, cyclic);
    init_all(&c, RANKS);
    for (unsigned round = 0; round < 2; round++) {
        OK_F(put_all(&c, true, round) && c.bytes == 0, "%s: a fence moves no values", text);
        fetches = c.fetches;
        OK_F(all_get_neighbours(&c, &p, round) && c.fetches == fetches,
             "%s: those of neighbours have come ahead", text);
        OK_F(p.kind == CONNECTIVITY_SPARSE ? c.ahead == 0 : c.ahead > 0, "%s: by themselves", text);
        for (uint32_t r = 0; r < RANKS; r++)
            good = gets(&c, r, (r * 5 + 2) % RANKS, true, round) && good;
        OK_F(good && c.fetches > fetches, "%s: others are fetched", text);
        fetches = c.fetches;
        good = lacks(&c, 5, "card9-60");
        OK_F(good && c.fetches == fetches + 1 + (NODES - 1), "%s: an absent key is absent", text);
        good = gets(&c, 5, 61, true, round) && lacks(&c, 5, "other") && lacks(&c, 5, "PMI_x");
        OK_F(good && c.fetches == fetches + 1 + (NODES - 1), "%s: now the node has all", text);
    }
    cluster_close(&c);
}

/* Keys that do not name their rank, and lists of all keys. */
static void test_unnamed(void)
{
    struct cluster c;
    char text[100];
    bool good = true;

    open_job(&c, "sparse", NODES, RANKS, false);
    init_all(&c, RANKS);
    OK(lacks(&c, 3, "2-card0") && c.fetches == 0);
    OK(put_all(&c, false, 0));
    for (uint32_t r = 0; r < RANKS; r += 9)
        good = gets(&c, r, (r + 17) % RANKS, false, 0) && good;
    OK_F(good, "keys that do not name their rank are found");
    OK(put_all(&c, true, 1));
    for (unsigned i = 0; i < 2 * RANKS; i++) {
        snprintf(text, sizeof text, "cmd=getbyidx kvsname=job0 idx=%u\n", i);
        send_to(&c, 1, text);
        good = strstr(cluster_received(&c, 0, 1), "rc=0") && good;
    }
    OK_F(good, "all pairs are listed");
    send_to(&c, 1, "cmd=getbyidx kvsname=job0 idx=128\n");
    OK(strstr(cluster_received(&c, 0, 1), "rc=-2"));
    cluster_close(&c);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Node 7 dies, with ranks 56 to 63. */
static void test_lost_node(const char *pattern)
{
    struct cluster c;

    open_job(&c, pattern, NODES, RANKS, false);
    init_all(&c, RANKS);
    OK(put_all(&c, true, 0));
    server_deliver(&c.nodes[1].server,
                   INPUT_AT(++c.nodes[1].now, in, .connection = c.peers[0][8]->id,
                            .bytes = SLICE("cmd=get kvsname=job0 key=card0-60\n")));
    cluster_effects(&c); /* the request is on its way */
    cluster_die(&c, 7);
    cluster_settle(&c);
    OK_F(receives(&c, 8, "cmd=get_result rc=-1 msg=not_found\n"),
         "%s: a value of a node that is lost meanwhile is not found", pattern);
    OK_F(gets(&c, 9, 55, true, 0) && gets(&c, 9, 0, true, 0), "%s: those of others are", pattern);
    OK_F(lacks(&c, 17, "card0-60"), "%s: a lost node is not waited for", pattern);
    OK(gets(&c, 17, 33, true, 0));
    cluster_close(&c);
}

/* A process has died, its node lives, and has what the fence has left there. */
static void test_lost_process(void)
{
    struct cluster c;

    open_job(&c, "ring", NODES, RANKS, false);
    init_all(&c, RANKS);
    OK(put_all(&c, true, 0));
    cluster_event(&c, 0, 60, PROC_EVENT_DEATH, 9);
    OK_F(gets(&c, 9, 60, true, 0), "what a process has put outlives it");
    cluster_close(&c);
}

/* ---- PMI-2 and PMIx -------------------------------------------------------------------------- */

static void send2(struct cluster *c, uint32_t rank, const char *text)
{
    char frame[512];

    snprintf(frame, sizeof frame, "%6zu%s", strlen(text), text);
    send_to(c, rank, frame);
}

static void test_pmi2(void)
{
    enum { N = 8 };
    struct cluster c;
    char text[200];

    open_job(&c, "ring", 4, N, false);
    for (uint32_t r = 0; r < N; r++) {
        send_to(&c, r, "cmd=init pmi_version=2 pmi_subversion=0\n");
        snprintf(text, sizeof text, "cmd=fullinit;pmijobid=job0;pmirank=%u;threaded=FALSE;", r);
        send2(&c, r, text);
        snprintf(text, sizeof text, "cmd=kvs-put;key=%c;value=v%u;", 'a' + (char)r, r);
        send2(&c, r, text);
        send2(&c, r, "cmd=kvs-fence;");
    }
    for (uint32_t r = 0; r < N; r++)
        cluster_received(&c, 0, r);
    send2(&c, 1, "cmd=kvs-get;jobid=job0;srcid=-1;key=c;");
    OK(strstr(cluster_received(&c, 0, 1), "value=v2;") && c.fetches == 0);
    send2(&c, 1, "cmd=kvs-get;jobid=job0;srcid=5;key=f;");
    OK_F(strstr(cluster_received(&c, 0, 1), "value=v5;") && c.fetches == 1,
         "PMI-2: the node of the source is asked");
    send2(&c, 1, "cmd=kvs-get;jobid=job0;srcid=-1;key=g;");
    OK(strstr(cluster_received(&c, 0, 1), "value=v6;") && c.fetches == 4);
    send2(&c, 1, "cmd=kvs-get;jobid=job0;srcid=-1;key=z;");
    OK(strstr(cluster_received(&c, 0, 1), "found=FALSE") && c.fetches == 4);
    cluster_close(&c);
}

/* A hint, and how many nodes are asked for it. */
static void hint(struct cluster *c, const char *key, unsigned asked)
{
    unsigned before = c->fetches;
    char text[100];

    snprintf(text, sizeof text, "cmd=get kvsname=job0 key=%s\n", key);
    send_to(c, 3, text);
    OK_F(receives(c, 3, "cmd=get_result rc=0 msg=success value=fetched\n"), "%s", key);
    OK_F(c->fetches == before + asked, "%s asks %u nodes, not %u", key, asked, c->fetches - before);
}

/* Rank 3 is on the first of eight nodes, with 0 to 7; their neighbours are 63 and 8. */
static void test_hints(void)
{
    struct cluster c;
    unsigned fetches;

    open_job(&c, "ring", NODES, RANKS, false);
    for (uint32_t r = 0; r < RANKS; r++) {
        send_to(&c, r, INIT);
        cluster_received(&c, 0, r);
    }
    OK(put_all(&c, true, 0));
    OK_F(lacks(&c, 3, "PMI_fetch_node:64") && lacks(&c, 3, "PMI_fetch_rack:1") && c.fetches == 0,
         "what is no hint is a key");
    hint(&c, "PMI_fetch_proc:20", 1);
    hint(&c, "PMI_fetch_node:5", 0);
    hint(&c, "PMI_fetch_node:40", 1);
    fetches = c.fetches;
    for (uint32_t r = 40; r < 48; r++)
        OK_F(gets(&c, 3, r, true, 0), "rank %u of the node came along", r);
    OK_F(gets(&c, 3, 20, true, 0) && c.fetches == fetches, "they were here");
    OK_F(gets(&c, 3, 21, true, 0) && c.fetches == fetches + 1, "others were not");
    hint(&c, "PMI_fetch_app:3", NODES - 1);
    fetches = c.fetches;
    OK_F(gets(&c, 3, 50, true, 0) && c.fetches == fetches, "one application is all of this job");
    OK(put_all(&c, true, 1));
    hint(&c, "PMI_fetch_job:0", NODES - 1);
    hint(&c, "PMI_fetch_job:0", 0);
    cluster_close(&c);
}

/* mykey.g, of 12 characters, for all */
static void pmix_commit(struct cluster *c, uint32_t rank, const char *value)
{
    char text[300];

    snprintf(text, sizeof text,
             PMIX_HEAD "0202 0201 020129 0210 'mykey.g' 031a '%s' 0210 'mykey.l' 0ef8acd19101"
                       "0202 020132 0210 'mykey.g' 031a '%s' 0210 'mykey.r' 031a 'hello-remote'",
             value, value);
    pmix_write(c, rank, text);
    pmix_receives(c, rank, "");
}

static void pmix_fence_all(struct cluster *c, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        pmix_write(c, r,
                   PMIX_HEAD "0203 0201 020a 'job0' feffffff0f 0201 021a 'pmix.collect' 000101");
    for (uint32_t r = 0; r < n; r++)
        OK(pmix_receives(c, r, ""));
}

static void pmix_get(struct cluster *c, uint32_t rank, uint32_t of, const char *infos)
{
    char text[200];

    snprintf(text, sizeof text, PMIX_HEAD "0204 020a 'job0' 02%02x %s 0210 'mykey.g'", of, infos);
    pmix_write(c, rank, text);
}

static void test_pmix(void)
{
    static const char none[] = "0200", now[] = "0201 021e 'pmix.immediate' 000101";
    struct cluster c;
    unsigned fetches;

    open_job(&c, "ring", 4, 8, false);
    for (uint32_t r = 0; r < 8; r++)
        pmix_handshake(&c, r);
    pmix_commit(&c, 1, "hello-global");
    pmix_fence_all(&c, 8);
    pmix_get(&c, 2, 1, none);
    OK_F(pmix_receives(&c, 2, "hello-global") && c.fetches == 0, "PMIx: a neighbour's is there");
    pmix_get(&c, 3, 1, none);
    OK_F(pmix_receives(&c, 3, "hello-global"), "PMIx: also for others of its node");
    pmix_get(&c, 5, 1, none);
    OK_F(pmix_receives(&c, 5, "hello-global") && c.fetches == 1, "PMIx: another one is fetched");
    pmix_get(&c, 6, 1, now);
    OK_F(pmix_receives(&c, 6, "hello-global") && c.fetches == 2, "PMIx: also at once");
    pmix_get(&c, 6, 4, now);
    OK_F(!pmix_receives(&c, 6, "hello") && c.fetches == 3, "PMIx: an absent one is absent");
    pmix_commit(&c, 1, "HELLO-GLOBAL");
    pmix_fence_all(&c, 8);
    for (uint32_t r = 2; r < 8; r++) {
        pmix_get(&c, r, 1, none);
        OK_F(pmix_receives(&c, r, "HELLO-GLOBAL"), "PMIx: rank %u sees the newer value", r);
    }
    pmix_commit(&c, 0, "hello-global");
    pmix_commit(&c, 1, "hello-global");
    pmix_fence_all(&c, 8);
    fetches = c.fetches;
    pmix_get(&c, 5, 0, "0201 0220 'wireup.prefetch' 00030a 'node'");
    pmix_receives(&c, 5, "");
    OK_F(c.fetches == fetches + 2, "PMIx: the hint asks, besides the get");
    fetches = c.fetches;
    pmix_get(&c, 5, 1, now);
    OK_F(pmix_receives(&c, 5, "hello-global") && c.fetches == fetches,
         "PMIx: what came along is there");
    pmix_get(&c, 5, 1, "0201 0220 'wireup.prefetch' 00030a 'rack'");
    OK_F(!pmix_receives(&c, 5, "hello"), "PMIx: a hint that is none is refused");
    cluster_close(&c);
}

int main(void)
{
    test_pattern("ring", false);
    test_pattern("ring", true);
    test_pattern("hypercube", true);
    test_pattern("cartesian:4x4x4", true);
    test_pattern("sparse", false);
    test_unnamed();
    test_lost_node("ring");
    test_lost_node("hypercube");
    test_lost_node("cartesian:8x8");
    test_lost_node("sparse");
    test_lost_process();
    test_pmi2();
    test_hints();
    test_pmix();
    return tap_done();
}
