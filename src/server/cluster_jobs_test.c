/* cluster_jobs_test.c - jobs over several nodes: whole daemons joined without a network
 * (tests/cluster.h).
 */
#include "core/job_connect.h"
#include "core/input.h"
#include "core/job_end.h"
#include "report/who_part.h"
#include "tests/cluster_pmix.h"

static const char INIT[] = "cmd=init pmi_version=1 pmi_subversion=1\n";

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

#define RECEIVES(c, rank, text)                                                                    \
    OK_F(receives(c, rank, text), "rank %d hears %s", (int)(rank), #text)

static void init_all(struct cluster *c, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        send_to(c, r, INIT);
        cluster_received(c, 0, r);
    }
}

/* ---- PMI-1: put, barrier, get --------------------------------------------------------------- */

static bool put_fence_get(struct cluster *c, uint32_t n, unsigned round)
{
    char text[200], want[200];
    bool good = true;

    for (uint32_t r = 0; r < n; r++) {
        snprintf(text, sizeof text, "cmd=put kvsname=job0 key=k%u.%u value=card-of-%u-%u\n", round,
                 r, round, r);
        send_to(c, r, text);
        good = good && receives(c, r, "cmd=put_result rc=0 msg=success\n");
    }
    for (uint32_t r = 0; r < n; r++) {
        send_to(c, r, "cmd=barrier_in\n");
        if (r + 1 < n && buf_len(&c->peers[0][r]->out))
            good = false;
    }
    for (uint32_t r = 0; r < n; r++)
        good = good && receives(c, r, "cmd=barrier_out rc=0\n");
    for (uint32_t r = 0; r < n; r++) {
        uint32_t of = (r * 7 + 3) % n;
        snprintf(text, sizeof text, "cmd=get kvsname=job0 key=k%u.%u\n", round, of);
        snprintf(want, sizeof want, "cmd=get_result rc=0 msg=success value=card-of-%u-%u\n", round,
                 of);
        send_to(c, r, text);
        good = good && receives(c, r, want);
    }
    return good;
}

