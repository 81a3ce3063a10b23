/* allocations.c - tools that allocate nodes of a DVM (`wireup up`, three nodes n1 to n3 of two
 * slots), and processes of jobs that do.  Runs on our library and on OpenPMIx's.
 *
 *   allocations stay              a process of a job: says `stays RANK HOST`, and stays
 *   allocations rank              one that allocates a node itself, and finds its job's session
 *   allocations ADDRESS WHAT [X]  a tool of the launcher with this address:
 *     reserve      one node of two of three; jobs go where they belong; all of it is released
 *     change       extends, lends and takes back nodes; refusals
 *     limit        an allocation whose time ends, and a job in it
 *     session      pauses, resumes, signals and ends the jobs of a session
 *     rank         a job whose processes allocate
 *     hold         reserves two nodes, prints their allocation's id, and dies
 *     take X       (another tool holds X) may not release it, but runs a job there
 *     full         reserves what is left, and runs `wireup run` ($WIREUP), which is refused
 *     free X       (nobody holds X any more) releases it
 *     more         (in a job of Slurm, or of a stand-in) extends its allocation by two nodes, of
 *                  which too few are free, and the DVM by one
 *     cancel       extends the DVM by a node for which it has to wait, prints `waits`, and cancels
 *                  that
 *     spawn        spawns jobs that reserve their nodes, until they end; what fails reserves none
 *     grow         allocates nodes that the DVM does not have, n4 and n5, and gives them back; one
 *                  that does not come up (bad) is refused
 *
 * Prints `allocations WHAT good`, or `allocations WHAT WRONG ...`. */
#include <dlfcn.h>
#include <limits.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "keeps.h"
#define PROGRAM "allocations"
#include "pmix_rank.h"
#include "job_output.h"

enum { NODES = 3, EVENTS = 1024 };

/* Younger than OpenPMIx 4.2.2. */
#ifndef PMIX_SESSION_PAUSE
#define PMIX_SESSION_PAUSE     "pmix.ssn.pause"
#define PMIX_SESSION_RESUME    "pmix.ssn.resume"
#define PMIX_SESSION_TERMINATE "pmix.ssn.terminate"
#define PMIX_SESSION_COMPLETE  "pmix.ssn.complete"
#define PMIX_SESSION_SIGNAL    "pmix.ssn.sig"
#define PMIX_SESSION_PREEMPT   "pmix.ssn.preempt"
#define PMIX_SESSION_RESTORE   "pmix.ssn.restore"
#define PMIX_SESSION_CTRL_ID   "pmix.ssnctrl.id"
#endif
#ifndef PMIX_ALLOC_QUEUE
#define PMIX_ALLOC_QUEUE "pmix.alloc.queue"
#endif
#ifndef PMIX_ALLOC_REQ_CANCEL
#define PMIX_ALLOC_REQ_CANCEL 5
#endif
#ifndef PMIX_ALLOC_EXCLUDE
#define PMIX_ALLOC_EXCLUDE        "pmix.alloc.exclude"
#define PMIX_ALLOC_WAIT_ALL_NODES "pmix.alloc.waitall"
#endif

static char self[PATH_MAX];
static pmix_nspace_t job;

/* ---- allocations ----------------------------------------------------------------------------- */

struct allocation {
    char id[256], nodes[256], control[64], why[256];
    uint32_t session, seconds;
};

static void take_results(struct allocation *a, const pmix_info_t *infos, size_t n)
{
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (PMIX_CHECK_KEY(&infos[i], PMIX_ALLOC_ID))
            snprintf(a->id, sizeof a->id, "%s", v->data.string);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_ALLOC_NODE_LIST))
            snprintf(a->nodes, sizeof a->nodes, "%s", v->data.string);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_TEXT_MESSAGE))
            snprintf(a->why, sizeof a->why, "%s", v->data.string);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_SESSION_CTRL_ID))
            snprintf(a->control, sizeof a->control, "%s", v->data.string);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_SESSION_ID))
            a->session = v->data.uint32;
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_TIME_REMAINING))
            a->seconds = v->data.uint32;
    }
}

static struct {
    atomic_int done;
    pmix_status_t status;
    struct allocation got;
} reply;

static void on_allocated(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *release_arg)
{
    (void)arg;
    reply.status = status;
    take_results(&reply.got, info, n);
    if (release)
        release(release_arg);
    reply.done++;
}

/* OpenPMIx's library drops what comes with a refusal. */
static bool is_ours(void)
{
    return dlsym(RTLD_DEFAULT, "WIREUP_server_connect_child") != NULL;
}

