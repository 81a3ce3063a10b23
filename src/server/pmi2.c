/* pmi2.c - see pmi2.h.  Reading order: pending requests, the handlers in the order of
 * proto/pmi2.def, the additions of their answers to the common head, the table that joins them,
 * framing, answering. */
#include "server/pmi2.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "server/pmi1.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"

enum {
    PMI2_DIALECT = 1,   /* version of Wireup's own additions */
    THRID_MAX = 63,     /* longer ones break the rules; MPICH prints a pointer */
    LEGACY_BODY = 65000 /* fits the receive buffer of all known clients */
};

struct pmi2_pending {
    uint32_t token;
    uint16_t msg; /* enum pmi2_msg of the request; PMI2_COUNT: it is not answered */
    uint16_t thrid_len;
    char thrid[THRID_MAX + 1];
};

struct pmi2 {
    struct session base;
    enum text_when state; /* START until fullinit */
    bool begun;           /* the line `init` was read: frames may follow */
    bool ours;       /* the client is Wireup's library: raw values, the store's file descriptor */
    bool picky;      /* cannot read empty values, nor a `;` */
    bool in_turn;    /* its requests follow one another, whichever thread sends them */
    bool attach_due; /* its identity has just become known */
    bool broken;
    struct buf in;      /* bytes not yet understood */
    size_t scanned;     /* of these, without a newline */
    size_t consumed;    /* length of the message that the last request borrows from */
    struct arena arena; /* decoded lists of the current message */
    bool raw;           /* mput-wireup: the bytes after its frame are due */
    uint32_t raw_count, raw_bytes;
    struct pmi2_pending raw_asker;
    struct pmi2_pending *pending;
    uint32_t npending, pending_room;
};

static struct pmi2 *pmi2_of(struct session *s)
{
    return (struct pmi2 *)(void *)s;
}

static struct session *pmi2_create(struct peer *p)
{
    struct pmi2 *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct session){ &pmi2_ops, p };
    s->state = TEXT_START;
    /* A raw block may follow its frame. */
    buf_init(&s->in, (size_t)LIMIT_CLIENT_STORE + LIMIT_PMI_LINE);
    arena_init(&s->arena, (size_t)LIMIT_PMI_SPAWN * 4);
    return &s->base;
}

static void pmi2_destroy(struct session *base)
{
    struct pmi2 *s = pmi2_of(base);

    buf_free(&s->in);
    arena_free(&s->arena);
    free(s->pending);
    free(s);
}

static int pmi2_input(struct session *base, struct slice bytes)
{
    struct pmi2 *s = pmi2_of(base);

    buf_slice_put(&s->in, bytes);
    return s->in.error == BUF_NO_MEMORY ? -ENOMEM : 0;
}

/* ---- pending requests ------------------------------------------------------------------------ */

struct incoming {
    unsigned id; /* enum pmi2_msg */
    const union pmi2_any *m;
    struct request *rq;
    struct errmsg *err;
};

static int broken(const struct incoming *in, const char *why)
{
    return errmsg_set(in->err, SESSION_BROKEN, "%s", why);
}

/* The requester, for the answer. */
static struct pmi2_pending asker(const struct incoming *in)
{
    const struct pmi2_request *m = (const void *)in->m;
    struct pmi2_pending p = { .msg = (uint16_t)in->id, .thrid_len = (uint16_t)m->thrid.len };

    if (m->thrid.len)
        memcpy(p.thrid, m->thrid.ptr, m->thrid.len);
    return p;
}

static int ask_for(struct pmi2 *s, const struct pmi2_pending *who, struct request *rq,
                   struct request what, struct errmsg *err)
{
    struct pmi2_pending *p;

