/* pmix.c - see pmix.h.  Reading order: creation; handshake; framing; commands in the order of their
 * numbers; answers and notifications. */
#include "session/pmix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/limit.h"
#include "base/search.h"
#include "core/core.h"
#include "core/modex.h"
#include "core/request.h"
#include "session/pmix_priv.h"
#include "wire/pmix_ours.h"

enum { HEARTBEAT_TAG = 1 };
enum { HEADER_SIZE = 16, HELLO_MAX = 131072, DEFAULT_EVENT = INT32_MIN };

static struct pmix_session *mine(struct session *base)
{
    return (struct pmix_session *)(void *)base;
}

/* ---- creation -------------------------------------------------------------------------------- */

static struct session *create(struct peer *p)
{
    struct pmix_session *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct session){ &pmix_ops, p };
    list_init(&s->groups);
    list_init(&s->pulls);
    buf_init(&s->in, (size_t)LIMIT_CLIENT_STORE + HEADER_SIZE);
    buf_init(&s->scratch, LIMIT_CLIENT_STORE);
    buf_init(&s->reply, (size_t)1 << 30);
    arena_init(&s->arena, LIMIT_CLIENT_STORE);
    return &s->base;
}

static void pending_free(struct pmix_pending *p)
{
    free(p->nspace);
    free(p->key);
    for (uint32_t i = 0; i < p->nothers; i++)
        free(p->others[i]);
    free(p->others);
    free(p->procs);
}

static void drop_values(struct pmix_session *s)
{
    for (size_t i = 0; i < s->nvalues; i++)
        pmem_value_free(&s->values[i], NULL);
    free(s->values);
    s->values = NULL;
    s->nvalues = 0;
}

static void drop_backlog(struct pmix_session *s)
{
    for (uint32_t i = s->backlog_at; i < s->nbacklog; i++)
        request_drop(&s->backlog[i]);
    free(s->backlog);
    s->backlog = NULL;
    s->nbacklog = s->backlog_at = 0;
}

/* Their answers are ignored. */
static void drop_pending(struct pmix_session *s)
{
    for (uint32_t i = 0; i < s->npending; i++) {
        struct pmix_batch *b = s->pending[i].batch;
        if (b && --b->left == 0) {
            buf_free(&b->results);
            free(b);
        }
        pending_free(&s->pending[i]);
    }
    s->npending = s->nanswered = 0;
}

static void destroy(struct session *base)
{
    struct pmix_session *s = mine(base);

    drop_pending(s);
    drop_backlog(s);
    drop_values(s);
    buf_free(&s->in);
    buf_free(&s->scratch);
    buf_free(&s->reply);
    arena_free(&s->arena);
    free(s->pending);
    free(s->codes);
    pmix_groups_free(s);
    pmix_pulls_free(s);
    pmix_forget_given(s);
    free(s);
}

static int input(struct session *base, struct slice bytes)
{
    struct pmix_session *s = mine(base);

    buf_slice_put(&s->in, bytes);
    return s->in.error == BUF_NO_MEMORY ? -ENOMEM : 0;
}

/* ---- pending requests ------------------------------------------------------------------------ */

/* Tokens only grow, so the list stays sorted; answered entries are removed when they are half of
 * it. */
static void compact_pending(struct pmix_session *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->npending; i++) {
        if (s->pending[i].token)
            s->pending[kept++] = s->pending[i];
    }
    s->npending = kept;
    s->nanswered = 0;
}

static struct pmix_pending *add_pending(struct pmix_session *s, enum pmix_command cmd, uint32_t tag)
{
    struct pmix_pending *p;

    if (s->npending == s->pending_room && s->nanswered > s->npending / 2)
        compact_pending(s);
    if (s->npending == s->pending_room) {
        uint32_t room = s->pending_room ? s->pending_room * 2 : 4;
        struct pmix_pending *more = realloc(s->pending, room * sizeof *more);
        if (!more)
            return NULL;
        s->pending = more;
        s->pending_room = room;
    }
    p = &s->pending[s->npending++];
    *p = (struct pmix_pending){ .token = ++s->base.peer->next_token,
                                .serial = s->base.peer->next_token,
                                .tag = tag,
                                .cmd = cmd };
    return p;
}

static bool was_asked_before(const void *item, const void *key)
{
    const struct pmix_pending *p = item;

    return p->serial < *(const uint32_t *)key;
}

/* Moves the entry out; false: there is none. */
static bool take_pending(struct pmix_session *s, uint32_t token, struct pmix_pending *p_p)
{
    size_t at = search_first(s->pending, s->npending, sizeof *s->pending, was_asked_before, &token);

    if (at == s->npending || s->pending[at].token != token)
        return false;
    *p_p = s->pending[at];
    s->pending[at] = (struct pmix_pending){ .serial = token };
    s->nanswered++;
    while (s->npending && !s->pending[s->npending - 1].token) {
        s->npending--;
        s->nanswered--;
    }
    return true;
}

/* Puts a request on the backlog; the pending entry is the caller's to complete until the next. */
struct pmix_pending *pmix_ask(struct command *c, struct request rq)
{
    struct pmix_session *s = c->s;
    struct request *more = realloc(s->backlog, (s->nbacklog + 1) * sizeof *more);
    struct pmix_pending *p = more ? add_pending(s, c->cmd, c->tag) : NULL;

    if (more)
        s->backlog = more;
    if (!p) {
        c->no_memory = true;
        return NULL;
    }
    rq.token = p->token;
    s->backlog[s->nbacklog++] = rq;
    return p;
}

/* ---- handshake ------------------------------------------------------------------------------- */

struct cursor {
    const unsigned char *at, *end;
    bool good;
};

static struct slice take_text(struct cursor *c)
{
    const unsigned char *from = c->at, *nul = NULL;

    if (c->good)
        nul = memchr(c->at, 0, (size_t)(c->end - c->at));
    if (!nul) {
        c->good = false;
        return SLICE_NULL;
    }
    c->at = nul + 1;
    return slice_mem(from, (size_t)(nul - from));
}

static struct slice take_bytes(struct cursor *c, size_t n)
{
    const unsigned char *from = c->at;

    if (!c->good || (size_t)(c->end - c->at) < n) {
        c->good = false;
        return SLICE_NULL;
    }
    c->at += n;
    return slice_mem(from, n);
}