static pmix_status_t request(pmix_alloc_directive_t directive, pmix_info_t *infos, size_t n,
                             struct allocation *a)
{
    int before = reply.done;
    pmix_status_t rc = PMIx_Allocation_request_nb(directive, infos, n, on_allocated, NULL);

    if (rc != PMIX_SUCCESS)
        return rc;
    wait_for("answers to a request", &reply.done, before + 1);
    *a = reply.got;
    if (is_ours() && reply.status != PMIX_SUCCESS && reply.status != PMIX_ERR_NOT_SUPPORTED &&
        reply.status != PMIX_ERR_NO_PERMISSIONS && !a->why[0])
        complain("%s, and no reason", PMIx_Error_string(reply.status));
    return reply.status;
}

static void expect(const char *name, pmix_status_t rc, pmix_status_t want)
{
    if (rc != want)
        complain("%s: %s, not %s", name, PMIx_Error_string(rc), PMIx_Error_string(want));
}

static pmix_status_t with_count(pmix_alloc_directive_t directive, const char *id, uint64_t count,
                                struct allocation *a)
{
    pmix_info_t infos[2];

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &count, PMIX_UINT64);
    if (id)
        PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_ID, id, PMIX_STRING);
    return request(directive, infos, id ? 2 : 1, a);
}

static pmix_status_t with_text(pmix_alloc_directive_t directive, const char *id, const char *key,
                               const char *value, struct allocation *a)
{
    pmix_info_t infos[2];

    PMIX_INFO_LOAD(&infos[0], key, value, PMIX_STRING);
    if (id)
        PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_ID, id, PMIX_STRING);
    return request(directive, infos, id ? 2 : 1, a);
}

static pmix_status_t let_go(const char *id)
{
    struct allocation a;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_ALLOC_ID, id, PMIX_STRING);
    return request(PMIX_ALLOC_RELEASE, &info, 1, &a);
}

static void has_nodes(const struct allocation *a, const char *want)
{
    if (strcmp(a->nodes, want) != 0)
        complain("allocation %s has %s, not %s", a->id, a->nodes, want);
}

/* ---- events and output ----------------------------------------------------------------------- */

/* A tool is notified of all, also of what has ended before it came. */
struct seen_event {
    pmix_status_t code, status;
    pmix_nspace_t nspace;
    uint32_t session;
};

static struct seen_event list[EVENTS];
static atomic_int listed;

static void on_event(size_t ref, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                     size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    struct seen_event *e = &list[listed < EVENTS ? listed : EVENTS - 1];

    (void)ref;
    (void)source;
    (void)results;
    (void)nresults;
    e->code = code;
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC) && v->data.proc)
            PMIX_LOAD_NSPACE(e->nspace, v->data.proc->nspace);
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_JOB_TERM_STATUS))
            e->status = v->data.status;
        else if (PMIX_CHECK_KEY(&infos[i], PMIX_SESSION_ID))
            e->session = v->data.uint32;
    }
    listed++;
    if (fn)
        fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* The time only catches hangs. */
static const struct seen_event *await(pmix_status_t code, uint32_t session, const char *nspace)
{
    int at = 0;

    for (int i = 0; i < RANK_PATIENCE; i++) {
        for (; at < listed && at < EVENTS; at++) {
            if (list[at].code == code && list[at].session == session &&
                !strcmp(list[at].nspace, nspace))
                return &list[at];
        }
        usleep(2000);
    }
    complain("no %s of session %u, job %s", PMIx_Error_string(code), session, nspace);
    return NULL;
}

static void await_session(uint32_t session, pmix_status_t status)
{
    const struct seen_event *e = await(PMIX_EVENT_SESSION_END, session, "");

    if (e && e->status != status)
        complain("the end of session %u: %s", session, PMIx_Error_string(e->status));
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static pmix_status_t spawn(const char *does, int procs, const char *alloc, const char *host,
                           pmix_nspace_t nspace)
{
    char here[] = "/", *argv[] = { self, (char *)(uintptr_t)does, NULL };
    pmix_app_t app;
    pmix_info_t infos[2];
    size_t n = 0;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = self;
    app.argv = argv;
    app.cwd = here;
    app.maxprocs = procs;
    if (alloc)
        PMIX_INFO_LOAD(&infos[n++], PMIX_ALLOC_ID, alloc, PMIX_STRING);
    if (host)
        PMIX_INFO_LOAD(&infos[n++], PMIX_HOST, host, PMIX_STRING);
    /* (An empty array of infos is refused by OpenPMIx 5.) */
    return PMIx_Spawn(n ? infos : NULL, n, &app, 1, nspace);
}

static void end_job(void)
{
    pmix_proc_t all;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_TERMINATE, NULL, PMIX_BOOL);
    must("terminate", PMIx_Job_control(&all, 1, &info, 1, NULL, NULL));
    await(PMIX_EVENT_JOB_END, 0, job);
}

