/* replay.c - see replay.h.  Reading order: the replay's data; sentences; the host's side;
 * connections; inputs; effects; feeding. */
#include "server/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/effect.h"
#include "core/job_kvs.h"
#include "server/effect_host.h"
#include "trace/record.h"
#include "server/server_priv.h"
#include "store/memory.h"

/* Differences are shown with at most this many bytes around them. */
enum { SNIPPET_MAX = 200 };

struct home {
    struct list link;
    struct job *job;
    struct seg_region region;
};

/* A connection, as the trace and the server know it. */
struct line {
    struct list link;
    struct peer *peer;
    uint32_t number;
    uint64_t received; /* bytes received on it */
};

struct replay {
    struct record_reader reader;
    struct server server;
    struct effect_host host;
    struct list homes, lines;
    struct map by_number; /* lines */
    struct record made;   /* the effect that the server has just produced */
    bool has_made;
    uint64_t begin_ns, now_ns, nprocs;
    /* The bytes of a connection whose identity may be asked for: the answer is the next record. */
    struct line *asked;
    struct buf words;
    uint64_t words_ns;
    struct arena arena; /* of one input */
    const struct record_identify *identity;
    uint64_t store_max;
    char *name, *uri, *sessions, *hostname, *started; /* of the server */
    bool begun, over;
    int verdict;
    struct errmsg why;
    struct replay_count count;
};

static const struct effect_handlers handlers;

/* ---- sentences ------------------------------------------------------------------------------- */

/* Bytes for people: one line, in quotes. */
static void quote(struct buf *out, struct slice s)
{
    buf_byte(out, '\'');
    for (size_t i = 0; i < s.len && i < SNIPPET_MAX; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '\n')
            buf_str(out, "\\n");
        else if (c < ' ' || c >= 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_byte(out, (char)c);
    }
    buf_str(out, s.len > SNIPPET_MAX ? "...'" : "'");
}

/* Ends the replay: `when and where`, then the two sides. */
static int differs(struct replay *r, struct buf *where, const char *recorded, struct slice a,
                   const char *now, struct slice b)
{
    struct buf text = BUF_NULL(1 << 16);

    buf_printf(&text, "after %.6f s, ", (double)(r->now_ns - r->begin_ns) / 1e9);
    buf_slice_put(&text, buf_slice(where));
    buf_printf(&text, ": %s", recorded);
    if (a.len)
        quote(&text, a);
    buf_printf(&text, "; %s", now);
    if (b.len)
        quote(&text, b);
    buf_free(where);
    errmsg_set(&r->why, 0, "%s", buf_cstr(&text) ? buf_cstr(&text) : "out of memory");
    buf_free(&text);
    return r->verdict = REPLAY_DIFFERS;
}

static int bad(struct replay *r, const char *why)
{
    errmsg_set(&r->why, 0, "record %llu is invalid: %s", (unsigned long long)r->count.records, why);
    return r->verdict = REPLAY_BAD;
}

static void name_line(struct buf *out, const struct line *l)
{
    const struct peer *p = l->peer;

    buf_printf(out, "connection %u", l->number);
    if (p->job)
        buf_printf(out, " (rank %u of job %u, %s)", p->rank, p->job->id,
                   p->session ? p->session->ops->name : "no message yet");
    else
        buf_str(out, " (of nobody yet)");
}

/* ---- looking up ------------------------------------------------------------------------------ */

static struct slice number_key(const uint32_t *number)
{
    return slice_mem(number, sizeof *number);
}

static struct line *line_of(const struct replay *r, uint64_t number)
{
    uint32_t n = (uint32_t)number;

    return number <= UINT32_MAX ? map_get(&r->by_number, number_key(&n)) : NULL;
}

static struct job *job_of(const struct replay *r, uint64_t id)
{
    return id < UINT32_MAX ? core_job(&r->server.core, (uint32_t)id) : NULL;
}

/* ---- the host's side ------------------------------------------------------------------------- */