static uint32_t take_u32(struct cursor *c)
{
    struct slice s = take_bytes(c, 4);
    uint32_t v = 0;

    if (s.len == 4)
        memcpy(&v, s.ptr, 4);
    return ntohl(v);
}

static uint8_t take_u8(struct cursor *c)
{
    struct slice s = take_bytes(c, 1);

    return s.len ? (uint8_t)s.ptr[0] : 0;
}

/* OpenPMIx 4, 5.0 to 5.0.8 and 6.0 ignore an error in the reply and wait for more, for ever; they
 * understand only that the connection is closed. */
static bool reads_refusals(const struct pmix_session *s)
{
    return s->release >= PMSG_RELEASE(6, 1, 0) ||
           (s->release >= PMSG_RELEASE(5, 0, 9) && s->release < PMSG_RELEASE(6, 0, 0));
}

/* The connection is closed after that. */
static void send_refusal(struct pmix_session *s, pmix_status_t status)
{
    uint32_t word = htonl((uint32_t)status);

    if (reads_refusals(s))
        buf_put(&s->base.peer->out, &word, sizeof word);
}

/* Both sides' versions, as far as they are known. */
static int refuse(struct errmsg *err, struct slice version, const char *why, struct slice what)
{
    return errmsg_set(err, SESSION_BROKEN,
                      "refused a PMIx client%s" SLICE_FMT ": %s '" SLICE_FMT
                      "'; this server is Wireup %s and speaks "
                      "the encodings v3, v4, v41, v51, v61",
                      version.len ? " of version " : "", SLICE_ARG(slice_head(version, 63)), why,
                      SLICE_ARG(slice_head(what, 64)), WIREUP_VERSION);
}

/* What a client of Wireup's library adds to its first message; others add other things, or
 * meaningless bytes. */
static bool asks_for_store(const struct pmix_session *s, struct slice bytes)
{
    struct punpack r;
    pmix_info_t *infos;
    size_t n;
    bool asks = false;

    punpack_init(&r, bytes, s->as);
    r.described = s->described;
    infos = punpack_list(&r, PMIX_INFO, &n);
    for (size_t i = 0; i < n && !asks; i++)
        asks = !strcmp(infos[i].key, OURS_STORE) && infos[i].value.type == PMIX_UINT32 &&
               infos[i].value.data.uint32 >= OURS_STORE_FORM;
    pmem_free(ptype_find(PMIX_INFO), infos, n, NULL);
    free(infos);
    return asks;
}

bool pmix_brings_name(uint8_t kind)
{
    return kind == KIND_CLIENT || (kind >= KIND_TOOL_NAMED && kind != KIND_LAUNCHER_UNNAMED);
}

static int read_hello(struct pmix_session *s, struct slice body, struct request *rq,
                      struct errmsg *err)
{
    const unsigned char *at = (const unsigned char *)body.ptr;
    struct cursor c = { at, at + body.len, true };
    struct slice psec = take_text(&c), nspace, version, encoding, store;
    uint8_t buffers;
    uint32_t rank;

    take_bytes(&c, take_u32(&c)); /* the credential: the kernel's information is better */
    s->kind = take_u8(&c);
    if (c.good && s->kind > KIND_SCHEDULER)
        return refuse(err, SLICE_NULL, "it is neither client nor tool; security", psec);
    if (s->kind != KIND_CLIENT)
        take_bytes(&c, 2 * sizeof(uint32_t)); /* user and group: likewise */
    nspace = pmix_brings_name(s->kind) ? take_text(&c) : SLICE_NULL;
    rank = pmix_brings_name(s->kind) ? take_u32(&c) : 0;
    version = take_text(&c);
    encoding = take_text(&c);
    buffers = take_u8(&c);
    store = take_text(&c);
    if (!c.good)
        return refuse(err, SLICE_NULL, "its first message is cut short or is none; security", psec);
    snprintf(s->version, sizeof s->version, SLICE_FMT, SLICE_ARG(slice_head(version, 63)));
    s->release = pmsg_release(s->version);
    s->as = ptype_flavour(encoding);
    if (!s->as || s->as->level < PTYPE_V3) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, version, "it wants the unknown encoding", encoding);
    }
    if (slice_starts(store, SLICE("shmem"))) {
        send_refusal(s, PMIX_ERR_NOT_SUPPORTED);
        return refuse(err, version, "it wants the store (hash is offered)", store);
    }
    s->described = buffers == 2;
    s->reads_store =
        s->base.peer->can_pass_fd && asks_for_store(s, slice_mem(c.at, (size_t)(c.end - c.at)));
    s->state = PMIX_ASKED;
    s->hello_token = ++s->base.peer->next_token;
    *rq = REQUEST_WITH(identify, .nspace = nspace, .rank = rank, .tool = s->kind,
                       .description = slice_mem(c.at, (size_t)(c.end - c.at)));
    rq->token = s->hello_token;
    return SESSION_REQUEST;
}

/* The first header has its length in the client's own byte order, which is this machine's. */
static int step_hello(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    uint32_t n;

    if (bytes.len < HEADER_SIZE)
        return SESSION_IDLE;
    memcpy(&n, bytes.ptr + 8, sizeof n);
    if (n > HELLO_MAX)
        return refuse(err, SLICE_NULL, "its first message has an impossible length", SLICE("?"));
    if (bytes.len < HEADER_SIZE + (size_t)n)
        return SESSION_IDLE;
    s->consumed = HEADER_SIZE + (size_t)n;
    return read_hello(s, slice_mem(bytes.ptr + HEADER_SIZE, n), rq, err);
}

/* A name as tools read it: in an array of its own. */
static void put_name(struct buf *out, const char *nspace, uint32_t rank)
{
    char name[PMIX_MAX_NSLEN + 1] = "";
    uint32_t number = htonl(rank);

    strncpy(name, nspace ? nspace : "", PMIX_MAX_NSLEN);
    buf_put(out, name, sizeof name);
    buf_put(out, &number, sizeof number);
}

/* In newer releases a process that was started alone is a client, in older ones a tool. */
bool pmix_is_client(uint8_t kind, const char *version)
{
    unsigned major = 0, minor = 0, release = 0;

    if (kind != KIND_SINGLETON)
        return kind == KIND_CLIENT;
    sscanf(version, "%u.%u.%u", &major, &minor, &release);
    return major > 6 || (major == 6 && minor >= 1) || (major == 5 && (minor > 0 || release >= 9));
}