static void refused(const char *name, const char *alloc, const char *host)
{
    pmix_nspace_t nobody;

    expect(name, spawn("stay", 1, alloc, host, nobody), PMIX_ERR_JOB_ALLOC_FAILED);
}

/* A job of so many processes: which of them are on which node. */
static void runs_on(const char *name, int procs, const char *alloc, const int want[NODES])
{
    pmix_status_t rc = spawn("stay", procs, alloc, NULL, job);

    must(name, rc);
    if (rc != PMIX_SUCCESS)
        return;
    pull_output(job);
    expect_text("stays ", procs);
    for (int i = 0; i < NODES; i++) {
        char node[8];
        snprintf(node, sizeof node, " n%d\n", i + 1);
        if (count_of(node) != want[i])
            complain("%s: %d processes on n%d, not %d", name, count_of(node), i + 1, want[i]);
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

static pmix_status_t ask(const char *key, const char *id, pmix_info_t **infos, size_t *n)
{
    pmix_query_t q;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (id) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_ALLOC_ID, id, PMIX_STRING);
    }
    *infos = NULL;
    *n = 0;
    rc = PMIx_Query_info(&q, 1, infos, n);
    return rc == PMIX_SUCCESS && *n == 0 ? PMIX_ERR_NOT_FOUND : rc;
}

static void check_status(const struct allocation *a)
{
    pmix_info_t *infos;
    struct allocation seen = { .session = 0 };
    size_t n;
    pmix_status_t rc = ask(PMIX_QUERY_ALLOC_STATUS, a->id, &infos, &n);

    must("status", rc);
    if (rc == PMIX_SUCCESS && infos[0].value.type == PMIX_DATA_ARRAY)
        take_results(&seen, infos[0].value.data.darray->array, infos[0].value.data.darray->size);
    if (strcmp(seen.id, a->id) != 0 || strcmp(seen.nodes, a->nodes) != 0 ||
        seen.session != a->session)
        complain("status: %s, %s, session %u", seen.id, seen.nodes, seen.session);
}

/* ---- what tools do --------------------------------------------------------------------------- */

static void reserve(void)
{
    static const int first[NODES] = { 2, 0, 0 }, others[NODES] = { 0, 2, 2 };
    struct allocation a, b;
    pmix_info_t *infos;
    size_t n;

    expect("too many", with_count(PMIX_ALLOC_NEW, NULL, NODES + 1, &a), PMIX_ERR_OUT_OF_RESOURCE);
    if (is_ours() && strcmp(a.why, "too few nodes are free (3 of 3)") != 0)
        complain("too many, because '%s'", a.why);
    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 1, &a), PMIX_SUCCESS);
    has_nodes(&a, "n1");
    if (a.session == 0 || a.seconds)
        complain("session %u, %u seconds", a.session, a.seconds);
    await(PMIX_EVENT_SESSION_START, a.session, "");
    check_status(&a);
    expect("no limit", ask(PMIX_TIME_REMAINING, a.id, &infos, &n), PMIX_ERR_NOT_FOUND);
    runs_on("in it", 2, a.id, first);
    end_job();
    runs_on("beside it", 4, NULL, others);
    refused("reserved", NULL, "n1");
    refused("no such", "nobody", NULL);
    refused("not its", a.id, "n2");
    expect("named", with_text(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_NODE_LIST, "n3", &b), PMIX_SUCCESS);
    has_nodes(&b, "n3");
    end_job();
    expect("released", let_go(b.id), PMIX_SUCCESS);
    expect("again", let_go(b.id), PMIX_ERR_NOT_FOUND);
    expect("the first", let_go(a.id), PMIX_SUCCESS);
    await_session(b.session, PMIX_SUCCESS);
    await_session(a.session, PMIX_SUCCESS);
}

