/* server_ask.c - see server_ask.h. */
#include "lib/pmix/server/server_ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_info.h"

static void run_ask(struct scall *c);

struct ask *ask_new(struct pserver *s, const struct ask_kind *kind, uint64_t ticket)
{
    struct ask *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->s = s;
    a->kind = kind;
    a->ticket = ticket;
    a->as = &ptype_own;
    a->call.run = run_ask;
    list_init(&a->call.link);
    buf_init(&a->tail, LIMIT_PMIX_MESSAGE);
    s->asks++;
    return a;
}

void ask_from(struct ask *a, const struct peer *p)
{
    struct nspace *n = nspace_of(a->s, p->job);
    struct local *l = n ? nspace_local(n, p->rank) : NULL;

    if (p->job)
        PMIx_Load_procid(&a->from, p->job->nspace, p->rank);
    a->object = l ? l->object : NULL;
}

void ask_charge(struct ask *a, const struct peer *p, size_t bytes)
{
    a->payer = p->id;
    a->cost = bytes + LIMIT_UPCALL_COST;
    peer_conn_hold(p->host, a->cost);
}

static void refund(const struct ask *a)
{
    const struct peer *p = a->cost && !a->s->abandoned
                               ? map_get(&a->s->server.by_id, slice_mem(&a->payer, sizeof a->payer))
                               : NULL;

    if (p)
        peer_conn_release(p->host, a->cost);
}

static void drop(uint16_t type, void *items, size_t n)
{
    if (items)
        pmem_free(ptype_find(type), items, n, foreign_objects());
    free(items);
}

void ask_free(struct ask *a)
{
    refund(a);
    drop(PMIX_PROC, a->procs, a->nprocs);
    drop(PMIX_INFO, a->infos, a->ninfos);
    drop(PMIX_INFO, a->directives, a->ndirectives);
    drop(PMIX_INFO, a->results, a->nresults);
    drop(PMIX_APP, a->apps, a->napps);
    drop(PMIX_QUERY, a->queries, a->nqueries);
    drop(PMIX_RESOURCE_UNIT, a->units, a->nunits);
    PMIx_Argv_free(a->keys);
    free(a->text);
    free(a->bytes.bytes);
    free(a->codes);
    buf_free(&a->tail);
    a->s->asks--;
    free(a);
}

void ask_go(struct ask *a)
{
    pserver_add_call(a->s, &a->call);
}

/* ---- replies --------------------------------------------------------------------------------- */

static enum answer_status plain_status(pmix_status_t status)
{
    switch (status) {
    case PMIX_SUCCESS: return ANSWER_OK;
    case PMIX_ERR_NOT_FOUND: return ANSWER_NOT_FOUND;
    case PMIX_ERR_DUPLICATE_KEY:
    case PMIX_ERR_EXISTS: return ANSWER_DUPLICATE;
    case PMIX_ERR_TIMEOUT: return ANSWER_TIMEOUT;
    default: return ANSWER_FAILED;
    }
}

static void answer_plain(struct ask *a, pmix_status_t status)
{
    struct slice text = slice_str(a->text);
    struct answer answer = a->spawns ? ANSWER_TO(spawn, plain_status(status), .nspace = text)
                                     : ANSWER_TO(lookup, plain_status(status), .port = text);

    server_answer(&a->s->server, a->ticket, &answer);
}

/* The reply in the client's encoding: the status, and the bytes that the callback has packed. */
static void answer_packed(struct ask *a, pmix_status_t status)
{
    struct buf reply = BUF_NULL(LIMIT_PMIX_MESSAGE);
    struct answer answer;
    struct ppack w;

    ppack_init(&w, &reply, a->as);
    w.described = a->described;
    pmsg_write_status(
        &w, a->release,
        &(struct pmsg_status){ .status = buf_ok(&a->tail) ? status : PMIX_ERR_NOMEM });
    if (buf_ok(&a->tail))
        buf_slice_put(&reply, buf_slice(&a->tail));
    answer = ANSWER_TO(host, ANSWER_OK, .reply = buf_slice(&reply));
    server_answer(&a->s->server, a->ticket, &answer);
    buf_free(&reply);
}

void ask_answer(struct ask *a, pmix_status_t status)
{
    if (a->answered)
        return;
    a->answered = true;
    if (status == PMIX_OPERATION_SUCCEEDED)
        status = PMIX_SUCCESS;
    if (a->s->abandoned)
        return;
    if (a->then)
        a->then(a, status);
    else if (a->ticket && a->plain)
        answer_plain(a, status);
    else if (a->ticket)
        answer_packed(a, status);
}

static void run_ask(struct scall *c)
{
    struct ask *a = LIST_OF(c, struct ask, call);
    struct pserver *s = a->s;
    pmix_status_t rc;
    bool ending;

    pserver_lock(s);
    ending = s->ending;
    pthread_mutex_unlock(&s->lock);
    rc = ending ? PMIX_ERR_UNREACH : a->kind->call(a);
    pserver_lock(s);
    a->returned = true;
    if (rc != PMIX_SUCCESS)
        ask_answer(a, rc);
    if (a->answered)
        ask_free(a);
    pserver_unlock_last(s);
}

/* Starts a callback: takes the lock, returns the ask if it still waits for one. */
static struct ask *begin(void *cbdata)
{
    struct ask *a = cbdata;

    pserver_lock(a->s);
    return a;
}

static void end(struct ask *a, pmix_status_t status)
{
    struct pserver *s = a->s;

    ask_answer(a, status);
    if (a->returned)
        ask_free(a);
    pserver_unlock_last(s);
}