    if (s->npending >= LIMIT_CLIENT_PENDING)
        return errmsg_set(err, SESSION_BROKEN, "more than %d requests at once",
                          LIMIT_CLIENT_PENDING);
    if (s->npending == s->pending_room) {
        uint32_t room = s->pending_room ? s->pending_room * 2 : 4;
        struct pmi2_pending *more = realloc(s->pending, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->pending = more;
        s->pending_room = room;
    }
    p = &s->pending[s->npending++];
    *p = *who;
    p->token = ++s->base.peer->next_token;
    *rq = what;
    rq->token = p->token;
    return SESSION_REQUEST;
}

/* A request for the core.  Returns the handler's result. */
static int ask(struct pmi2 *s, const struct incoming *in, struct request what)
{
    struct pmi2_pending who = asker(in);

    return ask_for(s, &who, in->rq, what, in->err);
}

/* A request that is not answered. */
static int request(struct pmi2 *s, struct request *rq, struct request what, struct errmsg *err)
{
    return ask_for(s, &(struct pmi2_pending){ .msg = PMI2_COUNT }, rq, what, err);
}

static void reply(struct pmi2 *s, const struct pmi2_pending *p, const struct answer *a);

/* Requests that the session answers by itself. */
static int answer_now(struct pmi2 *s, const struct incoming *in)
{
    struct pmi2_pending who = asker(in);

    reply(s, &who, &(struct answer){ .status = ANSWER_OK });
    return SESSION_IDLE;
}

/* ---- handlers: SESSION_IDLE (done), SESSION_REQUEST, SESSION_BROKEN or -ENOMEM --------------- */

static int on_fullinit(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_fullinit *m = &in->m->fullinit;

    s->picky = !PMI2_HAS(m, fullinit, threaded);
    s->in_turn = !m->threaded; /* MPICH 4.1 and later holds a lock until the answer */
    s->state = TEXT_READY;
    if (s->base.peer->job)
        return answer_now(s, in);
    return ask(s, in,
               REQUEST_WITH(identify, .id = PMI2_HAS(m, fullinit, srcid) ? m->srcid : m->pmirank));
}

static int on_job_getid(struct pmi2 *s, const struct incoming *in)
{
    return answer_now(s, in);
}

static int on_job_connect(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in, REQUEST_WITH(connect, .job = in->m->job_connect.jobid));
}

static int on_job_disconnect(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in, REQUEST_WITH(disconnect, .job = in->m->job_disconnect.jobid));
}

static int on_kvs_put(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_kvs_put *m = &in->m->kvs_put;

    return ask(s, in, REQUEST_WITH(put, .key = m->key, .value = m->value));
}

static int on_kvs_get(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_kvs_get *m = &in->m->kvs_get;

    return ask(s, in,
               REQUEST_WITH(get, .space = m->jobid, .key = m->key,
                            .has_rank = PMI2_HAS(m, kvs_get, srcid) && m->srcid >= 0,
                            .rank = m->srcid));
}

static int on_get_wireup(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_get_wireup *m = &in->m->get_wireup;

    if (!s->ours)
        return broken(in, "get-wireup from a client that did not ask for our dialect");
    return ask(s, in,
               REQUEST_WITH(get, .space = m->jobid, .key = m->key,
                            .has_rank = PMI2_HAS(m, get_wireup, srcid) && m->srcid >= 0,
                            .rank = m->srcid));
}

static int on_kvs_fence(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in, REQUEST_WITH(fence, .collect = false));
}

static int on_mput_wireup(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_mput_wireup *m = &in->m->mput_wireup;

    if (!s->ours)
        return broken(in, "mput-wireup from a client that did not ask for our dialect");
    if (m->bytes > LIMIT_CLIENT_STORE || (uint64_t)m->count * 6 > m->bytes)
        return broken(in, "mput-wireup with impossible lengths");
    s->raw = true;
    s->raw_bytes = m->bytes;
    s->raw_count = m->count;
    s->raw_asker = asker(in);
    return SESSION_IDLE;
}

static int on_getjobattr(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in, REQUEST_WITH(job_attr, .key = in->m->info_getjobattr.key));
}

