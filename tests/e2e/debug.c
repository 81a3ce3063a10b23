/* debug.c - a debugger by the PMIx interface, and the processes that it debugs.
 *
 *   debug child DIR WHERE RANKS    a process that stops at WHERE (exec, init, app) if it is one of
 *                                  RANKS ("all", or "1,3")
 *   debug spawn URI DIR WHERE RANKS N PROGRAM
 *                                  a tool: N such processes of PROGRAM, as a job of its own; it
 *                                  releases them when they are ready, and waits for their end
 *   debug daemons URI DIR WHERE RANKS N PROGRAM
 *                                  likewise; before it releases them it starts daemons: one on
 *                                  each of their nodes, one for each of them, two for each of
 *                                  RANKS, and two on each node of RANKS
 *   debug daemon                   one of these: prints its node, and what it finds there
 *   debug attach URI DIR WHERE RANKS N
 *                                  as spawn, with the job that is there
 *
 * What proves that a process has stopped: after its stop it finds the file DIR/released, which the
 * tool makes before it releases anybody; and the tool does so only when all others have come past
 * theirs.  A child prints `child RANK WHERE good`, the tool `tool WHERE good`. */
#include <fcntl.h>
#include <pmix_tool.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeps.h"

#define PROGRAM "debug"
#include "pmix_rank.h"

#ifndef PMIX_DEBUG_WAIT_FOR_NOTIFY /* of releases that do not have the older name */
#define PMIX_DEBUG_WAIT_FOR_NOTIFY PMIX_DEBUG_STOP_IN_APP
#endif

enum { PATH = 600 };

static const char *dir, *where, *ranks;

static void mark(const char *name)
{
    char path[PATH];
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0)
        complain("%s cannot be made", path);
    else
        close(fd);
}

static bool is_marked(const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static bool stops(uint32_t rank)
{
    char list[PATH], one[16];

    snprintf(list, sizeof list, ",%s,", ranks);
    snprintf(one, sizeof one, ",%u,", rank);
    return !strcmp(ranks, "all") || strstr(list, one);
}

/* ---- a process of the job -------------------------------------------------------------------- */

static atomic_int released;

static void on_release(size_t ref, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t *infos, size_t n, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    released++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    (void)ref, (void)status, (void)source, (void)infos, (void)n, (void)results, (void)nresults;
}

static void listen_for(pmix_status_t code, pmix_notification_fn_t fn)
{
    pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    if (rc < 0)
        complain("event handler: %s", PMIx_Error_string(rc));
}

/* As a program does that knows of it. */
static void stop_in_app(void)
{
    const char *name = getenv("PMIX_BREAKPOINT");
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;
    pmix_info_t infos[2];

    if (PMIx_Get(&all, PMIX_DEBUG_STOP_IN_APP, NULL, 0, &v) != PMIX_SUCCESS) {
        if (stops(me.rank))
            complain("is not told to stop");
        return;
    }
    if (v->type != PMIX_PROC_RANK ||
        (v->data.rank != me.rank && v->data.rank != PMIX_RANK_WILDCARD))
        complain("is told a stop of another");
    PMIX_VALUE_RELEASE(v);
    if (!name || strcmp(name, "here"))
        complain("the breakpoint is %s", name ? name : "nowhere");
    listen_for(PMIX_DEBUGGER_RELEASE, on_release);
    PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_BREAKPOINT, "here", PMIX_STRING);
    must("notify",
         PMIx_Notify_event(PMIX_READY_FOR_DEBUG, &me, PMIX_RANGE_RM, infos, 2, NULL, NULL));
    wait_for("release", &released, 1);
}

