/* ours_test.c - libpmi2 with our server: extensions beyond PMI-2, many members and many threads
 * at once, and every allocation that may fail. */
#include "lib/pmi/world.h"

#include <sys/wait.h>

#include "lib/pmi/client.h"
#include "lib/pmi/kvs.h"
#include "lib/pmi/script.h"
#include "lib/pmi2/data.h"
#include "lib/pmi2/jobs.h"
#include "lib/pmi2/member.h"
#include "pmi2.h"

#define K "wireup-test"

/* ---- messages, byte by byte ------------------------------------------------------------------ */

static void begin_ours(struct script *s, const struct script_line *lines)
{
    script_begin(s, lines);
    setenv("WIREUP_FD", getenv("PMI_FD"), 1);
}

/* One round trip for all attributes; puts in one block, together with the fence; any bytes. */
static void test_words(void)
{
    static const struct script_line lines[] = {
        { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0 wireup=1\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0 wireup=1 rank=3 size=9 "
                "appnum=2 universe=-1 store=0 whole=1 node=4 spawner=K0 kvsname=" K "\n" },
        EXPECT_BYTES("43    cmd=mput-wireup;thrid=put;count=2;bytes=18;\1\0\3\0\0\0ka;b"
                     "\2\0\0\0\0\0k2"
                     "22    cmd=kvs-fence;thrid=1;"),
        { SEND, "40    cmd=mput-wireup-response;thrid=put;rc=0;"
                "36    cmd=kvs-fence-response;thrid=1;rc=0;" },
        { EXPECT, "29    cmd=get-wireup;thrid=2;key=z;" },
        { SEND, "56    cmd=get-wireup-response;thrid=2;rc=0;found=TRUE;bytes=6;x\ny;= " },
        { EXPECT, "49    cmd=get-wireup;thrid=3;jobid=other;srcid=7;key=z;" },
        { SEND, "49    cmd=get-wireup-response;thrid=3;rc=0;found=FALSE;" },
        { EXPECT, "45    cmd=info-getnodeattr;thrid=4;key=n;wait=TRUE;" },
        { SEND, "65    cmd=info-getnodeattr-response;thrid=4;rc=0;found=TRUE;value=a;;b;" },
        EXPECT_BYTES("42    cmd=mput-wireup;thrid=put;count=1;bytes=9;\2\0\1\0\0\0k31"
                     "54    cmd=name-publish;thrid=5;name=s;port=p;infokeycount=0;"),
        { SEND, "70    cmd=mput-wireup-response;thrid=put;rc=1;errmsg=already_present;key=k3;"
                "39    cmd=name-publish-response;thrid=5;rc=0;" },
        { EXPECT, "22    cmd=kvs-fence;thrid=6;" },
        { SEND, "36    cmd=kvs-fence-response;thrid=6;rc=0;" },
        EXPECT_BYTES("42    cmd=mput-wireup;thrid=put;count=1;bytes=9;\2\0\1\0\0\0k51"
                     "21    cmd=finalize;thrid=7;"),
        { SEND, "40    cmd=mput-wireup-response;thrid=put;rc=0;"
                "35    cmd=finalize-response;thrid=7;rc=0;" },
        { END, NULL },
    };
    int spawned, size, rank, appnum, n, found;
    struct script s;
    char text[64];

    begin_ours(&s, lines);
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(spawned == 1 && size == 9 && rank == 3 && appnum == 2);
    OK(PMI2_Job_GetId(text, 64) == PMI2_SUCCESS && !strcmp(text, K));
    EQ(PMI2_KVS_Put("k", "a;b"), PMI2_SUCCESS);
    EQ(PMI2_KVS_Put("k2", ""), PMI2_SUCCESS);
    EQ(PMI2_KVS_Put("k2", "x"), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Put("PMI_x", "x"), PMI2_ERR_INVALID_KEY);
    OK(PMI2_KVS_Get(NULL, -1, "k", text, 64, &n) == PMI2_SUCCESS && !strcmp(text, "a;b"));
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    OK(PMI2_KVS_Get(K, -1, "z", text, 64, &n) == PMI2_SUCCESS && n == 6 &&
       !strcmp(text, "x\ny;= "));
    EQ(PMI2_KVS_Get("other", 7, "z", text, 64, &n), PMI2_ERR_INVALID_KEY);
    OK(PMI2_Info_GetNodeAttr("n", text, 64, &found, 1) == PMI2_SUCCESS && !strcmp(text, "a;b"));
    EQ(PMI2_KVS_Put("k3", "1"), PMI2_SUCCESS);
    EQ(PMI2_Nameserv_publish("s", NULL, "p"), PMI2_SUCCESS); /* the put goes along */
    OK(PMI2_KVS_Fence() == PMI2_ERR_INVALID_KEY);            /* and its refusal is reported here */
    EQ(PMI2_KVS_Put("k5", "1"), PMI2_SUCCESS);
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    OK(script_end(&s));
}

