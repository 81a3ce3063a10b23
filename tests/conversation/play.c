/* play.c - see play.h.  Reading order: one function per kind of step; the table; the three plays.
 */
#include "tests/conversation/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/effect.h"
#include "core/job_end.h"
#include "core/job_kvs.h"
#include "core/procmap.h"
#include "server/pmix.h"
#include "tests/conversation/reply.h"

enum { ARENA_MAX = 64 << 20, CODES_MAX = 64 };

__attribute__((format(printf, 3, 4))) static int fail(const struct play *p, const struct step *st,
                                                      const char *format, ...)
{
    char why[700];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return errmsg_set(p->err, -1, "line %u: %s", st->line, why);
}

static struct client *client_of(struct play *p, const struct step *st)
{
    return &p->world.clients[st->client];
}

static struct job *job_of(struct play *p, const struct step *st)
{
    return p->world.jobs[st->job].job;
}

/* ---- what clients do ------------------------------------------------------------------------- */

static int do_job(struct play *p, const struct step *st)
{
    return world_job(&p->world, st->params) < 0 ? fail(p, st, "no memory for a job") : 0;
}

static int do_stranger(struct play *p, const struct step *st)
{
    char name[16];

    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(slice_head(st->text, 15)));
    return world_stranger(&p->world, name) ? 0 : fail(p, st, "no memory for a connection");
}

static int do_send(struct play *p, const struct step *st)
{
    struct client *c = client_of(p, st);

    if (p->mode == PLAY_WHOLE)
        world_send(&p->world, c, st->text);
    for (size_t i = 0; p->mode == PLAY_BYTEWISE && i < st->text.len; i++)
        world_send(&p->world, c, slice_mem(st->text.ptr + i, 1));
    return 0;
}

static int do_speaks(struct play *p, const struct step *st)
{
    (void)p;
    (void)st;
    return 0;
}

static int do_flood(struct play *p, const struct step *st)
{
    for (int64_t i = 0; i < st->number; i++)
        world_send(&p->world, client_of(p, st), st->text);
    return 0;
}

static int do_deaf(struct play *p, const struct step *st)
{
    world_listen(&p->world, client_of(p, st), st->kind == STEP_DEAF);
    return 0;
}

static int do_hangup(struct play *p, const struct step *st)
{
    world_hangup(&p->world, client_of(p, st));
    return 0;
}

static int do_reaped(struct play *p, const struct step *st)
{
    world_reap(&p->world, client_of(p, st), (int)st->number);
    return 0;
}

static int do_end(struct play *p, const struct step *st)
{
    world_end(&p->world, client_of(p, st), st->kind == STEP_DIES, (int)st->number);
    return 0;
}

/* ---- what clients expect --------------------------------------------------------------------- */

/* The value of a field as text. */
static struct slice show(const struct text_field *f, const void *m, uint32_t item, char *room,
                         size_t size)
{
    const void *at = (const char *)m + f->offset;
    const struct text_list *list = at;

    switch ((enum text_kind)f->kind) {
    case TEXT_INT: snprintf(room, size, "%lld", (long long)*(const int64_t *)at); break;
    case TEXT_UINT: snprintf(room, size, "%u", *(const uint32_t *)at); break;
    case TEXT_BOOL: return *(const bool *)at ? SLICE("TRUE") : SLICE("FALSE");
    case TEXT_LIST0:
    case TEXT_LIST1: return item < list->n ? list->items[item] : SLICE_NULL;
    default: return *(const struct slice *)at;
    }
    return slice_str(room);
}

static bool same_map(struct slice a, struct slice b, uint32_t n)
{
    uint32_t left[WORLD_CLIENTS], right[WORLD_CLIENTS];

    return procmap_read(a, n, left, NULL) == 0 && procmap_read(b, n, right, NULL) == 0 &&
           memcmp(left, right, n * sizeof *left) == 0;
}

static bool is_wanted(const struct play *p, const struct want *w, struct slice v)
{
    switch (w->kind) {
    case WANT_VALUE: return slice_eq(v, w->value);
    case WANT_OTHER: return !slice_eq(v, w->value);
    case WANT_MAP: return same_map(v, w->value, p->world.jobs[0].job->plan.nprocs);
    default: return true;
    }
}

