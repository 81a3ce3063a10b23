/* groups_kills.c - members of PMIx groups, and leaders, are killed at random, in any phase.
 *
 *   groups_kills SEED [nodes]   nodes: a victim kills its daemon, and so is lost with its whole
 *                               node; only the last two ranks are victims, each of which is alone
 *                               on its node
 *
 * All ranks follow one plan, which the seed gives: some groups, one after the other, each with its
 * directives and perhaps a victim, which kills itself before it joins, while it joins, between
 * construct and destruct, or while it destructs.  Each survivor checks that every status is true,
 * and that the others got the same.  Each survivor prints `kills good of N`, where N is how many
 * they should be, or what was wrong. */
#include <pmix.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeps.h"

enum { STEPS = 4, RANKS = 16 };
enum directive { PLAIN, OPTIONAL, TOLERANT, WATCHED, DIRECTIVES };
/* All know each other; one invites the others; two lead, and add the others between them; or two
 * that know each other. */
enum way { TOGETHER, INVITED, BOOTSTRAPPED, ADDED, WAYS };
enum moment { NOBODY, BEFORE, JOINING, BETWEEN, DESTRUCTING, MOMENTS };

struct step {
    enum directive directive;
    enum moment moment;
    uint32_t victim;
    enum way way;
    uint32_t leader;              /* INVITED, or the first of two */
    uint32_t delay_us[RANKS + 1]; /* of each rank before it begins; the last: of the kill */
};

static pmix_proc_t me;
static uint32_t size, nsurvivors;
static struct step steps[STEPS];
static bool alive[RANKS];
static int wrong, now;
static bool kills_nodes;
static atomic_int nevents[STEPS], nforeign;
static atomic_bool invited[STEPS], dead[RANKS];

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("kills WRONG rank %u, step %d: ", me.rank, now);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Those that may be victims of `nodes` are. */
static bool all_victims(const bool *dies)
{
    return dies[size - 1] && dies[size - 2];
}

static void plan(uint64_t seed)
{
    bool dies[RANKS] = { false };

    state = seed * 2654435761u + 1;
    nsurvivors = size;
    for (int s = 0; s < STEPS; s++) {
        struct step *st = &steps[s];
        st->directive = (enum directive)random_below(DIRECTIVES);
        st->moment = nsurvivors > 2 ? (enum moment)random_below(MOMENTS) : NOBODY;
        do
            st->victim = kills_nodes ? size - 1 - random_below(2) : random_below(size);
        while (dies[st->victim] && !(kills_nodes && all_victims(dies)));
        if (dies[st->victim])
            st->moment = NOBODY;
        st->way = (enum way)random_below(WAYS);
        do
            st->leader = random_below(size);
        while (dies[st->leader]);
        for (int r = 0; r <= RANKS; r++)
            st->delay_us[r] = random_below(3) ? random_below(2000) : 0;
        if (st->moment == NOBODY)
            continue;
        dies[st->victim] = true;
        nsurvivors--;
    }
}

static void delay(uint32_t us)
{
    nanosleep(&(struct timespec){ .tv_nsec = us * 1000L }, NULL);
}

static bool is_victim(const struct step *st, enum moment m)
{
    return st->moment == m && st->victim == me.rank;
}

static void die(void)
{
    if (kills_nodes)
        kill(getppid(), SIGKILL);
    while (kills_nodes)
        pause();
    raise(SIGKILL);
}

static void die_at(const struct step *st, enum moment m)
{
    if (is_victim(st, m))
        die();
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct result {
    pmix_status_t status;
    size_t nmembers, context;
    bool has_victim;
};

static const char *const flags[DIRECTIVES] = {
    [OPTIONAL] = PMIX_GROUP_OPTIONAL,
    [TOLERANT] = PMIX_GROUP_FT_COLLECTIVE,
    [WATCHED] = PMIX_GROUP_NOTIFY_TERMINATION,
};

static size_t members(pmix_proc_t *procs, uint32_t but)
{
    size_t n = 0;

    for (uint32_t r = 0; r < size; r++) {
        if (alive[r] && r != but) {
            PMIX_LOAD_PROCID(&procs[n], me.nspace, r);
            n++;
        }
    }
    return n;
}

static void take(struct result *res, const struct step *st, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_GROUP_CONTEXT_ID))
            res->context = infos[i].value.data.size;
        if (strcmp(infos[i].key, PMIX_GROUP_MEMBERSHIP) != 0)
            continue;
        const pmix_proc_t *procs = infos[i].value.data.darray->array;
        res->nmembers = infos[i].value.data.darray->size;
        for (size_t m = 0; m < res->nmembers; m++)
            res->has_victim = res->has_victim || procs[m].rank == st->victim;
    }
}

