/* edges.c - prints how each PMIx function behaves at its edges: what it returns, what it sets, and
 * whether and with what status it calls back.  One line for each case, with a tab between its two
 * columns:
 *
 *   FUNCTION, EDGE	STATUS[; set ...][; called back STATUS]
 *
 *   edges          lists the groups of cases, and where each is to run: in a job, or alone
 *   edges GROUP    runs one; cases that EDGES_SKIP names, one in a line, are left out; of those
 *                  that EDGES_SILENT names it waits a second for the callback, which should not
 *                  come
 *
 * edges.sh compares the lines with those of edges.tsv. */
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeps.h"

enum { UNKNOWN_REF = 4711, PATIENCE = 60, SILENCE = 1, EDGE_MAX = 128 };

static pmix_proc_t me, job;

/* ---- what is printed ------------------------------------------------------------------------- */

/* Names of this program's, since libraries may name numbers differently. */
static const char *name_of(pmix_status_t rc)
{
    static char number[32];
    static const struct {
        pmix_status_t code;
        const char *name;
    } names[] = {
#define NAME(X) { X, #X }
        NAME(PMIX_SUCCESS),
        NAME(PMIX_ERROR),
        NAME(PMIX_ERR_INIT),
        NAME(PMIX_ERR_BAD_PARAM),
        NAME(PMIX_ERR_NOT_FOUND),
        NAME(PMIX_ERR_NOT_SUPPORTED),
        NAME(PMIX_ERR_UNREACH),
        NAME(PMIX_ERR_TIMEOUT),
        NAME(PMIX_ERR_NOMEM),
        NAME(PMIX_ERR_WOULD_BLOCK),
        NAME(PMIX_ERR_EXISTS),
        NAME(PMIX_ERR_TYPE_MISMATCH),
        NAME(PMIX_ERR_UNKNOWN_DATA_TYPE),
        NAME(PMIX_ERR_NO_PERMISSIONS),
        NAME(PMIX_ERR_INVALID_CRED),
        NAME(PMIX_ERR_EVENT_REGISTRATION),
        NAME(PMIX_ERR_PARTIAL_SUCCESS),
        NAME(PMIX_ERR_INVALID_NAMESPACE),
        NAME(PMIX_ERR_INVALID_OPERATION),
        NAME(PMIX_ERR_DATA_VALUE_NOT_FOUND),
        NAME(PMIX_OPERATION_SUCCEEDED),
        NAME(PMIX_MODEL_DECLARED),
        NAME(PMIX_ERR_NO_PERMISSIONS),
        NAME(PMIX_ERR_DUPLICATE_KEY),
        NAME(PMIX_ERR_NOT_IMPLEMENTED),
        NAME(PMIX_ERR_OUT_OF_RESOURCE),
        NAME(PMIX_ERR_LOST_CONNECTION),
        NAME(PMIX_ERR_COMM_FAILURE),
        NAME(PMIX_ERR_INVALID_CRED),
        NAME(PMIX_ERR_PROC_ENTRY_NOT_FOUND),
#undef NAME
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == rc)
            return names[i].name;
    }
    snprintf(number, sizeof number, "%d", rc);
    return number;
}

static bool is_named(const char *variable, const char *edge)
{
    const char *list = getenv(variable);
    size_t n = strlen(edge);

    for (const char *at = list; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, edge, n) == 0 && (at[n] == '\n' || !at[n]))
            return true;
    }
    return false;
}

/* Cases that end or block the library are left out. */
static bool is_skipped(const char *edge)
{
    if (is_named("EDGES_SKIP", edge))
        return true;
    if (getenv("EDGES_TRACE")) /* so that one can tell which case ends the library */
        fprintf(stderr, "at %s\n", edge);
    return false;
}

static void begin_line(const char *edge, pmix_status_t rc)
{
    printf("%s\t%s", edge, name_of(rc));
}

static void end_line(void)
{
    printf("\n");
    fflush(stdout);
}

static void line(const char *edge, pmix_status_t rc)
{
    begin_line(edge, rc);
    end_line();
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned calls;
    unsigned wanted; /* calls to wait for where one is not all; 0: one */
    pmix_status_t status;
    size_t number;
    uintptr_t of; /* the case; what comes late for an earlier one does not count */
} answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .of = 1 };

/* What a callback of this case is to get; written by the thread that asks. */
static void *this_case(void)
{
    return (void *)answer.of;
}

static void called_back_for(const void *arg, pmix_status_t status, size_t number)
{
    pthread_mutex_lock(&answer.lock);
    if (arg && (uintptr_t)arg != answer.of) {
        pthread_mutex_unlock(&answer.lock);
        return;
    }
    answer.calls++;
    answer.status = status;
    answer.number = number;
    pthread_cond_signal(&answer.changed);
    pthread_mutex_unlock(&answer.lock);
}

static void called_back(pmix_status_t status, size_t number)
{
    called_back_for(NULL, status, number);
}

static void forget(void)
{
    pthread_mutex_lock(&answer.lock);
    answer.calls = answer.wanted = 0;
    answer.of++;
    pthread_mutex_unlock(&answer.lock);
}

/* The limit only catches hangs: a call that has succeeded calls back. */
static bool wait_for_call(int seconds)
{
    struct timespec until;
    unsigned wanted;
    int rc = 0;
    bool there;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&answer.lock);
    wanted = answer.wanted ? answer.wanted : 1;
    while (answer.calls < wanted && rc == 0)
        rc = pthread_cond_timedwait(&answer.changed, &answer.lock, &until);
    there = answer.calls;
    pthread_mutex_unlock(&answer.lock);
    return there;
}

/* Whether there was a call so far, and the status of the latest. */
static bool was_called(pmix_status_t *status_p)
{
    bool there;

    pthread_mutex_lock(&answer.lock);
    there = answer.calls != 0;
    *status_p = answer.status;
    pthread_mutex_unlock(&answer.lock);
    return there;
}

static void on_op(pmix_status_t status, void *arg)
{
    called_back_for(arg, status, 0);
}

static void on_registered(pmix_status_t status, size_t ref, void *arg)
{
    called_back_for(arg, status, ref);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
    called_back_for(arg, status, value != NULL);
}

static void on_infos(pmix_status_t status, pmix_info_t *infos, size_t n, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    (void)infos;
    if (release)
        release(release_arg);
    called_back_for(arg, status, n);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)data;
    called_back_for(arg, status, n);
}

static void on_spawn(pmix_status_t status, char nspace[], void *arg)
{
    (void)nspace;
    called_back_for(arg, status, 0);
}

/* A case: a call, and a call with a callback. */
#define TRY(EDGE, CALL)                                                                            \
    do {                                                                                           \
        if (!is_skipped(EDGE))                                                                     \
            line(EDGE, CALL);                                                                      \
    } while (0)
