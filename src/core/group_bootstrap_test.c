/* group_bootstrap_test.c - groups whose members do not know each other: who belongs to them, in
 * which order, and which ends of processes fail them; and that nobody waits for ever or is told
 * twice, whatever ends when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "core/core_effect.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/group_bootstrap.h"
#include "core/group_record.h"
#include "core/job_event.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 4, ALL = 2 * RANKS, NOTHING = -1, SEEDS = 3000 };

/* Two jobs; a process is named by one digit, 0 to 3 of the first and 4 to 7 of the second. */
struct world {
    struct core core;
    struct seg_region regions[2];
    struct job *jobs[2];
    int status[ALL];            /* the last answer; NOTHING: none since the call */
    char members[ALL][ALL + 1]; /* of that answer */
    char data[ALL][64];
    uint32_t nanswers;
};

static void add_job(struct world *w, unsigned i, const char *name)
{
    struct job_map p;

    seg_memory_open(1 << 20, &w->regions[i]);
    plan_of_one_node(&p, RANKS);
    w->jobs[i] = core_job_add(&w->core, name, &p, &w->regions[i], JOB_NO_RANK, true);
    for (uint32_t r = 0; r < RANKS; r++) {
        job_event(w->jobs[i], r, PROC_EVENT_STARTED, 0);
        job_event(w->jobs[i], r, PROC_EVENT_ATTACH, 0);
    }
}

static void world_open(struct world *w)
{
    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    w->core.is_manager = true;
    add_job(w, 0, "one");
    add_job(w, 1, "two");
}

static void take_answer(struct world *w, const struct op_answer *a)
{
    uint32_t who = (uint32_t)a->ticket - 1;
    struct slice rest = a->value;
    struct group_record r;
    size_t n = 0;

    if (a->ticket == 0 || a->ticket > ALL)
        return;
    w->nanswers++;
    w->status[who] = (int)a->status;
    w->data[who][0] = '\0';
    while (group_record_next(&rest, &r)) {
        uint32_t first = r.job == w->jobs[1]->id ? RANKS : 0;
        if (r.kind == GROUP_MEMBER && n < ALL)
            w->members[who][n++] = (char)('0' + first + r.rank);
        else if (r.kind == GROUP_DATA)
            strncat(w->data[who], r.data.ptr, r.data.len);
    }
    w->members[who][n] = '\0';
}

static void settle(struct world *w)
{
    struct effect e;

    while (core_effect(&w->core, &e)) {
        if (e.kind == EFFECT_answer)
            take_answer(w, &e.u.answer);
        effect_drop(&e);
    }
}

static void world_close(struct world *w)
{
    settle(w);
    core_free(&w->core);
    seg_memory_close(&w->regions[0]);
    seg_memory_close(&w->regions[1]);
}

static void put_list(const struct world *w, const char *digits, struct buf *out)
{
    for (; *digits; digits++) {
        uint32_t who = (uint32_t)(*digits - '0');
        group_bootstrap_put(out, w->jobs[who / RANKS], who % RANKS);
    }
}

struct wish {
    uint64_t leaders, timeout_ns, now_ns;
    bool tolerant;
    const char *added, *order, *data;
};

static enum answer_status calls(struct world *w, uint32_t who, struct wish x)
{
    struct buf added = BUF_NULL(1 << 10), order = BUF_NULL(1 << 10);
    struct request rq;
    struct answer a;

    put_list(w, x.added ? x.added : "", &added);
    put_list(w, x.order ? x.order : "", &order);
    rq =
        REQUEST_WITH(group_bootstrap, .group = SLICE("g"), .leaders = x.leaders,
                     .tolerant = x.tolerant, .added = buf_slice(&added), .order = buf_slice(&order),
                     .data = slice_str(x.data ? x.data : ""), .timeout_ns = x.timeout_ns);
    w->status[who] = NOTHING;
    core_request(&w->core, w->jobs[who / RANKS], who % RANKS, who + 1, &rq, x.now_ns, &a);
    if (a.status != ANSWER_LATER)
        w->status[who] = (int)a.status;
    settle(w);
    buf_free(&added);
    buf_free(&order);
    return a.status;
}

#define CALLS(w, who, ...) calls(w, who, (struct wish){ .now_ns = 1, __VA_ARGS__ })

static void dies(struct world *w, uint32_t who)
{
    job_event(w->jobs[who / RANKS], who % RANKS, PROC_EVENT_DEATH, 9);
    settle(w);
}

