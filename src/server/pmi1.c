/* pmi1.c - see pmi1.h.  Reading order: framing (take_line, take_block, take_raw), the table of
 * handlers, the handlers in the order of proto/pmi1.def, the answers. */
#include "server/pmi1.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "wire/pmi1.h"

enum { PMI1_DIALECT = 1 }; /* version of Wireup's own additions */

struct pmi1_pending {
    uint32_t token;
    uint16_t msg;   /* enum pmi1_msg of the request */
    uint32_t index; /* getbyidx */
    char tag[24];   /* barrier_in group=...:tag */
};

struct pmi1 {
    struct session base;
    enum text_when state;
    bool ours; /* the client is Wireup's library: raw values, the store's file descriptor */
    bool broken;
    bool singleton;              /* the server connected to a program that was started by hand */
    struct buf in;               /* bytes not yet understood */
    size_t scanned;              /* of these, without a newline */
    size_t consumed;             /* length of the message that the last request borrows from */
    struct arena arena;          /* decoded lists of the current message */
    struct spawn_request *spawn; /* being collected */
    uint32_t spawn_seen;
    uint32_t raw_count, raw_bytes; /* mput_wireup: the bytes after its line */
    bool raw;
    struct pmi1_pending *pending;
    uint32_t npending, pending_room;
};

static struct pmi1 *pmi1_of(struct session *s)
{
    return (struct pmi1 *)(void *)s;
}

static struct session *pmi1_create(struct peer *p)
{
    struct pmi1 *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->base = (struct session){ &pmi1_ops, p };
    s->state = TEXT_START;
    /* A raw block may follow its line: one value of the largest size. */
    buf_init(&s->in, (size_t)LIMIT_CLIENT_STORE + LIMIT_PMI_LINE);
    arena_init(&s->arena, (size_t)LIMIT_PMI_SPAWN * 4);
    return &s->base;
}

static void pmi1_destroy(struct session *base)
{
    struct pmi1 *s = pmi1_of(base);

    buf_free(&s->in);
    arena_free(&s->arena);
    spawn_free(s->spawn);
    free(s->pending);
    free(s);
}

