/* hostapi.c - a host of the server library, which judges what the library does for it, and the
 * client that it starts.
 *
 *   hostapi setup CLIENT...     an application's environment, resources, inventories
 *   hostapi progress CLIENT...  the host turns the library after PMIx_Progress_thread_stop
 *   hostapi upcalls CLIENT...   with which infos each function of the host is called
 *   hostapi bare CLIENT...      a host without functions refuses
 *   hostapi gateway CLIENT...   one that is a gateway writes to the syslog
 *   hostapi roles CLIENT...     one with all roles, and where tools find it
 *   hostapi singleton CLIENT... one that was started for a process that runs already
 *   hostapi listener CLIENT...  the host accepts a connection itself
 *   hostapi longer CLIENT...    a host with the module of 6.1
 *   hostapi client WORD...      a process: prints on one line what it sees of each WORD:
 *                               get:KEY or number:KEY of its job, session:KEY of its
 *                               session, app:KEY of its application, devices:NODE,
 *                               env:NAME, xml:HOST the answer of a query, do:CALL the status
 *                               of a call
 *
 * CLIENT is a command that runs this program.  Prints `wrong: ...` for each difference, and `good`.
 */
#include <dirent.h>
#include <glob.h>
#include <netinet/in.h>
#include <pmix.h>
#include <pmix_server.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostapi_calls.h"
#include "keeps.h"

#ifdef PMIX_PROGRESS_THREAD_NAME
#define OURS /* the library that this is compiled with */
#endif

extern char **environ;

static char **client;
static bool by_hand; /* nobody else turns the library */
static bool alone;   /* the library calls nothing back */
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

