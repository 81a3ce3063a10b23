/* dvmjobs.c - tools that give jobs to a DVM (`wireup up`), and those jobs.  Runs on our library and
 * on OpenPMIx's.
 *
 *   dvmjobs rank hello           a process of a job: says `hello RANK HOST`, and ends
 *   dvmjobs rank stay            says `stays RANK`, and stays
 *   dvmjobs rank publish RANGE   publishes `dvm.RANGE`, says `stays RANK`, and stays
 *   dvmjobs rank keep X          publishes `dvm.X` for as long as the session, and ends
 *   dvmjobs rank find RANGE      waits for that name to be published; prints the status
 *   dvmjobs ADDRESS WHAT [X]     a tool of the launcher with this address:
 *     follow [X]   spawns a job on every node (X: where there is room); is told of its start, its
 *                  output and its end
 *     fails        ... whose processes exit with 7
 *     spread       ... of two processes, three times: each has a node of its own
 *     kill, terminate, abort     ... that stays, sees its table, and ends it so
 *     leave        ... and dies; prints the job's name
 *     local        ... and leaves, wherever its processes are
 *     staged X     ... whose processes find the file X, of 3 MB, brought to their nodes
 *     end X        ends the job X and is told of it
 *     has X        sees the job X, and how many processes it has on which node
 *     ready        is told that the launcher is ready, since before the tool came
 *     names        a job publishes on each range; another one and the tool look; a name outlives
 *                  its job
 *
 * Prints `dvmjobs WHAT good`, or `dvmjobs WHAT WRONG ...`. */
#include <limits.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "keeps.h"
#define PROGRAM "dvmjobs"
#include "pmix_rank.h"
#include "job_output.h"

#ifndef PMIX_MONITOR_PROC_RESOURCE_USAGE /* OpenPMIx before 6 */
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"
#define PMIX_MONITOR_TARGET_PROCS        "pmix.monitor.tgtproc"
#endif

enum { NODES = 3, EACH = 2, PROCS = NODES * EACH, EVENTS = 1024 };

static char self[PATH_MAX];
static pmix_nspace_t job;
static char *given;

/* ---- events and output ----------------------------------------------------------------------- */

/* A tool is told of all jobs, also of those that have ended before it came. */
struct job_event_seen {
    pmix_status_t code, status;
    pmix_nspace_t nspace;
    int exit_code;
};

static struct job_event_seen list[EVENTS];
static atomic_int listed, launchers;

static void on_event(size_t ref, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                     size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    struct job_event_seen *e = &list[listed < EVENTS ? listed : EVENTS - 1];

    (void)ref;
    (void)source;
    (void)results;
    (void)nresults;
    e->code = code;
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC) && infos[i].value.data.proc)
            PMIX_LOAD_NSPACE(e->nspace, infos[i].value.data.proc->nspace);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_JOB_TERM_STATUS))
            e->status = infos[i].value.data.status;
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_EXIT_CODE))
            e->exit_code = infos[i].value.data.integer;
    }
    listed++;
    if (fn)
        fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* The DVM, which is ready since before the tool came. */
static void on_launcher(size_t ref, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    (void)ref;
    (void)infos;
    (void)n;
    (void)results;
    (void)nresults;
    if (code == PMIX_LAUNCHER_READY && source->rank == 0 && *source->nspace)
        launchers++;
    if (fn)
        fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* The event of this job; the time only catches hangs. */
static const struct job_event_seen *await(pmix_status_t code)
{
    int at = 0;

    for (int i = 0; i < RANK_PATIENCE; i++) {
        for (; at < listed && at < EVENTS; at++) {
            if (list[at].code == code && PMIX_CHECK_NSPACE(list[at].nspace, job))
                return &list[at];
        }
        usleep(2000);
    }
    complain("no %s of %s", PMIx_Error_string(code), job);
    return NULL;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* by: how they are placed; NULL: as usual. */
static pmix_status_t spawn_with(char **argv, int procs, const char *by, const pmix_info_t *more,
                                size_t nmore)
{
    char here[] = "/";
    pmix_app_t app;
    pmix_info_t infos[6];
    size_t n = 0;
    pmix_status_t rc;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.cwd = here;
    app.maxprocs = procs;
    PMIX_INFO_LOAD(&infos[n++], PMIX_NOTIFY_COMPLETION, NULL, PMIX_BOOL);
    if (by)
        PMIX_INFO_LOAD(&infos[n++], PMIX_MAPBY, by, PMIX_STRING);
    if (nmore)
        memcpy(infos + n, more, nmore * sizeof *more);
    rc = PMIx_Spawn(infos, n + nmore, &app, 1, job);
    if (by)
        PMIX_INFO_DESTRUCT(&infos[1]);
    return rc;
}

static void begin_job(const char *a, const char *b, const char *c)
{
    char *argv[] = { self, (char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c, NULL };

    must("spawn", spawn_with(argv, PROCS, "node", NULL, 0));
}

static pmix_status_t control(const char *key)
{
    pmix_proc_t all;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, key, NULL, PMIX_BOOL);
    return PMIx_Job_control(&all, 1, &info, 1, NULL, NULL);
}

static void await_end(pmix_status_t status, int code)
{
    const struct job_event_seen *e = await(PMIX_EVENT_JOB_END);

    if (e && (e->status != status || e->exit_code != code))
        complain("status %s and exit code %d, not %s and %d", PMIx_Error_string(e->status),
                 e->exit_code, PMIx_Error_string(status), code);
}

/* ---- queries --------------------------------------------------------------------------------- */

static pmix_status_t ask(const char *key, const char *about, pmix_info_t **infos, size_t *n)
{
    pmix_query_t q;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (about) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_NSPACE, about, PMIX_STRING);
    }
    *infos = NULL;
    *n = 0;
    rc = PMIx_Query_info(&q, 1, infos, n);
    return rc == PMIX_SUCCESS && *n == 0 ? PMIX_ERR_NOT_FOUND : rc;
}

