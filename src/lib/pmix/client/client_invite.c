/* client_invite.c - groups whose members come one by one: invite, join, leave.
 *
 * The clients make them with events.  The leader sends PMIX_GROUP_INVITED to the invited processes,
 * each replies with PMIX_GROUP_INVITE_ACCEPTED or _DECLINED, and after the last reply
 * PMIX_GROUP_CONSTRUCT_COMPLETE sends the list of members to those that accepted, or _ABORT goes to
 * all.  Our server watches (server/pmix_invite.h): it says which invited process has ended, and
 * when the leader has.  Under other servers the events of ends must do.
 *
 * A call that waits for such an event registers a handler that observes: the program's own handlers
 * get the event first, and their results count.
 *
 * A gathering changes only in callbacks, which are run one after the other: it needs no lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_event_handler.h"
#include "lib/pmix/client/client_group.h"

enum invite_answer { NO_ANSWER, COMES, DECLINES, ENDS, IS_LEADER };

struct invitation {
    struct client_timer timer;
    char *id;
    bool leads;
    bool ours; /* the server: it watches */
    bool optional, tolerant, assigns, notifies;
    pmix_proc_t me, leader;
    pmix_proc_t *procs; /* invited; the leader's */
    enum invite_answer *answers;
    size_t n, handler;
    size_t context;
    bool has_context;
    bool listening, settled, over;
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
    const pmix_proc_t *to; /* NULL: this process alone */
    size_t nto;
    const pmix_proc_t *members; /* or NULL */
    size_t nmembers;
    const pmix_proc_t *affected;    /* or NULL */
    const struct invitation *whole; /* or NULL: says what a member needs to know of it */
    bool keep;                      /* for handlers that are registered later */
};

enum { NEWS_INFOS = 10 };

static void add_procs(pmix_info_t *info, const char *key, const pmix_proc_t *procs, size_t n)
{
    pmix_data_array_t a = { PMIX_PROC, n, (void *)(uintptr_t)procs };

    PMIx_Info_load(info, key, &a, PMIX_DATA_ARRAY);
}

static void add_flag(pmix_info_t *infos, size_t *n, const char *key, bool is)
{
    if (is)
        PMIx_Info_load(&infos[(*n)++], key, &is, PMIX_BOOL);
}

static size_t load_news(pmix_info_t *infos, const struct news *n)
{
    const struct invitation *g = n->whole;
    size_t count = 0;

    add_flag(infos, &count, PMIX_EVENT_NON_DEFAULT, true);
    PMIx_Info_load(&infos[count++], PMIX_GROUP_ID, n->id, PMIX_STRING);
    if (n->to)
        add_procs(&infos[count++], PMIX_EVENT_CUSTOM_RANGE, n->to, n->nto);
    if (n->members)
        add_procs(&infos[count++], PMIX_GROUP_MEMBERSHIP, n->members, n->nmembers);
    if (n->affected)
        PMIx_Info_load(&infos[count++], PMIX_EVENT_AFFECTED_PROC, n->affected, PMIX_PROC);
    add_flag(infos, &count, PMIX_EVENT_DO_NOT_CACHE, !n->keep);
    if (g && g->has_context)
        PMIx_Info_load(&infos[count++], PMIX_GROUP_CONTEXT_ID, &g->context, PMIX_SIZE);
    add_flag(infos, &count, PMIX_GROUP_NOTIFY_TERMINATION, g && g->notifies);
    add_flag(infos, &count, PMIX_GROUP_FT_COLLECTIVE, g && (g->tolerant || g->optional));
    return count;
}

static pmix_status_t send_news(const struct news *n, pmix_op_cbfunc_t fn, void *arg)
{
    pmix_info_t infos[NEWS_INFOS];
    size_t count = load_news(infos, n);
    pmix_status_t rc = PMIx_Notify_event(
        n->code, NULL, n->to ? PMIX_RANGE_CUSTOM : PMIX_RANGE_PROC_LOCAL, infos, count, fn, arg);

    for (size_t i = 0; i < count; i++)
        PMIx_Info_destruct(&infos[i]);
    return rc;
}

static void ignore_sent(pmix_status_t status, void *arg)
{
    (void)status, (void)arg;
}

static const pmix_info_t *find_info(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, key))
            return &infos[i];
    }
    return NULL;
}