static void change(void)
{
    struct allocation a, b;
    pmix_info_t infos[4];
    uint64_t cpus = 3;
    uint32_t nobody = 65533;

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_CPUS, &cpus, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_EXCLUDE, "n2", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_ALLOC_REQ_ID, "mine", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_ALLOC_WAIT_ALL_NODES, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&infos[3]); /* nodes of a DVM are up in any case */
    expect("processors", request(PMIX_ALLOC_NEW, infos, 4, &a), PMIX_SUCCESS);
    has_nodes(&a, "n1,n3");
    expect("again", request(PMIX_ALLOC_NEW, infos, 3, &b), PMIX_ERR_DUPLICATE_KEY);
    expect("lend", with_text(PMIX_ALLOC_RELEASE, a.id, PMIX_ALLOC_NODE_LIST, "n1", &b),
           PMIX_SUCCESS);
    has_nodes(&b, "n3");
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_REQ_ID, "mine", PMIX_STRING);
    expect("take back", request(PMIX_ALLOC_REAQUIRE, infos, 1, &b), PMIX_SUCCESS);
    has_nodes(&b, "n1,n3");
    expect("nothing lent", request(PMIX_ALLOC_REAQUIRE, infos, 1, &b), PMIX_ERR_NOT_FOUND);
    expect("extend", with_count(PMIX_ALLOC_EXTEND, a.id, 1, &b), PMIX_SUCCESS);
    has_nodes(&b, "n1,n2,n3");
    expect("all are taken", with_count(PMIX_ALLOC_EXTEND, a.id, 1, &b), PMIX_ERR_OUT_OF_RESOURCE);
    refused("no node for others", NULL, NULL);
    expect("nothing", request(PMIX_ALLOC_NEW, NULL, 0, &b), PMIX_ERR_BAD_PARAM);
    expect("no such node", with_text(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_NODE_LIST, "bad", &b),
           PMIX_ERR_NOT_FOUND);
    expect("a queue", with_text(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_QUEUE, "night", &b),
           PMIX_ERR_NOT_SUPPORTED);
    PMIX_INFO_LOAD(&infos[1], PMIX_USERID, &nobody, PMIX_UINT32);
    expect("for another user", request(PMIX_ALLOC_RELEASE, infos, 2, &b), PMIX_ERR_NO_PERMISSIONS);
    expect("released", let_go(a.id), PMIX_SUCCESS);
}

static void limit(void)
{
    static const int first[NODES] = { 2, 0, 0 };
    struct allocation a;
    pmix_info_t infos[2], *found;
    uint64_t one = 1;
    uint32_t seconds = 2;
    size_t n;

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_TIME, &seconds, PMIX_UINT32);
    expect("new", request(PMIX_ALLOC_NEW, infos, 2, &a), PMIX_SUCCESS);
    if (a.seconds != seconds)
        complain("%u seconds are left", a.seconds);
    if (ask(PMIX_TIME_REMAINING, a.id, &found, &n) == PMIX_SUCCESS &&
        (found[0].value.type != PMIX_UINT32 || found[0].value.data.uint32 > seconds))
        complain("%u seconds in the answer", found[0].value.data.uint32);
    runs_on("in it", 2, a.id, first);
    await_session(a.session, PMIX_ERR_TIMEOUT);
    await(PMIX_EVENT_JOB_END, 0, job);
    expect("it has gone", let_go(a.id), PMIX_ERR_NOT_FOUND);
}

static void on_controlled(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                          pmix_release_cbfunc_t release, void *release_arg)
{
    on_allocated(status, info, n, arg, release, release_arg);
}

static pmix_status_t control_session(uint32_t session, const char *key, int signal)
{
    pmix_status_t (*call)(uint32_t, const pmix_info_t[], size_t, pmix_info_cbfunc_t, void *);
    int before = reply.done;
    pmix_info_t info[2];
    pmix_status_t rc;

    *(void **)&call = dlsym(RTLD_DEFAULT, "PMIx_Session_control");
    if (!call)
        return PMIX_ERR_NOT_SUPPORTED;
    if (signal)
        PMIX_INFO_LOAD(&info[0], key, &signal, PMIX_INT);
    else
        PMIX_INFO_LOAD(&info[0], key, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SESSION_CTRL_ID, key, PMIX_STRING);
    PMIX_INFO_REQUIRED(&info[1]);
    rc = call(session, info, 2, on_controlled, NULL);
    if (rc != PMIX_SUCCESS)
        return rc;
    wait_for("answers to a control", &reply.done, before + 1);
    if (reply.status == PMIX_SUCCESS && strcmp(reply.got.control, key) != 0)
        complain("%s: the answer to '%s'", key, reply.got.control);
    return reply.status;
}

/* Until every process of the job is in this state of the kernel; the job has the nodes of this
 * machine. */