/* ---- several members ------------------------------------------------------------------------- */

struct rank {
    struct pmi2_client *m;
    struct lock gate;
    struct errmsg err;
    struct world *w;
    pthread_t thread;
    uint32_t number;
    int wrong;
};

static void rank_join(struct rank *r, struct world *w, uint32_t number)
{
    struct client_env env;

    *r = (struct rank){ .gate = LOCK_INIT, .w = w, .number = number };
    world_env(w, number);
    r->wrong = client_env_read(&env, &r->err) != 0;
    lock_lock(&r->gate);
    r->wrong += member_start(&env, &r->gate, &r->m, &r->err) != 0;
    lock_unlock(&r->gate);
    if (r->wrong)
        printf("# rank %u: %s\n", number, r->err.text);
}

static void rank_leave(struct rank *r)
{
    lock_lock(&r->gate);
    r->wrong += member_stop(r->m, &r->err) != 0;
    lock_unlock(&r->gate);
}

static int is_text(void *arg, struct slice value, struct errmsg *err)
{
    (void)err;
    return slice_is(value, arg) ? 0 : MEMBER_BAD_VALUE;
}

static bool rank_reads(struct rank *r, const char *key, int source, const char *value)
{
    char want[1100];

    snprintf(want, sizeof want, "%s", value);
    return data_get(r->m, NULL, source, key, is_text, want, &r->err) == 0;
}

/* Many rounds of puts, fence and gets of all values. */
static void *rank_main(void *arg)
{
    struct rank *r = arg;
    char key[32], value[64];

    lock_lock(&r->gate);
    for (int round = 0; round < 20; round++) {
        snprintf(key, sizeof key, "k-%d-%u", round, r->number);
        snprintf(value, sizeof value, "v;%d= %u\n", round, r->number);
        r->wrong += data_put(r->m, key, value, &r->err) != 0;
        r->wrong += data_fence(r->m, &r->err) != 0;
        for (uint32_t other = 0; other < r->w->n; other++) {
            snprintf(key, sizeof key, "k-%d-%u", round, other);
            snprintf(value, sizeof value, "v;%d= %u\n", round, other);
            r->wrong += !rank_reads(r, key, (int)other - 1, value);
        }
        r->wrong +=
            data_get(r->m, NULL, -1, "-NONEXIST-KEY", is_text, NULL, &r->err) != MEMBER_BAD_KEY;
    }
    lock_unlock(&r->gate);
    return NULL;
}

static void test_ranks(bool no_store)
{
    struct rank ranks[WORLD_RANKS];
    struct world w;
    int wrong = 0;

    world_begin(&w, WORLD_RANKS, no_store);
    for (uint32_t i = 0; i < w.n; i++)
        rank_join(&ranks[i], &w, i);
    OK(ranks[0].m->whole == !no_store);
    for (uint32_t i = 0; i < w.n; i++)
        pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]);
    for (uint32_t i = 0; i < w.n; i++) {
        pthread_join(ranks[i].thread, NULL);
        rank_leave(&ranks[i]);
        wrong += ranks[i].wrong;
    }
    OK_F(wrong == 0, "%u members exchange values %s the store: %d wrong", w.n,
         no_store ? "without" : "with", wrong);
    OK(!w.killed);
    world_end(&w);
}

