/* pmix_reply.c - answers in the client's encoding: a header, the status, and the command's results.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/modex.h"
#include "session/pmix_priv.h"
#include "wire/pmix_ours.h"

struct header {
    uint32_t index, tag, nbytes, padding;
};

pmix_status_t pmix_status_of(enum answer_status status)
{
    switch (status) {
    case ANSWER_OK: return PMIX_SUCCESS;
    case ANSWER_NOT_FOUND: return PMIX_ERR_NOT_FOUND;
    case ANSWER_DUPLICATE: return PMIX_ERR_DUPLICATE_KEY;
    case ANSWER_RESERVED: return PMIX_ERR_NO_PERMISSIONS;
    case ANSWER_BAD_KEY:
    case ANSWER_BAD_VALUE: return PMIX_ERR_BAD_PARAM;
    case ANSWER_OVER_QUOTA: return PMIX_ERR_OUT_OF_RESOURCE;
    case ANSWER_TIMEOUT: return PMIX_ERR_TIMEOUT;
    case ANSWER_NO_MEMORY: return PMIX_ERR_NOMEM;
    case ANSWER_LATER:
    case ANSWER_FAILED: break;
    }
    return PMIX_ERROR;
}

struct ppack pmix_writer(struct pmix_session *s)
{
    struct ppack w;

    buf_clear(&s->reply);
    ppack_init(&w, &s->reply, s->as);
    w.described = s->described;
    return w;
}

void pmix_send(struct pmix_session *s, uint32_t tag)
{
    struct header h = { 0, htonl(tag), htonl((uint32_t)buf_len(&s->reply)), 0 };
    struct buf *out = &s->base.peer->out;

    if (!buf_ok(&s->reply)) { /* never an empty message: clients take it for a lost connection */
        out->error = BUF_NO_MEMORY;
        return;
    }
    buf_put(out, &h, sizeof h);
    buf_slice_put(out, buf_slice(&s->reply));
}

void pmix_send_or_fail(struct pmix_session *s, uint32_t tag, const struct ppack *w)
{
    if (ppack_ok(w))
        pmix_send(s, tag);
    else
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
}

void pmix_reply_status(struct pmix_session *s, uint32_t tag, pmix_status_t status)
{
    struct ppack w = pmix_writer(s);

    ppack_status(&w, status);
    pmix_send(s, tag);
}

/* ---- modex entries --------------------------------------------------------------------------- */

static void put_varint(struct buf *out, uint64_t v)
{
    while (v > 0x7f) {
        buf_byte(out, (char)(v | 0x80));
        v >>= 7;
    }
    buf_byte(out, (char)v);
}

/* The canonical bytes as in v41: type, then the payload. */
static void put_canonical(struct buf *out, const struct card *c)
{
    put_varint(out, c->type);
    if (c->type != MODEX_STRING) {
        buf_slice_put(out, c->value);
        return;
    }
    put_varint(out, ((uint64_t)c->value.len + 1) << 1); /* lengths are signed: zigzag */
    buf_slice_put(out, c->value);
    buf_byte(out, '\0');
}

static size_t varint_len(const unsigned char *at, const unsigned char *end)
{
    size_t n = 0;

    while (at + n < end && at[n] & 0x80)
        n++;
    return n + 1;
}

/* The payload of a value as in v41: packed as one unit, without its count and type. */
struct slice pmix_canonical(const pmix_value_t *v, struct buf *bytes)
{
    struct slice all;
    struct ppack w;

    if (v->type == PMIX_STRING)
        return slice_str(v->data.string);
    ppack_init(&w, bytes, &ptype_own);
    ppack(&w, v, 1, PMIX_VALUE);
    all = buf_slice(bytes);
    if (!ppack_ok(&w) || all.len < 2) {
        bytes->error = w.error == PTYPE_NO_MEMORY ? BUF_NO_MEMORY : BUF_TOO_LONG;
        return SLICE_NULL;
    }
    return slice_skip(all, 1 + varint_len((const unsigned char *)all.ptr + 1,
                                          (const unsigned char *)all.ptr + all.len));
}

