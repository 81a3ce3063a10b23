/* server_instance.c - see server_instance.h.  Reading order: entering; forks; init and finalize;
 * tools as servers. */
#include "lib/pmix/server/server_instance.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_init.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_module.h"
#include "lib/pmix/server/server_options.h"
#include "lib/pmix/server/server_own.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "pmix_tool.h"

static struct {
    pthread_mutex_t lock; /* of this struct; taken before the server's */
    pthread_cond_t moved;
    bool moving; /* a server starts or ends, without the lock: the host is called meanwhile */
    struct pserver *s;
    unsigned inits;
    int own_fd;   /* the host's end of its own connection */
    pid_t pid;    /* the process that made the server */
    bool watched; /* the fork handlers are registered */
    bool of_tool; /* a tool has made it: PMIx_tool_set_server_module */
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .own_fd = -1 };

/* ---- entering -------------------------------------------------------------------------------- */

/* A callback of the host's, called when all that it reports is done. */
struct dmodex_call {
    struct scall call;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    pmix_status_t status;
};

static void run_dmodex(struct scall *c)
{
    struct dmodex_call *t = LIST_OF(c, struct dmodex_call, call);

    t->cbfunc(t->status, t->cbdata);
    free(t);
}

struct pserver *instance_enter(void)
{
    struct pserver *s;

    pthread_mutex_lock(&host.lock);
    s = host.s;
    if (s)
        pserver_lock(s);
    pthread_mutex_unlock(&host.lock);
    return s;
}

pmix_status_t instance_leave(struct pserver *s, pmix_status_t rc, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    struct dmodex_call *t = NULL;

    if (rc == PMIX_SUCCESS && cbfunc) {
        t = calloc(1, sizeof *t);
        if (!t)
            rc = PMIX_ERR_NOMEM;
    }
    if (t) {
        *t = (struct dmodex_call){ .call.run = run_dmodex, .cbfunc = cbfunc, .cbdata = cbdata };
        pserver_add_call(s, &t->call);
    }
    pserver_unlock(s);
    return rc == PMIX_SUCCESS && !cbfunc ? PMIX_OPERATION_SUCCEEDED : rc;
}

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

/* ---- the host's listener --------------------------------------------------------------------- */

static void on_connection(int fd, void *cbdata)
{
    struct pserver *s = instance_enter();

    (void)cbdata;
    if (s) {
        sconn_called(s, fd);
        pserver_unlock(s);
    } else {
        close(fd);
    }
}

struct listen_call {
    struct scall call;
    pmix_server_listener_fn_t listener;
    int fd;
};

static void run_listener(struct scall *c)
{
    struct listen_call *k = LIST_OF(c, struct listen_call, call);

    k->listener(k->fd, on_connection, NULL);
    free(k);
}

/* The host may accept connections at our port.  We go on doing so: OpenPMIx never calls this
 * function, and some hosts return success from it without more. */
static void offer_listener(struct pserver *s)
{
    struct listen_call *k = s->module.listener ? malloc(sizeof *k) : NULL;

    if (!k)
        return;
    pserver_lock(s);
    *k = (struct listen_call){ .call.run = run_listener,
                               .listener = s->module.listener,
                               .fd = s->conns.acceptor.fd };
    pserver_add_call(s, &k->call);
    pserver_unlock(s);
}

static pmix_status_t expect_singleton(struct pserver *s, const pmix_proc_t *p)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (!p->nspace[0])
        return rc;
    pserver_lock(s);
    rc = nspace_singleton(s, p);
    pserver_unlock(s);
    return rc;
}

/* ---- begin ----------------------------------------------------------------------------------- */

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
    rc = options_read(infos, ninfos, &o, &size);
    if (rc != PMIX_SUCCESS)
        return rc;
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
    rc = me ? PMIX_SUCCESS : own_join(s, infos, ninfos, &host.own_fd);
    if (rc == PMIX_SUCCESS)
        rc = expect_singleton(s, &o.singleton);
    if (rc == PMIX_SUCCESS)
        rc = pserver_settle_progress(s);
    if (rc == PMIX_SUCCESS)
        offer_listener(s);
    else
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
    pmix_status_t rc = api_check(PMIX_CALL_SERVER_INIT, info, ninfo);

    if (rc != PMIX_SUCCESS)
        return rc;
    pthread_mutex_lock(&host.lock);
    if (host.pid && host.pid != getpid()) { /* of the process that forked us */
        host.s = NULL;
        host.pid = 0;
        host.inits = 0;
        host.moving = false;
    }
    begin_move();
    if (!host.s) {
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
        host.inits = 0;
    }
    pthread_mutex_unlock(&host.lock);
    return rc;
}

pmix_server_alloc_fn_t instance_allocate(void)
{
    struct pserver *s = instance_enter();
    pmix_server_alloc_fn_t fn = s ? s->module.allocate : NULL;

    if (s)
        pserver_unlock(s);
    return fn;
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
