/* second_user_host.c - a host of our server API that runs as one user and has clients of another.
 *
 *   second_user_host host URI-FILE GUEST-UID COMMAND...
 *                          registers `testjob`, whose process 0 is the host's own user's and never
 *                          comes, and `guests`, whose process 0 is the guest's; starts the command
 *                          as the guest; when it has ended, and the input too, it deregisters
 *                          everybody and ends.  Each
 *                          call that it gets is a line: `NAME of NSPACE` and the user and group
 *                          that it was told
 *   second_user_host guest cleanup PATH...
 *                          asks that each be removed when it has gone (a trailing slash: a
 *                          directory with all in it)
 *   second_user_host guest claims
 *                          calls everything, and says each time that it is root
 */
#include <grp.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "second_user_host: %s\n", what);
    exit(1);
}

/* ---- the host -------------------------------------------------------------------------------- */

static void print_ids(const pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(info[i].key, PMIX_USERID))
            printf(" user %u", info[i].value.data.uint32);
        if (!strcmp(info[i].key, PMIX_GRPID))
            printf(" group %u", info[i].value.data.uint32);
    }
}

static pmix_status_t print_call(const char *what, const pmix_proc_t *from, const pmix_info_t *info,
                                size_t n)
{
    printf("%s of %s", what, from ? from->nspace : "nobody");
    print_ids(info, n);
    printf("\n");
    fflush(stdout);
    return PMIX_OPERATION_SUCCEEDED;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                               size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return print_call("connected", proc, info, ninfo);
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return print_call("publish", proc, info, ninfo);
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    print_call("lookup", proc, info, ninfo);
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return print_call("unpublish", proc, info, ninfo);
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                           void *cbdata)
{
    print_call("spawn", proc, info, ninfo);
    for (size_t i = 0; i < napps; i++)
        print_call("app", proc, apps[i].info, apps[i].ninfo);
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    for (size_t i = 0; i < nqueries; i++)
        print_call("query", proc, queries[i].qualifiers, queries[i].nqual);
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t control(const pmix_proc_t *client, const pmix_proc_t targets[],
                             size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                             pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return print_call("control", client, directives, ndirs);
}

static pmix_status_t allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                              const pmix_info_t data[], size_t ndata, pmix_info_cbfunc_t cbfunc,
                              void *cbdata)
{
    print_call("allocate", client, data, ndata);
    return PMIX_ERR_NOT_SUPPORTED;
}

static void logs(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                 const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                 void *cbdata)
{
    print_call("log", client, directives, ndirs);
    cbfunc(PMIX_SUCCESS, cbdata);
}

static pmix_status_t credential(const pmix_proc_t *proc, const pmix_info_t directives[],
                                size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    print_call("credential", proc, directives, ndirs);
    return PMIX_ERR_NOT_SUPPORTED;
}

static void tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                 void *cbdata)
{
    print_call("tool", NULL, info, ninfo);
    cbfunc(PMIX_ERR_NOT_SUPPORTED, NULL, cbdata);
}

static void expect(const char *nspace, uid_t uid)
{
    uint32_t one = 1;
    pmix_nspace_t name;
    pmix_proc_t proc;
    pmix_info_t info;

    PMIX_LOAD_NSPACE(name, nspace);
    PMIX_LOAD_PROCID(&proc, nspace, 0);
    PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &one, PMIX_UINT32);
    if (PMIx_server_register_nspace(name, 1, &info, 1, NULL, NULL) != PMIX_OPERATION_SUCCEEDED ||
        PMIx_server_register_client(&proc, uid, (gid_t)uid, NULL, NULL, NULL) !=
            PMIX_OPERATION_SUCCEEDED)
        die("cannot register");
}

static void start_guest(uid_t uid, char **command)
{
    extern char **environ;
    pmix_status_t rc = PMIX_SUCCESS;
    char **env = NULL;
    pmix_proc_t proc;
    int status = -1;
    pid_t pid;

    for (char **v = environ; *v && rc == PMIX_SUCCESS; v++)
        PMIX_ARGV_APPEND(rc, env, *v);
    PMIX_LOAD_PROCID(&proc, "guests", 0);
    if (rc != PMIX_SUCCESS || PMIx_server_setup_fork(&proc, &env) != PMIX_SUCCESS)
        die("cannot set up the guest");
    pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
            _exit(126);
        execve(command[0], command, env);
        _exit(127);
    }
    PMIX_ARGV_FREE(env);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        printf("the guest failed: %d\n", status);
    PMIx_server_deregister_client(&proc, NULL, NULL);
    PMIx_server_deregister_nspace(proc.nspace, NULL, NULL);
    printf("guest gone\n");
    fflush(stdout);
}