/* Half of the processes speak PMI-1, through our own library too. */
static int copy_one(void *arg, struct slice value, struct errmsg *err)
{
    return is_text(arg, value, err);
}

static void test_beside_pmi1(void)
{
    struct lock gate = LOCK_INIT;
    struct client_env env;
    struct pmi1_client *c = NULL;
    struct errmsg err;
    struct world w;
    struct rank r;
    int wrong;

    world_begin(&w, 2, false);
    rank_join(&r, &w, 0);
    world_env(&w, 1);
    wrong = client_env_read(&env, &err) != 0;
    lock_lock(&gate);
    wrong += client_start(&env, &gate, &c, &err) != 0;
    wrong += kvs_put(c, K, "from1", "one", &err) != 0;
    wrong += kvs_commit(c, K, &err) != 0;
    lock_lock(&r.gate);
    wrong += data_put(r.m, "from2", "two", &r.err) != 0;
    lock_unlock(&r.gate);
    r.number = 99;
    pthread_create(&r.thread, NULL, (void *(*)(void *))(void *)rank_leave, &r); /* sends the puts */
    pthread_join(r.thread, NULL);
    wrong += kvs_get(c, K, "from2", copy_one, (void *)(uintptr_t) "two", &err) != 0;
    wrong += kvs_get(c, K, "from1", copy_one, (void *)(uintptr_t) "one", &err) != 0;
    client_free(c);
    lock_unlock(&gate);
    EQ(wrong + r.wrong, 0);
    world_end(&w);
}

/* More than one block's worth: it is sent ahead of the fence. */
static void test_many_puts(void)
{
    enum { N = 3000 };
    static char value[1025];
    struct world w;
    struct rank r;
    char key[32];

    memset(value, 'v', 1024);
    world_begin(&w, 1, false);
    rank_join(&r, &w, 0);
    lock_lock(&r.gate);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        r.wrong += data_put(r.m, key, value, &r.err) != 0;
    }
    OK_F(r.m->unacknowledged >= 2, "%u blocks are on their way before the fence",
         r.m->unacknowledged);
    r.wrong += data_fence(r.m, &r.err) != 0;
    EQ(r.m->unacknowledged, 0);
    EQ(r.m->batch.keys.count, 0);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        r.wrong += !rank_reads(&r, key, -1, value);
    }
    EQ(r.wrong, 0);
    lock_unlock(&r.gate);
    rank_leave(&r);
    world_end(&w);
}

/* ---- everything once, through the public names ----------------------------------------------- */