static int child(void)
{
    const char *number = getenv("PMIX_RANK");
    bool early = is_marked("released"), in_init;
    char name[32];

    must("init", PMIx_Init(&me, NULL, 0));
    mode = where;
    in_init = is_marked("released");
    if (!strcmp(where, "app"))
        stop_in_app();
    if (!number || (uint32_t)strtoul(number, NULL, 10) != me.rank)
        complain("is %s", number ? number : "nobody");
    if (stops(me.rank) && !(!strcmp(where, "exec")   ? early
                            : !strcmp(where, "init") ? in_init
                                                     : is_marked("released")))
        complain("has not stopped");
    if (!stops(me.rank)) {
        snprintf(name, sizeof name, "passed.%u", me.rank);
        mark(name);
    }
    fence();
    printf("child %u %s %s\n", me.rank, where, wrong ? "WRONG" : "good");
    fflush(stdout);
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}

/* ---- the debugger ---------------------------------------------------------------------------- */

enum { EVENTS = 64 };

/* Events of all jobs, also of those before: servers keep them. */
static struct seen {
    pmix_status_t code;
    pmix_nspace_t nspace;
    char breakpoint[64], set[64];
    size_t members;
} seen[EVENTS];
static atomic_int nseen;
static pmix_nspace_t job; /* empty: any */

static const pmix_value_t *find(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&infos[i], key))
            return &infos[i].value;
    }
    return NULL;
}

static void on_event(size_t ref, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t *infos, size_t n, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_value_t *of = find(infos, n, PMIX_NSPACE), *at = find(infos, n, PMIX_BREAKPOINT);
    const pmix_value_t *set = find(infos, n, PMIX_PSET_NAME);
    const pmix_value_t *members = find(infos, n, PMIX_PSET_MEMBERS);

    struct seen *h = &seen[nseen % EVENTS];

    h->code = status;
    PMIX_LOAD_NSPACE(h->nspace, of ? of->data.string : "nobody");
    snprintf(h->breakpoint, sizeof h->breakpoint, "%s", at ? at->data.string : "nowhere");
    if (set && members && members->type == PMIX_DATA_ARRAY) {
        const pmix_proc_t *first = members->data.darray->array;
        snprintf(h->set, sizeof h->set, "%s", set->data.string);
        h->members = members->data.darray->size;
        PMIX_LOAD_NSPACE(h->nspace, first->nspace);
    }
    nseen++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    (void)ref, (void)source, (void)results, (void)nresults;
}

static const struct seen *await_event(pmix_status_t code)
{
    for (int i = 0; i < RANK_PATIENCE; i++) {
        for (int k = 0; k < nseen && k < EVENTS; k++) {
            if (seen[k].code == code && (!*job || !strcmp(seen[k].nspace, job)))
                return &seen[k];
        }
        usleep(2000);
    }
    complain("no event %s", PMIx_Error_string(code));
    return &seen[0];
}

static void begin_tool(const char *uri)
{
    pmix_info_t infos[1];

    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_URI, uri, PMIX_STRING);
    must("tool", PMIx_tool_init(&me, infos, 1));
    mode = where;
    listen_for(PMIX_READY_FOR_DEBUG, on_event);
    listen_for(PMIX_LAUNCH_COMPLETE, on_event);
    listen_for(PMIX_EVENT_JOB_END, on_event);
    listen_for(PMIX_PROCESS_SET_DEFINE, on_event);
}

static void check_set(const struct seen *s, int n)
{
    if (strcmp(s->set, "debugged") || s->members != (size_t)n)
        complain("a set %s of %zu", s->set, s->members);
}

/* Of all a flag, of one a rank, of several an array. */
static void load_ranks(pmix_info_t *info, const char *key)
{
    pmix_rank_t list[8];
    pmix_data_array_t array = { .type = PMIX_PROC_RANK, .array = list };

    for (uint32_t r = 0; r < 8; r++) {
        if (stops(r))
            list[array.size++] = r;
    }
    if (!strcmp(ranks, "all"))
        PMIX_INFO_LOAD(info, key, NULL, PMIX_BOOL);
    else if (array.size == 1)
        PMIX_INFO_LOAD(info, key, &list[0], PMIX_PROC_RANK);
    else
        PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
    info->flags |= PMIX_INFO_REQD;
}

