/* pmi2.c - a program that uses libpmi2.so.0 for everything it offers, as one rank of a job.
 *
 * Written against Slurm's header and library, so that the same binary runs with Slurm's library,
 * and with ours in its place:
 *
 *   pmi2 exchange [BYTES]      what rawpmi1.c does, with the same keys and values, so that both can
 *                              be ranks of one job
 *   pmi2 spoil                 the same, and the last rank puts a wrong value
 *   pmi2 all wireup|hydra|slurm    every function, and what it must do under that server
 *   pmi2 ring                  three rings, and fences between them
 *   pmi2 threads [ROUNDS]      eight threads per rank
 *   pmi2 mapping               rank 0 prints the process mapping
 *   pmi2 attr NAME...          rank 0 prints these attributes of the job
 *   pmi2 node NAME...          the last rank prints these of its node
 *   pmi2 share                 an attribute of the node for a spawned job, and one of that (sharer)
 *   pmi2 abort FLAG RANK TEXT  that rank aborts, the others wait in a fence
 *   pmi2 spawn PROGRAM N [slurm]   rank 0 spawns N processes of `PROGRAM child`, which meet it;
 *                              then something that does not exist.  Slurm's server knows no
 *                              semicolons in values, gives nobody another job's values, and says
 *                              that what does not exist was started
 *   pmi2 child [slurm]         (of spawn)
 *   pmi2 crowd N               spawns N jobs of one process, one after another
 *   pmi2 leaf                  (of crowd) says hello and goodbye
 *
 * Rank 0 prints `WHAT SIZE good`, or `WHAT SIZE WRONG ranks=N`; whatever is wrong is a line on
 * standard error.  Exit: 0 good, 1 wrong, 2 wrong use, 3 the library failed.
 */
#ifndef PMI2_HEADER
#define PMI2_HEADER <slurm/pmi2.h>
#endif

#include PMI2_HEADER
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int PMIX_Ring(const char value[], int *rank, int *ranks, char left[], char right[], int maxvalue);

static int rank, size, spawned, appnum, wrong;
static char job[256];

/* One expectation; a line when it is not met. */
#define WANT(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "rank %d: not so: %s (line %d)\n", rank, #cond, __LINE__);             \
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);                                       \
        }                                                                                          \
    } while (0)

static void need(int rc, const char *what)
{
    if (rc != PMI2_SUCCESS) {
        fprintf(stderr, "rank %d: %s returned %d\n", rank, what, rc);
        exit(3);
    }
}

#define NEED(call) need((call), #call)

static void init(void)
{
    NEED(PMI2_Init(&spawned, &size, &rank, &appnum));
    NEED(PMI2_Job_GetId(job, sizeof job));
}

/* Rank 0 speaks for all.  The keys are those of rawpmi1. */
static int verdict(const char *what, const char *detail)
{
    char key[64], text[8];
    int bad = 0, n;

    snprintf(key, sizeof key, "wrong-%d", rank);
    NEED(PMI2_KVS_Put(key, wrong ? "1" : "0"));
    NEED(PMI2_KVS_Fence());
    for (int r = 0; rank == 0 && r < size; r++) {
        snprintf(key, sizeof key, "wrong-%d", r);
        bad += PMI2_KVS_Get(job, r, key, text, sizeof text, &n) != 0 || strcmp(text, "0") != 0;
    }
    if (rank == 0 && bad)
        printf("%s %d WRONG ranks=%d\n", what, size, bad);
    else if (rank == 0)
        printf("%s %d good\n%s", what, size, detail);
    fflush(stdout);
    NEED(PMI2_Finalize());
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
    char key[64], detail[64], got[2048];
    double start;
    int n;

    init();
    NEED(PMI2_KVS_Fence());
    start = now();
    snprintf(key, sizeof key, "card-%d", rank);
    NEED(PMI2_KVS_Put(key, card(spoil && rank == size - 1 ? size : rank, bytes)));
    NEED(PMI2_KVS_Fence());
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "card-%d", r);
        WANT(PMI2_KVS_Get(job, r, key, got, sizeof got, &n) == 0 && n == (int)bytes);
        WANT(!strcmp(got, card(r, bytes)));
    }
    NEED(PMI2_KVS_Fence());
    snprintf(detail, sizeof detail, "exchange_us %.1f\n", (now() - start) * 1e6);
    return verdict("pmi2", detail);
}

/* ---- all ------------------------------------------------------------------------------------- */

enum server { WIREUP, HYDRA, SLURM };