static int pmi1_input(struct session *base, struct slice bytes)
{
    struct pmi1 *s = pmi1_of(base);

    buf_slice_put(&s->in, bytes);
    return s->in.error == BUF_NO_MEMORY ? -ENOMEM : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* All messages are valid by construction, so only memory can fail, and that poisons.  In case of an
 * error here, a client that waits for ever would be worse than one that loses its connection. */
static void reply(struct pmi1 *s, enum pmi1_msg id, const void *m)
{
    struct buf *out = &s->base.peer->out;

    if (text_encode(&pmi1_proto, TEXT_BLANKS, id, m, out, NULL) != TEXT_FINE && buf_ok(out))
        out->error = BUF_TOO_LONG;
}

/* Every client reads it whole, and as one word. */
static bool is_plain_word(struct slice s)
{
    return text_sayable_pmi1(s) && slice_find(s, ' ') == s.len && slice_find(s, '\t') == s.len;
}

#define RC(m, id, number) PMI1_SET(m, id, rc, number)

void pmi1_greet_singleton(struct session *base)
{
    struct pmi1 *s = pmi1_of(base);
    struct pmi1_singinit m = { .has = 0 };

    s->singleton = true;
    PMI1_SET(m, singinit, authtype, SLICE("none"));
    reply(s, PMI1_singinit, &m);
}

/* ---- pending requests ------------------------------------------------------------------------ */

/* A request for the core.  Returns the handler's result. */
static int ask(struct pmi1 *s, enum pmi1_msg msg, struct request *rq, struct request what)
{
    if (s->npending >= LIMIT_CLIENT_PENDING)
        return SESSION_BROKEN;
    if (s->npending == s->pending_room) {
        uint32_t room = s->pending_room ? s->pending_room * 2 : 2;
        struct pmi1_pending *more = realloc(s->pending, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->pending = more;
        s->pending_room = room;
    }
    *rq = what;
    rq->token = ++s->base.peer->next_token;
    s->pending[s->npending++] = (struct pmi1_pending){ .token = rq->token, .msg = (uint16_t)msg };
    return SESSION_REQUEST;
}

/* ---- handlers: SESSION_IDLE (done), SESSION_REQUEST, SESSION_BROKEN or -ENOMEM --------------- */

struct incoming {
    const union pmi1_any *m;
    struct request *rq;
    struct errmsg *err;
};

typedef int handler(struct pmi1 *s, const struct incoming *in);

static int broken(const struct incoming *in, const char *why)
{
    return errmsg_set(in->err, SESSION_BROKEN, "%s", why);
}

static uint32_t appnum_of(const struct peer *p)
{
    return p->job->plan.procs[p->rank].app;
}

void pmi1_facts(struct peer *p, struct pmi1_response_to_init *r)
{
    PMI1_SET(*r, response_to_init, wireup, PMI1_DIALECT);
    PMI1_SET(*r, response_to_init, rank, p->rank);
    PMI1_SET(*r, response_to_init, size, p->job->plan.nprocs);
    PMI1_SET(*r, response_to_init, appnum, appnum_of(p));
    PMI1_SET(*r, response_to_init, universe, p->job->plan.universe);
    PMI1_SET(*r, response_to_init, kvsname_max, LIMIT_PMI_KVSNAME);
    PMI1_SET(*r, response_to_init, keylen_max, LIMIT_PMI_KEY);
    PMI1_SET(*r, response_to_init, vallen_max, LIMIT_PMI_VALUE);
    PMI1_SET(*r, response_to_init, kvsname, slice_str(p->job->nspace));
    PMI1_SET(*r, response_to_init, store, p->can_pass_fd);
    p->pass_store = p->can_pass_fd;
}

/* The version answered.  All clients ask for 1.1. MPICH's from 5.0 on look in the answer for
 * whether the server has barriers of groups (1.2); older ones do not; Flux's refuses anything but
 * 1.1. All read the same line, and split it in two ways: for MPICH's only a blank ends a word, for
 * Flux's a tab does, too; and of two values the first counts. */
static void reply_both_versions(struct pmi1 *s)
{
    buf_str(&s->base.peer->out, "cmd=response_to_init rc=0 pmi_version=1 "
                                "strict=1.1\tpmi_subversion=1 pmi_subversion=2\n");
}

static int on_init(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_init *m = &in->m->init;
    struct pmi1_response_to_init r = { .has = 0 };
    bool known = m->pmi_version == 1, ours = PMI1_HAS(m, init, wireup) && m->wireup >= 1;

    RC(r, response_to_init, known ? 0 : -1);
    PMI1_SET(r, response_to_init, pmi_version, 1);
    PMI1_SET(r, response_to_init, pmi_subversion, known && m->pmi_subversion >= 2 ? 2 : 1);
    if (known && ours) {
        pmi1_facts(s->base.peer, &r);
        s->ours = true;
    }
    if (known && !ours && m->pmi_subversion == 1)
        reply_both_versions(s);
    else
        reply(s, PMI1_response_to_init, &r);
    if (!known)
        return SESSION_IDLE;
    s->state = TEXT_READY;
    return ask(s, PMI1_init, in->rq, REQUEST_WITH(attach, .speaks = SPEAKS_PMI1));
}

static int on_initack(struct pmi1 *s, const struct incoming *in)
{
    int64_t id;

    if (s->base.peer
            ->job) /* an inherited connection needs no id: its identity is answered all the same */
        id = -1;
    else if (!slice_i64(in->m->initack.pmiid, &id) || id < 0)
        return broken(in, "initack without a number as pmiid");
    return ask(s, PMI1_initack, in->rq, REQUEST_WITH(identify, .id = id));
}

static int on_singinit(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_singinit_info r = { .has = 0 };

    if (!s->singleton)
        return broken(in, "singinit from a process that this launcher started");
    PMI1_SET(r, singinit_info, versionok, SLICE("yes"));
    PMI1_SET(r, singinit_info, stdio, SLICE("no"));
    PMI1_SET(r, singinit_info, kvsname, slice_str(s->base.peer->job->nspace));
    reply(s, PMI1_singinit_info, &r);
    return SESSION_IDLE;
}

static int on_get_maxes(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_maxes r = { .has = 0 };

    (void)in;
    RC(r, maxes, 0);
    PMI1_SET(r, maxes, kvsname_max, LIMIT_PMI_KVSNAME);
    PMI1_SET(r, maxes, keylen_max, LIMIT_PMI_KEY);
    PMI1_SET(r, maxes, vallen_max, LIMIT_PMI_VALUE);
    reply(s, PMI1_maxes, &r);
    return SESSION_IDLE;
}

static int on_get_appnum(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_appnum r = { .has = 0 };

    (void)in;
    RC(r, appnum, 0);
    PMI1_SET(r, appnum, appnum, appnum_of(s->base.peer));
    reply(s, PMI1_appnum, &r);
    return SESSION_IDLE;
}

static int on_get_universe_size(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_universe_size r = { .has = 0 };

    (void)in;
    RC(r, universe_size, 0);
    PMI1_SET(r, universe_size, size, s->base.peer->job->plan.universe);
    reply(s, PMI1_universe_size, &r);
    return SESSION_IDLE;
}

static int on_get_my_kvsname(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_my_kvsname r = { .has = 0 };

    (void)in;
    RC(r, my_kvsname, 0);
    PMI1_SET(r, my_kvsname, kvsname, slice_str(s->base.peer->job->nspace));
    reply(s, PMI1_my_kvsname, &r);
    return SESSION_IDLE;
}

/* `cmd=put_ranks2hosts <bytes> <hosts>`, then `<length> <host> <rank>,<rank>, ` per host. */
static int on_get_ranks2hosts(struct pmi1 *s, const struct incoming *in)
{
    const struct job_map *p = &s->base.peer->job->plan;
    struct buf text = BUF_NULL(LIMIT_CLIENT_QUEUE);
    int rc = SESSION_IDLE;

    (void)in;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        buf_printf(&text, "%zu %s ", strlen(p->nodes[n].name), p->nodes[n].name);
        for (uint32_t r = 0; r < p->nprocs; r++) {
            if (p->procs[r].node == n)
                buf_printf(&text, "%u,", r);
        }
        buf_byte(&text, ' ');
    }
    if (buf_ok(&text)) {
        buf_printf(&s->base.peer->out, "cmd=put_ranks2hosts %zu %u\n", buf_len(&text), p->nnodes);
        buf_slice_put(&s->base.peer->out, buf_slice(&text));
    } else {
        rc = -ENOMEM;
    }
    buf_free(&text);
    return rc;
}

static int on_put(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_put *m = &in->m->put;
    bool nothing = m->key.len == 0 && m->value.len == 0; /* MPICH 4.0, a promoted singleton */
    struct pmi1_put_result r = { .has = 0 };

    if (nothing || !text_sayable_pmi1(m->value)) {
        RC(r, put_result, nothing ? 0 : 1);
        PMI1_SET(r, put_result, msg,
                 nothing ? SLICE("success") : SLICE("value_not_sayable_in_PMI-1"));
        reply(s, PMI1_put_result, &r);
        return SESSION_IDLE;
    }
    return ask(s, PMI1_put, in->rq,
               REQUEST_WITH(put, .space = m->kvsname, .key = m->key, .value = m->value));
}

static int on_get(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_get, in->rq,
               REQUEST_WITH(get, .space = in->m->get.kvsname, .key = in->m->get.key));
}