static void test_sixty_four(uint32_t nodes, bool cyclic)
{
    struct cluster c;
    unsigned before;

    cluster_open(&c, nodes, nodes);
    cluster_job(&c, 64, cyclic, false);
    init_all(&c, 64);
    OK_F(put_fence_get(&c, 64, 0) && put_fence_get(&c, 64, 1),
         "64 ranks on %u nodes, %s: put, fence, get, twice", nodes, cyclic ? "cyclic" : "blocks");
    EQ(c.contributions, 2 * nodes);
    before = c.bytes;
    for (uint32_t r = 0; r < 64; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    OK_F(c.bytes == before, "a barrier with nothing new carries no data");
    for (uint32_t r = 0; r < 64; r++) {
        cluster_received(&c, 0, r);
        send_to(&c, r, "cmd=finalize\n");
        cluster_received(&c, 0, r);
    }
    for (uint32_t r = 0; r < 64; r++) {
        server_deliver(&cluster_of(&c, 0, r)->server,
                       INPUT(hangup, .connection = c.peers[0][r]->id));
        cluster_event(&c, 0, r, PROC_EVENT_EXIT, 0);
    }
    OK(c.nodes[0].ends == 1 && c.nodes[1].ends == 1 && job_exit_code(c.nodes[0].jobs[0]) == 0);
    EQ(c.nodes[0].kills + c.nodes[1].kills, 0);
    cluster_close(&c);
}

/* Groups: within a node nothing is sent to other nodes; across nodes only the members' nodes take
 * part; rounds of one name do not mix. */
static void test_groups(void)
{
    struct cluster c;

    cluster_open(&c, 4, 3);
    cluster_job(&c, 8, true, false); /* ranks 0 and 4 on node 0, 1 and 5 on node 1 ... */
    init_all(&c, 8);
    send_to(&c, 0, "cmd=barrier_in group=0,4:1\n");
    send_to(&c, 4, "cmd=barrier_in group=0,4:1\n");
    RECEIVES(&c, 0, "cmd=barrier_out rc=0 tag=1\n");
    RECEIVES(&c, 4, "cmd=barrier_out rc=0 tag=1\n");
    send_to(&c, 1, "cmd=barrier_in group=NODE:2\n");
    send_to(&c, 5, "cmd=barrier_in group=NODE:2\n");
    RECEIVES(&c, 1, "cmd=barrier_out rc=0 tag=2\n");
    EQ(c.contributions, 0);
    send_to(&c, 0, "cmd=put kvsname=job0 key=secret value=x\n");
    cluster_received(&c, 0, 0);
    for (int i = 0; i < 5; i++) { /* the same name again and again */
        send_to(&c, 0, "cmd=barrier_in group=0,1,4:9\n");
        send_to(&c, 1, "cmd=barrier_in group=0,1,4:9\n");
        OK(buf_len(&c.peers[0][0]->out) == 0);
        send_to(&c, 4, "cmd=barrier_in group=0,1,4:9\n");
        RECEIVES(&c, 0, "cmd=barrier_out rc=0 tag=9\n");
        RECEIVES(&c, 4, "cmd=barrier_out rc=0 tag=9\n");
        cluster_received(&c, 0, 1);
    }
    cluster_received(&c, 0, 5);
    EQ(c.contributions, 10);
    OK(c.nodes[0].jobs[0]->colls.groups.count == 1);
    send_to(&c, 5, "cmd=get kvsname=job0 key=secret\n");
    RECEIVES(&c, 5, "cmd=get_result rc=0 msg=success value=x\n"); /* it shares a node with rank 1 */
    send_to(&c, 2, "cmd=get kvsname=job0 key=secret\n");
    RECEIVES(&c, 2, "cmd=get_result rc=-1 msg=not_found\n");
    for (uint32_t r = 0; r < 8; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    cluster_received(&c, 0, 2);
    send_to(&c, 2, "cmd=get kvsname=job0 key=secret\n");
    RECEIVES(&c, 2, "cmd=get_result rc=0 msg=success value=x\n");
    cluster_close(&c);
}

/* Further spaces are exchanged too; a key that two nodes have accepted has one value everywhere. */
static void test_spaces(void)
{
    struct cluster c;

    cluster_open(&c, 2, 1);
    cluster_job(&c, 2, false, false);
    init_all(&c, 2);
    send_to(&c, 0, "cmd=create_kvs\n");
    RECEIVES(&c, 0, "cmd=newkvs rc=0 kvsname=job0.0.1\n");
    send_to(&c, 0, "cmd=put kvsname=job0.0.1 key=a value=1\n");
    send_to(&c, 0, "cmd=put kvsname=job0 key=both value=zero\n");
    send_to(&c, 1, "cmd=put kvsname=job0 key=both value=one\n");
    cluster_received(&c, 0, 0);
    RECEIVES(&c, 1, "cmd=put_result rc=0 msg=success\n");
    send_to(&c, 0, "cmd=barrier_in\n");
    send_to(&c, 1, "cmd=barrier_in\n");
    cluster_received(&c, 0, 0);
    cluster_received(&c, 0, 1);
    send_to(&c, 1, "cmd=get kvsname=job0.0.1 key=a\n");
    RECEIVES(&c, 1, "cmd=get_result rc=0 msg=success value=1\n");
    for (uint32_t r = 0; r < 2; r++) {
        send_to(&c, r, "cmd=get kvsname=job0 key=both\n");
        RECEIVES(&c, r, "cmd=get_result rc=0 msg=success value=zero\n");
    }
    /* A destroyed space is gone everywhere, whichever node has made it. */
    send_to(&c, 1, "cmd=destroy_kvs kvsname=job0.0.1\n");
    RECEIVES(&c, 1, "cmd=kvs_destroyed rc=0\n");
    for (uint32_t r = 0; r < 2; r++) {
        send_to(&c, r, "cmd=put kvsname=job0.0.1 key=b value=2\n");
        RECEIVES(&c, r, "cmd=put_result rc=-1 msg=not_found\n");
    }
    send_to(&c, 0, "cmd=destroy_kvs kvsname=job0.0.1\n");
    RECEIVES(&c, 0, "cmd=kvs_destroyed rc=-1\n");
    cluster_close(&c);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_names(void)
{
    struct cluster c;

    cluster_open(&c, 3, 5);
    cluster_job(&c, 3, false, false);
    init_all(&c, 3);
    send_to(&c, 2, "cmd=publish_name service=svc port=here\n");
    RECEIVES(&c, 2, "cmd=publish_result info=ok rc=0 msg=success\n");
    for (uint32_t r = 0; r < 3; r++) {
        send_to(&c, r, "cmd=lookup_name service=svc\n");
        RECEIVES(&c, r, "cmd=lookup_result info=ok rc=0 msg=success port=here\n");
    }
    send_to(&c, 1, "cmd=publish_name service=svc port=there\n");
    RECEIVES(&c, 1, "cmd=publish_result info=fail rc=1 msg=already_present\n");
    send_to(&c, 1, "cmd=unpublish_name service=svc\n");
    RECEIVES(&c, 1, "cmd=unpublish_result info=ok rc=0 msg=success\n");
    send_to(&c, 0, "cmd=lookup_name service=svc\n");
    RECEIVES(&c, 0, "cmd=lookup_result info=fail rc=1 msg=service_not_found\n");
    cluster_close(&c);
}

/* ---- PMI-2: fence and ring ------------------------------------------------------------------- */

static void send2(struct cluster *c, uint32_t rank, const char *text)
{
    char frame[512];

    snprintf(frame, sizeof frame, "%6zu%s", strlen(text), text);
    send_to(c, rank, frame);
}

static void test_pmi2(void)
{
    enum { N = 6, NODES = 3 };
    struct cluster c;
    char text[200];
    bool good = true;

    cluster_open(&c, NODES, 11);
    cluster_job(&c, N, true, false);
    for (uint32_t r = 0; r < N; r++) {
        send_to(&c, r, "cmd=init pmi_version=2 pmi_subversion=0\n");
        snprintf(text, sizeof text, "cmd=fullinit;pmijobid=job0;pmirank=%u;threaded=FALSE;", r);
        send2(&c, r, text);
        cluster_received(&c, 0, r);
    }
    for (uint32_t r = 0; r < N; r++) {
        snprintf(text, sizeof text, "cmd=kvs-put;key=k%u;value=v%u;", r, r);
        send2(&c, r, text);
        send2(&c, r, "cmd=kvs-fence;");
    }
    for (uint32_t r = 0; r < N; r++) {
        cluster_received(&c, 0, r);
        snprintf(text, sizeof text, "cmd=kvs-get;jobid=job0;srcid=-1;key=k%u;", (r + 1) % N);
        send2(&c, r, text);
        snprintf(text, sizeof text, "value=v%u;", (r + 1) % N);
        good = good && strstr(cluster_received(&c, 0, r), text);
    }
    OK_F(good, "PMI-2: every rank finds its neighbour's value");
    good = true;
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t r = 0; r < N; r++) {
            snprintf(text, sizeof text, "cmd=ring;ring-count=1;ring-left=L%u.%u;ring-right=R%u.%u;",
                     round, r, round, r);
            send2(&c, r, text);
        }
        for (uint32_t r = 0; r < N; r++) {
            /* Places go by node, and by rank on a node: 0 3 1 4 2 5. */
            static const uint32_t order[N] = { 0, 3, 1, 4, 2, 5 };
            const char *received = cluster_received(&c, 0, r);
            uint32_t place = 0;
            while (order[place] != r)
                place++;
            snprintf(text, sizeof text, "ring-left=R%u.%u;ring-right=L%u.%u;", round,
                     order[(place + N - 1) % N], round, order[(place + 1) % N]);
            good = good && strstr(received, text);
            if (!strstr(received, text))
                printf("# rank %u heard %s, not %s\n", r, received, text);
            snprintf(text, sizeof text, "ring-count=%u;", place);
            good = good && strstr(received, text);
        }
    }
    OK_F(good, "PMI-2: the ring goes around all nodes");
    cluster_job(&c, N, true, false);
    send2(&c, 1, "cmd=job-connect;jobid=job1;");
    OK(strstr(cluster_received(&c, 0, 1), "rc=0"));
    for (uint32_t n = 0; n < NODES; n++)
        OK_F(job_is_connected(c.nodes[n].jobs[0], 1), "node %u knows of the connection", n);
    send2(&c, 1, "cmd=job-disconnect;jobid=job1;");
    OK(strstr(cluster_received(&c, 0, 1), "rc=0"));
    for (uint32_t n = 0; n < NODES; n++)
        OK_F(!job_is_connected(c.nodes[n].jobs[0], 1), "and of its end");
    cluster_close(&c);
}

/* ---- PMIx ------------------------------------------------------------------------------------ */

/* mykey.g for all, mykey.l for the own node, mykey.r for others */
static void pmix_commit(struct cluster *c, uint32_t rank)
{
    pmix_write(c, rank,
               PMIX_HEAD
               "0202 0201 020129 0210 'mykey.g' 031a 'hello-global' 0210 'mykey.l' 0ef8acd19101"
               "0202 020132 0210 'mykey.g' 031a 'hello-global' 0210 'mykey.r' 031a 'hello-remote'");
    pmix_receives(c, rank, "");
}

static void pmix_fence(struct cluster *c, uint32_t rank, bool collect)
{
    pmix_write(c, rank,
               collect ? PMIX_HEAD
                   "0203 0201 020a 'job0' feffffff0f 0201 021a 'pmix.collect' 000101"
                       : PMIX_HEAD "0203 0201 020a 'job0' feffffff0f 0200");
}

static void pmix_get(struct cluster *c, uint32_t rank, uint32_t of, const char *key)
{
    char text[200];

    snprintf(text, sizeof text, PMIX_HEAD "0204 020a 'job0' 02%02x 0200 0210 '%s'", of, key);
    pmix_write(c, rank, text);
}

static void test_pmix_modex(void)
{
    struct cluster c;

    cluster_open(&c, 2, 31);
    cluster_job(&c, 4, false, false); /* 0 and 1 on one node, 2 and 3 on the other */
    for (uint32_t r = 0; r < 4; r++)
        pmix_handshake(&c, r);
    {
        struct peer *p = c.peers[0][1]; /* another process, from here on: of node 0 */
        struct peer *stranger = server_peer_new(&c.nodes[0].server, NULL, 0, false, NULL);
        c.peers[0][1] = stranger;
        pmix_write(
            &c, 1,
            "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'job0' "
            "00000003 '4.2.2rc2' 'v41' 01 'hash' 00");
        OK_F(!stranger->job && stranger->closing, "nobody is a process of another node here");
        c.peers[0][1] = p;
    }
    pmix_commit(&c, 0);
    pmix_get(&c, 1, 0, "mykey.l");
    OK_F(pmix_receives(&c, 1, "mykey.l"), "a value for the own node is seen there");
    for (uint32_t r = 0; r < 4; r++)
        pmix_fence(&c, r, true);
    for (uint32_t r = 0; r < 4; r++)
        OK(pmix_receives(&c, r, ""));
    EQ(c.fetches, 0);
    pmix_get(&c, 2, 0, "mykey.g");
    OK_F(pmix_receives(&c, 2, "hello-global"), "a fence with data brings the cards");
    pmix_get(&c, 3, 0, "mykey.r");
    OK(pmix_receives(&c, 3, "hello-remote"));
    EQ(c.fetches, 0);
    pmix_get(&c, 3, 0, "mykey.l");
    OK(c.fetches == 1 && buf_len(&c.peers[0][3]->out) != 0);
    OK_F(!pmix_receives(&c, 3, "mykey.l"), "a value for the owner's node does not leave it");
    pmix_get(&c, 2, 0, "mykey.x");
    OK(buf_len(&c.peers[0][2]->out) == 0 && c.fetches == 2);
    cluster_tick(&c, 3000000000);
    OK_F(pmix_receives(&c, 2, ""), "a value that nobody puts is waited for until the time-out");
    cluster_close(&c);
}

/* A name that may be read once goes with a look-up from any node. */
static void test_read_once(uint32_t nodes)
{
    static const char publish[] =
        PMIX_HEAD "0206 0200 0202 040e 'pubkey' 00 030e 'pubval' 1a 'pmix.persist' 00 1e01";
    static const char lookup[] = PMIX_HEAD "0207 0200 0201 020e 'pubkey' 0200";
    struct cluster c;

    cluster_open(&c, nodes, 5);
    cluster_job(&c, 4, false, false);
    for (uint32_t r = 0; r < 4; r++)
        pmix_handshake(&c, r);
    for (uint32_t i = 0; i < 4; i++) {
        pmix_write(&c, 3 - i, publish);
        pmix_receives(&c, 3 - i, "");
        pmix_write(&c, i, lookup);
        OK_F(pmix_receives(&c, i, "pubval"),
             "%u nodes: rank %u reads the name that rank %u has published", nodes, i, 3 - i);
        pmix_write(&c, i, lookup);
        OK_F(!pmix_receives(&c, i, "pubval"), "once");
    }
    cluster_close(&c);
}

static void test_pmix_direct(void)
{
    struct cluster c;
    unsigned before;

    cluster_open(&c, 2, 37);
    cluster_job(&c, 4, false, false);
    for (uint32_t r = 0; r < 4; r++)
        pmix_handshake(&c, r);
    pmix_get(&c, 2, 0, "mykey.g"); /* too early: waits at the owner's node */
    pmix_get(&c, 3, 0, "mykey.g");
    pmix_get(&c, 3, 0, "mykey.r");
    EQ(c.fetches, 1);
    OK(buf_len(&c.peers[0][2]->out) == 0);
    pmix_commit(&c, 0);
    OK_F(pmix_receives(&c, 2, "hello-global") && pmix_receives(&c, 3, "hello-remote"),
         "one question serves all who wait");
    EQ(c.fetches, 1);
    before = c.bytes;
    for (uint32_t r = 0; r < 4; r++)
        pmix_fence(&c, r, false);
    for (uint32_t r = 0; r < 4; r++)
        OK(pmix_receives(&c, r, ""));
    OK_F(c.bytes == before, "a fence without data carries none");
    pmix_commit(&c, 3);
    pmix_get(&c, 1, 3, "mykey.g");
    OK(pmix_receives(&c, 1, "hello-global") && c.fetches == 2);
    pmix_get(&c, 0, 3, "mykey.r"); /* the whole block came along */
    OK(pmix_receives(&c, 0, "hello-remote") && c.fetches == 2);
    pmix_get(&c, 0, 2, "mykey.g");
    OK(buf_len(&c.peers[0][0]->out) == 0);
    cluster_event(&c, 0, 2, PROC_EVENT_EXIT, 0);
    OK_F(pmix_receives(&c, 0, ""), "its owner has gone without it: that is an answer");
    pmix_get(&c, 0, 2, "mykey.g");
    OK(pmix_receives(&c, 0, ""));
    cluster_close(&c);
}

/* One key, two owners: PMI processes and PMIx processes of one job share their values. */
static void test_mixed(void)
{
    struct cluster c;

    cluster_open(&c, 2, 41);
    cluster_job(&c, 2, false, false);
    send_to(&c, 0, INIT);
    send_to(&c, 0, "cmd=put kvsname=job0 key=mykey.p value=from-pmi\n");
    pmix_handshake(&c, 1);
    pmix_commit(&c, 1);
    cluster_received(&c, 0, 0);
    send_to(&c, 0, "cmd=barrier_in\n");
    pmix_fence(&c, 1, true);
    RECEIVES(&c, 0, "cmd=barrier_out rc=0\n");
    OK(pmix_receives(&c, 1, ""));
    pmix_get(&c, 1, 0, "mykey.p");
    OK(pmix_receives(&c, 1, "from-pmi"));
    send_to(&c, 0, "cmd=get kvsname=job0 key=mykey.g\n");
    RECEIVES(&c, 0, "cmd=get_result rc=0 msg=success value=hello-global\n");
    cluster_close(&c);
}

static void test_events(void)
{
    struct cluster c;

    cluster_open(&c, 3, 43);
    cluster_job(&c, 3, false, false);
    for (uint32_t r = 0; r < 3; r++)
        pmix_handshake(&c, r);
    pmix_write(&c, 2, PMIX_HEAD "020d 0201 02d00f 0200"); /* registers for code 1000 */
    OK(pmix_receives(&c, 2, ""));
    OK_F(c.nodes[2].events == 2 && c.nodes[1].events == 0,
         "the node whose client has registered is told that the job has begun and runs");
    c.nodes[2].events = 0;
    pmix_write(&c, 0, PMIX_HEAD "020c 02d00f 0205 0200");
    OK(c.nodes[1].events + c.nodes[2].events == 2 && c.nodes[0].events == 0);
    cluster_close(&c);
}

/* Who has registered for aborts is told of one, wherever it happens; the others are told nothing.
 */
static void test_abort_event(uint32_t culprit)
{
    struct cluster c;

    cluster_open(&c, 3, 47);
    cluster_job(&c, 6, false, false);
    pmix_handshake(&c, 4);
    pmix_write(&c, 4, PMIX_HEAD "020d 0201 020f 0200"); /* registers for REQUESTED_ABORT */
    pmix_receives(&c, 4, "");
    send_to(&c, culprit, INIT);
    cluster_received(&c, 0, culprit);
    send_to(&c, culprit, "cmd=abort exitcode=3\n");
    OK_F(c.nodes[1].events == 0 && pmix_receives(&c, 4, "pmix.evproc"),
         "the abort of rank %u is told", culprit);
    cluster_close(&c);
}

/* Likewise of a process that could not be started. */
static void test_failed_start_event(void)
{
    struct cluster c;

    cluster_open(&c, 3, 59);
    c.started = 5;
    cluster_job(&c, 6, false, false);
    pmix_handshake(&c, 4);
    pmix_write(&c, 4, PMIX_HEAD "020d 0201 02a106 0200"); /* registers for FAILED_TO_START */
    pmix_receives(&c, 4, "");
    cluster_event(&c, 0, 5, PROC_EVENT_NOT_STARTED, 127);
    OK_F(pmix_receives(&c, 4, "pmix.evproc"), "a process that is not started is told");
    cluster_close(&c);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void test_abort(int code)
{
    struct cluster c;
    char words[64];

    cluster_open(&c, 4, 17);
    cluster_job(&c, 8, true, false);
    init_all(&c, 8);
    send_to(&c, 0, "cmd=barrier_in\n");
    snprintf(words, sizeof words, "cmd=abort exitcode=%d\n", code);
    send_to(&c, 6, words);
    EQ(job_exit_code(c.nodes[0].jobs[0]), code);
    EQ(c.nodes[0].jobs[0]->culprit, 6);
    snprintf(words, sizeof words, "rank 6 on c (pid 1006) aborted with code %d", code);
    OK_F(strstr(c.nodes[0].jobs[0]->reason.text, words), "the root says who: %s",
         c.nodes[0].jobs[0]->reason.text);
    for (uint32_t i = 0; i < 4; i++)
        OK_F(c.nodes[i].kills == 1 && c.nodes[i].ends == 1, "node %u ends its part, once", i);
    cluster_close(&c);
}

static void test_death(void)
{
    struct cluster c;

    cluster_open(&c, 3, 19);
    cluster_job(&c, 6, false, false);
    init_all(&c, 6);
    for (uint32_t r = 0; r < 5; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    server_deliver(&cluster_of(&c, 0, 5)->server, INPUT(hangup, .connection = c.peers[0][5]->id));
    cluster_event(&c, 0, 5, PROC_EVENT_DEATH, 11);
    EQ(job_exit_code(c.nodes[0].jobs[0]), 139);
    EQ(c.nodes[0].jobs[0]->culprit, 5);
    OK_F(strstr(c.nodes[0].jobs[0]->reason.text, "rank 5 on c"), "the root says who: %s",
         c.nodes[0].jobs[0]->reason.text);
    OK(c.nodes[0].kills == 1 && c.nodes[1].kills == 1 && c.nodes[2].kills == 1);
    OK(c.nodes[0].ends == 1 && c.nodes[1].ends == 1 && c.nodes[2].ends == 1);
    cluster_close(&c);
}

/* The job goes on: processes that wait for the dead one are answered, whether its node has
 * contributed or not. */
static void test_going_on(void)
{
    struct cluster c;

    cluster_open(&c, 3, 23);
    cluster_job(&c, 6, false, true);
    init_all(&c, 6);
    for (uint32_t r = 0; r < 5; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    send_to(&c, 0, "cmd=barrier_in group=0,2:8\n");
    cluster_event(&c, 0, 5, PROC_EVENT_DEATH, 11);
    for (uint32_t r = 0; r < 5; r++)
        RECEIVES(&c, r, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    send_to(&c, 2, "cmd=barrier_in group=0,2:8\n");
    RECEIVES(&c, 0, "cmd=barrier_out rc=0 tag=8\n");
    RECEIVES(&c, 2, "cmd=barrier_out rc=0 tag=8\n");
    send_to(&c, 3, "cmd=barrier_in\n");
    RECEIVES(&c, 3, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    send_to(&c, 1, "cmd=get kvsname=job0 key=PMI_dead_processes\n");
    RECEIVES(&c, 1, "cmd=get_result rc=0 msg=success value=5\n");
    OK(c.nodes[0].jobs[0]->phase == JOB_RUNNING && c.nodes[1].kills == 0);
    cluster_close(&c);
}

/* The same when one of the launcher's own node dies, which no other node can know. */
static void test_going_on_without_ours(void)
{
    struct cluster c;

    cluster_open(&c, 3, 47);
    cluster_job(&c, 6, false, true);
    init_all(&c, 6);
    for (uint32_t r = 2; r < 6; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    cluster_event(&c, 0, 0, PROC_EVENT_DEATH, 11);
    for (uint32_t r = 2; r < 6; r++)
        RECEIVES(&c, r, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    send_to(&c, 5, "cmd=get kvsname=job0 key=PMI_dead_processes\n");
    RECEIVES(&c, 5, "cmd=get_result rc=0 msg=success value=0\n");
    cluster_close(&c);
}

/* A node is lost with all its processes, and the job goes on. */
static void test_node_down(void)
{
    struct cluster c;

    cluster_open(&c, 3, 53);
    cluster_job(&c, 6, false, true);
    for (uint32_t r = 0; r < 6; r++) {
        if (r != 2)
            send_to(&c, r, INIT);
        cluster_received(&c, 0, r);
    }
    pmix_handshake(&c, 2);
    pmix_write(&c, 2, PMIX_HEAD "020d 0201 02d00f 0200"); /* registers for a code */
    OK(pmix_receives(&c, 2, ""));
    c.nodes[1].events = 0; /* those kept before */
    send_to(&c, 0, "cmd=barrier_in\n");
    send_to(&c, 3, "cmd=barrier_in\n");
    server_deliver(&c.nodes[0].server, INPUT(job_failed, .job = c.nodes[0].jobs[0]->id, .code = 1,
                                             .reason = slice_str("node c is lost")));
    server_deliver(&c.nodes[0].server, INPUT(node_down, .job = c.nodes[0].jobs[0]->id, .node = 2));
    cluster_settle(&c);
    OK_F(c.nodes[1].events == 2 && c.nodes[2].events == 0 && c.nodes[0].events == 0,
         "the node whose client has registered is told that it is down and offline, once");
    for (uint32_t r = 4; r < 6; r++)
        server_deliver(&c.nodes[0].server, INPUT(proc_state, .job = c.nodes[0].jobs[0]->id,
                                                 .rank = r, .event = PROC_EVENT_DEATH, .code = 9));
    cluster_settle(&c);
    RECEIVES(&c, 0, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    RECEIVES(&c, 3, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    send_to(&c, 3, "cmd=get kvsname=job0 key=PMI_dead_processes\n");
    RECEIVES(&c, 3, "cmd=get_result rc=0 msg=success value=4,5\n");
    OK(c.nodes[0].jobs[0]->phase == JOB_RUNNING && job_exit_code(c.nodes[0].jobs[0]) == 1);
    OK(!strcmp(c.nodes[0].jobs[0]->reason.text, "node c is lost"));
    cluster_close(&c);
}

/* A rank finalizes, and others fence without it: an error of the program, and no hang. */
static void test_leaving(void)
{
    struct cluster c;

    cluster_open(&c, 2, 29);
    cluster_job(&c, 4, false, false);
    init_all(&c, 4);
    for (uint32_t r = 0; r < 3; r++)
        send_to(&c, r, "cmd=barrier_in group=WORLD:4\n");
    send_to(&c, 3, "cmd=finalize\n");
    server_deliver(&cluster_of(&c, 0, 3)->server, INPUT(hangup, .connection = c.peers[0][3]->id));
    cluster_event(&c, 0, 3, PROC_EVENT_EXIT, 0);
    OK(c.nodes[0].jobs[0]->failed);
    OK_F(strstr(c.nodes[0].jobs[0]->reason.text,
                "rank 3 on b (pid 1003) exited with code 0 after finalize, and others"),
         "the root says why: %s", c.nodes[0].jobs[0]->reason.text);
    cluster_close(&c);
}

/* ---- names that contain each other ----------------------------------------------------------- */

/* Two jobs fence over two nodes; whatever their names, each is answered about its own. */
static void test_nested_names(const char *first, const char *second)
{
    struct cluster c;
    bool good = true;

    cluster_open(&c, 2, 3);
    cluster_job_named(&c, first, 2, false, false);
    cluster_job_named(&c, second, 2, false, false);
    for (uint32_t i = 0; i < 4; i++) {
        cluster_write(&c, i / 2, i % 2, slice_str(INIT));
        cluster_received(&c, i / 2, i % 2);
    }
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 4; i++)
            cluster_write(&c, i / 2, i % 2,
                          round ? SLICE("cmd=barrier_in group=1,0:7\n")
                                : SLICE("cmd=barrier_in\n"));
        for (uint32_t i = 0; i < 4; i++)
            good = good && strstr(cluster_received(&c, i / 2, i % 2), "barrier_out rc=0");
    }
    OK_F(good, "jobs named '%s' and '%s' fence over two nodes", first, second);
    cluster_close(&c);
}

/* A member list in another order is the same fence. */
static void test_order(uint32_t nodes)
{
    struct cluster c;

    cluster_open(&c, nodes, 3);
    cluster_job(&c, 2, false, false);
    init_all(&c, 2);
    send_to(&c, 0, "cmd=barrier_in group=0,1:7\n");
    send_to(&c, 1, "cmd=barrier_in group=1,0,1:7\n");
    RECEIVES(&c, 0, "cmd=barrier_out rc=0 tag=7\n");
    RECEIVES(&c, 1, "cmd=barrier_out rc=0 tag=7\n");
    cluster_close(&c);
}

/* ---- who is missing -------------------------------------------------------------------------- */

static bool asleep(void *arg, int pid, struct proc_look *look_p)
{
    (void)arg;
    *look_p = (struct proc_look){ .pid = pid, .state = 'T' };
    return pid == 1005;
}

/* The root's report, made of the parts of all nodes; cut: this many bytes of each part. */
static const char *who(struct cluster *c, bool json, size_t cut)
{
    static char text[1 << 14];
    struct who_options o = { .json = json, .now_ns = 100, .look = asleep };
    struct who_picture *p = who_picture_new(&c->nodes[0].server.core, 100);
    struct buf out = BUF_NULL(sizeof text - 1);

    for (uint32_t i = 0; p && i < c->nnodes; i++) {
        struct buf part = BUF_NULL(1 << 20);
        char *copy;
        size_t n;
        who_part(&c->nodes[i].server.core, &o, &part);
        n = buf_len(&part) < cut ? buf_len(&part) : cut;
        copy = malloc(n + 1); /* ends exactly at the end of its memory */
        memcpy(copy, buf_slice(&part).ptr, n);
        if (who_picture_add(p, slice_mem(copy, n)) != (n < buf_len(&part)))
            OK_F(false, "a part of %zu bytes of %zu", n, buf_len(&part));
        free(copy);
        buf_free(&part);
    }
    if (p)
        who_picture_report(p, &o, &out);
    who_picture_free(p);
    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(buf_slice(&out)));
    buf_free(&out);
    return text;
}

static void test_who(void)
{
    static const char want[] =
        "job 0 job0, 6 processes: 1 running 5 attached\n"
        "  rank 5 (pid 1005 on c) is stopped (by SIGSTOP or SIGTSTP); SIGCONT continues it\n"
        "  fence WORLD:0, generation 0, for 0.0 s: 4 of 6 have arrived; missing: 4-5\n"
        "    rank 4 on c (pid 1004) attached; last request: put, 0.0 s ago\n"
        "    rank 5 on c (pid 1005) running, stopped; has not said anything yet\n"
        "  fence 0,2:7, generation 0, for 0.0 s: 1 of 2 have arrived; missing: 2\n"
        "    rank 2 on b (pid 1002) attached; last request: fence, 0.0 s ago\n";
    struct cluster c;
    const char *got;

    cluster_open(&c, 3, 47);
    cluster_job(&c, 6, false, false);
    init_all(&c, 5);
    for (uint32_t r = 0; r < 4; r++)
        send_to(&c, r, "cmd=barrier_in\n");
    send_to(&c, 0, "cmd=barrier_in group=0,2:7\n");
    send_to(&c, 4, "cmd=put kvsname=job0 key=a value=b\n");
    got = who(&c, false, SIZE_MAX);
    if (!OK_F(!strcmp(got, want), "the report of three nodes"))
        printf("# got: %s\n", got);
    got = who(&c, true, SIZE_MAX);
    OK(strstr(got, "\"members\":6,\"arrived\":4,\"missing\":\"4-5\""));
    for (size_t cut = 0; cut < 60; cut++)
        who(&c, false, cut);
    send_to(&c, 4, "cmd=barrier_in\n");
    send_to(&c, 5, INIT);
    send_to(&c, 5, "cmd=barrier_in\n");
    OK(!strstr(who(&c, false, SIZE_MAX), "WORLD"));
    cluster_close(&c);
}

int main(void)
{
    test_sixty_four(4, false);
    test_sixty_four(4, true);
    test_sixty_four(8, true);
    test_groups();
    test_spaces();
    test_names();
    test_pmi2();
    test_pmix_modex();
    test_pmix_direct();
    test_read_once(1);
    test_read_once(4);
    test_mixed();
    test_events();
    test_abort_event(0);
    test_abort_event(2);
    test_failed_start_event();
    test_abort(7);
    test_abort(0);
    test_death();
    test_going_on();
    test_going_on_without_ours();
    test_node_down();
    test_leaving();
    test_who();
    test_nested_names("a", "a/0");
    test_nested_names("a/0", "a");
    test_nested_names("a", "a/WORLD:0");
    test_nested_names("a b.c", "a");
    test_order(1);
    test_order(2);
    return tap_done();
}
