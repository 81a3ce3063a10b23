/* golden.c - see golden.h. */
#include "tests/conversation/golden.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmi1.h"

enum { RANKS_MAX = 16, RECORDING_MAX = 16 << 20 };

/* What clients look at.  A field counts when the recording has it. */
static const struct {
    enum pmi1_msg msg;
    const char *field;
} needed[] = {
#define NEED_pmi1(message, field) { PMI1_##message, #field },
#define NEED_pmi2(message, field)
#define NEED(protocol, message, field, rule) NEED_##protocol(message, field)
#include "tools/conform/needed.def"
#undef NEED
};

struct recording {
    struct script *script;
    struct errmsg *err;
    unsigned line;
    struct buf unread[RANKS_MAX]; /* replies that are not complete yet */
    bool maps[RANKS_MAX];         /* the next get_result answers a question for the mapping */
    const char *kvsname;
    uint32_t nranks, nodes;
    int status;
    bool port, aborted;
    uint32_t finalized;
};

static int wrong(const struct recording *r, const char *why, struct slice what)
{
    return errmsg_set(r->err, -1, "line %u: %s: " SLICE_FMT, r->line, why,
                      SLICE_ARG(slice_head(what, 300)));
}

static int read_file(const char *path, struct buf *text, struct errmsg *err)
{
    FILE *f = fopen(path, "re");
    char chunk[4096];
    size_t n;

    if (!f)
        return errmsg_set(err, -1, "%s", err_text(errno));
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_put(text, chunk, n);
    fclose(f);
    return buf_ok(text) ? 0 : errmsg_set(err, -1, "no memory");
}

/* "1> bytes": the rank, the direction and the bytes.  False: a comment. */
static bool read_record(struct slice line, uint32_t *rank_p, char *way_p, struct slice *bytes_p)
{
    size_t n = 0;

    while (n < line.len && isdigit((unsigned char)line.ptr[n]))
        n++;
    if (n == 0 || n + 2 > line.len || !slice_u32(slice_head(line, n), rank_p) ||
        *rank_p >= RANKS_MAX)
        return false;
    *way_p = line.ptr[n];
    *bytes_p = slice_skip(line, n + 2);
    return *way_p == '>' || *way_p == '<';
}

/* ---- as a script ----------------------------------------------------------------------------- */

static void want(struct recording *r, struct step *st, const char *name, struct slice reply)
{
    struct want *w = &st->wants[st->nwants];
    struct slice tuple, value, key;

    while (reply.len) {
        tuple = slice_cut(&reply, ' ');
        value = tuple;
        key = slice_cut(&value, '=');
        if (!slice_is(key, name))
            continue;
        w->field = (unsigned)script_field(st->msg, key, &w->item);
        w->value = arena_copy(&r->script->arena, value);
        if (slice_is(key, "rc") && !slice_is(value, "0")) {
            w->kind = WANT_OTHER;
            w->value = SLICE("0");
        }
        st->nwants++;
    }
}

/* What is needed of this reply, with the values that the recording has. */
static int expect_reply(struct recording *r, uint32_t rank, struct slice reply)
{
    struct slice rest = reply, name = slice_cut(&rest, ' ');
    struct step *st = script_add(r->script, STEP_RECEIVE, r->line);
    int at = text_find(&pmi1_proto, slice_skip(name, 4));
    bool refused;

    if (!st || at < 0)
        return wrong(r, "not in the table", reply);
    st->client = rank + (r->port ? r->nranks : 0);
    st->msg = &pmi1_proto.msgs[at];
    st->wants = arena_array(&r->script->arena, 8, sizeof *st->wants);
    for (size_t i = 0; st->wants && i < sizeof needed / sizeof *needed; i++) {
        if (needed[i].msg == (enum pmi1_msg)at)
            want(r, st, needed[i].field, rest);
    }
    refused = st->nwants && st->wants[0].kind == WANT_OTHER;
    if (refused) /* why, and what stands for no value, is each server's own */
        st->nwants = 1;
    if (at == PMI1_get_result && r->maps[rank] && st->nwants == 2)
        st->wants[1].kind = WANT_MAP;
    return st->wants ? 0 : wrong(r, "no memory", reply);
}

static int take_reply(struct recording *r, uint32_t rank, struct slice bytes)
{
    struct buf *unread = &r->unread[rank];
    struct slice all;
    int rc = 0;

    buf_unescaped(unread, bytes);
    for (all = buf_slice(unread); rc == 0 && slice_find(all, '\n') < all.len;)
        rc = expect_reply(r, rank, slice_cut(&all, '\n'));
    buf_take(unread, buf_len(unread) - all.len);
    return rc;
}