static int on_get_wireup(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_get_wireup, in->rq,
               REQUEST_WITH(get, .space = in->m->get_wireup.kvsname, .key = in->m->get_wireup.key));
}

static int on_getbyidx(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_getbyidx *m = &in->m->getbyidx;
    int rc = ask(s, PMI1_getbyidx, in->rq,
                 REQUEST_WITH(get_index, .space = m->kvsname, .index = m->idx));

    if (rc == SESSION_REQUEST)
        s->pending[s->npending - 1].index = m->idx;
    return rc;
}

static int on_create_kvs(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_create_kvs, in->rq, (struct request){ .kind = REQ_kvs_create });
}

static int on_destroy_kvs(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_destroy_kvs, in->rq,
               REQUEST_WITH(kvs_delete, .space = in->m->destroy_kvs.kvsname));
}

static int on_mput_wireup(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_mput_wireup *m = &in->m->mput_wireup;

    if (!s->ours)
        return broken(in, "mput_wireup from a client that did not ask for our dialect");
    if (m->bytes > LIMIT_CLIENT_STORE || (uint64_t)m->count * 6 > m->bytes)
        return broken(in, "mput_wireup with impossible lengths");
    s->raw = true;
    s->raw_bytes = m->bytes;
    s->raw_count = m->count;
    return SESSION_IDLE;
}

static struct slice tag_of(struct slice group)
{
    size_t at = group.len;

    while (at && group.ptr[at - 1] != ':')
        at--;
    return at ? slice_skip(group, at) : SLICE_NULL;
}

