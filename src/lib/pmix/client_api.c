/* client_api.c - see client_api.h: init, finalize, and the one client of this process.
 *
 * Init may be called repeatedly: each call counts, the last Finalize ends.  After a fork the child
 * has no part in the parent's client; it may call PMIx_Init and become a client of its own.
 */
#include "lib/pmix/client_api.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/common/launcher.h"

static struct {
    struct lock gate;
    struct client *client;
    struct client *inherited; /* of the process that forked us: to be freed silently */
    unsigned users;           /* threads inside calls */
    unsigned inits;           /* Init calls not yet matched by Finalize */
    bool moving;              /* a thread starts or ends the client */
    bool watched;             /* the fork handlers are registered */
    /* The mapped store of the previous client.  Unmapping it would flush the address
     * translations of every processor that the process has been on, mostly for a process that
     * ends anyway. */
    struct attachment kept;
} lib = { .gate = LOCK_INIT };

struct api_quick api_quick;

void api_quick_leave(void)
{
    if (atomic_fetch_sub(&api_quick.users, 1) != 1 || !atomic_load(&api_quick.awaited))
        return;
    lock_lock(&lib.gate);
    lock_tell(&lib.gate);
    lock_unlock(&lib.gate);
}

/* Locked: waits for look-ups without the lock to end and prevents new ones. */
static void end_quick(void)
{
    atomic_store(&api_quick.client, NULL);
    atomic_store(&api_quick.awaited, true);
    while (atomic_load(&api_quick.users))
        lock_wait(&lib.gate);
    atomic_store(&api_quick.awaited, false);
}

struct client *api_begin(void)
{
    lock_lock(&lib.gate);
    if (lib.client) {
        lib.users++;
        return lib.client;
    }
    lock_unlock(&lib.gate);
    return NULL;
}

pmix_status_t api_end(struct client *c, pmix_status_t rc)
{
    (void)c;
    if (--lib.users == 0 && lib.moving)
        lock_tell(&lib.gate);
    lock_unlock(&lib.gate);
    return rc;
}

pmix_status_t api_post(struct client *c, struct message *m, struct op *op, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        rc = op_post(m, op);
    else
        op_free(op);
    return api_end(c, rc);
}

/* ---- calls whose reply is a status ----------------------------------------------------------- */

static void deliver_status(struct op *op)
{
    if (op->callback.op)
        op->callback.op(op->status, op->cbdata);
}

const struct op_kind op_status_only = { .deliver = deliver_status };

pmix_status_t api_status_call(struct message *m)
{
    struct op op;
    pmix_status_t rc;

    op_init(&op, &op_status_only);
    rc = op_call(m, &op);
    op_clear(&op);
    return rc;
}

pmix_status_t api_status_post(struct message *m, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct op *op = op_new(&op_status_only, cbdata);

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return PMIX_ERR_NOMEM;
    }
    op->callback.op = cbfunc;
    return op_post(m, op);
}

/* ---- starting and ending --------------------------------------------------------------------- */

/* Brings all state into order for the child. */
static void before_fork(void)
{
    lock_lock(&lib.gate);
}

static void after_fork(void)
{
    lock_unlock(&lib.gate);
}

/* No other thread exists here; replies they waited for will not come. */
static void in_child(void)
{
    lock_reset(&lib.gate);
    lib.users = 0;
    lib.inits = 0;
    lib.moving = false;
    atomic_store(&api_quick.client, NULL);
    atomic_store(&api_quick.users, 0);
    atomic_store(&api_quick.awaited, false);
    if (lib.client)
        lib.inherited = lib.client;
    lib.client = NULL;
}

static void await_move(void)
{
    while (lib.moving)
        lock_wait(&lib.gate);
}

static void end_move(void)
{
    lib.moving = false;
    lock_tell(&lib.gate);
}

static bool flag_of(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static void read_options(const pmix_info_t *info, size_t ninfo, struct client_options *o)
{
    *o = (struct client_options){ .progress = PROGRESS_THREAD };
    for (size_t i = 0; info && i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_EXTERNAL_PROGRESS) && flag_of(&info[i])) {
            o->progress = PROGRESS_PROGRAM;
        } else if (PMIx_Check_key(info[i].key, PMIX_EVENT_BASE) &&
                   info[i].value.type == PMIX_POINTER && info[i].value.data.ptr) {
            o->progress = PROGRESS_LOOP;
            o->event_base = info[i].value.data.ptr;
        }
    }
}