bool pmix_value_of(uint16_t type, struct slice value, pmix_value_t *v_p)
{
    struct buf bytes = BUF_NULL((size_t)1 << 30);
    struct punpack r;
    int32_t n = 1;
    bool good;

    buf_byte(&bytes, 2); /* a count of one */
    put_canonical(&bytes, &(struct card){ .type = type, .value = value });
    punpack_init(&r, buf_slice(&bytes), &ptype_own);
    good = buf_ok(&bytes) && punpack(&r, v_p, &n, PMIX_VALUE) == PTYPE_FINE;
    buf_free(&bytes);
    return good;
}

/* Any encoding but v41's: the value has to be decoded. */
static void put_translated(struct ppack *w, const char *key, const struct card *c)
{
    pmix_value_t v;

    if (!pmix_value_of(c->type, c->value, &v)) {
        w->error = PTYPE_NO_MEMORY;
        return;
    }
    ppack_kval(w, key, &v);
    pmem_value_free(&v, NULL);
}

void pmix_put_card(struct ppack *w, const struct card *c)
{
    char key[PMIX_MAX_KEYLEN + 1];

    if (!ppack_ok(w) || c->key.len > PMIX_MAX_KEYLEN)
        return;
    memcpy(key, c->key.ptr, c->key.len);
    key[c->key.len] = '\0';
    if (w->as->fixed || w->described) {
        put_translated(w, key, c);
        return;
    }
    ppack_str(w, key);
    put_canonical(w->out, c);
}

void pmix_send_output(struct peer *p, const pmix_proc_t *source, uint16_t channel, size_t ref,
                      const pmix_info_t *infos, size_t ninfos, struct slice bytes)
{
    struct pmix_session *s = (struct pmix_session *)(void *)p->session;
    struct ppack w;

    if (!s || s->base.ops != &pmix_ops || s->state != PMIX_TALKING)
        return;
    w = pmix_writer(s);
    pmsg_write_output(&w, s->release,
                      &(struct pmsg_output){
                          .source = *source,
                          .channel = channel,
                          .ref = ref,
                          .infos = { ninfos, (pmix_info_t *)(uintptr_t)infos },
                          .bytes = bytes,
                      });
    if (ppack_ok(&w))
        pmix_send(s, OUTPUT_TAG);
}

/* ---- get ------------------------------------------------------------------------------------- */

static bool may_see(const struct job *asker, uint32_t asker_rank, const struct job *owner,
                    uint32_t rank, const struct card *c)
{
    bool same_node =
        asker == owner && asker->plan.procs[asker_rank].node == owner->plan.procs[rank].node;

    return c->scope == MODEX_GLOBAL || (c->scope == MODEX_LOCAL) == same_node;
}

static void put_proc(struct ppack *w, const char *nspace, uint32_t rank)
{
    pmix_proc_t proc;

    memset(&proc, 0, sizeof proc);
    strncpy(proc.nspace, nspace, PMIX_MAX_NSLEN);
    proc.rank = rank;
    ppack(w, &proc, 1, PMIX_PROC);
}

/* A BYTE_OBJECT made of a name and the data after it. */
static void put_named(struct ppack *w, struct buf *inner)
{
    if (buf_ok(inner))
        ppack_bytes(w, buf_slice(inner));
    else
        w->error = PTYPE_NO_MEMORY;
    buf_free(inner);
}

static struct ppack inner_writer(const struct pmix_session *s, struct buf *inner)
{
    struct ppack w;

    ppack_init(&w, inner, s->as);
    w.described = s->described;
    return w;
}

void pmix_put_cards(struct pmix_session *s, struct ppack *w, struct job *owner, uint32_t rank)
{
    const struct peer *p = s->base.peer;
    struct card c;

    for (uint32_t i = 0; modex_card(owner, rank, i, &c); i++) {
        if (may_see(p->job, p->rank, owner, rank, &c))
            pmix_put_card(w, &c);
    }
}

