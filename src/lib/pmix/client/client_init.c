/* client_init.c - see client_init.h: PMIx_Init, PMIx_Finalize, PMIx_Progress.
 *
 * Init may be called repeatedly: each call counts, the last Finalize ends.  After a fork the child
 * has no part in the parent's client; it may call PMIx_Init and become a client of its own.
 */
#include "lib/pmix/client/client_init.h"

#include <pthread.h>

#include "lib/common/launcher.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_debug.h"

static struct {
    struct client *inherited; /* of the process that forked us: to be freed silently */
    unsigned inits;           /* Init calls not yet matched by Finalize */
    bool watched;             /* the fork handlers are registered */
    /* The mapped store of the previous client.  Unmapping it would flush the address
     * translations of every processor that the process has been on, mostly for a process that
     * ends anyway. */
    struct attachment kept;
} lib;

/* ---- forks ----------------------------------------------------------------------------------- */

/* Brings all state into order for the child. */
static void before_fork(void)
{
    lock_lock(api_gate());
}

static void after_fork(void)
{
    lock_unlock(api_gate());
}

/* No other thread exists here; replies they waited for will not come. */
static void in_child(void)
{
    struct client *c = api_in_child();

    lib.inits = 0;
    if (c)
        lib.inherited = c;
}

/* ---- starting -------------------------------------------------------------------------------- */

static bool flag_of(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static pmix_status_t read_options(const pmix_info_t *info, size_t ninfo, struct client_options *o)
{
    *o = (struct client_options){ .progress = PROGRESS_THREAD };
    for (size_t i = 0; info && i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_EXTERNAL_PROGRESS) && flag_of(&info[i])) {
            o->progress = PROGRESS_PROGRAM;
        } else if (PMIx_Check_key(info[i].key, PMIX_EVENT_BASE) &&
                   info[i].value.type == PMIX_POINTER && info[i].value.data.ptr) {
            o->progress = PROGRESS_LOOP;
            o->event_base = info[i].value.data.ptr;
        } else if (PMIx_Check_key(info[i].key, PMIX_IOF_LOCAL_OUTPUT)) {
            o->shows = flag_of(&info[i]);
        }
    }
    o->tcp = client_tcp_read(info, ninfo);
    return client_thread_cpus_read(info, ninfo, &o->cpus);
}

static pmix_status_t prepare(void)
{
    if (!lib.watched && pthread_atfork(before_fork, after_fork, in_child) != 0)
        return PMIX_ERR_NOMEM;
    lib.watched = true;
    if (lib.inherited)
        client_abandon(lib.inherited);
    lib.inherited = NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t start(const pmix_info_t *info, size_t ninfo, struct client **c_p)
{
    struct client_options options;
    struct pmix_env env;
    struct errmsg err;
    pmix_status_t rc = prepare();

    if (rc != PMIX_SUCCESS)
        return rc;
    if (pmix_env_read(&env, &err) < 0) {
        rc = PMIX_ERR_BAD_PARAM;
    } else if (!env.nspace && launcher_found_here(LAUNCHER_PMIX, &err)) {
        rc = PMIX_ERR_UNREACH;
    } else {
        rc = read_options(info, ninfo, &options);
        options.kept = &lib.kept;
        if (rc != PMIX_SUCCESS)
            return rc;
        rc = client_start(&env, &options, api_gate(), c_p, &err);
    }
    if (!*c_p)
        api_print_error(&err);
    return rc;
}

pmix_status_t init_client(pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo)
{
    struct client *c = api_lock();
    pmix_status_t rc = PMIX_SUCCESS;

    if (!c) {
        api_move_begin();
        rc = start(info, ninfo, &c);
        api_move_end(c, true);
    } else if (!c->server && c->kind != CLIENT_TOOL) {
        rc = PMIX_ERR_UNREACH;
    }
    if (c) {
        lib.inits++;
        event_declare_model(c, info, info ? ninfo : 0);
        if (proc)
            *proc = c->me;
    }
    api_unlock();
    return rc;
}

pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = api_check(PMIX_CALL_INIT, info, ninfo);
    bool first = !PMIx_Initialized();
    struct client *c;

    if (rc == PMIX_SUCCESS)
        rc = init_client(proc, info, ninfo);
    c = rc == PMIX_SUCCESS && first ? api_begin() : NULL;
    if (c) {
        debug_wait(c);
        api_end(c, rc);
    }
    return rc;
}