static int on_putnodeattr(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_info_putnodeattr *m = &in->m->info_putnodeattr;

    return ask(s, in, REQUEST_WITH(node_put, .key = m->key, .value = m->value));
}

static int on_getnodeattr(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_info_getnodeattr *m = &in->m->info_getnodeattr;

    return ask(
        s, in,
        REQUEST_WITH(node_get, .key = m->key, .wait = m->wait, .idle = s->in_turn || m->alone));
}

/* An info that asks for the name to outlive its publisher's job. */
static enum name_persistence persistence_of(const struct pmi2_name_publish *m)
{
    for (uint32_t i = 0; i < m->infokey.n && i < m->infoval.n; i++) {
        if (slice_is(m->infokey.items[i], "persist"))
            return slice_is(m->infoval.items[i], "indefinite") ? NAME_STAYS : NAME_OF_JOB;
    }
    return NAME_OF_JOB;
}

static int on_name_publish(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_name_publish *m = &in->m->name_publish;

    return ask(s, in,
               REQUEST_WITH(publish, .service = m->name, .port = m->port,
                            .persistence = persistence_of(m)));
}

static int on_name_unpublish(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in, REQUEST_WITH(unpublish, .service = in->m->name_unpublish.name));
}

static int on_name_lookup(struct pmi2 *s, const struct incoming *in)
{
    return ask(s, in,
               REQUEST_WITH(lookup, .service = in->m->name_lookup.name, .uid = s->base.peer->uid,
                            .gid = s->base.peer->gid));
}

static int on_ring(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_ring *m = &in->m->ring;

    return ask(s, in, REQUEST_WITH(ring, .left = m->left, .right = m->right));
}

static int on_finalize(struct pmi2 *s, const struct incoming *in)
{
    s->begun = false;
    return ask(s, in, (struct request){ .kind = REQ_finalize });
}

/* A process that ends alone reports it and exits; its exit then decides. */
static int on_abort(struct pmi2 *s, const struct incoming *in)
{
    const struct pmi2_abort *m = &in->m->abort;
    struct request rq =
        REQUEST_WITH(abort, .code = 1, .message = PMI2_HAS(m, abort, msg) ? m->msg : m->message);

    if (PMI2_HAS(m, abort, isworld) && !m->isworld)
        return SESSION_IDLE;
    if (PMI2_HAS(m, abort, exitcode))
        rq.u.abort.code = (int)m->exitcode;
    return request(s, in->rq, rq, in->err);
}

/* ---- spawn ----------------------------------------------------------------------------------- */

static const char *command_fault(const struct pmi2_subcmd *m)
{
    if (m->maxprocs < 1 || m->maxprocs > LIMIT_JOB_PROCS)
        return "spawn of an impossible number of processes";
    if (PMI2_HAS(m, subcmd, argc) && m->argc != m->argv.n)
        return "spawn with an argc that does not match the arguments";
    if (m->infokey.n != m->infoval.n ||
        (PMI2_HAS(m, subcmd, infokeycount) && m->infokeycount != m->infokey.n))
        return "spawn with an infokeycount that does not match the infos";
    return NULL;
}

static const char *spawn_fault(const struct pmi2_spawn *m)
{
    const struct pmi2_subcmd *c = m->commands.items;
    const char *fault = NULL;

    if (PMI2_HAS(m, spawn, ncmds) && m->ncmds != m->commands.n)
        fault = "spawn with an ncmds that does not match the commands";
    if (m->ppkey.n != m->ppval.n ||
        (PMI2_HAS(m, spawn, preputcount) && m->preputcount != m->ppkey.n))
        fault = "spawn with a preputcount that does not match the preputs";
    for (uint32_t i = 0; i < m->commands.n && !fault; i++)
        fault = command_fault(&c[i]);
    return fault;
}

static struct spawn_request *copy_spawn(const struct pmi2_spawn *m)
{
    const struct pmi2_subcmd *c = m->commands.items;
    struct spawn_request *rq = spawn_new();

