/* server_own_events.c - events that the server itself raises: processes and jobs that start, abort
 * and end, lost nodes, silent processes.
 *
 * Reading order: the infos; jobs; processes; nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/limit.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/job_end.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/server_job_logs.h"
#include "server/server_priv.h"
#include "wire/pmix_message.h"
#include "wireup_client.h"

enum { SAMPLES_MAX = 64 << 20 }; /* as what the nodes tell */

/* An event under construction.  It is in place: its infos point into it. */
struct own_event {
    struct notice notice;
    pmix_proc_t affected;
    pmix_info_t infos[6];
    size_t n;
    const pmix_info_t *more; /* that follow these */
    size_t nmore;
};

static void add(struct own_event *e, const char *key, pmix_value_t value)
{
    pmix_info_t *info = &e->infos[e->n++];

    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = value;
}

static void add_text(struct own_event *e, const char *key, const char *text)
{
    add(e, key, (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text });
}

static void add_number(struct own_event *e, const char *key, int number)
{
    add(e, key, (pmix_value_t){ .type = PMIX_INT, .data.integer = number });
}

/* Only clients registered for this very code are notified: a default handler often ends its
 * process. */
static void begin_of(struct own_event *e, const char *nspace, uint32_t rank, int code,
                     uint8_t range)
{
    memset(e, 0, sizeof *e);
    e->notice = (struct notice){ .code = code,
                                 .range = range,
                                 .flags = EVENT_BY_CODE,
                                 .nspace = nspace,
                                 .rank = rank,
                                 .by_server = true };
}

static void begin(struct own_event *e, const struct job *j, uint32_t rank, int code, uint8_t range)
{
    begin_of(e, j->nspace, rank, code, range);
}

static void add_affected(struct own_event *e)
{
    strncpy(e->affected.nspace, e->notice.nspace, PMIX_MAX_NSLEN);
    e->affected.rank = e->notice.rank;
    add(e, PMIX_EVENT_AFFECTED_PROC,
        (pmix_value_t){ .type = PMIX_PROC, .data.proc = &e->affected });
}

/* The controlling node raises the event of an exit: to everybody, once, and when it is final. */
static bool is_others(const struct server *s, const struct job *j, const struct notice *n)
{
    bool decided_here = j->is_foreign && s->core.position == 0;

    return server_event_is_end(n) && j->follows && s->core.has_others && !decided_here;
}

static void add_time(struct own_event *e, const struct server *s)
{
    time_t now = (time_t)((s->core.wall_offset_ns + s->now_ns) / NS_PER_S);

    if (s->core.wall_offset_ns && s->now_ns)
        add(e, PMIX_EVENT_TIMESTAMP, (pmix_value_t){ .type = PMIX_TIME, .data.time = now });
}

/* Their values are borrowed; NULL: no memory. */
static pmix_info_t *all_infos(struct own_event *e)
{
    pmix_info_t *all = e->nmore ? calloc(e->n + e->nmore, sizeof *all) : e->infos;

    if (all && e->nmore) {
        memcpy(all, e->infos, e->n * sizeof *all);
        memcpy(all + e->n, e->more, e->nmore * sizeof *all);
    }
    return all;
}

/* j: the job that it is about; NULL: none. */
static void raise_event(struct server *s, const struct job *j, struct own_event *e)
{
    struct buf bytes = BUF_NULL(e->nmore ? SAMPLES_MAX : LIMIT_KEPT_EVENT_BYTES);
    pmix_info_t *all;
    struct ppack w;

    if (j && is_others(s, j, &e->notice))
        return;
    add_time(e, s);
    ppack_init(&w, &bytes, &ptype_own);
    all = all_infos(e);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { e->n + e->nmore, all } });
    e->notice.infos = buf_slice(&bytes);
    if (all && ppack_ok(&w))
        server_event_spread(s, j, &e->notice);
    if (all != e->infos)
        free(all);
    buf_free(&bytes);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* How a job ended, as a PMIx status. */
