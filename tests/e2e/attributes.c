/* attributes.c - every call of proto/pmix_calls.def with every attribute of its rows that must
 * fail: with a wrong type, with the flag that it is required where it is not honoured, with an
 * attribute that is not known, and as a user that the caller is not.  What has no effect lets the
 * call go on where it is not required.  And every attribute that
 * proto/pmix_standard.def says is nowhere: it is neither got nor queried, and no call takes it.
 *
 *   attributes           all calls
 *   attributes foreign   those that the server checks, for a library that is not ours
 *   attributes host      those of the server's interface, in a host
 *
 * Prints a line for each that is not refused as expected, and at last `attributes N good`, the
 * number of ranks, or `attributes N WRONG`. */
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of wireup_client.h, which is not among OpenPMIx's headers. */
#define WIREUP_CONNECTIVITY "wireup.connectivity"
#define WIREUP_PREFETCH     "wireup.prefetch"

static pmix_proc_t me;
static const pmix_nspace_t nspace = "attributes";
static int wrong;
static int tried;

/* Of releases whose headers have no function for it, too. */
static pmix_info_t info_of(const char *key, pmix_data_type_t type)
{
    static char text[] = "x";
    static pmix_data_array_t none = { .type = PMIX_PROC };
    pmix_info_t info;

    memset(&info, 0, sizeof info);
    strncpy(info.key, key, PMIX_MAX_KEYLEN);
    info.value.type = type;
    if (type == PMIX_STRING)
        info.value.data.string = text;
    else if (type == PMIX_DATA_ARRAY)
        info.value.data.darray = &none;
    else if (type == PMIX_PROC)
        info.value.data.proc = &me;
    else if (type == PMIX_BOOL)
        info.value.data.flag = true;
    return info;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static pmix_status_t do_FINALIZE(pmix_info_t *i)
{
    return PMIx_Finalize(i, 1);
}

static pmix_status_t do_INIT(pmix_info_t *i)
{
    return PMIx_Init(NULL, i, 1);
}

static pmix_status_t do_TOOL_INIT(pmix_info_t *i)
{
    return PMIx_tool_init(NULL, i, 1);
}

static pmix_status_t do_TOOL_ATTACH(pmix_info_t *i)
{
    return PMIx_tool_attach_to_server(NULL, NULL, i, 1);
}

static pmix_status_t do_TOOL_SET_SERVER(pmix_info_t *i)
{
    return PMIx_tool_set_server(&me, i, 1);
}

static pmix_status_t do_SERVER_INIT(pmix_info_t *i)
{
    return PMIx_server_init(NULL, i, 1);
}

static pmix_status_t do_FENCE(pmix_info_t *i)
{
    return PMIx_Fence(&me, 1, i, 1);
}

static pmix_status_t do_GET(pmix_info_t *i)
{
    pmix_value_t *v = NULL;

    return PMIx_Get(&me, PMIX_LOCAL_RANK, i, 1, &v);
}

static pmix_status_t do_PUBLISH(pmix_info_t *i)
{
    pmix_info_t both[2];

    both[0] = *i;
    both[1] = info_of("attributes.key", PMIX_STRING);
    return PMIx_Publish(both, 2);
}

static pmix_status_t do_LOOKUP(pmix_info_t *i)
{
    pmix_pdata_t found;

    memset(&found, 0, sizeof found);
    strcpy(found.key, "attributes.none");
    return PMIx_Lookup(&found, 1, i, 1);
}

static pmix_status_t do_UNPUBLISH(pmix_info_t *i)
{
    char key[] = "attributes.none", *keys[] = { key, NULL };

    return PMIx_Unpublish(keys, i, 1);
}

static pmix_status_t do_CONNECT(pmix_info_t *i)
{
    return PMIx_Connect(&me, 1, i, 1);
}

static pmix_status_t do_DISCONNECT(pmix_info_t *i)
{
    return PMIx_Disconnect(&me, 1, i, 1);
}

/* OpenPMIx 4.2 has none. */
#pragma weak PMIx_Info_free

static void drop(pmix_info_t *results, size_t n)
{
    if (PMIx_Info_free && results)
        PMIx_Info_free(results, n);
}

static pmix_status_t do_SPAWN(pmix_info_t *i)
{
    char program[] = "/bin/true", *argv[] = { program, NULL };
    pmix_app_t app = { .cmd = program, .argv = argv, .maxprocs = 1, .info = i, .ninfo = 1 };
    pmix_nspace_t spawned;

    return PMIx_Spawn(NULL, 0, &app, 1, spawned);
}

static pmix_status_t do_GROUP_CONSTRUCT(pmix_info_t *i)
{
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Group_construct("attributes", &me, 1, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_GROUP_INVITE(pmix_info_t *i)
{
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Group_invite("attributes", &me, 1, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_GROUP_JOIN(pmix_info_t *i)
{
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Group_join("attributes", &me, PMIX_GROUP_ACCEPT, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_GROUP_LEAVE(pmix_info_t *i)
{
    return PMIx_Group_leave("attributes", i, 1);
}

static void on_event(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler, (void)status, (void)source, (void)info, (void)ninfo, (void)results;
    (void)nresults;
    if (done)
        done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t do_REGISTER_EVENT(pmix_info_t *i)
{
    pmix_status_t code = -9100;

    return PMIx_Register_event_handler(&code, 1, i, 1, on_event, NULL, NULL);
}

static pmix_status_t do_NOTIFY_EVENT(pmix_info_t *i)
{
    return PMIx_Notify_event(-9000, &me, PMIX_RANGE_LOCAL, i, 1, NULL, NULL);
}

static pmix_status_t do_QUERY(pmix_info_t *i)
{
    char key[] = PMIX_QUERY_NAMESPACES, *keys[] = { key, NULL };
    pmix_query_t query = { .keys = keys, .qualifiers = i, .nqual = 1 };
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Query_info(&query, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_JOB_CONTROL(pmix_info_t *i)
{
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Job_control(&me, 1, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_LOG(pmix_info_t *i)
{
    pmix_info_t text;

    text = info_of(PMIX_LOG_STDERR, PMIX_STRING);
    return PMIx_Log(&text, 1, i, 1);
}

static pmix_status_t do_PROCESS_MONITOR(pmix_info_t *i)
{
    pmix_info_t monitor, *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    monitor = info_of(PMIX_MONITOR_HEARTBEAT, PMIX_BOOL);
    rc = PMIx_Process_monitor(&monitor, PMIX_MONITOR_HEARTBEAT_ALERT, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static pmix_status_t do_GET_CREDENTIAL(pmix_info_t *i)
{
    pmix_byte_object_t credential = { NULL, 0 };
    pmix_status_t rc = PMIx_Get_credential(i, 1, &credential);

    free(credential.bytes);
    return rc;
}

static pmix_status_t do_VALIDATE_CREDENTIAL(pmix_info_t *i)
{
    char text[] = "none";
    pmix_byte_object_t credential = { text, sizeof text };
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Validate_credential(&credential, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t info[], size_t ninfo)
{
    (void)handler, (void)channel, (void)source, (void)bytes, (void)info, (void)ninfo;
}

static pmix_status_t do_IOF_PULL(pmix_info_t *i)
{
    return PMIx_IOF_pull(&me, 1, i, 1, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
}

static pmix_status_t do_IOF_PUSH(pmix_info_t *i)
{
    char text[] = "x";
    pmix_byte_object_t bytes = { text, 1 };

    return PMIx_IOF_push(&me, 1, &bytes, i, 1, NULL, NULL);
}

static pmix_status_t do_ALLOCATION(pmix_info_t *i)
{
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Allocation_request(PMIX_ALLOC_NEW, i, 1, &results, &n);
    drop(results, n);
    return rc;
}

/* OpenPMIx 4.2 has none. */
#pragma weak PMIx_Session_control

static pmix_status_t do_SESSION_CONTROL(pmix_info_t *i)
{
    return PMIx_Session_control(1, i, 1, NULL, NULL);
}

static pmix_status_t do_FABRIC_REGISTER(pmix_info_t *i)
{
    pmix_fabric_t fabric;
    pmix_status_t rc;

    memset(&fabric, 0, sizeof fabric);
    rc = PMIx_Fabric_register(&fabric, i, 1);
    PMIx_Fabric_deregister(&fabric);
    return rc;
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                     pmix_op_cbfunc_t cbfunc, void *arg)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata;
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, arg);
}

static pmix_status_t do_SETUP_APPLICATION(pmix_info_t *i)
{
    return PMIx_server_setup_application(nspace, i, 1, on_setup, NULL);
}

static pmix_status_t do_SETUP_LOCAL_SUPPORT(pmix_info_t *i)
{
    return PMIx_server_setup_local_support(nspace, i, 1, NULL, NULL);
}

static void on_infos(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                     pmix_release_cbfunc_t release, void *arg)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata, (void)release, (void)arg;
}

static pmix_status_t do_COLLECT_INVENTORY(pmix_info_t *i)
{
    return PMIx_server_collect_inventory(i, 1, on_infos, NULL);
}

static pmix_status_t do_DELIVER_INVENTORY(pmix_info_t *i)
{
    return PMIx_server_deliver_inventory(NULL, 0, i, 1, NULL, NULL);
}

static pmix_status_t do_REGISTER_RESOURCES(pmix_info_t *i)
{
    return PMIx_server_register_resources(i, 1, NULL, NULL);
}

static pmix_status_t do_DEREGISTER_RESOURCES(pmix_info_t *i)
{
    return PMIx_server_deregister_resources(i, 1, NULL, NULL);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum call {
#define CALL(id, name, command, others) CALL_##id,
#define ATTR(key, type)
#define CARRIED(key, type)
#define REFUSED(key, type, why)
#define IGNORED(key, type, why)
#define END(id)
#include "proto/pmix_calls.def"
    CALLS
};

enum class { CLASS_ATTR, CLASS_CARRIED, CLASS_REFUSED, CLASS_IGNORED, CLASS_DATA };

static const struct {
    const char *name;
    enum class others;
} names[CALLS] = {
#define CALL(id, name, command, others) { name, CLASS_##others },
#define ATTR(key, type)
#define CARRIED(key, type)
#define REFUSED(key, type, why)
#define IGNORED(key, type, why)
#define END(id)
#include "proto/pmix_calls.def"
};

static const struct row {
    enum call call;
    const char *name, *key;
    pmix_data_type_t type;
    enum class class;
} rows[] = {
#define CALL(id, name, command, others) enum_of(id)
#define ATTR(key, type)                 { 0, #key, key, type, CLASS_ATTR },
#define CARRIED(key, type)              { 0, #key, key, type, CLASS_CARRIED },
#define REFUSED(key, type, why)         { 0, #key, key, type, CLASS_REFUSED },
#define IGNORED(key, type, why)         { 0, #key, key, type, CLASS_IGNORED },
#define END(id)
#define enum_of(id) { CALL_##id, NULL, NULL, 0, CLASS_DATA }, /* the rows of this call follow */
#include "proto/pmix_calls.def"
};

/* Attributes that nothing reads or tells (proto/pmix_standard.def). */
static const struct {
    const char *name, *key;
} nowhere[] = {
#define FUNCTION(name, origin, state, note)
#define ATTRIBUTE(name, origin)
#define UPCALL(name, origin)
#define REQUIRES(function, attribute)
#define OFFERS(function, attribute)
#define CHAPTER(attribute)
#define NOWHERE(name, why) { #name, name },
#include "proto/pmix_standard.def"
};

/* Who checks it. */
enum checker { LIBRARY, SERVER, HOST };

/* No call: none is made, for it would do something before it is refused, or needs an object. */
static const struct {
    pmix_status_t (*make)(pmix_info_t *info);
    enum checker checker;
} calls[CALLS] = {
    [CALL_FINALIZE] = { do_FINALIZE, LIBRARY },
    [CALL_INIT] = { do_INIT, LIBRARY },
    [CALL_TOOL_INIT] = { do_TOOL_INIT, LIBRARY },
    [CALL_TOOL_ATTACH] = { do_TOOL_ATTACH, LIBRARY },
    [CALL_TOOL_SET_SERVER] = { do_TOOL_SET_SERVER, LIBRARY },
    [CALL_SERVER_INIT] = { do_SERVER_INIT, LIBRARY },
    [CALL_FENCE] = { do_FENCE, SERVER },
    [CALL_GET] = { do_GET, LIBRARY },
    [CALL_PUBLISH] = { do_PUBLISH, SERVER },
    [CALL_LOOKUP] = { do_LOOKUP, SERVER },
    [CALL_UNPUBLISH] = { do_UNPUBLISH, SERVER },
    [CALL_CONNECT] = { do_CONNECT, SERVER },
    [CALL_DISCONNECT] = { do_DISCONNECT, SERVER },
    [CALL_SPAWN] = { do_SPAWN, SERVER },
    [CALL_GROUP_CONSTRUCT] = { do_GROUP_CONSTRUCT, SERVER },
    [CALL_GROUP_INVITE] = { do_GROUP_INVITE, LIBRARY },
    [CALL_GROUP_JOIN] = { do_GROUP_JOIN, LIBRARY },
    [CALL_GROUP_LEAVE] = { do_GROUP_LEAVE, LIBRARY },
    [CALL_REGISTER_EVENT] = { do_REGISTER_EVENT, LIBRARY },
    [CALL_NOTIFY_EVENT] = { do_NOTIFY_EVENT, LIBRARY },
    [CALL_QUERY] = { do_QUERY, LIBRARY },
    [CALL_JOB_CONTROL] = { do_JOB_CONTROL, SERVER },
    [CALL_LOG] = { do_LOG, LIBRARY },
    [CALL_PROCESS_MONITOR] = { do_PROCESS_MONITOR, LIBRARY },
    [CALL_GET_CREDENTIAL] = { do_GET_CREDENTIAL, LIBRARY },
    [CALL_VALIDATE_CREDENTIAL] = { do_VALIDATE_CREDENTIAL, LIBRARY },
    [CALL_IOF_PULL] = { do_IOF_PULL, LIBRARY },
    [CALL_IOF_PUSH] = { do_IOF_PUSH, LIBRARY },
    [CALL_ALLOCATION] = { do_ALLOCATION, LIBRARY },
    [CALL_SESSION_CONTROL] = { do_SESSION_CONTROL, LIBRARY },
    [CALL_FABRIC_REGISTER] = { do_FABRIC_REGISTER, LIBRARY },
    [CALL_SETUP_APPLICATION] = { do_SETUP_APPLICATION, HOST },
    [CALL_SETUP_LOCAL_SUPPORT] = { do_SETUP_LOCAL_SUPPORT, HOST },
    [CALL_COLLECT_INVENTORY] = { do_COLLECT_INVENTORY, HOST },
    [CALL_DELIVER_INVENTORY] = { do_DELIVER_INVENTORY, HOST },
    [CALL_REGISTER_RESOURCES] = { do_REGISTER_RESOURCES, HOST },
    [CALL_DEREGISTER_RESOURCES] = { do_DEREGISTER_RESOURCES, HOST },
};

/* ---- trying them ----------------------------------------------------------------------------- */

static void meets(enum call call, const char *what, const char *how, pmix_info_t info,
                  pmix_status_t want)
{
    pmix_status_t rc = calls[call].make(&info);

    tried++;
    if (rc == want || (rc > 0 && want > 0)) /* PMIx_IOF_pull returns the number of the handler */
        return;
    wrong++;
    printf("attributes WRONG rank %u: %s, %s %s: %s\n", me.rank, names[call].name, what, how,
           PMIx_Error_string(rc));
}

/* Whether it can be made again and again: those that initialize change what the others find. */
static bool repeats(enum call call)
{
    return call != CALL_FINALIZE && call != CALL_INIT && call != CALL_TOOL_INIT &&
           call != CALL_SERVER_INIT;
}

/* What has no effect is as what nobody knows: the call ends as it does with that. */
static void goes_on(enum call call, const struct row *r)
{
    static enum call last = CALLS;
    static pmix_status_t without;
    pmix_info_t unknown = info_of("pmix.attributes.none", PMIX_BOOL);

    if (!repeats(call))
        return;
    if (call != last)
        without = calls[call].make(&unknown);
    last = call;
    meets(call, r->name, "not required", info_of(r->key, r->type), without);
}

static void try_row(enum call call, const struct row *r)
{
    pmix_status_t of_type =
        names[call].others == CLASS_REFUSED ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
    pmix_info_t info = info_of(r->key, r->type);

    if (r->type != PMIX_UNDEF)
        meets(call, r->name, "with a wrong type",
              info_of(r->key, r->type == PMIX_FLOAT ? PMIX_STRING : PMIX_DOUBLE), of_type);
    if (r->class == CLASS_REFUSED)
        meets(call, r->name, "refused", info, PMIX_ERR_NOT_SUPPORTED);
    info.flags = PMIX_INFO_REQD;
    if (r->class == CLASS_REFUSED || r->class == CLASS_IGNORED)
        meets(call, r->name, "required", info, PMIX_ERR_NOT_SUPPORTED);
    if (r->class == CLASS_IGNORED)
        goes_on(call, r);
}

/* As which user or group it is done, the kernel says. */
static void try_claim(enum call call, const struct row *r)
{
    bool user = !strcmp(r->key, PMIX_USERID), group = !strcmp(r->key, PMIX_GRPID);
    pmix_info_t info = info_of(r->key, PMIX_UINT32);

    info.value.data.uint32 = (user ? getuid() : getgid()) + 1;
    info.flags = PMIX_INFO_REQD;
    if (calls[call].checker == SERVER && (user || group))
        meets(call, r->name, "of another", info, PMIX_ERR_NO_PERMISSIONS);
}

static void try_others(enum call call)
{
    pmix_info_t info = info_of("pmix.attributes.none", PMIX_BOOL);

    info.flags = PMIX_INFO_REQD;
    if (names[call].others != CLASS_CARRIED)
        meets(call, "an unknown one", "required", info, PMIX_ERR_NOT_SUPPORTED);
}

static void is_missing(const char *name, const char *how, pmix_status_t rc)
{
    tried++;
    if (rc == PMIX_ERR_NOT_FOUND || rc == PMIX_ERR_NOT_SUPPORTED)
        return;
    wrong++;
    printf("attributes WRONG rank %u: %s, %s: %s\n", me.rank, name, how, PMIx_Error_string(rc));
}

/* A get of ours or of the job, a query, and a call that requires it. */
static void try_nowhere(const char *name, const char *key)
{
    char *keys[] = { (char *)key, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *found = NULL, info = info_of(key, PMIX_BOOL);
    pmix_proc_t job = me;
    pmix_value_t *v = NULL;
    size_t n = 0;

    job.rank = PMIX_RANK_WILDCARD;
    is_missing(name, "got", PMIx_Get(&me, key, NULL, 0, &v));
    is_missing(name, "got of the job", PMIx_Get(&job, key, NULL, 0, &v));
    if (strcmp(key, PMIX_QUERY_SUPPORTED_QUALIFIERS) != 0) /* of these two the other name is */
        is_missing(name, "queried", PMIx_Query_info(&query, 1, &found, &n));
    info.flags = PMIX_INFO_REQD;
    if (strcmp(key, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL) != 0) /* honoured */
        meets(CALL_JOB_CONTROL, name, "required", info, PMIX_ERR_NOT_SUPPORTED);
}

static uint32_t job_size(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t job = me;
    uint32_t n = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &v) == PMIX_SUCCESS && v) {
        n = v->data.uint32;
        free(v); /* a number */
    }
    return n;
}

static bool is_tried(enum call call, bool foreign, bool host)
{
    enum checker c = calls[call].checker;

    return calls[call].make && (c == HOST) == host && (c == SERVER || !foreign);
}

static void try_all(bool foreign, bool host)
{
    enum call call = CALLS;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool begins = !rows[i].key;
        call = begins ? rows[i].call : call;
        if (!is_tried(call, foreign, host))
            continue;
        if (begins) {
            try_others(call);
            continue;
        }
        try_row(call, &rows[i]);
        try_claim(call, &rows[i]);
    }
}

static int report(uint32_t size)
{
    if (wrong || me.rank == 0)
        printf("attributes %u %s\n", size, wrong || tried < 20 ? "WRONG" : "good");
    return wrong != 0;
}

static int be_host(void)
{
    static pmix_server_module_t module;

    if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS)
        return 1;
    try_all(false, true);
    PMIx_server_finalize();
    return report(0);
}

int main(int argc, char **argv)
{
    const char *as = argc > 1 ? argv[1] : "";
    uint32_t size;

    if (!strcmp(as, "host"))
        return be_host();
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    size = job_size();
    try_all(!strcmp(as, "foreign"), false);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        try_nowhere(nowhere[i].name, nowhere[i].key);
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return report(size);
}