    if (!rq)
        return NULL;
    rq->commands = arena_array(&rq->arena, m->commands.n, sizeof *rq->commands);
    rq->ncommands = rq->commands ? m->commands.n : 0;
    for (uint32_t i = 0; i < rq->ncommands; i++)
        rq->commands[i] = spawn_copy_command(&rq->arena, c[i].subcmd, (uint32_t)c[i].maxprocs,
                                             &c[i].argv, &c[i].infokey, &c[i].infoval);
    rq->preputs = spawn_copy_pairs(&rq->arena, &m->ppkey, &m->ppval);
    rq->npreputs = m->ppkey.n;
    return arena_ok(&rq->arena) ? rq : spawn_free(rq);
}

static int on_spawn(struct pmi2 *s, const struct incoming *in)
{
    const char *fault = spawn_fault(&in->m->spawn);
    struct spawn_request *spawn;
    int rc;

    if (fault)
        return broken(in, fault);
    spawn = copy_spawn(&in->m->spawn);
    if (!spawn)
        return -ENOMEM;
    rc = ask(s, in, REQUEST_WITH(spawn, .request = spawn));
    if (rc != SESSION_REQUEST)
        spawn_free(spawn);
    return rc;
}

/* ---- additions of answers to thrid, rc and errmsg -------------------------------------------- */

typedef void filler(struct pmi2 *s, const struct answer *a, union pmi2_any *m);

static void fill_fullinit(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct pmi2_fullinit_response *r = &m->fullinit_response;
    const struct peer *p = s->base.peer;

    if (a->status != ANSWER_OK)
        return;
    PMI2_SET(*r, fullinit_response, version, 2);
    PMI2_SET(*r, fullinit_response, subversion, 0);
    PMI2_SET(*r, fullinit_response, rank, p->rank);
    PMI2_SET(*r, fullinit_response, size, p->job->plan.nprocs);
    PMI2_SET(*r, fullinit_response, appnum, p->job->plan.procs[p->rank].app);
    if (p->job->parent_name)
        PMI2_SET(*r, fullinit_response, spawner, slice_str(p->job->parent_name));
    PMI2_SET(*r, fullinit_response, debugged, false);
    PMI2_SET(*r, fullinit_response, verbose, false);
}

static void fill_getid(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    (void)a;
    PMI2_SET(m->job_getid_response, job_getid_response, jobid,
             slice_str(s->base.peer->job->nspace));
}

static void fill_connect(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    (void)s;
    if (a->status == ANSWER_OK)
        PMI2_SET(m->job_connect_response, job_connect_response, kvscopy, false);
}

static void fail(union pmi2_any *m, const char *why)
{
    struct pmi2_response *r = (void *)m;

    r->rc = 1;
    PMI2_SET(*r, kvs_put_response, errmsg, slice_str(why)); /* at the same place in all of them */
}

/* Found or not does not affect rc. */
static void set_found(union pmi2_any *m, const struct answer *a, bool *found)
{
    struct pmi2_response *r = (void *)m;

    *found = a->status == ANSWER_OK;
    if (a->status == ANSWER_NOT_FOUND) {
        r->rc = 0;
        r->has &= ~PMI2_BIT(kvs_put_response, errmsg);
    }
}

static bool can_read(const struct pmi2 *s, struct slice value)
{
    if (value.len > LEGACY_BODY)
        return false;
    return !s->picky || (value.len && slice_find(value, ';') == value.len);
}

/* kvs-get, info-getjobattr and info-getnodeattr have the same answer except for its name. */
static void fill_found(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct slice value = answer_to_get(a).value;
    struct pmi2_kvs_get_response *r = &m->kvs_get_response;
    bool found;

    set_found(m, a, &found);
    if (found && !can_read(s, value)) {
        fail(m, "the value cannot be said to this client");
        found = false;
    }
    PMI2_SET(*r, kvs_get_response, found, found);
    if (found)
        PMI2_SET(*r, kvs_get_response, value, value);
}