pmix_status_t init_host(const struct client_seat *seat, const pmix_info_t *info, size_t ninfo)
{
    const struct pmix_env env = { .nspace = seat->proc.nspace,
                                  .rank = seat->proc.rank,
                                  .uri = seat->uri,
                                  CLIENT_WAY_OURS,
                                  .hostname = seat->hostname,
                                  .wireup_fd = seat->fd };
    struct client_options options;
    struct errmsg err = { "" };
    pmix_status_t rc = PMIX_ERR_EXISTS;
    struct client *c = api_lock();

    if (!c) {
        api_move_begin();
        rc = prepare();
        if (rc == PMIX_SUCCESS)
            rc = read_options(info, ninfo, &options);
        if (rc == PMIX_SUCCESS)
            rc = client_start(&env, &options, api_gate(), &c, &err);
        api_move_end(c, false);
    }
    if (rc == PMIX_SUCCESS) {
        lib.inits++;
        c->notify_others = seat->notify_others;
        c->turn = seat->turn;
        c->turn_fd = seat->turn_fd;
        c->hand_over = seat->hand_over;
        c->call_begin = seat->call_begin;
        c->call_end = seat->call_end;
        c->turn_arg = seat->arg;
        event_declare_model(c, info, info ? ninfo : 0);
    } else {
        api_print_error(&err);
    }
    api_unlock();
    return rc;
}

pmix_status_t init_tool(const struct client_way *way, const pmix_proc_t *name,
                        const pmix_info_t *info, size_t ninfo, pmix_proc_t *proc_p)
{
    struct client_options options;
    struct errmsg err = { "" };
    pmix_status_t rc = PMIX_ERR_EXISTS;
    struct client *c = api_lock();

    if (!c) {
        api_move_begin();
        rc = prepare();
        if (rc == PMIX_SUCCESS)
            rc = read_options(info, ninfo, &options);
        if (rc == PMIX_SUCCESS)
            rc = client_start_tool(way, name, &options, api_gate(), &c, &err);
        api_move_end(c, false);
    }
    if (rc == PMIX_SUCCESS) {
        lib.inits++;
        event_declare_model(c, info, info ? ninfo : 0);
        if (proc_p)
            *proc_p = c->me;
    } else {
        api_print_error(&err);
    }
    api_unlock();
    return rc;
}

int PMIx_Initialized(void)
{
    struct client *c = api_begin();

    if (c)
        api_end(c, PMIX_SUCCESS);
    return c != NULL;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* The client ends when no thread is in a call any more. */
static void finish(void)
{
    lib.inits = 0;
    api_move_begin();
    client_stop(api_withdraw());
    api_move_end(NULL, false);
}

static bool wants_barrier(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; info && i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_EMBED_BARRIER))
            return flag_of(&info[i]);
    }
    return false;
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = api_check(PMIX_CALL_FINALIZE, info, ninfo);
    struct client *c;

    if (rc != PMIX_SUCCESS)
        return rc;
    c = api_lock();
    if (!c) /* one Finalize too many does no harm, as with OpenPMIx */
        rc = PMIX_SUCCESS;
    else if (lib.inits > 1)
        lib.inits--;
    else if (tasks_inside(c))
        rc = PMIX_ERR_WOULD_BLOCK; /* it would wait for the callback that calls it */
    else if (wants_barrier(info, ninfo)) {
        api_unlock();
        PMIx_Fence(NULL, 0, NULL, 0);
        return PMIx_Finalize(NULL, 0);
    } else {
        finish();
    }
    api_unlock();
    return rc;
}

/* Ends the host's client together with the server, even while its users still count on it. */
void init_host_end(void)
{
    if (api_lock())
        finish();
    api_unlock();
}

/* ---- progress -------------------------------------------------------------------------------- */

/* How OpenPMIx calls the one thread that we have. */
#define THREAD_NAME "PMIX-wide async progress thread"

static bool is_meant(const pmix_info_t *i)
{
    return !PMIx_Check_key(i->key, PMIX_PROGRESS_THREAD_NAME) || !i->value.data.string ||
           strcmp(i->value.data.string, THREAD_NAME) == 0;
}

void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
    pmix_status_t rc = api_check(PMIX_CALL_PROGRESS_THREAD_STOP, info, ninfo);
    bool meant = rc == PMIX_SUCCESS, flush = true;
    struct client *c;

    for (size_t i = 0; meant && info && i < ninfo; i++) {
        meant = is_meant(&info[i]);
        if (PMIx_Check_key(info[i].key, PMIX_PROGRESS_THREAD_FLUSH))
            flush = PMIx_Value_true(&info[i].value) != PMIX_BOOL_FALSE;
    }
    c = meant ? api_begin() : NULL;
    if (!c)
        return;
    if (c->hand_over && !tasks_inside(c)) {
        client_unlock(c);
        c->hand_over(c->turn_arg, flush);
        client_lock(c);
    }
    progress_hand_over(c, flush);
    api_end(c, PMIX_SUCCESS);
}

void PMIx_Progress(void)
{
    struct client *c = api_begin();

    if (!c)
        return;
    if (c->turn) {
        client_unlock(c);
        c->turn(c->turn_arg, false);
        client_lock(c);
    }
    progress_once(c);
    api_end(c, PMIX_SUCCESS);
}
