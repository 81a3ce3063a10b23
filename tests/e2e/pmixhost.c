/* pmixhost.c - a small resource manager on a PMIx library's server API: the other side of
 * rawpmix.c and pmixcalls.c.
 *
 *   pmixhost [-v] [-b] [-p] [-d] [-s] [-n] NODES RANKS COMMAND [ARG...]
 *
 * Starts NODES processes, each the host of a node of its own (n0, n1 …) with a server, and RANKS
 * processes of one job, dealt to the nodes in blocks.  The hosts are connected in a star and carry
 * what their servers give them.  -v: each call of a host's function is told on standard error, as
 * `upcall NAME`; -b: only what a host must have; -p: the processes get a PMI descriptor too
 * (wireup_server.h); -d: blobs of fences are damaged on the way (so tests can fail); -s: it serves
 * tools of the whole session; -r: it is scheduler and controller; -n: the job's name begins with
 * that of another one, which is known to every host and has no process.
 *
 * Ends with the largest exit code of a process, or 128 + its signal. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_NODES = 8, MAX_RANKS = 4096 };

static int nodes, ranks, node;
static bool verbose, bare, with_pmi, damages, session, nested, roles;
static char **command;
static const char *const outer = "testjob";
static const char *job = "testjob";
static int up = -1;                    /* to node 0 */
static int down[MAX_NODES];            /* node 0: to the others */
static _Atomic(pid_t) pids[MAX_RANKS]; /* the server's threads kill them, too */
static pid_t hosts[MAX_NODES];
static int running;
static _Atomic(int) code; /* likewise */
static int news[2];       /* a process has ended */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void print_call(const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "upcall %s\n", name);

    if (verbose && write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

static void die(const char *what)
{
    fprintf(stderr, "pmixhost: %s: %s\n", what, strerror(errno));
    _exit(99);
}

/* ---- messages between hosts ------------------------------------------------------------------ */

enum { FENCE = 1, FENCE_OVER, WANT, HAVE, FINISHED, LEAVE };

struct header {
    uint32_t kind, from, to, key_len, len;
    uint64_t id;
    int32_t status;
    pmix_proc_t proc;
};

static void put_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            die("write to another host");
        at += done;
        n -= (size_t)done;
    }
}

