/* scheduler.c - a tool that schedules, and those that ask for allocations.
 *
 *   scheduler ADDRESS serve   the scheduler of the launcher with this address, until its input
 *                             ends; each line is the number of a session, which it ends, or
 *                             `grant`: what was held
 *   scheduler ADDRESS WHAT    a tool of it; WHAT without an address: a process of a job
 *       ask     allocates by the words of the scheduler, which names the nodes
 *       spawn   reserves nodes by spawns, as the scheduler grants
 *       late    likewise, with a limit of 1 s for the start, which the scheduler lets pass
 *       late-start   likewise, with one of LIMIT s, which the node lets pass
 *       all     asks for all that only a scheduler can grant
 *       lost    what a scheduler that dies has been asked
 *       lost-spawn   likewise, by a spawn
 *       none    without a scheduler
 *       keep    allocates, prints the number of the session, and holds it until its input ends
 *       end N   ends the session of another one
 *
 * The scheduler grants what names the queue `fast`, node n2 for a new allocation, n3 for more, and
 * releases; it answers nobody who calls his request `lost`.  Of a spawn's request
 * it grants n3 to `spawned`, to `held` when it is told to, and nothing to others.  Runs on our
 * library; ask, spawn, late, all, lost and none on OpenPMIx's, too.  Prints `scheduler WHAT good`,
 * or `scheduler WHAT WRONG ...`. */
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeps.h"

#define SCHEDULER "pmix.srv.sched" /* younger than OpenPMIx 4.2.2's tools know */

static int wrong;
static const char *what;
static uint32_t session; /* of the last answer */

/* ---- the scheduler --------------------------------------------------------------------------- */

static const char *text_of(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, key) && infos[i].value.type == PMIX_STRING)
            return infos[i].value.data.string;
    }
    return "";
}

#ifndef ONLY_ASKS /* OpenPMIx 4.2.2's tools have no functions of a server */
static pmix_status_t give(const char *id, const char *nodes, pmix_info_cbfunc_t done, void *arg)
{
    pmix_info_t infos[3];
    uint32_t limit = 100;

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NODE_LIST, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_TIME, &limit, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_ALLOC_ID, id, PMIX_STRING);
    done(PMIX_SUCCESS, infos, *id ? 3 : 2, arg, NULL, NULL);
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[2]);
    return PMIX_SUCCESS;
}

/* The last request that is held. */
static _Atomic(pmix_info_cbfunc_t) held;
static _Atomic(void *) held_arg;

static pmix_status_t on_request(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                const pmix_info_t infos[], size_t n, pmix_info_cbfunc_t done,
                                void *arg)
{
    const char *queue = text_of(infos, n, PMIX_ALLOC_QUEUE);

    printf("asked %d %s rank %u\n", (int)directive, queue, client->rank);
    for (size_t i = 0; i < n && !strcmp(queue, "all"); i++)
        printf("told %s %s\n", infos[i].key, PMIx_Data_type_string(infos[i].value.type));
    fflush(stdout);
    if (!strcmp(text_of(infos, n, PMIX_ALLOC_REQ_ID), "lost"))
        return PMIX_SUCCESS;
    if (!strcmp(text_of(infos, n, PMIX_ALLOC_REQ_ID), "held")) {
        held_arg = arg;
        held = done;
        return PMIX_SUCCESS;
    }
    if (!strcmp(text_of(infos, n, PMIX_ALLOC_REQ_ID), "spawned"))
        return give("", "n3", done, arg);
    if (directive == PMIX_ALLOC_RELEASE)
        return PMIX_OPERATION_SUCCEEDED;
    if (strcmp(queue, "fast") != 0)
        return PMIX_ERR_NO_PERMISSIONS;
    return directive == PMIX_ALLOC_NEW ? give("fast-1", "n2", done, arg)
                                       : give("", "n3", done, arg);
}

/* The session of another one, as the scheduler or not. */
static pmix_status_t end_session(const char *number)
{
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SESSION_TERMINATE, &yes, PMIX_BOOL);
    return PMIx_Session_control((uint32_t)atoi(number), &info, 1, NULL, NULL);
}

static void obey(const char *line)
{
    if (!strcmp(line, "grant\n")) {
        give("", "n3", held, held_arg);
        printf("granted\n");
    } else {
        printf("ended %d: %s\n", atoi(line), PMIx_Error_string(end_session(line)));
    }
    fflush(stdout);
}

static int serve(const char *address)
{
    static pmix_server_module_t module = { .allocate = on_request };
    pmix_info_t infos[2];
    bool yes = true;
    pmix_proc_t me;
    pmix_status_t rc;
    char line[32];

    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_URI, address, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], SCHEDULER, &yes, PMIX_BOOL);
    rc = PMIx_tool_init(&me, infos, 2);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_tool_set_server_module(&module);
    printf("%s\n", rc == PMIX_SUCCESS ? "ready" : PMIx_Error_string(rc));
    fflush(stdout);
    while (rc == PMIX_SUCCESS && fgets(line, sizeof line, stdin))
        obey(line);
    PMIx_tool_finalize();
    return rc != PMIX_SUCCESS;
}