static void test_everything(bool no_store)
{
    int v, size, rank, appnum, n, found, array[4], errors[2] = { 9, 9 }, two = 2;
    const char *cmds[] = { "p" }, *missing[] = { "missing" };
    char text[64], right[64];
    struct world w;

    world_begin(&w, 1, no_store);
    world_env(&w, 0);
    EQ(PMI2_Init(&v, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(v == 0 && size == 1 && rank == 0 && appnum == 0);
    EQ(PMI2_KVS_Put("k", "v"), PMI2_SUCCESS);
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    EQ(PMI2_KVS_Put("k", "w"), no_store ? PMI2_SUCCESS : PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Fence(), no_store ? PMI2_ERR_INVALID_KEY : PMI2_SUCCESS);
    OK(PMI2_KVS_Get(NULL, 5, "k", text, 64, &n) == PMI2_SUCCESS && !strcmp(text, "v"));
    OK(PMI2_Info_GetJobAttr("PMI_process_mapping", text, 64, &found) == PMI2_SUCCESS && found);
    OK(PMI2_Info_GetJobAttr("k", text, 64, &found) == PMI2_SUCCESS && !found);
    OK(PMI2_Info_GetJobAttr("PMI_hwloc_xmlfile", text, 64, &found) == PMI2_SUCCESS && !found);
    OK(PMI2_Info_GetNodeAttr("n", text, 64, &found, 0) == PMI2_SUCCESS && !found);
    EQ(PMI2_Info_PutNodeAttr("n", "1,2"), PMI2_SUCCESS);
    OK(PMI2_Info_GetNodeAttrIntArray("n", array, 4, &n, &found) == PMI2_SUCCESS && n == 2);
    EQ(PMI2_Info_PutNodeAttr("n", "7"), PMI2_SUCCESS);
    OK(PMI2_Info_GetNodeAttr("n", text, 64, &found, 1) == PMI2_SUCCESS && !strcmp(text, "7"));
    OK(PMIX_Ring("a;b", &rank, &size, text, right, 64) == PMI2_SUCCESS && !strcmp(text, "a;b"));
    EQ(PMI2_Nameserv_publish("s;1", NULL, "p;\n1"), PMI2_SUCCESS);
    EQ(PMI2_Nameserv_publish("s;1", NULL, "p2"), PMI2_ERR_OTHER);
    OK(PMI2_Nameserv_lookup("s;1", NULL, text, 64) == PMI2_SUCCESS && !strcmp(text, "p;\n1"));
    EQ(PMI2_Nameserv_unpublish("s;1", NULL), PMI2_SUCCESS);
    EQ(PMI2_Nameserv_lookup("s;1", NULL, text, 64), PMI2_ERR_OTHER);
    EQ(PMI2_Job_Connect("nobody", NULL), PMI2_ERR_OTHER);
    EQ(PMI2_Job_Connect(K, NULL), PMI2_SUCCESS);
    EQ(PMI2_Job_Disconnect(K), PMI2_SUCCESS);
    EQ(PMI2_Job_Spawn(1, cmds, NULL, NULL, &two, NULL, NULL, 0, NULL, NULL, 0, errors),
       PMI2_SUCCESS);
    OK(errors[0] == 0 && errors[1] == 0);
    EQ(PMI2_Job_Spawn(1, missing, NULL, NULL, &two, NULL, NULL, 0, NULL, text, 64, errors),
       PMI2_ERR_OTHER);
    OK(errors[0] == 0 && errors[1] == 42);
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
    OK_F(PMI2_KVS_Get(NULL, -1, "k", text, 64, &n) == PMI2_SUCCESS && !strcmp(text, "v"),
         "after a second start the store is there again");
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    OK(!w.killed);
    world_end(&w);
}

static int count_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void test_nothing_left(void)
{
    struct world w;
    int fds;

    world_begin(&w, 1, false);
    world_env(&w, 0);
    fds = count_descriptors();
    for (int i = 0; i < 20; i++) {
        EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
        EQ(PMI2_Finalize(), PMI2_SUCCESS);
    }
    EQ(count_descriptors(), fds);
    world_end(&w);
}

static void test_fork(void)
{
    struct world w;
    int status = 0;
    pid_t pid;

    world_begin(&w, 1, false);
    world_env(&w, 0);
    EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(PMI2_KVS_Fence() != PMI2_ERR_INIT || PMI2_Initialized() ||
              PMI2_Init(NULL, NULL, NULL, NULL) != PMI2_FAIL || PMI2_Finalize() != PMI2_SUCCESS);
    waitpid(pid, &status, 0);
    OK_F(pid > 0 && status == 0, "a forked process has no part in the connection");
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    world_end(&w);
}

static void test_abort(void)
{
    struct world w;
    struct rank r;

    world_begin(&w, 1, false);
    rank_join(&r, &w, 0);
    lock_lock(&r.gate);
    member_abort(r.m, true, 9, "enough; of this");
    member_free(r.m);
    lock_unlock(&r.gate);
    shutdown(w.ends[0][0], SHUT_WR);
    world_end(&w);
    OK(w.killed && strstr(w.reason.text, "enough; of this"));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 40 };

struct crowd {
    pthread_t thread;
    int number, wrong;
};

static void crowd_round(struct crowd *me, int i)
{
    char key[64], text[64];
    int n, found;

    snprintf(key, sizeof key, "t%d-%d", me->number, i);
    me->wrong += PMI2_KVS_Put(key, key) != PMI2_SUCCESS;
    me->wrong += PMI2_KVS_Get(NULL, -1, key, text, 64, &n) != PMI2_SUCCESS || strcmp(text, key);
    me->wrong += PMI2_Info_PutNodeAttr(key, key) != PMI2_SUCCESS;
    me->wrong +=
        PMI2_Info_GetNodeAttr(key, text, 64, &found, 0) != PMI2_SUCCESS || strcmp(text, key) != 0;
    me->wrong += PMI2_KVS_Get("other job", -1, "k", text, 64, &n) != PMI2_ERR_INVALID_KEY;
    me->wrong += PMI2_Nameserv_publish(key, NULL, key) != PMI2_SUCCESS;
    me->wrong += PMI2_Nameserv_lookup(key, NULL, text, 64) != PMI2_SUCCESS || strcmp(text, key);
    me->wrong += PMI2_Info_GetJobAttr("PMI_hwloc_xmlfile", text, 64, &found) != PMI2_SUCCESS;
}

static void *crowd_main(void *arg)
{
    struct crowd *me = arg;

    for (int i = 0; i < ROUNDS; i++)
        crowd_round(me, i);
    return NULL;
}

/* Waits for the next thread's put: all of them wait at once, the last one begins. */
static void *chain_main(void *arg)
{
    struct crowd *me = arg;
    char key[64], text[64];
    int found;

    snprintf(key, sizeof key, "chain-%d", me->number + 1);
    me->wrong += PMI2_Info_GetNodeAttr(key, text, 64, &found, 1) != PMI2_SUCCESS || !found;
    snprintf(key, sizeof key, "chain-%d", me->number);
    me->wrong += PMI2_Info_PutNodeAttr(key, text) != PMI2_SUCCESS;
    return NULL;
}

static void *fence_main(void *arg)
{
    struct crowd *me = arg;

    me->wrong += PMI2_KVS_Fence() != PMI2_SUCCESS;
    return NULL;
}

static void start_crowd(struct crowd *crowd, void *(*main_of)(void *))
{
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){ .number = i };
        pthread_create(&crowd[i].thread, NULL, main_of, &crowd[i]);
    }
}

