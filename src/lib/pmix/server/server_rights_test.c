/* server_rights_test.c - a host with our library, and a client of another user that claims to be
 * root: the claim reaches none of the host's functions, and no file is removed with the host's
 * rights.
 *
 * Only root can have clients of another user.  Other users are their own client: claims must still
 * not get through, and cleanup without the needed rights must be refused. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/pmix/client/client_conn.h"
#include "tests/tap.h"
#include "wire/pmix_pack.h"
#include "wireup_server.h"

enum { OTHER_USER = 65533, OTHER_GROUP = 65532, NOBODY = 12345, CLAIMS = 2 };
enum { NOT_WANTED = PMIX_ERR_RESOURCE_BUSY }; /* the host's answer to the tool */

/* ---- the client ------------------------------------------------------------------------------ */

static uint32_t zero;

static void claim(pmix_info_t *infos)
{
    PMIx_Info_load(&infos[0], PMIX_USERID, &zero, PMIX_UINT32);
    PMIx_Info_load(&infos[1], PMIX_GRPID, &zero, PMIX_UINT32);
}

static void check_queries(pmix_info_t *more)
{
    char key[] = "name", *keys[] = { key, NULL };
    pmix_info_t infos[CLAIMS + 1];
    pmix_pdata_t data;

    memcpy(infos, more, CLAIMS * sizeof *more);
    PMIx_Info_load(&infos[CLAIMS], key, "value", PMIX_STRING);
    PMIx_Publish(infos, CLAIMS + 1);
    PMIX_INFO_DESTRUCT(&infos[CLAIMS]);
    memset(&data, 0, sizeof data);
    strcpy(data.key, key);
    PMIx_Lookup(&data, 1, more, CLAIMS);
    PMIx_Unpublish(keys, more, CLAIMS);
}

static void ask_spawn_and_query(pmix_info_t *claims)
{
    char cmd[] = "true", key[] = PMIX_QUERY_NAMESPACES, *keys[] = { key, NULL };
    char *argv[] = { cmd, NULL };
    pmix_app_t app = { .cmd = cmd, .argv = argv, .maxprocs = 1, .info = claims, .ninfo = CLAIMS };
    pmix_query_t query = { .keys = keys, .qualifiers = claims, .nqual = CLAIMS };
    pmix_nspace_t child;
    pmix_info_t *results;
    size_t nresults;

    PMIx_Spawn(claims, CLAIMS, &app, 1, child);
    PMIx_Query_info(&query, 1, &results, &nresults);
}

