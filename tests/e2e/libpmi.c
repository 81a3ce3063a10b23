/* libpmi.c - a program that uses libpmi.so.0 for everything it offers, as one rank of a job under
 * any process manager.
 *
 *   e2e-libpmi exchange [BYTES]        what rawpmi1.c does, with the same keys and values, so that
 *                                      both can be ranks of one job
 *   e2e-libpmi spoil                   the same, and the last rank puts a wrong value
 *   e2e-libpmi all ours|legacy|alone   every function, and what it must do under that server
 *   e2e-libpmi any                     a value with every byte but NUL: arrives whole, or is
 *                                      refused
 *   e2e-libpmi threads                 eight threads per rank
 *   e2e-libpmi tags                    barriers of six threads per rank, each with its tags
 *   e2e-libpmi fork                    forks and execs children while connected
 *   e2e-libpmi abort CODE RANK TEXT    that rank aborts, the others wait in a barrier
 *   e2e-libpmi pass                    begins and ends, and waits for nobody
 *   e2e-libpmi fails HOW TIMES         as fails.c: rank 1 fails by `exit`, `signal` or with its
 *                                      `node`
 *   e2e-libpmi child FD                (of fork) is the descriptor open?
 *
 * Rank 0 prints `WHAT SIZE good`, or `WHAT SIZE WRONG ranks=N`; whatever is wrong is a line on
 * standard error.  Exit: 0 good, 1 wrong, 2 wrong use, 3 the library failed.
 */
#include <pmi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size, wrong;
static char kvs[256];

/* One expectation; a line when it is not met. */
#define WANT(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "rank %d: not so: %s (line %d)\n", rank, #cond, __LINE__);             \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static void need(int rc, const char *what)
{
    if (rc != PMI_SUCCESS) {
        fprintf(stderr, "rank %d: %s returned %d\n", rank, what, rc);
        exit(3);
    }
}

#define NEED(call) need((call), #call)

static int init(void)
{
    int spawned;

    NEED(PMI_Init(&spawned));
    NEED(PMI_Get_rank(&rank));
    NEED(PMI_Get_size(&size));
    NEED(PMI_KVS_Get_my_name(kvs, sizeof kvs));
    return spawned;
}

static void put(const char *key, const char *value)
{
    NEED(PMI_KVS_Put(kvs, key, value));
}

static void meet(void)
{
    NEED(PMI_KVS_Commit(kvs));
    NEED(PMI_Barrier());
}

/* Rank 0 speaks for all.  The keys are those of rawpmi1. */
static int verdict(const char *what, const char *detail)
{
    char key[64], text[8];
    int bad = 0;

    snprintf(key, sizeof key, "wrong-%d", rank);
    put(key, wrong ? "1" : "0");
    meet();
    for (int r = 0; rank == 0 && r < size; r++) {
        snprintf(key, sizeof key, "wrong-%d", r);
        bad += PMI_KVS_Get(kvs, key, text, sizeof text) != PMI_SUCCESS || strcmp(text, "0") != 0;
    }
    if (rank == 0 && bad)
        printf("%s %d WRONG ranks=%d\n", what, size, bad);
    else if (rank == 0)
        printf("%s %d good\n%s", what, size, detail);
    fflush(stdout);
    NEED(PMI_Finalize());
    return wrong ? 1 : 0;
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* As in rawpmi1.c. */
static const char *card(int of, size_t len)
{
    static char text[1 << 15];
    uint32_t x = (uint32_t)of * 2654435761u + 1;

    for (size_t i = 0; i < len; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = "0123456789ABCDEF"[x >> 28];
    }
    text[len] = '\0';
    return text;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int exchange(size_t bytes, bool spoil)
{
    static char got[1 << 15];
    char key[64], detail[64];
    double start;

    init();
    NEED(PMI_Barrier());
    start = now();
    snprintf(key, sizeof key, "card-%d", rank);
    put(key, card(spoil && rank == size - 1 ? size : rank, bytes));
    meet();
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "card-%d", r);
        NEED(PMI_KVS_Get(kvs, key, got, sizeof got));
        wrong += strcmp(got, card(r, bytes)) != 0;
    }
    NEED(PMI_Barrier());
    snprintf(detail, sizeof detail, "exchange_us %.1f\n", (now() - start) * 1e6);
    return verdict("lib", detail);
}

/* ---- everything ------------------------------------------------------------------------------ */

