/* hostapi.c - a host of the server library, which judges what the library does for it, and the
 * client that it starts.
 *
 *   hostapi setup CLIENT...     an application's environment, resources, inventories
 *   hostapi progress CLIENT...  the host turns the library after PMIx_Progress_thread_stop
 *   hostapi client WORD...      a process: tells on one line what it sees of each WORD:
 *                               get:KEY of its job, env:NAME, xml:HOST the answer of a query
 *
 * CLIENT is a command that runs this program.  Prints `wrong: ...` for each difference, and `good`.
 */
#include <dirent.h>
#include <pmix.h>
#include <pmix_server.h>
#include <poll.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeps.h"

extern char **environ;

static char **client;
static bool by_hand; /* nobody else turns the library */
static int wrong;
static sem_t called;
static pmix_status_t status;

static void expect(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return;
    printf("wrong: %s is '%s', not '%s'\n", what, got, want);
    wrong++;
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        expect(what, PMIx_Error_string(rc), "success");
}

static void on_op(pmix_status_t rc, void *cbdata)
{
    (void)cbdata;
    status = rc;
    sem_post(&called);
}

static void wait_op(const char *what, pmix_status_t rc)
{
    must(what, rc);
    if (rc != PMIX_SUCCESS)
        return;
    while (by_hand && sem_trywait(&called) != 0)
        PMIx_Progress();
    if (!by_hand)
        sem_wait(&called);
    must(what, status);
}

/* ---- a process ------------------------------------------------------------------------------- */

static void print_value(pmix_status_t rc, const pmix_value_t *v)
{
    if (rc != PMIX_SUCCESS || !v)
        printf(" -");
    else if (v->type == PMIX_STRING)
        printf(" %s", v->data.string);
    else
        printf(" ?");
}

static void print_get(const pmix_proc_t *me, const char *key)
{
    pmix_value_t *v = NULL;
    pmix_proc_t job = *me;
    pmix_status_t rc;

    job.rank = PMIX_RANK_WILDCARD;
    rc = PMIx_Get(&job, key, NULL, 0, &v);
    print_value(rc, v);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void print_xml(char *host)
{
    char key[] = PMIX_HWLOC_XML_V2, *keys[] = { key, NULL };
    pmix_info_t *results = NULL, where;
    size_t n = 0;
    pmix_query_t q = { .keys = keys, .qualifiers = &where, .nqual = 1 };
    pmix_status_t rc;

    PMIX_INFO_LOAD(&where, PMIX_HOSTNAME, host, PMIX_STRING);
    rc = PMIx_Query_info(&q, 1, &results, &n);
    print_value(rc, n ? &results[0].value : NULL);
    PMIX_INFO_DESTRUCT(&where);
    if (results)
        PMIX_INFO_FREE(results, n);
}

static int be_client(char **words)
{
    pmix_proc_t me;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    for (; *words; words++) {
        const char *value;
        if (!strncmp(*words, "get:", 4))
            print_get(&me, *words + 4);
        else if (!strncmp(*words, "xml:", 4))
            print_xml(*words + 4);
        else
            printf(" %s", (value = getenv(*words + 4)) ? value : "-");
    }
    printf("\n");
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}

/* ---- starting one ---------------------------------------------------------------------------- */

static char **command_of(char *const *words)
{
    char **argv = calloc(64, sizeof *argv);
    size_t n = 0;

    for (char **w = client; *w && n < 50; w++)
        argv[n++] = *w;
    argv[n++] = (char *)(uintptr_t) "client";
    for (; *words && n < 62; words++)
        argv[n++] = *words;
    return argv;
}

static void read_line(int fd, char *line, size_t room)
{
    size_t n = 0;

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t got;
        if (by_hand && poll(&p, 1, 1) == 0) {
            PMIx_Progress();
            continue;
        }
        got = read(fd, line + n, room - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

static void sees(const char *what, const char *nspace, char *const *words, const char *want)
{
    char line[4096], **env = NULL, **argv = command_of(words);
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;
    int ends[2], code;
    pid_t pid;

    PMIX_LOAD_PROCID(&proc, nspace, 0);
    wait_op("register a client",
            PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, on_op, NULL));
    for (char **v = environ; *v; v++)
        PMIX_ARGV_APPEND(rc, env, *v);
    must("copy the environment", rc);
    must("set up the fork", PMIx_server_setup_fork(&proc, &env));
    if (pipe(ends) < 0)
        _exit(99);
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvpe(argv[0], argv, env);
        _exit(127);
    }
    close(ends[1]);
    read_line(ends[0], line, sizeof line);
    close(ends[0]);
    waitpid(pid, &code, 0);
    if (code)
        expect(what, "a failure", "an end");
    expect(what, line, want);
    PMIX_ARGV_FREE(env);
    free(argv);
}

#define SEES(what, nspace, want, ...) sees(what, nspace, (char *const[]){ __VA_ARGS__, NULL }, want)
#define WORD(text)                    ((char *)(uintptr_t)(text))

static void register_job(const char *nspace, const char *key, const char *value)
{
    pmix_info_t info[2];
    uint32_t one = 1;
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, nspace);
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], key, value, PMIX_STRING);
    wait_op("register a job", PMIx_server_register_nspace(name, 1, info, 2, on_op, NULL));
    PMIX_INFO_DESTRUCT(&info[1]);
}