static pmix_op_cbfunc_t back(void)
{
    return alone ? NULL : on_op;
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

static void print_bytes(const pmix_value_t *v)
{
    for (size_t b = 0; v->type == PMIX_BYTE_OBJECT && b < v->data.bo.size; b++)
        printf("%02x", (unsigned char)v->data.bo.bytes[b]);
}

/* The keys of an array of infos, each with its text or bytes. */
static void print_infos(const pmix_data_array_t *a)
{
    const pmix_info_t *i = a->array;

    for (size_t k = 0; k < a->size; k++) {
        printf("%s%s=", k ? "," : " ", i[k].key);
        if (i[k].value.type == PMIX_STRING)
            printf("%s", i[k].value.data.string);
        print_bytes(&i[k].value);
    }
}

static void print_value(pmix_status_t rc, const pmix_value_t *v)
{
    if (rc != PMIX_SUCCESS || !v)
        printf(" -");
    else if (v->type == PMIX_STRING)
        printf(" %s", v->data.string);
    else if (v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_INFO)
        print_infos(v->data.darray);
    else if (v->type == PMIX_BYTE_OBJECT)
        printf(" "), print_bytes(v);
    else
        printf(" ?");
}

/* LEVEL: the flag by which an information is the session's or the application's; or NULL. */
static void print_get(const pmix_proc_t *me, const char *level, const char *key)
{
    pmix_value_t *v = NULL;
    pmix_proc_t job = *me;
    pmix_status_t rc;
    pmix_info_t info;

    job.rank = PMIX_RANK_WILDCARD;
    if (level)
        PMIX_INFO_LOAD(&info, level, NULL, PMIX_BOOL);
    rc = PMIx_Get(&job, key, level ? &info : NULL, level ? 1 : 0, &v);
    print_value(rc, v);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void print_number(const pmix_proc_t *me, const char *key)
{
    pmix_value_t *v = NULL;
    pmix_proc_t job = *me;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, key, NULL, 0, &v) == PMIX_SUCCESS && v && v->type == PMIX_UINT32)
        printf(" %u", v->data.uint32);
    else
        printf(" -");
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void print_array(const pmix_data_array_t *a)
{
    const pmix_endpoint_t *end = a->array;
    const pmix_geometry_t *place = a->array;
    const uint32_t *number = a->array;

    if (a->type == PMIX_GEOMETRY && place->ncoords == 1)
        printf(" %s:%u:%u", place->uuid, place->coordinates->coord[0],
               place->coordinates->coord[1]);
    else if (a->type == PMIX_ENDPOINT)
        printf(" %s:%02x", end->uuid, (unsigned char)end->endpt.bytes[0]);
    else if (a->type == PMIX_UINT32)
        printf(" %ux%u", number[0], number[1]);
    else
        printf(" ?");
}

/* What the host tells of the process itself. */
static void print_own(const pmix_proc_t *me, const char *key)
{
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(me, key, NULL, 0, &v);

    if (rc == PMIX_SUCCESS && v->type == PMIX_DATA_ARRAY)
        print_array(v->data.darray);
    else if (rc == PMIX_SUCCESS && v->type == PMIX_UINT32)
        printf(" %u", v->data.uint32);
    else
        print_value(rc, v);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

/* The array of infos in an info; NULL: it has none. */
static const pmix_info_t *infos_in(const pmix_value_t *v, size_t *n_p)
{
    const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    *n_p = a && a->type == PMIX_INFO ? a->size : 0;
    return a ? a->array : NULL;
}

static void print_device(const pmix_info_t *device)
{
    size_t n;
    const pmix_info_t *facts = infos_in(&device->value, &n);

    for (size_t i = 0; i < n; i++) {
        const pmix_geometry_t *g = facts[i].value.data.geometry;
        if (!strcmp(facts[i].key, PMIX_FABRIC_DEVICE_NAME))
            printf(" %s", facts[i].value.data.string);
        else if (facts[i].value.type == PMIX_GEOMETRY && g->ncoords == 1 &&
                 !strcmp(facts[i].key, PMIX_FABRIC_DEVICE_COORDINATES))
            printf("@%u:%u", g->coordinates->coord[0], g->coordinates->coord[1]);
    }
}

/* What the host tells of a node. */
static void print_devices(const pmix_proc_t *me, const char *node)
{
    const pmix_info_t *devices;
    pmix_value_t *v = NULL;
    pmix_proc_t job = *me;
    pmix_info_t info[2];
    size_t n;

    job.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_INFO, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_HOSTNAME, node, PMIX_STRING);
    if (PMIx_Get(&job, PMIX_FABRIC_DEVICES, info, 2, &v) != PMIX_SUCCESS)
        printf(" -");
    devices = infos_in(v, &n);
    for (size_t i = 0; i < n; i++)
        print_device(&devices[i]);
    PMIX_INFO_DESTRUCT(&info[1]);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

/* The server's. */
static void print_topology(const pmix_proc_t *me)
{
    pmix_value_t *v = NULL;
    pmix_proc_t job = *me;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, PMIX_HWLOC_XML_V2, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_STRING)
        printf(" %.5s", v->data.string);
    else
        printf(" -");
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
            print_get(&me, NULL, *words + 4);
        else if (!strncmp(*words, "own:", 4))
            print_own(&me, *words + 4);
        else if (!strncmp(*words, "number:", 7))
            print_number(&me, *words + 7);
        else if (!strncmp(*words, "session:", 8))
            print_get(&me, PMIX_SESSION_INFO, *words + 8);
        else if (!strncmp(*words, "app:", 4))
            print_get(&me, PMIX_APP_INFO, *words + 4);
        else if (!strncmp(*words, "do:", 3))
            printf(" %s", hostapi_call(&me, *words + 3));
        else if (!strncmp(*words, "topology", 8))
            print_topology(&me);
        else if (!strncmp(*words, "devices:", 8))
            print_devices(&me, *words + 8);
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

static char **environment_for(const pmix_proc_t *proc)
{
    pmix_status_t rc = PMIX_SUCCESS;
    char **env = NULL;

    for (char **v = environ; *v; v++)
        PMIX_ARGV_APPEND(rc, env, *v);
    must("copy the environment", rc);
    must("set up the fork", PMIx_server_setup_fork(proc, &env));
    return env;
}

/* A process that says LINE.  Returns how it ends. */
static int run_client(const pmix_proc_t *proc, char *const *words, char *line, size_t room)
{
    char **env = environment_for(proc), **argv = command_of(words);
    int ends[2], code;
    pid_t pid;

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
    read_line(ends[0], line, room);
    close(ends[0]);
    waitpid(pid, &code, 0);
    PMIX_ARGV_FREE(env);
    free(argv);
    return code;
}

static void expect_line(const char *what, const pmix_proc_t *proc, char *const *words,
                        const char *want)
{
    char line[4096];

    if (run_client(proc, words, line, sizeof line) != 0)
        expect(what, "a failure", "an end");
    expect(what, line, want);
}

static void sees(const char *what, const char *nspace, char *const *words, const char *want)
{
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, 0);
    wait_op("register a client",
            PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, back(), NULL));
    expect_line(what, &proc, words, want);
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
    wait_op("register a job", PMIx_server_register_nspace(name, 1, info, 2, back(), NULL));
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
    PMIX_LOAD_KEY(info[1].key, PMIX_PERSONALITY);
    wait_op("set up an application", PMIx_server_setup_application(name, info, 2, on_setup, NULL));
    expect("what its personality harvests", harvested("OMPI_MCA_test_harvest"), "by the host");
    drop_setup();
    PMIX_LOAD_KEY(info[1].key, PMIX_PROGRAMMING_MODEL);
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

/* ---- a key for an application's fabric ------------------------------------------------------- */

/* A request as hosts make it: with the key as a flag. */
static void load_request(pmix_info_t *i, const char *id, const char *more, const void *value,
                         pmix_data_type_t type)
{
    pmix_data_array_t *a;
    pmix_info_t *three;
    bool yes = true;

    PMIX_DATA_ARRAY_CREATE(a, 3, PMIX_INFO);
    three = a->array;
    PMIX_INFO_LOAD(&three[0], PMIX_ALLOC_FABRIC_ID, id, PMIX_STRING);
    PMIX_INFO_LOAD(&three[1], PMIX_ALLOC_FABRIC_SEC_KEY, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&three[2], more, value, type);
    memset(i, 0, sizeof *i);
    PMIX_LOAD_KEY(i->key, PMIX_ALLOC_FABRIC);
    i->value.type = PMIX_DATA_ARRAY;
    i->value.data.darray = a;
}

/* Two numbers of 16 digits, of the variable that goes with the key; "-": there is none. */
static const char *key_variable(void)
{
    for (size_t i = 0; i < nsetup; i++) {
        if (PMIX_CHECK_KEY(&setup[i], PMIX_ADD_ENVAR))
            return setup[i].value.data.envar.value;
    }
    return "-";
}

/* The bytes of the key in the answer to that request. */
static void key_of(size_t answer, char hex[40])
{
    const pmix_info_t *i = setup[answer].value.data.darray->array;
    const unsigned char *bytes = (const unsigned char *)i[2].value.data.bo.bytes;

    expect("the last of an answer", i[2].key, PMIX_ALLOC_FABRIC_SEC_KEY);
    for (size_t b = 0; b < i[2].value.data.bo.size && b < 16; b++)
        sprintf(hex + 2 * b, "%02x", bytes[b]);
}

static void test_fabric_key(void)
{
    char first[40] = "", second[40] = "", want[256];
    pmix_nspace_t name;
    pmix_info_t info[3];
    bool yes = true;

    PMIX_LOAD_NSPACE(name, "keyed");
    load_request(&info[0], "keyed.net", PMIX_ALLOC_FABRIC_TYPE, "verbs", PMIX_STRING);
    load_request(&info[1], "other.net", PMIX_ALLOC_FABRIC_PLANE, "left", PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SETUP_APP_NONENVARS, &yes, PMIX_BOOL);
    wait_op("ask for keys", PMIx_server_setup_application(name, info, 3, on_setup, NULL));
    expect("a variable that is not asked for", key_variable(), "-");
    if (nsetup != 2) {
        expect("what comes back", nsetup ? "something else" : "nothing", "two answers");
        return;
    }
    key_of(0, first);
    key_of(1, second);
    expect("another request's key", strcmp(first, second) ? "another" : "the same", "another");
    wait_op("set up a node", PMIx_server_setup_local_support(name, setup, nsetup, on_op, NULL));
    register_job("keyed", "test.none", "");
    snprintf(want, sizeof want,
             " keyed.net=,pmix.alloc.nettype=verbs,pmix.alloc.nsec=%s"
             " other.net=,pmix.alloc.netplane=left,pmix.alloc.nsec=%s -",
             first, second);
    SEES("a job's keys", "keyed", want, WORD("get:keyed.net"), WORD("get:other.net"),
         WORD("get:third.net"));
    drop_setup();
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

/* Attributes by themselves, and the variable; the maps of the job, which is not registered yet. */
static void test_fabric_variable(void)
{
    pmix_nspace_t name;
    pmix_info_t info[5];
    char key[128];
    uint32_t two = 2;
    bool yes = true;

    PMIX_LOAD_NSPACE(name, "mapped");
    PMIX_INFO_LOAD(&info[0], PMIX_SETUP_APP_ALL, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_FABRIC_ID, "mapped.net", PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_ALLOC_FABRIC_SEC_KEY, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_NODE_MAP, "one,two", PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_PROC_MAP, "0;1", PMIX_STRING);
    wait_op("ask for a key", PMIx_server_setup_application(name, info, 5, on_setup, NULL));
    snprintf(key, sizeof key, " %s one,two 2", key_variable());
    expect("a variable with a key", key_variable()[16] == '-' ? "two numbers" : "-", "two numbers");
    wait_op("set up a node", PMIx_server_setup_local_support(name, setup, nsetup, on_op, NULL));
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &two, PMIX_UINT32);
    wait_op("register a job", PMIx_server_register_nspace(name, 1, info, 1, on_op, NULL));
    SEES("a job that was mapped", "mapped", key, WORD("env:OMPI_MCA_orte_precondition_transports"),
         WORD("get:pmix.nlist"), WORD("number:pmix.num.nodes"));
    drop_setup();
    for (size_t i = 1; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

/* What nobody here can give; a request without a name; an array that is none. */
static void test_fabric_refused(void)
{
    static const pmix_proc_t one = { .nspace = "x" };
    pmix_data_array_t procs = { .type = PMIX_PROC, .size = 1, .array = (void *)(uintptr_t)&one };
    pmix_nspace_t name;
    pmix_info_t info;
    size_t four = 4;
    bool yes = true;

    PMIX_LOAD_NSPACE(name, "refused");
    load_request(&info, "refused.net", PMIX_ALLOC_FABRIC_ENDPTS, &four, PMIX_SIZE);
    expect("endpoints",
           PMIx_Error_string(PMIx_server_setup_application(name, &info, 1, on_setup, NULL)),
           PMIx_Error_string(PMIX_ERR_NOT_SUPPORTED));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_ALLOC_FABRIC_SEC_KEY, &yes, PMIX_BOOL);
    expect("a key for nothing",
           PMIx_Error_string(PMIx_server_setup_application(name, &info, 1, on_setup, NULL)),
           PMIx_Error_string(PMIX_ERR_BAD_PARAM));
    PMIX_INFO_LOAD(&info, PMIX_ALLOC_FABRIC, &procs, PMIX_DATA_ARRAY);
    expect("no request",
           PMIx_Error_string(PMIx_server_setup_application(name, &info, 1, on_setup, NULL)),
           PMIx_Error_string(PMIX_ERR_BAD_PARAM));
    PMIX_INFO_DESTRUCT(&info);
}

/* It takes the list. */
static void load_group(pmix_info_t *i, const char *key, pmix_info_t *list, size_t n)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);

    *a = (pmix_data_array_t){ .type = PMIX_INFO, .size = n, .array = list };
    memset(i, 0, sizeof *i);
    PMIX_LOAD_KEY(i->key, key);
    i->value.type = PMIX_DATA_ARRAY;
    i->value.data.darray = a;
}