static void all_facts(const char *server)
{
    int v = -5, name_max, key_max, value_max, n, *ranks;
    char text[256];

    NEED(PMI_Initialized(&v));
    WANT(v == 1);
    WANT(rank >= 0 && rank < size);
    NEED(PMI_Get_appnum(&v));
    WANT(v == (strcmp(server, "alone") == 0 ? -1 : 0));
    NEED(PMI_Get_universe_size(&v));
    WANT(v == -1 || v >= 1);
    NEED(PMI_KVS_Get_name_length_max(&name_max));
    NEED(PMI_Get_id_length_max(&v));
    NEED(PMI_KVS_Get_key_length_max(&key_max));
    NEED(PMI_KVS_Get_value_length_max(&value_max));
    WANT(v == name_max && name_max > (int)strlen(kvs) && key_max >= 64 && value_max >= 256);
    NEED(PMI_Get_id(text, sizeof text));
    WANT(strcmp(text, kvs) == 0);
    NEED(PMI_Get_kvs_domain_id(text, sizeof text));
    WANT(strcmp(text, kvs) == 0);
    WANT(PMI_Get_id(text, (int)strlen(kvs)) == PMI_ERR_INVALID_LENGTH);
    NEED(PMI_Get_clique_size(&n));
    WANT(n >= 1 && n <= size);
    ranks = malloc((size_t)n * sizeof *ranks);
    NEED(PMI_Get_clique_ranks(ranks, n));
    for (v = 0; v < n && ranks[v] != rank; v++)
        WANT(ranks[v] >= 0 && ranks[v] < size);
    WANT(v < n);
    WANT(PMI_Get_clique_ranks(ranks, n - 1) == PMI_ERR_INVALID_LENGTH);
    free(ranks);
}

static void all_kvs(const char *server)
{
    bool legacy = strcmp(server, "legacy") == 0;
    const char *odd = legacy ? "there" : "in the space";
    char key[64], value[64], text[64], space[256], other[256];
    int n = 0, mine = 0;

    snprintf(key, sizeof key, "k-%d", rank);
    snprintf(value, sizeof value, "v=%d", rank * 7);
    put(key, value);
    NEED(PMI_KVS_Get(kvs, key, text, sizeof text));
    WANT(strcmp(text, value) == 0);
    if (!legacy)
        WANT(PMI_KVS_Put(kvs, key, "again") == PMI_ERR_INVALID_KEY);
    WANT(PMI_KVS_Put("", "a", "b") == PMI_ERR_INVALID_KVS);
    WANT(PMI_KVS_Put(kvs, "PMI_x", "b") == PMI_ERR_INVALID_KEY);

    /* A space made by rank 0, known to all by its name. */
    NEED(PMI_KVS_Create(other, sizeof other));
    if (rank == 0)
        put("space", other);
    meet();
    NEED(PMI_KVS_Get(kvs, "space", space, sizeof space));
    NEED(PMI_KVS_Put(space, key, odd));
    NEED(PMI_KVS_Commit(space));
    NEED(PMI_Barrier());
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "k-%d", r);
        snprintf(value, sizeof value, "v=%d", r * 7);
        WANT(PMI_KVS_Get(kvs, key, text, sizeof text) == PMI_SUCCESS && !strcmp(text, value));
        WANT(PMI_KVS_Get(space, key, text, sizeof text) == PMI_SUCCESS && !strcmp(text, odd));
    }
    WANT(PMI_KVS_Get(kvs, key, text, 2) == PMI_ERR_INVALID_LENGTH);
    WANT(PMI_KVS_Get(kvs, "none", text, sizeof text) == PMI_ERR_INVALID_KEY);

    if (legacy) {
        WANT(PMI_KVS_Iter_first(space, key, 64, text, 64) == PMI_FAIL);
    } else {
        NEED(PMI_KVS_Iter_first(space, key, 64, text, 64));
        for (; *key; n++) {
            WANT(!strncmp(key, "k-", 2) && !strcmp(text, odd));
            mine += atoi(key + 2) == rank;
            NEED(PMI_KVS_Iter_next(space, key, 64, text, 64));
        }
        WANT(n == size && mine == 1);
    }
    NEED(PMI_Barrier());
    if (rank == 0) {
        NEED(PMI_KVS_Destroy(space));
        WANT(PMI_KVS_Put(space, "x", "y") == PMI_ERR_INVALID_KVS);
    }
    WANT(PMI_KVS_Destroy(kvs) == PMI_ERR_INVALID_KVS);
}

/* It brings the values of a node; none are elsewhere without connectivity. */
static void all_hints(const char *server)
{
    char got[64] = "";

    if (strcmp(server, "ours") != 0)
        return;
    NEED(PMI_KVS_Get(kvs, "PMI_fetch_node:0", got, sizeof got));
    WANT(strcmp(got, "fetched") == 0);
    WANT(PMI_KVS_Get(kvs, "PMI_fetch_rack:0", got, sizeof got) == PMI_ERR_INVALID_KEY);
}

