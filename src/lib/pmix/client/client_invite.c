/* client_invite.c - groups whose members come one by one: invite, join, leave.
 *
 * It is all done with events; servers do not know of it.  The leader sends PMIX_GROUP_INVITED to
 * the invited processes, each replies with PMIX_GROUP_INVITE_ACCEPTED or _DECLINED, and after the
 * last reply PMIX_GROUP_CONSTRUCT_COMPLETE sends the list of members to those that accepted.  A
 * call that waits for such an event registers a handler (the program's own handlers get the event
 * too, like any other).
 *
 * A gathering changes only in callbacks, which are run one after the other: it needs no lock.  The
 * blocking calls wait for the callback of the non-blocking ones.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_group.h"
#include "lib/pmix/values/value.h"

enum invite_answer { NO_ANSWER, COMES, DOES_NOT_COME };

struct invitation {
    char *id;
    bool leads;
    pmix_proc_t me, leader;
    pmix_proc_t *procs; /* invited; the leader's */
    enum invite_answer *answers;
    size_t n, handler;
    bool listening, over;
    pmix_status_t status;
    pmix_info_t *results;
    size_t nresults;
    pmix_info_cbfunc_t fn;
    void *arg;
};

static void gathering_free(struct invitation *g)
{
    if (!g)
        return;
    PMIx_Info_free(g->results, g->nresults);
    free(g->procs);
    free(g->answers);
    free(g->id);
    free(g);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct news {
    pmix_status_t code;
    const char *id;
    const pmix_proc_t *to;
    size_t nto;
    const pmix_proc_t *members; /* or NULL */
    size_t nmembers;
    bool keep; /* for handlers that are registered later */
};

static void add_procs(pmix_info_t *info, const char *key, const pmix_proc_t *procs, size_t n)
{
    pmix_data_array_t a = { PMIX_PROC, n, (void *)(uintptr_t)procs };

    PMIx_Info_load(info, key, &a, PMIX_DATA_ARRAY);
}

static pmix_status_t send_news(const struct news *n, pmix_op_cbfunc_t fn, void *arg)
{
    pmix_info_t infos[5];
    bool yes = true;
    size_t count = 0;
    pmix_status_t rc;

    PMIx_Info_load(&infos[count++], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIx_Info_load(&infos[count++], PMIX_GROUP_ID, n->id, PMIX_STRING);
    add_procs(&infos[count++], PMIX_EVENT_CUSTOM_RANGE, n->to, n->nto);
    if (n->members)
        add_procs(&infos[count++], PMIX_GROUP_MEMBERSHIP, n->members, n->nmembers);
    if (!n->keep)
        PMIx_Info_load(&infos[count++], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    rc = PMIx_Notify_event(n->code, NULL, PMIX_RANGE_CUSTOM, infos, count, fn, arg);
    for (size_t i = 0; i < count; i++)
        PMIx_Info_destruct(&infos[i]);
    return rc;
}

static const pmix_info_t *find_info(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, key))
            return &infos[i];
    }
    return NULL;
}

/* ---- the end of a gathering ------------------------------------------------------------------ */

static void release_gathering(void *arg)
{
    gathering_free(arg);
}

static void report_result(pmix_status_t status, void *arg)
{
    struct invitation *g = arg;

    (void)status; /* the handler is removed in any case */
    if (g->fn)
        g->fn(g->status, g->results, g->nresults, g->arg, release_gathering, g);
    else
        gathering_free(g);
}

static bool is_member(const struct invitation *g, size_t i)
{
    return g->answers[i] == COMES;
}

static void remember_result(const struct invitation *g)
{
    const pmix_info_t *info = find_info(g->results, g->nresults, PMIX_GROUP_MEMBERSHIP);
    const pmix_data_array_t *a =
        info && info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;
    struct client *c;

    if (g->status != PMIX_SUCCESS || !a || a->type != PMIX_PROC || !(c = api_begin()))
        return;
    group_remember(c, g->id, a->array, a->size, NULL);
    api_end(c, PMIX_SUCCESS);
}

static void finish(struct invitation *g, pmix_status_t status)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (g->over)
        return;
    g->over = true;
    g->status = status;
    remember_result(g);
    if (g->listening)
        rc = PMIx_Deregister_event_handler(g->handler, report_result, g);
    if (rc != PMIX_SUCCESS)
        report_result(rc, g);
}

static void take_result(struct invitation *g, const pmix_proc_t *procs, size_t n)
{
    g->results = PMIx_Info_create(1);
    if (!g->results)
        return;
    g->nresults = 1;
    add_procs(g->results, PMIX_GROUP_MEMBERSHIP, procs, n);
}