static void register_inside(const char *array, const char *key, pmix_data_type_t type,
                            pmix_status_t want)
{
    pmix_nspace_t name;
    pmix_info_t info, *one;
    pmix_status_t rc;

    PMIX_LOAD_NSPACE(name, "typed");
    PMIX_INFO_CREATE(one, 1);
    PMIX_INFO_LOAD(one, key, type == PMIX_STRING ? "text" : (const void *)&(uint64_t){ 0 }, type);
    PMIX_INFO_REQUIRED(one);
    load_group(&info, array, one, 1);
    rc = PMIx_server_register_nspace(name, 1, &info, 1, on_op, NULL);
    if (want == PMIX_SUCCESS)
        wait_op(array, rc);
    else
        expect(array, PMIx_Error_string(rc), PMIx_Error_string(want));
    PMIX_INFO_DESTRUCT(&info);
}

/* Inside of arrays, too, where all other keys are carried on, even those that must be supported. */
static void test_types_inside(void)
{
    static const char *const arrays[] = { PMIX_SESSION_INFO_ARRAY, PMIX_JOB_INFO_ARRAY,
                                          PMIX_APP_INFO_ARRAY, PMIX_PROC_INFO_ARRAY,
                                          PMIX_NODE_INFO_ARRAY };

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        register_inside(arrays[i], PMIX_RANK, PMIX_STRING, PMIX_ERR_BAD_PARAM);
        register_inside(arrays[i], PMIX_HOSTNAME, PMIX_UINT32, PMIX_ERR_BAD_PARAM);
        register_inside(arrays[i], "test.unknown", PMIX_STRING, PMIX_SUCCESS);
    }
}

/* What is told to processes has the type of its attribute. */
static void test_types(void)
{
    pmix_byte_object_t key = { .bytes = WORD("key"), .size = 3 };
    pmix_nspace_t name;
    pmix_info_t info;

    PMIX_LOAD_NSPACE(name, "sealed");
    PMIX_INFO_LOAD(&info, PMIX_CRYPTO_KEY, &key, PMIX_BYTE_OBJECT);
    wait_op("register a key", PMIx_server_register_nspace(name, 1, &info, 1, on_op, NULL));
    register_job("sealed", "test.none", "");
    SEES("a key of the host", "sealed", " 6b6579", WORD("get:" PMIX_CRYPTO_KEY));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_LOAD_NSPACE(name, "typed");
    PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, "two", PMIX_STRING);
    expect("a size that is a text",
           PMIx_Error_string(PMIx_server_register_nspace(name, 1, &info, 1, on_op, NULL)),
           PMIx_Error_string(PMIX_ERR_BAD_PARAM));
    PMIX_INFO_DESTRUCT(&info);
    test_types_inside();
}

/* An array of one device, at a place in the fabric. */
static void load_device(pmix_info_t *devices, pmix_geometry_t *place)
{
    pmix_info_t *facts, *one;

    PMIX_INFO_CREATE(facts, 2);
    PMIX_INFO_CREATE(one, 1);
    PMIX_INFO_LOAD(&facts[0], PMIX_FABRIC_DEVICE_NAME, "made0", PMIX_STRING);
    PMIX_INFO_LOAD(&facts[1], PMIX_FABRIC_DEVICE_COORDINATES, place, PMIX_GEOMETRY);
    PMIX_INFO_REQUIRED(&facts[1]);
    load_group(one, PMIX_FABRIC_DEVICE, facts, 2);
    load_group(devices, PMIX_FABRIC_DEVICES, one, 1);
}

