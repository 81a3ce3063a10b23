/* server_api.c - the public functions of a server, and the one server of this process.
 *
 * The host is also a client of its own server, through a pair of sockets: so it can get, publish,
 * query and receive events with the functions that every process has.  Only its own events take a
 * shorter path, since it may pass on events of other processes.
 *
 * After a fork the child has a copy without a thread: it can still call PMIx_server_setup_fork,
 * which touches no connection (Slurm's tasks do that themselves). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/input.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_init.h"
#include "lib/pmix/server/server.h"
#include "lib/pmix/server/server_collective.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_env.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_module.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "lib/pmix/values/value.h"
#include "pmix_tool.h"
#include "server/pmix_event.h"
#include "server/pmix_info.h"
#include "wireup_server.h"

static struct {
    pthread_mutex_t lock; /* of this struct; taken before the server's */
    pthread_cond_t moved;
    bool moving; /* a server starts or ends, without the lock: the host is called meanwhile */
    struct pserver *s;
    unsigned inits;
    int own_fd;        /* the host's end of its own connection */
    pid_t pid;         /* the process that made the server */
    bool watched;      /* the fork handlers are registered */
    bool of_tool;      /* a tool has made it: PMIx_tool_set_server_module */
    struct list known; /* struct registered: PMIx_Register_attributes */
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .own_fd = -1 };

/* ---- forks ----------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&host.lock);
    if (host.s)
        pthread_mutex_lock(&host.s->lock);
}

static void after_fork(void)
{
    if (host.s)
        pthread_mutex_unlock(&host.s->lock);
    pthread_mutex_unlock(&host.lock);
}

/* ---- init and finalize ----------------------------------------------------------------------- */

static bool flag_of(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static const char *text_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

static void read_option(const pmix_info_t *i, struct pserver_options *o, size_t *size_p)
{
    const char *key = i->key;

    if (PMIx_Check_key(key, PMIX_SERVER_NSPACE))
        o->nspace = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_RANK))
        PMIx_Value_get_number(&i->value, &o->rank, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_HOSTNAME) || PMIx_Check_key(key, PMIX_SERVER_HOSTNAME))
        o->hostname = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_TMPDIR))
        o->tmpdir = text_of(i);
    else if (PMIx_Check_key(key, PMIX_SYSTEM_TMPDIR))
        o->system_tmpdir = text_of(i);
    else if (PMIx_Check_key(key, PMIX_USERID))
        PMIx_Value_get_number(&i->value, &o->uid, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_GRPID))
        PMIx_Value_get_number(&i->value, &o->gid, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_SERVER_TOOL_SUPPORT))
        o->serves_tools = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SYSTEM_SUPPORT))
        o->is_system = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_SERVER_SESSION_SUPPORT))
        o->is_session = flag_of(i);
    else if (PMIx_Check_key(key, PMIX_TCP_REPORT_URI))
        o->report = text_of(i);
    else if (PMIx_Check_key(key, PMIX_LAUNCHER_RENDEZVOUS_FILE))
        o->launcher_file = text_of(i);
    else if (PMIx_Check_key(key, WIREUP_MODULE_SIZE) && i->value.type == PMIX_SIZE)
        *size_p = i->value.data.size;
    else if (PMIx_Check_key(key, PMIX_EXTERNAL_PROGRESS) && flag_of(i))
        o->progress = PSERVER_PROGRAM;
    else if (PMIx_Check_key(key, PMIX_EVENT_BASE) && i->value.type == PMIX_POINTER &&
             i->value.data.ptr)
        o->event_base = i->value.data.ptr;
}

static void read_options(const pmix_info_t *infos, size_t ninfos, struct pserver_options *o,
                         size_t *size_p)
{
    const char *rank = getenv("PMIX_SERVER_RANK");

    *o = (struct pserver_options){ .uid = NOT_TOLD,
                                   .gid = NOT_TOLD,
                                   .nspace = getenv("PMIX_SERVER_NAMESPACE"),
                                   .rank = rank ? (uint32_t)strtoul(rank, NULL, 10) : 0 };
    for (size_t i = 0; infos && i < ninfos; i++)
        read_option(&infos[i], o, size_p);
    if (o->event_base)
        o->progress = PSERVER_BASE;
}

