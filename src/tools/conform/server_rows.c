/* server_rows.c - see server_rows.h.  Reading order: one reply; one transcript; all of them. */
#include "tools/conform/server_rows.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/write_all.h"
#include "tools/conform/compare.h"
#include "pmix_common.h"

enum { NAME_ROOM = 512, BYTES_MAX = 1 << 20 };

struct play {
    const struct stage_config *config;
    const struct transcript *transcript;
    struct stage stage;
    struct transcript_names names;
    char golden_name[NAME_ROOM], live_name[NAME_ROOM];
    struct decode golden[TRANSCRIPT_RANKS], live[TRANSCRIPT_RANKS];
    bool is_map[TRANSCRIPT_RANKS], in_barrier[TRANSCRIPT_RANKS];
    struct verdicts *verdicts;
    char prefix[64], section[64];
    bool played, lost; /* lost: the connection is of no use any more */
    bool optional;     /* a server may do without what the section asks for, if it says so */
};

static void judge(struct play *p, enum conformance verdict, const char *why)
{
    char name[sizeof p->prefix + sizeof p->section + 2];

    snprintf(name, sizeof name, "%s%s%s", p->prefix, p->section[0] ? " " : "", p->section);
    verdicts_add(p->verdicts, name, verdict, why);
}

/* ---- one reply ------------------------------------------------------------------------------- */

/* An event has the tag 0; the reply to who sends one has that of the request. */
static bool is_event(const struct decoded *m)
{
    for (uint32_t i = 0; i < m->nfields && slice_is(m->command, "notify"); i++) {
        if (slice_is(m->fields[i].name, "tag"))
            return m->fields[i].number == 0;
    }
    return false;
}

static bool is_not_supported(const struct decoded *m)
{
    for (uint32_t i = 0; i < m->nfields; i++) {
        if (slice_is(m->fields[i].name, "status"))
            return m->fields[i].number == PMIX_ERR_NOT_SUPPORTED;
    }
    return false;
}

/* What a server says by itself is no reply. */
static bool is_unasked(const struct decoded *m)
{
    return is_event(m) || slice_is(m->command, "output") || m->bytes.len == 1;
}

static bool read_more(struct play *p, uint32_t rank, struct errmsg *err)
{
    struct pollfd fd = { p->stage.seats[rank].server, POLLIN, 0 };
    char bytes[1 << 16];
    ssize_t n;

    if (poll(&fd, 1, p->config->timeout_ms) != 1) {
        errmsg_set(err, 0, "rank %u gets no reply within %d s", rank, p->config->timeout_ms / 1000);
        return false;
    }
    n = read(fd.fd, bytes, sizeof bytes);
    if (n <= 0) {
        errmsg_set(err, 0, "the server closes the connection of rank %u", rank);
        return false;
    }
    return decode_feed(&p->live[rank], DECODE_OUT, slice_mem(bytes, (size_t)n)) == 0;
}

/* A reply, or what a server says by itself, as the recording has it. */
static bool next_message(struct play *p, uint32_t rank, bool unasked, struct decoded *m_p,
                         struct errmsg *err)
{
    for (;;) {
        int rc = decode_next(&p->live[rank], DECODE_OUT, m_p);
        if (rc == DECODE_MESSAGE && is_unasked(m_p) == unasked)
            return true;
        if (rc < 0 || (rc == DECODE_MORE && !read_more(p, rank, err)))
            return false;
    }
}

static void keep_names(struct play *p, struct slice golden, struct slice live)
{
    if (!live.len || live.len >= NAME_ROOM || golden.len >= NAME_ROOM)
        return;
    memcpy(p->golden_name, golden.ptr, golden.len);
    memcpy(p->live_name, live.ptr, live.len);
    p->names.golden = slice_mem(p->golden_name, golden.len);
    p->names.live = slice_mem(p->live_name, live.len);
}

