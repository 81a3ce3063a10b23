/* client.c - the calls of a client that the other examples do not make: those that call back,
 * events, locality, credentials, monitors, control.
 *
 *   wireup -n 2 ./client */
#define EXAMPLE "client"
#include "../pmix/example.h"

#include <signal.h>

#include "answer.h"

static pmix_proc_t everybody(void)
{
    return process(PMIX_RANK_WILDCARD);
}

/* ---- exchange -------------------------------------------------------------------------------- */

static void on_value(pmix_status_t status, pmix_value_t *v, void *arg)
{
    answer_note(arg, status, v && v->type == PMIX_UINT32 ? v->data.uint32 : 0);
}

/* A fence and a get that do not block: the program computes meanwhile. */
static void fence_and_get(void)
{
    struct answer a = ANSWER_NONE;
    pmix_proc_t all = everybody(), next = process((me.rank + 1) % size);
    pmix_info_t collect;

    put_number("api.port", 4000 + me.rank);
    must("commit", PMIx_Commit());
    must("attribute", PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL));
    must("fence", answer_of(&a, PMIx_Fence_nb(&all, 1, &collect, 1, on_done, &a)));
    must("get", answer_of(&a, PMIx_Get_nb(&next, "api.port", NULL, 0, on_value, &a)));
    if (a.number != 4000 + next.rank)
        fail("rank %u has port %zu", next.rank, a.number);
    PMIx_Info_destruct(&collect);
}

/* What only this process is to find again; nobody else sees it. */
static void store(void)
{
    pmix_value_t v, *again = NULL;

    must("value", PMIx_Value_load(&v, "mine", PMIX_STRING));
    must("store", PMIx_Store_internal(&me, "api.own", &v));
    must("get", PMIx_Get(&me, "api.own", NULL, 0, &again));
    if (strcmp(again->data.string, "mine") != 0)
        fail("the own value is %s", again->data.string);
    PMIx_Value_free(again, 1);
    PMIx_Value_destruct(&v);
}

/* A library may be called before the program, or after it: it asks.  Nothing needs to be driven. */
static void state(void)
{
    if (!PMIx_Initialized())
        fail("the library says that it was not initialized");
    PMIx_Progress();
}

/* ---- names ----------------------------------------------------------------------------------- */

static void on_names(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)data;
    answer_note(arg, status, n);
}

/* One process publishes, all look up, the publisher takes it back. */
static void publish(void)
{
    struct answer a = ANSWER_NONE;
    char *names[] = { (char[]){ "api.service" }, NULL };
    pmix_info_t port;
    pmix_status_t rc = PMIX_SUCCESS;

    must("attribute", PMIx_Info_load(&port, names[0], "host:4000", PMIX_STRING));
    if (me.rank == 0)
        rc = answer_of(&a, PMIx_Publish_nb(&port, 1, on_done, &a));
    may("publish", rc);
    fence(false);
    may("look up", answer_of(&a, PMIx_Lookup_nb(names, NULL, 0, on_names, &a)));
    fence(false);
    if (me.rank == 0)
        may("unpublish", answer_of(&a, PMIx_Unpublish_nb(names, NULL, 0, on_done, &a)));
    PMIx_Info_destruct(&port);
}

/* ---- events ---------------------------------------------------------------------------------- */

enum { API_EVENT = PMIX_EXTERNAL_ERR_BASE - 7 };

static struct answer event = ANSWER_NONE;

static void on_event(size_t reference, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t next, void *arg)
{
    (void)reference, (void)source, (void)infos, (void)n, (void)results, (void)nresults;
    answer_note(&event, status, 0);
    next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* An event of one's own: a handler is registered, the event raised for this process, the handler
 * removed. */
static void events(void)
{
    struct answer a = ANSWER_NONE;
    pmix_status_t code = API_EVENT;
    size_t handler;

    must("register",
         answer_of(&a, PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_reference, &a)));
    handler = a.number;
    must("raise",
         answer_of(&a, PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, on_done, &a)));
    if (answer_of(&event, PMIX_SUCCESS) != code)
        fail("event %d came", event.status);
    must("remove", answer_of(&a, PMIx_Deregister_event_handler(handler, on_done, &a)));
}