/* The fields of the reply after the status. */
void ask_pack(struct ask *a, const struct pmsg *row, const void *m)
{
    struct ppack w;

    ppack_init(&w, &a->tail, a->as);
    w.described = a->described;
    w.foreign = foreign_objects();
    pmsg_write_from(row, 1, &w, a->release, m);
    if (!ppack_ok(&w))
        a->tail.error = BUF_NO_MEMORY;
}

static void pack_infos(struct ask *a, const pmix_info_t *infos, size_t n)
{
    ASK_PACK(a, status_infos, .has = PMSG_BIT(status_infos, infos),
             .infos = PMSG_LENT(infos, infos ? n : 0));
}

void ask_on_op(pmix_status_t status, void *cbdata)
{
    end(begin(cbdata), status);
}

struct release {
    struct scall call;
    pmix_release_cbfunc_t fn;
    void *data;
};

static void run_release(struct scall *c)
{
    struct release *r = LIST_OF(c, struct release, call);

    r->fn(r->data);
    free(r);
}

/* Releases the data that the host has lent us.  Its release function is called by us, not within
 * its own call: it may want a lock that the host holds while it answers, as Slurm's does. */
static void end_and_release(struct ask *a, pmix_status_t status, pmix_release_cbfunc_t fn,
                            void *data)
{
    struct release *r = fn && !a->s->abandoned ? calloc(1, sizeof *r) : NULL;

    if (r) {
        *r = (struct release){ .call.run = run_release, .fn = fn, .data = data };
        pserver_add_call(a->s, &r->call);
    }
    end(a, status);
    if (fn && !r)
        fn(data);
}

static pmix_status_t keep_results(struct ask *a, const pmix_info_t *info, size_t ninfo)
{
    pmix_status_t rc = infos_copy(info, ninfo, &a->results);

    a->nresults = a->results ? ninfo : 0;
    return rc;
}

void ask_on_infos(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct ask *a = begin(cbdata);
    pmix_status_t rc = PMIX_SUCCESS;

    if (a->then)
        rc = keep_results(a, info, info ? ninfo : 0);
    else
        pack_infos(a, info, ninfo);
    end_and_release(a, rc == PMIX_SUCCESS ? status : rc, release_fn, release_cbdata);
}

/* A PMI client gets the text of the one item that it has asked for. */
static void keep_text(struct ask *a, const pmix_pdata_t *data, size_t ndata)
{
    free(a->text);
    a->text = NULL;
    for (size_t i = 0; i < ndata && !a->text; i++) {
        if (data[i].value.type == PMIX_STRING && data[i].value.data.string)
            a->text = strdup(data[i].value.data.string);
    }
}

void ask_on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    struct ask *a = begin(cbdata);
    bool some = data && ndata && (status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS);

    if (a->plain) {
        keep_text(a, data, some ? ndata : 0);
        status = a->text ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    } else if (some) {
        ASK_PACK(a, found, .has = PMSG_BIT(found, found), .found = PMSG_LENT(data, ndata));
    }
    end(a, status);
}

/* The job info of the new job comes along, as far as known. */
void ask_on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    struct ask *a = begin(cbdata);
    struct nspace *n = nspace ? nspace_find(a->s, nspace) : NULL;
    struct job *j = n && !a->plain ? nspace_job(a->s, n) : NULL;

    if (a->plain) {
        free(a->text);
        a->text = nspace ? strdup(nspace) : NULL;
        a->spawns = true;
    } else if (status == PMIX_SUCCESS) {
        iof_follow(a, nspace ? nspace : "");
        ASK_PACK(a, spawned, .has = PMSG_BIT(spawned, nspace) | PMSG_BIT(spawned, values),
                 .nspace = slice_str(nspace ? nspace : ""),
                 .values = j ? pmix_job_info(j, a->as, a->described) : SLICE_NULL);
    }
    end(a, status);
}

void ask_on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t info[],
                       size_t ninfo, void *cbdata)
{
    struct ask *a = begin(cbdata);

    if (status == PMIX_SUCCESS && credential) {
        ASK_PACK(a, credential,
                 .has = PMSG_BIT(credential, credential) | PMSG_BIT(credential, infos),
                 .credential = slice_mem(credential->bytes, credential->size),
                 .infos = PMSG_LENT(info, info ? ninfo : 0));
    }
    end(a, status);
}

void ask_on_validation(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata)
{
    struct ask *a = begin(cbdata);

    if (status == PMIX_SUCCESS)
        pack_infos(a, info, ninfo);
    end(a, status);
}

void ask_on_tool(pmix_status_t status, pmix_proc_t *proc, void *cbdata)
{
    struct ask *a = begin(cbdata);

    if (proc)
        a->name = *proc;
    end(a, status);
}

void ask_on_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct ask *a = begin(cbdata);

    if (data && status == PMIX_SUCCESS)
        buf_put(&a->tail, data, ndata);
    end_and_release(a, status, release_fn, release_cbdata);
}

bool ask_add_info(pmix_info_t **list, size_t *n, const char *key, const void *data,
                  pmix_data_type_t type)
{
    pmix_info_t *more = realloc(*list, (*n + 1) * sizeof *more);

    if (!more)
        return false;
    *list = more;
    memset(&more[*n], 0, sizeof *more);
    if (PMIx_Info_load(&more[*n], key, data, type) != PMIX_SUCCESS)
        return false;
    ++*n;
    return true;
}
