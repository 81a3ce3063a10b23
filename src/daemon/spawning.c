/* spawning.c - see spawning.h. */
#include "daemon/spawning.h"

#include <stdlib.h>

#include "base/limit.h"
#include "core/effect.h"
#include "daemon/allocations.h"
#include "daemon/colocate.h"
#include "daemon/job_msgs.h"
#include "daemon/preflight.h"
#include "daemon/cluster_io.h"
#include "daemon/spawn_limit.h"

/* Processes of the job on other nodes may not have been tried yet. */
static bool all_tried(const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        if (job->procs[r].state == PROC_STATE_PLANNED)
            return false;
    }
    return true;
}

static void answer_spawn(const struct node_context *c, uint64_t ticket, const struct answer *a)
{
    if (!c->cluster || !rpc_answer(&c->cluster->dispatch.rpc, ticket, a))
        server_answer(c->server, ticket, a);
}

/* By the code of a process that has not been started. */
static enum spawn_failure failure_of(int code)
{
    switch (code) {
    case SPAWN_CODE_NO_PROGRAM: return SPAWN_NO_PROGRAM;
    case SPAWN_CODE_NOT_EXECUTABLE: return SPAWN_NOT_EXECUTABLE;
    case SPAWN_CODE_NO_DIRECTORY: return SPAWN_NO_DIRECTORY;
    default: return SPAWN_NOT_STARTED;
    }
}

/* The reason of the first one that has one of its own: the others are skipped because of it. */
static enum spawn_failure mark_failures(struct local_job *w)
{
    const struct job *job = w->job;
    enum spawn_failure why = w->refusal;

    for (uint32_t i = 0; i < w->ncodes && i < job->plan.nprocs; i++) {
        const struct proc *p = &job->procs[i];
        if (p->state != PROC_STATE_GONE || p->pid != 0)
            continue;
        w->codes[i] = -1;
        if (!why || why == SPAWN_NOT_STARTED)
            why = failure_of(p->start_code);
    }
    if (why == SPAWN_NOT_STARTED && job->failed && job->exit_code == SPAWN_CODE_REFUSED)
        return SPAWN_NO_PLACE;
    return why;
}

static void answer(struct local_job *w)
{
    struct job *job = w->job;
    enum spawn_failure failed = mark_failures(w);
    struct answer a;

    spawning_state_event(&w->spawning, SPAWNING_EVENT_ANSWER, w->jobs->context->log);
    spawn_limit_started(w);
    /* When all are started, there is nothing to list. */
    a = ANSWER_TO(spawn, failed ? ANSWER_FAILED : ANSWER_OK, .nspace = slice_str(job->nspace),
                  .codes = { w->codes, failed ? w->ncodes : 0 }, .failure = failed);
    answer_spawn(w->jobs->context, w->ticket, &a);
    if (!failed && job->failed) /* it was started, and died meanwhile */
        server_abort_connected(w->jobs->context->server, job);
}

void spawning_answer(struct local_job *w)
{
    if (w->spawning == SPAWNING_STATE_AWAITED && (!w->job->spread || all_tried(w->job)))
        answer(w);
}

void spawning_on_state(struct local_jobs *jobs, struct job *j)
{
    struct local_job *w = local_job_of(jobs, j);

    if (!w)
        return;
    local_job_list(w);
    spawning_answer(w);
}

static void put_presets(struct server *s, struct job *job, const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->npreputs; i++)
        server_preset(s, job, rq->preputs[i].key, rq->preputs[i].value);
}

/* Selects the processes whose standard input the spawner wants to feed. */
static void choose_fed(struct local_job *w, const struct spawn_request *rq)
{
    struct slice who = spawn_info_of_all(rq->commands, rq->ncommands, "stdin");

    if (slice_is(who, "all"))
        w->push_to = NODE_STDIN_ALL;
    else if (slice_u32(who, &w->push_rank))
        w->push_to = NODE_STDIN_ONE;
}

static bool is_recoverable(const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->ncommands; i++) {
        if (spawn_info(&rq->commands[i], SPAWN_RECOVERABLE).len)
            return true;
    }
    return false;
}

static void report(const struct node_context *c, const struct job_map *plan)
{
    struct slice rest = slice_str(plan->report);

    while (rest.len) {
        struct slice line = slice_cut(&rest, '\n');
        log_error(c->log, SLICE_FMT, SLICE_ARG(line));
    }
}

/* Nothing is started: the plan was all that was wanted. */
static int stop_here(struct local_jobs *jobs, const struct op_spawn *e, struct job_map *plan,
                     int *codes)
{
    char name[160];
    struct answer a;

    local_job_next_name(jobs, name, sizeof name);
    a = ANSWER_TO(spawn, ANSWER_OK, .nspace = slice_str(name));
    answer_spawn(jobs->context, e->ticket, &a);
    job_map_free(plan);
    free(codes);
    return 0;
}

