/* tool.c - a PMIx tool that does what tools do, and what it does that to.  Built with OpenPMIx's
 * headers; runs on its library and on ours.
 *
 *   tool patient              a process of a job: says `ready N`; `heard N` at SIGUSR1; stays
 *   tool served               a process of `serve`
 *   tool parent PROGRAM...    a PMIx process of a job, with PROGRAM as its child
 *   tool child                that child
 *   tool client               a PMIx process of a job: waits for an event, answers with one, ends
 *   tool WAY WHICH WHAT...    a tool:
 *     WAY     uri|file|pid|nspace|system|first|any|attach, WHICH: of them
 *     WHAT    query      what there is
 *             table      … of it, the processes
 *             output     signals the job, and hears what it says
 *             named      under a name of its own
 *             log        a line on the launcher's standard error
 *             spawn      a job of its own (TOOL_HOST: on that node), which says what is pushed to
 *                        it
 *             events     to processes of the job, and from them
 *             end        ends the job, and hears of it
 *             push       to a job whose input is not for tools: is refused
 *             servers    is connected with a second one (TOOL_SECOND: its address) too
 *             waits      for the second one, which another thread connects to
 *             serve      is a server itself, of a process of its own (PMIx_tool_set_server_module)
 *             spoil      finds a thing that is not there: so tests can fail
 *
 * Prints `tool WHAT good` for each, or `tool WHAT WRONG: why`. */
#include <dlfcn.h>
#include <errno.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 3, TO_THEM = -12345, FROM_THEM = -12346, PATIENCE_S = 300 };

static const char *what;
static int wrong;
static pmix_proc_t me;
static char job[PMIX_MAX_NSLEN + 1];

static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("tool %s WRONG: ", what);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void must(const char *call, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        complain("%s: %d (%s)", call, rc, PMIx_Error_string(rc));
}

/* Until the number is reached; only a limit for what hangs. */
static int reaches(atomic_int *number, int value)
{
    const struct timespec pause = { 0, 5000000 };

    for (int i = 0; i < PATIENCE_S * 200 && atomic_load(number) < value; i++)
        nanosleep(&pause, NULL);
    return atomic_load(number) >= value;
}

/* ---- processes of a job ---------------------------------------------------------------------- */

static char line[64];
static size_t length;

static void on_signal(int sig)
{
    (void)sig;
    if (write(STDOUT_FILENO, line, length) < 0)
        _exit(1);
}

__attribute__((noreturn)) static void patient(void)
{
    const char *rank = getenv("PMIX_RANK");

    length = (size_t)snprintf(line, sizeof line, "heard %s\n", rank ? rank : "?");
    signal(SIGUSR1, on_signal);
    printf("ready %s\n", rank ? rank : "?");
    fflush(stdout);
    for (;;)
        pause();
}

static atomic_int registered, nevents, ended;

static void on_registered(pmix_status_t status, size_t ref, void *arg)
{
    (void)ref;
    (void)arg;
    must("register", status);
    registered++;
}

static void on_event(size_t ref, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                     size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    (void)ref;
    (void)source;
    (void)results;
    (void)nresults;
    if (code == PMIX_EVENT_JOB_END) {
        for (size_t i = 0; i < n; i++) {
            if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC) &&
                infos[i].value.type == PMIX_PROC && infos[i].value.data.proc &&
                !strcmp(infos[i].value.data.proc->nspace, job))
                ended++;
        }
    } else if (code == PMIX_ERR_LOST_CONNECTION) {
        ended++;
    } else {
        nevents++;
    }
    if (fn)
        fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void listen_for(pmix_status_t code)
{
    int before = registered;

    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL);
    if (!reaches(&registered, before + 1))
        complain("no answer to a registration");
}

static int client(void)
{
    what = "client";
    must("init", PMIx_Init(&me, NULL, 0));
    if (wrong)
        return wrong;
    listen_for(TO_THEM);
    printf("ready %u\n", me.rank);
    fflush(stdout);
    if (!reaches(&nevents, 1))
        complain("no event");
    must("notify", PMIx_Notify_event(FROM_THEM, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL));
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong;
}

static int child(void)
{
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    printf("child %d\n", rc);
    fflush(stdout);
    return rc == PMIX_SUCCESS ? PMIx_Finalize(NULL, 0) : 1;
}