/* The server asks for an identity: the record after the bytes has the answer. */
static bool identify(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                     uint32_t *rank_p)
{
    struct replay *r = arg;
    const struct record_identify *i = r->identity;
    struct job *j = i && i->job >= 0 ? job_of(r, (uint64_t)i->job) : NULL;

    (void)newcomer;
    (void)id;
    r->identity = NULL;
    if (!j || i->rank >= j->plan.nprocs)
        return false;
    *job_p = j;
    *rank_p = (uint32_t)i->rank;
    return true;
}

/* Keeps the effect that the server has just produced, as its recorder gets it. */
static void note(void *arg, struct record *made)
{
    struct replay *r = arg;

    r->has_made = record_is_effect(made->kind);
    if (r->has_made)
        r->made = *made;
}

static bool admit(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank)
{
    const struct replay *r = arg;

    (void)newcomer;
    (void)job;
    (void)rank;
    return r->identity && r->identity->job >= 0;
}

static int on_begin(struct replay *r, const struct record *d)
{
    server_init(&r->server, d->u.begin.seed, NULL);
    effect_host_init(&r->host, &r->server, &handlers, r);
    map_init(&r->by_number, d->u.begin.seed);
    r->server.core.has_neighbours = d->u.begin.neighbours != 0;
    r->server.core.has_topology = d->u.begin.topology != 0;
    r->server.core.has_others = d->u.begin.others != 0;
    r->server.core.names_elsewhere = d->u.begin.names_elsewhere != 0;
    r->server.core.uid = (uint32_t)d->u.begin.uid;
    r->server.core.gid = (uint32_t)d->u.begin.gid;
    r->server.core.position = (uint32_t)d->u.begin.position;
    r->server.core.takes_tools = d->u.begin.tools != 0;
    r->server.core.is_manager = d->u.begin.manager != 0;
    r->server.core.name = r->name =
        strndup(d->u.begin.name.ptr ? d->u.begin.name.ptr : "", d->u.begin.name.len);
    r->server.core.uri = r->uri =
        strndup(d->u.begin.uri.ptr ? d->u.begin.uri.ptr : "", d->u.begin.uri.len);
    if (d->u.begin.sessions.len)
        r->server.core.sessions = r->sessions =
            strndup(d->u.begin.sessions.ptr, d->u.begin.sessions.len);
    if (d->u.begin.hostname.len)
        r->server.core.hostname = r->hostname =
            strndup(d->u.begin.hostname.ptr, d->u.begin.hostname.len);
    r->server.core.memory = d->u.begin.memory;
    r->server.core.wall_offset_ns = d->u.begin.epoch;
    if (d->u.begin.started.len)
        r->server.core.started = r->started =
            strndup(d->u.begin.started.ptr, d->u.begin.started.len);
    r->server.identify = identify;
    r->server.admit = admit;
    r->server.arg = r;
    r->begin_ns = d->time_ns;
    r->begun = true;
    r->count.masked = d->u.begin.masked != 0;
    return REPLAY_SAME;
}

/* A program's arguments; those of all programs are in one list, and its own begin there.  Returns
 * how many these are. */
static uint32_t plan_words(struct job_map *p, struct job_map_app *app, const struct record_job *d,
                           uint32_t which, uint32_t at)
{
    uint32_t n = which < d->argcs.n ? d->argcs.items[which] : 0;

    if (at >= d->words.n || n > d->words.n - at)
        n = 0;
    if (d->apps.items[which].len == 0) /* it was started by another node */
        return n;
    app->argv = arena_array(&p->arena, n + (size_t)2, sizeof *app->argv);
    app->argc = n + 1;
    for (uint32_t i = 0; app->argv && i <= n; i++)
        app->argv[i] = arena_str(&p->arena, i ? d->words.items[at + i - 1] : d->apps.items[which]);
    return n;
}