/* What only the host can know of the fabric, in the arrays of a process and of a node. */
static void test_fabric_data(void)
{
    static const char *const texts[] = { PMIX_CREDENTIAL, PMIX_FABRIC_GROUPS,
                                         PMIX_FABRIC_SHAPE_STRING, PMIX_FABRIC_SWITCH,
                                         PMIX_SWITCH_PEERS };
    pmix_coord_t where = { .view = PMIX_COORD_LOGICAL_VIEW, .coord = (uint32_t[]){ 1, 2 }, 2 };
    pmix_geometry_t place = { .uuid = WORD("u"), .osname = WORD("o"), .coordinates = &where, 1 };
    pmix_endpoint_t end = { .uuid = WORD("u"), .osname = WORD("o"), .endpt = { WORD("e"), 1 } };
    pmix_data_array_t places = { PMIX_GEOMETRY, 1, &place }, ends = { PMIX_ENDPOINT, 1, &end },
                      shape = { PMIX_UINT32, 2, (uint32_t[]){ 3, 4 } };
    pmix_rank_t rank = 0;
    uint32_t two = 2;
    pmix_nspace_t name;
    pmix_info_t info[3], *one, *node;
    size_t n = 0;

    PMIX_INFO_CREATE(one, 10);
    PMIX_INFO_CREATE(node, 3);
    PMIX_INFO_LOAD(&one[n++], PMIX_RANK, &rank, PMIX_PROC_RANK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        PMIX_INFO_LOAD(&one[n++], texts[i], texts[i], PMIX_STRING);
    PMIX_INFO_LOAD(&one[n++], PMIX_FABRIC_COORDINATES, &places, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&one[n++], PMIX_FABRIC_ENDPT, &ends, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&one[n++], PMIX_FABRIC_SHAPE, &shape, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&one[n++], PMIX_FABRIC_DIMS, &two, PMIX_UINT32);
    /* OpenPMIx 5's clients look for coordinates at the node. */
    PMIX_INFO_LOAD(&node[0], PMIX_HOSTNAME, "nodeA", PMIX_STRING);
    PMIX_INFO_LOAD(&node[1], PMIX_FABRIC_COORDINATES, &places, PMIX_DATA_ARRAY);
    load_device(&node[2], &place);
    PMIX_LOAD_NSPACE(name, "fabric data");
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &(uint32_t){ 1 }, PMIX_UINT32);
    load_group(&info[1], PMIX_PROC_DATA, one, n); /* the older name of PMIX_PROC_INFO_ARRAY */
    load_group(&info[2], PMIX_NODE_INFO_ARRAY, node, 3);
    wait_op("register a fabric", PMIx_server_register_nspace(name, 1, info, 3, on_op, NULL));
    SEES("a fabric of the host", "fabric data",
         " " PMIX_CREDENTIAL " " PMIX_FABRIC_GROUPS " " PMIX_FABRIC_SHAPE_STRING
         " " PMIX_FABRIC_SWITCH " " PMIX_SWITCH_PEERS " u:1:2 u:65 3x4 2 made0@1:2",
         WORD("own:" PMIX_CREDENTIAL), WORD("own:" PMIX_FABRIC_GROUPS),
         WORD("own:" PMIX_FABRIC_SHAPE_STRING), WORD("own:" PMIX_FABRIC_SWITCH),
         WORD("own:" PMIX_SWITCH_PEERS), WORD("own:" PMIX_FABRIC_COORDINATES),
         WORD("own:" PMIX_FABRIC_ENDPT), WORD("own:" PMIX_FABRIC_SHAPE),
         WORD("own:" PMIX_FABRIC_DIMS), WORD("devices:nodeA"));
    PMIX_INFO_DESTRUCT(&info[1]);
    PMIX_INFO_DESTRUCT(&info[2]);
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

/* ---- what is registered, by its kind --------------------------------------------------------- */

/* An array of a number that names whose it is, and a text. */
static void load_level(pmix_info_t *i, const char *array, const char *which, const char *text)
{
    pmix_data_array_t *a;
    pmix_info_t *two;
    uint32_t none = 0;

    PMIX_DATA_ARRAY_CREATE(a, 2, PMIX_INFO);
    two = a->array;
    PMIX_INFO_LOAD(&two[0], which, &none, PMIX_UINT32);
    PMIX_INFO_LOAD(&two[1], "test.level", text, PMIX_STRING);
    memset(i, 0, sizeof *i);
    PMIX_LOAD_KEY(i->key, array);
    i->value.type = PMIX_DATA_ARRAY;
    i->value.data.darray = a;
}

static void test_levels(void)
{
    pmix_info_t info[3];
    uint32_t one = 1;
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, "levels");
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    load_level(&info[1], PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, "the session's");
    load_level(&info[2], PMIX_APP_INFO_ARRAY, PMIX_APPNUM, "the application's");
    wait_op("register levels", PMIx_server_register_nspace(name, 1, info, 3, on_op, NULL));
    SEES("what is not the job's", "levels", " the session's the application's",
         WORD("session:test.level"), WORD("app:test.level"));
    for (size_t i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

/* A job of which the host registers nothing but its name. */
static void test_no_data(void)
{
    pmix_info_t info[3];
    uint32_t one = 1;
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, "no data");
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], "test.own", "not to be kept", PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_REGISTER_NODATA, NULL, PMIX_BOOL);
    wait_op("register a name", PMIx_server_register_nspace(name, 1, info, 3, on_op, NULL));
    SEES("what was not to be kept", "no data", " -", WORD("get:test.own"));
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

