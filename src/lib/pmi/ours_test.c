/* ours_test.c - our library with our server: extensions beyond PMI-1, many clients and many
 * threads at once, and every allocation that may fail. */
#include <sys/stat.h>

#include "lib/pmi/world.h"

#include "lib/pmi/client.h"
#include "lib/pmi/clique.h"
#include "lib/pmi/kvs.h"
#include "lib/pmi/script.h"
#include "lib/pmi/space.h"
#include "pmi.h"

#define K "wireup-test"

/* ---- messages, byte by byte ------------------------------------------------------------------ */

#define OUR_START                                                                                  \
    { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1 wireup=1\n" },                              \
    {                                                                                              \
        SEND, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 wireup=1 rank=3 size=9 "   \
              "appnum=2 universe=-1 kvsname_max=256 keylen_max=64 vallen_max=1024 store=0 "        \
              "kvsname=" K "\n"                                                                    \
    }
#define OUR_END                                                                                    \
    { EXPECT, "cmd=finalize\n" }, { SEND, "cmd=finalize_ack rc=0\n" },                             \
    {                                                                                              \
        END, NULL                                                                                  \
    }

static void begin_ours(struct script *s, const struct script_line *lines)
{
    script_begin(s, lines);
    setenv("WIREUP_FD", getenv("PMI_FD"), 1);
}

