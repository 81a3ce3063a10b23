/* client_iof.c - see client_iof.h: PMIx_IOF_pull, PMIx_IOF_deregister, PMIx_IOF_push. */
#include "lib/pmix/client/client_iof.h"

#include <stdlib.h>
#include <unistd.h>

#include "io/write_all.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_iof_files.h"
#include "lib/pmix/values/value.h"

/* A registered receiver of output. */
struct iof_sink {
    struct list link;
    size_t ref, server_ref;
    pmix_iof_cbfunc_t fn;
    struct iof_files *files; /* or NULL */
    bool shown;              /* on our own standard output and error */
};

/* A piece of output for one of them. */
struct piece {
    struct client_task task;
    size_t ref;
    pmix_iof_cbfunc_t fn;
    struct iof_files *files;
    bool shown;
    pmix_iof_channel_t channel;
    pmix_proc_t source;
    pmix_byte_object_t bytes;
    pmix_info_t *infos;
    size_t ninfos;
};

void outputs_init(struct outputs *o)
{
    *o = (struct outputs){ .last_ref = 0 };
    list_init(&o->sinks);
}

static void sink_free(struct iof_sink *s)
{
    list_unlink(&s->link);
    iof_files_drop(s->files);
    free(s);
}

void outputs_free(struct outputs *o)
{
    LIST_EACH(l, &o->sinks)
    sink_free(LIST_OF(l, struct iof_sink, link));
    outputs_init(o);
}

static struct iof_sink *find_sink(struct outputs *o, size_t ref)
{
    LIST_EACH(l, &o->sinks)
    {
        struct iof_sink *s = LIST_OF(l, struct iof_sink, link);
        if (s->ref == ref)
            return s;
    }
    return NULL;
}

/* ---- incoming output ------------------------------------------------------------------------- */

static void piece_free(struct client_task *t)
{
    struct piece *p = LIST_OF(t, struct piece, task);

    PMIx_Info_free(p->infos, p->ninfos);
    iof_files_drop(p->files);
    free(p->bytes.bytes);
    free(p);
}

static void run_piece(struct client_task *t)
{
    struct piece *p = LIST_OF(t, struct piece, task);
    struct slice bytes = slice_mem(p->bytes.bytes, p->bytes.size);

    if (p->files)
        iof_files_write(p->files, &p->source, p->channel, bytes);
    if (p->shown)
        write_all_slice(p->channel & PMIX_FWD_STDOUT_CHANNEL ? STDOUT_FILENO : STDERR_FILENO,
                        bytes);
    if (p->fn)
        p->fn(p->ref, p->channel, &p->source, &p->bytes, p->infos, p->ninfos);
    piece_free(t);
}

static bool read_piece(struct piece *p, struct punpack *r, uint32_t release)
{
    struct pmsg_output m;

    pmsg_read_output(r, release, &m);
    p->source = m.source;
    p->channel = m.channel;
    p->ref = m.ref;
    reply_take(&p->infos, &p->ninfos, m.infos);
    p->bytes.bytes = m.bytes.len ? malloc(m.bytes.len) : NULL;
    if (p->bytes.bytes) {
        memcpy(p->bytes.bytes, m.bytes.ptr, m.bytes.len);
        p->bytes.size = m.bytes.len;
    } else if (m.bytes.len) {
        r->error = PTYPE_NO_MEMORY;
    }
    pmsg_free_output(&m, r->foreign);
    return punpack_ok(r);
}

void output_arrived(struct client *c, struct server_link *s, struct slice bytes)
{
    struct piece *p = calloc(1, sizeof *p);
    struct iof_sink *sink;
    struct punpack r;

    if (!p)
        return;
    p->task = (struct client_task){ .run = run_piece, .drop = piece_free };
    list_init(&p->task.link);
    punpack_init(&r, bytes, s->as);
    r.foreign = foreign_objects();
    if (!read_piece(p, &r, s->release)) {
        piece_free(&p->task);
        return;
    }
    sink = find_sink(&c->outputs, p->ref);
    p->fn = sink ? sink->fn : NULL;
    p->files = iof_files_use(sink ? sink->files : NULL);
    p->shown = !sink || sink->shown;
    /* Writing out our own output again would repeat it for ever. */
    if ((p->ref && !sink) || (p->shown && client_is_me(c, p->source.nspace, p->source.rank)))
        p->shown = false;
    if (!(p->fn || p->files || p->shown) || progress_need(c) != PMIX_SUCCESS)
        piece_free(&p->task);
    else
        tasks_add(c, &p->task);
}