static void test_all_setup(void)
{
    test_harvest();
    test_setup();
    test_fabric_key();
    test_fabric_variable();
    test_fabric_refused();
    test_types();
    test_fabric_data();
    test_resources();
    test_levels();
    test_no_data();
    test_inventory();
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
#ifdef OURS
    pmix_info_t info;
    int before = threads(); /* (a sanitizer may have one of its own) */

    PMIX_INFO_LOAD(&info, PMIX_PROGRESS_THREAD_NAME, "of another", PMIX_STRING);
    PMIx_Progress_thread_stop(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    expect("a thread of another name", threads() == before ? "there" : "stopped", "there");
    PMIx_Progress_thread_stop(NULL, 0);
    expect("our thread", threads() == before - 1 ? "stopped" : "there", "stopped");
    by_hand = true;
    register_job("by hand", "test.own", "its own");
    SEES("a host that turns the library", "by hand", " its own", WORD("get:test.own"));
    PMIx_Progress_thread_stop(NULL, 0);
#endif
}

/* ---- functions of the host ------------------------------------------------------------------- */

enum { ROOM = 1 << 16 };

static char record[ROOM]; /* "NAME KEY=VALUE ...\n" for each call */
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    size_t n = strlen(record);
    va_list args;

    va_start(args, format);
    vsnprintf(record + n, sizeof record - n, format, args);
    va_end(args);
}

static void note_value(const pmix_info_t *i)
{
    const pmix_value_t *v = &i->value;

    if (PMIX_CHECK_KEY(i, PMIX_USERID))
        note("%s", v->data.uint32 == geteuid() ? "me" : "another");
    else if (PMIX_CHECK_KEY(i, PMIX_GRPID))
        note("%s", v->data.uint32 == getegid() ? "me" : "another");
    else if (v->type == PMIX_BOOL)
        note("%s", v->data.flag ? "true" : "false");
    else if (v->type == PMIX_STRING)
        note("%s", v->data.string);
    else if (v->type == PMIX_INT || v->type == PMIX_STATUS || v->type == PMIX_UINT32)
        note("%d", v->data.integer);
    else if (v->type == PMIX_PROC)
        note("%s.%u", v->data.proc->nspace, v->data.proc->rank);
    else if (v->type == PMIX_DATA_RANGE || v->type == PMIX_PERSIST)
        note("%d", v->data.byte);
    else
        note("?");
}

static void note_infos(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        note(" %s=", infos[i].key);
        note_value(&infos[i]);
    }
}

static void note_call(const char *name, const pmix_info_t *infos, size_t n, const pmix_info_t *more,
                      size_t nmore)
{
    pthread_mutex_lock(&record_lock);
    note("%s", name);
    note_infos(infos, n);
    note_infos(more, nmore);
    note("\n");
    pthread_mutex_unlock(&record_lock);
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define WITH_OP(name, infos, n, ...)                                                               \
    static pmix_status_t name(__VA_ARGS__, pmix_op_cbfunc_t cbfunc, void *cbdata)                  \
    {                                                                                              \
        note_call(#name, infos, n, NULL, 0);                                                       \
        if (cbfunc)                                                                                \
            cbfunc(PMIX_SUCCESS, cbdata);                                                          \
        return PMIX_SUCCESS;                                                                       \
    }
#define WITH_INFOS(name, infos, n, ...)                                                            \
    static pmix_status_t name(__VA_ARGS__, pmix_info_cbfunc_t cbfunc, void *cbdata)                \
    {                                                                                              \
        note_call(#name, infos, n, NULL, 0);                                                       \
        cbfunc(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);                                         \
        return PMIX_SUCCESS;                                                                       \
    }

WITH_OP(client_connected2, info, ninfo, const pmix_proc_t *proc, void *object, pmix_info_t info[],
        size_t ninfo)
WITH_OP(client_finalized, NULL, 0, const pmix_proc_t *proc, void *object)
WITH_OP(publish, info, ninfo, const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo)
WITH_OP(unpublish, info, ninfo, const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
        size_t ninfo)
WITH_OP(connects, info, ninfo, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
        size_t ninfo)
WITH_OP(disconnects, info, ninfo, const pmix_proc_t procs[], size_t nprocs,
        const pmix_info_t info[], size_t ninfo)
WITH_OP(register_events, info, ninfo, pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
        size_t ninfo)
WITH_OP(iof_pull, info, ninfo, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
        size_t ninfo, pmix_iof_channel_t channels)
WITH_OP(push_stdin, info, ninfo, const pmix_proc_t *source, const pmix_proc_t targets[],
        size_t ntargets, const pmix_info_t info[], size_t ninfo, const pmix_byte_object_t *bo)
WITH_INFOS(query, queries[0].qualifiers, queries[0].nqual, pmix_proc_t *proc, pmix_query_t *queries,
           size_t nqueries)
WITH_INFOS(allocate, info, ninfo, const pmix_proc_t *requestor, pmix_alloc_directive_t directive,
           const pmix_info_t info[], size_t ninfo)
WITH_INFOS(job_control, info, ninfo, const pmix_proc_t *requestor, const pmix_proc_t targets[],
           size_t ntargets, const pmix_info_t info[], size_t ninfo)
WITH_INFOS(monitor, info, ninfo, const pmix_proc_t *requestor, const pmix_info_t *what,
           pmix_status_t error, const pmix_info_t info[], size_t ninfo)

static pmix_status_t aborts(const pmix_proc_t *proc, void *object, int code, const char msg[],
                            pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc,
                            void *cbdata)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "message", msg, PMIX_STRING);
    note_call("abort", &info, 1, NULL, 0);
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t deregister_events(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                       void *cbdata)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "code", &codes[0], PMIX_STATUS);
    note_call("deregister_events", &info, 1, NULL, 0);
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, cbdata);
    sem_post(&called);
    return PMIX_SUCCESS;
}

static pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t *source,
                                  pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    note_call("notify_event", info, ninfo, NULL, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

/* The other node contributes nothing. */
static pmix_status_t fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    note_call("fence_nb", info, ninfo, NULL, 0);
    cbfunc(PMIX_SUCCESS, data, ndata, cbdata, free, data);
    return PMIX_SUCCESS;
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    note_call("direct_modex", info, ninfo, NULL, 0);
    cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    note_call("lookup", info, ninfo, NULL, 0);
    cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

/* What its first process says on the channel for diagnoses. */
static void deliver_diag(const char *nspace)
{
    static char words[] = "diag";
    pmix_byte_object_t bo = { words, sizeof words - 1 };
    pmix_proc_t child;

    PMIX_LOAD_PROCID(&child, nspace, 0);
    must("deliver",
         PMIx_server_IOF_deliver(&child, PMIX_FWD_STDDIAG_CHANNEL, &bo, NULL, 0, NULL, NULL));
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                           void *cbdata)
{
    pmix_nspace_t name;

    note_call("spawn", job_info, ninfo, apps[0].info, apps[0].ninfo);
    PMIX_LOAD_NSPACE(name, "spawned");
    cbfunc(PMIX_SUCCESS, name, cbdata);
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&job_info[i], PMIX_FWD_STDDIAG))
            deliver_diag(name);
    }
    return PMIX_SUCCESS;
}