static int take_request(struct recording *r, uint32_t rank, struct slice text)
{
    struct buf bytes = BUF_NULL(RECORDING_MAX);
    struct step *st = script_add(r->script, STEP_SEND, r->line);

    if (!st)
        return wrong(r, "no memory", text);
    buf_unescaped(&bytes, text);
    st->client = rank + (r->port ? r->nranks : 0);
    st->text = arena_copy(&r->script->arena, buf_slice(&bytes));
    buf_free(&bytes);
    r->maps[rank] = memmem(text.ptr, text.len, "key=PMI_process_mapping", 23) != NULL;
    r->aborted = r->aborted || slice_starts(text, SLICE("cmd=abort"));
    r->finalized += slice_starts(text, SLICE("cmd=finalize"));
    return 0;
}

/* The first replies name the key-value space, the head names the rest. */
static void read_head(struct recording *r, struct slice text)
{
    static const char RANKS[] = "\n# Ranks: ", STATUS[] = "exit status ", HOSTS[] = "-hosts ",
                      NAME[] = "kvsname=";
    const char *at = memmem(text.ptr, text.len, RANKS, sizeof RANKS - 1);

    r->nranks = at ? (uint32_t)atoi(at + sizeof RANKS - 1) : 1;
    at = memmem(text.ptr, text.len, STATUS, sizeof STATUS - 1);
    r->status = at ? atoi(at + sizeof STATUS - 1) : 0;
    r->port = memmem(text.ptr, text.len, "-pmi-port", 9) != NULL;
    at = memmem(text.ptr, text.len, HOSTS, sizeof HOSTS - 1);
    for (r->nodes = 1; at && *at != '\n' && *at != ';'; at++)
        r->nodes += *at == ',';
    at = memmem(text.ptr, text.len, NAME, sizeof NAME - 1);
    if (at) {
        at += sizeof NAME - 1;
        r->kvsname = arena_str(&r->script->arena, slice_mem(at, strcspn(at, " \\\n")));
    }
}

static int open_job(struct recording *r)
{
    struct step *st = script_add(r->script, STEP_JOB, 0);
    struct world_job_params *p = arena_alloc(&r->script->arena, sizeof *p);

    if (!st || !p)
        return wrong(r, "no memory", SLICE_NULL);
    *p = (struct world_job_params){ .nspace = r->kvsname ? r->kvsname : "kvs",
                                    .clients = "c",
                                    .nprocs = r->nranks,
                                    .nodes = r->nodes,
                                    .universe = -1,
                                    .parent = JOB_NO_RANK,
                                    .port = r->port,
                                    .id_base = r->port ? -1 : 0 };
    st->params = p;
    for (uint32_t i = 0; r->port && i < r->nranks; i++) {
        st = script_add(r->script, STEP_STRANGER, 0);
        if (st)
            st->text = slice_str(arena_printf(&r->script->arena, "p%u", i));
    }
    return 0;
}

/* All said finalize: they leave, and it was a good job.  One said abort: that is its code.  Else
 * the recorded server died; what ours has to say beyond that nobody knows. */
static void close_job(struct recording *r)
{
    struct step *st;

    for (uint32_t i = 0; r->status && i < r->nranks; i++) {
        st = script_add(r->script, STEP_REST, r->line);
        if (st)
            st->client = i;
    }
    if (r->aborted)
        script_add(r->script, STEP_KILL, r->line);
    for (uint32_t i = 0; !r->aborted && r->finalized == r->nranks && i < r->nranks; i++) {
        st = script_add(r->script, STEP_EXIT, r->line);
        if (st)
            st->client = i;
    }
    if (!r->aborted && r->finalized == r->nranks)
        script_add(r->script, STEP_ENDED, r->line);
    st = r->aborted || r->finalized == r->nranks ? script_add(r->script, STEP_CODE, r->line) : NULL;
    if (st)
        st->number = r->status;
}