#define TRY_NB(EDGE, CALL)                                                                         \
    do {                                                                                           \
        if (!is_skipped(EDGE))                                                                     \
            line_called(EDGE, CALL);                                                               \
    } while (0)

/* The end of a line about a call with a callback: one that has succeeded calls back; one that has
 * not must not. */
static void line_called(const char *edge, pmix_status_t rc)
{
    pmix_status_t status;

    begin_line(edge, rc);
    if (rc == PMIX_SUCCESS)
        wait_for_call(is_named("EDGES_SILENT", edge) ? SILENCE : PATIENCE);
    if (was_called(&status))
        printf("; called back %s", name_of(status));
    else
        printf("; not called back");
    end_line();
    forget();
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t infos[],
                          size_t n, void *arg)
{
    (void)credential, (void)infos;
    called_back_for(arg, status, n);
}

static void on_validated(pmix_status_t status, pmix_info_t infos[], size_t n, void *arg)
{
    (void)infos;
    called_back_for(arg, status, n);
}

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    (void)handler, (void)channel, (void)source, (void)bytes, (void)infos, (void)n;
}

static void on_setup(pmix_status_t status, pmix_info_t infos[], size_t n, void *arg,
                     pmix_op_cbfunc_t done, void *done_arg)
{
    (void)infos;
    called_back_for(arg, status, n);
    if (done)
        done(PMIX_SUCCESS, done_arg);
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                     size_t n, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)source, (void)infos, (void)n, (void)results, (void)nresults;
    called_back(code, 0);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* ---- calls that every state is tried with ---------------------------------------------------- */

/* Arguments that would do after PMIx_Init. */
static struct {
    pmix_value_t number;
    pmix_info_t info;
    pmix_pdata_t pdata;
    pmix_app_t app;
    pmix_proc_t other;
    pmix_nspace_t second;
    char *keys[2], *abi[2];
    pmix_query_t query, abi_query;
    pmix_status_t code;
    pmix_byte_object_t bytes;
} good;

static void make_good(void)
{
    good.number.type = PMIX_UINT32;
    good.number.data.uint32 = 1;
    good.keys[0] = "key";
    good.abi[0] = PMIX_QUERY_STABLE_ABI_VERSION;
    good.code = -7000;
    PMIX_INFO_LOAD(&good.info, "key", "text", PMIX_STRING);
    PMIX_PDATA_CONSTRUCT(&good.pdata);
    PMIX_LOAD_KEY(good.pdata.key, "key");
    PMIX_APP_CONSTRUCT(&good.app);
    good.app.cmd = "true";
    good.app.maxprocs = 1;
    PMIX_LOAD_PROCID(&good.other, "nobody", 0);
    PMIX_LOAD_NSPACE(good.second, "second");
    PMIX_QUERY_CONSTRUCT(&good.query);
    good.query.keys = good.keys;
    PMIX_QUERY_CONSTRUCT(&good.abi_query);
    good.abi_query.keys = good.abi;
}

static const char *edge_of(const char *function, const char *when)
{
    static char edge[EDGE_MAX];

    snprintf(edge, sizeof edge, "%s, %s", function, when);
    return edge;
}

#define WHEN(NAME, CALL)    TRY(edge_of(NAME, when), CALL)
#define WHEN_NB(NAME, CALL) TRY_NB(edge_of(NAME, when), CALL)