static void logs(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata,
                 const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    note_call("log", data, ndata, info, ninfo);
    cbfunc(PMIX_SUCCESS, cbdata);
}

static pmix_status_t get_credential(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                    pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    pmix_byte_object_t bo = { WORD("x"), 1 };

    note_call("get_credential", info, ninfo, NULL, 0);
    cbfunc(PMIX_SUCCESS, &bo, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t validate_credential(const pmix_proc_t *proc, const pmix_byte_object_t *cred,
                                         const pmix_info_t info[], size_t ninfo,
                                         pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    note_call("validate_credential", info, ninfo, NULL, 0);
    cbfunc(PMIX_SUCCESS, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t group(pmix_group_operation_t op, char grp[], const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t info[], size_t ninfo,
                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    size_t id = 4711;
    pmix_info_t result;

    note_call(op == PMIX_GROUP_CONSTRUCT ? "group" : "ungroup", info, ninfo, NULL, 0);
    PMIX_INFO_LOAD(&result, PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
    cbfunc(PMIX_SUCCESS, &result, 1, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_server_module_t all_of_them(void)
{
    return (pmix_server_module_t){ .client_connected2 = client_connected2,
                                   .client_finalized = client_finalized,
                                   .abort = aborts,
                                   .fence_nb = fence_nb,
                                   .direct_modex = direct_modex,
                                   .publish = publish,
                                   .lookup = lookup,
                                   .unpublish = unpublish,
                                   .spawn = spawn,
                                   .connect = connects,
                                   .disconnect = disconnects,
                                   .register_events = register_events,
                                   .deregister_events = deregister_events,
                                   .notify_event = notify_event,
                                   .query = query,
                                   .log = logs,
                                   .allocate = allocate,
                                   .job_control = job_control,
                                   .monitor = monitor,
                                   .get_credential = get_credential,
                                   .validate_credential = validate_credential,
                                   .iof_pull = iof_pull,
                                   .push_stdin = push_stdin,
                                   .group = group };
}

/* ---- with which infos they are called -------------------------------------------------------- */

/* OpenPMIx 4.2.2's server names the user to few functions, and passes a spawn on as it is. */
#ifdef OURS
#define USER  PMIX_USERID "=me " PMIX_GRPID "=me"
#define CHILD PMIX_SPAWNED "=true " PMIX_PARENT_ID "=pair.0"
#define HERE  PMIX_LOCAL_COLLECTIVE_STATUS "=0 " PMIX_SORTED_PROC_ARRAY "=true"
#else
#define USER  ""
#define CHILD ""
#define HERE  PMIX_LOCAL_COLLECTIVE_STATUS "=0"
#endif

/* What the calls that a process makes must look like to the host: each word once. */
static const struct {
    const char *upcall, *infos;
} rows[] = {
    { "client_connected2", USER },
    { "client_finalized", "" },
    { "fence_nb", HERE " " PMIX_COLLECT_DATA "=true " PMIX_TIMEOUT "=30 test.word=said" },
    { "connects", HERE " " PMIX_TIMEOUT "=30 test.word=said" },
    { "disconnects", HERE " " PMIX_TIMEOUT "=30 test.word=said" },
    { "group", HERE " " PMIX_GROUP_ASSIGN_CONTEXT_ID "=true " PMIX_TIMEOUT "=30" },
    { "ungroup", HERE " " PMIX_TIMEOUT "=30" },
    { "direct_modex", PMIX_REQUIRED_KEY "=test.there " PMIX_TIMEOUT "=7" },
    { "publish", USER " " PMIX_RANGE "=3 " PMIX_PERSISTENCE "=2 " PMIX_TIMEOUT "=30" },
    { "lookup", USER " " PMIX_RANGE "=3 " PMIX_WAIT "=0 " PMIX_TIMEOUT "=30" },
    { "unpublish", USER " " PMIX_RANGE "=3 " PMIX_TIMEOUT "=30" },
    { "spawn", USER " " CHILD " " PMIX_WDIR "=/tmp" },
    { "notify_event", USER " test.word=said" },
    { "query", USER },
    { "allocate", USER " " PMIX_ALLOC_ID "=said" },
    { "job_control", USER " " PMIX_JOB_CTRL_PAUSE "=true" },
    { "get_credential", USER " " PMIX_CRED_TYPE "=said" },
    { "validate_credential", USER " " PMIX_TIMEOUT "=30" },
    { "abort", "message=said" },
#ifdef OURS
    { "register_events", USER },
    { "deregister_events", "code=-4711" },
    { "deregister_events", "code=-4712" },
    { "log", USER " " PMIX_LOG_STDERR "=said " PMIX_LOG_SOURCE "=pair.0" },
    { "monitor", USER " " PMIX_MONITOR_ID "=said" },
    { "iof_pull", USER " " PMIX_IOF_CACHE_SIZE "=4096" },
    { "iof_pull", PMIX_IOF_STOP "=true" },
    { "push_stdin", USER },
#endif
};

static bool names_once(const char *line, size_t len, const char *word, size_t n)
{
    int times = 0;

    for (const char *at = line; at + n <= line + len; at++) {
        bool whole = at > line && at[-1] == ' ' && (at + n == line + len || at[n] == ' ');
        times += whole && !strncmp(at, word, n);
    }
    return times == 1;
}

static bool fits(const char *line, size_t len, const char *words)
{
    for (words += strspn(words, " "); *words;) {
        size_t n = strcspn(words, " ");
        if (!names_once(line, len, words, n))
            return false;
        words += n + strspn(words + n, " ");
    }
    return true;
}

static bool is_recorded(const char *upcall, const char *infos)
{
    size_t n = strlen(upcall);

    for (const char *line = record; *line;) {
        size_t len = strcspn(line, "\n");
        if (!strncmp(line, upcall, n) && (line[n] == ' ' || line[n] == '\n') &&
            fits(line, len, infos))
            return true;
        line += len + 1;
    }
    return false;
}

/* Two processes, of which one is on another node. */
static void register_pair(void)
{
    pmix_info_t info[3];
    uint32_t two = 2;
    char *nodes, *procs;
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, "pair");
    PMIx_generate_regex("nodeA,nodeB", &nodes);
    PMIx_generate_ppn("0;1", &procs);
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &two, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_NODE_MAP, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_PROC_MAP, procs, PMIX_STRING);
    wait_op("register a job", PMIx_server_register_nspace(name, 1, info, 3, on_op, NULL));
    free(nodes);
    free(procs);
}

/* The last ones wait for ever, or are refused, with OpenPMIx 4.2.2's server. */
static char *const calls[] = { WORD("do:fence"),
                               WORD("do:connect"),
                               WORD("do:disconnect"),
                               WORD("do:group"),
                               WORD("do:ungroup"),
                               WORD("do:modex"),
                               WORD("do:publish"),
                               WORD("do:lookup"),
                               WORD("do:unpublish"),
                               WORD("do:spawn"),
                               WORD("do:events"),
                               WORD("do:left"),
                               WORD("do:notify"),
                               WORD("do:query"),
                               WORD("do:allocate"),
                               WORD("do:control"),
                               WORD("do:credential"),
                               WORD("do:validate"),
                               WORD("do:abort"),
#ifdef OURS
                               WORD("do:log"),
                               WORD("do:monitor"),
                               WORD("do:pull"),
                               WORD("do:unpull"),
                               WORD("do:diag"),
                               WORD("do:push"),
#endif
                               NULL };

#ifdef OURS
#define MORE " 0 0 0 0 0 0"
#else
#define MORE ""
#endif

static void test_upcalls(void)
{
    register_pair();
    sees("each call", "pair", calls, " 0 0 0 0 0 not-found 0 not-found 0 0 0 0 0 0 0 0 0 0 0" MORE);
#ifdef OURS
    sem_wait(&called); /* the second of two deregistrations: the process has left */
    sem_wait(&called);
#endif
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_recorded(rows[i].upcall, rows[i].infos))
            expect(rows[i].upcall, "else", rows[i].infos);
    }
    if (wrong)
        printf("%s", record);
}

#define NO "not-supported"

static void test_bare(void)
{
    char *const refused[] = { WORD("do:fence"),
                              WORD("do:connect"),
                              WORD("do:disconnect"),
                              WORD("do:group"),
                              WORD("do:spawn"),
                              WORD("do:allocate"),
                              WORD("do:control"),
                              WORD("do:monitor"),
                              WORD("do:push"),
                              WORD("do:syslog"),
                              NULL };

    register_pair();
    sees("each call", "pair", refused,
         " " NO " " NO " " NO " " NO " " NO " " NO " " NO " " NO " " NO " " NO);
}

/* ---- the gateway ----------------------------------------------------------------------------- */

static char journal[64]; /* the machine's syslog, for this program */

static void write_journal(int priority, const char *format, va_list args)
{
    int n = snprintf(journal, sizeof journal, "%d ", priority);

    vsnprintf(journal + n, sizeof journal - (size_t)n, format, args);
}

#define FOR_THE_LIBRARY __attribute__((visibility("default")))

FOR_THE_LIBRARY void syslog(int priority, const char *format, ...);
void syslog(int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_journal(priority, format, args);
    va_end(args);
}

FOR_THE_LIBRARY void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list args;

    (void)flag;
    va_start(args, format);
    write_journal(priority, format, args);
    va_end(args);
}

static void test_gateway(void)
{
    register_job("gate", "test.own", "its own");
    SEES("a gateway without functions", "gate", " 0", WORD("do:syslog"));
    expect("the syslog", journal, "14 said");
}

/* ---- roles ----------------------------------------------------------------------------------- */

#ifdef OURS
static char system_dir[] = "/tmp/hostapi-XXXXXX";

static void path_in(char *path, size_t room, const char *name)
{
    snprintf(path, room, "%s/%s", system_dir, name);
}

/* The first line of a file: an address. */
static void read_address(const char *name, char *line, size_t room)
{
    char path[128];
    FILE *f;

    path_in(path, sizeof path, name);
    *line = '\0';
    f = fopen(path, "r");
    if (f && !fgets(line, (int)room, f))
        *line = '\0';
    if (f)
        fclose(f);
}

/* Where tools find a session's server: below its own folder. */
static void check_own_folder(const char *reported)
{
    char pattern[128], name[256], found[256] = "";
    glob_t files;

    path_in(pattern, sizeof pattern, "own/*/*");
    if (glob(pattern, 0, NULL, &files) == 0) {
        snprintf(name, sizeof name, "%s", files.gl_pathv[0] + strlen(system_dir) + 1);
        read_address(name, found, sizeof found);
        globfree(&files);
    }
    expect("the address below its own folder", found, reported);
    register_job("told", "test.own", "its own");
    path_in(pattern, sizeof pattern, "own");
    snprintf(name, sizeof name, " %s", pattern);
    SEES("its own folder", "told", name, WORD("env:PMIX_SERVER_TMPDIR"));
}

/* By their ports: the library has a spare descriptor of its own. */
static int count_listeners(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct sockaddr_in at = { .sin_family = AF_INET };
    in_port_t port = 0;
    int n = 0;

    for (struct dirent *e; (e = readdir(d));) {
        int listens = 0;
        socklen_t len = sizeof listens, room = sizeof at;
        int fd = atoi(e->d_name);
        if (*e->d_name == '.' || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 ||
            !listens || getsockname(fd, (struct sockaddr *)&at, &room) < 0)
            continue;
        n += at.sin_port != port;
        port = at.sin_port;
    }
    closedir(d);
    return n;
}

/* The host's name is that of PMIX_SERVER_HOSTNAME, and all addresses are the one. */
static void test_roles(void)
{
    static const char *const files[] = { "pmix.sys.nodeA", "pmix.sched.nodeA",
                                         "pmix.sysctrlr.nodeA" };
    char reported[256], found[256], path[128];

    read_address("reported", reported, sizeof reported);
    expect("an address", strchr(reported, ';') ? "there" : "none", "there");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        read_address(files[i], found, sizeof found);
        expect(files[i], found, reported);
    }
    check_own_folder(reported);
    if (count_listeners() != 1)
        expect("the number of listeners", "another", "one");
    register_job("beats", "test.own", "its own");
    SEES("a process that the library monitors", "beats", " 0", WORD("do:beats"));
    register_job("shared", "test.own", "its own");
    SEES("the topology that the server shares", "shared", " <?xml", WORD("topology"));
    path_in(path, sizeof path, "reported");
    unlink(path);
}

static void expect_gone(void)
{
    char path[128];

    path_in(path, sizeof path, "own");
    if (rmdir(path) != 0 || rmdir(system_dir) != 0)
        expect("its files", "left behind", "gone");
}

static size_t load_roles(pmix_info_t *info)
{
    static const char *const roles[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SCHEDULER,         PMIX_SERVER_SYS_CONTROLLER,
        PMIX_SINGLE_LISTENER,       PMIX_SERVER_ENABLE_MONITORING, PMIX_SERVER_SHARE_TOPOLOGY
    };
    char path[128];
    size_t n = 0;

    if (!mkdtemp(system_dir))
        _exit(99);
    path_in(path, sizeof path, "own");
    if (mkdir(path, 0700) < 0)
        _exit(99);
    PMIX_INFO_LOAD(&info[n++], PMIX_SERVER_TMPDIR, path, PMIX_STRING);
    path_in(path, sizeof path, "reported");
    PMIX_INFO_LOAD(&info[n++], PMIX_SERVER_HOSTNAME, "nodeA", PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_SYSTEM_TMPDIR, system_dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_TCP_REPORT_URI, path, PMIX_STRING);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        PMIX_INFO_LOAD(&info[n++], roles[i], NULL, PMIX_BOOL);
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_REQUIRED(&info[i]);
    return n;
}
#endif

/* ---- the host of a singleton ----------------------------------------------------------------- */

#define SINGLETON "some.one"

/* It registers nothing: that process is its client, and no other is. */
static void test_singleton(void)
{
    char *const asks[] = { WORD("number:" PMIX_JOB_SIZE), WORD("do:fence"), NULL };
    char line[64];
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, "another", 0);
    if (run_client(&proc, asks, line, sizeof line) == 0)
        expect("a process that the host was not started for", "served", "refused");
    PMIX_LOAD_PROCID(&proc, SINGLETON, 1);
    if (run_client(&proc, asks, line, sizeof line) == 0)
        expect("another process of that name", "served", "refused");
    proc.rank = 0;
    expect_line("the singleton", &proc, asks, " 1 0");
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* The library's thread is in this call, and accepts nothing meanwhile. */
static pmix_status_t accept_one(int fd, pmix_connection_cbfunc_t cbfunc, void *cbdata)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int caller;

    sem_post(&called);
    poll(&p, 1, -1);
    caller = accept(fd, NULL, NULL);
    note_call(caller < 0 ? "nobody" : "somebody", NULL, 0, NULL, 0);
    cbfunc(caller, cbdata);
    return PMIX_SUCCESS;
}