static void are(char state, int procs)
{
    char path[64], line[256] = "";
    int count = 0;

    for (int i = 0; i < RANK_PATIENCE && count != procs; i++) {
        count = 0;
        pthread_mutex_lock(&text_lock);
        for (const char *at = text; (at = strstr(at, "pid ")) != NULL; at++) {
            snprintf(path, sizeof path, "/proc/%d/stat", atoi(at + 4));
            FILE *f = fopen(path, "r");
            if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
                count += strrchr(line, ')')[2] == state;
            if (f)
                fclose(f);
        }
        pthread_mutex_unlock(&text_lock);
        usleep(2000);
    }
    if (count != procs)
        complain("%d processes are in state %c, not %d: '%s'", count, state, procs, text);
}

/* Others may have its nodes, until it has them back. */
static void preempt(const struct allocation *a)
{
    struct allocation b;

    expect("preempt", control_session(a->session, PMIX_SESSION_PREEMPT, 0), PMIX_SUCCESS);
    are('T', 4);
    expect("again", control_session(a->session, PMIX_SESSION_PREEMPT, 0), PMIX_ERR_NOT_FOUND);
    expect("all nodes", with_count(PMIX_ALLOC_NEW, NULL, NODES, &b), PMIX_SUCCESS);
    expect("too early", control_session(a->session, PMIX_SESSION_RESTORE, 0),
           PMIX_ERR_RESOURCE_BUSY);
    expect("released", let_go(b.id), PMIX_SUCCESS);
    expect("restore", control_session(a->session, PMIX_SESSION_RESTORE, 0), PMIX_SUCCESS);
    are('S', 4);
}

static void session(void)
{
    static const int two[NODES] = { 2, 2, 0 };
    struct allocation a;

    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 2, &a), PMIX_SUCCESS);
    runs_on("in it", 4, a.id, two);
    expect("busy", control_session(a.session, PMIX_SESSION_COMPLETE, 0), PMIX_ERR_RESOURCE_BUSY);
    expect("no such", control_session(a.session + 7, PMIX_SESSION_PAUSE, 0), PMIX_ERR_NOT_FOUND);
    preempt(&a);
    expect("pause", control_session(a.session, PMIX_SESSION_PAUSE, 0), PMIX_SUCCESS);
    are('T', 4);
    expect("resume", control_session(a.session, PMIX_SESSION_RESUME, 0), PMIX_SUCCESS);
    are('S', 4);
    expect("signal", control_session(a.session, PMIX_SESSION_SIGNAL, SIGUSR1), PMIX_SUCCESS);
    expect_text("signalled", 4);
    expect("end", control_session(a.session, PMIX_SESSION_TERMINATE, 0), PMIX_SUCCESS);
    await(PMIX_EVENT_JOB_END, 0, job);
    await_session(a.session, PMIX_SUCCESS);
    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 3, &a), PMIX_SUCCESS);
    expect("complete", control_session(a.session, PMIX_SESSION_COMPLETE, 0), PMIX_SUCCESS);
    expect("it has gone", let_go(a.id), PMIX_ERR_NOT_FOUND);
}

static void ranks(void)
{
    struct allocation a;

    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 2, &a), PMIX_SUCCESS);
    must("spawn", spawn("rank", 4, a.id, NULL, job));
    pull_output(job);
    await(PMIX_EVENT_JOB_END, 0, job);
    expect_text("rank good\n", 4);
    expect("released", let_go(a.id), PMIX_SUCCESS);
    expect("what its ranks had is free", with_count(PMIX_ALLOC_NEW, NULL, NODES, &a), PMIX_SUCCESS);
    expect("released", let_go(a.id), PMIX_SUCCESS);
}

__attribute__((noreturn)) static void hold(void)
{
    struct allocation a;

    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 2, &a), PMIX_SUCCESS);
    printf("%s\n", a.id);
    fflush(stdout);
    getchar();
    _exit(wrong != 0);
}

static char *given;

static void take(void)
{
    static const int first[NODES] = { 1, 0, 0 };

    runs_on("in another's", 1, given, first);
    end_job();
    expect("not its own", let_go(given), PMIX_ERR_NO_PERMISSIONS);
}

static void full(void)
{
    struct allocation a;
    char line[PATH_MAX + 64];
    const char *launcher = getenv("WIREUP");

    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 1, &a), PMIX_SUCCESS);
    snprintf(line, sizeof line, "%s run -n 1 true 2>&1 | grep -q 'your DVM dvm has no free node'",
             launcher ? launcher : "wireup");
    if (system(line) != 0)
        complain("wireup run is not refused");
    expect("released", let_go(a.id), PMIX_SUCCESS);
}

static void free_it(void)
{
    expect("nobody's", let_go(given), PMIX_SUCCESS);
}

/* ---- spawns that reserve --------------------------------------------------------------------- */

