/* server_api.c - the public functions that a host calls while its server runs.
 *
 * Reading order: jobs and processes; output; attributes that the host supports.  Init and finalize
 * are in server_instance.c, process sets in server_sets.c, what comes before an application in
 * server_setup.c, resources in server_resources.c, inventories in server_inventory.c. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/host_calls.h"
#include "lib/pmix/api/attributes.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/server/server.h"
#include "lib/pmix/server/server_collective.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_env.h"
#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_info.h"
#include "wireup_server.h"

/* ---- jobs and processes ---------------------------------------------------------------------- */

static bool has_name(const char *nspace)
{
    return nspace && nspace[0];
}

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                          pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    struct pserver *s = instance_enter();
    struct nspace *n;
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    if (!has_name(nspace) || (!info && ninfo))
        return instance_leave(s, PMIX_ERR_BAD_PARAM, cbfunc, cbdata);
    rc = api_check(PMIX_CALL_REGISTER_NSPACE, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return instance_leave(s, rc, cbfunc, cbdata);
    n = nspace_make(s, nspace);
    rc = PMIX_ERR_NOMEM;
    if (n) {
        if (!n->is_registered || nlocalprocs >= 0)
            n->nlocal = nlocalprocs;
        rc = nspace_add(s, n, info, ninfo);
    }
    return instance_leave(s, rc, cbfunc, cbdata);
}

void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    struct pserver *s = instance_enter();
    struct nspace *n = s && has_name(nspace) ? nspace_find(s, nspace) : NULL;

    if (!s) {
        if (cbfunc)
            cbfunc(PMIX_ERR_INIT, cbdata);
        return;
    }
    if (n && !n->is_own)
        pserver_drop_space(s, n);
    instance_leave(s, PMIX_SUCCESS, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    struct pserver *s = instance_enter();
    struct nspace *n;
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (!s)
        return PMIX_ERR_INIT;
    if (proc && has_name(proc->nspace)) {
        n = nspace_make(s, proc->nspace);
        rc = n ? nspace_expect(s, n, proc->rank, uid, gid, server_object) : PMIX_ERR_NOMEM;
    }
    return instance_leave(s, rc, cbfunc, cbdata);
}

void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();
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
    instance_leave(s, PMIX_SUCCESS, cbfunc, cbdata);
}

/* Also in a forked child: nothing here touches a connection. */
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    struct pserver *s = instance_enter();
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
    struct pserver *s = instance_enter();
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
    struct pserver *s = instance_enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = proc && cbfunc ? meet_request(s, proc, cbfunc, cbdata) : PMIX_ERR_BAD_PARAM;
    pserver_unlock(s);
    return rc;
}

/* ---- output
 * -------------------------------------------------------------------------------------- */

pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source, pmix_iof_channel_t channel,
                                      const pmix_byte_object_t *bo, const pmix_info_t info[],
                                      size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();

    if (!s)
        return PMIX_ERR_INIT;
    if (!source || (!info && ninfo))
        return instance_leave(s, PMIX_ERR_BAD_PARAM, cbfunc, cbdata);
    return instance_leave(s, iof_deliver(s, source, channel, bo, info, ninfo), cbfunc, cbdata);
}

/* For another server. */
pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                           pmix_data_buffer_t *dbuf)
{
    struct pserver *s = instance_enter();
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

/* ---- attributes that the host supports ------------------------------------------------------- */

/* By its name or by its text; one of the host's own has one text for both. */
static struct host_attr attr_of(const char *text)
{
    const struct attribute *a = attribute_by_name(text);

    if (!a)
        a = attribute_by_text(text);
    return a ? (struct host_attr){ a->name, a->text, a->type }
             : (struct host_attr){ text, text, PMIX_UNDEF };
}

static pmix_status_t register_call(struct pserver *s, const char *function, char *const texts[])
{
    size_t n = (size_t)PMIx_Argv_count((char **)(uintptr_t)texts);
    struct host_attr *attrs = calloc(n + 1, sizeof *attrs);
    int rc = -ENOMEM;

    for (size_t i = 0; attrs && i < n; i++)
        attrs[i] = attr_of(texts[i]);
    if (attrs)
        rc = host_calls_add(&s->server.core.host_calls, function, attrs, n);
    free(attrs);
    if (rc == HOST_CALLS_TWICE)
        return PMIX_ERR_REPEAT_ATTR_REGISTRATION;
    return rc < 0 ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
}

pmix_status_t PMIx_Register_attributes(char *function, char *attrs[])
{
    struct pserver *s = instance_enter();
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (!s)
        return PMIX_ERR_INIT;
    if (function && attrs)
        rc = register_call(s, function, attrs);
    pserver_unlock(s);
    return rc;
}