static void put_rank_cards(struct pmix_session *s, struct ppack *w, struct job *owner,
                           uint32_t rank)
{
    struct buf inner = BUF_NULL((size_t)1 << 30);
    struct ppack in = inner_writer(s, &inner);

    put_proc(&in, owner->nspace, rank);
    pmix_put_cards(s, &in, owner, rank);
    put_named(w, &inner);
}

/* A key without an owner in the request: sent as an entry of the rank that put it (of the wildcard
 * rank if the server did). */
static void put_any_card(struct pmix_session *s, struct ppack *w, struct job *owner,
                         struct slice key)
{
    struct buf inner = BUF_NULL((size_t)1 << 30);
    struct ppack in = inner_writer(s, &inner);
    struct seg_item item;
    struct card c;

    if (!seg_find(&owner->store.view, SEG_ANY_RANK, key, &item))
        return;
    put_proc(&in, owner->nspace, item.rank < owner->plan.nprocs ? item.rank : PMIX_RANK_WILDCARD);
    if (modex_find(owner, SEG_ANY_RANK, key, &c))
        pmix_put_card(&in, &c);
    put_named(w, &inner);
}

static void put_job_object(struct pmix_session *s, struct ppack *w, struct job *owner)
{
    struct buf inner = BUF_NULL((size_t)1 << 30);
    struct ppack in = inner_writer(s, &inner);

    put_proc(&in, owner->nspace, PMIX_RANK_WILDCARD);
    buf_slice_put(&inner, pmix_job_info(owner, s->as, s->described));
    put_named(w, &inner);
}

/* Values that change while a process runs, and are not part of the information at init. */
static void put_life(struct ppack *w, const struct proc *p)
{
    pmix_value_t pid = { .type = PMIX_PID, .data.pid = p->pid };
    pmix_value_t code = { .type = PMIX_INT, .data.integer = p->code };

    if (p->pid)
        ppack_kval(w, PMIX_PROC_PID, &pid);
    if (p->state == PROC_STATE_GONE)
        ppack_kval(w, PMIX_EXIT_CODE, &code);
}

/* It is not part of the information at init, and is known. */
static bool is_told_later(const struct proc *p, struct slice key)
{
    if (slice_is(key, PMIX_PROC_PID))
        return p->pid != 0;
    if (slice_is(key, PMIX_EXIT_CODE))
        return p->state == PROC_STATE_GONE;
    return slice_is(key, PMIX_REINCARNATION) || slice_is(key, PMIX_APP_RANK);
}

/* The process manager's information on a process. */
static void put_known(struct pmix_session *s, struct ppack *w, struct job *j, uint32_t rank)
{
    struct buf inner = BUF_NULL(1 << 16);
    struct ppack in = inner_writer(s, &inner);

    put_proc(&in, j->nspace, rank);
    pmix_put_rank_info(&in, j, rank);
    put_life(&in, &j->procs[rank]);
    put_named(w, &inner);
}

bool pmix_comes_later(const struct pmix_session *s, const struct job *j, uint32_t rank,
                      struct slice key)
{
    const struct proc *p = rank < j->plan.nprocs ? &j->procs[rank] : NULL;

    if (!p || !s->base.peer->core->is_manager || !slice_is(key, MODEX_PID) || p->pid)
        return false;
    return !job_rank_is_here(j, rank) || p->state == PROC_STATE_PLANNED;
}

static bool is_place(struct slice key)
{
    return slice_is(key, PMIX_TMPDIR) || slice_is(key, PMIX_NSDIR) || slice_is(key, PMIX_PROCDIR) ||
           slice_is(key, PMIX_TDIR_RMCLEAN);
}

/* Under the requested name. */
static bool reply_place(struct command *c, struct job *j, uint32_t rank)
{
    struct pmix_session *s = c->s;
    struct buf inner = BUF_NULL(1 << 16);
    struct ppack w = pmix_writer(s), in = inner_writer(s, &inner);

    core_place(s->base.peer->core, j, rank);
    ppack_status(&w, PMIX_SUCCESS);
    put_proc(&in, j->nspace, rank);
    pmix_put_places(&in, j, rank);
    put_named(&w, &inner);
    pmix_send_or_fail(s, c->tag, &w);
    return true;
}

