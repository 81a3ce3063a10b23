/* client.c - see client.h: starting and stopping a client. */
#include "lib/pmix/client/client.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "lib/common/singleton_promote.h"
#include "lib/pmix/client/client_asked.h"
#include "lib/pmix/client/client_find.h"
#include "lib/pmix/client/client_group.h"
#include "lib/pmix/client/client_promote.h"
#include "lib/pmix/values/value.h"
#include "wire/pmix_ours.h"

static const struct client_notices notices = {
    .event = event_arrived,
    .output = output_arrived,
    .lost = event_lost,
    .asked = request_arrived,
    .needed = client_promote,
};

static struct client *client_new(struct lock *gate, const struct client_options *o)
{
    struct client *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->gate = gate;
    c->notices = &notices;
    list_init(&c->servers);
    list_init(&c->groups);
    list_init(&c->sent);
    list_init(&c->waiters);
    progress_init(&c->progress);
    client_timers_init(&c->timers);
    c->progress.kind = o->progress;
    c->progress.base = o->event_base;
    c->progress.cpus = o->cpus;
    c->store = ATTACHMENT_NULL;
    c->kept = o->kept;
    cache_init(&c->cache);
    puts_init(&c->puts);
    events_init(&c->events);
    outputs_init(&c->outputs);
    c->outputs.shows = o->shows;
    client_stdin_init(&c->input);
    return c;
}

static void free_server(struct server_link *s, bool abandoned)
{
    list_unlink(&s->link);
    if (abandoned)
        conn_abandon(&s->conn);
    else
        conn_close(&s->conn);
    free(s->uri);
    free(s);
}

static void free_client(struct client *c, bool abandoned)
{
    LIST_EACH(l, &c->sent)
    { /* calls whose callback will not come */
        struct op *op = LIST_OF(l, struct op, link);
        list_unlink(l);
        if (!op->blocking) /* the others were on the stacks of threads */
            op_free(op);
    }
    LIST_EACH(l, &c->servers)
    free_server(LIST_OF(l, struct server_link, link), abandoned);
    if (!abandoned) /* a child's parent has started it */
        singleton_promote_end(&c->launcher);
    groups_free(c);
    events_free(c);
    outputs_free(&c->outputs);
    cache_free(&c->cache);
    if (c->kept && c->store.base && !abandoned)
        *c->kept = c->store;
    else
        detach_store(&c->store);
    PMIx_Topology_destruct(&c->topology);
    free(c->hostname);
    free(c);
}

/* A client whose start failed: events that came meanwhile may wait for its thread, or be in that
 * thread's hands. */