/* ---- groups, and connected jobs -------------------------------------------------------------- */

/* All make a group and end it; then again, and each leaves it. */
static void groups(void)
{
    struct answer a = ANSWER_NONE;
    pmix_proc_t all = everybody();
    pmix_status_t rc;

    rc = answer_of(&a, PMIx_Group_construct_nb("api.group", &all, 1, NULL, 0, on_infos, &a));
    may("make a group", rc);
    if (!done(rc))
        return;
    must("end it", answer_of(&a, PMIx_Group_destruct_nb("api.group", NULL, 0, on_done, &a)));
}

/* Who leaves a group tells the others by an event; there is no collective operation. */
static void leave(void)
{
    struct answer a = ANSWER_NONE;
    pmix_proc_t all = everybody();
    pmix_info_t *results = NULL;
    size_t n = 0;

    if (!done(PMIx_Group_construct("api.left", &all, 1, NULL, 0, &results, &n)))
        return;
    PMIx_Info_free(results, n);
    if (me.rank == 0)
        may("leave", PMIx_Group_leave("api.left", NULL, 0));
    else
        may("leave", answer_of(&a, PMIx_Group_leave_nb("api.left", NULL, 0, on_done, &a)));
    fence(false);
}

static struct answer invitation = ANSWER_NONE;

