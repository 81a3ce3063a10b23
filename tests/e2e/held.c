/* held.c - attributes of many calls, each by what it changes: those of starting and ending, events,
 * fences, gets and queries; and how a tool connects.
 *
 *   held RANKS ours|theirs DIR    processes of a job; DIR is for files
 *   held wrong                    expects what is not so
 *   held tool URI                 a tool of that launcher (our library)
 *
 * Rank 0 prints `held RANKS good`, or a line for each thing that is wrong; a tool likewise. */
#define PROGRAM "held"
#include <pmix_tool.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keeps.h"
#include "pmix_rank.h"

/* OpenPMIx 4.2 does not name them. */
#ifndef PMIX_EVENT_ONESHOT
#define PMIX_EVENT_ONESHOT "pmix.evone"
#endif
#ifndef PMIX_TOPOLOGY_INDEX
#define PMIX_TOPOLOGY_INDEX "pmix.topo.index"
#endif
#ifndef PMIX_MYSERVER_URI
#define PMIX_MYSERVER_URI "pmix.mysrvr.uri"
#endif
#ifndef PMIX_BIND_PROGRESS_THREAD
#define PMIX_BIND_PROGRESS_THREAD "pmix.bind.pt"
#endif
#ifndef PMIX_BIND_REQUIRED
#define PMIX_BIND_REQUIRED "pmix.bind.reqd"
#endif
#ifndef PMIX_EXTERNAL_AUX_EVENT_BASE
#define PMIX_EXTERNAL_AUX_EVENT_BASE "pmix.evaux"
#endif
#ifndef PMIX_QUERY_AVAILABLE_SLOTS
#define PMIX_QUERY_AVAILABLE_SLOTS "pmix.qry.aslots"
#endif
#ifndef PMIX_QUERY_ALLOCATION
#define PMIX_QUERY_ALLOCATION "pmix.query.allc"
#endif
#ifndef PMIX_CONNECT_TO_SCHEDULER
#define PMIX_CONNECT_TO_SCHEDULER "pmix.cnct.sched"
#endif
#ifndef PMIX_CONNECT_TO_SYS_CONTROLLER
#define PMIX_CONNECT_TO_SYS_CONTROLLER "pmix.cnct.ctrlr"
#endif

enum { ONCE_ONLY = -9301, ABOUT_ZERO = -9302, THE_LAST = -9303, INFOS = 12 };

static bool ours;
static atomic_int registered, declared, once, about_zero, last_come, marks, thread_cpus;
static int first_cpu;

static void done_with(pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static int count_keys(const pmix_info_t *info, size_t n, const char *const *keys, size_t nkeys)
{
    int found = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < nkeys; k++)
            found += PMIX_CHECK_KEY(&info[i], keys[k]);
    }
    return found;
}

/* ---- starting -------------------------------------------------------------------------------- */

static const char *const model_keys[] = { PMIX_PROGRAMMING_MODEL,     PMIX_MODEL_LIBRARY_NAME,
                                          PMIX_MODEL_LIBRARY_VERSION, PMIX_THREADING_MODEL,
                                          PMIX_MODEL_NUM_THREADS,     PMIX_MODEL_NUM_CPUS,
                                          PMIX_MODEL_CPU_TYPE,        PMIX_MODEL_AFFINITY_POLICY };

/* It runs in the library's thread. */
static void on_model(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    cpu_set_t now;

    (void)handler, (void)status, (void)source, (void)results, (void)nresults;
    if (sched_getaffinity(0, sizeof now, &now) == 0)
        thread_cpus = CPU_COUNT(&now) == 1 && CPU_ISSET((size_t)first_cpu, &now);
    declared = count_keys(info, n, model_keys, sizeof model_keys / sizeof *model_keys);
    done_with(done, arg);
}

static void on_registered(pmix_status_t status, size_t ref, void *arg)
{
    (void)ref, (void)arg;
    must("registration", status);
    registered++;
}

static void listen_for(pmix_status_t code, pmix_notification_fn_t fn, pmix_info_t *info)
{
    int before = registered;

    PMIx_Register_event_handler(&code, 1, info, info ? 1 : 0, fn, on_registered, NULL);
    wait_for("registrations", &registered, before + 1);
}