static void client_give_up(struct client *c)
{
    client_timers_stop(c);
    progress_stop(c);
    free_client(c, false);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* The reply is the job's name and its job info; a bare status is a refusal. */
static void read_job_info(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_job_info m;
    struct space *s;

    if (pmsg_read_job_info(r, op->server->release, &m) != PTYPE_FINE) {
        punpack_init(r, slice_mem(op->reply.bytes, op->reply.len), op->server->as);
        op->status = punpack_status(r);
        if (op->status == PMIX_SUCCESS)
            op->status = PMIX_ERR_UNPACK_FAILURE;
        return;
    }
    if (c->kind == CLIENT_STARTED && !slice_is(m.nspace, c->me.nspace)) {
        op->status = PMIX_ERR_INVALID_OPERATION;
        return;
    }
    s = cache_make_space(&c->cache, c->me.nspace);
    op->status = s ? space_take_info(s, m.values, op->reply.bytes, op->server->as) : PMIX_ERR_NOMEM;
    if (s)
        op->reply.bytes = NULL;
}

static const struct op_kind job_info_kind = { .read = read_job_info, .bare = true };

static pmix_status_t ask_job_info(struct client *c, struct server_link *s)
{
    struct server_link *before = c->server;
    struct message m;
    struct op op;
    pmix_status_t rc;

    c->server = s;
    rc = message_begin(c, &m, CMD_REQ);
    op_init(&op, &job_info_kind);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    op_clear(&op);
    c->server = before;
    return rc;
}

/* Job info that our own server has stored once for all processes. */
static bool read_job_store(struct client *c)
{
    struct space *s = NULL;
    struct slice given;

    if (seg_get(&c->store.view, PMIX_RANK_WILDCARD, SLICE(OURS_JOB_INFO), &given))
        s = cache_make_space(&c->cache, c->me.nspace);
    if (!s || space_take_info(s, given, NULL, ptype_flavour(SLICE("v41"))) != PMIX_SUCCESS)
        return false;
    s->cards = &c->store.view;
    c->name_size = strlen(c->me.nspace) + 1;
    s->me = c->me.rank;
    return true;
}

static int attach(struct client *c, int fd)
{
    return c->kept ? attach_store_again(fd, c->kept, &c->store) : attach_store(fd, &c->store);
}

static pmix_status_t status_of(int rc)
{
    switch (rc) {
    case 0: return PMIX_SUCCESS;
    case -ENOMEM: return PMIX_ERR_NOMEM;
    case -EINVAL: return PMIX_ERR_BAD_PARAM;
    case -EACCES: return PMIX_ERR_INVALID_CRED;
    default: return PMIX_ERR_UNREACH;
    }
}

static pmix_status_t greet(struct client *c, struct server_link *s, const struct client_way *way,
                           const struct credential *cred, struct errmsg *err)
{
    struct hello h = { .flag = way->flag,
                       .security = cred->module,
                       .credential = slice_mem(cred->bytes, cred->len),
                       .nspace = c->me.nspace,
                       .rank = c->me.rank,
                       .encoding = way->as->name,
                       .server = way->version,
                       .infos = way->infos };
    struct welcome w = { .tool = way->flag != HELLO_CLIENT,
                         .unnamed = way->flag == HELLO_TOOL_UNNAMED ||
                                    way->flag == HELLO_LAUNCHER_UNNAMED };
    int passed = -1, rc = conn_greet(&s->conn, &h, &w, &passed, err);

    if (passed >= 0 && (rc != 0 || c->store.base))
        close(passed);
    else if (passed >= 0) /* a store that cannot be mapped is replaced by messages */
        s->quiet = attach(c, passed) == 0;
    if (rc == 0 && w.unnamed)
        PMIx_Load_procid(&c->me, w.nspace, w.rank);
    if (rc == 0 && w.tool)
        PMIx_Load_procid(&s->name, w.server, w.server_rank);
    return rc == CONN_REFUSED && w.status < 0 ? w.status : status_of(rc);
}

/* A launcher of ours is reached without its port, where it has a control socket. */
static int dial(struct conn *c, const struct pmix_uri *uri, const struct client_tcp *tcp,
                struct errmsg *err)
{
    int fd = launcher_dial(uri->nspace), rc;

    if (fd < 0) {
        rc = client_tcp_check(tcp, &uri->address, err);
        return rc ? rc : conn_dial(c, uri, err);
    }
    conn_take(c, fd);
    return 0;
}

/* All steps that may block, without the lock. */
static pmix_status_t reach(struct client *c, struct server_link *s, const struct client_way *way,
                           struct errmsg *err)
{
    struct credential cred = { NULL };
    struct pmix_uri uri;
    pmix_status_t status;
    int rc = 0;

    if (way->fd < 0) {
        rc = pmix_uri_read(way->uri, &uri, err);
        if (rc == 0) {
            memcpy(s->name.nspace, uri.nspace.ptr, uri.nspace.len);
            s->name.rank = uri.rank;
            rc = dial(&s->conn, &uri, &way->tcp, err);
        }
    } else if (way->own) {
        conn_take(&s->conn, way->fd);
    } else {
        rc = conn_adopt(&s->conn, way->fd);
    }
    if (rc == 0)
        rc = credential_make(way->security, way->version, &cred, err);
    status = rc == 0 ? greet(c, s, way, &cred, err) : status_of(rc);
    credential_free(&cred);
    return status;
}

pmix_status_t client_connect(struct client *c, const struct client_way *way,
                             struct server_link **s_p, struct errmsg *err)
{
    struct server_link *s = malloc(sizeof *s);
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_NOMEM;
    memset(s, 0, offsetof(struct server_link, conn));
    conn_reset(&s->conn);
    s->as = way->as;
    s->release = pmsg_release(way->version);
    s->next_tag = TAG_FIRST - 1;
    s->uri = way->uri ? strdup(way->uri) : NULL;
    list_init(&s->link);
    client_unlock(c);
    rc = reach(c, s, way, err);
    client_lock(c);
    s->asks = way->flag == HELLO_SCHEDULER;
    if (rc == PMIX_SUCCESS && s->asks) /* requests come at any time */
        rc = progress_need(c);
    if (rc == PMIX_SUCCESS) {
        list_append(&c->servers, &s->link);
        rc = read_job_store(c) ? PMIX_SUCCESS : ask_job_info(c, s);
        if (rc != PMIX_SUCCESS)
            errmsg_set(err, 0, "the PMIx server (%s) does not answer about job %s: %s",
                       way->version, c->me.nspace, PMIx_Error_string(rc));
    }
    if (rc != PMIX_SUCCESS) {
        free_server(s, false);
        return rc;
    }
    if (!c->server)
        c->server = s;
    *s_p = s;
    return PMIX_SUCCESS;
}

/* ---- alone ----------------------------------------------------------------------------------- */

static pmix_status_t know(struct space *s, uint32_t rank, const char *key, const void *data,
                          pmix_data_type_t type)
{
    pmix_value_t v;
    pmix_status_t rc = PMIx_Value_load(&v, data, type);

    return rc == PMIX_SUCCESS ? space_put(s, rank, slice_str(key), &v, NULL) : rc;
}

/* The job info of a process that was started by hand. */
static pmix_status_t know_singleton(struct client *c)
{
    static const char *const ones[] = { PMIX_JOB_SIZE,     PMIX_UNIV_SIZE, PMIX_LOCAL_SIZE,
                                        PMIX_MAX_PROCS,    PMIX_NUM_NODES, PMIX_NODE_SIZE,
                                        PMIX_JOB_NUM_APPS, PMIX_APP_SIZE };
    struct space *s = cache_make_space(&c->cache, c->me.nspace);
    const uint32_t one = 1, none = 0;
    const uint16_t first = 0;
    pmix_status_t rc = s ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    for (size_t i = 0; i < sizeof ones / sizeof *ones && rc == PMIX_SUCCESS; i++)
        rc = know(s, PMIX_RANK_WILDCARD, ones[i], &one, PMIX_UINT32);
    if (rc == PMIX_SUCCESS)
        rc = know(s, PMIX_RANK_WILDCARD, PMIX_NODE_LIST, c->hostname, PMIX_STRING);
    if (rc == PMIX_SUCCESS)
        rc = know(s, PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, "0", PMIX_STRING);
    if (rc == PMIX_SUCCESS)
        rc = know(s, 0, PMIX_HOSTNAME, c->hostname, PMIX_STRING);
    if (rc == PMIX_SUCCESS)
        rc = know(s, 0, PMIX_LOCAL_RANK, &first, PMIX_UINT16);
    if (rc == PMIX_SUCCESS)
        rc = know(s, 0, PMIX_NODE_RANK, &first, PMIX_UINT16);
    if (rc == PMIX_SUCCESS)
        rc = know(s, 0, PMIX_APPNUM, &none, PMIX_UINT32);
    return rc == PMIX_SUCCESS ? know(s, 0, PMIX_NODEID, &none, PMIX_UINT32) : rc;
}

static pmix_status_t start_singleton(struct client *c, const struct pmix_env *env)
{
    pmix_status_t rc;

    c->kind = CLIENT_SINGLETON;
    if (env->nspace)
        PMIx_Load_procid(&c->me, env->nspace, env->rank);
    else
        snprintf(c->me.nspace, sizeof c->me.nspace, "singleton.%.200s.%ld", c->hostname,
                 (long)getpid());
    rc = know_singleton(c);
    return rc == PMIX_SUCCESS ? PMIX_ERR_UNREACH : rc;
}

/* ---- starting and ending --------------------------------------------------------------------- */

static char *hostname_of(const struct pmix_env *env)
{
    char name[256] = "localhost";

    if (env->hostname)
        return strdup(env->hostname);
    gethostname(name, sizeof name - 1);
    return strdup(name);
}

/* Sends "I can read your store"; other servers ignore this info. */
static void ask_for_store(struct buf *out, const struct ptype_flavour *as)
{
    pmix_info_t info = { .value = { .type = PMIX_UINT32, .data.uint32 = OURS_STORE_FORM } };
    struct ppack w;

    PMIx_Load_key(info.key, OURS_STORE);
    ppack_init(&w, out, as);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = PMSG_LENT(&info, 1) });
}