#ifndef NO_GROUPS /* built with the header of a library that has none */
static void all_groups(const char *server)
{
    int pair[2] = { rank & ~1, rank | 1 }, me[1] = { rank }, n;

    if (strcmp(server, "legacy") == 0) {
        NEED(PMI_Barrier_group(PMI_GROUP_WORLD, 0, NULL));
        WANT(PMI_Barrier_group(me, 1, NULL) == PMI_FAIL ||
             PMI_Barrier_group(PMI_GROUP_SELF, 0, NULL) == PMI_SUCCESS);
        return;
    }
    for (n = 0; n < 3; n++) {
        NEED(PMI_Barrier_group(PMI_GROUP_SELF, 0, NULL));
        NEED(PMI_Barrier_group(me, 1, "t"));
        NEED(PMI_Barrier_group(PMI_GROUP_NODE, 0, "node"));
        if (pair[1] < size)
            NEED(PMI_Barrier_group(pair, 2, "pair"));
        NEED(PMI_Barrier_group(PMI_GROUP_WORLD, 0, "world"));
    }
}
#else
#define all_groups(server) (void)(server)
#endif

static void all_names(const char *server)
{
    const char *ours = strcmp(server, "ours") == 0 ? "port # with a blank" : "port#1$desc=x";
    char name[320], port[1024];

    snprintf(name, sizeof name, "service-%s-%d", kvs, rank);
    if (strcmp(server, "alone") == 0) {
        WANT(PMI_Publish_name(name, ours) == PMI_FAIL);
        WANT(PMI_Lookup_name(name, port) == PMI_FAIL);
        WANT(PMI_Unpublish_name(name) == PMI_FAIL);
        return;
    }
    WANT(PMI_Lookup_name(name, port) == PMI_FAIL);
    NEED(PMI_Publish_name(name, ours));
    WANT(PMI_Publish_name(name, "other") == PMI_FAIL);
    NEED(PMI_Barrier());
    snprintf(name, sizeof name, "service-%s-%d", kvs, (rank + 1) % size);
    NEED(PMI_Lookup_name(name, port));
    WANT(strcmp(port, ours) == 0);
    NEED(PMI_Barrier());
    snprintf(name, sizeof name, "service-%s-%d", kvs, rank);
    NEED(PMI_Unpublish_name(name));
    WANT(PMI_Unpublish_name(name) == PMI_FAIL);
}

static void all_options(void)
{
    char a[] = "PMI_A=1", b[] = "word", c[] = "PMI_B=2";
    char *line[] = { a, b, c, NULL };
    int argc = 3, n, parsed;
    PMI_keyval_t *kv;
    char text[512];

    NEED(PMI_Parse_option(3, line, &parsed, &kv, &n));
    WANT(parsed == 1 && n == 1 && !strcmp(kv[0].key, "PMI_A") && !strcmp(kv[0].val, "1"));
    NEED(PMI_Free_keyvals(kv, n));
    NEED(PMI_Args_to_keyval(&argc, &line, &kv, &n));
    WANT(argc == 1 && line[0] == b && n == 2 && !strcmp(kv[1].key, "PMI_B"));
    NEED(PMI_Free_keyvals(kv, n));
    n = sizeof text;
    NEED(PMI_Get_options(text, &n));
    WANT(strstr(text, "PMI_"));
}

static void all_spawn(const char *server)
{
    const char *cmds[] = { "/nonexistent/program" };
    const int one[] = { 1 };
    int errors[1] = { 0 };

    WANT(PMI_Spawn_multiple(0, cmds, NULL, one, NULL, NULL, 0, NULL, errors) ==
         PMI_ERR_INVALID_ARG);
    if (strcmp(server, "alone") == 0) {
        WANT(PMI_Spawn_multiple(1, cmds, NULL, one, NULL, NULL, 0, NULL, errors) == PMI_FAIL);
        WANT(errors[0] != 0);
    }
}

static int all(const char *server)
{
    int v;

    WANT(PMI_Initialized(&v) == PMI_SUCCESS && v == 0);
    WANT(PMI_Get_rank(&v) == PMI_ERR_INIT);
    WANT(init() == 0);
    all_facts(server);
    all_kvs(server);
    all_hints(server);
    all_groups(server);
    all_names(server);
    all_options();
    all_spawn(server);
    if (strcmp(server, "ours") == 0) { /* a second life on the same connection */
        NEED(PMI_Barrier());
        NEED(PMI_Finalize());
        WANT(PMI_Get_rank(&v) == PMI_ERR_INIT);
        init();
        NEED(PMI_Barrier());
    }
    return verdict("all", "");
}

