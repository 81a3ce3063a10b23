/* server.c - a resource manager of one node in little more than a hundred lines: the other side of
 * all the examples.  It tells the library about a job, starts the processes with what they need in
 * their environment, and answers what the library asks of a host.
 *
 *   ./server 3 ./client          likewise ./direct, ./node, ./sets */
#define EXAMPLE "server"
#include "example.h"

#include <pmix_server.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { MAX_PROCS = 64 };

static const pmix_nspace_t job = "example.job";
static const char set[] = "example.set";

/* ---- what the library asks of its host ------------------------------------------------------- */

/* There is one node: what its processes give is all there is. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t answer,
                              void *arg)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    answer(PMIX_SUCCESS, data, ndata, arg, free, data);
    return PMIX_SUCCESS;
}

/* Nothing is on another node. */
static pmix_status_t on_direct(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                               pmix_modex_cbfunc_t answer, void *arg)
{
    (void)proc, (void)info, (void)ninfo, (void)answer, (void)arg;
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t on_client(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t answer,
                               void *arg)
{
    (void)proc, (void)object, (void)answer, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- calls that end later -------------------------------------------------------------------- */

static atomic_int pending;

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    must("the library", status);
    pending = 0;
}

static void await(const char *what, pmix_status_t rc)
{
    must(what, rc);
    while (rc == PMIX_SUCCESS && pending)
        usleep(1000);
}

/* ---- the job --------------------------------------------------------------------------------- */

static char *list_of(uint32_t n)
{
    char *text = calloc(n, 8);

    for (uint32_t r = 0; r < n; r++)
        sprintf(text + strlen(text), "%s%u", r ? "," : "", r);
    return text;
}

static void load_proc(pmix_info_t *info, pmix_rank_t rank)
{
    pmix_data_array_t *about;
    pmix_info_t *infos;
    uint16_t local = (uint16_t)rank;
    uint32_t node = 0;

    PMIX_DATA_ARRAY_CREATE(about, 4, PMIX_INFO);
    infos = about->array;
    PMIX_INFO_LOAD(&infos[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&infos[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(&infos[2], PMIX_NODE_RANK, &local, PMIX_UINT16);
    PMIX_INFO_LOAD(&infos[3], PMIX_NODEID, &node, PMIX_UINT32);
    PMIX_LOAD_KEY(info->key, PMIX_PROC_DATA);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = about;
}

static void register_job(uint32_t n)
{
    char host[256], *nodes, *procs, *peers = list_of(n);
    pmix_info_t infos[7 + MAX_PROCS];

    gethostname(host, sizeof host);
    must("nodes", PMIx_generate_regex(host, &nodes));
    must("processes", PMIx_generate_ppn(peers, &procs));
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_UNIV_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], PMIX_MAX_PROCS, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[4], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[5], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&infos[6], PMIX_PROC_MAP, procs, PMIX_REGEX);
    for (uint32_t r = 0; r < n; r++)
        load_proc(&infos[7 + r], r);
    pending = 1;
    await("register the job",
          PMIx_server_register_nspace(job, (int)n, infos, 7 + n, on_done, NULL));
}

static void define_set(uint32_t n)
{
    pmix_proc_t *members = calloc(n, sizeof *members);

    for (uint32_t r = 0; r < n; r++)
        PMIX_LOAD_PROCID(&members[r], job, r);
    PMIx_server_define_process_set(members, n, set); /* OpenPMIx 4.2 returns some number */
    free(members);
}

static void start(pmix_rank_t rank, char **command)
{
    pmix_proc_t p;
    char **env = NULL;

    PMIX_LOAD_PROCID(&p, job, rank);
    pending = 1;
    await("register a process",
          PMIx_server_register_client(&p, getuid(), getgid(), NULL, on_done, NULL));
    PMIX_ARGV_COPY(env, environ);
    must("environment", PMIx_server_setup_fork(&p, &env));
    fflush(stdout);
    if (fork() == 0) {
        execvpe(command[0], command, env);
        fail("%s cannot be started", command[0]);
    }
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { .client_connected = on_client,
                                    .client_finalized = on_client,
                                    .fence_nb = on_fence,
                                    .direct_modex = on_direct };
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    int status, bad = 0;

    alarm(EXAMPLE_SECONDS);
    if (n < 1 || n > MAX_PROCS)
        fail("say how many processes, up to %d, and which program", MAX_PROCS);
    must("init", PMIx_server_init(&module, NULL, 0));
    register_job(n);
    define_set(n);
    for (uint32_t r = 0; r < n; r++)
        start(r, argv + 2);
    while (wait(&status) > 0)
        bad += status != 0;
    must("finalize", PMIx_server_finalize());
    if (bad)
        fail("%d processes have failed", bad);
    printf("server: good\n");
    return 0;
}