static pmix_status_t spawn_reserving(const char *program, int procs, pmix_info_t *infos, size_t n)
{
    char here[] = "/", stays[] = "stay", *argv[] = { (char *)(uintptr_t)program, stays, NULL };
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0]; /* (OpenPMIx's library puts it before other words, in memory of its own.) */
    app.argv = argv;
    app.cwd = here;
    app.maxprocs = procs;
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_REQUIRED(&infos[i]);
    return PMIx_Spawn(infos, n, &app, 1, job);
}

static void all_are_free(const char *name)
{
    struct allocation a;

    expect(name, with_count(PMIX_ALLOC_NEW, NULL, NODES, &a), PMIX_SUCCESS);
    expect(name, let_go(a.id), PMIX_SUCCESS);
}

/* What is reserved for the job: it has its processes there, others have not, and its end frees it.
 */
static void reserved_are(const char *name, pmix_info_t *infos, size_t n, int procs,
                         const char *nodes)
{
    struct allocation a = { .session = 0 }, b;
    pmix_info_t *found;
    size_t nfound;

    must(name, spawn_reserving(self, procs, infos, n));
    pull_output(job);
    expect_text("stays ", procs);
    must(name, ask(PMIX_QUERY_ALLOC_STATUS, NULL, &found, &nfound));
    if (nfound != 1 || found[0].value.type != PMIX_DATA_ARRAY)
        complain("%s: %zu allocations", name, nfound);
    else
        take_results(&a, found[0].value.data.darray->array, found[0].value.data.darray->size);
    has_nodes(&a, nodes);
    await(PMIX_EVENT_SESSION_START, a.session, "");
    expect(name, with_count(PMIX_ALLOC_NEW, NULL, NODES, &b), PMIX_ERR_OUT_OF_RESOURCE);
    expect(name, let_go(a.id), PMIX_ERR_NO_PERMISSIONS);
    refused(name, NULL, "n3");
    end_job();
    await_session(a.session, PMIX_SUCCESS);
    all_are_free(name);
}

static void reserve_some(void)
{
    pmix_info_t infos[2];
    uint64_t number = 3;

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NODE_LIST, "n3", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_REQ_ID, "mine", PMIX_STRING);
    reserved_are("by name", infos, 2, 2, "n3");
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_CPUS, &number, PMIX_UINT64);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_EXCLUDE, "n2", PMIX_STRING);
    reserved_are("processors", infos, 2, 1, "n1,n3");
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &number, PMIX_UINT64);
    reserved_are("nodes", infos, 1, 6, "n1,n2,n3");
}

/* As many processors as processes, for two seconds. */
static void reserve_for_a_time(void)
{
    struct allocation a = { .session = 0 };
    pmix_info_t info, *found;
    size_t n;

    PMIX_INFO_LOAD(&info, PMIX_ALLOC_TIME, "2", PMIX_STRING);
    must("for a time", spawn_reserving(self, 3, &info, 1));
    must("for a time", ask(PMIX_QUERY_ALLOC_STATUS, NULL, &found, &n));
    take_results(&a, found[0].value.data.darray->array, found[0].value.data.darray->size);
    has_nodes(&a, "n1,n2");
    if (a.seconds < 1 || a.seconds > 2)
        complain("%u seconds are left", a.seconds);
    await_session(a.session, PMIX_ERR_TIMEOUT);
    await(PMIX_EVENT_JOB_END, 0, job);
    all_are_free("after its time");
}

static void reserve_in_vain(void)
{
    pmix_info_t infos[2];
    uint64_t number = NODES + 1;
    bool yes = true;

    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &number, PMIX_UINT64);
    expect("too many", spawn_reserving(self, 1, infos, 1), PMIX_ERR_JOB_ALLOC_FAILED);
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NODE_LIST, "bad", PMIX_STRING);
    expect("unknown", spawn_reserving(self, 1, infos, 1), PMIX_ERR_JOB_ALLOC_FAILED);
    number = 1;
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &number, PMIX_UINT64);
    expect("no program", spawn_reserving("/no/such/program", 1, infos, 1),
           PMIX_ERR_JOB_EXE_NOT_FOUND);
    PMIX_INFO_LOAD(&infos[1], PMIX_ALLOC_ID, "any", PMIX_STRING);
    expect("one that there is", spawn_reserving(self, 1, infos, 2), PMIX_ERR_BAD_PARAM);
    PMIX_INFO_LOAD(&infos[1], PMIX_DO_NOT_LAUNCH, &yes, PMIX_BOOL);
    expect("only a plan", spawn_reserving(self, 1, infos, 2), PMIX_SUCCESS);
    number = 0;
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_TIME, "0", PMIX_STRING);
    expect("no time", spawn_reserving(self, 1, infos, 1), PMIX_ERR_BAD_PARAM);
    PMIX_INFO_LOAD(&infos[0], PMIX_ALLOC_NUM_NODES, &number, PMIX_UINT64);
    expect("no nodes", spawn_reserving(self, 1, infos, 1), PMIX_ERR_BAD_PARAM);
    all_are_free("what has failed");
}