static void receive(struct play *p, const struct transcript_line *line)
{
    struct buf bytes = BUF_NULL(BYTES_MAX);
    struct decode *golden = &p->golden[line->rank];
    struct decoded want, is;
    struct errmsg err = { "" };

    transcript_bytes(p->transcript->way, line->text, &p->names, false, &bytes);
    decode_feed(golden, DECODE_OUT, buf_slice(&bytes));
    buf_free(&bytes);
    while (!p->lost && decode_next(golden, DECODE_OUT, &want) == DECODE_MESSAGE) {
        struct compare c = { .golden = &want,
                             .live = &is,
                             .holds = line->kind == LINE_HOLDS,
                             .any_tail = line->kind == LINE_HOLDS && p->optional,
                             .is_map = p->is_map[line->rank] };
        struct slice golden_name = { "", 0 }, name = { "", 0 };
        if (!next_message(p, line->rank, is_unasked(&want), &is, &err)) {
            p->lost = true;
            judge(p, VERDICT_DIFFERS, err.text);
        } else if (!compare_replies(&c, &p->names, &golden_name, &name, &err)) {
            judge(p, p->optional && is_not_supported(&is) ? VERDICT_NOT_OFFERED : VERDICT_DIFFERS,
                  err.text);
        } else {
            keep_names(p, golden_name, name);
            judge(p, VERDICT_CONFORMS, "");
        }
    }
}

/* ---- one transcript -------------------------------------------------------------------------- */

static void feed_request(struct decode *d, struct slice bytes)
{
    struct decoded m;

    decode_feed(d, DECODE_IN, bytes);
    while (decode_next(d, DECODE_IN, &m) == DECODE_MESSAGE)
        ;
}

/* Who waits in a barrier of all is not answered before the last has come. */
static void check_barrier(struct play *p, uint32_t rank)
{
    uint32_t waiting = 1;

    for (uint32_t i = 0; i < p->transcript->ranks; i++) {
        struct pollfd fd = { p->stage.seats[i].server, POLLIN, 0 };
        if (i == rank || !p->in_barrier[i])
            continue;
        waiting++;
        if (poll(&fd, 1, 0) == 1 && fd.revents & POLLIN)
            judge(p, VERDICT_DIFFERS, "a barrier ends before all ranks have come");
    }
    p->in_barrier[rank] = true;
    if (waiting == p->transcript->ranks)
        memset(p->in_barrier, 0, sizeof p->in_barrier);
}

/* Over a port the first message says which process this is, by the number that it was given. */
static void name_rank(const struct play *p, uint32_t rank, struct buf *bytes)
{
    const char *id = stage_env(&p->stage, rank, "PMI_ID");

    if (!id || !slice_starts(buf_slice(bytes), SLICE("cmd=initack ")))
        return;
    buf_clear(bytes);
    buf_printf(bytes, "cmd=initack pmiid=%s\n", id);
}

static void send_line(struct play *p, const struct transcript_line *line)
{
    struct buf golden = BUF_NULL(BYTES_MAX), live = BUF_NULL(BYTES_MAX);
    struct slice bytes;

    if (!transcript_bytes(p->transcript->way, line->text, &p->names, false, &golden) ||
        !transcript_bytes(p->transcript->way, line->text, &p->names, true, &live))
        abort(); /* transcript_check() allows no such line */
    if (p->transcript->way == WAY_PORT)
        name_rank(p, line->rank, &live);
    bytes = buf_slice(&live);
    p->is_map[line->rank] = memmem(bytes.ptr, bytes.len, "PMI_process_mapping", 19) != NULL;
    if (slice_eq(bytes, SLICE("cmd=barrier_in\n")))
        check_barrier(p, line->rank);
    if (write_all_slice(stage_connection(&p->stage, line->rank, p->transcript->way), bytes) < 0) {
        p->lost = true;
        judge(p, VERDICT_DIFFERS, "the server has closed the connection");
    }
    feed_request(&p->golden[line->rank], buf_slice(&golden));
    feed_request(&p->live[line->rank], bytes);
    buf_free(&golden);
    buf_free(&live);
}

/* "groups, optional" */
static void begin_section(struct play *p, struct slice text)
{
    struct slice name = slice_cut(&text, ',');

    p->optional = text.len > 0;
    snprintf(p->section, sizeof p->section, SLICE_FMT, SLICE_ARG(slice_head(name, 60)));
}

static void play_lines(struct play *p)
{
    struct slice body = p->transcript->body;
    struct transcript_line line;

    while (transcript_line(&body, &line)) {
        if (line.kind == LINE_SECTION)
            begin_section(p, line.text);
        else if (p->lost)
            judge(p, VERDICT_DIFFERS, "not reached");
        else if (line.kind == LINE_SENT)
            send_line(p, &line);
        else
            receive(p, &line);
    }
}

