/* events.c - a PMIx program that raises events and counts what its handlers get; on our
 * client library, and on OpenPMIx's.
 *
 *   events order COUNT   each process sends COUNT events to the next one, and rank 0 as many to all
 *   events places        the order in which handlers are called (not with `reference`)
 *   events ranges        events for some, and handlers for some
 *   events again         old events: late handlers get them, and none twice
 *   events jobs          rank 0 spawns jobs that end in different ways; all hear of that
 *   events child HOW     such a job's process
 *   events abort FILE    the last rank aborts when the file is there
 *   events watch PID     a tool: prints what the launcher with that pid tells of its job; or of
 *                        what it has told already
 *
 * `reference` as the last argument: on OpenPMIx 4.2.2, without what is different there.
 *
 * Prints `events MODE good` from rank 0, and `events MODE WRONG rank R: what` from each process
 * that finds something wrong.
 */
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeps.h"
#define PROGRAM "events"
#include "pmix_rank.h"

enum {
    TO_NEXT = -5101,
    TO_ALL = -5102,
    LAST_WORD = -5103,
    PLACES = -5104,
    RANGES = -5105,
    OLD = -5106,
    MANY = -5107,
    SLOW = -5108
};

static time_t begun;
static bool reference; /* OpenPMIx's library */

static size_t add_handler(pmix_status_t code, pmix_notification_fn_t fn, pmix_info_t *infos,
                          size_t n)
{
    pmix_status_t rc =
        PMIx_Register_event_handler(code ? &code : NULL, code != 0, infos, n, fn, NULL, NULL);

    if (rc < 0)
        must("register", rc);
    return (size_t)rc;
}

static const pmix_value_t *value_of(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(infos[i].key, key, PMIX_MAX_KEYLEN))
            return &infos[i].value;
    }
    return NULL;
}

/* ---- in order, none lost, none twice --------------------------------------------------------- */

static atomic_int from_previous, from_first;