static bool plan_names(struct job_map *p, const struct record_job *d)
{
    uint32_t at = 0;

    p->napps = d->apps.n;
    p->nnodes = d->nodes.n;
    p->universe = d->universe;
    p->apps = arena_array(&p->arena, d->apps.n + (size_t)1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, d->nodes.n + (size_t)1, sizeof *p->nodes);
    for (uint32_t i = 0; p->apps && i < d->apps.n; i++) {
        at += plan_words(p, &p->apps[i], d, i, at);
        if (i < d->wdirs.n && d->wdirs.items[i].len)
            p->apps[i].wdir = arena_str(&p->arena, d->wdirs.items[i]);
    }
    for (uint32_t i = 0; p->nodes && i < d->nodes.n; i++) {
        p->nodes[i].name = arena_str(&p->arena, d->nodes.items[i]);
        p->nodes[i].slots = i < d->slots.n ? d->slots.items[i] : 0;
    }
    return arena_ok(&p->arena);
}

static void place_run(struct job_map *p, uint32_t first, const uint32_t *run)
{
    struct job_map_app *app = &p->apps[run[1]];
    struct job_map_node *node = &p->nodes[run[2]];

    if (app->nprocs == 0)
        app->first_rank = first;
    app->nprocs += run[0];
    node->nprocs += run[0];
    for (uint32_t i = 0; i < run[0]; i++)
        p->procs[first + i] = (struct job_map_proc){
            .rank = first + i, .app = run[1], .node = run[2], .local_rank = run[3] + i
        };
}

static const char *text_or_null(struct job_map *p, struct slice text)
{
    return text.len ? arena_str(&p->arena, text) : NULL;
}

/* The words of the placement, and the processors of the processes that are bound. */
static bool plan_places(struct job_map *p, const struct record_job *d)
{
    uint32_t n = d->bound.n < d->places.n ? d->bound.n : d->places.n;
    struct job_map_place *place = arena_array(&p->arena, n / 2 + (size_t)1, sizeof *place);

    for (uint32_t i = 0; i < d->placement.n && i < JOB_MAP_WORDS; i++)
        p->words[i] = text_or_null(p, d->placement.items[i]);
    for (uint32_t i = 0; place && i + 1 < n; i += 2, place++) {
        uint32_t rank = d->bound.items[i];
        if (rank >= p->nprocs)
            return false;
        place->cpuset = text_or_null(p, d->places.items[i]);
        place->locality = text_or_null(p, d->places.items[i + 1]);
        p->procs[rank].place = place;
        p->procs[rank].package_rank = d->bound.items[i + 1];
    }
    return arena_ok(&p->arena);
}

static bool plan_stops(struct job_map *p, const struct record_job *d)
{
    for (uint32_t i = 0; i + 1 < d->stops.n; i += 2) {
        if (d->stops.items[i] >= p->nprocs || d->stops.items[i + 1] >> JOB_MAP_STOPS)
            return false;
        p->procs[d->stops.items[i]].stops = (uint8_t)d->stops.items[i + 1];
    }
    p->breakpoint = text_or_null(p, d->breakpoint);
    p->target = text_or_null(p, d->target);
    for (uint32_t i = 0; i < p->napps && i < d->psets.n; i++)
        p->apps[i].pset = text_or_null(p, d->psets.items[i]);
    for (uint32_t i = 0; i < p->napps && i < d->restarts.n; i++)
        p->apps[i].restarts = d->restarts.items[i];
    return arena_ok(&p->arena);
}

/* NULL, or the fault in it. */
static const char *make_plan(struct replay *r, struct job_map *p, const struct record_job *d)
{
    const struct part_uints *runs = &d->runs;
    uint64_t count = 0;

    if (runs->n % 4)
        return "the placement of the processes is incomplete";
    for (uint32_t i = 0; i < runs->n; i += 4) {
        count += runs->items[i];
        if (runs->items[i + 1] >= d->apps.n || runs->items[i + 2] >= d->nodes.n)
            return "a process of an unknown program or node";
    }
    if (count == 0 || r->nprocs + count > LIMIT_REPLAY_PROCS)
        return "an impossible number of processes";
    p->procs = arena_array(&p->arena, count, sizeof *p->procs);
    if (!p->procs || !plan_names(p, d))
        return "out of memory";
    for (uint32_t i = 0; i < runs->n; i += 4) {
        place_run(p, p->nprocs, runs->items + i);
        p->nprocs += runs->items[i];
    }
    p->ways = (uint32_t)d->ways;
    if (!plan_places(p, d))
        return "the processors of an unknown process";
    if (!plan_stops(p, d))
        return "a stop of an unknown process";
    return NULL;
}

