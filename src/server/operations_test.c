/* operations_test.c - every row of proto/operations.def: operations behave
 * as the table says: an effect's texts are copied, it is freed, each member is in its record in a
 * trace, and comes back from there. */
#include <stdlib.h>

#include "core/effect.h"
#include "core/request.h"
#include "trace/record.h"
#include "tests/tap.h"

/* ---- a value for a member of each type, other than 0 ----------------------------------------- */

static char word[] = "text";
static const uint32_t some_uints[] = { 1, 2 };
static const int some_ints[] = { 1, -2 };
static const struct slice some_texts[] = { { word, 4 } };
static const uint32_t some_ranks[] = { 5 };
static const struct nameservice_query some_query = { .op = NAMESERVICE_PUBLISH,
                                                     .own = true,
                                                     .access = { { some_ranks, 1 },
                                                                 { some_ranks, 1 } },
                                                     .uid = 5,
                                                     .gid = 6,
                                                     .batch = 9,
                                                     .batch_needed = 1,
                                                     .batch_total = 2,
                                                     .persistence = NAME_OF_APP,
                                                     .scope = { .range = NAME_RANGE_CUSTOM,
                                                                .preferred = true,
                                                                .nspaces = { some_texts, 1 },
                                                                .ranks = { some_ranks, 1 } },
                                                     .service = { "service", 7 },
                                                     .port = { "port", 4 } };

static struct spawn_request *some_spawn(void)
{
    static char program[] = "/bin/some";
    static struct spawn_command command = { .program = program, .nprocs = 3 };
    struct spawn_request *rq = spawn_new();

    rq->commands = &command;
    rq->ncommands = 1;
    return rq;
}

#define SOME_JOB        7
#define SOME_RANK       7
#define SOME_TICKET     (UINT64_C(3) << 32 | 9)
#define SOME_U64        UINT64_MAX
#define SOME_U32        UINT32_MAX
#define SOME_U16        UINT16_MAX
#define SOME_U8         UINT8_MAX
#define SOME_I64        INT64_MIN
#define SOME_INT        (-1)
#define SOME_BOOL       true
#define SOME_STATUS     ANSWER_TIMEOUT
#define SOME_PROC_EVENT PROC_EVENT_DEATH
#define SOME_ID         7
#define SOME_PROC       7
#define SOME_CONNECTION 7
#define SOME_UINTS      ((struct part_uints){ some_uints, 2 })
#define SOME_INTS       ((struct part_ints){ some_ints, 2 })
#define SOME_TEXTS      ((struct part_texts){ some_texts, 1 })
#define SOME_TEXT       slice_str(word)
#define SOME_WHY        slice_str(word)
#define SOME_SECRET     slice_str(word)
#define SOME_SPAWN      some_spawn()
#define SOME_QUERY      nameservice_query_new(&some_query)
#define SOME_COLL_ID                                                                               \
    ((struct coll_id){ .kind = COLL_GROUP, .group = slice_str(word), .generation = 8 })
#define SOME_CONTRIBUTION contribution_new(&SOME_COLL_ID, true, 1)

/* ---- members --------------------------------------------------------------------------------- */

#define FREE_SPAWN(m)        spawn_free(m);
#define FREE_QUERY(m)        free(m);
#define FREE_CONTRIBUTION(m) contribution_free(m);
#define FREE_JOB(m)
#define FREE_ID(m)
#define FREE_RANK(m)
#define FREE_PROC(m)
#define FREE_CONNECTION(m)
#define FREE_TICKET(m)
#define FREE_U64(m)
#define FREE_U32(m)
#define FREE_U16(m)
#define FREE_U8(m)
#define FREE_I64(m)
#define FREE_INT(m)
#define FREE_BOOL(m)
#define FREE_STATUS(m)
#define FREE_PROC_EVENT(m)
#define FREE_TEXT(m)
#define FREE_WHY(m)
#define FREE_SECRET(m)
#define FREE_UINTS(m)
#define FREE_INTS(m)
#define FREE_TEXTS(m)
#define FREE_COLL_ID(m)

