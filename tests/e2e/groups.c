/* groups.c - PMIx groups: what their members give each other, directives, and members that end.
 *
 *   groups values      context ids and values of members, gets with qualifiers, refusals, time-outs
 *   groups survive     the last rank is killed before and the next to last after it has joined
 *   groups leave       a member leaves
 *   groups bootstrap   members that do not know each other, and their order
 *
 * Prints a line for each thing that is not as expected, and at last `groups N good` or
 * `groups N WRONG`, of rank 0.  With GROUPS_APART the ranks are on different
 * nodes. */
#include <pmix.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeps.h"

/* OpenPMIx 4.2.2 has not all of these, and its client does not let a process call that names
 * nobody. */
#ifdef PMIX_GROUP_BOOTSTRAP
enum { MAY_BE_ADDED = true };
#else
enum { MAY_BE_ADDED = false };
#define PMIX_GROUP_BOOTSTRAP              "pmix.grp.btstrp"
#define PMIX_GROUP_FINAL_MEMBERSHIP_ORDER "pmix.grp.finord"
#endif

static pmix_proc_t me;
static uint32_t size;
static int wrong;
static atomic_int nfailed, nleaders;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("groups WRONG rank %u: ", me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout); /* it may be killed */
}

static void want(const char *what, pmix_status_t rc, pmix_status_t wanted)
{
    if (rc != wanted)
        complain("%s: %s, not %s", what, PMIx_Error_string(rc), PMIx_Error_string(wanted));
}

static pmix_proc_t proc(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static void fence(void)
{
    want("fence", PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

/* ---- a construct with these directives ------------------------------------------------------- */

enum { FLAGS_MAX = 8 };

#ifdef OPENPMIX
enum { OPENPMIX_4 = true };
#else
enum { OPENPMIX_4 = false };
#endif

struct group {
    const char *id;
    uint32_t n;                   /* the first n ranks; 0: all, as a wildcard */
    const char *flags[FLAGS_MAX]; /* attributes, true */
    size_t cid;                   /* its own local id; 0: none */
    const char *word;             /* its own value of "groups.word"; NULL: none */
    int timeout;                  /* seconds; 0: none */
    const char *odd;              /* another attribute; required */
    size_t leaders;               /* bootstrap by so many; 0: none */
    const char *named;            /* ranks, a digit each, that it names instead of the first n */
    const char *added, *order;    /* likewise; NULL: none */
    /* results */
    size_t context, nmembers;
    char members[64]; /* their ranks, a digit each */
    bool has_context, has_name;
};

static size_t ranks(const char *digits, pmix_proc_t *procs)
{
    size_t n = 0;

    for (; *digits; digits++)
        procs[n++] = proc((uint32_t)(*digits - '0'));
    return n;
}

static size_t load_ranks(const char *key, const char *digits, pmix_info_t *info)
{
    pmix_proc_t procs[64];
    pmix_data_array_t a = { .type = PMIX_PROC, .array = procs };

    if (!digits)
        return 0;
    a.size = ranks(digits, procs);
    PMIX_INFO_LOAD(info, key, &a, PMIX_DATA_ARRAY);
    return 1;
}

static size_t load(const struct group *g, pmix_info_t *infos, pmix_info_t *given,
                   pmix_data_array_t *a)
{
    size_t n = 0, m = 0;
    bool yes = true;

    for (int i = 0; i < FLAGS_MAX && g->flags[i]; i++)
        PMIX_INFO_LOAD(&infos[n++], g->flags[i], &yes, PMIX_BOOL);
    if (g->cid)
        PMIX_INFO_LOAD(&given[m++], PMIX_GROUP_LOCAL_CID, &g->cid, PMIX_SIZE);
    if (g->word)
        PMIX_INFO_LOAD(&given[m++], "groups.word", g->word, PMIX_STRING);
    if (m) {
        *a = (pmix_data_array_t){ .type = PMIX_INFO, .size = m, .array = given };
        PMIX_INFO_LOAD(&infos[n++], PMIX_GROUP_INFO, a, PMIX_DATA_ARRAY);
    }
    if (g->timeout)
        PMIX_INFO_LOAD(&infos[n++], PMIX_TIMEOUT, &g->timeout, PMIX_INT);
    if (g->leaders)
        PMIX_INFO_LOAD(&infos[n++], PMIX_GROUP_BOOTSTRAP, &g->leaders, PMIX_SIZE);
    n += load_ranks(PMIX_GROUP_ADD_MEMBERS, g->added, &infos[n]);
    n += load_ranks(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, g->order, &infos[n]);
    if (g->odd) {
        PMIX_INFO_LOAD(&infos[n], g->odd, &yes, PMIX_BOOL);
        PMIX_INFO_REQUIRED(&infos[n++]);
    }
    return n;
}

static void take_members(struct group *g, const pmix_data_array_t *a)
{
    const pmix_proc_t *procs = a->array;

    for (size_t i = 0; i < a->size && i + 1 < sizeof g->members; i++)
        g->members[i] = (char)('0' + procs[i].rank);
}

static void take(struct group *g, const pmix_info_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID)) {
            g->context = results[i].value.data.size;
            g->has_context = true;
        } else if (!strcmp(results[i].key, PMIX_GROUP_ID)) {
            g->has_name = !strcmp(results[i].value.data.string, g->id);
        } else if (!strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP)) {
            g->nmembers = results[i].value.data.darray->size;
            take_members(g, results[i].value.data.darray);
        }
    }
}