static void spawn_reserves(void)
{
    reserve_in_vain();
    reserve_some();
    reserve_for_a_time();
}

/* ---- processes of jobs ----------------------------------------------------------------------- */

static void on_signal(int sig)
{
    static const char word[] = "signalled\n";

    (void)sig;
    if (write(STDOUT_FILENO, word, sizeof word - 1) < 0)
        _exit(1);
}

__attribute__((noreturn)) static void stay(void)
{
    char host[64] = "";
    const char *rank = getenv("PMIX_RANK");

    signal(SIGUSR1, on_signal);
    gethostname(host, sizeof host - 1);
    printf("pid %d stays %s %s\n", (int)getpid(), rank ? rank : "?", host);
    fflush(stdout);
    for (;;)
        pause();
}

/* Rank 0 gets the third node, and it is free again when the job has ended. */
static int rank(void)
{
    pmix_proc_t all;
    pmix_value_t *v = NULL;
    struct allocation a = { .session = 0 };
    pmix_info_t *infos;
    pmix_status_t rc;
    size_t n;

    mode = "rank";
    must("init", PMIx_Init(&me, NULL, 0));
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    /* OpenPMIx's client keeps the number of a session to itself. */
    rc = PMIx_Get(&all, PMIX_SESSION_ID, NULL, 0, &v);
    if (rc != PMIX_ERR_NOT_FOUND || dlsym(RTLD_DEFAULT, "PMIx_Session_control"))
        must("session", rc);
    if (rc == PMIX_SUCCESS && (v->type != PMIX_UINT32 || v->data.uint32 == 0))
        complain("no session");
    must("status", ask(PMIX_QUERY_ALLOC_STATUS, NULL, &infos, &n));
    if (n != 1 || infos[0].value.type != PMIX_DATA_ARRAY)
        complain("%zu allocations", n);
    else
        take_results(&a, infos[0].value.data.darray->array, infos[0].value.data.darray->size);
    if (a.session == 0)
        complain("its allocation has no session");
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    if (me.rank == 3) {
        expect("new", with_count(PMIX_ALLOC_NEW, NULL, 1, &a), PMIX_SUCCESS);
        has_nodes(&a, "n3");
    }
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    if (me.rank == 0)
        expect("taken", with_count(PMIX_ALLOC_NEW, NULL, 1, &a), PMIX_ERR_OUT_OF_RESOURCE);
    must("finalize", PMIx_Finalize(NULL, 0));
    if (!wrong)
        printf("rank good\n");
    return wrong;
}

/* Nodes that the DVM has not join it for the allocation. */
static void grow(void)
{
    struct allocation a, b;

    expect("new", with_text(PMIX_ALLOC_NEW, NULL, PMIX_ALLOC_NODE_LIST, "n4", &a), PMIX_SUCCESS);
    has_nodes(&a, "n4");
    must("spawn", spawn("stay", 1, a.id, NULL, job));
    pull_output(job);
    expect_text("stays ", 1);
    if (count_of(" n4\n") != 1)
        complain("no process on n4");
    end_job();
    expect("one that does not come up",
           with_text(PMIX_ALLOC_EXTEND, a.id, PMIX_ALLOC_NODE_LIST, "n5,bad", &b),
           PMIX_ERR_NOT_FOUND);
    if (is_ours() && !strstr(b.why, "no route to bad"))
        complain("it is not told why: %s", b.why);
    expect("extend", with_text(PMIX_ALLOC_EXTEND, a.id, PMIX_ALLOC_NODE_LIST, "n5,n1", &b),
           PMIX_SUCCESS);
    has_nodes(&b, "n1,n4,n5");
    printf("grown\n");
    fflush(stdout);
    getchar();
    expect("release of one", with_text(PMIX_ALLOC_RELEASE, a.id, PMIX_ALLOC_NODE_LIST, "n5", &b),
           PMIX_SUCCESS);
    has_nodes(&b, "n1,n4");
    expect("it has left", with_text(PMIX_ALLOC_REAQUIRE, a.id, PMIX_ALLOC_NODE_LIST, "n5", &b),
           PMIX_ERR_NOT_FOUND);
    expect("release", let_go(a.id), PMIX_SUCCESS);
}

