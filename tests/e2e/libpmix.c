/* libpmix.c - a PMIx program that looks at the library itself: what it does to the process, and
 * what the process may do with it.  Each rank prints `MODE good`, or what is WRONG.
 *
 *   libpmix quiet          blocking calls start no thread; a callback does, and finalize ends it
 *   libpmix cycles N       init, exchange, finalize, N times: no descriptor is left
 *   libpmix threads N      N threads mix all kinds of calls
 *   libpmix crowded        one thread waits for an answer while the other says more than a socket
 *                          takes
 *   libpmix forks          forked and executed children join on their own, the parent goes on
 *   libpmix external       PMIX_EXTERNAL_PROGRESS and PMIx_Progress
 *   libpmix loop           PMIX_EVENT_BASE: a loop of the program's libevent
 *   libpmix gets N         N gets of what a peer has put, between two marks: writes to descriptor
 *                          -1
 *   libpmix memory         prints the process's proportional memory after an exchange, in kB
 *   libpmix values         the rules of PMIx_Get
 *   libpmix refused        a commit that the server does not take is told, small or large
 *   libpmix invite         a group by invitation; one declines; one leaves
 *   libpmix clone          what an executed child of `forks` does
 */
#include <dirent.h>
#include <event2/event.h>
#include <pmix.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pmix_proc_t me;
static uint32_t size;
static atomic_int wrong, called;
static const char *mode;

static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    flockfile(stdout);
    printf("%s WRONG rank %u: ", mode, me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    funlockfile(stdout);
}

static bool must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        complain("%s: %s", what, PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

static int count_files(const char *folder)
{
    DIR *d = opendir(folder);
    int n = -2; /* . and .. */

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static int threads(void)
{
    return count_files("/proc/self/task");
}

/* Who has been joined is still listed until the kernel has put it away, a moment later. */
static bool threads_become(int n)
{
    for (int i = 0; i < 300000 && threads() != n; i++)
        usleep(1000);
    return threads() == n;
}

static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static uint32_t neighbour(void)
{
    return (me.rank + 1) % size;
}

static void put_number(const char *key, uint32_t number)
{
    pmix_value_t v = { .type = PMIX_UINT32, .data.uint32 = number };

    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
}

static bool get_number_by(uint32_t rank, const char *key, const pmix_info_t *infos, size_t ninfos,
                          uint32_t *number)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, key, infos, ninfos, &v);
    bool good = rc == PMIX_SUCCESS && v->type == PMIX_UINT32;

    if (good)
        *number = v->data.uint32;
    else
        complain("get %s of %u: %s", key, rank, PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(v);
    return good;
}

static bool get_number(uint32_t rank, const char *key, uint32_t *number)
{
    return get_number_by(rank, key, NULL, 0, number);
}

static void check_number(uint32_t rank, const char *key, uint32_t want)
{
    uint32_t number;

    if (get_number(rank, key, &number) && number != want)
        complain("%s of %u is %u", key, rank, number);
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
}

static void exchange(void)
{
    put_number("number", 1000 + me.rank);
    must("commit", PMIx_Commit());
    fence(true);
}

static void join(const pmix_info_t *infos, size_t n)
{
    if (!must("init", PMIx_Init(&me, (pmix_info_t *)(uintptr_t)infos, n)))
        exit(1);
    size = 1;
    get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &size);
}

static void leave(void)
{
    must("finalize", PMIx_Finalize(NULL, 0));
}

/* ---- what it does to the process ------------------------------------------------------------- */

static void names(uint32_t number)
{
    char key[64];
    char *keys[] = { key, NULL };
    pmix_info_t info;
    pmix_pdata_t found;
    pmix_status_t rc;

    snprintf(key, sizeof key, "name %u.%u", me.rank, number);
    PMIX_INFO_LOAD(&info, key, &number, PMIX_UINT32);
    rc = PMIx_Publish(&info, 1);
    if (rc == PMIX_ERR_NOT_SUPPORTED) /* by Slurm */
        return;
    must("publish", rc);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, key);
    if (must("lookup", PMIx_Lookup(&found, 1, NULL, 0)) &&
        (found.value.type != PMIX_UINT32 || found.value.data.uint32 != number))
        complain("what was looked up");
    PMIX_PDATA_DESTRUCT(&found);
    must("unpublish", PMIx_Unpublish(keys, NULL, 0));
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)code, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    called++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void *list_itself(void *arg)
{
    snprintf(arg, 64, "/proc/self/task/%d", (int)gettid());
    return NULL;
}