static int join_crowd(struct crowd *crowd)
{
    int wrong = 0;

    for (int i = 0; i < THREADS; i++) {
        pthread_join(crowd[i].thread, NULL);
        wrong += crowd[i].wrong;
    }
    return wrong;
}

static void test_threads(void)
{
    struct crowd crowd[THREADS], chain[THREADS], waiter = { .number = 99 };
    char key[64], text[64];
    struct world w;
    struct rank other;
    int found;

    world_begin(&w, 2, false);
    rank_join(&other, &w, 1);
    world_env(&w, 0);
    EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
    pthread_create(&waiter.thread, NULL, fence_main, &waiter);
    start_crowd(chain, chain_main);
    start_crowd(crowd, crowd_main);
    EQ(join_crowd(crowd), 0); /* 17 other threads wait all the while */
    snprintf(key, sizeof key, "chain-%d", THREADS);
    EQ(PMI2_Info_PutNodeAttr(key, "end"), PMI2_SUCCESS);
    EQ(join_crowd(chain), 0);
    OK(PMI2_Info_GetNodeAttr("chain-0", text, 64, &found, 0) == PMI2_SUCCESS && found &&
       !strcmp(text, "end"));
    lock_lock(&other.gate);
    EQ(data_fence(other.m, &other.err), 0);
    lock_unlock(&other.gate);
    pthread_join(waiter.thread, NULL);
    EQ(waiter.wrong, 0);
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    rank_leave(&other);
    EQ(other.wrong, 0);
    world_end(&w);
}