static void data_calls(const char *when)
{
    pmix_value_t *value = NULL;

    WHEN("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "key", &good.number));
    WHEN("PMIx_Store_internal", PMIx_Store_internal(&good.other, "key", &good.number));
    WHEN("PMIx_Commit", PMIx_Commit());
    WHEN("PMIx_Fence", PMIx_Fence(NULL, 0, NULL, 0));
    WHEN_NB("PMIx_Fence_nb", PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Get", PMIx_Get(&good.other, "key", NULL, 0, &value));
    WHEN_NB("PMIx_Get_nb", PMIx_Get_nb(&good.other, "key", NULL, 0, on_value, this_case()));
    WHEN("PMIx_Publish", PMIx_Publish(&good.info, 1));
    WHEN_NB("PMIx_Publish_nb", PMIx_Publish_nb(&good.info, 1, on_op, this_case()));
    WHEN("PMIx_Lookup", PMIx_Lookup(&good.pdata, 1, NULL, 0));
    WHEN_NB("PMIx_Lookup_nb", PMIx_Lookup_nb(good.keys, NULL, 0, on_lookup, this_case()));
    WHEN("PMIx_Unpublish", PMIx_Unpublish(good.keys, NULL, 0));
    WHEN_NB("PMIx_Unpublish_nb", PMIx_Unpublish_nb(good.keys, NULL, 0, on_op, this_case()));
}

static void job_calls(const char *when)
{
    pmix_proc_t *peers = NULL;
    pmix_nspace_t nspace;
    char *nodes = NULL;
    size_t n = 0;

    WHEN("PMIx_Spawn", PMIx_Spawn(NULL, 0, &good.app, 1, nspace));
    WHEN_NB("PMIx_Spawn_nb", PMIx_Spawn_nb(NULL, 0, &good.app, 1, on_spawn, this_case()));
    WHEN("PMIx_Connect", PMIx_Connect(&good.other, 1, NULL, 0));
    WHEN_NB("PMIx_Connect_nb", PMIx_Connect_nb(&good.other, 1, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Disconnect", PMIx_Disconnect(&good.other, 1, NULL, 0));
    WHEN_NB("PMIx_Disconnect_nb", PMIx_Disconnect_nb(&good.other, 1, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Resolve_peers", PMIx_Resolve_peers(NULL, good.other.nspace, &peers, &n));
    WHEN("PMIx_Resolve_nodes", PMIx_Resolve_nodes(good.other.nspace, &nodes));
}

static void service_calls(const char *when)
{
    pmix_info_t *results = NULL;
    pmix_byte_object_t bytes = { NULL, 0 };
    size_t n = 0;

    WHEN("PMIx_Query_info", PMIx_Query_info(&good.query, 1, &results, &n));
    WHEN_NB("PMIx_Query_info_nb", PMIx_Query_info_nb(&good.query, 1, on_infos, this_case()));
    WHEN("PMIx_Query_info of the ABI versions", PMIx_Query_info(&good.abi_query, 1, &results, &n));
    WHEN_NB("PMIx_Query_info_nb of the ABI versions",
            PMIx_Query_info_nb(&good.abi_query, 1, on_infos, this_case()));
    WHEN("PMIx_Log", PMIx_Log(&good.info, 1, NULL, 0));
    WHEN_NB("PMIx_Log_nb", PMIx_Log_nb(&good.info, 1, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Allocation_request",
         PMIx_Allocation_request(PMIX_ALLOC_NEW, &good.info, 1, &results, &n));
    WHEN_NB("PMIx_Allocation_request_nb",
            PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &good.info, 1, on_infos, this_case()));
    WHEN("PMIx_Job_control", PMIx_Job_control(&good.other, 1, &good.info, 1, &results, &n));
    WHEN_NB("PMIx_Job_control_nb",
            PMIx_Job_control_nb(&good.other, 1, &good.info, 1, on_infos, this_case()));
    WHEN("PMIx_Process_monitor",
         PMIx_Process_monitor(&good.info, PMIX_SUCCESS, NULL, 0, &results, &n));
    WHEN_NB("PMIx_Process_monitor_nb",
            PMIx_Process_monitor_nb(&good.info, PMIX_SUCCESS, NULL, 0, on_infos, this_case()));
    WHEN("PMIx_Get_credential", PMIx_Get_credential(NULL, 0, &bytes));
    WHEN_NB("PMIx_Get_credential_nb", PMIx_Get_credential_nb(NULL, 0, on_credential, this_case()));
    WHEN("PMIx_Validate_credential", PMIx_Validate_credential(&good.bytes, NULL, 0, &results, &n));
    WHEN_NB("PMIx_Validate_credential_nb",
            PMIx_Validate_credential_nb(&good.bytes, NULL, 0, on_validated, this_case()));
    WHEN("PMIx_IOF_pull",
         PMIx_IOF_pull(&good.other, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL));
    WHEN("PMIx_IOF_deregister", PMIx_IOF_deregister(UNKNOWN_REF, NULL, 0, NULL, NULL));
    WHEN_NB("PMIx_IOF_push",
            PMIx_IOF_push(&good.other, 1, &good.bytes, NULL, 0, on_op, this_case()));
}

static void event_calls(const char *when)
{
    WHEN_NB(
        "PMIx_Register_event_handler",
        PMIx_Register_event_handler(&good.code, 1, NULL, 0, on_event, on_registered, this_case()));
    WHEN_NB("PMIx_Deregister_event_handler",
            PMIx_Deregister_event_handler(UNKNOWN_REF, on_op, this_case()));
    WHEN_NB("PMIx_Notify_event",
            PMIx_Notify_event(-7003, &good.other, PMIX_RANGE_LOCAL, NULL, 0, on_op, this_case()));
}

static void group_calls(const char *when)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    WHEN("PMIx_Group_construct",
         PMIx_Group_construct("group", &good.other, 1, NULL, 0, &results, &n));
    WHEN_NB("PMIx_Group_construct_nb",
            PMIx_Group_construct_nb("group", &good.other, 1, NULL, 0, on_infos, this_case()));
    WHEN("PMIx_Group_destruct", PMIx_Group_destruct("group", NULL, 0));
    WHEN_NB("PMIx_Group_destruct_nb", PMIx_Group_destruct_nb("group", NULL, 0, on_op, this_case()));
    WHEN("PMIx_Group_leave", PMIx_Group_leave("group", NULL, 0));
    WHEN_NB("PMIx_Group_leave_nb", PMIx_Group_leave_nb("group", NULL, 0, on_op, this_case()));
}

/* What is left of a fabric when its call has failed is freed by nobody. */
static void fabric_calls(const char *when)
{
    static pmix_fabric_t fabric, later;

    WHEN("PMIx_Fabric_register", PMIx_Fabric_register(&fabric, NULL, 0));
    WHEN_NB("PMIx_Fabric_register_nb",
            PMIx_Fabric_register_nb(&later, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Fabric_update", PMIx_Fabric_update(&fabric));
    WHEN_NB("PMIx_Fabric_update_nb", PMIx_Fabric_update_nb(&later, on_op, this_case()));
    WHEN("PMIx_Fabric_deregister", PMIx_Fabric_deregister(&fabric));
    WHEN_NB("PMIx_Fabric_deregister_nb", PMIx_Fabric_deregister_nb(&later, on_op, this_case()));
}

static void everything(const char *when)
{
    data_calls(when);
    job_calls(when);
    service_calls(when);
    event_calls(when);
    group_calls(when);
    fabric_calls(when);
}

static void ends(const char *when)
{
    WHEN("PMIx_Abort", PMIx_Abort(1, "edge", NULL, 0));
    WHEN("PMIx_Initialized", PMIx_Initialized());
    WHEN("PMIx_Finalize", PMIx_Finalize(NULL, 0));
    WHEN("PMIx_tool_finalize", PMIx_tool_finalize());
    WHEN("PMIx_server_finalize", PMIx_server_finalize());
}

static void before_init(void)
{
    everything("before PMIx_Init");
    ends("before PMIx_Init");
}

static bool join(const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = PMIx_Init(&me, (pmix_info_t *)(uintptr_t)infos, n);

    if (rc != PMIX_SUCCESS)
        line("PMIx_Init", rc);
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    return rc == PMIX_SUCCESS;
}

static void leave(void)
{
    pmix_status_t rc = PMIx_Finalize(NULL, 0);

    if (rc != PMIX_SUCCESS)
        line("PMIx_Finalize", rc);
}

static void after_finalize(void)
{
    if (!join(NULL, 0))
        return;
    leave();
    everything("after PMIx_Finalize");
    ends("after PMIx_Finalize");
}

static void twice(void)
{
    pmix_proc_t again;
    pmix_value_t *value = NULL;

    if (!join(NULL, 0))
        return;
    TRY("PMIx_Init, again", PMIx_Init(&again, NULL, 0));
    TRY("PMIx_Init, without a process", PMIx_Init(NULL, NULL, 0));
    TRY("PMIx_Finalize, of the third", PMIx_Finalize(NULL, 0));
    TRY("PMIx_Finalize, of the second", PMIx_Finalize(NULL, 0));
    TRY("PMIx_Initialized, before the last", PMIx_Initialized());
    TRY("PMIx_Finalize, the last", PMIx_Finalize(NULL, 0));
    TRY("PMIx_Initialized, after the last", PMIx_Initialized());
    TRY("PMIx_Init, after the last", PMIx_Init(&again, NULL, 0));
    TRY("PMIx_Get, after it", PMIx_Get(&me, PMIX_RANK, NULL, 0, &value));
    TRY("PMIx_Finalize, after it", PMIx_Finalize(NULL, 0));
}

/* Without a server. */
static void alone(void)
{
    TRY("PMIx_Init, without a server", PMIx_Init(&me, NULL, 0));
    TRY("PMIx_Init, without a server, again", PMIx_Init(&me, NULL, 0));
    everything("without a server");
    TRY("PMIx_Finalize, without a server, of the second", PMIx_Finalize(NULL, 0));
    TRY("PMIx_Finalize, without a server", PMIx_Finalize(NULL, 0));
}

/* ---- arguments that are missing -------------------------------------------------------------- */

static void no_fabric(const char *when)
{
    static pmix_fabric_t fabric; /* its answer comes later */

    memset(&fabric, 0, sizeof fabric);
    WHEN("PMIx_Fabric_register", PMIx_Fabric_register(NULL, NULL, 0));
    WHEN_NB("PMIx_Fabric_register_nb", PMIx_Fabric_register_nb(NULL, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Fabric_register_nb without a callback",
         PMIx_Fabric_register_nb(&fabric, NULL, 0, NULL, NULL));
    WHEN("PMIx_Fabric_update", PMIx_Fabric_update(NULL));
    WHEN_NB("PMIx_Fabric_update_nb", PMIx_Fabric_update_nb(NULL, on_op, this_case()));
    WHEN("PMIx_Fabric_deregister", PMIx_Fabric_deregister(NULL));
    WHEN_NB("PMIx_Fabric_deregister_nb", PMIx_Fabric_deregister_nb(NULL, on_op, this_case()));
}

static void no_data(const char *when)
{
    pmix_value_t *value = NULL;

    WHEN("PMIx_Put", PMIx_Put(PMIX_GLOBAL, NULL, NULL));
    WHEN("PMIx_Put without a value", PMIx_Put(PMIX_GLOBAL, "key", NULL));
    WHEN("PMIx_Store_internal", PMIx_Store_internal(NULL, NULL, NULL));
    WHEN("PMIx_Fence of no processes, but some", PMIx_Fence(NULL, 1, NULL, 0));
    WHEN("PMIx_Get", PMIx_Get(NULL, NULL, NULL, 0, &value));
    WHEN("PMIx_Get_nb without a callback", PMIx_Get_nb(&job, PMIX_JOB_SIZE, NULL, 0, NULL, NULL));
    WHEN("PMIx_Publish", PMIx_Publish(NULL, 0));
    WHEN_NB("PMIx_Publish_nb", PMIx_Publish_nb(NULL, 0, on_op, this_case()));
    WHEN("PMIx_Lookup", PMIx_Lookup(NULL, 0, NULL, 0));
    WHEN_NB("PMIx_Lookup_nb", PMIx_Lookup_nb(NULL, NULL, 0, on_lookup, this_case()));
    WHEN("PMIx_Lookup_nb without a callback", PMIx_Lookup_nb(good.keys, NULL, 0, NULL, NULL));
}

static void no_job(const char *when)
{
    pmix_nspace_t nspace;
    pmix_proc_t *peers = NULL;
    size_t n = 0;
    char *nodes = NULL;

    WHEN("PMIx_Spawn", PMIx_Spawn(NULL, 0, NULL, 0, nspace));
    WHEN_NB("PMIx_Spawn_nb", PMIx_Spawn_nb(NULL, 0, NULL, 0, on_spawn, this_case()));
    WHEN("PMIx_Connect", PMIx_Connect(NULL, 0, NULL, 0));
    WHEN_NB("PMIx_Connect_nb", PMIx_Connect_nb(NULL, 0, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Disconnect", PMIx_Disconnect(NULL, 0, NULL, 0));
    WHEN_NB("PMIx_Disconnect_nb", PMIx_Disconnect_nb(NULL, 0, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Resolve_peers of no node and no job", PMIx_Resolve_peers(NULL, NULL, &peers, &n));
    WHEN("PMIx_Resolve_peers of an unknown node",
         PMIx_Resolve_peers("nowhere", me.nspace, &peers, &n));
    WHEN("PMIx_Resolve_nodes of no job", PMIx_Resolve_nodes(NULL, &nodes));
    WHEN("PMIx_Resolve_nodes of an unknown job", PMIx_Resolve_nodes(good.other.nspace, &nodes));
}

static void no_service(const char *when)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    WHEN("PMIx_Query_info", PMIx_Query_info(NULL, 0, &results, &n));
    WHEN_NB("PMIx_Query_info_nb", PMIx_Query_info_nb(NULL, 0, on_infos, this_case()));
    WHEN("PMIx_Log", PMIx_Log(NULL, 0, NULL, 0));
    WHEN_NB("PMIx_Log_nb", PMIx_Log_nb(NULL, 0, NULL, 0, on_op, this_case()));
    WHEN("PMIx_Job_control", PMIx_Job_control(NULL, 0, NULL, 0, &results, &n));
    WHEN("PMIx_Process_monitor", PMIx_Process_monitor(NULL, PMIX_SUCCESS, NULL, 0, &results, &n));
    WHEN("PMIx_Allocation_request", PMIx_Allocation_request(PMIX_ALLOC_NEW, NULL, 0, &results, &n));
    WHEN("PMIx_Register_event_handler",
         PMIx_Register_event_handler(NULL, 0, NULL, 0, NULL, NULL, NULL));
    WHEN("PMIx_Group_construct", PMIx_Group_construct(NULL, NULL, 0, NULL, 0, &results, &n));
    WHEN("PMIx_Group_destruct", PMIx_Group_destruct(NULL, NULL, 0));
    WHEN("PMIx_Group_destruct of an unknown group", PMIx_Group_destruct("nothing", NULL, 0));
    WHEN("PMIx_Group_leave of an unknown group", PMIx_Group_leave("nothing", NULL, 0));
    WHEN("PMIx_Group_invite", PMIx_Group_invite(NULL, NULL, 0, NULL, 0, &results, &n));
    WHEN("PMIx_Group_join", PMIx_Group_join(NULL, NULL, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n));
    WHEN("PMIx_IOF_deregister of an unknown reference",
         PMIx_IOF_deregister(UNKNOWN_REF, NULL, 0, NULL, NULL));
    WHEN_NB("PMIx_IOF_deregister of an unknown reference, with a callback",
            PMIx_IOF_deregister(UNKNOWN_REF, NULL, 0, on_op, this_case()));
    WHEN("PMIx_IOF_pull", PMIx_IOF_pull(NULL, 0, NULL, 0, 0, NULL, NULL, NULL));
    WHEN("PMIx_Load_topology", PMIx_Load_topology(NULL));
    WHEN("PMIx_Register_attributes", PMIx_Register_attributes("edge", NULL));
}

static void arguments(void)
{
    if (!join(NULL, 0))
        return;
    no_data("with nothing");
    no_job("with nothing");
    no_service("with nothing");
    no_fabric("with nothing");
    leave();
}

/* ---- event handlers -------------------------------------------------------------------------- */

static void handlers(void)
{
    pmix_status_t code = -7000, rc;
    pmix_info_t first;

    PMIX_INFO_LOAD(&first, PMIX_EVENT_HDLR_FIRST, NULL, PMIX_BOOL);
    if (!join(NULL, 0))
        return;
    TRY("PMIx_Deregister_event_handler, an unknown reference, blocking",
        PMIx_Deregister_event_handler(UNKNOWN_REF, NULL, NULL));
    TRY_NB("PMIx_Deregister_event_handler, an unknown reference",
           PMIx_Deregister_event_handler(UNKNOWN_REF, on_op, this_case()));
    rc = PMIx_Register_event_handler(&code, 1, &first, 1, on_event, on_registered, this_case());
    TRY_NB("PMIx_Register_event_handler", rc);
    TRY_NB("PMIx_Register_event_handler, a second that is first of all",
           PMIx_Register_event_handler(&code, 1, &first, 1, on_event, on_registered, this_case()));
    rc = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
    printf("PMIx_Register_event_handler, blocking\t%s\n", rc >= 0 ? "a reference" : name_of(rc));
    TRY("PMIx_Deregister_event_handler, blocking",
        PMIx_Deregister_event_handler((size_t)rc, NULL, NULL));
    TRY_NB("PMIx_Deregister_event_handler, again",
           PMIx_Deregister_event_handler((size_t)rc, on_op, this_case()));
    leave();
}

static void notify(void)
{
    static const struct {
        const char *name;
        pmix_data_range_t range;
    } ranges[] = { { "PMIX_RANGE_PROC_LOCAL", PMIX_RANGE_PROC_LOCAL },
                   { "PMIX_RANGE_LOCAL", PMIX_RANGE_LOCAL },
                   { "PMIX_RANGE_NAMESPACE", PMIX_RANGE_NAMESPACE },
                   { "PMIX_RANGE_SESSION", PMIX_RANGE_SESSION },
                   { "PMIX_RANGE_GLOBAL", PMIX_RANGE_GLOBAL } };
    char edge[96];

    if (!join(NULL, 0))
        return;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        snprintf(edge, sizeof edge, "PMIx_Notify_event, %s", ranges[i].name);
        TRY_NB(edge, PMIx_Notify_event(-7001, &me, ranges[i].range, NULL, 0, on_op, this_case()));
        snprintf(edge, sizeof edge, "PMIx_Notify_event, %s, blocking", ranges[i].name);
        TRY(edge, PMIx_Notify_event(-7001, &me, ranges[i].range, NULL, 0, NULL, NULL));
    }
    leave();
}

/* Events that were raised before their handler was registered. */
static void late(void)
{
    pmix_status_t codes[] = { -7010, -7011, -7012 };
    pmix_info_t passing;

    if (!join(NULL, 0))
        return;
    PMIX_INFO_LOAD(&passing, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL);
    PMIx_Notify_event(codes[0], &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL);
    PMIx_Notify_event(codes[0], &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL);
    PMIx_Notify_event(codes[1], &me, PMIX_RANGE_PROC_LOCAL, &passing, 1, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        static const char *const edges[] = { "an event of PMIX_RANGE_PROC_LOCAL that came before",
                                             "the same again",
                                             "an event with PMIX_EVENT_DO_NOT_CACHE" };
        static const int of[] = { 0, 0, 1 };
        answer.wanted = i == 0 ? 2 : 1; /* both events, or the next line would see the second */
        PMIx_Register_event_handler(&codes[of[i]], 1, NULL, 0, on_event, NULL, NULL);
        TRY_NB(edge_of("PMIx_Register_event_handler", edges[i]), PMIX_SUCCESS);
    }
    leave();
}

/* The model that a library declares at PMIx_Init. */
static void model(void)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;
    pmix_info_t infos[2];

    PMIX_INFO_LOAD(&infos[0], PMIX_PROGRAMMING_MODEL, "MPI", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_MODEL_LIBRARY_NAME, "edges", PMIX_STRING);
    if (!join(infos, 2))
        return;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
    TRY_NB("PMIX_PROGRAMMING_MODEL, a handler registered after PMIx_Init", PMIX_SUCCESS);
    PMIx_Init(NULL, infos, 2);
    TRY_NB("PMIX_PROGRAMMING_MODEL, a second PMIx_Init", PMIX_SUCCESS);
    PMIx_Init(NULL, infos + 1, 1);
    TRY_NB("PMIX_MODEL_LIBRARY_NAME alone, a third PMIx_Init", PMIX_SUCCESS);
    leave();
    leave();
    leave();
}

/* ---- get ------------------------------------------------------------------------------------- */

static void get(const char *what, const pmix_proc_t *proc, const char *key,
                const pmix_info_t *infos, size_t n)
{
    pmix_value_t mark = PMIX_VALUE_STATIC_INIT, *value = &mark;
    pmix_status_t rc;
    const char *edge = edge_of("PMIx_Get_nb", what);

    TRY_NB(edge, PMIx_Get_nb(proc, key, infos, n, on_value, this_case()));
    edge = edge_of("PMIx_Get", what);
    if (is_skipped(edge))
        return;
    rc = PMIx_Get(proc, key, infos, n, &value);
    begin_line(edge, rc);
    if (!value)
        printf("; set NULL");
    else if (value == &mark)
        printf("; left");
    else
        printf("; set %s", PMIx_Data_type_string(value->type));
    end_line();
    if (value && value != &mark)
        PMIX_VALUE_RELEASE(value);
}

/* PMIX_GET_STATIC_VALUES. */
static void get_in_place(void)
{
    pmix_value_t place = PMIX_VALUE_STATIC_INIT, *value = &place;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL);
    TRY("PMIx_Get, PMIX_GET_STATIC_VALUES", PMIx_Get(&job, PMIX_JOB_SIZE, &info, 1, &value));
    printf("PMIx_Get, PMIX_GET_STATIC_VALUES, the pointer\t%s\n",
           value == &place ? "left" : "changed");
    TRY("PMIx_Get, PMIX_GET_STATIC_VALUES, no such key",
        PMIx_Get(&job, "pmix.absent", &info, 1, &value));
    printf("PMIx_Get, PMIX_GET_STATIC_VALUES, no such key, the pointer\t%s\n",
           value == &place ? "left" : "changed");
}

static void gets_(void)
{
    pmix_proc_t nobody, invalid, missing;
    pmix_info_t optional, immediate, required, unknown;
    char longest[PMIX_MAX_KEYLEN + 20];
    pmix_topology_t topology = { NULL, NULL };

    if (!join(NULL, 0))
        return;
    PMIX_LOAD_PROCID(&nobody, "nobody", 0);
    PMIX_LOAD_PROCID(&invalid, me.nspace, PMIX_RANK_INVALID);
    PMIX_LOAD_PROCID(&missing, me.nspace, 4711);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&immediate, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&required, "edges.unknown", NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&required);
    PMIX_INFO_LOAD(&unknown, "edges.unknown", NULL, PMIX_BOOL);
    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    get("no such key, PMIX_OPTIONAL", &me, "absent", &optional, 1);
    get("no such key, PMIX_IMMEDIATE", &me, "absent", &immediate, 1);
    get("no such key of the job, PMIX_OPTIONAL", &job, "absent", &optional, 1);
    get("no such reserved key", &me, "pmix.absent", NULL, 0);
    get("no such reserved key of the job", &job, "pmix.absent", NULL, 0);
    get("no such namespace, PMIX_IMMEDIATE", &nobody, "absent", &immediate, 1);
    get("no such rank, PMIX_IMMEDIATE", &missing, "absent", &immediate, 1);
    get("without process and key", NULL, NULL, NULL, 0);
    get("a key that is too long", &me, longest, NULL, 0);
    get("an unknown directive", &job, PMIX_JOB_SIZE, &unknown, 1);
    get("an unknown required directive", &job, PMIX_JOB_SIZE, &required, 1);
    get("PMIX_JOB_SIZE", &job, PMIX_JOB_SIZE, NULL, 0);
    get("PMIX_JOB_SIZE without process", NULL, PMIX_JOB_SIZE, NULL, 0);
    get("PMIX_RANK of PMIX_RANK_INVALID", &invalid, PMIX_RANK, NULL, 0);
    get("PMIX_PROCID of PMIX_RANK_INVALID", &invalid, PMIX_PROCID, NULL, 0);
    get("PMIX_NSPACE of PMIX_RANK_INVALID", &invalid, PMIX_NSPACE, NULL, 0);
    get("PMIX_RANK", &me, PMIX_RANK, NULL, 0);
    get("PMIX_RANK without process", NULL, PMIX_RANK, NULL, 0);
    get("PMIX_PROCID without process", NULL, PMIX_PROCID, NULL, 0);
    get("PMIX_NSPACE without process", NULL, PMIX_NSPACE, NULL, 0);
    get("PMIX_SERVER_URI", &me, PMIX_SERVER_URI, NULL, 0);
    get("PMIX_SERVER_URI without process", NULL, PMIX_SERVER_URI, NULL, 0);
    get("PMIX_SERVER_URI of the job", &job, PMIX_SERVER_URI, NULL, 0);
    get("PMIX_SERVER_URI of another process", &missing, PMIX_SERVER_URI, &optional, 1);
    get("PMIX_TOPOLOGY2", &me, PMIX_TOPOLOGY2, NULL, 0);
    get("PMIX_TOPOLOGY2 without process", NULL, PMIX_TOPOLOGY2, NULL, 0);
    get("PMIX_TOPOLOGY2 of the job", &job, PMIX_TOPOLOGY2, NULL, 0);
    TRY("PMIx_Load_topology", PMIx_Load_topology(&topology));
    get("PMIX_TOPOLOGY2 after PMIx_Load_topology", &job, PMIX_TOPOLOGY2, NULL, 0);
    TRY("PMIx_Get, no place for the value", PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, NULL));
    TRY("PMIx_Get, no place for a value that is missing",
        PMIx_Get(&job, "pmix.absent", NULL, 0, NULL));
    get_in_place();
    leave();
}

/* ---- queries --------------------------------------------------------------------------------- */

static void query(const char *what, const char *key)
{
    char *keys[] = { (char *)(uintptr_t)key, NULL };
    pmix_query_t q;
    pmix_info_t *results = NULL;
    size_t n = 0;
    const char *edge = edge_of("PMIx_Query_info", what);
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    q.keys = keys;
    rc = PMIx_Query_info(&q, 1, &results, &n);
    begin_line(edge, rc);
    printf("; %zu results", n);
    if (n && results)
        printf(", %s", PMIx_Data_type_string(results[0].value.type));
    end_line();
    TRY_NB(edge_of("PMIx_Query_info_nb", what), PMIx_Query_info_nb(&q, 1, on_infos, this_case()));
}

/* Two keys, of which the server knows one. */
static void mixed(void)
{
    char *keys[] = { PMIX_QUERY_NAMESPACES, PMIX_QUERY_STABLE_ABI_VERSION, NULL };
    pmix_query_t q;
    pmix_info_t *results = NULL;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    q.keys = keys;
    TRY("PMIx_Query_info, a version of the ABI and the namespaces",
        PMIx_Query_info(&q, 1, &results, &n));
    keys[1] = "edges.unknown";
    TRY("PMIx_Query_info, an unknown key and the namespaces", PMIx_Query_info(&q, 1, &results, &n));
}

static void queries(void)
{
    query("PMIX_QUERY_STABLE_ABI_VERSION before PMIx_Init", PMIX_QUERY_STABLE_ABI_VERSION);
    query("PMIX_QUERY_PROVISIONAL_ABI_VERSION before PMIx_Init",
          PMIX_QUERY_PROVISIONAL_ABI_VERSION);
    if (!join(NULL, 0))
        return;
    query("PMIX_QUERY_STABLE_ABI_VERSION", PMIX_QUERY_STABLE_ABI_VERSION);
    query("PMIX_QUERY_PROVISIONAL_ABI_VERSION", PMIX_QUERY_PROVISIONAL_ABI_VERSION);
    query("PMIX_QUERY_NAMESPACES", PMIX_QUERY_NAMESPACES);
    query("an unknown key", "edges.unknown");
    mixed();
    leave();
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void puts_(void)
{
    pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 1 };
    char longest[PMIX_MAX_KEYLEN + 20];

    if (!join(NULL, 0))
        return;
    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    TRY("PMIx_Put, a key that is too long", PMIx_Put(PMIX_GLOBAL, longest, &number));
    TRY("PMIx_Put, no key", PMIx_Put(PMIX_GLOBAL, NULL, &number));
    TRY("PMIx_Put, a reserved key", PMIx_Put(PMIX_GLOBAL, "pmix.edge", &number));
    TRY("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "key", &number));
    TRY("PMIx_Put, again", PMIx_Put(PMIX_GLOBAL, "key", &number));
    TRY("PMIx_Commit", PMIx_Commit());
    TRY("PMIx_Commit, nothing new", PMIx_Commit());
    leave();
}

static void names(void)
{
    char *keys[] = { "edge", NULL };
    pmix_info_t info;
    pmix_pdata_t pdata;

    if (!join(NULL, 0))
        return;
    PMIX_INFO_LOAD(&info, "edge", "text", PMIX_STRING);
    PMIX_PDATA_CONSTRUCT(&pdata);
    PMIX_LOAD_KEY(pdata.key, "edge");
    TRY("PMIx_Lookup, no such key", PMIx_Lookup(&pdata, 1, NULL, 0));
    TRY_NB("PMIx_Lookup_nb, no such key", PMIx_Lookup_nb(keys, NULL, 0, on_lookup, this_case()));
    TRY("PMIx_Unpublish, no such key", PMIx_Unpublish(keys, NULL, 0));
    TRY("PMIx_Publish", PMIx_Publish(&info, 1));
    TRY("PMIx_Publish, again", PMIx_Publish(&info, 1));
    TRY("PMIx_Lookup", PMIx_Lookup(&pdata, 1, NULL, 0));
    TRY("PMIx_Unpublish", PMIx_Unpublish(keys, NULL, 0));
    TRY("PMIx_Unpublish, again", PMIx_Unpublish(keys, NULL, 0));
    TRY("PMIx_Publish, nothing", PMIx_Publish(NULL, 0));
    TRY("PMIx_Lookup, nothing", PMIx_Lookup(NULL, 0, NULL, 0));
    leave();
}

/* One that is registered, and one that is not. */
static void fabrics(void)
{
    pmix_fabric_t never;

    if (!join(NULL, 0))
        return;
    memset(&never, 0, sizeof never);
    fabric_calls("in a job");
    TRY("PMIx_Fabric_update, not registered", PMIx_Fabric_update(&never));
    TRY("PMIx_Fabric_deregister, not registered", PMIx_Fabric_deregister(&never));
    TRY("PMIx_Fabric_deregister, again", PMIx_Fabric_deregister(&never));
    leave();
}

/* ---- servers and tools ----------------------------------------------------------------------- */

static void server_calls(const char *when)
{
    pmix_info_t info;
    char **env = NULL, *text = NULL;
    pmix_byte_object_t bytes = { "text", 4 };
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, "job", 0);
    PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &(uint32_t){ 1 }, PMIX_UINT32);
    WHEN("PMIx_server_register_nspace, blocking",
         PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, NULL, NULL));
    WHEN_NB("PMIx_server_register_nspace",
            PMIx_server_register_nspace(good.second, 1, NULL, 0, on_op, this_case()));
    WHEN_NB("PMIx_server_register_nspace, again",
            PMIx_server_register_nspace(good.second, 1, NULL, 0, on_op, this_case()));
    WHEN("PMIx_server_register_client, blocking",
         PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL));
    WHEN_NB("PMIx_server_register_client, of an unknown job",
            PMIx_server_register_client(&good.other, getuid(), getgid(), NULL, on_op, this_case()));
    WHEN("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &env));
    WHEN("PMIx_server_setup_fork, of an unknown process",
         PMIx_server_setup_fork(&(pmix_proc_t){ "nobody2", 3 }, &env));
    WHEN_NB("PMIx_server_setup_application",
            PMIx_server_setup_application(proc.nspace, NULL, 0, on_setup, this_case()));
    WHEN_NB("PMIx_server_setup_local_support",
            PMIx_server_setup_local_support(proc.nspace, NULL, 0, on_op, this_case()));
    WHEN_NB("PMIx_server_IOF_deliver",
            PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op,
                                    this_case()));
    WHEN_NB("PMIx_server_collect_inventory",
            PMIx_server_collect_inventory(NULL, 0, on_infos, this_case()));
    WHEN_NB("PMIx_server_deliver_inventory",
            PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_op, this_case()));
    WHEN_NB("PMIx_server_register_resources",
            PMIx_server_register_resources(&info, 1, on_op, this_case()));
    WHEN_NB("PMIx_server_deregister_resources",
            PMIx_server_deregister_resources(&info, 1, on_op, this_case()));
    WHEN("PMIx_server_define_process_set", PMIx_server_define_process_set(&proc, 1, "set"));
    WHEN("PMIx_server_delete_process_set", PMIx_server_delete_process_set("set"));
    WHEN("PMIx_server_delete_process_set, of an unknown set",
         PMIx_server_delete_process_set("nothing"));
    WHEN("PMIx_generate_regex", PMIx_generate_regex("a1,a2", &text));
    WHEN("PMIx_generate_ppn", PMIx_generate_ppn("0;1", &text));
}

static void server_deregister(const char *when)
{
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, "job", 0);
    PMIx_server_deregister_client(&proc, on_op, this_case());
    WHEN_NB("PMIx_server_deregister_client", PMIX_SUCCESS);
    PMIx_server_deregister_client(&good.other, on_op, this_case());
    WHEN_NB("PMIx_server_deregister_client, of an unknown process", PMIX_SUCCESS);
    PMIx_server_deregister_nspace(proc.nspace, on_op, this_case());
    WHEN_NB("PMIx_server_deregister_nspace", PMIX_SUCCESS);
    PMIx_server_deregister_nspace(good.other.nspace, on_op, this_case());
    WHEN_NB("PMIx_server_deregister_nspace, of an unknown job", PMIX_SUCCESS);
}

static void server_before(void)
{
    server_calls("before PMIx_server_init");
    server_deregister("before PMIx_server_init");
}

static void server(void)
{
    pmix_server_module_t module = { NULL };

    TRY("PMIx_server_init", PMIx_server_init(&module, NULL, 0));
    TRY("PMIx_server_init, again", PMIx_server_init(&module, NULL, 0));
    server_calls("on a server");
    server_deregister("on a server");
    TRY("PMIx_server_finalize, of the second", PMIx_server_finalize());
    TRY("PMIx_server_finalize", PMIx_server_finalize());
    TRY("PMIx_server_finalize, after it", PMIx_server_finalize());
}

/* A process that a server has started, and that ends without a word. */
static void vanish(void)
{
    if (PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS)
        _exit(3);
    _exit(1);
}

/* What a process of a job finds out about its session, as bits of its exit status. */
static void look_around(void)
{
    static const struct {
        const char *key;
        uint32_t want;
    } facts[] = { { PMIX_JOB_SIZE, 1 },
                  { PMIX_SESSION_ID, 7 },
                  { PMIX_UNIV_SIZE, 3 },
                  { PMIX_SESSION_ID, 7 },
                  { PMIX_LOCAL_SIZE, 1 } };
    pmix_info_t session;
    int status = 0;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        _exit(64);
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&session, PMIX_SESSION_INFO, NULL, PMIX_BOOL);
    for (int i = 0; i < 5; i++) {
        pmix_value_t *value = NULL;
        bool of_session = i == 3;
        if (PMIx_Get(&job, facts[i].key, of_session ? &session : NULL, of_session, &value) ==
                PMIX_SUCCESS &&
            value->data.uint32 == facts[i].want)
            status |= 1 << i;
        else if (getenv("EDGES_TRACE"))
            fprintf(stderr, "%s %u\n", facts[i].key, value ? value->data.uint32 : 4711);
    }
    PMIx_Finalize(NULL, 0);
    _exit(status);
}