/* One sample of each process, from all nodes. */
static void see_usage(void)
{
    pmix_info_t what, target, *found = NULL;
    pmix_proc_t all;
    pmix_data_array_t procs = { .type = PMIX_PROC, .size = 1, .array = &all };
    pmix_data_array_t everything = { .type = PMIX_INFO };
    size_t n = 0;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&what, PMIX_MONITOR_PROC_RESOURCE_USAGE, &everything, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&target, PMIX_MONITOR_TARGET_PROCS, &procs, PMIX_DATA_ARRAY);
    must("usage", PMIx_Process_monitor(&what, PMIX_SUCCESS, &target, 1, &found, &n));
    if (n != PROCS)
        complain("%zu samples of processes", n);
    PMIX_INFO_DESTRUCT(&target);
}

/* How many processes the job has on n1, n2 ... */
static void count_on_nodes(int on[NODES])
{
    pmix_info_t *infos;
    size_t n;
    pmix_status_t rc = ask(PMIX_QUERY_PROC_TABLE, job, &infos, &n);
    const pmix_data_array_t *a = rc == PMIX_SUCCESS && infos[0].value.type == PMIX_DATA_ARRAY
                                     ? infos[0].value.data.darray
                                     : NULL;
    const pmix_proc_info_t *p = a ? a->array : NULL;

    must("table", rc);
    for (size_t i = 0; p && i < a->size; i++) {
        if (p[i].pid > 1 && p[i].hostname && p[i].hostname[0] == 'n' && p[i].hostname[1] >= '1' &&
            p[i].hostname[1] < '1' + NODES)
            on[p[i].hostname[1] - '1']++;
    }
}

static void see_table(void)
{
    int on[NODES] = { 0 };

    count_on_nodes(on);
    for (int i = 0; i < NODES; i++) {
        if (on[i] != EACH)
            complain("%d processes on n%d", on[i], i + 1);
    }
}

static void see_namespace(void)
{
    pmix_info_t *infos;
    size_t n;
    pmix_status_t rc = ask(PMIX_QUERY_NAMESPACES, NULL, &infos, &n);

    must("namespaces", rc);
    if (rc == PMIX_SUCCESS && !strstr(infos[0].value.data.string, job))
        complain("%s is not among %s", job, infos[0].value.data.string);
}

/* ---- what a tool does ------------------------------------------------------------------------ */

static void follow(void)
{
    begin_job("rank", "hello", NULL);
    pull_output(job);
    expect_text("hello ", PROCS);
    for (int i = 1; i <= NODES && !given; i++) {
        char node[8];
        snprintf(node, sizeof node, " n%d\n", i);
        expect_text(node, EACH);
    }
    await(PMIX_EVENT_JOB_START);
    await_end(PMIX_SUCCESS, 0);
}

static void fails(void)
{
    char sh[] = "/bin/sh", c[] = "-c", line[] = "exit 7", *argv[] = { sh, c, line, NULL };

    must("spawn", spawn_with(argv, 1, "node", NULL, 0));
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM, 7);
}