static int compare(struct play *p, const struct step *st, const struct reply *r)
{
    for (uint32_t i = 0; i < st->nwants; i++) {
        const struct want *w = &st->wants[i];
        const struct text_field *f = &st->msg->fields[w->field];
        bool there = (r->m.head.has >> w->field & 1) != 0;
        char room[32];
        struct slice v = there ? show(f, &r->m, w->item, room, sizeof room) : SLICE_NULL;
        if (w->kind == WANT_ABSENT ? there : !there)
            return fail(p, st, "%s is %s in: " SLICE_FMT, f->name, there ? "there" : "missing",
                        SLICE_ARG(slice_head(r->line, 400)));
        if (there && !is_wanted(p, w, v))
            return fail(p, st, "%s is '" SLICE_FMT "'; the script: '" SLICE_FMT "'", f->name,
                        SLICE_ARG(slice_head(v, 300)), SLICE_ARG(slice_head(w->value, 300)));
    }
    return 0;
}

static int do_receive(struct play *p, const struct step *st)
{
    struct client *c = client_of(p, st);
    struct slice rest = buf_slice(&c->unread);
    size_t before = rest.len;
    struct arena arena = ARENA_NULL(ARENA_MAX);
    struct reply r;
    bool whole;
    const char *fault = reply_cut(&rest, c->ours, &arena, &r, &whole);
    int rc = 0;

    if (!whole)
        rc = fail(p, st, "%s waits for %s and has received nothing", c->name, st->msg->name);
    else if (fault)
        rc = fail(p, st, "a reply %s: " SLICE_FMT, fault, SLICE_ARG(slice_head(r.line, 400)));
    else if (r.msg != st->msg)
        rc = fail(p, st, "%s waits for %s and receives: " SLICE_FMT, c->name, st->msg->name,
                  SLICE_ARG(slice_head(r.line, 400)));
    else
        rc = compare(p, st, &r);
    c->ours = c->ours || reply_is_ours(&r);
    buf_take(&c->unread, before - rest.len - r.raw.len); /* what comes raw is for `bytes` */
    arena_free(&arena);
    return rc;
}

static int do_bytes(struct play *p, const struct step *st)
{
    struct client *c = client_of(p, st);
    struct slice got = slice_head(buf_slice(&c->unread), st->text.len);

    if (!slice_eq(got, st->text))
        return fail(p, st, "%s receives other bytes: " SLICE_FMT, c->name,
                    SLICE_ARG(slice_head(got, 400)));
    buf_take(&c->unread, got.len);
    return 0;
}

static int do_nothing(struct play *p, const struct step *st)
{
    struct slice got = buf_slice(&client_of(p, st)->unread);

    return got.len == 0 ? 0
                        : fail(p, st, "%s receives: " SLICE_FMT, client_of(p, st)->name,
                               SLICE_ARG(slice_head(got, 400)));
}

static int do_rest(struct play *p, const struct step *st)
{
    buf_clear(&client_of(p, st)->unread);
    return 0;
}

static int do_store(struct play *p, const struct step *st)
{
    return client_of(p, st)->got_store ? 0 : fail(p, st, "no store was passed");
}

static int do_closed(struct play *p, const struct step *st)
{
    return client_of(p, st)->peer ? fail(p, st, "the connection is still open") : 0;
}

static int do_is(struct play *p, const struct step *st)
{
    const struct client *c = client_of(p, st);
    const char *now = c->home ? proc_state_name(c->home->job->procs[c->rank].state) : "a stranger";

    return slice_is(st->text, now) ? 0 : fail(p, st, "%s is %s", c->name, now);
}

/* ---- what the world expects ------------------------------------------------------------------ */

static const char *kind_name(enum effect_kind kind)
{
    switch (kind) {
    case EFFECT_answer: return "an answer";
    case EFFECT_spawn: return "a spawn";
    case EFFECT_kill: return "a kill";
    case EFFECT_job_ended: return "the end of the job";
    default: return "something else";
    }
}

static int next_effect(struct play *p, const struct step *st, enum effect_kind kind,
                       struct effect **e_p)
{
    struct world *w = &p->world;
    struct effect *e = &w->effects[w->expected];

    *e_p = e;
    if (w->expected == w->neffects)
        return fail(p, st, "nothing happened; %s was expected", kind_name(kind));
    w->expected++;
    return e->kind == kind
               ? 0
               : fail(p, st, "%s happened, not %s: %s", kind_name(e->kind), kind_name(kind),
                      core_job(&w->server.core, effect_job(e))->reason.text);
}

