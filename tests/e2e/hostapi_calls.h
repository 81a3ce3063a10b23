/* hostapi_calls.h - the calls that a process of hostapi.c makes, each with infos that its host is
 * to get.  Every call gives its status: "0", or the name of an error. */
#ifndef WIREUP_TESTS_HOSTAPI_CALLS_H
#define WIREUP_TESTS_HOSTAPI_CALLS_H

#include <pmix.h>
#include <pmix_tool.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static sem_t hostapi_sem;
static pmix_status_t hostapi_status;
static size_t hostapi_ref;

/* The texts of the library differ by release. */
static const char *hostapi_word(pmix_status_t rc)
{
    return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED ? "0"
           : rc == PMIX_ERR_NOT_FOUND                           ? "not-found"
           : rc == PMIX_ERR_NOT_SUPPORTED                       ? "not-supported"
                                                                : PMIx_Error_string(rc);
}

static void hostapi_on_ref(pmix_status_t rc, size_t ref, void *cbdata)
{
    (void)cbdata;
    hostapi_status = rc;
    hostapi_ref = ref;
    sem_post(&hostapi_sem);
}

static void hostapi_on_op(pmix_status_t rc, void *cbdata)
{
    hostapi_on_ref(rc, 0, cbdata);
}

static void hostapi_on_event(size_t ref, pmix_status_t code, const pmix_proc_t *source,
                             pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                             size_t nresults, pmix_event_notification_cbfunc_fn_t cbfunc,
                             void *cbdata)
{
    (void)ref, (void)code, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (cbfunc)
        cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void hostapi_on_output(size_t ref, pmix_iof_channel_t channel, pmix_proc_t *source,
                              pmix_byte_object_t *bo, pmix_info_t info[], size_t ninfo)
{
    (void)ref, (void)channel, (void)source, (void)bo, (void)info, (void)ninfo;
}

static pmix_status_t hostapi_wait(pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        return rc;
    sem_wait(&hostapi_sem);
    return hostapi_status;
}

static void hostapi_infos(pmix_info_t *info, int timeout, const char *key)
{
    PMIX_INFO_LOAD(&info[0], PMIX_TIMEOUT, &timeout, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], key, "said", PMIX_STRING);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static pmix_status_t hostapi_collective(const pmix_proc_t *all, const char *call)
{
    bool yes = true;
    pmix_info_t info[3];

    hostapi_infos(info, 30, "test.word");
    PMIX_INFO_LOAD(&info[2], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (!strcmp(call, "fence"))
        return PMIx_Fence(all, 1, info, 3);
    if (!strcmp(call, "connect"))
        return PMIx_Connect(all, 1, info, 2);
    return PMIx_Disconnect(all, 1, info, 2);
}

static pmix_status_t hostapi_group(const pmix_proc_t *all, const char *call)
{
    pmix_info_t info[2], *results = NULL;
    size_t n = 0;
    bool yes = true;

    hostapi_infos(info, 30, "test.word");
    if (!strcmp(call, "ungroup"))
        return PMIx_Group_destruct("few", info, 1);
    PMIX_INFO_DESTRUCT(&info[1]);
    PMIX_INFO_LOAD(&info[1], PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    return PMIx_Group_construct("few", all, 1, info, 2, &results, &n);
}

static pmix_status_t hostapi_modex(const pmix_proc_t *all)
{
    pmix_proc_t other = *all;
    pmix_value_t *v = NULL;
    pmix_info_t info[2];

    other.rank = 1;
    hostapi_infos(info, 7, "test.word");
    return PMIx_Get(&other, "test.there", info, 1, &v);
}

/* ---- names ----------------------------------------------------------------------------------- */

static pmix_status_t hostapi_name(const char *call)
{
    pmix_data_range_t range = PMIX_RANGE_NAMESPACE;
    pmix_persistence_t persistence = PMIX_PERSIST_PROC;
    char key[] = "test.name", *keys[] = { key, NULL };
    pmix_info_t info[4];
    pmix_pdata_t found;
    int none = 0;

    hostapi_infos(info, 30, "test.name");
    PMIX_INFO_LOAD(&info[2], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[3], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    if (!strcmp(call, "publish"))
        return PMIx_Publish(info, 4);
    PMIX_INFO_DESTRUCT(&info[1]);
    info[1] = info[2];
    if (!strcmp(call, "unpublish"))
        return PMIx_Unpublish(keys, info, 2);
    PMIX_INFO_LOAD(&info[2], PMIX_WAIT, &none, PMIX_INT);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, key);
    return PMIx_Lookup(&found, 1, info, 3);
}

/* ---- events ---------------------------------------------------------------------------------- */

static pmix_status_t hostapi_events(pmix_status_t code, bool leaves)
{
    pmix_status_t rc = hostapi_wait(
        PMIx_Register_event_handler(&code, 1, NULL, 0, hostapi_on_event, hostapi_on_ref, NULL));

    return rc != PMIX_SUCCESS || leaves
               ? rc
               : hostapi_wait(PMIx_Deregister_event_handler(hostapi_ref, hostapi_on_op, NULL));
}

static pmix_status_t hostapi_notify(const pmix_proc_t *me)
{
    pmix_info_t info[2];

    hostapi_infos(info, 30, "test.word");
    return hostapi_wait(
        PMIx_Notify_event(-4713, me, PMIX_RANGE_GLOBAL, &info[1], 1, hostapi_on_op, NULL));
}

/* ---- the launcher ---------------------------------------------------------------------------- */

static pmix_status_t hostapi_spawn(void)
{
    char name[] = "none", *argv[] = { name, NULL };
    pmix_app_t app = { .cmd = name, .argv = argv, .maxprocs = 1 };
    pmix_info_t info[1];
    pmix_nspace_t nspace;

    PMIX_INFO_LOAD(&info[0], PMIX_WDIR, "/tmp", PMIX_STRING);
    app.info = info;
    app.ninfo = 1;
    return PMIx_Spawn(NULL, 0, &app, 1, nspace);
}

/* What the host says for the child on its channel for diagnoses comes on our standard error. */
#ifdef PMIX_PROGRESS_THREAD_NAME
static pmix_status_t hostapi_diag(void)
{
    char name[] = "none", *argv[] = { name, NULL }, got[8] = "";
    pmix_app_t app = { .cmd = name, .argv = argv, .maxprocs = 1 };
    pmix_info_t info;
    pmix_nspace_t nspace;
    pmix_status_t rc;
    int ends[2];

    if (pipe(ends) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
        return PMIX_ERROR;
    PMIX_INFO_LOAD(&info, PMIX_FWD_STDDIAG, NULL, PMIX_BOOL);
    rc = PMIx_Spawn(&info, 1, &app, 1, nspace);
    if (rc == PMIX_SUCCESS && (read(ends[0], got, 4) != 4 || strcmp(got, "diag") != 0))
        rc = PMIX_ERR_BAD_PARAM;
    return rc;
}
#else /* OpenPMIx's client shows nothing of that channel */
static pmix_status_t hostapi_diag(void)
{
    return PMIX_SUCCESS;
}
#endif

static pmix_status_t hostapi_query(void)
{
    char key[] = "test.key", *keys[] = { key, NULL };
    pmix_query_t q = { .keys = keys };
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Query_info(&q, 1, &results, &n);

    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc; /* it has found nothing */
}

static pmix_status_t hostapi_service(const char *call, const pmix_proc_t *all)
{
    pmix_info_t info, *results = NULL;
    size_t n = 0;
    bool yes = true;

    PMIX_INFO_LOAD(&info,
                   !strcmp(call, "allocate") ? PMIX_ALLOC_ID
                   : !strcmp(call, "log")    ? PMIX_LOG_STDERR
                   : !strcmp(call, "syslog") ? PMIX_LOG_GLOBAL_SYSLOG
                                             : PMIX_MONITOR_ID,
                   "said", PMIX_STRING);
    if (!strcmp(call, "log") || !strcmp(call, "syslog"))
        return PMIx_Log(&info, 1, NULL, 0);
    if (!strcmp(call, "allocate"))
        return PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &n);
    if (!strcmp(call, "monitor")) {
        pmix_info_t file;
        PMIX_INFO_LOAD(&file, PMIX_MONITOR_FILE, "/tmp", PMIX_STRING);
        return PMIx_Process_monitor(&file, -4714, &info, 1, &results, &n);
    }
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_PAUSE, &yes, PMIX_BOOL);
    return PMIx_Job_control(all, 1, &info, 1, &results, &n);
}

static void hostapi_on_alert(size_t ref, pmix_status_t code, const pmix_proc_t *source,
                             pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                             size_t nresults, pmix_event_notification_cbfunc_fn_t cbfunc,
                             void *cbdata)
{
    hostapi_on_event(ref, code, source, info, ninfo, results, nresults, cbfunc, cbdata);
    sem_post(&hostapi_sem);
}

/* It promises heartbeats, sends none, and is told so. */
static pmix_status_t hostapi_beats(void)
{
    pmix_status_t code = -4715, rc;
    pmix_data_range_t range = PMIX_RANGE_SESSION;
    pmix_info_t what, info[3], *results = NULL;
    uint32_t one = 1;
    size_t n = 0;

    rc = hostapi_wait(
        PMIx_Register_event_handler(&code, 1, NULL, 0, hostapi_on_alert, hostapi_on_ref, NULL));
    if (rc != PMIX_SUCCESS)
        return rc;
    PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[0], PMIX_MONITOR_HEARTBEAT_TIME, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_MONITOR_HEARTBEAT_DROPS, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    rc = PMIx_Process_monitor(&what, code, info, 3, &results, &n);
    if (rc == PMIX_SUCCESS)
        sem_wait(&hostapi_sem);
    return rc;
}

static pmix_status_t hostapi_credential(const char *call)
{
    pmix_byte_object_t bo = { NULL, 0 };
    char x[] = "x";
    pmix_info_t info[2], *results = NULL;
    size_t n = 0;

    hostapi_infos(info, 30, PMIX_CRED_TYPE);
    if (!strcmp(call, "credential"))
        return PMIx_Get_credential(&info[1], 1, &bo);
    bo = (pmix_byte_object_t){ x, 1 };
    return PMIx_Validate_credential(&bo, info, 1, &results, &n);
}

static pmix_status_t hostapi_output(const char *call, pmix_proc_t *all)
{
    char word[] = "said";
    pmix_byte_object_t bo = { word, 4 };
    uint32_t size = 4096;
    pmix_info_t info;

    if (!strcmp(call, "push"))
        return hostapi_wait(PMIx_IOF_push(all, 1, &bo, NULL, 0, hostapi_on_op, NULL));
    PMIX_INFO_LOAD(&info, PMIX_IOF_CACHE_SIZE, &size, PMIX_UINT32);
    if (!strcmp(call, "unpull"))
        return hostapi_wait(PMIx_IOF_deregister(hostapi_ref, NULL, 0, hostapi_on_op, NULL));
    return hostapi_wait(PMIx_IOF_pull(all, 1, &info, 1, PMIX_FWD_STDOUT_CHANNEL, hostapi_on_output,
                                      hostapi_on_ref, NULL));
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool hostapi_is(const char *call, const char *list)
{
    const char *at = strstr(list, call);

    return at && (at == list || at[-1] == ' ') && (at[strlen(call)] == ' ' || !at[strlen(call)]);
}

static pmix_status_t hostapi_status_of(const pmix_proc_t *me, const char *call)
{
    pmix_proc_t all = *me;

    all.rank = PMIX_RANK_WILDCARD;
    if (hostapi_is(call, "fence connect disconnect"))
        return hostapi_collective(&all, call);
    if (hostapi_is(call, "group ungroup"))
        return hostapi_group(&all, call);
    if (hostapi_is(call, "publish lookup unpublish"))
        return hostapi_name(call);
    if (hostapi_is(call, "events left"))
        return hostapi_events(!strcmp(call, "left") ? -4712 : -4711, !strcmp(call, "left"));
    if (hostapi_is(call, "credential validate"))
        return hostapi_credential(call);
    if (hostapi_is(call, "pull unpull push"))
        return hostapi_output(call, &all);
    if (hostapi_is(call, "modex"))
        return hostapi_modex(&all);
    if (hostapi_is(call, "notify"))
        return hostapi_notify(me);
    if (hostapi_is(call, "spawn"))
        return hostapi_spawn();
    if (hostapi_is(call, "diag"))
        return hostapi_diag();
    if (hostapi_is(call, "beats"))
        return hostapi_beats();
    if (hostapi_is(call, "query"))
        return hostapi_query();
    if (hostapi_is(call, "abort"))
        return PMIx_Abort(1, "said", NULL, 0);
    return hostapi_service(call, &all);
}

static const char *hostapi_call(const pmix_proc_t *me, const char *call)
{
    sem_init(&hostapi_sem, 0, 0);
    return hostapi_word(hostapi_status_of(me, call));
}

#endif