static int read_all(struct recording *r, struct slice text)
{
    struct slice bytes;
    uint32_t rank;
    char way;
    int rc;

    read_head(r, text);
    if (r->nranks == 0 || r->nranks > RANKS_MAX)
        return wrong(r, "too many ranks", SLICE_NULL);
    rc = open_job(r);
    while (text.len && rc == 0) {
        struct slice line = slice_cut(&text, '\n');
        r->line++;
        if (read_record(line, &rank, &way, &bytes))
            rc = way == '>' ? take_request(r, rank, bytes) : take_reply(r, rank, bytes);
    }
    close_job(r);
    return rc < 0 || arena_ok(&r->script->arena) ? rc : wrong(r, "no memory", SLICE_NULL);
}

int golden_load(struct script *s, const char *path, struct errmsg *err)
{
    struct buf text = BUF_NULL(RECORDING_MAX);
    struct recording r = { .script = s, .err = err };
    int rc = read_file(path, &text, err);

    *s = (struct script){ .title = path };
    arena_init(&s->arena, (size_t)RECORDING_MAX * 4);
    for (int i = 0; i < RANKS_MAX; i++)
        buf_init(&r.unread[i], RECORDING_MAX);
    if (rc == 0)
        rc = read_all(&r, buf_slice(&text));
    for (int i = 0; i < RANKS_MAX; i++)
        buf_free(&r.unread[i]);
    buf_free(&text);
    return rc;
}

int golden_line(struct script *s, struct slice line)
{
    struct recording r = { .script = s };
    struct slice bytes;
    uint32_t rank;
    char way;

    if (!read_record(line, &rank, &way, &bytes))
        return 1;
    return way == '>' ? take_request(&r, rank, bytes) : 0;
}

/* ---- by the table ---------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

static size_t sorted_tuples(struct slice line, struct slice *tuples, size_t room)
{
    size_t n = 0;

    while (line.len && n < room) {
        tuples[n] = slice_cut(&line, ' ');
        n += tuples[n].len > 0;
    }
    qsort(tuples, n, sizeof *tuples, by_text);
    return n;
}

static bool same_tuples(struct slice a, struct slice b)
{
    struct slice left[64], right[64];
    size_t n = sorted_tuples(a, left, 64);

    if (n != sorted_tuples(b, right, 64) || a.len != b.len)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!slice_eq(left[i], right[i]))
            return false;
    }
    return true;
}

static int again(const struct recording *r, struct slice line)
{
    struct arena arena = ARENA_NULL(1 << 20);
    struct buf out = BUF_NULL(1 << 20);
    union pmi1_any m;
    struct errmsg why = { "" };
    unsigned msg;
    int rc = text_decode(&pmi1_proto, TEXT_BLANKS, line, &arena, &msg, &m, sizeof m, &why);

    if (rc == 0)
        rc = text_encode(&pmi1_proto, TEXT_BLANKS, msg, &m, &out, &why);
    if (rc)
        rc = wrong(r, why.text, line);
    else if (!same_tuples(line, slice_head(buf_slice(&out), buf_len(&out) - 1)))
        rc = wrong(r, "written again it is another message", line);
    buf_free(&out);
    arena_free(&arena);
    return rc;
}

static int codec_of(struct recording *r, struct slice text, unsigned *count_p)
{
    struct buf streams[2][RANKS_MAX];
    struct slice bytes, all, line;
    uint32_t rank;
    char way;
    int rc = 0;

    for (int i = 0; i < 2 * RANKS_MAX; i++)
        buf_init(&streams[i % 2][i / 2], RECORDING_MAX);
    while (text.len && rc == 0) {
        line = slice_cut(&text, '\n');
        r->line++;
        if (!read_record(line, &rank, &way, &bytes))
            continue;
        buf_unescaped(&streams[way == '>'][rank], bytes);
        all = buf_slice(&streams[way == '>'][rank]);
        while (rc == 0 && slice_find(all, '\n') < all.len) {
            line = slice_cut(&all, '\n');
            rc = line.len ? again(r, line) : 0;
            *count_p += line.len > 0;
        }
        buf_take(&streams[way == '>'][rank], buf_len(&streams[way == '>'][rank]) - all.len);
    }
    for (int i = 0; i < 2 * RANKS_MAX; i++)
        buf_free(&streams[i % 2][i / 2]);
    return rc;
}

int golden_codec(const char *path, unsigned *count_p, struct errmsg *err)
{
    struct buf text = BUF_NULL(RECORDING_MAX);
    struct recording r = { .err = err };
    int rc = read_file(path, &text, err);

    *count_p = 0;
    if (rc == 0)
        rc = codec_of(&r, buf_slice(&text), count_p);
    buf_free(&text);
    return rc;
}