_Static_assert(offsetof(struct pmi2_kvs_get_response, value) ==
                       offsetof(struct pmi2_info_getjobattr_response, value) &&
                   offsetof(struct pmi2_kvs_get_response, value) ==
                       offsetof(struct pmi2_info_getnodeattr_response, value),
               "fill_found() serves all three");

static void fill_get_wireup(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct pmi2_get_wireup_response *r = &m->get_wireup_response;
    bool found;

    (void)s;
    set_found(m, a, &found);
    PMI2_SET(*r, get_wireup_response, found, found);
    if (found)
        PMI2_SET(*r, get_wireup_response, bytes, (uint32_t)answer_to_get(a).value.len);
}

static void fill_mput(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct slice refused = answer_to_put_many(a).refused;

    (void)s;
    if (a->status != ANSWER_OK && refused.len && slice_find(refused, '\0') == refused.len)
        PMI2_SET(m->mput_wireup_response, mput_wireup_response, key, refused);
}

/* Unlike elsewhere, not found is an error here. */
static void fill_lookup(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct slice port = answer_to_lookup(a).port;
    struct pmi2_name_lookup_response *r = &m->name_lookup_response;
    bool found = a->status == ANSWER_OK;

    if (found && !can_read(s, port)) {
        fail(m, "the port cannot be said to this client");
        found = false;
    }
    PMI2_SET(*r, name_lookup_response, found, found);
    if (found) {
        PMI2_SET(*r, name_lookup_response, port, port);
        PMI2_SET(*r, name_lookup_response, value, port);
    }
}

static void fill_spawn(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct answer_spawn spawned = answer_to_spawn(a);
    struct pmi2_spawn_response *r = &m->spawn_response;
    struct buf codes = BUF_NULL(LIMIT_PMI_LINE / 2);
    uint32_t nerrs = 0;

    for (uint32_t i = 0; i < spawned.codes.n; i++) {
        buf_printf(&codes, "%s%d", i ? "," : "", spawned.codes.items[i]);
        nerrs += spawned.codes.items[i] != 0;
    }
    if (spawned.nspace.len)
        PMI2_SET(*r, spawn_response, jobid, spawned.nspace);
    PMI2_SET(*r, spawn_response, nerrs, nerrs);
    if (spawned.codes.n && buf_ok(&codes))
        PMI2_SET(*r, spawn_response, errcodes, arena_copy(&s->arena, buf_slice(&codes)));
    buf_free(&codes);
}

