/* elastic.c - one sum over nodes that are lost and nodes that are gained: eight workers publish the
 * sums of their parts, three of them lose their node half way, and two more on new nodes do what is
 * missing. What a worker has published is kept by the launcher, so nothing is done twice.
 *
 *   ./elastic ADDRESS NODE,NODE         the address of a DVM of eight nodes, and the nodes to gain
 *
 * elastic.sh starts that DVM.  This program is started as a tool of it: it spawns the first worker
 * job, and that one's rank 0 leads: it learns of the lost nodes, spawns the others, and publishes
 * the sum. */
#define EXAMPLE "elastic"
#include "example.h"

#include <pmix_tool.h>
#include <pthread.h>
#include <signal.h>

enum { NODES = 8, LOST = 3, GAINED = 2, PARTS = 48, NUMBERS = 1000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int lost; /* nodes */

/* ---- names: PART for the sum of a part, and a few words -------------------------------------- */

static void publish(const char *key, unsigned long value)
{
    pmix_persistence_t stays = PMIX_PERSIST_SESSION;
    pmix_info_t infos[2];
    pmix_status_t rc;
    char text[32];

    snprintf(text, sizeof text, "%lu", value);
    PMIX_INFO_LOAD(&infos[0], key, text, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_PERSISTENCE, &stays, PMIX_PERSIST);
    rc = PMIx_Publish(infos, 2);
    if (rc !=
        PMIX_ERR_DUPLICATE_KEY) /* a slow worker was taken for a lost one: the sum is the same */
        must(key, rc);
    PMIX_INFO_DESTRUCT(&infos[0]);
}

/* False: nobody has published it; wait: until somebody has. */
static bool find(const char *key, bool wait, unsigned long *value)
{
    pmix_pdata_t data;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof data.key, "%s", key);
    PMIX_INFO_LOAD(&info, PMIX_WAIT, NULL, PMIX_INT);
    info.value.data.integer = 1;
    rc = PMIx_Lookup(&data, 1, &info, wait ? 1 : 0);
    if (rc == PMIX_SUCCESS && data.value.type == PMIX_STRING)
        *value = strtoul(data.value.data.string, NULL, 10);
    else if (rc != PMIX_ERR_NOT_FOUND)
        must(key, rc);
    PMIX_PDATA_DESTRUCT(&data);
    return rc == PMIX_SUCCESS;
}

static bool find_part(uint32_t part, bool wait, unsigned long *sum)
{
    char key[32];

    snprintf(key, sizeof key, "elastic.%u", part);
    return find(key, wait, sum);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* The part's numbers: PART, PART + PARTS, ... */
static void work(uint32_t part)
{
    unsigned long sum = 0;
    char key[32];

    for (unsigned long i = part; i < (unsigned long)PARTS * NUMBERS; i += PARTS)
        sum += i;
    snprintf(key, sizeof key, "elastic.%u", part);
    publish(key, sum);
}

static bool is_doomed(uint32_t rank)
{
    return rank >= NODES - LOST;
}

/* The node of a doomed worker is lost when it has done half of its parts: our parent there is the
 * daemon. */
static void work_first(void)
{
    uint32_t n = 0;

    for (uint32_t part = me.rank; part < PARTS; part += size) {
        if (is_doomed(me.rank) && n++ == PARTS / size / 2) {
            kill(getppid(), SIGKILL);
            pause();
        }
        work(part);
    }
}

/* ---- the leader
 * ---------------------------------------------------------------------------------- */

static void on_node_down(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                         pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    pthread_mutex_lock(&gate);
    lost++;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&gate);
    fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void listen_for_losses(void)
{
    pmix_status_t code = PMIX_EVENT_NODE_DOWN;

    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_node_down, NULL, NULL) < 0)
        fail("cannot register for lost nodes");
}

static void wait_for_losses(void)
{
    pthread_mutex_lock(&gate);
    while (lost < LOST)
        pthread_cond_wait(&change, &gate);
    pthread_mutex_unlock(&gate);
}

static void spawn(char *program, char *role, char *nodes, int procs, bool goes_on)
{
    char *words[] = { program, role, nodes, NULL };
    char by_node[] = "node", here[] = "/";
    pmix_nspace_t job;
    pmix_info_t infos[3];
    pmix_app_t app;
    size_t n = 0;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = program;
    app.argv = words;
    app.cwd = here;
    app.maxprocs = procs;
    PMIX_INFO_LOAD(&infos[n++], PMIX_MAPBY, by_node, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[n++], PMIX_JOB_RECOVERABLE, &goes_on, PMIX_BOOL);
    if (!goes_on)
        PMIX_INFO_LOAD(&infos[n++], PMIX_HOST, nodes, PMIX_STRING);
    must("spawn", PMIx_Spawn(infos, n, &app, 1, job));
}

/* The others that live have nothing more to do: what is missing was on the lost nodes. */
static void lead(char *program, char *nodes)
{
    unsigned long sum = 0, one = 0, missing = 0;
    char rest[] = "rest";

    wait_for_losses();
    for (uint32_t part = 0; part < PARTS; part++)
        missing += !find_part(part, false, &one);
    publish("elastic.missing", missing);
    find("elastic.gained", true, &one);
    spawn(program, rest, nodes, GAINED, false);
    for (uint32_t part = 0; part < PARTS; part++) {
        find_part(part, true, &one);
        sum += one;
    }
    publish("elastic.sum", sum);
}

/* ---- roles
 * --------------------------------------------------------------------------------------- */

static void be_worker(char **argv)
{
    begin();
    if (me.rank == 0)
        listen_for_losses();
    fence(false);
    work_first();
    if (me.rank == 0)
        lead(argv[0], argv[2]);
    must("finalize", PMIx_Finalize(NULL, 0));
}

static void be_late_worker(void)
{
    unsigned long known;

    begin();
    for (uint32_t part = me.rank; part < PARTS; part += size) {
        if (!find_part(part, false, &known))
            work(part);
    }
    must("finalize", PMIx_Finalize(NULL, 0));
}

/* Nodes come by a command; a job that is told of them could as well ask for them itself. */
static void be_tool(char **argv)
{
    const unsigned long all = (unsigned long)PARTS * NUMBERS, right = all * (all - 1) / 2;
    unsigned long sum = 0, missing = 0;
    char first[] = "first", command[512], *program = realpath(argv[0], NULL);
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    must("connect", PMIx_tool_init(&me, &info, 1));
    spawn(program, first, argv[2], NODES, true);
    find("elastic.missing", true, &missing);
    printf("elastic: %d of %d nodes are lost, and %lu of %d parts are missing\n", LOST, NODES,
           missing, PARTS);
    if (missing < LOST * PARTS / NODES / 2)
        fail("the lost workers had done too much");
    fflush(stdout);
    snprintf(command, sizeof command, "wireup grow -hosts %s", argv[2]);
    if (system(command) != 0)
        fail("no node was gained");
    publish("elastic.gained", GAINED);
    find("elastic.sum", true, &sum);
    printf("elastic: the sum is %lu\n", sum);
    if (sum != right)
        fail("it should be %lu", right);
    must("finalize", PMIx_tool_finalize());
    free(program);
    printf("elastic: good\n");
}

int main(int argc, char **argv)
{
    alarm(EXAMPLE_SECONDS);
    if (argc < 3)
        fail("name the address of a DVM of %d nodes, and the nodes to gain", NODES);
    if (!strcmp(argv[1], "first"))
        be_worker(argv);
    else if (!strcmp(argv[1], "rest"))
        be_late_worker();
    else
        be_tool(argv);
    return 0;
}