/* One round trip for all attributes; puts in one block, together with the barrier; any bytes. */
static void test_words(void)
{
    static const struct script_line lines[] = {
        OUR_START,
        EXPECT_BYTES("cmd=mput_wireup count=2 bytes=18\n\1\0\3\0\0\0ka\nb\2\0\0\0\0\0k2"
                     "cmd=barrier_in\n"),
        { SEND, "cmd=mput_result rc=0\ncmd=barrier_out rc=0\n" },
        { EXPECT, "cmd=get_wireup kvsname=" K " key=z\n" },
        { SEND, "cmd=value_wireup rc=0 bytes=6\nx\ny = " },
        { EXPECT, "cmd=get_wireup kvsname=" K " key=none\n" },
        { SEND, "cmd=value_wireup rc=-1 msg=not_found\n" },
        EXPECT_BYTES("cmd=mput_wireup count=1 bytes=9\n\2\0\1\0\0\0k31"), /* commit: no reply yet */
        EXPECT_BYTES("cmd=mput_wireup count=1 bytes=9\n\2\0\1\0\0\0k41cmd=barrier_in\n"),
        { SEND, "cmd=mput_result rc=3 key=k3 msg=already_present\ncmd=mput_result rc=0\n" },
        { SEND, "cmd=barrier_out rc=0\n" },
        { EXPECT, "cmd=barrier_in group=NODE:0\n" },
        { SEND, "cmd=barrier_out rc=0 tag=0\n" },
        EXPECT_BYTES("cmd=mput_wireup count=1 bytes=9\n\2\0\1\0\0\0k51cmd=finalize\n"),
        { SEND, "cmd=mput_result rc=0\ncmd=finalize_ack rc=0\n" },
        { END, NULL },
    };
    struct script s;
    char text[64];
    int v;

    begin_ours(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 3);
    OK(PMI_Get_size(&v) == PMI_SUCCESS && v == 9);
    OK(PMI_Get_appnum(&v) == PMI_SUCCESS && v == 2);
    OK(PMI_Get_universe_size(&v) == PMI_SUCCESS && v == -1);
    OK(PMI_KVS_Get_my_name(text, sizeof text) == PMI_SUCCESS && !strcmp(text, K));
    EQ(PMI_KVS_Put(K, "k", "a\nb"), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "k2", ""), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "k2", "x"), PMI_ERR_INVALID_KEY);
    OK(PMI_KVS_Get(K, "k", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "a\nb"));
    EQ(PMI_Barrier(), PMI_SUCCESS);
    OK(PMI_KVS_Get(K, "z", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "x\ny = "));
    EQ(PMI_KVS_Get(K, "none", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Get(K, "a blank", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(K, "k3", "1"), PMI_SUCCESS);
    EQ(PMI_KVS_Commit(K), PMI_SUCCESS);
    EQ(PMI_KVS_Commit(K), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "k4", "1"), PMI_SUCCESS);
    OK(PMI_KVS_Get(K, "k3", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "1"));
    EQ(PMI_Barrier(), PMI_ERR_INVALID_KEY);
    EQ(PMI_Barrier_group(PMI_GROUP_NODE, 0, NULL), PMI_SUCCESS);
    EQ(PMI_KVS_Iter_first(K, text, 8, text, 8), PMI_FAIL); /* no store came along */
    EQ(PMI_KVS_Put(K, "k5", "1"), PMI_SUCCESS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

static void test_further_spaces(void)
{
    static const struct script_line lines[] = {
        OUR_START,
        { EXPECT, "cmd=create_kvs\n" },
        { SEND, "cmd=newkvs rc=0 kvsname=" K ".1\n" },
        { EXPECT, "cmd=create_kvs\n" },
        { SEND, "cmd=newkvs rc=1\n" },
        EXPECT_BYTES("cmd=mput_wireup count=1 bytes=21\n\17\0\0\0\0\0" K ".1\0a"
                     "cmd=destroy_kvs kvsname=" K ".1\n"),
        { SEND, "cmd=mput_result rc=0\ncmd=kvs_destroyed rc=0\n" },
        { EXPECT, "cmd=destroy_kvs kvsname=" K ".7\n" },
        { SEND, "cmd=kvs_destroyed rc=-1\n" },
        EXPECT_BYTES("cmd=mput_wireup count=1 bytes=21\n\17\0\0\0\0\0" K ".7\0a"),
        { SEND, "cmd=mput_result rc=2 key=a msg=not_found\n" },
        { EXPECT, "cmd=get_wireup kvsname=" K ".7 key=b\n" },
        { SEND, "cmd=value_wireup rc=-1 msg=not_found\n" },
        OUR_END,
    };
    struct script s;
    char name[64], text[8];
    int v;

    begin_ours(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(PMI_KVS_Create(name, sizeof name), PMI_SUCCESS);
    OK(!strcmp(name, K ".1"));
    EQ(PMI_KVS_Create(text, sizeof text), PMI_FAIL);
    EQ(PMI_KVS_Put(name, "a", ""), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "a", "2"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Destroy(name), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "a", "1"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Destroy(K ".7"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Put(K ".7", "a", ""), PMI_SUCCESS); /* the client does not know yet */
    EQ(PMI_KVS_Commit(K), PMI_SUCCESS);
    EQ(PMI_KVS_Get(K ".7", "b", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Commit(K), PMI_ERR_INVALID_KVS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

/* A Wireup server that sends fewer attributes than today's. */
static void test_fewer_facts(void)
{
    static const struct script_line lines[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1 wireup=1\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 wireup=1\n" },
        { EXPECT, "cmd=get_maxes\n" },
        { SEND, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n" },
        { EXPECT, "cmd=get_appnum\n" },
        { SEND, "cmd=appnum rc=0 appnum=5\n" },
        { EXPECT, "cmd=get_my_kvsname\n" },
        { SEND, "cmd=my_kvsname kvsname=" K "\n" },
        { EXPECT, "cmd=get_universe_size\n" },
        { SEND, "cmd=universe_size rc=1 msg=no\n" },
        OUR_END,
    };
    struct script s;
    char text[64];
    int v;

    begin_ours(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK(PMI_Get_size(&v) == PMI_SUCCESS && v == 4);
    OK(PMI_Get_appnum(&v) == PMI_SUCCESS && v == 5);
    EQ(PMI_KVS_Get_my_name(text, sizeof text), PMI_SUCCESS);
    EQ(PMI_Get_universe_size(&v), PMI_FAIL);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Another rank of the job, with a client of its own, in a thread. */
struct rank {
    struct world *w;
    uint32_t rank;
    pthread_t thread;
    struct lock gate;
    struct pmi1_client *c;
    struct errmsg err;
    int wrong;
};

static void rank_join(struct rank *r, struct world *w, uint32_t rank)
{
    struct client_env env = {
        .fd = w->ends[rank][0], .wireup_fd = w->ends[rank][0], .rank = (int)rank, .size = (int)w->n
    };

    *r = (struct rank){ .w = w, .rank = rank, .gate = LOCK_INIT };
    lock_lock(&r->gate);
    r->wrong += client_start(&env, &r->gate, &r->c, &r->err) != 0;
    lock_unlock(&r->gate);
}

static void rank_leave(struct rank *r)
{
    lock_lock(&r->gate);
    r->wrong += client_stop(r->c, &r->err) != 0;
    lock_unlock(&r->gate);
    if (r->wrong)
        printf("# rank %u: %s\n", r->rank, r->err.text);
}

static int same_text(void *arg, struct slice value, struct errmsg *err)
{
    (void)err;
    return slice_is(value, arg) ? CLIENT_OK : CLIENT_BAD_VALUE;
}

static bool rank_reads(struct rank *r, const char *space, const char *key, const char *value)
{
    return kvs_get(r->c, space, key, same_text, (void *)(uintptr_t)value, &r->err) == CLIENT_OK;
}

/* Each rank puts a value that plain PMI-1 lines cannot carry, and reads all others without a
 * message. */
static void exchange(struct rank *r)
{
    char key[32], value[64];
    long before;

    snprintf(key, sizeof key, "card-%u", r->rank);
    snprintf(value, sizeof value, "rank %u\n= \\ \t", r->rank);
    r->wrong += kvs_put(r->c, K, key, value, &r->err) != 0;
    r->wrong += kvs_commit(r->c, K, &r->err) != 0;
    r->wrong += kvs_barrier(r->c, SLICE_NULL, &r->err) != 0;
    before = sends;
    for (uint32_t other = 0; other < r->w->n; other++) {
        snprintf(key, sizeof key, "card-%u", other);
        snprintf(value, sizeof value, "rank %u\n= \\ \t", other);
        r->wrong += !rank_reads(r, K, key, value);
        if (!r->w->no_store) /* a rank that cannot see the store's value learns of it at the next
                                barrier */
            r->wrong += kvs_put(r->c, K, key, "again", &r->err) != CLIENT_BAD_KEY;
    }
    if (!r->w->no_store)
        r->wrong += sends != before; /* all of them from the store */
    r->wrong += kvs_get(r->c, K, "none", same_text, NULL, &r->err) != CLIENT_BAD_KEY;
    r->wrong += kvs_barrier(r->c, SLICE_NULL, &r->err) != 0;
}

static void *exchange_main(void *arg)
{
    struct rank *r = arg;

    if (r->rank % 3 == 2)
        dripping = true;
    lock_lock(&r->gate);
    exchange(r);
    lock_unlock(&r->gate);
    rank_leave(r);
    return NULL;
}

static void test_exchange(bool no_store)
{
    struct rank ranks[WORLD_RANKS];
    struct world w;
    int wrong = 0;

    world_begin(&w, WORLD_RANKS, no_store);
    for (uint32_t r = 0; r < w.n; r++) {
        rank_join(&ranks[r], &w, r);
        wrong += ranks[r].c->rank != r || ranks[r].c->size != w.n;
        if (pthread_create(&ranks[r].thread, NULL, exchange_main, &ranks[r]) != 0)
            abort();
    }
    for (uint32_t r = 0; r < w.n; r++) {
        pthread_join(ranks[r].thread, NULL);
        wrong += ranks[r].wrong;
    }
    OK_F(wrong == 0 && !w.killed, "%u ranks exchange cards %s", w.n,
         no_store ? "by messages" : "through the store");
    world_end(&w);
}

/* Two ranks put the same key before either can see the other's. */
static void put_same(struct rank *r)
{
    lock_lock(&r->gate);
    r->wrong += kvs_put(r->c, K, "same", "of one", &r->err) != 0;
    r->wrong += kvs_put(r->c, K, r->rank ? "mine-1" : "mine-0", "x", &r->err) != 0;
    lock_unlock(&r->gate);
}

static void *meet_main(void *arg)
{
    struct rank *r = arg;
    int rc;

    lock_lock(&r->gate);
    rc = kvs_barrier(r->c, SLICE_NULL, &r->err);
    r->wrong += rc == CLIENT_BAD_KEY ? 1 : rc * 100;
    if (!rank_reads(r, K, "mine-0", "x") || !rank_reads(r, K, "mine-1", "x"))
        r->wrong += 100; /* the refusal of one put has suppressed no other */
    lock_unlock(&r->gate);
    return NULL;
}

static void test_duplicates(void)
{
    struct rank a, b;
    struct world w;

    world_begin(&w, 2, false);
    rank_join(&a, &w, 0);
    rank_join(&b, &w, 1);
    put_same(&a);
    put_same(&b);
    pthread_create(&a.thread, NULL, meet_main, &a);
    pthread_create(&b.thread, NULL, meet_main, &b);
    pthread_join(a.thread, NULL);
    pthread_join(b.thread, NULL);
    OK_F(a.wrong + b.wrong == 1, "exactly one of two putters is told at the barrier");
    a.wrong = b.wrong = 0;
    rank_leave(&a);
    rank_leave(&b);
    EQ(a.wrong + b.wrong, 0);
    world_end(&w);
}

/* Everything else, through the ABI, as rank 0 of 1. */
static void everything(bool no_store)
{
    char name[256], text[1024], key[64];
    const char *cmds[] = { "known" }, *missing[] = { "missing" };
    const int two[] = { 2 };
    int v, ranks[16], errors[2] = { 7, 7 };
    struct world w;

    world_begin(&w, 1, no_store);
    world_env(&w, 0);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK(PMI_Get_appnum(&v) == PMI_SUCCESS && v == 0);
    OK(PMI_Get_universe_size(&v) == PMI_SUCCESS && v == 64);
    OK(PMI_Get_clique_size(&v) == PMI_SUCCESS && v == 1);
    OK(PMI_Get_clique_ranks(ranks, 1) == PMI_SUCCESS && ranks[0] == 0);
    OK(PMI_KVS_Get(K, "PMI_process_mapping", text, sizeof text) == PMI_SUCCESS &&
       !strcmp(text, "(vector,(0,1,16))"));
    EQ(PMI_KVS_Put(K, "a b", "first"), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "c", ""), PMI_SUCCESS);
    EQ(PMI_KVS_Create(name, sizeof name), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "a b", "second"), PMI_SUCCESS);
    if (!no_store) {
        OK(PMI_KVS_Iter_first(K, key, 64, text, 64) == PMI_SUCCESS && !strcmp(key, "a b") &&
           !strcmp(text, "first"));
        OK(PMI_KVS_Iter_next(K, key, 64, text, 64) == PMI_SUCCESS && !strcmp(key, "c") && !*text);
        OK(PMI_KVS_Iter_next(K, key, 64, text, 64) == PMI_SUCCESS && !*key);
        OK(PMI_KVS_Iter_first(name, key, 64, text, 64) == PMI_SUCCESS && !strcmp(key, "a b") &&
           !strcmp(text, "second"));
        OK(PMI_KVS_Iter_next(name, key, 64, text, 64) == PMI_SUCCESS && !*key);
        OK(PMI_KVS_Get(K, "a b", text, 64) == PMI_SUCCESS && !strcmp(text, "first"));
    }
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "c", "of the other"), PMI_SUCCESS);
    EQ(PMI_KVS_Commit(name), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    OK(PMI_KVS_Get(name, "c", text, 64) == PMI_SUCCESS && !strcmp(text, "of the other"));
    OK(PMI_KVS_Get(K, "c", text, 64) == PMI_SUCCESS && !*text);
    EQ(PMI_KVS_Destroy(name), PMI_SUCCESS);
    EQ(PMI_KVS_Put("nowhere", "a", "b"), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_ERR_INVALID_KVS);
    EQ(PMI_Publish_name("svc", "a port, with blanks=1"), PMI_SUCCESS);
    EQ(PMI_Publish_name("svc", "b"), PMI_FAIL);
    OK(PMI_Lookup_name("svc", text) == PMI_SUCCESS && !strcmp(text, "a port, with blanks=1"));
    EQ(PMI_Unpublish_name("svc"), PMI_SUCCESS);
    EQ(PMI_Lookup_name("svc", text), PMI_FAIL);
    EQ(PMI_Spawn_multiple(1, cmds, NULL, two, NULL, NULL, 0, NULL, errors), PMI_SUCCESS);
    OK(errors[0] == 0 && errors[1] == 0);
    EQ(PMI_Spawn_multiple(1, missing, NULL, two, NULL, NULL, 0, NULL, errors), PMI_FAIL);
    OK(errors[0] == 0 && errors[1] == 42);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK_F(PMI_KVS_Get(K, "a b", text, 64) == (no_store ? PMI_ERR_INVALID_KEY : PMI_SUCCESS),
         "after a second start the store is there again (a key with a blank cannot be asked for)");
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(!w.killed);
    world_end(&w);
}

/* Descriptors and mappings of this process. */
static int count_entries(const char *path)
{
    FILE *f = fopen(path, "r");
    int n = 0, c;

    while (f && (c = getc(f)) != EOF)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
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
    int v, fds, maps = 0, flags;
    struct world w;

    world_begin(&w, 1, false);
    world_env(&w, 0);
    flags = fcntl(w.ends[0][0], F_SETFD, 0); /* as a launcher passes it */
    fds = count_descriptors();
    for (int i = 0; i < 20; i++) {
        EQ(PMI_Init(&v), PMI_SUCCESS);
        flags |= !(fcntl(w.ends[0][0], F_GETFD) & FD_CLOEXEC);
        EQ(PMI_Finalize(), PMI_SUCCESS);
        flags |= fcntl(w.ends[0][0], F_GETFD);
        if (i == 10)
            maps = count_entries("/proc/self/maps");
    }
    OK_F(flags == 0, "while in use the connection is not inherited, afterwards it is as it was");
    EQ(count_descriptors(), fds);
    OK_F(count_entries("/proc/self/maps") <= maps + 2, "the store is not mapped any more");
    world_end(&w);
}

/* ---- a server that ends at any point --------------------------------------------------------- */

static const char legacy_words[] =
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
    "cmd=my_kvsname kvsname=K\ncmd=put_result rc=0 msg=success\ncmd=barrier_out\n"
    "cmd=get_result rc=0 msg=success value=x\ncmd=lookup_result port=p info=ok rc=0\n"
    "cmd=appnum appnum=0\ncmd=spawn_result rc=0 errcodes=0,0\ncmd=finalize_ack\n";

static const char our_words[] =
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 wireup=1 rank=0 size=1 universe=-1 "
    "kvsname_max=256 keylen_max=64 vallen_max=1024 store=0 kvsname=K\n"
    "cmd=mput_result rc=0\ncmd=barrier_out rc=0\ncmd=value_wireup rc=0 bytes=1\nx"
    "cmd=lookup_result rc=0 info=ok port=p\ncmd=appnum rc=0 appnum=0\n"
    "cmd=spawn_result rc=0 errcodes=0,0\ncmd=finalize_ack rc=0\n";

/* Returns the number of calls that succeeded; all of them must return. */
static int live_until_cut(const char *words, size_t n, bool ours)
{
    static const char *cmds[] = { "p" };
    static const int two[] = { 2 };
    char number[16], text[64], port[PMI_MAX_PORT_NAME];
    int ends[2], v, good = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || write(ends[1], words, n) != (ssize_t)n)
        abort();
    shutdown(ends[1], SHUT_WR);
    snprintf(number, sizeof number, "%d", ends[0]);
    setenv("PMI_FD", number, 1);
    setenv("WIREUP_FD", ours ? number : "9999", 1);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "1", 1);
    good += PMI_Init(&v) == PMI_SUCCESS;
    good += PMI_KVS_Put("K", "a", "b") == PMI_SUCCESS;
    good += PMI_Barrier() == PMI_SUCCESS;
    good += PMI_KVS_Get("K", "c", text, sizeof text) == PMI_SUCCESS;
    good += PMI_Lookup_name("s", port) == PMI_SUCCESS;
    good += PMI_Get_appnum(&v) == PMI_SUCCESS;
    good += PMI_Spawn_multiple(1, cmds, NULL, two, NULL, NULL, 0, NULL, NULL) == PMI_SUCCESS;
    good += PMI_Finalize() == PMI_SUCCESS;
    close(ends[0]);
    close(ends[1]);
    return good;
}

static void test_cuts(const char *what, const char *words, size_t len, bool ours)
{
    int last = 0, fell = 0;

    for (size_t n = 0; n <= len; n++) {
        /* A put waits for its reply only with a legacy server; Finalize without Init is fine. */
        int good = live_until_cut(words, n, ours);
        fell += n > 200 && good < last;
        last = good;
    }
    OK_F(last == 8, "%s: the whole conversation serves all calls", what);
    OK_F(fell == 0, "%s: cut at each of %zu bytes, every call returns", what, len);
}

/* More than one block's worth: it is sent ahead of the commit. */
static void test_many_puts(void)
{
    enum { N = 3000 };
    static char value[1001];
    struct world w;
    struct rank r;
    char key[32];

    memset(value, 'v', 1000);
    world_begin(&w, 1, false);
    rank_join(&r, &w, 0);
    lock_lock(&r.gate);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        r.wrong += kvs_put(r.c, K, key, value, &r.err) != 0;
    }
    OK_F(r.c->unacknowledged >= 2, "%u blocks are on their way before the barrier",
         r.c->unacknowledged);
    r.wrong += kvs_barrier(r.c, SLICE_NULL, &r.err) != 0;
    EQ(r.c->unacknowledged, 0);
    EQ(r.c->batch.keys.count, 0);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        r.wrong += !rank_reads(&r, K, key, value);
    }
    EQ(r.wrong, 0);
    lock_unlock(&r.gate);
    rank_leave(&r);
    world_end(&w);
}

static void test_abort(void)
{
    struct world w;
    struct rank r;

    world_begin(&w, 1, false);
    rank_join(&r, &w, 0);
    lock_lock(&r.gate);
    client_abort(r.c, 9, "enough\nof this");
    client_free(r.c);
    lock_unlock(&r.gate);
    shutdown(w.ends[0][0], SHUT_WR);
    world_end(&w);
    OK(w.killed && strstr(w.reason.text, "enough of this"));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 60 };

struct crowd {
    pthread_t thread;
    int number, wrong;
};

static void *crowd_main(void *arg)
{
    struct crowd *me = arg;
    char key[64], text[64], name[64];
    int v;

    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "t%d-%d", me->number, i);
        me->wrong += PMI_KVS_Put(K, key, key) != PMI_SUCCESS;
        me->wrong += PMI_KVS_Get(K, key, text, sizeof text) != PMI_SUCCESS || strcmp(text, key);
        if (i % 7 == me->number % 7)
            me->wrong += PMI_KVS_Commit(K) != PMI_SUCCESS;
        me->wrong += PMI_KVS_Get(K, "none", text, sizeof text) != PMI_ERR_INVALID_KEY;
        me->wrong += PMI_Publish_name(key, "port") != PMI_SUCCESS;
        me->wrong += PMI_Get_rank(&v) != PMI_SUCCESS || v != 0;
        me->wrong += PMI_Get_clique_size(&v) != PMI_SUCCESS || v != 2;
        if (i == 5) {
            me->wrong += PMI_KVS_Create(name, sizeof name) != PMI_SUCCESS;
            me->wrong += PMI_KVS_Put(name, "k", "v") != PMI_SUCCESS;
        }
    }
    return NULL;
}

/* A thread in a barrier delays no thread that needs no reply: its partner enters only when all
 * others are done. */
static void *barrier_main(void *arg)
{
    struct crowd *me = arg;

    me->wrong += PMI_Barrier() != PMI_SUCCESS;
    return NULL;
}

static void *locals_main(void *arg)
{
    struct crowd *me = arg;
    char key[64], text[64];
    int v;

    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "l%d-%d", me->number, i);
        me->wrong += PMI_KVS_Put(K, key, "x") != PMI_SUCCESS;
        me->wrong += PMI_KVS_Get(K, key, text, sizeof text) != PMI_SUCCESS;
        me->wrong += PMI_KVS_Get(K, "t0-0", text, sizeof text) != PMI_SUCCESS;
        me->wrong += PMI_Get_size(&v) != PMI_SUCCESS || v != 2;
    }
    return NULL;
}