static size_t count_nodes(const struct allocation *a)
{
    size_t n = a->nodes[0] != '\0';

    for (const char *c = a->nodes; *c; c++)
        n += *c == ',';
    return n;
}

static void has_count(const char *name, const struct allocation *a, size_t want)
{
    if (count_nodes(a) != want)
        complain("%s: nodes '%s', not %zu", name, a->nodes, want);
}

/* The resource manager gives the nodes. */
static void more(void)
{
    struct allocation a, b, c;

    expect("new", with_count(PMIX_ALLOC_NEW, NULL, 1, &a), PMIX_SUCCESS);
    expect("extend", with_count(PMIX_ALLOC_EXTEND, a.id, 2, &b), PMIX_SUCCESS);
    has_count("with those that came", &b, 3);
    if (strcmp(a.id, b.id) != 0)
        complain("another allocation: %s, not %s", b.id, a.id);
    expect("the DVM", with_count(PMIX_ALLOC_EXTEND, NULL, 1, &c), PMIX_SUCCESS);
    has_count("the DVM", &c, 1);
    if (c.id[0] || strstr(b.nodes, c.nodes))
        complain("the DVM's own node %s is in '%s', '%s'", c.nodes, c.id, b.nodes);
    expect("of no allocation", with_count(PMIX_ALLOC_EXTEND, "nobody", 1, &c), PMIX_ERR_NOT_FOUND);
    expect("release", let_go(a.id), PMIX_SUCCESS);
}

static atomic_int cancels;

static void on_cancelled(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *release_arg)
{
    (void)info;
    (void)n;
    (void)arg;
    if (status != PMIX_SUCCESS)
        complain("cancelling: %s", PMIx_Error_string(status));
    if (release)
        release(release_arg);
    cancels++;
}

static void cancel(void)
{
    uint64_t count = 1;
    pmix_info_t wish[2], name, none;
    struct allocation a;

    PMIX_INFO_LOAD(&wish[0], PMIX_ALLOC_NUM_NODES, &count, PMIX_UINT64);
    PMIX_INFO_LOAD(&wish[1], PMIX_ALLOC_REQ_ID, "wish", PMIX_STRING);
    PMIX_INFO_LOAD(&name, PMIX_ALLOC_REQ_ID, "wish", PMIX_STRING);
    PMIX_INFO_LOAD(&none, PMIX_ALLOC_REQ_ID, "other", PMIX_STRING);
    must("ask", PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, wish, 2, on_allocated, NULL));
    printf("waits\n");
    fflush(stdout);
    getchar();
    must("cancel", PMIx_Allocation_request_nb(PMIX_ALLOC_REQ_CANCEL, &name, 1, on_cancelled, NULL));
    wait_for("the cancelled request", &reply.done, 1);
    wait_for("the answer to that", &cancels, 1);
    a = reply.got;
    expect("the request", reply.status, PMIX_ERR_OUT_OF_RESOURCE);
    if (is_ours() && !strstr(a.why, "cancelled"))
        complain("cancelled, because '%s'", a.why);
    expect("no such request", request(PMIX_ALLOC_REQ_CANCEL, &none, 1, &a), PMIX_ERR_NOT_FOUND);
}

static const struct {
    const char *name;
    void (*run)(void);
} doings[] = {
    { "reserve", reserve },      { "change", change }, { "limit", limit }, { "session", session },
    { "rank", ranks },           { "hold", hold },     { "take", take },   { "full", full },
    { "free", free_it },         { "grow", grow },     { "more", more },   { "cancel", cancel },
    { "spawn", spawn_reserves },
};

int main(int argc, char **argv)
{
    pmix_info_t info;
    pmix_status_t rc;

    if (argc < 2 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 2;
    if (argc == 2 && !strcmp(argv[1], "stay"))
        stay();
    if (argc == 2 && !strcmp(argv[1], "rank"))
        return rank();
    if (argc < 3)
        return 2;
    mode = argv[2];
    given = argv[3];
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    if (rc != PMIX_SUCCESS) {
        printf("allocations init WRONG: %d\n", rc);
        return 1;
    }
    listen_for(PMIX_EVENT_JOB_END, on_event);
    listen_for(PMIX_EVENT_SESSION_START, on_event);
    listen_for(PMIX_EVENT_SESSION_END, on_event);
    for (size_t i = 0; i < sizeof doings / sizeof *doings; i++) {
        if (!strcmp(mode, doings[i].name))
            doings[i].run();
    }
    must("finalize", PMIx_tool_finalize());
    if (!wrong)
        printf("allocations %s good\n", mode);
    return wrong != 0;
}