static int parent(char **program)
{
    int status = -1;
    pid_t pid;

    what = "parent";
    must("init", PMIx_Init(&me, NULL, 0));
    pid = fork();
    if (pid == 0) {
        execvp(program[0], program);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        complain("the child: %d", status);
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The answer to one key about one job; the caller frees it. */
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
    PMIX_QUERY_DESTRUCT(&q);
    if (rc == PMIX_SUCCESS && *n == 0)
        rc = PMIX_ERR_NOT_FOUND;
    return rc;
}

static void find_job(void)
{
    pmix_info_t *infos;
    size_t n;
    pmix_status_t rc = ask(PMIX_QUERY_NAMESPACES, NULL, &infos, &n);

    must("namespaces", rc);
    if (rc == PMIX_SUCCESS && infos[0].value.type == PMIX_STRING) {
        snprintf(job, sizeof job, "%s", infos[0].value.data.string);
        job[strcspn(job, ",")] = '\0';
    }
    if (!*job)
        complain("there is no job");
    PMIX_INFO_FREE(infos, n);
}

static void check_table(const char *key)
{
    pmix_info_t *infos;
    size_t n;
    const pmix_data_array_t *a;
    pmix_status_t rc = ask(key, job, &infos, &n);

    must(key, rc);
    if (rc != PMIX_SUCCESS)
        return;
    a = infos[0].value.type == PMIX_DATA_ARRAY ? infos[0].value.data.darray : NULL;
    if (!a || a->type != PMIX_PROC_INFO || a->size != SIZE) {
        complain("%s: no table of %d processes", key, SIZE);
    } else {
        const pmix_proc_info_t *p = a->array;
        for (uint32_t i = 0; i < SIZE; i++) {
            if (p[i].proc.rank != i || strcmp(p[i].proc.nspace, job) != 0 || p[i].pid <= 1 ||
                kill(p[i].pid, 0) < 0 || !p[i].hostname || !p[i].executable_name)
                complain("%s: process %u", key, i);
        }
    }
    PMIX_INFO_FREE(infos, n);
}

static void check_text(const char *key, const char *part)
{
    pmix_info_t *infos;
    size_t n;
    pmix_status_t rc = ask(key, NULL, &infos, &n);

    must(key, rc);
    if (rc == PMIX_SUCCESS && (infos[0].value.type != PMIX_STRING || !infos[0].value.data.string ||
                               !strstr(infos[0].value.data.string, part)))
        complain("%s: no %s in it", key, part);
    PMIX_INFO_FREE(infos, n);
}

static void query(void)
{
    pmix_info_t *infos;
    size_t n;
    pmix_proc_t all;
    pmix_value_t *v = NULL;
    pmix_status_t rc;

    check_table(PMIX_QUERY_PROC_TABLE);
    check_table(PMIX_QUERY_LOCAL_PROC_TABLE);
    check_text(PMIX_SERVER_URI, "tcp4://127.0.0.1:");
    check_text(PMIX_QUERY_SPAWN_SUPPORT, PMIX_WDIR);
    check_text(PMIX_QUERY_DEBUG_SUPPORT, PMIX_DEBUG_STOP_IN_INIT);
    rc = ask(PMIX_QUERY_JOB_STATUS, job, &infos, &n);
    must("job status", rc);
    if (rc == PMIX_SUCCESS && infos[0].value.data.status != PMIX_SUCCESS)
        complain("job status %d", infos[0].value.data.status);
    PMIX_INFO_FREE(infos, n);
    if (ask("no.such.key", NULL, &infos, &n) == PMIX_SUCCESS)
        complain("what nobody knows is known");
    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    must("get", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    if (v && (v->type != PMIX_UINT32 || v->data.uint32 != SIZE))
        complain("job size");
    if (v)
        PMIX_VALUE_RELEASE(v);
}

/* ---- output ---------------------------------------------------------------------------------- */

static atomic_int bytes_received;
static char text_received[4096];

static void on_output(size_t ref, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    int at = bytes_received;

    (void)ref;
    (void)channel;
    (void)source;
    (void)infos;
    (void)n;
    if (!bytes || (size_t)at + bytes->size >= sizeof text_received)
        return;
    memcpy(text_received + at, bytes->bytes, bytes->size);
    bytes_received = at + (int)bytes->size;
}

static void pull_from(const char *nspace)
{
    int before = registered;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, nspace, PMIX_RANK_WILDCARD);
    must("pull",
         PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_registered, NULL));
    if (!reaches(&registered, before + 1))
        complain("no answer to a pull");
}

