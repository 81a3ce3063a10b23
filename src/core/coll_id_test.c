/* coll_id_test.c - different collectives have different identities, whatever the names of
 * namespaces and groups; and collectives whose names look alike do not mix. */
#include "core/coll_id.h"

#include <string.h>

#include "base/rand.h"
#include "core/core.h"
#include "core/core_request.h"
#include "core/job_event.h"
#include "core/request.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { ROOM = 400 };

static const char *written(const struct coll_id *id, char *text)
{
    struct buf out = BUF_NULL(ROOM - 1);

    coll_id_write(id, &out);
    snprintf(text, ROOM, SLICE_FMT, SLICE_ARG(buf_slice(&out)));
    buf_free(&out);
    return text;
}

static void test_round_trip(void)
{
    struct member members[] = { { SLICE("a"), 0 }, { SLICE("a/0 b.1"), REQUEST_ALL_RANKS } };
    char text[ROOM];

    for (uint32_t k = 0; k < COLL_KINDS; k++) {
        struct coll_meeting m = {
            .kind = (enum coll_kind)k, .name = SLICE("a 3:b/0"), .members = members, .nmembers = 2
        };
        struct coll_id id = { .kind = m.kind, .job = 7, .group = m.name, .generation = 3 }, back;
        struct coll_meeting again = m;
        struct buf group = BUF_NULL(ROOM);
        if (coll_kind_is_meeting(m.kind)) {
            coll_meeting_write(&m, &group);
            id.job = 0;
            id.group = buf_slice(&group);
        }
        if (id.kind == COLL_RING)
            id.group = SLICE(JOB_RING);
        OK_F(coll_id_read(slice_str(written(&id, text)), 3, &back) && coll_id_same(&back, &id),
             "read as written: %s", text);
        if (coll_kind_is_meeting(m.kind))
            OK(coll_meeting_read(back.group, &again) && again.kind == m.kind &&
               slice_eq(again.name, m.name) && again.nmembers == 2);
        for (size_t n = 0; n < strlen(text); n++) {
            struct coll_id part;
            bool whole = coll_id_read(slice_mem(text, n), 3, &part);
            if (whole && coll_kind_is_meeting(part.kind))
                whole = coll_meeting_read(part.group, &again) && again.nmembers == m.nmembers;
            if (whole && id.kind != COLL_RING)
                OK_F(false, "%zu bytes of it are read as a whole", n);
        }
        buf_free(&group);
    }
}

static void test_refused(void)
{
    static const char *const bad[] = {
        "",
        " ",
        "fence",
        "fence ",
        "fence x",
        "fence 1",
        "fence 01 1:a",
        "fence 1 1:ab",
        "fence 1 2:a",
        "fence 1 1:a ",
        "fence 4294967296 1:a",
        "ring",
        "ring 1 ",
        "ring 1 0:",
        "connect",
        "connect 0: 1:a",
        "connect 0: 1:a.",
        "connect 0: 1:a.x",
        "connect 0: 1:a.01",
        "connect 0: 9:a.1",
        "connect 0: 99999999999:a.1",
        "fences 1 1:a",
        "meet job.1",
    };
    struct coll_id id;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(!coll_id_read(slice_str(bad[i]), 0, &id), "no identity: '%s'", bad[i]);
}

/* Names made of the bytes that separate parts. */
static struct slice odd_name(uint64_t *rand, char *text)
{
    static const char bytes[] = "a01:. */";
    size_t n = 1 + rand_below(rand, 4);

    for (size_t i = 0; i < n; i++)
        text[i] = bytes[rand_below(rand, sizeof bytes - 1)];
    return slice_mem(text, n);
}

struct chance {
    struct coll_meeting m;
    uint32_t job;
    struct member members[2];
    char names[3][4];
    char text[ROOM];
};