/* ---- an application's environment ------------------------------------------------------------ */

static pmix_info_t *setup;
static size_t nsetup;

static void on_setup(pmix_status_t rc, pmix_info_t info[], size_t ninfo, void *cbdata,
                     pmix_op_cbfunc_t cbfunc, void *data)
{
    (void)cbdata;
    PMIX_INFO_CREATE(setup, ninfo ? ninfo : 1);
    nsetup = ninfo;
    for (size_t i = 0; i < ninfo; i++)
        PMIX_INFO_XFER(&setup[i], &info[i]);
    status = rc;
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, data);
    sem_post(&called);
}

static const char *harvested(const char *name)
{
    const char *value = "-";

    for (size_t i = 0; i < nsetup; i++) {
        if (PMIX_CHECK_KEY(&setup[i], PMIX_SET_ENVAR) &&
            !strcmp(setup[i].value.data.envar.envar, name))
            value = setup[i].value.data.envar.value;
    }
    return value;
}

static void load_envar(pmix_info_t *i, const char *key, const char *name, const char *value)
{
    pmix_envar_t v = { .envar = WORD(name), .value = WORD(value), .separator = ':' };

    PMIX_INFO_LOAD(i, key, &v, PMIX_ENVAR);
}

static void drop_setup(void)
{
    PMIX_INFO_FREE(setup, nsetup);
    setup = NULL;
    nsetup = 0;
}

/* Harvested by the model's name; not without being asked, and not twice. */
static void test_harvest(void)
{
    pmix_nspace_t name;
    pmix_info_t info[3];
    bool yes = true;

    setenv("OMPI_MCA_test_harvest", "by the host", 1);
    setenv("OMPI_COMM_WORLD_RANK", "7", 1);
    setenv("PMIX_MCA_test_harvest", "of the library", 1);
    PMIX_LOAD_NSPACE(name, "setup");
    PMIX_INFO_LOAD(&info[0], PMIX_SETUP_APP_ENVARS, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_PROGRAMMING_MODEL, "ompi", PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_ENVARS_HARVESTED, &yes, PMIX_BOOL);
    wait_op("set up an application", PMIx_server_setup_application(name, info, 2, on_setup, NULL));
    expect("what is harvested", harvested("OMPI_MCA_test_harvest"), "by the host");
    expect("what is harvested", harvested("PMIX_MCA_test_harvest"), "of the library");
    drop_setup();
    wait_op("set up an application", PMIx_server_setup_application(name, info, 3, on_setup, NULL));
    expect("what was harvested already", harvested("OMPI_MCA_test_harvest"), "-");
    drop_setup();
    wait_op("set up an application",
            PMIx_server_setup_application(name, info + 1, 1, on_setup, NULL));
    expect("what is not asked for", harvested("OMPI_MCA_test_harvest"), "-");
    drop_setup();
    PMIX_INFO_DESTRUCT(&info[1]);
}