/* ---- the leader ------------------------------------------------------------------------------ */

static void on_announced(pmix_status_t status, void *arg)
{
    finish(arg, status);
}

/* All have replied: announces the group, with the leader first. */
static void announce(struct invitation *g)
{
    pmix_proc_t *members = calloc(g->n + 1, sizeof *members);
    pmix_status_t rc = PMIX_ERR_NOMEM;
    size_t n = 1;

    if (!members) {
        finish(g, rc);
        return;
    }
    members[0] = g->me;
    for (size_t i = 0; i < g->n; i++) {
        if (is_member(g, i))
            members[n++] = g->procs[i];
    }
    take_result(g, members, n);
    rc = PMIX_SUCCESS;
    if (n > 1)
        rc = send_news(&(const struct news){ .code = PMIX_GROUP_CONSTRUCT_COMPLETE,
                                             .id = g->id,
                                             .to = members + 1,
                                             .nto = n - 1,
                                             .members = members,
                                             .nmembers = n },
                       on_announced, g);
    free(members);
    if (n == 1 || rc != PMIX_SUCCESS)
        finish(g, rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc);
}

static void note_answer(struct invitation *g, const pmix_proc_t *who, enum invite_answer answer)
{
    size_t open = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (PMIx_Check_procid(&g->procs[i], who) && g->answers[i] == NO_ANSWER)
            g->answers[i] = answer;
        open += g->answers[i] == NO_ANSWER;
    }
    if (!open && !g->over)
        announce(g);
}

static void on_event_as_leader(struct invitation *g, pmix_status_t code, const pmix_proc_t *source,
                               const pmix_info_t *infos, size_t n)
{
    const pmix_info_t *who = find_info(infos, n, PMIX_EVENT_AFFECTED_PROC);

    switch (code) {
    case PMIX_GROUP_INVITE_ACCEPTED: note_answer(g, source, COMES); break;
    case PMIX_GROUP_INVITE_DECLINED: note_answer(g, source, DOES_NOT_COME); break;
    case PMIX_ERR_LOST_CONNECTION: finish(g, code); break;
    default: /* a process has ended */
        if (who && who->value.type == PMIX_PROC && who->value.data.proc)
            note_answer(g, who->value.data.proc, DOES_NOT_COME);
    }
}

/* ---- those who join -------------------------------------------------------------------------- */

static void on_event_as_guest(struct invitation *g, pmix_status_t code, const pmix_proc_t *source,
                              const pmix_info_t *infos, size_t n)
{
    const pmix_info_t *members = find_info(infos, n, PMIX_GROUP_MEMBERSHIP);
    const pmix_data_array_t *a =
        members && members->value.type == PMIX_DATA_ARRAY ? members->value.data.darray : NULL;

    (void)source;
    if (code != PMIX_GROUP_CONSTRUCT_COMPLETE) {
        finish(g, code);
        return;
    }
    if (a && a->type == PMIX_PROC)
        take_result(g, a->array, a->size);
    finish(g, PMIX_SUCCESS);
}

/* ---- leader and guests ----------------------------------------------------------------------- */

static bool speaks_of(const struct invitation *g, const pmix_info_t *infos, size_t n)
{
    const pmix_info_t *id = find_info(infos, n, PMIX_GROUP_ID);

    return id && id->value.type == PMIX_STRING && id->value.data.string &&
           strcmp(id->value.data.string, g->id) == 0;
}