static void on_numbered(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                        size_t ninfo, pmix_info_t *results, size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_value_t *v = value_of(info, ninfo, "number");
    uint32_t from = code == TO_ALL ? 0 : (me.rank + size - 1) % size;
    atomic_int *count = code == TO_ALL ? &from_first : &from_previous;

    (void)id;
    (void)results;
    (void)nresults;
    if (source->rank != from || !v || v->data.integer != *count)
        complain("event %d of rank %u has number %d, not %d", code, source->rank,
                 v ? v->data.integer : -1, (int)*count);
    (*count)++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void send_number(pmix_status_t code, int number, const pmix_proc_t *to)
{
    pmix_info_t info[3];
    bool yes = true;

    PMIX_INFO_LOAD(&info[0], "number", &number, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    if (to)
        PMIX_INFO_LOAD(&info[2], PMIX_EVENT_CUSTOM_RANGE, to, PMIX_PROC);
    must("notify", PMIx_Notify_event(code, &me, to ? PMIX_RANGE_CUSTOM : PMIX_RANGE_SESSION, info,
                                     to ? 3 : 2, NULL, NULL));
    if (to)
        PMIX_INFO_DESTRUCT(&info[2]);
}

static void check_order(int count)
{
    pmix_proc_t next = process((me.rank + 1) % size);

    add_handler(TO_NEXT, on_numbered, NULL, 0);
    add_handler(TO_ALL, on_numbered, NULL, 0);
    fence();
    for (int i = 0; i < count; i++) {
        if (size > 1)
            send_number(TO_NEXT, i, &next);
        if (me.rank == 0)
            send_number(TO_ALL, i, NULL);
    }
    wait_for("events of the previous rank", &from_previous, size > 1 ? count : 0);
    wait_for("events of rank 0", &from_first, count);
    fence();
    if (from_previous > count || from_first > count)
        complain("an event came twice");
}

/* ---- a last word, behind which nothing is to come -------------------------------------------- */

static atomic_int last_words;

static void on_last_word(size_t id, pmix_status_t code, const pmix_proc_t *source,
                         pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)code;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    last_words++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void send_word(pmix_status_t code, pmix_data_range_t range, pmix_info_t *more, size_t n)
{
    pmix_info_t info[4];
    bool yes = true;

    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    for (size_t i = 0; i < n; i++)
        info[i + 1] = more[i];
    must("notify", PMIx_Notify_event(code, &me, range, info, n + 1, NULL, NULL));
}

/* All have heard what rank 0 has said before. */
static void settle(void)
{
    last_words = 0;
    fence();
    if (me.rank == 0)
        send_word(LAST_WORD, PMIX_RANGE_SESSION, NULL, 0);
    wait_for("last words", &last_words, 1);
    fence();
}

/* ---- places ---------------------------------------------------------------------------------- */

static char called[256];
static atomic_size_t ncalled;

static void on_place(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_value_t *v = value_of(info, ninfo, PMIX_EVENT_HDLR_NAME);

    (void)id;
    (void)code;
    (void)source;
    (void)results;
    (void)nresults;
    if (ncalled < sizeof called - 1) {
        called[ncalled] = v ? v->data.string[0] : '?';
        called[ncalled + 1] = '\0';
        ncalled++;
    }
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

/* Handlers are registered one by one: one, several or all codes; name; directive; its value. */
struct place {
    char codes, name[2];
    const char *key, *neighbour;
};

#define FIRST    PMIX_EVENT_HDLR_FIRST
#define LAST     PMIX_EVENT_HDLR_LAST
#define FIRST_IN PMIX_EVENT_HDLR_FIRST_IN_CATEGORY
#define LAST_IN  PMIX_EVENT_HDLR_LAST_IN_CATEGORY
#define PREPEND  PMIX_EVENT_HDLR_PREPEND
#define APPEND   PMIX_EVENT_HDLR_APPEND
#define BEFORE   PMIX_EVENT_HDLR_BEFORE
#define AFTER    PMIX_EVENT_HDLR_AFTER

/* A name in capitals is refused. */
static const struct {
    const char *order;
    struct place places[4];
} orders[] = {
    { "smd", { { 'd', "d", 0, 0 }, { 'm', "m", 0, 0 }, { 's', "s", 0, 0 } } },
    { "cba", { { 's', "a", 0, 0 }, { 's', "b", 0, 0 }, { 's', "c", 0, 0 } } },
    { "cba", { { 'm', "a", 0, 0 }, { 'm', "b", 0, 0 }, { 'm', "c", 0, 0 } } },
    { "cba", { { 'd', "a", 0, 0 }, { 'd', "b", 0, 0 }, { 'd', "c", 0, 0 } } },
    { "cba", { { 's', "a", PREPEND, 0 }, { 's', "b", PREPEND, 0 }, { 's', "c", 0, 0 } } },
    { "abc", { { 's', "a", APPEND, 0 }, { 's', "b", APPEND, 0 }, { 's', "c", APPEND, 0 } } },
    { "cab", { { 'm', "a", APPEND, 0 }, { 'm', "b", APPEND, 0 }, { 'm', "c", 0, 0 } } },
    { "bcad",
      { { 's', "a", 0, 0 }, { 's', "b", FIRST, 0 }, { 's', "c", 0, 0 }, { 'd', "d", 0, 0 } } },
    { "dsl", { { 's', "l", LAST, 0 }, { 's', "d", 0, 0 }, { 'd', "s", 0, 0 } } },
    { "sT", { { 's', "s", FIRST, 0 }, { 's', "T", FIRST, 0 } } },
    { "sT", { { 's', "s", LAST, 0 }, { 'd', "T", LAST, 0 } } },
    { "bca", { { 's', "a", LAST_IN, 0 }, { 's', "b", 0, 0 }, { 's', "c", APPEND, 0 } } },
    { "aB", { { 's', "a", FIRST_IN, 0 }, { 's', "B", FIRST_IN, 0 } } },
    { "aB", { { 's', "a", LAST_IN, 0 }, { 's', "B", LAST_IN, 0 } } },
    { "ab", { { 's', "a", FIRST_IN, 0 }, { 's', "b", 0, 0 } } },
    { "bca", { { 's', "a", 0, 0 }, { 's', "b", 0, 0 }, { 's', "c", BEFORE, "a" } } },
    { "bac", { { 's', "a", 0, 0 }, { 's', "b", 0, 0 }, { 's', "c", AFTER, "a" } } },
    { "aC", { { 's', "a", 0, 0 }, { 's', "C", BEFORE, "nobody" } } },
    { "aC", { { 's', "a", 0, 0 }, { 's', "C", AFTER, "nobody" } } },
    { "mS", { { 'm', "m", 0, 0 }, { 's', "S", BEFORE, "m" } } },
    { "dS", { { 'd', "d", 0, 0 }, { 's', "S", AFTER, "d" } } },
};

static pmix_status_t add_place(const struct place *p)
{
    static pmix_status_t codes[] = { PLACES, LAST_WORD - 100 };
    size_t n = p->codes == 's' ? 1 : p->codes == 'm' ? 2 : 0;
    pmix_info_t info[2];
    bool yes = true;

    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_HDLR_NAME, p->name, PMIX_STRING);
    if (p->neighbour)
        PMIX_INFO_LOAD(&info[1], p->key, p->neighbour, PMIX_STRING);
    else if (p->key)
        PMIX_INFO_LOAD(&info[1], p->key, &yes, PMIX_BOOL);
    return PMIx_Register_event_handler(n ? codes : NULL, n, info, p->key ? 2 : 1, on_place, NULL,
                                       NULL);
}

/* An event for this process alone, and one that comes when that has been through its handlers. */
static void try_places(size_t row)
{
    pmix_status_t refs[4];
    char want[8] = "";

    called[0] = '\0';
    ncalled = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct place *p = &orders[row].places[i];
        refs[i] = p->codes ? add_place(p) : PMIX_ERROR;
        if (p->codes && (refs[i] == PMIX_ERR_EVENT_REGISTRATION) != (p->name[0] < 'a'))
            complain("row %zu: handler %s: %d", row, p->name, refs[i]);
    }
    for (const char *c = orders[row].order; *c; c++) {
        if (*c >= 'a')
            strncat(want, c, 1);
    }
    must("notify", PMIx_Notify_event(PLACES, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    for (int i = 0; i < 60000 && ncalled < strlen(want); i++)
        usleep(2000);
    if (strcmp(called, want) != 0)
        complain("row %zu: order %s, not %s", row, called, want);
    for (size_t i = 0; i < 4; i++) {
        if (refs[i] >= 0)
            PMIx_Deregister_event_handler((size_t)refs[i], NULL, NULL);
    }
}

static void refuse(const char *what, const char *key, const void *value, pmix_data_type_t type)
{
    pmix_status_t code = PLACES, rc;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, key, value, type);
    rc = PMIx_Register_event_handler(&code, 1, &info, 1, on_place, NULL, NULL);
    if (rc != PMIX_ERR_BAD_PARAM)
        complain("%s: %d", what, rc);
}

static void check_places(void)
{
    pmix_data_range_t unknown = 99;
    int number = 7;

    for (size_t row = 0; row < sizeof orders / sizeof *orders; row++)
        try_places(row);
    refuse("a range that there is not", PMIX_RANGE, &unknown, PMIX_DATA_RANGE);
    refuse("a range as a number", PMIX_RANGE, &number, PMIX_INT);
    refuse("a name as a number", PMIX_EVENT_HDLR_NAME, &number, PMIX_INT);
    refuse("processes as a number", PMIX_EVENT_AFFECTED_PROC, &number, PMIX_INT);
    refuse("an object as a number", PMIX_EVENT_RETURN_OBJECT, &number, PMIX_INT);
    refuse("a flag as a number", PMIX_EVENT_HDLR_FIRST, &number, PMIX_INT);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

enum { NOBODY = -2, EVERYBODY = -1 }; /* else a rank */

/* Handlers, by what they are registered for, and who gets an event of rank 0: about
 * nobody, about rank 0, about rank 1. */
static const struct {
    int range;
    int sources, affected;
    bool theirs, all_codes;
    int receivers[3]; /* of it: everybody, nobody, rank 0 */
} listeners[] = {
    { -1, NOBODY, NOBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_RM, NOBODY, NOBODY, true, false, { NOBODY, NOBODY, NOBODY } },
    { PMIX_RANGE_LOCAL, NOBODY, NOBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_SESSION, NOBODY, NOBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_GLOBAL, NOBODY, NOBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_NAMESPACE, NOBODY, NOBODY, false, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_PROC_LOCAL, NOBODY, NOBODY, false, false, { 0, 0, 0 } },
    { PMIX_RANGE_CUSTOM, NOBODY, NOBODY, true, false, { NOBODY, NOBODY, NOBODY } },
    { PMIX_RANGE_CUSTOM, 0, NOBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { PMIX_RANGE_CUSTOM, 1, NOBODY, true, false, { NOBODY, NOBODY, NOBODY } },
    { -1, NOBODY, 0, true, false, { EVERYBODY, EVERYBODY, NOBODY } },
    { -1, NOBODY, 1, true, false, { EVERYBODY, NOBODY, EVERYBODY } },
    { -1, NOBODY, EVERYBODY, true, false, { EVERYBODY, EVERYBODY, EVERYBODY } },
    { -1, NOBODY, NOBODY, true, true, { EVERYBODY, EVERYBODY, NOBODY } },
};

enum { LISTENERS = sizeof listeners / sizeof *listeners };

static atomic_int calls[LISTENERS];

static void on_range(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_value_t *v = value_of(info, ninfo, PMIX_EVENT_RETURN_OBJECT);
    atomic_int *count = v ? v->data.ptr : NULL;

    (void)id;
    (void)source;
    (void)results;
    (void)nresults;
    if (count && code == RANGES)
        (*count)++;
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

static pmix_proc_t process_at(int rank)
{
    return process(rank == EVERYBODY ? PMIX_RANK_WILDCARD : (uint32_t)rank);
}

static void add_listener(size_t i)
{
    pmix_data_range_t range = (pmix_data_range_t)listeners[i].range;
    pmix_proc_t from = process_at(listeners[i].sources), about = process_at(listeners[i].affected);
    pmix_info_t info[4];
    size_t n = 0;

    PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_RETURN_OBJECT, (void *)&calls[i], PMIX_POINTER);
    if (listeners[i].range >= 0)
        PMIX_INFO_LOAD(&info[n++], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    if (listeners[i].sources != NOBODY)
        PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_CUSTOM_RANGE, &from, PMIX_PROC);
    if (listeners[i].affected != NOBODY)
        PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_AFFECTED_PROC, &about, PMIX_PROC);
    add_handler(listeners[i].all_codes ? 0 : RANGES, on_range, info, n);
}

static void expect_calls(const char *what, int targets, int about)
{
    settle();
    for (size_t i = 0; i < LISTENERS; i++) {
        int by = listeners[i].receivers[about];
        bool want = (targets == EVERYBODY || (int)me.rank == targets) &&
                    (by == EVERYBODY || (int)me.rank == by);
        if ((listeners[i].theirs || !reference) && calls[i] != want)
            complain("%s: handler %zu was called %d times, not %d", what, i, (int)calls[i], want);
        calls[i] = 0;
    }
    fence();
}

/* The last one of `about` is for no default handler. */
static void check_handlers(void)
{
    pmix_proc_t about[3] = { process(0), process(0), process(1) };
    pmix_info_t info[2];
    bool yes = true;

    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    for (int i = 0; i < 3; i++) {
        PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, &about[i], PMIX_PROC);
        if (me.rank == 0)
            send_word(RANGES, PMIX_RANGE_SESSION, info, i == 0 ? 0 : (size_t)i);
        expect_calls("an event for all", EVERYBODY, i);
    }
}

static void check_targets(void)
{
    static const pmix_data_range_t ranges[] = { PMIX_RANGE_CUSTOM, PMIX_RANGE_NAMESPACE,
                                                PMIX_RANGE_SESSION };
    pmix_info_t info;

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (int to = EVERYBODY; to < 3; to++) {
            pmix_proc_t target = process_at(to);
            PMIX_INFO_LOAD(&info, PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC);
            if (me.rank == 0)
                send_word(RANGES, ranges[i], &info, 1);
            expect_calls("an event for some", to, 0);
        }
    }
}

static void check_ranges(void)
{
    add_handler(LAST_WORD, on_last_word, NULL, 0);
    for (size_t i = 0; i < LISTENERS; i++)
        add_listener(i);
    fence();
    check_handlers();
    check_targets();
    if (!reference && PMIx_Notify_event(RANGES, &me, 99, NULL, 0, NULL, NULL) != PMIX_ERR_BAD_PARAM)
        complain("a range that there is not is taken");
}

/* ---- old events ------------------------------------------------------------------------------ */

static atomic_int old_events;

static void on_old(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    old_events += code == OLD || code == MANY || code == SLOW;
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, arg);
}