/* ---- any bytes ------------------------------------------------------------------------------- */

static int any(void)
{
    char value[256], text[256], key[64];
    int rc;

    init();
    for (int i = 0; i < 255; i++)
        value[i] = (char)((i + rank) % 255 + 1);
    value[255] = '\0';
    snprintf(key, sizeof key, "any-%d", rank);
    rc = PMI_KVS_Put(kvs, key, value);
    WANT(rc == PMI_SUCCESS || rc == PMI_ERR_INVALID_VAL);
    meet();
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < 255; i++)
            value[i] = (char)((i + r) % 255 + 1);
        snprintf(key, sizeof key, "any-%d", r);
        if (rc == PMI_SUCCESS)
            WANT(PMI_KVS_Get(kvs, key, text, sizeof text) == PMI_SUCCESS && !strcmp(text, value));
        else
            WANT(PMI_KVS_Get(kvs, key, text, sizeof text) == PMI_ERR_INVALID_KEY);
    }
    return verdict(rc == PMI_SUCCESS ? "whole" : "refused", "");
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *busy(void *arg)
{
    long me = (long)(intptr_t)arg, bad = 0;
    char key[64], text[64];
    int v;

    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "t-%d-%ld-%d", rank, me, i);
        bad += PMI_KVS_Put(kvs, key, key) != PMI_SUCCESS;
        bad += PMI_KVS_Get(kvs, key, text, sizeof text) != PMI_SUCCESS || strcmp(key, text) != 0;
        bad += PMI_KVS_Commit(kvs) != PMI_SUCCESS;
        bad += PMI_KVS_Get(kvs, "none", text, sizeof text) != PMI_ERR_INVALID_KEY;
        bad += PMI_Get_universe_size(&v) != PMI_SUCCESS;
        bad += PMI_Get_rank(&v) != PMI_SUCCESS || v != rank;
    }
    return (void *)(intptr_t)bad;
}

#ifndef NO_GROUPS
/* Each thread has barriers of its own, of all or of the node, in whatever order they come. */
static void *meets(void *arg)
{
    long me = (long)(intptr_t)arg, bad = 0;
    char tag[32], key[64];
    int *everybody = calloc((size_t)size, sizeof *everybody);

    for (int r = 0; everybody && r < size; r++)
        everybody[r] = r;
    for (int i = 0; everybody && i < 20; i++) {
        snprintf(tag, sizeof tag, "%ld.%d", me, i);
        snprintf(key, sizeof key, "m-%d-%ld-%d", rank, me, i);
        bad += PMI_KVS_Put(kvs, key, tag) != PMI_SUCCESS;
        if (me % 3 == 0)
            bad += PMI_Barrier_group(PMI_GROUP_WORLD, 0, tag) != PMI_SUCCESS;
        else if (me % 3 == 1)
            bad += PMI_Barrier_group(everybody, size, tag) != PMI_SUCCESS;
        else
            bad += PMI_Barrier_group(PMI_GROUP_NODE, 0, tag) != PMI_SUCCESS;
    }
    bad += !everybody;
    free(everybody);
    return (void *)(intptr_t)bad;
}

static int tags(void)
{
    pthread_t thread[6];
    void *bad;

    init();
    for (long i = 0; i < 6; i++) /* the last first on every other rank */
        if (pthread_create(&thread[i], NULL, meets, (void *)(intptr_t)(rank % 2 ? 5 - i : i)) != 0)
            return 3;
    for (int i = 0; i < 6; i++) {
        pthread_join(thread[i], &bad);
        WANT(bad == NULL);
    }
    meet();
    return verdict("tags", "");
}
#endif

static int threads(void)
{
    pthread_t thread[8];
    char key[64], text[64];
    void *bad;

    init();
    for (long i = 0; i < 8; i++) {
        if (pthread_create(&thread[i], NULL, busy, (void *)(intptr_t)i) != 0)
            return 3;
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], &bad);
        WANT(bad == NULL);
    }
    meet();
    for (int i = 0; i < 400; i++) {
        snprintf(key, sizeof key, "t-%d-%d-%d", (rank + 1) % size, i / 50, i % 50);
        WANT(PMI_KVS_Get(kvs, key, text, sizeof text) == PMI_SUCCESS && !strcmp(key, text));
    }
    return verdict("threads", "");
}

/* ---- forks ----------------------------------------------------------------------------------- */