/* One letter for each of the digits: what they got. */
static bool got(const struct world *w, const char *digits, const char *wanted)
{
    char text[ALL + 1] = "";

    for (size_t i = 0; digits[i] && i < ALL; i++) {
        int st = w->status[digits[i] - '0'];
        text[i] = st == NOTHING          ? '.'
                  : st == ANSWER_OK      ? 'y'
                  : st == ANSWER_FAILED  ? 'n'
                  : st == ANSWER_TIMEOUT ? 't'
                                         : '?';
    }
    return OK_F(!strcmp(text, wanted), "%s got %s, wanted %s", digits, text, wanted);
}

static bool nothing_is_kept(const struct world *w)
{
    return OK_F(list_empty(&w->core.bootstraps), "nothing is kept");
}

/* ---- members --------------------------------------------------------------------------------- */

static void test_members(void)
{
    struct world w;

    world_open(&w);
    CALLS(&w, 3, .data = "c");
    CALLS(&w, 4, .leaders = 2, .added = "45", .data = "d"); /* it may name itself */
    CALLS(&w, 0, .leaders = 2, .added = "3", .data = "a");
    got(&w, "034", "...");
    CALLS(&w, 5);
    got(&w, "0345", "yyyy");
    OK(!strcmp(w.members[0], "0345") && !strcmp(w.members[5], "0345"));
    OK(!strcmp(w.data[3], "acd"));
    EQ(w.core.nmeetings, 1);
    nothing_is_kept(&w);

    CALLS(&w, 0, .leaders = 2, .added = "1", .order = "415");
    CALLS(&w, 4, .leaders = 2, .added = "5", .order = "415");
    CALLS(&w, 5);
    CALLS(&w, 2); /* whom nobody adds */
    CALLS(&w, 1);
    got(&w, "01245", "yy.yy");
    OK(!strcmp(w.members[0], "4150"));
    CALLS(&w, 3, .leaders = 1, .added = "2");
    got(&w, "23", "yy");
    nothing_is_kept(&w);
    world_close(&w);
}

/* Each leader names all. */
static void test_named_leaders(void)
{
    const uint64_t named = GROUP_LEADERS_NAMED;
    struct world w;

    world_open(&w);
    CALLS(&w, 3);
    CALLS(&w, 0, .leaders = named, .added = "0453", .data = "a");
    EQ(CALLS(&w, 1, .leaders = 2), ANSWER_BAD_KEY);
    EQ(CALLS(&w, 4, .leaders = named, .added = "045"), ANSWER_BAD_KEY);
    CALLS(&w, 4, .leaders = named, .added = "3045", .data = "d");
    got(&w, "034", "...");
    CALLS(&w, 5);
    got(&w, "0345", "yyyy");
    OK(!strcmp(w.members[5], "0345") && !strcmp(w.data[5], "ad"));
    nothing_is_kept(&w);

    CALLS(&w, 3);
    CALLS(&w, 0, .leaders = named, .added = "0243");
    dies(&w, 4); /* a leader that has not called */
    got(&w, "03", "nn");
    CALLS(&w, 2, .leaders = named, .added = "0243");
    got(&w, "2", "n");
    nothing_is_kept(&w);

    CALLS(&w, 0, .leaders = named, .added = "025", .tolerant = true);
    dies(&w, 2);
    CALLS(&w, 5);
    got(&w, "05", "yy");
    OK(!strcmp(w.members[0], "05"));
    nothing_is_kept(&w);
    world_close(&w);
}

static void test_refusals(void)
{
    struct request bad = REQUEST_WITH(group_bootstrap, .group = SLICE("g"), .leaders = 1);
    struct world w;
    struct answer a;

    world_open(&w);
    CALLS(&w, 0, .leaders = 2, .order = "01", .added = "3");
    EQ(CALLS(&w, 1, .leaders = 3), ANSWER_BAD_KEY);
    EQ(CALLS(&w, 1, .leaders = 2, .order = "10"), ANSWER_BAD_KEY);
    w.status[0] = NOTHING;
    EQ(CALLS(&w, 0, .leaders = 2), ANSWER_BAD_KEY);
    EQ(CALLS(&w, 1, .leaders = 2), ANSWER_LATER);
    EQ(CALLS(&w, 2, .leaders = 2), ANSWER_BAD_KEY); /* there are two already */
    CALLS(&w, 3);
    got(&w, "13", "yy");
    bad.u.group_bootstrap.added = SLICE("\x01");
    core_request(&w.core, w.jobs[0], 0, 1, &bad, 1, &a);
    EQ(a.status, ANSWER_BAD_VALUE);
    bad.u.group_bootstrap.added = SLICE("\x63\x01");
    core_request(&w.core, w.jobs[0], 0, 1, &bad, 1, &a);
    EQ(a.status, ANSWER_NOT_FOUND);
    nothing_is_kept(&w);
    w.core.is_manager = false;
    EQ(CALLS(&w, 0, .leaders = 1), ANSWER_UNSUPPORTED);
    world_close(&w);
}

