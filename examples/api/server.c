/* server.c - the calls of a resource manager, or of any host of the server library, that
 * examples/pmix/server.c does not make.  It starts itself as the only process of its job.
 *
 *   ./server */
#define EXAMPLE "server"
#include "../pmix/example.h"

#include <pmix_server.h>
#include <sys/wait.h>

#include "answer.h"

static pmix_nspace_t job = "api.job";

/* What a call has given us, as a callback got it. */
static struct answer answer = ANSWER_NONE;

/* ---- before a job: what its nodes need ------------------------------------------------------- */

static pmix_info_t *setup;
static size_t nsetup;

static void on_setup(pmix_status_t status, pmix_info_t infos[], size_t n, void *arg,
                     pmix_op_cbfunc_t release, void *release_arg)
{
    setup = n ? PMIx_Info_create(n) : NULL;
    nsetup = n;
    for (size_t i = 0; i < n; i++)
        PMIx_Info_xfer(&setup[i], &infos[i]);
    if (release)
        release(PMIX_SUCCESS, release_arg);
    answer_note(arg, status, n);
}

/* Where the launcher is: what its environment and its fabric contribute to the job.  On each node:
 * the same is put into effect before a process is started. */
static void set_up(void)
{
    pmix_info_t variable;

    must("variables", PMIx_Info_load(&variable, PMIX_SETUP_APP_ENVARS, NULL, PMIX_BOOL));
    must("application",
         answer_of(&answer, PMIx_server_setup_application(job, &variable, 1, on_setup, &answer)));
    must("node",
         answer_of(&answer, PMIx_server_setup_local_support(job, setup, nsetup, on_done, &answer)));
    PMIx_Info_free(setup, nsetup);
    PMIx_Info_destruct(&variable);
}

/* What the nodes have is collected on each of them, and delivered to the one that decides. */
static void inventory(void)
{
    pmix_info_t part;

    may("collect", answer_of(&answer, PMIx_server_collect_inventory(NULL, 0, on_infos, &answer)));
    must("part", PMIx_Info_load(&part, PMIX_HOSTNAME, "here", PMIX_STRING));
    may("deliver",
        answer_of(&answer, PMIx_server_deliver_inventory(&part, 1, NULL, 0, on_done, &answer)));
    PMIx_Info_destruct(&part);
}

/* Values that are not of any job, for all processes of this node. */
static void resources(void)
{
    pmix_info_t one;

    must("value", PMIx_Info_load(&one, "api.resource", "9", PMIX_STRING));
    may("register", answer_of(&answer, PMIx_server_register_resources(&one, 1, on_done, &answer)));
    may("take back",
        answer_of(&answer, PMIx_server_deregister_resources(&one, 1, on_done, &answer)));
    PMIx_Info_destruct(&one);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Which processors a process is bound to, as text, and what two such texts have in common. */
static void places(void)
{
    pmix_cpuset_t cpus, again;
    char *text = NULL, *locality = NULL;

    PMIx_Cpuset_construct(&cpus);
    PMIx_Cpuset_construct(&again);
    if (done(PMIx_Get_cpuset(&cpus, PMIX_CPUBIND_PROCESS))) {
        must("text", PMIx_server_generate_cpuset_string(&cpus, &text));
        must("processors of it", PMIx_server_generate_cpuset(text, &again));
        may("locality", PMIx_server_generate_locality_string(&cpus, &locality));
    }
    free(text);
    free(locality);
    PMIx_Cpuset_destruct(&again);
    PMIx_Cpuset_destruct(&cpus);
}

/* ---- the job --------------------------------------------------------------------------------- */

static void register_job(void)
{
    pmix_info_t size_of;
    uint32_t one = 1;
    pmix_proc_t first;

    must("size", PMIx_Info_load(&size_of, PMIX_JOB_SIZE, &one, PMIX_UINT32));
    must("job",
         answer_of(&answer, PMIx_server_register_nspace(job, 1, &size_of, 1, on_done, &answer)));
    PMIx_Load_procid(&first, job, 0);
    must("process", answer_of(&answer, PMIx_server_register_client(&first, getuid(), getgid(), NULL,
                                                                   on_done, &answer)));
    PMIx_Info_destruct(&size_of);
}

/* A name for some processes, as long as it is needed. */
static void process_set(void)
{
    pmix_proc_t first;

    PMIx_Load_procid(&first, job, 0);
    PMIx_server_define_process_set(&first, 1, (char[]){ "api.set" });
    may("delete", PMIx_server_delete_process_set((char[]){ "api.set" }));
}

/* What was registered for some jobs, packed for another server. */
static void job_data(void)
{
    pmix_data_buffer_t *all = PMIx_Data_buffer_create();
    pmix_proc_t wanted;

    PMIx_Load_procid(&wanted, job, PMIX_RANK_WILDCARD);
    may("data of the job", PMIx_server_collect_job_info(&wanted, 1, all));
    PMIx_Data_buffer_release(all);
}

static pid_t start(char *self)
{
    pmix_proc_t first;
    char **env = NULL;
    pid_t pid;

    PMIx_Load_procid(&first, job, 0);
    env = PMIx_Argv_copy(environ);
    must("environment", PMIx_server_setup_fork(&first, &env));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execle(self, self, "child", (char *)NULL, env);
        _exit(127);
    }
    PMIx_Argv_free(env);
    return pid;
}