static void staged(void)
{
    char sh[] = "/bin/sh", c[] = "-c", line[] = "test $(wc -c <\"$WIREUP_STAGE_DIR$0\") = 3000000",
         *argv[] = { sh, c, line, given, NULL };
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_PRELOAD_FILES, given, PMIX_STRING);
    must("spawn", spawn_with(argv, PROCS, "node", &info, 1));
    await_end(PMIX_SUCCESS, 0);
}

static void stay(void)
{
    begin_job("rank", "stay", NULL);
    pull_output(job);
    expect_text("stays ", PROCS);
    see_namespace();
    see_table();
    see_usage();
}

static void kill_it(void)
{
    stay();
    must("kill", control(PMIX_JOB_CTRL_KILL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD, 128 + SIGKILL);
}

static void terminate(void)
{
    stay();
    must("terminate", control(PMIX_JOB_CTRL_TERMINATE));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD, 128 + SIGTERM);
}

static void abort_it(void)
{
    pmix_proc_t all;

    stay();
    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    must("abort", PMIx_Abort(9, "enough", &all, 1));
    await_end(PMIX_ERR_JOB_ABORTED, 9);
}

/* It goes on when this tool has left. */
/* Where nobody names nodes, a job gets those with free slots; when all are in use it shares some,
 * unless it is not to. */
static void spread(void)
{
    char rank[] = "rank", does[] = "stay", *argv[] = { self, rank, does, NULL };
    pmix_nspace_t jobs[NODES + 1];
    pmix_info_t alone;
    bool no = true;
    int on[NODES] = { 0 }, more[NODES];
    pmix_status_t rc;

    for (int i = 0; i < NODES; i++) {
        must("spawn", spawn_with(argv, EACH, NULL, NULL, 0));
        PMIX_LOAD_NSPACE(jobs[i], job);
        count_on_nodes(on);
    }
    for (int i = 0; i < NODES; i++) {
        if (on[i] != EACH)
            complain("%d processes of %d jobs on n%d", on[i], NODES, i + 1);
    }
    PMIX_INFO_LOAD(&alone, PMIX_NO_OVERSUBSCRIBE, &no, PMIX_BOOL);
    rc = spawn_with(argv, 1, NULL, &alone, 1);
    if (rc != PMIX_ERR_JOB_INSUFFICIENT_RESOURCES)
        complain("a job that shares no slot: %s", PMIx_Error_string(rc));
    memcpy(more, on, sizeof more);
    must("spawn", spawn_with(argv, EACH, "node", NULL, 0));
    PMIX_LOAD_NSPACE(jobs[NODES], job);
    count_on_nodes(more);
    for (int i = 0; i < NODES; i++) {
        if (more[i] > on[i] + 1)
            complain("%d processes more on n%d", more[i] - on[i], i + 1);
    }
    for (int i = 0; i <= NODES; i++) {
        PMIX_LOAD_NSPACE(job, jobs[i]);
        must("kill", control(PMIX_JOB_CTRL_KILL));
        await_end(PMIX_ERR_JOB_KILLED_BY_CMD, 128 + SIGKILL);
    }
}

static void local(void)
{
    begin_job("rank", "stay", NULL);
    pull_output(job);
    expect_text("stays ", PROCS);
}

static void ready(void)
{
    listen_for(PMIX_LAUNCHER_READY, on_launcher);
    wait_for("the DVM is ready", &launchers, 1);
}

__attribute__((noreturn)) static void leave(void)
{
    stay();
    printf("%s\n", job);
    fflush(stdout);
    _exit(wrong != 0);
}

static void end(void)
{
    see_namespace();
    must("terminate", control(PMIX_JOB_CTRL_TERMINATE));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD, 128 + SIGTERM);
}

static void has(void)
{
    see_namespace();
    see_table();
    see_usage();
}

/* ---- names ----------------------------------------------------------------------------------- */

static pmix_status_t look(const char *key, const char *range)
{
    pmix_pdata_t data;
    pmix_info_t infos[3];
    pmix_data_range_t r = !strcmp(range, "global")      ? PMIX_RANGE_GLOBAL
                          : !strcmp(range, "namespace") ? PMIX_RANGE_NAMESPACE
                                                        : PMIX_RANGE_SESSION;
    int one = 1, patience = 100;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    PMIX_INFO_LOAD(&infos[0], PMIX_RANGE, &r, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&infos[1], PMIX_WAIT, &one, PMIX_INT);
    PMIX_INFO_LOAD(&infos[2], PMIX_TIMEOUT, &patience, PMIX_INT);
    rc = PMIx_Lookup(&data, 1, infos, !strcmp(range, "namespace") ? 1 : 3);
    if (rc == PMIX_SUCCESS &&
        (data.value.type != PMIX_STRING || strcmp(data.value.data.string, "a port of a job") != 0))
        rc = PMIX_ERR_BAD_PARAM;
    return rc;
}