/* EDGES_CHILD: the program, which may be on another library. */
static pid_t start_child(const pmix_proc_t *proc, char *what)
{
    char *command[] = { "edges", what, NULL };
    const char *program = getenv("EDGES_CHILD");
    char **env = NULL;
    pid_t pid;

    if (PMIx_server_setup_fork(proc, &env) != PMIX_SUCCESS)
        return -1;
    pid = fork();
    if (pid == 0) {
        for (char **e = env; e && *e; e++)
            putenv(*e);
        execv(program ? program : "/proc/self/exe", command);
        _exit(2);
    }
    return pid;
}

/* Runs a job of one process; returns its exit status. */
static int serve_child(char *what, pmix_info_t *infos, size_t n)
{
    pmix_proc_t proc;
    pid_t pid;
    int status = 0;

    PMIX_LOAD_PROCID(&proc, "job", 0);
    PMIx_server_register_nspace(proc.nspace, 1, infos, n, on_op, this_case());
    wait_for_call(PATIENCE);
    forget();
    PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_op, this_case());
    wait_for_call(PATIENCE);
    forget();
    pid = start_child(&proc, what);
    if (pid > 0)
        waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What a host says of a job without saying whether it is about its session. */
static void loose(void)
{
    pmix_server_module_t module = { NULL };
    pmix_info_t infos[3];

    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return;
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &(uint32_t){ 1 }, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_SESSION_ID, &(uint32_t){ 7 }, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_UNIV_SIZE, &(uint32_t){ 3 }, PMIX_UINT32);
    printf("job and session of which the host has told, found\t%d\n",
           serve_child("look-around", infos, 3));
    PMIx_server_finalize();
}