/* The server tells by its variables which encodings it reads. */
static bool release_offered(const struct play *p)
{
    char name[64];
    struct slice encoding = slice_skip(p->names.release.encoding, 1);

    snprintf(name, sizeof name, "PMIX_SERVER_URI" SLICE_FMT, SLICE_ARG(slice_head(encoding, 8)));
    return encoding.len == 0 || stage_env(&p->stage, 0, name);
}

static bool is_offered(const struct play *p)
{
    for (uint32_t i = 0; i < p->transcript->ranks; i++) {
        if (!stage_offers(&p->stage, i, p->transcript->way))
            return false;
    }
    return true;
}

static void play_job(struct play *p)
{
    const char *nspace = stage_env(&p->stage, 0, "PMIX_NAMESPACE");

    p->played = true;
    for (uint32_t i = 0; i < TRANSCRIPT_RANKS; i++) {
        decode_init(&p->golden[i]);
        decode_init(&p->live[i]);
    }
    if (transcript_way_is_pmix(p->transcript->way))
        keep_names(p, SLICE("testns"), slice_str(nspace ? nspace : "testns"));
    play_lines(p);
    for (uint32_t i = 0; i < TRANSCRIPT_RANKS; i++) {
        decode_free(&p->golden[i]);
        decode_free(&p->live[i]);
    }
}

static void judge_end(struct play *p, int status)
{
    char why[64];

    if (p->lost || (status != 0) == p->transcript->fails)
        return;
    snprintf(why, sizeof why, "the launcher's exit status is %d", status);
    judge(p, VERDICT_DIFFERS, why);
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct rows {
    const struct stage_config *config;
    struct verdicts *verdicts;
    const char *only; /* rows whose names begin so; NULL: all */
    bool offered[TRANSCRIPT_WAYS], asked[TRANSCRIPT_WAYS], started;
};

static void name_rows(struct play *p, const struct transcript *t,
                      const struct transcript_release *release)
{
    if (release->name.len)
        snprintf(p->prefix, sizeof p->prefix, "pmix-" SLICE_FMT,
                 SLICE_ARG(slice_head(release->name, 40)));
    else
        snprintf(p->prefix, sizeof p->prefix, SLICE_FMT, SLICE_ARG(slice_head(t->name, 60)));
}

/* A job of the launcher, and what its ranks are sent.  False: there is no such job. */
static bool play_stage(struct rows *rows, struct play *p, struct errmsg *err)
{
    enum transcript_way way = p->transcript->way;
    int status, rc = stage_begin(&p->stage, rows->config, p->transcript->ranks, err);

    rows->started = rows->started || rc == 0;
    rows->offered[way] = rc == 0 && is_offered(p);
    rows->asked[way] = true;
    if (rc < 0)
        judge(p, VERDICT_DIFFERS, err->text);
    else if (!rows->offered[way] || !release_offered(p))
        judge(p, VERDICT_NOT_OFFERED, "");
    else
        play_job(p);
    stage_end(&p->stage, p->lost ? 0 : rows->config->timeout_ms, &status);
    if (p->played)
        judge_end(p, status);
    return rows->started;
}

/* A protocol that was not offered once is not asked for again. */
static bool play_once(struct rows *rows, const struct transcript *t,
                      const struct transcript_release *release, struct errmsg *err)
{
    struct play *p = calloc(1, sizeof *p);
    bool good = true;

    if (!p)
        abort();
    *p = (struct play){ .config = rows->config, .transcript = t, .verdicts = rows->verdicts };
    p->names.release = *release;
    name_rows(p, t, release);
    if (rows->only && strncmp(p->prefix, rows->only, strlen(rows->only)) != 0)
        ;
    else if (!rows->asked[t->way] || rows->offered[t->way])
        good = play_stage(rows, p, err);
    else
        judge(p, VERDICT_NOT_OFFERED, "");
    free(p);
    return good;
}

bool server_rows(const struct stage_config *c, struct slice transcripts, const char *only,
                 struct verdicts *v, struct errmsg *err)
{
    struct rows rows = { .config = c, .verdicts = v, .only = only };
    struct transcripts all = transcripts_begin(transcripts);
    struct transcript t;
    bool good = true;

    while (good && transcripts_next(&all, &t)) {
        struct transcript_release release = { { "", 0 }, { "", 0 }, { "", 0 } };
        if (t.releases.len == 0)
            good = play_once(&rows, &t, &release, err);
        while (good && transcript_release(&t.releases, &release))
            good = play_once(&rows, &t, &release, err);
    }
    return good;
}