static pmix_status_t construct(struct group *g)
{
    pmix_info_t infos[FLAGS_MAX + 6], given[2], *results = NULL;
    pmix_proc_t procs[64] = { proc(PMIX_RANK_WILDCARD) };
    pmix_data_array_t a;
    size_t n = load(g, infos, given, &a), nresults = 0, nprocs = g->n ? g->n : 1;
    pmix_status_t rc;

    for (uint32_t r = 0; r < g->n; r++)
        procs[r] = proc(r);
    if (g->named)
        nprocs = ranks(g->named, procs);
    memset(g->members, 0, sizeof g->members);
    rc = PMIx_Group_construct(g->id, nprocs ? procs : NULL, nprocs, infos, n, &results, &nresults);
    if (rc == PMIX_SUCCESS)
        take(g, results, nresults);
    if (results)
        PMIX_INFO_FREE(results, nresults);
    return rc;
}

/* The reply to OpenPMIx 4.2.2's client has no members. */
static size_t count_members(const struct group *g)
{
    pmix_query_t *q;
    pmix_info_t *found = NULL;
    size_t n = 0, count = 0;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, PMIX_QUERY_GROUP_MEMBERSHIP);
    PMIX_INFO_CREATE(q->qualifiers, 1);
    q->nqual = 1;
    PMIX_INFO_LOAD(&q->qualifiers[0], PMIX_GROUP_ID, g->id, PMIX_STRING);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Query_info(q, 1, &found, &n);
    if (rc == PMIX_SUCCESS && n)
        count = found[0].value.data.darray->size;
    if (found)
        PMIX_INFO_FREE(found, n);
    PMIX_QUERY_FREE(q, 1);
    return count;
}

static void want_members(const struct group *g, size_t n)
{
    size_t asked = count_members(g);

    if ((g->nmembers != n && !(OPENPMIX_4 && !g->nmembers)) || asked != n)
        complain("%s has %zu members, when asked %zu, not %zu", g->id, g->nmembers, asked, n);
}

static pmix_status_t destruct(const char *id, const char *flag, int timeout)
{
    pmix_info_t infos[2];
    bool yes = true;
    size_t n = 0;

    if (flag)
        PMIX_INFO_LOAD(&infos[n++], flag, &yes, PMIX_BOOL);
    if (timeout)
        PMIX_INFO_LOAD(&infos[n++], PMIX_TIMEOUT, &timeout, PMIX_INT);
    return PMIx_Group_destruct(id, infos, n);
}

/* ---- values ---------------------------------------------------------------------------------- */

static pmix_status_t get(uint32_t rank, const char *key, const char *by, const void *value,
                         pmix_data_type_t type, pmix_value_t **v)
{
    pmix_proc_t p = proc(rank);
    pmix_info_t info;

    *v = NULL;
    PMIX_INFO_LOAD(&info, by, value, type);
    info.flags |= PMIX_INFO_QUALIFIER;
    return PMIx_Get(&p, key, &info, 1, v);
}