/* Whether a member is written, and whether it can be read again. */
enum { NOT, WRITTEN, BACK };
#define SHOWS_JOB          BACK
#define SHOWS_ID           BACK
#define SHOWS_RANK         BACK
#define SHOWS_PROC         BACK
#define SHOWS_CONNECTION   BACK
#define SHOWS_TICKET       BACK
#define SHOWS_U64          BACK
#define SHOWS_U32          BACK
#define SHOWS_U16          BACK
#define SHOWS_U8           BACK
#define SHOWS_I64          BACK
#define SHOWS_INT          BACK
#define SHOWS_BOOL         BACK
#define SHOWS_STATUS       BACK
#define SHOWS_PROC_EVENT   BACK
#define SHOWS_TEXT         BACK
#define SHOWS_WHY          BACK
#define SHOWS_SECRET       NOT
#define SHOWS_UINTS        BACK
#define SHOWS_INTS         BACK
#define SHOWS_TEXTS        BACK
#define SHOWS_COLL_ID      BACK
#define SHOWS_SPAWN        WRITTEN
#define SHOWS_QUERY        BACK
#define SHOWS_CONTRIBUTION WRITTEN

static bool same(enum operation op, const union flat *a, const union flat *b)
{
    struct buf x = BUF_NULL(1 << 16), y = BUF_NULL(1 << 16);
    bool same;

    parts_write(operation_rows[op].parts, operation_rows[op].nparts, a, &x);
    parts_write(operation_rows[op].parts, operation_rows[op].nparts, b, &y);
    same = slice_eq(buf_slice(&x), buf_slice(&y));
    buf_free(&x);
    buf_free(&y);
    return same;
}

/* With one member alone set, the flat form differs from that of an empty operation exactly if the
 * member is written, and the operation read from it has the same flat form. */
static void test_member(enum operation op, const void *empty, const void *with, int shows,
                        const char *name)
{
    struct arena a = ARENA_NULL(1 << 16);
    union flat none, one, again;
    _Alignas(16) char back[512];

    operation_flatten(op, empty, &none);
    operation_flatten(op, with, &one);
    OK_F(same(op, &none, &one) == (shows == NOT), "%s is%s written", name, shows ? "" : " not");
    if (shows == BACK && operation_take(op, &one, &a, back)) {
        operation_flatten(op, back, &again);
        OK_F(same(op, &one, &again), "%s is read again", name);
    }
    arena_free(&a);
}