enum { NAME_ROOM = 400 };

static void check_kvs(enum server server)
{
    const char *most = getenv("LONGEST"); /* a server of others may not take as much */
    int longest = most ? atoi(most) : 1023, n = 77;
    char text[1100], key[64];

    snprintf(key, sizeof key, "all-%d", rank);
    NEED(PMI2_KVS_Put(key, "hello w=orld"));
    if (server == WIREUP && rank == 0) {
        NEED(PMI2_KVS_Put("semi", ";a;;b;"));
        NEED(PMI2_KVS_Put("empty", ""));
    }
    if (rank == 0)
        NEED(PMI2_KVS_Put("long", card(7, (size_t)longest)));
    NEED(PMI2_KVS_Fence());
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "all-%d", r);
        WANT(PMI2_KVS_Get(r % 2 ? job : NULL, r % 3 ? PMI2_ID_NULL : r, key, text, 64, &n) == 0);
        WANT(n == 12 && !strcmp(text, "hello w=orld"));
    }
    WANT(PMI2_KVS_Get(job, 0, key, text, 3, &n) == 0 && n == -12 && !strcmp(text, "he"));
    WANT(PMI2_KVS_Get(job, 0, "long", text, 1024, &n) == 0 && n == longest);
    n = 77;
    WANT(PMI2_KVS_Get(job, 0, "none", text, 64, &n) != 0 && n == 77);
    if (server == WIREUP) {
        WANT(PMI2_KVS_Get(job, 0, "semi", text, 64, &n) == 0 && !strcmp(text, ";a;;b;"));
        WANT(PMI2_KVS_Get(job, 0, "empty", text, 64, &n) == 0 && n == 0 && !*text);
        WANT(PMI2_KVS_Get("no such job", 0, key, text, 64, &n) != 0);
    }
}

/* The last rank of our node, as the mapping has it: blocks of (first node, nodes, ranks on each).
 */
static int last_neighbour(const char *mapping)
{
    int node_of_me = -1, last = -1, at = 0;

    if (size == 1) /* Hydra 4.2 says (vector,0) then */
        return rank;
    for (int pass = 0; pass < 2; pass++) {
        const char *s = mapping;
        at = 0;
        while (at < size && s) {
            int first, nodes, each;
            s = strstr(s, ",(");
            if (!s || sscanf(s, ",(%d,%d,%d)", &first, &nodes, &each) != 3)
                break;
            for (int i = 0; i < nodes * each && at < size; i++, at++) {
                if (at == rank)
                    node_of_me = first + i / each;
                if (pass == 1 && first + i / each == node_of_me)
                    last = at;
            }
            s += 2;
            if (!strstr(s, ",(")) /* fewer than all: once more from the start */
                s = mapping;
        }
    }
    return at == size ? last : -1;
}

static void check_attributes(enum server server)
{
    int found = 77, n = 77, array[4] = { 0 };
    char text[1100];

    WANT(PMI2_Info_GetJobAttr("PMI_process_mapping", text, 1024, &found) == 0 && found == 1 &&
         !strncmp(text, "(vector,", 8));
    if (rank == last_neighbour(text)) {
        NEED(PMI2_Info_PutNodeAttr("word", "of mine"));
        NEED(PMI2_Info_PutNodeAttr("numbers", "5,-6,7"));
    }

    WANT(PMI2_Info_GetNodeAttr("nobody", text, 64, &found, 0) == 0 && found == 0);
    WANT(PMI2_Info_GetNodeAttr("numbers", text, 64, &found, 1) == 0 && found == 1);
    WANT(PMI2_Info_GetNodeAttr("word", text, 64, &found, 0) == 0 && found == 1 &&
         !strcmp(text, "of mine"));
    WANT(PMI2_Info_GetNodeAttr("word", text, 3, &found, 1) == 0 && !strcmp(text, "of"));
    WANT(PMI2_Info_GetNodeAttrIntArray("numbers", array, 4, &n, &found) == 0 && found && n == 3 &&
         array[0] == 5 && array[1] == -6 && array[2] == 7);
    if (server != SLURM) /* which says something of anything */
        WANT(PMI2_Info_GetJobAttr("nonsense", text, 64, &found) == 0 && found == 0);
    if (server == WIREUP)
        WANT(PMI2_Info_GetJobAttrIntArray("universeSize", array, 1, &n, &found) == 0 && found &&
             (array[0] == -1 || array[0] >= size)); /* the slots, where they are known */
    if (server == SLURM)
        WANT(PMI2_Info_GetJobAttrIntArray("universeSize", array, 1, &n, &found) == 0 && found &&
             array[0] == size);
}