static void forked(void)
{
    int v, bad = 0;
    char text[8];

    bad += PMI_Initialized(&v) != PMI_SUCCESS || v != 0;
    bad += PMI_Barrier() != PMI_ERR_INIT;
    bad += PMI_KVS_Get(kvs, "k", text, sizeof text) != PMI_ERR_INIT;
    bad += PMI_Init(&v) != PMI_FAIL;
    bad += PMI_Finalize() != PMI_SUCCESS;
    _exit(bad ? 1 : 0);
}

static int wait_for(pid_t pid)
{
    int status = -1;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int fork_children(const char *me)
{
    char key[64], text[64];
    pid_t pid;

    init();
    snprintf(key, sizeof key, "f-%d", rank);
    put(key, "x"); /* in the batch: no child may send it */
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        pid = fork();
        if (pid == 0)
            forked();
        WANT(wait_for(pid) == 0);
    }
    pid = fork();
    if (pid == 0) {
        const char *fd = getenv("PMI_FD");
        execl(me, me, "child", fd ? fd : "0", (char *)NULL);
        _exit(9);
    }
    WANT(wait_for(pid) == 0);
    meet();
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "f-%d", r);
        WANT(PMI_KVS_Get(kvs, key, text, sizeof text) == PMI_SUCCESS && !strcmp(text, "x"));
    }
    return verdict("fork", "");
}

/* 0 when the descriptor did not come along: this program is no part of the job. */
static int child(int fd)
{
    return fd > 2 && write(fd, "cmd=nonsense\n", 13) == 13 ? 1 : 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int abort_job(int code, int who, const char *text)
{
    init();
    NEED(PMI_Barrier());
    if (rank == who)
        PMI_Abort(code, text);
    PMI_Barrier();
    return 0;
}

static int pass(void)
{
    init();
    printf("lib %d of %d passes\n", rank, size);
    NEED(PMI_Finalize());
    return 0;
}

static void print_line(const char *what)
{
    printf("rank %d %s\n", rank, what);
    fflush(stdout);
}

static void die(const char *how)
{
    if (strcmp(how, "exit") == 0)
        _exit(3);
    kill(strcmp(how, "node") == 0 ? getppid() : getpid(), SIGKILL);
    for (;;)
        pause();
}

static void put_life(int life)
{
    char key[32], value[32];

    snprintf(key, sizeof key, "life-%d", rank);
    snprintf(value, sizeof value, "%d", life);
    NEED(PMI_KVS_Put(kvs, key, value));
    NEED(PMI_KVS_Commit(kvs));
}

/* What a process puts again is what counts. */
static void look_at_life(int who, int life)
{
    char key[32], value[256] = "";

    snprintf(key, sizeof key, "life-%d", who);
    NEED(PMI_KVS_Get(kvs, key, value, sizeof value));
    WANT(atoi(value) == life);
}

/* A barrier fails once for each process that is started again, and always without one that is not.
 */
static int fails(const char *how, int times)
{
    const char *text = getenv("WIREUP_RESTARTS");
    int life = text ? atoi(text) : 0, rc, tries = 0;

    init();
    print_line("begins");
    put_life(life);
    if (life == 0)
        NEED(PMI_Barrier());
    if (rank == 1 && life < times)
        die(how);
    do {
        rc = PMI_Barrier();
    } while (rc != PMI_SUCCESS && ++tries <= times);
    if (rc == PMI_SUCCESS)
        look_at_life(1, times);
    print_line(wrong ? "WRONG" : rc == PMI_SUCCESS ? "met" : "alone");
    PMI_Finalize();
    return wrong;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "exchange") == 0 && argc <= 3)
        return exchange(argc == 3 ? (size_t)atol(argv[2]) : 128, false);
    if (strcmp(what, "spoil") == 0)
        return exchange(128, true);
    if (strcmp(what, "all") == 0 && argc == 3)
        return all(argv[2]);
    if (strcmp(what, "any") == 0)
        return any();
    if (strcmp(what, "threads") == 0)
        return threads();
#ifndef NO_GROUPS
    if (strcmp(what, "tags") == 0)
        return tags();
#endif
    if (strcmp(what, "fork") == 0)
        return fork_children(argv[0]);
    if (strcmp(what, "abort") == 0 && argc == 5)
        return abort_job(atoi(argv[2]), atoi(argv[3]), argv[4]);
    if (strcmp(what, "pass") == 0)
        return pass();
    if (strcmp(what, "fails") == 0 && argc == 4)
        return fails(argv[2], atoi(argv[3]));
    if (strcmp(what, "child") == 0 && argc == 3)
        return child(atoi(argv[2]));
    fprintf(stderr, "e2e-libpmi: see the top of libpmi.c\n");
    return 2;
}