pmix_status_t client_connect_ours(struct client *c, struct client_way way, struct errmsg *err)
{
    struct buf words = BUF_NULL(PMIX_MAX_KEYLEN);
    struct server_link *s;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    ask_for_store(&words, way.as);
    way.infos = buf_slice(&words);
    if (buf_ok(&words))
        rc = client_connect(c, &way, &s, err);
    buf_free(&words);
    return rc;
}

static pmix_status_t start_member(struct client *c, const struct pmix_env *env,
                                  const struct client_tcp *tcp, struct errmsg *err)
{
    struct client_way way = { .uri = env->uri,
                              .flag = HELLO_CLIENT,
                              .as = env->as,
                              .version = env->version,
                              .security = env->security,
                              .tcp = *tcp };
    struct server_link *s;

    c->kind = CLIENT_STARTED;
    PMIx_Load_procid(&c->me, env->nspace, env->rank);
    way.fd = env->wireup_fd;
    if (way.fd >= 0 && client_connect_ours(c, way, err) == PMIX_SUCCESS)
        return PMIX_SUCCESS; /* unless another process of our rank has the connection */
    way.fd = -1;
    return client_connect(c, &way, &s, err);
}

pmix_status_t client_start(const struct pmix_env *env, const struct client_options *options,
                           struct lock *gate, struct client **c_p, struct errmsg *err)
{
    struct client *c = client_new(gate, options);
    pmix_status_t rc = PMIX_ERR_NOMEM;