static struct pserver *enter(void);

/* An event of the host's: notifies the subscribers here; its own handlers have been called. */
static pmix_status_t tell_others(pmix_status_t status, const pmix_proc_t *source,
                                 pmix_data_range_t range, const pmix_info_t *infos, size_t ninfos)
{
    struct input *in = INPUT(event, .job = JOB_NO_RANK, .code = status, .range = range,
                             .flags = pmix_event_flags(infos, ninfos));
    struct op_event *e = &in->u.event;
    const struct peer *own;
    struct pserver *s;
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct ppack w;

    ppack_init(&w, &bytes, &ptype_own);
    ppack_size(&w, ninfos);
    if (ninfos)
        ppack(&w, infos, (int32_t)ninfos, PMIX_INFO);
    if (!ppack_ok(&w)) {
        buf_free(&bytes);
        return PMIX_ERR_PACK_FAILURE;
    }
    e->infos = buf_slice(&bytes);
    s = enter();
    if (s) {
        own = sconn_own(s);
        e->nspace = slice_str(source ? source->nspace : s->me.nspace);
        e->rank = source ? source->rank : s->me.rank;
        e->but = own ? own->id : 0;
        server_deliver(&s->server, in);
        pserver_unlock(s);
    }
    buf_free(&bytes);
    return s ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

static void turn(void *arg, bool wait)
{
    pserver_turn(arg, wait);
}

static int turn_fd(void *arg)
{
    return pserver_turn_fd(arg);
}

/* The host's own connection. */
static pmix_status_t join_own(struct pserver *s, const pmix_info_t *infos, size_t ninfos)
{
    int ends[2];
    bool good;
    pmix_status_t rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    pserver_lock(s);
    good =
        nspace_job(s, s->own) && peer_conn_open(&s->conns, ends[0], s->own->job, s->me.rank, true);
    pserver_unlock(s);
    if (!good) {
        close(ends[0]);
        close(ends[1]);
        return PMIX_ERR_NOMEM;
    }
    fcntl(ends[1], F_SETFL, 0);
    fcntl(ends[1], F_SETFD, 0); /* the client checks for another user of it */
    host.own_fd = ends[1];
    rc = init_host(&(struct client_seat){ .fd = ends[1],
                                          .uri = s->uri,
                                          .proc = s->me,
                                          .hostname = s->hostname,
                                          .tell_others = tell_others,
                                          .turn = turn,
                                          .turn_fd = turn_fd,
                                          .arg = s },
                   infos, ninfos);
    return rc;
}

/* From now on it cannot be found; a thread that has found it holds its lock. */
static struct pserver *take_server(void)
{
    struct pserver *s;

    pthread_mutex_lock(&host.lock);
    s = host.s;
    host.s = NULL;
    pthread_mutex_unlock(&host.lock);
    return s;
}

static void end_server(void)
{
    pserver_free(take_server());
    if (host.own_fd >= 0)
        close(host.own_fd);
    host.own_fd = -1;
}

static void forget_known(void);

/* me: the tool that becomes a server and is a client already; NULL: the host becomes its own
 * client. */
static pmix_status_t begin_server(const pmix_server_module_t *module, const pmix_info_t *infos,
                                  size_t ninfos, const void *caller, const pmix_proc_t *me)
{
    struct pserver_options o;
    struct errmsg err = { "" };
    struct pserver *s;
    size_t size = 0, members;
    pmix_status_t rc;

    if (!host.watched && pthread_atfork(before_fork, after_fork, after_fork) != 0)
        return PMIX_ERR_NOMEM;
    host.watched = true;
    read_options(infos, ninfos, &o, &size);
    if (me) {
        o.nspace = me->nspace;
        o.rank = me->rank;
    }
    members = size ? size / sizeof(void (*)(void)) : module ? smodule_members(module, caller) : 0;
    rc = pserver_new(module, members, &o, &s, &err);
    if (rc != PMIX_SUCCESS) {
        api_print_error(&err);
        return rc;
    }
    pthread_mutex_lock(&host.lock);
    host.s = s;
    host.pid = getpid();
    pthread_mutex_unlock(&host.lock);
    rc = me ? PMIX_SUCCESS : join_own(s, infos, ninfos);
    if (rc == PMIX_SUCCESS)
        rc = pserver_settle_progress(s);
    if (rc != PMIX_SUCCESS)
        end_server();
    return rc;
}

static void begin_move(void)
{
    while (host.moving)
        pthread_cond_wait(&host.moved, &host.lock);
}

static void end_move(void)
{
    pthread_mutex_lock(&host.lock);
    host.moving = false;
    pthread_cond_broadcast(&host.moved);
}

pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&host.lock);
    if (host.pid && host.pid != getpid()) { /* of the process that forked us */
        host.s = NULL;
        host.pid = 0;
        host.inits = 0;
        host.moving = false;
    }
    begin_move();
    if (!host.s) {
        if (!host.known.next)
            list_init(&host.known);
        host.moving = true;
        pthread_mutex_unlock(&host.lock);
        rc = begin_server(module, info, ninfo, __builtin_return_address(0), NULL);
        end_move();
    }
    if (rc == PMIX_SUCCESS)
        host.inits++;
    pthread_mutex_unlock(&host.lock);
    return rc;
}