static void on_invitation(size_t reference, pmix_status_t status, const pmix_proc_t *source,
                          pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,
                          pmix_event_notification_cbfunc_fn_t next, void *arg)
{
    (void)reference, (void)source, (void)infos, (void)n, (void)results, (void)nresults;
    answer_note(&invitation, status, 0);
    next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* Rank 0 invites rank 1, which joins when the invitation has come. */
static void invite(void)
{
    struct answer a = ANSWER_NONE;
    pmix_status_t code = PMIX_GROUP_INVITED;
    pmix_proc_t leader = process(0), guest = process(1);
    pmix_info_t *results = NULL;
    size_t n = 0;

    must("register", answer_of(&a, PMIx_Register_event_handler(&code, 1, NULL, 0, on_invitation,
                                                               on_reference, &a)));
    fence(false);
    if (me.rank == 0)
        may("invite",
            answer_of(&a, PMIx_Group_invite_nb("api.invited", &guest, 1, NULL, 0, on_infos, &a)));
    if (me.rank == 1 && answer_of(&invitation, PMIX_SUCCESS) == code)
        must("join",
             PMIx_Group_join("api.invited", &leader, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n));
    PMIx_Info_free(results, n);
    fence(false);
}

/* Processes that are connected count as one unit: an end of one is told to all. */
static void connect_all(void)
{
    struct answer a = ANSWER_NONE;
    pmix_proc_t all = everybody();
    pmix_status_t rc = answer_of(&a, PMIx_Connect_nb(&all, 1, NULL, 0, on_done, &a));

    may("connect", rc);
    if (done(rc))
        must("disconnect", answer_of(&a, PMIx_Disconnect_nb(&all, 1, NULL, 0, on_done, &a)));
}

/* ---- spawning -------------------------------------------------------------------------------- */

static void on_job(pmix_status_t status, pmix_nspace_t job, void *arg)
{
    struct answer *a = arg;

    if (status == PMIX_SUCCESS)
        PMIx_Load_nspace(a->job, job);
    answer_note(a, status, 0);
}

/* A job of one process, which ends at once. */
static void spawn(void)
{
    struct answer a = ANSWER_NONE;
    pmix_app_t *app = PMIx_App_create(1);

    app->cmd = strdup("true");
    app->maxprocs = 1;
    must("argument", PMIx_Argv_append_nosize(&app->argv, "true"));
    if (me.rank == 0)
        may("spawn", answer_of(&a, PMIx_Spawn_nb(NULL, 0, app, 1, on_job, &a)));
    PMIx_App_release(app);
    fence(false);
}

/* ---- place ----------------------------------------------------------------------------------- */

/* The machine, the processors of this process, and what two processes have in common. */
static void locality(void)
{
    pmix_topology_t machine;
    pmix_cpuset_t cpus, named;
    pmix_locality_t shared = 0;

    PMIx_Topology_construct(&machine);
    PMIx_Cpuset_construct(&cpus);
    PMIx_Cpuset_construct(&named);
    may("machine", PMIx_Load_topology(&machine));
    may("processors", PMIx_Get_cpuset(&cpus, PMIX_CPUBIND_PROCESS));
    may("by name", PMIx_Parse_cpuset_string("hwloc:0", &named));
    may("what they share",
        PMIx_Get_relative_locality("hwloc:NM0:PK0:CR0-1", "hwloc:NM0:PK0:CR1", &shared));
    PMIx_Cpuset_destruct(&named);
    PMIx_Cpuset_destruct(&cpus);
    PMIx_Topology_destruct(&machine);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *distances, size_t n,
                         void *arg, pmix_release_cbfunc_t release, void *release_arg)
{
    (void)distances;
    answer_note(arg, status, n);
    if (release)
        release(release_arg);
}

/* Which network device or GPU is near: NULL stands for this machine and this process. */
static void distances(void)
{
    struct answer a = ANSWER_NONE;
    pmix_topology_t machine;
    pmix_cpuset_t cpus;
    pmix_device_distance_t *found = NULL;
    size_t n = 0;

    PMIx_Topology_construct(&machine);
    PMIx_Cpuset_construct(&cpus);
    may("machine", PMIx_Load_topology(&machine));
    may("processors", PMIx_Get_cpuset(&cpus, PMIX_CPUBIND_PROCESS));
    may("distances", PMIx_Compute_distances(&machine, &cpus, NULL, 0, &found, &n));
    PMIx_Device_distance_free(found, n);
    may("distances",
        answer_of(&a, PMIx_Compute_distances_nb(&machine, &cpus, NULL, 0, on_distances, &a)));
    PMIx_Cpuset_destruct(&cpus);
    PMIx_Topology_destruct(&machine);
}

/* What the node shows of its fabric, for libraries that choose routes. */
static void fabric(void)
{
    struct answer a = ANSWER_NONE;
    pmix_fabric_t f;
    pmix_status_t rc;

    PMIx_Fabric_construct(&f);
    rc = PMIx_Fabric_register(&f, NULL, 0);
    may("fabric", rc);
    if (done(rc)) {
        may("newer", PMIx_Fabric_update(&f));
        may("newer", answer_of(&a, PMIx_Fabric_update_nb(&f, on_done, &a)));
        may("done with it", PMIx_Fabric_deregister(&f));
    }
    PMIx_Fabric_construct(&f);
    rc = answer_of(&a, PMIx_Fabric_register_nb(&f, NULL, 0, on_done, &a));
    may("fabric", rc);
    if (done(rc))
        may("done with it", answer_of(&a, PMIx_Fabric_deregister_nb(&f, on_done, &a)));
}

/* ---- trust ----------------------------------------------------------------------------------- */

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t infos[],
                          size_t n, void *arg)
{
    (void)infos, (void)n;
    answer_note(arg, status, credential ? credential->size : 0);
}

static void on_rights(pmix_status_t status, pmix_info_t infos[], size_t n, void *arg)
{
    (void)infos;
    answer_note(arg, status, n);
}

/* A proof of who we are, for another process of the job; it has it checked. */
static void credentials(void)
{
    struct answer a = ANSWER_NONE;
    pmix_byte_object_t proof;
    pmix_info_t *rights = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIx_Byte_object_construct(&proof);
    rc = PMIx_Get_credential(NULL, 0, &proof);
    may("credential", rc);
    if (done(rc)) {
        may("check", PMIx_Validate_credential(&proof, NULL, 0, &rights, &n));
        PMIx_Info_free(rights, n);
        may("check", answer_of(&a, PMIx_Validate_credential_nb(&proof, NULL, 0, on_rights, &a)));
    }
    PMIx_Byte_object_destruct(&proof);
    may("credential", answer_of(&a, PMIx_Get_credential_nb(NULL, 0, on_credential, &a)));
}

/* ---- requests to the launcher ---------------------------------------------------------------- */

/* A question; the answer comes later. */
static void query(void)
{
    struct answer a = ANSWER_NONE;
    pmix_query_t q;

    PMIx_Query_construct(&q);
    must("key", PMIx_Argv_append_nosize(&q.keys, PMIX_QUERY_NAMESPACES));
    may("query", answer_of(&a, PMIx_Query_info_nb(&q, 1, on_infos, &a)));
    PMIx_Query_destruct(&q);
}

