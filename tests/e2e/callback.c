/* callback.c - a tool with a server of its own starts a launcher, which calls it back:
 *
 *   callback tool FILE COMMAND...
 *   callback joins PROGRAM...       one of its processes, which becomes the program when it has
 *                                   been in PMIx
 *
 * The launcher is told to let its processes stop in PMIx_Init.  When it is ready, its address is
 * written to FILE.  Ends with the exit code of the launcher, or 99 when it has not called, or not
 * as it should.
 */
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int done, came, ready;
static pmix_status_t result;
static char address[512];

static void die(const char *what)
{
    printf("callback: %s\n", what);
    fflush(stdout);
    _exit(99);
}

static void await(const int *flag, const char *what)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 300;
    pthread_mutex_lock(&lock);
    while (!*flag) {
        if (pthread_cond_timedwait(&news, &lock, &until))
            die(what);
    }
    pthread_mutex_unlock(&lock);
}

static void set(int *flag)
{
    pthread_mutex_lock(&lock);
    *flag = 1;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
}

static void on_done(pmix_status_t status, void *data)
{
    (void)data;
    result = status;
    set(&done);
}

static void on_registered(pmix_status_t status, size_t number, void *data)
{
    (void)number;
    on_done(status, data);
}

/* The calls of the server that end later. */
static void settle(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS) {
        await(&done, what);
        rc = result;
    }
    done = 0;
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        die(what);
}

static void on_ready(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t then, void *data)
{
    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(infos[i].key, PMIX_SERVER_URI, PMIX_MAX_KEYLEN))
            snprintf(address, sizeof address, "%s", infos[i].value.data.string);
    }
    if (then)
        then(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
    set(&ready);
}

static void on_tool(pmix_info_t infos[], size_t n, pmix_tool_connection_cbfunc_t then, void *data)
{
    pmix_proc_t name;

    PMIX_LOAD_PROCID(&name, "launcher", 0);
    for (size_t i = 0; i < n; i++)
        came |= !strncmp(infos[i].key, PMIX_LAUNCHER, PMIX_MAX_KEYLEN);
    then(PMIX_SUCCESS, &name, data);
}

static void describe(const pmix_proc_t *launcher)
{
    pmix_info_t job[5], *dirs;
    pmix_data_array_t array;
    char host[256] = "", *nodes = NULL, *ranks = NULL;
    uint32_t one = 1;

    gethostname(host, sizeof host - 1);
    if (PMIx_generate_regex(host, &nodes) != PMIX_SUCCESS ||
        PMIx_generate_ppn("0", &ranks) != PMIX_SUCCESS)
        die("generate_regex");

    PMIX_DATA_ARRAY_CONSTRUCT(&array, 1, PMIX_INFO);
    dirs = array.array;
    PMIX_INFO_LOAD(&dirs[0], PMIX_DEBUG_STOP_IN_INIT, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&job[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&job[1], PMIX_LAUNCH_DIRECTIVES, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&job[2], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&job[3], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    PMIX_INFO_LOAD(&job[4], PMIX_UNIV_SIZE, &one, PMIX_UINT32);
    settle(PMIx_server_register_nspace(launcher->nspace, 1, job, 5, on_done, NULL),
           "register_nspace");
    settle(PMIx_server_register_client(launcher, geteuid(), getegid(), NULL, on_done, NULL),
           "register_client");
    for (int i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&job[i]);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
    free(nodes);
    free(ranks);
}

static char **copy_environment(void)
{
    extern char **environ;
    size_t n = 0;
    char **env;

    while (environ[n])
        n++;
    env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        env[i] = strdup(environ[i]);
    return env;
}

static pid_t start(const pmix_proc_t *launcher, char **command)
{
    extern char **environ;
    char **env = copy_environment();
    const char *uri = NULL;
    pid_t pid;

    if (PMIx_server_setup_fork(launcher, &env) != PMIX_SUCCESS)
        die("setup_fork");
    for (char **e = env; *e; e++) {
        if (!strncmp(*e, "PMIX_SERVER_URI41=", 18))
            uri = *e + 18;
    }
    if (!uri)
        die("no address");
    pid = fork();
    if (pid) {
        for (char **e = env; *e; e++)
            free(*e);
        free(env);
        return pid;
    }
    environ = env;
    setenv("PMIX_LAUNCHER_RNDZ_URI", uri, 1);
    unsetenv("LD_LIBRARY_PATH");
    execvp(command[0], command);
    _exit(127);
}

static int join(char **program)
{
    pmix_proc_t me;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS || PMIx_Finalize(NULL, 0) != PMIX_SUCCESS)
        return 99;
    execv(program[0], program);
    return 99;
}

int main(int argc, char **argv)
{
    static pmix_server_module_t module = { .tool_connected = on_tool };
    pmix_status_t code = PMIX_LAUNCHER_READY;
    pmix_proc_t launcher;
    pmix_info_t tools;
    int status = 0;
    pid_t pid;
    FILE *f;

    if (argc > 2 && !strcmp(argv[1], "joins"))
        return join(argv + 2);
    if (argc < 4)
        return 99;
    PMIX_LOAD_PROCID(&launcher, "launcher", 0);
    PMIX_INFO_LOAD(&tools, PMIX_SERVER_TOOL_SUPPORT, NULL, PMIX_BOOL);
    if (PMIx_server_init(&module, &tools, 1) != PMIX_SUCCESS)
        die("server_init");
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_ready, on_registered, NULL);
    await(&done, "register");
    done = 0;
    describe(&launcher);
    pid = start(&launcher, argv + 3);
    await(&ready, "the launcher has not called");
    f = fopen(argv[2], "w");
    if (!f || fprintf(f, "%s\n", address) < 0 || fclose(f))
        die("cannot write");
    waitpid(pid, &status, 0);
    printf("callback %s good\n", argv[1]);
    fflush(stdout);
    PMIx_server_finalize();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