/* A server learns that a process is gone. */
static void lose(const char *what, pmix_status_t *codes, size_t n)
{
    pmix_server_module_t module = { NULL };

    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return;
    PMIx_Register_event_handler(codes, n, NULL, 0, on_event, on_registered, this_case());
    wait_for_call(PATIENCE);
    forget();
    printf("a process that ends without PMIx_Finalize, %s\texit status %d\n", what,
           serve_child("vanish", NULL, 0));
    TRY_NB(edge_of("the handler of its server", what), PMIX_SUCCESS);
    PMIx_server_finalize();
}

static void lost_by_code(void)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;

    lose("for PMIX_ERR_LOST_CONNECTION", &code, 1);
}

static void lost_by_default(void)
{
    lose("for all codes", NULL, 0);
}

/* What a server asks of itself, and the host has no function for. */
static void own_requests(void)
{
    pmix_server_module_t module = { NULL };

    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return;
    everything("on a server whose host has no functions");
    PMIx_server_finalize();
}

static void tool_calls(const char *when)
{
    pmix_proc_t *servers = NULL, proc;
    pmix_info_t info;
    size_t n = 0;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, "nobody.0;tcp4://127.0.0.1:1", PMIX_STRING);
    WHEN("PMIx_tool_get_servers", PMIx_tool_get_servers(&servers, &n));
    printf("%s\t%zu\n", edge_of("PMIx_tool_get_servers, how many", when), n);
    WHEN("PMIx_tool_disconnect", PMIx_tool_disconnect(&good.other));
    WHEN("PMIx_tool_set_server", PMIx_tool_set_server(&good.other, NULL, 0));
    WHEN("PMIx_tool_attach_to_server", PMIx_tool_attach_to_server(&proc, NULL, &info, 1));
}

