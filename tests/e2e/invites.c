/* invites.c - PMIx groups by invitation: answers, directives, time-outs, and processes that end.
 *
 *   invites answers     who comes, declines, is late; the leader's abort; context ids
 *   invites ends        members and leaders that are killed (with -enable-recovery)
 *
 * Rank 0 invites all others, unless it is said.  It prints "invites N good". */
#define PROGRAM "invites"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "keeps.h"
#include "pmix_rank.h"

enum { FLAGS = 4, LONGEST = 64 };

static void want(const char *id, const char *what, pmix_status_t rc, pmix_status_t expected)
{
    if (rc != expected)
        complain("%s, %s: %s, not %s", id, what, PMIx_Error_string(rc),
                 PMIx_Error_string(expected));
}

/* ---- events ---------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char invited[LONGEST]; /* the latest group; with the lock */
static atomic_int naccepted, nfailed, nleaders, nselected, nmembers, aborts, volunteers;

static const char *group_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_GROUP_ID))
            return infos[i].value.data.string;
    }
    return "";
}

static void on_news(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    bool yes = true, leads = code == PMIX_GROUP_LEADER_FAILED && volunteers;
    pmix_info_t mine;

    (void)id, (void)source, (void)results, (void)nresults;
    PMIX_INFO_LOAD(&mine, PMIX_GROUP_LEADER, &yes, PMIX_BOOL);
    if (code == PMIX_GROUP_INVITED) {
        pthread_mutex_lock(&lock);
        snprintf(invited, sizeof invited, "%s", group_of(info, ninfo));
        pthread_mutex_unlock(&lock);
    }
    naccepted += code == PMIX_GROUP_INVITE_ACCEPTED;
    nfailed += code == PMIX_GROUP_INVITE_FAILED;
    nleaders += code == PMIX_GROUP_LEADER_FAILED;
    nselected += code == PMIX_GROUP_LEADER_SELECTED;
    nmembers += code == PMIX_GROUP_MEMBER_FAILED;
    if (code == PMIX_GROUP_INVITE_ACCEPTED && aborts)
        done(PMIX_GROUP_CONSTRUCT_ABORT, NULL, 0, NULL, NULL, arg);
    else /* nobody after it: the library learns of it all the same */
        done(PMIX_EVENT_ACTION_COMPLETE, leads ? &mine : NULL, leads, NULL, NULL, arg);
}

static void listen(void)
{
    pmix_status_t codes[] = { PMIX_GROUP_INVITED,         PMIX_GROUP_INVITE_ACCEPTED,
                              PMIX_GROUP_INVITE_DECLINED, PMIX_GROUP_INVITE_FAILED,
                              PMIX_GROUP_LEADER_FAILED,   PMIX_GROUP_LEADER_SELECTED,
                              PMIX_GROUP_MEMBER_FAILED };

    if (PMIx_Register_event_handler(codes, sizeof codes / sizeof *codes, NULL, 0, on_news, NULL,
                                    NULL) < 0)
        complain("the handler");
}

/* ---- a gathering ----------------------------------------------------------------------------- */

struct gathering {
    const char *id;
    const char *flags[FLAGS];
    int timeout; /* seconds; 0: none */
    uint32_t n;  /* members in the end */
    pmix_status_t status;
    /* results */
    size_t context;
    bool has_context;
};

static void take(struct gathering *g, pmix_status_t rc, pmix_info_t *results, size_t n)
{
    uint32_t members = 0;
    bool named = false;

    want(g->id, "status", rc, g->status);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP))
            members = (uint32_t)results[i].value.data.darray->size;
        named = named || (!strcmp(results[i].key, PMIX_GROUP_ID) &&
                          !strcmp(results[i].value.data.string, g->id));
        if (strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID) != 0)
            continue;
        g->context = results[i].value.data.size;
        g->has_context = true;
    }
    if (rc == PMIX_SUCCESS && (members != g->n || !named))
        complain("%s has %u members of %u", g->id, members, g->n);
    if (results)
        PMIX_INFO_FREE(results, n);
}

static size_t load(const struct gathering *g, pmix_info_t *infos)
{
    bool yes = true;
    size_t n = 0;

    while (n < FLAGS && g->flags[n]) {
        PMIX_INFO_LOAD(&infos[n], g->flags[n], &yes, PMIX_BOOL);
        n++;
    }
    if (g->timeout)
        PMIX_INFO_LOAD(&infos[n++], PMIX_TIMEOUT, &g->timeout, PMIX_INT);
    return n;
}

static void invite(struct gathering *g, uint32_t ninvited_procs)
{
    pmix_info_t infos[FLAGS + 1], *results = NULL;
    pmix_proc_t *procs = calloc(size, sizeof *procs);
    size_t n = load(g, infos), nprocs = 0, nresults = 0;
    pmix_status_t rc;

    for (uint32_t r = 0; r < ninvited_procs; r++) {
        if (r != me.rank)
            procs[nprocs++] = process(r);
    }
    rc = PMIx_Group_invite(g->id, procs, nprocs, infos, n, &results, &nresults);
    take(g, rc, results, nresults);
    free(procs);
}