bool pmix_reply_known(struct command *c, struct slice nspace, uint32_t rank, struct slice key)
{
    struct pmix_session *s = c->s;
    struct job *j = core_job_named(s->base.peer->core, nspace);
    const struct proc *p = j && rank < j->plan.nprocs ? &j->procs[rank] : NULL;
    bool foreign = j != s->base.peer->job;
    struct ppack w;

    if (j && !foreign && j->sessions && is_place(key) &&
        (rank == PMIX_RANK_WILDCARD ? !slice_is(key, PMIX_PROCDIR)
                                    : p && job_rank_is_here(j, rank)))
        return reply_place(c, j, rank);
    if (!p || !(foreign ? !pmix_comes_later(s, j, rank, key) : is_told_later(p, key)))
        return false;
    w = pmix_writer(s);
    ppack_status(&w, PMIX_SUCCESS);
    if (foreign)
        put_job_object(s, &w, j);
    put_known(s, &w, j, rank);
    pmix_send_or_fail(s, c->tag, &w);
    return true;
}

/* ---- modex entries sent ahead -------------------------------------------------------------------
 *
 * A client of OpenPMIx keeps every modex value that a reply brings, and sends a get of its own for
 * each process.  One that has asked for some of its peers since its last fence is about to ask for
 * all: with each reply it gets the entries of more and more of the following ranks.
 */

enum { ASKED_MIN = 3, WINDOW_MAX = 1024, AHEAD_MAX = 256 << 10 };

void pmix_forget_given(struct pmix_session *s)
{
    free(s->given);
    s->given = NULL;
    s->nasked = s->window = 0;
}

/* False: it had been given before. */
static bool give(struct pmix_session *s, uint32_t rank)
{
    uint64_t bit = UINT64_C(1) << (rank % 64);
    bool is_new = !(s->given[rank / 64] & bit);

    s->given[rank / 64] |= bit;
    return is_new;
}

static bool is_reading_all(struct pmix_session *s, const struct job *j, uint32_t rank)
{
    if (!s->given)
        s->given = calloc(j->plan.nprocs / 64 + 1, sizeof *s->given);
    if (!s->given)
        return false;
    if (give(s, rank))
        s->nasked++;
    return s->nasked > ASKED_MIN;
}

static void put_ahead(struct pmix_session *s, struct ppack *w, struct job *j, uint32_t rank)
{
    size_t begun = buf_len(&s->reply);

    if (!is_reading_all(s, j, rank))
        return;
    s->window = s->window < WINDOW_MAX ? s->window * 2 + 4 : WINDOW_MAX;
    for (uint32_t i = 1, n = 0; i < j->plan.nprocs && n < s->window; i++) {
        uint32_t next = (rank + i) % j->plan.nprocs;
        if (buf_len(&s->reply) - begun > AHEAD_MAX)
            return;
        if (j->procs[next].nkeys == 0 || !give(s, next))
            continue;
        put_rank_cards(s, w, j, next);
        n++;
    }
}

/* Clients get information on a process of another job under that job's wildcard rank, and look it
 * up under the process's name. */
static void put_all_ranks(struct pmix_session *s, struct ppack *w, struct job *owner)
{
    for (uint32_t r = 0; r < owner->plan.nprocs; r++)
        put_known(s, w, owner, r);
}

static void reply_get(struct pmix_session *s, const struct pmix_pending *p, const struct answer *a)
{
    struct job *owner = core_job_named(s->base.peer->core, slice_str(p->nspace));
    bool foreign = owner && owner != s->base.peer->job;
    struct ppack w;

    if (!owner || (a->status != ANSWER_OK && !foreign)) {
        pmix_reply_status(s, p->tag, pmix_status_of(owner ? a->status : ANSWER_NOT_FOUND));
        return;
    }
    w = pmix_writer(s);
    ppack_status(&w, PMIX_SUCCESS);
    if (foreign)
        put_job_object(s, &w, owner);
    if (foreign && p->rank == PMIX_RANK_WILDCARD)
        put_all_ranks(s, &w, owner);
    if (p->rank < owner->plan.nprocs && p->key && !strcmp(p->key, MODEX_PID)) {
        put_known(s, &w, owner, p->rank);
    } else if (a->status == ANSWER_OK && p->rank < owner->plan.nprocs) {
        put_rank_cards(s, &w, owner, p->rank);
        if (!foreign)
            put_ahead(s, &w, owner, p->rank);
    } else if (a->status == ANSWER_OK && p->rank == SEG_ANY_RANK && p->key)
        put_any_card(s, &w, owner, slice_str(p->key));
    pmix_send_or_fail(s, p->tag, &w);
}

