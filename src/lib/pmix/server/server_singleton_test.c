/* server_singleton_test.c - a host that was started for a process that runs already
 * (PMIX_SINGLETON): that process is its client without a registration, others are not. */
#include <pmix.h>
#include <pmix_server.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/pmix/client/client_conn.h"
#include "tests/tap.h"
#include "wireup_server.h"

/* What the client exits with. */
enum { GOOD, REFUSED, WRONG };

static char client_word[] = "client", greet_word[] = "greet";

/* ---- the singleton --------------------------------------------------------------------------- */

static bool number_is(const pmix_proc_t *p, const char *key, uint32_t want)
{
    pmix_value_t *v = NULL;
    bool good = PMIx_Get(p, key, NULL, 0, &v) == PMIX_SUCCESS && v->type == PMIX_UINT32 &&
                v->data.uint32 == want;

    if (v)
        PMIX_VALUE_RELEASE(v);
    return good;
}

/* universe: 0: the host has said nothing about the job. */
static int be_client(uint32_t universe)
{
    pmix_proc_t me, job;
    bool good;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return REFUSED;
    PMIx_Load_procid(&job, me.nspace, PMIX_RANK_WILDCARD);
    good = !strcmp(me.nspace, "some.one") && me.rank == 0 && number_is(&job, PMIX_JOB_SIZE, 1) &&
           number_is(&job, PMIX_LOCAL_SIZE, 1) &&
           (!universe || number_is(&job, PMIX_UNIV_SIZE, universe)) &&
           PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS;
    PMIx_Finalize(NULL, 0);
    return good ? GOOD : WRONG;
}

/* As OpenPMIx's library does in a process that was started alone, and finds a server. */
static int greet(void)
{
    struct hello h = { .flag = HELLO_SINGLETON,
                       .nspace = "some.one",
                       .security = "native",
                       .credential = SLICE("12345678"),
                       .encoding = "v41",
                       .server = "ours" };
    struct welcome w = { .tool = false }; /* of the release that we claim to be */
    struct errmsg err;
    struct pmix_uri uri;
    struct conn c;
    int fd, rc;

    if (pmix_uri_read(getenv("PMIX_SERVER_URI41"), &uri, &err) < 0 || conn_dial(&c, &uri, &err) < 0)
        return WRONG;
    rc = conn_greet(&c, &h, &w, &fd, &err);
    conn_close(&c);
    return rc == 0 ? GOOD : rc == CONN_REFUSED ? REFUSED : WRONG;
}

/* ---- the host -------------------------------------------------------------------------------- */

static pmix_server_module_t module;

static pmix_status_t begin(const char *singleton)
{
    size_t size = sizeof module;
    pmix_info_t infos[2];
    pmix_status_t rc;

    PMIx_Info_load(&infos[0], WIREUP_MODULE_SIZE, &size, PMIX_SIZE);
    PMIx_Info_load(&infos[1], PMIX_SINGLETON, singleton, PMIX_STRING);
    PMIX_INFO_REQUIRED(&infos[1]);
    rc = PMIx_server_init(&module, infos, singleton ? 2 : 1);
    PMIX_INFO_DESTRUCT(&infos[1]);
    return rc;
}

/* Returns the exit status of the process. */
static int run(char *word, char *more)
{
    extern char **environ;
    char self[] = "/proc/self/exe", *argv[] = { self, word, more, NULL };
    char **env = NULL;
    int status = -1;
    pmix_proc_t proc;
    pid_t pid;

    PMIx_Load_procid(&proc, "some.one", 0);
    for (char **e = environ; *e; e++)
        PMIx_Argv_append_nosize(&env, *e);
    PMIx_server_setup_fork(&proc, &env);
    pid = fork();
    if (pid == 0) {
        execve(self, argv, env);
        _exit(97);
    }
    PMIx_Argv_free(env);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void test_names(void)
{
    static const char *const wrong[] = { "",        "name",           ".0", "name.", "name.x",
                                         "name.-1", "name.4294967295" };
    char longer[PMIX_MAX_NSLEN + 4];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        OK_F(begin(wrong[i]) == PMIX_ERR_BAD_PARAM, "'%s' is no process", wrong[i]);
    memset(longer, 'x', sizeof longer);
    strcpy(longer + PMIX_MAX_NSLEN + 1, ".0");
    EQ(begin(longer), PMIX_ERR_BAD_PARAM);
    EQ(begin(longer + 1), PMIX_SUCCESS);
    EQ(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void test_none(void)
{
    char none[] = "0";

    EQ(begin(NULL), PMIX_SUCCESS);
    OK_F(run(client_word, none) == REFUSED, "without it the host must register the process");
    OK_F(run(greet_word, none) == REFUSED, "also one that is alone");
    EQ(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void test_expected(void)
{
    char none[] = "0";

    EQ(begin("some.one.0"), PMIX_SUCCESS);
    OK_F(run(client_word, none) == GOOD, "its process joins");
    OK_F(run(greet_word, none) == GOOD, "also as one that was started alone");
    EQ(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void test_registered(void)
{
    uint32_t universe = 7;
    char seven[] = "7";
    pmix_nspace_t name;
    pmix_info_t info;

    EQ(begin("some.one.0"), PMIX_SUCCESS);
    PMIx_Load_nspace(name, "some.one");
    PMIx_Info_load(&info, PMIX_UNIV_SIZE, &universe, PMIX_UINT32);
    EQ(PMIx_server_register_nspace(name, 1, &info, 1, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    OK_F(run(client_word, seven) == GOOD, "what the host has registered, it has");
    EQ(PMIx_server_finalize(), PMIX_SUCCESS);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], client_word))
        return be_client((uint32_t)atoi(argv[2]));
    if (argc > 2 && !strcmp(argv[1], greet_word))
        return greet();
    alarm(600);
    test_names();
    test_none();
    test_expected();
    test_registered();
    return tap_done();
}