static void ask_control(pmix_info_t *claims)
{
    pmix_info_t infos[CLAIMS + 1], monitor, *results;
    pmix_byte_object_t bytes = { NULL, 0 };
    size_t nresults;
    pmix_fabric_t fabric;
    int sig = 10;

    memset(&fabric, 0, sizeof fabric);
    memcpy(infos, claims, CLAIMS * sizeof *claims);
    PMIx_Info_load(&infos[CLAIMS], PMIX_JOB_CTRL_SIGNAL, &sig, PMIX_INT);
    PMIx_Job_control(NULL, 0, infos, CLAIMS + 1, NULL, NULL);
    PMIx_Allocation_request(PMIX_ALLOC_NEW, claims, CLAIMS, &results, &nresults);
    PMIx_Info_load(&monitor, PMIX_MONITOR_FILE, "/tmp", PMIX_STRING);
    PMIx_Process_monitor(&monitor, -1, claims, CLAIMS, NULL, NULL);
    PMIX_INFO_DESTRUCT(&monitor);
    PMIx_Get_credential(claims, CLAIMS, &bytes);
    bytes = (pmix_byte_object_t){ (char *)claims, 4 };
    PMIx_Validate_credential(&bytes, claims, CLAIMS, NULL, NULL);
    PMIx_Session_control(7, claims, CLAIMS, NULL, NULL);
    PMIx_Fabric_register(&fabric, claims, CLAIMS);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t infos[], size_t n, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *data)
{
    (void)id, (void)status, (void)source, (void)infos, (void)n, (void)results, (void)nresults;
    if (fn)
        fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void ask_streams(pmix_info_t *claims, const pmix_proc_t *me)
{
    pmix_status_t code = -12345;
    pmix_info_t line;
    char text[] = "x";
    pmix_byte_object_t bytes = { text, 1 };

    PMIx_Info_load(&line, PMIX_LOG_STDERR, "", PMIX_STRING);
    PMIx_Log(&line, 1, claims, CLAIMS);
    PMIX_INFO_DESTRUCT(&line);
    PMIx_IOF_pull(me, 1, claims, CLAIMS, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL, NULL);
    PMIx_IOF_push(me, 1, &bytes, claims, CLAIMS, NULL, NULL);
    PMIx_Register_event_handler(&code, 1, claims, CLAIMS, on_event, NULL, NULL);
    PMIx_Notify_event(-12345, me, PMIX_RANGE_GLOBAL, claims, CLAIMS, NULL, NULL);
}

/* Returns how many of the paths were refused. */
static int register_paths(const char *dir)
{
    static const char *const files[] = { "victim", "shared/own" };
    static const char *const dirs[] = { "tree", "shared/owntree" };
    pmix_info_t infos[2];
    char path[512];
    int refused = 0;

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        PMIx_Info_load(&infos[0], PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
        refused += PMIx_Job_control(NULL, 0, infos, 1, NULL, NULL) != PMIX_SUCCESS;
        PMIX_INFO_DESTRUCT(&infos[0]);
        snprintf(path, sizeof path, "%s/%s", dir, dirs[i]);
        PMIx_Info_load(&infos[0], PMIX_REGISTER_CLEANUP_DIR, path, PMIX_STRING);
        PMIx_Info_load(&infos[1], PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL);
        refused += PMIx_Job_control(NULL, 0, infos, 2, NULL, NULL) != PMIX_SUCCESS;
        PMIX_INFO_DESTRUCT(&infos[0]);
    }
    return refused;
}

static int be_client(const char *dir)
{
    pmix_info_t claims[CLAIMS];
    pmix_proc_t me;
    int refused;

    alarm(600);
    claim(claims);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 99;
    check_queries(claims);
    ask_spawn_and_query(claims);
    ask_control(claims);
    ask_streams(claims, &me);
    refused = register_paths(dir);
    PMIx_Finalize(NULL, 0);
    return refused;
}

/* Claims an identity in its hello, as OpenPMIx's tools can (ours sends nothing there). */
static int be_tool(void)
{
    uint32_t nobody = NOBODY;
    struct buf claims = BUF_NULL(1024);
    struct errmsg err;
    struct pmix_uri uri;
    struct conn c;
    struct hello h = { .flag = HELLO_TOOL_UNNAMED,
                       .security = "native",
                       .credential = SLICE("12345678"),
                       .encoding = "v41",
                       .server = "ours" };
    struct welcome w = { .tool = true, .unnamed = true };
    pmix_info_t infos[CLAIMS];
    struct ppack p;
    int fd, rc;

    alarm(600);
    PMIx_Info_load(&infos[0], PMIX_USERID, &nobody, PMIX_UINT32);
    PMIx_Info_load(&infos[1], PMIX_GRPID, &nobody, PMIX_UINT32);
    ppack_init(&p, &claims, ptype_flavour(SLICE("v41")));
    ppack_size(&p, CLAIMS);
    ppack(&p, infos, CLAIMS, PMIX_INFO);
    h.infos = buf_slice(&claims);
    if (!ppack_ok(&p) || pmix_uri_read(getenv("PMIX_SERVER_URI41"), &uri, &err) < 0 ||
        conn_dial(&c, &uri, &err) < 0)
        return 99;
    rc = conn_greet(&c, &h, &w, &fd, &err);
    conn_close(&c);
    buf_free(&claims);
    return rc == CONN_REFUSED && w.status == NOT_WANTED ? 0 : 1;
}

/* ---- the host -------------------------------------------------------------------------------- */

enum call {
    CONNECTED,
    PUBLISH,
    LOOKUP,
    UNPUBLISH,
    SPAWN,
    SPAWN_APP,
    QUERY,
    LOG,
    ALLOCATE,
    CONTROL,
    MONITOR,
    GET_CREDENTIAL,
    VALIDATE,
    PULL,
    PUSH,
    NOTIFY,
    SESSION,
    FABRIC,
    REGISTER,
    TOOL,
    CALLS
};

static const char *const names[CALLS] = { "client_connected2",
                                          "publish",
                                          "lookup",
                                          "unpublish",
                                          "spawn",
                                          "spawn (app)",
                                          "query",
                                          "log",
                                          "allocate",
                                          "job_control",
                                          "monitor",
                                          "get_credential",
                                          "validate_credential",
                                          "iof_pull",
                                          "push_stdin",
                                          "notify_event",
                                          "session_control",
                                          "fabric",
                                          "register_events",
                                          "tool_connected" };

static uid_t client_uid;
static gid_t client_gid;

static struct {
    unsigned calls, users, groups, wrong;
} seen[CALLS];

/* Tools of others are not let in. */
static uint32_t proven(enum call call, bool user)
{
    if (call == TOOL)
        return user ? geteuid() : getegid();
    return user ? client_uid : client_gid;
}

static pmix_status_t look(enum call call, const pmix_info_t *infos, size_t n)
{
    seen[call].calls++;
    for (size_t i = 0; i < n; i++) {
        bool user = PMIx_Check_key(infos[i].key, PMIX_USERID);
        uint32_t want = proven(call, user);
        if (!user && !PMIx_Check_key(infos[i].key, PMIX_GRPID))
            continue;
        if (user)
            seen[call].users++;
        else
            seen[call].groups++;
        seen[call].wrong +=
            infos[i].value.type != PMIX_UINT32 || infos[i].value.data.uint32 != want;
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t connected(const pmix_proc_t *p, void *object, pmix_info_t infos[], size_t n,
                               pmix_op_cbfunc_t fn, void *data)
{
    (void)p, (void)object, (void)fn, (void)data;
    look(CONNECTED, infos, n);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t publish(const pmix_proc_t *p, const pmix_info_t infos[], size_t n,
                             pmix_op_cbfunc_t fn, void *data)
{
    (void)p, (void)fn, (void)data;
    return look(PUBLISH, infos, n);
}

static pmix_status_t lookup(const pmix_proc_t *p, char **keys, const pmix_info_t infos[], size_t n,
                            pmix_lookup_cbfunc_t fn, void *data)
{
    (void)p, (void)keys, (void)fn, (void)data;
    return look(LOOKUP, infos, n);
}

static pmix_status_t unpublish(const pmix_proc_t *p, char **keys, const pmix_info_t infos[],
                               size_t n, pmix_op_cbfunc_t fn, void *data)
{
    (void)p, (void)keys, (void)fn, (void)data;
    return look(UNPUBLISH, infos, n);
}

static pmix_status_t spawn(const pmix_proc_t *p, const pmix_info_t infos[], size_t n,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t fn,
                           void *data)
{
    (void)p, (void)fn, (void)data;
    for (size_t i = 0; i < napps; i++)
        look(SPAWN_APP, apps[i].info, apps[i].ninfo);
    return look(SPAWN, infos, n);
}

static pmix_status_t query(pmix_proc_t *p, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t fn,
                           void *data)
{
    (void)p, (void)fn, (void)data;
    for (size_t i = 0; i < n; i++)
        look(QUERY, queries[i].qualifiers, queries[i].nqual);
    return PMIX_ERR_NOT_SUPPORTED;
}

static void read_log_line(const pmix_proc_t *p, const pmix_info_t lines[], size_t nlines,
                          const pmix_info_t infos[], size_t n, pmix_op_cbfunc_t fn, void *data)
{
    (void)p;
    look(LOG, lines, nlines);
    seen[LOG].calls--;
    fn(look(LOG, infos, n), data);
}

static pmix_status_t allocate(const pmix_proc_t *p, pmix_alloc_directive_t what,
                              const pmix_info_t infos[], size_t n, pmix_info_cbfunc_t fn,
                              void *data)
{
    (void)p, (void)what, (void)fn, (void)data;
    return look(ALLOCATE, infos, n);
}

static pmix_status_t control(const pmix_proc_t *p, const pmix_proc_t targets[], size_t ntargets,
                             const pmix_info_t infos[], size_t n, pmix_info_cbfunc_t fn, void *data)
{
    (void)p, (void)targets, (void)ntargets, (void)fn, (void)data;
    return look(CONTROL, infos, n);
}

static pmix_status_t monitor(const pmix_proc_t *p, const pmix_info_t *what, pmix_status_t error,
                             const pmix_info_t infos[], size_t n, pmix_info_cbfunc_t fn, void *data)
{
    (void)p, (void)what, (void)error, (void)fn, (void)data;
    return look(MONITOR, infos, n);
}

static pmix_status_t get_credential(const pmix_proc_t *p, const pmix_info_t infos[], size_t n,
                                    pmix_credential_cbfunc_t fn, void *data)
{
    (void)p, (void)fn, (void)data;
    return look(GET_CREDENTIAL, infos, n);
}

static pmix_status_t validate(const pmix_proc_t *p, const pmix_byte_object_t *credential,
                              const pmix_info_t infos[], size_t n, pmix_validation_cbfunc_t fn,
                              void *data)
{
    (void)p, (void)credential, (void)fn, (void)data;
    return look(VALIDATE, infos, n);
}

static pmix_status_t pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t infos[],
                          size_t n, pmix_iof_channel_t channels, pmix_op_cbfunc_t fn, void *data)
{
    (void)procs, (void)nprocs, (void)channels, (void)fn, (void)data;
    return look(PULL, infos, n);
}

static pmix_status_t push(const pmix_proc_t *p, const pmix_proc_t targets[], size_t ntargets,
                          const pmix_info_t infos[], size_t n, const pmix_byte_object_t *bytes,
                          pmix_op_cbfunc_t fn, void *data)
{
    (void)p, (void)targets, (void)ntargets, (void)bytes, (void)fn, (void)data;
    return look(PUSH, infos, n);
}

static pmix_status_t notify(pmix_status_t code, const pmix_proc_t *p, pmix_data_range_t range,
                            pmix_info_t infos[], size_t n, pmix_op_cbfunc_t fn, void *data)
{
    (void)code, (void)p, (void)range, (void)fn, (void)data;
    look(NOTIFY, infos, n);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t session(const pmix_proc_t *p, uint32_t id, const pmix_info_t infos[], size_t n,
                             pmix_info_cbfunc_t fn, void *data)
{
    (void)p, (void)id, (void)fn, (void)data;
    return look(SESSION, infos, n);
}

static pmix_status_t fabric(const pmix_proc_t *p, pmix_fabric_operation_t op,
                            const pmix_info_t infos[], size_t n, pmix_info_cbfunc_t fn, void *data)
{
    (void)p, (void)op, (void)fn, (void)data;
    return look(FABRIC, infos, n);
}

static pmix_status_t register_events(pmix_status_t *codes, size_t ncodes, const pmix_info_t infos[],
                                     size_t n, pmix_op_cbfunc_t fn, void *data)
{
    (void)codes, (void)ncodes, (void)fn, (void)data;
    look(REGISTER, infos, n);
    return PMIX_OPERATION_SUCCEEDED;
}

static void tool(pmix_info_t *infos, size_t n, pmix_tool_connection_cbfunc_t fn, void *data)
{
    look(TOOL, infos, n);
    fn(NOT_WANTED, NULL, data);
}

static pmix_server_module_t module = { .client_connected2 = connected,
                                       .publish = publish,
                                       .lookup = lookup,
                                       .unpublish = unpublish,
                                       .spawn = spawn,
                                       .query = query,
                                       .log = read_log_line,
                                       .allocate = allocate,
                                       .job_control = control,
                                       .monitor = monitor,
                                       .get_credential = get_credential,
                                       .validate_credential = validate,
                                       .iof_pull = pull,
                                       .push_stdin = push,
                                       .notify_event = notify,
                                       .session_control = session,
                                       .fabric = fabric,
                                       .register_events = register_events,
                                       .tool_connected = tool };

/* ---- one job --------------------------------------------------------------------------------- */

static char top[64];
static char client_word[] = "client", tool_word[] = "tool";

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

static void make(const char *name, bool is_dir, uid_t uid)
{
    const char *path = path_of(name);

    if (is_dir)
        mkdir(path, 0755);
    else
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (uid != geteuid() && chown(path, uid, client_gid) < 0)
        OK_F(false, "files of another user");
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void make_all(void)
{
    make("victim", false, geteuid());
    make("tree", true, geteuid());
    make("tree/below", true, geteuid());
    make("tree/below/file", false, geteuid());
    make("shared", true, geteuid());
    chmod(path_of("shared"), 01777);
    make("shared/own", false, client_uid);
    make("shared/owntree", true, client_uid);
    make("shared/owntree/file", false, client_uid);
}

static pid_t start(char *word, char **env)
{
    pid_t pid = fork();
    char self[] = "/proc/self/exe";
    char *argv[] = { self, word, top, NULL };

    if (pid)
        return pid;
    if (client_uid != getuid() && strcmp(word, "client") == 0 &&
        (setgroups(0, NULL) < 0 || setgid(client_gid) < 0 || setuid(client_uid) < 0))
        _exit(98);
    execve(self, argv, env);
    _exit(97);
}

/* Returns the exit status of the client's or tool's process. */
static int run_job(char *word, const char *nspace, pmix_info_t *infos, size_t n)
{
    extern char **environ;
    char **env = NULL;
    int status = -1;
    pmix_proc_t proc;
    pid_t pid;

    PMIx_Load_procid(&proc, nspace, 0);
    for (char **e = environ; *e; e++)
        PMIx_Argv_append_nosize(&env, *e);
    PMIx_server_register_nspace(proc.nspace, 1, infos, n, NULL, NULL);
    PMIx_server_register_client(&proc, client_uid, client_gid, NULL, NULL, NULL);
    PMIx_server_setup_fork(&proc, &env);
    pid = start(word, env);
    PMIx_Argv_free(env);
    waitpid(pid, &status, 0);
    PMIx_server_deregister_client(&proc, NULL, NULL);
    PMIx_server_deregister_nspace(proc.nspace, NULL, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void begin(void)
{
    size_t size = sizeof module;
    pmix_info_t info;

    PMIx_Info_load(&info, WIREUP_MODULE_SIZE, &size, PMIX_SIZE);
    strcpy(top, "/tmp/wireup-rights.XXXXXX");
    OK(mkdtemp(top) && chmod(top, 0755) == 0);
    make_all();
    OK(PMIx_server_init(&module, &info, 1) == PMIX_SUCCESS);
}

static void end(void)
{
    static const char *const all[] = { "victim",         "tree/below/file", "tree/below",
                                       "tree",           "shared/own",      "shared/owntree/file",
                                       "shared/owntree", "shared" };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        remove(path_of(all[i]));
    OK(rmdir(top) == 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_claims(void)
{
    pmix_info_t size;
    uint32_t one = 1;

    PMIx_Info_load(&size, PMIX_JOB_SIZE, &one, PMIX_UINT32);
    begin();
    EQ(run_job(client_word, "claims", &size, 1), 0);
    EQ(run_job(tool_word, "beside", &size, 1), 0);
    PMIx_server_finalize(); /* waits for the cleanup under way */
    for (int i = 0; i < CALLS; i++) {
        bool once =
            i == SPAWN_APP || (seen[i].users == seen[i].calls && seen[i].groups == seen[i].calls);
        OK_F(seen[i].calls > 0, "%s is called", names[i]);
        OK_F(seen[i].wrong == 0, "%s: claimed rights do not come through", names[i]);
        OK_F(once, "%s: user and group are told, once each", names[i]);
    }
    if (client_uid != geteuid()) {
        OK_F(is_there("victim"), "the host's file is not the client's to clear up");
        OK_F(is_there("tree/below/file"), "nor is its tree");
    }
    OK_F(!is_there("shared/own"), "the client's own file is cleared up");
    OK_F(!is_there("shared/owntree"), "and so is its tree");
    end();
}

/* The host names the user whose rights are used for the job's files: accepted if it has them,
 * else refused. */
static void test_registered(void)
{
    bool can = geteuid() == 0;
    pmix_info_t infos[3];
    uint32_t one = 1, user = NOBODY, group = NOBODY;
    int refused;

    PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIx_Info_load(&infos[1], PMIX_USERID, &user, PMIX_UINT32);
    PMIx_Info_load(&infos[2], PMIX_GRPID, &group, PMIX_UINT32);
    begin();
    refused = run_job(client_word, "told", infos, 3);
    OK_F(refused == (can ? 0 : 4) || refused == 4, "%d of 4 paths are refused", refused);
    PMIx_server_finalize();
    OK_F(is_there("victim") && is_there("tree/below/file") && is_there("shared/own") &&
             is_there("shared/owntree/file"),
         "files of other users than the one the host has named stay");
    end();
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "client"))
        return be_client(argv[2]);
    if (argc > 1 && !strcmp(argv[1], tool_word))
        return be_tool();
    alarm(600);
    client_uid = geteuid() == 0 ? OTHER_USER : geteuid();
    client_gid = geteuid() == 0 ? OTHER_GROUP : getegid();
    if (geteuid() == 0) { /* a namespace may not have these rights */
        pid_t pid = fork();
        int status = 0;
        if (pid == 0)
            _exit(setgroups(0, NULL) < 0 || setgid(OTHER_GROUP) < 0 || setuid(OTHER_USER) < 0);
        waitpid(pid, &status, 0);
        if (status != 0) {
            client_uid = geteuid();
            client_gid = getegid();
        }
    }
    test_claims();
    test_registered();
    return tap_done();
}