/* Launchers of one user know each other's names, and other tests may run beside this one. */
static void own_name(char *name, const char *what)
{
    snprintf(name, NAME_ROOM, "%s %s", what, job);
}

static void check_names(void)
{
    char text[64], svc[NAME_ROOM];

    if (rank != 0)
        return;
    own_name(svc, "svc");
    WANT(PMI2_Nameserv_lookup(svc, NULL, text, 64) != 0);
    WANT(PMI2_Nameserv_publish(svc, NULL, "port=1 2") == 0);
    WANT(PMI2_Nameserv_lookup(svc, NULL, text, 64) == 0 && !strcmp(text, "port=1 2"));
    WANT(PMI2_Nameserv_lookup(svc, NULL, text, 5) == 0 && !strcmp(text, "port"));
    WANT(PMI2_Nameserv_unpublish(svc, NULL) == 0);
    WANT(PMI2_Nameserv_lookup(svc, NULL, text, 64) != 0);
}

static int rings_made;

/* Places are all different, and each is beside the next. */
static void check_ring(void)
{
    char mine[32], left[64], right[64], key[32], want[64];
    int place = -1, places = -1, n;

    snprintf(mine, sizeof mine, "ring %d", rank);
    WANT(PMIX_Ring(mine, &place, &places, left, right, 64) == 0 && places == size && place >= 0 &&
         place < size);
    snprintf(key, sizeof key, "place-%d-%d", rings_made, place);
    NEED(PMI2_KVS_Put(key, mine));
    NEED(PMI2_KVS_Fence());
    snprintf(key, sizeof key, "place-%d-%d", rings_made, (place + 1) % size);
    WANT(PMI2_KVS_Get(job, -1, key, want, 64, &n) == 0 && !strcmp(right, want));
    snprintf(key, sizeof key, "place-%d-%d", rings_made++, (place + size - 1) % size);
    WANT(PMI2_KVS_Get(job, -1, key, want, 64, &n) == 0 && !strcmp(left, want));
}

static int all(const char *under, bool ring)
{
    enum server server = !strcmp(under, "hydra") ? HYDRA : !strcmp(under, "slurm") ? SLURM : WIREUP;
    int v = -1;

    WANT(!PMI2_Initialized());
    init();
    WANT(PMI2_Initialized());
    WANT(spawned == 0);
    WANT(PMI2_Job_GetRank(&v) == 0 && v == rank);
    WANT(PMI2_Info_GetSize(&v) == 0 && v == size);
    check_kvs(server);
    check_attributes(server);
    check_names();
    if (ring)
        check_ring();
    if (server == WIREUP) {
        WANT(PMI2_Job_Connect("no such job", NULL) != 0);
        WANT(PMI2_Job_Connect(job, NULL) == 0 && PMI2_Job_Disconnect(job) == 0);
    }
    return verdict("all", "");
}