static void test_members(void)
{
#define OPERATION(id, name, E, M, I)                                                               \
    {                                                                                              \
        const enum operation op = OP_##id;                                                         \
        struct op_##id empty, one;                                                                 \
        memset(&empty, 0, sizeof empty);
#define MEMBER(id, KIND, member, name)                                                             \
    memset(&one, 0, sizeof one);                                                                   \
    one.member = SOME_##KIND;                                                                      \
    test_member(op, &empty, &one, SHOWS_##KIND, #id "." #member);                                  \
    FREE_##KIND(one.member)
#define DONE(id)                                                                                   \
    (void)op, (void)empty, (void)one;                                                              \
    }
#include "proto/operations.def"
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Every member set, except lists, which no effect has. */
#define FILL_NONE(id)   struct op_##id *o = NULL;
#define FILL_EFFECT(id) struct op_##id *o = kind == EFFECT_##id ? &e->u.id : NULL;
#define SET_UINTS(m)
#define SET_INTS(m)
#define SET_TEXTS(m)
#define SET_JOB(m)          o->m = SOME_JOB;
#define SET_ID(m)           o->m = SOME_ID;
#define SET_RANK(m)         o->m = SOME_RANK;
#define SET_PROC(m)         o->m = SOME_PROC;
#define SET_CONNECTION(m)   o->m = SOME_CONNECTION;
#define SET_TICKET(m)       o->m = SOME_TICKET;
#define SET_U64(m)          o->m = SOME_U64;
#define SET_U32(m)          o->m = SOME_U32;
#define SET_U16(m)          o->m = SOME_U16;
#define SET_U8(m)           o->m = SOME_U8;
#define SET_I64(m)          o->m = SOME_I64;
#define SET_INT(m)          o->m = SOME_INT;
#define SET_BOOL(m)         o->m = SOME_BOOL;
#define SET_STATUS(m)       o->m = SOME_STATUS;
#define SET_PROC_EVENT(m)   o->m = SOME_PROC_EVENT;
#define SET_TEXT(m)         o->m = SOME_TEXT;
#define SET_WHY(m)          o->m = SOME_WHY;
#define SET_SECRET(m)       o->m = SOME_SECRET;
#define SET_COLL_ID(m)      o->m = SOME_COLL_ID;
#define SET_SPAWN(m)        o->m = SOME_SPAWN;
#define SET_QUERY(m)        o->m = SOME_QUERY;
#define SET_CONTRIBUTION(m) o->m = SOME_CONTRIBUTION;

static void fill(struct effect *e, enum effect_kind kind)
{
    *e = (struct effect){ .kind = kind };
#define OPERATION(id, name, E, M, I)                                                               \
    {                                                                                              \
        FILL_##E(id) if (o)                                                                        \
        {
#define MEMBER(id, KIND, member, name) SET_##KIND(member)
#define DONE(id)                                                                                   \
    }                                                                                              \
    }
#include "proto/operations.def"
}

static void write_trace(const struct effect *e, struct buf *out)
{
    struct record_writer w = { .begun = false };
    struct record r;

    record_effect(e, &r);
    record_write(&w, &(struct record){ .kind = RECORD_begin }, out);
    record_write(&w, &r, out);
}

static bool reads_back(struct slice trace, const struct record *r)
{
    struct record_reader reader;
    struct record back;
    bool good;

    record_reader_init(&reader);
    record_reader_feed(&reader, trace);
    good = record_reader_next(&reader, &back, NULL) == RECORD_WHOLE &&
           record_reader_next(&reader, &back, NULL) == RECORD_WHOLE && record_same(r, &back) &&
           record_reader_left(&reader) == 0;
    record_reader_free(&reader);
    return good;
}

/* An effect in the queue does not change when the memory that its texts came from does. */
static void test_row(enum effect_kind kind, const char *name)
{
    struct buf before = BUF_NULL(1 << 16), after = BUF_NULL(1 << 16);
    struct effects q = { .ring = NULL };
    struct record r;
    struct effect e;

    fill(&e, kind);
    record_effect(&e, &r);
    write_trace(&e, &before);
    OK_F(record_is_effect(r.kind) && !strcmp(record_row(r.kind)->name, name) &&
             reads_back(buf_slice(&before), &r),
         "%s is written and read", name);
    effects_push(&q, e);
    word[0] = 'T';
    OK(effects_pop(&q, &e));
    write_trace(&e, &after);
    word[0] = 't';
    OK_F(slice_eq(buf_slice(&before), buf_slice(&after)), "%s has texts of its own", name);
    effect_drop(&e);
    effect_drop(&e);
    effects_free(&q);
    buf_free(&before);
    buf_free(&after);
}

/* A request that nobody takes is freed, whatever it is. */
static void test_requests(void)
{
    struct request rq;
    bool worded = true;

    for (int k = 0; k < REQ_KINDS; k++)
        worded = worded && request_word((enum request_kind)k);
    OK_F(worded, "each of %d requests has a word", REQ_KINDS);
    rq = REQUEST_WITH(spawn, .request = spawn_new());
    request_drop(&rq);
    request_drop(&rq);
    OK(!rq.u.spawn.request);
    rq = REQUEST_WITH(put, .key = SLICE("key"), .value = SLICE("value"));
    request_drop(&rq);
    OK(slice_is(rq.u.put.value, "value"));
}

static void test_jobs(void)
{
    struct effect e = EFFECT_WITH(job_connect, .job = 4, .other = 5);

    EQ(effect_job(&e), 4);
    e = EFFECT_WITH(tool_connect, .rank = 4);
    EQ(effect_job(&e), UINT32_MAX);
}

int main(void)
{
#define TEST_EFFECT(id, name) test_row(EFFECT_##id, name);
#define TEST_NONE(id, name)
#define OPERATION(id, name, E, M, I) TEST_##E(id, name)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    test_members();
    test_requests();
    test_jobs();
    return tap_done();
}