static void welcome_tool(struct pmix_session *s)
{
    struct peer *p = s->base.peer;
    uint32_t good = 0;

    buf_put(&p->out, &good, sizeof good);
    if (!pmix_brings_name(s->kind))
        put_name(&p->out, p->job->nspace, p->rank);
    put_name(&p->out, p->core->name, p->core->name_rank);
    buf_put(&p->out, &good, sizeof good);
}

static void welcome(struct pmix_session *s)
{
    struct peer *p = s->base.peer;
    uint32_t words[2] = { 0, htonl(p->rank) };

    if (!pmix_is_client(s->kind, s->version)) {
        welcome_tool(s);
    } else {
        p->pass_store = s->reads_store && pmix_tell_job_info(p->job);
        buf_put(&p->out, words, sizeof words);
    }
    s->state = PMIX_WELCOME;
}

struct pmix_dialect pmix_dialect(const struct peer *p)
{
    const struct pmix_session *s = (const struct pmix_session *)(const void *)p->session;

    return (struct pmix_dialect){ s->as, s->described, s->version, s->release };
}

/* ---- commands -------------------------------------------------------------------------------- */

/* A command that its reader cannot decode is answered in one place (run_command). */

static uint32_t local_procs(const struct job *j)
{
    return j->spread && j->here < j->plan.nnodes ? j->plan.nodes[j->here].nprocs : j->plan.nprocs;
}

/* Discovering the topology costs an MPI process as much as a third of its start.  With several of
 * them, the server does it once for all; for two or three it would be no gain.  (Clients that use
 * v3 read nothing of it.) */
enum { TOPOLOGY_FROM = 4 };

static bool wants_topology(const struct command *c)
{
    const struct peer *p = c->s->base.peer;

    return p->core->has_topology && !p->job->topology_asked &&
           local_procs(p->job) >= TOPOLOGY_FROM && c->s->as->level >= PTYPE_V4;
}

static void read_req(struct command *c)
{
    struct pmix_pending p = { .tag = c->tag, .cmd = CMD_REQ };

    if (wants_topology(c)) {
        pmix_ask(c, REQUEST_WITH(job_attr, .key = SLICE(CORE_TOPOLOGY)));
        return;
    }
    pmix_reply(c->s, &p, &(struct answer){ .status = ANSWER_OK });
}

struct slice pmix_keep(struct command *c, struct slice text)
{
    return arena_copy(&c->s->arena, text);
}

static void read_abort(struct command *c)
{
    struct pmsg_abort m;

    if (pmsg_read_abort(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (slice_is(m.message, "N/A")) /* Open MPI's text for no message */
            m.message = SLICE_NULL;
        pmix_ask(c, REQUEST_WITH(abort, .code = m.code, .message = m.message));
    }
    pmsg_free_abort(&m, NULL);
}

/* ---- commit ---- */

struct cards {
    struct card *list;
    uint32_t n, room, first_of_second;
};

static bool grow_cards(struct pmix_session *s, struct cards *k)
{
    uint32_t room = k->room ? k->room * 2 : 16;
    struct card *list = arena_array(&s->arena, room, sizeof *list);
    pmix_value_t *values = realloc(s->values, room * sizeof *values);

    if (values)
        s->values = values;
    if (!list || !values)
        return false;
    if (k->n)
        memcpy(list, k->list, k->n * sizeof *list);
    k->list = list;
    k->room = room;
    return true;
}

static struct slice canonical(struct command *c, pmix_value_t *v)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice payload = pmix_canonical(v, &bytes);

    if (buf_ok(&bytes)) {
        payload = pmix_keep(c, payload);
    } else {
        c->no_memory = bytes.error == BUF_NO_MEMORY;
        c->r.error = PTYPE_MALFORMED;
        payload = SLICE_NULL;
    }
    buf_free(&bytes);
    return payload;
}

static void add_card(struct command *c, struct cards *k, struct slice key, pmix_value_t *v,
                     uint8_t scope)
{
    struct card card = { .type = v->type, .scope = scope, .key = key };

    for (uint32_t i = 0; scope == MODEX_REMOTE && i < k->first_of_second; i++) {
        if (slice_eq(k->list[i].key, key)) { /* in both bundles: global scope */
            k->list[i].scope = MODEX_GLOBAL;
            pmem_value_free(v, NULL);
            return;
        }
    }
    if (k->n == k->room && !grow_cards(c->s, k)) {
        c->no_memory = true;
        pmem_value_free(v, NULL);
        return;
    }
    c->s->values[c->s->nvalues++] = *v;
    card.value = v->type == PMIX_STRING ? slice_str(v->data.string) : canonical(c, v);
    k->list[k->n++] = card;
}

static void read_bundle(struct command *c, struct cards *k)
{
    uint8_t scope = punpack_byte(&c->r, PMIX_SCOPE);
    struct punpack in;
    bool described;
    struct slice bytes = punpack_buffer(&c->r, &described);

    if (!punpack_ok(&c->r))
        return;
    punpack_init(&in, bytes, c->s->as);
    in.described = described;
    k->first_of_second = k->n;
    while (punpack_left(&in) && !c->no_memory && punpack_ok(&c->r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(&in, &v);
        if (!punpack_ok(&in)) {
            c->r.error = in.error;
            return;
        }
        add_card(c, k, key, &v, scope);
    }
}

static void read_commit(struct command *c)
{
    struct cards k = { .n = 0 };

    while (punpack_left(&c->r) && punpack_ok(&c->r) && !c->no_memory)
        read_bundle(c, &k);
    if (punpack_ok(&c->r) && !c->no_memory)
        pmix_ask(c, REQUEST_WITH(commit, .cards = k.list, .count = k.n));
}

/* ---- fences ---- */

void pmix_drop_infos(pmix_info_t *infos, size_t n)
{
    pmem_free(ptype_find(PMIX_INFO), infos, n, NULL);
    free(infos);
}

uint64_t pmix_number_of(const pmix_value_t *v)
{
    switch (v->type) {
    case PMIX_INT: return v->data.integer > 0 ? (uint64_t)v->data.integer : 0;
    case PMIX_UINT32: return v->data.uint32;
    case PMIX_INT32: return v->data.int32 > 0 ? (uint64_t)v->data.int32 : 0;
    case PMIX_SIZE: return v->data.size;
    default: return 0;
    }
}

/* In nanoseconds; longer than a century is for ever, which is 0. */
static uint64_t seconds_of(const pmix_value_t *v)
{
    uint64_t s = pmix_number_of(v);

    return s <= UINT32_MAX ? s * NS_PER_S : 0;
}

uint64_t pmix_timeout_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_TIMEOUT))
            return seconds_of(&infos[i].value);
    }
    return 0;
}

