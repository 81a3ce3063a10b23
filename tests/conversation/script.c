/* script.c - see script.h.  Reading order: words; values; messages; the table of verbs. */
#include "tests/conversation/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmi1.h"
#include "wire/pmi2.h"

enum { WORDS_MAX = 64, ARENA_MAX = 256 << 20, NAMES_MAX = WORLD_CLIENTS };

struct script_reader {
    struct script *script;
    struct errmsg *err;
    unsigned line;
    struct slice words[WORDS_MAX];
    uint32_t n;
    uint32_t first, last; /* clients that the line is about */
    uint32_t verb;        /* position of its verb */
    /* who there is so far */
    struct slice clients[NAMES_MAX];
    uint32_t ranks[NAMES_MAX];
    bool pmi2[NAMES_MAX]; /* speaks PMI-2 from here on */
    uint32_t nclients;
    struct slice jobs[WORLD_JOBS];
    uint32_t njobs, first_job_size;
};

static int wrong(const struct script_reader *r, const char *why, struct slice what)
{
    return errmsg_set(r->err, -1, "line %u: %s '" SLICE_FMT "'", r->line, why, SLICE_ARG(what));
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A word ends at a blank that is not inside quotes; quotes stay for now. */
static void cut_words(struct script_reader *r, struct slice line)
{
    r->n = 0;
    for (;;) {
        size_t n = 0;
        bool quoted = false;
        line = slice_trim(line);
        if (line.len == 0 || line.ptr[0] == '#' || r->n == WORDS_MAX)
            return;
        while (n < line.len && (quoted || line.ptr[n] != ' ')) {
            if (line.ptr[n] == '\\' && n + 1 < line.len)
                n++;
            else if (line.ptr[n] == '"')
                quoted = !quoted;
            n++;
        }
        r->words[r->n++] = slice_head(line, n);
        line = slice_skip(line, n);
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t unescape(const char *at, size_t left, char *out)
{
    switch (at[0]) {
    case 'n': *out = '\n'; return 1;
    case 't': *out = '\t'; return 1;
    case 'r': *out = '\r'; return 1;
    case 'x':
        if (left < 3 || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
            return 0;
        *out = (char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
        return 3;
    default: *out = at[0]; return 1;
    }
}

/* The bytes that a word stands for: quotes and escapes resolved, %r replaced. */
static struct slice value_of(struct script_reader *r, struct slice word, uint32_t rank)
{
    char *out = arena_alloc(&r->script->arena, word.len * 10 + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < word.len; i++) {
        char c = word.ptr[i];
        if (c == '\\' && i + 1 < word.len)
            i += unescape(word.ptr + i + 1, word.len - i - 1, &out[n++]);
        else if (c == '%' && i + 1 < word.len && word.ptr[i + 1] == 'r')
            n += (size_t)sprintf(out + n, "%u", rank), i++;
        else if (c == '%' && i + 1 < word.len && word.ptr[i + 1] == '%')
            out[n++] = c, i++;
        else if (c != '"')
            out[n++] = c;
    }
    return slice_mem(out, n);
}

static struct slice argument(struct script_reader *r, uint32_t i, uint32_t rank)
{
    return r->verb + 1 + i < r->n ? value_of(r, r->words[r->verb + 1 + i], rank) : SLICE_NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct step *script_add(struct script *s, enum step_kind kind, unsigned line)
{
    if (s->nsteps == s->room) {
        uint32_t room = s->room ? s->room * 2 : 64;
        struct step *more = arena_array(&s->arena, room, sizeof *more);
        if (!more)
            return NULL;
        if (s->nsteps)
            memcpy(more, s->steps, s->nsteps * sizeof *more);
        s->steps = more;
        s->room = room;
    }
    s->steps[s->nsteps] = (struct step){ .kind = kind, .line = line };
    return &s->steps[s->nsteps++];
}

static int find_job(struct script_reader *r, struct slice name, uint32_t *job_p)
{
    *job_p = 0;
    if (name.len == 0 && r->njobs)
        return 0;
    for (uint32_t i = 0; i < r->njobs; i++) {
        if (slice_eq(r->jobs[i], name)) {
            *job_p = i;
            return 0;
        }
    }
    return wrong(r, "no such job:", name);
}

/* ---- messages -------------------------------------------------------------------------------- */

int script_field(const struct text_msg *m, struct slice name, uint32_t *item_p)
{
    for (int i = 0; i < m->nfields; i++) {
        const struct text_field *f = &m->fields[i];
        struct slice own = slice_mem(f->name, f->name_len);
        bool list = f->kind == TEXT_LIST0 || f->kind == TEXT_LIST1;
        *item_p = 0;
        if (!list && slice_eq(own, name))
            return i;
        if (list && slice_starts(name, own) && slice_u32(slice_skip(name, own.len), item_p)) {
            *item_p -= f->kind == TEXT_LIST1;
            return i;
        }
    }
    return -1;
}

/* A field of the message, or of the groups in it. */
static bool is_field(const struct step *st, struct slice name, uint32_t *item_p)
{
    if (script_field(st->msg, name, item_p) >= 0)
        return true;
    for (int i = 0; i < st->msg->nfields; i++) {
        const struct text_field *f = &st->msg->fields[i];
        int row = f->kind == TEXT_GROUP ? text_find(&pmi2_proto, slice_str(f->name)) : -1;
        if (row >= 0 && script_field(&pmi2_proto.msgs[row], name, item_p) >= 0)
            return true;
    }
    return false;
}

static bool has_list(const struct text_msg *m)
{
    for (int i = 0; i < m->nfields; i++) {
        if (m->fields[i].kind == TEXT_LIST0 || m->fields[i].kind == TEXT_LIST1)
            return true;
    }
    return false;
}

/* In the client's own protocol, or in the other one: PMI-2 begins with lines of PMI-1. */
static int message_named(struct script_reader *r, struct step *st)
{
    struct slice name = r->verb + 1 < r->n ? r->words[r->verb + 1] : SLICE_NULL;
    const struct text_proto *own = r->pmi2[st->client] ? &pmi2_proto : &pmi1_proto;
    const struct text_proto *other = r->pmi2[st->client] ? &pmi1_proto : &pmi2_proto;
    int at = text_find(own, name);

    if (at < 0) {
        own = other;
        at = text_find(own, name);
    }
    if (at < 0)
        return wrong(r, "the protocol has no message", name);
    st->msg = &own->msgs[at];
    st->framed = own == &pmi2_proto;
    return 0;
}

/* The message as its words say, in their order; names are checked, values are not. */
static int write_tuples(struct script_reader *r, const struct step *st, char gap, struct buf *out)
{
    uint32_t item, rank = r->ranks[st->client];

    for (uint32_t i = r->verb + 2; i < r->n; i++) {
        struct slice value = r->words[i], name = slice_cut(&value, '=');
        if (name.len == r->words[i].len || !is_field(st, name, &item))
            return wrong(r, "this message has no field", name);
        value = value_of(r, value, rank);
        buf_slice_put(out, name);
        buf_byte(out, '=');
        for (size_t k = 0; k < value.len; k++) {
            buf_byte(out, value.ptr[k]);
            if (st->framed && value.ptr[k] == ';')
                buf_byte(out, ';');
        }
        buf_byte(out, gap);
    }
    return 0;
}

static int write_message(struct script_reader *r, struct step *st)
{
    struct buf body = BUF_NULL(64 << 20), all = BUF_NULL(64 << 20);
    bool block = !st->framed && has_list(st->msg);
    char gap = st->framed ? ';' : block ? '\n' : ' ';
    int rc;

    buf_printf(&body, "%scmd=%s%c", block ? "m" : "", st->msg->name, gap);
    rc = write_tuples(r, st, gap, &body);
    if (st->framed)
        buf_printf(&all, "%-6zu", buf_len(&body));
    buf_slice_put(&all, buf_slice(&body));
    if (block)
        buf_str(&all, "endcmd\n");
    else if (!st->framed && buf_ok(&all))
        all.mem[all.end - 1] = '\n'; /* the last blank */
    st->text = arena_copy(&r->script->arena, buf_slice(&all));
    buf_free(&body);
    buf_free(&all);
    return rc;
}

static int read_tx(struct script_reader *r, struct step *st, uint32_t rank)
{
    int rc = message_named(r, st);

    (void)rank;
    return rc < 0 ? rc : write_message(r, st);
}

static int read_want(struct script_reader *r, const struct text_msg *m, struct slice word,
                     uint32_t rank, struct want *w)
{
    struct slice value = word, name = slice_cut(&value, '=');
    int at;

    w->kind = slice_is(value, "*") ? WANT_ANY : WANT_VALUE;
    if (slice_starts(name, SLICE("!"))) {
        name = slice_skip(name, 1);
        w->kind = WANT_ABSENT;
    }
    if (name.len && name.ptr[name.len - 1] == '!') {
        name.len--;
        w->kind = WANT_OTHER;
    }
    at = script_field(m, name, &w->item);
    if (at < 0)
        return wrong(r, "this message has no field", name);
    w->field = (unsigned)at;
    w->value = value_of(r, value, rank);
    return 0;
}

static int read_rx(struct script_reader *r, struct step *st, uint32_t rank)
{
    int rc = message_named(r, st);

    if (rc < 0)
        return rc;
    st->wants = arena_array(&r->script->arena, r->n, sizeof *st->wants);
    if (!st->wants)
        return wrong(r, "no memory for", r->words[r->verb]);
    for (uint32_t i = r->verb + 2; i < r->n && rc == 0; i++)
        rc = read_want(r, st->msg, r->words[i], rank, &st->wants[st->nwants++]);
    return rc;
}

static int read_plain(struct script_reader *r, struct step *st, uint32_t rank)
{
    st->text = argument(r, 0, rank);
    st->more = argument(r, 1, rank);
    return 0;
}

static int read_number(struct script_reader *r, struct step *st, uint32_t rank)
{
    struct slice text = argument(r, 0, rank);

    st->more = argument(r, 1, rank);
    return slice_i64(text, &st->number) ? 0 : wrong(r, "not a number:", text);
}

static int read_flood(struct script_reader *r, struct step *st, uint32_t rank)
{
    int rc = read_number(r, st, rank);

    st->text = st->more;
    return rc;
}

/* expect ...: the last argument may name a job. */
static int read_job_name(struct script_reader *r, struct step *st, uint32_t rank)
{
    (void)rank;
    return find_job(r, argument(r, 0, 0), &st->job);
}

static int read_text_of_job(struct script_reader *r, struct step *st, uint32_t rank)
{
    st->text = argument(r, 0, rank);
    return find_job(r, argument(r, 1, 0), &st->job);
}

static int read_number_of_job(struct script_reader *r, struct step *st, uint32_t rank)
{
    int rc = read_number(r, st, rank);

    return rc < 0 ? rc : find_job(r, st->more, &st->job);
}

static int read_pair_of_job(struct script_reader *r, struct step *st, uint32_t rank)
{
    st->text = argument(r, 0, rank);
    st->more = argument(r, 1, rank);
    return find_job(r, argument(r, 2, 0), &st->job);
}

/* ---- who there is ---------------------------------------------------------------------------- */

static int add_client(struct script_reader *r, struct slice name, uint32_t rank)
{
    if (r->nclients == NAMES_MAX)
        return wrong(r, "too many clients at", name);
    r->clients[r->nclients] = name;
    r->ranks[r->nclients++] = rank;
    return 0;
}

static int add_job(struct script_reader *r, const struct world_job_params *p)
{
    int rc = 0;

    if (r->njobs == WORLD_JOBS || p->nprocs > NAMES_MAX - r->nclients)
        return wrong(r, "too many jobs or processes at", slice_str(p->nspace));
    if (r->njobs == 0)
        r->first_job_size = p->nprocs;
    r->jobs[r->njobs++] = slice_str(p->nspace);
    for (uint32_t i = 0; i < p->nprocs && rc == 0; i++)
        rc = add_client(r, slice_str(arena_printf(&r->script->arena, "%s%u", p->clients, i)), i);
    return rc;
}

static int job_option(struct script_reader *r, struct world_job_params *p, struct slice name,
                      struct slice value)
{
    bool good = true;

    if (slice_is(name, "n"))
        good = slice_u32(value, &p->nprocs) && p->nprocs > 0;
    else if (slice_is(name, "nodes"))
        good = slice_u32(value, &p->nodes) && p->nodes <= NAMES_MAX;
    else if (slice_is(name, "universe"))
        good = slice_i64(value, &p->universe);
    else if (slice_is(name, "name"))
        p->nspace = arena_str(&r->script->arena, value);
    else if (slice_is(name, "clients"))
        p->clients = arena_str(&r->script->arena, value);
    else if (slice_is(name, "parent"))
        good = find_job(r, value, &p->parent) == 0;
    else if (slice_is(name, "keep-going"))
        p->keep_going = true;
    else if (slice_is(name, "fds"))
        p->fds = true;
    else if (slice_is(name, "port"))
        p->port = true;
    else
        good = false;
    return good ? 0 : wrong(r, "bad option", name);
}

static int read_job(struct script_reader *r, struct step *st, uint32_t rank)
{
    struct world_job_params *p = arena_alloc(&r->script->arena, sizeof *p);

    (void)rank;
    if (!p)
        return wrong(r, "no memory for", r->words[0]);
    *p = (struct world_job_params){
        .nspace = "kvs_test", .clients = "c", .nprocs = 2, .universe = -1, .parent = JOB_NO_RANK
    };
    for (uint32_t i = 1; i < r->n; i++) {
        struct slice value = r->words[i], name = slice_cut(&value, '=');
        int rc = job_option(r, p, name, value_of(r, value, 0));
        if (rc < 0)
            return rc;
    }
    st->params = p;
    st->job = r->njobs;
    return add_job(r, p);
}

static int read_stranger(struct script_reader *r, struct step *st, uint32_t rank)
{
    (void)rank;
    st->text = argument(r, 0, 0);
    st->client = r->nclients;
    return add_client(r, st->text, 0);
}

static int find_client(const struct script_reader *r, struct slice name)
{
    for (uint32_t i = 0; i < r->nclients; i++) {
        if (slice_eq(r->clients[i], name))
            return (int)i;
    }
    return -1;
}

/* all, c0 or c1-c3. */
static bool find_clients(struct script_reader *r, struct slice text)
{
    struct slice to = text, from = slice_cut(&to, '-');
    int first = find_client(r, from), last = to.len ? find_client(r, to) : first;

    if (slice_is(text, "all")) {
        first = 0;
        last = (int)r->first_job_size - 1;
    }
    r->first = (uint32_t)first;
    r->last = (uint32_t)last;
    return first >= 0 && last >= first;
}

static int read_speaks(struct script_reader *r, struct step *st, uint32_t rank)
{
    struct slice what = argument(r, 0, rank);

    r->pmi2[st->client] = slice_is(what, "pmi2");
    return slice_is(what, "pmi1") || slice_is(what, "pmi2") ? 0 : wrong(r, "no protocol", what);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

enum subject { OF_CLIENT, OF_WORLD, OF_EXPECT, OF_HOST };

static const struct verb {
    enum subject subject;
    const char *word;
    enum step_kind kind;
    int (*read)(struct script_reader *r, struct step *st, uint32_t rank);
} verbs[] = {
    { OF_WORLD, "job", STEP_JOB, read_job },
    { OF_WORLD, "stranger", STEP_STRANGER, read_stranger },
    { OF_CLIENT, "tx", STEP_SEND, read_tx },
    { OF_CLIENT, "speaks", STEP_SPEAKS, read_speaks },
    { OF_CLIENT, "raw", STEP_SEND, read_plain },
    { OF_CLIENT, "flood", STEP_FLOOD, read_flood },
    { OF_CLIENT, "rx", STEP_RECEIVE, read_rx },
    { OF_CLIENT, "bytes", STEP_BYTES, read_plain },
    { OF_CLIENT, "nothing", STEP_NOTHING, NULL },
    { OF_CLIENT, "rest", STEP_REST, NULL },
    { OF_CLIENT, "store", STEP_STORE, NULL },
    { OF_CLIENT, "closed", STEP_CLOSED, NULL },
    { OF_CLIENT, "deaf", STEP_DEAF, NULL },
    { OF_CLIENT, "hears", STEP_RECEIVES, NULL },
    { OF_CLIENT, "hangup", STEP_HANGUP, NULL },
    { OF_CLIENT, "exit", STEP_EXIT, read_number },
    { OF_CLIENT, "reaped", STEP_REAPED, read_number },
    { OF_CLIENT, "dies", STEP_DIES, read_number },
    { OF_CLIENT, "is", STEP_IS, read_plain },
    { OF_EXPECT, "kill", STEP_KILL, read_job_name },
    { OF_EXPECT, "ended", STEP_ENDED, read_job_name },
    { OF_EXPECT, "spawn", STEP_SPAWN, read_plain },
    { OF_EXPECT, "running", STEP_RUNNING, read_job_name },
    { OF_EXPECT, "code", STEP_CODE, read_number_of_job },
    { OF_EXPECT, "reason", STEP_REASON, read_text_of_job },
    { OF_EXPECT, "key", STEP_KEY, read_pair_of_job },
    { OF_EXPECT, "no-key", STEP_NO_KEY, read_text_of_job },
    { OF_EXPECT, "logged", STEP_LOGGED, read_plain },
    { OF_HOST, "spawned", STEP_SPAWNED, read_plain },
    { OF_HOST, "refused", STEP_REFUSED, read_plain },
    { OF_HOST, "preset", STEP_PRESET, read_pair_of_job },
};

static const struct verb *find_verb(enum subject subject, struct slice word)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (verbs[i].subject == subject && slice_is(word, verbs[i].word))
            return &verbs[i];
    }
    return NULL;
}

static int add_step(struct script_reader *r, const struct verb *v, uint32_t client)
{
    struct step *st = script_add(r->script, v->kind, r->line);
    int rc;

    if (!st)
        return wrong(r, "no memory for", r->words[0]);
    st->client = client;
    rc = v->read ? v->read(r, st, r->nclients ? r->ranks[client] : 0) : 0;
    return rc < 0 || arena_ok(&r->script->arena) ? rc : wrong(r, "no memory for", r->words[0]);
}

static int read_words(struct script_reader *r)
{
    struct slice head = r->words[0], second = r->n > 1 ? r->words[1] : SLICE_NULL;
    const struct verb *v;
    int rc = 0;

    r->verb = 1;
    if (slice_is(head, "test")) {
        r->script->title = arena_str(&r->script->arena, value_of(r, second, 0));
        return 0;
    }
    if (slice_is(head, "expect") || slice_is(head, "host")) {
        v = find_verb(slice_is(head, "host") ? OF_HOST : OF_EXPECT, second);
        return v ? add_step(r, v, 0) : wrong(r, "what is", second);
    }
    v = find_verb(OF_WORLD, head);
    if (v) {
        r->verb = 0;
        return add_step(r, v, 0);
    }
    if (!find_clients(r, head))
        return wrong(r, "nobody is called", head);
    v = find_verb(OF_CLIENT, second);
    if (!v)
        return wrong(r, "what is", second);
    for (uint32_t c = r->first; c <= r->last && rc == 0; c++)
        rc = add_step(r, v, c);
    return rc;
}

struct script_reader *script_begin(struct script *s, struct errmsg *err)
{
    struct script_reader *r = calloc(1, sizeof *r);

    *s = (struct script){ .title = "" };
    arena_init(&s->arena, ARENA_MAX);
    if (!r) {
        errmsg_set(err, -1, "no memory");
        return NULL;
    }
    r->script = s;
    r->err = err;
    return r;
}

int script_line(struct script_reader *r, struct slice line)
{
    uint32_t before = r->script->nsteps;
    int rc = 0;

    r->line++;
    cut_words(r, line);
    if (r->n)
        rc = read_words(r);
    if (rc < 0)
        r->script->nsteps = before;
    return rc;
}

int script_read(struct script *s, struct slice text, struct errmsg *err)
{
    struct script_reader *r = script_begin(s, err);
    int rc = r ? 0 : -1;

    while (text.len && rc == 0)
        rc = script_line(r, slice_cut(&text, '\n'));
    free(r);
    return rc;
}

int script_load(struct script *s, const char *path, struct errmsg *err)
{
    struct buf text = BUF_NULL(16 << 20);
    FILE *f = fopen(path, "re");
    char chunk[4096];
    size_t n;
    int rc;

    *s = (struct script){ .title = "" };
    if (!f)
        return errmsg_set(err, -1, "%s", err_text(errno));
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_put(&text, chunk, n);
    fclose(f);
    rc = script_read(s, buf_slice(&text), err);
    buf_free(&text);
    return rc;
}

void script_free(struct script *s)
{
    arena_free(&s->arena);
    *s = (struct script){ .title = "" };
}