static pmix_status_t term_status(const struct job *j)
{
    const struct proc *p = j->culprit < j->plan.nprocs ? &j->procs[j->culprit] : NULL;

    if (!j->failed)
        return PMIX_SUCCESS;
    if (!p)
        return PMIX_ERR_JOB_ABORTED;
    if (p->commanded)
        return PMIX_ERR_JOB_KILLED_BY_CMD;
    if (p->aborted)
        return PMIX_ERR_JOB_ABORTED;
    if (p->signalled)
        return PMIX_ERR_JOB_ABORTED_BY_SIG;
    return p->code ? PMIX_ERR_JOB_NON_ZERO_TERM : PMIX_ERR_JOB_TERM_WO_SYNC;
}

static bool is_end_of_job(int event)
{
    return event == PMIX_EVENT_JOB_END || event == PMIX_ERR_JOB_TERM_WO_SYNC;
}

static bool is_silent(const struct job *j, int event)
{
    return event == PMIX_EVENT_JOB_END && !j->failed && j->plan.ways & JOB_MAP_SILENT;
}

static void notify_of_job(struct server *s, const struct job *j, int event)
{
    struct own_event e;

    server_log_job(s, j, event);
    if (is_silent(j, event))
        return;
    begin(&e, j, PMIX_RANK_WILDCARD, event, PMIX_RANGE_SESSION);
    add_affected(&e);
    add_text(&e, PMIX_NSPACE, j->nspace);
    if (is_end_of_job(event)) {
        add(&e, PMIX_JOB_TERM_STATUS,
            (pmix_value_t){ .type = PMIX_STATUS, .data.status = term_status(j) });
        add_number(&e, PMIX_EXIT_CODE, job_exit_code(j));
    }
    raise_event(s, j, &e);
}

/* free() it; NULL: no memory */
static pmix_proc_t *members_of(const struct pset *set)
{
    pmix_proc_t *procs = calloc(set->n + 1, sizeof *procs);

    for (size_t i = 0; procs && i < set->n; i++) {
        memcpy(procs[i].nspace, set->members[i].nspace, sizeof procs[i].nspace);
        procs[i].rank = set->members[i].rank;
    }
    return procs;
}

void server_notify_set(struct server *s, const struct job *j, const struct pset *set)
{
    pmix_proc_t *procs = members_of(set);
    pmix_data_array_t list = { .type = PMIX_PROC, .size = set->n, .array = procs };
    struct own_event e;

    begin(&e, j, PMIX_RANK_WILDCARD, set->n ? PMIX_PROCESS_SET_DEFINE : PMIX_PROCESS_SET_DELETE,
          PMIX_RANGE_SESSION);
    add_text(&e, PMIX_PSET_NAME, set->name);
    if (set->n)
        add(&e, PMIX_PSET_MEMBERS, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &list });
    if (procs)
        raise_event(s, j, &e);
    free(procs);
}

void server_pset_publish(struct server *s, const struct pset *set)
{
    pmix_proc_t *procs = members_of(set);
    pmix_data_array_t list = { .type = PMIX_PROC, .size = set->n, .array = procs };
    pmix_info_t infos[2] = {
        { .key = PMIX_PSET_NAME,
          .value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)set->name } },
        { .key = PMIX_PSET_MEMBERS, .value = { .type = PMIX_DATA_ARRAY, .data.darray = &list } }
    };
    struct buf bytes = BUF_NULL(LIMIT_CLIENT_STORE);
    struct effect e =
        EFFECT_WITH(pset_define, .job = JOB_NO_RANK, .rank = JOB_NO_RANK, .quiet = true);
    struct ppack w;

    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { set->n ? 2 : 1, infos } });
    e.u.pset_define.infos = buf_slice(&bytes);
    if (procs && ppack_ok(&w) && effect_own(&e))
        effects_push(&s->core.effects, e);
    buf_free(&bytes);
    free(procs);
}

/* A node that has joined knows those of older jobs, too. */
static void publish_sets(struct server *s)
{
    LIST_EACH(l, &s->core.sets)
    {
        if (s->core.has_others)
            server_pset_publish(s, LIST_OF(l, struct pset, link));
    }
}

/* Sets that the job's processes have joined. */
static void notify_of_sets(struct server *s, const struct job *j)
{
    for (uint32_t i = 0; i < j->plan.napps; i++) {
        const char *name = j->plan.apps[i].pset;
        const struct pset *set = name ? psets_find(&s->core.sets, name) : NULL;
        if (set)
            server_notify_set(s, j, set);
    }
}