static pmix_status_t control(const char *key, int signal)
{
    pmix_proc_t all;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    if (signal)
        PMIX_INFO_LOAD(&info, key, &signal, PMIX_INT);
    else
        PMIX_INFO_LOAD(&info, key, NULL, PMIX_BOOL);
    return PMIx_Job_control(&all, 1, &info, 1, NULL, NULL);
}

static void output(void)
{
    static const char want[] = "heard 0\n";

    pull_from(job);
    must("signal", control(PMIX_JOB_CTRL_SIGNAL, SIGUSR1));
    if (!reaches(&bytes_received, SIZE * (int)(sizeof want - 1)))
        complain("heard only %d bytes", bytes_received);
    for (int r = 0; r < SIZE; r++) {
        char text[16];
        snprintf(text, sizeof text, "heard %d\n", r);
        if (!strstr(text_received, text))
            complain("nothing of rank %d", r);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void send_log(void)
{
    pmix_info_t data;

    PMIX_INFO_LOAD(&data, PMIX_LOG_STDERR, "the tool says hello\n", PMIX_STRING);
    must("log", PMIx_Log(&data, 1, NULL, 0));
    PMIX_INFO_DESTRUCT(&data);
}

static atomic_int pushed, push_status;

static void on_pushed(pmix_status_t status, void *arg)
{
    (void)arg;
    push_status = status;
    pushed++;
}

/* (Without a callback 4.2.2 waits for itself.) */
static void push_to(const char *nspace, const char *text, pmix_status_t want)
{
    int before = pushed;
    pmix_proc_t first;
    pmix_byte_object_t bo = { (char *)(uintptr_t)text, strlen(text) };
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&first, nspace, 0);
    rc = PMIx_IOF_push(&first, 1, &bo, NULL, 0, on_pushed, NULL);
    if (rc == PMIX_SUCCESS && reaches(&pushed, before + 1))
        rc = push_status;
    if (rc == PMIX_OPERATION_SUCCEEDED)
        rc = PMIX_SUCCESS;
    if (rc != want)
        complain("push: %d", rc);
}

static void spawn(void)
{
    char program[] = "cat", *argv[] = { program, NULL }, here[] = "/";
    pmix_app_t app;
    pmix_info_t infos[3];
    size_t n = 2;
    pmix_nspace_t child = "";
    static const char text[] = "this was pushed\n";

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = program;
    app.argv = argv;
    app.cwd = here;
    app.maxprocs = 1;
    PMIX_INFO_LOAD(&infos[0], PMIX_FWD_STDIN, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_FWD_STDOUT, NULL, PMIX_BOOL);
    if (getenv("TOOL_HOST"))
        PMIX_INFO_LOAD(&infos[n++], PMIX_HOST, getenv("TOOL_HOST"), PMIX_STRING);
    listen_for(PMIX_EVENT_JOB_END);
    must("spawn", PMIx_Spawn(infos, n, &app, 1, child));
    snprintf(job, sizeof job, "%s", child);
    pull_from(child);
    push_to(child, text, PMIX_SUCCESS);
    if (!reaches(&bytes_received, (int)sizeof text - 1) || strcmp(text_received, text) != 0)
        complain("heard '%s'", text_received);
    push_to(child, "", PMIX_SUCCESS);
    if (!reaches(&ended, 1))
        complain("its end was not told");
}

static void events(void)
{
    listen_for(FROM_THEM);
    must("notify", PMIx_Notify_event(TO_THEM, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL));
    if (!reaches(&nevents, SIZE))
        complain("heard of %d", nevents);
}

static void end(void)
{
    listen_for(PMIX_EVENT_JOB_END);
    must("terminate", control(PMIX_JOB_CTRL_TERMINATE, 0));
    if (!reaches(&ended, 1))
        complain("its end was not told");
}

/* ---- several servers ------------------------------------------------------------------------- */

/* Whose job is seen now. */
static void must_see(const char *what_for, const char *want)
{
    pmix_info_t *infos;
    size_t n;
    pmix_status_t rc = ask(PMIX_QUERY_NAMESPACES, NULL, &infos, &n);

    must(what_for, rc);
    if (rc == PMIX_SUCCESS && strncmp(infos[0].value.data.string, want, strlen(want)) != 0)
        complain("%s: sees %s, not %s", what_for, infos[0].value.data.string, want);
    PMIX_INFO_FREE(infos, n);
}

static void must_know(const char *what_for, size_t count, const pmix_proc_t *first)
{
    pmix_proc_t *servers = NULL;
    size_t n = 0;

    must(what_for, PMIx_tool_get_servers(&servers, &n));
    if (n != count || (first && n && !PMIX_CHECK_PROCID(&servers[0], first)))
        complain("%s: knows %zu servers, the first is %s", what_for, n, n ? servers[0].nspace : "");
    if (servers)
        PMIX_PROC_FREE(servers, n);
}

/* To the second server, which is asked from then on; and back. */
static void reconnect(const pmix_proc_t *first, const char *other)
{
    pmix_info_t infos[2];
    pmix_proc_t second;

    PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_RECONNECT_SERVER, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&infos[1]);
    must("reconnect", PMIx_tool_attach_to_server(NULL, &second, infos, 2));
    must_know("reconnected", 2, &second);
    must_see("reconnected", other);
    must("disconnect again", PMIx_tool_disconnect(&second));
    must_know("disconnected again", 1, first);
    PMIX_INFO_DESTRUCT(&infos[0]);
}