static void on_modex(pmix_status_t status, char *data, size_t n, void *arg)
{
    (void)data;
    answer_note(arg, status, n);
}

/* Another node has asked for what a process here has put: it is told when the process has committed
 * it. */
static void direct_modex(void)
{
    pmix_proc_t first;

    PMIx_Load_procid(&first, job, 0);
    must("what it has put",
         answer_of(&answer, PMIx_server_dmodex_request(&first, on_modex, &answer)));
}

/* Output of a process that the host has read goes to the tools that have asked for it. */
static void output(void)
{
    pmix_byte_object_t bytes = { (char[]){ "line\n" }, 5 };
    pmix_proc_t first;

    PMIx_Load_procid(&first, job, 0);
    may("output", answer_of(&answer, PMIx_server_IOF_deliver(&first, PMIX_FWD_STDOUT_CHANNEL,
                                                             &bytes, NULL, 0, on_done, &answer)));
}

/* The process, then its job: nothing of them is kept. */
static void forget(void)
{
    pmix_proc_t first;

    PMIx_Load_procid(&first, job, 0);
    PMIx_server_deregister_client(&first, on_done, &answer);
    answer_of(&answer, PMIX_SUCCESS);
    PMIx_server_deregister_nspace(job, on_done, &answer);
    answer_of(&answer, PMIX_SUCCESS);
}

/* Which attributes this host takes in a call: queries of supported attributes tell it. */
static void attributes(void)
{
    char *names[] = { (char[]){ "PMIX_TIMEOUT" }, NULL };

    may("attributes", PMIx_Register_attributes((char[]){ "PMIx_Spawn" }, names));
}

/* The process that the host starts. */
static int child(void)
{
    alarm(EXAMPLE_SECONDS);
    must("init", PMIx_Init(&me, NULL, 0));
    put_number("api.port", 4000);
    must("commit", PMIx_Commit());
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
}

/* No callback comes any more, and then nothing is left. */
static void stop(void)
{
    PMIx_Progress_thread_stop(NULL, 0);
    must("finalize", PMIx_server_finalize());
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { 0 };
    int status = -1;
    pid_t pid;

    if (argc > 1)
        return child();
    alarm(EXAMPLE_SECONDS);
    must("init", PMIx_server_init(&module, NULL, 0));
    attributes();
    set_up();
    inventory();
    resources();
    places();
    register_job();
    process_set();
    job_data();
    pid = start(argv[0]);
    direct_modex();
    output();
    waitpid(pid, &status, 0);
    if (status)
        fail("the process has ended with %d", status);
    forget();
    stop();
    printf(EXAMPLE ": good\n");
    return 0;
}
