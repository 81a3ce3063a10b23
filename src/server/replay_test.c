/* replay_test.c - a job with every kind of record is traced; its trace replays, whole, in pieces,
 * cut off; and every change of it is found where it was made. */
#include <stdio.h>
#include <stdlib.h>

#include "core/effect.h"
#include "core/input.h"
#include "trace/record.h"
#include "server/replay.h"
#include "server/server.h"
#include "store/memory.h"
#include "tests/tap.h"

enum { RANKS = 4, STORE = 1 << 22 };

struct world {
    struct server server;
    struct seg_region regions[2];
    struct job *jobs[2];
    struct peer *peers[RANKS + 1];
    struct effect spawn, names;
    struct record_writer writer;
    struct buf recording;
    uint64_t now;
};

static void keep_record(void *arg, struct record *r)
{
    struct world *w = arg;

    if (!r->time_ns)
        r->time_ns = w->now += 1000;
    record_write(&w->writer, r, &w->recording);
}

static bool identify(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                     uint32_t *rank_p)
{
    struct world *w = arg;

    (void)newcomer;
    if (id != 77)
        return false;
    *job_p = w->jobs[0];
    *rank_p = 3;
    return true;
}

static struct job *add_job(struct world *w, int i, uint32_t n, uint32_t parent)
{
    struct job_map p;

    job_map_init(&p);
    p.napps = 2;
    p.nnodes = 2;
    p.nprocs = n;
    p.apps = arena_array(&p.arena, 2, sizeof *p.apps);
    p.nodes = arena_array(&p.arena, 2, sizeof *p.nodes);
    p.procs = arena_array(&p.arena, n, sizeof *p.procs);
    p.nodes[0].name = "here";
    p.nodes[1].name = "there";
    for (uint32_t r = 0; r < n; r++) {
        uint32_t node = r >= n / 2;
        p.procs[r] = (struct job_map_proc){
            .rank = r, .app = r % 2, .node = node, .local_rank = p.nodes[node].nprocs++
        };
        p.apps[r % 2].nprocs++;
    }
    seg_memory_open(STORE, &w->regions[i]);
    w->jobs[i] = server_job_order(&w->server, &(struct job_order){ .nspace = i ? "child" : "kvs_a",
                                                                   .plan = &p,
                                                                   .region = &w->regions[i],
                                                                   .parent = parent,
                                                                   .keep_going = i != 0,
                                                                   .here = JOB_ALL_HERE });
    server_deliver(&w->server,
                   INPUT(preset, .job = w->jobs[i]->id, .key = SLICE("PMI_process_mapping"),
                         .value = SLICE("(vector,(0,2,2))")));
    return w->jobs[i];
}

static void settle(struct world *w)
{
    struct effect e;
    struct peer *p;

    while (server_effect(&w->server, &e)) {
        if (e.kind == EFFECT_spawn)
            w->spawn = e;
        else if (e.kind == EFFECT_names)
            w->names = e;
        else if (e.kind == EFFECT_kill)
            server_deliver(&w->server, INPUT(abort_connected,
                                             .job = core_job(&w->server.core, e.u.kill.job)->id));
        if (e.kind != EFFECT_spawn && e.kind != EFFECT_names)
            effect_drop(&e);
    }
    while ((p = server_dirty(&w->server)))
        server_wrote(&w->server, p, buf_len(&p->out));
}

static void send_to(struct world *w, int peer, const char *text)
{
    server_deliver(&w->server, INPUT_AT(w->now += 5000, in, .connection = w->peers[peer]->id,
                                        .bytes = slice_str(text)));
    settle(w);
}

static void start(struct world *w)
{
    struct job *j = add_job(w, 0, RANKS, JOB_NO_RANK);

    for (uint32_t r = 0; r < RANKS; r++) {
        bool stranger = r == 3;
        w->peers[r] =
            server_peer_new(&w->server, stranger ? NULL : j, stranger ? 0 : r, r == 1, NULL);
        j->procs[r].pid = (int)(100 + r);
        server_deliver(&w->server, INPUT(proc_state, .job = j->id, .rank = r,
                                         .event = PROC_EVENT_STARTED, .pid = j->procs[r].pid));
    }
    send_to(w, 0, "cmd=init pmi_version=1 pmi_subversion=1\n");
    send_to(w, 1, "cmd=init pmi_version=1 pmi_subversion=1 wireup=1\n");
    send_to(w, 3, "cmd=initack ");
    send_to(w, 3, "pmiid=77\ncmd=init pmi_version=1 pmi_subversion=2\n");
    send_to(w, 2, "cmd=get_ranks2hosts\n");
}