static void ignore_infos(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *release_arg)
{
    (void)status, (void)info, (void)n, (void)arg;
    if (release)
        release(release_arg);
}

static void ignore(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
}

/* The next one that is alive. */
static uint32_t second_leader(const struct step *st)
{
    uint32_t r = st->leader;

    do
        r = (r + 1) % size;
    while (!alive[r]);
    return r;
}

static bool leads(const struct step *st, uint32_t rank)
{
    return rank == st->leader || rank == second_leader(st);
}

/* Of BOOTSTRAPPED and ADDED: whom the process names (itself, or both leaders), and whom it adds. */
static size_t name_few(const struct step *st, pmix_proc_t *procs, pmix_info_t *infos, size_t *n)
{
    size_t all = members(procs, UINT32_MAX), leaders = 2;
    pmix_proc_t added[RANKS];
    pmix_data_array_t a = { .type = PMIX_PROC, .array = added };

    if (!leads(st, me.rank))
        return 0;
    for (size_t i = 0; i < all; i++) {
        if (!leads(st, procs[i].rank) &&
            (st->way == ADDED || (procs[i].rank % 2 == 0) == (me.rank == st->leader)))
            added[a.size++] = procs[i];
    }
    if (st->way == BOOTSTRAPPED)
        PMIX_INFO_LOAD(&infos[(*n)++], PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_SIZE);
    if (a.size || st->way == ADDED)
        PMIX_INFO_LOAD(&infos[(*n)++], PMIX_GROUP_ADD_MEMBERS, &a, PMIX_DATA_ARRAY);
    procs[0] = me;
    if (st->way == BOOTSTRAPPED)
        return 1;
    PMIX_LOAD_PROCID(&procs[0], me.nspace, st->leader);
    PMIX_LOAD_PROCID(&procs[1], me.nspace, second_leader(st));
    return 2;
}

static struct result construct(const char *id, const struct step *st)
{
    struct result res = { .status = PMIX_SUCCESS };
    pmix_info_t infos[4], *results = NULL;
    pmix_proc_t procs[RANKS];
    size_t n = 1, nresults = 0, nprocs;
    bool yes = true;