/* Takes the plan over.  0, or the request is refused with a sentence: enum spawn_failure. */
static int start(struct local_jobs *jobs, const struct op_spawn *e, struct job *parent,
                 uint32_t session, struct job_map *plan, struct local_job **w_p, struct errmsg *err)
{
    const struct node_context *c = jobs->context;
    bool strict = plan->ways & JOB_MAP_STRICT;
    bool keep_going = !strict && (c->config->keep_going || is_recoverable(e->request));
    struct local_job *w;

    jobs->session = session;
    w = *w_p = local_job_lead(jobs, plan, parent, e->request->requestor, keep_going, err);

    if (!w) {
        job_map_free(plan);
        return SPAWN_NO_NODES;
    }
    if (preflight_here(w, err) != 0) {
        local_job_free(w);
        return SPAWN_NO_FILES;
    }
    choose_fed(w, e->request);
    put_presets(c->server, w->job, e->request);
    if (c->cluster)
        job_msgs_announce(c->cluster, w, e->request);
    spawning_state_event(&w->spawning, SPAWNING_EVENT_REQUEST, c->log);
    spawn_limit_begin(w, e->request, answer);
    w->ticket = e->ticket;
    local_jobs_start(jobs);
    return 0;
}

/* The plan whose nodes and environment a job of this requester gets; NULL: there is none.  (A tool
 * has none of its own here.) */
static const struct job_map *plan_like(const struct node_context *c, const struct job *parent)
{
    const struct job *first;

    if (!parent->is_tool)
        return &parent->plan;
    if (c->config->tools_like)
        return c->config->tools_like;
    first = core_first_job(&c->server->core);
    return first ? &first->plan : NULL;
}

/* On the nodes that jobs of this session may use; debuggers' daemons go where their targets are. */
static int make_plan(struct local_jobs *jobs, const struct op_spawn *e, const struct job *parent,
                     uint32_t session, struct job_map *plan, int *codes, struct errmsg *err)
{
    const struct node_config *c = jobs->context->config;
    const struct job_map *like = plan_like(jobs->context, parent);
    struct job_map view;
    int rc;

    if (!c->plan_spawn || !like)
        return errmsg_set(err, SPAWN_NOT_STARTED, "this launcher cannot start more processes");
    if (spawn_info_of_all(e->request->commands, e->request->ncommands, SPAWN_COLOCATE).len)
        return c->plan_spawn(c->arg, like, e->request, plan, codes, err);
    rc = allocations_view(jobs->allocations, like, session, &view, err);
    if (rc == 0)
        rc = c->plan_spawn(c->arg, &view, e->request, plan, codes, err);
    arena_free(&view.arena);
    if (rc == 0 && (rc = allocations_check(jobs->allocations, plan, session, err)) != 0)
        job_map_free(plan);
    return rc;
}

/* Takes the codes over if it succeeds.  0, or as above. */
static int begin_spawn(struct local_jobs *jobs, const struct op_spawn *e, struct job *parent,
                       int *codes, uint32_t ncodes, struct errmsg *err)
{
    const struct node_context *c = jobs->context;
    struct local_job *w;
    struct job_map plan;
    uint32_t session;
    int rc = allocations_session(jobs->allocations, e->request, parent, &session, err);

    if (rc == 0)
        rc = make_plan(jobs, e, parent, session, &plan, codes, err);
    if (rc)
        return rc;
    report(c, &plan);
    if (spawn_info_of_all(e->request->commands, e->request->ncommands, SPAWN_NO_LAUNCH).len)
        return stop_here(jobs, e, &plan, codes);
    rc = start(jobs, e, parent, session, &plan, &w, err);
    if (rc)
        return rc;
    w->codes = codes;
    w->ncodes = ncodes;
    return 0;
}

void spawning_begin(struct local_jobs *jobs, const struct op_spawn *e)
{
    struct job *parent = core_job(&jobs->context->server->core, e->job);
    struct errmsg err = { "too many processes in one spawn request" };
    int rc = colocate(&jobs->context->server->core, e->request, &err);
    uint64_t count = spawn_nprocs(e->request);
    int *codes = count <= LIMIT_JOB_PROCS ? calloc(count + 1, sizeof *codes) : NULL;

    if (rc == 0 && (!parent || !codes))
        rc = SPAWN_NO_RESOURCES;
    else if (rc == 0)
        rc = begin_spawn(jobs, e, parent, codes, (uint32_t)count, &err);
    if (rc) {
        struct answer a = ANSWER_TO(spawn, ANSWER_FAILED,
                                    .codes = { codes, codes ? (uint32_t)count : 0 }, .failure = rc);
        a.text = slice_str(err.text);
        if (!parent || parent->phase == JOB_RUNNING) /* else there is a worse failure to report */
            log_error(jobs->context->log, "spawn: %s", err.text);
        answer_spawn(jobs->context, e->ticket, &a);
        free(codes);
    }
}