static void test_time_out(void)
{
    struct world w;

    world_open(&w);
    CALLS(&w, 0, .leaders = 2, .timeout_ns = 100);
    CALLS(&w, 1, .timeout_ns = 50);
    EQ(core_tick(&w.core, 60), 101);
    settle(&w);
    got(&w, "01", ".t");
    core_tick(&w.core, 200);
    settle(&w);
    got(&w, "01", "tt");
    nothing_is_kept(&w);
    CALLS(&w, 0, .leaders = 2, .added = "1");
    CALLS(&w, 1);
    CALLS(&w, 4, .leaders = 2);
    got(&w, "014", "yyy");
    world_close(&w);
}

/* ---- members that end ------------------------------------------------------------------------ */

/* Those that have not called are told when they do, once. */
static void test_added_one_ends(void)
{
    struct world w;

    world_open(&w);
    CALLS(&w, 0, .leaders = 1, .added = "123");
    CALLS(&w, 2);
    dies(&w, 1);
    got(&w, "02", "nn");
    CALLS(&w, 3);
    got(&w, "3", "n");
    nothing_is_kept(&w);
    CALLS(&w, 3);
    CALLS(&w, 0, .leaders = 1, .added = "23", .tolerant = true);
    dies(&w, 2);
    got(&w, "03", "yy");
    OK(!strcmp(w.members[3], "03"));
    CALLS(&w, 0, .leaders = 1, .added = "3");
    dies(&w, 0);
    CALLS(&w, 3);
    got(&w, "3", "n");
    nothing_is_kept(&w);
    world_close(&w);
}

static void test_leader_ends(void)
{
    struct world w;

    world_open(&w);
    CALLS(&w, 0, .leaders = 2, .tolerant = true, .added = "1");
    CALLS(&w, 1);
    dies(&w, 0);
    got(&w, "1", ".");
    CALLS(&w, 2, .leaders = 2, .tolerant = true);
    got(&w, "12", "yy");
    OK(!strcmp(w.members[1], "12"));
    CALLS(&w, 1, .leaders = 2, .added = "4");
    dies(&w, 1);
    CALLS(&w, 4); /* is owed the outcome, and so is the leader that was missing */
    CALLS(&w, 3);
    CALLS(&w, 2, .leaders = 2, .added = "3");
    got(&w, "234", "nnn");
    CALLS(&w, 2, .leaders = 1, .added = "3");
    CALLS(&w, 3);
    got(&w, "23", "yy");
    world_close(&w);
}

/* Nobody knows that it is a leader that has ended: the others wait as long as somebody else might
 * be it. */
static void test_unknown_leader_ends(void)
{
    struct world w;

    world_open(&w);
    dies(&w, 1);
    CALLS(&w, 0, .leaders = 2, .tolerant = true, .added = "2");
    CALLS(&w, 3);
    for (uint32_t who = 4; who < ALL; who++)
        CALLS(&w, who);
    got(&w, "034567", "nnnnnn");
    CALLS(&w, 2);
    got(&w, "2", "n");
    nothing_is_kept(&w);

    CALLS(&w, 0, .leaders = 2, .added = "2345");
    CALLS(&w, 6);
    got(&w, "06", "..");
    dies(&w, 7);
    got(&w, "06", "nn");
    world_close(&w);
}

static void test_job_ends(void)
{
    struct world w;

    world_open(&w);
    CALLS(&w, 0, .leaders = 2, .added = "123");
    CALLS(&w, 1);
    core_job_remove(&w.core, w.jobs[1]);
    w.jobs[1] = w.jobs[0];
    settle(&w);
    got(&w, "01", "nn");
    world_close(&w);
}

/* ---- ends at random -------------------------------------------------------------------------- */

struct plan {
    char leaders[ALL + 1], added[ALL][ALL + 1];
    bool called[ALL], dead[ALL], takes_part[ALL], tolerant;
};