static void tool_before(void)
{
    tool_calls("before PMIx_tool_init");
}

static void tool(void)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    TRY("PMIx_tool_init, PMIX_TOOL_DO_NOT_CONNECT", PMIx_tool_init(&me, &info, 1));
    TRY("PMIx_tool_init, again", PMIx_tool_init(&me, &info, 1));
    tool_calls("on a tool without a server");
    TRY("PMIx_tool_finalize, of the second", PMIx_tool_finalize());
    TRY("PMIx_tool_finalize", PMIx_tool_finalize());
    TRY("PMIx_tool_finalize, after it", PMIx_tool_finalize());
}

static void tool_requests(void)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    if (PMIx_tool_init(&me, &info, 1) != PMIX_SUCCESS)
        return;
    everything("on a tool without a server");
    PMIx_tool_finalize();
}

/* Attributes that are required, or have another type. */
static void required(void)
{
    pmix_info_t daemon, host;
    pmix_app_t app = good.app;
    pmix_nspace_t nspace;
    uint32_t number = 1;

    if (!join(NULL, 0))
        return;
    PMIX_INFO_LOAD(&daemon, PMIX_LAUNCHER_DAEMON, "none", PMIX_STRING);
    PMIX_INFO_REQUIRED(&daemon);
    PMIX_INFO_LOAD(&host, PMIX_HOST, &number, PMIX_UINT32);
    TRY("PMIx_Spawn, PMIX_LAUNCHER_DAEMON required of the job",
        PMIx_Spawn(&daemon, 1, &app, 1, nspace));
    app.info = &daemon;
    app.ninfo = 1;
    TRY("PMIx_Spawn, PMIX_LAUNCHER_DAEMON required of an application",
        PMIx_Spawn(NULL, 0, &app, 1, nspace));
    app.info = &host;
    TRY("PMIx_Spawn, PMIX_HOST with a number", PMIx_Spawn(NULL, 0, &app, 1, nspace));
    leave();
}