/* Sanitizers begin a thread of their own beside the first one, which stays. */
static int threads_before(void)
{
    char entry[64] = "";
    pthread_t t;

    if (pthread_create(&t, NULL, list_itself, entry) == 0)
        pthread_join(t, NULL);
    for (int i = 0; i < 300000 && access(entry, F_OK) == 0; i++)
        usleep(1000);
    return threads();
}

static void quiet(void)
{
    pmix_status_t code = -7000;
    int before = threads_before();

    join(NULL, 0);
    if (PMIx_Init(NULL, NULL, 0) != PMIX_SUCCESS || !PMIx_Initialized())
        complain("a second init");
    exchange();
    for (uint32_t r = 0; r < size; r++)
        check_number(r, "number", 1000 + r);
    names(1);
    leave();
    fence(false);
    if (threads() != before)
        complain("%d threads after blocking calls", threads());
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) < 0)
        complain("register");
    if (threads() != before + 1)
        complain("%d threads where a callback can be due", threads());
    must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    while (called < 1)
        usleep(1000);
    fence(false);
    leave();
    if (!threads_become(before) || PMIx_Initialized())
        complain("%d threads after finalize", threads());
}

static void cycles(int n)
{
    int files = 0;

    for (int i = 0; i < n && !wrong; i++) {
        join(NULL, 0);
        put_number("round", 1000 * (uint32_t)i + me.rank);
        must("commit", PMIx_Commit());
        fence(true);
        check_number(neighbour(), "round", 1000 * (uint32_t)i + neighbour());
        fence(false);
        leave();
        if (i == 0)
            files = count_files("/proc/self/fd");
    }
    if (count_files("/proc/self/fd") != files)
        complain("%d descriptors, %d after the first time", count_files("/proc/self/fd"), files);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void on_status(pmix_status_t status, void *arg)
{
    (void)arg;
    must("a callback", status);
    called++;
}

static void on_value(pmix_status_t status, pmix_value_t *v, void *arg)
{
    (void)arg;
    if (status != PMIX_SUCCESS || v->type != PMIX_UINT32)
        complain("a value: %s", PMIx_Error_string(status));
    called++;
}

static void ask_all(void)
{
    for (uint32_t r = 0; r < size; r++) {
        check_number(r, "number", 1000 + r);
        check_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, size);
    }
}

static void own_values(uint32_t number)
{
    char key[64];

    snprintf(key, sizeof key, "thread %u", number);
    for (uint32_t i = 0; i < 10; i++) {
        put_number(key, i);
        must("commit", PMIx_Commit());
        check_number(me.rank, key, i);
    }
}

static void without_waiting(void)
{
    pmix_proc_t p = process(neighbour());

    for (int i = 0; i < 10; i++)
        must("get_nb", PMIx_Get_nb(&p, "number", NULL, 0, on_value, NULL));
}

static void events(void)
{
    pmix_status_t code = -7001;
    pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);

    if (id < 0)
        complain("register: %s", PMIx_Error_string(id));
    must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    must("deregister", PMIx_Deregister_event_handler((size_t)id, NULL, NULL));
}

static bool under_wireup(void)
{
    return getenv("WIREUP_FD") != NULL;
}

/* Names are nothing for OpenPMIx's server (4.2) while another thread has a request under way: it
 * queues the answer in the thread of its host, without a lock, and now and then loses one. */
static void *work(void *arg)
{
    uint32_t number = *(uint32_t *)arg;

    for (int i = 0; i < 3; i++) {
        switch (number % 5) {
        case 0: ask_all(); break;
        case 1: own_values(number); break;
        case 2: without_waiting(); break;
        case 3: under_wireup() ? names(number) : ask_all(); break;
        case 4: events(); break;
        }
    }
    return NULL;
}