static void spawn(const char *program, int n)
{
    const char *key = !strcmp(where, "exec")   ? PMIX_DEBUG_STOP_ON_EXEC
                      : !strcmp(where, "init") ? PMIX_DEBUG_STOP_IN_INIT
                      : !strcmp(ranks, "all")  ? PMIX_DEBUG_WAIT_FOR_NOTIFY /* its older name */
                                               : PMIX_DEBUG_STOP_IN_APP;
    const char *words[] = { program, "child", dir, where, ranks };
    pmix_info_t infos[3];
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    app.maxprocs = n;
    app.argv = calloc(sizeof words / sizeof *words + 1, sizeof *app.argv);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        app.argv[i] = strdup(words[i]);
    load_ranks(&infos[0], key);
    PMIX_INFO_LOAD(&infos[1], PMIX_PSET_NAME, "debugged", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_BREAKPOINT, "here", PMIX_STRING);
    must("spawn", PMIx_Spawn(infos, !strcmp(where, "app") ? 3 : 2, &app, 1, job));
    check_set(await_event(PMIX_PROCESS_SET_DEFINE), n);
    PMIX_APP_DESTRUCT(&app);
}

/* Processes that are not to stop come past it meanwhile. */
static void wait_for_others(int n)
{
    char name[32];

    for (uint32_t r = 0; r < (uint32_t)n; r++) {
        snprintf(name, sizeof name, "passed.%u", r);
        for (int i = 0; !stops(r) && i < RANK_PATIENCE && !is_marked(name); i++)
            usleep(2000);
        if (is_marked(name) == stops(r))
            complain("rank %u has%s stopped", r, stops(r) ? " not" : "");
    }
}

/* ---- its daemons ----------------------------------------------------------------------------- */

static void spawn_daemons(const char *program, pmix_info_t *infos, size_t n)
{
    bool yes = true;
    pmix_nspace_t name;
    pmix_app_t app;

    PMIX_INFO_LOAD(&infos[n], PMIX_DEBUGGER_DAEMONS, &yes, PMIX_BOOL);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    app.maxprocs = 1;
    app.argv = calloc(3, sizeof *app.argv);
    app.argv[0] = strdup(program);
    app.argv[1] = strdup("daemon");
    must("daemons", PMIx_Spawn(infos, n + 1, &app, 1, name));
    PMIX_APP_DESTRUCT(&app);
    PMIX_LOAD_NSPACE(job, name);
    await_event(PMIX_EVENT_JOB_END);
}

static void send_daemons(const char *program)
{
    pmix_nspace_t debugged;
    pmix_proc_t all, some[8];
    pmix_data_array_t array = { .type = PMIX_PROC, .array = some };
    pmix_info_t infos[3];
    uint16_t one = 1, two = 2;

    PMIX_LOAD_NSPACE(debugged, job);
    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&infos[0], PMIX_DEBUG_TARGET, &all, PMIX_PROC);
    PMIX_INFO_LOAD(&infos[1], PMIX_DEBUG_DAEMONS_PER_NODE, &one, PMIX_UINT16);
    spawn_daemons(program, infos, 2);
    PMIX_INFO_LOAD(&infos[1], PMIX_DEBUG_DAEMONS_PER_PROC, &one, PMIX_UINT16);
    spawn_daemons(program, infos, 2);
    for (uint32_t r = 0; r < 8; r++) {
        if (!stops(r))
            continue;
        PMIX_LOAD_PROCID(&some[array.size], debugged, r);
        array.size++; /* (OpenPMIx's macro uses its argument several times) */
    }
    PMIX_INFO_LOAD(&infos[0], PMIX_COLOCATE_PROCS, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&infos[1], PMIX_COLOCATE_NPERPROC, &two, PMIX_UINT16);
    spawn_daemons(program, infos, 2);
    PMIX_INFO_LOAD(&infos[1], PMIX_COLOCATE_NPERNODE, &two, PMIX_UINT16);
    spawn_daemons(program, infos, 2);
    PMIX_LOAD_NSPACE(job, debugged);
}