static size_t load_model(pmix_info_t *infos)
{
    uint64_t three = 3;

    PMIX_INFO_LOAD(&infos[0], PMIX_PROGRAMMING_MODEL, "model", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_MODEL_LIBRARY_NAME, "library", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_MODEL_LIBRARY_VERSION, "1.2", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_THREADING_MODEL, "threads", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[4], PMIX_MODEL_NUM_THREADS, &three, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[5], PMIX_MODEL_NUM_CPUS, &three, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[6], PMIX_MODEL_CPU_TYPE, "cpu", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[7], PMIX_MODEL_AFFINITY_POLICY, "close", PMIX_STRING);
    return 8;
}

/* The first of ours that this process may use. */
static size_t load_start(pmix_info_t *infos, char *cpu, size_t room)
{
    cpu_set_t all;

    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET((size_t)first_cpu, &all))
        first_cpu++;
    snprintf(cpu, room, "%d", first_cpu);
    PMIX_INFO_LOAD(&infos[0], PMIX_USOCK_DISABLE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_TCP_DISABLE_IPV6, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[2], PMIX_BIND_PROGRESS_THREAD, cpu, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_BIND_REQUIRED, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[4], PMIX_EXTERNAL_AUX_EVENT_BASE, NULL, PMIX_POINTER);
    return 5;
}

static pmix_status_t begin(void)
{
    pmix_info_t infos[INFOS];
    char cpu[24];
    size_t n = load_start(infos, cpu, sizeof cpu);
    pmix_status_t rc;

    if (ours) {
        PMIX_INFO_LOAD(&infos[2], PMIX_BIND_PROGRESS_THREAD, "100000", PMIX_STRING);
        if ((rc = PMIx_Init(&me, infos, n)) != PMIX_ERR_BAD_PARAM)
            complain("init on a processor that cannot be: %s", PMIx_Error_string(rc));
        PMIX_INFO_LOAD(&infos[2], PMIX_BIND_PROGRESS_THREAD, "1023", PMIX_STRING);
        if ((rc = PMIx_Init(&me, infos, n)) != PMIX_ERR_NOT_SUPPORTED)
            complain("init on a processor that is not there: %s", PMIx_Error_string(rc));
        PMIX_INFO_LOAD(&infos[2], PMIX_BIND_PROGRESS_THREAD, cpu, PMIX_STRING);
    }
    return PMIx_Init(&me, infos, ours ? n : 2);
}

static void check_model(void)
{
    pmix_info_t infos[INFOS];
    size_t n = load_model(infos);

    listen_for(PMIX_MODEL_DECLARED, on_model, NULL);
    must("the second init", PMIx_Init(NULL, infos, n));
    wait_for("attributes of the model", &declared, ours ? 8 : 4);
    must("its finalize", PMIx_Finalize(NULL, 0));
    if (ours && !thread_cpus)
        complain("the thread is not bound to processor %d", first_cpu);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_once(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler, (void)status, (void)source, (void)info, (void)n, (void)results, (void)nresults;
    once++;
    done_with(done, arg);
}

static void on_zero(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    static const char *const keys[] = { PMIX_EVENT_PROXY,
                                        PMIX_EVENT_TEXT_MESSAGE,
                                        PMIX_EVENT_ACTION_TIMEOUT,
                                        PMIX_EVENT_TERMINATE_PROC,
                                        PMIX_EVENT_TERMINATE_NODE,
                                        PMIX_EVENT_TERMINATE_JOB,
                                        PMIX_EVENT_TERMINATE_SESSION,
                                        PMIX_MODEL_PHASE_NAME,
                                        PMIX_MODEL_PHASE_TYPE };

    (void)handler, (void)status, (void)source, (void)results, (void)nresults;
    about_zero++;
    marks = count_keys(info, n, keys, sizeof keys / sizeof *keys);
    done_with(done, arg);
}

static void on_last(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler, (void)status, (void)source, (void)info, (void)n, (void)results, (void)nresults;
    last_come++;
    done_with(done, arg);
}

static void notify(pmix_status_t code, pmix_info_t *infos, size_t n)
{
    must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, infos, n, NULL, NULL));
}

static void load_procs(pmix_info_t *info, uint32_t rank)
{
    pmix_proc_t *p;

    PMIX_DATA_ARRAY_CREATE(info->value.data.darray, 1, PMIX_PROC);
    PMIX_LOAD_KEY(info->key, PMIX_EVENT_AFFECTED_PROCS);
    info->value.type = PMIX_DATA_ARRAY;
    info->flags = 0;
    p = info->value.data.darray->array;
    *p = process(rank);
}