/* By an attribute of its own, or as with any other: by the flag. */
static bool requires_way(const pmix_info_t *info)
{
    return (!strcmp(info->key, PMIX_COLLECTIVE_ALGO_REQD) && pmix_flag_of(&info->value)) ||
           (!strcmp(info->key, PMIX_COLLECTIVE_ALGO) && info->flags & PMIX_INFO_REQD);
}

static struct crowd crowd_of(struct command *c, const struct pmsg_procs_infos *m)
{
    struct crowd w = { .procs = m->procs.items,
                       .n = m->procs.n,
                       .timeout_ns = pmix_timeout_of(m->infos.items, m->infos.n) };

    for (size_t i = 0; i < m->infos.n; i++) {
        const pmix_info_t *info = &m->infos.items[i];
        const pmix_value_t *v = &info->value;
        w.collect = w.collect || (!strcmp(info->key, PMIX_COLLECT_DATA) && pmix_flag_of(v));
        w.ways_required = w.ways_required || requires_way(info);
        if (!strcmp(info->key, PMIX_COLLECTIVE_ALGO) && v->type == PMIX_STRING && v->data.string)
            w.ways = pmix_keep(c, slice_str(v->data.string));
    }
    return w;
}

static bool all_here(const struct command *c, const struct crowd *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->procs[i].nspace, c->s->base.peer->job->nspace) != 0)
            return false;
    }
    return true;
}

static bool is_everybody(const struct command *c, const struct crowd *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->procs[i].rank == PMIX_RANK_WILDCARD && all_here(c, w))
            return true;
    }
    return w->n == 0;
}

static int by_rank(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* "0,3,4:pmix": ranks of the own job. */
static void fence_here(struct command *c, struct crowd *w)
{
    struct buf name = BUF_NULL(LIMIT_PMI_LINE);

    qsort(w->procs, w->n, sizeof *w->procs, by_rank);
    for (size_t i = 0; i < w->n; i++) {
        if (i)
            buf_byte(&name, ',');
        buf_u64(&name, w->procs[i].rank);
    }
    buf_str(&name, ":pmix");
    if (buf_ok(&name))
        pmix_ask(c,
                 REQUEST_WITH(fence, .group = pmix_keep(c, buf_slice(&name)), .collect = w->collect,
                              .ways = w->ways, .timeout_ns = w->timeout_ns));
    else
        c->no_memory = true;
    buf_free(&name);
}

struct pmix_pending *pmix_meet(struct command *c, const struct crowd *w, const char *purpose)
{
    struct member *m = arena_array(&c->s->arena, w->n ? w->n : 1, sizeof *m);

    if (!m) {
        c->no_memory = true;
        return NULL;
    }
    for (size_t i = 0; i < w->n; i++)
        m[i] = (struct member){ pmix_keep(c, slice_str(w->procs[i].nspace)), w->procs[i].rank };
    return pmix_ask(c, REQUEST_WITH(collective, .purpose = pmix_keep(c, slice_str(purpose)),
                                    .members = m, .count = (uint32_t)w->n,
                                    .timeout_ns = w->timeout_ns));
}

/* A required exchange method is not replaced by another. */
static bool has_no_way(const struct command *c, const struct crowd *w)
{
    const struct core *core = c->s->base.peer->core;

    return w->ways_required && w->ways.len && core->knows_way && !core->knows_way(w->ways);
}

static void ask_fence(struct command *c, struct crowd *w)
{
    if (is_everybody(c, w))
        pmix_ask(c, REQUEST_WITH(fence, .collect = w->collect, .ways = w->ways,
                                 .timeout_ns = w->timeout_ns));
    else if (all_here(c, w))
        fence_here(c, w);
    else
        pmix_meet(c, w, "fence");
}

static void read_fence(struct command *c)
{
    struct pmsg_procs_infos m;

    pmix_forget_given(c->s);
    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct crowd w = crowd_of(c, &m);
        if (has_no_way(c, &w))
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        else
            ask_fence(c, &w);
    }
    pmsg_free_procs_infos(&m, NULL);
}

static bool names_it(char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(names[i], name))
            return true;
    }
    return false;
}

static void note_others(struct command *c, struct pmix_pending *p, const struct crowd *w)
{
    const char *own = c->s->base.peer->job->nspace;

    p->others = calloc(w->n ? w->n : 1, sizeof *p->others);
    for (size_t i = 0; p->others && i < w->n; i++) {
        const char *name = w->procs[i].nspace;
        if (!strcmp(name, own) || names_it(p->others, p->nothers, name))
            continue;
        p->others[p->nothers] = strdup(name);
        p->nothers += p->others[p->nothers] != NULL;
    }
}

static void read_connect(struct command *c)
{
    struct pmsg_connect m;
    struct pmix_pending *p;

    if (pmsg_read_connect(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct crowd w = { .procs = m.procs.items,
                           .n = m.procs.n,
                           .timeout_ns = pmix_timeout_of(m.infos.items, m.infos.n) };
        p = pmix_meet(c, &w, "connect");
        if (p)
            note_others(c, p, &w);
    }
    pmsg_free_connect(&m, NULL);
}

static void read_disconnect(struct command *c)
{
    struct pmsg_procs_infos m;

    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct crowd w = crowd_of(c, &m);
        pmix_meet(c, &w, "disconnect");
    }
    pmsg_free_procs_infos(&m, NULL);
}

/* ---- get ---- */

bool pmix_flag_of(const pmix_value_t *v)
{
    return v->type == PMIX_UNDEF || (v->type == PMIX_BOOL && v->data.flag);
}

/* How long a get without a timeout may wait: as in the reference server. */
enum { GET_PATIENCE_S = 2 };