static void write_uri(const char *path)
{
    pmix_proc_t proc;
    char **env = NULL;
    FILE *f = fopen(path, "w");

    PMIX_LOAD_PROCID(&proc, "testjob", 0);
    if (!f || PMIx_server_setup_fork(&proc, &env) != PMIX_SUCCESS)
        die("cannot write the address");
    for (char **v = env; *v; v++) {
        if (!strncmp(*v, "PMIX_SERVER_URI41=", 18))
            fprintf(f, "%s\n", *v + 18);
    }
    fclose(f);
    PMIX_ARGV_FREE(env);
}

static int host(char **words)
{
    pmix_server_module_t module = { .client_connected2 = connected,
                                    .publish = publish,
                                    .lookup = lookup,
                                    .unpublish = unpublish,
                                    .spawn = spawn,
                                    .query = query,
                                    .tool_connected = tool,
                                    .log = logs,
                                    .allocate = allocate,
                                    .job_control = control,
                                    .get_credential = credential };
    uid_t guest = (uid_t)atoi(words[1]);
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    if (PMIx_server_init(&module, &info, 1) != PMIX_SUCCESS)
        die("PMIx_server_init");
    expect("testjob", geteuid());
    expect("guests", guest);
    write_uri(words[0]);
    start_guest(guest, words + 2);
    while (getchar() != EOF)
        continue;
    return PMIx_server_finalize() == PMIX_SUCCESS ? 0 : 1;
}

/* ---- the guest ------------------------------------------------------------------------------- */

static void wish(char *path)
{
    size_t n = strlen(path);
    bool yes = true, dir = path[n - 1] == '/';
    pmix_info_t info[2];

    if (dir)
        path[n - 1] = '\0';
    PMIX_INFO_LOAD(&info[0], dir ? PMIX_REGISTER_CLEANUP_DIR : PMIX_REGISTER_CLEANUP, path,
                   PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    PMIx_Job_control(NULL, 0, info, dir ? 2 : 1, NULL, NULL);
    for (int i = 0; i < 2; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

static void claim(pmix_info_t info[3])
{
    uint32_t root = 0;

    PMIX_INFO_LOAD(&info[0], PMIX_USERID, &root, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_GRPID, &root, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], "second.user", "is root", PMIX_STRING);
}

static void ask_questions(pmix_info_t info[3])
{
    pmix_query_t q;
    pmix_info_t *found = NULL;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, "second.question");
    if (rc != PMIX_SUCCESS)
        die("a key");
    PMIX_QUERY_QUALIFIERS_CREATE(&q, 2);
    PMIX_INFO_XFER(&q.qualifiers[0], &info[0]);
    PMIX_INFO_XFER(&q.qualifiers[1], &info[1]);
    PMIx_Query_info(&q, 1, &found, &n);
    PMIX_QUERY_DESTRUCT(&q);
}

static void start_program(pmix_info_t info[3])
{
    pmix_nspace_t child;
    pmix_status_t rc;
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("/bin/true");
    app.maxprocs = 1;
    PMIX_ARGV_APPEND(rc, app.argv, "/bin/true");
    PMIX_INFO_CREATE(app.info, 2);
    app.ninfo = 2;
    if (rc == PMIX_SUCCESS)
        PMIX_INFO_XFER(&app.info[0], &info[0]);
    PMIX_INFO_XFER(&app.info[1], &info[1]);
    PMIx_Spawn(info, 2, &app, 1, child);
    PMIX_APP_DESTRUCT(&app);
}

static void make_claims(void)
{
    pmix_byte_object_t credential;
    pmix_info_t info[3];
    pmix_pdata_t found;
    char key[] = "second.user", *keys[] = { key, NULL };

    claim(info);
    PMIx_Publish(info, 3);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, key);
    PMIx_Lookup(&found, 1, info, 2);
    PMIx_Unpublish(keys, info, 2);
    start_program(info);
    ask_questions(info);
    PMIx_Log(&info[2], 1, info, 2);
    PMIx_Allocation_request(PMIX_ALLOC_NEW, info, 2, NULL, NULL);
    PMIx_Job_control(NULL, 0, info, 3, NULL, NULL);
    PMIx_Get_credential(info, 2, &credential);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

static int guest(int n, char **words)
{
    pmix_proc_t me;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        die("the guest is not let in");
    for (int i = 1; i < n; i++)
        wish(words[i]);
    if (!strcmp(words[0], "claims"))
        make_claims();
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}

/* How a server receives us: as a process, or as a tool under that name. */
static int visit(const char *name)
{
    pmix_info_t infos[2];
    pmix_proc_t me;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&infos[0], PMIX_TOOL_NSPACE, name, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_SERVER_URI, getenv("PMIX_SERVER_URI41"), PMIX_STRING);
    rc = name ? PMIx_tool_init(&me, infos, 2) : PMIx_Init(&me, NULL, 0);
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
    printf("%s %d\n", name ? "tool" : "process", rc);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "visit"))
        return visit(argv[2]);
    if (argc >= 5 && !strcmp(argv[1], "host"))
        return host(argv + 2);
    if (argc >= 3 && !strcmp(argv[1], "guest"))
        return guest(argc - 2, argv + 2);
    return 2;
}