static int run_crowd(struct crowd *crowd, void *(*main_of)(void *))
{
    int wrong = 0;

    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){ .number = i };
        pthread_create(&crowd[i].thread, NULL, main_of, &crowd[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(crowd[i].thread, NULL);
        wrong += crowd[i].wrong;
    }
    return wrong;
}

static void test_threads(void)
{
    struct crowd crowd[THREADS], waiter = { .number = 99 };
    struct world w;
    struct rank other;
    int v;

    world_begin(&w, 2, false);
    world_env(&w, 0);
    rank_join(&other, &w, 1);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(run_crowd(crowd, crowd_main), 0);
    pthread_create(&waiter.thread, NULL, barrier_main, &waiter);
    EQ(run_crowd(crowd, locals_main), 0);
    lock_lock(&other.gate);
    EQ(kvs_barrier(other.c, SLICE_NULL, &other.err), 0);
    lock_unlock(&other.gate);
    pthread_join(waiter.thread, NULL);
    EQ(waiter.wrong, 0);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    rank_leave(&other);
    EQ(other.wrong, 0);
    world_end(&w);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The codes that a call without memory may return. */
static int poor(int rc)
{
    return rc != PMI_SUCCESS && rc != PMI_ERR_NOMEM && rc != PMI_FAIL && rc != PMI_ERR_INIT &&
           rc != PMI_ERR_INVALID_KEY;
}

static int live_poorly(void)
{
    static const char *cmds[] = { "known" };
    static const int two[] = { 2 };
    static const PMI_keyval_t preput[] = { { "k", NULL } };
    char name[256] = K, more[256], text[64], *words[] = { NULL, NULL };
    char word[] = "PMI_A=b";
    PMI_keyval_t *kv;
    int v, n, bad = 0;

    bad += poor(PMI_Init(&v));
    bad += poor(PMI_KVS_Get_my_name(name, sizeof name));
    strcpy(more, name);
    bad += poor(PMI_Get_clique_size(&v));
    bad += poor(PMI_KVS_Put(name, "a", "b\\"));
    bad += poor(PMI_KVS_Put(name, "c", "d"));
    bad += poor(PMI_KVS_Create(more, sizeof more));
    bad += poor(PMI_KVS_Put(more, "e", "f"));
    bad += poor(PMI_KVS_Commit(name));
    bad += poor(PMI_Barrier());
    bad += poor(PMI_KVS_Get(name, "a", text, sizeof text));
    bad += poor(PMI_KVS_Get(name, "none", text, sizeof text));
    bad += poor(PMI_Barrier_group(PMI_GROUP_NODE, 0, "t"));
    bad += poor(PMI_KVS_Iter_first(name, text, sizeof text, text, sizeof text));
    bad += poor(PMI_Publish_name("a", "b"));
    bad += poor(PMI_Spawn_multiple(1, cmds, NULL, two, NULL, NULL, 1, preput, NULL));
    bad += poor(PMI_Finalize());
    words[0] = word;
    n = PMI_Parse_option(1, words, &v, &kv, &v);
    bad += poor(n);
    if (n == PMI_SUCCESS)
        PMI_Free_keyvals(kv, v);
    return bad;
}

static void starve(const char *what, bool ours, bool alone)
{
    struct world w;
    int bad = 0, runs = 0;

    for (int all_after = 0; all_after < 2; all_after++) {
        for (bool more = true; more && runs < 2000; runs++) {
            world_begin(&w, 1, false);
            world_env(&w, 0);
            if (!ours)
                unsetenv("WIREUP_FD");
            if (alone)
                unsetenv("PMI_FD");
            fail_on = all_after;
            has_failed = false;
            fail_after = runs;
            bad += live_poorly();
            more = has_failed;
            fail_after = -1;
            fail_on = false;
            world_end(&w);
        }
    }
    OK_F(bad == 0 && runs > 10, "%s: %d lives, each short of memory at another place", what, runs);
}

/* A launcher that reads one line, or sees its program gone, and exits: the client that has
 * started it must not wait for it with the connection still open. */
static void starve_beside_launcher(void)
{
    static const char text[] = "#!/bin/sh\nread -r line <&3\n";
    char path[] = "/tmp/wu-launcher.XXXXXX";
    int fd = mkstemp(path);
    bool made = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1 &&
                fchmod(fd, 0700) == 0;

    if (fd >= 0)
        close(fd);
    if (OK_F(made, "a launcher that does not answer"))
        setenv("WIREUP", path, 1);
    starve("a launcher that ends", false, true);
    unlink(path);
}

int main(void)
{
    unsetenv("PMI_DEBUG");
    setenv("WIREUP", "/nonexistent/wireup", 1); /* a launcher may be installed here */
    for (int i = 0; i < 2; i++) {
        dripping = i;
        test_words();
        test_further_spaces();
        test_fewer_facts();
        everything(false);
        everything(true);
    }
    dripping = false;
    test_exchange(false);
    test_exchange(true);
    test_duplicates();
    test_many_puts();
    test_nothing_left();
    test_cuts("legacy", legacy_words, sizeof legacy_words - 1, false);
    test_cuts("ours", our_words, sizeof our_words - 1, true);
    test_abort();
    test_threads();
    starve("our server", true, false);
    starve("a legacy server", false, false);
    starve("no server", false, true);
    starve_beside_launcher();
    return tap_done();
}