static void read_get_words(struct request_modex_get *rq, const struct pmsg_get *m)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        const pmix_info_t *info = &m->infos.items[i];
        if (!strcmp(info->key, PMIX_IMMEDIATE))
            rq->immediate = pmix_flag_of(&info->value);
        else if (!strcmp(info->key, PMIX_TIMEOUT)) /* 0: for ever */
            rq->timeout_ns = seconds_of(&info->value);
    }
}

static void ask_get(struct command *c, const struct pmsg_get *m)
{
    struct request_modex_get rq = {
        .timeout_ns = GET_PATIENCE_S * NS_PER_S, .nspace = m->nspace, .rank = m->rank, .key = m->key
    };
    const struct job *j = core_job_named(c->s->base.peer->core, m->nspace);
    /* What the process manager knows it has sent; it does not come later.  And a host that looks
     * for something would itself have to fetch it: Open MPI's daemons look before they do. */
    bool later = j && pmix_comes_later(c->s, j, m->rank, m->key);
    struct pmix_pending *p;

    read_get_words(&rq, m);
    rq.immediate = session_is_host(c->s->base.peer) ||
                   (!later && (rq.immediate || slice_starts(rq.key, SLICE("pmix"))));
    p = pmix_ask(c, (struct request){ .kind = REQ_modex_get, .u.modex_get = rq });
    if (!p)
        return;
    p->rank = m->rank;
    p->nspace = strndup(m->nspace.ptr ? m->nspace.ptr : "", m->nspace.len);
    p->key = strndup(m->key.ptr ? m->key.ptr : "", m->key.len);
    c->no_memory = !p->nspace || !p->key;
}

static void read_get(struct command *c)
{
    struct pmsg_get m;

    if (pmsg_read_get(&c->r, c->s->release, &m) == PTYPE_FINE &&
        !(slice_starts(m.key, SLICE("pmix")) && pmix_reply_known(c, m.nspace, m.rank, m.key)))
        ask_get(c, &m);
    pmsg_free_get(&m, NULL);
}

static void read_finalize(struct command *c)
{
    pmix_ask(c, (struct request){ .kind = REQ_finalize });
}

/* ---- names ---- */

struct pmix_batch *pmix_new_batch(struct command *c)
{
    struct pmix_batch *b = calloc(1, sizeof *b);

    if (b)
        buf_init(&b->results, LIMIT_CLIENT_QUEUE);
    else
        c->no_memory = true;
    return b;
}

static void ask_name(struct command *c, struct pmix_batch *b, struct request rq,
                     struct slice service)
{
    struct pmix_pending *p = pmix_ask(c, rq);

    if (!p)
        return;
    b->left++;
    p->batch = b;
    p->key = strndup(service.ptr ? service.ptr : "", service.len);
}

/* No request: no answer will come. */
static void end_batch(struct command *c, struct pmix_batch *b)
{
    if (!b || b->left)
        return;
    free(b);
    if (punpack_ok(&c->r) && !c->no_memory)
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
}

static bool is_directive(const char *key)
{
    static const char *const words[] = {
        PMIX_RANGE, PMIX_PERSISTENCE,       PMIX_USERID, PMIX_GRPID, PMIX_TIMEOUT,
        PMIX_WAIT,  PMIX_ACCESS_PERMISSIONS
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(key, words[i]))
            return true;
    }
    return false;
}

/* The session is the launcher's: it ends with the launcher, and not with a job. */
static enum name_life life_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(infos[i].key, PMIX_PERSISTENCE) != 0 || infos[i].value.type != PMIX_PERSIST)
            continue;
        switch (infos[i].value.data.persist) {
        case PMIX_PERSIST_INDEF:
        case PMIX_PERSIST_SESSION: return NAME_STAYS;
        case PMIX_PERSIST_FIRST_READ: return NAME_READ_ONCE;
        default: return NAME_OF_JOB;
        }
    }
    return NAME_OF_JOB;
}

static void publish_one(struct command *c, struct pmix_batch *b, pmix_info_t *info,
                        enum name_life life)
{
    bool plain = info->value.type == PMIX_STRING;
    struct slice service = pmix_keep(c, slice_str(info->key));

    ask_name(c, b,
             REQUEST_WITH(publish, .service = service, .life = life,
                          .type = plain ? 0 : info->value.type,
                          .port = plain ? pmix_keep(c, slice_str(info->value.data.string))
                                        : canonical(c, &info->value)),
             service);
}

static void read_publish(struct command *c)
{
    struct pmix_batch *b = pmix_new_batch(c);
    struct pmsg_publish m;

    pmsg_read_publish(&c->r, c->s->release, &m);
    for (size_t i = 0; b && i < m.infos.n && punpack_ok(&c->r); i++) {
        if (!is_directive(m.infos.items[i].key))
            publish_one(c, b, &m.infos.items[i], life_of(m.infos.items, m.infos.n));
    }
    pmsg_free_publish(&m, NULL);
    end_batch(c, b);
}

static void read_wait(struct request_lookup *rq, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_WAIT))
            rq->wait = true;
        else if (!strcmp(infos[i].key, PMIX_TIMEOUT))
            rq->timeout_ns = seconds_of(&infos[i].value);
    }
}

static void read_keys(struct command *c)
{
    struct request_lookup lookup = { .wait = false };
    struct pmix_batch *b = pmix_new_batch(c);
    struct pmsg_keys m;

    pmsg_read_keys(&c->r, c->s->release, &m);
    read_wait(&lookup, m.infos.items, m.infos.n);
    for (size_t i = 0; b && i < m.keys.n && punpack_ok(&c->r) && !c->no_memory; i++) {
        lookup.service = m.keys.items[i];
        if (lookup.service.len)
            ask_name(c, b,
                     c->cmd == CMD_LOOKUP
                         ? (struct request){ .kind = REQ_lookup, .u.lookup = lookup }
                         : REQUEST_WITH(unpublish, .service = lookup.service),
                     lookup.service);
    }
    pmsg_free_keys(&m, NULL);
    end_batch(c, b);
}

/* ---- spawn ---- */

/* The PMIx attributes for the infos of a spawn request. */
static const struct {
    const char *pmix, *ours;
} spawn_words[] = {
    { PMIX_WDIR, "wdir" },
    { PMIX_HOST, "host" },
    { PMIX_HOSTFILE, "hostfile" },
    { PMIX_ADD_HOST, "add-host" },
    { PMIX_ADD_HOSTFILE, "add-hostfile" },
    { PMIX_MAPBY, "map-by" },
    { PMIX_RANKBY, "rank-by" },
    { PMIX_JOB_RECOVERABLE, SPAWN_RECOVERABLE },
    { PMIX_JOB_CONTINUOUS, SPAWN_RECOVERABLE }, /* a flag */
};

