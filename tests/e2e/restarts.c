/* restarts.c - a PMIx program whose ranks fail one after the other and are started again: the
 * others learn of it once, and go on with the new process.
 *
 *   restarts HOW:RANK ...    in step i the i-th of these ranks fails: `kill` by SIGKILL, `exit`
 *                            with code 3, `leave` by going without finalize, `late` after finalize,
 *                            `node` with its daemon, `machine` with the process whose number is in
 *                            the file $RESTARTS_MACHINES.HOST
 *
 *   restarts lie HOW:RANK ...    the same, but a survivor expects to be told twice: the control
 *
 *   restarts spawn HOW:RANK ...  spawns four processes that do it
 *
 *   restarts stay                joins the job, prints `ready`, and waits for a signal
 *
 * A step: the victim fails; the fence of each other rank, on its way or next, is to fail with
 * PMIX_ERR_PROC_RESTART; then all fence with data, the new process, too, and look at its card.
 *
 * Each rank prints `rank R good`, or WRONG and what. */
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 32 };

struct step {
    char how;
    uint32_t rank;
};

static pmix_proc_t me;
static uint32_t size, life, nsteps;
static struct step steps[STEPS];
static bool lies;
static uint32_t noticed; /* by events */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

static void fail(const char *what, pmix_status_t rc)
{
    printf("rank %u WRONG in life %u: %s: %s\n", me.rank, life, what, PMIx_Error_string(rc));
    fflush(stdout);
    PMIx_Abort(9, "", NULL, 0);
    _exit(9);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        fail(what, rc);
}

static pmix_status_t fence(void)
{
    bool yes = true;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    rc = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static void write_card(char text[64], uint32_t rank, uint32_t of_life)
{
    snprintf(text, 64, "card %u of %u", of_life, rank);
}

static void put_card(void)
{
    pmix_value_t v;
    char text[64];

    write_card(text, me.rank, life);
    PMIX_VALUE_LOAD(&v, text, PMIX_STRING);
    must("put", PMIx_Put(PMIX_GLOBAL, "card", &v));
    PMIX_VALUE_DESTRUCT(&v);
    must("commit", PMIx_Commit());
}

/* owner: whose value it is called, perhaps nobody's. */
static void look_at(uint32_t owner, const char *key, uint32_t rank, uint32_t of_life)
{
    bool yes = true;
    pmix_value_t *v = NULL;
    pmix_info_t info;
    pmix_proc_t p;
    char want[64];

    PMIX_LOAD_PROCID(&p, me.nspace, owner);
    PMIX_INFO_LOAD(&info, PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
    write_card(want, rank, of_life);
    must(key, PMIx_Get(&p, key, &info, owner < size && owner != me.rank, &v));
    if (!v || v->type != PMIX_STRING || strcmp(v->data.string, want) != 0) {
        printf("rank %u: %s of %u is '%s'\n", me.rank, key, rank,
               v && v->type == PMIX_STRING ? v->data.string : "?");
        fail(key, PMIX_ERR_NOT_FOUND);
    }
    PMIX_VALUE_RELEASE(v);
}

static void look(uint32_t rank, uint32_t of_life)
{
    look_at(rank, "card", rank, of_life);
}

static void publish(void)
{
    pmix_info_t info;
    char key[64];

    snprintf(key, sizeof key, "restarts.%u", me.rank);
    PMIX_INFO_LOAD(&info, key, "here", PMIX_STRING);
    must("publish", PMIx_Publish(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
}

static void look_up(void)
{
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof data.key, "restarts.%u", me.rank);
    must("look-up", PMIx_Lookup(&data, 1, NULL, 0));
    if (data.value.type != PMIX_STRING || strcmp(data.value.data.string, "here") != 0 ||
        data.proc.rank != me.rank)
        fail("look-up", PMIX_ERR_NOT_FOUND);
    PMIX_PDATA_DESTRUCT(&data);
}

/* What the process before has put is there for who asks, and is not taken for ours; it was lost
 * with a lost node. */
static void look_back(char how)
{
    bool yes = true;
    pmix_value_t *v = NULL;
    pmix_info_t info;
    char key[64];

    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    if (PMIx_Get(&me, "card", &info, 1, &v) == PMIX_SUCCESS)
        fail("the card of the process before", PMIX_SUCCESS);
    snprintf(key, sizeof key, "wireup.old.%u.card", me.rank);
    if (how != 'n' && how != 'm')
        look_at(PMIX_RANK_UNDEF, key, me.rank, life - 1);
    look_up();
}

static uint32_t read_life(void)
{
    const char *text = getenv("WIREUP_RESTARTS");
    uint32_t n = text ? (uint32_t)atoi(text) : 0;
    pmix_value_t *v = NULL;

    must("PMIX_REINCARNATION", PMIx_Get(&me, PMIX_REINCARNATION, NULL, 0, &v));
    if (v->type != PMIX_UINT32 || v->data.uint32 != n)
        fail("PMIX_REINCARNATION", PMIX_ERR_BAD_PARAM);
    PMIX_VALUE_RELEASE(v);
    return n;
}

static void on_restart(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    bool named = false;

    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++)
        named = named || PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC);
    pthread_mutex_lock(&gate);
    noticed += status == PMIX_ERR_PROC_RESTART && named;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&gate);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void wait_for_events(uint32_t n)
{
    pthread_mutex_lock(&gate);
    while (noticed < n)
        pthread_cond_wait(&change, &gate);
    pthread_mutex_unlock(&gate);
}

static pid_t machine(void)
{
    char host[256] = "", name[1024];
    FILE *f;
    int pid = 0;

    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s.%s", getenv("RESTARTS_MACHINES"), host);
    f = fopen(name, "r");
    if (!f || fscanf(f, "%d", &pid) != 1 || pid < 2)
        fail(name, PMIX_ERR_NOT_FOUND);
    return pid;
}

static void die(char how)
{
    switch (how) {
    case 'e': _exit(3);
    case 'l': _exit(0);
    case 'n': kill(getppid(), SIGKILL), pause(), _exit(4); /* we end with it */
    case 'm': kill(machine(), SIGKILL), pause(), _exit(4);
    case 'f': PMIx_Finalize(NULL, 0); _exit(5);
    default: kill(getpid(), SIGKILL);
    }
}

/* The step in which the process before this one has failed: the life-th of this rank. */
static uint32_t first_step(void)
{
    uint32_t n = life, i = 0;

    while (n && i < nsteps)
        n -= steps[i++].rank == me.rank;
    return life ? i - 1 : 0;
}

static uint32_t lives_until(uint32_t rank, uint32_t step)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i <= step; i++)
        n += steps[i].rank == rank;
    return n;
}

