/* operations_test.c - every row of proto/operations.def: what the table says of an effect is what
 * happens to it: its texts are copied, it is freed, and each member is in its record in a trace. */
#include <stdlib.h>

#include "core/effect.h"
#include "core/request.h"
#include "session/record.h"
#include "tests/tap.h"

/* ---- a value for a member of each type, other than 0 ----------------------------------------- */

static char word[] = "text";

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
#define SOME_PID        4711
#define SOME_TEXT       slice_str(word)
#define SOME_WHY        slice_str(word)
#define SOME_SECRET     slice_str(word)
#define SOME_SPAWN      some_spawn()
#define SOME_QUERY      nameservice_query_new(NAMESERVICE_PUBLISH, SLICE("service"), SLICE("port"))
#define SOME_COLL_ID                                                                               \
    ((struct coll_id){ .kind = COLL_GROUP, .group = slice_str(word), .generation = 8 })
#define SOME_CONTRIBUTION contribution_new(&SOME_COLL_ID, true, 1)

/* ---- members --------------------------------------------------------------------------------- */

enum { SHOWN = 1 };
#define SHOWS_JOB          SHOWN
#define SHOWS_RANK         SHOWN
#define SHOWS_TICKET       SHOWN
#define SHOWS_U64          SHOWN
#define SHOWS_U32          SHOWN
#define SHOWS_U16          SHOWN
#define SHOWS_U8           SHOWN
#define SHOWS_I64          SHOWN
#define SHOWS_INT          SHOWN
#define SHOWS_BOOL         SHOWN
#define SHOWS_STATUS       SHOWN
#define SHOWS_PROC_EVENT   SHOWN
#define SHOWS_PID          0
#define SHOWS_TEXT         SHOWN
#define SHOWS_WHY          SHOWN
#define SHOWS_SECRET       0
#define SHOWS_COLL_ID      SHOWN
#define SHOWS_SPAWN        SHOWN
#define SHOWS_QUERY        SHOWN
#define SHOWS_CONTRIBUTION SHOWN

/* With one member alone set, the record differs from that of an empty effect exactly if traces have
 * this member. */
static void test_members(void)
{
    struct record empty, one;
    struct effect e;

#define EFFECT(id, name)                                                                           \
    e = (struct effect){ .kind = EFFECT_##id };                                                    \
    record_effect(&e, &empty);
#define EFFECT_MEMBER(id, KIND, member, name)                                                      \
    e = (struct effect){ .kind = EFFECT_##id };                                                    \
    e.u.id.member = SOME_##KIND;                                                                   \
    record_effect(&e, &one);                                                                       \
    OK_F(record_same(&empty, &one) != SHOWS_##KIND, #id "." #member);                              \
    effect_drop(&e);
#define EFFECT_DONE(id)
#include "proto/operations.def"
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Every member set. */
static void fill(struct effect *e, enum effect_kind kind)
{
    *e = (struct effect){ .kind = kind };
    switch (kind) {
#define EFFECT(id, name)                      case EFFECT_##id:
#define EFFECT_MEMBER(id, KIND, member, name) e->u.id.member = SOME_##KIND;
#define EFFECT_DONE(id)                       break;
#include "proto/operations.def"
    case EFFECT_KINDS: break;
    }
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
    OK_F(!strcmp(record_effect_name(r.kind), name) && reads_back(buf_slice(&before), &r),
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
    struct effect e = EFFECT_WITH(tie, .job = 4, .other = 5);

    EQ(effect_job(&e), 4);
    e = EFFECT_WITH(tool, .rank = 4);
    EQ(effect_job(&e), UINT32_MAX);
}

int main(void)
{
#define EFFECT(id, name) test_row(EFFECT_##id, name);
#define EFFECT_MEMBER(id, KIND, member, name)
#define EFFECT_DONE(id)
#include "proto/operations.def"
    test_members();
    test_requests();
    test_jobs();
    return tap_done();
}