static const char *spawn_word(const char *key)
{
    for (size_t i = 0; i < sizeof spawn_words / sizeof *spawn_words; i++) {
        if (!strcmp(key, spawn_words[i].pmix))
            return spawn_words[i].ours;
    }
    return NULL;
}

struct spawn_infos {
    struct arena *a;
    struct spawn_command *cmd;
};

static void add_info(struct spawn_infos *to, const char *key, const char *value)
{
    to->cmd->infos[to->cmd->ninfos++] =
        (struct spawn_pair){ slice_str(arena_str(to->a, slice_str(key))),
                             slice_str(arena_str(to->a, slice_str(value))) };
}

static void add_infos(struct spawn_infos *to, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *word = spawn_word(infos[i].key);
        if (word && !strcmp(word, SPAWN_RECOVERABLE)) {
            if (pmix_flag_of(&infos[i].value))
                add_info(to, word, "1");
        } else if (word && infos[i].value.type == PMIX_STRING && infos[i].value.data.string)
            add_info(to, word, infos[i].value.data.string);
    }
}

/* The output channels that the spawner wants. */
static uint16_t channels_of(const pmix_info_t *infos, size_t n)
{
    static const struct {
        const char *key;
        uint16_t channel;
    } words[] = { { PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL },
                  { PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL } };
    uint16_t channels = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            if (!strcmp(infos[i].key, words[w].key) && pmix_flag_of(&infos[i].value))
                channels |= words[w].channel;
        }
    }
    return channels;
}

/* The rank whose standard input the spawner feeds; NULL: none. */
static const char *stdin_of(struct arena *a, const pmix_info_t *infos, size_t n)
{
    const char *who = NULL;

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_FWD_STDIN) && pmix_flag_of(v) && !who)
            who = "0";
        else if (!strcmp(infos[i].key, PMIX_STDIN_TGT) &&
                 (v->type == PMIX_PROC_RANK || v->type == PMIX_UINT32))
            who = v->data.uint32 == PMIX_RANK_WILDCARD ? "all"
                                                       : arena_printf(a, "%u", v->data.uint32);
    }
    return who;
}

static size_t count_words(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static void copy_app(struct arena *a, const pmix_app_t *app, const pmix_info_t *job, size_t njob,
                     struct spawn_command *cmd)
{
    size_t argc = count_words(app->argv), nenv = count_words(app->env);
    struct spawn_infos to = { a, cmd };
    const char *who;

    cmd->program = arena_str(a, slice_str(app->cmd ? app->cmd : argc ? app->argv[0] : ""));
    cmd->nprocs = app->maxprocs > 0 ? (uint32_t)app->maxprocs : 1;
    cmd->args = arena_array(a, argc + 1, sizeof *cmd->args);
    cmd->infos = arena_array(a, nenv + app->ninfo + njob + 2, sizeof *cmd->infos);
    if (!arena_ok(a))
        return;
    for (size_t i = 1; i < argc; i++)
        cmd->args[cmd->nargs++] = arena_str(a, slice_str(app->argv[i]));
    for (size_t i = 0; i < nenv; i++)
        add_info(&to, "env", app->env[i]);
    add_infos(&to, app->info, app->ninfo);
    if (app->cwd && *app->cwd)
        add_info(&to, "wdir", app->cwd);
    add_infos(&to, job, njob);
    who = stdin_of(a, job, njob);
    if (who)
        add_info(&to, "stdin", who);
}

static struct spawn_request *spawn_of(const struct pmsg_spawn *m)
{
    size_t n = m->apps.n;
    struct spawn_request *rq = spawn_new();

    if (!rq)
        return NULL;
    rq->commands = arena_array(&rq->arena, n, sizeof *rq->commands);
    rq->ncommands = (uint32_t)n;
    for (size_t i = 0; rq->commands && i < n; i++)
        copy_app(&rq->arena, &m->apps.items[i], m->infos.items, m->infos.n, &rq->commands[i]);
    if (arena_ok(&rq->arena))
        return rq;
    spawn_free(rq);
    return NULL;
}

static void ask_spawn(struct command *c, const struct pmsg_spawn *m)
{
    struct spawn_request *rq = spawn_of(m);
    struct pmix_pending *p = rq ? pmix_ask(c, REQUEST_WITH(spawn, .request = rq)) : NULL;

    if (p) {
        p->channels = channels_of(m->infos.items, m->infos.n);
    } else {
        c->no_memory = true;
        spawn_free(rq);
    }
}

static void read_spawn(struct command *c)
{
    struct pmsg_spawn m;

    if (pmsg_read_spawn(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (m.apps.n && m.apps.n <= LIMIT_SPAWN_COMMANDS)
            ask_spawn(c, &m);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
    }
    pmsg_free_spawn(&m, NULL);
}

/* ---- events ---- */

/* The infos in Wireup's own encoding, for clients of any other. */
static struct slice canonical_infos(struct command *c, pmix_info_t *infos, size_t n)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice kept = SLICE_NULL;
    struct ppack w;

    ppack_init(&w, &bytes, &ptype_own);
    ppack_size(&w, n);
    if (n)
        ppack(&w, infos, (int32_t)n, PMIX_INFO);
    if (ppack_ok(&w))
        kept = pmix_keep(c, buf_slice(&bytes));
    else
        c->no_memory = true;
    buf_free(&bytes);
    return kept;
}

uint8_t pmix_event_flags(const pmix_info_t *infos, size_t n)
{
    uint8_t flags = 0;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_EVENT_NON_DEFAULT) && pmix_flag_of(&infos[i].value))
            flags |= EVENT_BY_CODE;
        else if (!strcmp(infos[i].key, PMIX_EVENT_DO_NOT_CACHE) && pmix_flag_of(&infos[i].value))
            flags |= EVENT_NOT_KEPT;
    }
    return flags;
}