static void on_fenced(pmix_status_t status, void *arg)
{
    must("fence_nb's callback", status);
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* A fence that does not wait, under way while the next one begins.  OpenPMIx's server (4.2) counts
 * a process that enters twice as two processes, and ends the fence without the others; so elsewhere
 * than with us the first is waited for. */
static void two_fences(void)
{
    static atomic_int ended;

    must("fence_nb", PMIx_Fence_nb(NULL, 0, NULL, 0, on_fenced, &ended));
    while (!under_wireup() && !ended && !wrong)
        usleep(1000);
    fence(false);
    for (int i = 0; i < 300000 && !ended; i++)
        usleep(1000);
    if (ended != 1)
        complain("the first of two fences has ended %d times", ended);
}

static void many_threads(uint32_t n)
{
    pthread_t *t = calloc(n, sizeof *t);
    uint32_t *numbers = calloc(n, sizeof *numbers);

    join(NULL, 0);
    exchange();
    for (uint32_t i = 0; i < n; i++) {
        numbers[i] = i;
        if (pthread_create(&t[i], NULL, work, &numbers[i]) != 0)
            complain("pthread_create");
    }
    for (int i = 0; i < 20; i++)
        fence(false);
    two_fences();
    for (uint32_t i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    fence(false);
    leave();
    free(t);
    free(numbers);
}

/* ---- two threads, one socket ----------------------------------------------------------------- */

enum { MUCH = 4 << 20 }; /* more than a socket takes at once */

static void on_much(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (info[i].value.type == PMIX_BYTE_OBJECT && info[i].value.data.bo.size == MUCH)
            on_event(id, code, source, info, ninfo, results, nresults, done, arg);
    }
}

static void *get_late(void *arg)
{
    pmix_proc_t p = process(1);
    pmix_info_t patient;
    pmix_value_t *v;
    int seconds = 100;
    pmix_status_t rc;

    atomic_store((atomic_int *)arg, gettid());
    PMIX_INFO_LOAD(&patient, PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_Get(&p, "late", &patient, 1, &v);
    if (must("get late", rc))
        PMIX_VALUE_RELEASE(v);
    return NULL;
}

/* The third word of its file, behind the name, is S. */
static void wait_asleep(const atomic_int *tid)
{
    char path[64], text[64] = "";
    FILE *f;

    for (int i = 0; i < 150000 && !strstr(text, ") S"); i++) {
        usleep(2000);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)*tid);
        f = fopen(path, "r");
        if (f && !fgets(text, sizeof text, f))
            text[0] = '\0';
        if (f)
            fclose(f);
    }
}

/* What the second rank waits for comes from a thread that does not wait; who waits in the first
 * rank reads, and would never write the rest. */
static void crowded(void)
{
    pmix_status_t code = -7002;
    static atomic_int tid;
    pmix_info_t much;
    pthread_t t;

    join(NULL, 0);
    if (me.rank == 1 && PMIx_Register_event_handler(&code, 1, NULL, 0, on_much, NULL, NULL) < 0)
        complain("register");
    fence(false);
    if (me.rank == 0 && pthread_create(&t, NULL, get_late, &tid) == 0) {
        wait_asleep(&tid);
        memset(&much, 0, sizeof much);
        PMIX_LOAD_KEY(much.key, "much");
        much.value.type = PMIX_BYTE_OBJECT;
        much.value.data.bo.bytes = calloc(1, MUCH);
        much.value.data.bo.size = MUCH;
        must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_GLOBAL, &much, 1, on_status, NULL));
        pthread_join(t, NULL);
        free(much.value.data.bo.bytes);
    }
    if (me.rank == 1) {
        while (called == 0)
            usleep(1000);
        put_number("late", 1);
        must("commit", PMIx_Commit());
    }
    fence(false);
    leave();
}

/* ---- forks ----------------------------------------------------------------------------------- */

static int be_clone(void)
{
    join(NULL, 0);
    check_number(neighbour(), "number", 1000 + neighbour());
    check_number(me.rank, "number", 1000 + me.rank);
    leave();
    return wrong != 0;
}

static int be_child(void)
{
    pmix_value_t *v;

    if (PMIx_Initialized() || PMIx_Get(&me, "number", NULL, 0, &v) != PMIX_ERR_INIT ||
        PMIx_Finalize(NULL, 0) != PMIX_SUCCESS)
        complain("a forked child has a part in its parent's client");
    return be_clone();
}

static void wait_for(pid_t child)
{
    int status = 0;

    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        complain("a child ended with %#x", status);
}

static void forks(void)
{
    pid_t children[4];

    join(NULL, 0);
    exchange();
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        children[i] = fork();
        if (children[i] == 0 && i % 2 == 0)
            _exit(be_child());
        if (children[i] == 0) {
            execl("/proc/self/exe", "libpmix", "clone", (char *)NULL);
            _exit(127);
        }
    }
    check_number(neighbour(), "number", 1000 + neighbour());
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        wait_for(children[i]);
    fence(true);
    check_number(neighbour(), "number", 1000 + neighbour());
    leave();
}