    *c_p = NULL;
    errmsg_set(err, 0, "out of memory");
    if (!c)
        return rc;
    c->hostname = hostname_of(env);
    if (c->hostname)
        rc = env->nspace && env->uri ? start_member(c, env, &options->tcp, err)
                                     : start_singleton(c, env);
    if (rc != PMIX_SUCCESS && !(rc == PMIX_ERR_UNREACH && c->kind == CLIENT_SINGLETON)) {
        client_give_up(c);
        return rc;
    }
    *c_p = c;
    return rc;
}

pmix_status_t client_start_tool(const struct client_way *way, const pmix_proc_t *name,
                                const struct client_options *options, struct lock *gate,
                                struct client **c_p, struct errmsg *err)
{
    struct client *c = client_new(gate, options);
    pmix_status_t rc = PMIX_ERR_NOMEM;
    struct server_link *s;

    *c_p = NULL;
    errmsg_set(err, 0, "out of memory");
    if (!c)
        return rc;
    c->kind = CLIENT_TOOL;
    c->me = *name;
    c->hostname = hostname_of(&(const struct pmix_env){ .nspace = NULL });
    if (c->hostname)
        rc = way ? client_connect(c, way, &s, err) : PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        client_give_up(c);
        return rc;
    }
    *c_p = c;
    return PMIX_SUCCESS;
}

/* The next user of the connection must find nothing in it that was meant for us. */
static bool nothing_comes(const struct client *c)
{
    const struct server_link *s = c->server;

    return s->quiet && !s->open && !s->unsure && list_empty(&c->sent);
}

static void send_finalize(struct client *c)
{
    uint64_t deadline_ns = clock_now_ns() + LIMIT_PMIX_FINALIZE_MS * NS_PER_MS;
    struct message m;
    struct op op;

    if (message_begin(c, &m, CMD_FINALIZE) != PMIX_SUCCESS)
        return;
    if (nothing_comes(c)) {
        message_send_alone(&m, OURS_TAG_QUIET);
        if (!buf_len(&m.server->conn.out) || message_begin(c, &m, CMD_FINALIZE) != PMIX_SUCCESS)
            return;
    }
    op_init(&op, &(const struct op_kind){ .read = NULL });
    if (message_send(&m, &op) == PMIX_SUCCESS)
        op_wait_until(c, &op, deadline_ns);
    op_clear(&op);
}

void client_stop(struct client *c)
{
    c->ending = true;
    client_stdin_stop(c);
    send_finalize(c);
    client_timers_stop(c);
    progress_stop(c);
    free_client(c, false);
}

void client_abandon(struct client *c)
{
    client_stdin_abandon(&c->input);
    client_timers_abandon(&c->timers);
    progress_abandon(&c->progress);
    free_client(c, true);
}