static int on_barrier_in(struct pmi1 *s, const struct incoming *in)
{
    struct slice group = in->m->barrier_in.group, tag = tag_of(group);
    struct pmi1_pending *p;
    int rc;

    if (tag.len >= sizeof p->tag)
        return broken(in, "barrier_in with a tag of more than 23 digits");
    rc = ask(s, PMI1_barrier_in, in->rq, REQUEST_WITH(fence, .group = group));
    if (rc == SESSION_REQUEST && tag.len)
        memcpy(s->pending[s->npending - 1].tag, tag.ptr, tag.len);
    return rc;
}

static int on_publish_name(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_publish_name *m = &in->m->publish_name;

    return ask(s, PMI1_publish_name, in->rq,
               REQUEST_WITH(publish, .service = m->service, .port = m->port));
}

static int on_unpublish_name(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_unpublish_name, in->rq,
               REQUEST_WITH(unpublish, .service = in->m->unpublish_name.service));
}

static int on_lookup_name(struct pmi1 *s, const struct incoming *in)
{
    return ask(s, PMI1_lookup_name, in->rq,
               REQUEST_WITH(lookup, .service = in->m->lookup_name.service, .uid = s->base.peer->uid,
                            .gid = s->base.peer->gid));
}

static int on_finalize(struct pmi1 *s, const struct incoming *in)
{
    s->state = TEXT_LEFT;
    return ask(s, PMI1_finalize, in->rq, (struct request){ .kind = REQ_finalize });
}

static int on_abort(struct pmi1 *s, const struct incoming *in)
{
    const struct pmi1_abort *m = &in->m->abort;
    int64_t code = 1;

    if (PMI1_HAS(m, abort, exitcode))
        code = m->exitcode;
    else if (PMI1_HAS(m, abort, exit_code))
        code = m->exit_code;
    return ask(s, PMI1_abort, in->rq,
               REQUEST_WITH(abort, .code = (int)code,
                            .message = PMI1_HAS(m, abort, message) ? m->message : m->error_msg));
}

static int on_spawn(struct pmi1 *s, const struct incoming *in);

static handler *const handlers[PMI1_COUNT] = {
    [PMI1_init] = on_init,
    [PMI1_initack] = on_initack,
    [PMI1_singinit] = on_singinit,
    [PMI1_get_maxes] = on_get_maxes,
    [PMI1_get_appnum] = on_get_appnum,
    [PMI1_get_universe_size] = on_get_universe_size,
    [PMI1_get_my_kvsname] = on_get_my_kvsname,
    [PMI1_get_ranks2hosts] = on_get_ranks2hosts,
    [PMI1_put] = on_put,
    [PMI1_get] = on_get,
    [PMI1_getbyidx] = on_getbyidx,
    [PMI1_create_kvs] = on_create_kvs,
    [PMI1_destroy_kvs] = on_destroy_kvs,
    [PMI1_mput_wireup] = on_mput_wireup,
    [PMI1_get_wireup] = on_get_wireup,
    [PMI1_barrier_in] = on_barrier_in,
    [PMI1_publish_name] = on_publish_name,
    [PMI1_unpublish_name] = on_unpublish_name,
    [PMI1_lookup_name] = on_lookup_name,
    [PMI1_spawn] = on_spawn,
    [PMI1_finalize] = on_finalize,
    [PMI1_abort] = on_abort,
};

/* ---- spawn: one block per command, handed on with the last ----------------------------------- */

static const char *spawn_fault(const struct pmi1 *s, const struct pmi1_spawn *m)
{
    if (m->totspawns < 1 || m->totspawns > LIMIT_SPAWN_COMMANDS)
        return "spawn with an impossible totspawns";
    if (m->spawnssofar != s->spawn_seen + 1 || m->spawnssofar > m->totspawns)
        return "spawn commands out of order";
    if (s->spawn && s->spawn->ncommands != m->totspawns)
        return "spawn commands that disagree about totspawns";
    if (m->nprocs < 1 || m->nprocs > LIMIT_JOB_PROCS)
        return "spawn of an impossible number of processes";
    if (m->argcnt != m->arg.n)
        return "spawn with an argcnt that does not match the arguments";
    if (m->preput_num != m->preput_key.n || m->preput_key.n != m->preput_val.n)
        return "spawn with a preput_num that does not match the preputs";
    if (m->info_num != m->info_key.n || m->info_key.n != m->info_val.n)
        return "spawn with an info_num that does not match the infos";
    return NULL;
}

static int begin_spawn(struct pmi1 *s, uint32_t commands)
{
    s->spawn = spawn_new();
    if (!s->spawn)
        return -ENOMEM;
    s->spawn->commands = arena_array(&s->spawn->arena, commands, sizeof *s->spawn->commands);
    s->spawn->ncommands = commands;
    return s->spawn->commands ? 0 : -ENOMEM;
}