static int rings(void)
{
    init();
    for (int i = 0; i < 3; i++)
        check_ring();
    return verdict("ring", "");
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A fence comes first: Hydra's mpiexec dies of a get of something unknown before it. */

enum { THREADS = 8, ROUNDS = 30 };

static int rounds = ROUNDS;

static void *thread_main(void *arg)
{
    int me = *(int *)arg, found, n;
    char key[64], text[64], name[NAME_ROOM];

    for (int i = 0; i < rounds; i++) {
        snprintf(key, sizeof key, "t-%d-%d-%d", rank, me, i);
        WANT(PMI2_KVS_Put(key, key) == 0);
        WANT(PMI2_Info_PutNodeAttr(key, key) == 0);
        WANT(PMI2_Info_GetNodeAttr(key, text, 64, &found, 1) == 0 && !strcmp(text, key));
        own_name(name, key);
        WANT(PMI2_Nameserv_publish(name, NULL, key) == 0);
        WANT(PMI2_Nameserv_lookup(name, NULL, text, 64) == 0 && !strcmp(text, key));
        WANT(PMI2_Nameserv_unpublish(name, NULL) == 0);
        WANT(PMI2_KVS_Get(job, -1, "none", text, 64, &n) != 0);
    }
    return NULL;
}

static int threads(void)
{
    pthread_t t[THREADS];
    char key[64], text[64];
    int number[THREADS], n;

    init();
    NEED(PMI2_KVS_Fence());
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        pthread_create(&t[i], NULL, thread_main, &number[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    NEED(PMI2_KVS_Fence());
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < THREADS; i++) {
            snprintf(key, sizeof key, "t-%d-%d-%d", r, i, (rank + i) % rounds);
            WANT(PMI2_KVS_Get(job, r, key, text, 64, &n) == 0 && !strcmp(text, key));
        }
    }
    return verdict("threads", "");
}

/* ---- spawn ----------------------------------------------------------------------------------- */

static bool slurm;

static const char *port(void)
{
    return slurm ? "parent port 7" : "parent; port 7";
}

static int child(void)
{
    char text[64], parent[256], name[NAME_ROOM];
    int found, n;

    init();
    WANT(spawned == 1);
    WANT(PMI2_KVS_Get(NULL, -1, "PARENT", text, 64, &n) == 0);
    WANT(!strcmp(text, port()));
    WANT(PMI2_Info_GetJobAttr("PMI_process_mapping", text, 64, &found) == 0 && found);
    /* What the parent has put, in its own space, whose name it was given. */
    WANT(PMI2_KVS_Get(NULL, -1, "JOB", parent, sizeof parent, &n) == 0);
    if (!slurm)
        WANT(PMI2_KVS_Get(parent, 0, "of the parent", text, 64, &n) == 0 && !strcmp(text, "hello"));
    snprintf(name, sizeof name, "children of %s", parent);
    if (rank == 0)
        NEED(PMI2_KVS_Put("of the child", "hi"));
    NEED(PMI2_KVS_Fence());
    if (rank == 0) {
        snprintf(text, sizeof text, "%d wrong", wrong);
        NEED(PMI2_Nameserv_publish(name, NULL, text));
    }
    while (rank == 0 && PMI2_Nameserv_lookup(name, NULL, text, 64) == 0)
        usleep(2000); /* until the parent has taken it */
    NEED(PMI2_KVS_Fence());
    NEED(PMI2_Finalize());
    return wrong ? 1 : 0;
}

static void spawn_some(const char *program, int n)
{
    const char *cmds[] = { program }, *argv[] = { "child", "slurm" }, **argvs[] = { argv };
    MPID_Info parent = { .key = (char *)"PARENT", .value = (char *)port() };
    MPID_Info home = { .key = (char *)"JOB", .value = job };
    const MPID_Info *preputs[] = { &parent, &home };
    int argcs[] = { slurm ? 2 : 1 }, none[] = { 0 }, len;
    int *errors = calloc((size_t)n + 1, sizeof *errors);
    const MPID_Info *infos[] = { NULL };
    char text[64], theirs[256] = "", name[NAME_ROOM];
    int rc;

    errors[n] = 77;
    snprintf(name, sizeof name, "children of %s", job);
    rc = PMI2_Job_Spawn(1, cmds, argcs, argvs, &n, none, infos, 2, preputs, theirs, sizeof theirs,
                        errors);
    WANT(rc == 0);
    for (int i = 0; i < n; i++)
        WANT(errors[i] == 0);
    WANT(errors[n] == 77 && *theirs && strcmp(theirs, job) != 0);
    while (rc == 0 && PMI2_Nameserv_lookup(name, NULL, text, 64) != 0)
        usleep(2000);
    WANT(rc == 0 && !strcmp(text, "0 wrong"));
    if (!slurm)
        WANT(PMI2_KVS_Get(theirs, 0, "of the child", text, 64, &len) == 0 && !strcmp(text, "hi"));
    WANT(PMI2_Nameserv_unpublish(name, NULL) == 0);
    free(errors);
}

static int spawn(const char *program, int n)
{
    const char *missing[] = { "/no/such/program" };
    int none[] = { 0 }, two = 2, errors[2];
    const MPID_Info *infos[] = { NULL };
    char text[64];

    init();
    if (rank == 0) {
        NEED(PMI2_KVS_Put("of the parent", "hello"));
    }
    NEED(PMI2_KVS_Fence());
    if (rank == 0) {
        spawn_some(program, n);
        WANT(slurm || PMI2_Job_Spawn(1, missing, none, NULL, &two, none, infos, 0, NULL, text, 64,
                                     errors) != 0);
    }
    return verdict("spawn", "");
}

static int crowd(const char *program, int n)
{
    const char *cmds[] = { program }, *argv[] = { "leaf" }, **argvs[] = { argv };
    int argcs[] = { 1 }, none[] = { 0 }, one = 1, errors[1];
    const MPID_Info *infos[] = { NULL };
    char text[256];

    init();
    for (int i = 0; rank == 0 && i < n; i++)
        WANT(PMI2_Job_Spawn(1, cmds, argcs, argvs, &one, none, infos, 0, NULL, text, 256, errors) ==
             0);
    return verdict("crowd", "");
}

static int leaf(void)
{
    init();
    NEED(PMI2_KVS_Fence());
    NEED(PMI2_Finalize());
    return spawned ? 0 : 1;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static int attributes(int n, char **names)
{
    char text[1100];
    int found;

    init();
    for (int i = 0; rank == 0 && i < n; i++) {
        NEED(PMI2_Info_GetJobAttr(names[i], text, 1100, &found));
        printf("%s %s\n", names[i], found ? text : "(not found)");
    }
    NEED(PMI2_KVS_Fence());
    NEED(PMI2_Finalize());
    return 0;
}

static int of_the_node(int n, char **names)
{
    char text[1100];
    int found;

    init();
    for (int i = 0; rank == size - 1 && i < n; i++) {
        NEED(PMI2_Info_GetNodeAttr(names[i], text, 1100, &found, 0));
        printf("%s %s\n", names[i], found ? text : "(not found)");
    }
    NEED(PMI2_KVS_Fence());
    NEED(PMI2_Finalize());
    return 0;
}

/* The parent puts a word for connected jobs and one for its own, and waits for the answer. */
static int parent_of_sharer(const char *program)
{
    char text[64], name[64];
    const char *args[] = { "sharer", NULL };
    int one = 1, none = 0, code = -1, found = 0;

    init();
    NEED(PMI2_Info_PutNodeAttr("connected:word", "of the parent"));
    NEED(PMI2_Info_PutNodeAttr("own word", "of the parent"));
    NEED(PMI2_Job_Spawn(1, &program, &one, (const char ***)&(const char **[]){ args }, &one, &none,
                        NULL, 0, NULL, name, sizeof name, &code));
    NEED(PMI2_Info_GetNodeAttr("connected:reply", text, sizeof text, &found, 1));
    printf("parent: %s\n", found ? text : "no reply");
    NEED(PMI2_Info_GetNodeAttr("connected:nothing", text, sizeof text, &found, 1));
    printf("parent: %s\n", found ? text : "nobody is left");
    NEED(PMI2_Finalize());
    return 0;
}

static int sharer(void)
{
    char text[64];
    int found = 0, own = 0;

    init();
    NEED(PMI2_Info_GetNodeAttr("own word", text, sizeof text, &own, 0));
    NEED(PMI2_Info_GetNodeAttr("connected:word", text, sizeof text, &found, 1));
    NEED(PMI2_Info_PutNodeAttr("connected:reply", found && !own ? text : "WRONG"));
    NEED(PMI2_Finalize());
    return 0;
}

static int give_up(int flag, int who, const char *text)
{
    init();
    if (rank == who)
        PMI2_Abort(flag, text);
    PMI2_KVS_Fence();
    return 3;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "exchange"))
        return exchange(argc > 2 ? (size_t)atoi(argv[2]) : 128, false);
    if (!strcmp(what, "spoil"))
        return exchange(128, true);
    if (!strcmp(what, "all") && argc > 2)
        return all(argv[2], argc < 4);
    if (!strcmp(what, "ring"))
        return rings();
    if (!strcmp(what, "threads")) {
        rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
        return threads();
    }
    if (!strcmp(what, "attr"))
        return attributes(argc - 2, argv + 2);
    if (!strcmp(what, "node"))
        return of_the_node(argc - 2, argv + 2);
    if (!strcmp(what, "share"))
        return parent_of_sharer(argv[0]);
    if (!strcmp(what, "sharer"))
        return sharer();
    if (!strcmp(what, "abort") && argc > 4)
        return give_up(atoi(argv[2]), atoi(argv[3]), argv[4]);
    slurm = argc > 2 && !strcmp(argv[argc - 1], "slurm");
    if (!strcmp(what, "spawn") && argc > 3)
        return spawn(argv[2], atoi(argv[3]));
    if (!strcmp(what, "child"))
        return child();
    if (!strcmp(what, "crowd") && argc > 3)
        return crowd(argv[2], atoi(argv[3]));
    if (!strcmp(what, "leaf"))
        return leaf();
    fprintf(stderr, "pmi2: see the top of pmi2.c\n");
    return 2;
}