static void test_listener(void)
{
    alone = true;
    sem_wait(&called);
    register_job("heard", "test.own", "its own");
    SEES("a process whose connection the host has accepted", "heard", " its own",
         WORD("get:test.own"));
    expect("the host", record, "somebody\n");
}

/* ---- the longer module ----------------------------------------------------------------------- */

#ifdef OURS
static pmix_status_t log2_(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata,
                           const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                           void *cbdata)
{
    logs(proc, data, ndata, info, ninfo, cbfunc, cbdata);
    pthread_mutex_lock(&record_lock);
    note("in the longer module\n");
    pthread_mutex_unlock(&record_lock);
    return PMIX_SUCCESS;
}

static struct {
    void (*first[28])(void);
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_session_control_fn_t session_control;
    pmix_server_resource_block_fn_t resource_block;
} longer = { .log2 = log2_ };

static void test_longer(void)
{
    register_job("longer", "test.own", "its own");
    SEES("a host with the module of 6.1", "longer", " 0 " NO, WORD("do:log"), WORD("do:spawn"));
    pthread_mutex_lock(&record_lock);
    expect("the log's function", strstr(record, "in the longer module") ? "called" : "not called",
           "called");
    pthread_mutex_unlock(&record_lock);
}
#endif

static const struct mode {
    const char *name;
    void (*run)(void);
} modes[] = { { "progress", test_progress }, { "upcalls", test_upcalls },
              { "bare", test_bare },         { "listener", test_listener },
              { "gateway", test_gateway },   { "singleton", test_singleton },
#ifdef OURS
              { "longer", test_longer },     { "roles", test_roles },
#endif
              { "setup", test_all_setup } };