static int on_spawn(struct pmi1 *s, const struct incoming *in)
{
    struct pmi1_spawn m = in->m->spawn;
    const char *fault;
    int rc;

    /* A single command may leave both counters out. */
    m.totspawns = PMI1_HAS(&m, spawn, totspawns) ? m.totspawns : 1;
    m.spawnssofar = PMI1_HAS(&m, spawn, spawnssofar) ? m.spawnssofar : s->spawn_seen + 1;
    fault = spawn_fault(s, &m);
    if (fault)
        return broken(in, fault);
    if (!s->spawn && (rc = begin_spawn(s, m.totspawns)) < 0)
        return rc;
    s->spawn->commands[s->spawn_seen++] = spawn_copy_command(
        &s->spawn->arena, m.execname, (uint32_t)m.nprocs, &m.arg, &m.info_key, &m.info_val);
    if (m.preput_key.n && !s->spawn->npreputs) { /* MPICH 4.0 repeats them in every block */
        s->spawn->preputs = spawn_copy_pairs(&s->spawn->arena, &m.preput_key, &m.preput_val);
        s->spawn->npreputs = m.preput_key.n;
    }
    if (!arena_ok(&s->spawn->arena))
        return -ENOMEM;
    if (s->spawn_seen < m.totspawns)
        return SESSION_IDLE;
    rc = ask(s, PMI1_spawn, in->rq, REQUEST_WITH(spawn, .request = s->spawn));
    if (rc == SESSION_REQUEST) {
        s->spawn = NULL;
        s->spawn_seen = 0;
    }
    return rc;
}

/* ---- framing --------------------------------------------------------------------------------- */

static int too_long(struct errmsg *err, const char *what, size_t limit)
{
    return errmsg_set(err, SESSION_BROKEN, "%s of more than %zu bytes", what, limit);
}

/* A whole line, without its newline, still in the buffer. */
static int take_line(struct pmi1 *s, struct slice *line_p, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in);
    size_t at = s->scanned + slice_find(slice_skip(bytes, s->scanned), '\n');

    if (at == bytes.len) {
        s->scanned = bytes.len;
        return bytes.len > LIMIT_PMI_LINE ? too_long(err, "a line", LIMIT_PMI_LINE) : SESSION_IDLE;
    }
    *line_p = slice_head(bytes, at);
    s->consumed = at + 1;
    s->scanned = 0;
    return SESSION_REQUEST;
}

/* Lines up to `endcmd`. When more of the block arrives, it is scanned again only from the last line
 * start on (s->scanned), so a slow sender costs little. */
static int take_block(struct pmi1 *s, struct slice *block_p, struct errmsg *err)
{
    struct slice bytes = buf_slice(&s->in), line;
    size_t from = s->scanned, next;

    while (from < bytes.len) {
        struct slice rest = slice_skip(bytes, from);
        size_t at = slice_find(rest, '\n');
        if (at == rest.len)
            break;
        line = slice_trim(slice_head(rest, at));
        next = from + at + 1;
        if (slice_is(line, "endcmd")) {
            *block_p = slice_head(bytes, next);
            s->consumed = next;
            s->scanned = 0;
            return SESSION_REQUEST;
        }
        from = next;
    }
    s->scanned = from;
    if (bytes.len > LIMIT_PMI_SPAWN)
        return too_long(err, "a spawn block", LIMIT_PMI_SPAWN);
    return SESSION_IDLE;
}

static int take_raw(struct pmi1 *s, struct request *rq)
{
    struct slice bytes = buf_slice(&s->in);

    if (bytes.len < s->raw_bytes)
        return SESSION_IDLE;
    s->raw = false;
    s->consumed = s->raw_bytes;
    return ask(
        s, PMI1_mput_wireup, rq,
        REQUEST_WITH(put_many, .count = s->raw_count, .records = slice_head(bytes, s->raw_bytes)));
}

/* PMI 1.0 had no init: the first request is the start.  The message is read again afterwards. */
static int attach_silently(struct pmi1 *s, struct request *rq)
{
    s->state = TEXT_READY;
    s->consumed = 0;
    return ask(s, PMI1_init, rq, REQUEST_WITH(attach, .speaks = SPEAKS_PMI1));
}