/* ---- the others ------------------------------------------------------------------------------ */

/* The host has discovered the topology, or could not; the result is kept for all clients. */
static void keep_topology(struct job *j, const struct answer *a)
{
    if (j->topology_asked || (a->status == ANSWER_OK && a->value.len == 0)) /* was not asked */
        return;
    j->topology_asked = true;
    if (a->status == ANSWER_OK)
        buf_slice_put(&j->topology, a->value);
}

/* Under the key that clients of release 5 look up, and that of 4. */
static void put_topology(struct ppack *w, struct job *j)
{
    const char *text = buf_len(&j->topology) ? buf_cstr(&j->topology) : NULL;
    pmix_value_t v = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    if (!text || w->as->level < PTYPE_V4)
        return;
    ppack_kval(w, PMIX_HWLOC_XML_V2, &v);
    ppack_kval(w, PMIX_LOCAL_TOPO, &v);
}

static void reply_req(struct pmix_session *s, uint32_t tag, const struct answer *a)
{
    struct job *j = s->base.peer->job;
    struct ppack w = pmix_writer(s);
    struct slice info = pmix_job_info(j, s->as, s->described);

    if (info.len == 0) {
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
        return;
    }
    keep_topology(j, a);
    ppack_str(&w, j->nspace);
    buf_slice_put(&s->reply, info);
    put_topology(&w, j);
    if (j->sessions) {
        core_place(s->base.peer->core, j, JOB_NO_RANK);
        pmix_put_places(&w, j, PMIX_RANK_WILDCARD);
    }
    pmix_send(s, tag);
}

static void reply_spawn(struct pmix_session *s, const struct pmix_pending *p,
                        const struct answer *a)
{
    struct pmsg_spawned m = { .has = PMSG_BIT(spawned, nspace), .nspace = SLICE("") };
    struct buf name = BUF_NULL(PMIX_MAX_NSLEN);
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, PMIX_ERR_JOB_FAILED_TO_LAUNCH);
        return;
    }
    buf_slice_put(&name, a->value);
    if (buf_ok(&name) && a->value.len)
        m.nspace = buf_slice(&name);
    w = pmix_writer(s);
    pmsg_write_spawned(&w, s->release, &m);
    pmix_send(s, p->tag);
    if (p->channels && buf_ok(&name))
        pmix_forward(s, buf_cstr(&name), p->channels);
    buf_free(&name);
}

/* Each other namespace comes with its job-level information. */
static void reply_connect(struct pmix_session *s, const struct pmix_pending *p,
                          const struct answer *a)
{
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    w = pmix_writer(s);
    ppack_status(&w, PMIX_SUCCESS);
    for (uint32_t i = 0; i < p->nothers; i++) {
        struct job *other = core_job_named(s->base.peer->core, slice_str(p->others[i]));
        struct buf inner = BUF_NULL((size_t)1 << 30);
        struct ppack in = inner_writer(s, &inner);
        if (!other)
            continue;
        ppack_str(&in, other->nspace);
        buf_slice_put(&inner, pmix_job_info(other, s->as, s->described));
        put_named(&w, &inner);
    }
    pmix_send(s, p->tag);
}

/* ---- names: several requests, one reply ------------------------------------------------------ */