static void fill_ring(struct pmi2 *s, const struct answer *a, union pmi2_any *m)
{
    struct answer_ring ring = answer_to_ring(a);
    struct pmi2_ring_response *r = &m->ring_response;

    (void)s;
    if (a->status != ANSWER_OK)
        return;
    PMI2_SET(*r, ring_response, count, (uint32_t)ring.place);
    PMI2_SET(*r, ring_response, left, ring.left);
    PMI2_SET(*r, ring_response, right, ring.right);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef int handler(struct pmi2 *s, const struct incoming *in);

static const struct pmi2_command {
    handler *on;
    filler *fill; /* NULL: nothing to add */
    enum pmi2_msg reply;
} commands[PMI2_COUNT] = {
    [PMI2_fullinit] = { on_fullinit, fill_fullinit, PMI2_fullinit_response },
    [PMI2_job_getid] = { on_job_getid, fill_getid, PMI2_job_getid_response },
    [PMI2_job_connect] = { on_job_connect, fill_connect, PMI2_job_connect_response },
    [PMI2_job_disconnect] = { on_job_disconnect, NULL, PMI2_job_disconnect_response },
    [PMI2_kvs_put] = { on_kvs_put, NULL, PMI2_kvs_put_response },
    [PMI2_kvs_get] = { on_kvs_get, fill_found, PMI2_kvs_get_response },
    [PMI2_kvs_fence] = { on_kvs_fence, NULL, PMI2_kvs_fence_response },
    [PMI2_mput_wireup] = { on_mput_wireup, fill_mput, PMI2_mput_wireup_response },
    [PMI2_get_wireup] = { on_get_wireup, fill_get_wireup, PMI2_get_wireup_response },
    [PMI2_info_getjobattr] = { on_getjobattr, fill_found, PMI2_info_getjobattr_response },
    [PMI2_info_putnodeattr] = { on_putnodeattr, NULL, PMI2_info_putnodeattr_response },
    [PMI2_info_getnodeattr] = { on_getnodeattr, fill_found, PMI2_info_getnodeattr_response },
    [PMI2_name_publish] = { on_name_publish, NULL, PMI2_name_publish_response },
    [PMI2_name_unpublish] = { on_name_unpublish, NULL, PMI2_name_unpublish_response },
    [PMI2_name_lookup] = { on_name_lookup, fill_lookup, PMI2_name_lookup_response },
    [PMI2_spawn] = { on_spawn, fill_spawn, PMI2_spawn_response },
    [PMI2_ring] = { on_ring, fill_ring, PMI2_ring_response },
    [PMI2_finalize] = { on_finalize, NULL, PMI2_finalize_response },
    [PMI2_abort] = { on_abort, NULL, PMI2_COUNT },
};

/* ---- answering ------------------------------------------------------------------------------- */

static void head(union pmi2_any *m, const struct pmi2_pending *p, const struct answer *a)
{
    struct pmi2_response *r = (void *)m;

    if (p->thrid_len)
        PMI2_SET(*r, kvs_put_response, thrid, slice_mem(p->thrid, p->thrid_len));
    PMI2_SET(*r, kvs_put_response, rc, a->status == ANSWER_OK ? 0 : 1);
    if (a->status != ANSWER_OK)
        PMI2_SET(*r, kvs_put_response, errmsg,
                 a->text.len && slice_find(a->text, '\0') == a->text.len
                     ? a->text
                     : slice_str(answer_word(a->status)));
}

static void reply(struct pmi2 *s, const struct pmi2_pending *p, const struct answer *a)
{
    const struct pmi2_command *c = &commands[p->msg];
    struct pmi2_response *r;
    union pmi2_any m;

    memset(&m, 0, sizeof m);
    head(&m, p, a);
    if (c->fill)
        c->fill(s, a, &m);
    if (pmi2_encode(c->reply, &m, &s->base.peer->out, NULL) != TEXT_UNSAYABLE)
        return;
    r = (void *)&m; /* a NUL in a value, or more than a frame holds */
    fail(&m, "the answer cannot be said in PMI-2");
    r->has &= PMI2_BIT(kvs_put_response, thrid) | PMI2_BIT(kvs_put_response, rc) |
              PMI2_BIT(kvs_put_response, errmsg);
    pmi2_encode(c->reply, &m, &s->base.peer->out, NULL);
}

static void pmi2_answer(struct session *base, uint32_t token, const struct answer *a)
{
    struct pmi2 *s = pmi2_of(base);
    struct pmi2_pending p;
    uint32_t i = 0;

    while (i < s->npending && s->pending[i].token != token)
        i++;
    if (i == s->npending)
        return;
    p = s->pending[i];
    s->pending[i] = s->pending[--s->npending];
    if (p.msg == PMI2_COUNT)
        return;
    reply(s, &p, a);
    if (p.msg == PMI2_get_wireup && a->status == ANSWER_OK)
        buf_slice_put(&s->base.peer->out, answer_to_get(a).value);
    if (p.msg == PMI2_fullinit && a->status == ANSWER_OK)
        s->attach_due = true;
}

/* ---- the start: lines of PMI-1 --------------------------------------------------------------- */

static void greet(struct pmi2 *s, const struct pmi1_init *m)
{
    struct pmi1_response_to_init r = { .has = 0 };
    const struct job *job = s->base.peer->job;

    PMI1_SET(r, response_to_init, rc, 0);
    PMI1_SET(r, response_to_init, pmi_version, 2);
    PMI1_SET(r, response_to_init, pmi_subversion, 0);
    s->ours = job && PMI1_HAS(m, init, wireup) && m->wireup >= PMI2_DIALECT;
    if (s->ours) {
        pmi1_facts(s->base.peer, &r);
        PMI1_SET(r, response_to_init, node, job->plan.procs[s->base.peer->rank].node);
        PMI1_SET(r, response_to_init, whole, job->plan.nnodes == 1);
        if (job->parent_name)
            PMI1_SET(r, response_to_init, spawner, slice_str(job->parent_name));
    }
    text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_response_to_init, &r, &s->base.peer->out, NULL);
}