static int on_message(struct pmi1 *s, enum text_style style, struct slice text, struct request *rq,
                      struct errmsg *err)
{
    union pmi1_any m;
    struct incoming in = { &m, rq, err };
    const struct text_msg *row;
    unsigned id;
    int rc = text_decode(&pmi1_proto, style, text, &s->arena, &id, &m, sizeof m, err);

    if (rc != TEXT_FINE)
        return rc < 0 ? rc : SESSION_BROKEN;
    if (id == PMI1_init && m.init.pmi_version == 2) {
        *rq = REQUEST_WITH(switch_version, .version = 2, .unread = buf_slice(&s->in));
        return SESSION_SWITCH;
    }
    row = &pmi1_proto.msgs[id];
    if (!(row->who & TEXT_CLIENT) || !(row->when & s->state) || !handlers[id] ||
        (!s->base.peer->job && id != PMI1_initack))
        return errmsg_set(err, SESSION_BROKEN, "'%s' is not allowed %s", row->name,
                          !s->base.peer->job       ? "before initack"
                          : s->state == TEXT_LEFT  ? "after finalize"
                          : s->state == TEXT_START ? "before init"
                                                   : "from a client");
    if (s->state == TEXT_START && id != PMI1_init && id != PMI1_initack && id != PMI1_singinit)
        return attach_silently(s, rq);
    return handlers[id](s, &in);
}

/* Adds the offending line to the reason. */
static int explain(struct slice text, struct errmsg *err)
{
    struct errmsg why = *err;

    if (why.text[0] == '\0')
        errmsg_set(&why, 0, "too many requests at once");
    return errmsg_set(err, SESSION_BROKEN, "%s, in: " SLICE_FMT "%s", why.text,
                      SLICE_ARG(slice_head(text, 256)), text.len > 256 ? "..." : "");
}

/* One step: a message, a block or raw bytes.  SESSION_IDLE with nothing consumed: wait for more. */
static int step(struct pmi1 *s, struct request *rq, struct errmsg *err)
{
    struct slice text;
    bool block;
    int rc;

    if (s->raw)
        return take_raw(s, rq);
    block = slice_starts(buf_slice(&s->in), SLICE("mcmd="));
    rc = block ? take_block(s, &text, err) : take_line(s, &text, err);
    if (rc != SESSION_REQUEST)
        return rc;
    if (slice_trim(text).len == 0)
        return SESSION_IDLE; /* MPICH publishes ports with a newline in them */
    rc = on_message(s, block ? TEXT_LINES : TEXT_BLANKS, text, rq, err);
    return rc == SESSION_BROKEN ? explain(text, err) : rc;
}

static int pmi1_next(struct session *base, struct request *rq_p, struct errmsg *err)
{
    struct pmi1 *s = pmi1_of(base);
    int rc = s->broken ? SESSION_BROKEN : SESSION_IDLE;

    if (s->in.error == BUF_TOO_LONG)
        rc = too_long(err, "a message", s->in.max);
    while (rc == SESSION_IDLE) {
        bool raw = s->raw;
        if (s->consumed) {
            buf_take(&s->in, s->consumed);
            s->consumed = 0;
            arena_free(&s->arena);
        }
        if (buf_len(&s->in) == 0 && !(raw && s->raw_bytes == 0))
            return SESSION_IDLE;
        rc = step(s, rq_p, err);
        if (rc == SESSION_IDLE && s->consumed == 0)
            return SESSION_IDLE;
    }
    s->broken = rc != SESSION_REQUEST;
    return rc;
}

/* ---- answers --------------------------------------------------------------------------------- */

static int code_of(const struct answer *a)
{
    return a->status == ANSWER_OK ? 0 : a->status == ANSWER_NOT_FOUND ? -1 : 1;
}

static struct slice word_of(const struct answer *a)
{
    return slice_str(answer_word(a->status));
}

static void answer_get(struct pmi1 *s, const struct answer *a)
{
    struct answer_get m = answer_to_get(a);
    struct pmi1_get_result r = { .has = 0 };
    bool sayable = a->status != ANSWER_OK || text_sayable_pmi1(m.value);

    RC(r, get_result, sayable ? code_of(a) : 1);
    PMI1_SET(r, get_result, msg, sayable ? word_of(a) : SLICE("value_not_sayable_in_PMI-1"));
    if (a->status == ANSWER_OK && sayable)
        PMI1_SET(r, get_result, value, m.value);
    reply(s, PMI1_get_result, &r);
}