/* A line into the job's standard error. */
static void log_line(void)
{
    struct answer a = ANSWER_NONE;
    pmix_info_t line;

    must("line", PMIx_Info_load(&line, PMIX_LOG_STDERR, "a line\n", PMIX_STRING));
    if (me.rank == 0)
        may("log", answer_of(&a, PMIx_Log_nb(&line, 1, NULL, 0, on_done, &a)));
    PMIx_Info_destruct(&line);
}

/* A signal that changes nothing, to all processes. */
static void control(void)
{
    struct answer a = ANSWER_NONE;
    pmix_proc_t all = everybody();
    pmix_info_t directive;
    int signal = SIGCONT;

    must("directive", PMIx_Info_load(&directive, PMIX_JOB_CTRL_SIGNAL, &signal, PMIX_INT));
    may("control", answer_of(&a, PMIx_Job_control_nb(&all, 1, &directive, 1, on_infos, &a)));
    PMIx_Info_destruct(&directive);
}

/* "If I send no heartbeat for a minute, tell me": an event comes then. */
static void monitor(void)
{
    struct answer a = ANSWER_NONE;
    pmix_info_t what, every, *results = NULL;
    uint32_t seconds = 60;
    size_t n = 0;

    must("what", PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL));
    must("how often", PMIx_Info_load(&every, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32));
    may("monitor",
        PMIx_Process_monitor(&what, PMIX_MONITOR_HEARTBEAT_ALERT, &every, 1, &results, &n));
    PMIx_Heartbeat();
    PMIx_Info_free(results, n);
    may("monitor", answer_of(&a, PMIx_Process_monitor_nb(&what, PMIX_MONITOR_HEARTBEAT_ALERT,
                                                         &every, 1, on_infos, &a)));
    PMIx_Info_destruct(&what);
    PMIx_Info_destruct(&every);
}

/* One node more, if there is one; a reservation of resources; the session that the job belongs to.
 */
static void resources(void)
{
    struct answer a = ANSWER_NONE;
    pmix_info_t nodes, label;
    uint64_t one = 1;
    uint32_t session = 0;

    must("nodes", PMIx_Info_load(&nodes, PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64));
    must("label", PMIx_Info_load(&label, PMIX_SESSION_SIGNAL, (int[]){ 0 }, PMIX_INT));
    if (me.rank == 0) {
        pmix_status_t rc =
            answer_of(&a, PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &nodes, 1, on_infos, &a));
        if (!done(rc) && !is_refusal(rc) && rc != PMIX_ERR_OUT_OF_RESOURCE)
            fail("nodes: %s", PMIx_Error_string(rc));
        may("session", answer_of(&a, PMIx_Session_control(session, &label, 1, on_infos, &a)));
    }
    PMIx_Info_destruct(&nodes);
    PMIx_Info_destruct(&label);
}

/* A named set of resources, which jobs may then be given. */
static void blocks(void)
{
    struct answer a = ANSWER_NONE;
    pmix_resource_unit_t unit;

    PMIx_Resource_unit_construct(&unit);
    unit.count = 1;
    if (me.rank == 0) {
        may("block", PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, (char[]){ "api.block" }, &unit,
                                         1, NULL, 0));
        may("block", answer_of(&a, PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_REMOVE,
                                                          (char[]){ "api.block" }, NULL, 0, NULL, 0,
                                                          on_done, &a)));
    }
    PMIx_Resource_unit_destruct(&unit);
}

/* Ends the processes that are named, with a status and a sentence. */
__attribute__((unused)) static void abort_job(void)
{
    pmix_proc_t all = everybody();

    PMIx_Abort(3, "no way on", &all, 1);
}

int main(void)
{
    begin();
    state();
    fence_and_get();
    store();
    publish();
    events();
    groups();
    leave();
    invite();
    connect_all();
    spawn();
    locality();
    distances();
    fabric();
    credentials();
    query();
    log_line();
    control();
    monitor();
    resources();
    blocks();
    fence(false);
    return end();
}