/* Its first process is running, or its last one.  Of jobs that a host starts the host says so. */
static void notify_of_start(struct server *s, const struct job *j)
{
    if (j->is_tool || s->takes)
        return;
    server_log_progress(s, j);
    if (j->started == 1) {
        notify_of_sets(s, j);
        notify_of_job(s, j, PMIX_EVENT_JOB_START);
    }
    if (j->started == j->plan.nprocs)
        notify_of_job(s, j, PMIX_LAUNCH_COMPLETE);
}

/* All processes that are to stop there have come. */
static void notify_of_stop(struct server *s, const struct job *j, int stop)
{
    static const char *const names[JOB_MAP_STOPS] = {
        [JOB_MAP_STOP_ON_EXEC] = "exec", [JOB_MAP_STOP_IN_INIT] = "pmix-init"
    };
    const char *name = stop == JOB_MAP_STOP_IN_APP ? j->plan.breakpoint : names[stop];
    struct own_event e;

    if (j->follows || j->ready[stop] < j->awaited[stop])
        return;
    begin(&e, j, PMIX_RANK_WILDCARD, PMIX_READY_FOR_DEBUG, PMIX_RANGE_SESSION);
    add_affected(&e);
    add_text(&e, PMIX_NSPACE, j->nspace);
    if (name)
        add_text(&e, PMIX_BREAKPOINT, name);
    raise_event(s, j, &e);
}