static void *module_of(const char *mode)
{
    static pmix_server_module_t module;

    if (!strcmp(mode, "upcalls"))
        module = all_of_them();
    if (!strcmp(mode, "listener"))
        module.listener = accept_one;
#ifdef OURS
    if (!strcmp(mode, "longer"))
        return &longer;
#endif
    return &module;
}

static size_t load_infos(const char *mode, pmix_info_t *info)
{
    size_t size = sizeof(void (*)(void)) * 32, n = 1;

#ifdef OURS
    if (!strcmp(mode, "roles"))
        return load_roles(info);
#endif
    PMIX_INFO_LOAD(&info[0], PMIX_HOSTNAME, "nodeA", PMIX_STRING);
    if (!strcmp(mode, "gateway"))
        PMIX_INFO_LOAD(&info[n++], PMIX_SERVER_GATEWAY, NULL, PMIX_BOOL);
    if (!strcmp(mode, "singleton"))
        PMIX_INFO_LOAD(&info[n++], PMIX_SINGLETON, SINGLETON ".0", PMIX_STRING);
    for (size_t i = 1; i < n; i++)
        PMIX_INFO_REQUIRED(&info[i]);
    if (!strcmp(mode, "longer"))
        PMIX_INFO_LOAD(&info[n++], "wireup.module.size", &size, PMIX_SIZE);
    return n;
}

int main(int argc, char **argv)
{
    pmix_info_t info[12];
    size_t ninfos;

    if (argc > 1 && !strcmp(argv[1], "client"))
        return be_client(argv + 2);
    if (argc < 3)
        return 2;
    client = argv + 2;
    sem_init(&called, 0, 0);
    ninfos = load_infos(argv[1], info);
    must("init", PMIx_server_init(module_of(argv[1]), info, ninfos));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!strcmp(modes[i].name, argv[1]))
            modes[i].run();
    }
    must("finalize", PMIx_server_finalize());
    for (size_t i = 0; i < ninfos; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
#ifdef OURS
    if (!strcmp(argv[1], "roles"))
        expect_gone();
#endif
    printf("%s\n", wrong ? "bad" : "good");
    return wrong > 0;
}