static void answer_get_wireup(struct pmi1 *s, const struct answer *a)
{
    struct answer_get m = answer_to_get(a);
    struct pmi1_value_wireup r = { .has = 0 };

    RC(r, value_wireup, code_of(a));
    if (a->status == ANSWER_OK)
        PMI1_SET(r, value_wireup, bytes, (uint32_t)m.value.len);
    else
        PMI1_SET(r, value_wireup, msg, word_of(a));
    reply(s, PMI1_value_wireup, &r);
    if (a->status == ANSWER_OK)
        buf_slice_put(&s->base.peer->out, m.value);
}

static void answer_getbyidx(struct pmi1 *s, const struct pmi1_pending *p, const struct answer *a)
{
    struct answer_get_index m = answer_to_get_index(a);
    struct pmi1_getbyidx_results r = { .has = 0 };

    if (a->status == ANSWER_OK) {
        RC(r, getbyidx_results, 0);
        PMI1_SET(r, getbyidx_results, nextidx, p->index + 1);
        PMI1_SET(r, getbyidx_results, key,
                 is_plain_word(m.key) ? m.key : SLICE("key_not_sayable_in_PMI-1"));
        PMI1_SET(r, getbyidx_results, val,
                 text_sayable_pmi1(m.value) ? m.value : SLICE("value_not_sayable_in_PMI-1"));
    } else {
        RC(r, getbyidx_results, -2);
        PMI1_SET(r, getbyidx_results, reason, SLICE("no_more_keyvals"));
    }
    reply(s, PMI1_getbyidx_results, &r);
}

static void answer_mput(struct pmi1 *s, const struct answer *a)
{
    struct slice refused = answer_to_put_many(a).refused;
    struct pmi1_mput_result r = { .has = 0 };

    RC(r, mput_result, a->status == ANSWER_OK ? 0 : (int)a->status);
    if (a->status != ANSWER_OK) {
        if (is_plain_word(refused))
            PMI1_SET(r, mput_result, key, refused);
        PMI1_SET(r, mput_result, msg, word_of(a));
    }
    reply(s, PMI1_mput_result, &r);
}

static void answer_barrier(struct pmi1 *s, const struct pmi1_pending *p, const struct answer *a)
{
    struct pmi1_barrier_out r = { .has = 0 };

    RC(r, barrier_out, code_of(a));
    if (p->tag[0])
        PMI1_SET(r, barrier_out, tag, slice_str(p->tag));
    if (a->status != ANSWER_OK)
        PMI1_SET(r, barrier_out, msg,
                 a->status == ANSWER_FAILED ? SLICE("a_member_has_died") : word_of(a));
    reply(s, PMI1_barrier_out, &r);
}

/* The `info=ok` is for MPICH 4.0, which reads it. */
static void answer_publish(struct pmi1 *s, const struct answer *a)
{
    struct pmi1_publish_result r = { .has = 0 };

    PMI1_SET(r, publish_result, info, a->status == ANSWER_OK ? SLICE("ok") : SLICE("fail"));
    RC(r, publish_result, a->status == ANSWER_OK ? 0 : 1);
    PMI1_SET(r, publish_result, msg, word_of(a));
    reply(s, PMI1_publish_result, &r);
}

static void answer_unpublish(struct pmi1 *s, const struct answer *a)
{
    struct pmi1_unpublish_result r = { .has = 0 };

    PMI1_SET(r, unpublish_result, info, a->status == ANSWER_OK ? SLICE("ok") : SLICE("fail"));
    RC(r, unpublish_result, a->status == ANSWER_OK ? 0 : 1);
    PMI1_SET(r, unpublish_result, msg, word_of(a));
    reply(s, PMI1_unpublish_result, &r);
}

/* Wireup's own library reads a port to the end of the line. */
static bool is_line(struct slice s)
{
    return s.len && slice_find(s, '\n') == s.len && slice_find(s, '\0') == s.len;
}

static void answer_lookup(struct pmi1 *s, const struct answer *a)
{
    struct slice port = answer_to_lookup(a).port;
    struct pmi1_lookup_result r = { .has = 0 };
    bool found = a->status == ANSWER_OK && (s->ours ? is_line(port) : is_plain_word(port));

    PMI1_SET(r, lookup_result, info, found ? SLICE("ok") : SLICE("fail"));
    RC(r, lookup_result, found ? 0 : 1);
    PMI1_SET(r, lookup_result, msg,
             found                    ? SLICE("success")
             : a->status == ANSWER_OK ? SLICE("port_not_sayable_in_PMI-1")
                                      : SLICE("service_not_found"));
    if (found)
        PMI1_SET(r, lookup_result, port, port);
    reply(s, PMI1_lookup_result, &r);
}