static size_t processes_here(const char *nspace)
{
    pmix_query_t *q;
    pmix_info_t *found = NULL;
    size_t nfound = 0, n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, PMIX_QUERY_LOCAL_PROC_TABLE);
    PMIX_QUERY_QUALIFIERS_CREATE(q, 1);
    PMIX_INFO_LOAD(&q->qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    rc = PMIx_Query_info(q, 1, &found, &nfound);
    must("process table", rc);
    if (rc == PMIX_SUCCESS && nfound == 1 && found->value.type == PMIX_DATA_ARRAY &&
        found->value.data.darray->type == PMIX_PROC_INFO)
        n = found->value.data.darray->size;
    for (size_t i = 0; i < n; i++) {
        if (((pmix_proc_info_t *)found->value.data.darray->array)[i].pid <= 0)
            complain("a process without a number");
    }
    return n;
}

/* Whom it debugs it is told, if it is there for that. */
static int daemon_here(void)
{
    pmix_proc_t all;
    pmix_value_t *v = NULL;
    char host[64] = "?";
    long n = -1;

    must("init", PMIx_Init(&me, NULL, 0));
    all = process(PMIX_RANK_WILDCARD);
    if (PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS)
        snprintf(host, sizeof host, "%s", v->data.string);
    if (PMIx_Get(&all, PMIX_DEBUG_TARGET, NULL, 0, &v) == PMIX_SUCCESS) {
        if (v->type != PMIX_PROC || v->data.proc->rank != PMIX_RANK_WILDCARD)
            complain("a target of another kind");
        n = (long)processes_here(v->data.proc->nspace);
    }
    printf("daemon %u on %s: %ld %s\n", me.rank, host, n, wrong ? "WRONG" : "good");
    fflush(stdout);
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}

static void release(void)
{
    pmix_proc_t all;
    pmix_info_t infos[2];

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC);
    PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    mark("released");
    must("release",
         PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &me, PMIX_RANGE_CUSTOM, infos, 2, NULL, NULL));
}

static int debug(const char *uri, int n, const char *program, bool daemons)
{
    const char *at = !strcmp(where, "exec")   ? "exec"
                     : !strcmp(where, "init") ? "pmix-init"
                                              : "here";

    const struct seen *ready;

    begin_tool(uri);
    if (program)
        spawn(program, n);
    ready = await_event(PMIX_READY_FOR_DEBUG);
    PMIX_LOAD_NSPACE(job, ready->nspace);
    if (strcmp(ready->breakpoint, at))
        complain("ready at %s", ready->breakpoint);
    wait_for_others(n);
    if (daemons)
        send_daemons(program);
    release();
    if (program) {
        await_event(PMIX_LAUNCH_COMPLETE);
        await_event(PMIX_EVENT_JOB_END);
    }
    printf("tool %s %s\n", where, wrong ? "WRONG" : "good");
    must("finalize", PMIx_tool_finalize());
    return wrong != 0;
}

int main(int argc, char **argv)
{
    bool is_child = argc == 5 && !strcmp(argv[1], "child");

    mode = "start";
    if (argc == 2 && !strcmp(argv[1], "daemon"))
        return daemon_here();
    if (!is_child && argc < 7)
        return 2;
    dir = argv[is_child ? 2 : 3];
    where = argv[is_child ? 3 : 4];
    ranks = argv[is_child ? 4 : 5];
    return is_child ? child()
                    : debug(argv[2], atoi(argv[6]), argc > 7 ? argv[7] : NULL,
                            !strcmp(argv[1], "daemons"));
}
