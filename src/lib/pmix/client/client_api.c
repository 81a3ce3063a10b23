/* client_api.c - see client_api.h. */
#include "lib/pmix/client/client_api.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    struct lock gate;
    struct client *client;
    unsigned users; /* threads inside calls */
    bool moving;    /* a thread starts or ends the client */
} lib = { .gate = LOCK_INIT };

struct api_quick api_quick;

void api_quick_leave(void)
{
    if (atomic_fetch_sub(&api_quick.users, 1) != 1 || !atomic_load(&api_quick.awaited))
        return;
    lock_lock(&lib.gate);
    lock_wake(&lib.gate);
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
        lock_wake(&lib.gate);
    lock_unlock(&lib.gate);
    return rc;
}

pmix_status_t api_send_begin(struct client *c, struct message *m, struct op *op, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        rc = progress_send(m, op);
    else
        op_free(op);
    return api_end(c, rc);
}

void api_print_error(const struct errmsg *err)
{
    char line[ERRMSG_MAX + 16];
    int n = snprintf(line, sizeof line, "libpmix: %s\n", err->text);

    if (n > 0 && write(STDERR_FILENO, line, strnlen(line, sizeof line)) < 0)
        return; /* no process would receive it */
}

/* ---- starting and ending --------------------------------------------------------------------- */

struct lock *api_gate(void)
{
    return &lib.gate;
}

struct client *api_lock(void)
{
    lock_lock(&lib.gate);
    while (lib.moving)
        lock_wait(&lib.gate);
    return lib.client;
}

void api_unlock(void)
{
    lock_unlock(&lib.gate);
}

void api_move_begin(void)
{
    lib.moving = true;
}

void api_move_end(struct client *c, bool quick)
{
    lib.client = c;
    if (quick && c && c->store.base)
        atomic_store(&api_quick.client, c);
    lib.moving = false;
    lock_wake(&lib.gate);
}

struct client *api_withdraw(void)
{
    struct client *c = lib.client;

    lib.client = NULL;
    end_quick();
    while (lib.users)
        lock_wait(&lib.gate);
    return c;
}

struct client *api_in_child(void)
{
    struct client *c = lib.client;

    lock_reset(&lib.gate);
    lib.users = 0;
    lib.moving = false;
    atomic_store(&api_quick.client, NULL);
    atomic_store(&api_quick.users, 0);
    atomic_store(&api_quick.awaited, false);
    lib.client = NULL;
    return c;
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

pmix_status_t api_status_begin(struct message *m, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct op *op = op_new(&op_status_only, cbdata);

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return PMIX_ERR_NOMEM;
    }
    op->callback.op = cbfunc;
    return progress_send(m, op);
}

/* ---- a status, and infos --------------------------------------------------------------------- */

static void read_infos(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_status_infos m;

    (void)c;
    reply_get(op, r, status_infos, &m);
    reply_take(&op->out.infos, &op->out.ninfos, m.infos);
    pmsg_free_status_infos(&m, r->foreign);
}

/* The program may keep the infos until it calls this. */
static void release_op(void *cbdata)
{
    op_free(cbdata);
}

static void deliver_infos(struct op *op)
{
    struct op *kept;

    if (!op->callback.info)
        return;
    kept = malloc(sizeof *kept);
    if (!kept) {
        op->callback.info(PMIX_ERR_NOMEM, NULL, 0, op->cbdata, NULL, NULL);
        return;
    }
    *kept = *op;
    memset(&op->out, 0, sizeof op->out);
    op->free_arg = NULL;
    op->callback.info(kept->status, kept->out.infos, kept->out.ninfos, kept->cbdata, release_op,
                      kept);
}

const struct op_kind op_infos = { .read = read_infos, .deliver = deliver_infos };

/* Blocking: the results are the caller's. */
pmix_status_t api_infos_call(struct message *m, pmix_info_t **results, size_t *nresults)
{
    struct op op;
    pmix_status_t rc;

    op_init(&op, &op_infos);
    rc = op_call(m, &op);
    if (results && nresults) {
        *results = op.out.infos;
        *nresults = op.out.ninfos;
        op.out.infos = NULL;
    }
    op_clear(&op);
    return rc;
}

pmix_status_t api_infos_begin(struct message *m, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct op *op = op_new(&op_infos, cbdata);

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return PMIX_ERR_NOMEM;
    }
    op->callback.info = cbfunc;
    return progress_send(m, op);
}