/* ---- who runs callbacks ---------------------------------------------------------------------- */

static void external(void)
{
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL);
    join(&info, 1);
    exchange();
    must("fence_nb", PMIx_Fence_nb(NULL, 0, NULL, 0, on_status, NULL));
    without_waiting();
    usleep(20000);
    if (called != 0)
        complain("a callback that nobody has asked for");
    while (called < 11 && !wrong)
        PMIx_Progress();
    if (threads() != 1)
        complain("%d threads", threads());
    leave();
}

static void loop(void)
{
    struct event_base *base = event_base_new();
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_EVENT_BASE, base, PMIX_POINTER);
    join(&info, 1);
    exchange();
    must("fence_nb", PMIx_Fence_nb(NULL, 0, NULL, 0, on_status, NULL));
    without_waiting();
    while (called < 11 && !wrong)
        event_base_loop(base, EVLOOP_ONCE);
    if (threads() != 1)
        complain("%d threads", threads());
    leave();
    event_base_free(base);
}

/* ---- looking things up ----------------------------------------------------------------------- */

static void mark(void)
{
    if (write(-1, "mark", 4) == 4)
        complain("there is a descriptor -1");
}

static void gets(int n)
{
    pmix_proc_t p, job;
    pmix_value_t room, *v = &room;
    pmix_info_t in_place;
    bool yes = true;
    int bad = 0;

    join(NULL, 0);
    exchange();
    p = process(neighbour());
    job = process(PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&in_place, PMIX_GET_STATIC_VALUES, &yes, PMIX_BOOL);
    mark();
    for (int i = 0; i < n; i++) {
        bad += PMIx_Get(&p, "number", &in_place, 1, &v) != PMIX_SUCCESS;
        bad += PMIx_Get(&p, PMIX_LOCAL_RANK, &in_place, 1, &v) != PMIX_SUCCESS;
        bad += PMIx_Get(&job, PMIX_JOB_SIZE, &in_place, 1, &v) != PMIX_SUCCESS;
        bad += PMIx_Get(&me, "number", &in_place, 1, &v) != PMIX_SUCCESS;
    }
    mark();
    if (bad)
        complain("%d gets", bad);
    fence(false);
    leave();
}

static void memory(void)
{
    char line[256];
    long kb = -1;
    FILE *f;

    join(NULL, 0);
    exchange();
    for (uint32_t r = 0; r < size; r++)
        check_number(r, "number", 1000 + r);
    fence(false);
    f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "Private_Dirty: %ld", &kb);
    if (f)
        fclose(f);
    fence(false);
    if (me.rank == 0)
        printf("memory %ld\n", kb);
    leave();
}

/* ---- the rules of get ------------------------------------------------------------------------ */

static void get_fails(const pmix_proc_t *p, const char *key, const char *how, pmix_status_t want)
{
    pmix_info_t info;
    bool yes = true;
    pmix_value_t *v = NULL;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, how ? how : PMIX_OPTIONAL, &yes, PMIX_BOOL);
    rc = PMIx_Get(p, key, &info, how != NULL, &v);
    if (rc != want)
        complain("get %s (%s): %s, not %s", key, how ? how : "", PMIx_Error_string(rc),
                 PMIx_Error_string(want));
}

static void get_in_time(void)
{
    pmix_proc_t p = process(neighbour());
    pmix_info_t info;
    int one = 1;
    pmix_value_t *v = NULL;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &one, PMIX_INT);
    rc = PMIx_Get(&p, "never", &info, 1, &v);
    if (rc != PMIX_ERR_TIMEOUT && rc != PMIX_ERR_NOT_FOUND)
        complain("a get with a time-out: %s", PMIx_Error_string(rc));
}