static int on_init(struct pmi2 *s, const struct pmi1_init *m, struct request *rq,
                   struct errmsg *err)
{
    greet(s, m);
    s->begun = true;
    s->picky = false;
    s->in_turn = false;
    s->state = s->ours ? TEXT_READY : TEXT_START; /* it has everything that fullinit would bring */
    if (!s->base.peer->job)
        return SESSION_IDLE;
    return request(s, rq, REQUEST_WITH(attach, .speaks = SPEAKS_PMI2), err);
}

/* A line that does not begin PMI-2 goes to another session. */
static int on_line(struct pmi2 *s, struct slice line, struct request *rq, struct errmsg *err)
{
    union pmi1_any m;
    unsigned id;
    int rc = text_decode(&pmi1_proto, TEXT_BLANKS, line, &s->arena, &id, &m, sizeof m, err);

    if (rc < 0)
        return rc;
    if (rc == TEXT_FINE && id == PMI1_init && m.init.pmi_version == 2)
        return on_init(s, &m.init, rq, err);
    *rq = REQUEST_WITH(switch_version, .version = 1, .unread = buf_slice(&s->in));
    return SESSION_SWITCH;
}

static int take_line(struct pmi2 *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    size_t at = s->scanned + slice_find(slice_skip(bytes, s->scanned), '\n');

    s->scanned = at;
    if (at == bytes.len && at <= LIMIT_PMI_LINE)
        return SESSION_IDLE;
    if (at == bytes.len)
        return errmsg_set(err, SESSION_BROKEN, "a line of more than %u bytes", LIMIT_PMI_LINE);
    s->scanned = 0;
    s->consumed = at + 1;
    return on_line(s, slice_head(bytes, at), rq, err);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* An unknown command is answered all the same: no client may wait for ever. */
static int refuse(struct pmi2 *s, struct slice body, struct errmsg *err)
{
    struct slice name = slice_skip(body, strlen("cmd="));
    struct buf text = BUF_NULL(1024);
    char length[16];

    name = slice_head(name, slice_find(name, ';'));
    if (!s->begun || name.len == 0 || name.len > 64 || slice_find(name, '\0') < name.len)
        return SESSION_BROKEN;
    buf_printf(&text, "cmd=" SLICE_FMT "-response;rc=1;errmsg=", SLICE_ARG(name));
    for (const char *c = err->text; *c; c++)
        buf_byte(&text, *c == ';' ? ',' : *c);
    buf_byte(&text, ';');
    snprintf(length, sizeof length, "%-6zu", buf_len(&text));
    buf_str(&s->base.peer->out, length);
    buf_slice_put(&s->base.peer->out, buf_slice(&text));
    buf_free(&text);
    return SESSION_IDLE;
}

static const char *out_of_season(const struct pmi2 *s, unsigned id)
{
    const struct text_msg *m = &pmi2_proto.msgs[id];

    if (!(m->who & TEXT_CLIENT) || !commands[id].on)
        return "from a client";
    if (!s->begun)
        return s->state == TEXT_START ? "before init" : "after finalize";
    return m->when & s->state ? NULL : "before fullinit";
}

static int on_frame(struct pmi2 *s, struct slice body, struct request *rq, struct errmsg *err)
{
    union pmi2_any m;
    struct incoming in = { .m = &m, .rq = rq, .err = err };
    int rc = text_decode(&pmi2_proto, TEXT_SEMICOLONS, body, &s->arena, &in.id, &m, sizeof m, err);
    const char *when;

    if (rc < 0)
        return rc;
    if (rc == TEXT_UNKNOWN)
        return refuse(s, body, err);
    if (rc > 0)
        return SESSION_BROKEN;
    when = out_of_season(s, in.id);
    if (when)
        return errmsg_set(err, SESSION_BROKEN, "'%s' is not allowed %s",
                          pmi2_proto.msgs[in.id].name, when);
    if (((const struct pmi2_request *)(const void *)&m)->thrid.len > THRID_MAX)
        return errmsg_set(err, SESSION_BROKEN, "a thrid of more than %d characters", THRID_MAX);
    return commands[in.id].on(s, &in);
}

/* Adds the offending message to the reason. */
static int explain(struct slice text, struct errmsg *err)
{
    struct errmsg why = *err;

    return errmsg_set(err, SESSION_BROKEN, "%s, in: " SLICE_FMT "%s", why.text,
                      SLICE_ARG(slice_head(text, 256)), text.len > 256 ? "..." : "");
}

static int take_frame(struct pmi2 *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in), body;
    int rc;

    switch (pmi2_frame(bytes, &body)) {
    case PMI2_FRAME_SHORT: return SESSION_IDLE;
    case PMI2_FRAME_BAD:
        errmsg_set(err, 0, "a message without a length");
        return explain(slice_head(bytes, PMI2_HEAD), err);
    default: break;
    }
    s->consumed = PMI2_HEAD + body.len;
    rc = on_frame(s, body, rq, err);
    return rc == SESSION_BROKEN ? explain(body, err) : rc;
}