#else
static pmix_status_t end_session(const char *number)
{
    (void)number;
    return PMIX_ERR_NOT_SUPPORTED;
}

static int serve(const char *address)
{
    (void)address;
    return 1;
}
#endif

/* ---- those who ask --------------------------------------------------------------------------- */

static pmix_status_t request(pmix_alloc_directive_t directive, const char *id, const char *key,
                             const char *value, char *nodes)
{
    pmix_info_t infos[3], *results = NULL;
    size_t n = 0, ninfos = 0;
    uint64_t one = 1;
    pmix_status_t rc;

    nodes[0] = '\0';
    session = 0;
    if (directive != PMIX_ALLOC_RELEASE)
        PMIX_INFO_LOAD(&infos[ninfos++], PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64);
    if (key)
        PMIX_INFO_LOAD(&infos[ninfos++], key, value, PMIX_STRING);
    if (id)
        PMIX_INFO_LOAD(&infos[ninfos++], PMIX_ALLOC_ID, id, PMIX_STRING);
    rc = PMIx_Allocation_request(directive, infos, ninfos, &results, &n);
    if (rc == PMIX_SUCCESS)
        snprintf(nodes, 200, "%s %s", text_of(results, n, PMIX_ALLOC_ID),
                 text_of(results, n, PMIX_ALLOC_NODE_LIST));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(results[i].key, PMIX_SESSION_ID))
            session = results[i].value.data.uint32;
    }
    if (results)
        PMIX_INFO_FREE(results, n);
    return rc;
}

static void want(const char *name, pmix_status_t rc, pmix_status_t status, const char *nodes,
                 const char *wanted)
{
    if (rc == status && (!wanted || !strcmp(nodes, wanted)))
        return;
    wrong++;
    printf("scheduler %s WRONG %s: %s '%s'\n", what, name, PMIx_Error_string(rc), nodes);
}

/* Of a job that says where it runs. */
static pmix_status_t spawn_reserving(const char *req_id, int limit)
{
    char program[] = "sh", option[] = "-c", *argv[] = { program, option, NULL, NULL };
    char script[300];
    uint64_t one = 1;
    pmix_nspace_t job;
    pmix_info_t infos[3];
    pmix_app_t app;

    snprintf(script, sizeof script, "hostname >>'%s'", getenv("WHERE"));
    argv[2] = script;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = program;
    app.argv = argv;
    app.maxprocs = 1;
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_REQ_ID, req_id, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_SPAWN_TIMEOUT, &limit, PMIX_INT);
    return PMIx_Spawn(infos, limit ? 3 : 2, &app, 1, job);
}

static void spawn(void)
{
    want("a spawn", spawn_reserving("spawned", 0), PMIX_SUCCESS, "", NULL);
    want("one that is refused", spawn_reserving("other", 0), PMIX_ERR_JOB_ALLOC_FAILED, "", NULL);
}

static void late(int limit)
{
    want("a spawn that is late", spawn_reserving("held", limit), PMIX_ERR_TIMEOUT, "", NULL);
}

static void ask(void)
{
    char got[200];
    pmix_status_t rc;

    rc = request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "fast", got);
    want("new", rc, PMIX_SUCCESS, got, "fast-1 n2");
    rc = request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "closed", got);
    want("a queue that is not for us", rc, PMIX_ERR_NO_PERMISSIONS, got, NULL);
    rc = request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "fast", got);
    want("the same again", rc, PMIX_ERR_DUPLICATE_KEY, got, NULL);
    rc = request(PMIX_ALLOC_EXTEND, "fast-1", PMIX_ALLOC_QUEUE, "fast", got);
    want("more", rc, PMIX_SUCCESS, got, "fast-1 n2,n3");
    rc = request(PMIX_ALLOC_RELEASE, "fast-1", NULL, NULL, got);
    want("release", rc, PMIX_SUCCESS, got, NULL);
    rc = request(PMIX_ALLOC_RELEASE, "fast-1", NULL, NULL, got);
    want("release of nothing", rc, PMIX_ERR_NOT_FOUND, got, NULL);
}

/* Only a scheduler can judge these. */
static const struct {
    const char *key;
    pmix_data_type_t type;
} for_it[] = {
    { PMIX_ALLOC_NUM_CPU_LIST, PMIX_STRING }, { PMIX_ALLOC_CPU_LIST, PMIX_STRING },
    { PMIX_ALLOC_MEM_SIZE, PMIX_FLOAT },      { PMIX_ALLOC_BANDWIDTH, PMIX_FLOAT },
    { PMIX_ALLOC_FABRIC_ID, PMIX_STRING },    { PMIX_ALLOC_FABRIC_QOS, PMIX_STRING },
    { PMIX_ALLOC_FABRIC_TYPE, PMIX_STRING },  { PMIX_ALLOC_FABRIC_PLANE, PMIX_STRING },
    { PMIX_ALLOC_FABRIC_ENDPTS, PMIX_SIZE },  { PMIX_ALLOC_FABRIC_ENDPTS_NODE, PMIX_SIZE },
#ifndef ONLY_ASKS
    { PMIX_ALLOC_BEGIN, PMIX_STRING },        { PMIX_ALLOC_DEPENDENCY, PMIX_STRING },
    { PMIX_ALLOC_IMAGE, PMIX_STRING },        { PMIX_ALLOC_LEND, PMIX_STRING },
    { PMIX_ALLOC_PREEMPTIBLE, PMIX_BOOL },    { PMIX_ALLOC_SHARE, PMIX_BOOL },
#endif
};