static void answer_spawn(struct pmi1 *s, const struct answer *a)
{
    struct answer_spawn m = answer_to_spawn(a);
    struct pmi1_spawn_result r = { .has = 0 };
    struct buf codes = BUF_NULL(LIMIT_PMI_LINE / 2);

    RC(r, spawn_result, a->status == ANSWER_OK ? 0 : 1);
    if (m.nspace.len)
        PMI1_SET(r, spawn_result, jobid, m.nspace);
    for (uint32_t i = 0; i < m.codes.n; i++)
        buf_printf(&codes, "%s%d", i ? "," : "", m.codes.items[i]);
    if (m.codes.n && buf_ok(&codes))
        PMI1_SET(r, spawn_result, errcodes, buf_slice(&codes));
    if (a->status != ANSWER_OK)
        PMI1_SET(r, spawn_result, msg, word_of(a));
    reply(s, PMI1_spawn_result, &r);
    buf_free(&codes);
}

static void answer_initack(struct pmi1 *s, const struct answer *a)
{
    if (a->status != ANSWER_OK || !s->base.peer->job) {
        buf_str(&s->base.peer->out, "cmd=initack rc=-1\n");
        return;
    }
    buf_printf(&s->base.peer->out,
               "cmd=initack rc=0 rank=%u size=%u appnum=%u debug=0\n"
               "cmd=set size=%u\ncmd=set rank=%u\ncmd=set debug=0\n",
               s->base.peer->rank, s->base.peer->job->plan.nprocs, appnum_of(s->base.peer),
               s->base.peer->job->plan.nprocs, s->base.peer->rank);
}

static void answer_create(struct pmi1 *s, const struct answer *a)
{
    struct pmi1_newkvs r = { .has = 0 };

    RC(r, newkvs, code_of(a));
    if (a->status == ANSWER_OK)
        PMI1_SET(r, newkvs, kvsname, answer_to_kvs_create(a).space);
    reply(s, PMI1_newkvs, &r);
}

static void answer_destroy(struct pmi1 *s, const struct answer *a)
{
    struct pmi1_kvs_destroyed r = { .has = 0 };

    RC(r, kvs_destroyed, code_of(a));
    reply(s, PMI1_kvs_destroyed, &r);
}

static void answer_put(struct pmi1 *s, const struct answer *a)
{
    struct pmi1_put_result r = { .has = 0 };

    RC(r, put_result, code_of(a));
    PMI1_SET(r, put_result, msg, word_of(a));
    reply(s, PMI1_put_result, &r);
}

static void answer_finalize(struct pmi1 *s)
{
    struct pmi1_finalize_ack r = { .has = 0 };

    RC(r, finalize_ack, 0);
    reply(s, PMI1_finalize_ack, &r);
}

static void pmi1_answer(struct session *base, uint32_t token, const struct answer *a)
{
    struct pmi1 *s = pmi1_of(base);
    struct pmi1_pending p;
    uint32_t i = 0;

    while (i < s->npending && s->pending[i].token != token)
        i++;
    if (i == s->npending)
        return;
    p = s->pending[i];
    s->pending[i] = s->pending[--s->npending];
    switch ((enum pmi1_msg)p.msg) {
    case PMI1_put: answer_put(s, a); break;
    case PMI1_get: answer_get(s, a); break;
    case PMI1_get_wireup: answer_get_wireup(s, a); break;
    case PMI1_getbyidx: answer_getbyidx(s, &p, a); break;
    case PMI1_mput_wireup: answer_mput(s, a); break;
    case PMI1_barrier_in: answer_barrier(s, &p, a); break;
    case PMI1_publish_name: answer_publish(s, a); break;
    case PMI1_unpublish_name: answer_unpublish(s, a); break;
    case PMI1_lookup_name: answer_lookup(s, a); break;
    case PMI1_spawn: answer_spawn(s, a); break;
    case PMI1_initack: answer_initack(s, a); break;
    case PMI1_create_kvs: answer_create(s, a); break;
    case PMI1_destroy_kvs: answer_destroy(s, a); break;
    case PMI1_finalize: answer_finalize(s); break;
    default: break; /* init and abort are not answered here */
    }
}

const struct session_ops pmi1_ops = {
    .name = "PMI-1",
    .create = pmi1_create,
    .destroy = pmi1_destroy,
    .input = pmi1_input,
    .next = pmi1_next,
    .answer = pmi1_answer,
};