void server_notify_job_end(struct server *s, const struct job *j)
{
    if (!j || j->is_tool)
        return;
    notify_of_job(s, j, PMIX_EVENT_JOB_END);
    if (j->failed && (j->npartners || j->blames != JOB_NO_RANK)) /* together with others, as one */
        notify_of_job(s, j, PMIX_ERR_JOB_TERM_WO_SYNC);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The job ends because of it. */
static bool ends_job(const struct job *j, uint32_t rank, int event)
{
    return j->phase != JOB_RUNNING && j->failed && j->culprit == rank && !j->is_tool &&
           event != PMIX_EVENT_PROC_TERMINATED && event != PMIX_ERR_PROC_KILLED_BY_CMD;
}

static void notify_of_proc(struct server *s, const struct job *j, uint32_t rank, int event,
                           int code)
{
    struct own_event e;

    begin(&e, j, rank, event, PMIX_RANGE_SESSION);
    add_affected(&e);
    add_number(&e, PMIX_EXIT_CODE, code);
    if (ends_job(j, rank, event))
        add(&e, PMIX_EVENT_TERMINATE_JOB, (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true });
    raise_event(s, j, &e);
}

/* The event that a change of a process is to the others, or 0: none. */
static int event_code(const struct proc *p, enum proc_event event)
{
    bool took_part = p->state == PROC_STATE_ATTACHED || p->state == PROC_STATE_LOST;

    if (p->commanded && (event == PROC_EVENT_DEATH || event == PROC_EVENT_EXIT))
        return PMIX_ERR_PROC_KILLED_BY_CMD;
    if (event == PROC_EVENT_DEATH)
        return PMIX_ERR_PROC_ABORTED_BY_SIG;
    if (event == PROC_EVENT_NOT_STARTED)
        return PMIX_ERR_PROC_FAILED_TO_START;
    if (event != PROC_EVENT_EXIT)
        return 0;
    return took_part ? PMIX_ERR_PROC_TERM_WO_SYNC : PMIX_EVENT_PROC_TERMINATED;
}

struct server_change server_change_begins(const struct job *j, uint32_t rank, enum proc_event event)
{
    return (struct server_change){ event, event_code(&j->procs[rank], event), j->started,
                                   j->procs[rank].ready };
}

/* It may still be connected to others (core/proc_connect.h). */
static void notify_disconnected(struct server *s, struct job *j, uint32_t rank, int event, int code)
{
    struct proc *p = &j->procs[rank];

    if (p->connections && event != PMIX_ERR_PROC_TERM_WO_SYNC)
        notify_of_proc(s, j, rank, PMIX_ERR_PROC_TERM_WO_SYNC, code);
    p->connections = 0;
}

void server_notify_finalized(struct server *s, struct job *j, uint32_t rank)
{
    notify_disconnected(s, j, rank, 0, 0);
}

void server_notify_change(struct server *s, struct job *j, uint32_t rank,
                          const struct server_change *c, int code)
{
    bool ends = c->event == PROC_EVENT_EXIT || c->event == PROC_EVENT_DEATH;

    if (c->ready != j->procs[rank].ready)
        notify_of_stop(s, j, code);
    if (c->started != j->started)
        notify_of_start(s, j);
    if (c->status) {
        server_log_proc(s, j, rank);
        notify_of_proc(s, j, rank, c->status, code);
    }
    if (c->event == PROC_EVENT_EXIT && code && c->status != PMIX_ERR_PROC_KILLED_BY_CMD)
        notify_of_proc(s, j, rank, PMIX_ERR_EXIT_NONZERO_TERM, code);
    if (ends || c->event == PROC_EVENT_FINALIZE)
        notify_disconnected(s, j, rank, c->status, code);
}

void server_notify_abort(struct server *s, const struct job *j, uint32_t rank, int code)
{
    if (!j->is_tool)
        notify_of_proc(s, j, rank, PMIX_ERR_PROC_REQUESTED_ABORT, code);
}

void server_notify_restart(struct server *s, const struct job *j, uint32_t rank)
{
    struct own_event e;

    begin(&e, j, rank, PMIX_ERR_PROC_RESTART, PMIX_RANGE_SESSION);
    add_affected(&e);
    add(&e, PMIX_REINCARNATION,
        (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = j->procs[rank].restarts });
    raise_event(s, j, &e);
}

void server_notify_lost(struct server *s, const struct job *j, uint32_t rank)
{
    struct own_event e;

    begin(&e, j, rank, PMIX_ERR_LOST_CONNECTION, PMIX_RANGE_NAMESPACE);
    add_affected(&e);
    add_text(&e, PMIX_HOSTNAME, j->plan.nodes[j->plan.procs[rank].node].name);
    raise_event(s, j, &e);
}

/* To a process about itself alone: its server knows no such range, but a list of targets. */
static void add_range(struct own_event *e, uint8_t range)
{
    if (range != PMIX_RANGE_PROC_LOCAL)
        return;
    e->notice.range = PMIX_RANGE_CUSTOM;
    add(e, PMIX_EVENT_CUSTOM_RANGE, (pmix_value_t){ .type = PMIX_PROC, .data.proc = &e->affected });
}

void server_notify_alert(struct server *s, const struct job *j, uint32_t rank,
                         const struct monitor_alert *a)
{
    struct own_event e;

    begin(&e, j, rank, a->code, a->range);
    e.notice.flags |= EVENT_ABOUT;
    e.notice.by_server = a->range != PMIX_RANGE_SESSION; /* it is not an exit, which all raise */
    add_affected(&e);
    add(&e, PMIX_PROC_PID,
        (pmix_value_t){ .type = PMIX_PID, .data.pid = (pid_t)j->procs[rank].pid });
    if (a->id)
        add_text(&e, PMIX_MONITOR_ID, a->id);
    if (a->nsamples)
        e.notice.flags |= EVENT_NOT_KEPT;
    e.more = a->samples;
    e.nmore = a->nsamples;
    add_range(&e, a->range);
    raise_event(s, j, &e);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

/* Of the server itself, to tools that it serves: they need no news of it from other nodes. */
bool server_on_launcher_ready(struct server *s, const struct op_launcher_ready *o, uint64_t now_ns)
{
    struct own_event e;

    (void)o;
    (void)now_ns;
    begin_of(&e, s->core.name ? s->core.name : "", 0, PMIX_LAUNCHER_READY, PMIX_RANGE_LOCAL);
    raise_event(s, NULL, &e);
    return true;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Of the server itself; its texts live as long as the event. */
bool server_on_session_event(struct server *s, const struct op_session_event *o, uint64_t now_ns)
{
    char *id = strndup(o->id.len ? o->id.ptr : "", o->id.len);
    char *req_id = strndup(o->req_id.len ? o->req_id.ptr : "", o->req_id.len);
    struct own_event e;

    (void)now_ns;
    begin_of(&e, s->core.name ? s->core.name : "", 0, o->code, PMIX_RANGE_SESSION);
    add(&e, PMIX_SESSION_ID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = o->session });
    if (id && req_id) {
        add_text(&e, PMIX_ALLOC_ID, id);
        if (*req_id)
            add_text(&e, PMIX_ALLOC_REQ_ID, req_id);
        if (o->code == PMIX_EVENT_SESSION_END)
            add(&e, PMIX_JOB_TERM_STATUS,
                (pmix_value_t){ .type = PMIX_STATUS, .data.status = o->status });
        raise_event(s, NULL, &e);
    }
    free(id);
    free(req_id);
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The job's processes on that node; NULL: no memory, or none. */
static pmix_proc_t *procs_of(const struct job *j, uint32_t node, size_t *n_p)
{
    pmix_proc_t *procs = calloc((size_t)j->plan.nodes[node].nprocs + 1, sizeof *procs);
    size_t n = 0;

    for (uint32_t r = 0; procs && r < j->plan.nprocs && n < j->plan.nodes[node].nprocs; r++) {
        if (j->plan.procs[r].node != node)
            continue;
        strncpy(procs[n].nspace, j->nspace, PMIX_MAX_NSLEN);
        procs[n++].rank = r;
    }
    *n_p = n;
    return procs;
}

static void notify_of_node(struct server *s, const struct job *j, uint32_t node, int event,
                           pmix_data_array_t *procs)
{
    struct own_event e;

    begin(&e, j, PMIX_RANK_WILDCARD, event, PMIX_RANGE_SESSION);
    add_text(&e, PMIX_HOSTNAME, j->plan.nodes[node].name);
    add(&e, PMIX_NODEID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = node });
    add(&e, PMIX_EVENT_AFFECTED_PROCS,
        (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = procs });
    raise_event(s, j, &e);
}

/* It is down, and the launcher does not use it any more. */
void server_notify_node_down(struct server *s, const struct job *j, uint32_t node)
{
    pmix_data_array_t list = { .type = PMIX_PROC };

    list.array = procs_of(j, node, &list.size);
    if (list.array) {
        notify_of_node(s, j, node, PMIX_EVENT_NODE_DOWN, &list);
        notify_of_node(s, j, node, PMIX_EVENT_NODE_OFFLINE, &list);
    }
    free(list.array);
}

/* ---- nodes of a DVM -------------------------------------------------------------------------- */

static bool add_procs(const struct job *j, const char *name, pmix_data_array_t *list)
{
    for (uint32_t node = 0; node < j->plan.nnodes; node++) {
        size_t n = 0;
        pmix_proc_t *procs, *all;
        if (strcmp(j->plan.nodes[node].name, name) != 0)
            continue;
        procs = procs_of(j, node, &n);
        all = realloc(list->array, (list->size + n + 1) * sizeof *all);
        if (all)
            list->array = all;
        if (all && procs)
            memcpy(all + list->size, procs, n * sizeof *procs);
        free(procs);
        if (!all || !procs)
            return false;
        list->size += n;
    }
    return true;
}

/* Of all jobs; false: no memory. */
static bool find_procs(const struct server *s, const char *name, pmix_data_array_t *list)
{
    LIST_EACH(l, &s->core.jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool && j->phase != JOB_ENDED && !add_procs(j, name, list))
            return false;
    }
    return true;
}

bool server_on_dvm_news(struct server *s, const struct op_dvm_news *o, uint64_t now_ns)
{
    pmix_data_array_t list = { .type = PMIX_PROC };
    char *name = strndup(o->name.len ? o->name.ptr : "", o->name.len);
    struct own_event e;

    (void)now_ns;
    begin_of(&e, s->core.name ? s->core.name : "", 0, o->code, PMIX_RANGE_SESSION);
    e.notice.flags |= EVENT_NOT_KEPT; /* what is there now can be asked for */
    if (o->code == WIREUP_EVENT_NODE_JOINED)
        publish_sets(s);
    add(&e, PMIX_NUM_SLOTS, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = o->slots });
    if (name && (o->code != WIREUP_EVENT_NODE_LEAVES || find_procs(s, name, &list))) {
        add_text(&e, PMIX_HOSTNAME, name);
        if (list.size)
            add(&e, PMIX_EVENT_AFFECTED_PROCS,
                (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &list });
        raise_event(s, NULL, &e);
    }
    free(list.array);
    free(name);
    return true;
}