static const pmix_data_array_t *procs_in(const pmix_info_t *infos, size_t n, const char *key)
{
    const pmix_info_t *info = find_info(infos, n, key);
    const pmix_data_array_t *a =
        info && info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;

    return a && a->type == PMIX_PROC ? a : NULL;
}

static bool has_flag(const pmix_info_t *infos, size_t n, const char *key)
{
    const pmix_info_t *info = find_info(infos, n, key);

    return info && PMIx_Value_true(&info->value) == PMIX_BOOL_TRUE;
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

/* The timer has no part in it any more, and we are in the group that has formed. */
static void leave_gathering(struct invitation *g)
{
    const pmix_data_array_t *a = procs_in(g->results, g->nresults, PMIX_GROUP_MEMBERSHIP);
    struct client *c = api_begin();

    if (!c)
        return;
    client_timer_stop(&g->timer);
    if (g->status == PMIX_SUCCESS && a)
        group_remember(c, g->id, a->array, a->size, g->has_context ? &g->context : NULL);
    api_end(c, PMIX_SUCCESS);
}

static void finish(struct invitation *g, pmix_status_t status)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (g->over)
        return;
    g->over = true;
    g->status = status;
    leave_gathering(g);
    if (g->listening)
        rc = PMIx_Deregister_event_handler(g->handler, report_result, g);
    if (rc != PMIX_SUCCESS)
        report_result(rc, g);
}

static void take_result(struct invitation *g, const pmix_proc_t *procs, size_t n)
{
    g->results = PMIx_Info_create(3);
    if (!g->results)
        return;
    add_procs(&g->results[g->nresults++], PMIX_GROUP_MEMBERSHIP, procs, n);
    PMIx_Info_load(&g->results[g->nresults++], PMIX_GROUP_ID, g->id, PMIX_STRING);
    if (g->has_context)
        PMIx_Info_load(&g->results[g->nresults++], PMIX_GROUP_CONTEXT_ID, &g->context, PMIX_SIZE);
}

/* ---- the leader ------------------------------------------------------------------------------ */

static size_t count_answers(const struct invitation *g, enum invite_answer answer)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        n += g->answers[i] == answer;
    return n;
}

/* Those who come, behind the leader; NULL: no memory. */
static pmix_proc_t *list_members(const struct invitation *g, size_t *n_p)
{
    pmix_proc_t *members = calloc(g->n + 1, sizeof *members);

    *n_p = 0;
    if (!members)
        return NULL;
    members[(*n_p)++] = g->me;
    for (size_t i = 0; i < g->n; i++) {
        if (g->answers[i] == COMES)
            members[(*n_p)++] = g->procs[i];
    }
    return members;
}

static void on_announced(pmix_status_t status, void *arg)
{
    finish(arg, status);
}

/* To the members behind the first, who is the leader. */
static void announce(struct invitation *g)
{
    size_t n;
    pmix_proc_t *members = list_members(g, &n);
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (members) {
        take_result(g, members, n);
        rc = send_news(&(const struct news){ .code = PMIX_GROUP_CONSTRUCT_COMPLETE,
                                             .id = g->id,
                                             .to = members + (n > 1),
                                             .nto = n > 1 ? n - 1 : 1,
                                             .members = members,
                                             .nmembers = n,
                                             .whole = g },
                       on_announced, g);
    }
    free(members);
    if (rc != PMIX_SUCCESS)
        finish(g, rc);
}

static void on_aborted(pmix_status_t status, void *arg)
{
    (void)status;
    finish(arg, PMIX_GROUP_CONSTRUCT_ABORT);
}

/* No group: all that were invited learn of it, whatever they have answered. */
static void abort_gathering(struct invitation *g)
{
    g->settled = true;
    if (send_news(
            &(const struct news){
                .code = PMIX_GROUP_CONSTRUCT_ABORT, .id = g->id, .to = g->procs, .nto = g->n },
            on_aborted, g) != PMIX_SUCCESS)
        finish(g, PMIX_GROUP_CONSTRUCT_ABORT);
}

/* Everyone has answered. */
static void settle(struct invitation *g)
{
    bool declined = count_answers(g, DECLINES) && !g->optional;
    bool ended = count_answers(g, ENDS) && !g->optional && !g->tolerant;

    g->settled = true;
    if (declined || ended)
        abort_gathering(g);
    else
        announce(g);
}