static bool get_all(int fd, void *bytes, size_t n)
{
    char *at = bytes;

    while (n) {
        ssize_t done = read(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static void handle(struct header *h, char *key, char *data);

/* Node 0 is in the middle of everything. */
static void send_reply(struct header h, const char *key, const char *data)
{
    h.from = (uint32_t)node;
    if (h.to == (uint32_t)node) {
        char *k = calloc(1, h.key_len + 1), *d = malloc(h.len + 1);
        memcpy(k, key ? key : "", h.key_len);
        memcpy(d, data ? data : "", h.len);
        handle(&h, k, d);
        return;
    }
    pthread_mutex_lock(&lock);
    put_all(node ? up : down[h.to], &h, sizeof h);
    put_all(node ? up : down[h.to], key, h.key_len);
    put_all(node ? up : down[h.to], data, h.len);
    pthread_mutex_unlock(&lock);
}

/* ---- fences: every host's part to node 0, all of it back ------------------------------------- */

struct fence {
    struct fence *next;
    char *key;
    int parts;
    char *all;
    size_t len;
    pmix_modex_cbfunc_t cbfunc;
    void *cbdata;
};

static struct fence *fences, *gathered;
static pthread_mutex_t fence_lock = PTHREAD_MUTEX_INITIALIZER;

static void key_of(char *key, size_t room, const pmix_proc_t *procs, size_t n)
{
    size_t at = 0;

    key[0] = '\0';
    for (size_t i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(key + at, room - at, "%s.%u ", procs[i].nspace, procs[i].rank);
}

static int node_of(uint32_t rank)
{
    int per = (ranks + nodes - 1) / nodes;

    return (int)rank / per;
}

/* How many hosts a fence has. */
static int hosts_of(const char *key)
{
    bool in[MAX_NODES] = { false };
    int n = 0;
    char *copy = strdup(key);

    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        uint32_t rank = (uint32_t)strtoul(strrchr(word, '.') + 1, NULL, 10);
        for (int i = 0; i < nodes; i++)
            in[i] = in[i] || rank == PMIX_RANK_WILDCARD || node_of(rank) == i;
    }
    for (int i = 0; i < nodes; i++)
        n += in[i];
    free(copy);
    return n;
}

static void gather(struct header *h, const char *key, const char *data)
{
    struct fence **p = &gathered, *f;

    pthread_mutex_lock(&fence_lock);
    while (*p && strcmp((*p)->key, key) != 0)
        p = &(*p)->next;
    f = *p;
    if (!f) {
        f = calloc(1, sizeof *f);
        f->key = strdup(key);
        f->next = gathered;
        gathered = f;
        p = &gathered;
    }
    f->all = realloc(f->all, f->len + h->len + 1);
    memcpy(f->all + f->len, data, h->len);
    f->len += h->len;
    if (++f->parts < hosts_of(key)) {
        pthread_mutex_unlock(&fence_lock);
        return;
    }
    *p = f->next;
    pthread_mutex_unlock(&fence_lock);
    if (damages && f->len > 40)
        f->all[f->len - 2] ^= 1;
    for (int i = 0; i < nodes; i++)
        send_reply((struct header){ .kind = FENCE_OVER,
                                    .to = (uint32_t)i,
                                    .key_len = (uint32_t)strlen(key),
                                    .len = (uint32_t)f->len },
                   key, f->all);
    free(f->key);
    free(f->all);
    free(f);
}

/* Some hosts hold a lock while they answer, and take it again where their memory is given back. */
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;

static void give_back(void *data)
{
    pthread_mutex_lock(&answer_lock);
    free(data);
    pthread_mutex_unlock(&answer_lock);
}

static void answer_fence(struct fence *f, const char *data, size_t len)
{
    char *lent = memcpy(calloc(1, len + 1), data, len);

    pthread_mutex_lock(&answer_lock);
    f->cbfunc(PMIX_SUCCESS, lent, len, f->cbdata, give_back, lent);
    pthread_mutex_unlock(&answer_lock);
}

static void fence_over(struct header *h, const char *key, char *data)
{
    struct fence **p = &fences, *f;

    pthread_mutex_lock(&fence_lock);
    while (*p && strcmp((*p)->key, key) != 0)
        p = &(*p)->next;
    f = *p;
    if (f)
        *p = f->next;
    pthread_mutex_unlock(&fence_lock);
    if (!f)
        return; /* nobody of it is here */
    answer_fence(f, data, h->len);
    free(f->key);
    free(f);
}

static pmix_status_t fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    struct fence *f = calloc(1, sizeof *f);
    char key[65536];

    (void)info;
    (void)ninfo;
    print_call("fence_nb");
    key_of(key, sizeof key, procs, nprocs);
    f->key = strdup(key);
    f->cbfunc = cbfunc;
    f->cbdata = cbdata;
    pthread_mutex_lock(&fence_lock);
    f->next = fences;
    fences = f;
    pthread_mutex_unlock(&fence_lock);
    send_reply(
        (struct header){
            .kind = FENCE, .to = 0, .key_len = (uint32_t)strlen(key), .len = (uint32_t)ndata },
        key, data);
    free(data); /* it is the host's */
    return PMIX_SUCCESS;
}

/* ---- direct modex ---------------------------------------------------------------------------- */

struct wanted {
    pmix_modex_cbfunc_t cbfunc;
    void *cbdata;
    uint32_t from;
    uint64_t id;
};

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                  pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    struct wanted *w = calloc(1, sizeof *w);

    (void)info;
    (void)ninfo;
    print_call("direct_modex");
    w->cbfunc = cbfunc;
    w->cbdata = cbdata;
    send_reply(
        (struct header){
            .kind = WANT, .to = (uint32_t)node_of(proc->rank), .id = (uintptr_t)w, .proc = *proc },
        NULL, NULL);
    return PMIX_SUCCESS;
}

static void here_it_is(pmix_status_t status, char *data, size_t sz, void *cbdata)
{
    struct wanted *w = cbdata;

    send_reply(
        (struct header){
            .kind = HAVE, .to = w->from, .id = w->id, .status = status, .len = (uint32_t)sz },
        NULL, data);
    free(w);
}

static void look_up(const struct header *h)
{
    struct wanted *w = calloc(1, sizeof *w);
    pmix_status_t rc;

    w->from = h->from;
    w->id = h->id;
    rc = PMIx_server_dmodex_request(&h->proc, here_it_is, w);
    if (rc != PMIX_SUCCESS)
        here_it_is(rc, NULL, 0, w);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct name {
    struct name *next;
    pmix_pdata_t data;
};

static struct name *names;

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pmix_status_t rc = PMIX_SUCCESS;

    print_call("publish");
    for (size_t i = 0; i < ninfo; i++) {
        struct name *n;
        if (!strncmp(info[i].key, "pmix.", 5))
            continue;
        for (n = names; n; n = n->next) {
            if (!strcmp(n->data.key, info[i].key))
                return PMIX_ERR_DUPLICATE_KEY;
        }
        n = calloc(1, sizeof *n);
        n->data.proc = *proc;
        PMIX_LOAD_KEY(n->data.key, info[i].key);
        PMIX_VALUE_XFER_DIRECT(rc, &n->data.value, (pmix_value_t *)&info[i].value);
        n->next = names;
        names = n;
    }
    cbfunc(rc, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                            size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    pmix_pdata_t found[16];
    size_t n = 0, wanted = 0;

    (void)proc;
    (void)info;
    (void)ninfo;
    print_call("lookup");
    for (; keys && keys[wanted]; wanted++) {
        for (struct name *k = names; k && n < 16; k = k->next) {
            if (!strcmp(k->data.key, keys[wanted]))
                found[n++] = k->data;
        }
    }
    cbfunc(n == wanted ? PMIX_SUCCESS
           : n         ? PMIX_ERR_PARTIAL_SUCCESS
                       : PMIX_ERR_NOT_FOUND,
           found, n, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc;
    (void)info;
    (void)ninfo;
    (void)cbfunc;
    (void)cbdata;
    print_call("unpublish");
    for (size_t i = 0; keys && keys[i]; i++) {
        for (struct name **p = &names; *p;) {
            struct name *n = *p;
            if (strcmp(n->data.key, keys[i]) != 0) {
                p = &n->next;
                continue;
            }
            *p = n->next;
            PMIX_VALUE_DESTRUCT(&n->data.value);
            free(n);
        }
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- processes ------------------------------------------------------------------------------- */

extern char **environ;

typedef pmix_status_t connect_child_fn(const pmix_proc_t *proc, int child_fd, char ***env,
                                       int *fd_p);

static pid_t start(const char *nspace, uint32_t rank, char *const argv[])
{
    pmix_proc_t proc;
    char **env = NULL;
    pmix_status_t rc = PMIX_SUCCESS;
    int fd = -1;
    pid_t pid;

    for (char **v = environ; *v; v++)
        PMIX_ARGV_APPEND(rc, env, *v);
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    if (rc != PMIX_SUCCESS ||
        PMIx_server_register_client(&proc, geteuid(), getegid(), (void *)(uintptr_t)(rank + 1),
                                    NULL, NULL) != PMIX_OPERATION_SUCCEEDED ||
        PMIx_server_setup_fork(&proc, &env) != PMIX_SUCCESS)
        die("register a process");
    if (with_pmi) {
        connect_child_fn *connect_child = NULL;
        *(void **)&connect_child = dlsym(RTLD_DEFAULT, "WIREUP_server_connect_child");
        if (!connect_child || connect_child(&proc, 9, &env, &fd) != PMIX_SUCCESS)
            die("connect a PMI process");
    }
    pid = fork();
    if (pid == 0) {
        if (fd >= 0)
            dup2(fd, 9);
        execvpe(argv[0], argv, env);
        _exit(127);
    }
    if (fd >= 0)
        close(fd);
    PMIX_ARGV_FREE(env);
    return pid;
}

static pmix_status_t register_job(const char *nspace, int size, int local, const char *node_names,
                                  const char *ppn)
{
    pmix_info_t info[5];
    uint32_t n = (uint32_t)size;
    char *regex = NULL, *map = NULL;
    pmix_nspace_t name;
    pmix_status_t rc;

    PMIX_LOAD_NSPACE(name, nspace);
    PMIx_generate_regex(node_names, &regex);
    PMIx_generate_ppn(ppn, &map);
    PMIX_INFO_LOAD(&info[0], PMIX_UNIV_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_JOB_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_NODE_MAP, regex, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_PROC_MAP, map, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], "test.told", "by the host", PMIX_STRING);
    rc = PMIx_server_register_nspace(name, local, info, 5, NULL, NULL);
    for (int i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(regex);
    free(map);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

static int spawned;

static const struct {
    const char *key, *name;
} wishes[] = { { PMIX_JOB_RECOVERABLE, "recoverable" },
               { PMIX_FWD_STDIN, "stdin" },
               { PMIX_FWD_STDOUT, "stdout" },
               { PMIX_FWD_STDERR, "stderr" },
               { PMIX_REQUESTOR_IS_TOOL, "of a tool" } };

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
                           const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                           void *cbdata)
{
    char name[64], ppn[64] = "0", host[16];
    pmix_byte_object_t words = { (char *)"said by a child\n", 16 };
    pmix_nspace_t nspace;
    pmix_proc_t child;
    bool of_tool = false;

    (void)proc;
    print_call("spawn");
    for (size_t i = 0; i < ninfo; i++) {
        for (size_t k = 0; k < sizeof wishes / sizeof *wishes; k++) {
            if (!strcmp(job_info[i].key, wishes[k].key))
                print_call(wishes[k].name);
            of_tool = of_tool || !strcmp(job_info[i].key, PMIX_REQUESTOR_IS_TOOL);
        }
    }
    snprintf(name, sizeof name, "spawned%d", ++spawned);
    snprintf(host, sizeof host, "n%d", node);
    if (napps != 1 || apps[0].maxprocs != 1)
        return PMIX_ERR_NOT_SUPPORTED;
    if (register_job(name, 1, 1, host, ppn) != PMIX_SUCCESS)
        return PMIX_ERROR;
    pthread_mutex_lock(&lock);
    running++; /* it may have ended before we know that it was started */
    pthread_mutex_unlock(&lock);
    if (start(name, 0, apps[0].argv) < 0)
        die("start a process");
    PMIX_LOAD_NSPACE(nspace, name);
    cbfunc(PMIX_SUCCESS, nspace, cbdata);
    PMIX_LOAD_PROCID(&child, name, 0);
    if (of_tool)
        PMIx_server_IOF_deliver(&child, PMIX_FWD_STDOUT_CHANNEL, &words, NULL, 0, NULL, NULL);
    return PMIX_SUCCESS;
}

/* ---- the others ------------------------------------------------------------------------------ */

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                       size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)info;
    (void)ninfo;
    (void)cbfunc;
    (void)cbdata;
    print_call((uintptr_t)object == proc->rank + 1 ? "client_connected2"
                                                   : "client_connected2 of whom?");
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc;
    (void)object;
    print_call("client_connected");
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc;
    (void)object;
    print_call("client_finalized");
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t aborts(const pmix_proc_t *proc, void *object, int status, const char msg[],
                            pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc,
                            void *cbdata)
{
    (void)proc;
    (void)object;
    (void)procs;
    (void)nprocs;
    print_call("abort");
    fprintf(stderr, "pmixhost: aborted: %s\n", msg ? msg : "");
    code = status & 0xff ? status & 0xff : 1;
    for (int i = 0; i < ranks; i++) {
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    }
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

#define WITH_OP(name, ...)                                                                         \
    static pmix_status_t name(__VA_ARGS__, pmix_op_cbfunc_t cbfunc, void *cbdata)                  \
    {                                                                                              \
        print_call(#name);                                                                         \
        cbfunc(PMIX_SUCCESS, cbdata);                                                              \
        return PMIX_SUCCESS;                                                                       \
    }
#define WITH_INFOS(name, ...)                                                                      \
    static pmix_status_t name(__VA_ARGS__, pmix_info_cbfunc_t cbfunc, void *cbdata)                \
    {                                                                                              \
        pmix_info_t info;                                                                          \
        print_call(#name);                                                                         \
        PMIX_INFO_LOAD(&info, "test.answer", #name, PMIX_STRING);                                  \
        cbfunc(PMIX_SUCCESS, &info, 1, cbdata, NULL, NULL);                                        \
        PMIX_INFO_DESTRUCT(&info);                                                                 \
        return PMIX_SUCCESS;                                                                       \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
WITH_OP(connects, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo)
WITH_OP(disconnects, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
        size_t ninfo)
WITH_OP(register_events, pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
        size_t ninfo)
WITH_OP(deregister_events, pmix_status_t *codes, size_t ncodes)
WITH_OP(notify_event, pmix_status_t status, const pmix_proc_t *source, pmix_data_range_t range,
        pmix_info_t info[], size_t ninfo)
WITH_INFOS(query, pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries)
WITH_INFOS(allocate, const pmix_proc_t *client, pmix_alloc_directive_t directive,
           const pmix_info_t data[], size_t ndata)
WITH_INFOS(job_control, const pmix_proc_t *client, const pmix_proc_t targets[], size_t ntargets,
           const pmix_info_t directives[], size_t ndirs)
WITH_INFOS(monitor, const pmix_proc_t *client, const pmix_info_t *what, pmix_status_t error,
           const pmix_info_t directives[], size_t ndirs)
WITH_INFOS(fabric, const pmix_proc_t *client, pmix_fabric_operation_t op,
           const pmix_info_t directives[], size_t ndirs)

static void logs(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                 const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                 void *cbdata)
{
    print_call("log");
    cbfunc(PMIX_SUCCESS, cbdata);
}

static void tool_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                           void *cbdata)
{
    static int n;
    pmix_proc_t name;

    print_call("tool_connected");
    PMIX_LOAD_PROCID(&name, "testtool", (uint32_t)n++);
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_NSPACE))
            PMIX_LOAD_NSPACE(name.nspace, info[i].value.data.string);
    }
    cbfunc(PMIX_SUCCESS, &name, cbdata);
}

static pmix_status_t get_credential(const pmix_proc_t *proc, const pmix_info_t directives[],
                                    size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    pmix_byte_object_t bo = { (char *)"credential", 10 };

    print_call("get_credential");
    cbfunc(PMIX_SUCCESS, &bo, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t validate_credential(const pmix_proc_t *proc, const pmix_byte_object_t *cred,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    bool good = cred->size == 10 && !memcmp(cred->bytes, "credential", 10);

    print_call("validate_credential");
    cbfunc(good ? PMIX_SUCCESS : PMIX_ERR_INVALID_CRED, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

WITH_OP(iof_pull, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
        size_t ndirs, pmix_iof_channel_t channels)

/* Who is written to says it again. */
static pmix_status_t push_stdin(const pmix_proc_t *source, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    print_call("push_stdin");
    cbfunc(PMIX_SUCCESS, cbdata);
    if (bo && ntargets)
        PMIx_server_IOF_deliver(&targets[0], PMIX_FWD_STDOUT_CHANNEL, bo, NULL, 0, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t group(pmix_group_operation_t op, char grp[], const pmix_proc_t procs[],
                           size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    size_t id = 4711;
    pmix_info_t info;

    print_call("group");
    PMIX_INFO_LOAD(&info, PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
    cbfunc(PMIX_SUCCESS, &info, 1, cbdata, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    return PMIX_SUCCESS;
}

/* ---- the host -------------------------------------------------------------------------------- */

static void handle(struct header *h, char *key, char *data)
{
    struct wanted *w = (struct wanted *)(uintptr_t)h->id;

    switch (h->kind) {
    case FENCE: gather(h, key, data); break;
    case FENCE_OVER: fence_over(h, key, data); break;
    case WANT: look_up(h); break;
    case HAVE:
        w->cbfunc(h->status, data, h->len, w->cbdata, NULL, NULL);
        free(w);
        break;
    default: break;
    }
    free(key);
    free(data);
}

/* What another host says; false: it has gone. */
static bool listen_to(int fd, int *finished)
{
    struct header h;
    char *key, *data;

    if (!get_all(fd, &h, sizeof h))
        return false;
    key = calloc(1, h.key_len + 1);
    data = malloc(h.len + 1);
    if (!get_all(fd, key, h.key_len) || !get_all(fd, data, h.len))
        return false;
    if (h.kind == FINISHED) {
        code = h.status > code ? h.status : code;
        ++*finished;
    }
    if (h.kind == LEAVE)
        ++*finished;
    if (node == 0 && h.to != 0) { /* passing by */
        pthread_mutex_lock(&lock);
        put_all(down[h.to], &h, sizeof h);
        put_all(down[h.to], key, h.key_len);
        put_all(down[h.to], data, h.len);
        pthread_mutex_unlock(&lock);
        free(key);
        free(data);
        return true;
    }
    handle(&h, key, data);
    return true;
}

static void child_ended(int sig)
{
    int saved = errno;

    (void)sig;
    if (write(news[1], "", 1) < 0)
        errno = saved;
    errno = saved;
}

static void reap(void)
{
    int status;
    pid_t pid;
    char drain[64];

    if (read(news[0], drain, sizeof drain) < 0 && errno != EAGAIN)
        die("read");
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        bool other_host = false;
        int mine = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        for (int i = 0; i < ranks; i++) {
            if (pids[i] == pid)
                pids[i] = 0;
        }
        for (int i = 1; i < nodes; i++)
            other_host = other_host || hosts[i] == pid;
        code = mine > code ? mine : code;
        if (other_host)
            continue;
        pthread_mutex_lock(&lock);
        running--;
        pthread_mutex_unlock(&lock);
    }
}

static bool at_work(void)
{
    bool some;

    pthread_mutex_lock(&lock);
    some = running > 0;
    pthread_mutex_unlock(&lock);
    return some;
}

static void serve(void)
{
    struct pollfd fds[MAX_NODES + 1];
    int finished = 0;
    bool printed = false;

    for (;;) {
        int n = 0;
        if (!at_work() && node == 0 && finished == nodes - 1)
            break;
        if (node && finished)
            break;
        if (node && !at_work() && !printed) {
            send_reply((struct header){ .kind = FINISHED, .to = 0, .status = code }, NULL, NULL);
            printed = true;
        }
        fds[n++] = (struct pollfd){ .fd = news[0], .events = POLLIN };
        for (int i = 1; i < nodes && node == 0; i++)
            fds[n++] = (struct pollfd){ .fd = down[i], .events = POLLIN };
        if (node)
            fds[n++] = (struct pollfd){ .fd = up, .events = POLLIN };
        if (poll(fds, (nfds_t)n, -1) < 0 && errno != EINTR)
            die("poll");
        if (fds[0].revents)
            reap();
        for (int i = 1; i < n; i++) {
            if (fds[i].revents && !listen_to(fds[i].fd, &finished))
                die("another host has gone");
        }
    }
    for (int i = 1; i < nodes && node == 0; i++)
        send_reply((struct header){ .kind = LEAVE, .to = (uint32_t)i }, NULL, NULL);
}

static void make_maps(char *names_of, char *ppn, size_t room)
{
    size_t a = 0, b = 0;
    int per = (ranks + nodes - 1) / nodes;

    for (int i = 0; i < nodes; i++) {
        a += (size_t)snprintf(names_of + a, room - a, "%sn%d", i ? "," : "", i);
        if (i)
            b += (size_t)snprintf(ppn + b, room - b, ";");
        for (int r = i * per; r < (i + 1) * per && r < ranks; r++)
            b += (size_t)snprintf(ppn + b, room - b, "%s%d", r == i * per ? "" : ",", r);
    }
}

static void host(void)
{
    char call[] = "test_spawn", timeout[] = "PMIX_TIMEOUT", own[] = "test.own";
    char *attrs[] = { timeout, own, NULL };
    pmix_server_module_t module = { .fence_nb = fence_nb,
                                    .direct_modex = direct_modex,
                                    .client_finalized = client_finalized,
                                    .client_connected = client_connected };
    char names_of[4096], ppn[65536], name[16];
    int per = (ranks + nodes - 1) / nodes, first = node * per, local;
    pmix_info_t info[4];
    pmix_proc_t everybody;
    bool yes = true;

    local = first >= ranks ? 0 : ranks - first < per ? ranks - first : per;
    if (!bare)
        module = (pmix_server_module_t){ .client_connected2 = client_connected2,
                                         .client_connected = client_connected,
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
                                         .tool_connected = tool_connected,
                                         .log = logs,
                                         .allocate = allocate,
                                         .job_control = job_control,
                                         .monitor = monitor,
                                         .get_credential = get_credential,
                                         .validate_credential = validate_credential,
                                         .iof_pull = iof_pull,
                                         .push_stdin = push_stdin,
                                         .group = group,
                                         .fabric = fabric };
    snprintf(name, sizeof name, "n%d", node);
    PMIX_INFO_LOAD(&info[0], PMIX_HOSTNAME, name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], session ? PMIX_SERVER_SESSION_SUPPORT : PMIX_SERVER_TOOL_SUPPORT, &yes,
                   PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], "pmix.srv.sched", &roles, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], "pmix.srv.ctrlr", &roles, PMIX_BOOL);
    if (PMIx_server_init(&module, info, 4) != PMIX_SUCCESS)
        die("PMIx_server_init");
    make_maps(names_of, ppn, sizeof names_of);
    if ((nested && register_job(outer, ranks, 0, names_of, ppn) != PMIX_SUCCESS) ||
        register_job(job, ranks, local, names_of, ppn) != PMIX_SUCCESS)
        die("PMIx_server_register_nspace");
    PMIX_LOAD_PROCID(&everybody, job, PMIX_RANK_WILDCARD);
    if (PMIx_Register_attributes(call, attrs) != PMIX_SUCCESS ||
        PMIx_Register_attributes(call, attrs) != PMIX_ERR_REPEAT_ATTR_REGISTRATION)
        die("PMIx_Register_attributes");
    /* OpenPMIx 4.2 returns any number. */
    if (PMIx_server_define_process_set(&everybody, 1, "testset") != PMIX_SUCCESS &&
        !strstr(PMIx_Get_version(), "OpenPMIx"))
        die("PMIx_server_define_process_set");
    running = local;
    for (int r = first; r < first + local; r++)
        pids[r] = start(job, (uint32_t)r, command);
    serve();
    if (PMIx_server_finalize() != PMIX_SUCCESS)
        die("PMIx_server_finalize");
    PMIX_INFO_DESTRUCT(&info[0]);
}

int main(int argc, char **argv)
{
    int opt, ends[2];
    struct sigaction ended = { .sa_handler = child_ended, .sa_flags = SA_RESTART };

    while ((opt = getopt(argc, argv, "+vbpdsnr")) > 0) {
        verbose = verbose || opt == 'v';
        bare = bare || opt == 'b';
        with_pmi = with_pmi || opt == 'p';
        damages = damages || opt == 'd';
        session = session || opt == 's';
        roles = roles || opt == 'r';
        nested = nested || opt == 'n';
    }
    if (nested)
        job = "testjob/0";
    if (argc - optind < 3)
        return 2;
    nodes = atoi(argv[optind]);
    ranks = atoi(argv[optind + 1]);
    command = argv + optind + 2;
    if (nodes < 1 || nodes > MAX_NODES || ranks < nodes || ranks > MAX_RANKS)
        return 2;
    for (int i = 1; i < nodes; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
            die("socketpair");
        down[i] = ends[0];
        hosts[i] = fork();
        if (hosts[i] == 0) {
            node = i;
            up = ends[1];
            break;
        }
        close(ends[1]);
    }
    if (pipe2(news, O_CLOEXEC | O_NONBLOCK) < 0)
        die("pipe");
    sigaction(SIGCHLD, &ended, NULL);
    host();
    while (node == 0 && wait(NULL) > 0) {
        /* the other hosts */
    }
    return code;
}