static struct job *order_job(struct replay *r, const struct record_job *j, const char *name,
                             struct job_map *plan, struct seg_region *region)
{
    struct job_order o = { .nspace = name,
                           .plan = plan,
                           .region = region,
                           .parent = j->parent < 0 ? JOB_NO_RANK : (uint32_t)j->parent,
                           .parent_rank = (uint32_t)j->parent_rank,
                           .keep_going = j->keep_going != 0,
                           .here = (uint32_t)(j->here - 1),
                           .follows = j->follows != 0,
                           .numbered = true,
                           .id = (uint32_t)j->job,
                           .base = (uint32_t)(j->base - 1),
                           .is_tool = j->tool != 0,
                           .is_asked = j->asked != 0,
                           .is_adopted = j->adopted != 0,
                           .is_foreign = j->foreign != 0,
                           .session = (uint32_t)j->session,
                           .epoch = (uint32_t)j->epoch };

    if (j->base == 0)
        o.base = r->server.core.next_base;
    return core_job_order(&r->server.core, &o);
}

static int on_job(struct replay *r, const struct record *d)
{
    const struct record_job *j = &d->u.job;
    struct home *h = calloc(1, sizeof *h);
    char *name = strndup(j->nspace.ptr ? j->nspace.ptr : "", j->nspace.len);
    const char *why = h && name ? NULL : "out of memory";
    struct job_map plan;

    job_map_init(&plan);
    if (!why)
        why = make_plan(r, &plan, j);
    /* A node that has joined later knows jobs in another order, and not all parents. */
    if (!why && (j->job >= JOB_NO_RANK - 1 || job_of(r, j->job)))
        why = "a job that is there already";
    if (!why && seg_memory_open(r->store_max, &h->region) == 0)
        h->job = order_job(r, j, name, &plan, &h->region);
    free(name);
    if (why || !h->job) {
        job_map_free(&plan);
        if (h)
            seg_memory_close(&h->region);
        free(h);
        return bad(r, why ? why : "out of memory");
    }
    list_append(&r->homes, &h->link);
    r->nprocs += h->job->plan.nprocs;
    r->count.jobs++;
    return REPLAY_SAME;
}

static void free_home(struct home *h)
{
    seg_memory_close(&h->region);
    list_unlink(&h->link);
    free(h);
}

static int on_tick(struct replay *r, const struct record *d)
{
    server_tick(&r->server, d->time_ns);
    return REPLAY_SAME;
}

/* ---- connections ----------------------------------------------------------------------------- */

static int on_open(struct replay *r, const struct record *d)
{
    const struct record_open *v = &d->u.open;
    struct job *j = v->job >= 0 ? job_of(r, (uint64_t)v->job) : NULL;
    struct line *l;

    if (v->job >= 0 && (!j || v->rank >= j->plan.nprocs))
        return bad(r, "a connection of an unknown process");
    if (v->connection != r->server.next_id + UINT64_C(1))
        return bad(r, "a connection out of order");
    l = calloc(1, sizeof *l);
    if (l)
        l->peer = v->store && j ? server_store_peer_new(&r->server, j, (uint32_t)v->rank, l)
                                : server_peer_new(&r->server, j, (uint32_t)v->rank, v->fds != 0, l);
    if (!l || !l->peer) {
        free(l);
        return bad(r, "out of memory");
    }
    l->number = (uint32_t)v->connection;
    list_init(&l->link);
    list_append(&r->lines, &l->link);
    r->count.connections++;
    return map_put(&r->by_number, number_key(&l->number), l, NULL) < 0 ? bad(r, "out of memory")
                                                                       : REPLAY_SAME;
}

/* Some messages contain an identity that the server itself understands. */
static int same_identity(struct replay *r, const struct line *l, const struct record_identify *i)
{
    const struct job *j = l->peer->job;
    struct buf where = BUF_NULL(4096);

    if (j ? (i->job == (int64_t)j->id && i->rank == l->peer->rank) : i->job < 0)
        return REPLAY_SAME;
    name_line(&where, l);
    return differs(r, &where,
                   i->job < 0 ? "in the trace the connection is refused"
                              : "in the trace it is another process",
                   SLICE_NULL, "in this version it is not", SLICE_NULL);
}