static void survive(void)
{
    pmix_status_t rc = fence();

    if (rc == PMIX_ERR_PROC_RESTART && lies)
        rc = fence();
    if (rc != PMIX_ERR_PROC_RESTART)
        fail("the fence after a failure", rc);
}

static void take_step(uint32_t i, bool is_new)
{
    if (steps[i].rank == me.rank && !is_new)
        die(steps[i].how);
    if (!is_new)
        survive();
    must("the fence with the new process", fence());
    look(steps[i].rank, lives_until(steps[i].rank, i));
    for (uint32_t r = 0; r < size; r++)
        look(r, lives_until(r, i));
    must("the fence after the looks", fence());
}

static void begin(void)
{
    pmix_status_t code = PMIX_ERR_PROC_RESTART;
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    life = read_life();
    if (life) {
        look_back(steps[first_step()].how);
    } else {
        if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_restart, NULL, NULL) < 0)
            fail("register", PMIX_ERROR);
        publish();
    }
    put_card();
    if (!life)
        must("the first fence", fence());
}

static void spawn(char **argv)
{
    bool yes = true;
    uint32_t times = STEPS;
    pmix_nspace_t children;
    pmix_info_t infos[2];
    pmix_app_t app;

    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_MAX_RESTARTS, &times, PMIX_UINT32);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = 4;
    must("spawn", PMIx_Spawn(infos, 2, &app, 1, children));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "spawn") == 0) {
        must("init", PMIx_Init(&me, NULL, 0));
        argv[1] = argv[0];
        spawn(argv + 1);
        return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
    }
    if (argc > 1 && strcmp(argv[1], "stay") == 0) {
        must("init", PMIx_Init(&me, NULL, 0));
        puts("ready");
        fflush(stdout);
        return pause();
    }
    lies = argc > 1 && strcmp(argv[1], "lie") == 0;
    for (int i = lies ? 2 : 1; i < argc && nsteps < STEPS; i++) {
        const char *colon = strchr(argv[i], ':');
        steps[nsteps++] = (struct step){ argv[i][0] == 'l' && argv[i][1] == 'a' ? 'f' : argv[i][0],
                                         colon ? (uint32_t)atoi(colon + 1) : 0 };
    }
    must("init", PMIx_Init(&me, NULL, 0));
    begin();
    for (uint32_t i = first_step(); i < nsteps; i++)
        take_step(i, life && i == first_step());
    if (!life)
        wait_for_events(nsteps);
    must("the last fence", fence());
    printf("rank %u good\n", me.rank);
    PMIx_Finalize(NULL, 0);
    return 0;
}