static void servers(void)
{
    bool (*is_connected)(void); /* younger than 4.2.2 */
    pmix_proc_t *list = NULL, first, second, nobody, myself;
    pmix_info_t info;
    size_t n = 0;
    char other[PMIX_MAX_NSLEN + 1] = "", mine[PMIX_MAX_NSLEN + 1];

    must("servers", PMIx_tool_get_servers(&list, &n));
    if (n != 1) {
        complain("is connected with %zu", n);
        return;
    }
    first = list[0];
    PMIX_PROC_FREE(list, n);
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    must("attach", PMIx_tool_attach_to_server(&myself, &second, &info, 1));
    if (!PMIX_CHECK_PROCID(&myself, &me) || PMIX_CHECK_PROCID(&first, &second))
        complain("names: %s at %s", myself.nspace, second.nspace);
    must_know("attached", 2, &first);
    must_see("the first is still asked", job);
    must("set", PMIx_tool_set_server(&second, NULL, 0));
    must_know("set", 2, &second);
    strcpy(mine, job);
    find_job();
    strcpy(other, job);
    if (!strcmp(mine, other))
        complain("sees the same job");
    must("set back", PMIx_tool_set_server(&first, NULL, 0));
    must_see("set back", mine);
    must("disconnect", PMIx_tool_disconnect(&second));
    must_know("disconnected", 1, &first);
    must_see("disconnected", mine);
    if (dlsym(RTLD_DEFAULT, "WIREUP_server_connect_child")) /* ours; OpenPMIx ignores it */
        reconnect(&first, other);
    PMIX_LOAD_PROCID(&nobody, "nobody", 0);
    if (PMIx_tool_set_server(&nobody, NULL, 0) == PMIX_SUCCESS ||
        PMIx_tool_disconnect(&nobody) == PMIX_SUCCESS)
        complain("a server that is not there");
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, "nobody.0;tcp4://127.0.0.1:1", PMIX_STRING);
    if (PMIx_tool_attach_to_server(NULL, NULL, &info, 1) == PMIX_SUCCESS)
        complain("attached to nobody");
    must_know("after that", 1, &first);
    strcpy(job, mine);
    *(void **)&is_connected = dlsym(RTLD_DEFAULT, "PMIx_tool_is_connected");
    if (!is_connected || !is_connected())
        complain("is not connected");
    PMIX_INFO_DESTRUCT(&info);
}

static void *attach_to_second(void *arg)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    must("attach", PMIx_tool_attach_to_server(NULL, arg, &info, 1));
    PMIX_INFO_DESTRUCT(&info);
    return NULL;
}