/* Codes that concern processes, not groups. */
static bool is_general(pmix_status_t code)
{
    return code == PMIX_ERR_LOST_CONNECTION || code == PMIX_ERR_PROC_TERM_WO_SYNC ||
           code == PMIX_EVENT_PROC_TERMINATED;
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_info_t *object = find_info(info, ninfo, PMIX_EVENT_RETURN_OBJECT);
    struct invitation *g = object ? object->value.data.ptr : NULL;

    (void)id, (void)results, (void)nresults;
    if (g && !g->over && (is_general(code) || speaks_of(g, info, ninfo))) {
        if (g->leads)
            on_event_as_leader(g, code, source, info, ninfo);
        else
            on_event_as_guest(g, code, source, info, ninfo);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

static void on_sent(pmix_status_t status, void *arg)
{
    if (status != PMIX_SUCCESS)
        finish(arg, status);
}

static pmix_status_t open_talk(struct invitation *g)
{
    struct news news = { .code = g->leads ? PMIX_GROUP_INVITED : PMIX_GROUP_INVITE_ACCEPTED,
                         .id = g->id,
                         .to = g->leads ? g->procs : &g->leader,
                         .nto = g->leads ? g->n : 1,
                         .keep = g->leads };

    return send_news(&news, on_sent, g);
}

static void on_listening(pmix_status_t status, size_t handler, void *arg)
{
    struct invitation *g = arg;

    if (status == PMIX_SUCCESS) {
        g->handler = handler;
        g->listening = true;
        status = open_talk(g);
    }
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        finish(g, status);
}

static pmix_status_t start(struct invitation *g, pmix_status_t *codes, size_t n)
{
    pmix_info_t object;
    pmix_status_t rc;

    PMIx_Info_load(&object, PMIX_EVENT_RETURN_OBJECT, g, PMIX_POINTER);
    rc = PMIx_Register_event_handler(codes, n, &object, 1, on_event, on_listening, g);
    if (rc != PMIX_SUCCESS)
        gathering_free(g);
    return rc;
}

static struct invitation *gathering_new(const char *id, const pmix_proc_t *procs, size_t n,
                                        pmix_info_cbfunc_t fn, void *arg)
{
    struct invitation *g = calloc(1, sizeof *g);
    struct client *c = api_begin();

    if (c && g)
        g->me = c->me;
    if (c)
        api_end(c, PMIX_SUCCESS);
    if (!g)
        return NULL;
    g->id = strdup(id);
    g->procs = calloc(n + 1, sizeof *procs);
    g->answers = calloc(n + 1, sizeof *g->answers);
    g->n = n;
    g->fn = fn;
    g->arg = arg;
    if (!g->id || !g->procs || !g->answers) {
        gathering_free(g);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        g->procs[i] = procs[i];
    return g;
}

/* ---- the calls ------------------------------------------------------------------------------- */

pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_status_t codes[] = { PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,
                              PMIX_ERR_LOST_CONNECTION, PMIX_ERR_PROC_TERM_WO_SYNC,
                              PMIX_EVENT_PROC_TERMINATED };
    struct invitation *g;
    pmix_status_t rc;

    if (!PMIx_Initialized())
        return PMIX_ERR_INIT;
    if (!grp || !*grp || !procs || !nprocs || (!info && ninfo))
        return PMIX_ERR_BAD_PARAM;
    rc = api_check(PMIX_CALL_GROUP_INVITE, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return rc;
    g = gathering_new(grp, procs, nprocs, cbfunc, cbdata);
    if (!g)
        return PMIX_ERR_NOMEM;
    g->leads = true;
    for (size_t i = 0; i < nprocs; i++) { /* the leader accepts its own invitation */
        if (PMIx_Check_procid(&procs[i], &g->me))
            g->answers[i] = DOES_NOT_COME;
    }
    return start(g, codes, sizeof codes / sizeof *codes);
}

pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader, pmix_group_opt_t opt,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    pmix_status_t codes[] = { PMIX_GROUP_CONSTRUCT_COMPLETE, PMIX_GROUP_CONSTRUCT_ABORT,
                              PMIX_ERR_LOST_CONNECTION };
    struct invitation *g;
    pmix_status_t rc;

    if (!PMIx_Initialized())
        return PMIX_ERR_INIT;
    if (!grp || !*grp || !leader || (!info && ninfo))
        return PMIX_ERR_BAD_PARAM;
    rc = api_check(PMIX_CALL_GROUP_JOIN, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return rc;
    g = gathering_new(grp, leader, 1, cbfunc, cbdata);
    if (!g)
        return PMIX_ERR_NOMEM;
    g->leader = *leader;
    if (opt == PMIX_GROUP_ACCEPT)
        return start(g, codes, sizeof codes / sizeof *codes);
    rc = send_news(
        &(const struct news){
            .code = PMIX_GROUP_INVITE_DECLINED, .id = g->id, .to = leader, .nto = 1 },
        on_announced, g);
    if (rc != PMIX_SUCCESS)
        gathering_free(g);
    return rc;
}

pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    pmix_proc_t *procs = NULL;
    pmix_status_t rc;
    bool member;
    size_t n = 0;

    if (!c)
        return PMIX_ERR_INIT;
    if (!grp || (!info && ninfo))
        return api_end(c, PMIX_ERR_BAD_PARAM);
    if (!c->server)
        return api_end(c, PMIX_ERR_UNREACH);
    rc = api_check(PMIX_CALL_GROUP_LEAVE, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return api_end(c, rc);
    member = group_take(c, grp, &procs, &n);
    api_end(c, PMIX_SUCCESS);
    if (!member)
        return PMIX_ERR_NOT_FOUND;
    rc =
        send_news(&(const struct news){ .code = PMIX_GROUP_LEFT, .id = grp, .to = procs, .nto = n },
                  cbfunc, cbdata);
    free(procs);
    return rc;
}

/* ---- the blocking calls ---------------------------------------------------------------------- */

/* Waits for the callback of the non-blocking call.  The last user frees it. */
struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool open, left;
    pmix_status_t status;
    pmix_info_t *results;
    size_t nresults;
};

static void latch_free(struct latch *l)
{
    PMIx_Info_free(l->results, l->nresults);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->wake);
    free(l);
}

static struct latch *latch_new(void)
{
    struct latch *l = calloc(1, sizeof *l);

    if (l) {
        pthread_mutex_init(&l->mutex, NULL);
        pthread_cond_init(&l->wake, NULL);
    }
    return l;
}

static void open_latch(pmix_status_t status, pmix_info_t *infos, size_t n, void *arg,
                       pmix_release_cbfunc_t release, void *release_arg)
{
    struct latch *l = arg;
    pmix_status_t rc;
    bool left;

    pthread_mutex_lock(&l->mutex);
    l->status = status;
    rc = infos_copy(infos, n, &l->results);
    if (rc == PMIX_SUCCESS)
        l->nresults = n;
    else if (status == PMIX_SUCCESS)
        l->status = rc;
    l->open = true;
    left = l->left;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
    if (release)
        release(release_arg);
    if (left)
        latch_free(l);
}

static void open_by_status(pmix_status_t status, void *arg)
{
    open_latch(status, NULL, 0, arg, NULL, NULL);
}

/* UINT64_MAX: for ever. */
static uint64_t seconds_in(const pmix_info_t *infos, size_t n)
{
    const pmix_info_t *t = find_info(infos, n, PMIX_TIMEOUT);
    uint32_t seconds = 0;

    if (!t || PMIx_Value_get_number(&t->value, &seconds, PMIX_UINT32) != PMIX_SUCCESS)
        return UINT64_MAX;
    return seconds ? seconds : UINT64_MAX;
}

static pmix_status_t await_latch(struct latch *l, uint64_t seconds, pmix_info_t **results,
                                 size_t *nresults)
{
    struct timespec until;
    pmix_status_t rc = PMIX_ERR_TIMEOUT;
    bool open;
    int late = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    if (seconds != UINT64_MAX)
        until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&l->mutex);
    while (!l->open && !late) {
        if (seconds == UINT64_MAX)
            pthread_cond_wait(&l->wake, &l->mutex);
        else
            late = pthread_cond_clockwait(&l->wake, &l->mutex, CLOCK_MONOTONIC, &until);
    }
    open = l->open;
    l->left = true;
    if (open) {
        rc = l->status;
        if (results && nresults) {
            *results = l->results;
            *nresults = l->nresults;
            l->results = NULL;
            l->nresults = 0;
        }
    }
    pthread_mutex_unlock(&l->mutex);
    if (open)
        latch_free(l);
    return rc;
}

/* rc is the result of the non-blocking call: if it was started, its callback will come. */
static pmix_status_t see_through(struct latch *l, pmix_status_t rc, uint64_t seconds,
                                 pmix_info_t **results, size_t *nresults)
{
    if (results && nresults) {
        *results = NULL;
        *nresults = 0;
    }
    if (rc == PMIX_SUCCESS)
        return await_latch(l, seconds, results, nresults);
    latch_free(l);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                const pmix_info_t info[], size_t ninfo, pmix_info_t **results,
                                size_t *nresult)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_invite_nb(grp, procs, nprocs, info, ninfo, open_latch, l);
    return see_through(l, rc, seconds_in(info, rc == PMIX_SUCCESS ? ninfo : 0), results, nresult);
}

pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader, pmix_group_opt_t opt,
                              const pmix_info_t info[], size_t ninfo, pmix_info_t **results,
                              size_t *nresult)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_join_nb(grp, leader, opt, info, ninfo, open_latch, l);
    return see_through(l, rc, seconds_in(info, rc == PMIX_SUCCESS ? ninfo : 0), results, nresult);
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[], size_t ninfo)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_leave_nb(grp, info, ninfo, open_by_status, l);
    return see_through(l, rc, UINT64_MAX, NULL, NULL);
}