static const struct {
    const char *name, *where;
    void (*run)(void);
} groups[] = { { "before-init", "alone", before_init },
               { "after-finalize", "job", after_finalize },
               { "twice", "job", twice },
               { "without-server", "alone", alone },
               { "arguments", "job", arguments },
               { "handlers", "job", handlers },
               { "notify", "job", notify },
               { "late", "job", late },
               { "model", "job", model },
               { "get", "job", gets_ },
               { "query", "job", queries },
               { "put", "job", puts_ },
               { "names", "job", names },
               { "fabric", "job", fabrics },
               { "required", "job", required },
               { "server-before", "alone", server_before },
               { "server", "alone", server },
               { "server-loss", "alone", lost_by_code },
               { "server-loss-default", "alone", lost_by_default },
               { "server-session", "alone", loose },
               { "server-requests", "alone", own_requests },
               { "tool-before", "alone", tool_before },
               { "tool", "alone", tool },
               { "tool-requests", "alone", tool_requests } };

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "vanish") == 0)
        vanish();
    if (argc == 2 && strcmp(argv[1], "look-around") == 0)
        look_around();
    make_good();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (argc < 2) {
            printf("%s %s\n", groups[i].name, groups[i].where);
        } else if (strcmp(argv[1], groups[i].name) == 0) {
            groups[i].run();
            if (getenv("EDGES_TRACE"))
                fprintf(stderr, "at end\n");
            return 0;
        }
    }
    return argc > 1;
}