/* OpenPMIx's library keeps what it has sent itself, and repeats it. */
static void expect_old(const char *what, int n)
{
    settle();
    if (me.rank != 0 && old_events != n)
        complain("%s: %d old events, not %d", what, (int)old_events, n);
    if (me.rank == 0 && !reference && old_events != n)
        complain("%s: %d old events of our own, not %d", what, (int)old_events, n);
    old_events = 0;
    fence();
}

/* More than are kept (LIMIT_KEPT_EVENTS, of which a few may be the launcher's own). */
static void check_many(void)
{
    enum { SENT = 700, KEPT = 512, OWN = 12 };
    size_t ref;

    for (int i = 0; me.rank == 0 && i < SENT; i++)
        must("notify", PMIx_Notify_event(MANY, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    settle();
    ref = add_handler(MANY, on_old, NULL, 0);
    settle();
    if (me.rank != 0 && (old_events > KEPT || old_events < KEPT - OWN))
        complain("%d of many events", (int)old_events);
    old_events = 0;
    PMIx_Deregister_event_handler(ref, NULL, NULL);
    add_handler(MANY, on_old, NULL, 0);
    expect_old("many again", 0);
}

static pmix_event_notification_cbfunc_fn_t slow_done;
static void *slow_arg;
static atomic_int slow_calls;

/* Does not end before it is told to. */
static void on_slow(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)code;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    slow_done = done;
    slow_arg = arg;
    slow_calls++;
}

/* A handler that comes while another has the event. */
static void check_late(void)
{
    if (reference)
        return;
    add_handler(SLOW, on_slow, NULL, 0);
    fence();
    if (me.rank == 0)
        must("notify", PMIx_Notify_event(SLOW, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    wait_for("calls of the slow handler", &slow_calls, 1);
    add_handler(SLOW, on_old, NULL, 0);
    slow_done(PMIX_SUCCESS, NULL, 0, NULL, NULL, slow_arg);
    expect_old("the handler for all codes, but none that came meanwhile", 1);
}

static void check_again(void)
{
    size_t ref;

    add_handler(LAST_WORD, on_last_word, NULL, 0);
    fence();
    check_many();
    for (int i = 0; me.rank == 0 && i < 3; i++)
        must("notify", PMIx_Notify_event(OLD, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    expect_old("before a handler", 0);
    ref = add_handler(OLD, on_old, NULL, 0);
    expect_old("the first handler", 3);
    PMIx_Deregister_event_handler(ref, NULL, NULL);
    ref = add_handler(OLD, on_old, NULL, 0);
    expect_old("again", 0);
    add_handler(0, on_old, NULL, 0);
    expect_old("one for all codes", 0);
    if (me.rank == 0)
        must("notify", PMIx_Notify_event(OLD, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    expect_old("a new event, two handlers", 2);
    PMIx_Deregister_event_handler(ref, NULL, NULL);
    add_handler(OLD, on_old, NULL, 0);
    expect_old("again, after a new one", 0);
    check_late();
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* How a child ends, the events of it, and with which code; of the job: its status and code. */
static const struct {
    const char *how;
    pmix_status_t events[3];
    int code;
    pmix_status_t term;
    int job_code;
} ends[] = {
    { "leave", { PMIX_EVENT_PROC_TERMINATED }, 0, PMIX_SUCCESS, 0 },
    { "fail",
      { PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_EXIT_NONZERO_TERM },
      3,
      PMIX_ERR_JOB_NON_ZERO_TERM,
      3 },
    { "exit", { PMIX_ERR_PROC_TERM_WO_SYNC }, 0, PMIX_ERR_JOB_TERM_WO_SYNC, 1 },
    { "kill", { PMIX_ERR_PROC_ABORTED_BY_SIG }, 9, PMIX_ERR_JOB_ABORTED_BY_SIG, 137 },
};

static const pmix_status_t job_codes[] = {
    PMIX_EVENT_JOB_START,          PMIX_LAUNCH_COMPLETE,          PMIX_EVENT_PROC_TERMINATED,
    PMIX_ERR_EXIT_NONZERO_TERM,    PMIX_ERR_PROC_TERM_WO_SYNC,    PMIX_ERR_PROC_ABORTED_BY_SIG,
    PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_PROC_FAILED_TO_START, PMIX_EVENT_JOB_END,
};

enum { JOB_CODES = sizeof job_codes / sizeof *job_codes };

static atomic_int of_job[JOB_CODES], job_ends;
static size_t now; /* the row of ends */

static int count_of(pmix_status_t code)
{
    for (size_t i = 0; i < JOB_CODES; i++) {
        if (job_codes[i] == code)
            return of_job[i];
    }
    return -1;
}

static bool is_expected(pmix_status_t code)
{
    for (size_t i = 0; i < 3; i++) {
        if (ends[now].events[i] == code && code)
            return true;
    }
    return code == PMIX_EVENT_JOB_START || code == PMIX_LAUNCH_COMPLETE ||
           code == PMIX_EVENT_JOB_END;
}

/* Since this process has begun, and not in the future. */
static void check_time(pmix_status_t code, const pmix_info_t *info, size_t n)
{
    const pmix_value_t *v = value_of(info, n, PMIX_EVENT_TIMESTAMP);

    if (!v || v->type != PMIX_TIME || v->data.time < begun - 1 || v->data.time > time(NULL) + 1)
        complain("%s: at no time, or a wrong one", PMIx_Error_string(code));
}

static void check_job_event(pmix_status_t code, const pmix_info_t *info, size_t n)
{
    const pmix_value_t *name = value_of(info, n, PMIX_NSPACE),
                       *term = value_of(info, n, PMIX_JOB_TERM_STATUS),
                       *exit_code = value_of(info, n, PMIX_EXIT_CODE),
                       *who = value_of(info, n, PMIX_EVENT_AFFECTED_PROC);
    bool of_proc =
        code != PMIX_EVENT_JOB_START && code != PMIX_LAUNCH_COMPLETE && code != PMIX_EVENT_JOB_END;

    check_time(code, info, n);
    if (!who || (who->data.proc->rank == PMIX_RANK_WILDCARD) == of_proc)
        complain("%s: no process, or a wrong one", PMIx_Error_string(code));
    if (!of_proc && !name)
        complain("%s: no namespace", PMIx_Error_string(code));
    if (of_proc && (!exit_code || exit_code->data.integer != ends[now].code))
        complain("%s: exit code %d", PMIx_Error_string(code),
                 exit_code ? exit_code->data.integer : -1);
    if (code == PMIX_EVENT_JOB_END && (!term || term->data.status != ends[now].term))
        complain("%s ends with %s", ends[now].how,
                 term ? PMIx_Error_string(term->data.status) : "nothing");
    if (code == PMIX_EVENT_JOB_END && (!exit_code || exit_code->data.integer != ends[now].job_code))
        complain("%s ends with code %d", ends[now].how, exit_code ? exit_code->data.integer : -1);
}

static void on_job_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                         pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)results;
    (void)nresults;
    if (strcmp(source->nspace, me.nspace) != 0) { /* our own has begun, too */
        if (is_expected(code))
            check_job_event(code, info, ninfo);
        if (count_of(PMIX_EVENT_JOB_START) != (code != PMIX_EVENT_JOB_START))
            complain("%s: %s before the start, or twice", ends[now].how, PMIx_Error_string(code));
        for (size_t i = 0; i < JOB_CODES; i++)
            of_job[i] += job_codes[i] == code;
        job_ends += code == PMIX_EVENT_JOB_END;
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void spawn_child(const char *self, const char *how)
{
    char word[] = "child",
         *argv[] = { (char *)(uintptr_t)self, word, (char *)(uintptr_t)how, NULL };
    pmix_nspace_t name;
    pmix_info_t alone;
    pmix_app_t app;
    bool yes = true;

    PMIX_INFO_LOAD(&alone, PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL); /* its end is not ours */
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = 1;
    must("spawn", PMIx_Spawn(&alone, 1, &app, 1, name));
}

static void check_end(const char *self)
{
    job_ends = 0;
    for (size_t i = 0; i < JOB_CODES; i++)
        of_job[i] = 0;
    fence();
    if (me.rank == 0)
        spawn_child(self, ends[now].how);
    wait_for("the end of the job", &job_ends, 1);
    fence();
    for (size_t i = 0; i < JOB_CODES; i++) {
        if (of_job[i] != is_expected(job_codes[i]))
            complain("%s: %d times %s", ends[now].how, (int)of_job[i],
                     PMIx_Error_string(job_codes[i]));
    }
}

static void check_jobs(const char *self)
{
    for (size_t i = 0; i < JOB_CODES; i++)
        add_handler(job_codes[i], on_job_event, NULL, 0);
    fence();
    for (now = 0; now < sizeof ends / sizeof *ends; now++)
        check_end(self);
}

static int run_child(const char *how)
{
    if (!strcmp(how, "exit"))
        _exit(0);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    PMIx_Finalize(NULL, 0);
    return strcmp(how, "fail") ? 0 : 3;
}

/* ---- a tool that watches a job --------------------------------------------------------------- */

static const struct {
    pmix_status_t code;
    const char *name;
} watched[] = {
    { PMIX_LAUNCHER_READY, "ready" },     { PMIX_EVENT_JOB_START, "start" },
    { PMIX_LAUNCH_COMPLETE, "launched" }, { PMIX_ERR_PROC_REQUESTED_ABORT, "abort" },
    { PMIX_EVENT_JOB_END, "end" },
};

/* What each tells: rank (-1: of the job) and code. */
static void on_watched(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                       size_t ninfo, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_value_t *exit_code = value_of(info, ninfo, PMIX_EXIT_CODE);

    (void)id;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        if (watched[i].code == code)
            printf("%s %d %d\n", watched[i].name,
                   source->rank == PMIX_RANK_WILDCARD ? -1 : (int)source->rank,
                   exit_code ? exit_code->data.integer : -1);
    }
    fflush(stdout);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    job_ends += code == PMIX_EVENT_JOB_END;
}

static int watch(pid_t pid)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    must("tool init", PMIx_tool_init(&me, &info, 1));
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        add_handler(watched[i].code, on_watched, NULL, 0);
    printf("watching\n");
    fflush(stdout);
    wait_for("the end of the job", &job_ends, 1);
    PMIx_tool_finalize();
    return wrong != 0;
}

/* The others wait for it. */
static void abort_later(const char *file)
{
    for (int i = 0; me.rank == size - 1 && i < 60000; i++) {
        if (access(file, F_OK) == 0)
            PMIx_Abort(7, "as asked", NULL, 0);
        usleep(2000);
    }
    fence();
}

/* ---- the modes ------------------------------------------------------------------------------- */

static void learn_size(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;

    must("job size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v ? v->data.uint32 : 1;
    PMIX_VALUE_RELEASE(v);
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    reference = argc > 2 && !strcmp(argv[argc - 1], "reference");
    begun = time(NULL);
    if (!strcmp(mode, "watch"))
        return watch(atoi(argv[2]));
    must("init", PMIx_Init(&me, NULL, 0));
    learn_size();
    if (!strcmp(mode, "order"))
        check_order(argc > 2 ? atoi(argv[2]) : 10);
    else if (!strcmp(mode, "places"))
        check_places();
    else if (!strcmp(mode, "ranges"))
        check_ranges();
    else if (!strcmp(mode, "again"))
        check_again();
    else if (!strcmp(mode, "jobs"))
        check_jobs(argv[0]);
    else if (!strcmp(mode, "abort"))
        abort_later(argv[2]);
    else if (!strcmp(mode, "child"))
        return run_child(argv[2]);
    else
        complain("no such mode");
    fence();
    if (me.rank == 0 && !wrong)
        printf("events %s good\n", mode);
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}