static pmix_status_t prepare(void)
{
    if (!lib.watched && pthread_atfork(before_fork, after_fork, in_child) != 0)
        return PMIX_ERR_NOMEM;
    lib.watched = true;
    if (lib.inherited)
        client_abandon(lib.inherited);
    lib.inherited = NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t start(const pmix_info_t *info, size_t ninfo)
{
    struct client_options options;
    struct pmix_env env;
    struct errmsg err;
    pmix_status_t rc = prepare();

    if (rc != PMIX_SUCCESS)
        return rc;
    if (pmix_env_read(&env, &err) < 0) {
        rc = PMIX_ERR_BAD_PARAM;
    } else if (!env.nspace && launcher_found_here(LAUNCHER_PMIX, &err)) {
        rc = PMIX_ERR_UNREACH;
    } else {
        read_options(info, ninfo, &options);
        options.kept = &lib.kept;
        rc = client_start(&env, &options, &lib.gate, &lib.client, &err);
    }
    if (!lib.client)
        client_say(&err);
    else if (lib.client->store.base)
        atomic_store(&api_quick.client, lib.client);
    return rc;
}

pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    lock_lock(&lib.gate);
    await_move();
    if (!lib.client) {
        lib.moving = true;
        rc = start(info, ninfo);
        end_move();
    } else if (!lib.client->server) {
        rc = PMIX_ERR_UNREACH;
    }
    if (lib.client) {
        lib.inits++;
        if (proc)
            *proc = lib.client->me;
    }
    lock_unlock(&lib.gate);
    return rc;
}

pmix_status_t api_start_host(const struct client_seat *seat, const pmix_info_t *info, size_t ninfo)
{
    const struct pmix_env env = { .nspace = seat->proc.nspace,
                                  .rank = seat->proc.rank,
                                  .uri = seat->uri,
                                  .as = ptype_flavour(SLICE("v41")),
                                  .version = "5.0.3",
                                  .security = "native",
                                  .hostname = seat->hostname,
                                  .wireup_fd = seat->fd };
    struct client_options options;
    struct errmsg err = { "" };
    pmix_status_t rc = PMIX_ERR_EXISTS;

    lock_lock(&lib.gate);
    await_move();
    read_options(info, ninfo, &options);
    if (!lib.client) {
        lib.moving = true;
        rc = prepare();
        if (rc == PMIX_SUCCESS)
            rc = client_start(&env, &options, &lib.gate, &lib.client, &err);
        end_move();
    }
    if (rc == PMIX_SUCCESS) {
        lib.inits++;
        lib.client->tell_others = seat->tell_others;
        lib.client->turn = seat->turn;
        lib.client->turn_fd = seat->turn_fd;
        lib.client->turn_arg = seat->arg;
    } else {
        client_say(&err);
    }
    lock_unlock(&lib.gate);
    return rc;
}

pmix_status_t api_start_tool(const struct client_way *way, const pmix_proc_t *name,
                             const pmix_info_t *info, size_t ninfo, pmix_proc_t *proc_p)
{
    struct client_options options;
    struct errmsg err = { "" };
    pmix_status_t rc = PMIX_ERR_EXISTS;

    lock_lock(&lib.gate);
    await_move();
    read_options(info, ninfo, &options);
    if (!lib.client) {
        lib.moving = true;
        rc = prepare();
        if (rc == PMIX_SUCCESS)
            rc = client_start_tool(way, name, &options, &lib.gate, &lib.client, &err);
        end_move();
    }
    if (rc == PMIX_SUCCESS) {
        lib.inits++;
        if (proc_p)
            *proc_p = lib.client->me;
    } else {
        client_say(&err);
    }
    lock_unlock(&lib.gate);
    return rc;
}

int PMIx_Initialized(void)
{
    bool there;

    lock_lock(&lib.gate);
    there = lib.client != NULL;
    lock_unlock(&lib.gate);
    return there;
}

/* The client ends when no thread is in a call any more. */
static void finish(void)
{
    struct client *c = lib.client;

    lib.client = NULL;
    lib.moving = true;
    end_quick();
    while (lib.users)
        lock_wait(&lib.gate);
    client_stop(c);
    end_move();
}

static bool wants_barrier(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; info && i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_EMBED_BARRIER))
            return flag_of(&info[i]);
    }
    return false;
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    lock_lock(&lib.gate);
    await_move();
    if (!lib.client)
        rc = PMIX_ERR_INIT;
    else if (lib.inits > 1)
        lib.inits--;
    else if (progress_inside(lib.client))
        rc = PMIX_ERR_WOULD_BLOCK; /* it would wait for the callback that calls it */
    else if (wants_barrier(info, ninfo)) {
        lock_unlock(&lib.gate);
        PMIx_Fence(NULL, 0, NULL, 0);
        return PMIx_Finalize(NULL, 0);
    } else {
        lib.inits = 0;
        finish();
    }
    lock_unlock(&lib.gate);
    return rc;
}

/* Our thread serves all of the library: it stays as long as there is a client. */
void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
    (void)info;
    (void)ninfo;
}

void PMIx_Progress(void)
{
    struct client *c = api_begin();

    if (!c)
        return;
    if (c->turn) {
        client_unlock(c);
        c->turn(c->turn_arg, false);
        client_lock(c);
    }
    progress_once(c);
    api_end(c, PMIX_SUCCESS);
}

/* Ends the host's client together with the server, even while its users still count on it. */
void api_end_host(void)
{
    lock_lock(&lib.gate);
    await_move();
    if (lib.client) {
        lib.inits = 0;
        finish();
    }
    lock_unlock(&lib.gate);
}