pmix_status_t PMIx_server_finalize(void)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&host.lock);
    if (host.s && host.pid == getpid() && pserver_inside(host.s)) {
        /* it would wait for the call that calls it */
        rc = host.inits > 1 ? (host.inits--, PMIX_SUCCESS) : PMIX_ERR_WOULD_BLOCK;
        pthread_mutex_unlock(&host.lock);
        return rc;
    }
    begin_move();
    if (!host.s || host.pid != getpid()) {
        rc = PMIX_ERR_INIT;
    } else if (host.inits > 1) {
        host.inits--;
    } else {
        host.moving = true;
        pthread_mutex_unlock(&host.lock);
        init_host_end();
        end_server();
        end_move();
        forget_known();
        host.inits = 0;
    }
    pthread_mutex_unlock(&host.lock);
    return rc;
}

/* ---- tools as servers ------------------------------------------------------------------------ */

/* An existing server takes the new functions; a tool without one becomes one. */
static pmix_status_t take_module(const pmix_server_module_t *module, const pmix_proc_t *me,
                                 const void *caller)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (host.s) {
        pserver_lock(host.s);
        smodule_take(host.s, module, smodule_members(module, caller));
        pserver_unlock(host.s);
        return PMIX_SUCCESS;
    }
    if (!host.known.next)
        list_init(&host.known);
    host.moving = true;
    pthread_mutex_unlock(&host.lock);
    rc = begin_server(module, NULL, 0, caller, me);
    end_move();
    host.inits += rc == PMIX_SUCCESS;
    host.of_tool = rc == PMIX_SUCCESS;
    return rc;
}

pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module)
{
    struct client *c = api_begin();
    pmix_proc_t me;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    me = c->me;
    api_end(c, PMIX_SUCCESS);
    if (!module)
        return PMIX_ERR_BAD_PARAM;
    pthread_mutex_lock(&host.lock);
    begin_move();
    rc = take_module(module, &me, __builtin_return_address(0));
    pthread_mutex_unlock(&host.lock);
    return rc;
}

/* A tool with a server ends: its server ends with it. */
static void end_of_tool(void)
{
    pthread_mutex_lock(&host.lock);
    begin_move();
    if (host.of_tool && host.s && host.pid == getpid()) {
        host.moving = true;
        pthread_mutex_unlock(&host.lock);
        end_server();
        end_move();
        forget_known();
        host.inits = 0;
    }
    host.of_tool = false;
    pthread_mutex_unlock(&host.lock);
}

pmix_status_t PMIx_tool_finalize(void)
{
    pmix_status_t rc = PMIx_Finalize(NULL, 0);

    if (!PMIx_Initialized())
        end_of_tool();
    return rc;
}

/* ---- common parts ---------------------------------------------------------------------------- */

/* A callback of the host's, called when all that it reports is done. */
struct told_call {
    struct scall call;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    pmix_status_t status;
};

static void run_told(struct scall *c)
{
    struct told_call *t = LIST_OF(c, struct told_call, call);

    t->cbfunc(t->status, t->cbdata);
    free(t);
}