    PMIX_INFO_LOAD(&infos[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    if (flags[st->directive])
        PMIX_INFO_LOAD(&infos[n++], flags[st->directive], &yes, PMIX_BOOL);
    if (st->way == BOOTSTRAPPED || st->way == ADDED)
        nprocs = name_few(st, procs, infos, &n);
    else
        nprocs = members(procs, UINT32_MAX);
    if (is_victim(st, JOINING)) {
        PMIx_Group_construct_nb(id, procs, nprocs, infos, n, ignore_infos, NULL);
        delay(st->delay_us[RANKS]);
        die();
    }
    res.status = PMIx_Group_construct(id, procs, nprocs, infos, n, &results, &nresults);
    if (res.status == PMIX_SUCCESS)
        take(&res, st, results, nresults);
    if (results)
        PMIX_INFO_FREE(results, nresults);
    return res;
}

/* Waits for the invitation; one that has ended will not send any, and is accepted all the same. */
static pmix_status_t join(const char *id, const struct step *st, pmix_info_t **results, size_t *n)
{
    pmix_proc_t leader;

    PMIX_LOAD_PROCID(&leader, me.nspace, st->leader);
    for (int i = 0; i < 30000 && !invited[now] && !dead[st->leader]; i++)
        delay(1000);
    if (!invited[now] && !dead[st->leader])
        complain("no invitation");
    if (is_victim(st, JOINING)) {
        PMIx_Group_join_nb(id, &leader, PMIX_GROUP_ACCEPT, NULL, 0, ignore_infos, NULL);
        delay(st->delay_us[RANKS]);
        die();
    }
    return PMIx_Group_join(id, &leader, PMIX_GROUP_ACCEPT, NULL, 0, results, n);
}

static pmix_status_t invite(const char *id, const struct step *st, pmix_info_t **results, size_t *n)
{
    pmix_info_t infos[2];
    pmix_proc_t procs[RANKS];
    size_t ninfos = 1, nprocs = members(procs, me.rank);
    bool yes = true;

    PMIX_INFO_LOAD(&infos[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    if (flags[st->directive])
        PMIX_INFO_LOAD(&infos[ninfos++], flags[st->directive], &yes, PMIX_BOOL);
    if (is_victim(st, JOINING)) {
        PMIx_Group_invite_nb(id, procs, nprocs, infos, ninfos, ignore_infos, NULL);
        delay(st->delay_us[RANKS]);
        die();
    }
    return PMIx_Group_invite(id, procs, nprocs, infos, ninfos, results, n);
}

static struct result gather(const char *id, const struct step *st)
{
    struct result res = { .status = PMIX_SUCCESS };
    pmix_info_t *results = NULL;
    size_t n = 0;

    if (st->leader == me.rank)
        res.status = invite(id, st, &results, &n);
    else
        res.status = join(id, st, &results, &n);
    if (res.status == PMIX_SUCCESS)
        take(&res, st, results, n);
    if (results)
        PMIX_INFO_FREE(results, n);
    return res;
}

static pmix_status_t destruct(const char *id, const struct step *st)
{
    if (is_victim(st, DESTRUCTING)) {
        PMIx_Group_destruct_nb(id, NULL, 0, ignore, NULL);
        delay(st->delay_us[RANKS]);
        die();
    }
    return PMIx_Group_destruct(id, NULL, 0);
}

/* ---- what the others got --------------------------------------------------------------------- */

static void want_same(const char *what, uint32_t rank, size_t context, const char *text)
{
    pmix_value_t *v = NULL;
    pmix_info_t info;
    pmix_proc_t p;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
    info.flags |= PMIX_INFO_QUALIFIER;
    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    rc = PMIx_Get(&p, "kills.got", &info, 1, &v);
    if (rc != PMIX_SUCCESS || v->type != PMIX_STRING || strcmp(v->data.string, text) != 0)
        complain("%s: rank %u got %s, not %s", what, rank,
                 rc == PMIX_SUCCESS ? v->data.string : PMIx_Error_string(rc), text);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

/* The survivors give each other their results, in a group of their own that no death can stop. */
static void compare(const char *what, const struct step *st, const char *text)
{
    uint32_t but = st->moment == BEFORE || st->moment == JOINING ||
                           (st->moment != NOBODY && !strcmp(what, "destruct"))
                       ? st->victim
                       : UINT32_MAX;
    pmix_info_t infos[3], given, *results = NULL;
    struct result res = { .status = PMIX_SUCCESS };
    pmix_data_array_t a = { .type = PMIX_INFO, .size = 1, .array = &given };
    pmix_proc_t procs[RANKS];
    size_t n = 0, nprocs = members(procs, but);
    bool yes = true;
    char id[32];

    snprintf(id, sizeof id, "%s%d", what, now);
    PMIX_INFO_LOAD(&given, "kills.got", text, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[0], PMIX_GROUP_INFO, &a, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&infos[1], PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[2], PMIX_GROUP_FT_COLLECTIVE, &yes, PMIX_BOOL);
    res.status = PMIx_Group_construct(id, procs, nprocs, infos, 3, &results, &n);
    take(&res, st, results, n);
    if (res.status != PMIX_SUCCESS || res.nmembers != nprocs)
        complain("compare: %s, %zu members of %zu", PMIx_Error_string(res.status), res.nmembers,
                 nprocs);
    for (size_t i = 0; res.status == PMIX_SUCCESS && i < nprocs; i++)
        want_same(what, procs[i].rank, res.context, text);
    if (results)
        PMIX_INFO_FREE(results, n);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    int step = -1;
    uint32_t who = PMIX_RANK_UNDEF;

    (void)id, (void)code, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_GROUP_ID))
            sscanf(info[i].value.data.string, "step%d", &step);
        else if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC))
            who = info[i].value.data.proc->rank;
    }
    if (step >= 0 && step < STEPS && who == steps[step].victim)
        nevents[step]++;
    else
        nforeign++;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void want_event(const struct step *st)
{
    for (int i = 0; i < 3000 && !nevents[now]; i++)
        delay(10000);
    if (!nevents[now])
        complain("no event of rank %u", st->victim);
}

static void on_news(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    int step = -1;

    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_GROUP_ID))
            sscanf(info[i].value.data.string, "step%d", &step);
        else if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) &&
                 info[i].value.data.proc->rank < RANKS)
            dead[info[i].value.data.proc->rank] = true;
    }
    if (code == PMIX_GROUP_INVITED && step >= 0 && step < STEPS)
        invited[step] = true;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool may_construct(const struct step *st, const struct result *r)
{
    bool bears = st->directive == OPTIONAL || st->directive == TOLERANT;
    bool early = st->moment == BEFORE || st->moment == JOINING;

    /* Whom it would have added is not known; of JOINING, the call may not have come. */
    if (st->way == BOOTSTRAPPED && leads(st, st->victim) && early &&
        (st->moment == BEFORE || r->status != PMIX_SUCCESS))
        return r->status == PMIX_GROUP_CONSTRUCT_ABORT;
    if (r->status == PMIX_GROUP_LEADER_FAILED)
        return st->way == INVITED && st->leader == st->victim && early;
    if (r->status != PMIX_SUCCESS)
        return r->status == PMIX_GROUP_CONSTRUCT_ABORT && !bears && early;
    if (st->moment == BEFORE)
        return bears && !r->has_victim;
    return st->moment == NOBODY || st->moment == JOINING || r->has_victim;
}