/* By the older function, which makes it the one that is asked. */
static void connect_to_second(const pmix_proc_t *second)
{
    pmix_status_t (*connect_to)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_proc_t myself;
    pmix_info_t info;

    *(void **)&connect_to = dlsym(RTLD_DEFAULT, "PMIx_tool_connect_to_server");
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    must("connect", connect_to ? connect_to(&myself, &info, 1) : PMIX_ERR_NOT_SUPPORTED);
    must_know("connected", 2, second);
    must("disconnect", PMIx_tool_disconnect(second));
    PMIX_INFO_DESTRUCT(&info);
}

static void waits(void)
{
    const char *uri = getenv("TOOL_SECOND");
    pmix_proc_t second, attached, nobody;
    pmix_info_t infos[2];
    int second_s = 1;
    pthread_t thread;

    PMIX_INFO_LOAD(&infos[0], PMIX_WAIT_FOR_CONNECTION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_TIMEOUT, &second_s, PMIX_INT);
    PMIX_INFO_REQUIRED(&infos[0]);
    PMIX_INFO_REQUIRED(&infos[1]);
    PMIX_LOAD_PROCID(&nobody, "nobody", 0);
    if (PMIx_tool_set_server(&nobody, infos, 2) != PMIX_ERR_TIMEOUT)
        complain("the time for nobody is not over");
    PMIX_LOAD_PROCID(&second, uri, 0);
    second.nspace[strcspn(second.nspace, ".")] = '\0';
    if (pthread_create(&thread, NULL, attach_to_second, &attached) != 0) {
        complain("no thread");
        return;
    }
    must("wait", PMIx_tool_set_server(&second, infos, 1));
    pthread_join(thread, NULL);
    must_know("waited", 2, &attached);
    must("disconnect", PMIx_tool_disconnect(&attached));
    connect_to_second(&attached);
}

/* ---- a tool that serves ---------------------------------------------------------------------- */

static atomic_int connected, finalized, replied;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t infos[],
                                  size_t n, pmix_op_cbfunc_t fn, void *arg)
{
    (void)object;
    (void)infos;
    (void)n;
    (void)fn;
    (void)arg;
    connected += !strcmp(proc->nspace, "toolspace") && proc->rank == 0;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t fn,
                                  void *arg)
{
    (void)proc;
    (void)object;
    (void)fn;
    (void)arg;
    finalized++;
    return PMIX_OPERATION_SUCCEEDED;
}

static void on_reply(pmix_status_t status, void *arg)
{
    (void)arg;
    must("a registration", status);
    replied++;
}

static void serve(void)
{
    static pmix_server_module_t module;
    pmix_status_t (*set_module)(pmix_server_module_t *); /* younger than 4.2.2 */
    pmix_nspace_t space;
    uint32_t one = 1;
    pmix_info_t infos[2];
    pmix_proc_t proc;
    char **env = NULL, self[4096] = "";
    int status = -1, before = replied;
    pid_t pid;
    pmix_status_t rc;

    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    *(void **)&set_module = dlsym(RTLD_DEFAULT, "PMIx_tool_set_server_module");
    if (!set_module) {
        complain("there is no such function");
        return;
    }
    must("module", set_module(&module));
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &one, PMIX_UINT32);
    PMIX_LOAD_NSPACE(space, "toolspace");
    rc = PMIx_server_register_nspace(space, 1, infos, 2, on_reply, NULL);
    if (rc == PMIX_SUCCESS && !reaches(&replied, before + 1))
        complain("register: no answer");
    must("register", rc);
    PMIX_LOAD_PROCID(&proc, "toolspace", 0);
    before = replied;
    rc = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, on_reply, NULL);
    if (rc == PMIX_SUCCESS && !reaches(&replied, before + 1))
        complain("expect: no answer");
    must("expect", rc);
    for (char **e = environ; *e; e++)
        PMIX_ARGV_APPEND(rc, env, *e);
    must("fork", PMIx_server_setup_fork(&proc, &env));
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        complain("who am I?");
    pid = fork();
    if (pid == 0) {
        execle(self, "tool", "served", (char *)NULL, env);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        complain("the process: %d", status);
    if (!reaches(&finalized, 1) || connected != 1)
        complain("connected %d, finalized %d", connected, finalized);
    must_see("a tool still", job);
}