/* Rank 0 names all but the last one, and adds the last two: one is named twice. */
static void invite_more(struct gathering *g)
{
    pmix_proc_t *procs = calloc(size, sizeof *procs), added[2];
    pmix_data_array_t a = { .type = PMIX_PROC, .size = 2, .array = added };
    pmix_info_t info, *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    for (uint32_t r = 1; r + 1 < size; r++)
        procs[r - 1] = process(r);
    for (uint32_t i = 0; i < 2; i++)
        added[i] = process(size - 2 + i);
    PMIX_INFO_LOAD(&info, PMIX_GROUP_ADD_MEMBERS, &a, PMIX_DATA_ARRAY);
    rc = PMIx_Group_invite(g->id, procs, size - 2, &info, 1, &results, &n);
    take(g, rc, results, n);
    ((pmix_data_array_t *)info.value.data.darray)->type = PMIX_BYTE;
    want(g->id, "an array without processes",
         PMIx_Group_invite_nb(g->id, procs, size - 2, &info, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ((pmix_data_array_t *)info.value.data.darray)->type = PMIX_PROC;
    PMIX_INFO_DESTRUCT(&info);
    free(procs);
}

static bool is_invited(const struct gathering *g)
{
    bool is;

    pthread_mutex_lock(&lock);
    is = !strcmp(invited, g->id);
    pthread_mutex_unlock(&lock);
    return is;
}

static void await_invitation(const struct gathering *g)
{
    for (int i = 0; i < RANK_PATIENCE && !is_invited(g); i++)
        usleep(2000);
    if (!is_invited(g))
        complain("%s: no invitation", g->id);
}

static void join(struct gathering *g, uint32_t leader, int timeout)
{
    pmix_info_t info, *results = NULL;
    pmix_proc_t to = process(leader);
    size_t n = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout, PMIX_INT);
    rc = PMIx_Group_join(g->id, &to, PMIX_GROUP_ACCEPT, &info, timeout ? 1 : 0, &results, &n);
    take(g, rc, results, n);
}

static void decline(const struct gathering *g)
{
    pmix_proc_t to = process(0);

    want(g->id, "decline", PMIx_Group_join(g->id, &to, PMIX_GROUP_DECLINE, NULL, 0, NULL, NULL),
         PMIX_SUCCESS);
}

/* Rank 0 invites everybody; the last one does as it likes. */
static void gather(struct gathering *g, void (*last)(const struct gathering *g))
{
    if (me.rank == 0) {
        invite(g, size);
        return;
    }
    await_invitation(g);
    if (me.rank == size - 1 && last)
        last(g);
    else
        join(g, 0, 0);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* What the server of each member knows. */
static void want_asked(const struct gathering *g)
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
    if (count != g->n)
        complain("%s has %zu members when asked, not %u: %s", g->id, count, g->n,
                 PMIx_Error_string(rc));
    if (found)
        PMIX_INFO_FREE(found, n);
    PMIX_QUERY_FREE(q, 1);
}

/* The members give each other their context ids, in a group of their own. */
static void want_same_context(const struct gathering *g)
{
    pmix_value_t *v = NULL;
    pmix_proc_t leader = process(0);

    if (!g->has_context)
        complain("%s has no context id", g->id);
    PMIX_VALUE_CREATE(v, 1);
    PMIX_VALUE_LOAD(v, &g->context, PMIX_SIZE);
    must("put", PMIx_Put(PMIX_GLOBAL, "invites.context", v));
    PMIX_VALUE_RELEASE(v);
    must("commit", PMIx_Commit());
    fence();
    v = NULL;
    must("get", PMIx_Get(&leader, "invites.context", NULL, 0, &v));
    if (v && v->data.size != g->context)
        complain("%s: context id %zu, not %zu", g->id, g->context, v->data.size);
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void stay_away(const struct gathering *g)
{
    (void)g;
}

/* It answers after rank 1 has given up. */
static void wait_for_nobody(const struct gathering *g)
{
    pmix_proc_t both[] = { process(1), me };

    must("a fence of two", PMIx_Fence(both, 2, NULL, 0));
    decline(g);
}

static void give_up(struct gathering *g)
{
    pmix_proc_t both[] = { me, process(size - 1) };

    g->status = PMIX_ERR_TIMEOUT;
    join(g, 0, 1);
    must("a fence of two", PMIx_Fence(both, 2, NULL, 0));
}

static void answers(void)
{
    struct gathering all = {
        .id = "all", .flags = { PMIX_GROUP_ASSIGN_CONTEXT_ID }, .n = size, .status = PMIX_SUCCESS
    };
    struct gathering strict = { .id = "strict", .status = PMIX_GROUP_CONSTRUCT_ABORT };
    struct gathering loose = {
        .id = "loose", .flags = { PMIX_GROUP_OPTIONAL }, .n = size - 1, .status = PMIX_SUCCESS
    };
    struct gathering late = { .id = "late", .timeout = 1, .status = PMIX_GROUP_CONSTRUCT_ABORT };
    struct gathering more = { .id = "more", .n = size, .status = PMIX_SUCCESS };
    struct gathering later = loose;
    struct gathering off = { .id = "off", .status = PMIX_GROUP_CONSTRUCT_ABORT };
    struct gathering refused = { .id = "refused", .status = PMIX_GROUP_CONSTRUCT_ABORT };
    struct gathering none = refused;

    gather(&all, NULL);
    want_same_context(&all);
    want_asked(&all);
    want("all", "destruct", PMIx_Group_destruct("all", NULL, 0), PMIX_SUCCESS);
    gather(&strict, decline);
    gather(&loose, decline);
    if (me.rank != size - 1)
        want("loose", "destruct", PMIx_Group_destruct("loose", NULL, 0), PMIX_SUCCESS);
    if (me.rank == 0)
        invite_more(&more);
    else
        gather(&more, NULL);
    want("more", "destruct", PMIx_Group_destruct("more", NULL, 0), PMIX_SUCCESS);
    gather(&late, stay_away);
    later.id = "later";
    later.timeout = 1;
    gather(&later, stay_away);
    if (me.rank == 0)
        wait_for("invitations that failed", &nfailed, 2);
    if (me.rank == 1) {
        await_invitation(&off);
        give_up(&off);
    } else {
        gather(&off, wait_for_nobody);
    }
    aborts = 1;
    gather(&refused, NULL); /* whoever comes after the abort learns of it, too */
    if (me.rank == 1) {     /* nobody has invited it */
        none.id = "none";
        join(&none, 0, 0);
    }
    fence();
}

/* ---- processes that end ---------------------------------------------------------------------- */

static void die(const struct gathering *g)
{
    (void)g;
    raise(SIGKILL);
}

/* The leader ends when one has accepted, and the other has not. */
static void leave_orphans(void)
{
    pmix_proc_t procs[] = { process(1), process(2) };
    int before = naccepted;

    wait_for("members that failed", &nmembers, 1);
    PMIx_Group_invite_nb("orphans", procs, 2, NULL, 0, NULL, NULL);
    wait_for("answers", &naccepted, before + 1);
    raise(SIGKILL);
}

/* The ranks below n take part: those above have ended. */
static void ends(void)
{
    uint32_t n = size - 1, victim = n - 1;
    struct gathering plain = { .id = "plain", .status = PMIX_GROUP_CONSTRUCT_ABORT };
    struct gathering tolerant = {
        .id = "tolerant", .flags = { PMIX_GROUP_FT_COLLECTIVE }, .n = n, .status = PMIX_SUCCESS
    };
    struct gathering watched = { .id = "watched",
                                 .flags = { PMIX_GROUP_NOTIFY_TERMINATION,
                                            PMIX_GROUP_FT_COLLECTIVE },
                                 .n = n,
                                 .status = PMIX_SUCCESS };
    struct gathering orphans = { .id = "orphans", .status = PMIX_GROUP_LEADER_FAILED };

    gather(&plain, die);
    if (me.rank == 0)
        wait_for("invitations that failed", &nfailed, 1);
    gather(&tolerant, NULL); /* the last one had ended before it was invited */
    want("tolerant", "destruct", PMIx_Group_destruct("tolerant", NULL, 0), PMIX_SUCCESS);
    gather(&watched, NULL);
    if (me.rank == victim)
        raise(SIGKILL);
    if (me.rank == 0)
        leave_orphans();
    volunteers = me.rank == 1;
    await_invitation(&orphans);
    if (me.rank == 1)
        join(&orphans, 0, 0);
    wait_for("leaders that failed", &nleaders, 2); /* of this one and of "watched" */
    wait_for("leaders that were selected", &nselected, 1);
    if (me.rank != 1) /* it accepts the invitation of a process that has ended */
        join(&orphans, 0, 0);
    printf("invites %u survives\n", me.rank);
}

int main(int argc, char **argv)
{
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    mode = argc > 1 ? argv[1] : "answers";
    must("init", rc);
    all = process(PMIX_RANK_WILDCARD);
    must("the size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v ? v->data.uint32 : 1;
    if (v)
        PMIX_VALUE_RELEASE(v);
    listen();
    fence();
    if (!strcmp(mode, "answers"))
        answers();
    else
        ends();
    if (me.rank == 0)
        printf("invites %u %s\n", size, wrong ? "WRONG" : "good");
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}