static void exchange(struct world *w)
{
    char line[100];

    for (int r = 0; r < RANKS; r++) {
        snprintf(line, sizeof line, "cmd=put kvsname=kvs_a key=card-%d value=v %d\n", r, r * r);
        send_to(w, r, line);
        send_to(w, r, "cmd=barrier_in\n");
    }
    for (int r = 0; r < RANKS; r++)
        send_to(
            w, r,
            "cmd=get kvsname=kvs_a key=card-2\ncmd=get kvsname=kvs_a key=PMI_process_mapping\n");
    send_to(w, 1, "cmd=mput_wireup count=1 bytes=9\n\2\0\1\0\0\0kk\n");
    send_to(w, 1, "cmd=get_wireup key=kk\n");
}

static void use_names(struct world *w)
{
    send_to(w, 0, "cmd=publish_name service=s port=p\n");
    server_deliver(&w->server,
                   INPUT(names_reply, .ticket = w->names.u.names.ticket,
                         .query = w->names.u.names.query, .found = false, .value = SLICE_NULL));
    effect_drop(&w->names);
    settle(w);
    send_to(w, 2, "cmd=lookup_name service=s\n");
    send_to(w, 2, "cmd=lookup_name service=far\n");
    server_deliver(&w->server, INPUT(names_reply, .ticket = w->names.u.names.ticket,
                                     .query = w->names.u.names.query, .found = true,
                                     .value = SLICE("farport")));
    effect_drop(&w->names);
    settle(w);
    server_deliver(&w->server, INPUT(unpublish, .service = SLICE("s")));
}