/* Gives the server the bytes that were held back. */
static int speak(struct replay *r, const struct record_identify *identity)
{
    struct line *l = r->asked;

    r->asked = NULL;
    r->identity = identity;
    server_deliver(&r->server, INPUT_AT(r->words_ns, in, .connection = l->number,
                                        .bytes = buf_slice(&r->words)));
    buf_clear(&r->words);
    r->identity = NULL;
    return identity ? same_identity(r, l, identity) : REPLAY_SAME;
}

/* Until its client is known, the next record may say who it is. */
static int on_in(struct replay *r, const struct input *in)
{
    struct line *l = line_of(r, in->u.in.connection);

    if (!l)
        return bad(r, "bytes on an unknown connection");
    r->count.bytes_in += in->u.in.bytes.len;
    if (l->peer->job) {
        server_deliver(&r->server, in);
        return REPLAY_SAME;
    }
    r->asked = l;
    r->words_ns = in->now_ns;
    buf_slice_put(&r->words, in->u.in.bytes);
    return buf_ok(&r->words) ? REPLAY_SAME : bad(r, "out of memory");
}

static int on_identify(struct replay *r, const struct record *d)
{
    (void)d;
    return bad(r, "an identity that nobody asked for");
}

/* Text is shown from the start of the line in which it differs, so that people see the whole
 * message; other bytes from a little before. */
static int other_words(struct replay *r, const struct line *l, struct slice was, struct slice is)
{
    struct buf where = BUF_NULL(4096);
    size_t at = 0, from;

    while (at < was.len && at < is.len && was.ptr[at] == is.ptr[at])
        at++;
    from = at;
    while (from && was.ptr[from - 1] != '\n' && at - from < SNIPPET_MAX - 50 &&
           (was.ptr[from - 1] >= ' ' || at - from < 8))
        from--;
    name_line(&where, l);
    buf_printf(&where, ", byte %llu sent to it", (unsigned long long)(l->received + at));
    return differs(r, &where, "the trace has ", slice_skip(was, from),
                   is.len > from ? "this version sends " : "this version sends no more",
                   slice_skip(is, from));
}

static int on_out(struct replay *r, const struct record *d)
{
    const struct record_out *v = &d->u.out;
    struct line *l = line_of(r, v->connection);
    struct buf where = BUF_NULL(4096);
    struct slice now;

    if (!l)
        return bad(r, "bytes for an unknown connection");
    now = buf_slice(&l->peer->out);
    if (!slice_starts(now, v->bytes))
        return other_words(r, l, v->bytes, slice_head(now, v->bytes.len + SNIPPET_MAX));
    if (v->bytes.len && (v->store != 0) != l->peer->pass_store) {
        name_line(&where, l);
        return differs(r, &where,
                       v->store ? "in the trace the store is passed"
                                : "in the trace the store is not passed",
                       SLICE_NULL, "this version does the opposite", SLICE_NULL);
    }
    server_wrote(&r->server, l->peer, v->bytes.len);
    l->received += v->bytes.len;
    r->count.bytes_out += v->bytes.len;
    return REPLAY_SAME;
}

static void forget_line(struct replay *r, struct line *l)
{
    map_del(&r->by_number, number_key(&l->number));
    list_unlink(&l->link);
    server_peer_free(&r->server, l->peer);
    free(l);
}

