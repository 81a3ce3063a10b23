/* hostlock.c - a host that holds a lock while it calls PMIx, and takes it in each of its functions,
 * as an interpreter does.  Prints each call before it is made, and at the end `good`.
 */
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t interpreter; /* recursive */
static unsigned runs;               /* functions of the host that have run */

static pmix_status_t run(void)
{
    pthread_mutex_lock(&interpreter);
    runs++;
    pthread_mutex_unlock(&interpreter);
    return PMIX_SUCCESS;
}

static pmix_status_t with_status(pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    run();
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t with_infos(pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    run();
    cbfunc(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)info, (void)ninfo;
    return with_status(cbfunc, cbdata);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)keys, (void)info, (void)ninfo;
    return with_status(cbfunc, cbdata);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)keys, (void)info, (void)ninfo;
    run();
    cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                              const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    char name[] = "spawned";

    (void)proc, (void)job_info, (void)ninfo, (void)apps, (void)napps;
    run();
    cbfunc(PMIX_SUCCESS, name, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_query(pmix_proc_t *proct, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)proct, (void)queries, (void)nqueries;
    return with_infos(cbfunc, cbdata);
}

static void on_log(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                   const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    (void)client, (void)data, (void)ndata, (void)directives, (void)ndirs;
    with_status(cbfunc, cbdata);
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t data[], size_t ndata, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    (void)client, (void)directive, (void)data, (void)ndata;
    return with_infos(cbfunc, cbdata);
}

static pmix_status_t on_job_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                                    size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                    pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)requestor, (void)targets, (void)ntargets, (void)directives, (void)ndirs;
    return with_infos(cbfunc, cbdata);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)requestor, (void)monitor, (void)error, (void)directives, (void)ndirs;
    return with_infos(cbfunc, cbdata);
}

static pmix_status_t on_credential(const pmix_proc_t *proc, const pmix_info_t directives[],
                                   size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    pmix_byte_object_t credential = { (char *)"x", 1 };

    (void)proc, (void)directives, (void)ndirs;
    run();
    cbfunc(PMIX_SUCCESS, &credential, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *cred,
                                 const pmix_info_t directives[], size_t ndirs,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)cred, (void)directives, (void)ndirs;
    run();
    cbfunc(PMIX_SUCCESS, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)requestor, (void)op, (void)directives, (void)ndirs;
    return with_infos(cbfunc, cbdata);
}

static pmix_server_module_t module = {
    .publish = on_publish,
    .unpublish = on_unpublish,
    .lookup = on_lookup,
    .spawn = on_spawn,
    .query = on_query,
    .log = on_log,
    .allocate = on_allocate,
    .job_control = on_job_control,
    .monitor = on_monitor,
    .get_credential = on_credential,
    .validate_credential = on_validate,
    .fabric = on_fabric,
};

/* The call, which ends well or at least ends, after one of the host's functions. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        unsigned before = runs;                                                                    \
        pmix_status_t rc;                                                                          \
        printf("%.24s", #call);                                                                    \
        fflush(stdout);                                                                            \
        rc = (call);                                                                               \
        printf("\t%s\t%u\n", PMIx_Error_string(rc), runs - before);                                \
    } while (0)

static void call_all(void)
{
    pmix_info_t info, *results = NULL;
    pmix_byte_object_t credential = { NULL, 0 };
    pmix_fabric_t fabric;
    pmix_query_t query;
    pmix_pdata_t data;
    pmix_nspace_t name;
    pmix_app_t app;
    size_t n = 0;

    PMIX_INFO_LOAD(&info, "a key", "a value", PMIX_STRING);
    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof data.key, "a key");
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, "site.key");
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("true");
    app.maxprocs = 1;
    memset(&fabric, 0, sizeof fabric);
    CALL(PMIx_Fabric_register(&fabric, NULL, 0));
    CALL(PMIx_Fabric_update(&fabric));
    CALL(PMIx_Fabric_deregister(&fabric));
    CALL(PMIx_Publish(&info, 1));
    CALL(PMIx_Lookup(&data, 1, NULL, 0));
    CALL(PMIx_Unpublish((char *[]){ (char *)"a key", NULL }, NULL, 0));
    CALL(PMIx_Spawn(NULL, 0, &app, 1, name));
    CALL(PMIx_Query_info(&query, 1, &results, &n));
    CALL(PMIx_Log(&info, 1, NULL, 0));
    CALL(PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &n));
    CALL(PMIx_Job_control(NULL, 0, &info, 1, &results, &n));
    CALL(PMIx_Process_monitor(&info, PMIX_SUCCESS, NULL, 0, &results, &n));
    CALL(PMIx_Get_credential(NULL, 0, &credential));
    CALL(PMIx_Validate_credential(&credential, NULL, 0, &results, &n));
    free(credential.bytes);
    PMIX_INFO_DESTRUCT(&info);
    PMIX_QUERY_DESTRUCT(&query);
    PMIX_APP_DESTRUCT(&app);
    PMIX_PDATA_DESTRUCT(&data);
}

int main(void)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&interpreter, &kind);
    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return 3;
    pthread_mutex_lock(&interpreter);
    call_all();
    pthread_mutex_unlock(&interpreter);
    printf("good %d\n", PMIx_server_finalize());
    return 0;
}