static bool may_destruct(const struct step *st, const struct result *r, pmix_status_t rc)
{
    bool dies = st->moment != NOBODY && r->has_victim;

    if (rc == PMIX_SUCCESS) /* the victim has been waited for, or need not be */
        return st->directive != PLAIN || !dies || st->moment == DESTRUCTING;
    return rc == PMIX_ERR_PROC_TERM_WO_SYNC && st->directive == PLAIN && dies;
}

static size_t nalive(void)
{
    size_t n = 0;

    for (uint32_t r = 0; r < size; r++)
        n += alive[r];
    return n;
}

/* The end of a leader is told to those that have been invited, and when they accept later. */
static int most_events(const struct step *st)
{
    if (st->moment != NOBODY && st->way == INVITED && st->leader == st->victim)
        return 2;
    return st->moment != NOBODY && st->directive == WATCHED;
}

static void run(const struct step *st)
{
    struct result res;
    pmix_status_t rc;
    char id[16], text[96];

    snprintf(id, sizeof id, "step%d", now);
    delay(st->delay_us[me.rank]);
    die_at(st, BEFORE);
    res = st->way == INVITED ? gather(id, st) : construct(id, st);
    if (!may_construct(st, &res))
        complain("construct %d with moment %d: %s%s", (int)st->directive, (int)st->moment,
                 PMIx_Error_string(res.status), res.has_victim ? ", with the victim" : "");
    if (res.status == PMIX_SUCCESS && res.nmembers != nalive() - (res.has_victim ? 0 : 1) &&
        st->moment != NOBODY)
        complain("%zu members of %zu", res.nmembers, nalive());
    snprintf(text, sizeof text, "%s %zu %zu", PMIx_Error_string(res.status), res.nmembers,
             res.context);
    compare("construct", st, text);
    die_at(st, BETWEEN);
    if (res.status == PMIX_SUCCESS) {
        if (st->directive == WATCHED && res.has_victim &&
            (st->moment == BETWEEN || st->moment == JOINING))
            want_event(st);
        rc = destruct(id, st);
        if (!may_destruct(st, &res, rc))
            complain("destruct %d with moment %d: %s", (int)st->directive, (int)st->moment,
                     PMIx_Error_string(rc));
        compare("destruct", st, PMIx_Error_string(rc));
    }
    if (nevents[now] > most_events(st))
        complain("%d events", nevents[now]);
}

int main(int argc, char **argv)
{
    pmix_status_t codes[] = { PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED };
    pmix_status_t news[] = { PMIX_GROUP_INVITED, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_PROC_TERM_WO_SYNC };
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    if (rc != PMIX_SUCCESS) {
        printf("kills WRONG init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v);
    size = rc == PMIX_SUCCESS && v->data.uint32 <= RANKS ? v->data.uint32 : 1;
    for (uint32_t r = 0; r < size; r++)
        alive[r] = true;
    kills_nodes = argc > 2 && !strcmp(argv[2], "nodes") && size > 2;
    plan(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_end, NULL, NULL);
    PMIx_Register_event_handler(news, 3, NULL, 0, on_news, NULL, NULL);
    PMIx_Fence(NULL, 0, NULL, 0);
    for (now = 0; now < STEPS; now++) {
        run(&steps[now]);
        alive[steps[now].victim] = alive[steps[now].victim] && steps[now].moment == NOBODY;
    }
    if (nforeign)
        complain("%d events of others", nforeign);
    if (!wrong)
        printf("kills good of %u\n", nsurvivors);
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}