static int take_raw(struct pmi2 *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);

    if (bytes.len < s->raw_bytes)
        return SESSION_IDLE;
    s->raw = false;
    s->consumed = s->raw_bytes;
    return ask_for(
        s, &s->raw_asker, rq,
        REQUEST_WITH(put_many, .count = s->raw_count, .records = slice_head(bytes, s->raw_bytes)),
        err);
}

/* One step: a line, a frame or raw bytes.  SESSION_IDLE with nothing consumed: wait for more. */
static int step(struct pmi2 *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);

    if (s->raw)
        return take_raw(s, rq, err);
    if (bytes.ptr[0] == 'c' || bytes.ptr[0] == 'm')
        return take_line(s, rq, err);
    return take_frame(s, rq, err);
}

static int pmi2_next(struct session *base, struct request *rq_p, struct errmsg *err)
{
    struct pmi2 *s = pmi2_of(base);
    int rc = s->broken ? SESSION_BROKEN : SESSION_IDLE;

    if (s->in.error == BUF_TOO_LONG)
        rc = errmsg_set(err, SESSION_BROKEN, "a message of more than %zu bytes", s->in.max);
    if (rc == SESSION_IDLE && s->attach_due) {
        s->attach_due = false;
        return request(s, rq_p, REQUEST_WITH(attach, .speaks = SPEAKS_PMI2), err);
    }
    while (rc == SESSION_IDLE) {
        bool due = s->raw && s->raw_bytes == 0;
        if (s->consumed) {
            buf_take(&s->in, s->consumed);
            s->consumed = 0;
            arena_free(&s->arena);
        }
        if (buf_len(&s->in) == 0 && !due)
            return SESSION_IDLE;
        rc = step(s, rq_p, err);
        if (rc == SESSION_IDLE && s->consumed == 0)
            return SESSION_IDLE;
    }
    s->broken = rc < 0 || rc == SESSION_BROKEN;
    return rc;
}

const struct session_ops pmi2_ops = {
    .name = "PMI-2",
    .create = pmi2_create,
    .destroy = pmi2_destroy,
    .input = pmi2_input,
    .next = pmi2_next,
    .answer = pmi2_answer,
};