/* ---- pulling --------------------------------------------------------------------------------- */

static void read_ref(struct client *c, struct op *op, struct punpack *r)
{
    struct iof_sink *s = find_sink(&c->outputs, op->out.number);
    struct pmsg_iof_pulled m;

    if (op->status == PMIX_SUCCESS && s) {
        reply_get(op, r, iof_pulled, &m);
        s->server_ref = PMSG_HAS(&m, iof_pulled, ref) ? m.ref : s->ref;
    } else if (s) {
        sink_free(s);
    }
}

static void deliver_ref(struct op *op)
{
    op->callback.registered(op->status, op->out.number, op->cbdata);
}

static const struct op_kind pull_kind = { .read = read_ref, .deliver = deliver_ref };

static void forget(struct client *c, size_t ref)
{
    struct iof_sink *s = find_sink(&c->outputs, ref);

    if (s)
        sink_free(s);
}

struct pull {
    const pmix_proc_t *procs;
    size_t nprocs;
    const pmix_info_t *infos;
    size_t ninfos;
    pmix_iof_channel_t channel;
    pmix_iof_cbfunc_t fn;
};

/* Without a handler and files the library shows the output, unless PMIX_IOF_LOCAL_OUTPUT tells it
 * not to. */
static bool is_shown(const struct client *c, const struct pull *p, const struct iof_files *files)
{
    bool shown = (!p->fn && !files) || c->outputs.shows;

    for (size_t i = 0; i < p->ninfos; i++) {
        if (PMIx_Check_key(p->infos[i].key, PMIX_IOF_LOCAL_OUTPUT))
            shown = PMIx_Value_true(&p->infos[i].value) != PMIX_BOOL_FALSE;
    }
    return shown;
}

/* Its reference is the next one. */
static pmix_status_t new_sink(struct client *c, const struct pull *p, struct iof_sink **s_p)
{
    struct iof_files *files;
    pmix_status_t rc = iof_files_new(p->infos, p->ninfos, &files);
    struct iof_sink *s = rc == PMIX_SUCCESS ? malloc(sizeof *s) : NULL;

    if (!s) {
        if (rc == PMIX_SUCCESS)
            iof_files_drop(files);
        return rc == PMIX_SUCCESS ? PMIX_ERR_NOMEM : rc;
    }
    *s = (struct iof_sink){ .ref = ++c->outputs.last_ref, .fn = p->fn, .files = files };
    s->shown = is_shown(c, p, files);
    list_init(&s->link);
    *s_p = s;
    return PMIX_SUCCESS;
}

static pmix_status_t begin_pull(struct client *c, struct message *m, const struct pull *p,
                                size_t *ref_p)
{
    struct iof_sink *s;
    pmix_status_t rc;

    if (!p->procs || !p->nprocs || (!p->infos && p->ninfos) ||
        (p->channel & PMIX_FWD_STDIN_CHANNEL))
        return PMIX_ERR_BAD_PARAM;
    rc = progress_need(c); /* output has to be read even while no call waits */
    if (rc != PMIX_SUCCESS)
        return rc;
    rc = new_sink(c, p, &s);
    if (rc != PMIX_SUCCESS)
        return rc;
    rc = message_begin(c, m, CMD_IOF_PULL);
    if (rc != PMIX_SUCCESS) {
        sink_free(s);
        return rc;
    }
    message_put(m, iof_pull,
                { .procs = PMSG_LENT(p->procs, p->nprocs),
                  .infos = PMSG_LENT(p->infos, p->ninfos),
                  .channels = p->channel,
                  .ref = s->ref });
    list_append(&c->outputs.sinks, &s->link);
    *ref_p = s->ref;
    return PMIX_SUCCESS;
}

static pmix_status_t pull(struct client *c, const struct pull *p, pmix_hdlr_reg_cbfunc_t cbfunc,
                          void *cbdata)
{
    struct message m;
    struct op here, *op = &here;
    size_t ref;
    pmix_status_t rc = begin_pull(c, &m, p, &ref);

    if (rc != PMIX_SUCCESS)
        return rc;
    if (cbfunc && !(op = op_new(&pull_kind, cbdata))) {
        conn_drop(&m.server->conn, m.from);
        rc = PMIX_ERR_NOMEM;
    } else if (cbfunc) {
        op->callback.registered = cbfunc;
        op->out.number = ref;
        rc = progress_send(&m, op);
    } else {
        op_init(op, &pull_kind);
        op->out.number = ref;
        rc = op_call(&m, op);
        op_clear(op);
    }
    if (rc != PMIX_SUCCESS)
        forget(c, ref);
    return rc == PMIX_SUCCESS && !cbfunc ? (pmix_status_t)ref : rc;
}

pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t directives[], size_t ndirs,
                            pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata)
{
    const struct pull p = { procs, nprocs, directives, ndirs, channel, cbfunc };
    struct client *c = api_begin();

    return c ? api_end(c, pull(c, &p, regcbfunc, regcbdata)) : PMIX_ERR_INIT;
}

/* What the server has gathered for it comes before the reply. */
static void read_forgotten(struct client *c, struct op *op, struct punpack *r)
{
    (void)r;
    forget(c, op->out.number);
}

static void deliver_forgotten(struct op *op)
{
    op->callback.op(op->status, op->cbdata);
}

static const struct op_kind unpull_kind = { .read = read_forgotten, .deliver = deliver_forgotten };

static pmix_status_t unpull(struct message *m, size_t ref, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct op here, *op = &here;
    pmix_status_t rc;

    if (cbfunc && !(op = op_new(&unpull_kind, cbdata))) {
        conn_drop(&m->server->conn, m->from);
        return PMIX_ERR_NOMEM;
    }
    if (cbfunc) {
        op->callback.op = cbfunc;
        op->out.number = ref;
        return progress_send(m, op);
    }
    op_init(op, &unpull_kind);
    op->out.number = ref;
    rc = op_call(m, op);
    op_clear(op);
    return rc;
}

pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[], size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct iof_sink *s;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    s = find_sink(&c->outputs, iofhdlr);
    rc = (!s && c->server) || (!directives && ndirs) ? PMIX_ERR_BAD_PARAM
                                                     : message_begin(c, &m, CMD_IOF_DEREG);
    if (rc == PMIX_SUCCESS) {
        message_put(&m, iof_dereg, { .infos = PMSG_LENT(directives, ndirs), .ref = s->server_ref });
        rc = unpull(&m, iofhdlr, cbfunc, cbdata);
    }
    return api_end(c, rc);
}

/* ---- pushing --------------------------------------------------------------------------------- */

static bool is_wanted(const pmix_info_t *infos, size_t n, const char *key)
{
    bool wanted = false;

    for (size_t i = 0; infos && i < n; i++)
        wanted = wanted || (PMIx_Check_key(infos[i].key, key) &&
                            PMIx_Value_true(&infos[i].value) != PMIX_BOOL_FALSE);
    return wanted;
}

/* The end of our own input, or its beginning.  False: it is another push. */
static bool push_own_input(struct client *c, const pmix_proc_t *targets, size_t ntargets,
                           const pmix_byte_object_t *bo, const pmix_info_t *infos, size_t ninfos,
                           pmix_status_t *rc_p)
{
    if (!targets && !ntargets && !bo && is_wanted(infos, ninfos, PMIX_IOF_COMPLETE) &&
        client_stdin_close(c)) {
        *rc_p = PMIX_SUCCESS;
        return true;
    }
    if (!is_wanted(infos, ninfos, PMIX_IOF_PUSH_STDIN))
        return false;
    *rc_p = bo || !targets || !ntargets ? PMIX_ERR_BAD_PARAM
                                        : api_check(PMIX_CALL_IOF_PUSH, infos, ninfos);
    if (*rc_p == PMIX_SUCCESS && !c->server)
        *rc_p = PMIX_ERR_UNREACH;
    if (*rc_p == PMIX_SUCCESS)
        *rc_p = client_stdin_start(c, targets, ntargets);
    return true;
}

pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets, pmix_byte_object_t *bo,
                            const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                            void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (push_own_input(c, targets, ntargets, bo, directives, ndirs, &rc))
        return api_end(c, rc == PMIX_SUCCESS && cbfunc ? PMIX_OPERATION_SUCCEEDED : rc);
    rc = (targets || !ntargets) && (directives || !ndirs) ? message_begin(c, &m, CMD_IOF_PUSH)
                                                          : PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS) {
        message_put(&m, iof_push,
                    { .has = bo ? PMSG_BIT(iof_push, bytes) : 0,
                      .procs = PMSG_LENT(targets, ntargets),
                      .infos = PMSG_LENT(directives, ndirs),
                      .bytes = bo ? slice_mem(bo->bytes, bo->size) : SLICE_NULL });
        rc = cbfunc ? api_status_begin(&m, cbfunc, cbdata) : api_status_call(&m);
    }
    return api_end(c, rc);
}