static void by_chance(uint64_t *rand, struct chance *c)
{
    struct buf group = BUF_NULL(ROOM);
    struct coll_id id;

    c->m = (struct coll_meeting){ .kind = (enum coll_kind)rand_below(rand, COLL_KINDS) };
    if (coll_kind_is_meeting(c->m.kind))
        c->m.nmembers = (uint32_t)rand_below(rand, 3);
    else
        c->job = (uint32_t)rand_below(rand, 3);
    if (c->m.kind != COLL_RING)
        c->m.name = odd_name(rand, c->names[2]);
    c->m.members = c->members;
    for (uint32_t i = 0; i < c->m.nmembers; i++)
        c->members[i] =
            (struct member){ odd_name(rand, c->names[i]), (uint32_t)rand_below(rand, 3) };
    id = (struct coll_id){ .kind = c->m.kind, .job = c->job, .group = c->m.name };
    if (coll_kind_is_meeting(c->m.kind)) {
        coll_meeting_write(&c->m, &group);
        id.group = buf_slice(&group);
    }
    written(&id, c->text);
    buf_free(&group);
}

static bool same_parts(const struct chance *a, const struct chance *b)
{
    bool same = a->m.kind == b->m.kind && a->job == b->job && slice_eq(a->m.name, b->m.name) &&
                a->m.nmembers == b->m.nmembers;

    for (uint32_t i = 0; same && i < a->m.nmembers; i++)
        same = slice_eq(a->members[i].nspace, b->members[i].nspace) &&
               a->members[i].rank == b->members[i].rank;
    return same;
}

static void test_no_two_alike(void)
{
    enum { N = 700 };
    static struct chance all[N];
    uint64_t rand = 5;
    unsigned alike = 0, wrong = 0;

    for (unsigned i = 0; i < N; i++)
        by_chance(&rand, &all[i]);
    for (unsigned i = 0; i < N; i++) {
        for (unsigned k = 0; k < i; k++) {
            bool same = same_parts(&all[i], &all[k]);
            alike += same;
            wrong += same != !strcmp(all[i].text, all[k].text);
        }
    }
    OK_F(wrong == 0 && alike > 0, "of %d identities %u pairs are alike, by text and by parts", N,
         alike);
}

static void test_purposes(void)
{
    struct coll_meeting id;

    OK(coll_id_purpose(SLICE("fence"), &id) && id.kind == COLL_MEET_FENCE);
    OK(coll_id_purpose(SLICE("disconnect"), &id) && id.kind == COLL_DISCONNECT);
    OK(coll_id_purpose(SLICE("ungroup a b"), &id) && id.kind == COLL_UNGROUP &&
       slice_is(id.name, "a b"));
    OK(!coll_id_purpose(SLICE("ring"), &id) && !coll_id_purpose(SLICE("marry"), &id));
}

/* ---- collectives that look alike ------------------------------------------------------------- */

static enum answer_status meet(struct core *c, struct job *j, const char *purpose,
                               const struct member *members, uint32_t n)
{
    struct request rq =
        REQUEST_WITH(collective, .purpose = slice_str(purpose), .members = members, .count = n);
    struct answer a;

    core_request(c, j, 0, 1, &rq, 0, &a);
    return a.status;
}

/* "a" and "b" wait for each other; "a.0 b" is alone, under a text that would read the same. */
static void test_alike(const char *purpose)
{
    static const char *const names[] = { "a", "b", "a.0 b" };
    struct seg_region regions[3];
    struct job *jobs[3];
    struct core c;

    core_init(&c, 3);
    for (unsigned i = 0; i < 3; i++) {
        struct job_map p;
        seg_memory_open(1 << 20, &regions[i]);
        plan_of_one_node(&p, 1);
        jobs[i] = core_job_add(&c, names[i], &p, &regions[i], JOB_NO_RANK, false);
        job_event(jobs[i], 0, PROC_EVENT_STARTED, 0);
    }
    EQ(meet(&c, jobs[0], purpose, (struct member[]){ { SLICE("a"), 0 }, { SLICE("b"), 0 } }, 2),
       ANSWER_LATER);
    EQ(meet(&c, jobs[2], purpose, (struct member[]){ { SLICE("a.0 b"), 0 } }, 1), ANSWER_OK);
    EQ(meet(&c, jobs[1], purpose,
            (struct member[]){ { SLICE("b"), 0 }, { SLICE("a"), 0 }, { SLICE("b"), 0 } }, 3),
       ANSWER_OK);
    core_free(&c);
    for (unsigned i = 0; i < 3; i++)
        seg_memory_close(&regions[i]);
}

int main(void)
{
    test_round_trip();
    test_refused();
    test_no_two_alike();
    test_purposes();
    test_alike("connect");
    test_alike("fence");
    test_alike("group a.0 b");
    return tap_done();
}
