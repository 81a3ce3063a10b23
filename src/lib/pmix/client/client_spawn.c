/* client_spawn.c - PMIx_Spawn. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

/* The name of the new job, and the job info that came along. */
static void read_spawned(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_spawned m;
    struct space *s;

    if (op->status != PMIX_SUCCESS)
        return;
    if (reply_get(op, r, spawned, &m) != PTYPE_FINE || !m.nspace.len ||
        m.nspace.len > PMIX_MAX_NSLEN) {
        op->status = PMIX_ERR_UNPACK_FAILURE;
        return;
    }
    memcpy(op->out.nspace, m.nspace.ptr, m.nspace.len);
    if (!m.values.len)
        return;
    s = cache_make_space(&c->cache, op->out.nspace);
    if (s)
        space_copy_info(s, m.values, r->as); /* without it, it can be fetched */
}

static void deliver_spawned(struct op *op)
{
    op->callback.spawn(op->status, op->out.nspace, op->cbdata);
}

static const struct op_kind spawn_kind = { .read = read_spawned, .deliver = deliver_spawned };

static bool wants_environment(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, PMIX_FWD_ENVIRONMENT))
            return PMIx_Value_true(&infos[i].value) != PMIX_BOOL_FALSE;
    }
    return false;
}

static size_t count_texts(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* Our environment, then the program's own, which counts; the texts are borrowed.  (What belongs to
 * a process manager is left out by the one that starts the program.)  NULL: no memory. */
static char **with_environment(char *const *own)
{
    size_t n = count_texts(environ), more = count_texts(own);
    char **all = calloc(n + more + 1, sizeof *all);

    if (all && n)
        memcpy(all, environ, n * sizeof *all);
    if (all && more)
        memcpy(all + n, own, more * sizeof *all);
    return all;
}

/* A program without a directory is started in ours, as if by a shell. */
static void fill_app(pmix_app_t *to, const pmix_app_t *app, char **words, char *cwd)
{
    *to = *app;
    words[0] = app->cmd;
    if (!to->argv)
        to->argv = words;
    if (!to->cwd)
        to->cwd = cwd;
}

/* All programs are one unit of the wire format. */
static void pack_spawn(struct message *m, const pmix_info_t *infos, size_t ninfos,
                       const pmix_app_t *apps, size_t n)
{
    pmix_app_t *sent = calloc(n, sizeof *sent);
    char **words = calloc(2 * n, sizeof *words);
    char *cwd = getcwd(NULL, 0);
    bool all = wants_environment(infos, ninfos), full = !sent || !words;

    for (size_t i = 0; i < n && !full; i++) {
        fill_app(&sent[i], &apps[i], &words[2 * i], cwd);
        if (!all && !wants_environment(apps[i].info, apps[i].ninfo))
            continue;
        sent[i].env = with_environment(apps[i].env);
        full = !sent[i].env;
    }
    if (full)
        m->w.error = PTYPE_NO_MEMORY;
    else
        message_put(m, spawn, { .infos = PMSG_LENT(infos, ninfos), .apps = PMSG_LENT(sent, n) });
    for (size_t i = 0; i < n && sent; i++) {
        if (sent[i].env != apps[i].env)
            free(sent[i].env);
    }
    free(sent);
    free(words);
    free(cwd);
}

/* Output of the new job may come at any time then, and must be read. */
static bool follows(const struct client *c, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((PMIx_Check_key(infos[i].key, PMIX_FWD_STDOUT) ||
             PMIx_Check_key(infos[i].key, PMIX_FWD_STDERR) ||
             PMIx_Check_key(infos[i].key, PMIX_FWD_STDDIAG)) &&
            PMIx_Value_true(&infos[i].value) != PMIX_BOOL_FALSE)
            return true;
    }
    return c->kind == CLIENT_TOOL;
}

static pmix_status_t begin(struct client *c, struct message *m, const pmix_info_t *infos,
                           size_t ninfos, const pmix_app_t *apps, size_t napps)
{
    pmix_status_t rc;

    if (!apps || !napps || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < napps; i++) {
        if (!apps[i].cmd && !(apps[i].argv && apps[i].argv[0]))
            return PMIX_ERR_BAD_PARAM;
    }
    rc = follows(c, infos, ninfos) ? progress_need(c) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS)
        rc = message_begin(c, m, CMD_SPAWN);
    if (rc == PMIX_SUCCESS)
        pack_spawn(m, infos, ninfos, apps, napps);
    return rc;
}

pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[],
                         size_t napps, pmix_nspace_t nspace)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin(c, &m, job_info, ninfo, apps, napps);
    op_init(&op, &spawn_kind);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    if (nspace)
        PMIx_Load_nspace(nspace, rc == PMIX_SUCCESS ? op.out.nspace : NULL);
    op_clear(&op);
    return api_end(c, rc);
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[],
                            size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    op = cbfunc ? op_new(&spawn_kind, cbdata) : NULL;
    if (!op)
        return api_end(c, cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM);
    op->callback.spawn = cbfunc;
    return api_send_begin(c, &m, op, begin(c, &m, job_info, ninfo, apps, napps));
}