static void want_cid(const struct group *g, uint32_t rank, size_t cid)
{
    pmix_value_t *v;
    pmix_status_t rc =
        get(rank, PMIX_GROUP_LOCAL_CID, PMIX_GROUP_CONTEXT_ID, &g->context, PMIX_SIZE, &v);

    if (rc != PMIX_SUCCESS)
        complain("the local id of rank %u in %s: %s", rank, g->id, PMIx_Error_string(rc));
    else if (v->type != PMIX_SIZE || v->data.size != cid)
        complain("the local id of rank %u in %s is %zu, not %zu", rank, g->id, v->data.size, cid);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void want_word(const struct group *g, uint32_t rank, const char *by, const void *value,
                      pmix_data_type_t type, const char *word)
{
    pmix_value_t *v;
    pmix_status_t rc = get(rank, "groups.word", by, value, type, &v);

    if (rc != PMIX_SUCCESS || v->type != PMIX_STRING || strcmp(v->data.string, word) != 0)
        complain("the word of rank %u in %s by %s: %s", rank, g->id, by, PMIx_Error_string(rc));
    if (v)
        PMIX_VALUE_RELEASE(v);
}

#ifndef OPENPMIX
/* The group's name in place of a namespace. */
static void want_by_name(const struct group *g)
{
    pmix_proc_t p;
    pmix_value_t *v = NULL;

    PMIX_LOAD_PROCID(&p, g->id, PMIX_RANK_WILDCARD);
    want("the context id of the group", PMIx_Get(&p, PMIX_GROUP_CONTEXT_ID, NULL, 0, &v),
         PMIX_SUCCESS);
    if (v && v->data.size != g->context)
        complain("the group has the context id %zu, not %zu", v->data.size, g->context);
    if (v)
        PMIX_VALUE_RELEASE(v);
    want("the members of the group", PMIx_Get(&p, PMIX_GROUP_MEMBERSHIP, NULL, 0, &v),
         PMIX_SUCCESS);
    if (v && (v->type != PMIX_DATA_ARRAY || v->data.darray->size != size))
        complain("the group has not all members");
    if (v)
        PMIX_VALUE_RELEASE(v);
    p.rank = size - 1;
    want("a rank of the group", PMIx_Get(&p, PMIX_HOSTNAME, NULL, 0, &v), PMIX_SUCCESS);
    if (v)
        PMIX_VALUE_RELEASE(v);
    p.rank = size;
    want("no rank of the group", PMIx_Get(&p, PMIX_HOSTNAME, NULL, 0, &v), PMIX_ERR_NOT_FOUND);
}
#endif

static void values(void)
{
    struct group one = { .id = "one", .flags = { PMIX_GROUP_ASSIGN_CONTEXT_ID } };
    struct group two = { .id = "two", .flags = { PMIX_GROUP_ASSIGN_CONTEXT_ID } };
    size_t nowhere = SIZE_MAX / 2;
    pmix_value_t *v;
    char word[16];

    one.cid = 100 + me.rank;
    two.cid = 200 + me.rank;
    snprintf(word, sizeof word, "word%u", me.rank);
    one.word = word;
    want("construct one", construct(&one), PMIX_SUCCESS);
    want("construct two", construct(&two), PMIX_SUCCESS);
    if (!one.has_context || !two.has_context || one.context == two.context)
        complain("context ids %zu and %zu", one.context, two.context);
    want_members(&one, size);
#ifndef OPENPMIX
    if (!one.has_name)
        complain("the results do not name the group");
    want_by_name(&one);
#endif
    want("destruct one", destruct("one", NULL, 0), PMIX_SUCCESS);
    for (uint32_t r = 0; r < size; r++) {
        snprintf(word, sizeof word, "word%u", r);
        want_cid(&one, r, 100 + r); /* Open MPI looks after the destruct */
        want_cid(&two, r, 200 + r);
        want_word(&one, r, PMIX_GROUP_CONTEXT_ID, &one.context, PMIX_SIZE, word);
#ifndef OPENPMIX
        want_word(&one, r, PMIX_GROUP_ID, "one", PMIX_STRING, word);
#endif
    }
    if (get((me.rank + 1) % size, PMIX_GROUP_LOCAL_CID, PMIX_GROUP_CONTEXT_ID, &nowhere, PMIX_SIZE,
            &v) == PMIX_SUCCESS)
        complain("a local id in no group");
#ifndef OPENPMIX
    want("the context id by the name",
         get(me.rank, PMIX_GROUP_CONTEXT_ID, PMIX_GROUP_ID, "two", PMIX_STRING, &v), PMIX_SUCCESS);
    if (v && v->data.size != two.context)
        complain("by the name the context id is %zu, not %zu", v->data.size, two.context);
#endif
    want("destruct two", destruct("two", NULL, 0), PMIX_SUCCESS);
}

/* ---- directives that are refused, or hold ---------------------------------------------------- */

static void refusals(bool apart)
{
    struct group local = { .id = "local", .flags = { PMIX_GROUP_LOCAL_ONLY } };
    struct group odd = { .id = "odd", .odd = "groups.nobody.knows" };
    struct group late = { .id = "late", .timeout = 1 };

    want("a required attribute that nobody knows", construct(&odd), PMIX_ERR_NOT_SUPPORTED);
    want("local only", construct(&local), apart ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS);
    if (!apart)
        want("destruct local", destruct("local", NULL, 0), PMIX_SUCCESS);
    if (me.rank == 0)
        want("a construct without the others", construct(&late), PMIX_ERR_TIMEOUT);
    fence();
    late.timeout = 0;
    want("a construct again", construct(&late), PMIX_SUCCESS);
#ifndef OPENPMIX /* it forgets the group when it asks */
    if (me.rank == 0)
        want("a destruct without the others", destruct("late", NULL, 1), PMIX_ERR_TIMEOUT);
#endif
    fence();
    want("a destruct again", destruct("late", NULL, 0), PMIX_SUCCESS);
#ifndef OPENPMIX /* 5.0.7 keeps a group whose construct failed */
    want("a third one", destruct("late", NULL, 0), PMIX_ERR_NOT_FOUND);
#endif
}

/* ---- members that do not know each other ----------------------------------------------------- */

/* Ranks 0 and 2 lead, and each adds the one after it. */
static struct group led(const char *id)
{
    static const char *const one[] = { "0", "1", "2", "3" };
    struct group g = { .id = id, .flags = { PMIX_GROUP_ASSIGN_CONTEXT_ID }, .named = "" };

    g.cid = 300 + me.rank;
    if (!MAY_BE_ADDED || me.rank % 2 == 0) {
        g.named = one[me.rank];
        g.leaders = MAY_BE_ADDED ? size / 2 : size;
    }
    if (MAY_BE_ADDED && me.rank % 2 == 0)
        g.added = one[me.rank + 1];
    return g;
}

static void want_group(const char *how, struct group *g, const char *members)
{
    want(how, construct(g), PMIX_SUCCESS);
    if (!g->has_context)
        complain("%s: no context id", how);
    want_members(g, size);
    if (g->nmembers && strcmp(g->members, members) != 0)
        complain("%s: members %s, not %s", how, g->members, members);
    for (uint32_t r = 0; g->has_context && r < size; r++)
        want_cid(g, r, 300 + r);
    want(how, destruct(g->id, NULL, 0), PMIX_SUCCESS);
}

/* OpenPMIx 5.0's client sorts what its server tells (docs/compatibility.md). */
#if defined(OPENPMIX) && OPENPMIX == 5
static const char in_order[] = "0123";
#else
static const char in_order[] = "3120";
#endif

static void want_order(void)
{
    struct group known = { .id = "known", .flags = { PMIX_GROUP_ASSIGN_CONTEXT_ID } };
    struct group led_ = led("led");

    known.cid = led_.cid;
    if (me.rank == 2)
        known.order = led_.order = "312";
    want_group("an order of members that know each other", &known, in_order);
    want_group("an order of others", &led_, in_order);
}

/* One leader, and (if it can) one that is added, wait in vain. */
static void want_time_out(void)
{
    struct group late = led("late");

    late.timeout = 1;
    if (me.rank < 2)
        want("without the other leader", construct(&late), PMIX_ERR_TIMEOUT);
    fence();
    late.timeout = 0;
    want_group("with the other leader", &late, "0123");
}

/* Ranks 0 and 2 know each other, and add the others. */
static void want_added(void)
{
    struct group g = led("added");

    if (!MAY_BE_ADDED)
        return;
    g.leaders = 0;
    if (g.added) {
        g.named = "02";
        g.added = "13";
    }
    want_group("members added to known ones", &g, "0123");
}

static void want_refusals(void)
{
    struct group alone = { .id = "alone", .named = "0", .leaders = 1 };
    struct group foreign = { .id = "foreign", .named = "1", .leaders = 1 };
    struct group nobody = { .id = "nobody", .named = "0", .leaders = 1, .added = "9" };
    struct group local = { .id = "here", .named = "0", .leaders = 1 };

    local.flags[0] = PMIX_GROUP_LOCAL_ONLY;
    want("alone", construct(&alone), PMIX_SUCCESS);
    want("alone", destruct("alone", NULL, 0), PMIX_SUCCESS);
#ifndef OPENPMIX /* it looks first whether the process names itself */
    want("another's name", construct(&foreign), PMIX_ERR_BAD_PARAM);
#endif
    want("an unknown member", construct(&nobody), PMIX_ERR_NOT_FOUND);
    want("local only", construct(&local), PMIX_ERR_NOT_SUPPORTED);
    (void)foreign;
}

static void bootstrap(void)
{
    struct group boot = led("boot"), again = boot;

    want_group("bootstrap", &boot, "0123");
    want_group("bootstrap again", &again, "0123");
    want_order();
    want_added();
    want_time_out();
    if (me.rank == 0)
        want_refusals();
    fence();
}

/* ---- members that end ------------------------------------------------------------------------ */

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const char *group = NULL;
    uint32_t who = PMIX_RANK_UNDEF;

    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_GROUP_ID))
            group = info[i].value.data.string;
        else if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC))
            who = info[i].value.data.proc->rank;
    }
    if (group && !strcmp(group, "watched") && who == size - 2)
        nfailed++;
    else if (group && !strcmp(group, "led") && who == size - 2 && code == PMIX_GROUP_LEADER_FAILED)
        nleaders++;
    else
        complain("an event %s of %s, rank %u", PMIx_Error_string(code), group, who);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static bool comes(atomic_int *n)
{
    for (int i = 0; i < 3000 && !*n; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    return *n == 1;
}

static void listen(void)
{
    pmix_status_t codes[] = { PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED };

    if (PMIx_Register_event_handler(codes, 2, NULL, 0, on_end, NULL, NULL) < 0)
        complain("the handler");
}

static void survive(void)
{
    struct group all = { .id = "all" };
    struct group early = { .id = "early", .flags = { PMIX_GROUP_OPTIONAL } };
    struct group tolerant = { .id = "tolerant", .flags = { PMIX_GROUP_FT_COLLECTIVE } };
    struct group plain = { .id = "plain", .n = size - 1 };
    struct group watched = { .id = "watched",
                             .n = size - 1,
                             .flags = { PMIX_GROUP_NOTIFY_TERMINATION } };
    struct group led = { .id = "led",
                         .n = size - 1,
                         .flags = { PMIX_GROUP_NOTIFY_TERMINATION,
                                    me.rank == size - 2 ? PMIX_GROUP_LEADER : NULL } };

    listen();
    fence();
    if (me.rank == size - 1)
        raise(SIGKILL);
    want("optional", construct(&early), PMIX_SUCCESS);
    want_members(&early, size - 1);
    want("fault-tolerant", construct(&tolerant), PMIX_SUCCESS);
    want_members(&tolerant, size - 1);
    want("all", construct(&all), PMIX_GROUP_CONSTRUCT_ABORT);
    want("plain", construct(&plain), PMIX_SUCCESS);
    want("watched", construct(&watched), PMIX_SUCCESS);
    want("led", construct(&led), PMIX_SUCCESS);
    want("destruct early", destruct("early", NULL, 0), PMIX_SUCCESS);
    if (me.rank == size - 2)
        raise(SIGKILL);
    if (!comes(&nfailed) || !comes(&nleaders))
        complain("%d events of the member and %d of the leader", nfailed, nleaders);
    want("destruct plain", destruct("plain", NULL, 0), PMIX_ERR_PROC_TERM_WO_SYNC);
    want("destruct watched", destruct("watched", NULL, 0), PMIX_SUCCESS);
    want("destruct led", destruct("led", NULL, 0), PMIX_SUCCESS);
    want("destruct tolerant", destruct("tolerant", NULL, 0), PMIX_SUCCESS);
}

static void leave(void)
{
    struct group all = { .id = "all", .flags = { PMIX_GROUP_NOTIFY_TERMINATION } };

    listen();
    want("all", construct(&all), PMIX_SUCCESS);
    if (me.rank == size - 1)
        want("leave", PMIx_Group_leave("all", NULL, 0), PMIX_SUCCESS);
    else
        want("destruct all", destruct("all", NULL, 0), PMIX_SUCCESS);
    fence();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "values";
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    pmix_proc_t all;
    pmix_value_t *v = NULL;

    if (rc != PMIX_SUCCESS) {
        printf("groups WRONG init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    all = proc(PMIX_RANK_WILDCARD);
    want("the size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v), PMIX_SUCCESS);
    size = v ? v->data.uint32 : 1;
    if (!strcmp(what, "values")) {
        values();
        refusals(getenv("GROUPS_APART") != NULL);
    } else if (!strcmp(what, "survive")) {
        survive();
    } else if (!strcmp(what, "bootstrap")) {
        bootstrap();
    } else if (!strcmp(what, "leave")) {
        leave();
    }
    if (me.rank == 0)
        printf("groups %u %s\n", size, wrong ? "WRONG" : "good");
    rc = PMIx_Finalize(NULL, 0);
    if (rc != PMIX_SUCCESS)
        complain("finalize: %s", PMIx_Error_string(rc));
    return wrong != 0;
}