static int do_effect(struct play *p, const struct step *st)
{
    enum effect_kind kind = st->kind == STEP_KILL ? EFFECT_kill : EFFECT_job_ended;
    struct effect *e;
    int rc = next_effect(p, st, kind, &e);

    return rc == 0 && effect_job(e) != job_of(p, st)->id ? fail(p, st, "of another job") : rc;
}

static int do_spawn(struct play *p, const struct step *st)
{
    struct effect *e;
    uint32_t n;
    int rc = next_effect(p, st, EFFECT_spawn, &e);

    if (rc == 0 && !slice_is(st->text, e->u.spawn.request->commands[0].program))
        rc = fail(p, st, "the program is %s", e->u.spawn.request->commands[0].program);
    if (rc == 0 && slice_u32(st->more, &n) && spawn_nprocs(e->u.spawn.request) != n)
        rc = fail(p, st, "%llu processes are asked for",
                  (unsigned long long)spawn_nprocs(e->u.spawn.request));
    return rc;
}

static int do_running(struct play *p, const struct step *st)
{
    const struct job *j = job_of(p, st);

    return j->phase == JOB_RUNNING ? 0 : fail(p, st, "it is ending: %s", j->reason.text);
}

static int do_code(struct play *p, const struct step *st)
{
    int code = job_exit_code(job_of(p, st));

    return code == st->number ? 0 : fail(p, st, "the exit code is %d", code);
}

static bool holds(struct slice text, struct slice part)
{
    return part.len == 0 || (text.len && memmem(text.ptr, text.len, part.ptr, part.len));
}

static int do_reason(struct play *p, const struct step *st)
{
    const struct job *j = job_of(p, st);

    return holds(slice_str(j->reason.text), st->text) ? 0
                                                      : fail(p, st, "it is: %s", j->reason.text);
}

static int do_logged(struct play *p, const struct step *st)
{
    char text[8192];
    ssize_t n = p->log_fd < 0 ? -1 : pread(p->log_fd, text, sizeof text, 0);

    if (n < 0 || holds(slice_mem(text, (size_t)n), st->text))
        return 0;
    return fail(p, st, "logged was: %.*s", (int)n, text);
}

static int do_key(struct play *p, const struct step *st)
{
    struct slice v = SLICE_NULL;
    bool there = job_get(job_of(p, st), SLICE_NULL, st->text, &v) == ANSWER_OK;

    if (there != (st->kind == STEP_KEY))
        return fail(p, st, "the key is %s", there ? "there" : "not there");
    if (there && !slice_eq(v, st->more))
        return fail(p, st, "its value is " SLICE_FMT, SLICE_ARG(slice_head(v, 300)));
    return 0;
}

static int do_answer(struct play *p, const struct step *st)
{
    bool spawned = st->kind == STEP_SPAWNED;
    struct slice text = st->text;
    int codes[CODES_MAX];
    uint32_t n = 0;
    struct answer a;

    while (!spawned && text.len && n < CODES_MAX)
        slice_int(slice_cut(&text, ','), &codes[n++]);
    a = ANSWER_TO(spawn, spawned ? ANSWER_OK : ANSWER_FAILED,
                  .nspace = spawned ? st->text : SLICE_NULL, .codes = { codes, n });
    return world_answer_spawn(&p->world, &a) ? 0 : fail(p, st, "nobody asks for processes");
}