/* The first answer counts, except that one who comes may end or withdraw. */
static void note_answer(struct invitation *g, const pmix_proc_t *who, enum invite_answer answer)
{
    for (size_t i = 0; i < g->n; i++) {
        enum invite_answer before = g->answers[i];
        bool open = before == NO_ANSWER || (before == COMES && answer != COMES);
        if (open && PMIx_Check_procid(&g->procs[i], who))
            g->answers[i] = answer;
    }
    if (!count_answers(g, NO_ANSWER))
        settle(g);
}

/* What the program's handlers of the event have returned. */
static bool wants_abort(const pmix_info_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (results[i].value.type == PMIX_STATUS &&
            results[i].value.data.status == PMIX_GROUP_CONSTRUCT_ABORT)
            return true;
    }
    return false;
}

/* An event on its way through the handlers. */
struct passing {
    pmix_status_t code;
    const pmix_proc_t *source;
    const pmix_info_t *infos, *results; /* results: of the handlers before */
    size_t ninfos, nresults;
};

static const pmix_proc_t *affected(const struct passing *e)
{
    const pmix_info_t *who = find_info(e->infos, e->ninfos, PMIX_EVENT_AFFECTED_PROC);

    return who && who->value.type == PMIX_PROC ? who->value.data.proc : NULL;
}

/* Codes that concern processes, not groups. */
static bool is_general(pmix_status_t code)
{
    return code > PMIX_GROUP_INVITED || code < PMIX_GROUP_MEMBER_FAILED;
}

/* The server has gone, not a process. */
static bool loses_server(const struct passing *e)
{
    return e->code == PMIX_ERR_LOST_CONNECTION && !affected(e);
}

static void on_event_as_leader(struct invitation *g, const struct passing *e)
{
    const pmix_proc_t *who = affected(e);

    if (g->settled)
        return;
    if (e->code == PMIX_GROUP_CONSTRUCT_ABORT || wants_abort(e->results, e->nresults)) {
        abort_gathering(g);
        return;
    }
    if (loses_server(e)) {
        finish(g, e->code);
        return;
    }
    switch (e->code) {
    case PMIX_GROUP_INVITE_ACCEPTED: note_answer(g, e->source, COMES); break;
    case PMIX_GROUP_INVITE_DECLINED: note_answer(g, e->source, DECLINES); break;
    default: /* a process has ended: our server says it by an event of groups */
        if (who && !(g->ours && is_general(e->code)))
            note_answer(g, who, ENDS);
    }
}

/* Those that have not answered are left out, or are the end of it. */
static void on_late_as_leader(struct invitation *g)
{
    for (size_t i = 0; i < g->n; i++) {
        if (g->answers[i] != NO_ANSWER)
            continue;
        g->answers[i] = DECLINES;
        send_news(&(const struct news){ .code = PMIX_GROUP_INVITE_FAILED,
                                        .id = g->id,
                                        .affected = &g->procs[i] },
                  NULL, NULL);
    }
    if (!g->settled)
        settle(g);
}

/* ---- those who join -------------------------------------------------------------------------- */

/* Older leaders name the members only as those that the event is for. */
static void on_complete(struct invitation *g, const struct passing *e)
{
    const pmix_data_array_t *a = procs_in(e->infos, e->ninfos, PMIX_GROUP_MEMBERSHIP);
    const pmix_info_t *context = find_info(e->infos, e->ninfos, PMIX_GROUP_CONTEXT_ID);

    if (!a)
        a = procs_in(e->infos, e->ninfos, PMIX_EVENT_CUSTOM_RANGE);
    g->has_context =
        context && PMIx_Value_get_number(&context->value, &g->context, PMIX_SIZE) == PMIX_SUCCESS;
    if (a)
        take_result(g, a->array, a->size);
    finish(g, PMIX_SUCCESS);
}

/* The gathering has failed.  A handler of the program can make that known as an abort, or this
 * process as the one to lead from now on, which may invite again. */
static void on_leader_failed(struct invitation *g, const struct passing *e)
{
    const pmix_data_array_t *others = procs_in(e->infos, e->ninfos, PMIX_GROUP_MEMBERSHIP);
    bool aborts = wants_abort(e->results, e->nresults);
    struct news news = { .code = aborts ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_GROUP_LEADER_SELECTED,
                         .id = g->id,
                         .affected = aborts ? NULL : &g->me,
                         .to = others ? others->array : NULL,
                         .nto = others ? others->size : 0 };

    if (news.nto && (aborts || has_flag(e->results, e->nresults, PMIX_GROUP_LEADER)))
        send_news(&news, ignore_sent, NULL);
    finish(g, aborts ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_GROUP_LEADER_FAILED);
}