static void plan(struct plan *p, uint64_t *rand)
{
    uint32_t nleaders = 1 + (uint32_t)rand_below(rand, 3);

    memset(p, 0, sizeof *p);
    p->tolerant = rand_below(rand, 2);
    for (uint32_t i = 0; i < nleaders; i++) {
        uint32_t who = (uint32_t)rand_below(rand, ALL);
        if (!strchr(p->leaders, (int)('0' + who)))
            p->leaders[strlen(p->leaders)] = (char)('0' + who);
        p->takes_part[who] = true;
    }
    for (uint32_t who = 0; who < ALL; who++) {
        size_t by = rand_below(rand, strlen(p->leaders));
        char *added = p->added[p->leaders[by] - '0'];
        if (p->takes_part[who] || rand_below(rand, 4) == 0)
            continue;
        p->takes_part[who] = true;
        added[strlen(added)] = (char)('0' + who);
    }
}

/* Calls and ends in any order, until all that live have called. */
static void happen(struct world *w, struct plan *p, uint64_t *rand)
{
    uint32_t left = ALL, deaths = (uint32_t)rand_below(rand, 5);

    while (left) {
        uint32_t who = (uint32_t)rand_below(rand, ALL);
        left = 0;
        for (uint32_t i = 0; i < ALL; i++)
            left += p->takes_part[i] && !p->called[i] && !p->dead[i];
        if (deaths && !p->dead[who] && rand_below(rand, 6) == 0) {
            p->dead[who] = true;
            deaths--;
            dies(w, who);
        } else if (p->takes_part[who] && !p->called[who] && !p->dead[who]) {
            bool leads = strchr(p->leaders, (int)('0' + who));
            p->called[who] = true;
            CALLS(w, who, .leaders = leads ? strlen(p->leaders) : 0, .tolerant = p->tolerant,
                  .added = p->added[who]);
        }
    }
    for (uint32_t who = 0; who < ALL; who++) { /* nobody else can come */
        if (!p->takes_part[who] && !p->dead[who]) {
            p->dead[who] = true;
            dies(w, who);
        }
    }
}

/* All that live have got the same. */
static bool agree(const struct world *w, const struct plan *p)
{
    int first = NOTHING;

    for (uint32_t who = 0; who < ALL; who++) {
        uint32_t before = first < 0 ? who : (uint32_t)first;
        if (p->dead[who])
            continue;
        if ((w->status[who] != ANSWER_OK && w->status[who] != ANSWER_FAILED) ||
            w->status[who] != w->status[before] || strcmp(w->members[who], w->members[before]) != 0)
            return false;
        first = (int)before;
    }
    return true;
}

/* Those that live form another group of that name: nothing of the first one comes back. */
static bool goes_on(struct world *w, const struct plan *p)
{
    char rest[ALL + 1] = "";
    uint32_t leader = ALL;

    for (uint32_t who = 0; who < ALL; who++) {
        if (!p->dead[who] && leader == ALL)
            leader = who;
        else if (!p->dead[who])
            rest[strlen(rest)] = (char)('0' + who);
    }
    if (leader == ALL)
        return true;
    CALLS(w, leader, .leaders = 1, .added = rest);
    for (const char *at = rest; *at; at++)
        CALLS(w, (uint32_t)(*at - '0'), .leaders = 0);
    return agree(w, p) && w->status[leader] == ANSWER_OK &&
           strlen(w->members[leader]) == strlen(rest) + 1;
}

static void test_at_random(void)
{
    unsigned wrong = 0, failed = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t rand = seed;
        struct world w;
        struct plan p;
        bool good;
        world_open(&w);
        plan(&p, &rand);
        happen(&w, &p, &rand);
        good = agree(&w, &p);
        failed += w.core.nmeetings == 0;
        good = good && goes_on(&w, &p) && list_empty(&w.core.bootstraps);
        if (!good && !wrong++)
            printf("# seed %u\n", (unsigned)seed);
        world_close(&w);
    }
    EQ(wrong, 0);
    OK_F(failed > SEEDS / 10 && failed < SEEDS * 9 / 10, "%u of %d failed", failed, SEEDS);
}

int main(void)
{
    test_members();
    test_named_leaders();
    test_refusals();
    test_time_out();
    test_added_one_ends();
    test_leader_ends();
    test_unknown_leader_ends();
    test_job_ends();
    test_at_random();
    return tap_done();
}