/* Locks the server; NULL: there is none. */
static struct pserver *enter(void)
{
    struct pserver *s;

    pthread_mutex_lock(&host.lock);
    s = host.s;
    if (s)
        pserver_lock(s);
    pthread_mutex_unlock(&host.lock);
    return s;
}

/* Unlocks it; the callback, if any, is called by the thread that turns the loop. */
static pmix_status_t leave(struct pserver *s, pmix_status_t rc, pmix_op_cbfunc_t cbfunc,
                           void *cbdata)
{
    struct told_call *t = NULL;

    if (rc == PMIX_SUCCESS && cbfunc) {
        t = calloc(1, sizeof *t);
        if (!t)
            rc = PMIX_ERR_NOMEM;
    }
    if (t) {
        *t = (struct told_call){ .call.run = run_told, .cbfunc = cbfunc, .cbdata = cbdata };
        pserver_add_call(s, &t->call);
    }
    pserver_unlock(s);
    return rc == PMIX_SUCCESS && !cbfunc ? PMIX_OPERATION_SUCCEEDED : rc;
}

static pmix_status_t done_at_once(pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = enter();

    return s ? leave(s, PMIX_SUCCESS, cbfunc, cbdata) : PMIX_ERR_INIT;
}

/* ---- jobs and processes ---------------------------------------------------------------------- */

static bool has_name(const char *nspace)
{
    return nspace && nspace[0];
}

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                          pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    struct pserver *s = enter();
    struct nspace *n;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (!s)
        return PMIX_ERR_INIT;
    if (!has_name(nspace) || (!info && ninfo))
        return leave(s, PMIX_ERR_BAD_PARAM, cbfunc, cbdata);
    n = nspace_make(s, nspace);
    if (n) {
        if (!n->is_registered || nlocalprocs >= 0)
            n->nlocal = nlocalprocs;
        rc = nspace_tell(s, n, info, ninfo);
    }
    return leave(s, rc, cbfunc, cbdata);
}

void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    struct pserver *s = enter();
    struct nspace *n = s && has_name(nspace) ? nspace_find(s, nspace) : NULL;

    if (!s) {
        if (cbfunc)
            cbfunc(PMIX_ERR_INIT, cbdata);
        return;
    }
    if (n && !n->is_own)
        pserver_drop_space(s, n);
    leave(s, PMIX_SUCCESS, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    struct pserver *s = enter();
    struct nspace *n;
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (!s)
        return PMIX_ERR_INIT;
    if (proc && has_name(proc->nspace)) {
        n = nspace_make(s, proc->nspace);
        rc = n ? nspace_expect(s, n, proc->rank, uid, gid, server_object) : PMIX_ERR_NOMEM;
    }
    return leave(s, rc, cbfunc, cbdata);
}

void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = enter();
    struct nspace *n = s && proc ? nspace_find(s, proc->nspace) : NULL;

    if (!s) {
        if (cbfunc)
            cbfunc(PMIX_ERR_INIT, cbdata);
        return;
    }
    if (n && !n->is_own && n->job && nspace_local(n, proc->rank))
        sconn_close_of(s, n->job, proc->rank);
    if (n && !n->is_own)
        nspace_forget(s, n, proc->rank);
    leave(s, PMIX_SUCCESS, cbfunc, cbdata);
}

/* Also in a forked child: nothing here touches a connection. */
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    struct pserver *s = enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = proc && env ? senv_fill(s, proc, env) : PMIX_ERR_BAD_PARAM;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