static int served(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    what = "served";
    must("init", PMIx_Init(&me, NULL, 0));
    if (strcmp(me.nspace, "toolspace") != 0 || me.rank != 0)
        complain("is %s.%u", me.nspace, me.rank);
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong;
}

static void check_name(void)
{
    if (strcmp(me.nspace, "my.own-tool") != 0 || me.rank != 2)
        complain("is %s.%u", me.nspace, me.rank);
}

static void do_one(const char *name)
{
    what = name;
    wrong = 0;
    if (!strcmp(name, "query"))
        query();
    else if (!strcmp(name, "table"))
        check_table(PMIX_QUERY_PROC_TABLE);
    else if (!strcmp(name, "output"))
        output();
    else if (!strcmp(name, "log"))
        send_log();
    else if (!strcmp(name, "spawn"))
        spawn();
    else if (!strcmp(name, "events"))
        events();
    else if (!strcmp(name, "end"))
        end();
    else if (!strcmp(name, "servers"))
        servers();
    else if (!strcmp(name, "waits"))
        waits();
    else if (!strcmp(name, "serve"))
        serve();
    else if (!strcmp(name, "named"))
        check_name();
    else if (!strcmp(name, "push"))
        push_to(job, "no", PMIX_ERR_NOT_SUPPORTED);
    else
        check_table("no.such.table");
    if (!wrong)
        printf("tool %s good\n", name);
    fflush(stdout);
}

static size_t load_way(pmix_info_t *infos, const char *way, char *which, const char *first)
{
    pid_t pid = atoi(which);
    uint32_t rank = 2;
    size_t n = 1;

    if (!strcmp(way, "uri"))
        PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_URI, which, PMIX_STRING);
    else if (!strcmp(way, "file"))
        PMIX_INFO_LOAD(&infos[0], PMIX_TOOL_ATTACHMENT_FILE, which, PMIX_STRING);
    else if (!strcmp(way, "pid"))
        PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    else if (!strcmp(way, "nspace"))
        PMIX_INFO_LOAD(&infos[0], PMIX_SERVER_NSPACE, which, PMIX_STRING);
    else if (!strcmp(way, "system"))
        PMIX_INFO_LOAD(&infos[0], PMIX_CONNECT_TO_SYSTEM, NULL, PMIX_BOOL);
    else if (!strcmp(way, "first"))
        PMIX_INFO_LOAD(&infos[0], PMIX_CONNECT_SYSTEM_FIRST, NULL, PMIX_BOOL);
    else if (!strcmp(way, "attach"))
        PMIX_INFO_LOAD(&infos[0], PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    else
        n = 0;
    if (first && !strcmp(first, "named")) {
        PMIX_INFO_LOAD(&infos[n], PMIX_TOOL_NSPACE, "my.own-tool", PMIX_STRING);
        PMIX_INFO_LOAD(&infos[n + 1], PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
        n += 2;
    }
    return n;
}

int main(int argc, char **argv)
{
    pmix_info_t infos[4];
    pmix_status_t rc;
    size_t n;

    if (argc == 2 && !strcmp(argv[1], "patient"))
        patient();
    if (argc == 2 && !strcmp(argv[1], "client"))
        return client();
    if (argc == 2 && !strcmp(argv[1], "child"))
        return child();
    if (argc > 2 && !strcmp(argv[1], "parent"))
        return parent(argv + 2);
    if (argc == 2 && !strcmp(argv[1], "served"))
        return served();
    if (argc < 3)
        return 2;
    what = argv[1];
    n = load_way(infos, argv[1], argv[2], argv[3]);
    rc = PMIx_tool_init(&me, infos, n);
    if (rc != PMIX_SUCCESS) {
        printf("tool init WRONG: %d\n", rc);
        return 1;
    }
    find_job();
    if (argc == 3 && !wrong)
        printf("tool %s good\n", argv[1]);
    for (int i = 3; i < argc; i++)
        do_one(argv[i]);
    rc = PMIx_tool_finalize();
    return rc != PMIX_SUCCESS;
}