static void read_notify(struct command *c)
{
    struct pmsg_notify m;

    if (pmsg_read_notify(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct slice kept = canonical_infos(c, m.infos.items, m.infos.n);
        pmix_ask(c, REQUEST_WITH(notify, .code = m.code, .range = m.range, .infos = kept,
                                 .flags = pmix_event_flags(m.infos.items, m.infos.n)));
    }
    pmsg_free_notify(&m, NULL);
}

/* None: those of a default handler.  False: no memory. */
static bool keep_codes(struct pmix_session *s, const pmix_status_t *codes, size_t n)
{
    pmix_status_t *more = realloc(s->codes, (s->ncodes + n + 1) * sizeof *more);

    if (!more)
        return false;
    s->base.peer->hears = true;
    s->codes = more;
    if (n)
        memcpy(more + s->ncodes, codes, n * sizeof *more);
    s->recall_from = s->ncodes;
    s->recall_all = n == 0;
    s->ncodes += n;
    s->every_event = s->every_event || n == 0;
    return true;
}

/* Earlier events follow the reply. */
static void ask_recall(struct command *c, const pmix_status_t *codes, size_t n)
{
    c->cmd = CMD_NONE;
    pmix_ask(c, REQUEST_WITH(recall, .codes = pmix_keep(c, slice_mem(codes, n * sizeof *codes)),
                             .count = (uint32_t)n));
}

static void read_regevents(struct command *c)
{
    struct pmix_session *s = c->s;
    struct pmsg_regevents m;

    if (pmsg_read_regevents(&c->r, s->release, &m) == PTYPE_FINE) {
        if (m.codes.n > LIMIT_EVENT_CODES - s->ncodes) {
            pmix_reply_status(s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        } else if (!keep_codes(s, m.codes.items, m.codes.n)) {
            pmix_reply_status(s, c->tag, PMIX_ERR_NOMEM);
        } else {
            pmix_reply_status(s, c->tag, PMIX_SUCCESS);
            ask_recall(c, m.codes.items, m.codes.n);
        }
    }
    pmsg_free_regevents(&m, NULL);
}

static void forget_code(struct pmix_session *s, pmix_status_t code)
{
    if (code == DEFAULT_EVENT)
        s->every_event = false;
    for (size_t i = 0; i < s->ncodes; i++) {
        if (s->codes[i] == code) {
            s->codes[i] = s->codes[--s->ncodes];
            return;
        }
    }
}

static void read_deregevents(struct command *c)
{
    while (punpack_left(&c->r) && punpack_ok(&c->r)) {
        pmix_status_t code = punpack_status(&c->r);
        if (punpack_ok(&c->r))
            forget_code(c->s, code);
    }
}

static pmix_reader *const readers[] = {
    [CMD_REQ] = read_req,
    [CMD_ABORT] = read_abort,
    [CMD_COMMIT] = read_commit,
    [CMD_FENCE] = read_fence,
    [CMD_GET] = read_get,
    [CMD_FINALIZE] = read_finalize,
    [CMD_PUBLISH] = read_publish,
    [CMD_LOOKUP] = read_keys,
    [CMD_UNPUBLISH] = read_keys,
    [CMD_SPAWN] = read_spawn,
    [CMD_CONNECT] = read_connect,
    [CMD_DISCONNECT] = read_disconnect,
    [CMD_NOTIFY] = read_notify,
    [CMD_REGEVENTS] = read_regevents,
    [CMD_DEREGEVENTS] = read_deregevents,
    [CMD_QUERY] = pmix_read_query,
    [CMD_LOG] = pmix_read_log,
    [CMD_MONITOR] = pmix_read_monitor,
    [CMD_IOF_PULL] = pmix_read_pull,
    [CMD_IOF_PUSH] = pmix_read_push,
    [CMD_IOF_DEREG] = pmix_read_dereg,
    [CMD_JOB_CONTROL] = pmix_read_control,
    [CMD_GET_CREDENTIAL] = pmix_read_get_credential,
    [CMD_VALIDATE_CREDENTIAL] = pmix_read_validate,
    [CMD_GROUP_CONSTRUCT] = pmix_read_group,
    [CMD_GROUP_DESTRUCT] = pmix_read_ungroup,
    [CMD_REFRESH_CACHE] = pmix_read_refresh,
    [CMD_RESOLVE_PEERS] = pmix_read_resolve_peers,
    [CMD_RESOLVE_NODES] = pmix_read_resolve_node,
};

/* ---- framing --------------------------------------------------------------------------------- */

/* Cleanup after a process is the server's own business, whoever controls the job. */
static bool is_clearing_up(const struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_procs_infos m;
    bool is = false;

    pmsg_read_procs_infos(&r, c->s->release, &m);
    for (size_t i = 0; i < m.infos.n; i++)
        is = is || !strcmp(m.infos.items[i].key, PMIX_REGISTER_CLEANUP) ||
             !strcmp(m.infos.items[i].key, PMIX_REGISTER_CLEANUP_DIR);
    pmsg_free_procs_infos(&m, NULL);
    return is;
}

/* Some commands a server carries out by itself, with any host. */
static bool is_for_host(const struct command *c)
{
    if ((unsigned)c->cmd >= 64 || !(c->s->base.peer->host_commands >> c->cmd & 1))
        return false;
    switch (c->cmd) {
    case CMD_JOB_CONTROL: return !is_clearing_up(c);
    case CMD_QUERY: return !pmix_asks_for_sets(c);
    case CMD_MONITOR: return !pmix_is_heartbeat(c);
    default: return true;
    }
}

/* The host reads it. */
static int pass_on(struct command *c)
{
    struct slice words = slice_mem(c->r.at, punpack_left(&c->r));
    struct pmix_pending *p =
        pmix_ask(c, REQUEST_WITH(host, .command = (uint8_t)c->cmd, .body = words));

    if (p)
        p->host = true;
    return c->no_memory ? -ENOMEM : SESSION_IDLE;
}

static int run_command(struct command *c)
{
    uint8_t number = punpack_byte(&c->r, PMIX_COMMAND);
    bool passes;

    c->cmd = (enum pmix_command)number;
    passes = punpack_ok(&c->r) && is_for_host(c);
    if (punpack_ok(&c->r) && !passes &&
        (number >= sizeof readers / sizeof *readers || !readers[number])) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        return SESSION_IDLE;
    }
    if (punpack_ok(&c->r) && c->s->npending - c->s->nanswered >= LIMIT_CLIENT_PENDING &&
        number != CMD_ABORT && number != CMD_FINALIZE) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        return SESSION_IDLE;
    }
    if (passes)
        return pass_on(c);
    if (punpack_ok(&c->r))
        readers[number](c);
    if (c->no_memory || !arena_ok(&c->s->arena))
        return -ENOMEM;
    if (!punpack_ok(&c->r))
        return errmsg_set(c->err, SESSION_BROKEN,
                          "PMIx command %u of a client of version %s cannot be read (error %d)",
                          number, c->s->version, (int)c->r.error);
    return SESSION_IDLE;
}