static void get_later(void)
{
    pmix_info_t patient;
    uint32_t number;
    int seconds = 600; /* two, unless it is said: the other may be slower */

    PMIX_INFO_LOAD(&patient, PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (me.rank % 2 == 0) { /* it waits for the put */
        if (me.rank + 1 < size && get_number_by(me.rank + 1, "late", &patient, 1, &number) &&
            number != 7)
            complain("late is %u", number);
    } else {
        usleep(50000);
        put_number("late", 7);
        must("commit", PMIx_Commit());
    }
    fence(false);
    put_number("number", 5);
    must("commit", PMIx_Commit());
    fence(true);
    if (get_number(neighbour(), "number", &number) && number != 5)
        complain("an old number");
}

static void get_pointer(void)
{
    pmix_proc_t p = process(neighbour());
    pmix_info_t info;
    bool yes = true;
    pmix_value_t *v = NULL, *again = NULL;

    PMIX_INFO_LOAD(&info, PMIX_GET_POINTER_VALUES, &yes, PMIX_BOOL);
    if (!must("get by pointer", PMIx_Get(&p, "number", &info, 1, &v)) ||
        !must("and again", PMIx_Get(&p, "number", &info, 1, &again)))
        return;
    if (v->type != PMIX_UINT32 || v->data.uint32 != 5 || again->data.uint32 != 5)
        complain("a value by pointer");
}

static void get_realms(void)
{
    pmix_info_t infos[2];
    bool yes = true;
    uint32_t zero = 0;
    pmix_proc_t job = process(PMIX_RANK_WILDCARD), *procs = NULL;
    pmix_value_t *v = NULL;
    size_t n = 0;
    char *nodes = NULL;

    PMIX_INFO_LOAD(&infos[0], PMIX_NODE_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_NODEID, &zero, PMIX_UINT32);
    if (must("local size of node 0", PMIx_Get(&job, PMIX_LOCAL_SIZE, infos, 2, &v))) {
        if (v->data.uint32 != size)
            complain("the size of node 0");
        PMIX_VALUE_RELEASE(v);
    }
    PMIX_INFO_LOAD(&infos[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_APPNUM, &zero, PMIX_UINT32);
    if (must("size of app 0", PMIx_Get(&job, PMIX_APP_SIZE, infos, 2, &v))) {
        if (v->data.uint32 != size)
            complain("the size of app 0");
        PMIX_VALUE_RELEASE(v);
    }
    PMIX_INFO_LOAD(&infos[0], PMIX_SESSION_INFO, &yes, PMIX_BOOL);
    if (must("universe", PMIx_Get(&job, PMIX_UNIV_SIZE, infos, 1, &v)))
        PMIX_VALUE_RELEASE(v);
    if (must("resolve peers", PMIx_Resolve_peers(NULL, me.nspace, &procs, &n)) && n != size)
        complain("%zu peers", n);
    free(procs);
    must("resolve nodes", PMIx_Resolve_nodes(me.nspace, &nodes));
    free(nodes);
}

static void values(void)
{
    pmix_proc_t p, stranger;
    pmix_value_t v = { .type = PMIX_UINT32, .data.uint32 = 9 };

    join(NULL, 0);
    exchange();
    p = process(neighbour());
    PMIX_LOAD_PROCID(&stranger, "no such job", 0);
    get_fails(&p, "never", PMIX_IMMEDIATE, PMIX_ERR_NOT_FOUND);
    get_fails(&p, "never", PMIX_OPTIONAL, PMIX_ERR_NOT_FOUND);
    get_fails(&p, "pmix.never", NULL, PMIX_ERR_NOT_FOUND);
    get_fails(&stranger, "number", PMIX_OPTIONAL, PMIX_ERR_NOT_FOUND);
    get_in_time();
    get_later();
    get_pointer();
    get_realms();
    must("store", PMIx_Store_internal(&p, "mine alone", &v));
    check_number(neighbour(), "mine alone", 9);
    fence(false);
    leave();
}

/* ---- commits that are refused ---------------------------------------------------------------- */

enum { PIECE = 40 << 10, PIECES = 5000 /* far more than a server keeps of one process */ };

static pmix_status_t commit_text(size_t n, char c)
{
    pmix_value_t v = { .type = PMIX_STRING, .data.string = malloc(n + 1) };
    pmix_status_t rc;

    memset(v.data.string, c, n);
    v.data.string[n] = '\0';
    rc = PMIx_Put(PMIX_GLOBAL, "text", &v);
    free(v.data.string);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Commit();
    return rc == PMIX_SUCCESS ? PMIx_Fence(&me, 1, NULL, 0) : rc;
}

static pmix_status_t put_bytes(size_t n)
{
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, n), n } };
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, "bytes", &v);

    free(v.data.bo.bytes);
    return rc;
}