/* ---- a thread that spawns -------------------------------------------------------------------- */

static void *spawn_main(void *arg)
{
    const char *cmds[] = { "held" };
    const MPID_Info *infos[] = { NULL };
    int none[] = { 0 }, one = 1, error = 77, rc;
    char job[64];

    rc = PMI2_Job_Spawn(1, cmds, none, NULL, &one, none, infos, 0, NULL, job, 64, &error);
    *(int *)arg = rc != PMI2_SUCCESS || error != 0;
    return NULL;
}

/* The server replies to the spawn only when all the others are done: a thread blocked by it
 * would wait for ever. */
static void test_spawn_blocks_nobody(void)
{
    struct crowd crowd[THREADS];
    pthread_t thread;
    struct world w;
    int wrong = 1;

    world_begin(&w, 1, false);
    world_env(&w, 0);
    EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
    pthread_create(&thread, NULL, spawn_main, &wrong);
    start_crowd(crowd, crowd_main);
    EQ(join_crowd(crowd), 0);
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    EQ(PMI2_Nameserv_publish("release", NULL, "now"), PMI2_SUCCESS);
    pthread_join(thread, NULL);
    OK_F(!wrong, "sixteen threads ask while one spawns");
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    world_end(&w);
}

/* The server goes away while many wait: all of them notice. */
static void *lost_main(void *arg)
{
    struct crowd *me = arg;
    char text[64];
    int found;

    me->wrong += PMI2_Info_GetNodeAttr("never", text, 64, &found, 1) != PMI2_FAIL;
    return NULL;
}

static void test_lost(void)
{
    struct crowd crowd[THREADS];
    struct world w;

    world_begin(&w, 2, false); /* rank 1 could put it */
    world_env(&w, 0);
    EQ(PMI2_Init(NULL, NULL, NULL, NULL), PMI2_SUCCESS);
    start_crowd(crowd, lost_main);
    EQ(PMI2_Info_PutNodeAttr("here", "1"), PMI2_SUCCESS);
    shutdown(w.ends[0][0], SHUT_RDWR);
    EQ(join_crowd(crowd), 0);
    EQ(PMI2_KVS_Fence(), PMI2_FAIL);
    EQ(PMI2_Finalize(), PMI2_FAIL);
    world_end(&w);
}

/* ---- a server that ends at any point --------------------------------------------------------- */

static const char words[] =
    "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0 wireup=1 rank=0 size=1 appnum=0 "
    "universe=-1 store=0 whole=0 node=0 kvsname=K\n"
    "40    cmd=mput-wireup-response;thrid=put;rc=0;"
    "36    cmd=kvs-fence-response;thrid=1;rc=0;"
    "56    cmd=get-wireup-response;thrid=2;rc=0;found=TRUE;bytes=1;x"
    "66    cmd=info-getnodeattr-response;thrid=3;rc=0;found=TRUE;value=a;;;;;"
    "69    cmd=name-lookup-response;thrid=4;rc=0;found=TRUE;port=p;;1;value=p;;;"
    "48    cmd=spawn-response;thrid=5;rc=0;jobid=J;nerrs=0;"
    "69    cmd=ring-response;thrid=6;rc=0;ring-count=0;ring-left=a;ring-right=b;"
    "35    cmd=finalize-response;thrid=7;rc=0;";

