/* server_collective.c - the exchange with the servers of other nodes, through the host.
 *
 * The core gathers the processes of this node (core/exchange_data.h) and names the operation: a
 * fence becomes a call of fence_nb, other collectives connect, disconnect or group, a modex request
 * to another node direct_modex.  The core's own blocks never leave this process: the bytes that
 * hosts carry have the format of OpenPMIx's servers (versions 3.2 to 5.0), so that nodes with
 * either library take part in one job.
 *
 *   fence     the message fence_data of proto/pmix_commands.def
 *   modex     KVAL ... */
#include "lib/pmix/server/server_collective.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/limit.h"
#include "core/block.h"
#include "core/coll_id.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/modex.h"
#include "lib/pmix/server/server_ask.h"
#include "lib/pmix/server/server_directives.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"
#include "wire/parts.h"
#include "wire/pmix_message.h"

enum { FLAG_COLLECTED = 1, FLAG_KEYS = 2 };

static const struct ptype_flavour *wire(void)
{
    return ptype_flavour(SLICE("v41"));
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct card card_of(const struct seg_item *item)
{
    return (struct card){ .type = item->type ? item->type : MODEX_STRING,
                          .scope = item->scope,
                          .key = item->key,
                          .value = item->value };
}

/* One rank's modex values are gathered, then written as a whole. */
struct rank_writer {
    struct ppack *out;
    struct buf cards;
    struct ppack w;
    bool begun;
};

static void end_rank(struct rank_writer *r)
{
    if (!r->begun)
        return;
    pmsg_add_node_values_ranks(r->out, &r->w);
    r->begun = false;
}

static void begin_rank(struct rank_writer *r, uint32_t rank)
{
    end_rank(r);
    r->w = pmsg_part(r->out, &r->cards);
    pmsg_write_rank_values(&r->w, 0, &(struct pmsg_rank_values){ .rank = rank });
    r->begun = true;
}

static void put_ranks(struct ppack *out, struct slice block)
{
    struct rank_writer r = { .out = out, .cards = BUF_NULL(LIMIT_PMIX_MESSAGE) };
    struct block_reader in;
    int what;

    block_open(&in, block);
    while ((what = block_next(&in)) == BLOCK_RANK || what == BLOCK_ENTRY) {
        struct card c = card_of(&in.item);
        if (what == BLOCK_RANK)
            begin_rank(&r, in.item.rank);
        else
            pmix_put_card(&r.w, &c);
    }
    end_rank(&r);
    if (what != BLOCK_OVER)
        out->error = PTYPE_NO_MEMORY;
    block_close(&in);
    buf_free(&r.cards);
}

/* Writes this node's contribution to a fence. */
static bool spell_fence(struct buf *out, struct slice block, bool collect)
{
    struct buf inner = BUF_NULL(LIMIT_PMIX_MESSAGE);
    struct ppack w, o;

    ppack_init(&o, out, wire());
    w = pmsg_part(&o, &inner);
    pmsg_write_node_values(&w, 0,
                           &(struct pmsg_node_values){ .flags = collect ? FLAG_COLLECTED : 0 });
    put_ranks(&w, block);
    pmsg_add_fence_data_nodes(&o, &w);
    buf_free(&inner);
    return ppack_ok(&o);
}

static bool spell_cards(struct buf *out, struct slice block)
{
    struct block_reader in;
    struct ppack w;
    int what;

    ppack_init(&w, out, wire());
    block_open(&in, block);
    while ((what = block_next(&in)) == BLOCK_RANK || what == BLOCK_ENTRY) {
        struct card c = card_of(&in.item);
        if (what == BLOCK_ENTRY)
            pmix_put_card(&w, &c);
    }
    block_close(&in);
    return what == BLOCK_OVER && ppack_ok(&w);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct block_maker {
    struct arena arena; /* memory that the block borrows until it is complete */
    struct block_writer w;
    struct buf block;
    bool good;
};

static void maker_begin(struct block_maker *m)
{
    arena_init(&m->arena, LIMIT_PMIX_MESSAGE);
    buf_init(&m->block, LIMIT_BLOCK);
    block_begin(&m->w, &m->block, 0);
    m->good = true;
}

static void maker_end(struct block_maker *m)
{
    block_end(&m->w);
    m->good = m->good && arena_ok(&m->arena) && buf_ok(&m->block);
}

static void maker_free(struct block_maker *m)
{
    arena_free(&m->arena);
    buf_free(&m->block);
}

static void add_value(struct block_maker *m, struct slice key, const pmix_value_t *v)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice value = pmix_canonical(v, &bytes);
    struct seg_item item = { .type = v->type,
                             .scope = MODEX_REMOTE,
                             .key = arena_copy(&m->arena, key),
                             .value = arena_copy(&m->arena, value) };

    if (buf_ok(&bytes))
        block_entry(&m->w, &item);
    else
        m->good = false;
    buf_free(&bytes);
}

static void read_kvals(struct block_maker *m, struct punpack *r)
{
    while (punpack_ok(r) && punpack_left(r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(r, &v);
        if (!punpack_ok(r))
            break;
        add_value(m, key, &v);
        pmem_value_free(&v, foreign_objects());
    }
}

struct key_list {
    char **names;
    int32_t n;
};

static void read_numbered(struct block_maker *m, struct punpack *r, const struct key_list *keys)
{
    struct pmsg_numbered_value v;

    while (pmsg_next_numbered_rank_values(r, 0, &v)) {
        if (v.number < (uint32_t)keys->n && keys->names[v.number])
            add_value(m, slice_str(keys->names[v.number]), &v.value);
        else
            r->error = PTYPE_MALFORMED;
        pmsg_free_numbered_value(&v, foreign_objects());
    }
}

static void read_key_list(struct punpack *r, struct key_list *k)
{
    struct pmsg_keyed_ranks m;

    pmsg_read_keyed_ranks(r, 0, &m);
    /* A key takes more than a byte. */
    if (!punpack_ok(r) || m.nkeys > punpack_left(r) || m.nkeys == 0)
        return;
    k->names = calloc(m.nkeys, sizeof *k->names);
    k->n = (int32_t)m.nkeys;
    if (k->names)
        punpack(r, k->names, &k->n, PMIX_STRING);
    else
        k->n = 0;
}

static void free_key_list(struct key_list *k)
{
    for (int32_t i = 0; i < k->n; i++)
        free(k->names[i]);
    free(k->names);
}

/* One that cannot be read, or of no rank of the job, is passed over. */
static void read_rank(struct block_maker *m, struct punpack *r, uint32_t nprocs)
{
    struct pmsg_rank_values of;
    struct punpack in;

    if (pmsg_read_rank_values(r, 0, &of) != PTYPE_FINE || of.rank >= nprocs)
        return;
    block_rank(&m->w, of.rank, false);
    in = pmsg_inside(r, of.values);
    read_kvals(m, &in);
    m->good = m->good && punpack_ok(&in);
}

static void read_numbered_rank(struct block_maker *m, struct punpack *r, uint32_t nprocs,
                               const struct key_list *keys)
{
    struct pmsg_numbered_rank of;
    struct punpack in;

    if (pmsg_read_numbered_rank(r, 0, &of) != PTYPE_FINE || of.rank >= nprocs)
        return;
    block_rank(&m->w, of.rank, false);
    in = pmsg_inside(r, of.values);
    read_numbered(m, &in, keys);
    m->good = m->good && punpack_ok(&in);
}

static void read_node(struct block_maker *m, const struct punpack *all,
                      const struct pmsg_node_values *node, uint32_t nprocs)
{
    struct punpack r = pmsg_inside(all, node->ranks);
    struct key_list keys = { NULL, 0 };

    if (node->flags & FLAG_KEYS)
        read_key_list(&r, &keys);
    while (punpack_ok(&r) && punpack_left(&r)) {
        struct punpack one = pmsg_inside(&r, punpack_bytes(&r));
        if (!punpack_ok(&r))
            break;
        if (node->flags & FLAG_KEYS)
            read_numbered_rank(m, &one, nprocs, &keys);
        else
            read_rank(m, &one, nprocs);
    }
    m->good = m->good && punpack_ok(&r);
    free_key_list(&keys);
}

/* Reads the contributions of all nodes. */
static void read_fence(struct block_maker *m, struct slice bytes, uint32_t nprocs)
{
    struct pmsg_node_values node;
    struct punpack r;

    punpack_init(&r, bytes, wire());
    while (pmsg_next_fence_data_nodes(&r, 0, &node))
        read_node(m, &r, &node, nprocs);
    m->good = m->good && punpack_ok(&r);
}

/* ---- fences and other collectives ------------------------------------------------------------ */

/* The ask of a contribution keeps the name of its group in `text`. */
static bool name_it(struct ask *a, struct pserver *s, const struct contribution *c)
{
    a->text = strndup(c->group, c->id.group.len);
    a->coll = c->id;
    a->coll.group = slice_str(a->text);
    a->procs = calloc(c->nparties + (size_t)1, sizeof *a->procs);
    if (!a->text || !a->procs)
        return false;
    for (uint32_t i = 0; i < c->nparties; i++) {
        const struct job *j = core_job(&s->server.core, c->parties[i].job);
        uint32_t rank =
            c->parties[i].rank == REQUEST_ALL_RANKS ? PMIX_RANK_WILDCARD : c->parties[i].rank;
        if (j)
            PMIx_Load_procid(&a->procs[a->nprocs++], j->nspace, rank);
    }
    return true;
}

static enum answer_status answer_of(pmix_status_t status)
{
    switch (status) {
    case PMIX_SUCCESS: return ANSWER_OK;
    case PMIX_ERR_TIMEOUT: return ANSWER_TIMEOUT;
    case PMIX_ERR_NOT_FOUND: return ANSWER_NOT_FOUND;
    case PMIX_ERR_NOT_SUPPORTED: return ANSWER_UNSUPPORTED;
    default: return ANSWER_FAILED;
    }
}

static void complete(struct ask *a, enum answer_status status, struct slice block)
{
    server_deliver(&a->s->server, INPUT(completed, .id = *(&a->coll), .status = status,
                                        .blocks = { &block, block.len ? 1 : 0 }));
}

static void fence_over(struct ask *a, pmix_status_t status)
{
    const struct nspace *n = a->nprocs ? nspace_find(a->s, a->procs[0].nspace) : NULL;
    struct block_maker m;
    enum answer_status st = answer_of(status);

    maker_begin(&m);
    if (st == ANSWER_OK && buf_len(&a->tail) && n && n->job)
        read_fence(&m, buf_slice(&a->tail), n->job->plan.nprocs);
    maker_end(&m);
    if (!m.good)
        st = ANSWER_FAILED;
    complete(a, st, buf_slice(&m.block));
    maker_free(&m);
}

/* The nodes' values for their neighbours follow each other, as each node has written them. */
static void ring_over(struct ask *a, pmix_status_t status)
{
    complete(a, answer_of(status), buf_slice(&a->tail));
}

/* The bytes are the host's from now on, as with OpenPMIx's servers: Open MPI's daemons and
 * PRRTE's free them. */
static pmix_status_t call_fence(struct ask *a)
{
    char *bytes = a->bytes.bytes;

    if (!a->s->module.fence_nb)
        return PMIX_ERR_NOT_SUPPORTED;
    a->bytes.bytes = NULL;
    return a->s->module.fence_nb(a->procs, a->nprocs, a->infos, a->ninfos, bytes, a->bytes.size,
                                 ask_on_modex, a);
}

static const struct ask_kind fence_kind = { .call = call_fence };

static pmix_status_t call_connect(struct ask *a)
{
    if (!a->s->module.connect)
        return PMIX_ERR_NOT_SUPPORTED;
    return a->s->module.connect(a->procs, a->nprocs, a->infos, a->ninfos, ask_on_op, a);
}

static pmix_status_t call_disconnect(struct ask *a)
{
    if (!a->s->module.disconnect)
        return PMIX_ERR_NOT_SUPPORTED;
    return a->s->module.disconnect(a->procs, a->nprocs, a->infos, a->ninfos, ask_on_op, a);
}

static pmix_status_t call_group(struct ask *a)
{
    char name[PMIX_MAX_KEYLEN + 1];
    pmix_group_operation_t op;
    struct coll_meeting m;

    if (!a->s->module.group)
        return PMIX_ERR_NOT_SUPPORTED;
    if (!coll_meeting_read(a->coll.group, &m) || m.name.len >= sizeof name)
        return PMIX_ERR_BAD_PARAM;
    op = m.kind == COLL_UNGROUP ? PMIX_GROUP_DESTRUCT : PMIX_GROUP_CONSTRUCT;
    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(m.name));
    return a->s->module.group(op, name, a->procs, a->nprocs, a->infos, a->ninfos, ask_on_infos, a);
}

/* Hosts do not support rings: but a fence distributes the contribution of each node. */
static const struct ask_kind ring_kind = { .call = call_fence };

static const struct ask_kind connect_kind = { .call = call_connect };
static const struct ask_kind disconnect_kind = { .call = call_disconnect };
static const struct ask_kind group_kind = { .call = call_group };

/* All replies carry a number: the host's, if it gave one. */
static void meeting_over(struct ask *a, pmix_status_t status)
{
    struct buf block = BUF_NULL(LIMIT_GROUP_RECORDS);
    bool has_number = false;
    size_t number = 1;

    for (size_t i = 0; i < a->nresults; i++) {
        if (PMIx_Check_key(a->results[i].key, PMIX_GROUP_CONTEXT_ID) &&
            a->results[i].value.type == PMIX_SIZE) {
            number = a->results[i].value.data.size;
            has_number = true;
        }
    }
    if (has_number || !a->all_here) { /* within this node the core has one */
        buf_byte(&block, 'M');
        parts_put_uint(&block, number);
    }
    if (a->bytes.bytes) /* what the members here give each other, and who has ended */
        buf_put(&block, a->bytes.bytes, a->bytes.size);
    if (status == PMIX_ERR_NOT_SUPPORTED && a->all_here) /* no host is needed here */
        status = PMIX_SUCCESS;
    complete(a, answer_of(status), buf_slice(&block));
    buf_free(&block);
}

static const struct ask_kind *kind_of(enum coll_kind kind)
{
    switch (kind) {
    case COLL_FENCE:
    case COLL_MEET_FENCE: return &fence_kind;
    case COLL_RING: return &ring_kind;
    case COLL_CONNECT: return &connect_kind;
    case COLL_DISCONNECT: return &disconnect_kind;
    case COLL_GROUP:
    case COLL_GROUP_OPTIONAL:
    case COLL_UNGROUP: return &group_kind;
    case COLL_KINDS: break;
    }
    return NULL;
}

static bool add_data(struct ask *a, const struct contribution *c)
{
    struct buf bytes = BUF_NULL(LIMIT_PMIX_MESSAGE);
    bool collect = c->collect || buf_len(&c->block);
    bool good = !collect || spell_fence(&bytes, buf_slice(&c->block), collect);

    if (good && collect)
        good = ask_add_info(&a->infos, &a->ninfos, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    if (good && buf_len(&bytes)) {
        a->bytes.bytes = buf_steal(&bytes, &a->bytes.size);
        good = a->bytes.bytes != NULL;
    }
    buf_free(&bytes);
    return good;
}

static bool keep_block(struct ask *a, const struct contribution *c)
{
    a->bytes.size = buf_len(&c->block);
    a->bytes.bytes = malloc(a->bytes.size + 1);
    if (a->bytes.bytes && a->bytes.size)
        memcpy(a->bytes.bytes, buf_slice(&c->block).ptr, a->bytes.size);
    return a->bytes.bytes != NULL;
}

static bool add_ring(struct ask *a, const struct contribution *c)
{
    bool collect = true;

    if (!keep_block(a, c))
        return false;
    return ask_add_info(&a->infos, &a->ninfos, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
}

static bool spreads(const struct core *core, const struct contribution *c)
{
    for (uint32_t i = 0; i < c->nparties; i++) {
        const struct job *j = core_job(core, c->parties[i].job);
        bool all = c->parties[i].rank == REQUEST_ALL_RANKS;
        if (!j || (j->spread && (all || !job_rank_is_here(j, c->parties[i].rank))))
            return true;
    }
    return false;
}

static void contribute(struct pserver *s, const struct contribution *c)
{
    const struct ask_kind *kind = kind_of(c->id.kind);
    struct ask *a = kind ? ask_new(s, kind, 0) : NULL;
    bool good = a && name_it(a, s, c);

    if (good && c->id.kind == COLL_FENCE)
        good = add_data(a, c);
    if (good && kind == &ring_kind)
        good = add_ring(a, c);
    if (good && kind == &group_kind)
        good = keep_block(a, c);
    if (good) {
        a->then = kind == &fence_kind ? fence_over : kind == &ring_kind ? ring_over : meeting_over;
        a->all_here = !spreads(&s->server.core, c);
        good = directives_add(a, s, c);
    }
    if (good) {
        ask_go(a);
    } else {
        if (a)
            ask_free(a);
        server_deliver(&s->server, INPUT(completed, .id = *(&c->id), .status = ANSWER_FAILED,
                                         .blocks = { NULL, 0 }));
    }
}

/* ---- direct modex ---------------------------------------------------------------------------- */

static pmix_status_t call_modex(struct ask *a)
{
    if (!a->s->module.direct_modex)
        return PMIX_ERR_NOT_SUPPORTED;
    return a->s->module.direct_modex(&a->name, a->infos, a->ninfos, ask_on_modex, a);
}

static const struct ask_kind modex_kind = { .call = call_modex };

static void modex_over(struct ask *a, pmix_status_t status)
{
    struct nspace *n = nspace_find(a->s, a->name.nspace);
    enum answer_status st = answer_of(status);
    struct block_maker m;
    struct punpack r;

    if (!n || !n->job)
        return;
    maker_begin(&m);
    block_rank(&m.w, a->name.rank, true);
    punpack_init(&r, buf_slice(&a->tail), wire());
    if (st == ANSWER_OK)
        read_kvals(&m, &r);
    maker_end(&m);
    if (!m.good || !punpack_ok(&r))
        st = ANSWER_FAILED;
    if (st == ANSWER_FAILED)
        st = ANSWER_NOT_FOUND;
    server_deliver(&a->s->server, INPUT(modex_reply, .job = n->job->id, .rank = a->name.rank,
                                        .status = st, .block = buf_slice(&m.block)));
    maker_free(&m);
}

/* Begun seconds count; 0: no time-out. */
static int seconds_of(uint64_t ns)
{
    uint64_t s = ns / NS_PER_S + (ns % NS_PER_S != 0);

    return s < INT_MAX ? (int)s : INT_MAX;
}

static void fetch(struct pserver *s, const struct op_modex_request *e)
{
    struct job *j = core_job(&s->server.core, e->job);
    struct ask *a = j ? ask_new(s, &modex_kind, 0) : NULL;
    char *text = strndup(e->key.ptr ? e->key.ptr : "", e->key.len);
    int seconds = seconds_of(e->timeout_ns);
    bool good = a && text;

    if (good) {
        PMIx_Load_procid(&a->name, j->nspace, e->rank);
        a->then = modex_over;
        if (*text)
            good = ask_add_info(&a->infos, &a->ninfos, PMIX_REQUIRED_KEY, text, PMIX_STRING);
        if (good && seconds)
            good = ask_add_info(&a->infos, &a->ninfos, PMIX_TIMEOUT, &seconds, PMIX_INT);
    }
    free(text);
    if (good) {
        ask_go(a);
        return;
    }
    if (a)
        ask_free(a);
    if (j)
        server_deliver(&s->server, INPUT(modex_reply, .job = j->id, .rank = e->rank,
                                         .status = ANSWER_FAILED, .block = SLICE_NULL));
}

/* ---- direct modex, the serving side ---------------------------------------------------------- */

/* Another node's request, until it is answered. */
struct promise {
    struct scall call;
    struct list link;
    uint64_t ticket;
    pmix_dmodex_response_fn_t cbfunc;
    void *cbdata;
    pmix_status_t status;
    struct buf data;
};

static void run_promise(struct scall *c)
{
    struct promise *p = LIST_OF(c, struct promise, call);
    struct slice data = buf_slice(&p->data);

    p->cbfunc(p->status, data.len ? (char *)(uintptr_t)data.ptr : NULL, data.len, p->cbdata);
    buf_free(&p->data);
    free(p);
}

static void keep_promise(struct pserver *s, struct promise *p, pmix_status_t status)
{
    p->status = status;
    list_unlink(&p->link);
    pserver_add_call(s, &p->call);
}

static void cards_found(struct pserver *s, const struct op_modex_reply *e)
{
    LIST_EACH(l, &s->promises)
    {
        struct promise *p = LIST_OF(l, struct promise, link);
        if (p->ticket != e->asker)
            continue;
        if (e->status == ANSWER_OK && !spell_cards(&p->data, e->block))
            p->status = PMIX_ERR_NOMEM;
        keep_promise(s, p,
                     p->status != PMIX_SUCCESS     ? p->status
                     : e->status == ANSWER_OK      ? PMIX_SUCCESS
                     : e->status == ANSWER_TIMEOUT ? PMIX_ERR_TIMEOUT
                                                   : PMIX_ERR_NOT_FOUND);
        return;
    }
}

pmix_status_t meet_request(struct pserver *s, const pmix_proc_t *proc,
                           pmix_dmodex_response_fn_t cbfunc, void *cbdata)
{
    struct nspace *n = nspace_find(s, proc->nspace);
    struct job *j = n ? nspace_job(s, n) : NULL;
    struct promise *p;

    if (!j || (proc->rank != PMIX_RANK_WILDCARD && proc->rank >= j->plan.nprocs))
        return PMIX_ERR_NOT_FOUND;
    p = calloc(1, sizeof *p);
    if (!p)
        return PMIX_ERR_NOMEM;
    p->call.run = run_promise;
    p->ticket = ++s->next_promise;
    p->cbfunc = cbfunc;
    p->cbdata = cbdata;
    buf_init(&p->data, LIMIT_PMIX_MESSAGE);
    list_append(&s->promises, &p->link);
    if (proc->rank == PMIX_RANK_WILDCARD) {
        buf_slice_put(&p->data, pmix_job_info(j, wire(), false));
        keep_promise(s, p, buf_len(&p->data) ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    } else {
        server_deliver(&s->server,
                       INPUT_AT(clock_now_ns(), modex_request, .job = j->id, .rank = proc->rank,
                                .key = SLICE_NULL, .timeout_ns = 0, .asker = p->ticket));
    }
    return PMIX_SUCCESS;
}

void meet_free(struct pserver *s)
{
    LIST_EACH(l, &s->promises)
    keep_promise(s, LIST_OF(l, struct promise, link), PMIX_ERR_UNREACH);
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* Other nodes cannot be asked: the host reports when a collective fails. */
static void trust_the_host(struct pserver *s, const struct op_collective_query *e)
{
    struct job *j = core_job(&s->server.core, e->job);

    if (j)
        server_deliver(&s->server, INPUT(collective_reply, .job = j->id, .rank = e->rank,
                                         .id = *(&e->id), .contributes = true));
}

void meet_effect(struct pserver *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_contribute: contribute(s, e->u.contribute.contribution); break;
    case EFFECT_modex_request: fetch(s, &e->u.modex_request); break;
    case EFFECT_modex_reply: cards_found(s, &e->u.modex_reply); break;
    case EFFECT_collective_query: trust_the_host(s, &e->u.collective_query); break;
    default: break;
    }
}