static int on_close(struct replay *r, const struct record *d)
{
    struct line *l = line_of(r, d->u.close.connection);
    struct buf where = BUF_NULL(4096);

    if (!l)
        return bad(r, "the end of an unknown connection");
    if (buf_len(&l->peer->out) != d->u.close.unsent) {
        name_line(&where, l);
        buf_printf(&where, " is closed with %llu bytes unsent",
                   (unsigned long long)d->u.close.unsent);
        return differs(r, &where, "in the trace these are all", SLICE_NULL,
                       "this version also has ", buf_slice(&l->peer->out));
    }
    forget_line(r, l);
    return REPLAY_SAME;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Nothing of the job may be left. */
static int leave_job(struct replay *r, const struct input *in)
{
    const struct job *j = job_of(r, in->u.job_gone.job);

    LIST_EACH(l, &r->lines)
    {
        if (LIST_OF(l, struct line, link)->peer->job == j)
            return bad(r, "a job that is gone while one of its connections is open");
    }
    LIST_EACH(l, &r->homes)
    {
        struct home *h = LIST_OF(l, struct home, link);
        if (h->job != j)
            continue;
        r->nprocs -= j->plan.nprocs;
        server_deliver(&r->server, in);
        free_home(h);
        return REPLAY_SAME;
    }
    return REPLAY_SAME;
}

/* An input; only the existence of the objects that it names has to be checked. */
static int on_input(struct replay *r, const struct record *d)
{
    char why[ERRMSG_MAX];
    struct input in;

    arena_free(&r->arena);
    if (!record_take_input(d, &r->arena, &in)) {
        snprintf(why, sizeof why, "%s with an impossible member", record_row(d->kind)->name);
        return bad(r, why);
    }
    if (!server_input_is_known(&r->server, &in)) {
        snprintf(why, sizeof why, "%s of an unknown job, process or connection",
                 record_row(d->kind)->name);
        return bad(r, why);
    }
    if (in.kind == INPUT_job_gone)
        return leave_job(r, &in);
    if (in.kind == INPUT_in)
        return on_in(r, &in);
    if (!server_deliver(&r->server, &in) && in.kind == INPUT_greet)
        return bad(r, "a greeting on a connection where it cannot be");
    return REPLAY_SAME;
}

/* ---- effects --------------------------------------------------------------------------------- */

static void describe_part(struct buf *out, const struct part *p, const struct record *r)
{
    const void *at = (const char *)&r->u + p->offset;

    if (p->kind == PART_BYTES && ((const struct slice *)at)->len)
        buf_printf(out, ", %s " SLICE_FMT, p->name,
                   SLICE_ARG(slice_head(*(const struct slice *)at, SNIPPET_MAX)));
    else if (p->kind != PART_BYTES && *(const int64_t *)at)
        buf_printf(out, ", %s %lld", p->name, (long long)*(const int64_t *)at);
}

/* Parts of effects are numbers and bytes. */
static void describe(struct buf *out, const struct record *r)
{
    const struct operation_row *row = record_row(r->kind);

    buf_str(out, row->name);
    for (uint32_t i = 0; i < row->nparts; i++)
        describe_part(out, &row->parts[i], r);
}

/* was: NULL for none. */
static int other_effect(struct replay *r, const struct record *was)
{
    struct buf where = BUF_NULL(64), a = BUF_NULL(1 << 16), b = BUF_NULL(1 << 16);
    int rc;

    if (was)
        describe(&a, was);
    if (r->has_made)
        describe(&b, &r->made);
    buf_str(&where, "the effects");
    rc = differs(r, &where, was ? "the trace has " : "the trace has none", buf_slice(&a),
                 r->has_made ? "this version makes " : "this version makes none", buf_slice(&b));
    buf_free(&a);
    buf_free(&b);
    return rc;
}

/* The action of the traced host on it follows in the trace. */
static void leave_to_trace(void *arg, struct effect *e)
{
    (void)arg;
    (void)e;
}

static const struct effect_handlers handlers = { .others = leave_to_trace };

/* Takes the next effect off the server, and keeps it as it would be traced. */
static bool next_effect(struct replay *r, struct effect *e_p)
{
    bool there;

    r->has_made = false;
    r->server.recorder = note;
    r->server.recorder_arg = r;
    there = server_effect_next(&r->server, e_p);
    r->server.recorder = NULL;
    return there;
}

/* It is compared before an answer is delivered. */
static int on_effect(struct replay *r, const struct record *d)
{
    struct effect e;
    bool there = next_effect(r, &e);
    int rc;

    if (there && record_same(d, &r->made)) {
        r->count.effects++;
        effect_host_carry_out(&r->host, &e);
        return REPLAY_SAME;
    }
    rc = other_effect(r, d);
    if (there)
        effect_drop(&e);
    return rc;
}

static int on_end(struct replay *r, const struct record *d)
{
    struct effect e;
    int rc = REPLAY_SAME;

    (void)d;
    r->over = r->count.ended = true;
    if (next_effect(r, &e)) {
        rc = other_effect(r, NULL);
        effect_drop(&e);
    }
    return rc;
}

/* ---- feeding --------------------------------------------------------------------------------- */

static int play_own(struct replay *r, const struct record *d)
{
    switch ((int)d->kind) {
    case RECORD_begin: return on_begin(r, d);
    case RECORD_end: return on_end(r, d);
    case RECORD_tick: return on_tick(r, d);
    case RECORD_clock:
    case RECORD_daemon:
    case RECORD_section:
    case RECORD_node_lost: return REPLAY_SAME;
    case RECORD_job: return on_job(r, d);
    case RECORD_open: return on_open(r, d);
    case RECORD_identify: return on_identify(r, d);
    case RECORD_out: return on_out(r, d);
    default: return on_close(r, d);
    }
}

static int play(struct replay *r, const struct record *d)
{
    const struct record_identify *i = d->kind == RECORD_identify ? &d->u.identify : NULL;
    bool for_asked = i && r->asked && i->connection == r->asked->number;

    r->count.records++;
    r->now_ns = d->time_ns;
    if (r->over)
        return bad(r, "it comes after the end");
    if (r->asked) {
        int rc = speak(r, for_asked ? i : NULL);
        if (rc != REPLAY_SAME || for_asked)
            return rc;
    }
    return record_is_input(d->kind)    ? on_input(r, d)
           : record_is_effect(d->kind) ? on_effect(r, d)
                                       : play_own(r, d);
}

struct replay *replay_new(uint64_t store_max)
{
    struct replay *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->store_max = store_max;
    record_reader_init(&r->reader);
    list_init(&r->homes);
    list_init(&r->lines);
    arena_init(&r->arena, (size_t)LIMIT_TRACE_RECORD * 4);
    buf_init(&r->words, LIMIT_TRACE_RECORD);
    return r;
}

struct replay *replay_free(struct replay *r)
{
    if (!r)
        return NULL;
    LIST_EACH(l, &r->lines)
    forget_line(r, LIST_OF(l, struct line, link));
    LIST_EACH(l, &r->homes)
    {
        struct home *h = LIST_OF(l, struct home, link);
        core_job_remove(&r->server.core, h->job);
        free_home(h);
    }
    if (r->begun)
        server_free(&r->server);
    map_free(&r->by_number);
    buf_free(&r->words);
    record_reader_free(&r->reader);
    arena_free(&r->arena);
    free(r->name);
    free(r->uri);
    free(r->sessions);
    free(r->hostname);
    free(r->started);
    free(r);
    return NULL;
}

static int verdict_of(const struct replay *r, struct errmsg *err)
{
    return r->verdict == REPLAY_SAME ? REPLAY_SAME : errmsg_set(err, r->verdict, "%s", r->why.text);
}

int replay_feed(struct replay *r, struct slice bytes, struct errmsg *err)
{
    struct record d;
    int rc;

    if (r->verdict != REPLAY_SAME)
        return verdict_of(r, err);
    if (record_reader_feed(&r->reader, bytes) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory");
    while ((rc = record_reader_next(&r->reader, &d, &r->why)) == RECORD_WHOLE) {
        if (play(r, &d) != REPLAY_SAME)
            return verdict_of(r, err);
    }
    if (rc == RECORD_BAD)
        r->verdict = REPLAY_BAD;
    return rc < 0 ? rc : verdict_of(r, err);
}

int replay_end(struct replay *r, struct replay_count *count_p, struct errmsg *err)
{
    if (r->verdict == REPLAY_SAME && !r->begun)
        bad(r, "this is not a trace file, or it is truncated");
    if (r->verdict == REPLAY_SAME && r->asked)
        speak(r, NULL);
    *count_p = r->count;
    return verdict_of(r, err);
}