/* Returns the number of calls that succeeded; all of them must return. */
static int live_until_cut(size_t n)
{
    static const char *cmds[] = { "p" };
    int ends[2], v, two = 2, good = 0;
    char number[16], text[64];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || write(ends[1], words, n) != (ssize_t)n)
        abort();
    shutdown(ends[1], SHUT_WR);
    snprintf(number, sizeof number, "%d", ends[0]);
    setenv("PMI_FD", number, 1);
    setenv("WIREUP_FD", number, 1);
    good += PMI2_Init(&v, &v, &v, &v) == PMI2_SUCCESS;
    good += PMI2_KVS_Put("a", "b") == PMI2_SUCCESS;
    good += PMI2_KVS_Fence() == PMI2_SUCCESS;
    good += PMI2_KVS_Get(NULL, -1, "c", text, 64, &v) == PMI2_SUCCESS;
    good += PMI2_Info_GetNodeAttr("n", text, 64, &v, 1) == PMI2_SUCCESS;
    good += PMI2_Nameserv_lookup("s", NULL, text, 64) == PMI2_SUCCESS;
    good += PMI2_Job_Spawn(1, cmds, NULL, NULL, &two, NULL, NULL, 0, NULL, text, 64, NULL) ==
            PMI2_SUCCESS;
    good += PMIX_Ring("r", &v, &v, text, text, 64) == PMI2_SUCCESS;
    good += PMI2_Finalize() == PMI2_SUCCESS;
    close(ends[0]);
    close(ends[1]);
    return good;
}

static void test_cuts(void)
{
    size_t len = sizeof words - 1;
    int last = 0, fell = 0;

    for (size_t n = 0; n <= len; n++) {
        int good = live_until_cut(n);
        fell += n > 200 && good < last;
        last = good;
    }
    OK_F(last == 9, "the whole conversation serves all calls (%d)", last);
    OK_F(fell == 0, "cut at each of %zu bytes, every call returns", len);
}

/* ---- no memory ------------------------------------------------------------------------------- */

static int whatever(void *arg, struct slice value, struct errmsg *err)
{
    (void)arg;
    (void)value;
    (void)err;
    return 0;
}

static int converse(struct lock *g)
{
    struct jobs_command cmd = { .program = "p", .nprocs = 2 };
    struct jobs_spawn spawn = { .commands = &cmd, .count = 1, .nprocs = 2 };
    struct client_env env;
    struct pmi2_client *m = NULL;
    struct errmsg err;
    bool found;
    int rc = client_env_read(&env, &err);

    lock_lock(g);
    rc = rc == 0 ? member_start(&env, g, &m, &err) : rc;
    if (rc == 0)
        rc = data_put(m, "k0", "v", &err);
    if (rc == 0)
        rc = data_fence(m, &err);
    if (rc == 0)
        rc = data_put_node(m, "n", "a;b", &err);
    if (rc == 0)
        rc = data_get_job(m, "PMI_hwloc_xmlfile", &found, whatever, NULL, &err);
    if (rc == 0)
        rc = jobs_publish(m, "s;", "p;", &err);
    if (rc == 0)
        rc = jobs_lookup(m, "s;", whatever, NULL, &err);
    if (rc == 0)
        rc = jobs_spawn(m, &spawn, &err);
    if (rc == 0)
        rc = member_stop(m, &err);
    else
        member_free(m);
    lock_unlock(g);
    return rc;
}

static void test_no_memory(void)
{
    long n = 0;
    int rc;

    do {
        struct lock g = LOCK_INIT;
        struct world w;
        world_begin(&w, 1, n % 2 != 0);
        world_env(&w, 0);
        fail_after = n++ / 2;
        has_failed = false;
        rc = converse(&g);
        fail_after = -1;
        shutdown(w.ends[0][0], SHUT_RDWR);
        world_end(&w);
        if (has_failed && rc != -ENOMEM && rc != 0)
            OK_F(false, "allocation %ld fails: %d", n / 2, rc);
    } while (has_failed && n < 2000);
    OK_F(rc == 0 && n > 10 && n < 2000, "%ld allocations, each failing once", n / 2);
}

int main(void)
{
    setenv("WIREUP", "/nonexistent/wireup", 1); /* a launcher may be installed here */
    test_words();
    test_ranks(false);
    test_ranks(true);
    test_beside_pmi1();
    test_many_puts();
    test_everything(false);
    test_everything(true);
    test_nothing_left();
    test_fork();
    test_abort();
    test_threads();
    test_spawn_blocks_nobody();
    test_lost();
    test_cuts();
    test_no_memory();
    return tap_done();
}