static void add_found(struct pmix_session *s, const struct pmix_pending *p, const struct answer *a)
{
    struct ppack w;
    pmix_pdata_t d;

    memset(&d, 0, sizeof d);
    strncpy(d.proc.nspace, a->about ? a->about->nspace : "", PMIX_MAX_NSLEN);
    d.proc.rank = a->about ? a->rank : PMIX_RANK_UNDEF;
    strncpy(d.key, p->key ? p->key : "", PMIX_MAX_KEYLEN);
    if (!pmix_value_of(a->type ? a->type : MODEX_STRING, a->value, &d.value))
        return;
    /* One unit per item; the reply wants one unit of all: the counts are cut off there. */
    ppack_init(&w, &p->batch->results, s->as);
    ppack(&w, &d, 1, PMIX_PDATA);
    pmem_value_free(&d.value, NULL);
    p->batch->found++;
}

/* They were packed as units of one; the reply has one unit of all. */
static void send_found(struct pmix_session *s, uint32_t tag, const struct pmix_batch *b)
{
    pmix_pdata_t *items = calloc(b->found ? b->found : 1, sizeof *items);
    struct pmsg_found m = { .has = PMSG_BIT(found, found), .found = { 0, items } };
    struct punpack r;
    struct ppack w;

    m.status = b->worst == ANSWER_OK ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    punpack_init(&r, buf_slice(&b->results), s->as);
    while (items && m.found.n < b->found) {
        int32_t one = 1;
        if (punpack(&r, &items[m.found.n], &one, PMIX_PDATA) != PTYPE_FINE)
            break;
        m.found.n++;
    }
    w = pmix_writer(s);
    pmsg_write_found(&w, s->release, &m);
    pmix_send(s, tag);
    pmem_free(ptype_find(PMIX_PDATA), items, m.found.n, NULL);
    free(items);
}

static void reply_names(struct pmix_session *s, const struct pmix_pending *p,
                        const struct answer *a)
{
    struct pmix_batch *b = p->batch;

    if (a->status != ANSWER_OK)
        b->worst = a->status;
    else if (p->cmd == CMD_LOOKUP)
        add_found(s, p, a);
    if (--b->left)
        return;
    if (p->cmd == CMD_LOOKUP && b->found)
        send_found(s, p->tag, b);
    else
        pmix_reply_status(s, p->tag, pmix_status_of(b->worst));
    buf_free(&b->results);
    free(b);
}

/* It is in the client's encoding already; a failure has no data. */
static void reply_of_host(struct pmix_session *s, const struct pmix_pending *p,
                          const struct answer *a)
{
    if (a->value.len == 0) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    pmix_writer(s);
    buf_slice_put(&s->reply, a->value);
    pmix_send(s, p->tag);
}

/* A client of Wireup's library does not wait for an answer without information. */
static bool is_quiet(const struct pmix_session *s, const struct pmix_pending *p,
                     const struct answer *a)
{
    if (!s->reads_store || p->tag != OURS_TAG_QUIET)
        return false;
    return p->cmd == CMD_FINALIZE || (p->cmd == CMD_COMMIT && a->status == ANSWER_OK);
}

void pmix_reply(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    if (p->host) {
        reply_of_host(s, p, a);
        return;
    }
    switch (p->cmd) {
    case CMD_REQ: reply_req(s, p->tag, a); break;
    case CMD_GET: reply_get(s, p, a); break;
    case CMD_SPAWN: reply_spawn(s, p, a); break;
    case CMD_CONNECT: reply_connect(s, p, a); break;
    case CMD_GROUP_CONSTRUCT: pmix_reply_group(s, p, a); break;
    case CMD_PUBLISH:
    case CMD_LOOKUP:
    case CMD_UNPUBLISH: reply_names(s, p, a); break;
    case CMD_LOG:
    case CMD_JOB_CONTROL: pmix_reply_many(s, p, a); break;
    case CMD_GET_CREDENTIAL: pmix_reply_credential(s, p, a); break;
    case CMD_VALIDATE_CREDENTIAL: pmix_reply_validated(s, p, a); break;
    case CMD_NONE: break;
    case CMD_IOF_PUSH: /* no client reads it */
        pmix_reply_status(s, p->tag,
                          a->status == ANSWER_NOT_FOUND ? PMIX_ERR_NOT_SUPPORTED
                                                        : pmix_status_of(a->status));
        break;
    default:
        if (!is_quiet(s, p, a))
            pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        break;
    }
}