pmix_status_t WIREUP_server_connect_child(const pmix_proc_t *proc, int child_fd, char ***env,
                                          int *fd_p)
{
    struct pserver *s = enter();
    struct nspace *n;
    struct local *l;
    struct job *j;
    char text[24];
    int ends[2];

    if (!s)
        return PMIX_ERR_INIT;
    n = proc && env && fd_p ? nspace_find(s, proc->nspace) : NULL;
    l = n ? nspace_local(n, proc->rank) : NULL;
    j = l ? nspace_job(s, n) : NULL;
    if (!j || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        pserver_unlock(s);
        return j ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_NOT_FOUND;
    }
    if (!sconn_new_for(s, ends[0], l)) {
        close(ends[0]);
        close(ends[1]);
        pserver_unlock(s);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *fd_p = ends[1];
    snprintf(text, sizeof text, "%d", child_fd);
    PMIx_Setenv("PMI_FD", text, true, env);
    PMIx_Setenv("WIREUP_FD", text, true, env);
    snprintf(text, sizeof text, "%u", proc->rank);
    PMIx_Setenv("PMI_RANK", text, true, env);
    snprintf(text, sizeof text, "%u", j->plan.nprocs);
    PMIx_Setenv("PMI_SIZE", text, true, env);
    pserver_unlock(s);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc, pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata)
{
    struct pserver *s = enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = proc && cbfunc ? meet_request(s, proc, cbfunc, cbdata) : PMIX_ERR_BAD_PARAM;
    pserver_unlock(s);
    return rc;
}

/* ---- before an application starts ------------------------------------------------------------ */

struct setup_call {
    struct scall call;
    pmix_setup_application_cbfunc_t cbfunc;
    void *cbdata;
};

static void nothing_to_release(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

static void run_setup(struct scall *c)
{
    struct setup_call *k = LIST_OF(c, struct setup_call, call);

    k->cbfunc(PMIX_SUCCESS, NULL, 0, k->cbdata, nothing_to_release, NULL);
    free(k);
}

/* Other nodes need nothing from us: each makes what it needs itself. */
pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace, pmix_info_t info[],
                                            size_t ninfo, pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct pserver *s = enter();
    struct setup_call *k;

    (void)ninfo;
    (void)info;
    if (!s)
        return PMIX_ERR_INIT;
    k = has_name(nspace) && cbfunc ? calloc(1, sizeof *k) : NULL;
    if (k) {
        *k = (struct setup_call){ .call.run = run_setup, .cbfunc = cbfunc, .cbdata = cbdata };
        pserver_add_call(s, &k->call);
    }
    pserver_unlock(s);
    if (!has_name(nspace) || !cbfunc)
        return PMIX_ERR_BAD_PARAM;
    return k ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace, pmix_info_t info[],
                                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)nspace;
    (void)info;
    (void)ninfo;
    return done_at_once(cbfunc, cbdata);
}

/* ---- resources, sets, inventory -------------------------------------------------------------- */

pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)info;
    (void)ninfo;
    return done_at_once(cbfunc, cbdata);
}

pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)info;
    (void)ninfo;
    return done_at_once(cbfunc, cbdata);
}

static pmix_status_t tell_of_set(pmix_status_t event, const char *name, const pmix_proc_t *members,
                                 size_t nmembers)
{
    pmix_data_array_t list = { .type = PMIX_PROC,
                               .size = nmembers,
                               .array = (void *)(uintptr_t)members };
    pmix_info_t infos[2];
    size_t n = 1;
    pmix_status_t rc;

    PMIx_Info_load(&infos[0], PMIX_PSET_NAME, name, PMIX_STRING);
    if (members) {
        PMIx_Info_load(&infos[1], PMIX_PSET_MEMBERS, &list, PMIX_DATA_ARRAY);
        n = 2;
    }
    rc = PMIx_Notify_event(event, NULL, PMIX_RANGE_SESSION, infos, n, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        PMIx_Info_destruct(&infos[i]);
    return rc;
}

static int define_set(struct pserver *s, const char *name, const pmix_proc_t *members, size_t n)
{
    struct pset_member *list = calloc(n, sizeof *list);
    int rc;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        strncpy(list[i].nspace, members[i].nspace, sizeof list[i].nspace - 1);
        list[i].rank = members[i].rank;
    }
    rc = psets_define(&s->server.core.sets, name, list, n);
    free(list);
    return rc;
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members, size_t nmembers,
                                             const char *pset_name)
{
    struct pserver *s = enter();
    bool good = members && nmembers && pset_name && *pset_name;
    int rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = good ? define_set(s, pset_name, members, nmembers) : 0;
    pserver_unlock(s);
    if (!good)
        return PMIX_ERR_BAD_PARAM;
    return rc == 0 ? tell_of_set(PMIX_PROCESS_SET_DEFINE, pset_name, members, nmembers)
                   : PMIX_ERR_NOMEM;
}

pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    struct pserver *s = enter();
    bool was;

    if (!s)
        return PMIX_ERR_INIT;
    was = pset_name && psets_delete(&s->server.core.sets, pset_name);
    pserver_unlock(s);
    if (!pset_name)
        return PMIX_ERR_BAD_PARAM;
    return was ? tell_of_set(PMIX_PROCESS_SET_DELETE, pset_name, NULL, 0) : PMIX_ERR_NOT_FOUND;
}

struct infos_call {
    struct scall call;
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
};

static void run_infos(struct scall *c)
{
    struct infos_call *k = LIST_OF(c, struct infos_call, call);

    k->cbfunc(PMIX_SUCCESS, NULL, 0, k->cbdata, NULL, NULL);
    free(k);
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = enter();
    struct infos_call *k;

    (void)directives;
    (void)ndirs;
    if (!s)
        return PMIX_ERR_INIT;
    k = cbfunc ? calloc(1, sizeof *k) : NULL;
    if (k) {
        *k = (struct infos_call){ .call.run = run_infos, .cbfunc = cbfunc, .cbdata = cbdata };
        pserver_add_call(s, &k->call);
    }
    pserver_unlock(s);
    if (!cbfunc)
        return PMIX_ERR_BAD_PARAM;
    return k ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)info;
    (void)ninfo;
    (void)directives;
    (void)ndirs;
    return done_at_once(cbfunc, cbdata);
}

pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source, pmix_iof_channel_t channel,
                                      const pmix_byte_object_t *bo, const pmix_info_t info[],
                                      size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = enter();

    if (!s)
        return PMIX_ERR_INIT;
    if (!source || (!info && ninfo))
        return leave(s, PMIX_ERR_BAD_PARAM, cbfunc, cbdata);
    return leave(s, iof_deliver(s, source, channel, bo, info, ninfo), cbfunc, cbdata);
}

/* For another server. */
pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                           pmix_data_buffer_t *dbuf)
{
    struct pserver *s = enter();
    pmix_status_t rc = procs && nprocs && dbuf ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;

    if (!s)
        return PMIX_ERR_INIT;
    for (size_t i = 0; i < nprocs && rc == PMIX_SUCCESS; i++) {
        struct nspace *n = nspace_find(s, procs[i].nspace);
        struct job *j = n ? nspace_job(s, n) : NULL;
        pmix_byte_object_t bo;
        struct slice info = j ? pmix_job_info(j, &ptype_own, false) : SLICE_NULL;
        char *name = procs[i].nspace;
        bo = (pmix_byte_object_t){ (char *)(uintptr_t)info.ptr, info.len };
        rc = info.len ? PMIx_Data_pack(NULL, dbuf, &name, 1, PMIX_STRING) : PMIX_ERR_NOT_FOUND;
        if (rc == PMIX_SUCCESS)
            rc = PMIx_Data_pack(NULL, dbuf, &bo, 1, PMIX_BYTE_OBJECT);
    }
    pserver_unlock(s);
    return rc;
}

/* ---- what the host supports ------------------------------------------------------------------ */

struct registered {
    struct list link;
    char **attributes;
    char function[];
};

static void forget_known(void)
{
    LIST_EACH(l, &host.known)
    {
        struct registered *r = LIST_OF(l, struct registered, link);
        list_unlink(l);
        PMIx_Argv_free(r->attributes);
        free(r);
    }
}

pmix_status_t PMIx_Register_attributes(char *function, char *attrs[])
{
    struct pserver *s = enter();
    pmix_status_t rc = function && attrs ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    struct registered *r;

    if (!s)
        return PMIX_ERR_INIT;
    LIST_EACH(l, &host.known)
    {
        if (rc == PMIX_SUCCESS && !strcmp(LIST_OF(l, struct registered, link)->function, function))
            rc = PMIX_ERR_REPEAT_ATTR_REGISTRATION;
    }
    if (rc == PMIX_SUCCESS) {
        r = calloc(1, sizeof *r + strlen(function) + 1);
        rc = r ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
        if (r) {
            strcpy(r->function, function);
            r->attributes = PMIx_Argv_copy(attrs);
            list_append(&host.known, &r->link);
        }
    }
    pserver_unlock(s);
    return rc;
}