static void notify_all(void)
{
    pmix_info_t infos[INFOS];
    int seconds = 3;

    memset(infos, 0, sizeof infos);
    notify(ONCE_ONLY, NULL, 0);
    notify(ONCE_ONLY, NULL, 0);
    load_procs(&infos[0], 1);
    notify(ABOUT_ZERO, infos, 1);
    load_procs(&infos[0], 0);
    PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_PROXY, &me, PMIX_PROC);
    PMIX_INFO_LOAD(&infos[2], PMIX_EVENT_TEXT_MESSAGE, "in words", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_EVENT_ACTION_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&infos[4], PMIX_EVENT_TERMINATE_PROC, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[5], PMIX_EVENT_TERMINATE_NODE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[6], PMIX_EVENT_TERMINATE_JOB, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[7], PMIX_EVENT_TERMINATE_SESSION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[8], PMIX_MODEL_PHASE_NAME, "solve", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[9], PMIX_MODEL_PHASE_TYPE, "compute", PMIX_STRING);
    notify(ABOUT_ZERO, infos, 10);
    notify(THE_LAST, NULL, 0);
}

static void check_events(void)
{
    pmix_info_t info;

    if (me.rank == 1) {
        PMIX_INFO_LOAD(&info, PMIX_EVENT_ONESHOT, NULL, PMIX_BOOL);
        listen_for(ONCE_ONLY, on_once, ours ? &info : NULL);
        load_procs(&info, 0);
        listen_for(ABOUT_ZERO, on_zero, &info);
        listen_for(THE_LAST, on_last, NULL);
    }
    fence();
    if (me.rank == 0)
        notify_all();
    if (me.rank == 1) {
        wait_for("the last event", &last_come, 1);
        wait_for("events for a handler of one", &once, ours ? 1 : 2);
        wait_for("events about rank 0", &about_zero, 1);
        wait_for("what an event says besides", &marks, 9);
    }
    fence();
}

/* ---- exchange and questions ------------------------------------------------------------------ */

static void check_fences(void)
{
    pmix_info_t infos[2];
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);

    PMIX_INFO_LOAD(&infos[0], PMIX_COLLECT_GENERATED_JOB_INFO, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALL_CLONES_PARTICIPATE, NULL, PMIX_BOOL);
    must("a fence with its attributes", PMIx_Fence(NULL, 0, infos, 2));
    must("connect with its attribute", PMIx_Connect(&all, 1, &infos[1], 1));
    must("disconnect with its attribute", PMIx_Disconnect(&all, 1, &infos[1], 1));
}

static void get(const pmix_proc_t *p, const char *key, pmix_info_t *info, pmix_data_type_t type)
{
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(p, key, info, info ? 1 : 0, &v);

    if (rc != PMIX_SUCCESS || v->type != type)
        complain("get %s: %s, type %d", key, PMIx_Error_string(rc), v ? v->type : 0);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static uint32_t node_of(uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    uint32_t node = UINT32_MAX;

    if (PMIx_Get(&p, PMIX_NODEID, NULL, 0, &v) == PMIX_SUCCESS)
        node = v->data.uint32;
    if (v)
        PMIX_VALUE_RELEASE(v);
    return node;
}

/* What a rank shares with each of the others: nothing with those of other nodes. */
static void check_localities(void)
{
    for (uint32_t r = 0; r < size; r++) {
        bool here = node_of(r) == node_of(me.rank);
        pmix_proc_t p = process(r);
        pmix_value_t *v = NULL;
        pmix_status_t rc = PMIx_Get(&p, PMIX_LOCALITY, NULL, 0, &v);
        if (rc != PMIX_SUCCESS || v->type != PMIX_UINT16 ||
            (v->data.uint16 == PMIX_LOCALITY_NONLOCAL) == here ||
            !(v->data.uint16 & PMIX_LOCALITY_SHARE_NODE) == here)
            complain("locality of %u: %s %x", r, PMIx_Error_string(rc), v ? v->data.uint16 : 0);
        if (v)
            PMIX_VALUE_RELEASE(v);
    }
}

static void check_gets(void)
{
    pmix_proc_t job = process(PMIX_RANK_WILDCARD);
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_JOB_INFO, NULL, PMIX_BOOL);
    get(&job, PMIX_JOB_SIZE, &info, PMIX_UINT32);
    if (!ours)
        return;
    get(&me, PMIX_TOPOLOGY2, NULL, PMIX_TOPO);
    get(&me, PMIX_TOPOLOGY, NULL, PMIX_POINTER);
    check_localities();
    get(&me, PMIX_VERSION_INFO, NULL, PMIX_STRING);
#ifdef PMIX_VERSION_NUMERIC
    get(&me, PMIX_VERSION_NUMERIC, NULL, PMIX_UINT32);
#endif
    get(&me, PMIX_MYSERVER_URI, NULL, PMIX_STRING);
}