static void names(void)
{
    static const char *const ranges[] = { "session", "global", "namespace" };
    char kept[32], key[64];

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char line[128];
        bool own = !strcmp(ranges[i], "namespace");
        pmix_nspace_t publisher;
        snprintf(key, sizeof key, "dvm.%s", ranges[i]);
        begin_job("rank", "publish", ranges[i]);
        memcpy(publisher, job, sizeof publisher);
        pull_output(job);
        expect_text("stays 0\n", 1);
        begin_job("rank", "find", ranges[i]);
        pull_output(job);
        snprintf(line, sizeof line, "found %s %d\n", key, own ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
        expect_text(line, PROCS);
        if ((look(key, ranges[i]) == PMIX_SUCCESS) == own)
            complain("range %s: the tool %s", ranges[i], own ? "finds it" : "does not find it");
        memcpy(job, publisher, sizeof publisher);
        must("terminate", control(PMIX_JOB_CTRL_TERMINATE));
        await_end(PMIX_ERR_JOB_KILLED_BY_CMD, 128 + SIGTERM);
    }
    snprintf(kept, sizeof kept, "kept%d", (int)getpid()); /* it stays as long as the DVM */
    begin_job("rank", "keep", kept);
    await_end(PMIX_SUCCESS, 0);
    snprintf(key, sizeof key, "dvm.%s", kept);
    must("the name of a job that has ended", look(key, "session"));
}

/* ---- processes of jobs ----------------------------------------------------------------------- */

static void publish(const char *range, bool keep)
{
    pmix_persistence_t persistence = keep ? PMIX_PERSIST_SESSION : PMIX_PERSIST_APP;
    pmix_info_t infos[3];
    char key[64];
    pmix_data_range_t r = !strcmp(range, "global")      ? PMIX_RANGE_GLOBAL
                          : !strcmp(range, "namespace") ? PMIX_RANGE_NAMESPACE
                                                        : PMIX_RANGE_SESSION;

    snprintf(key, sizeof key, "dvm.%s", range);
    PMIX_INFO_LOAD(&infos[0], key, "a port of a job", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_RANGE, &r, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&infos[2], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    must("publish", PMIx_Publish(infos, 3));
}

static int rank(const char *does, const char *more)
{
    char host[64] = "";
    char key[64];

    mode = does;
    must("init", PMIx_Init(&me, NULL, 0));
    gethostname(host, sizeof host - 1);
    snprintf(key, sizeof key, "dvm.%s", more ? more : "");
    if ((!strcmp(does, "publish") || !strcmp(does, "keep")) && me.rank == 0)
        publish(more, !strcmp(does, "keep"));
    if (!strcmp(does, "hello"))
        printf("hello %u %s\n", me.rank, host);
    else if (!strcmp(does, "find"))
        printf("found %s %d\n", key, look(key, more));
    else
        printf("stays %u\n", me.rank);
    fflush(stdout);
    while (!strcmp(does, "stay") || !strcmp(does, "publish"))
        pause();
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong;
}

static const struct {
    const char *name;
    void (*run)(void);
} doings[] = {
    { "follow", follow },  { "fails", fails }, { "kill", kill_it }, { "terminate", terminate },
    { "abort", abort_it }, { "leave", leave }, { "end", end },      { "has", has },
    { "local", local },    { "names", names }, { "ready", ready },  { "staged", staged },
    { "spread", spread },
};

int main(int argc, char **argv)
{
    pmix_info_t info;
    pmix_status_t rc;

    if (argc < 3 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 2;
    if (!strcmp(argv[1], "rank"))
        return rank(argv[2], argv[3]);
    mode = argv[2];
    given = argc > 3 ? argv[3] : NULL;
    if (given)
        PMIX_LOAD_NSPACE(job, given);
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    if (rc != PMIX_SUCCESS) {
        printf("dvmjobs init WRONG: %d\n", rc);
        return 1;
    }
    listen_for(PMIX_EVENT_JOB_START, on_event);
    listen_for(PMIX_EVENT_JOB_END, on_event);
    for (size_t i = 0; i < sizeof doings / sizeof *doings; i++) {
        if (!strcmp(mode, doings[i].name))
            doings[i].run();
    }
    must("finalize", PMIx_tool_finalize());
    if (!wrong)
        printf("dvmjobs %s good\n", mode);
    return wrong != 0;
}