static void refused(void)
{
    pmix_status_t rc = PMIX_SUCCESS;

    join(NULL, 0);
    for (int i = 0; i < PIECES && rc == PMIX_SUCCESS; i++)
        rc = commit_text(PIECE, (char)('a' + i % 26));
    if (rc == PMIX_SUCCESS)
        complain("everything was taken");
    leave();
    join(NULL, 0);
    if (commit_text(17 << 20, 'x') == PMIX_SUCCESS)
        complain("a value that is too long was taken");
    if (put_bytes(20 << 20) == PMIX_SUCCESS)
        complain("a put of too many bytes was taken");
    must("a meeting", PMIx_Fence(&me, 1, NULL, 0));
    leave();
}

/* ---- groups by invitation -------------------------------------------------------------------- */

static const char group[] = "guests";
static atomic_int invited, left;

static void on_invitation(size_t id, pmix_status_t code, const pmix_proc_t *source,
                          pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                          pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_GROUP_ID) && !strcmp(info[i].value.data.string, group) &&
            source->rank == (code == PMIX_GROUP_INVITED ? 0 : 1))
            (*(code == PMIX_GROUP_INVITED ? &invited : &left))++;
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* All but the last, who declines. */
static void check_guests(const pmix_info_t *results, size_t n)
{
    const pmix_data_array_t *a = n ? results[0].value.data.darray : NULL;

    if (n != 2 || strcmp(results[0].key, PMIX_GROUP_MEMBERSHIP) != 0 || a->size != size - 1)
        complain("%zu results, %zu members", n, a ? a->size : 0);
}

static void lead(void)
{
    pmix_proc_t *procs = calloc(size, sizeof *procs);
    pmix_info_t optional, *results = NULL;
    size_t n = 0;
    bool yes = true;

    PMIX_INFO_LOAD(&optional, PMIX_GROUP_OPTIONAL, &yes, PMIX_BOOL);
    for (uint32_t r = 1; r < size; r++)
        procs[r - 1] = process(r);
    must("invite", PMIx_Group_invite(group, procs, size - 1, &optional, 1, &results, &n));
    check_guests(results, n);
    PMIX_INFO_FREE(results, n);
    free(procs);
}

static void be_guest(void)
{
    pmix_proc_t leader = process(0);
    pmix_info_t *results = NULL;
    size_t n = 0;

    while (!invited)
        usleep(1000);
    if (me.rank == size - 1) {
        must("decline", PMIx_Group_join(group, &leader, PMIX_GROUP_DECLINE, NULL, 0, NULL, NULL));
        return;
    }
    must("join", PMIx_Group_join(group, &leader, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n));
    check_guests(results, n);
    PMIX_INFO_FREE(results, n);
}

static void invite(void)
{
    pmix_status_t codes[] = { PMIX_GROUP_INVITED, PMIX_GROUP_LEFT };

    join(NULL, 0);
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, on_invitation, NULL, NULL) < 0)
        complain("register");
    fence(false);
    if (me.rank == 0)
        lead();
    else
        be_guest();
    if (me.rank == 1)
        must("leave", PMIx_Group_leave(group, NULL, 0));
    while (me.rank != 1 && me.rank != size - 1 && !left)
        usleep(1000);
    fence(false);
    if (me.rank == size - 1 && (left || PMIx_Group_leave(group, NULL, 0) != PMIX_ERR_NOT_FOUND))
        complain("who has declined is in the group");
    leave();
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 10;

    mode = argc > 1 ? argv[1] : "quiet";
    if (!strcmp(mode, "clone"))
        return be_clone();
    if (!strcmp(mode, "quiet"))
        quiet();
    else if (!strcmp(mode, "cycles"))
        cycles(n);
    else if (!strcmp(mode, "threads"))
        many_threads((uint32_t)n);
    else if (!strcmp(mode, "forks"))
        forks();
    else if (!strcmp(mode, "external"))
        external();
    else if (!strcmp(mode, "loop"))
        loop();
    else if (!strcmp(mode, "gets"))
        gets(n);
    else if (!strcmp(mode, "memory"))
        memory();
    else if (!strcmp(mode, "invite"))
        invite();
    else if (!strcmp(mode, "crowded"))
        crowded();
    else if (!strcmp(mode, "values"))
        values();
    else if (!strcmp(mode, "refused"))
        refused();
    else
        complain("no such mode");
    if (!wrong && strcmp(mode, "memory") != 0)
        printf("%s good\n", mode);
    return wrong != 0;
}