/* An inherited connection passes from one program to the next: each begins with a handshake. */
static int begin_again(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    drop_pending(s);
    s->state = PMIX_HELLO;
    s->every_event = false;
    s->ncodes = 0;
    pmix_pulls_free(s);
    return step_hello(s, rq, err);
}

static int step_command(struct pmix_session *s, struct request *rq, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    struct command c = { .s = s, .err = err };
    uint32_t words[3];
    uint32_t n;

    if (bytes.len < HEADER_SIZE)
        return SESSION_IDLE;
    memcpy(words, bytes.ptr, sizeof words);
    if (words[0] == UINT32_MAX && words[1] == UINT32_MAX)
        return begin_again(s, rq, err);
    n = ntohl(words[2]);
    if (n > LIMIT_CLIENT_STORE)
        return errmsg_set(err, SESSION_BROKEN, "a PMIx message of %u bytes (the limit is %u)", n,
                          LIMIT_CLIENT_STORE);
    if (bytes.len < HEADER_SIZE + (size_t)n)
        return SESSION_IDLE;
    s->consumed = HEADER_SIZE + (size_t)n;
    c.tag = ntohl(words[1]);
    if (n == 0 && c.tag == HEARTBEAT_TAG && s->monitored) {
        *rq = (struct request){ .kind = REQ_beat, .token = ++s->base.peer->next_token };
        return SESSION_REQUEST;
    }
    if (n == 0) { /* a heartbeat that is not monitored */
        pmix_reply_status(s, c.tag, PMIX_ERR_LOST_CONNECTION);
        return SESSION_IDLE;
    }
    punpack_init(&c.r, slice_mem(bytes.ptr + HEADER_SIZE, n), s->as);
    c.r.described = s->described;
    return run_command(&c);
}

static void drop_consumed(struct pmix_session *s)
{
    buf_take(&s->in, s->consumed);
    s->consumed = 0;
    drop_values(s);
    drop_backlog(s);
    arena_free(&s->arena);
}

static int next(struct session *base, struct request *rq_p, struct errmsg *err)
{
    struct pmix_session *s = mine(base);

    if (s->in.error == BUF_TOO_LONG)
        return errmsg_set(err, SESSION_BROKEN, "a PMIx message that is too long");
    for (;;) {
        int rc;
        if (s->backlog_at < s->nbacklog) {
            *rq_p = s->backlog[s->backlog_at++];
            return SESSION_REQUEST;
        }
        if (s->consumed)
            drop_consumed(s);
        if (s->state == PMIX_HELLO)
            return step_hello(s, rq_p, err);
        if (s->state == PMIX_ASKED)
            return SESSION_IDLE; /* unknown here: the owner closes it */
        if (s->state == PMIX_WELCOME) {
            s->state = PMIX_TALKING;
            *rq_p = REQUEST_WITH(attach, .speaks = SPEAKS_PMIX);
            rq_p->token = ++base->peer->next_token;
            return SESSION_REQUEST;
        }
        rc = step_command(s, rq_p, err);
        if (rc != SESSION_IDLE || s->consumed == 0)
            return rc;
    }
}

/* ---- answers and notifications --------------------------------------------------------------- */

static void turn_away(struct pmix_session *s, const struct answer *a)
{
    send_refusal(s, a->number ? (pmix_status_t)a->number : pmix_status_of(a->status));
    s->base.peer->closing = true;
}

static void answer(struct session *base, uint32_t token, const struct answer *a)
{
    struct pmix_session *s = mine(base);
    struct pmix_pending p;

    if (s->state == PMIX_ASKED && token == s->hello_token) {
        if (a->status == ANSWER_OK)
            welcome(s);
        else
            turn_away(s, a);
        return;
    }
    if (take_pending(s, token, &p)) {
        pmix_reply(s, &p, a);
        pending_free(&p);
    }
}

/* OpenPMIx before 4.2.3 keeps the events that a process has sent, for handlers that it registers
 * later; newer releases leave that to the server. */
static bool keeps_own_events(const struct pmix_session *s)
{
    return s->release < PMSG_RELEASE(4, 2, 3);
}

static bool wants(const struct pmix_session *s, const struct notice *n)
{
    bool recalled = n->flags & EVENT_RECALLED;
    bool all = recalled ? s->recall_all : s->every_event;

    if (n->flags & EVENT_OWN && keeps_own_events(s))
        return false;
    for (size_t i = recalled ? s->recall_from : 0; i < s->ncodes; i++) {
        if (s->codes[i] == n->code)
            return true;
    }
    return all && !(n->flags & EVENT_BY_CODE);
}

static void notify(struct session *base, const struct notice *n)
{
    struct pmix_session *s = mine(base);
    struct pmsg_event m = { .command = CMD_NOTIFY, .code = n->code, .range = n->range };
    struct ppack w;
    struct punpack r;

    if (s->state != PMIX_TALKING || !wants(s, n))
        return;
    if (s->as->level >= PTYPE_V4 && !(n->flags & EVENT_RECALLED))
        m.has = PMSG_BIT(event, range);
    punpack_init(&r, n->infos, &ptype_own);
    if (n->infos.len)
        m.infos.items = punpack_list(&r, PMIX_INFO, &m.infos.n);
    pmix_set_proc(&m.source, n->nspace, n->rank);
    w = pmix_writer(s);
    pmsg_write_event(&w, s->release, &m);
    pmix_send(s, 0);
    pmix_drop_infos(m.infos.items, m.infos.n);
}

const struct session_ops pmix_ops = {
    .name = "PMIx",
    .create = create,
    .destroy = destroy,
    .input = input,
    .next = next,
    .answer = answer,
    .notify = notify,
    .output = pmix_output,
    .caught_up = pmix_pulls_caught_up,
};