static void on_event_as_guest(struct invitation *g, const struct passing *e)
{
    const pmix_proc_t *who = affected(e);

    if (loses_server(e)) {
        finish(g, e->code);
        return;
    }
    switch (e->code) {
    case PMIX_GROUP_CONSTRUCT_COMPLETE: on_complete(g, e); break;
    case PMIX_GROUP_CONSTRUCT_ABORT: finish(g, e->code); break;
    case PMIX_GROUP_LEADER_FAILED: on_leader_failed(g, e); break;
    default: /* a process has ended: the program's handlers learn of it as ours do */
        if (!g->ours && who && PMIx_Check_procid(who, &g->leader))
            send_news(&(const struct news){ .code = PMIX_GROUP_LEADER_FAILED,
                                            .id = g->id,
                                            .affected = &g->leader },
                      NULL, NULL);
    }
}

/* The leader need not wait for it. */
static void on_late_as_guest(struct invitation *g)
{
    send_news(
        &(const struct news){
            .code = PMIX_GROUP_INVITE_DECLINED, .id = g->id, .to = &g->leader, .nto = 1 },
        ignore_sent, NULL);
    finish(g, PMIX_ERR_TIMEOUT);
}

/* ---- leader and guests ----------------------------------------------------------------------- */

/* Older clients do not say of which group they speak: then it is known by who speaks. */
static bool speaks_of(const struct invitation *g, const pmix_proc_t *source,
                      const pmix_info_t *infos, size_t n)
{
    const pmix_info_t *id = find_info(infos, n, PMIX_GROUP_ID);

    if (id && id->value.type == PMIX_STRING && id->value.data.string)
        return strcmp(id->value.data.string, g->id) == 0;
    for (size_t i = 0; !id && i < g->n; i++) {
        if (PMIx_Check_procid(&g->procs[i], source))
            return true;
    }
    return false;
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_info_t *object = find_info(info, ninfo, PMIX_EVENT_RETURN_OBJECT);
    struct invitation *g = object ? object->value.data.ptr : NULL;
    struct passing e = { code, source, info, results, ninfo, nresults };

    (void)id;
    if (g && !g->over && (is_general(code) || speaks_of(g, source, info, ninfo))) {
        if (g->leads)
            on_event_as_leader(g, &e);
        else
            on_event_as_guest(g, &e);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

static void on_late(struct client_task *t)
{
    struct invitation *g = LIST_OF(LIST_OF(t, struct client_timer, task), struct invitation, timer);

    if (g->over)
        return;
    if (g->leads)
        on_late_as_leader(g);
    else
        on_late_as_guest(g);
}

static void forget_timer(struct client_task *t)
{
    (void)t; /* its gathering goes with the client */
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
    else if (g->leads && !count_answers(g, NO_ANSWER))
        settle(g); /* it has invited itself */
}

/* Ends of processes are general events: our server says what they mean. */
static pmix_status_t listen_for(struct invitation *g)
{
    pmix_status_t codes[] = { PMIX_ERR_LOST_CONNECTION,
                              PMIX_GROUP_CONSTRUCT_ABORT,
                              g->leads ? PMIX_GROUP_INVITE_ACCEPTED : PMIX_GROUP_CONSTRUCT_COMPLETE,
                              g->leads ? PMIX_GROUP_INVITE_FAILED : PMIX_GROUP_LEADER_FAILED,
                              PMIX_GROUP_INVITE_DECLINED,
                              PMIX_EVENT_PROC_TERMINATED,
                              PMIX_ERR_PROC_TERM_WO_SYNC,
                              PMIX_ERR_PROC_ABORTED,
                              PMIX_ERR_PROC_ABORTED_BY_SIG,
                              PMIX_ERR_EXIT_NONZERO_TERM };
    size_t all = sizeof codes / sizeof *codes;
    pmix_info_t infos[2];
    bool yes = true;

    PMIx_Info_load(&infos[0], PMIX_EVENT_RETURN_OBJECT, g, PMIX_POINTER);
    PMIx_Info_load(&infos[1], HANDLER_OBSERVES, &yes, PMIX_BOOL);
    return PMIx_Register_event_handler(codes, g->ours ? 5 : all, infos, 2, on_event, on_listening,
                                       g);
}

/* ---- a context id: that of a group of the leader alone, as any server assigns one ------------ */

static void name_context(const struct invitation *g, char *name, size_t room)
{
    snprintf(name, room, "%.*s/context", (int)room - 16, g->id);
}

static void on_context(pmix_status_t status, pmix_info_t *infos, size_t n, void *arg,
                       pmix_release_cbfunc_t release, void *release_arg)
{
    struct invitation *g = arg;
    const pmix_info_t *context = find_info(infos, n, PMIX_GROUP_CONTEXT_ID);
    char name[PMIX_MAX_NSLEN + 1];

    g->has_context =
        context && PMIx_Value_get_number(&context->value, &g->context, PMIX_SIZE) == PMIX_SUCCESS;
    if (release)
        release(release_arg);
    if (status == PMIX_SUCCESS) {
        name_context(g, name, sizeof name);
        PMIx_Group_destruct_nb(name, NULL, 0, ignore_sent, NULL);
        status = g->has_context ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    }
    if (status == PMIX_SUCCESS && !g->over)
        status = listen_for(g);
    if (status != PMIX_SUCCESS)
        finish(g, status);
}

static pmix_status_t ask_context(struct invitation *g)
{
    char name[PMIX_MAX_NSLEN + 1];
    pmix_info_t info;
    bool yes = true;

    name_context(g, name, sizeof name);
    PMIx_Info_load(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    return PMIx_Group_construct_nb(name, &g->me, 1, &info, 1, on_context, g);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* 0: for ever. */
static pmix_status_t start_timer(struct client *c, struct invitation *g, const pmix_info_t *infos,
                                 size_t n)
{
    const pmix_info_t *t = find_info(infos, n, PMIX_TIMEOUT);
    uint32_t seconds = 0;

    if (!t || PMIx_Value_get_number(&t->value, &seconds, PMIX_UINT32) != PMIX_SUCCESS || !seconds)
        return PMIX_SUCCESS;
    return client_timer_start(c, &g->timer, seconds * NS_PER_S);
}

static void stop_timer(struct invitation *g)
{
    struct client *c = api_begin();

    if (!c)
        return;
    client_timer_stop(&g->timer);
    api_end(c, PMIX_SUCCESS);
}

/* Its callbacks will come, and free it, or it is freed. */
static pmix_status_t start(struct invitation *g)
{
    pmix_status_t rc = g->assigns ? ask_context(g) : listen_for(g);

    if (rc == PMIX_SUCCESS)
        return rc;
    stop_timer(g);
    gathering_free(g);
    return rc;
}

static struct invitation *gathering_new(const char *id, size_t room, pmix_info_cbfunc_t fn,
                                        void *arg)
{
    struct invitation *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->timer.task = (struct client_task){ .run = on_late, .drop = forget_timer };
    list_init(&g->timer.task.link);
    g->id = strdup(id);
    g->procs = calloc(room + 1, sizeof *g->procs);
    g->answers = calloc(room + 1, sizeof *g->answers);
    g->fn = fn;
    g->arg = arg;
    if (g->id && g->procs && g->answers)
        return g;
    gathering_free(g);
    return NULL;
}

/* Who we are, and how long it may take. */
static pmix_status_t enter(struct invitation *g, const pmix_info_t *infos, size_t n)
{
    struct client *c = api_begin();

    if (!c)
        return PMIX_ERR_INIT;
    g->me = c->me;
    g->ours = c->server && c->server->quiet;
    if (g->notifies && !g->ours)
        return api_end(c, PMIX_ERR_NOT_SUPPORTED);
    return api_end(c, start_timer(c, g, infos, n));
}

/* How many processes p stands for; 0: its job is not known. */
static uint32_t count_procs(const pmix_proc_t *p)
{
    pmix_value_t *v = NULL;
    pmix_info_t local;
    uint32_t n = 0;
    bool yes = true;

    if (p->rank != PMIX_RANK_WILDCARD)
        return 1;
    PMIx_Info_load(&local, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(p, PMIX_JOB_SIZE, &local, 1, &v) == PMIX_SUCCESS)
        PMIx_Value_get_number(v, &n, PMIX_UINT32);
    PMIx_Value_free(v, v ? 1 : 0);
    return n;
}

static size_t count_invited(const pmix_proc_t *procs, size_t nprocs)
{
    size_t n = 0;

    for (size_t i = 0; i < nprocs; i++) {
        uint32_t more = count_procs(&procs[i]);
        if (!more)
            return 0;
        n += more;
    }
    return n;
}

static bool is_listed(const struct invitation *g, const pmix_proc_t *p)
{
    for (size_t i = 0; i < g->n; i++) {
        if (PMIx_Check_procid(&g->procs[i], p))
            return true;
    }
    return false;
}

/* Once, however often it is named. */
static void add_invited(struct invitation *g, const pmix_proc_t *p, size_t room)
{
    bool all = p->rank == PMIX_RANK_WILDCARD;
    uint32_t n = all ? count_procs(p) : 1;

    for (uint32_t r = 0; r < n && g->n < room; r++) {
        PMIx_Load_procid(&g->procs[g->n], p->nspace, all ? r : p->rank);
        if (is_listed(g, &g->procs[g->n]))
            continue;
        g->answers[g->n] = PMIx_Check_procid(&g->procs[g->n], &g->me) ? IS_LEADER : NO_ANSWER;
        g->n++;
    }
}

/* The processes that the attribute adds are invited as those of the call.  False: its array has no
 * processes. */
static bool find_added(const pmix_info_t *info, size_t ninfo, const pmix_proc_t **procs_p,
                       size_t *n_p)
{
    const pmix_data_array_t *a = procs_in(info, ninfo, PMIX_GROUP_ADD_MEMBERS);

    *procs_p = a ? a->array : NULL;
    *n_p = a && a->array ? a->size : 0;
    return a || !find_info(info, ninfo, PMIX_GROUP_ADD_MEMBERS);
}

static void read_directives(struct invitation *g, const pmix_info_t *info, size_t ninfo)
{
    g->leads = true;
    g->optional = has_flag(info, ninfo, PMIX_GROUP_OPTIONAL);
    g->tolerant = has_flag(info, ninfo, PMIX_GROUP_FT_COLLECTIVE);
    g->assigns = has_flag(info, ninfo, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    g->notifies = has_flag(info, ninfo, PMIX_GROUP_NOTIFY_TERMINATION);
}

pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const pmix_proc_t *added;
    struct invitation *g;
    pmix_status_t rc;
    size_t room, nadded;

    if (!PMIx_Initialized())
        return PMIX_ERR_INIT;
    if (!grp || !*grp || !procs || !nprocs || (!info && ninfo))
        return PMIX_ERR_BAD_PARAM;
    rc = api_check(PMIX_CALL_GROUP_INVITE, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (!find_added(info, ninfo, &added, &nadded))
        return PMIX_ERR_BAD_PARAM;
    room = count_invited(procs, nprocs);
    if (room && nadded)
        room = count_invited(added, nadded) ? room + count_invited(added, nadded) : 0;
    g = room ? gathering_new(grp, room, cbfunc, cbdata) : NULL;
    if (!g)
        return room ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    read_directives(g, info, ninfo);
    rc = enter(g, info, ninfo);
    if (rc != PMIX_SUCCESS) {
        gathering_free(g);
        return rc;
    }
    for (size_t i = 0; i < nprocs; i++) /* the leader accepts its own invitation */
        add_invited(g, &procs[i], room);
    for (size_t i = 0; i < nadded; i++)
        add_invited(g, &added[i], room);
    return start(g);
}

static pmix_status_t decline(struct invitation *g)
{
    pmix_status_t rc = send_news(
        &(const struct news){
            .code = PMIX_GROUP_INVITE_DECLINED, .id = g->id, .to = &g->leader, .nto = 1 },
        on_announced, g);

    if (rc != PMIX_SUCCESS) {
        stop_timer(g);
        gathering_free(g);
    }
    return rc;
}

pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader, pmix_group_opt_t opt,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    struct invitation *g;
    pmix_status_t rc;

    if (!PMIx_Initialized())
        return PMIX_ERR_INIT;
    if (!grp || !*grp || !leader || (!info && ninfo))
        return PMIX_ERR_BAD_PARAM;
    rc = api_check(PMIX_CALL_GROUP_JOIN, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return rc;
    g = gathering_new(grp, 1, cbfunc, cbdata);
    if (!g)
        return PMIX_ERR_NOMEM;
    g->leader = g->procs[0] = *leader;
    g->n = 1;
    rc = opt == PMIX_GROUP_ACCEPT ? enter(g, info, ninfo) : PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        gathering_free(g);
        return rc;
    }
    return opt == PMIX_GROUP_ACCEPT ? start(g) : decline(g);
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