enum { FOR_IT = sizeof for_it / sizeof *for_it };

static pmix_status_t request_with(const char *queue, size_t first, size_t count)
{
    static const float number = 1;
    static const size_t size = 1;
    pmix_info_t infos[FOR_IT + 1], *results = NULL;
    size_t n = 0, ninfos = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&infos[ninfos++], PMIX_ALLOC_QUEUE, queue, PMIX_STRING);
    for (size_t i = first; i < first + count; i++) {
        const void *value = for_it[i].type == PMIX_STRING  ? (const void *)"1"
                            : for_it[i].type == PMIX_FLOAT ? (const void *)&number
                            : for_it[i].type == PMIX_SIZE  ? (const void *)&size
                                                           : NULL;
        PMIX_INFO_LOAD(&infos[ninfos++], for_it[i].key, value, for_it[i].type);
    }
    rc = PMIx_Allocation_request(PMIX_ALLOC_NEW, infos, ninfos, &results, &n);
    if (results)
        PMIX_INFO_FREE(results, n);
    return rc;
}

/* The scheduler is told all of them, which it does not grant. */
static void all(void)
{
    want("all of them", request_with("all", 0, FOR_IT), PMIX_ERR_NO_PERMISSIONS, "", NULL);
}

static void lost(void)
{
    char got[200];

    want("answer", request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_REQ_ID, "lost", got),
         PMIX_ERR_LOST_CONNECTION, got, NULL);
}

static void lost_spawn(void)
{
    want("a spawn", spawn_reserving("lost", 0), PMIX_ERR_JOB_ALLOC_FAILED, "", NULL);
}

static void none(void)
{
    char got[200], id[200] = "";

    want("a queue", request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "fast", got),
         PMIX_ERR_NOT_SUPPORTED, got, NULL);
    for (size_t i = 0; i < FOR_IT; i++)
        want(for_it[i].key, request_with("", i, 1), PMIX_ERR_NOT_SUPPORTED, "", NULL);
    want("new", request(PMIX_ALLOC_NEW, NULL, NULL, NULL, got), PMIX_SUCCESS, got, NULL);
    sscanf(got, "%199s", id);
    want("release", request(PMIX_ALLOC_RELEASE, id, NULL, NULL, got), PMIX_SUCCESS, got, NULL);
}

/* The scheduler ends it meanwhile. */
static void keep(void)
{
    char got[200];

    want("new", request(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "fast", got), PMIX_SUCCESS, got,
         "fast-1 n2");
    printf("%u\n", session);
    fflush(stdout);
    while (getchar() != EOF) {
        /* until the scheduler has ended it */
    }
    want("release", request(PMIX_ALLOC_RELEASE, "fast-1", NULL, NULL, got), PMIX_ERR_NOT_FOUND, got,
         NULL);
}

static void end(const char *number)
{
    want("end", end_session(number), PMIX_ERR_NO_PERMISSIONS, "", NULL);
}

int main(int argc, char **argv)
{
    bool is_tool = argc > 2;
    pmix_info_t info;
    pmix_proc_t me;
    pmix_status_t rc;

    what = argv[is_tool ? 2 : argc - 1];
    if (is_tool && !strcmp(what, "serve"))
        return serve(argv[1]);
    if (is_tool) {
        PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
        rc = PMIx_tool_init(&me, &info, 1);
    } else {
        rc = PMIx_Init(&me, NULL, 0);
    }
    want("init", rc, PMIX_SUCCESS, "", NULL);
    if (rc != PMIX_SUCCESS)
        return 1;
    if (!strcmp(what, "ask"))
        ask();
    else if (!strcmp(what, "all"))
        all();
    else if (!strcmp(what, "spawn"))
        spawn();
    else if (!strcmp(what, "late"))
        late(1);
    else if (!strcmp(what, "late-start"))
        late(atoi(getenv("LIMIT")));
    else if (!strcmp(what, "lost"))
        lost();
    else if (!strcmp(what, "lost-spawn"))
        lost_spawn();
    else if (!strcmp(what, "keep"))
        keep();
    else if (!strcmp(what, "end"))
        end(argv[argc - 1]);
    else
        none();
    if (!wrong)
        printf("scheduler %s good\n", what);
    fflush(stdout);
    if (is_tool)
        PMIx_tool_finalize();
    else
        PMIx_Finalize(NULL, 0);
    return wrong != 0;
}