static void test_setup(void)
{
    pmix_nspace_t name;
    pmix_info_t info[8];
    bool yes = true;

    PMIX_LOAD_NSPACE(name, "setup");
    setenv("TEST_LIST", "b:c", 1);
    setenv("TEST_GONE", "still there", 1);
    setenv("TEST_KEPT", "the host's", 1);
    PMIX_INFO_LOAD(&info[0], PMIX_SETUP_APP_ALL, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_MODEL_LIBRARY_NAME, "Open MPI", PMIX_STRING);
    load_envar(&info[2], PMIX_SET_ENVAR, "TEST_SET", "set");
    load_envar(&info[3], PMIX_PREPEND_ENVAR, "TEST_LIST", "a");
    load_envar(&info[4], PMIX_APPEND_ENVAR, "TEST_LIST", "d");
    load_envar(&info[5], PMIX_FIRST_ENVAR, "TEST_LIST", "c");
    load_envar(&info[6], PMIX_ADD_ENVAR, "TEST_KEPT", "another");
    PMIX_INFO_LOAD(&info[7], PMIX_UNSET_ENVAR, "TEST_GONE", PMIX_STRING);
    wait_op("set up an application", PMIx_server_setup_application(name, info, 8, on_setup, NULL));
    expect("the world of the host itself", harvested("OMPI_COMM_WORLD_RANK"), "-");
    wait_op("set up a node", PMIx_server_setup_local_support(name, setup, nsetup, on_op, NULL));
    unsetenv("OMPI_MCA_test_harvest");
    register_job("setup", "test.none", "");
    SEES("an environment", "setup", " set c:a:b:d - the host's by the host", WORD("env:TEST_SET"),
         WORD("env:TEST_LIST"), WORD("env:TEST_GONE"), WORD("env:TEST_KEPT"),
         WORD("env:OMPI_MCA_test_harvest"));
    register_job("other", "test.none", "");
    SEES("another job's environment", "other", " - b:c still there", WORD("env:TEST_SET"),
         WORD("env:TEST_LIST"), WORD("env:TEST_GONE"));
    drop_setup();
    for (size_t i = 0; i < 8; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

/* ---- resources ------------------------------------------------------------------------------- */

static void test_resources(void)
{
    pmix_info_t info[2];
    char *const words[] = { WORD("get:test.all"), WORD("get:test.own"), NULL };

    PMIX_INFO_LOAD(&info[0], "test.all", "everywhere", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], "test.own", "everywhere", PMIX_STRING);
    register_job("before", "test.own", "its own");
    wait_op("register resources", PMIx_server_register_resources(info, 2, on_op, NULL));
    register_job("after", "test.own", "its own");
    sees("a resource", "after", words, " everywhere its own");
    sees("a resource of an earlier job", "before", words, " everywhere its own");
    wait_op("deregister resources", PMIx_server_deregister_resources(info, 2, on_op, NULL));
    register_job("later", "test.none", "");
    sees("what is no resource any more", "later", words, " - -");
    sees("what was one", "before", words, " - its own");
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

/* ---- inventories ----------------------------------------------------------------------------- */

static pmix_info_t *inventory;
static size_t ninventory;

static void on_inventory(pmix_status_t rc, pmix_info_t *info, size_t ninfo, void *cbdata,
                         pmix_release_cbfunc_t release, void *data)
{
    (void)cbdata;
    PMIX_INFO_CREATE(inventory, ninfo ? ninfo : 1);
    ninventory = ninfo;
    for (size_t i = 0; i < ninfo; i++)
        PMIX_INFO_XFER(&inventory[i], &info[i]);
    status = rc;
    if (release)
        release(data);
    sem_post(&called);
}

static const pmix_info_t *in_node(const char *key)
{
    const pmix_info_t *list = inventory[0].value.data.darray->array;

    for (size_t i = 0; i < inventory[0].value.data.darray->size; i++) {
        if (PMIX_CHECK_KEY(&list[i], key))
            return &list[i];
    }
    return NULL;
}

static void replace(const char *key, const char *text)
{
    pmix_info_t *i = (pmix_info_t *)(uintptr_t)in_node(key);

    free(i->value.data.string);
    i->value.data.string = strdup(text);
}

static void test_inventory(void)
{
    const pmix_info_t *i;

    wait_op("collect", PMIx_server_collect_inventory(NULL, 0, on_inventory, NULL));
    if (ninventory != 1 || !PMIX_CHECK_KEY(&inventory[0], PMIX_NODE_INFO_ARRAY)) {
        expect("an inventory", "something else", "one node's");
        return;
    }
    i = in_node(PMIX_HOSTNAME);
    expect("the node of an inventory", i ? i->value.data.string : "-", "nodeA");
    i = in_node(PMIX_HWLOC_XML_V2);
    expect("its topology", i && strstr(i->value.data.string, "<topology") ? "XML" : "-", "XML");
    replace(PMIX_HOSTNAME, "nodeB");
    replace(PMIX_HWLOC_XML_V2, "<nodeB/>");
    wait_op("deliver", PMIx_server_deliver_inventory(inventory, 1, NULL, 0, on_op, NULL));
    replace(PMIX_HWLOC_XML_V2, "<nodeB>2</nodeB>");
    wait_op("deliver", PMIx_server_deliver_inventory(inventory, 1, NULL, 0, on_op, NULL));
    register_job("asks", "test.none", "");
    SEES("a delivered topology", "asks", " <nodeB>2</nodeB> -", WORD("xml:nodeB"),
         WORD("xml:nodeC"));
    PMIX_INFO_FREE(inventory, ninventory);
}

/* ---- progress -------------------------------------------------------------------------------- */

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;

    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void test_progress(void)
{
#ifdef PMIX_PROGRESS_THREAD_NAME
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_PROGRESS_THREAD_NAME, "of another", PMIX_STRING);
    PMIx_Progress_thread_stop(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    expect("a thread of another name", threads() > 1 ? "there" : "stopped", "there");
    PMIx_Progress_thread_stop(NULL, 0);
    expect("our thread", threads() == 1 ? "stopped" : "there", "stopped");
    by_hand = true;
    register_job("by hand", "test.own", "its own");
    SEES("a host that turns the library", "by hand", " its own", WORD("get:test.own"));
    PMIx_Progress_thread_stop(NULL, 0);
#endif
}

int main(int argc, char **argv)
{
    static pmix_server_module_t module;
    pmix_info_t name;
    bool progress;

    if (argc > 1 && !strcmp(argv[1], "client"))
        return be_client(argv + 2);
    if (argc < 3)
        return 2;
    progress = !strcmp(argv[1], "progress");
    client = argv + 2;
    sem_init(&called, 0, 0);
    PMIX_INFO_LOAD(&name, PMIX_HOSTNAME, "nodeA", PMIX_STRING);
    must("init", PMIx_server_init(&module, &name, 1));
    if (progress) {
        test_progress();
    } else {
        test_harvest();
        test_setup();
        test_resources();
        test_inventory();
    }
    must("finalize", PMIx_server_finalize());
    PMIX_INFO_DESTRUCT(&name);
    printf("%s\n", wrong ? "bad" : "good");
    return wrong > 0;
}