/* The answer to one key, of which the qualifier (or NULL) says more. */
static void ask(const char *key, const char *qualifier, const char *text, pmix_data_type_t type)
{
    char *keys[] = { (char *)(uintptr_t)key, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t about, *found = NULL;
    pmix_status_t rc;
    size_t n = 0;

    if (qualifier) {
        PMIX_INFO_LOAD(&about, qualifier, text, PMIX_STRING);
        query.qualifiers = &about;
        query.nqual = 1;
    }
    rc = PMIx_Query_info(&query, 1, &found, &n);
    if (rc != PMIX_SUCCESS || n != 1 || found->value.type != type)
        complain("query %s: %s, %zu answers, type %d", key, PMIx_Error_string(rc), n,
                 n ? found->value.type : 0);
    PMIX_INFO_FREE(found, n);
}

static void check_queries(void)
{
    pmix_value_t *v = NULL;
    char host[256] = "";

    if (PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(host, sizeof host, "%s", v->data.string);
        PMIX_VALUE_RELEASE(v);
    }
    ask(PMIX_TOPOLOGY_SIGNATURE, PMIX_HOSTNAME, host, PMIX_STRING);
    ask(PMIX_TOPOLOGY_XML, PMIX_HOSTNAME, host, PMIX_STRING);
    ask(PMIX_TOPOLOGY_INDEX, PMIX_HOSTNAME, host, PMIX_INT);
    ask(PMIX_QUERY_ALLOCATION, NULL, NULL, PMIX_DATA_ARRAY);
    ask(PMIX_QUERY_AVAILABLE_SLOTS, NULL, NULL, PMIX_UINT32);
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Rank 0 is not over before the other one has come.  (OpenPMIx 4.2.2 waits for its own lock.) */
static void check_end(const char *dir)
{
    char path[4096];
    pmix_info_t info;
    struct stat st;
    FILE *f;

    snprintf(path, sizeof path, "%s/came.%s", dir, me.nspace);
    if (me.rank == 1 && (f = fopen(path, "w")))
        fclose(f);
    PMIX_INFO_LOAD(&info, PMIX_EMBED_BARRIER, NULL, PMIX_BOOL);
    must("finalize", PMIx_Finalize(ours ? &info : NULL, ours));
    if (ours && me.rank == 0 && stat(path, &st) < 0)
        complain("finalize has not waited for rank 1");
}

static int be_rank(const char *dir)
{
    pmix_status_t rc = begin();

    if (rc != PMIX_SUCCESS) {
        printf("held %s WRONG: init: %s\n", mode, PMIx_Error_string(rc));
        return 1;
    }
    if (!strcmp(mode, "wrong"))
        get(&me, "held.none", NULL, PMIX_STRING);
    if (!strcmp(mode, "wrong"))
        return PMIx_Finalize(NULL, 0), wrong != 0;
    check_model();
    check_events();
    check_fences();
    check_gets();
    check_queries();
    check_end(dir);
    if (me.rank == 0 && !wrong)
        printf("held %s good\n", mode);
    return wrong != 0;
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void connects(const char *what, pmix_info_t *infos, size_t n, pmix_status_t want)
{
    pmix_status_t rc = PMIx_tool_init(&me, infos, n);

    if (rc != want)
        complain("%s: %s", what, PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS)
        PMIx_tool_finalize();
}

/* By another name of the server there is no way but by TCP. */
static void check_tcp(const char *uri)
{
    static const struct {
        const char *key, *text;
        pmix_status_t want;
    } rows[] = {
        { PMIX_TCP_IF_INCLUDE, "none0,lo", PMIX_SUCCESS },
        { PMIX_TCP_IF_INCLUDE, "127.0.0.0/8", PMIX_SUCCESS },
        { PMIX_TCP_IF_INCLUDE, "none0,10.1.2.0/24", PMIX_ERR_UNREACH },
        { PMIX_TCP_IF_EXCLUDE, "lo", PMIX_ERR_UNREACH },
        { PMIX_TCP_IF_EXCLUDE, "127.0.0.0/30", PMIX_ERR_UNREACH },
        { PMIX_TCP_IF_EXCLUDE, "none0", PMIX_SUCCESS },
        { PMIX_TCP_DISABLE_IPV4, NULL, PMIX_ERR_UNREACH },
        { PMIX_TCP_DISABLE_IPV6, NULL, PMIX_SUCCESS },
    };
    pmix_info_t infos[2];
    char other[1024];

    snprintf(other, sizeof other, "x%s", uri);
    PMIX_INFO_LOAD(&infos[0], PMIX_TCP_URI, other, PMIX_STRING);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PMIX_INFO_LOAD(&infos[1], rows[i].key, rows[i].text,
                       rows[i].text ? PMIX_STRING : PMIX_BOOL);
        connects(rows[i].key, infos, 2, rows[i].want);
    }
}

static void check_absence(void)
{
    uint32_t one = 1, zero = 0;
    pmix_info_t infos[4];

    PMIX_INFO_LOAD(&infos[0], PMIX_CONNECT_TO_SCHEDULER, NULL, PMIX_BOOL);
    connects("no scheduler", infos, 1, PMIX_ERR_UNREACH);
    PMIX_INFO_LOAD(&infos[0], PMIX_CONNECT_TO_SYS_CONTROLLER, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_CONNECT_MAX_RETRIES, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_CONNECT_RETRY_DELAY, &zero, PMIX_UINT32);
    connects("no controller, asked twice", infos, 3, PMIX_ERR_UNREACH);
    PMIX_INFO_LOAD(&infos[3], PMIX_TOOL_CONNECT_OPTIONAL, NULL, PMIX_BOOL);
    connects("none, which need not be", infos, 4, PMIX_SUCCESS);
}

static void *attach(void *uri)
{
    pmix_info_t infos[2];
    pmix_proc_t server;

    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_URI, uri, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_PRIMARY_SERVER, NULL, PMIX_BOOL);
    must("attach", PMIx_tool_attach_to_server(NULL, &server, infos, 2));
    return NULL;
}

static void set_server(const char *what, const pmix_proc_t *server, int seconds, pmix_status_t want)
{
    pmix_info_t infos[2];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&infos[0], PMIX_WAIT_FOR_CONNECTION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_tool_set_server(server, infos, 2);
    if (rc != want)
        complain("%s: %s", what, PMIx_Error_string(rc));
}

static void check_waiting(const char *uri)
{
    pmix_proc_t server, *all = NULL;
    pmix_info_t infos[2];
    pthread_t thread;
    size_t n = 0;

    PMIX_INFO_LOAD(&infos[0], PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_LAUNCHER, NULL, PMIX_BOOL);
    must("a tool alone", PMIx_tool_init(&me, infos, 2));
    PMIX_LOAD_PROCID(&server, uri, 0);
    *strchr(server.nspace, '.') = '\0';
    set_server("a server that does not come", &server, 1, PMIX_ERR_TIMEOUT);
    pthread_create(&thread, NULL, attach, (void *)(uintptr_t)uri);
    set_server("a server that comes", &server, 300, PMIX_SUCCESS);
    pthread_join(thread, NULL);
    must("servers", PMIx_tool_get_servers(&all, &n));
    if (n != 1 || !PMIX_CHECK_PROCID(&all[0], &server))
        complain("%zu servers", n);
    PMIX_PROC_FREE(all, n);
    PMIx_tool_finalize();
}

static int be_tool(const char *uri)
{
    check_tcp(uri);
    check_absence();
    check_waiting(uri);
    if (!wrong)
        printf("held %s good\n", mode);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    ours = argc > 2 && !strcmp(argv[2], "ours");
    if (argc > 2 && !strcmp(mode, "tool"))
        return be_tool(argv[2]);
    return be_rank(argc > 3 ? argv[3] : "/tmp");
}