static void spawn(struct world *w)
{
    struct answer a = ANSWER_TO(spawn, ANSWER_OK, .nspace = SLICE("child"));

    send_to(w, 0,
            "mcmd=spawn\nnprocs=1\nexecname=/bin/x\ntotspawns=1\nspawnssofar=1\nargcnt=0\n"
            "preput_num=0\ninfo_num=0\nendcmd\n");
    add_job(w, 1, 2, 0);
    w->peers[RANKS] = server_peer_new(&w->server, w->jobs[1], 0, false, NULL);
    server_deliver(&w->server, INPUT(proc_state, .job = w->jobs[1]->id, .rank = 0,
                                     .event = PROC_EVENT_STARTED, .pid = w->jobs[1]->procs[0].pid));
    server_deliver(&w->server, INPUT(proc_state, .job = w->jobs[1]->id, .rank = 1,
                                     .event = PROC_EVENT_STARTED, .pid = w->jobs[1]->procs[1].pid));
    server_answer(&w->server, w->spawn.u.spawn.ticket, &a);
    effect_drop(&w->spawn);
    settle(w);
    server_deliver(&w->server, INPUT(greet, .connection = w->peers[RANKS]->id));
    settle(w);
    send_to(w, RANKS, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\n");
    server_tick(&w->server, w->now += 10);
    server_deliver(&w->server, INPUT(proc_state, .job = w->jobs[1]->id, .rank = 1,
                                     .event = PROC_EVENT_DEATH, .code = 9));
    settle(w);
    send_to(w, RANKS, "cmd=finalize\n");
    server_deliver(&w->server, INPUT(hangup, .connection = w->peers[RANKS]->id));
    w->peers[RANKS] = server_peer_free(&w->server, w->peers[RANKS]);
    server_deliver(&w->server,
                   INPUT(proc_state, .job = w->jobs[1]->id, .rank = 0, .event = PROC_EVENT_EXIT));
    settle(w);
    server_deliver(&w->server, INPUT(job_gone, .job = w->jobs[1]->id));
    seg_memory_close(&w->regions[1]);
}

/* Rank 1 breaks the protocol, which ends the job; rank 2 does not read its messages. */
static void finish(struct world *w)
{
    struct effect e;

    send_to(w, 0, "cmd=barrier_in\n");
    server_deliver(&w->server, INPUT_AT(w->now += 5, in, .connection = w->peers[2]->id,
                                        .bytes = SLICE("cmd=get_maxes\n")));
    send_to(w, 1, "cmd=nonsense\n");
    server_deliver(&w->server, INPUT_AT(w->now += 5, in, .connection = w->peers[2]->id,
                                        .bytes = SLICE("cmd=get_appnum\n")));
    server_abort(&w->server, w->jobs[0], JOB_NO_RANK, 124, "too %s", "late");
    for (uint32_t r = 0; r < RANKS; r++) {
        server_deliver(&w->server, INPUT(hangup, .connection = w->peers[r]->id));
        w->peers[r] = server_peer_free(&w->server, w->peers[r]);
        server_deliver(&w->server, INPUT(proc_state, .job = w->jobs[0]->id, .rank = r,
                                         .event = PROC_EVENT_DEATH, .code = 15));
    }
    while (server_effect(&w->server, &e))
        effect_drop(&e);
    server_record_end(&w->server);
}

static void record(struct world *w)
{
    memset(w, 0, sizeof *w);
    buf_init(&w->recording, 1 << 20);
    server_init(&w->server, 99, NULL);
    w->server.core.has_neighbours = true;
    w->server.identify = identify;
    w->server.arg = w;
    w->now = 1000000;
    server_record(&w->server, keep_record, w, 12345, "here");
    start(w);
    exchange(w);
    use_names(w);
    spawn(w);
    finish(w);
    server_free(&w->server);
    seg_memory_close(&w->regions[0]);
}

/* ---- judging --------------------------------------------------------------------------------- */

static struct errmsg why;

static int play(struct slice bytes, size_t step, struct replay_count *count_p)
{
    struct replay *r = replay_new(STORE);
    int rc = REPLAY_SAME;

    why.text[0] = '\0';
    while (rc == REPLAY_SAME && bytes.len) {
        rc = replay_feed(r, slice_head(bytes, step), &why);
        bytes = slice_skip(bytes, step);
    }
    if (rc == REPLAY_SAME)
        rc = replay_end(r, count_p, &why);
    replay_free(r);
    return rc;
}

static void test_same(const struct world *w)
{
    struct slice bytes = buf_slice(&w->recording);
    struct replay_count n = { 0 };

    OK_F(play(bytes, SIZE_MAX, &n) == REPLAY_SAME, "plays back: %s", why.text);
    OK(n.ended && n.jobs == 2 && n.connections == RANKS + 1 && n.effects > 8 && n.records > 90);
    OK_F(play(bytes, 1, &n) == REPLAY_SAME && n.ended, "byte by byte: %s", why.text);
}

static void test_cut(const struct world *w)
{
    struct slice bytes = buf_slice(&w->recording);
    struct replay_count n;
    bool good = true;

    for (size_t cut = 60; cut < bytes.len && good; cut++)
        good = play(slice_head(bytes, cut), SIZE_MAX, &n) == REPLAY_SAME && !n.ended;
    OK_F(good, "cut at every byte it is the same as far as it goes: %s", why.text);
    EQ(play(SLICE_NULL, 1, &n), REPLAY_BAD);
    EQ(play(slice_head(bytes, 20), 1, &n), REPLAY_BAD);
}

/* Effects of any kind. */
static const enum record_kind any_effect = RECORD_KINDS;

static bool is_of(const struct record *r, enum record_kind kind)
{
    return kind == any_effect ? record_is_effect(r->kind) : r->kind == kind;
}

/* A copy of the trace with its n-th record of one kind changed or left out (change NULL). False:
 * there is no such record. */
static bool changed(const struct world *w, enum record_kind kind, unsigned n,
                    bool (*change)(struct record *r), struct buf *out)
{
    struct record_writer writer = { .begun = false };
    struct record_reader reader;
    struct record d;
    bool found = false;

    buf_clear(out);
    record_reader_init(&reader);
    record_reader_feed(&reader, buf_slice(&w->recording));
    while (record_reader_next(&reader, &d, NULL) == RECORD_WHOLE) {
        if (is_of(&d, kind) && n-- == 0) {
            found = true;
            if (!change || !change(&d))
                continue;
        }
        record_write(&writer, &d, out);
    }
    record_reader_free(&reader);
    return found;
}

static char scratch[1 << 16];
static uint64_t changed_connection;

/* Changes the last byte but one (the last is a newline or part of something raw). */
static bool spoil_out(struct record *r)
{
    struct slice *b = &r->u.out.bytes;
    size_t at = b->len > 2 ? b->len - 2 : 0;

    memcpy(scratch, b->ptr, b->len);
    scratch[at] ^= 1;
    b->ptr = scratch;
    changed_connection = r->u.out.connection;
    return true;
}

static uint32_t spoiled_part;
static bool has_part;

static bool spoil_effect(struct record *r)
{
    const struct operation_row *row = record_row(r->kind);
    void *at = (char *)&r->u + row->parts[spoiled_part].offset;

    static const int code = 1;
    static const uint32_t number = 1;
    static const struct slice text = { "spoiled", 7 };

    has_part = spoiled_part < row->nparts;
    if (has_part && row->parts[spoiled_part].kind == PART_BYTES)
        *(struct slice *)at = ((struct slice *)at)->len ? SLICE_NULL : SLICE("spoiled");
    else if (has_part && row->parts[spoiled_part].kind == PART_INTS)
        *(struct part_ints *)at = (struct part_ints){ &code, 1 };
    else if (has_part && row->parts[spoiled_part].kind == PART_UINTS)
        *(struct part_uints *)at = (struct part_uints){ &number, 1 };
    else if (has_part && row->parts[spoiled_part].kind == PART_TEXTS)
        *(struct part_texts *)at = (struct part_texts){ &text, 1 };
    else if (has_part)
        *(uint64_t *)at += 1;
    return true;
}

/* Each part of each effect: `effects` and `parts` count them. */
static bool finds_spoiled_effects(const struct world *w, unsigned *effects, unsigned *parts)
{
    struct buf out = BUF_NULL(1 << 20);
    struct replay_count n;
    bool good = true;

    *effects = *parts = 0;
    for (spoiled_part = 0; good && changed(w, any_effect, *effects, spoil_effect, &out);) {
        if (!has_part) {
            spoiled_part = 0;
            ++*effects;
            continue;
        }
        good = play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_DIFFERS &&
               strstr(why.text, "the effects");
        spoiled_part++;
        ++*parts;
    }
    buf_free(&out);
    return good;
}

static bool spoil_unsent(struct record *r)
{
    r->u.close.unsent += 1;
    return true;
}

static bool spoil_store(struct record *r)
{
    r->u.out.store ^= 1;
    return true;
}

static void test_changed(const struct world *w)
{
    struct buf out = BUF_NULL(1 << 20);
    struct replay_count n;
    char want[64];
    bool good = true;
    unsigned i, parts;

    for (i = 0; changed(w, RECORD_out, i, spoil_out, &out) && good; i++) {
        int rc = play(buf_slice(&out), SIZE_MAX, &n);
        snprintf(want, sizeof want, "connection %u ", (unsigned)changed_connection);
        good = rc == REPLAY_DIFFERS && strstr(why.text, want) &&
               strstr(why.text, "the trace has '") && strstr(why.text, "this version sends '");
    }
    OK_F(good && i > 20, "each of %u answers, spoiled, is found: %s", i, why.text);
    good = finds_spoiled_effects(w, &i, &parts);
    OK_F(good && i > 8 && parts > 30, "each of %u parts of %u effects: %s", parts, i, why.text);
    for (i = 0, good = true; changed(w, RECORD_close, i, spoil_unsent, &out) && good; i++)
        good = play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_DIFFERS && strstr(why.text, "unsent");
    OK_F(good && i == RANKS + 1, "each of %u ends: %s", i, why.text);
    changed(w, RECORD_out, 0, spoil_store, &out);
    OK(play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_DIFFERS && strstr(why.text, "the store"));
    changed(w, RECORD_in, 0, NULL, &out);
    OK_F(play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_DIFFERS && strstr(why.text, "sends no more"),
         "words that are left out are missed: %s", why.text);
    changed(w, any_effect, 0, NULL, &out);
    OK_F(play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_DIFFERS, "and effects: %s", why.text);
    buf_free(&out);
}

/* ---- nonsense -------------------------------------------------------------------------------- */

static bool other_job(struct record *r)
{
    r->u.job.job = 7;
    return true;
}
static bool no_procs(struct record *r)
{
    r->u.job.runs.n = 0;
    return true;
}
static bool odd_runs(struct record *r)
{
    r->u.job.runs.n -= 1;
    return true;
}
static bool unknown_node(struct record *r)
{
    r->u.job.nodes.n = 1;
    return true;
}
static bool many(struct record *r)
{
    static const uint32_t runs[] = { UINT32_MAX, 0, 0, 0 };
    r->u.job.runs = (struct part_uints){ runs, 4 };
    return true;
}
static bool remote_rank(struct record *r)
{
    r->u.of.proc_state.rank = RANKS;
    return true;
}
static bool odd_event(struct record *r)
{
    r->u.of.proc_state.event = SLICE("wedding");
    return true;
}
static bool open_remote(struct record *r)
{
    r->u.open.rank = RANKS;
    return true;
}
static bool other_open(struct record *r)
{
    r->u.open.connection = 70;
    return true;
}
static bool other_in(struct record *r)
{
    r->u.of.in.connection = UINT64_C(1) << 32 | 1;
    return true;
}
static bool other_out(struct record *r)
{
    r->u.out.connection = 99;
    return true;
}
static bool early_gone(struct record *r)
{
    r->u.of.job_gone.job = 0;
    return true;
}
static bool odd_answer(struct record *r)
{
    r->u.of.answer.status = SLICE("pending");
    return true;
}
static bool odd_query(struct record *r)
{
    r->u.of.names_reply.query_op = SLICE("wedding");
    return true;
}
static bool odd_culprit(struct record *r)
{
    r->u.of.abort.culprit = RANKS;
    return true;
}
static bool odd_identity(struct record *r)
{
    r->u.identify.connection = 1;
    return true;
}
static bool odd_greeting(struct record *r)
{
    r->u.of.greet.connection = 1;
    return true;
}

static void test_impossible(const struct world *w)
{
    static const struct {
        enum record_kind kind;
        bool (*change)(struct record *r);
    } rows[] = {
        { RECORD_begin, NULL },
        { RECORD_job, other_job },
        { RECORD_job, no_procs },
        { RECORD_job, odd_runs },
        { RECORD_job, unknown_node },
        { RECORD_job, many },
        { RECORD_job, NULL },
        { RECORD_proc_state, remote_rank },
        { RECORD_proc_state, odd_event },
        { RECORD_open, open_remote },
        { RECORD_open, other_open },
        { RECORD_in, other_in },
        { RECORD_out, other_out },
        { RECORD_job_gone, early_gone },
        { RECORD_answer, odd_answer },
        { RECORD_names_reply, odd_query },
        { RECORD_abort, odd_culprit },
        { RECORD_identify, odd_identity },
        { RECORD_greet, odd_greeting },
    };
    struct buf out = BUF_NULL(1 << 20);
    struct replay_count n;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        changed(w, rows[i].kind, 0, rows[i].change, &out);
        OK_F(play(buf_slice(&out), SIZE_MAX, &n) == REPLAY_BAD && why.text[0],
             "refused: an impossible %s: %s", record_row(rows[i].kind)->name, why.text);
    }
    buf_free(&out);
}