static int do_preset(struct play *p, const struct step *st)
{
    return job_preset(job_of(p, st), st->text, st->more) == ANSWER_OK ? 0 : fail(p, st, "refused");
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off: one row per line */
static const struct {
    int (*run)(struct play *p, const struct step *st);
    bool looks; /* changes nothing: left out when nothing is expected */
} table[] = {
    [STEP_SPEAKS] = { do_speaks, true },
    [STEP_JOB] = { do_job, false },
    [STEP_STRANGER] = { do_stranger, false },
    [STEP_SEND] = { do_send, false },
    [STEP_FLOOD] = { do_flood, false },
    [STEP_RECEIVE] = { do_receive, true },
    [STEP_BYTES] = { do_bytes, true },
    [STEP_NOTHING] = { do_nothing, true },
    [STEP_STORE] = { do_store, true },
    [STEP_CLOSED] = { do_closed, true },
    [STEP_DEAF] = { do_deaf, false },
    [STEP_RECEIVES] = { do_deaf, false },
    [STEP_HANGUP] = { do_hangup, false },
    [STEP_EXIT] = { do_end, false },
    [STEP_REAPED] = { do_reaped, false },
    [STEP_DIES] = { do_end, false },
    [STEP_IS] = { do_is, true },
    [STEP_KILL] = { do_effect, true },
    [STEP_ENDED] = { do_effect, true },
    [STEP_SPAWN] = { do_spawn, true },
    [STEP_RUNNING] = { do_running, true },
    [STEP_CODE] = { do_code, true },
    [STEP_REASON] = { do_reason, true },
    [STEP_KEY] = { do_key, true },
    [STEP_NO_KEY] = { do_key, true },
    [STEP_LOGGED] = { do_logged, true },
    [STEP_SPAWNED] = { do_answer, false },
    [STEP_REFUSED] = { do_answer, false },
    [STEP_PRESET] = { do_preset, false },
    [STEP_REST] = { do_rest, true },
};
/* clang-format on */

/* ---- as it is written ------------------------------------------------------------------------ */

void play_open(struct play *p, const struct script *s, int log_fd, struct errmsg *err)
{
    *p = (struct play){ .script = s, .log_fd = log_fd, .err = err };
    p->log = (struct log){ log_fd, LOG_DEBUG, "server", NULL };
    if (log_fd >= 0 && ftruncate(log_fd, 0) == 0)
        lseek(log_fd, 0, SEEK_SET);
    world_open(&p->world, &p->log);
}

static int nothing_left(struct play *p, const struct step *last)
{
    struct world *w = &p->world;
    struct step at = { .line = last->line };

    for (at.client = 0; at.client < w->nclients; at.client++) {
        if (do_nothing(p, &at) < 0)
            return -1;
    }
    if (w->expected < w->neffects)
        return fail(p, last, "%s has happened, and the script does not say so",
                    kind_name(w->effects[w->expected].kind));
    return 0;
}

/* Everybody leaves: then every job is over, and was so exactly once. */
static int everything_ends(struct play *p, const struct step *last)
{
    struct world *w = &p->world;

    world_end_all(w);
    for (uint32_t i = 0; i < w->njobs; i++) {
        const struct job *j = w->jobs[i].job;
        uint32_t times = world_ends(w, j);
        if (j->phase != JOB_ENDED || times != 1)
            return fail(p, last, "job %s has ended %u times after everybody's end", j->nspace,
                        times);
        if (slice_starts(slice_str(j->reason.text), SLICE("internal error")))
            return fail(p, last, "%s", j->reason.text);
    }
    return 0;
}

/* ---- in pieces ------------------------------------------------------------------------------- */

void play_do(struct play *p, const struct step *st)
{
    if (!table[st->kind].looks)
        table[st->kind].run(p, st);
}

/* Commands that nobody knows are answered all the same, by names that no table has. */
static bool is_excused(const struct reply *r)
{
    return r->proto == &pmi2_proto && holds(r->line, SLICE("errmsg=unknown PMI-2 command"));
}

static const char *check_replies(struct client *c)
{
    struct arena arena = ARENA_NULL(ARENA_MAX);
    struct slice rest = buf_slice(&c->unread);
    const char *fault = NULL;
    struct reply r;
    bool whole = true;

    while (!fault && whole) {
        fault = reply_cut(&rest, c->ours, &arena, &r, &whole);
        c->ours = c->ours || reply_is_ours(&r);
        if (fault && is_excused(&r))
            fault = NULL;
    }
    buf_take(&c->unread, buf_len(&c->unread) - rest.len);
    arena_free(&arena);
    return fault;
}

const char *play_replies(struct play *p)
{
    const char *fault = NULL;

    for (uint32_t i = 0; i < p->world.nclients && !fault; i++) {
        struct client *c = &p->world.clients[i];
        c->foreign =
            c->foreign || (c->peer && c->peer->session && c->peer->session->ops == &pmix_ops);
        if (c->foreign)
            buf_clear(&c->unread);
        else
            fault = check_replies(c);
    }
    return fault;
}

int play_close(struct play *p)
{
    static const struct step last = { .line = 0 };
    int rc = everything_ends(p, &last);

    world_close(&p->world);
    return rc;
}

int play_run(const struct script *s, enum play_mode mode, int log_fd, struct errmsg *err)
{
    struct play *p = malloc(sizeof *p);
    int rc = 0;

    if (!p)
        return errmsg_set(err, -1, "no memory");
    play_open(p, s, log_fd, err);
    p->mode = mode;
    for (uint32_t i = 0; i < s->nsteps && rc == 0; i++)
        rc = table[s->steps[i].kind].run(p, &s->steps[i]);
    if (rc == 0 && s->nsteps)
        rc = nothing_left(p, &s->steps[s->nsteps - 1]);
    if (rc == 0 && s->nsteps)
        rc = everything_ends(p, &s->steps[s->nsteps - 1]);
    world_close(&p->world);
    free(p);
    return rc;
}

/* ---- cut off --------------------------------------------------------------------------------- */

enum sent_before { SENT_NOTHING, SENT_SOMETHING, SENT_FINALIZE };

/* Cuts a whole message of a client off *bytes, with what follows it raw; false: there is none. */
static bool cut_message(struct slice *bytes, struct slice *text_p)
{
    bool block = slice_starts(*bytes, SLICE("mcmd="));
    const char *raw, *end;

    if (bytes->len == 0)
        return false;
    if (strchr("0123456789 ", bytes->ptr[0]) && pmi2_frame(*bytes, text_p) != PMI2_FRAME_BAD) {
        if (pmi2_frame(*bytes, text_p) != PMI2_FRAME_WHOLE)
            return false;
        *bytes = slice_skip(*bytes, PMI2_HEAD + text_p->len);
    } else {
        end = block ? memmem(bytes->ptr, bytes->len, "\nendcmd\n", 8)
                    : memchr(bytes->ptr, '\n', bytes->len);
        if (!end)
            return false;
        *text_p = slice_head(*bytes, (size_t)(end - bytes->ptr));
        *bytes = slice_skip(*bytes, text_p->len + (block ? 8 : 1));
    }
    if (slice_starts(*text_p, SLICE("cmd=mput"))) {
        raw = memmem(text_p->ptr, text_p->len, "bytes=", 6);
        *bytes = slice_skip(*bytes, raw ? strtoul(raw + 6, NULL, 10) : 0);
    }
    return true;
}

/* What a client had said when it was cut: an oracle that knows framing and three words. */
static enum sent_before classify_sent(struct slice bytes)
{
    enum sent_before sent_before = SENT_NOTHING;
    struct slice text;

    while (cut_message(&bytes, &text)) {
        if (slice_trim(text).len == 0 || slice_starts(text, SLICE("cmd=initack")))
            continue;
        if (slice_starts(text, SLICE("cmd=init ")) && !holds(text, SLICE("pmi_version=1")) &&
            !holds(text, SLICE("pmi_version=2")))
            continue; /* refused: it has not begun */
        sent_before = slice_starts(text, SLICE("cmd=finalize")) ? SENT_FINALIZE : SENT_SOMETHING;
    }
    return sent_before;
}

static enum sent_before sent_by(const struct script *s, uint32_t client, uint32_t at, size_t bytes)
{
    struct buf all = BUF_NULL(SIZE_MAX / 4);
    enum sent_before sent_before;

    for (uint32_t i = 0; i <= at; i++) {
        const struct step *st = &s->steps[i];
        if (st->kind == STEP_SEND && st->client == client)
            buf_slice_put(&all, i == at ? slice_head(st->text, bytes) : st->text);
    }
    sent_before = classify_sent(buf_slice(&all));
    buf_free(&all);
    return sent_before;
}

static int check_cut(struct play *p, const struct step *st, enum sent_before sent_before,
                     uint32_t kills)
{
    const struct client *c = client_of(p, st);
    const struct job *j = c->home->job;
    bool killed = world_kills(&p->world, j) > kills;

    if (sent_before == SENT_SOMETHING && !killed && !j->keep_going)
        return fail(p, st, "%s was cut off and nobody minds", c->name);
    if (sent_before == SENT_SOMETHING && job_exit_code(j) == 0)
        return fail(p, st, "%s was cut off and the job's code is 0", c->name);
    if (sent_before != SENT_SOMETHING && killed && !strstr(j->reason.text, "wait for it"))
        return fail(p, st, "%s could leave, and the job was killed: %s", c->name, j->reason.text);
    return 0;
}

int play_cut(const struct script *s, uint32_t at, size_t bytes, struct errmsg *err)
{
    struct play *p = malloc(sizeof *p);
    const struct step *st = &s->steps[at];
    struct client *c;
    int rc = 0;

    if (!p)
        return errmsg_set(err, -1, "no memory");
    play_open(p, s, -1, err);
    for (uint32_t i = 0; i < at; i++) {
        play_do(p, &s->steps[i]);
    }
    c = client_of(p, st);
    if (!c->stranger && c->peer && !c->gone && c->home->job->phase == JOB_RUNNING) {
        uint32_t kills;
        world_send(&p->world, c, slice_head(st->text, bytes));
        kills = world_kills(&p->world, c->home->job);
        world_end(&p->world, c, false, 0);
        if (kills == 0) /* else these bytes broke the rules, or asked for the end */
            rc = check_cut(p, st, sent_by(s, st->client, at, bytes), kills);
    } else {
        world_send(&p->world, c, slice_head(st->text, bytes));
        world_hangup(&p->world, c);
    }
    if (rc == 0)
        rc = everything_ends(p, st);
    world_close(&p->world);
    free(p);
    return rc;
}

/* ---- without memory -------------------------------------------------------------------------- */

/* How many messages were received, and whether one of them says that something failed.  *fault_p:
 * why what follows is no message, or NULL. */
static uint32_t count_replies(const struct client *c, bool *refused_p, const char **fault_p)
{
    struct slice rest = buf_slice(&c->unread);
    struct arena arena = ARENA_NULL(ARENA_MAX);
    struct reply r;
    uint32_t n = 0;
    bool whole = true;

    *refused_p = false;
    for (;;) {
        size_t before = rest.len;
        const char *fault = reply_cut(&rest, c->ours, &arena, &r, &whole);
        *fault_p = whole && rest.len == before ? fault : NULL;
        if (rest.len == before)
            break;
        *refused_p = *refused_p || reply_refuses(&r);
        n++;
    }
    arena_free(&arena);
    return n;
}

/* That a job has failed, or that somebody was told no, excuses what others then miss. */
static int check_blind(struct play *p, const uint32_t *answers, uint32_t *answers_p)
{
    static const struct step end = { .line = 0 };
    uint32_t received[WORLD_CLIENTS];
    struct world *w = &p->world;
    bool excused = false, refused;
    const char *fault;

    for (uint32_t i = 0; i < w->njobs; i++)
        excused = excused || w->jobs[i].job->failed;
    for (uint32_t i = 0; i < w->nclients; i++) {
        const struct client *c = &w->clients[i];
        received[i] = count_replies(c, &refused, &fault);
        if (fault)
            return fail(p, &end, "%s: reply %u %s", c->name, received[i], fault);
        /* Its process sees that it was closed, and ends. */
        excused = excused || refused || (c->stranger && !c->peer);
    }
    if (answers_p)
        memcpy(answers_p, received, sizeof received);
    for (uint32_t i = 0; i < w->nclients && answers && !excused; i++) {
        const struct client *c = &w->clients[i];
        if (received[i] < answers[i] && (c->peer || !c->gone))
            return fail(p, &end, "%s waits for ever: %u answers, not %u", c->name, received[i],
                        answers[i]);
    }
    for (uint32_t i = 0; i < w->njobs; i++) {
        const struct job *j = w->jobs[i].job;
        if (j->phase != JOB_RUNNING && j->failed && j->reason.text[0] == '\0')
            return fail(p, &end, "job %s ends without a reason", j->nspace);
        if (j->phase == JOB_ENDING && world_kills(w, j) == 0)
            return fail(p, &end, "job %s is ending and nobody was asked to end it", j->nspace);
    }
    return 0;
}

static void own_memory(bool begin)
{
    if (world_own_memory)
        world_own_memory(begin);
}

int play_blind(const struct script *s, const uint32_t *answers, uint32_t *answers_p,
               struct errmsg *err)
{
    static struct play p; /* not from memory that may be refused */
    static const struct step last = { .line = 0 };
    int rc = 0;
    bool born = true;

    play_open(&p, s, -1, err);
    for (uint32_t i = 0; i < s->nsteps && born; i++) {
        const struct step *st = &s->steps[i];
        if (table[st->kind].looks)
            continue;
        /* Without its jobs and connections a conversation does not take place. */
        born =
            table[st->kind].run(&p, st) == 0 || (st->kind != STEP_JOB && st->kind != STEP_STRANGER);
    }
    own_memory(true);
    if (born)
        rc = check_blind(&p, answers, answers_p);
    own_memory(false);
    if (rc == 0 && born)
        rc = everything_ends(&p, &last);
    world_close(&p.world);
    return rc;
}