static uint32_t dice(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Whatever change of the file: a verdict, and no harm. */
static void test_random(const struct world *w)
{
    struct slice bytes = buf_slice(&w->recording);
    char *copy = malloc(bytes.len);
    uint32_t seed = 1, verdicts[3] = { 0 };
    struct replay_count n;

    for (int i = 0; copy && i < 2000; i++) {
        int rc;
        memcpy(copy, bytes.ptr, bytes.len);
        for (uint32_t k = 1 + dice(&seed) % 3; k; k--)
            copy[dice(&seed) % bytes.len] = (char)dice(&seed);
        rc = play(slice_mem(copy, bytes.len), SIZE_MAX, &n);
        if (rc >= 0 && rc < 3)
            verdicts[rc]++;
    }
    OK_F(verdicts[0] + verdicts[1] + verdicts[2] == 2000 && verdicts[1] && verdicts[2],
         "spoiled at random: %u same, %u different, %u refused", verdicts[0], verdicts[1],
         verdicts[2]);
    free(copy);
}

int main(void)
{
    static struct world w;

    record(&w);
    OK(buf_ok(&w.recording));
    test_same(&w);
    test_cut(&w);
    test_changed(&w);
    test_impossible(&w);
    test_random(&w);
    buf_free(&w.recording);
    return tap_done();
}
